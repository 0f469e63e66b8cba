// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: where a task goes.
 *
 * With SMT knowledge on (req->smt) the first rule that finds a CPU decides:
 *
 *  1. prev, if its core is wholly idle.
 *  2. The nearest wholly idle core that has an allowed thread.
 *  3. prev, if it is idle.
 *  4. An idle sibling of prev.
 *  5. The nearest other idle thread.
 *  6. The shortest wait among a sample; a CPU that runs only SCHED_IDLE tasks
 *     counts as no wait.
 *
 * With it off all threads are equal: 3, 5 with prev's siblings among them, 6.
 *
 * A wakeup returns to prev, and so does a sync wakeup: what it measures from
 * the waker is how near the CPUs of rules 2 and 5 are. Every other kind begins
 * where the task's data is now (a child's at the parent): there rules 3 and 4
 * are about that CPU, and prev wins only against CPUs that are no nearer.
 *
 * With prices on (req->priced) the same candidates are compared in nanoseconds,
 * and the cheapest wins; prev on a tie. In each class (wholly idle core; thread
 * beside what loses little; any thread) only the nearest to the task's data and
 * the nearest to its steady waker can be the cheapest, since prices do not fall
 * with distance. A search ends where even the cheapest that it could still find
 * costs more than what is known. With nothing idle, the wait and the move add
 * up.
 *
 * What holds for every verdict: the CPU is allowed and, unless the task had no
 * choice (HT_WHY_PINNED, HT_WHY_NO_TOPOLOGY), it has a thread in the snapshot
 * and lies in one root domain with where the search began (INV-1).
 *
 * Cost (INV-10): a few bit operations per word of the LLCs visited, nearest
 * first, and one test of the affinity mask per candidate.
 */
#include "ht_policy.h"
#include "ht_price.h"

#define HT_BIT(slot)	((ht_u64)1 << ((slot) % HT_WORD_BITS))
#define HT_WORD(slot)	((slot) / HT_WORD_BITS)

/* What a search looks for. */
enum ht_class {
	HT_CLASS_CORE,		/* a thread of a wholly idle core */
	HT_CLASS_LIGHT,		/* an idle thread beside what loses little */
	HT_CLASS_THREAD,	/* an idle thread */
};

/**
 * struct ht_search - one decision under way
 * @topo:     the machine
 * @st:       what its threads are doing
 * @req:      what is asked
 * @home:     an allowed slot, the last resort
 * @from:     slot that distance is measured from
 * @base:     slot that rules 3 and 4 are about, or HT_NONE
 * @prev:     slot of the previous CPU if the task may return there, or HT_NONE
 * @self:     slot that is busy with this very task, or HT_NONE
 * @domain:   root domain that the search stays in
 * @anchor:   slot that nearness is judged from at present
 * @class:    what is looked for
 * @dearer:   by distance from @anchor: is it no use to look there? Bits.
 * @own_seen: nor in the core of @anchor itself
 * @cut:      the last search ended for one of these reasons
 */
struct ht_search {
	const struct ht_topo *topo;
	const struct ht_state *st;
	const struct ht_request *req;
	ht_u32 home;
	ht_u32 from;
	ht_u32 base;
	ht_u32 prev;
	ht_u32 self;
	ht_u32 domain;
	ht_u32 anchor;
	enum ht_class class;
	ht_u32 dearer;
	bool own_seen;
	bool cut;
};

/* The first slot of each core, by smt_shift. */
static const ht_u64 ht_first_slots[] = {
	0xffffffffffffffffULL,
	0x5555555555555555ULL,
	0x1111111111111111ULL,
	0x0101010101010101ULL,
	0x0001000100010001ULL,
	0x0000000100000001ULL,
	0x0000000000000001ULL,
};

static ht_u32 lowest_bit(ht_u64 mask)
{
	return __builtin_ctzll(mask);
}

static const struct ht_llc *word_llc(const struct ht_topo *topo, ht_u32 word)
{
	return &topo->llc[topo->word_llc[word]];
}

static const struct ht_llc *slot_llc(const struct ht_topo *topo, ht_u32 slot)
{
	return word_llc(topo, HT_WORD(slot));
}

static ht_u32 core_start(const struct ht_topo *topo, ht_u32 slot)
{
	ht_u32 shift = slot_llc(topo, slot)->smt_shift;

	return slot >> shift << shift;
}

/* A bit per core, at its first slot: is any of its slots set? */
static ht_u64 any_of_core(ht_u64 slots, ht_u32 smt_shift)
{
	ht_u32 i;

	for (i = 0; i < smt_shift; i++)
		slots |= slots >> (1u << i);
	return slots & ht_first_slots[smt_shift];
}

/* A bit per core, at its first slot: are two or more of its slots set? */
static ht_u64 two_of_core(ht_u64 slots, ht_u32 smt_shift)
{
	ht_u64 two = 0;
	ht_u32 i;

	for (i = 0; i < smt_shift; i++) {
		ht_u64 right = slots >> (1u << i);

		/* Right for groups that begin at a multiple of their size. */
		two |= two >> (1u << i) | (slots & right);
		slots |= right;
	}
	return two & ht_first_slots[smt_shift];
}

