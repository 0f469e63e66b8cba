// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: gather, decide, apply. Where a task goes when it wakes up, is
 * forked, calls exec, or may not stay where it is.
 *
 * The decision is ht_policy_select(), which sees a request and the words of the
 * snapshot. What it says is a hint: the CPU is claimed and looked at again
 * before the answer counts. A claim lost to somebody else is asked again, a few
 * times, with the winner's claim in sight. Ahead of all that is a pair that takes
 * turns on one CPU (ht_pair.c).
 *
 * Callers hold p->pi_lock or the rq lock of the task, so its affinity is
 * stable; the snapshot is read under RCU.
 */
#include "ht_internal.h"

#include <trace/events/sched_ht.h>

/* How often a lost claim is asked again. */
#define HT_MAX_TRIES	4
/* Slots looked at for rule 6, absent and forbidden ones included. */
#define HT_MAX_LOOKS	64

/**
 * ht_task_may_use() - is a CPU one that a task can be moved to?
 * @p: task, its affinity stable
 * @cpu: CPU
 */
bool ht_task_may_use(struct task_struct *p, int cpu)
{
	if (is_migration_disabled(p) || !cpu_active(cpu))
		return false;
	if (ht_fault(HT_FAULT_IGNORE_AFFINITY))
		return true;

	return task_allowed_on_cpu(p, cpu) &&
		sched_core_cookie_match(cpu_rq(cpu), p);
}

/* Requests of all that is not of SCHED_HT. */
static u64 others_ns(struct rq *rq)
{
	unsigned int rt = rq->rt.rt_nr_running + rq->dl.dl_nr_running;

	return ht_request_ns(ht_low_weight(rq) + rt * 1024UL);
}

/**
 * ht_wait_ns() - how long a nice 0 task would wait on a CPU, roughly
 * @rq: its run queue; read without its lock
 *
 * For what the tasks of SCHED_HT are expected to run, which may be far less than
 * a slice, and a slice of each of the others.
 */
u64 ht_wait_ns(struct rq *rq)
{
	return READ_ONCE(rq->ht.queue.expect_ns) + others_ns(rq);
}

/**
 * ht_load_ns() - as ht_wait_ns(), if each task needed its whole request
 * @rq: its run queue; read without its lock
 */
u64 ht_load_ns(struct rq *rq)
{
	return ht_request_ns(READ_ONCE(rq->ht.queue.weight)) + others_ns(rq);
}

static bool runs_only_sched_idle(struct rq *rq)
{
	unsigned int nr = READ_ONCE(rq->nr_running);

	return nr && nr == READ_ONCE(rq->cfs.idle_h_nr_running);
}

/* A sample under way: of the CPUs that @p may use, by this measure. */
struct sample {
	struct task_struct	*p;
	u64			(*measure)(struct rq *rq);
	struct ht_wait		*waits;
	int			nr;
	int			looks;
};

static void add_wait(struct sample *s, int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	if (s->nr == HT_MAX_WAITS || !ht_task_may_use(s->p, cpu))
		return;

	s->waits[s->nr++] = (struct ht_wait){
		.cpu		= cpu,
		.sched_idle	= runs_only_sched_idle(rq),
		.wait_ns	= s->measure(rq),
	};
}

/* Slots of one LLC, from @slot on and around. */
static void add_llc_waits(struct sample *s, const struct ht_topo *topo,
			  const struct ht_llc *llc, u32 slot)
{
	u32 first = llc->first_word * HT_WORD_BITS;
	u32 nr_slots = llc->nr_words * HT_WORD_BITS, i;
	u32 offset = slot - first < nr_slots ? slot - first : 0;

	for (i = 0; i < nr_slots && s->nr < HT_MAX_WAITS && s->looks > 0; i++) {
		u32 cpu = topo->slot_cpu[first + (offset + i) % nr_slots];

		if (cpu == HT_NONE)
			continue;
		s->looks--;
		add_wait(s, cpu);
	}
}

