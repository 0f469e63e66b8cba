// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: moving tasks that do not wake up.
 *
 * Un-sharing (INV-2). A task that runs beside a busy thread leaves for a core
 * that is wholly idle. No stopper is needed: the task is flagged with its
 * destination, its CPU picks another one, and a balance callback pushes the
 * flagged task after that switch, when it is off its CPU:
 *
 *   running --flag, claim, resched--> flagged --picked over--> queued, push_cpu
 *      ^                                                            |
 *      |  no longer legal: claim back, resched               callback
 *      +----------------------------------------------------------+
 *                                                                 v
 *                                                   running on the idle core
 *
 * Who flags: the CPU whose core became wholly idle, from a callback of its own
 * (ht_core_idle()); the task's own start on a CPU that was idle, from another
 * (ht_start_beside()); its tick, affinity change or change of class
 * (ht_unshare_self()). That a thread becomes busy beside it is seen by its tick:
 * most of what wakes up for a moment is gone by then. A task is skipped by pick
 * only if its callback can be queued, that is not while balance_push() empties
 * the CPU; then it stays.
 *
 * Why nothing ping-pongs: let f be the number of cores with two or more busy
 * threads that hold a SCHED_HT task which may use a wholly idle core. A move
 * takes one thread from such a core to a core that was wholly idle, and makes
 * it busy with one thread: f falls by at least one or the core's count does,
 * and no move raises either. The rate limit bounds how fast wakeups of others
 * can make the same task move again.
 *
 * With prices on a move has to gain more than it costs besides: the less that a
 * running task loses alone, or the shorter wait, against loading its data again.
 * That only takes moves away, so f falls as it did, and a task that was moved
 * has to earn the next move by running on.
 *
 * Idle pull and push (INV-3). A CPU that is about to go idle pulls a waiting
 * task, nearest first and of these the coldest; a CPU with a waiting task looks
 * for an idle thread at each tick, and now and then for a shorter queue. A move
 * between two busy CPUs must lower the sum of the squares of their loads.
 *
 * Locks: rq locks, two at most, by double_lock_balance().
 */
#include "ht_internal.h"

#include <linux/sched/clock.h>

#include <trace/events/sched_ht.h>

/*
 * A task is un-shared at most once in so long: a move costs some us and what
 * has to be loaded again, and a short round of work does not have to end shared
 * because the one before it did not.
 */
#define HT_UNSHARE_NS		(500 * NSEC_PER_USEC)
/* Ticks between two looks at queue imbalance. */
#define HT_ROVER_TICKS		DIV_ROUND_UP(16 * HZ, 1000)
/* Run queues and tasks looked at in one go. */
#define HT_MAX_SOURCES		4
#define HT_MAX_TASKS		8

/* Callbacks can't be queued while balance_push() empties the CPU. */
static bool may_queue_callback(struct rq *rq)
{
	return rq->balance_callback != &balance_push_callback;
}

/* Both run queues are locked; @p is queued on @src and not running. */
static void move_task(struct rq *src, struct rq *dst, struct task_struct *p,
		      enum ht_move why)
{
	lockdep_assert_rq_held(src);
	lockdep_assert_rq_held(dst);

	trace_sched_ht_migrate(p, cpu_of(src), cpu_of(dst), why);
	p->ht.beside_tick = 0;
	deactivate_task(src, p, 0);
	set_task_cpu(p, cpu_of(dst));
	activate_task(dst, p, 0);
	wakeup_preempt(dst, p, 0);
}

/* Is @p still what it was before a lock was dropped, and movable? */
static bool may_move(struct rq *rq, struct task_struct *p, int dst_cpu)
{
	return task_rq(p) == rq && task_on_rq_queued(p) && task_on_ht(p) &&
		p != ht_curr(rq) && !task_on_cpu(rq, p) &&
		ht_task_may_use(p, dst_cpu);
}

