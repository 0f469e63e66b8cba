// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: the cache-hot estimate. What is left of a task's data where it ran
 * last, and how long it runs and sleeps.
 *
 * What displaces data is the run time of others on the same cache, not the
 * clock on the wall. So there are run clocks, whatever class runs:
 *
 *   core  the sum of the busy time of its threads. Each thread keeps one word
 *         of its own, written when it goes idle or stops being idle, which
 *         says at any time how long it has been busy:
 *
 *             idle   busy time so far
 *             busy   BUSY | the moment it would have begun, had it never idled
 *
 *         so a switch from task to task writes nothing, and who reads one sees
 *         the run that is still going on.
 *   LLC   one word in the snapshot, to which its CPUs add what they ran in
 *         batches: when they go idle, at ticks, and when a task of SCHED_HT
 *         stops. It lags by up to a tick of each CPU that runs one task all
 *         along, at the start of an interval as at its end.
 *
 * A task is stamped when it stops: with both clocks, and with the residence of
 * its data by level (ht_price.h). Later what others ran is the difference of
 * the clocks less what the task ran itself. A short run is not stamped: the
 * older stamp tells the same. A new snapshot voids all stamps: whatever was hot
 * plugged, nobody knows what the caches went through.
 *
 * Clock words are written by their CPU with its rq lock held; a task's estimate
 * under the rq lock of the CPU that it leaves. Everything is read without locks,
 * for a guess.
 */
#include "ht_internal.h"

#include <linux/sched/clock.h>

#define BUSY		BIT_ULL(63)
/* What a CPU ran goes to the LLC's clock in portions of at least so much. */
#define BATCH_NS	(100 * NSEC_PER_USEC)
/* A run shorter than this leaves the last stamp as it is. */
#define STAMP_NS	(50 * NSEC_PER_USEC)

/**
 * struct ht_clock - busy time of one CPU
 * @word:      see above
 * @added_ns:  how much of it the LLC's clock has been told
 */
struct ht_clock {
	u64	word;
	u64	added_ns;
};

static DEFINE_PER_CPU_SHARED_ALIGNED(struct ht_clock, ht_clock);

unsigned int sysctl_sched_ht_cache_hot = 1;
unsigned int sysctl_sched_ht_smt_yield_pct = HT_YIELD_PCT;
unsigned int sysctl_sched_ht_refill_core_us = HT_REFILL_CORE_US;
unsigned int sysctl_sched_ht_refill_llc_us = HT_REFILL_LLC_US;
unsigned int sysctl_sched_ht_refill_node_us = HT_REFILL_NODE_US;
unsigned int sysctl_sched_ht_fill_core_us = HT_FILL_CORE_US;
unsigned int sysctl_sched_ht_fill_llc_us = HT_FILL_LLC_US;
unsigned int sysctl_sched_ht_pair_ns = HT_PAIR_NS;

/* Clocks. */

static u64 busy_ns(u64 word, u64 now)
{
	u64 begun = word & ~BUSY;

	if (!(word & BUSY))
		return word;

	/* The clocks of two CPUs may differ a little. */
	return now > begun ? now - begun : 0;
}

static void add_to_llc(struct ht_snap *snap, u32 slot, struct ht_clock *clock,
		       u64 busy)
{
	u32 llc = snap->topo.word_llc[slot / HT_WORD_BITS];

	atomic64_add(busy - clock->added_ns, &snap->llc_clock[llc].run_ns);
	clock->added_ns = busy;
}

/**
 * ht_clock_batch() - tell the LLC what a CPU ran, if it is worth it
 * @rq: run queue, its lock held and its clock updated
 */
void ht_clock_batch(struct rq *rq)
{
	struct ht_clock *clock = per_cpu_ptr(&ht_clock, cpu_of(rq));
	u64 busy = busy_ns(clock->word, rq_clock(rq));
	struct ht_snap *snap;
	u32 slot;

	if ((s64)(busy - clock->added_ns) < (s64)BATCH_NS)
		return;

	snap = rcu_dereference_sched(ht_snap_write);
	slot = ht_snap_slot(snap, cpu_of(rq));
	if (slot != HT_NONE)
		add_to_llc(snap, slot, clock, busy);
}

/**
 * ht_clock_set() - a CPU goes idle, or stops being idle
 * @rq: run queue, its lock held and its clock updated
 * @idle: is it idle from now on?
 */
void ht_clock_set(struct rq *rq, bool idle)
{
	struct ht_clock *clock = per_cpu_ptr(&ht_clock, cpu_of(rq));
	u64 now = rq_clock(rq), busy = busy_ns(clock->word, now);

	WRITE_ONCE(clock->word, idle ? busy : BUSY | (now - busy));
	if (idle)
		ht_clock_batch(rq);
}

