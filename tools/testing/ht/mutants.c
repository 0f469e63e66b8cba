// SPDX-License-Identifier: GPL-2.0
/*
 * Broken policies, to see the tests turn red.
 *
 * One of HT_MUTANT_* is defined; this file then takes the place of
 * ht_policy.c. A mutant lies to the real policy (about the state, the machine,
 * the request) or bends its answer, so the kernel's source knows nothing of
 * it. Without HT_MUTANT_* it must pass: then the wrapping itself is innocent.
 *
 * mutants.sh finds the names at "#ifdef".
 */
#define ht_policy_select	real_policy_select
#define ht_policy_free_core	real_policy_free_core
#define ht_word_free_cores	real_word_free_cores
#define ht_word_shared_threads	real_word_shared_threads
#define ht_claim_is_void	real_claim_is_void
#define ht_core_is_free		real_core_is_free
#define ht_slot_distance	real_slot_distance
#include "ht_policy.c"
#undef ht_policy_select
#undef ht_policy_free_core
#undef ht_word_free_cores
#undef ht_word_shared_threads
#undef ht_claim_is_void
#undef ht_core_is_free
#undef ht_slot_distance

#include <stdlib.h>
#include <string.h>

void ht_policy_select(const struct ht_topo *topo, const struct ht_state *st,
		      const struct ht_request *req, struct ht_verdict *verdict);
bool ht_policy_free_core(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req,
			 struct ht_verdict *verdict);
ht_u64 ht_word_free_cores(const struct ht_topo *topo, const struct ht_state *st,
			  ht_u32 word);
ht_u64 ht_word_shared_threads(const struct ht_topo *topo,
			      const struct ht_state *st, ht_u32 word);
bool ht_claim_is_void(const struct ht_state *st, ht_u32 slot);
bool ht_core_is_free(const struct ht_topo *topo, const struct ht_state *st,
		     ht_u32 slot);
ht_u8 ht_slot_distance(const struct ht_topo *topo, ht_u32 a, ht_u32 b);

/**
 * struct lie - what the real policy is told
 * @topo:     machine
 * @st:       state
 * @req:      request
 * @mem:      memory of arrays that were replaced
 */
struct lie {
	struct ht_topo topo;
	struct ht_state st;
	struct ht_request req;
	void *mem[4];
};

/* A copy of an array, to be spoilt. */
__attribute__((unused))
static void *spoil(struct lie *lie, int nr, const void *array, size_t bytes)
{
	lie->mem[nr] = malloc(bytes ? bytes : 1);
	if (!lie->mem[nr])
		abort();
	memcpy(lie->mem[nr], array, bytes);
	return lie->mem[nr];
}

/* The words that the real policy sees, to be spoilt. */
__attribute__((unused))
static struct ht_word *spoil_words(struct lie *lie, const struct ht_topo *topo,
				   const struct ht_state *st)
{
	struct ht_word *word = spoil(lie, 0, st->word,
				     topo->nr_words * sizeof(*word));

	lie->st.word = word;
	return word;
}

