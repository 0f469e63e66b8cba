/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: what the rest of the kernel sees of it.
 *
 * Documentation/scheduler/sched-ht.rst tells what the class does,
 * sched-ht-design.rst how.
 */
#ifndef _LINUX_SCHED_HT_H
#define _LINUX_SCHED_HT_H

#include <linux/rbtree_types.h>
#include <linux/types.h>

/* Cache levels of the estimate: core, LLC, node. */
#define HT_NR_LEVELS	3

/**
 * struct ht_warmth - what a task has in caches, as of when it last stopped
 * @core_clock:    run clock of its core then, see kernel/sched/ht_warm.c
 * @llc_clock:     run clock of its LLC then
 * @exec_ns:       its own run time then
 * @resid_ns:      by level: run time whose data is still there, saturating
 * @gen:           generation of the topology that the clocks belong to
 * @cpu:           where it ran, -1: nothing is warm anywhere
 *
 * Written under the rq lock of the CPU that the task leaves.
 */
struct ht_warmth {
	u64			core_clock;
	u64			llc_clock;
	u64			exec_ns;
	u32			resid_ns[HT_NR_LEVELS];
	u32			gen;
	int			cpu;
};

/**
 * struct sched_ht_entity - what SCHED_HT keeps in each task
 * @run_node:      in the queue of its CPU, by @deadline; the running task is
 *                 not in the tree
 * @deadline:      virtual deadline of the present request, in virtual ns
 * @vruntime:      virtual run time, in virtual ns of the CPU it is queued on
 * @min_vruntime:  least @vruntime in the subtree below @run_node
 * @vlag:          service owed to it when it was last dequeued, virtual ns;
 *                 kept over sleep and migration
 * @sleep_stamp_ns: rq clock when it went to sleep, 0 if it did not
 * @wake_exec_ns:  its run time when it last woke up
 * @run_avg_ns:    decayed average of its run per wakeup
 * @sleep_avg_ns:  decayed average of its sleep
 * @warm:          what it has in caches
 * @waker:         pid of who woke it last
 * @pair:          how many times in a row that was so, saturating
 * @sync_exec_ns:  its run time when it last woke its partner up and said that
 *                 it was about to sleep, 0 if it did not since it woke up
 * @tail_avg_ns:   decayed average of its run from then until it sleeps; or until it
 *                 wakes its partner up again, and a slice
 * @weight:        load weight that its accounting uses, as nice gives it
 * @expect_ns:     run that is expected of it, one request at most; part of the sum
 *                 of the queue that it is in
 * @debt_ns:       what SCHED_HT was owed on its CPU when it went to sleep there
 *                 as a task of a class below, which it is to pay (ht_share.c)
 * @debt_clock_ns: rq_clock_task() of that CPU then
 * @debt_cpu:      that CPU
 * @claim_cpu:     CPU with a claim in this task's name, -1 if none
 * @push_cpu:      CPU that it is about to be pushed to, -1 if none
 * @unshare_ns:    local_clock() at its last un-sharing, for the rate limit
 * @beside_tick:   jiffies since when it runs beside a busy thread although a
 *                 core is free (checker of INV-2), 0 if it does not
 * @nr_unshared:   times it left a shared core for a free one
 * @nr_pulled:     times a CPU that went idle took it
 * @last_why:      enum ht_why of its last placement
 * @on_rq:         queued or running in this class
 * @keep_deadline: @deadline is relative to @vruntime, to be restored
 * @privileged:    was made SCHED_HT with CAP_SYS_NICE, so it may stay in a
 *                 group where others may not
 *
 * Written under the rq lock of the CPU that the task is on, but for
 * @claim_cpu, @last_why, @waker and @pair, which the waker writes under
 * p->pi_lock while the task is not queued, and @sync_exec_ns, which the running
 * task writes itself. All of it but for the debt is inert in a task of another
 * policy.
 */
struct sched_ht_entity {
	struct rb_node		run_node;
	u64			deadline;
	u64			vruntime;
	u64			min_vruntime;
	s64			vlag;
	u64			sleep_stamp_ns;
	u64			wake_exec_ns;
	u32			run_avg_ns;
	u32			sleep_avg_ns;
	struct ht_warmth	warm;
	pid_t			waker;
	unsigned char		pair;
	u32			tail_avg_ns;
	u64			sync_exec_ns;
	unsigned long		weight;
	u32			expect_ns;
	u32			debt_ns;
	u64			debt_clock_ns;
	int			debt_cpu;
	int			claim_cpu;
	int			push_cpu;
	u64			unshare_ns;
	unsigned long		beside_tick;
	unsigned int		nr_unshared;
	unsigned int		nr_pulled;
	unsigned char		last_why;
	bool			on_rq;
	bool			keep_deadline;
	bool			privileged;
};

#endif /* _LINUX_SCHED_HT_H */
