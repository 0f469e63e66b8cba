/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: what the core scheduler calls. Included by sched.h.
 *
 * Each hook is one call. While no SCHED_HT task is alive a static key keeps it
 * at one branch that is patched out; with the option off it is nothing at all.
 */
#ifndef _KERNEL_SCHED_HT_HOOKS_H
#define _KERNEL_SCHED_HT_HOOKS_H

extern const struct sched_class ht_sched_class;

#ifdef CONFIG_SCHED_HT_AWARE

/* Result of ht_user_get(): a reference, and who asks for it. */
#define HT_USER_NONE		0
#define HT_USER_REF		1
#define HT_USER_PRIVILEGED	2

DECLARE_STATIC_KEY_FALSE(ht_active_key);
#define ht_active()	static_branch_unlikely(&ht_active_key)

void __ht_idle_enter(struct rq *rq);
void __ht_idle_exit(struct rq *rq);
void __ht_sched_switch(struct rq *rq, struct task_struct *prev,
		       struct task_struct *next);
void __ht_sched_tick(struct rq *rq);
void __ht_wakeup_low(struct rq *rq, struct task_struct *p);
bool __ht_alone(struct rq *rq);
struct task_struct *ht_pick_alone(struct rq *rq);
struct task_struct *__ht_pick_again(struct rq *rq, struct task_struct *idle);
bool __ht_can_stop_tick(struct rq *rq);
unsigned long __ht_fair_capacity(struct rq *rq, unsigned long capacity);
int __ht_affinity_cpu(struct task_struct *p, int cpu);
int __ht_fallback_cpu(struct task_struct *p, int cpu);
void __ht_check_task(struct task_struct *p);
void __ht_quota_changed(struct task_group *tg);
void __ht_topology_update(void);
bool __ht_fork(struct task_struct *p);
void __ht_put(void);

int ht_user_get(int policy, bool user);
void ht_user_put(int ref);
int ht_check_setscheduler(struct task_struct *p, int policy, int ref);
void ht_set_policy(struct task_struct *p, int policy);
bool ht_user_may(struct task_struct *p, int policy);
bool __ht_prio_by_wait(const struct task_struct *a, const struct task_struct *b);
bool ht_prio_less(const struct task_struct *a, const struct task_struct *b);
u64 ht_slice_ns(const struct task_struct *p);
void ht_show_task(struct task_struct *p, struct seq_file *m);
void ht_init_entity(struct task_struct *p);
void init_ht_rq(struct rq *rq);

static inline void ht_idle_enter(struct rq *rq)
{
	if (ht_active())
		__ht_idle_enter(rq);
}

static inline void ht_idle_exit(struct rq *rq)
{
	if (ht_active())
		__ht_idle_exit(rq);
}

static inline void ht_sched_switch(struct rq *rq, struct task_struct *prev,
				   struct task_struct *next)
{
	if (ht_active())
		__ht_sched_switch(rq, prev, next);
}

static inline void ht_sched_tick(struct rq *rq)
{
	if (ht_active())
		__ht_sched_tick(rq);
}

/* A task of a class below SCHED_HT became runnable while one of it runs. */
static inline void ht_wakeup_low(struct rq *rq, struct task_struct *p)
{
	if (ht_active())
		__ht_wakeup_low(rq, p);
}

/* Can ht_pick_alone() pick, since only SCHED_HT tasks are runnable? */
static inline bool ht_alone(struct rq *rq)
{
	return ht_active() && __ht_alone(rq);
}

static inline bool ht_prio_by_wait(const struct task_struct *a,
				   const struct task_struct *b)
{
	return ht_active() && __ht_prio_by_wait(a, b);
}

/* Before the idle task is accepted: does a SCHED_HT task wait (INV-3)? */
static inline struct task_struct *ht_pick_again(struct rq *rq,
						struct task_struct *p)
{
	return ht_active() && p == rq->idle ? __ht_pick_again(rq, p) : p;
}

/*
 * Where the balancing of all classes has to start. The order of classes is that
 * of their addresses; sched_class_above() is defined further down in sched.h.
 */
static inline const struct sched_class *
ht_balance_from(const struct sched_class *start)
{
	return ht_active() && start > &ht_sched_class ? &ht_sched_class : start;
}

static inline bool ht_can_stop_tick(struct rq *rq)
{
	return !ht_active() || __ht_can_stop_tick(rq);
}

static inline bool ht_runnable(struct rq *rq)
{
	return ht_active() && rq->ht.queue.nr;
}

