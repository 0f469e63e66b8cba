// SPDX-License-Identifier: GPL-2.0
/*
 * The validators reject each kind of bad snapshot and bad verdict.
 *
 * A validator that is never seen to object proves nothing: every error that it
 * can return has a row here.
 */
#include <string.h>

#include "test.h"
#include "tests/ht_policy_cases.h"

static struct ht_bench bench;

/* Snapshots: one thing broken in 2 LLCs x 2 cores x 2 threads. */

static void llc_gap(struct ht_topo *t) { t->llc[1].first_word = 2; }
static void llc_empty(struct ht_topo *t) { t->llc[1].nr_words = 0; }
static void llc_too_long(struct ht_topo *t) { t->llc[1].nr_words = 2; }
static void llc_missing(struct ht_topo *t) { t->nr_llcs = 1; }
static void word_of_other(struct ht_topo *t) { t->word_llc[1] = 0; }
static void core_too_wide(struct ht_topo *t) { t->llc[0].smt_shift = 7; }
static void core_missing(struct ht_topo *t) { t->llc[0].nr_cores = 1; }
static void core_too_many(struct ht_topo *t) { t->llc[0].nr_cores = 3; }
static void no_core(struct ht_topo *t)
{
	t->llc[0].nr_cores = 0;
	memset(&t->present[0], 0, sizeof(t->present[0]));
	memset(t->slot_cpu, 0xff, 64 * sizeof(*t->slot_cpu));
	memset(t->cpu_slot, 0xff, 4 * sizeof(*t->cpu_slot));
}

static void cores_beyond(struct ht_topo *t)
{
	ht_u32 i;

	t->llc[0].smt_shift = 0;
	t->llc[0].nr_cores = 65;
	t->nr_cpus = 64;
	for (i = 0; i < 64; i++) {
		t->present[0] |= (ht_u64)1 << i;
		t->slot_cpu[i] = i;
		bench.desc[i].cpu = 0;
	}
	/* Room for 64 CPUs is elsewhere. */
	t->cpu_slot = bench.claim_tick;
	for (i = 0; i < 64; i++)
		t->cpu_slot[i] = i;
	t->present[1] = 0;
	memset(t->slot_cpu + 64, 0xff, 64 * sizeof(*t->slot_cpu));
}

static void slot_beyond(struct ht_topo *t) { t->cpu_slot[3] = 1000; }
static void slot_of_other(struct ht_topo *t) { t->cpu_slot[3] = 2; }
static void cpu_beyond(struct ht_topo *t)
{
	t->slot_cpu[5] = 99;
	t->present[0] |= 1 << 5;
}

static void cpu_twice(struct ht_topo *t)
{
	t->slot_cpu[5] = 0;
	t->present[0] |= 1 << 5;
}

static void present_without(struct ht_topo *t) { t->present[0] |= 1 << 9; }
static void present_lost(struct ht_topo *t) { t->present[0] &= ~2ull; }
static void partial_half(struct ht_topo *t) { t->partial[0] = 1; }
static void partial_absent(struct ht_topo *t) { t->partial[0] = 1 << 9; }
static void cluster_late(struct ht_topo *t) { t->slot_cluster[0] = 2; }
static void cluster_ended(struct ht_topo *t) { t->slot_cluster_end[2] = 2; }
static void cluster_in_core(struct ht_topo *t) { t->slot_cluster[3] = 1; }
static void cluster_ends_in_core(struct ht_topo *t)
{
	t->slot_cluster_end[0] = 1;
}

static void cluster_leaves(struct ht_topo *t) { t->slot_cluster_end[2] = 66; }
static void cluster_earlier(struct ht_topo *t) { t->slot_cluster[64] = 2; }
static void cluster_overlaps(struct ht_topo *t) { t->slot_cluster[2] = 0; }
static void cluster_uneven(struct ht_topo *t) { t->slot_cluster_end[0] = 4; }
static void cluster_long(struct ht_topo *t) { t->slot_cluster_end[1] = 4; }
static void cluster_of_absent(struct ht_topo *t) { t->slot_cluster[9] = 0; }
static void cluster_end_absent(struct ht_topo *t)
{
	t->slot_cluster_end[9] = 10;
}

static void order_not_self(struct ht_topo *t)
{
	t->llc_order[0] = 1;
	t->llc_order[1] = 0;
}