/* From first slots to all slots of those cores. */
static ht_u64 whole_cores(ht_u64 firsts, ht_u32 smt_shift)
{
	ht_u32 i;

	for (i = 0; i < smt_shift; i++)
		firsts |= firsts << (1u << i);
	return firsts;
}

/**
 * ht_claim_is_void() - is a claim too old to count?
 * @st:       state of the threads
 * @slot:     claimed slot
 */
bool ht_claim_is_void(const struct ht_state *st, ht_u32 slot)
{
	return st->tick - HT_READ(st->claim_tick[slot]) > 1;
}

static ht_u64 live_claims(const struct ht_state *st, ht_u32 word)
{
	ht_u64 claimed = HT_READ(st->word[word].claimed);
	ht_u64 live = claimed;

	for (; claimed; claimed &= claimed - 1) {
		ht_u32 slot = word * HT_WORD_BITS + lowest_bit(claimed);

		if (ht_claim_is_void(st, slot))
			live &= ~HT_BIT(slot);
	}
	return live;
}

/* Threads that a task can be put on without a wait; @self is one by decree. */
static ht_u64 usable_threads(const struct ht_topo *topo,
			     const struct ht_state *st, ht_u32 word,
			     ht_u64 self)
{
	ht_u64 idle = HT_READ(st->word[word].idle);

	/* Claims are few and cost a read each: only if something is idle. */
	if (idle)
		idle &= ~live_claims(st, word);
	return (idle | self) & topo->present[word];
}

static ht_u64 free_cores(const struct ht_topo *topo, const struct ht_state *st,
			 ht_u32 word, ht_u64 self)
{
	ht_u32 shift = word_llc(topo, word)->smt_shift;
	ht_u64 present = topo->present[word];
	ht_u64 taken = present & ~usable_threads(topo, st, word, self);

	return any_of_core(present, shift) &
	       ~any_of_core(taken | topo->partial[word], shift);
}

/**
 * ht_word_free_cores() - cores that are wholly idle and unclaimed
 * @topo:     the machine
 * @st:       state of its threads
 * @word:     word to look at
 *
 * Return: a bit at the first slot of each such core.
 */
ht_u64 ht_word_free_cores(const struct ht_topo *topo, const struct ht_state *st,
			  ht_u32 word)
{
	return free_cores(topo, st, word, 0);
}

/**
 * ht_word_shared_threads() - threads of cores with two or more busy threads
 * @topo:     the machine
 * @st:       state of its threads
 * @word:     word to look at
 *
 * Return: a bit for each thread, idle ones too, of each such core.
 */
ht_u64 ht_word_shared_threads(const struct ht_topo *topo,
			      const struct ht_state *st, ht_u32 word)
{
	ht_u32 shift = word_llc(topo, word)->smt_shift;
	ht_u64 busy = topo->present[word] & ~HT_READ(st->word[word].idle);

	return whole_cores(two_of_core(busy, shift), shift) &
	       topo->present[word];
}

/**
 * ht_core_mask() - the slots of a core, as bits of their word
 * @topo:     the machine
 * @slot:     any slot of the core
 */
ht_u64 ht_core_mask(const struct ht_topo *topo, ht_u32 slot)
{
	return whole_cores(HT_BIT(core_start(topo, slot)),
			   slot_llc(topo, slot)->smt_shift);
}

static bool core_is_free(const struct ht_topo *topo, const struct ht_state *st,
			 ht_u32 slot, ht_u64 self)
{
	return free_cores(topo, st, HT_WORD(slot), self) &
	       HT_BIT(core_start(topo, slot));
}

/**
 * ht_core_is_free() - is the core of a slot wholly idle and unclaimed?
 * @topo:     the machine
 * @st:       state of its threads
 * @slot:     any slot of the core
 */
bool ht_core_is_free(const struct ht_topo *topo, const struct ht_state *st,
		     ht_u32 slot)
{
	return core_is_free(topo, st, slot, 0);
}

/* Of LLCs: 2 the same, 3 in one node, 4 remote. */
static ht_u8 llc_distance(const struct ht_llc *a, const struct ht_llc *b)
{
	if (a == b)
		return 2;
	return a->node == b->node ? 3 : 4;
}

/**
 * ht_slot_distance() - how far apart two slots are
 * @topo:     the machine
 * @a:        a slot
 * @b:        another
 *
 * Return: 0 same core, 1 cluster, 2 LLC, 3 node, 4 remote.
 */
ht_u8 ht_slot_distance(const struct ht_topo *topo, ht_u32 a, ht_u32 b)
{
	const struct ht_llc *la = slot_llc(topo, a);
	const struct ht_llc *lb = slot_llc(topo, b);

	if (la != lb)
		return llc_distance(la, lb);
	if (core_start(topo, a) == core_start(topo, b))
		return 0;
	return topo->slot_cluster[a] == topo->slot_cluster[b] ? 1 : 2;
}

/* Affinity. */

static bool cpu_allowed(const struct ht_request *req, ht_u32 cpu)
{
	return req->allowed_all || (req->allowed[HT_WORD(cpu)] & HT_BIT(cpu));
}

static bool slot_allowed(const struct ht_search *s, ht_u32 slot)
{
	return slot != HT_NONE && cpu_allowed(s->req, s->topo->slot_cpu[slot]);
}