static void tell(struct lie *lie, const struct ht_topo *topo,
		 const struct ht_state *st, const struct ht_request *req)
{
	lie->topo = *topo;
	lie->st = *st;
	lie->req = *req;
	memset(lie->mem, 0, sizeof(lie->mem));

	/* The request. */
#ifdef HT_MUTANT_IGNORE_AFFINITY
	lie->req.allowed_all = true;
#endif
#ifdef HT_MUTANT_SMT_BLIND
	lie->req.smt = false;
#endif
#ifdef HT_MUTANT_SMT_ALWAYS
	lie->req.smt = true;
#endif
#ifdef HT_MUTANT_SYNC_FROM_PREV
	if (req->kind == HT_KIND_SYNC)
		lie->req.origin_cpu = req->prev_cpu;
#endif
#ifdef HT_MUTANT_SYNC_AS_FORK
	if (req->kind == HT_KIND_SYNC)
		lie->req.kind = HT_KIND_FORK;
#endif
#ifdef HT_MUTANT_FORK_AS_WAKEUP
	if (req->kind == HT_KIND_FORK)
		lie->req.kind = HT_KIND_WAKEUP;
#endif
#ifdef HT_MUTANT_WAKEUP_AS_FORK
	if (req->kind == HT_KIND_WAKEUP)
		lie->req.kind = HT_KIND_FORK;
#endif
#ifdef HT_MUTANT_ORIGIN_IGNORED
	lie->req.origin_cpu = lie->req.prev_cpu;
#endif
#ifdef HT_MUTANT_PREV_FORGOTTEN
	lie->req.prev_cpu = lie->req.origin_cpu;
#endif
#ifdef HT_MUTANT_SELF_IS_BUSY
	lie->req.prev_is_self = false;
#endif
#ifdef HT_MUTANT_FIRST_WAIT
	if (lie->req.nr_waits > 1)
		lie->req.nr_waits = 1;
#endif
#ifdef HT_MUTANT_SCHED_IDLE_WAITS
	for (int i = 0; i < HT_MAX_WAITS; i++)
		lie->req.waits[i].sched_idle = false;
#endif

	/* The price. */
#ifdef HT_MUTANT_PRICE_NEVER
	lie->req.priced = false;
#endif
#ifdef HT_MUTANT_PRICE_ALWAYS
	lie->req.priced = true;
	if (!lie->req.prices.yield_pct)
		lie->req.prices.yield_pct = 55;
#endif
#ifdef HT_MUTANT_PRICE_WITHOUT_SMT
	lie->req.smt |= lie->req.priced;
#endif
#ifdef HT_MUTANT_SHARING_IS_FREE
	lie->req.prices.yield_pct = 100;
#endif
#ifdef HT_MUTANT_RUN_IGNORED
	lie->req.run_ns = 1000000;
#endif
#ifdef HT_MUTANT_MOVING_IS_FREE
	memset(lie->req.prices.refill_ns, 0, sizeof(lie->req.prices.refill_ns));
#endif
#ifdef HT_MUTANT_LLC_IS_FREE
	lie->req.prices.refill_ns[HT_LEVEL_LLC] = 0;
#endif
#ifdef HT_MUTANT_NODE_IS_FREE
	lie->req.prices.refill_ns[HT_LEVEL_NODE] = 0;
#endif
#ifdef HT_MUTANT_ALWAYS_HOT
	for (int i = 0; i < HT_LEVELS; i++)
		lie->req.resid_ns[i] = lie->req.prices.fill_ns[i];
#endif
#ifdef HT_MUTANT_ALWAYS_COLD
	memset(lie->req.resid_ns, 0, sizeof(lie->req.resid_ns));
#endif
#ifdef HT_MUTANT_HOT_OR_COLD
	/* The cliff. */
	for (int i = 0; i < HT_LEVELS; i++)
		lie->req.resid_ns[i] = 2ull * lie->req.resid_ns[i] <
			lie->req.prices.fill_ns[i] ? 0 :
			lie->req.prices.fill_ns[i];
#endif
#ifdef HT_MUTANT_PAIR_AT_ONCE
	if (lie->req.pair)
		lie->req.pair = 255;
#endif
#ifdef HT_MUTANT_PAIR_NEVER
	lie->req.pair = 0;
#endif
#ifdef HT_MUTANT_PARTNER_IS_PREV
	lie->req.waker_cpu = lie->req.prev_cpu;
#endif

	/* The state. */
	{
#ifdef HT_MUTANT_LIGHT_IGNORED
		struct ht_word *word = spoil_words(lie, topo, st);

		for (size_t i = 0; i < topo->nr_words; i++)
			word[i].light = 0;
#endif
#ifdef HT_MUTANT_ALL_LIGHT
		struct ht_word *word = spoil_words(lie, topo, st);

		for (size_t i = 0; i < topo->nr_words; i++)
			word[i].light = ~(ht_u64)0;
#endif
#ifdef HT_MUTANT_SKIP_CLAIM
		struct ht_word *word = spoil_words(lie, topo, st);

		for (size_t i = 0; i < topo->nr_words; i++)
			word[i].claimed = 0;
#endif
#ifdef HT_MUTANT_CLAIM_NEVER_VOID
		size_t slots = topo->nr_words * HT_WORD_BITS;
		ht_u32 *tick = spoil(lie, 0, st->claim_tick,
				     slots * sizeof(*tick));

		for (size_t i = 0; i < slots; i++)
			tick[i] = st->tick;
		lie->st.claim_tick = tick;
#endif
#ifdef HT_MUTANT_CLAIM_VOID_EARLY
		lie->st.tick++;
#endif
#ifdef HT_MUTANT_IDLE_NEVER_CLEARED
		struct ht_word *word = spoil_words(lie, topo, st);

		for (size_t i = 0; i < topo->nr_words; i++)
			word[i].idle = ~(ht_u64)0;
#endif
#ifdef HT_MUTANT_IDLE_NEVER_SET
		struct ht_word *word = spoil_words(lie, topo, st);

		for (size_t i = 0; i < topo->nr_words; i++)
			word[i].idle = 0;
#endif
	}

	/* The machine. */
	{
#ifdef HT_MUTANT_WRONG_DOMAIN
		struct ht_llc *llc = spoil(lie, 1, topo->llc,
					   topo->nr_llcs * sizeof(*llc));

		for (ht_u32 i = 0; i < topo->nr_llcs; i++)
			llc[i].domain = 0;
		lie->topo.llc = llc;
#endif
#ifdef HT_MUTANT_PARTIAL_IS_WHOLE
		size_t bytes = topo->nr_words * sizeof(ht_u64);

		lie->topo.partial = memset(spoil(lie, 1, topo->partial, bytes),
					   0, bytes);
#endif
#ifdef HT_MUTANT_FARTHEST_FIRST
		ht_u32 n = topo->nr_llcs;
		ht_u32 *order = spoil(lie, 1, topo->llc_order,
				      n * n * sizeof(*order));

		for (ht_u32 i = 0; i < n * n; i++)
			order[i] = topo->llc_order[i / n * n + n - 1 - i % n];
		lie->topo.llc_order = order;
#endif
#ifdef HT_MUTANT_CLUSTER_IS_LLC
		size_t slots = topo->nr_words * HT_WORD_BITS;
		ht_u32 *start = spoil(lie, 1, topo->slot_cluster,
				      slots * sizeof(*start));
		ht_u32 *end = spoil(lie, 2, topo->slot_cluster_end,
				    slots * sizeof(*end));

		for (size_t i = 0; i < slots; i++) {
			const struct ht_llc *llc =
				&topo->llc[topo->word_llc[i / HT_WORD_BITS]];

			start[i] = llc->first_word * HT_WORD_BITS;
			end[i] = start[i] + (llc->nr_cores << llc->smt_shift);
		}
		lie->topo.slot_cluster = start;
		lie->topo.slot_cluster_end = end;
#endif
#ifdef HT_MUTANT_LAST_WORD_LOST
		if (topo->nr_words > 1) {
			size_t bytes = topo->nr_words * sizeof(ht_u64);
			ht_u64 *present = spoil(lie, 1, topo->present, bytes);

			present[topo->nr_words - 1] = 0;
			lie->topo.present = present;
		}
#endif
	}
}

