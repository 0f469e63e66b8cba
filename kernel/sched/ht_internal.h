/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: shared between its own files, and by nothing else.
 *
 * Lock order: cpu_hotplug_lock > sched_domains_mutex > ht_mutex > p->pi_lock
 * > rq locks. The words of a snapshot are atomics and need no lock to write;
 * the bits of a CPU that say what it runs are written under its rq lock only.
 *
 *   ht_aware.c	   the class: callbacks of the core scheduler
 *   ht_queue.c	   EEVDF queue of one CPU
 *   ht_share.c	   whose turn it is, SCHED_HT or the classes below
 *   ht_place.c	   gather, decide, apply: where a task wakes up
 *   ht_record.c   asks the policy, and records what it was asked and said
 *   ht_balance.c  un-sharing, idle pull, push, queue imbalance
 *   ht_idle.c	   idle words and claims
 *   ht_warm.c	   run clocks, the cache-hot estimate, what a price is made of
 *   ht_pair.c	   who wakes whom, pairs that take turns
 *   topology_ht.c builds and publishes snapshots, switches the class on and off
 *   ht_group.c	   who may be SCHED_HT, and who has to leave it
 *   ht_debug.c	   sysctl, debugfs, counters, /proc/PID/sched
 *   ht_policy.c, ht_price.c, ht_layout.c, ht_check.c   decisions: freestanding
 */
#ifndef _KERNEL_SCHED_HT_INTERNAL_H
#define _KERNEL_SCHED_HT_INTERNAL_H

#include <linux/irq_work.h>
#include <linux/mmu_context.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "sched.h"
#include "ht_compat.h"
#include "ht_policy.h"
#include "ht_layout.h"
#include "ht_price.h"

/* Levels of struct ht_warmth, which the rest of the kernel sees. */
static_assert(HT_LEVELS == HT_NR_LEVELS);

/* What all CPUs of one LLC ran, see ht_warm.c. */
struct ht_llc_clock {
	atomic64_t run_ns;
} ____cacheline_aligned;

/**
 * struct ht_snap - a published topology and the state words that go with it
 * @rcu:         frees it
 * @topo:        the machine, immutable
 * @word:        [nr_words] what the threads are doing
 * @claim_tick:  [nr_words * 64] tick of the claim, low 32 bits of jiffies
 * @llc_clock:   [nr_llcs]
 * @gen:         another number for each snapshot
 *
 * The arrays are aligned to cache lines, so that a line of them belongs to one
 * LLC, as the words do.
 */
struct ht_snap {
	struct rcu_head	rcu;
	struct ht_topo	topo;
	struct ht_word	*word;
	u32		*claim_tick;
	struct ht_llc_clock *llc_clock;
	u32		gen;
};

/* The slot of a CPU in a snapshot that there may not be. */
static inline u32 ht_snap_slot(const struct ht_snap *snap, int cpu)
{
	return snap ? ht_cpu_slot(&snap->topo, cpu) : HT_NONE;
}

/* Snapshot that hooks write, and the one that decisions read: ht_idle.c. */
extern struct ht_snap __rcu *ht_snap_write;
extern struct ht_snap __rcu *ht_snap_read;

/* Tunables, kernel.sched_ht_*: written by sysctl, read with READ_ONCE(). */
extern unsigned int sysctl_sched_ht_smt;
extern unsigned int sysctl_sched_ht_slice_us;
extern unsigned int sysctl_sched_ht_unshare;
extern unsigned int sysctl_sched_ht_enabled;
extern unsigned int sysctl_sched_ht_cache_hot;
extern unsigned int sysctl_sched_ht_smt_yield_pct;
extern unsigned int sysctl_sched_ht_refill_core_us;
extern unsigned int sysctl_sched_ht_refill_llc_us;
extern unsigned int sysctl_sched_ht_refill_node_us;
extern unsigned int sysctl_sched_ht_fill_core_us;
extern unsigned int sysctl_sched_ht_fill_llc_us;
extern unsigned int sysctl_sched_ht_pair_ns;
extern unsigned int sysctl_sched_ht_wake_ns;

