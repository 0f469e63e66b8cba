/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched_ht

#if !defined(_TRACE_SCHED_HT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SCHED_HT_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

/* Numbers are those of enum ht_kind, ht_why and ht_move; append only. */
#define show_ht_kind(kind)						\
	__print_symbolic(kind,						\
		{ 0, "wakeup" }, { 1, "sync" }, { 2, "fork" },		\
		{ 3, "exec" }, { 4, "affinity" }, { 5, "class" },	\
		{ 6, "hotplug" }, { 7, "unshare" })

#define show_ht_why(why)						\
	__print_symbolic(why,						\
		{ 0, "none" }, { 1, "pinned" }, { 2, "prev_core" },	\
		{ 3, "idle_core" }, { 4, "prev_idle" },			\
		{ 5, "prev_sibling" }, { 6, "idle_thread" },		\
		{ 7, "sched_idle" }, { 8, "shortest_wait" },		\
		{ 9, "no_topology" })

#define show_ht_move(move)						\
	__print_symbolic(move,						\
		{ 0, "unshare" }, { 1, "pull" }, { 2, "push" },		\
		{ 3, "rover" })

/*
 * sched_ht_select - SCHED_HT decided where a task goes
 *
 * What it was asked, the words that it saw of the CPU it measured from and of
 * the CPU it chose, and what came out. @tries is how often a choice was lost to
 * somebody else first.
 */
TRACE_EVENT(sched_ht_select,

	TP_PROTO(struct task_struct *p, const struct ht_request *req,
		 const struct ht_verdict *verdict, u64 idle, u64 claimed,
		 int tries),

	TP_ARGS(p, req, verdict, idle, claimed, tries),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(int,	kind)
		__field(int,	prev_cpu)
		__field(int,	origin_cpu)
		__field(int,	cpu)
		__field(int,	why)
		__field(int,	distance)
		__field(int,	tries)
		__field(bool,	whole_core)
		__field(bool,	smt)
		__field(bool,	allowed_all)
		__field(u64,	idle)
		__field(u64,	claimed)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->kind		= req->kind;
		__entry->prev_cpu	= req->prev_cpu;
		__entry->origin_cpu	= req->origin_cpu;
		__entry->cpu		= verdict->cpu;
		__entry->why		= verdict->why;
		__entry->distance	= verdict->distance;
		__entry->tries		= tries;
		__entry->whole_core	= verdict->whole_core;
		__entry->smt		= req->smt;
		__entry->allowed_all	= req->allowed_all;
		__entry->idle		= idle;
		__entry->claimed	= claimed;
	),

	TP_printk("comm=%s pid=%d kind=%s prev_cpu=%d origin_cpu=%d cpu=%d why=%s whole_core=%d distance=%d tries=%d smt=%d allowed_all=%d idle_word=%llx claimed_word=%llx",
		  __entry->comm, __entry->pid, show_ht_kind(__entry->kind),
		  __entry->prev_cpu, __entry->origin_cpu, __entry->cpu,
		  show_ht_why(__entry->why), __entry->whole_core,
		  __entry->distance, __entry->tries, __entry->smt,
		  __entry->allowed_all, __entry->idle, __entry->claimed)
);

/*
 * sched_ht_migrate - SCHED_HT moved a task that did not wake up
 */
TRACE_EVENT(sched_ht_migrate,

	TP_PROTO(struct task_struct *p, int src_cpu, int dst_cpu, int move),

	TP_ARGS(p, src_cpu, dst_cpu, move),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(int,	src_cpu)
		__field(int,	dst_cpu)
		__field(int,	move)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->src_cpu	= src_cpu;
		__entry->dst_cpu	= dst_cpu;
		__entry->move		= move;
	),

	TP_printk("comm=%s pid=%d src_cpu=%d dst_cpu=%d why=%s",
		  __entry->comm, __entry->pid, __entry->src_cpu,
		  __entry->dst_cpu, show_ht_move(__entry->move))
);

#endif /* _TRACE_SCHED_HT_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