/**
 * ht_clock_start() - begin to count, when the class is switched on
 * @rq: run queue, its lock held and its clock updated
 */
void ht_clock_start(struct rq *rq)
{
	struct ht_clock *clock = per_cpu_ptr(&ht_clock, cpu_of(rq));

	clock->added_ns = 0;
	WRITE_ONCE(clock->word,
		   ht_curr(rq) == rq->idle ? 0 : BUSY | rq_clock(rq));
}

static u64 core_clock(int cpu, u64 now)
{
	u64 sum = 0;
	int thread;

	if (ht_fault(HT_FAULT_NO_CLOCK))
		return 0;

	for_each_cpu(thread, ht_smt_mask(cpu))
		sum += busy_ns(READ_ONCE(per_cpu(ht_clock, thread).word), now);

	return sum;
}

static u64 llc_clock(const struct ht_snap *snap, u32 slot)
{
	u32 llc = snap->topo.word_llc[slot / HT_WORD_BITS];

	return atomic64_read(&snap->llc_clock[llc].run_ns);
}

/* Tunables. */

static u32 us_to_ns(unsigned int us, unsigned int times)
{
	return min_t(u64, (u64)us * NSEC_PER_USEC * times, U32_MAX);
}

static void fill_prices(struct ht_prices *prices, const struct ht_snap *snap,
			u32 slot)
{
	u32 llc = snap->topo.word_llc[slot / HT_WORD_BITS];
	u32 nr_cores = snap->topo.llc[llc].nr_cores;

	prices->yield_pct = READ_ONCE(sysctl_sched_ht_smt_yield_pct);
	prices->refill_ns[HT_LEVEL_CORE] =
		us_to_ns(READ_ONCE(sysctl_sched_ht_refill_core_us), 1);
	prices->refill_ns[HT_LEVEL_LLC] =
		us_to_ns(READ_ONCE(sysctl_sched_ht_refill_llc_us), 1);
	prices->refill_ns[HT_LEVEL_NODE] =
		us_to_ns(READ_ONCE(sysctl_sched_ht_refill_node_us), 1);
	prices->fill_ns[HT_LEVEL_CORE] =
		us_to_ns(READ_ONCE(sysctl_sched_ht_fill_core_us), 1);
	prices->fill_ns[HT_LEVEL_LLC] =
		us_to_ns(READ_ONCE(sysctl_sched_ht_fill_llc_us), nr_cores);
	prices->fill_ns[HT_LEVEL_NODE] = us_to_ns(HT_FILL_NODE_US, 1);
	prices->pair_ns = READ_ONCE(sysctl_sched_ht_pair_ns);
}

/* The estimate. */

/* Levels whose caches are the same where the stamp is from and at @slot. */
static int shared_levels(const struct ht_snap *snap, int stamp_cpu, u32 slot)
{
	u32 from = ht_snap_slot(snap, stamp_cpu);
	u8 distance;

	if (from == HT_NONE)
		return 0;

	distance = ht_slot_distance(&snap->topo, from, slot);
	if (distance == 0)
		return 3;
	if (distance <= 2)
		return 2;

	return distance == 3 ? 1 : 0;
}

static u64 others_ran(u64 clock, u64 stamp, u64 ran_ns)
{
	s64 others = clock - stamp - ran_ns;

	return max(others, 0LL);
}

/* The clocks of @now at a place that a task runs at or may return to. */
struct here {
	const struct ht_snap	*snap;
	u32			slot;
	u64			core_clock;
	u64			llc_clock;
	u64			ran_ns;		/* by the task since its stamp */
};

static void look_here(struct here *here, const struct ht_snap *snap,
		      const struct task_struct *p, int cpu, u32 slot, u64 now)
{
	here->snap = snap;
	here->slot = slot;
	here->core_clock = core_clock(cpu, now);
	here->llc_clock = llc_clock(snap, slot);
	here->ran_ns = p->se.sum_exec_runtime - p->ht.warm.exec_ns;
}

static void estimate(const struct here *here, const struct ht_warmth *warm,
		     const struct ht_prices *prices, u32 *resid_ns)
{
	int level, nr = 0;
	u64 evicted[HT_LEVELS] = {
		[HT_LEVEL_CORE] = others_ran(here->core_clock, warm->core_clock,
					     here->ran_ns),
		[HT_LEVEL_LLC] = others_ran(here->llc_clock, warm->llc_clock,
					    here->ran_ns),
	};

	if (warm->cpu >= 0 && warm->gen == here->snap->gen)
		nr = shared_levels(here->snap, warm->cpu, here->slot);
	for (level = 0; level < HT_LEVELS; level++) {
		/* The nearest caches are the first that are no longer its. */
		bool same = level >= HT_LEVELS - nr;

		resid_ns[level] = ht_resid_next(same ? warm->resid_ns[level] : 0,
						evicted[level], here->ran_ns,
						prices->fill_ns[level]);
	}
}