static void forget(struct lie *lie)
{
	for (size_t i = 0; i < sizeof(lie->mem) / sizeof(lie->mem[0]); i++)
		free(lie->mem[i]);
}

/* Puts another CPU into a verdict, the rest stays as it was. */
__attribute__((unused))
static void redirect(const struct ht_topo *topo, struct ht_verdict *v,
		     ht_u32 cpu)
{
	v->cpu = cpu;
	v->slot = topo->cpu_slot[cpu];
}

/* A thread of prev's core that idles and is allowed. */
__attribute__((unused))
static ht_u32 idle_in_core(const struct ht_topo *topo,
			   const struct ht_state *st,
			   const struct ht_request *req, ht_u32 prev)
{
	for (ht_u32 cpu = 0; cpu < topo->nr_cpus; cpu++) {
		ht_u32 slot = topo->cpu_slot[cpu];

		if (slot != HT_NONE && cpu != prev && cpu_allowed(req, cpu) &&
		    topo->cpu_slot[prev] != HT_NONE &&
		    core_start(topo, slot) ==
		    core_start(topo, topo->cpu_slot[prev]) &&
		    (st->word[HT_WORD(slot)].idle & HT_BIT(slot)))
			return cpu;
	}
	return HT_NONE;
}

static void bend(const struct ht_topo *topo, const struct ht_state *st,
		 const struct ht_request *req, struct ht_verdict *v)
{
	bool has_prev = req->prev_cpu < topo->nr_cpus &&
			cpu_allowed(req, req->prev_cpu);
	ht_u32 cpu = HT_NONE;

	(void)has_prev;
	(void)st;
	(void)cpu;
	if (v->slot == HT_NONE)
		return;
#ifdef HT_MUTANT_PREV_ALWAYS
	if (has_prev)
		redirect(topo, v, req->prev_cpu);
#endif
#ifdef HT_MUTANT_SIBLING_FIRST
	if (has_prev)
		cpu = idle_in_core(topo, st, req, req->prev_cpu);
	if (cpu != HT_NONE) {
		redirect(topo, v, cpu);
		v->why = HT_WHY_PREV_SIBLING;
		v->whole_core = false;
	}
#endif
#ifdef HT_MUTANT_SIBLING_LAST
	if (v->why == HT_WHY_PREV_SIBLING)
		v->why = HT_WHY_IDLE_THREAD;
#endif
#ifdef HT_MUTANT_UNCHECKED_SIBLING
	/* The core was looked at, any thread of it is returned. */
	redirect(topo, v, topo->slot_cpu[core_start(topo, v->slot)]);
#endif
#ifdef HT_MUTANT_WHOLE_CORE_UNSAID
	v->whole_core = false;
#endif
#ifdef HT_MUTANT_SLOT_IS_CPU
	v->slot = v->cpu;
#endif
#ifdef HT_MUTANT_PINNED_UNSAID
	if (v->why == HT_WHY_PINNED)
		v->why = HT_WHY_SHORTEST_WAIT;
#endif
#ifdef HT_MUTANT_DISTANCE_UNSAID
	v->distance = 0;
#endif
}