/* A word of the affinity mask, without the bits beyond the last CPU. */
static ht_u64 allowed_word(const struct ht_search *s, ht_u32 word)
{
	ht_u64 mask = s->req->allowed_all ? ~(ht_u64)0 : s->req->allowed[word];

	if (word == HT_WORD(s->topo->nr_cpus))
		mask &= HT_BIT(s->topo->nr_cpus) - 1;
	return mask;
}

static ht_u32 allowed_words(const struct ht_search *s)
{
	return (s->topo->nr_cpus + HT_WORD_BITS - 1) / HT_WORD_BITS;
}

/* The one CPU that the task is allowed on, or HT_NONE if it has a choice. */
static ht_u32 only_allowed_cpu(const struct ht_search *s)
{
	ht_u32 cpu = HT_NONE;
	ht_u32 word;

	if (s->req->allowed_all || s->req->nr_allowed > 1)
		return HT_NONE;
	for (word = 0; word < allowed_words(s); word++) {
		ht_u64 mask = allowed_word(s, word);

		if (!mask)
			continue;
		if (cpu != HT_NONE || (mask & (mask - 1)))
			return HT_NONE;
		cpu = word * HT_WORD_BITS + lowest_bit(mask);
	}
	return cpu;
}

static ht_u32 first_allowed_slot(const struct ht_search *s)
{
	ht_u32 word;

	for (word = 0; word < allowed_words(s); word++) {
		ht_u64 mask = allowed_word(s, word);

		for (; mask; mask &= mask - 1) {
			ht_u32 cpu = word * HT_WORD_BITS + lowest_bit(mask);

			if (s->topo->cpu_slot[cpu] != HT_NONE)
				return s->topo->cpu_slot[cpu];
		}
	}
	return HT_NONE;
}

/* Searching. */

static ht_u64 self_bit(const struct ht_search *s, ht_u32 word)
{
	if (s->self == HT_NONE || HT_WORD(s->self) != word)
		return 0;
	return HT_BIT(s->self);
}

static bool search_core_is_free(const struct ht_search *s, ht_u32 slot)
{
	return core_is_free(s->topo, s->st, slot, self_bit(s, HT_WORD(slot)));
}

/* Idle threads of cores whose busy threads all lose little. */
static ht_u64 light_threads(const struct ht_search *s, ht_u32 word)
{
	ht_u32 shift = word_llc(s->topo, word)->smt_shift;
	ht_u64 light = HT_READ(s->st->word[word].light);
	ht_u64 usable, taken, heavy;

	if (!light)
		return 0;
	usable = usable_threads(s->topo, s->st, word, self_bit(s, word));
	taken = s->topo->present[word] & ~usable;
	heavy = (taken & ~light) | s->topo->partial[word];
	return usable & whole_cores(any_of_core(taken, shift) &
				    ~any_of_core(heavy, shift), shift);
}

static ht_u64 search_threads(const struct ht_search *s, ht_u32 word)
{
	return usable_threads(s->topo, s->st, word, self_bit(s, word));
}

static bool thread_is_usable(const struct ht_search *s, ht_u32 slot)
{
	return slot_allowed(s, slot) &&
	       (search_threads(s, HT_WORD(slot)) & HT_BIT(slot));
}

static bool in_domain(const struct ht_search *s, ht_u32 slot)
{
	return slot != HT_NONE && slot_llc(s->topo, slot)->domain == s->domain;
}

/* The first of some slots in a word that the task is allowed on. */
static ht_u32 pick_allowed(const struct ht_search *s, ht_u32 word, ht_u64 mask)
{
	for (; mask; mask &= mask - 1) {
		ht_u32 slot = word * HT_WORD_BITS + lowest_bit(mask);

		if (slot_allowed(s, slot))
			return slot;
	}
	return HT_NONE;
}

/* Slots of a word that lie in [lo, hi). */
static ht_u64 word_range(ht_u32 word, ht_u32 lo, ht_u32 hi)
{
	ht_u64 mask = ~(ht_u64)0;

	if (HT_WORD(lo) == word)
		mask &= ~(HT_BIT(lo) - 1);
	if (HT_WORD(hi) == word)
		mask &= HT_BIT(hi) - 1;
	return mask;
}

static ht_u64 candidates(const struct ht_search *s, ht_u32 word)
{
	ht_u32 shift = word_llc(s->topo, word)->smt_shift;

	switch (s->class) {
	case HT_CLASS_CORE:
		return whole_cores(free_cores(s->topo, s->st, word,
					      self_bit(s, word)), shift) &
		       s->topo->present[word];
	case HT_CLASS_LIGHT:
		return light_threads(s, word);
	default:
		return search_threads(s, word);
	}
}

static ht_u32 scan(const struct ht_search *s, ht_u32 lo, ht_u32 hi)
{
	ht_u32 word;

	for (word = HT_WORD(lo); word * HT_WORD_BITS < hi; word++) {
		ht_u64 mask = word_range(word, lo, hi) & candidates(s, word);
		ht_u32 slot = pick_allowed(s, word, mask);

		if (slot != HT_NONE)
			return slot;
	}
	return HT_NONE;
}