static bool stamp_still_tells(const struct ht_warmth *warm, u64 exec_ns,
			      u32 gen, int cpu)
{
	return warm->cpu == cpu && warm->gen == gen &&
		exec_ns - warm->exec_ns < STAMP_NS;
}

/**
 * ht_warm_stop() - a task of SCHED_HT stops running
 * @rq: run queue, its lock held and its clock updated
 * @p: task, its run time charged
 */
void ht_warm_stop(struct rq *rq, struct task_struct *p)
{
	struct ht_snap *snap = rcu_dereference_sched(ht_snap_write);
	struct ht_warmth *warm = &p->ht.warm;
	u64 exec_ns = p->se.sum_exec_runtime;
	struct ht_prices prices;
	struct here here;
	u32 slot;

	if (!READ_ONCE(sysctl_sched_ht_cache_hot))
		return;
	if (snap && stamp_still_tells(warm, exec_ns, snap->gen, cpu_of(rq)))
		return;

	slot = ht_snap_slot(snap, cpu_of(rq));
	if (slot == HT_NONE) {
		warm->cpu = -1;
		return;
	}

	ht_clock_batch(rq);
	look_here(&here, snap, p, cpu_of(rq), slot, rq_clock(rq));
	fill_prices(&prices, snap, slot);
	estimate(&here, warm, &prices, warm->resid_ns);
	warm->core_clock = here.core_clock;
	warm->llc_clock = here.llc_clock;
	warm->exec_ns = exec_ns;
	warm->gen = snap->gen;
	warm->cpu = cpu_of(rq);
}

/**
 * ht_warm_show() - the estimate as of now, for /proc/PID/sched
 * @p: task
 * @resid_ns: by level
 */
void ht_warm_show(const struct task_struct *p, u32 *resid_ns)
{
	int cpu = task_cpu(p);
	struct ht_prices prices;
	struct ht_snap *snap;
	struct here here;
	u32 slot;

	memset(resid_ns, 0, HT_LEVELS * sizeof(*resid_ns));
	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	slot = ht_snap_slot(snap, cpu);
	if (slot == HT_NONE)
		return;

	fill_prices(&prices, snap, slot);
	look_here(&here, snap, p, cpu, slot, sched_clock_cpu(cpu));
	estimate(&here, &p->ht.warm, &prices, resid_ns);
}

/* Runs and sleeps. */

/**
 * ht_warm_sleep() - a task goes to sleep
 * @p: task, its run time charged; the rq lock is held
 */
void ht_warm_sleep(struct task_struct *p)
{
	u64 ran_ns = p->se.sum_exec_runtime - p->ht.wake_exec_ns;

	p->ht.run_avg_ns = ht_avg_next(p->ht.run_avg_ns, ran_ns);
	ht_pair_sleep(p);
}

/**
 * ht_warm_wake() - a task that slept is queued
 * @p: task; the rq lock is held
 * @slept_ns: for how long
 */
void ht_warm_wake(struct task_struct *p, u64 slept_ns)
{
	p->ht.wake_exec_ns = p->se.sum_exec_runtime;
	p->ht.sleep_avg_ns = ht_avg_next(p->ht.sleep_avg_ns, slept_ns);
}

/**
 * ht_warm_fork() - what a new task inherits; called for tasks of every policy
 * @p: task; p->ht is its parent's still
 *
 * Its data is where the parent's is. How long it will run nobody knows: as long
 * as its parent does, but a slice at least, so that it gets a core at once.
 */
void ht_warm_fork(struct task_struct *p)
{
	p->ht.run_avg_ns = max_t(u64, p->ht.run_avg_ns, ht_default_slice_ns());
	p->ht.wake_exec_ns = 0;
	p->ht.warm.exec_ns = 0;
	ht_pair_reset(p);
}

/**
 * ht_warm_reset() - a task begins anew: exec, or it has just become SCHED_HT
 * @p: task; its rq lock is held, or it is the one that runs and p->pi_lock is
 */
void ht_warm_reset(struct task_struct *p)
{
	p->ht.warm.cpu = -1;
	p->ht.warm.exec_ns = p->se.sum_exec_runtime;
	p->ht.run_avg_ns = ht_default_slice_ns();
	p->ht.sleep_avg_ns = 0;
	p->ht.wake_exec_ns = p->se.sum_exec_runtime;
	ht_pair_reset(p);
}

/**
 * ht_is_light() - does a task lose little by a busy neighbour?
 * @p: task that is about to run; the rq lock is held
 *
 * Nice values of 10 and more and SCHED_IDLE count little; so does what seldom
 * runs, for less than an eighth of the time.
 */
