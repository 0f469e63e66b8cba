// SPDX-License-Identifier: GPL-2.0
/*
 * Masks (INV-1): whatever changes at once, affinity by the task itself, by
 * others, or cpusets, a SCHED_HT task is never placed, moved or run outside
 * the CPUs it is allowed.
 *
 * Storms are audited in the trace. A change by somebody else is bracketed by
 * marks: from the first on, the old and the new CPUs are legal, from the
 * second on, after the system call returned, only the new ones.
 */
#include "ht_test.h"
#include "ht_trace.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define CPUSET_DIR	"/tmp/ht-cpuset"
#define GROUP		CPUSET_DIR "/ht-storm"

static struct ht_topo topo;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static ht_mask random_mask(uint64_t *seed)
{
	ht_mask mask;

	do {
		mask = next_random(seed) & next_random(seed) & topo.usable;
	} while (!mask);
	return mask;
}

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_root();
	ht_need_cpus(&topo, 2, 1);
}

/* A task that only the task itself moves sees no race. */
static void self_body(struct ht_slot *slot)
{
	uint64_t seed = 88172645463325252ULL + getpid();

	while (slot->command != HT_STOP) {
		ht_mask mask = random_mask(&seed);

		if (ht_pin(0, mask)) {
			slot->bad++;
			continue;
		}
		for (int i = next_random(&seed) % 200; i >= 0; i--)
			if (!ht_has(mask, sched_getcpu()))
				slot->bad++;
		if (next_random(&seed) % 4 == 0)
			ht_sleep_ms(1);
		if (!ht_has(mask, sched_getcpu()))
			slot->bad++;
		slot->count++;
	}
}

TEST(self_storm, "tasks that change their own mask are always within it")
{
	int nr;

	setup();
	nr = 2 * ht_count(topo.usable);
	for (int i = 0; i < nr; i++)
		ht_task("ht-self", SCHED_HT, i % 3, topo.usable, self_body);
	ht_sleep_ms(1000 * ht_seconds(5));
	for (int i = 0; i < nr; i++) {
		EXPECT(ht_advances(i), "task %d is lost", i);
		EXPECT(!ht_slot(i)->bad, "task %d: %d times outside", i,
		       ht_slot(i)->bad);
	}
}

/* Runs, sleeps and wakes at random; its mask is others' affair. */
static void walker_body(struct ht_slot *slot)
{
	uint64_t seed = 2463534242ULL + getpid();

	while (slot->command != HT_STOP) {
		slot->cpu = sched_getcpu();
		ht_burn_ns(next_random(&seed) % 3000000);
		if (next_random(&seed) % 3)
			ht_sleep_ms(1 + next_random(&seed) % 4);
		slot->count++;
	}
}

static void finish(int nr)
{
	struct ht_audit audit;

	ht_trace_stop();
	for (int i = 0; i < nr; i++)
		EXPECT(ht_advances(i), "task %d is lost", i);
	ht_trace_replay(&topo, &audit, NULL, NULL);
	ht_audit_print(&audit);
	ht_audit_inv1(&audit);
}

TEST(fixed_masks, "every migration and switch is within the task's fixed mask")
{
	uint64_t seed = 123456789;
	int nr;

	setup();
	ht_need_trace();
	nr = 2 * ht_count(topo.usable);
	for (int i = 0; i < nr; i++)
		ht_task("ht-walk", SCHED_HT, 0, random_mask(&seed), walker_body);
	for (int i = 0; i < nr; i++)
		ht_trace_mask(ht_slot(i)->pid, ht_affinity(ht_slot(i)->pid));
	ht_trace_start();
	ht_sleep_ms(1000 * ht_seconds(4));
	finish(nr);
}