/* All of [lo, hi), beginning at @start: neighbours begin at different places. */
static ht_u32 scan_ring(const struct ht_search *s, ht_u32 lo, ht_u32 hi,
			ht_u32 start)
{
	ht_u32 slot = scan(s, start, hi);

	return slot != HT_NONE ? slot : scan(s, lo, start);
}

static ht_u32 scan_llc(const struct ht_search *s, const struct ht_llc *llc)
{
	const struct ht_llc *own = slot_llc(s->topo, s->anchor);
	ht_u32 lo = llc->first_word * HT_WORD_BITS;
	ht_u32 core;

	/* The core in the same position, as far as there is one. */
	core = (s->anchor - own->first_word * HT_WORD_BITS) >> own->smt_shift;
	if (core >= llc->nr_cores)
		core = 0;
	return scan_ring(s, lo, lo + llc->nr_words * HT_WORD_BITS,
			 lo + (core << llc->smt_shift));
}

static bool is_dearer(struct ht_search *s, ht_u8 distance)
{
	s->cut = s->dearer >> distance & 1;
	return s->cut;
}

/* Distances 0 and 1: the ring begins with its own core. */
static ht_u32 scan_cluster(const struct ht_search *s)
{
	ht_u32 lo = s->topo->slot_cluster[s->anchor];
	ht_u32 hi = s->topo->slot_cluster_end[s->anchor];
	bool lone = hi - lo == 1u << slot_llc(s->topo, s->anchor)->smt_shift;

	/* One core is what the ring of its LLC begins with as well. */
	if (lone && (s->own_seen || !(s->dearer >> 2 & 1)))
		return HT_NONE;
	return scan_ring(s, lo, hi, core_start(s->topo, s->anchor));
}

/* The nearest allowed thread of the class that is looked for. */
static ht_u32 nearest(struct ht_search *s)
{
	const struct ht_topo *topo = s->topo;
	const struct ht_llc *own = slot_llc(topo, s->anchor);
	const ht_u32 *order;
	ht_u32 slot, i;

	slot = scan_cluster(s);
	order = topo->llc_order +
		(ht_u64)topo->word_llc[HT_WORD(s->anchor)] * topo->nr_llcs;
	for (i = 0; slot == HT_NONE && i < topo->nr_llcs; i++) {
		const struct ht_llc *llc = &topo->llc[order[i]];

		if (llc->domain != s->domain)
			continue;
		if (is_dearer(s, llc_distance(own, llc)))
			break;
		slot = scan_llc(s, llc);
	}
	return slot;
}

static ht_u32 nearest_of(struct ht_search *s, enum ht_class class)
{
	s->class = class;
	return nearest(s);
}

/* Is prev as near as a slot that was found? Then its caches decide. */
static bool prev_as_near(const struct ht_search *s, ht_u32 slot)
{
	return ht_slot_distance(s->topo, s->from, s->prev) <=
	       ht_slot_distance(s->topo, s->from, slot);
}

/* The rules. Each returns whether it has decided. */

static bool decide_known(const struct ht_search *s, struct ht_verdict *v,
			 ht_u32 slot, enum ht_why why, bool whole_core)
{
	v->cpu = s->topo->slot_cpu[slot];
	v->slot = slot;
	v->why = why;
	v->whole_core = whole_core;
	v->distance = ht_slot_distance(s->topo, s->from, slot);
	return true;
}

static bool decide(const struct ht_search *s, struct ht_verdict *v,
		   ht_u32 slot, enum ht_why why)
{
	return decide_known(s, v, slot, why, search_core_is_free(s, slot));
}

/* Rules 1 and 2. */
static bool rule_free_core(struct ht_search *s, struct ht_verdict *v)
{
	bool prev_free = s->prev != HT_NONE && search_core_is_free(s, s->prev);
	ht_u32 slot;

	if (prev_free && s->base == s->prev)
		return decide(s, v, s->prev, HT_WHY_PREV_CORE);
	slot = nearest_of(s, HT_CLASS_CORE);
	if (slot == HT_NONE)
		return false;
	if (prev_free && prev_as_near(s, slot))
		return decide(s, v, s->prev, HT_WHY_PREV_CORE);
	return decide(s, v, slot, HT_WHY_IDLE_CORE);
}

/* Rule 3. */
static bool rule_base(const struct ht_search *s, struct ht_verdict *v)
{
	if (!thread_is_usable(s, s->base))
		return false;
	return decide(s, v, s->base, s->base == s->prev ? HT_WHY_PREV_IDLE :
							  HT_WHY_IDLE_THREAD);
}

/* Rule 4. */
static bool rule_sibling(const struct ht_search *s, struct ht_verdict *v)
{
	ht_u32 word, slot;

	if (s->base == HT_NONE)
		return false;
	word = HT_WORD(s->base);
	slot = pick_allowed(s, word, search_threads(s, word) &
				     ht_core_mask(s->topo, s->base));
	if (slot == HT_NONE)
		return false;
	return decide(s, v, slot, HT_WHY_PREV_SIBLING);
}