bool ht_is_light(const struct task_struct *p)
{
	bool ht = task_on_ht(p);

	/* sched_ext keeps its weights elsewhere, and no real-time task is light. */
	if (!ht && p->sched_class != &fair_sched_class)
		return false;
	if (scale_load_down(p->se.load.weight) <= sched_prio_to_weight[20 + 10])
		return true;
	if (ht)
		return p->ht.run_avg_ns < p->ht.sleep_avg_ns / 8;

	return READ_ONCE(p->se.avg.util_avg) < SCHED_CAPACITY_SCALE / 8;
}

/* Requests. */

static bool is_wakeup(const struct ht_request *req)
{
	return req->kind == HT_KIND_WAKEUP || req->kind == HT_KIND_SYNC;
}

static bool returns_for_free(const struct ht_snap *snap, struct task_struct *p,
			     const struct ht_request *req, u32 prev)
{
	struct ht_state st = ht_snap_state(snap);

	return is_wakeup(req) && !ht_has_partner(req) &&
		task_allowed_on_cpu(p, req->prev_cpu) &&
		ht_core_is_free(&snap->topo, &st, prev);
}

/* A partner within the LLC costs nothing, and need not be looked at. */
static void fill_partner(struct ht_request *req, const struct ht_snap *snap,
			 const struct task_struct *p, u32 prev)
{
	u32 waker;

	if (!is_wakeup(req) || !in_task() || !ht_pair_wakes(current, p))
		return;

	waker = ht_snap_slot(snap, smp_processor_id());
	if (waker == HT_NONE || snap->topo.word_llc[waker / HT_WORD_BITS] ==
	    snap->topo.word_llc[prev / HT_WORD_BITS])
		return;

	req->waker_cpu = smp_processor_id();
	req->pair = p->ht.pair;
	req->prices.pair_ns = READ_ONCE(sysctl_sched_ht_pair_ns);
}

/**
 * ht_exec_ns() - run time of a task that is running, by and large
 * @p: task
 * @cpu: where it runs
 *
 * What was charged, what its CPU's clock has seen since then, and what not.
 */
u64 ht_exec_ns(const struct task_struct *p, int cpu)
{
	const struct rq *rq = cpu_rq(cpu);
	s64 uncharged = READ_ONCE(rq->clock_task) - p->se.exec_start;
	s64 since = sched_clock_cpu(cpu) - READ_ONCE(rq->clock);

	return p->se.sum_exec_runtime + max(uncharged, 0LL) + max(since, 0LL);
}

/**
 * ht_warm_request() - fill in what a price is made of
 * @snap: snapshot, read under RCU
 * @p: task, its p->pi_lock or rq lock held
 * @req: request, its other members filled and no price in it
 */
void ht_warm_request(const struct ht_snap *snap, struct task_struct *p,
		     struct ht_request *req)
{
	u32 prev = ht_snap_slot(snap, req->prev_cpu);
	struct here here;

	if (!req->smt || !READ_ONCE(sysctl_sched_ht_cache_hot) || prev == HT_NONE)
		return;

	fill_partner(req, snap, p, prev);
	/* The rules say the same, and ask for less. */
	if (returns_for_free(snap, p, req, prev))
		return;

	req->priced = true;
	fill_prices(&req->prices, snap, prev);
	req->run_ns = p->ht.run_avg_ns;
	if (req->kind == HT_KIND_UNSHARE)
		req->run_ns = ht_expected_rest(p->ht.run_avg_ns,
					       ht_exec_ns(p, req->prev_cpu) -
					       p->ht.wake_exec_ns);
	look_here(&here, snap, p, req->prev_cpu, prev,
		  sched_clock_cpu(req->prev_cpu));
	estimate(&here, &p->ht.warm, &req->prices, req->resid_ns);
}

/**
 * ht_warm_move_ns() - what it would cost a queued task to be moved
 * @snap: snapshot, read under RCU
 * @p: task, its rq lock held
 * @src_cpu: where it is
 * @dst_cpu: where it would go
 *
 * Return: time for loading its data again, 0 with sched_ht_cache_hot off.
 */
u64 ht_warm_move_ns(const struct ht_snap *snap, struct task_struct *p,
		    int src_cpu, int dst_cpu)
{
	u32 src = ht_snap_slot(snap, src_cpu), dst = ht_snap_slot(snap, dst_cpu);
	struct ht_request req = { };
	struct ht_costs costs;
	struct here here;

	if (!READ_ONCE(sysctl_sched_ht_cache_hot) || src == HT_NONE ||
	    dst == HT_NONE)
		return 0;

	fill_prices(&req.prices, snap, src);
	look_here(&here, snap, p, src_cpu, src, sched_clock_cpu(src_cpu));
	estimate(&here, &p->ht.warm, &req.prices, req.resid_ns);
	ht_costs_fill(&costs, &req);

	return costs.move_ns[ht_slot_distance(&snap->topo, src, dst)];
}
