// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: validators. See ht_check.h.
 *
 * A verdict is judged by a rank that every CPU has under a request: the number
 * of the rule that it falls under, then its distance, then whether it is prev.
 * The right answer is a CPU of the lowest rank. With prices on it is one that
 * costs least. O(CPUs x threads of a core).
 */
#include "ht_check.h"
#include "ht_price.h"

static bool bit_of(const ht_u64 *words, ht_u32 nr)
{
	return (HT_READ(words[nr / HT_WORD_BITS]) >> (nr % HT_WORD_BITS)) & 1;
}

static const struct ht_llc *llc_at(const struct ht_topo *topo, ht_u32 slot)
{
	return &topo->llc[topo->word_llc[slot / HT_WORD_BITS]];
}

static ht_u32 core_first(const struct ht_topo *topo, ht_u32 slot)
{
	return slot - slot % (1u << llc_at(topo, slot)->smt_shift);
}

static ht_u32 core_slots(const struct ht_topo *topo, ht_u32 slot)
{
	return 1u << llc_at(topo, slot)->smt_shift;
}

/* Snapshots. */

static enum ht_check_error check_words(const struct ht_topo *topo)
{
	ht_u32 l, w, word = 0;

	for (l = 0; l < topo->nr_llcs; l++) {
		const struct ht_llc *llc = &topo->llc[l];

		if (llc->first_word != word || !llc->nr_words ||
		    llc->nr_words > topo->nr_words - word)
			return HT_CHECK_LLC_WORDS;
		for (w = 0; w < llc->nr_words; w++)
			if (topo->word_llc[word++] != l)
				return HT_CHECK_LLC_WORDS;
		if (llc->smt_shift > 6)
			return HT_CHECK_LLC_SHIFT;
	}
	return word == topo->nr_words ? HT_CHECK_OK : HT_CHECK_LLC_WORDS;
}

static enum ht_check_error check_cpus(const struct ht_topo *topo)
{
	ht_u32 slots = topo->nr_words * HT_WORD_BITS;
	ht_u32 i;

	for (i = 0; i < topo->nr_cpus; i++) {
		ht_u32 slot = topo->cpu_slot[i];

		if (slot == HT_NONE)
			continue;
		if (slot >= slots || topo->slot_cpu[slot] != i)
			return HT_CHECK_CPU_SLOT;
	}
	for (i = 0; i < slots; i++) {
		ht_u32 cpu = topo->slot_cpu[i];

		bool absent = cpu == HT_NONE;

		if (bit_of(topo->present, i) == absent)
			return HT_CHECK_PRESENT;
		if (absent)
			continue;
		if (cpu >= topo->nr_cpus || topo->cpu_slot[cpu] != i)
			return HT_CHECK_SLOT_CPU;
	}
	return HT_CHECK_OK;
}

/* One core: its threads, and whether they agree about being partial. */
static enum ht_check_error check_core(const struct ht_topo *topo, ht_u32 first,
				      ht_u32 *threads)
{
	ht_u32 partial = 0, present = 0, slot;

	for (slot = first; slot < first + core_slots(topo, first); slot++) {
		present += bit_of(topo->present, slot);
		partial += bit_of(topo->partial, slot);
		if (bit_of(topo->partial, slot) && !bit_of(topo->present, slot))
			return HT_CHECK_PARTIAL;
	}
	*threads = present;
	return partial && partial != present ? HT_CHECK_PARTIAL : HT_CHECK_OK;
}

static enum ht_check_error check_cores(const struct ht_topo *topo,
				       const struct ht_llc *llc)
{
	ht_u32 first = llc->first_word * HT_WORD_BITS;
	ht_u32 end = first + llc->nr_words * HT_WORD_BITS;
	ht_u32 core, threads;

	for (core = 0; first < end; core++, first += 1u << llc->smt_shift) {
		enum ht_check_error err = check_core(topo, first, &threads);
		bool counted = core < llc->nr_cores;

		if (err)
			return err;
		if (counted != !!threads)
			return HT_CHECK_LLC_CORES;
	}
	return llc->nr_cores && llc->nr_cores <= core ? HT_CHECK_OK :
							HT_CHECK_LLC_CORES;
}