static void order_twice(struct ht_topo *t) { t->llc_order[1] = 0; }
static void order_beyond(struct ht_topo *t) { t->llc_order[1] = 7; }
static void order_node(struct ht_topo *t)
{
	/* Three LLCs' worth of rows do not exist here: see below. */
	t->llc[2].node = t->llc[0].node;
	t->llc[3].node = 9;
}

static void llcs_too_many(struct ht_topo *t) { t->nr_llcs = HT_MAX_LLCS + 1; }

static const struct {
	const char *name;
	enum ht_machine_id machine;
	void (*damage)(struct ht_topo *topo);
	enum ht_check_error error;
} bad_topos[] = {
	{ "a gap between LLCs", M_2L2C2T, llc_gap, HT_CHECK_LLC_WORDS },
	{ "an LLC without words", M_2L2C2T, llc_empty, HT_CHECK_LLC_WORDS },
	{ "an LLC beyond the end", M_2L2C2T, llc_too_long, HT_CHECK_LLC_WORDS },
	{ "words of no LLC", M_2L2C2T, llc_missing, HT_CHECK_LLC_WORDS },
	{ "a word of another LLC", M_2L2C2T, word_of_other,
	  HT_CHECK_LLC_WORDS },
	{ "a core wider than a word", M_2L2C2T, core_too_wide,
	  HT_CHECK_LLC_SHIFT },
	{ "a core not counted", M_2L2C2T, core_missing, HT_CHECK_LLC_CORES },
	{ "a core too many", M_2L2C2T, core_too_many, HT_CHECK_LLC_CORES },
	{ "an LLC without cores", M_2L2C2T, no_core, HT_CHECK_LLC_CORES },
	{ "more cores than slots", M_2L2C2T, cores_beyond,
	  HT_CHECK_LLC_CORES },
	{ "a slot that does not exist", M_2L2C2T, slot_beyond,
	  HT_CHECK_CPU_SLOT },
	{ "another CPU's slot", M_2L2C2T, slot_of_other, HT_CHECK_CPU_SLOT },
	{ "a CPU that does not exist", M_2L2C2T, cpu_beyond,
	  HT_CHECK_SLOT_CPU },
	{ "a CPU in two slots", M_2L2C2T, cpu_twice, HT_CHECK_SLOT_CPU },
	{ "present without a CPU", M_2L2C2T, present_without,
	  HT_CHECK_PRESENT },
	{ "a CPU that is not present", M_2L2C2T, present_lost,
	  HT_CHECK_PRESENT },
	{ "a core that is partial in part", M_2L2C2T, partial_half,
	  HT_CHECK_PARTIAL },
	{ "partial and absent", M_2L2C2T, partial_absent, HT_CHECK_PARTIAL },
	{ "a cluster that begins after its slot", M_2L2C2T, cluster_late,
	  HT_CHECK_CLUSTER },
	{ "a cluster that ends before its slot", M_2L2C2T, cluster_ended,
	  HT_CHECK_CLUSTER },
	{ "a cluster that begins within a core", M_2L2C2T, cluster_in_core,
	  HT_CHECK_CLUSTER },
	{ "a cluster that ends within a core", M_2L2C2T, cluster_ends_in_core,
	  HT_CHECK_CLUSTER },
	{ "a cluster that leaves its LLC", M_2L2C2T, cluster_leaves,
	  HT_CHECK_CLUSTER },
	{ "a cluster that begins in another LLC", M_2L2C2T, cluster_earlier,
	  HT_CHECK_CLUSTER },
	{ "clusters that overlap", M_2L2C2T, cluster_overlaps,
	  HT_CHECK_CLUSTER },
	{ "a cluster of two lengths", M_2L2C2T, cluster_uneven,
	  HT_CHECK_CLUSTER },
	{ "a slot that knows a longer cluster", M_2L2C2T, cluster_long,
	  HT_CHECK_CLUSTER },
	{ "an absent slot in a cluster", M_2L2C2T, cluster_of_absent,
	  HT_CHECK_CLUSTER },
	{ "an absent slot with a cluster's end", M_2L2C2T, cluster_end_absent,
	  HT_CHECK_CLUSTER },
	{ "an order that begins elsewhere", M_2L2C2T, order_not_self,
	  HT_CHECK_ORDER },
	{ "an order with a repetition", M_2L2C2T, order_twice,
	  HT_CHECK_ORDER },
	{ "an order with a stranger", M_2L2C2T, order_beyond,
	  HT_CHECK_ORDER },
	{ "a node interrupted", M_16L3C, order_node, HT_CHECK_ORDER },
	{ "more LLCs than can be", M_2L2C2T, llcs_too_many, HT_CHECK_ORDER },
};