/**
 * ht_cancel_push() - a task is not to be moved after all
 * @p: task, its rq lock held
 */
void ht_cancel_push(struct task_struct *p)
{
	if (p->ht.push_cpu < 0)
		return;

	p->ht.push_cpu = -1;
	ht_claim_settle(p, -1);
}

static bool push_to(struct rq *rq, struct task_struct *p, int dst_cpu)
{
	struct rq *dst = cpu_rq(dst_cpu);
	bool moved = false;

	if (!may_move(rq, p, dst_cpu) || dst == rq)
		return false;

	double_lock_balance(rq, dst);
	if (may_move(rq, p, dst_cpu) && idle_cpu(dst_cpu)) {
		move_task(rq, dst, p, HT_MOVE_UNSHARE);
		p->ht.nr_unshared++;
		moved = true;
	}
	double_unlock_balance(rq, dst);

	return moved;
}

/* After the switch: the flagged task is off its CPU now. */
static void push_callback(struct rq *rq)
{
	struct task_struct *p = rq->ht.push_task;
	int dst_cpu = p->ht.push_cpu;

	rq->ht.push_task = NULL;
	p->ht.push_cpu = -1;
	/* A push that is lost counts as well, or it might be tried in a loop. */
	p->ht.unshare_ns = local_clock();

	if (dst_cpu >= 0 && push_to(rq, p, dst_cpu)) {
		ht_count(UNSHARE_DONE);
	} else {
		ht_count(UNSHARE_LOST);
		ht_claim_settle(p, -1);
		if (task_rq(p) == rq && ht_curr(rq) == rq->idle)
			resched_curr(rq);
	}
	put_task_struct(p);
}

/**
 * ht_queue_push() - push a flagged task as soon as the rq lock allows
 * @rq: run queue, its lock held; its callbacks are run before it is dropped
 * @p: flagged task that is queued there and is not to run next
 */
void ht_queue_push(struct rq *rq, struct task_struct *p)
{
	if (rq->ht.push_task || !may_queue_callback(rq)) {
		ht_cancel_push(p);
		return;
	}

	rq->ht.push_task = get_task_struct(p);
	queue_balance_callback(rq, &rq->ht.push_work, push_callback);
}

/* Claim the core and flag the task, which runs on @rq. */
static bool flag(struct ht_snap *snap, struct rq *rq, struct task_struct *p,
		 int dst_cpu, u32 slot)
{
	/* Claimed but not idle: somebody is on the way there, who ends the claim. */
	if (!ht_claim(snap, slot, true) || !idle_cpu(dst_cpu)) {
		ht_count(UNSHARE_LOST);
		return false;
	}

	p->ht.push_cpu = dst_cpu;
	p->ht.claim_cpu = dst_cpu;
	resched_curr(rq);

	return true;
}

static bool rate_limited(struct task_struct *p)
{
	/* The clocks of two CPUs may differ a little. */
	s64 since_ns = local_clock() - p->ht.unshare_ns;

	if (since_ns >= (s64)HT_UNSHARE_NS)
		return false;

	ht_count(UNSHARE_RATE_LIMITED);
	return true;
}

static bool unshare_enabled(void)
{
	return READ_ONCE(sysctl_sched_ht_unshare) &&
		READ_ONCE(sysctl_sched_ht_smt) &&
		!ht_fault(HT_FAULT_NO_UNSHARE);
}

/**
 * ht_unshare_self() - does the running task have a better core to go to?
 * @rq: run queue, its lock held
 * @p: its running task, of SCHED_HT
 * @tick: asked by its tick, rather than by a change of the task
 */
