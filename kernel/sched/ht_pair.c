// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: who wakes whom, and pairs that take turns.
 *
 * A task that the same waker wakes again and again has a partner. How near to
 * each other the two belong is a matter of price (ht_price.c).
 *
 * Two tasks that are each other's partners, and wake each other only to go to
 * sleep, take turns: a client and its server, both ends of a pipe. On two CPUs
 * each turn costs leaving idle there and going idle here, on one it is a switch.
 * What is lost on one CPU is the tail, that is what the waker still runs until
 * it sleeps, which would go on beside the other's turn. So the wakee follows its
 * waker if the tails of both take less than two wakeups of idle CPUs do; and with
 * nothing idle if their runs are short, as it is handed the CPU there ahead of all
 * that wait, and no CPU is lost while the tail does.
 *
 * Locks: waker and pair are written by who wakes the task, with its pi_lock
 * held; the tail by the task itself and under its rq lock when it goes to sleep.
 * All of it is read without locks, for a guess.
 */
#include "ht_internal.h"

/* One in so many turns is taken apart. */
#define HT_PAIR_MEASURE		128

unsigned int sysctl_sched_ht_wake_ns = HT_WAKE_NS;

/**
 * ht_pair_reset() - a task that nothing is known about
 * @p: task; not visible yet, or its rq lock or p->pi_lock is held
 */
void ht_pair_reset(struct task_struct *p)
{
	p->ht.waker = 0;
	p->ht.pair = 0;
	p->ht.sync_exec_ns = 0;
	/* As long as it has not shown better. */
	p->ht.tail_avg_ns = ht_default_slice_ns();
}

/**
 * ht_pair_note_waker() - the current task wakes another
 * @p: woken task, p->pi_lock is held
 * @sync: the waker is about to sleep
 *
 * A partner is forgotten by quarters: one wakeup by somebody else does not end
 * what lasted for many, and one by the partner does not bring it back. By
 * sixteenths if that other does not wait for an answer: who hands on a lock is no
 * partner. What was waited for counts as nobody: an interrupt, or a kernel thread
 * that ends I/O.
 */
void ht_pair_note_waker(struct task_struct *p, bool sync)
{
	if (!in_task() || current->flags & PF_KTHREAD)
		return;

	if (p->ht.waker == current->pid) {
		p->ht.pair += p->ht.pair < 255;
		return;
	}
	p->ht.pair -= DIV_ROUND_UP(p->ht.pair, sync ? 4 : 16);
	if (!p->ht.pair)
		p->ht.waker = current->pid;
}

/**
 * ht_pair_wakes() - is a task woken by a certain one again and again?
 * @waker: task
 * @p: task
 */
bool ht_pair_wakes(const struct task_struct *waker, const struct task_struct *p)
{
	return ht_pair_is_steady(p) && READ_ONCE(p->ht.waker) == waker->pid;
}

static bool take_turns(const struct task_struct *a, const struct task_struct *b)
{
	return task_on_ht(a) && task_on_ht(b) && ht_pair_wakes(a, b) &&
		ht_pair_wakes(b, a);
}

/* The tail of a task's last synchronous wakeup is over, after @exec_ns in all. */
static void end_tail(struct task_struct *p, u64 exec_ns)
{
	s64 tail_ns = exec_ns - p->ht.sync_exec_ns;

	if (!p->ht.sync_exec_ns)
		return;

	p->ht.tail_avg_ns = ht_avg_next(p->ht.tail_avg_ns, max(tail_ns, 0LL));
	p->ht.sync_exec_ns = 0;
}

/**
 * ht_pair_sleep() - a task goes to sleep: so long was its tail
 * @p: task, its run time charged; the rq lock is held
 */
void ht_pair_sleep(struct task_struct *p)
{
	end_tail(p, p->se.sum_exec_runtime);
}

static bool enabled(void)
{
	return READ_ONCE(sysctl_sched_ht_smt) &&
		READ_ONCE(sysctl_sched_ht_cache_hot) &&
		READ_ONCE(sysctl_sched_ht_wake_ns);
}

/* In one LLC, and so in one root domain: beyond, it would be a costly move. */
static bool in_one_llc(const struct ht_topo *topo, u32 a, u32 b)
{
	return a != HT_NONE && b != HT_NONE && ht_slot_distance(topo, a, b) <= 2;
}

/* Shared though a core is free nearby: apart, each would have one to itself. */
static bool could_have_core(struct ht_snap *snap, int cpu, u32 slot)
{
	const struct ht_topo *topo = &snap->topo;
	struct ht_state st = ht_snap_state(snap);
	const struct ht_llc *llc;
	u32 word;

	if (!ht_beside_busy(snap, cpu))
		return false;

	llc = &topo->llc[topo->word_llc[slot / HT_WORD_BITS]];
	for (word = llc->first_word; word < llc->first_word + llc->nr_words;
	     word++) {
		if (ht_word_free_cores(topo, &st, word))
			return true;
	}

	return false;
}

static bool tails_are_short(const struct task_struct *a,
			    const struct task_struct *b)
{
	return ht_follow_pays(READ_ONCE(a->ht.tail_avg_ns),
			      READ_ONCE(b->ht.tail_avg_ns),
			      READ_ONCE(sysctl_sched_ht_wake_ns));
}

/* One after the other they take less than what either would wait for anyway. */
static bool runs_are_short(const struct task_struct *a,
			   const struct task_struct *b)
{
	return (u64)a->ht.run_avg_ns + b->ht.run_avg_ns < ht_default_slice_ns();
}

/**
 * ht_pair_waits_briefly() - does a queued task wait for its partner's turn only?
 * @p: task
 * @curr: the task that runs on its CPU; the rq lock is held
 *
 * Then it is not worth a move: it was there first, and will be next.
 */
bool ht_pair_waits_briefly(const struct task_struct *p,
			   const struct task_struct *curr)
{
	return take_turns(curr, p) && enabled() && tails_are_short(curr, p);
}

/*
 * On one CPU tails are not seen: the partner takes over in the middle of them.
 * So now and then a turn is taken apart, to see whether that is still right.
 */
static bool is_time_to_measure(const struct task_struct *p)
{
	return !((p->nvcsw + p->nivcsw) % HT_PAIR_MEASURE);
}

/**
 * ht_pair_follows() - does a task run best where its waker runs?
 * @snap: snapshot, read under RCU
 * @p: task that the current task wakes, about to sleep itself; its pi_lock held
 * @prev_cpu: where it ran last
 *
 * Return: true if it should be queued on this CPU.
 */
bool ht_pair_follows(struct ht_snap *snap, struct task_struct *p, int prev_cpu)
{
	int cpu = smp_processor_id();
	u32 slot = ht_snap_slot(snap, cpu);
	u64 exec_ns;

	if (!in_task() || !take_turns(current, p) || !enabled())
		return false;

	exec_ns = ht_exec_ns(current, cpu);
	/* It did not sleep since the last time: that was no turn. */
	if (current->ht.sync_exec_ns)
		end_tail(current, exec_ns + ht_default_slice_ns());
	current->ht.sync_exec_ns = exec_ns;

	if (!in_one_llc(&snap->topo, slot, ht_snap_slot(snap, prev_cpu)) ||
	    !ht_task_may_use(p, cpu))
		return false;
	if (!ht_any_idle(snap, cpu))
		return runs_are_short(current, p) && ht_queue_takes_over(&p->ht,
						ht_slice_ns(p));

	return !is_time_to_measure(current) && tails_are_short(current, p) &&
		READ_ONCE(cpu_rq(cpu)->nr_running) == 1 &&
		!could_have_core(snap, cpu, slot);
}
