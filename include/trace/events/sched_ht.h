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
		{ 9, "no_topology" }, { 10, "warm" }, { 11, "light" },	\
		{ 12, "partner" }, { 13, "follow" })

#define show_ht_move(move)						\
	__print_symbolic(move,						\
		{ 0, "unshare" }, { 1, "pull" }, { 2, "push" },		\
		{ 3, "rover" })

/*
 * sched_ht_select - SCHED_HT decided where a task goes
 *
 * What it was asked, the words that it saw of the CPU it measured from and of
 * the CPU it chose, and what came out. @tries is how often a choice was lost to
 * somebody else first. With @priced, what the chosen CPU costs, term by term,
 * and what the cheapest wholly idle core would have cost that was looked at.
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
		__field(bool,	priced)
		__field(u64,	run_ns)
		__field(u64,	share_ns)
		__field(u64,	move_ns)
		__field(u64,	apart_ns)
		__field(u64,	wait_ns)
		__field(s64,	core_ns)
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
		__entry->priced		= req->priced;
		__entry->run_ns		= req->run_ns;
		__entry->share_ns	= verdict->price.share_ns;
		__entry->move_ns	= verdict->price.move_ns;
		__entry->apart_ns	= verdict->price.apart_ns;
		__entry->wait_ns	= verdict->price.wait_ns;
		__entry->core_ns	= verdict->core_ns;
	),

	TP_printk("comm=%s pid=%d kind=%s prev_cpu=%d origin_cpu=%d cpu=%d why=%s whole_core=%d distance=%d tries=%d smt=%d allowed_all=%d idle_word=%llx claimed_word=%llx priced=%d run_ns=%llu share_ns=%llu move_ns=%llu apart_ns=%llu wait_ns=%llu core_ns=%lld",
		  __entry->comm, __entry->pid, show_ht_kind(__entry->kind),
		  __entry->prev_cpu, __entry->origin_cpu, __entry->cpu,
		  show_ht_why(__entry->why), __entry->whole_core,
		  __entry->distance, __entry->tries, __entry->smt,
		  __entry->allowed_all, __entry->idle, __entry->claimed,
		  __entry->priced, __entry->run_ns, __entry->share_ns,
		  __entry->move_ns, __entry->apart_ns, __entry->wait_ns,
		  __entry->core_ns)
);

/*
 * sched_ht_decision - all that a decision of SCHED_HT was made from (INV-9)
 *
 * With the topology (htctl topology --describe) this is enough to decide again:
 * ht-replay does. The words are those that were decided on, copied beforehand,
 * with void claims left out; three of them for each word of the topology. On
 * machines of more than HT_STILL_WORDS words there are no such events.
 */
TRACE_EVENT(sched_ht_decision,

	TP_PROTO(struct task_struct *p, const struct ht_topo *topo,
		 const struct ht_state *st, const struct ht_request *req,
		 int call, u32 slot, const struct ht_verdict *verdict),

	TP_ARGS(p, topo, st, req, call, slot, verdict),

	TP_STRUCT__entry(
		__field(pid_t,	pid)
		__field(int,	call)
		__field(int,	slot)
		__field(int,	kind)
		__field(int,	prev_cpu)
		__field(int,	origin_cpu)
		__field(bool,	smt)
		__field(bool,	prev_is_self)
		__field(bool,	allowed_all)
		__field(int,	nr_allowed)
		__field(bool,	priced)
		__field(u64,	run_ns)
		__field(int,	waker_cpu)
		__field(int,	pair)
		__array(u32,	resid, HT_NR_LEVELS)
		__array(u32,	prices, HT_NR_PRICES)
		__field(int,	cpu)
		__field(int,	why)
		__field(u64,	share_ns)
		__field(u64,	move_ns)
		__field(u64,	apart_ns)
		__field(u64,	wait_ns)
		__field(s64,	core_ns)
		__dynamic_array(u64,	allowed, ht_allowed_words(topo, req))
		__dynamic_array(u64,	words, 3 * topo->nr_words)
		__dynamic_array(u64,	waits, 2 * req->nr_waits)
	),

	TP_fast_assign(
		__entry->pid		= p->pid;
		__entry->call		= call;
		__entry->slot		= slot;
		__entry->kind		= req->kind;
		__entry->prev_cpu	= req->prev_cpu;
		__entry->origin_cpu	= req->origin_cpu;
		__entry->smt		= req->smt;
		__entry->prev_is_self	= req->prev_is_self;
		__entry->allowed_all	= req->allowed_all;
		__entry->nr_allowed	= req->nr_allowed;
		__entry->priced		= req->priced;
		__entry->run_ns		= req->run_ns;
		__entry->waker_cpu	= req->waker_cpu;
		__entry->pair		= req->pair;
		memcpy(__entry->resid, req->resid_ns, sizeof(req->resid_ns));
		memcpy(__entry->prices, &req->prices, sizeof(req->prices));
		__entry->cpu		= verdict->cpu;
		__entry->why		= verdict->why;
		__entry->share_ns	= verdict->price.share_ns;
		__entry->move_ns	= verdict->price.move_ns;
		__entry->apart_ns	= verdict->price.apart_ns;
		__entry->wait_ns	= verdict->price.wait_ns;
		__entry->core_ns	= verdict->core_ns;
		memcpy(__get_dynamic_array(allowed), req->allowed,
		       __get_dynamic_array_len(allowed));
		ht_record_words(__get_dynamic_array(words), topo, st);
		ht_record_waits(__get_dynamic_array(waits), req);
	),

	TP_printk("pid=%d call=%d slot=%d kind=%s prev_cpu=%d origin_cpu=%d smt=%d prev_is_self=%d allowed_all=%d nr_allowed=%d allowed=%s words=%s waits=%s priced=%d prices=%s run_ns=%llu resid=%s waker_cpu=%d pair=%d cpu=%d why=%s share_ns=%llu move_ns=%llu apart_ns=%llu wait_ns=%llu core_ns=%lld",
		  __entry->pid, __entry->call, __entry->slot,
		  show_ht_kind(__entry->kind), __entry->prev_cpu,
		  __entry->origin_cpu, __entry->smt, __entry->prev_is_self,
		  __entry->allowed_all, __entry->nr_allowed,
		  __print_array(__get_dynamic_array(allowed),
				__get_dynamic_array_len(allowed) / 8, 8),
		  __print_array(__get_dynamic_array(words),
				__get_dynamic_array_len(words) / 8, 8),
		  __print_array(__get_dynamic_array(waits),
				__get_dynamic_array_len(waits) / 8, 8),
		  __entry->priced,
		  __print_array(__entry->prices, HT_NR_PRICES, 4),
		  __entry->run_ns,
		  __print_array(__entry->resid, HT_NR_LEVELS, 4),
		  __entry->waker_cpu, __entry->pair, __entry->cpu,
		  show_ht_why(__entry->why), __entry->share_ns,
		  __entry->move_ns, __entry->apart_ns, __entry->wait_ns,
		  __entry->core_ns)
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