/* Slice of a task that asks for none of its own. */
static inline u64 ht_default_slice_ns(void)
{
	return (u64)READ_ONCE(sysctl_sched_ht_slice_us) * NSEC_PER_USEC;
}

/* What requests of tasks of this weight take, if all of them is needed. */
static inline u64 ht_request_ns(unsigned long weight)
{
	return weight * ht_default_slice_ns() / 1024;
}

/* Counters of debugfs sched_ht/stats, in this order. */
enum ht_stat {
	HT_STAT_CLAIM_TAKEN,
	HT_STAT_CLAIM_LOST,
	HT_STAT_CLAIM_VOID,
	HT_STAT_UNSHARE_DONE,
	HT_STAT_UNSHARE_RATE_LIMITED,
	HT_STAT_UNSHARE_LOST,
	HT_STAT_UNSHARE_NO_CORE,
	HT_STAT_UNSHARE_AFFINITY,
	HT_STAT_UNSHARE_PRICED,
	HT_STAT_PULL_DONE,
	HT_STAT_PULL_LOST,
	HT_STAT_PULL_PRICED,
	HT_STAT_PUSH_DONE,
	HT_STAT_PUSH_LOST,
	HT_STAT_ROVER_DONE,
	HT_STAT_SHARE_TURNS,
	HT_STAT_DEMOTED_CPU_MAX,
	HT_STAT_DEMOTED_GROUP,
	HT_STAT_DEMOTED_DISABLED,
	HT_STAT_BAD_VERDICT,
	HT_NR_STATS,
};

/* Per-CPU, so that counting writes no shared line. */
struct ht_stats {
	u64	stat[HT_NR_STATS];
	u64	why[HT_NR_WHYS];
	u64	kind[HT_NR_KINDS];
};

DECLARE_PER_CPU(struct ht_stats, ht_stats);

#define ht_count(name)	this_cpu_inc(ht_stats.stat[HT_STAT_##name])

/* Faults that the tests switch on to prove that they notice. */
enum ht_fault {
	HT_FAULT_NONE,
	HT_FAULT_SKIP_CLAIM,
	HT_FAULT_IDLE_NEVER_CLEARED,
	HT_FAULT_IGNORE_AFFINITY,
	HT_FAULT_NO_UNSHARE,
	HT_FAULT_NO_SHARING,
	HT_FAULT_NO_CLOCK,
	HT_NR_FAULTS,
};

#ifdef CONFIG_SCHED_HT_DEBUG
extern enum ht_fault ht_fault_on;
static inline bool ht_fault(enum ht_fault fault)
{
	return unlikely(READ_ONCE(ht_fault_on) == fault);
}

void ht_inv2_tick(struct rq *rq, struct task_struct *p, bool beside);
void ht_debug_snap(const struct ht_snap *snap);
void ht_debug_select(const struct ht_snap *snap, const struct ht_request *req);
#else
static inline bool ht_fault(enum ht_fault fault)
{
	return false;
}

static inline void ht_inv2_tick(struct rq *rq, struct task_struct *p,
				bool beside)
{
}

static inline void ht_debug_snap(const struct ht_snap *snap) { }
static inline void ht_debug_select(const struct ht_snap *snap,
				   const struct ht_request *req)
{
}
#endif

/* Which function of ht_policy.h decided, as traces say it; append only. */
enum ht_call {
	HT_CALL_SELECT,
	HT_CALL_FREE_CORE,
	HT_CALL_MOVE_PAYS,
};

/* Decisions are copied, for checks and traces, up to so many words. */
#define HT_STILL_WORDS	16
/* Numbers in struct ht_prices; plain, for who reads a trace's format. */
#define HT_NR_PRICES	8
static_assert(HT_NR_PRICES * sizeof(u32) == sizeof(struct ht_prices));

/* ht_record.c */
bool ht_still_state(const struct ht_snap *snap, struct ht_state *st);
u32 ht_allowed_words(const struct ht_topo *topo, const struct ht_request *req);
void ht_record_words(u64 *out, const struct ht_topo *topo,
		     const struct ht_state *st);