void ht_policy_select(const struct ht_topo *topo, const struct ht_state *st,
		      const struct ht_request *req, struct ht_verdict *verdict)
{
	struct lie lie;

	tell(&lie, topo, st, req);
	real_policy_select(&lie.topo, &lie.st, &lie.req, verdict);
	bend(topo, st, req, verdict);
	forget(&lie);
}

bool ht_policy_free_core(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req,
			 struct ht_verdict *verdict)
{
	struct ht_request told = *req;

#ifdef HT_MUTANT_UNSHARE_UNPRICED
	told.priced = false;
#endif
#ifdef HT_MUTANT_UNSHARE_AT_A_LOSS
	memset(told.prices.refill_ns, 0, sizeof(told.prices.refill_ns));
#endif
#ifdef HT_MUTANT_FREE_CORE_NEVER
	struct ht_state busy = *st;
	struct ht_word *none = calloc(topo->nr_words + 1, sizeof(*none));
	bool found;

	busy.word = none;
	found = real_policy_free_core(topo, &busy, &told, verdict);
	free(none);
	return found;
#else
	return real_policy_free_core(topo, st, &told, verdict);
#endif
}

ht_u64 ht_word_free_cores(const struct ht_topo *topo, const struct ht_state *st,
			  ht_u32 word)
{
#ifdef HT_MUTANT_ANY_THREAD_IS_A_CORE
	return any_of_core(st->word[word].idle & topo->present[word],
			   word_llc(topo, word)->smt_shift);
#else
	return real_word_free_cores(topo, st, word);
#endif
}

ht_u64 ht_word_shared_threads(const struct ht_topo *topo,
			      const struct ht_state *st, ht_u32 word)
{
#ifdef HT_MUTANT_ONE_IS_SHARED
	ht_u32 shift = word_llc(topo, word)->smt_shift;

	return whole_cores(any_of_core(topo->present[word] &
				       ~st->word[word].idle, shift), shift) &
	       topo->present[word];
#else
	return real_word_shared_threads(topo, st, word);
#endif
}

bool ht_claim_is_void(const struct ht_state *st, ht_u32 slot)
{
#ifdef HT_MUTANT_CLAIM_OF_THIS_TICK_ONLY
	return st->tick != st->claim_tick[slot];
#else
	return real_claim_is_void(st, slot);
#endif
}

bool ht_core_is_free(const struct ht_topo *topo, const struct ht_state *st,
		     ht_u32 slot)
{
	return real_core_is_free(topo, st, slot);
}

ht_u8 ht_slot_distance(const struct ht_topo *topo, ht_u32 a, ht_u32 b)
{
#ifdef HT_MUTANT_CLUSTER_IS_CORE
	ht_u8 distance = real_slot_distance(topo, a, b);

	return distance == 1 ? 0 : distance;
#else
	return real_slot_distance(topo, a, b);
#endif
}
