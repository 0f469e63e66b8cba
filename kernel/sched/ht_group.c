// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: who may be SCHED_HT, and who has to leave it.
 *
 * A SCHED_HT task weighs what it would in the root group, and the class has no
 * quota pool: in a group it would escape cpu.weight, under a limit cpu.max. So
 * nobody may be SCHED_HT under a limit, and outside the root group (or in an
 * autogroup) only those with CAP_SYS_NICE.
 *
 * A task can get into that position later: by a move, by a limit written to its
 * group or to one above it, by fork. Then it becomes SCHED_NORMAL and keeps its
 * nice value. No such event is lost, since each writer makes its change visible
 * before it looks for tasks, and each task is looked at under its rq lock:
 *
 *   sched_setattr()	tests under the rq lock; a limit that is written later
 *			finds the task when its writer walks the group
 *   quota write	the limit is visible, then the tasks of all descendants
 *			are walked
 *   move		the new group is set, then the task is tested
 *   fork		the child is visible in its group, then it is tested
 *			ahead of its first wakeup
 */
#include "ht_internal.h"

#include <linux/cgroup.h>

#include "autogroup.h"

/* Why a task has to leave, in the order of enum ht_stat. */
enum leave {
	LEAVE_NOT,
	LEAVE_CPU_MAX,
	LEAVE_GROUP,
	LEAVE_DISABLED,
};

static bool in_root_group(struct task_struct *p)
{
#ifdef CONFIG_CGROUP_SCHED
	return task_group(p) == &root_task_group;
#else
	return true;
#endif
}

/**
 * ht_user_get() - sched_setattr() begins: be ready if it asks for SCHED_HT
 * @policy: what it asks for
 * @user: asked by a user rather than the kernel
 *
 * May sleep. To be undone by ht_user_put().
 *
 * Return: HT_USER_* bits, or a negative error.
 */
int ht_user_get(int policy, bool user)
{
	int err;

	if (!ht_policy(policy))
		return HT_USER_NONE;

	err = ht_get();
	if (err)
		return err;
	/* Whether it matters is known later, under a lock that forbids audit. */
	if (!user || has_capability_noaudit(current, CAP_SYS_NICE))
		return HT_USER_REF | HT_USER_PRIVILEGED;

	return HT_USER_REF;
}

/**
 * ht_user_put() - sched_setattr() ends
 * @ref: what ht_user_get() returned
 */
void ht_user_put(int ref)
{
	if (ref > 0 && (ref & HT_USER_REF))
		__ht_put();
}

/**
 * ht_user_may() - may it be SCHED_HT without a privilege?
 * @p: task
 * @policy: what is asked for it
 *
 * Racy; ht_check_setscheduler() looks again under the lock.
 */
bool ht_user_may(struct task_struct *p, int policy)
{
	return !ht_policy(policy) || task_has_ht_policy(p) || in_root_group(p);
}

/**
 * ht_check_setscheduler() - may this task be SCHED_HT?
 * @p: task, its rq lock held
 * @policy: what is asked for it
 * @ref: what ht_user_get() returned
 *
 * Return: 0, -EPERM where it would escape its group, -EOPNOTSUPP while the
 * class is switched off, or what kept the class from being switched on.
 */
int ht_check_setscheduler(struct task_struct *p, int policy, int ref)
{
	bool is_ht = task_has_ht_policy(p);

	lockdep_assert_held(&p->pi_lock);

	if (!ht_policy(policy))
		return 0;
	if (ref < 0)
		return ref;
	if (!READ_ONCE(sysctl_sched_ht_enabled))
		return -EOPNOTSUPP;
	if (cfs_task_bw_constrained(p))
		return -EPERM;
	if (!is_ht && !(ref & HT_USER_PRIVILEGED) && !in_root_group(p))
		return -EPERM;

	if (!is_ht || (ref & HT_USER_PRIVILEGED))
		p->ht.privileged = ref & HT_USER_PRIVILEGED;
	return 0;
}

/**
 * ht_set_policy() - a task's policy is about to change
 * @p: task, its rq lock held, p->policy still the old one
 * @policy: the new one
 *
 * Keeps the references. The caller holds one if the new policy is SCHED_HT.
 */
void ht_set_policy(struct task_struct *p, int policy)
{
	if (ht_policy(policy) == task_has_ht_policy(p))
		return;

	if (ht_policy(policy))
		ht_get_again();
	else
		__ht_put();
}

/* The rq lock of @p is held. */
static enum leave must_leave(struct task_struct *p)
{
	if (!task_has_ht_policy(p))
		return LEAVE_NOT;
	if (cfs_task_bw_constrained(p))
		return LEAVE_CPU_MAX;
	if (!p->ht.privileged && !in_root_group(p))
		return LEAVE_GROUP;
	if (!READ_ONCE(sysctl_sched_ht_enabled))
		return LEAVE_DISABLED;