/* A cluster's slots name the same bounds, and these bounds are those slots. */
static bool cluster_is_good(const struct ht_topo *topo,
			    const struct ht_llc *llc, ht_u32 slot)
{
	ht_u32 lo = llc->first_word * HT_WORD_BITS;
	ht_u32 hi = lo + (llc->nr_cores << llc->smt_shift);
	ht_u32 first = topo->slot_cluster[slot];
	ht_u32 end = topo->slot_cluster_end[slot];

	if (slot >= hi)
		return first == HT_NONE && end == HT_NONE;
	if (first < lo || first > slot || end <= slot || end > hi)
		return false;
	if (first % core_slots(topo, slot) || end % core_slots(topo, slot))
		return false;
	return topo->slot_cluster[first] == first &&
	       topo->slot_cluster_end[first] == end;
}

static enum ht_check_error check_clusters(const struct ht_topo *topo,
					  const struct ht_llc *llc)
{
	ht_u32 lo = llc->first_word * HT_WORD_BITS;
	ht_u32 i;

	for (i = lo; i < lo + llc->nr_words * HT_WORD_BITS; i++)
		if (!cluster_is_good(topo, llc, i))
			return HT_CHECK_CLUSTER;
	return HT_CHECK_OK;
}

static enum ht_check_error check_order(const struct ht_topo *topo, ht_u32 l)
{
	const ht_u32 *row = topo->llc_order + (ht_u64)l * topo->nr_llcs;
	ht_u64 seen[HT_MAX_LLCS / HT_WORD_BITS] = { 0 };
	bool left_node = false;
	ht_u32 i;

	if (row[0] != l)
		return HT_CHECK_ORDER;
	for (i = 0; i < topo->nr_llcs; i++) {
		if (row[i] >= topo->nr_llcs || bit_of(seen, row[i]))
			return HT_CHECK_ORDER;
		seen[row[i] / HT_WORD_BITS] |= (ht_u64)1 << (row[i] % HT_WORD_BITS);
		if (topo->llc[row[i]].node != topo->llc[l].node)
			left_node = true;
		else if (left_node)
			return HT_CHECK_ORDER;
	}
	return HT_CHECK_OK;
}

/**
 * ht_check_topo() - is a snapshot consistent?
 * @topo:     snapshot, its arrays as large as its counts say
 */
enum ht_check_error ht_check_topo(const struct ht_topo *topo)
{
	enum ht_check_error err;
	ht_u32 l;

	if (topo->nr_llcs > HT_MAX_LLCS)
		return HT_CHECK_ORDER;
	err = check_words(topo);
	if (!err)
		err = check_cpus(topo);
	for (l = 0; !err && l < topo->nr_llcs; l++) {
		err = check_cores(topo, &topo->llc[l]);
		if (!err)
			err = check_clusters(topo, &topo->llc[l]);
		if (!err)
			err = check_order(topo, l);
	}
	return err;
}

/* Verdicts. */

/**
 * struct ht_judge - a request as the rules see it
 * @topo:     the machine
 * @st:       state of its threads
 * @req:      what was asked
 * @home:     CPU whose root domain counts, HT_NONE if there is none
 * @from:     CPU that distance is measured from
 * @base:     CPU that rules 3 and 4 are about, or HT_NONE
 */
struct ht_judge {
	const struct ht_topo *topo;
	const struct ht_state *st;
	const struct ht_request *req;
	ht_u32 home;
	ht_u32 from;
	ht_u32 base;
};

static bool has_slot(const struct ht_judge *j, ht_u32 cpu)
{
	return cpu < j->topo->nr_cpus && j->topo->cpu_slot[cpu] != HT_NONE;
}

static bool allows(const struct ht_judge *j, ht_u32 cpu)
{
	return cpu < j->topo->nr_cpus &&
	       (j->req->allowed_all || bit_of(j->req->allowed, cpu));
}

static ht_u32 domain_of(const struct ht_judge *j, ht_u32 cpu)
{
	return llc_at(j->topo, j->topo->cpu_slot[cpu])->domain;
}

/* May the task be put there, as far as the snapshot is concerned? */
static bool eligible(const struct ht_judge *j, ht_u32 cpu)
{
	return allows(j, cpu) && has_slot(j, cpu) &&
	       domain_of(j, cpu) == domain_of(j, j->home);
}