static u32 domain_of(const struct ht_topo *topo, u32 slot)
{
	return topo->llc[topo->word_llc[slot / HT_WORD_BITS]].domain;
}

/* Does @cpu take part in the snapshot, in the root domain of @home (INV-1)? */
static bool in_reach(const struct ht_topo *topo, u32 home, int cpu)
{
	u32 slot = ht_cpu_slot(topo, cpu);

	return slot != HT_NONE &&
		domain_of(topo, slot) == domain_of(topo, home);
}

/**
 * ht_find_waits() - a bounded sample of CPUs for the rule of the shortest wait
 * @snap: snapshot, read under RCU
 * @p: task, its affinity stable
 * @cpu: where it is; the sample stays in its root domain
 * @start_cpu: where to begin, @cpu if it is out of reach
 * @measure: ht_wait_ns() or ht_load_ns()
 * @waits: HT_MAX_WAITS entries
 *
 * All allowed CPUs if they are few, otherwise the neighbourhood of @start_cpu:
 * its LLC, then nearer LLCs first.
 *
 * Return: entries filled.
 */
int ht_find_waits(struct ht_snap *snap, struct task_struct *p, int cpu,
		  int start_cpu, u64 (*measure)(struct rq *rq),
		  struct ht_wait *waits)
{
	const struct ht_topo *topo = &snap->topo;
	u32 home = ht_cpu_slot(topo, cpu), slot, llc, i;
	struct sample s = {
		.p = p, .measure = measure, .waits = waits, .looks = HT_MAX_LOOKS,
	};

	if (home == HT_NONE) {
		add_wait(&s, cpu);
		return s.nr;
	}

	if (p->nr_cpus_allowed <= HT_MAX_WAITS) {
		for_each_cpu(cpu, p->cpus_ptr) {
			if (in_reach(topo, home, cpu))
				add_wait(&s, cpu);
		}
		return s.nr;
	}

	slot = in_reach(topo, home, start_cpu) ? ht_cpu_slot(topo, start_cpu) :
						 home;
	llc = topo->word_llc[slot / HT_WORD_BITS];
	for (i = 0; i < topo->nr_llcs && s.looks > 0; i++) {
		u32 next = topo->llc_order[llc * topo->nr_llcs + i];

		if (topo->llc[next].domain != topo->llc[llc].domain)
			continue;
		add_llc_waits(&s, topo, &topo->llc[next], slot);
	}

	return s.nr;
}

/* What is asked. It has no prices yet; requests are recorded, so all is set. */
static void fill_question(struct ht_request *req, struct task_struct *p,
			  int prev_cpu, int origin_cpu, enum ht_kind kind)
{
	req->kind = kind;
	req->prev_cpu = prev_cpu;
	req->origin_cpu = origin_cpu;
	req->smt = READ_ONCE(sysctl_sched_ht_smt);
	req->prev_is_self = kind == HT_KIND_EXEC &&
		READ_ONCE(cpu_rq(prev_cpu)->nr_running) <= 1;
	req->allowed_all = p->nr_cpus_allowed >= num_possible_cpus() ||
		ht_fault(HT_FAULT_IGNORE_AFFINITY);
	req->allowed = (const u64 *)cpumask_bits(p->cpus_ptr);
	req->nr_allowed = p->nr_cpus_allowed;
	req->nr_waits = 0;
	req->priced = false;
	req->prices = (struct ht_prices){ };
	req->run_ns = 0;
	memset(req->resid_ns, 0, sizeof(req->resid_ns));
	req->waker_cpu = HT_NONE;
	req->pair = 0;
}

static void fill_request(struct ht_request *req, struct ht_snap *snap,
			 struct task_struct *p, int prev_cpu, int origin_cpu,
			 enum ht_kind kind)
{
	fill_question(req, p, prev_cpu, origin_cpu, kind);
	ht_warm_request(snap, p, req);
}