/* Rule 5. */
static bool rule_thread(struct ht_search *s, struct ht_verdict *v)
{
	ht_u32 slot = nearest_of(s, HT_CLASS_THREAD);

	if (slot == HT_NONE)
		return false;
	if (thread_is_usable(s, s->prev) && prev_as_near(s, slot))
		return decide(s, v, s->prev, HT_WHY_PREV_IDLE);
	return decide(s, v, slot, HT_WHY_IDLE_THREAD);
}

static bool waits_less(const struct ht_wait *a, const struct ht_wait *b)
{
	if (a->sched_idle || b->sched_idle)
		return a->sched_idle && !b->sched_idle;
	return a->wait_ns < b->wait_ns;
}

static bool may_wait_on(const struct ht_search *s, ht_u32 cpu)
{
	ht_u32 slot = ht_cpu_slot(s->topo, cpu);

	return in_domain(s, slot) && cpu_allowed(s->req, cpu);
}

static const struct ht_wait *shortest_wait(const struct ht_search *s)
{
	const struct ht_wait *best = NULL;
	ht_u32 i;

	for (i = 0; i < s->req->nr_waits && i < HT_MAX_WAITS; i++) {
		const struct ht_wait *w = &s->req->waits[i];

		if (!may_wait_on(s, w->cpu))
			continue;
		if (!best || waits_less(w, best) ||
		    (w->cpu == s->req->prev_cpu && !waits_less(best, w)))
			best = w;
	}
	return best;
}

/* Rule 6. */
static bool rule_wait(const struct ht_search *s, struct ht_verdict *v)
{
	const struct ht_wait *best = shortest_wait(s);
	ht_u32 slot = s->prev != HT_NONE ? s->prev : s->home;

	if (!best)
		return decide(s, v, slot, HT_WHY_SHORTEST_WAIT);
	return decide(s, v, s->topo->cpu_slot[best->cpu],
		      best->sched_idle ? HT_WHY_SCHED_IDLE :
					 HT_WHY_SHORTEST_WAIT);
}

/* Prices. */

/**
 * struct ht_bid - the cheapest candidate so far
 * @costs:    what prices are made of in this decision
 * @data:     slot where the task's data is
 * @waker:    slot of a partner in another LLC, HT_NONE if it has none
 * @slot:     the candidate, HT_NONE: none yet
 * @class:    its class
 * @price:    its price
 * @sum_ns:   all of it
 * @passed:   a wholly idle core was dearer, or would have been
 * @core_ns:  the cheapest such core
 */
struct ht_bid {
	struct ht_costs costs;
	ht_u32 data;
	ht_u32 waker;
	ht_u32 slot;
	enum ht_class class;
	struct ht_price price;
	ht_u64 sum_ns;
	bool passed;
	ht_u64 core_ns;
};

static ht_u64 class_share(const struct ht_bid *bid, enum ht_class class)
{
	switch (class) {
	case HT_CLASS_CORE:
		return 0;
	case HT_CLASS_LIGHT:
		return bid->costs.share_ns / 2;
	default:
		return bid->costs.share_ns;
	}
}

/* How a thread shares its core, without regard to the thread itself. */
static enum ht_class class_of(const struct ht_search *s, ht_u32 slot)
{
	ht_u64 core = ht_core_mask(s->topo, slot);
	ht_u32 word = HT_WORD(slot);
	ht_u64 taken = s->topo->present[word] & core & ~search_threads(s, word);

	if (s->topo->partial[word] & core)
		return HT_CLASS_THREAD;
	taken &= ~HT_BIT(slot);
	if (!taken)
		return HT_CLASS_CORE;
	return taken & ~HT_READ(s->st->word[word].light) ? HT_CLASS_THREAD :
							   HT_CLASS_LIGHT;
}

static void price_of(const struct ht_search *s, const struct ht_bid *bid,
		     ht_u32 slot, enum ht_class class, struct ht_price *price)
{
	price->share_ns = class_share(bid, class);
	price->move_ns = bid->costs.move_ns[ht_slot_distance(s->topo, bid->data,
							     slot)];
	price->apart_ns = 0;
	if (bid->waker != HT_NONE)
		price->apart_ns =
			bid->costs.apart_ns[ht_slot_distance(s->topo,
							     bid->waker, slot)];
	price->wait_ns = 0;
}

static void consider(const struct ht_search *s, struct ht_bid *bid, ht_u32 slot)
{
	struct ht_price price;
	enum ht_class class;
	ht_u64 sum_ns;

	if (slot == HT_NONE)
		return;
	class = class_of(s, slot);
	price_of(s, bid, slot, class, &price);
	sum_ns = ht_price_sum(&price);
	if (class == HT_CLASS_CORE && sum_ns < bid->core_ns)
		bid->core_ns = sum_ns;
	/* prev comes first, and is not left for what is no cheaper. */
	if (bid->slot != HT_NONE && sum_ns >= bid->sum_ns)
		return;
	bid->slot = slot;
	bid->class = class;
	bid->price = price;
	bid->sum_ns = sum_ns;
}

/* The nearest of a class to an anchor, unless it can't be the cheapest. */
static void consider_class(struct ht_search *s, struct ht_bid *bid,
			   ht_u32 anchor, const ht_u64 *cost_ns,
			   enum ht_class class)
{
	ht_u64 share_ns = class_share(bid, class);
	ht_u32 d;

