// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: prices. See ht_price.h.
 *
 *   share   a thread beside a busy one runs at `yield` of its speed, so a run
 *           of r takes r x (1 / yield - 1) longer
 *   move    what the caches hold of the task's data has to be loaded again, as
 *           far as it is still there: nothing within the core, a part of the
 *           core's within an L2 cluster, then the core's, the LLC's and the
 *           node's on top of each other
 *   apart   a partner that always wakes it passes data along. Within an LLC
 *           that costs little, and only this wakeup counts; from LLC to LLC,
 *           as many wakeups as they have been together for
 *
 * What is still there is told by residence: run time of the task whose data
 * nobody has displaced since. It grows as the task runs, until the cache is
 * full of its data, and falls as others run there. Both are linear, so there is
 * no threshold at which a task turns from hot to cold.
 */
#include "ht_price.h"

/* Loading one level of the caches again, as far as it is warm. */
static ht_u64 refill(const struct ht_request *req, enum ht_level level)
{
	ht_u64 full = req->prices.refill_ns[level];
	ht_u64 fill = req->prices.fill_ns[level];
	ht_u64 resid = req->resid_ns[level], floor = full >> HT_FLOOR_SHIFT;

	if (!fill || resid >= fill)
		return full;
	/*
	 * Kernel stacks, page tables and what is shared with others that run
	 * there are warm even if the task's own data is not.
	 */
	return floor + (full - floor) * resid / fill;
}

static void fill_move(struct ht_costs *costs, const struct ht_request *req)
{
	ht_u64 core = refill(req, HT_LEVEL_CORE);
	ht_u64 llc = refill(req, HT_LEVEL_LLC);
	ht_u64 node = refill(req, HT_LEVEL_NODE);

	costs->move_ns[0] = 0;
	/* The L2 is shared; what is lost is the L1, a small part of both. */
	costs->move_ns[1] = core / 8;
	costs->move_ns[2] = core;
	costs->move_ns[3] = core + llc;
	costs->move_ns[4] = core + llc + node;
}

/**
 * ht_has_partner() - is a task woken by the same waker again and again?
 * @req:      what is asked
 */
bool ht_has_partner(const struct ht_request *req)
{
	return req->pair >= HT_PAIR_MIN && req->prices.pair_ns;
}

static void fill_apart(struct ht_costs *costs, const struct ht_request *req)
{
	ht_u64 once = ht_has_partner(req) ? req->prices.pair_ns : 0;
	ht_u64 always = once * req->pair;

	costs->apart_ns[0] = 0;
	costs->apart_ns[1] = once / 8;
	costs->apart_ns[2] = once / 4;
	costs->apart_ns[3] = costs->apart_ns[2] + always;
	costs->apart_ns[4] = costs->apart_ns[2] + 2 * always;
}

/**
 * ht_costs_fill() - the prices that a request implies
 * @costs:    output
 * @req:      what is asked; yield_pct is not 0
 */
void ht_costs_fill(struct ht_costs *costs, const struct ht_request *req)
{
	ht_u32 yield = req->prices.yield_pct;

	costs->share_ns = yield < 100 ? req->run_ns * (100 - yield) / yield : 0;
	fill_move(costs, req);
	fill_apart(costs, req);
}

/**
 * ht_price_sum() - what a candidate costs in all
 * @price:    its terms
 */
ht_u64 ht_price_sum(const struct ht_price *price)
{
	return price->share_ns + price->move_ns + price->apart_ns +
	       price->wait_ns;
}

/**
 * ht_resid_next() - residence after others and then the task itself ran
 * @resid_ns:   before
 * @evicted_ns: run time of others on the cache since then
 * @ran_ns:     its own run time there
 * @fill_ns:    after which the cache is full of what ran
 */
ht_u32 ht_resid_next(ht_u32 resid_ns, ht_u64 evicted_ns, ht_u64 ran_ns,
		     ht_u32 fill_ns)
{
	ht_u64 resid = evicted_ns < resid_ns ? resid_ns - evicted_ns : 0;

	if (ran_ns >= fill_ns || resid + ran_ns >= fill_ns)
		return fill_ns;
	return resid + ran_ns;
}

/**
 * ht_avg_next() - a decayed average and one more sample
 * @avg_ns:    the average; a sample counts for a quarter
 * @sample_ns: counts as HT_AVG_MAX_NS at most
 */
ht_u32 ht_avg_next(ht_u32 avg_ns, ht_u64 sample_ns)
{
	if (sample_ns > HT_AVG_MAX_NS)
		sample_ns = HT_AVG_MAX_NS;
	return avg_ns - avg_ns / 4 + (ht_u32)sample_ns / 4;
}

/**
 * ht_expected_rest() - how long will a running task go on?
 * @run_avg_ns: average of its run per wakeup
 * @ran_ns:     since it woke up
 *
 * What is left of an average run; one that outlasted it is expected to go on
 * for as long again.
 */
ht_u64 ht_expected_rest(ht_u32 run_avg_ns, ht_u64 ran_ns)
{
	ht_u64 rest = ran_ns < run_avg_ns ? run_avg_ns - ran_ns : 0;

	if (ran_ns > HT_AVG_MAX_NS)
		ran_ns = HT_AVG_MAX_NS;
	return rest > ran_ns ? rest : ran_ns;
}

/**
 * ht_follow_pays() - is a pair that takes turns better off on one CPU?
 * @waker_tail_ns: what the waker runs from waking the other to its sleep
 * @wakee_tail_ns: the same of the other, when it is its turn to wake
 * @wake_ns:       what it takes to wake an idle CPU; 0: never
 *
 * A round has two wakeups and both tails. Both ask with the same numbers, so
 * they come to the same answer.
 */
bool ht_follow_pays(ht_u64 waker_tail_ns, ht_u64 wakee_tail_ns, ht_u64 wake_ns)
{
	return waker_tail_ns + wakee_tail_ns < 2 * wake_ns;
}
