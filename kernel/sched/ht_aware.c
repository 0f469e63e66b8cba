// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: a scheduling class that knows SMT. Callbacks of the core scheduler.
 *
 * A task that chooses it gets a wholly idle core before an idle thread of a
 * busy core, and leaves a shared core when a whole one becomes idle. On one CPU
 * tasks are served by EEVDF, with nice and slice as SCHED_NORMAL has them, and
 * the CPU is shared with the classes below in proportion to weight. It is not
 * a real-time class and starves nobody.
 *
 * Guarantees: INV-1 to INV-10 in Documentation/scheduler/sched-ht-design.rst.
 * No guarantee: latency; cpu.weight and cpu.max of a group (tasks that would
 * escape them can't be SCHED_HT, see ht_group.c).
 *
 * Each callback gathers, asks and applies: the queue (ht_queue.c), the turn
 * (ht_share.c) and the placement (ht_policy.c) decide.
 *
 * Omitted operations:
 *
 *   pick_next_task	pick_task is all there is to it
 *   yield_to_task	yield to the others of the queue is what users know
 *   task_woken		a woken task was placed before it was queued
 *   rq_online/offline	the snapshot follows the domains, and a dying CPU goes
 *			on picking until balance_push() has emptied it
 *   find_lock_rq	for push_cpu_stop(), which moves real-time tasks only
 *   reweight_task	weights change while the task is dequeued
 *   task_change_group	the default keeps p->se.cfs_rq valid
 */
#include "ht_internal.h"

#include "pelt.h"

/**
 * ht_slice_ns() - length of a task's requests; for other policies, theirs
 * @p: task
 */
u64 ht_slice_ns(const struct task_struct *p)
{
	if (!task_has_ht_policy(p) || p->se.custom_slice)
		return p->se.slice;

	return ht_default_slice_ns();
}

/**
 * ht_init_entity() - a new task; called for tasks of every policy
 * @p: task that is not yet visible to others
 */
void ht_init_entity(struct task_struct *p)
{
	struct sched_ht_entity parent = p->ht;

	p->ht = (struct sched_ht_entity){
		.debt_cpu	= -1,
		.claim_cpu	= -1,
		.push_cpu	= -1,
		.privileged	= parent.privileged,
		.run_avg_ns	= parent.run_avg_ns,
		.sleep_avg_ns	= parent.sleep_avg_ns,
		.warm		= parent.warm,
	};
	RB_CLEAR_NODE(&p->ht.run_node);
	ht_warm_fork(p);
}

/**
 * init_ht_rq() - set up a run queue at boot
 * @rq: run queue
 */
void init_ht_rq(struct rq *rq)
{
	ht_queue_init(&rq->ht.queue);
}

static void update_load_avg(struct rq *rq, bool running)
{
	update_ht_rq_load_avg(rq_clock_pelt(rq), rq, running);
	cpufreq_update_util(rq, 0);
}

static void update_curr_ht(struct rq *rq)
{
	struct ht_queue *q = &rq->ht.queue;
	struct sched_ht_entity *curr = q->curr;
	s64 delta_ns;

	if (!curr)
		return;

	delta_ns = update_curr_common(rq);
	if (delta_ns <= 0)
		return;

	if (!ht_queue_charge(q, delta_ns, ht_slice_ns(ht_task_of(curr))))
		return;

	/* It outlasted what was expected of it. */
	ht_queue_expect(q, curr, ht_request_ns(curr->weight));
	if (q->nr > 1)
		resched_curr(rq);
}

/* A task slept: what it owes is forgiven, and its sleep counts in the average. */
static void note_wakeup(struct rq *rq, struct task_struct *p)
{
	struct sched_ht_entity *se = &p->ht;
	s64 slept_ns = rq_clock(rq) - se->sleep_stamp_ns;

	if (!se->sleep_stamp_ns || slept_ns < 0)
		slept_ns = 0;
	ht_queue_forgive(&rq->ht.queue, se, slept_ns);
	se->sleep_stamp_ns = 0;
	ht_warm_wake(p, slept_ns);
}

/*
 * Core scheduling asks how long a task has waited: from when it was woken, not
 * from when it went to sleep. One that is new here, by fork or migration, counts
 * as having waited for a slice: its clock was another one.
 */
static void begin_wait(struct rq *rq, struct task_struct *p, int flags)
{
	if (!p->se.exec_start)
		p->se.exec_start = rq_clock_task(rq) - ht_default_slice_ns();
	else if (flags & ENQUEUE_WAKEUP)
		p->se.exec_start = rq_clock_task(rq);
}

static void enqueue_task_ht(struct rq *rq, struct task_struct *p, int flags)
{
	unsigned long weight = scale_load_down(p->se.load.weight);

	update_curr_ht(rq);
	ht_claim_settle(p, cpu_of(rq));
	if (flags & ENQUEUE_WAKEUP)
		note_wakeup(rq, p);
	if (!task_current(rq, p))
		begin_wait(rq, p, flags);

	/* One that is moved may have outlasted its average. */
	if (flags & (ENQUEUE_WAKEUP | ENQUEUE_INITIAL) || !p->ht.expect_ns)
		p->ht.expect_ns = p->ht.run_avg_ns;
	p->ht.expect_ns = min_t(u64, p->ht.expect_ns, ht_request_ns(weight));
	ht_queue_add(&rq->ht.queue, &p->ht, weight, ht_slice_ns(p),
		     flags & ENQUEUE_INITIAL);
	rq->ht.nr_pinned += p->nr_cpus_allowed == 1;
	add_nr_running(rq, 1);
	if (rq->ht.queue.nr == 1)
		ht_share_charge(rq, ht_curr(rq));
	ht_bits_update(rq);
	cpufreq_update_util(rq, 0);
}

static bool dequeue_task_ht(struct rq *rq, struct task_struct *p, int flags)
{
	update_curr_ht(rq);
	if (flags & DEQUEUE_SLEEP) {
		p->ht.sleep_stamp_ns = rq_clock(rq);
		p->ht.beside_tick = 0;
		ht_warm_sleep(p);
		ht_cancel_push(p);
	}

	ht_queue_del(&rq->ht.queue, &p->ht, !(flags & DEQUEUE_SLEEP),
		     ht_slice_ns(p));
	rq->ht.nr_pinned -= p->nr_cpus_allowed == 1;
	sub_nr_running(rq, 1);
	if (!rq->ht.queue.nr)
		ht_share_charge(rq, ht_curr(rq));
	ht_bits_update(rq);
	/* It was claimed for this task, and goes on being idle without it. */
	if (rq->ht.bits & HT_BIT_IDLE)
		ht_unclaim_cpu(cpu_of(rq));

	return true;
}

static void yield_task_ht(struct rq *rq)
{
	update_rq_clock(rq);
	update_curr_ht(rq);
	ht_queue_yield(&rq->ht.queue, ht_slice_ns(ht_curr(rq)));
	ht_share_charge(rq, ht_curr(rq));
	ht_share_yield(rq);
	/* It goes on to schedule() right away. */
	rq_clock_skip_update(rq);
}

/*
 * A waker that is about to sleep hands over at once: the switch comes anyway,
 * and when the waker gets on, what it would have slept for may be there. WF_SYNC
 * alone promises too much: a sender that fills many pipes is told to sleep at
 * each message and goes on. Who is always woken by the same task is believed,
 * and a pinned task, whose wakers are not counted.
 */
static bool hands_over(struct rq *rq, struct task_struct *p, int flags)
{
	if (!(flags & WF_SYNC) || current != ht_curr(rq))
		return false;
	if (p->nr_cpus_allowed > 1 && !ht_pair_is_steady(p))
		return false;

	if (!ht_queue_hand_over(&rq->ht.queue, &p->ht, ht_slice_ns(p)))
		return false;

	/* When it gets on the answer may be there: no measure of its tail. */
	current->ht.sync_exec_ns = 0;
	return true;
}

static void wakeup_preempt_ht(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *curr = ht_curr(rq);

	if (test_tsk_need_resched(curr))
		return;

	update_curr_ht(rq);
	if (hands_over(rq, p, flags) ||
	    ht_queue_preempts(&rq->ht.queue, &p->ht,
			      ht_slice_ns(p) < ht_slice_ns(curr)))
		resched_curr(rq);
}

static int balance_ht(struct rq *rq, struct task_struct *prev,
		      struct rq_flags *rf)
{
	ht_balance(rq, rf);
	ht_share_update(rq);

	if (sched_stop_runnable(rq) || sched_dl_runnable(rq) ||
	    sched_rt_runnable(rq))
		return 1;

	if (rq->ht.queue.nr > ht_curr_leaves(rq) && !ht_share_is_low_turn(rq))
		return 1;

	/* If it is their turn the lower classes balance for themselves. */
	ht_balance_ext(rq, prev, rf);

	return 0;
}

static struct task_struct *pick_task_ht(struct rq *rq)
{
	struct sched_ht_entity *se;

	if (!rq->ht.queue.nr || ht_share_is_low_turn(rq))
		return NULL;

	se = ht_queue_pick(&rq->ht.queue, ht_curr_leaves(rq));
	return se ? ht_task_of(se) : NULL;
}

/*
 * Is nothing but SCHED_HT tasks runnable here, and none about to leave or to be
 * pushed? Then neither balancing nor other classes have to be asked.
 */
bool __ht_alone(struct rq *rq)
{
	return rq->ht.queue.nr && rq->nr_running == rq->ht.queue.nr &&
		!rq->ht.want_push && !ht_curr_leaves(rq) && !ht_nr_ext(rq);
}

/**
 * ht_pick_alone() - pick and set the next task where ht_alone() is true
 * @rq: run queue, its lock held
 */
struct task_struct *ht_pick_alone(struct rq *rq)
{
	struct task_struct *p;

	/* The last of the low side may just have gone to sleep. */
	if (!task_on_ht(ht_curr(rq)))
		ht_share_update(rq);
	p = ht_task_of(ht_queue_pick(&rq->ht.queue, false));
	put_prev_set_next_task(rq, ht_curr(rq), p);

	return p;
}

static void put_prev_task_ht(struct rq *rq, struct task_struct *p,
			     struct task_struct *next)
{
	update_curr_ht(rq);
	ht_queue_put_curr(&rq->ht.queue);
	/* From one task of the class to the next it runs on: the tick sees it. */
	if (!next || !task_on_ht(next)) {
		update_load_avg(rq, true);
		ht_bits_update(rq);
	}

	if (p->ht.push_cpu >= 0 && p->ht.on_rq && next)
		ht_queue_push(rq, p);
}

static void set_next_task_ht(struct rq *rq, struct task_struct *p, bool first)
{
	p->se.exec_start = rq_clock_task(rq);
	ht_queue_set_curr(&rq->ht.queue, &p->ht);
	if (!task_on_ht(ht_curr(rq)))
		update_load_avg(rq, false);
	ht_bits_update(rq);

	/* Set anew: its affinity, class or group changed while it runs. */
	if (!first && p->ht.on_rq)
		ht_unshare_self(rq, p, false);
	else if (first && is_idle_task(ht_curr(rq)))
		ht_start_beside(rq);
}

static int select_task_rq_ht(struct task_struct *p, int cpu, int flags)
{
	int this_cpu = smp_processor_id();

	if (flags & WF_EXEC)
		ht_warm_reset(p);
	if (p->nr_cpus_allowed == 1 || is_migration_disabled(p))
		return cpu;
	if (flags & WF_EXEC)
		return ht_place(p, cpu, cpu, HT_KIND_EXEC);
	if (flags & WF_FORK)
		return ht_place(p, cpu, this_cpu, HT_KIND_FORK);
	ht_pair_note_waker(p, flags & WF_SYNC);
	if ((flags & WF_SYNC) && !(current->flags & PF_EXITING))
		return ht_place(p, cpu, this_cpu, HT_KIND_SYNC);

	return ht_place(p, cpu, cpu, HT_KIND_WAKEUP);
}

static void task_tick_ht(struct rq *rq, struct task_struct *p, int queued)
{
	update_curr_ht(rq);
	update_load_avg(rq, true);
	ht_unshare_self(rq, p, true);
	/* Nobody waits here, but on another thread of the core somebody does. */
	if (ht_core_forces_idle(rq))
		resched_curr(rq);
}

static void task_dead_ht(struct task_struct *p)
{
	__ht_put();
}

static void switched_from_ht(struct rq *rq, struct task_struct *p)
{
	ht_cancel_push(p);
	ht_claim_settle(p, -1);
}

static void switched_to_ht(struct rq *rq, struct task_struct *p)
{
	ht_warm_reset(p);
	if (!task_on_rq_queued(p))
		return;

	if (task_current(rq, p)) {
		if (rq->ht.queue.nr > 1 || ht_nr_low(rq))
			resched_curr(rq);
		return;
	}

	/* It waits: let the next balance look for a CPU for it. */
	rq->ht.want_push = true;
	resched_curr(rq);
}

static void prio_changed_ht(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p) || rq->ht.queue.nr == 1)
		return;

	if (task_current(rq, p))
		resched_curr(rq);
	else
		wakeup_preempt(rq, p, 0);
}

