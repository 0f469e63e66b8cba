/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: the one place that knows about differences between kernels.
 *
 * Base: 6.12. Each entry says which kernel needs it and when it can go.
 */
#ifndef _KERNEL_SCHED_HT_COMPAT_H
#define _KERNEL_SCHED_HT_COMPAT_H

/* 6.12: tasks of the fair class that can run; 7.x counts the same way. */
static inline unsigned int ht_nr_fair(const struct rq *rq)
{
	return rq->cfs.h_nr_runnable;
}

/* 6.12: sched_ext is one flag and one counter in struct rq; as in 7.x. */
static inline unsigned int ht_nr_ext(const struct rq *rq)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	if (scx_enabled())
		return rq->scx.nr_running;
#endif
	return 0;
}

/*
 * While not all tasks are sched_ext's (it is being disabled, or took over some
 * only), fair balances before it, says yes where ext tasks wait, and would end
 * the pass before theirs: they would not be picked, and the CPU idle for ever.
 */
static inline void ht_balance_ext(struct rq *rq, struct task_struct *prev,
				  struct rq_flags *rf)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	if (scx_enabled() && !scx_switched_all())
		ext_sched_class.balance(rq, prev, rf);
#endif
}

/* Core scheduling keeps a thread of this CPU's core idle though it has tasks. */
static inline bool ht_core_forces_idle(const struct rq *rq)
{
#ifdef CONFIG_SCHED_CORE
	return sched_core_enabled((struct rq *)rq) &&
		rq->core->core_forceidle_count;
#else
	return false;
#endif
}

/* Without SMT a CPU is a core. */
static inline const struct cpumask *ht_smt_mask(int cpu)
{
#ifdef CONFIG_SCHED_SMT
	return cpu_smt_mask(cpu);
#else
	return cpumask_of(cpu);
#endif
}

#endif /* _KERNEL_SCHED_HT_COMPAT_H */