void ht_unshare_self(struct rq *rq, struct task_struct *p, bool tick)
{
	struct ht_verdict verdict = { .why = HT_WHY_NONE };
	struct ht_snap *snap;
	int cpu = cpu_of(rq);
	bool beside, better;

	/* Flagged a tick ago and still here: it was not picked over. */
	if (tick)
		ht_cancel_push(p);
	if (p->ht.push_cpu >= 0)
		return;

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	if (!snap)
		return;

	beside = ht_beside_busy(snap, cpu);
	better = beside && !is_migration_disabled(p) &&
		p->nr_cpus_allowed > 1 &&
		ht_place_free_core(snap, p, cpu, &verdict);
	if (tick)
		ht_inv2_tick(rq, p, better);
	if (beside && !better) {
		if (verdict.why == HT_WHY_WARM)
			ht_count(UNSHARE_PRICED);
		else
			ht_count(UNSHARE_NO_CORE);
	}
	if (!better || !unshare_enabled() || rate_limited(p))
		return;

	flag(snap, rq, p, verdict.cpu, verdict.slot);
}

static void beside_callback(struct rq *rq)
{
	if (task_on_ht(ht_curr(rq)) && ht_curr(rq)->ht.on_rq)
		ht_unshare_self(rq, ht_curr(rq), false);
}

/**
 * ht_start_beside() - a task of SCHED_HT begins to run on a CPU that was idle
 * @rq: run queue, its lock held, switching to the task
 *
 * It was placed here when no core was free. If one is by now, it leaves: the
 * core did not find it when it became idle, since it was not running yet.
 */
void ht_start_beside(struct rq *rq)
{
	struct ht_snap *snap = rcu_dereference_sched(ht_snap_read);

	if (snap && unshare_enabled() && ht_beside_busy(snap, cpu_of(rq)))
		queue_balance_callback(rq, &rq->ht.beside_work,
				       beside_callback);
}

/* Threads of @word where a SCHED_HT task runs beside a busy thread. */
static u64 shared_runners(struct ht_snap *snap, const struct ht_state *st,
			  u32 word)
{
	u64 run = READ_ONCE(snap->word[word].run);

	return run ? run & ht_word_shared_threads(&snap->topo, st, word) : 0;
}

/* The thread of @cpu's core that @p may use, @cpu itself first. */
static int allowed_thread(struct task_struct *p, int cpu)
{
	int thread;

	if (ht_task_may_use(p, cpu))
		return cpu;
	for_each_cpu(thread, ht_smt_mask(cpu)) {
		if (ht_task_may_use(p, thread))
			return thread;
	}

	return -1;
}

static bool source_is_good(struct rq *src, struct task_struct *p)
{
	return task_on_ht(p) && p->ht.on_rq && p->ht.push_cpu < 0 &&
		!is_migration_disabled(p) && may_queue_callback(src);
}

/* This core is idle: take the task that runs on @src_cpu beside another. */
static bool take_from(struct ht_snap *snap, struct rq *rq, int src_cpu)
{
	struct ht_state st = ht_snap_state(snap);
	struct rq *src = cpu_rq(src_cpu);
	int cpu = cpu_of(rq), dst_cpu;
	u32 slot = snap->topo.cpu_slot[cpu];
	bool taken = false;
	struct task_struct *p;

	double_lock_balance(rq, src);
	p = ht_curr(src);
	if (ht_curr(rq) != rq->idle || !ht_core_is_free(&snap->topo, &st, slot) ||
	    !source_is_good(src, p) || !ht_beside_busy(snap, src_cpu))
		goto out;

	dst_cpu = allowed_thread(p, cpu);
	if (dst_cpu < 0) {
		ht_count(UNSHARE_AFFINITY);
		goto out;
	}
	slot = snap->topo.cpu_slot[dst_cpu];
	if (slot == HT_NONE)
		goto out;
	if (!ht_place_move_pays(snap, p, src_cpu, slot))
		ht_count(UNSHARE_PRICED);
	else if (!rate_limited(p))
		taken = flag(snap, src, p, dst_cpu, slot);
out:
	double_unlock_balance(rq, src);

	return taken;
}