	/* At distance 0 there is nothing to pay but the share. */
	if (share_ns >= bid->sum_ns) {
		bid->passed |= class == HT_CLASS_CORE;
		return;
	}
	s->anchor = anchor;
	s->own_seen = anchor == bid->data;
	s->dearer = 0;
	for (d = 1; d < HT_NR_DISTANCES; d++)
		if (cost_ns[d] + share_ns >= bid->sum_ns)
			s->dearer |= 1u << d;
	consider(s, bid, nearest_of(s, class));
	if (class == HT_CLASS_CORE && s->cut)
		bid->passed = true;
}

static void consider_near(struct ht_search *s, struct ht_bid *bid,
			  ht_u32 anchor, const ht_u64 *cost_ns)
{
	consider_class(s, bid, anchor, cost_ns, HT_CLASS_CORE);
	consider_class(s, bid, anchor, cost_ns, HT_CLASS_LIGHT);
	consider_class(s, bid, anchor, cost_ns, HT_CLASS_THREAD);
}

static bool is_nearer_to_waker(const struct ht_search *s,
			       const struct ht_bid *bid)
{
	return bid->waker != HT_NONE &&
	       ht_slot_distance(s->topo, bid->waker, bid->slot) <
	       ht_slot_distance(s->topo, bid->waker, bid->data);
}

static enum ht_why why_priced(const struct ht_search *s,
			      const struct ht_bid *bid)
{
	bool is_prev = bid->slot == s->prev;

	if (bid->class == HT_CLASS_CORE) {
		if (is_prev)
			return HT_WHY_PREV_CORE;
		return is_nearer_to_waker(s, bid) ? HT_WHY_PARTNER :
						    HT_WHY_IDLE_CORE;
	}
	if (bid->passed || bid->core_ns != HT_NO_PRICE)
		return HT_WHY_WARM;
	if (is_prev)
		return HT_WHY_PREV_IDLE;
	if (is_nearer_to_waker(s, bid))
		return HT_WHY_PARTNER;
	if (!ht_slot_distance(s->topo, bid->data, bid->slot))
		return HT_WHY_PREV_SIBLING;
	return bid->class == HT_CLASS_LIGHT ? HT_WHY_LIGHT : HT_WHY_IDLE_THREAD;
}

static ht_u32 data_slot(const struct ht_search *s)
{
	return s->base != HT_NONE ? s->base : s->from;
}

/* Within the LLC that the data is in it matters too little to look for. */
static ht_u32 partner_slot(const struct ht_search *s)
{
	ht_u32 slot;

	if (!ht_has_partner(s->req))
		return HT_NONE;
	slot = ht_cpu_slot(s->topo, s->req->waker_cpu);
	if (!in_domain(s, slot) ||
	    slot_llc(s->topo, slot) == slot_llc(s->topo, data_slot(s)))
		return HT_NONE;
	return slot;
}

static void open_bids(const struct ht_search *s, struct ht_bid *bid)
{
	*bid = (struct ht_bid){
		.data = data_slot(s),
		.waker = partner_slot(s),
		.slot = HT_NONE,
		.sum_ns = HT_NO_PRICE,
		.core_ns = HT_NO_PRICE,
	};
	ht_costs_fill(&bid->costs, s->req);
}

static bool decide_price(const struct ht_search *s, struct ht_verdict *v,
			 const struct ht_bid *bid, enum ht_why why)
{
	v->price = bid->price;
	v->core_ns = bid->core_ns;
	return decide_known(s, v, bid->slot, why, bid->class == HT_CLASS_CORE);
}

/* With nothing idle: the wait, and the move there. */
static bool price_waits(const struct ht_search *s, struct ht_bid *bid,
			struct ht_verdict *v)
{
	enum ht_why why = HT_WHY_SHORTEST_WAIT;
	ht_u32 i;

	for (i = 0; i < s->req->nr_waits && i < HT_MAX_WAITS; i++) {
		const struct ht_wait *w = &s->req->waits[i];
		struct ht_price price;
		ht_u64 wait_ns = w->sched_idle ? 0 : w->wait_ns;
		ht_u64 sum_ns;
		ht_u32 slot;

		if (wait_ns > bid->sum_ns || !may_wait_on(s, w->cpu))
			continue;
		slot = s->topo->cpu_slot[w->cpu];
		price_of(s, bid, slot, class_of(s, slot), &price);
		price.wait_ns = wait_ns;
		sum_ns = ht_price_sum(&price);
		if (sum_ns > bid->sum_ns ||
		    (sum_ns == bid->sum_ns && w->cpu != s->req->prev_cpu))
			continue;
		bid->slot = slot;
		bid->price = price;
		bid->sum_ns = sum_ns;
		why = w->sched_idle ? HT_WHY_SCHED_IDLE : HT_WHY_SHORTEST_WAIT;
	}
	if (bid->slot == HT_NONE)
		return false;
	/* It is busy, so its core is not idle. */
	bid->class = HT_CLASS_THREAD;
	return decide_price(s, v, bid, why);
}

/* Nothing is cheaper than prev if its core is wholly idle: no need to reckon. */
static bool stays_for_free(const struct ht_search *s)
{
	return s->prev != HT_NONE && s->prev == s->base &&
	       partner_slot(s) == HT_NONE && search_core_is_free(s, s->prev);
}

