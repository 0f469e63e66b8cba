/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: what it keeps for each CPU. Included by sched.h ahead of struct rq.
 */
#ifndef _KERNEL_SCHED_HT_RQ_H
#define _KERNEL_SCHED_HT_RQ_H

#ifdef CONFIG_SCHED_HT_AWARE

/* Bits of the per-LLC words as this CPU last wrote them, see ht_idle.c. */
#define HT_BIT_IDLE	0x1	/* runs its idle task */
#define HT_BIT_RUN	0x2	/* runs a SCHED_HT task */
#define HT_BIT_WAIT	0x4	/* a SCHED_HT task waits here */
#define HT_BIT_LIGHT	0x8	/* runs what loses little by a busy neighbour */

/**
 * struct ht_queue - EEVDF queue of one CPU
 * @timeline:    queued entities by deadline, without the running one
 * @curr:        the running entity, NULL while another class runs
 * @next:        entity that the running one hands over to, or NULL
 * @nr:          entities, @curr included
 * @weight:      sum of their weights
 * @expect_ns:   sum of what they are expected to run
 * @base:        reference of the sums, in virtual ns
 * @sum_wv:      sum of weight x (vruntime - @base)
 *
 * Protected by the rq lock.
 */
struct ht_queue {
	struct rb_root_cached	timeline;
	struct sched_ht_entity	*curr;
	struct sched_ht_entity	*next;
	unsigned int		nr;
	unsigned long		weight;
	u64			expect_ns;
	u64			base;
	s64			sum_wv;
};

/**
 * struct ht_share - who of SCHED_HT and the classes below it is to run
 * @lag_ns:      service that SCHED_HT is owed, negative if the low side is
 * @stamp_ns:    rq_clock_task() up to which time has been charged
 * @low_weight:  of the low side at the last charge while it had tasks
 * @aside_ns:    what it is owed besides, and not paid by @guest
 * @guest:       pid of the fair task that has the turn on its own account, or 0
 * @guest_waits: it has not run since then
 * @low_turn:    it is the low side's turn; pick_task_ht() only reads it
 * @contended:   both sides had runnable tasks at the last charge
 *
 * Protected by the rq lock.
 */
struct ht_share {
	s64			lag_ns;
	u64			stamp_ns;
	s64			aside_ns;
	unsigned long		low_weight;
	pid_t			guest;
	bool			guest_waits;
	bool			low_turn;
	bool			contended;
};

/**
 * struct ht_rq - SCHED_HT's part of struct rq
 * @queue:       tasks of the class
 * @share:       proportional sharing with the classes below
 * @avg:         utilisation by the class, as avg_rt and avg_dl are
 * @nr_pinned:   tasks in @queue that may run on this CPU only
 * @bits:        HT_BIT_*, what this CPU last wrote into the snapshot's words
 * @want_push:   the next balance shall look for a better CPU for a waiting task
 * @push_task:   task that @push_work is to push, with a reference
 * @push_work:   pushes it to its sched_ht_entity::push_cpu
 * @beside_work: looks for a better core for a task that just started here
 * @idle_work:   looks for a task to take over when the core became idle
 * @rover_tick:  jiffies of the next look at queue imbalance
 *
 * Protected by the rq lock; @bits and sums of @queue are read without it by
 * decisions, which re-check.
 */
struct ht_rq {
	struct ht_queue		queue;
	struct ht_share		share;
	struct sched_avg	avg;
	unsigned int		nr_pinned;
	unsigned int		bits;
	bool			want_push;
	struct task_struct	*push_task;
	struct balance_callback	push_work;
	struct balance_callback	beside_work;
	struct balance_callback	idle_work;
	unsigned long		rover_tick;
};

#endif /* CONFIG_SCHED_HT_AWARE */
#endif /* _KERNEL_SCHED_HT_RQ_H */