static unsigned int get_rr_interval_ht(struct rq *rq, struct task_struct *p)
{
	return NS_TO_JIFFIES(ht_slice_ns(p));
}

/* One of those that a CPU is shared between by turns. */
static bool is_shared_class(const struct task_struct *p)
{
	/* What runs for the fair server has the server's priority. */
	return task_on_ht(p) || (ht_is_low(p) && !p->dl_server);
}

/*
 * Core scheduling: is ht_prio_less() to compare two tasks?
 *
 * Each CPU of a core shares itself between SCHED_HT and the classes below, and
 * offers whom it would run now. Were one class above the other between the CPUs,
 * who has the turn on one of them would never get it.
 */
bool __ht_prio_by_wait(const struct task_struct *a, const struct task_struct *b)
{
	return (task_on_ht(a) || task_on_ht(b)) && is_shared_class(a) &&
		is_shared_class(b);
}

/* For how long a task has not run, by its CPU's clock. */
static s64 waited_ns(const struct task_struct *p)
{
	struct rq *rq = task_rq(p);
	s64 wait_ns = rq->clock_task - p->se.exec_start;

	if (rcu_access_pointer(rq->curr) == p)
		return 0;

	/* Moved since it ran: clocks of two CPUs differ by what interrupts took. */
	if (!p->se.exec_start || wait_ns < 0)
		return ht_default_slice_ns();

	return wait_ns;
}

