/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: what it costs to put a task somewhere, in nanoseconds, and what is
 * known about a task that a price can be made of.
 *
 * Pure arithmetic, as ht_policy.h is: the kernel, KUnit and the host run the
 * same source. Documentation/scheduler/sched-ht-design.rst, "The price", tells
 * where the model comes from.
 */
#ifndef _KERNEL_SCHED_HT_PRICE_H
#define _KERNEL_SCHED_HT_PRICE_H

#include "ht_types.h"

/* Defaults of the tunables; why so is told in sched-ht.rst. */
#define HT_YIELD_PCT		55
#define HT_REFILL_CORE_US	40
#define HT_REFILL_LLC_US	250
#define HT_REFILL_NODE_US	250
#define HT_FILL_CORE_US		200
#define HT_FILL_LLC_US		2000	/* for each core of the LLC */
#define HT_PAIR_NS		2000
#define HT_WAKE_NS		15000
/* Memory moves to a node as it is touched there. */
#define HT_FILL_NODE_US		20000

/* Distances that ht_slot_distance() tells apart. */
#define HT_NR_DISTANCES	5
/* A refill never costs less than this part of the full one: 1 / 8. */
#define HT_FLOOR_SHIFT	3
/* A task woken this often in a row by the same waker has a partner. */
#define HT_PAIR_MIN	8
/* Longest run and sleep that an average remembers. */
#define HT_AVG_MAX_NS	1000000000u

/**
 * struct ht_costs - the prices of one decision
 * @share_ns:   of a thread beside a busy one
 * @move_ns:    of loading data again, by distance from where it is
 * @apart_ns:   of being away from a steady waker, by distance from it
 *
 * None of the two arrays falls with distance.
 */
struct ht_costs {
	ht_u64 share_ns;
	ht_u64 move_ns[HT_NR_DISTANCES];
	ht_u64 apart_ns[HT_NR_DISTANCES];
};

void ht_costs_fill(struct ht_costs *costs, const struct ht_request *req);
bool ht_has_partner(const struct ht_request *req);
ht_u64 ht_price_sum(const struct ht_price *price);
ht_u32 ht_resid_next(ht_u32 resid_ns, ht_u64 evicted_ns, ht_u64 ran_ns,
		     ht_u32 fill_ns);
ht_u32 ht_avg_next(ht_u32 avg_ns, ht_u64 sample_ns);
bool ht_follow_pays(ht_u64 waker_tail_ns, ht_u64 wakee_tail_ns, ht_u64 wake_ns);
ht_u64 ht_expected_rest(ht_u32 run_avg_ns, ht_u64 ran_ns);

#endif /* _KERNEL_SCHED_HT_PRICE_H */