void ht_record_waits(u64 *out, const struct ht_request *req);
void ht_select(struct ht_snap *snap, struct task_struct *p,
	       const struct ht_request *req, struct ht_verdict *verdict);
bool ht_free_core(struct ht_snap *snap, struct task_struct *p,
		  const struct ht_request *req, struct ht_verdict *verdict);
bool ht_move_pays(struct ht_snap *snap, struct task_struct *p,
		  const struct ht_request *req, u32 slot);

/* Why a task changed its CPU without waking up; see sched_ht:sched_ht_migrate. */
enum ht_move {
	HT_MOVE_UNSHARE,
	HT_MOVE_PULL,
	HT_MOVE_PUSH,
	HT_MOVE_ROVER,
};

static inline struct task_struct *ht_task_of(struct sched_ht_entity *se)
{
	return container_of(se, struct task_struct, ht);
}

static inline bool task_on_ht(const struct task_struct *p)
{
	return p->sched_class == &ht_sched_class;
}

/* The running task; the rq lock is held, so it stays that. */
static inline struct task_struct *ht_curr(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr,
					 lockdep_is_held(__rq_lockp(rq)));
}

/* Waiting: queued, but not the one that runs. */
static inline unsigned int ht_nr_waiting(const struct rq *rq)
{
	const struct ht_queue *q = &rq->ht.queue;

	return q->nr - (q->curr && q->curr->on_rq);
}

/* Of those that wait, who may run elsewhere. */
static inline unsigned int ht_nr_movable(const struct rq *rq)
{
	struct sched_ht_entity *curr = rq->ht.queue.curr;
	unsigned int pinned = rq->ht.nr_pinned;

	/* Who runs is pinned, too, but does not wait. */
	if (curr && curr->on_rq && ht_task_of(curr)->nr_cpus_allowed == 1)
		pinned--;

	return ht_nr_waiting(rq) - pinned;
}

/* Is the running task flagged, and can it be pushed once it is picked over? */
static inline bool ht_curr_leaves(const struct rq *rq)
{
	const struct sched_ht_entity *curr = rq->ht.queue.curr;

	return curr && curr->on_rq && curr->push_cpu >= 0 &&
		rq->balance_callback != &balance_push_callback;
}

/* ht_queue.c */
void ht_queue_init(struct ht_queue *q);
void ht_queue_forgive(const struct ht_queue *q, struct sched_ht_entity *se,
		      u64 slept_ns);
void ht_queue_add(struct ht_queue *q, struct sched_ht_entity *se,
		  unsigned long weight, u64 slice_ns, bool fresh);
void ht_queue_del(struct ht_queue *q, struct sched_ht_entity *se,
		  bool keep_deadline, u64 slice_ns);
void ht_queue_set_curr(struct ht_queue *q, struct sched_ht_entity *se);
void ht_queue_put_curr(struct ht_queue *q);
bool ht_queue_charge(struct ht_queue *q, u64 delta_ns, u64 slice_ns);
void ht_queue_expect(struct ht_queue *q, struct sched_ht_entity *se,
		     u64 expect_ns);
void ht_queue_yield(struct ht_queue *q, u64 slice_ns);
bool ht_queue_hand_over(struct ht_queue *q, struct sched_ht_entity *se,
			u64 slice_ns);
bool ht_queue_takes_over(const struct sched_ht_entity *se, u64 slice_ns);
bool ht_queue_preempts(struct ht_queue *q, struct sched_ht_entity *se,
		       bool shorter);
struct sched_ht_entity *ht_queue_pick(struct ht_queue *q, bool skip_curr);
s64 ht_queue_lag(const struct ht_queue *q, const struct sched_ht_entity *se);

/* ht_share.c */
void ht_share_charge(struct rq *rq, struct task_struct *ran);
void ht_share_update(struct rq *rq);
void ht_share_decide(struct rq *rq);
void ht_share_yield(struct rq *rq);
bool ht_share_is_low_turn(struct rq *rq);
bool ht_is_low(const struct task_struct *p);
unsigned int ht_nr_low(struct rq *rq);
unsigned long ht_low_weight(struct rq *rq);