/* Verdicts that name no idle thread: nothing to claim. */
static bool takes_idle_thread(const struct ht_verdict *verdict)
{
	switch (verdict->why) {
	case HT_WHY_PREV_CORE:
	case HT_WHY_IDLE_CORE:
	case HT_WHY_PREV_IDLE:
	case HT_WHY_PREV_SIBLING:
	case HT_WHY_IDLE_THREAD:
	case HT_WHY_WARM:
	case HT_WHY_LIGHT:
	case HT_WHY_PARTNER:
		return true;
	default:
		return false;
	}
}

/*
 * Make the verdict good. If the thread is not idle after all somebody is on
 * the way to it: the claim stays, so that the next try looks elsewhere, and
 * goes when that somebody makes it leave idle.
 */
static bool apply(struct ht_snap *snap, struct task_struct *p,
		  const struct ht_request *req, const struct ht_verdict *verdict)
{
	if (!takes_idle_thread(verdict))
		return true;
	if (req->prev_is_self && verdict->cpu == req->prev_cpu)
		return true;
	if (!ht_claim(snap, verdict->slot, verdict->whole_core))
		return false;
	if (!ht_task_may_use(p, verdict->cpu) || !idle_cpu(verdict->cpu))
		return false;

	ht_claim_settle(p, -1);
	p->ht.claim_cpu = verdict->cpu;
	return true;
}

static void discount(struct ht_request *req, int cpu, u64 ns)
{
	u32 i;

	for (i = 0; i < req->nr_waits; i++) {
		if (req->waits[i].cpu == cpu)
			req->waits[i].wait_ns -= min(req->waits[i].wait_ns, ns);
	}
}

/*
 * Estimates are rough, and no price keeps tasks from changing places for each
 * difference. Who is woken by a waker of SCHED_HT that is about to sleep does not
 * wait for that one; for others prev is as good as what is shorter by no more than
 * the task's own run, of which a small part of a request counts.
 */
static void plain_waits(struct task_struct *p, struct ht_request *req)
{
	unsigned long weight = scale_load_down(p->se.load.weight);

	if (req->kind == HT_KIND_SYNC && in_task() && task_on_ht(current))
		discount(req, smp_processor_id(), current->ht.expect_ns);
	else if (req->kind == HT_KIND_SYNC || req->kind == HT_KIND_WAKEUP)
		discount(req, req->prev_cpu,
			 min_t(u64, p->ht.run_avg_ns, ht_request_ns(weight) / 8));
}

static void add_waits(struct ht_snap *snap, struct task_struct *p,
		      struct ht_request *req, int cpu)
{
	/* The waker's CPU has to be in the sample that it may be the best of. */
	bool at_waker = !req->priced && req->kind == HT_KIND_SYNC;

	req->nr_waits = ht_find_waits(snap, p, cpu,
				      at_waker ? req->origin_cpu : req->prev_cpu,
				      ht_wait_ns, req->waits);
	if (!req->priced)
		plain_waits(p, req);
}

static int decide(struct ht_snap *snap, struct task_struct *p,
		  struct ht_request *req, struct ht_verdict *verdict)
{
	int tries, home = task_allowed_on_cpu(p, req->origin_cpu) ?
		req->origin_cpu : req->prev_cpu;

	/* With nothing idle there is no need to hear that first. */
	if (ht_snap_slot(snap, home) != HT_NONE && !ht_any_idle(snap, home))
		add_waits(snap, p, req, home);
	for (tries = 0; tries < HT_MAX_TRIES; tries++) {
		ht_select(snap, p, req, verdict);
		if (verdict->why == HT_WHY_SHORTEST_WAIT && !req->nr_waits) {
			add_waits(snap, p, req, verdict->cpu);
			ht_select(snap, p, req, verdict);
		}
		if (apply(snap, p, req, verdict))
			break;
	}

	return tries;
}

/* Behind its waker, which is about to sleep. Nothing is claimed: it is busy. */
static void follow(struct ht_snap *snap, struct ht_verdict *verdict)
{
	*verdict = (struct ht_verdict){
		.cpu		= smp_processor_id(),
		.slot		= ht_snap_slot(snap, smp_processor_id()),
		.why		= HT_WHY_FOLLOW,
		.core_ns	= HT_NO_PRICE,
	};
}

