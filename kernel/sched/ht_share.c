// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: proportional sharing with the classes below it (INV-3, INV-4).
 *
 * SCHED_HT stands above the fair class, but it is no real-time class: anybody
 * may choose it. So each CPU is shared, in proportion to weight, between two
 * sides: SCHED_HT's tasks, and the *low* side, which is fair and sched_ext.
 *
 *   lag_ns     service that SCHED_HT is owed. While both sides have something
 *              to run, running one for d moves it by d x (share of the other).
 *   turn       the low side's as soon as it is owed anything, until SCHED_HT
 *              is owed a quarter of a slice.
 *   alone      a side that runs alone pays what the other is owed no further,
 *              but is paid what it is owed itself.
 *   rejoining  clamps lag to one slice: there is no credit for sleep. A side
 *              that comes back and owes nothing has its turn at once.
 *
 *   debts      a fair task that sleeps as the last of its side takes what is owed
 *              for its last run along, and brings it when it runs again.
 *   guests     who wakes up on the CPU it went to sleep on did not take what
 *              others of its side took too much: that is set aside until it sleeps
 *              again, and it has a turn of its own, for its own account. What it
 *              took itself is paid as SCHED_HT is served, as EEVDF pays lag.
 *
 * Who ran is told by the class of the running task, so every way in which a
 * fair task gets the CPU counts, its deadline server included. Picking only
 * reads the turn; it changes where time is charged. All under the rq lock.
 */
#include "ht_internal.h"

/**
 * ht_nr_low() - runnable tasks of the low side
 * @rq: run queue, its lock held
 */
unsigned int ht_nr_low(struct rq *rq)
{
	return ht_nr_fair(rq) + ht_nr_ext(rq);
}

/**
 * ht_low_weight() - weight of the low side, 1024 for one nice 0 task
 * @rq: run queue, its lock held
 *
 * sched_ext keeps no weight per CPU, and its tasks may wait in queues that no
 * CPU owns: while some wait here, SCHED_HT is not to have more than half.
 */
unsigned long ht_low_weight(struct rq *rq)
{
	unsigned long weight = 0;
	unsigned int nr_ext = ht_nr_ext(rq);

	if (ht_nr_fair(rq))
		weight = scale_load_down(rq->cfs.load.weight);
	if (nr_ext)
		weight = max(weight + nr_ext * 1024UL, rq->ht.queue.weight);

	return weight;
}

/* Part of @delta that the side of weight @part is owed out of @part + @other. */
static s64 share_of(u64 delta, unsigned long part, unsigned long other)
{
	if (!part)
		return 0;

	return div64_u64(delta * part, part + other);
}

/**
 * ht_is_low() - is a task of the low side?
 * @p: task
 */
bool ht_is_low(const struct task_struct *p)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	if (p->sched_class == &ext_sched_class)
		return true;
#endif
	return p->sched_class == &fair_sched_class;
}

static void charge_contended(struct rq *rq, struct task_struct *ran, u64 delta)
{
	unsigned long ht = rq->ht.queue.weight, low = ht_low_weight(rq);

	/* Who ran may be about to sleep, and was the last of its side. */
	ht = ht ?: ran->ht.weight;
	low = low ?: rq->ht.share.low_weight;
	if (task_on_ht(ran))
		rq->ht.share.lag_ns -= share_of(delta, low, ht);
	else if (ht_is_low(ran))
		rq->ht.share.lag_ns += share_of(delta, ht, low);
}

static void charge_alone(struct ht_share *share, struct task_struct *ran,
			 s64 delta)
{
	if (task_on_ht(ran) && share->lag_ns > 0)
		share->lag_ns = max(share->lag_ns - delta, 0LL);
	else if (ht_is_low(ran) && share->lag_ns < 0)
		share->lag_ns = min(share->lag_ns + delta, 0LL);
}

/* What was set aside is owed again. */
static void no_guest(struct ht_share *share)
{
	share->lag_ns += share->aside_ns;
	share->aside_ns = 0;
	share->guest = 0;
	share->guest_waits = false;
}

/**
 * ht_share_charge() - account the time since the last charge
 * @rq: run queue, its lock held and its clock updated
 * @ran: the task that ran since then
 */