static bool llc_has_idle(const struct ht_search *s, const struct ht_llc *llc)
{
	ht_u32 word;

	for (word = llc->first_word; word < llc->first_word + llc->nr_words;
	     word++)
		if (search_threads(s, word))
			return true;
	return false;
}

/* Is there anything to find? The nearest LLC is asked first. */
static bool any_idle(const struct ht_search *s, ht_u32 slot)
{
	const struct ht_topo *topo = s->topo;
	const ht_u32 *order = topo->llc_order +
		(ht_u64)topo->word_llc[HT_WORD(slot)] * topo->nr_llcs;
	ht_u32 i;

	for (i = 0; i < topo->nr_llcs; i++) {
		const struct ht_llc *llc = &topo->llc[order[i]];

		if (llc->domain == s->domain && llc_has_idle(s, llc))
			return true;
	}
	return false;
}

/* In place of rules 1 to 5, and of rule 6 if there is a sample for it. */
static bool rule_price(struct ht_search *s, struct ht_verdict *v)
{
	struct ht_bid bid;
	ht_u32 word;

	if (stays_for_free(s)) {
		v->core_ns = 0;
		return decide(s, v, s->prev, HT_WHY_PREV_CORE);
	}
	open_bids(s, &bid);
	if (!any_idle(s, bid.data))
		return price_waits(s, &bid, v);
	if (thread_is_usable(s, s->prev))
		consider(s, &bid, s->prev);
	if (bid.data != s->prev && thread_is_usable(s, bid.data))
		consider(s, &bid, bid.data);
	word = HT_WORD(bid.data);
	consider(s, &bid, pick_allowed(s, word, search_threads(s, word) &
					ht_core_mask(s->topo, bid.data)));
	consider_near(s, &bid, bid.data, bid.costs.move_ns);
	if (bid.waker != HT_NONE)
		consider_near(s, &bid, bid.waker, bid.costs.apart_ns);
	if (bid.slot == HT_NONE)
		return price_waits(s, &bid, v);
	return decide_price(s, v, &bid, why_priced(s, &bid));
}

/* Is the core that was found for a running task worth the move? */
static bool is_worth_it(struct ht_search *s, struct ht_verdict *v)
{
	struct ht_price stay;
	struct ht_bid bid;

	open_bids(s, &bid);
	if (s->prev == HT_NONE || v->slot == s->prev)
		return true;
	price_of(s, &bid, s->prev, class_of(s, s->prev), &stay);
	price_of(s, &bid, v->slot, class_of(s, v->slot), &bid.price);
	v->price = bid.price;
	v->core_ns = ht_price_sum(&bid.price);
	if (v->core_ns < ht_price_sum(&stay))
		return true;
	*v = (struct ht_verdict){ .cpu = HT_NONE, .slot = HT_NONE,
				  .why = HT_WHY_WARM, .price = stay,
				  .core_ns = v->core_ns };
	return false;
}

static bool returns_to_prev(enum ht_kind kind)
{
	return kind == HT_KIND_WAKEUP || kind == HT_KIND_SYNC;
}

/* Prices need to know cores from threads. */
static bool is_priced(const struct ht_request *req)
{
	return req->priced && req->smt;
}

/*
 * Find out where to search from. The root domain is that of a CPU the task may
 * use; distance may be measured from one that it may not use (any more).
 */
static bool set_out(struct ht_search *s)
{
	ht_u32 origin = ht_cpu_slot(s->topo, s->req->origin_cpu);
	ht_u32 prev = ht_cpu_slot(s->topo, s->req->prev_cpu);

	if (slot_allowed(s, origin))
		s->home = origin;
	else if (slot_allowed(s, prev))
		s->home = prev;
	else
		s->home = first_allowed_slot(s);
	if (s->home == HT_NONE)
		return false;

	s->domain = slot_llc(s->topo, s->home)->domain;
	if (!in_domain(s, prev))
		prev = HT_NONE;
	s->from = s->home;
	/* Neither is allowed: the task's data is still nearest to prev. */
	if (s->home != origin && prev != HT_NONE)
		s->from = prev;
	s->anchor = s->from;
	s->base = returns_to_prev(s->req->kind) ? prev : s->from;
	s->prev = slot_allowed(s, prev) ? prev : HT_NONE;
	s->self = s->req->prev_is_self ? prev : HT_NONE;
	return true;
}

/* A verdict that no snapshot is needed for. */
static void decide_cpu(const struct ht_search *s, struct ht_verdict *v,
		       ht_u32 cpu, enum ht_why why)
{
	ht_u32 slot = s->topo->cpu_slot[cpu];

	v->cpu = cpu;
	v->slot = slot;
	v->why = why;
	v->whole_core = slot != HT_NONE && search_core_is_free(s, slot);
	v->distance = 0;
}

static void begin(struct ht_search *s, const struct ht_topo *topo,
		  const struct ht_state *st, const struct ht_request *req,
		  struct ht_verdict *v)
{
	s->topo = topo;
	s->st = st;
	s->req = req;
	s->self = HT_NONE;
	s->dearer = 0;
	s->own_seen = false;
	s->cut = false;
	*v = (struct ht_verdict){ .cpu = HT_NONE, .slot = HT_NONE,
				  .why = HT_WHY_NONE, .core_ns = HT_NO_PRICE };
}

