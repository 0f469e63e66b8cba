// SPDX-License-Identifier: GPL-2.0
/* The text description: what is refused, where, and what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libht.h"
#include "test.h"

static const struct {
	const char *name;
	const char *text;
	const char *error;
} bad_texts[] = {
	{ "nothing", "", "no CPU described" },
	{ "comments only", "# a\n\n   \n# b\n", "no CPU described" },
	{ "no cpu", "# c\nsiblings=0\n", "line 2: no cpu=" },
	{ "no siblings", "cpu=0\n", "line 1: no siblings=" },
	{ "an unknown key", "cpu=0 siblings=0\ncpu=1 siblings=1 l3=0\n",
	  "line 2: unknown key 'l3'" },
	{ "a key in capitals", "CPU=0 siblings=0\n",
	  "line 1: unknown key 'CPU'" },
	{ "a word without a value", "cpu=0 siblings=0 online\n",
	  "line 1: 'online' is not key=value" },
	{ "a key twice", "cpu=0 cpu=1 siblings=0\n",
	  "line 1: key 'cpu' given twice" },
	{ "a CPU twice",
	  "cpu=0 siblings=0\ncpu=1 siblings=1\n\ncpu=0 siblings=0\n",
	  "line 4: CPU 0 described twice, first in line 1" },
	{ "no number", "cpu=zero siblings=0\n",
	  "line 1: cpu=zero: not a number" },
	{ "an empty number", "cpu= siblings=0\n", "line 1: cpu=: not a number" },
	{ "a sign", "cpu=-1 siblings=0\n", "line 1: cpu=-1: not a number" },
	{ "a plus sign", "cpu=+1 siblings=0\n", "line 1: cpu=+1: not a number" },
	{ "half a number", "cpu=1x siblings=0\n",
	  "line 1: cpu=1x: not a number" },
	{ "a hexadecimal number", "cpu=0x1 siblings=0\n",
	  "line 1: cpu=0x1: not a number" },
	{ "a CPU number too large", "cpu=1048576 siblings=0\n",
	  "line 1: cpu=1048576: number too large" },
	{ "a number beyond 64 bits",
	  "cpu=0 siblings=0 package=99999999999999999999\n",
	  "line 1: package=99999999999999999999: number too large" },
	{ "a node too high", "cpu=0 siblings=0 node=1024\n",
	  "line 1: node=1024: number too large" },
	{ "more than full capacity", "cpu=0 siblings=0 capacity=1025\n",
	  "line 1: capacity=1025: number too large" },
	{ "online=2", "cpu=0 siblings=0 online=2\n",
	  "line 1: online=2: number too large" },
	{ "a domain that is no number", "cpu=0 siblings=0 domain=nil\n",
	  "line 1: domain=nil: not a number" },
	{ "an empty list", "cpu=0 siblings=\n",
	  "line 1: siblings=: empty list" },
	{ "a list with a hole", "cpu=0 siblings=0,,1\n",
	  "line 1: siblings=0,,1: not a number" },
	{ "a list with a comma at its end", "cpu=0 siblings=0,\n",
	  "line 1: siblings=0,: not a number" },
	{ "an open range", "cpu=0 siblings=0-\n",
	  "line 1: siblings=0-: not a number" },
	{ "a range backwards", "cpu=0 siblings=3-0\n",
	  "line 1: siblings=3-0: range ends before it begins" },
	{ "a range without end", "cpu=0 siblings=0-4294967295\n",
	  "line 1: siblings=0-4294967295: number too large" },
	{ "a list too long",
	  "cpu=0 siblings=0-1048575,0-1048575,0-1048575\n",
	  "line 1: siblings=0-1048575,0-1048575,0-1048575: list too long" },
	{ "asymmetric siblings", "cpu=0 siblings=0,1\ncpu=1 siblings=1\n",
	  "line 1: CPUs 0 and 1 disagree about siblings" },
	{ "asymmetric the other way", "cpu=0 siblings=0\ncpu=1 siblings=0-1\n",
	  "line 2: CPUs 1 and 0 disagree about siblings" },
	{ "a ring of siblings",
	  "cpu=0 siblings=0-1\ncpu=1 siblings=1-2\ncpu=2 siblings=0,2\n",
	  "line 1: CPUs 0 and 1 disagree about siblings" },
	{ "a sibling that is not described", "cpu=0 siblings=0,12\n",
	  "line 1: sibling 12 of CPU 0 is not described" },
	{ "not its own sibling", "cpu=0 siblings=1\ncpu=1 siblings=1\n",
	  "line 1: CPU 0 is not among its siblings" },
	{ "siblings in two packages",
	  "cpu=0 siblings=0-1\ncpu=1 package=1 siblings=0-1\n",
	  "line 1: siblings 0 and 1 are in different packages" },
	{ "distances beside a CPU", "cpu=0 siblings=0 distance=10\n",
	  "line 1: distance goes with node alone" },
	{ "distances of no node", "cpu=0 siblings=0\ndistance=10\n",
	  "line 2: distance goes with node alone" },
	{ "distances twice",
	  "cpu=0 siblings=0\nnode=0 distance=10\nnode=0 distance=10\n",
	  "line 3: distances of node 0 given twice" },
	{ "distances of some nodes", "cpu=0 siblings=0\nnode=1 distance=20,10\n",
	  "line 2: distances of node 1, but none of node 0" },
	{ "too few distances",
	  "node=0 distance=10\nnode=1 distance=20,10\ncpu=0 siblings=0\n",
	  "line 1: 1 distances, but there are 2 nodes" },
	{ "too many distances", "cpu=0 siblings=0\nnode=0 distance=10,20\n",
	  "line 2: 2 distances, but there are 1 nodes" },
	{ "a distance too large", "cpu=0 siblings=0\nnode=0 distance=256\n",
	  "line 2: distance '256': number too large" },
	{ "a line after a long comment",
	  "# -------------------------------------------------------------\n"
	  "cpu=0 siblings=0 what=1\n", "line 2: unknown key 'what'" },
	{ "carriage returns are blanks", "cpu=0 siblings=0\r\ncpu=1\r\n",
	  "line 2: no siblings=" },
};

static void test_bad_texts(void)
{
	struct ht_machine *m;
	struct ht_error err;
	size_t i;

	for (i = 0; i < sizeof(bad_texts) / sizeof(bad_texts[0]); i++) {
		test_begin("refused: %s", bad_texts[i].name);
		memset(&err, 0, sizeof(err));
		m = ht_machine_parse_text(bad_texts[i].text, &err);
		CHECK(!m, "accepted");
		CHECK_STR(err.text, bad_texts[i].error);
		ht_machine_free(m);
	}
}

static const char full[] =
	"cpu=0 package=1 node=2 llc=3 l2=4 core_id=5 siblings=0,7 capacity=6 online=1\n"
	"cpu=7 package=1 node=2 llc=3 l2=4 core_id=5 siblings=0,7 capacity=6 online=0 domain=none\n"
	"cpu=9 package=0 node=0 siblings=9 capacity=1024 online=1 domain=3\n"
	"node=0 distance=10,20,30\n"
	"node=1 distance=20,10,20\n"
	"node=2 distance=30,20,10\n";

void test_description(struct ht_machine *m, const struct ht_error *err,
		      const char *want)
{
	char *got;

	if (!CHECK(m, "%s", err->text))
		return;
	got = test_printed(ht_machine_describe, m);
	CHECK_STR(got, want);
	free(got);
	ht_machine_free(m);
}

/* What is written reads back as the same, and is the same when written. */
static void check_round_trip(const char *text)
{
	struct ht_error err = { 0 };
	struct ht_machine *m = ht_machine_parse_text(text, &err);

	test_description(m, &err, text);
}