void ht_share_charge(struct rq *rq, struct task_struct *ran)
{
	struct ht_share *share = &rq->ht.share;
	bool contended = rq->ht.queue.nr && ht_nr_low(rq);
	u64 now = rq_clock_task(rq);
	s64 delta = now - share->stamp_ns;

	share->stamp_ns = now;
	if (delta > 0 && share->contended)
		charge_contended(rq, ran, delta);
	else if (delta > 0)
		charge_alone(share, ran, delta);

	if (contended && !share->contended) {
		s64 slice = ht_default_slice_ns();

		share->lag_ns = clamp(share->lag_ns, -slice, slice);
		/* The turn was with the side that ran; who rejoins has the tie. */
		if (task_on_ht(ran))
			share->low_turn = share->lag_ns <= 0;
		else
			share->low_turn = share->lag_ns < 0;
	}
	share->contended = contended;
	if (contended)
		share->low_weight = ht_low_weight(rq);
	else
		no_guest(share);
}

/*
 * The turn is a guest's, but it has not run: fair lets another go first. Within
 * bounds, or a guest that comes often would get any amount of time for others.
 */
static bool guest_is_next(const struct ht_share *share)
{
	return share->guest_waits &&
		share->aside_ns + share->lag_ns < 2 * (s64)ht_default_slice_ns();
}

/**
 * ht_share_decide() - whose turn it is from now on
 * @rq: run queue, its lock held, its time charged
 */
void ht_share_decide(struct rq *rq)
{
	struct ht_share *share = &rq->ht.share;
	bool low = share->low_turn;

	if (!share->contended || ht_fault(HT_FAULT_NO_SHARING))
		low = false;
	else if (share->lag_ns < 0)
		low = true;
	else if (share->lag_ns > (s64)(ht_default_slice_ns() / 4) &&
		 !guest_is_next(share))
		low = false;

	if (low != share->low_turn)
		ht_count(SHARE_TURNS);
	share->guest_waits &= low;
	share->low_turn = low;
}

/* Does only one side have anything to run, and is nothing owed? */
static bool nothing_to_share(struct rq *rq)
{
	const struct ht_share *share = &rq->ht.share;

	return !share->contended && !share->lag_ns && !share->low_turn;
}

static bool leaves(struct task_struct *p)
{
	return !task_on_rq_queued(p) || p->se.sched_delayed;
}

static u32 debt_left(struct rq *rq, const struct task_struct *p)
{
	unsigned long weight = min(scale_load_down(p->se.load.weight),
				   rq->ht.share.low_weight);
	s64 served_ns = share_of(rq_clock_task(rq) - p->ht.debt_clock_ns, weight,
				 rq->ht.queue.weight);

	return served_ns < p->ht.debt_ns ? p->ht.debt_ns - served_ns : 0;
}

/*
 * A fair task goes to sleep. As a guest, or as the last of its side, it takes
 * along what is owed to SCHED_HT for its last run; what had been set aside counts
 * again. Between tasks that wake each other no debt must get lost, so others leave
 * it here, and who exits does.
 */
static void guest_leaves(struct rq *rq, struct task_struct *p)
{
	struct ht_share *share = &rq->ht.share;
	u64 ran_ns = p->se.sum_exec_runtime - p->se.prev_sum_exec_runtime;
	bool last = !ht_nr_low(rq), guest = share->guest == p->pid;
	s64 debt_ns;

	if (!rq->ht.queue.nr || p->sched_class != &fair_sched_class || !leaves(p))
		return;

	debt_ns = min_t(s64, min(ran_ns, ht_default_slice_ns()),
			max(share->lag_ns, 0LL));
	if (last || guest)
		no_guest(share);
	if (READ_ONCE(p->__state) & TASK_DEAD)
		return;

	p->ht.debt_cpu = cpu_of(rq);
	if (p->ht.debt_ns || !(last || guest))
		return;

	share->lag_ns -= debt_ns;
	p->ht.debt_ns = debt_ns;
	p->ht.debt_clock_ns = rq_clock_task(rq);
}

/* Who is about to run pays what it owes, wherever it ran up the debt. */
static void debt_comes(struct rq *rq, struct task_struct *p)
{
	if (!p->ht.debt_ns)
		return;

	if (rq->ht.share.contended)
		rq->ht.share.lag_ns += p->ht.debt_cpu == cpu_of(rq) ?
			debt_left(rq, p) : p->ht.debt_ns;
	p->ht.debt_ns = 0;
}

/**
 * ht_share_update() - charge and decide, ahead of a pick
 * @rq: run queue, its lock held and its clock updated
 */
void ht_share_update(struct rq *rq)
{
	if (nothing_to_share(rq) && !(rq->ht.queue.nr && ht_nr_low(rq)))
		return;

	ht_share_charge(rq, ht_curr(rq));
	guest_leaves(rq, ht_curr(rq));
	ht_share_decide(rq);
}

/**
 * ht_share_yield() - a SCHED_HT task yields: to the low side as well
 * @rq: run queue, its lock held, its time charged
 */