static inline unsigned long ht_fair_capacity(struct rq *rq,
					     unsigned long capacity)
{
	return ht_active() ? __ht_fair_capacity(rq, capacity) : capacity;
}

static inline int ht_affinity_cpu(struct task_struct *p, int cpu)
{
	return ht_active() && task_has_ht_policy(p) ?
		__ht_affinity_cpu(p, cpu) : cpu;
}

/* Return: a CPU for @p, which can't stay on @cpu, or -1 for "ask the core". */
static inline int ht_fallback_cpu(struct task_struct *p, int cpu)
{
	return ht_active() && task_has_ht_policy(p) ?
		__ht_fallback_cpu(p, cpu) : -1;
}

static inline bool ht_fork(struct task_struct *p)
{
	return task_has_ht_policy(p) && __ht_fork(p);
}

static inline void ht_cancel_fork(struct task_struct *p)
{
	if (task_has_ht_policy(p))
		__ht_put();
}

static inline void ht_reset_on_fork(struct task_struct *p)
{
	if (task_has_ht_policy(p))
		p->policy = SCHED_NORMAL;
}

/*
 * A child is about to wake up for the first time, or a task was moved to
 * another group, or to or from an autogroup: may it still be SCHED_HT?
 */
static inline void ht_check_task(struct task_struct *p)
{
	if (task_has_ht_policy(p))
		__ht_check_task(p);
}

static inline void ht_quota_changed(struct task_group *tg)
{
	if (ht_active())
		__ht_quota_changed(tg);
}

static inline void ht_topology_update(void)
{
	if (ht_active())
		__ht_topology_update();
}

static inline bool ht_class_skipped(const struct sched_class *class)
{
	return !ht_active() && class == &ht_sched_class;
}

#else /* !CONFIG_SCHED_HT_AWARE */

static inline void ht_idle_enter(struct rq *rq) { }
static inline void ht_idle_exit(struct rq *rq) { }
static inline void ht_sched_switch(struct rq *rq, struct task_struct *prev,
				   struct task_struct *next) { }
static inline void ht_sched_tick(struct rq *rq) { }
static inline void ht_wakeup_low(struct rq *rq, struct task_struct *p) { }
static inline bool ht_alone(struct rq *rq) { return false; }
static inline struct task_struct *ht_pick_alone(struct rq *rq) { return NULL; }
/* Macros where a value passes through: an inline's copy changes the code. */
#define ht_pick_again(rq, p)	((void)(rq), (p))
#define ht_balance_from(start)	(start)

static inline bool ht_active(void) { return false; }
static inline bool ht_can_stop_tick(struct rq *rq) { return true; }
static inline bool ht_runnable(struct rq *rq) { return false; }
static inline unsigned long ht_fair_capacity(struct rq *rq,
					     unsigned long capacity)
{
	return capacity;
}

static inline int ht_affinity_cpu(struct task_struct *p, int cpu)
{
	return cpu;
}

static inline int ht_fallback_cpu(struct task_struct *p, int cpu)
{
	return -1;
}

static inline bool ht_fork(struct task_struct *p) { return false; }
static inline void ht_cancel_fork(struct task_struct *p) { }
static inline void ht_reset_on_fork(struct task_struct *p) { }
static inline void ht_check_task(struct task_struct *p) { }
static inline void ht_quota_changed(struct task_group *tg) { }
static inline void ht_topology_update(void) { }
static inline bool ht_class_skipped(const struct sched_class *class)
{
	return false;
}

static inline int ht_user_get(int policy, bool user) { return 0; }
static inline void ht_user_put(int ref) { }
static inline int ht_check_setscheduler(struct task_struct *p, int policy,
					int ref)
{
	return 0;
}

static inline void ht_set_policy(struct task_struct *p, int policy) { }
static inline bool ht_user_may(struct task_struct *p, int policy)
{
	return true;
}

static inline bool ht_prio_by_wait(const struct task_struct *a,
				   const struct task_struct *b)
{
	return false;
}

static inline bool ht_prio_less(const struct task_struct *a,
				const struct task_struct *b)
{
	return false;
}

static inline u64 ht_slice_ns(const struct task_struct *p)
{
	return p->se.slice;
}

static inline void ht_show_task(struct task_struct *p, struct seq_file *m) { }
static inline void ht_init_entity(struct task_struct *p) { }
static inline void init_ht_rq(struct rq *rq) { }

#endif /* CONFIG_SCHED_HT_AWARE */

DEFINE_CLASS(ht_user, int, ht_user_put(_T), ht_user_get(policy, user),
	     int policy, bool user)

#endif /* _KERNEL_SCHED_HT_HOOKS_H */