static void test_good_texts(void)
{
	struct ht_error err = { 0 };
	const struct ht_machine_cpu *cpu;
	struct ht_machine *m;

	test_begin("every key there and back");
	check_round_trip(full);

	test_begin("defaults, order, comments, blanks");
	m = ht_machine_parse_text("# two\n\n cpu=4\tsiblings=4,2-2 # four\n"
				  "siblings=2,4 cpu=2", &err);
	if (!CHECK(m, "%s", err.text))
		return;
	CHECK(m->nr == 2 && m->cpu[0].cpu == 2 && m->cpu[1].cpu == 4,
	      "%u CPUs", m->nr);
	cpu = ht_machine_find(m, 4);
	CHECK(cpu && cpu->core == 2 && cpu->online && cpu->line == 3 &&
	      cpu->capacity == 1024 && cpu->llc == HT_NONE &&
	      cpu->l2 == HT_NONE && cpu->core_id == HT_NONE &&
	      !cpu->package && !cpu->node && !cpu->domain, "CPU 4 is wrong");
	CHECK(!ht_machine_find(m, 3), "found CPU 3");
	ht_machine_free(m);

	test_begin("a file that is not there");
	CHECK(!ht_machine_from_file("/nonexistent/machine", &err), "accepted");
	CHECK_STR(err.text, "/nonexistent/machine: No such file or directory");
	test_begin("a directory");
	CHECK(!ht_machine_from_file("/", &err), "accepted");
	CHECK(strstr(err.text, "Is a directory"), "%s", err.text);
}

static void check_list(const char *text, const char *want, const char *wrong)
{
	char *out = NULL;
	size_t size = 0;
	ht_u32 *cpus, nr;
	const char *got = ht_cpulist_parse(text, &cpus, &nr);
	FILE *mem;

	test_begin("CPU list '%s'", text);
	if (got || wrong) {
		CHECK_STR(got ? got : "ok", wrong ? wrong : "ok");
		free(cpus);
		return;
	}
	mem = open_memstream(&out, &size);
	ht_cpulist_print(mem, cpus, nr);
	fclose(mem);
	CHECK_STR(out, want);
	free(out);
	free(cpus);
}