/**
 * ht_prio_less() - core scheduling: has @a less of a claim to run than @b?
 * @a: task
 * @b: another, maybe of another CPU of the core
 *
 * Their queues chose them; between two queues neither virtual times nor lags
 * can be compared, and a lag does not grow while its CPU is forced idle. How
 * long a task waits does grow.
 */
bool ht_prio_less(const struct task_struct *a, const struct task_struct *b)
{
	return waited_ns(a) < waited_ns(b);
}

/* The clock that it is in is another CPU's from now on. */
static void migrate_task_rq_ht(struct task_struct *p, int new_cpu)
{
	p->se.exec_start = 0;
}

DEFINE_SCHED_CLASS(ht) = {
	.enqueue_task		= enqueue_task_ht,
	.dequeue_task		= dequeue_task_ht,
	.yield_task		= yield_task_ht,

	.wakeup_preempt		= wakeup_preempt_ht,

	.balance		= balance_ht,
	.pick_task		= pick_task_ht,
	.put_prev_task		= put_prev_task_ht,
	.set_next_task		= set_next_task_ht,

	.select_task_rq		= select_task_rq_ht,
	.migrate_task_rq	= migrate_task_rq_ht,
	.set_cpus_allowed	= set_cpus_allowed_common,

	.task_tick		= task_tick_ht,
	.task_dead		= task_dead_ht,

	.switched_from		= switched_from_ht,
	.switched_to		= switched_to_ht,
	.prio_changed		= prio_changed_ht,

	.get_rr_interval	= get_rr_interval_ht,

	.update_curr		= update_curr_ht,

#ifdef CONFIG_UCLAMP_TASK
	.uclamp_enabled		= 1,
#endif
};