void ht_share_yield(struct rq *rq)
{
	struct ht_share *share = &rq->ht.share;

	if (share->contended)
		share->lag_ns = min(share->lag_ns, -1LL);
}

/**
 * ht_share_is_low_turn() - is SCHED_HT to stand back?
 * @rq: run queue, its lock held; not changed
 */
bool ht_share_is_low_turn(struct rq *rq)
{
	return rq->ht.share.low_turn && ht_nr_low(rq);
}

/*
 * @p woke up beside SCHED_HT: is it one that was here before? The state tells it
 * from one that is moved here or has another nice value.
 */
static void guest_comes(struct rq *rq, struct task_struct *p)
{
	struct ht_share *share = &rq->ht.share;

	if (p->sched_class != &fair_sched_class || !share->contended ||
	    READ_ONCE(p->__state) == TASK_RUNNING ||
	    p->ht.debt_cpu != cpu_of(rq) || share->lag_ns < 0)
		return;

	share->guest = p->pid;
	share->guest_waits = true;
	share->aside_ns += share->lag_ns;
	share->lag_ns = 0;
	debt_comes(rq, p);
	share->low_turn |= !share->lag_ns;
}

/* Called at every switch of task, whatever their classes. */
void __ht_sched_switch(struct rq *rq, struct task_struct *prev,
		       struct task_struct *next)
{
	if (nothing_to_share(rq))
		rq->ht.share.stamp_ns = rq_clock_task(rq);
	else
		ht_share_charge(rq, prev);
	if (next->pid == rq->ht.share.guest)
		rq->ht.share.guest_waits = false;
	debt_comes(rq, next);

	if (task_on_ht(prev))
		ht_warm_stop(rq, prev);
	if (!is_idle_task(next))
		ht_bits_light(rq, ht_is_light(next));
}

/* Called at every tick of @rq, after that of the running task's class. */
void __ht_sched_tick(struct rq *rq)
{
	struct task_struct *curr = ht_curr(rq);

	ht_share_charge(rq, curr);
	ht_share_decide(rq);
	ht_clock_batch(rq);
	/* Who goes on running is less and less one who seldom runs. */
	if (!is_idle_task(curr))
		ht_bits_light(rq, ht_is_light(curr));

	if (!rq->ht.queue.nr)
		return;

	/* An idle CPU is about to run what is queued here: nothing waits. */
	if (is_idle_task(curr)) {
		resched_curr(rq);
		return;
	}

	if (task_on_ht(curr) ? ht_share_is_low_turn(rq) :
	    !rq->ht.share.low_turn && ht_is_low(curr))
		resched_curr(rq);

	ht_push_waiting(rq);
}

/* @p of the low side became runnable while another class runs. */
void __ht_wakeup_low(struct rq *rq, struct task_struct *p)
{
	struct task_struct *curr = ht_curr(rq);

	if (!task_on_ht(curr) || !ht_is_low(p))
		return;

	ht_share_charge(rq, curr);
	guest_comes(rq, p);
	ht_share_decide(rq);
	if (ht_share_is_low_turn(rq))
		resched_curr(rq);
}

/*
 * The low side had its turn but picked nothing (a delayed entity, a throttled
 * group): SCHED_HT runs rather than the idle task.
 */
struct task_struct *__ht_pick_again(struct rq *rq, struct task_struct *idle)
{
	struct sched_ht_entity *se;

	if (!rq->ht.queue.nr)
		return idle;

	se = ht_queue_pick(&rq->ht.queue, ht_curr_leaves(rq));
	return se ? ht_task_of(se) : idle;
}

/*
 * May the tick of @rq stop? With one task of SCHED_HT and nothing beside it, nor
 * kept idle for it by core scheduling, nobody has to be switched to.
 */
bool __ht_can_stop_tick(struct rq *rq)
{
	unsigned int nr = rq->ht.queue.nr;

	return !nr || (nr == 1 && !ht_nr_low(rq) && !ht_core_forces_idle(rq));
}

/*
 * What the fair class would get of @capacity, which is what rt, deadline and
 * irqs left: less what SCHED_HT used, but not less than its share by weight.
 */
unsigned long __ht_fair_capacity(struct rq *rq, unsigned long capacity)
{
	unsigned long used = READ_ONCE(rq->ht.avg.util_avg);
	unsigned long ht = READ_ONCE(rq->ht.queue.weight);
	unsigned long low, floor;

	if (!used)
		return capacity;

	/* Also when it has nothing here yet, as seen by a task that may come. */
	low = max(ht_low_weight(rq), 1024UL);
	floor = capacity * low / (low + max(ht, 1024UL));

	return max3(capacity - min(used, capacity), floor, 1UL);
}