/* ht_idle.c */
void ht_bits_update(struct rq *rq);
void ht_bits_light(struct rq *rq, bool light);
void ht_bits_sync(struct rq *rq, struct ht_snap *snap);
bool ht_claim(struct ht_snap *snap, u32 slot, bool whole_core);
u64 ht_live_claims(const struct ht_snap *snap, u32 word, u64 mask);
void ht_unclaim_cpu(int cpu);
void ht_claim_settle(struct task_struct *p, int cpu);
bool ht_any_idle(const struct ht_snap *snap, int cpu);
bool ht_beside_busy(struct ht_snap *snap, int cpu);
struct ht_state ht_snap_state(const struct ht_snap *snap);

/* ht_place.c */
int ht_place(struct task_struct *p, int prev_cpu, int origin_cpu,
	     enum ht_kind kind);
bool ht_place_free_core(struct ht_snap *snap, struct task_struct *p, int cpu,
			struct ht_verdict *verdict);
bool ht_place_move_pays(struct ht_snap *snap, struct task_struct *p, int cpu,
			u32 slot);
bool ht_task_may_use(struct task_struct *p, int cpu);
int ht_find_waits(struct ht_snap *snap, struct task_struct *p, int cpu,
		  int start_cpu, u64 (*measure)(struct rq *rq),
		  struct ht_wait *waits);
u64 ht_wait_ns(struct rq *rq);
u64 ht_load_ns(struct rq *rq);

/* ht_warm.c */
void ht_clock_batch(struct rq *rq);
void ht_clock_set(struct rq *rq, bool idle);
void ht_clock_start(struct rq *rq);
void ht_warm_stop(struct rq *rq, struct task_struct *p);
void ht_warm_show(const struct task_struct *p, u32 *resid_ns);
void ht_warm_sleep(struct task_struct *p);
void ht_warm_wake(struct task_struct *p, u64 slept_ns);
void ht_warm_fork(struct task_struct *p);
void ht_warm_reset(struct task_struct *p);
u64 ht_exec_ns(const struct task_struct *p, int cpu);
bool ht_is_light(const struct task_struct *p);
void ht_warm_request(const struct ht_snap *snap, struct task_struct *p,
		     struct ht_request *req);
u64 ht_warm_move_ns(const struct ht_snap *snap, struct task_struct *p,
		    int src_cpu, int dst_cpu);

/* ht_pair.c */
void ht_pair_reset(struct task_struct *p);
void ht_pair_note_waker(struct task_struct *p, bool sync);
bool ht_pair_wakes(const struct task_struct *waker, const struct task_struct *p);
bool ht_pair_waits_briefly(const struct task_struct *p,
			   const struct task_struct *curr);
void ht_pair_sleep(struct task_struct *p);
bool ht_pair_follows(struct ht_snap *snap, struct task_struct *p, int prev_cpu);

/* Is it always the same task that wakes this one? */
static inline bool ht_pair_is_steady(const struct task_struct *p)
{
	return READ_ONCE(p->ht.pair) >= HT_PAIR_MIN;
}

/* ht_balance.c */
void ht_balance(struct rq *rq, struct rq_flags *rf);
void ht_core_idle(struct rq *rq);
void ht_start_beside(struct rq *rq);
void ht_unshare_self(struct rq *rq, struct task_struct *p, bool tick);
void ht_queue_push(struct rq *rq, struct task_struct *p);
void ht_cancel_push(struct task_struct *p);
void ht_push_waiting(struct rq *rq);

/* topology_ht.c */
int ht_get(void);
bool ht_get_live(void);
void ht_get_again(void);
int ht_nr_refs(void);
void ht_topology_show(struct seq_file *m);

/* ht_group.c */
void ht_demote_all(void);

#endif /* _KERNEL_SCHED_HT_INTERNAL_H */
