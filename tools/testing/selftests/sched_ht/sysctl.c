// SPDX-License-Identifier: GPL-2.0
/*
 * Tunables: every kernel.sched_ht_* knob has its default, takes its whole
 * range, refuses everything else with EINVAL, and keeps its value then.
 */
#include "ht_test.h"

#include <dirent.h>

struct knob {
	const char *name;
	long standard, min, max;
};

static const struct knob knobs[] = {
	{ "smt", 1, 0, 1 },
	{ "slice_us", 3000, 100, 100000 },
	{ "unshare", 1, 0, 1 },
	{ "enabled", 1, 0, 1 },
	{ "cache_hot", 1, 0, 1 },
	{ "smt_yield_pct", 55, 10, 100 },
	{ "refill_core_us", 40, 0, 10000 },
	{ "refill_llc_us", 250, 0, 100000 },
	{ "refill_node_us", 250, 0, 100000 },
	{ "fill_core_us", 200, 1, 1000000 },
	{ "fill_llc_us", 2000, 1, 1000000 },
	{ "pair_ns", 2000, 0, 1000000 },
	{ "wake_ns", 15000, 0, 1000000 },
};

#define NR_KNOBS (sizeof(knobs) / sizeof(*knobs))

static int write_knob(const struct knob *knob, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/sched_ht_%s", knob->name);
	return ht_write(path, text);
}

static void expect_refused(const struct knob *knob, const char *text)
{
	long before = ht_sysctl_get(knob->name), after;
	int ret = write_knob(knob, text), err = errno;

	after = ht_sysctl_get(knob->name);
	EXPECT(ret && err == EINVAL, "%s: \"%s\" was accepted or %s", knob->name,
	       text, strerror(err));
	EXPECT(after == before, "%s: %ld became %ld after \"%s\"", knob->name,
	       before, after, text);
}

static void expect_taken(const struct knob *knob, long value)
{
	EXPECT(!ht_sysctl_set(knob->name, value), "%s = %ld: %s", knob->name,
	       value, strerror(errno));
	EXPECT(ht_sysctl_get(knob->name) == value, "%s: set %ld, read %ld",
	       knob->name, value, ht_sysctl_get(knob->name));
}

TEST(standard, "every knob exists and has its default")
{
	for (size_t i = 0; i < NR_KNOBS; i++)
		EXPECT(ht_sysctl_get(knobs[i].name) == knobs[i].standard,
		       "%s is %ld, not %ld", knobs[i].name,
		       ht_sysctl_get(knobs[i].name), knobs[i].standard);
}

TEST(complete, "there is no knob that this table does not test")
{
	DIR *dir = opendir("/proc/sys/kernel");
	struct dirent *entry;

	REQUIRE(dir, "%s", strerror(errno));
	while ((entry = readdir(dir))) {
		bool known = strncmp(entry->d_name, "sched_ht_", 9);

		for (size_t i = 0; i < NR_KNOBS; i++)
			known |= !strcmp(entry->d_name + 9 * !known,
					 knobs[i].name);
		EXPECT(known, "%s", entry->d_name);
	}
	closedir(dir);
}

TEST(range, "the whole range is taken, what lies outside is refused")
{
	ht_need_root();
	for (size_t i = 0; i < NR_KNOBS; i++) {
		const struct knob *knob = &knobs[i];
		char text[32];

		expect_taken(knob, knob->min);
		expect_taken(knob, knob->max);
		expect_taken(knob, knob->standard);
		snprintf(text, sizeof(text), "%ld\n", knob->min - 1);
		expect_refused(knob, text);
		snprintf(text, sizeof(text), "%ld\n", knob->max + 1);
		expect_refused(knob, text);
	}
}

TEST(nonsense, "empty lines, words and huge numbers are refused")
{
	static const char * const texts[] = {
		"\n", " \n", "abc\n", "1abc\n", "-1\n", "4294967296\n",
		"4294967297\n", "18446744073709551617\n", "2147483648\n",
		"0x1z\n", "--1\n", "1.5\n",
	};

	ht_need_root();
	for (size_t i = 0; i < NR_KNOBS; i++)
		for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
			expect_refused(&knobs[i], texts[j]);
}

TEST(user, "an unprivileged user reads but does not write")
{
	ht_need_root();
	REQUIRE(!setresuid(1000, 1000, 1000), "%s", strerror(errno));
	for (size_t i = 0; i < NR_KNOBS; i++) {
		EXPECT(ht_sysctl_get(knobs[i].name) == knobs[i].standard, "%s",
		       knobs[i].name);
		EXPECT(ht_sysctl_set(knobs[i].name, knobs[i].standard) &&
		       errno == EACCES, "%s was writable", knobs[i].name);
	}
}