/**
 * ht_policy_select() - decide where a task goes
 * @topo:     the machine
 * @st:       state of its threads, read while it changes
 * @req:      what is asked
 * @verdict:  output
 *
 * HT_WHY_NONE: no allowed CPU takes part in the snapshot, not even prev.
 */
void ht_policy_select(const struct ht_topo *topo, const struct ht_state *st,
		      const struct ht_request *req, struct ht_verdict *verdict)
{
	struct ht_search s;
	bool known;
	ht_u32 only;

	begin(&s, topo, st, req, verdict);
	known = set_out(&s);
	only = only_allowed_cpu(&s);
	if (only != HT_NONE) {
		decide_cpu(&s, verdict, only, HT_WHY_PINNED);
		return;
	}
	if (!known) {
		if (req->prev_cpu < topo->nr_cpus &&
		    cpu_allowed(req, req->prev_cpu))
			decide_cpu(&s, verdict, req->prev_cpu,
				   HT_WHY_NO_TOPOLOGY);
		return;
	}
	if (is_priced(req)) {
		if (!rule_price(&s, verdict))
			rule_wait(&s, verdict);
		return;
	}
	if (req->smt && rule_free_core(&s, verdict))
		return;
	if (rule_base(&s, verdict))
		return;
	if (req->smt && rule_sibling(&s, verdict))
		return;
	if (rule_thread(&s, verdict))
		return;
	rule_wait(&s, verdict);
}

/**
 * ht_policy_free_core() - find a core that a running task could have to itself
 * @topo:     the machine
 * @st:       state of its threads
 * @req:      what is asked; rules 1 and 2 alone apply
 * @verdict:  output, HT_WHY_NONE if there is no such core, HT_WHY_WARM if with
 *            prices on it gains less than it costs
 *
 * Return: whether there is one. prev's own core is an answer only if it is
 * free, which with prev_is_self means that the task has it to itself already.
 */
bool ht_policy_free_core(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req,
			 struct ht_verdict *verdict)
{
	struct ht_search s;

	begin(&s, topo, st, req, verdict);
	if (!set_out(&s) || !rule_free_core(&s, verdict))
		return false;
	return !is_priced(req) || is_worth_it(&s, verdict);
}

/**
 * ht_policy_move_pays() - is a certain core worth the move of a running task?
 * @topo:     the machine
 * @st:       state of its threads
 * @req:      what is asked, as for ht_policy_free_core()
 * @slot:     thread of a wholly idle core
 * @verdict:  output: that thread, or HT_WHY_WARM
 *
 * Return: whether it is; with prices off it always is.
 */
bool ht_policy_move_pays(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req, ht_u32 slot,
			 struct ht_verdict *verdict)
{
	struct ht_search s;

	begin(&s, topo, st, req, verdict);
	if (!set_out(&s))
		return true;
	decide(&s, verdict, slot, HT_WHY_IDLE_CORE);
	return !is_priced(req) || is_worth_it(&s, verdict);
}

static const char * const ht_why_names[HT_NR_WHYS] = {
	[HT_WHY_NONE]		= "none",
	[HT_WHY_PINNED]		= "pinned",
	[HT_WHY_PREV_CORE]	= "prev_core",
	[HT_WHY_IDLE_CORE]	= "idle_core",
	[HT_WHY_PREV_IDLE]	= "prev_idle",
	[HT_WHY_PREV_SIBLING]	= "prev_sibling",
	[HT_WHY_IDLE_THREAD]	= "idle_thread",
	[HT_WHY_SCHED_IDLE]	= "sched_idle",
	[HT_WHY_SHORTEST_WAIT]	= "shortest_wait",
	[HT_WHY_NO_TOPOLOGY]	= "no_topology",
	[HT_WHY_WARM]		= "warm",
	[HT_WHY_LIGHT]		= "light",
	[HT_WHY_PARTNER]	= "partner",
	[HT_WHY_FOLLOW]		= "follow",
};

static const char * const ht_kind_names[HT_NR_KINDS] = {
	[HT_KIND_WAKEUP]	= "wakeup",
	[HT_KIND_SYNC]		= "sync",
	[HT_KIND_FORK]		= "fork",
	[HT_KIND_EXEC]		= "exec",
	[HT_KIND_AFFINITY]	= "affinity",
	[HT_KIND_CLASS]		= "class",
	[HT_KIND_HOTPLUG]	= "hotplug",
	[HT_KIND_UNSHARE]	= "unshare",
};

/**
 * ht_why_name() - the name of a reason, as statistics and traces print it
 * @why:      a reason
 */
const char *ht_why_name(enum ht_why why)
{
	return (ht_u32)why < HT_NR_WHYS ? ht_why_names[why] : "unknown";
}

/**
 * ht_kind_name() - the name of a kind of placement
 * @kind:     a kind
 */
const char *ht_kind_name(enum ht_kind kind)
{
	return (ht_u32)kind < HT_NR_KINDS ? ht_kind_names[kind] : "unknown";
}
