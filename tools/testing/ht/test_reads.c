// SPDX-License-Identifier: GPL-2.0
/*
 * What the policy reads of the state: how much (INV-10), and what comes of it
 * if the state changes between two reads.
 *
 * The policy is compiled in once more, with HT_READ() as a hook.
 */
#include <string.h>

#include "gen.h"
#include "test.h"
#include "tests/ht_policy_cases.h"

#undef HT_READ
#define HT_READ(x)	((__typeof__(x))watch(&(x), sizeof(x)))

static ht_u64 watch(const void *at, size_t size);

#define ht_claim_is_void	watched_claim_is_void
#define ht_word_free_cores	watched_word_free_cores
#define ht_word_shared_threads	watched_word_shared_threads
#define ht_core_mask		watched_core_mask
#define ht_core_is_free		watched_core_is_free
#define ht_slot_distance	watched_slot_distance
#define ht_policy_select	watched_select
#define ht_policy_free_core	watched_free_core
#define ht_policy_move_pays	watched_move_pays
#define ht_why_name		watched_why_name
#define ht_kind_name		watched_kind_name
#include "ht_policy.c"

static unsigned int reads;
/* NULL: memory as it is; otherwise every read is something else. */
static struct source *storm;

static ht_u64 watch(const void *at, size_t size)
{
	ht_u64 value = 0;

	reads++;
	memcpy(&value, at, size);
	if (storm)
		value = (ht_u64)draw(storm, 0xffffffff) << 32 |
			draw(storm, 0xffffffff);
	return value;
}

static struct ht_bench bench;

static void set_up(enum ht_machine_id id, const char *busy)
{
	ht_u32 cpu;

	CHECK(!ht_bench_machine(&bench, id), "no such machine");
	for (cpu = 0; cpu < bench.topo.nr_cpus; cpu++)
		if (ht_list_has(busy, cpu))
			ht_bench_busy(&bench, cpu);
	bench.req = (struct ht_request){ .smt = true, .allowed_all = true };
}

/* Reads of one wakeup of a task that ran on CPU 0. */
static unsigned int cost(enum ht_machine_id id, const char *busy,
			 enum ht_why why)
{
	struct ht_verdict v;

	set_up(id, busy);
	reads = 0;
	watched_select(&bench.topo, &bench.state, &bench.req, &v);
	CHECK(v.why == why, "%s", watched_why_name(v.why));
	return reads;
}

#define CHECK_COST(got, most)						\
	do {								\
		unsigned int got_ = (got), most_ = (most);		\
									\
		CHECK(got_ <= most_, "%u reads, expected %u at most",	\
		      got_, most_);					\
	} while (0)

static void test_cost(void)
{
	unsigned int small, large, words;

	test_begin("INV-10: prev's core idle, 4 CPUs or 2048");
	small = cost(M_2C2T, "", HT_WHY_PREV_CORE);
	large = cost(M_HUGE, "", HT_WHY_PREV_CORE);
	CHECK_COST(large, small);
	CHECK_COST(large, 4);
	test_begin("INV-10: a core of the same LLC, 4 CPUs or 2048");
	small = cost(M_2C2T, "0", HT_WHY_IDLE_CORE);
	large = cost(M_HUGE, "0", HT_WHY_IDLE_CORE);
	CHECK_COST(large, small);
	test_begin("INV-10: a core of the next LLC");
	/* Two words to an LLC, two reads to a word, and the verdict. */
	CHECK_COST(cost(M_HUGE, "0-63,1024-1087", HT_WHY_IDLE_CORE), 16);
	test_begin("INV-10: everything busy, reads by the word");
	large = cost(M_HUGE, "0-2047", HT_WHY_SHORTEST_WAIT);
	words = bench.topo.nr_words;
	/* Rules 2 and 5 see each word once, and their own word twice. */
	CHECK_COST(large, 2 * words + 12);
	test_begin("INV-10: another root domain costs nothing");
	CHECK_COST(cost(M_2L2C2T_DOM, "0-3", HT_WHY_SHORTEST_WAIT),
		   cost(M_2C2T, "0-3", HT_WHY_SHORTEST_WAIT));
}

static bool slot_allowed_in(const struct world *w, ht_u32 cpu)
{
	return cpu < w->nr_cpus && w->topo.cpu_slot[cpu] != HT_NONE &&
	       (w->req.allowed_all || (w->allowed[cpu / 64] >> cpu % 64 & 1));
}

static ht_u32 domain_in(const struct world *w, ht_u32 cpu)
{
	return w->topo.llc[w->topo.word_llc[w->topo.cpu_slot[cpu] / 64]].domain;
}

/* Whatever was read: a CPU that is allowed, present and in the domain. */
static const char *check_legal(const struct world *w,
			       const struct ht_verdict *v)
{
	ht_u32 home = HT_NONE, cpu;

	for (cpu = 0; cpu < w->nr_cpus && home == HT_NONE; cpu++)
		if (slot_allowed_in(w, cpu))
			home = cpu;
	if (slot_allowed_in(w, w->req.prev_cpu))
		home = w->req.prev_cpu;
	if (slot_allowed_in(w, w->req.origin_cpu))
		home = w->req.origin_cpu;
	if (v->why == HT_WHY_PINNED || v->why == HT_WHY_NO_TOPOLOGY ||
	    home == HT_NONE)
		return NULL;
	if (!slot_allowed_in(w, v->cpu))
		return "not allowed";
	if (v->slot != w->topo.cpu_slot[v->cpu])
		return "another CPU's slot";
	return domain_in(w, v->cpu) == domain_in(w, home) ? NULL :
							    "another domain";
}

static const char *run_storm(ht_u64 seed)
{
	struct source src = { .seed = seed }, noise = { .seed = ~seed };
	const char *wrong;
	struct ht_verdict v;
	struct world w;

	world_make(&w, &src);
	storm = &noise;
	watched_select(&w.topo, &w.state, &w.req, &v);
	wrong = check_legal(&w, &v);
	if (!wrong && watched_free_core(&w.topo, &w.state, &w.req, &v))
		wrong = check_legal(&w, &v);
	storm = NULL;
	world_free(&w);
	return wrong;
}

static void test_storm(void)
{
	const char *wrong;
	ht_u64 seed;

	test_begin("INV-1: legal whatever the state turns into meanwhile");
	for (seed = 1; seed <= 2000; seed++) {
		wrong = run_storm(seed);
		if (!CHECK(!wrong, "seed %llu: %s", seed, wrong))
			return;
	}
}

void test_reads(void)
{
	test_cost();
	test_storm();
}