	return LEAVE_NOT;
}

/* @p is not queued. Its nice value and a boost by priority inheritance stay. */
static const struct sched_class *change_policy(struct task_struct *p)
{
	const struct sched_class *prev_class = p->sched_class;

	ht_set_policy(p, SCHED_NORMAL);
	p->policy = SCHED_NORMAL;
	p->sched_class = __setscheduler_class(p->policy, p->prio);

	return prev_class;
}

static void leave_class(struct rq *rq, struct task_struct *p)
{
	int flags = DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK;
	bool queued = task_on_rq_queued(p), running = task_current(rq, p);
	const struct sched_class *prev_class;

	if (queued)
		dequeue_task(rq, p, flags);
	if (running)
		put_prev_task(rq, p);

	prev_class = change_policy(p);
	check_class_changing(rq, p, prev_class);

	if (queued)
		enqueue_task(rq, p, flags);
	if (running)
		set_next_task(rq, p);

	/* The first wakeup attaches a new task to the load of its class. */
	if (READ_ONCE(p->__state) != TASK_NEW)
		check_class_changed(rq, p, prev_class, p->prio);
}

static void count_leave(enum leave leave)
{
	if (leave == LEAVE_CPU_MAX)
		ht_count(DEMOTED_CPU_MAX);
	else if (leave == LEAVE_GROUP)
		ht_count(DEMOTED_GROUP);
	else
		ht_count(DEMOTED_DISABLED);
}

/* No rq lock is held, nor p->pi_lock: printing may wake somebody up. */
static void report(struct task_struct *p, enum leave leave)
{
	static DEFINE_RATELIMIT_STATE(limit, DEFAULT_RATELIMIT_INTERVAL,
				      DEFAULT_RATELIMIT_BURST);
	const char *why = leave == LEAVE_CPU_MAX ? "is under a CPU limit" :
		leave == LEAVE_GROUP ? "is outside the root group" :
		"asked for a policy that is switched off";
	char path[128] = "-";

	if (!__ratelimit(&limit))
		return;

#ifdef CONFIG_CGROUP_SCHED
	scoped_guard(rcu) {
		struct cgroup *cgrp = task_group(p)->css.cgroup;

		if (task_group_is_autogroup(task_group(p)))
			strscpy(path, "autogroup");
		else if (cgrp)
			cgroup_path(cgrp, path, sizeof(path));
	}
#endif
	pr_info("sched_ht: %d (%s) in cgroup %s %s: now SCHED_NORMAL\n",
		task_pid_nr(p), p->comm, path, why);
}

/* Make @p SCHED_NORMAL if it may no longer be SCHED_HT. */
void __ht_check_task(struct task_struct *p)
{
	struct balance_callback *head;
	enum leave leave;
	struct rq_flags rf;
	struct rq *rq;

	rq = task_rq_lock(p, &rf);
	leave = must_leave(p);
	if (!leave) {
		task_rq_unlock(rq, p, &rf);
		return;
	}

	update_rq_clock(rq);
	leave_class(rq, p);
	count_leave(leave);

	preempt_disable();
	head = splice_balance_callbacks(rq);
	task_rq_unlock(rq, p, &rf);
	balance_callbacks(rq, head);
	preempt_enable();

	report(p, leave);
}

/*
 * fork: may the child be SCHED_HT as its parent is? It is not visible yet.
 * The child takes a reference, or becomes SCHED_NORMAL.
 */
bool __ht_fork(struct task_struct *p)
{
	if (READ_ONCE(sysctl_sched_ht_enabled) && ht_get_live())
		return true;

	p->policy = SCHED_NORMAL;
	return false;
}

/* The limit of @tg was written: it, or one below, may be under a limit now. */
void __ht_quota_changed(struct task_group *tg)
{
#ifdef CONFIG_CGROUP_SCHED
	struct cgroup_subsys_state *css;
	struct css_task_iter it;
	struct task_struct *p;

	guard(rcu)();
	css_for_each_descendant_pre(css, &tg->css) {
		css_task_iter_start(css, 0, &it);
		while ((p = css_task_iter_next(&it)))
			ht_check_task(p);
		css_task_iter_end(&it);
	}
#endif
}

/**
 * ht_demote_all() - the class was switched off: every task leaves it
 *
 * A task that is forked meanwhile sees the switch ahead of its first wakeup.
 */
void ht_demote_all(void)
{
	struct task_struct *g, *p;

	guard(read_lock)(&tasklist_lock);
	for_each_process_thread(g, p)
		ht_check_task(p);
}