TEST(foreign_storm, "masks changed by another task hold from its return on")
{
	uint64_t seed = 362436069, end;
	ht_mask old[HT_MAX_TASKS];
	int nr;

	setup();
	ht_need_trace();
	nr = ht_count(topo.usable) + 2;
	for (int i = 0; i < nr; i++) {
		old[i] = topo.usable;
		ht_task("ht-walk", SCHED_HT, 0, topo.usable, walker_body);
	}
	ht_trace_start();
	for (end = ht_now() + ht_seconds(4) * HT_NSEC_PER_SEC; ht_now() < end;) {
		int i = next_random(&seed) % nr;
		ht_mask mask = random_mask(&seed);
		pid_t pid = ht_slot(i)->pid;

		ht_trace_mark("htmask %d %llx", pid,
			      (unsigned long long)(old[i] | mask));
		EXPECT(!ht_pin(pid, mask), "%s", strerror(errno));
		ht_trace_mark("htmask %d %llx", pid, (unsigned long long)mask);
		old[i] = mask;
		ht_sleep_ms(next_random(&seed) % 3);
	}
	finish(nr);
}

/* Cpusets */

static void format_mask(char *text, size_t size, ht_mask mask)
{
	size_t at = 0;
	int cpu;

	text[0] = 0;
	ht_for_each_cpu(cpu, mask)
		at += snprintf(text + at, size - at, "%s%d", at ? "," : "", cpu);
}

static int cpuset_write(const char *file, ht_mask mask)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), GROUP "/%s", file);
	format_mask(text, sizeof(text), mask);
	return ht_write(path, text);
}

static void cpuset_remove(void)
{
	rmdir(GROUP);
	umount(CPUSET_DIR);
}

static const char *cpuset_create(void)
{
	mkdir(CPUSET_DIR, 0755);
	if (ht_opt.cgroup_v1) {
		if (mount("cgroup", CPUSET_DIR, "cgroup", 0, "cpuset"))
			ht_skip("cannot mount the v1 cpuset controller: %s",
				strerror(errno));
		mkdir(GROUP, 0755);
		ht_write(GROUP "/cpuset.mems", "0");
		return "cpuset.cpus";
	}
	if (mount("cgroup2", CPUSET_DIR, "cgroup2", 0, NULL))
		ht_skip("cannot mount cgroup2: %s", strerror(errno));
	if (ht_write(CPUSET_DIR "/cgroup.subtree_control", "+cpuset"))
		ht_skip("no cpuset controller on v2: %s", strerror(errno));
	mkdir(GROUP, 0755);
	return "cpuset.cpus";
}

TEST(cpuset_storm, "a cpuset's CPUs hold for all its tasks from the write on")
{
	uint64_t seed = 521288629, end;
	ht_mask old;
	const char *file;
	char text[32];
	int nr;

	setup();
	ht_need_trace();
	file = cpuset_create();
	old = topo.usable;
	REQUIRE(!cpuset_write(file, old), "%s", strerror(errno));
	nr = ht_count(topo.usable) + 2;
	for (int i = 0; i < nr; i++) {
		ht_task("ht-walk", SCHED_HT, 0, topo.usable, walker_body);
		snprintf(text, sizeof(text), "%d", ht_slot(i)->pid);
		REQUIRE(!ht_write(GROUP "/cgroup.procs", text), "%s",
			strerror(errno));
	}
	ht_trace_start();
	for (end = ht_now() + ht_seconds(4) * HT_NSEC_PER_SEC; ht_now() < end;) {
		ht_mask mask = random_mask(&seed);

		for (int i = 0; i < nr; i++)
			ht_trace_mark("htmask %d %llx", ht_slot(i)->pid,
				      (unsigned long long)(old | mask));
		EXPECT(!cpuset_write(file, mask), "%s", strerror(errno));
		for (int i = 0; i < nr; i++)
			ht_trace_mark("htmask %d %llx", ht_slot(i)->pid,
				      (unsigned long long)mask);
		old = mask;
		ht_sleep_ms(5 + next_random(&seed) % 20);
	}
	finish(nr);
	ht_kill_all();
	cpuset_remove();
}