static void test_lists(void)
{
	check_list("", "", NULL);
	check_list("0", "0", NULL);
	check_list("0-3,8", "0-3,8", NULL);
	check_list("8,3,2,1,0,2-3", "0-3,8", NULL);
	check_list("1,3,5", "1,3,5", NULL);
	check_list("0-1", "0-1", NULL);
	check_list("1048575", "1048575", NULL);
	check_list(" 1", NULL, "not a number");
	check_list("1 ", NULL, "not a number");
	check_list("1;2", NULL, "not a number");
	check_list("-", NULL, "not a number");
	check_list("1-2-3", NULL, "not a number");
	check_list("2-1", NULL, "range ends before it begins");
	check_list("1048576", NULL, "number too large");
}

static ht_u32 distance(struct ht_snapshot *snap, ht_u32 a, ht_u32 b)
{
	return ht_slot_distance(&snap->topo, snap->topo.cpu_slot[a],
				snap->topo.cpu_slot[b]);
}

static struct ht_snapshot *snapshot_of(const char *text)
{
	struct ht_error err = { 0 };
	struct ht_machine *m = ht_machine_parse_text(text, &err);
	struct ht_snapshot *snap = m ? ht_snapshot_new(m, &err) : NULL;

	ht_machine_free(m);
	if (CHECK(snap, "%s", err.text))
		CHECK_STR(ht_check_name(ht_check_topo(&snap->topo)), "ok");
	return snap;
}

static void test_levels(void)
{
	struct ht_snapshot *snap;

	test_begin("the last level of a CPU without L3 is its L2");
	snap = snapshot_of("cpu=0 siblings=0 l2=0 llc=0\n"
			   "cpu=1 siblings=1 l2=0 llc=0\n"
			   "cpu=2 siblings=2 l2=1 llc=0\n"
			   "cpu=3 siblings=3 l2=5\n"
			   "cpu=4 siblings=4 l2=5\n"
			   "cpu=5 siblings=5\n");
	if (snap) {
		CHECK(distance(snap, 0, 1) == 1, "same L2");
		CHECK(distance(snap, 0, 2) == 2, "same LLC");
		CHECK(distance(snap, 3, 4) == 1, "no L3, same L2");
		CHECK(distance(snap, 0, 3) == 3, "L3 against none");
		CHECK(distance(snap, 4, 5) == 3, "nothing at all");
	}
	ht_snapshot_free(snap);

	test_begin("cache numbers count within their package");
	snap = snapshot_of("cpu=0 package=0 llc=0 l2=0 siblings=0\n"
			   "cpu=1 package=1 llc=0 l2=0 siblings=1\n");
	if (snap)
		CHECK(distance(snap, 0, 1) == 3, "one LLC in two packages");
	ht_snapshot_free(snap);

	test_begin("offline and isolated CPUs have no slot");
	snap = snapshot_of("cpu=0 siblings=0-1\ncpu=1 siblings=0-1 online=0\n"
			   "cpu=2 siblings=2\ncpu=3 siblings=3 domain=none\n");
	if (snap) {
		CHECK(snap->topo.cpu_slot[1] == HT_NONE, "offline");
		CHECK(snap->topo.cpu_slot[3] == HT_NONE, "isolated");
		CHECK(snap->topo.nr_cpus == 4, "%u CPUs", snap->topo.nr_cpus);
		ht_snapshot_set_idle(snap, 3, false);
		ht_snapshot_set_idle(snap, 77, false);
		ht_snapshot_set_claimed(snap, 1, true, 5);
		CHECK(ht_core_is_free(&snap->topo, &snap->state, 0), "busy");
		ht_snapshot_set_claimed(snap, 0, true, 0);
		CHECK(!ht_core_is_free(&snap->topo, &snap->state, 0),
		      "not claimed");
		ht_snapshot_set_claimed(snap, 0, false, 0);
		ht_snapshot_set_idle(snap, 0, false);
		CHECK(!ht_core_is_free(&snap->topo, &snap->state, 0), "idle");
		ht_snapshot_set_idle(snap, 0, true);
		CHECK(ht_core_is_free(&snap->topo, &snap->state, 0), "busy");
	}
	ht_snapshot_free(snap);
}

static void test_refused_snapshots(void)
{
	struct ht_error err = { 0 };
	struct ht_machine *m;
	struct ht_snapshot *snap;

	test_begin("a machine that is all offline has no snapshot");
	m = ht_machine_parse_text("cpu=0 siblings=0 online=0\n", &err);
	snap = m ? ht_snapshot_new(m, &err) : NULL;
	CHECK(m && !snap, "accepted");
	CHECK_STR(err.text, "no CPU");
	ht_snapshot_free(snap);
	ht_machine_free(m);
}

void test_machine(void)
{
	test_bad_texts();
	test_good_texts();
	test_lists();
	test_levels();
	test_refused_snapshots();
}