static void account(struct ht_snap *snap, struct task_struct *p,
		    const struct ht_request *req,
		    const struct ht_verdict *verdict, int tries)
{
	u32 word = verdict->slot == HT_NONE ? 0 : verdict->slot / HT_WORD_BITS;

	this_cpu_inc(ht_stats.why[verdict->why]);
	this_cpu_inc(ht_stats.kind[req->kind]);
	p->ht.last_why = verdict->why;

	if (!snap->topo.nr_words)
		return;
	trace_sched_ht_select(p, req, verdict,
			      READ_ONCE(snap->word[word].idle),
			      READ_ONCE(snap->word[word].claimed), tries);
}

/**
 * ht_place() - choose a CPU for a task, and claim it if it is idle
 * @p: task; p->pi_lock or its rq lock is held
 * @prev_cpu: where it ran last
 * @origin_cpu: where distance is measured from
 * @kind: why it is asked
 *
 * Return: a CPU. The core still checks that the task may run there.
 */
int ht_place(struct task_struct *p, int prev_cpu, int origin_cpu,
	     enum ht_kind kind)
{
	struct ht_verdict verdict;
	struct ht_request req;
	struct ht_snap *snap;
	int tries = 0;

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	if (!snap)
		return prev_cpu;

	fill_question(&req, p, prev_cpu, origin_cpu, kind);
	if (kind == HT_KIND_SYNC && ht_pair_follows(snap, p, prev_cpu)) {
		follow(snap, &verdict);
	} else {
		ht_warm_request(snap, p, &req);
		tries = decide(snap, p, &req, &verdict);
	}
	account(snap, p, &req, &verdict, tries);

	return verdict.cpu == HT_NONE ? prev_cpu : verdict.cpu;
}

/**
 * ht_place_free_core() - is there a better core for a task that runs?
 * @snap: snapshot, read under RCU
 * @p: task
 * @cpu: where it runs
 * @verdict: the nearest wholly idle core that it may use
 *
 * Return: true if there is one. Nothing is claimed yet.
 */
bool ht_place_free_core(struct ht_snap *snap, struct task_struct *p, int cpu,
			struct ht_verdict *verdict)
{
	struct ht_request req;

	fill_request(&req, snap, p, cpu, cpu, HT_KIND_UNSHARE);

	return ht_free_core(snap, p, &req, verdict);
}

/**
 * ht_place_move_pays() - does a running task gain by a move to an idle core?
 * @snap: snapshot, read under RCU
 * @p: task, its rq lock held
 * @cpu: where it runs
 * @slot: where it would go
 */
bool ht_place_move_pays(struct ht_snap *snap, struct task_struct *p, int cpu,
			u32 slot)
{
	struct ht_request req;

	fill_request(&req, snap, p, cpu, cpu, HT_KIND_UNSHARE);

	return ht_move_pays(snap, p, &req, slot);
}

/* The core picked @cpu for a task that may not stay where it is. */
int __ht_affinity_cpu(struct task_struct *p, int cpu)
{
	if (p->nr_cpus_allowed == 1 || is_migration_disabled(p) ||
	    cpumask_test_cpu(task_cpu(p), p->cpus_ptr))
		return cpu;
	/* A task that sleeps is placed when it wakes up. */
	if (!task_on_rq_queued(p) && !task_on_cpu(task_rq(p), p))
		return cpu;

	return ht_place(p, cpu, task_cpu(p), HT_KIND_AFFINITY);
}

/* @p can't stay on @cpu, which goes offline or is no longer allowed. */
int __ht_fallback_cpu(struct task_struct *p, int cpu)
{
	int dst = cpumask_any_and(p->cpus_ptr, cpu_active_mask);

	if (dst >= nr_cpu_ids || is_migration_disabled(p))
		return -1;

	return ht_place(p, dst, dst, HT_KIND_HOTPLUG);
}