/*
 * Call @fn for CPUs with a bit in the words of @cpu's domain, nearer LLCs
 * first, until it returns true. At most HT_MAX_SOURCES calls.
 */
static bool visit_sources(struct ht_snap *snap, struct rq *rq,
			  u64 (*bits)(struct ht_snap *snap,
				      const struct ht_state *st, u32 word),
			  bool (*fn)(struct ht_snap *snap, struct rq *rq,
				     int src_cpu))
{
	const struct ht_topo *topo = &snap->topo;
	struct ht_state st = ht_snap_state(snap);
	u32 llc, i, word, slot = topo->cpu_slot[cpu_of(rq)];
	int calls = 0;
	u64 mask;

	llc = topo->word_llc[slot / HT_WORD_BITS];
	for (i = 0; i < topo->nr_llcs; i++) {
		const struct ht_llc *l =
			&topo->llc[topo->llc_order[llc * topo->nr_llcs + i]];

		if (l->domain != topo->llc[llc].domain)
			continue;
		for (word = l->first_word; word < l->first_word + l->nr_words;
		     word++) {
			mask = bits(snap, &st, word);
			for (; mask; mask &= mask - 1) {
				int bit = __ffs64(mask);

				slot = word * HT_WORD_BITS + bit;
				if (fn(snap, rq, topo->slot_cpu[slot]))
					return true;
				if (++calls == HT_MAX_SOURCES)
					return false;
			}
		}
	}

	return false;
}

static bool found(struct ht_snap *snap, struct rq *rq, int src_cpu)
{
	return true;
}

static void idle_callback(struct rq *rq)
{
	struct ht_snap *snap;

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	if (!snap || ht_cpu_slot(&snap->topo, cpu_of(rq)) == HT_NONE)
		return;

	visit_sources(snap, rq, shared_runners, take_from);
}

/**
 * ht_core_idle() - a CPU went idle: has its core become a place to go?
 * @rq: run queue, its lock held, switching to its idle task
 */
void ht_core_idle(struct rq *rq)
{
	struct ht_snap *snap = rcu_dereference_sched(ht_snap_read);
	struct ht_state st;
	u32 slot;

	if (!snap || !unshare_enabled() || !may_queue_callback(rq))
		return;

	slot = ht_cpu_slot(&snap->topo, cpu_of(rq));
	if (slot == HT_NONE)
		return;

	st = ht_snap_state(snap);
	if (ht_core_is_free(&snap->topo, &st, slot) &&
	    visit_sources(snap, rq, shared_runners, found))
		queue_balance_callback(rq, &rq->ht.idle_work, idle_callback);
}

/*
 * The task of @src that may run on @dst_cpu and is moved at the least cost;
 * among equals, or with prices off, the one that waits longest. Mostly only one
 * may be moved at all, which needs no price.
 */
static struct task_struct *coldest_task(struct ht_snap *snap, struct rq *src,
					int dst_cpu)
{
	struct rb_node *node = rb_last(&src->ht.queue.timeline.rb_root);
	struct task_struct *p, *coldest = NULL;
	bool only = ht_nr_movable(src) == 1;
	u64 ns, least_ns = 0;
	int looks;

	for (looks = 0; node && looks < HT_MAX_TASKS; looks++) {
		p = ht_task_of(rb_entry(node, struct sched_ht_entity, run_node));
		node = rb_prev(node);
		if (p->ht.push_cpu >= 0 || !may_move(src, p, dst_cpu) ||
		    ht_pair_waits_briefly(p, ht_curr(src)))
			continue;
		ns = only ? 0 : ht_warm_move_ns(snap, p, cpu_of(src), dst_cpu);
		if (coldest && ns >= least_ns)
			continue;
		coldest = p;
		least_ns = ns;
		if (!ns)
			break;
	}

	return coldest;
}