static bool is_self(const struct ht_judge *j, ht_u32 cpu)
{
	return j->req->prev_is_self && cpu == j->req->prev_cpu &&
	       domain_of(j, cpu) == domain_of(j, j->home);
}

static bool is_usable(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 slot = j->topo->cpu_slot[cpu], bit = slot % HT_WORD_BITS;
	const struct ht_word *word = &j->st->word[slot / HT_WORD_BITS];

	if (is_self(j, cpu))
		return true;
	if (!bit_of(&word->idle, bit))
		return false;
	return !bit_of(&word->claimed, bit) ||
	       j->st->tick - j->st->claim_tick[slot] > 1;
}

static bool is_free_core(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 first = core_first(j->topo, j->topo->cpu_slot[cpu]);
	ht_u32 i;

	for (i = 0; i < core_slots(j->topo, first); i++) {
		ht_u32 other = j->topo->slot_cpu[first + i];

		if (bit_of(j->topo->partial, first + i))
			return false;
		if (other != HT_NONE && !is_usable(j, other))
			return false;
	}
	return true;
}

static ht_u32 distance_of(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 a = j->topo->cpu_slot[j->from], b = j->topo->cpu_slot[cpu];

	if (llc_at(j->topo, a)->node != llc_at(j->topo, b)->node)
		return 4;
	if (llc_at(j->topo, a) != llc_at(j->topo, b))
		return 3;
	if (j->topo->slot_cluster[a] != j->topo->slot_cluster[b])
		return 2;
	return core_first(j->topo, a) != core_first(j->topo, b);
}

static void find_home(struct ht_judge *j)
{
	ht_u32 origin = j->req->origin_cpu, prev = j->req->prev_cpu;
	ht_u32 cpu;

	j->home = HT_NONE;
	for (cpu = j->topo->nr_cpus; cpu-- > 0; )
		if (allows(j, cpu) && has_slot(j, cpu))
			j->home = cpu;
	if (allows(j, prev) && has_slot(j, prev))
		j->home = prev;
	if (allows(j, origin) && has_slot(j, origin))
		j->home = origin;
}

static void open_case(struct ht_judge *j, const struct ht_topo *topo,
		      const struct ht_state *st, const struct ht_request *req)
{
	bool prev_known;

	j->topo = topo;
	j->st = st;
	j->req = req;
	find_home(j);
	j->from = j->home;
	j->base = HT_NONE;
	if (j->home == HT_NONE)
		return;
	prev_known = has_slot(j, req->prev_cpu) &&
		     domain_of(j, req->prev_cpu) == domain_of(j, j->home);
	if (prev_known && j->home != req->origin_cpu)
		j->from = req->prev_cpu;
	if (req->kind != HT_KIND_WAKEUP && req->kind != HT_KIND_SYNC)
		j->base = j->from;
	else if (prev_known)
		j->base = req->prev_cpu;
}

/* Ranks: rule, then distance, then prev before others. */
#define HT_RANK(rule, distance, other)	((rule) * 16 + (distance) * 2 + (other))
#define HT_RANK_RULE(rank)		((rank) / 16)
#define HT_RANK_DISTANCE(rank)		((rank) % 16 / 2)
#define HT_RANK_WAIT			HT_RANK(6, 0, 0)

static ht_u32 rank_free_core(const struct ht_judge *j, ht_u32 cpu)
{
	bool is_prev = cpu == j->req->prev_cpu;

	if (is_prev && j->base == cpu)
		return HT_RANK(1, 0, 0);
	return HT_RANK(2, distance_of(j, cpu), !is_prev);
}

static bool is_sibling_of_base(const struct ht_judge *j, ht_u32 cpu)
{
	return j->base != HT_NONE &&
	       core_first(j->topo, j->topo->cpu_slot[cpu]) ==
	       core_first(j->topo, j->topo->cpu_slot[j->base]);
}