static void test_bad_topos(void)
{
	size_t i;

	for (i = 0; i < sizeof(bad_topos) / sizeof(bad_topos[0]); i++) {
		test_begin("snapshot: %s", bad_topos[i].name);
		CHECK(!ht_bench_machine(&bench, bad_topos[i].machine),
		      "no such machine");
		bad_topos[i].damage(&bench.topo);
		CHECK_STR(ht_check_name(ht_check_topo(&bench.topo)),
			  ht_check_name(bad_topos[i].error));
	}
}

/* Verdicts: what would be answered, and what is wrong with that. */

/* The verdict that follows from a CPU, right in all but the choice. */
#define ANSWER(c, w, core, dist)					\
	.cpu = (c), .why = HT_WHY_##w, .whole = (core), .distance = (dist)

static const struct bad_verdict {
	const char *name;
	struct ht_case ask;	/* its cpu and why are not used */
	ht_u32 cpu;
	enum ht_why why;
	bool whole;
	ht_u8 distance;
	ht_u32 slot_off;	/* added to the right slot */
	ht_u64 share_ns;
	enum ht_check_error error;
} bad_verdicts[] = {
	/* Illegal. */
	{ "none, though a CPU is there", { .machine = M_2C2T },
	  ANSWER(HT_NONE, NONE, false, 0), .error = HT_CHECK_NO_CPU },
	{ "none, though prev is allowed",
	  { .machine = M_2L2C2T_ISO, .allowed = "4-5", .prev = 4,
	    .origin = 4 },
	  ANSWER(HT_NONE, NONE, false, 0), .error = HT_CHECK_NO_CPU },
	{ "none, with a reason", { .machine = M_2C2T, .allowed = "" },
	  ANSWER(HT_NONE, IDLE_CORE, false, 0), .error = HT_CHECK_WHY },
	{ "none, with a slot", { .machine = M_2C2T, .allowed = "" },
	  ANSWER(HT_NONE, NONE, false, 0), .slot_off = 1,
	  .error = HT_CHECK_BAD_SLOT },
	{ "none, with a whole core", { .machine = M_2C2T, .allowed = "" },
	  ANSWER(HT_NONE, NONE, true, 0), .error = HT_CHECK_WHOLE_CORE },
	{ "none, at a distance", { .machine = M_2C2T, .allowed = "" },
	  ANSWER(HT_NONE, NONE, false, 1), .error = HT_CHECK_DISTANCE },
	{ "no such CPU", { .machine = M_2C2T },
	  ANSWER(4, IDLE_CORE, true, 0), .error = HT_CHECK_BAD_CPU },
	{ "outside the mask", { .machine = M_2C2T, .allowed = "0-1" },
	  ANSWER(2, IDLE_CORE, true, 2), .error = HT_CHECK_NOT_ALLOWED },
	{ "checked one thread, returned another",
	  { .machine = M_2C2T, .busy = "0", .allowed = "0,3" },
	  ANSWER(2, IDLE_CORE, true, 2), .error = HT_CHECK_NOT_ALLOWED },
	{ "another CPU's slot", { .machine = M_2C2T },
	  ANSWER(0, PREV_CORE, true, 0), .slot_off = 1,
	  .error = HT_CHECK_BAD_SLOT },
	{ "pinned, but with a choice", { .machine = M_2C2T },
	  ANSWER(0, PINNED, true, 0), .error = HT_CHECK_PINNED },
	{ "without a choice, but not pinned",
	  { .machine = M_2C2T, .allowed = "0" },
	  ANSWER(0, PREV_CORE, true, 0), .error = HT_CHECK_PINNED },
	{ "no snapshot entry, and not prev",
	  { .machine = M_2L2C2T_ISO, .allowed = "4-5", .prev = 4,
	    .origin = 4 },
	  ANSWER(5, NO_TOPOLOGY, false, 0), .error = HT_CHECK_NOT_PREV },
	{ "no snapshot entry, another reason",
	  { .machine = M_2L2C2T_ISO, .allowed = "4-5", .prev = 4,
	    .origin = 4 },
	  ANSWER(4, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WHY },
	{ "a CPU without a slot though others have one",
	  { .machine = M_2L2C2T_ISO }, ANSWER(4, IDLE_CORE, false, 0),
	  .error = HT_CHECK_BAD_SLOT },
	{ "another root domain", { .machine = M_2L2C2T_DOM, .busy = "0,2" },
	  ANSWER(4, IDLE_CORE, true, 3), .error = HT_CHECK_DOMAIN },

	/* Reasons that the state does not bear out. */
	{ "idle core, but it is prev's", { .machine = M_2C2T },
	  ANSWER(0, IDLE_CORE, true, 0), .error = HT_CHECK_WHY },
	{ "prev idle, but the core is too", { .machine = M_2C2T },
	  ANSWER(0, PREV_IDLE, true, 0), .error = HT_CHECK_WHY },
	{ "idle thread, but it is a sibling",
	  { .machine = M_2C2T, .busy = "0,2-3" },
	  ANSWER(1, IDLE_THREAD, false, 0), .error = HT_CHECK_WHY },
	{ "sibling, but it is elsewhere",
	  { .machine = M_2C2T, .busy = "0-2" },
	  ANSWER(3, PREV_SIBLING, false, 2), .error = HT_CHECK_WHY },
	{ "shortest wait, but it is idle",
	  { .machine = M_2C2T, .busy = "0,2-3" },
	  ANSWER(1, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WHY },
	{ "idle core, but it is claimed",
	  { .machine = M_2C2T, .busy = "0-1,3", .claimed = "2" },
	  ANSWER(0, IDLE_CORE, false, 0), .error = HT_CHECK_WHY },
	{ "SCHED_IDLE, but it is not",
	  { .machine = M_2C2T, .busy = "0-3", .nr_waits = 1,
	    .waits = { { 0, false, 1 } } },
	  ANSWER(0, SCHED_IDLE, false, 0), .error = HT_CHECK_WHY },
	{ "shortest wait, but SCHED_IDLE",
	  { .machine = M_2C2T, .busy = "0-3", .nr_waits = 1,
	    .waits = { { 0, true, 1 } } },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WHY },
	{ "whole core not said", { .machine = M_2C2T },
	  ANSWER(0, PREV_CORE, false, 0), .error = HT_CHECK_WHOLE_CORE },
	{ "whole core said of a shared one",
	  { .machine = M_2C2T, .busy = "0,2-3" },
	  ANSWER(1, PREV_SIBLING, true, 0), .error = HT_CHECK_WHOLE_CORE },
	{ "pinned, whole core not said",
	  { .machine = M_2C2T, .allowed = "0" },
	  ANSWER(0, PINNED, false, 0), .error = HT_CHECK_WHOLE_CORE },
	{ "wrong distance", { .machine = M_2C2T, .busy = "0" },
	  ANSWER(2, IDLE_CORE, true, 1), .error = HT_CHECK_DISTANCE },
	{ "a distance without a measure",
	  { .machine = M_2L2C2T_ISO, .allowed = "4-5", .prev = 4,
	    .origin = 4 },
	  ANSWER(4, NO_TOPOLOGY, false, 2), .error = HT_CHECK_DISTANCE },

	/* Better CPUs left unused. */
	{ "a sibling while a core idles", { .machine = M_2C2T, .busy = "0" },
	  ANSWER(1, PREV_SIBLING, false, 0), .error = HT_CHECK_BETTER_CORE },
	{ "prev idle beside a busy sibling while a core idles",
	  { .machine = M_2C2T, .busy = "1" },
	  ANSWER(0, PREV_IDLE, false, 0), .error = HT_CHECK_BETTER_CORE },
	{ "a wait while a core idles", { .machine = M_2C2T, .busy = "0-1" },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_BETTER_CORE },
	{ "a wait while a thread idles",
	  { .machine = M_2C2T, .busy = "0,2-3" },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_BETTER_THREAD },
	{ "a farther core", { .machine = M_2L2C2T, .busy = "0" },
	  ANSWER(4, IDLE_CORE, true, 3), .error = HT_CHECK_NEARER },
	{ "a farther thread",
	  { .machine = M_2L2C2T, .busy = "0-2,4,6" },
	  ANSWER(5, IDLE_THREAD, false, 3), .error = HT_CHECK_NEARER },
	{ "a thread elsewhere before prev's sibling",
	  { .machine = M_2C2T, .busy = "0,2" },
	  ANSWER(3, IDLE_THREAD, false, 2), .error = HT_CHECK_NEARER },
	{ "another core though prev's is idle", { .machine = M_2C2T },
	  ANSWER(2, IDLE_CORE, true, 2), .error = HT_CHECK_PREV_MISSED },
	{ "another thread though prev is idle",
	  { .machine = M_2C2T, .busy = "1,3" },
	  ANSWER(2, IDLE_THREAD, false, 2), .error = HT_CHECK_PREV_MISSED },
	{ "sync: a core nearer to the waker though prev's is idle",
	  { .machine = M_2L2C2T, .busy = "0", .kind = HT_KIND_SYNC,
	    .prev = 4 },
	  ANSWER(2, IDLE_CORE, true, 2), .error = HT_CHECK_PREV_MISSED },
	{ "sync: the waker's sibling though prev is idle",
	  { .machine = M_2L2C2T, .busy = "0,2,4,6", .kind = HT_KIND_SYNC,
	    .prev = 5 },
	  ANSWER(1, IDLE_THREAD, false, 0), .error = HT_CHECK_PREV_MISSED },
	{ "sync: a core nearer to prev than to the waker",
	  { .machine = M_2L2C2T, .busy = "0,4", .kind = HT_KIND_SYNC,
	    .prev = 5 },
	  ANSWER(6, IDLE_CORE, true, 3), .error = HT_CHECK_NEARER },
	{ "fork: another core though prev's is as near",
	  { .machine = M_4C2T_SPLIT, .busy = "0", .kind = HT_KIND_FORK,
	    .prev = 2 },
	  ANSWER(1, IDLE_CORE, true, 2), .error = HT_CHECK_PREV_MISSED },
	{ "a longer wait",
	  { .machine = M_2C2T, .busy = "0-3", .nr_waits = 2,
	    .waits = { { 0, false, 2 }, { 2, false, 1 } } },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WAIT },
	{ "a wait though another has SCHED_IDLE",
	  { .machine = M_2C2T, .busy = "0-3", .nr_waits = 2,
	    .waits = { { 0, false, 0 }, { 2, true, 9 } } },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WAIT },
	{ "a tie not given to prev",
	  { .machine = M_2C2T, .busy = "0-3", .nr_waits = 2,
	    .waits = { { 2, false, 1 }, { 0, false, 1 } } },
	  ANSWER(2, SHORTEST_WAIT, false, 2), .error = HT_CHECK_WAIT },
	/* Prices. */
	{ "price: a core of another LLC for 20 us",
	  { .machine = M_2L2C2T, .busy = "0,2", .run_us = 20 },
	  ANSWER(4, IDLE_CORE, true, 3), .error = HT_CHECK_DEARER },
	{ "price: beside a busy thread for 5 ms",
	  { .machine = M_2L2C2T, .busy = "0,2", .run_us = 5000 },
	  ANSWER(1, WARM, false, 0), .error = HT_CHECK_BETTER_CORE },
	{ "price: beside a busy thread without a reason",
	  { .machine = M_2C2T, .busy = "0", .prev = 1, .from_prev = true,
	    .run_us = 1, .core_us = 200 },
	  ANSWER(1, PREV_IDLE, false, 0), .share_ns = 818,
	  .error = HT_CHECK_WHY },
	{ "price: not told", { .machine = M_2C2T, .busy = "0", .prev = 1,
			       .from_prev = true, .run_us = 1,
			       .core_us = 200 },
	  ANSWER(1, WARM, false, 0), .error = HT_CHECK_PRICE },
	{ "price: a wait while a thread idles",
	  { .machine = M_2C2T, .busy = "0,2-3", .run_us = 1 },
	  ANSWER(0, SHORTEST_WAIT, false, 0), .error = HT_CHECK_BETTER_THREAD },
	{ "price: another core though prev's is idle",
	  { .machine = M_2C2T, .run_us = 1 },
	  ANSWER(1, IDLE_CORE, true, 0), .error = HT_CHECK_PREV_MISSED },

	{ "no candidates, and not prev", { .machine = M_2C2T, .busy = "0-3" },
	  ANSWER(1, SHORTEST_WAIT, false, 0), .error = HT_CHECK_WAIT },
};

static void put_case(const struct ht_case *c)
{
	CHECK(!ht_bench_machine(&bench, c->machine), "no such machine");
	ht_bench_state(&bench, c);
	ht_bench_request(&bench, c);
}

static struct ht_verdict make_verdict(const struct bad_verdict *bad)
{
	struct ht_verdict v = { .cpu = bad->cpu, .why = bad->why,
				.whole_core = bad->whole,
				.distance = bad->distance,
				.core_ns = HT_NO_PRICE };

	v.slot = v.cpu < bench.topo.nr_cpus ? bench.topo.cpu_slot[v.cpu] :
					      HT_NONE;
	v.slot += bad->slot_off;
	v.price.share_ns = bad->share_ns;
	return v;
}

static void test_bad_verdicts(void)
{
	struct ht_verdict v;
	size_t i;

	for (i = 0; i < sizeof(bad_verdicts) / sizeof(bad_verdicts[0]); i++) {
		test_begin("verdict: %s", bad_verdicts[i].name);
		put_case(&bad_verdicts[i].ask);
		v = make_verdict(&bad_verdicts[i]);
		CHECK_STR(ht_check_name(ht_check_select(&bench.topo,
							&bench.state,
							&bench.req, &v)),
			  ht_check_name(bad_verdicts[i].error));
	}
}

/* Every error must have been expected somewhere above. */
static void test_complete(void)
{
	bool seen[HT_NR_CHECKS] = { true };
	size_t i;

	test_begin("every error of the validators has a row");
	for (i = 0; i < sizeof(bad_topos) / sizeof(bad_topos[0]); i++)
		seen[bad_topos[i].error] = true;
	for (i = 0; i < sizeof(bad_verdicts) / sizeof(bad_verdicts[0]); i++)
		seen[bad_verdicts[i].error] = true;
	for (i = 0; i < HT_NR_CHECKS; i++)
		CHECK(seen[i], "%s", ht_check_name(i));
}

static void check_free_core(bool found, struct ht_verdict v,
			    enum ht_check_error error)
{
	CHECK_STR(ht_check_name(ht_check_free_core(&bench.topo, &bench.state,
						   &bench.req, found, &v)),
		  ht_check_name(error));
}

static void test_bad_free_core(void)
{
	static const struct ht_case hogs = { .machine = M_2C2T,
					     .busy = "0-1" };
	static const struct ht_case full = { .machine = M_2C2T,
					     .busy = "0,2" };
	static const struct ht_case nowhere = { .machine = M_2L2C2T_ISO,
						.allowed = "4-5" };
	const struct ht_verdict none = { HT_NONE, HT_NONE, HT_WHY_NONE, false,
					 0 };

	test_begin("free core: none found, but there is one");
	put_case(&hogs);
	check_free_core(false, none, HT_CHECK_BETTER_CORE);
	test_begin("free core: none found, but named");
	check_free_core(false, (struct ht_verdict){ 2, 2, HT_WHY_IDLE_CORE,
						    true, 2 }, HT_CHECK_WHY);
	check_free_core(false, (struct ht_verdict){ HT_NONE, HT_NONE,
						    HT_WHY_IDLE_CORE, true,
						    2 }, HT_CHECK_WHY);
	test_begin("free core: not allowed");
	ht_bench_allow(&bench, "0-1");
	check_free_core(true, (struct ht_verdict){ 2, 2, HT_WHY_IDLE_CORE,
						   true, 2 },
			HT_CHECK_NOT_ALLOWED);
	test_begin("free core: a busy one");
	put_case(&hogs);
	check_free_core(true, (struct ht_verdict){ 1, 1, HT_WHY_IDLE_CORE,
						   true, 0 },
			HT_CHECK_BETTER_CORE);
	test_begin("free core: a thread");
	put_case(&full);
	check_free_core(true, (struct ht_verdict){ 1, 1, HT_WHY_PREV_SIBLING,
						   false, 0 }, HT_CHECK_WHY);
	test_begin("free core: where there is no slot");
	put_case(&nowhere);
	check_free_core(true, (struct ht_verdict){ 4, HT_NONE,
						   HT_WHY_IDLE_CORE, true,
						   0 }, HT_CHECK_WHY);
	check_free_core(false, none, HT_CHECK_OK);
}

void test_validators(void)
{
	test_bad_topos();
	test_bad_verdicts();
	test_complete();
	test_bad_free_core();
}