static bool same_llc(const struct ht_topo *topo, int a, int b)
{
	u32 x = ht_cpu_slot(topo, a), y = ht_cpu_slot(topo, b);

	return x != HT_NONE && y != HT_NONE &&
		topo->word_llc[x / HT_WORD_BITS] ==
		topo->word_llc[y / HT_WORD_BITS];
}

/* Within an LLC nobody waits beside an idle CPU (INV-3); beyond, it has to pay. */
static bool pull_pays(struct ht_snap *snap, struct rq *src, int dst_cpu,
		      struct task_struct *p)
{
	return same_llc(&snap->topo, cpu_of(src), dst_cpu) ||
		ht_warm_move_ns(snap, p, cpu_of(src), dst_cpu) < ht_wait_ns(src);
}

static u64 waiting(struct ht_snap *snap, const struct ht_state *st, u32 word)
{
	return READ_ONCE(snap->word[word].wait) & snap->topo.present[word];
}

static bool pull_from(struct ht_snap *snap, struct rq *rq, int src_cpu)
{
	struct rq *src = cpu_rq(src_cpu);
	struct task_struct *p = NULL;

	if (src == rq)
		return false;

	double_lock_balance(rq, src);
	/* Something may have been queued here while the lock was dropped. */
	if (!rq->nr_running)
		p = coldest_task(snap, src, cpu_of(rq));
	if (p && !pull_pays(snap, src, cpu_of(rq), p)) {
		ht_count(PULL_PRICED);
	} else if (p) {
		move_task(src, rq, p, HT_MOVE_PULL);
		p->ht.nr_pulled++;
		ht_count(PULL_DONE);
	} else {
		ht_count(PULL_LOST);
	}
	double_unlock_balance(rq, src);

	return rq->nr_running;
}

static void pull(struct rq *rq)
{
	struct ht_snap *snap;
	int cpu = cpu_of(rq);

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	if (!snap || !cpu_active(cpu) ||
	    ht_cpu_slot(&snap->topo, cpu) == HT_NONE)
		return;

	visit_sources(snap, rq, waiting, pull_from);
}

/* A waiting task goes to an idle thread: any is better than to wait. */
static bool push_to_idle(struct rq *rq, struct task_struct *p)
{
	int cpu = cpu_of(rq), dst_cpu = ht_place(p, cpu, cpu, HT_KIND_AFFINITY);
	bool moved = false;
	struct rq *dst;

	if (p->ht.claim_cpu < 0 || dst_cpu == cpu)
		return false;

	dst = cpu_rq(dst_cpu);
	double_lock_balance(rq, dst);
	if (may_move(rq, p, dst_cpu) && idle_cpu(dst_cpu)) {
		move_task(rq, dst, p, HT_MOVE_PUSH);
		moved = true;
	}
	double_unlock_balance(rq, dst);
	if (!moved)
		ht_claim_settle(p, -1);

	return moved;
}

/* The sample's CPU that gains most from a task of @rq, or -1 if none does. */
static int shorter_queue(struct rq *rq, struct task_struct *p)
{
	u64 here = ht_load_ns(rq), own = ht_request_ns(p->ht.weight);
	struct ht_wait waits[HT_MAX_WAITS];
	struct ht_snap *snap;
	int i, nr, start, best = -1;
	u64 least = here;

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	if (!snap)
		return -1;

	/* A wide LLC is seen in parts, one after the other. */
	start = cpumask_any_and_distribute(p->cpus_ptr, cpu_active_mask);
	nr = ht_find_waits(snap, p, cpu_of(rq), start, ht_load_ns, waits);
	for (i = 0; i < nr; i++) {
		if (waits[i].wait_ns < least) {
			least = waits[i].wait_ns;
			best = waits[i].cpu;
		}
	}

	/*
	 * Sum of squares falls if and only if the difference exceeds @own, by more
	 * than the ns that rounding may take from the lesser one; beyond that, what
	 * is saved has to be more than what the move costs.
	 */
	if (here - least <= own + 1)
		return -1;

	return here - least - own > ht_warm_move_ns(snap, p, cpu_of(rq), best) ?
		best : -1;
}