/* Of a CPU that is eligible. */
static ht_u32 rank_of(const struct ht_judge *j, ht_u32 cpu)
{
	if (j->req->smt && is_free_core(j, cpu))
		return rank_free_core(j, cpu);
	if (!is_usable(j, cpu))
		return HT_RANK_WAIT;
	if (cpu == j->base)
		return HT_RANK(3, 0, 0);
	if (j->req->smt && is_sibling_of_base(j, cpu))
		return HT_RANK(4, 0, 0);
	return HT_RANK(5, distance_of(j, cpu), cpu != j->req->prev_cpu);
}

static ht_u32 best_rank(const struct ht_judge *j)
{
	ht_u32 best = HT_RANK_WAIT, cpu;

	for (cpu = 0; cpu < j->topo->nr_cpus; cpu++)
		if (eligible(j, cpu) && rank_of(j, cpu) < best)
			best = rank_of(j, cpu);
	return best;
}

static enum ht_check_error compare_ranks(ht_u32 rank, ht_u32 best)
{
	if (rank <= best)
		return HT_CHECK_OK;
	if (HT_RANK_RULE(best) <= 2 && HT_RANK_RULE(rank) > 2)
		return HT_CHECK_BETTER_CORE;
	if (HT_RANK_RULE(rank) == 6)
		return HT_CHECK_BETTER_THREAD;
	if (HT_RANK_RULE(rank) == HT_RANK_RULE(best) &&
	    HT_RANK_DISTANCE(rank) == HT_RANK_DISTANCE(best))
		return HT_CHECK_PREV_MISSED;
	return HT_RANK_RULE(best) == 1 || HT_RANK_RULE(best) == 3 ?
	       HT_CHECK_PREV_MISSED : HT_CHECK_NEARER;
}

static enum ht_why why_of_rank(const struct ht_judge *j, ht_u32 cpu,
			       ht_u32 rank)
{
	bool is_prev = cpu == j->req->prev_cpu;

	switch (HT_RANK_RULE(rank)) {
	case 1:
	case 2:
		return is_prev ? HT_WHY_PREV_CORE : HT_WHY_IDLE_CORE;
	case 4:
		return HT_WHY_PREV_SIBLING;
	default:
		return is_prev ? HT_WHY_PREV_IDLE : HT_WHY_IDLE_THREAD;
	}
}