static bool push_to_shorter(struct rq *rq, struct task_struct *p)
{
	int dst_cpu = shorter_queue(rq, p);
	struct rq *dst;
	bool moved = false;

	if (dst_cpu < 0 || dst_cpu == cpu_of(rq))
		return false;

	dst = cpu_rq(dst_cpu);
	double_lock_balance(rq, dst);
	if (may_move(rq, p, dst_cpu) &&
	    ht_load_ns(rq) > ht_load_ns(dst) + ht_request_ns(p->ht.weight) + 1) {
		move_task(rq, dst, p, HT_MOVE_ROVER);
		moved = true;
	}
	double_unlock_balance(rq, dst);

	return moved;
}

/* A task that waits and may be moved, the last to run first. */
static struct task_struct *movable_task(struct rq *rq)
{
	struct rb_node *node = rb_last(&rq->ht.queue.timeline.rb_root);
	struct task_struct *p;
	int looks;

	for (looks = 0; node && looks < HT_MAX_TASKS; looks++) {
		p = ht_task_of(rb_entry(node, struct sched_ht_entity, run_node));
		if (p->nr_cpus_allowed > 1 && p->ht.push_cpu < 0 &&
		    !is_migration_disabled(p) && !task_on_cpu(rq, p))
			return p;
		node = rb_prev(node);
	}

	return NULL;
}

/* Returns whether it went to an idle thread, as another might. */
static bool push_task(struct rq *rq, struct task_struct *p)
{
	if (push_to_idle(rq, p)) {
		ht_count(PUSH_DONE);
		return true;
	}
	if (time_before(jiffies, rq->ht.rover_tick)) {
		ht_count(PUSH_LOST);
		return false;
	}
	rq->ht.rover_tick = jiffies + HT_ROVER_TICKS;
	if (push_to_shorter(rq, p))
		ht_count(ROVER_DONE);

	return false;
}

/*
 * As many as there are idle threads for, within reason: one at each tick would
 * let the last of them idle for ticks (INV-3). The rq lock may be dropped here.
 */
static void push_waiting(struct rq *rq)
{
	struct task_struct *p;
	int pushes;
	bool more = true;

	for (pushes = 0; more && pushes < HT_MAX_SOURCES; pushes++) {
		p = ht_nr_waiting(rq) ? movable_task(rq) : NULL;
		if (!p)
			return;
		get_task_struct(p);
		more = push_task(rq, p);
		put_task_struct(p);
	}
}

/**
 * ht_push_waiting() - at a tick: can a waiting task run elsewhere?
 * @rq: run queue, its lock held
 *
 * Only asks for it: the move needs a second lock, which the next balance takes.
 */
void ht_push_waiting(struct rq *rq)
{
	struct ht_snap *snap = rcu_dereference_sched(ht_snap_read);

	/* A SCHED_HT task waits since another class took the CPU. */
	ht_bits_update(rq);
	if (!snap || !ht_nr_movable(rq))
		return;
	if (!ht_any_idle(snap, cpu_of(rq)) &&
	    time_before(jiffies, rq->ht.rover_tick))
		return;

	rq->ht.want_push = true;
	resched_curr(rq);
}

/**
 * ht_balance() - ahead of a pick: move tasks to and from this CPU
 * @rq: run queue, its lock held and pinned; may be dropped and taken again
 * @rf: its pin
 */
void ht_balance(struct rq *rq, struct rq_flags *rf)
{
	if (rq->ht.want_push) {
		rq->ht.want_push = false;
		if (ht_nr_waiting(rq)) {
			rq_unpin_lock(rq, rf);
			push_waiting(rq);
			rq_repin_lock(rq, rf);
		}
	}

	if (!rq->nr_running) {
		rq_unpin_lock(rq, rf);
		pull(rq);
		rq_repin_lock(rq, rf);
	}
}