/* Rule 6 as a total order: class, time, prev, position in the list. */
static bool wait_beats(const struct ht_judge *j, ht_u32 a, ht_u32 b)
{
	const struct ht_wait *x = &j->req->waits[a], *y = &j->req->waits[b];
	bool x_prev = x->cpu == j->req->prev_cpu;
	bool y_prev = y->cpu == j->req->prev_cpu;

	if (x->sched_idle != y->sched_idle)
		return x->sched_idle;
	if (!x->sched_idle && x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns;
	if (x_prev != y_prev)
		return x_prev;
	return a < b;
}

static enum ht_check_error check_wait(const struct ht_judge *j,
				      const struct ht_verdict *v)
{
	ht_u32 best = HT_NONE, i;
	enum ht_why why = HT_WHY_SHORTEST_WAIT;
	ht_u32 cpu = eligible(j, j->req->prev_cpu) ? j->req->prev_cpu : j->home;

	for (i = 0; i < j->req->nr_waits && i < HT_MAX_WAITS; i++) {
		if (!eligible(j, j->req->waits[i].cpu))
			continue;
		if (best == HT_NONE || wait_beats(j, i, best))
			best = i;
	}
	if (best != HT_NONE) {
		cpu = j->req->waits[best].cpu;
		if (j->req->waits[best].sched_idle)
			why = HT_WHY_SCHED_IDLE;
	}
	if (v->cpu != cpu)
		return HT_CHECK_WAIT;
	return v->why == why ? HT_CHECK_OK : HT_CHECK_WHY;
}

static enum ht_check_error check_rank(const struct ht_judge *j,
				      const struct ht_verdict *v)
{
	ht_u32 rank = rank_of(j, v->cpu);
	enum ht_check_error err = compare_ranks(rank, best_rank(j));

	if (err)
		return err;
	if (rank == HT_RANK_WAIT)
		return check_wait(j, v);
	return v->why == why_of_rank(j, v->cpu, rank) ? HT_CHECK_OK :
							HT_CHECK_WHY;
}

/* Prices: every CPU's, and the least of them. */

static bool is_priced(const struct ht_judge *j)
{
	return j->req->priced && j->req->smt;
}

/* CPU that the task's data is at. */
static ht_u32 data_cpu(const struct ht_judge *j)
{
	return j->base != HT_NONE ? j->base : j->from;
}

static ht_u32 distance_between(const struct ht_judge *j, ht_u32 from, ht_u32 to)
{
	struct ht_judge other = *j;

	other.from = from;
	return distance_of(&other, to);
}

/* CPU of a partner in another LLC, HT_NONE if it has none. */
static ht_u32 partner_cpu(const struct ht_judge *j)
{
	ht_u32 cpu = j->req->waker_cpu;

	if (!ht_has_partner(j->req) || !has_slot(j, cpu) ||
	    domain_of(j, cpu) != domain_of(j, j->home))
		return HT_NONE;
	return distance_between(j, data_cpu(j), cpu) <= 2 ? HT_NONE : cpu;
}

/* What runs beside a CPU: nothing, only what loses little, or more. */
enum beside { BESIDE_NOTHING, BESIDE_LIGHT, BESIDE_MORE };

static enum beside beside(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 slot = j->topo->cpu_slot[cpu], i;
	ht_u32 first = core_first(j->topo, slot);
	enum beside found = BESIDE_NOTHING;

	if (bit_of(j->topo->partial, slot))
		return BESIDE_MORE;
	for (i = first; i < first + core_slots(j->topo, first); i++) {
		ht_u32 other = j->topo->slot_cpu[i];

		if (other == HT_NONE || other == cpu || is_usable(j, other))
			continue;
		if (!bit_of(&j->st->word[i / HT_WORD_BITS].light,
			    i % HT_WORD_BITS))
			return BESIDE_MORE;
		found = BESIDE_LIGHT;
	}
	return found;
}

static struct ht_price price_of(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 partner = partner_cpu(j);
	struct ht_price price = { };
	struct ht_costs costs;

	ht_costs_fill(&costs, j->req);
	if (beside(j, cpu) == BESIDE_MORE)
		price.share_ns = costs.share_ns;
	else if (beside(j, cpu) == BESIDE_LIGHT)
		price.share_ns = costs.share_ns / 2;
	price.move_ns = costs.move_ns[distance_between(j, data_cpu(j), cpu)];
	if (partner != HT_NONE)
		price.apart_ns =
			costs.apart_ns[distance_between(j, partner, cpu)];
	return price;
}

static ht_u64 sum_of(const struct ht_judge *j, ht_u32 cpu)
{
	struct ht_price price = price_of(j, cpu);

	return ht_price_sum(&price);
}

static bool is_candidate(const struct ht_judge *j, ht_u32 cpu)
{
	return eligible(j, cpu) && is_usable(j, cpu);
}

/* The cheapest idle CPU, a free core's before others, HT_NONE if none idles. */
static ht_u32 cheapest(const struct ht_judge *j)
{
	ht_u32 best = HT_NONE, cpu;

	for (cpu = 0; cpu < j->topo->nr_cpus; cpu++)
		if (is_candidate(j, cpu) &&
		    (best == HT_NONE || sum_of(j, cpu) < sum_of(j, best)))
			best = cpu;
	return best;
}

static bool has_free_core(const struct ht_judge *j)
{
	ht_u32 cpu;

	for (cpu = 0; cpu < j->topo->nr_cpus; cpu++)
		if (eligible(j, cpu) && is_free_core(j, cpu))
			return true;
	return false;
}

static bool is_nearer_to_partner(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 partner = partner_cpu(j);

	return partner != HT_NONE &&
	       distance_between(j, partner, cpu) <
	       distance_between(j, partner, data_cpu(j));
}

static enum ht_why why_priced(const struct ht_judge *j, ht_u32 cpu)
{
	bool is_prev = cpu == j->req->prev_cpu;

	if (is_free_core(j, cpu)) {
		if (is_prev)
			return HT_WHY_PREV_CORE;
		return is_nearer_to_partner(j, cpu) ? HT_WHY_PARTNER :
						      HT_WHY_IDLE_CORE;
	}
	if (is_prev)
		return HT_WHY_PREV_IDLE;
	if (is_nearer_to_partner(j, cpu))
		return HT_WHY_PARTNER;
	if (!distance_between(j, data_cpu(j), cpu))
		return HT_WHY_PREV_SIBLING;
	return beside(j, cpu) == BESIDE_LIGHT ? HT_WHY_LIGHT :
						HT_WHY_IDLE_THREAD;
}

/* Beside a busy thread without a look at all cores: only for a reason. */
static enum ht_check_error check_reason(const struct ht_judge *j,
					const struct ht_verdict *v)
{
	if (is_free_core(j, v->cpu))
		return v->why == why_priced(j, v->cpu) ? HT_CHECK_OK :
							 HT_CHECK_WHY;
	if (v->why == HT_WHY_WARM)
		return HT_CHECK_OK;
	if (has_free_core(j))
		return HT_CHECK_WHY;
	return v->why == why_priced(j, v->cpu) ? HT_CHECK_OK : HT_CHECK_WHY;
}

static enum ht_check_error check_terms(const struct ht_price *want,
				       const struct ht_verdict *v)
{
	bool right = v->price.share_ns == want->share_ns &&
		     v->price.move_ns == want->move_ns &&
		     v->price.apart_ns == want->apart_ns &&
		     v->price.wait_ns == want->wait_ns;

	return right ? HT_CHECK_OK : HT_CHECK_PRICE;
}

/* The wait and the move of entry @i, as rule 6 has it with prices on. */
static struct ht_price wait_price(const struct ht_judge *j, ht_u32 i)
{
	const struct ht_wait *w = &j->req->waits[i];
	struct ht_price price = price_of(j, w->cpu);

	price.wait_ns = w->sched_idle ? 0 : w->wait_ns;
	return price;
}

static bool entry_is(const struct ht_judge *j, ht_u32 i,
		     const struct ht_verdict *v)
{
	enum ht_why why = j->req->waits[i].sched_idle ? HT_WHY_SCHED_IDLE :
							HT_WHY_SHORTEST_WAIT;
	struct ht_price price = wait_price(j, i);

	return j->req->waits[i].cpu == v->cpu && v->why == why &&
	       !check_terms(&price, v);
}

static enum ht_check_error check_priced_wait(const struct ht_judge *j,
					     const struct ht_verdict *v)
{
	ht_u64 least = HT_NO_PRICE, sum;
	bool prev_is_least = false, matches = false;
	ht_u32 i, pass;

	/* First the least, then who has it. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < j->req->nr_waits && i < HT_MAX_WAITS; i++) {
			struct ht_price price;

			if (!eligible(j, j->req->waits[i].cpu))
				continue;
			price = wait_price(j, i);
			sum = ht_price_sum(&price);
			if (sum < least)
				least = sum;
			if (!pass || sum > least)
				continue;
			matches |= entry_is(j, i, v);
			prev_is_least |= j->req->waits[i].cpu ==
					 j->req->prev_cpu;
		}
	}
	if (least == HT_NO_PRICE)
		return check_wait(j, v);
	if (prev_is_least && v->cpu != j->req->prev_cpu)
		return HT_CHECK_PREV_MISSED;
	return matches ? HT_CHECK_OK : HT_CHECK_WAIT;
}

static enum ht_check_error check_price(const struct ht_judge *j,
				       const struct ht_verdict *v)
{
	ht_u32 best = cheapest(j), prev = j->req->prev_cpu;
	struct ht_price price;

	if (best == HT_NONE)
		return check_priced_wait(j, v);
	if (!is_candidate(j, v->cpu))
		return HT_CHECK_BETTER_THREAD;
	if (sum_of(j, v->cpu) > sum_of(j, best))
		return is_free_core(j, best) && !is_free_core(j, v->cpu) ?
		       HT_CHECK_BETTER_CORE : HT_CHECK_DEARER;
	if (v->cpu != prev && eligible(j, prev) && is_usable(j, prev) &&
	    sum_of(j, prev) == sum_of(j, best))
		return HT_CHECK_PREV_MISSED;
	price = price_of(j, v->cpu);
	if (v->core_ns < ht_price_sum(&price))
		return HT_CHECK_PRICE;
	if (check_terms(&price, v))
		return HT_CHECK_PRICE;
	return check_reason(j, v);
}

static ht_u32 count_allowed(const struct ht_judge *j)
{
	ht_u32 cpu, nr = 0;

	for (cpu = 0; cpu < j->topo->nr_cpus; cpu++)
		nr += allows(j, cpu);
	return nr;
}

static enum ht_check_error check_none(const struct ht_judge *j,
				      const struct ht_verdict *v)
{
	if (v->why != HT_WHY_NONE)
		return HT_CHECK_WHY;
	if (v->slot != HT_NONE)
		return HT_CHECK_BAD_SLOT;
	if (v->whole_core)
		return HT_CHECK_WHOLE_CORE;
	if (v->distance)
		return HT_CHECK_DISTANCE;
	return j->home != HT_NONE || allows(j, j->req->prev_cpu) ?
	       HT_CHECK_NO_CPU : HT_CHECK_OK;
}

static enum ht_check_error check_legal(const struct ht_judge *j,
				       const struct ht_verdict *v)
{
	if (v->cpu >= j->topo->nr_cpus)
		return HT_CHECK_BAD_CPU;
	if (!allows(j, v->cpu))
		return HT_CHECK_NOT_ALLOWED;
	return v->slot == j->topo->cpu_slot[v->cpu] ? HT_CHECK_OK :
						      HT_CHECK_BAD_SLOT;
}

/* The parts of a verdict that follow from its CPU. */
static enum ht_check_error check_details(const struct ht_judge *j,
					 const struct ht_verdict *v)
{
	bool measured = v->why != HT_WHY_PINNED && v->why != HT_WHY_NO_TOPOLOGY;

	if (v->whole_core != (v->slot != HT_NONE && is_free_core(j, v->cpu)))
		return HT_CHECK_WHOLE_CORE;
	if (v->distance != (measured ? distance_of(j, v->cpu) : 0))
		return HT_CHECK_DISTANCE;
	return HT_CHECK_OK;
}

static enum ht_check_error check_measured(const struct ht_judge *j,
					  const struct ht_verdict *v)
{
	enum ht_check_error err;

	if (v->slot == HT_NONE)
		return HT_CHECK_BAD_SLOT;
	if (!eligible(j, v->cpu))
		return HT_CHECK_DOMAIN;
	err = is_priced(j) ? check_price(j, v) : check_rank(j, v);
	return err ? err : check_details(j, v);
}

/**
 * ht_check_select() - is a verdict of ht_policy_select() the right one?
 * @topo:     valid snapshot
 * @st:       state of its threads, unchanged since the decision
 * @req:      what was asked
 * @verdict:  what was answered
 */
enum ht_check_error ht_check_select(const struct ht_topo *topo,
				    const struct ht_state *st,
				    const struct ht_request *req,
				    const struct ht_verdict *verdict)
{
	bool says_pinned = verdict->why == HT_WHY_PINNED;
	enum ht_check_error err;
	struct ht_judge j;
	bool pinned;

	open_case(&j, topo, st, req);
	if (verdict->cpu == HT_NONE)
		return check_none(&j, verdict);
	err = check_legal(&j, verdict);
	if (err)
		return err;
	pinned = !req->allowed_all && req->nr_allowed < 2 &&
		 count_allowed(&j) == 1;
	if (pinned != says_pinned)
		return HT_CHECK_PINNED;
	if (pinned)
		return check_details(&j, verdict);
	if (j.home != HT_NONE)
		return check_measured(&j, verdict);
	if (verdict->cpu != req->prev_cpu)
		return HT_CHECK_NOT_PREV;
	if (verdict->why != HT_WHY_NO_TOPOLOGY)
		return HT_CHECK_WHY;
	return check_details(&j, verdict);
}

/* Does a move from where the task runs gain more than it costs? */
static bool is_worth_it(const struct ht_judge *j, ht_u32 cpu)
{
	ht_u32 prev = j->req->prev_cpu;

	return !is_priced(j) || cpu == prev || !eligible(j, prev) ||
	       sum_of(j, cpu) < sum_of(j, prev);
}

/* No core was found for a running task: is there none that is worth it? */
static enum ht_check_error check_no_core(const struct ht_judge *j,
					 const struct ht_verdict *v)
{
	ht_u32 best, cpu;

	if (v->cpu != HT_NONE ||
	    (v->why != HT_WHY_NONE && v->why != HT_WHY_WARM))
		return HT_CHECK_WHY;
	best = j->home == HT_NONE ? HT_RANK_WAIT : best_rank(j);
	if (HT_RANK_RULE(best) > 2)
		return v->why == HT_WHY_NONE ? HT_CHECK_OK : HT_CHECK_WHY;
	if (v->why == HT_WHY_NONE)
		return HT_CHECK_BETTER_CORE;
	for (cpu = 0; cpu < j->topo->nr_cpus; cpu++)
		if (eligible(j, cpu) && rank_of(j, cpu) == best &&
		    !is_worth_it(j, cpu))
			return HT_CHECK_OK;
	return HT_CHECK_BETTER_CORE;
}

/**
 * ht_check_free_core() - is an answer of ht_policy_free_core() the right one?
 * @topo:     valid snapshot
 * @st:       state of its threads, unchanged since the decision
 * @req:      what was asked, with smt on
 * @found:    what was returned
 * @verdict:  what was answered
 */
enum ht_check_error ht_check_free_core(const struct ht_topo *topo,
				       const struct ht_state *st,
				       const struct ht_request *req, bool found,
				       const struct ht_verdict *verdict)
{
	enum ht_check_error err;
	struct ht_judge j;

	open_case(&j, topo, st, req);
	if (!found)
		return check_no_core(&j, verdict);
	err = check_legal(&j, verdict);
	if (err)
		return err;
	if (j.home == HT_NONE)
		return HT_CHECK_WHY;
	if (verdict->slot == HT_NONE)
		return HT_CHECK_BAD_SLOT;
	if (!eligible(&j, verdict->cpu))
		return HT_CHECK_DOMAIN;
	err = check_rank(&j, verdict);
	if (!err)
		err = check_details(&j, verdict);
	if (err)
		return err;
	if (HT_RANK_RULE(rank_of(&j, verdict->cpu)) > 2)
		return HT_CHECK_WHY;
	return is_worth_it(&j, verdict->cpu) ? HT_CHECK_OK : HT_CHECK_DEARER;
}

static const char * const ht_check_names[HT_NR_CHECKS] = {
	[HT_CHECK_OK]			= "ok",
	[HT_CHECK_LLC_WORDS]		= "llc_words",
	[HT_CHECK_LLC_SHIFT]		= "llc_shift",
	[HT_CHECK_LLC_CORES]		= "llc_cores",
	[HT_CHECK_CPU_SLOT]		= "cpu_slot",
	[HT_CHECK_SLOT_CPU]		= "slot_cpu",
	[HT_CHECK_PRESENT]		= "present",
	[HT_CHECK_PARTIAL]		= "partial",
	[HT_CHECK_CLUSTER]		= "cluster",
	[HT_CHECK_ORDER]		= "order",
	[HT_CHECK_NO_CPU]		= "no_cpu",
	[HT_CHECK_BAD_CPU]		= "bad_cpu",
	[HT_CHECK_NOT_ALLOWED]		= "not_allowed",
	[HT_CHECK_BAD_SLOT]		= "bad_slot",
	[HT_CHECK_PINNED]		= "pinned",
	[HT_CHECK_NOT_PREV]		= "not_prev",
	[HT_CHECK_DOMAIN]		= "domain",
	[HT_CHECK_WHY]			= "why",
	[HT_CHECK_WHOLE_CORE]		= "whole_core",
	[HT_CHECK_DISTANCE]		= "distance",
	[HT_CHECK_BETTER_CORE]		= "better_core",
	[HT_CHECK_BETTER_THREAD]	= "better_thread",
	[HT_CHECK_NEARER]		= "nearer",
	[HT_CHECK_PREV_MISSED]		= "prev_missed",
	[HT_CHECK_WAIT]			= "wait",
	[HT_CHECK_DEARER]		= "dearer",
	[HT_CHECK_PRICE]		= "price",
};

/**
 * ht_check_name() - a word for what is wrong
 * @error:    what a check returned
 */
const char *ht_check_name(enum ht_check_error error)
{
	return (ht_u32)error < HT_NR_CHECKS ? ht_check_names[error] : "unknown";
}
