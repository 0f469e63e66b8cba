/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: the data that decisions are made of.
 *
 * The policy (ht_policy.c) decides on plain data, so the same code runs in the
 * kernel, in KUnit, and in a host library on machines that exist only as text.
 * This header is the whole vocabulary of that code: fixed-width integers,
 * storage owned by the caller, no locks, clocks or kernel types.
 *
 * CPUs are renumbered into *slots* in topology order (node, LLC, L2 cluster,
 * core, thread). An LLC starts at a 64-bit word of its own, and a core owns
 * 1 << smt_shift consecutive slots, so "which cores are wholly idle" is a few
 * bit operations for each 64 threads. Slots without a thread stay absent.
 */
#ifndef _KERNEL_SCHED_HT_TYPES_H
#define _KERNEL_SCHED_HT_TYPES_H

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/stddef.h>
/* The words are written by other CPUs while a decision reads them. */
#define HT_READ(x)	READ_ONCE(x)
#else
#include <stdbool.h>
#include <stddef.h>
#define HT_READ(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#endif

/* As wide on the host as in the kernel, and printed by the same formats. */
typedef __u32 ht_u32;
typedef __u64 ht_u64;
typedef __u16 ht_u16;
typedef __u8 ht_u8;

#define HT_WORD_BITS	64
/* A core of more threads than one word holds cannot be described. */
#define HT_MAX_SMT	HT_WORD_BITS
#define HT_NONE		0xffffffffu
#define HT_NO_PRICE	(~(ht_u64)0)
/* Candidates of rule 6 that one decision looks at (INV-10). */
#define HT_MAX_WAITS	16

/**
 * struct ht_llc - one last level cache and the slots below it
 * @first_word:   index of its first word in the word arrays
 * @nr_words:     words that it owns, at least 1
 * @node:         NUMA node
 * @domain:       root domain; a task is never placed in another one (INV-1)
 * @smt_shift:    log2 of the slots that a core owns here, 0..6
 * @nr_cores:     cores with at least one present thread
 *
 * Immutable once the snapshot is published.
 */
struct ht_llc {
	ht_u32 first_word;
	ht_u32 nr_words;
	ht_u32 node;
	ht_u32 domain;
	ht_u32 nr_cores;
	ht_u8 smt_shift;
};

/**
 * struct ht_topo - immutable description of a machine
 * @nr_cpus:      CPU numbers known, valid ones are 0..nr_cpus-1
 * @nr_words:     words in @present, and struct ht_word in a state
 * @nr_llcs:      entries of @llc
 * @cpu_slot:     [nr_cpus] slot of a CPU, HT_NONE if it takes no part
 *                (not present, offline, isolated)
 * @slot_cpu:     [nr_words * 64] CPU of a slot, HT_NONE if absent
 * @slot_cluster: [nr_words * 64] first slot of the L2 cluster that a slot is
 *                in; clusters are contiguous and hold whole cores
 * @slot_cluster_end: [nr_words * 64] the slot after the last one of its cluster
 * @word_llc:     [nr_words] LLC that a word belongs to
 * @present:      [nr_words] bit per slot that holds a thread
 * @partial:      [nr_words] bit per slot of a core with a running thread that
 *                has no slot beside it (isolated, or in another root domain):
 *                nobody here knows whether such a core is wholly idle
 * @llc:          [nr_llcs]
 * @llc_order:    [nr_llcs * nr_llcs] row l lists all LLCs by distance from l,
 *                l itself first, then its node, then nearer nodes first
 *
 * ht_layout.h fills it; all arrays live in one block of the caller's.
 */
struct ht_topo {
	ht_u32 nr_cpus;
	ht_u32 nr_words;
	ht_u32 nr_llcs;
	ht_u32 *cpu_slot;
	ht_u32 *slot_cpu;
	ht_u32 *slot_cluster;
	ht_u32 *slot_cluster_end;
	ht_u32 *word_llc;
	ht_u64 *present;
	ht_u64 *partial;
	struct ht_llc *llc;
	ht_u32 *llc_order;
};

/* The slot of a CPU, HT_NONE if it takes no part. */
static inline ht_u32 ht_cpu_slot(const struct ht_topo *topo, ht_u32 cpu)
{
	return cpu < topo->nr_cpus ? topo->cpu_slot[cpu] : HT_NONE;
}

/**
 * struct ht_word - what up to 64 threads of one LLC are doing
 * @idle:         bit per thread that is idle, written by that CPU
 * @claimed:      bit per thread that a placement is on its way to, written by
 *                the CPU that decides and by the one that is claimed; a core
 *                with one claimed thread is not free for others
 * @run:          bit per thread that runs a SCHED_HT task, written by that CPU
 * @wait:         bit per thread where a SCHED_HT task waits, written by that
 *                CPU or who queues the task there
 * @light:        bit per thread that runs what loses little by a busy
 *                neighbour (nice, or seldom running), written by that CPU
 *
 * A cache line: apart from claims and wakeups from elsewhere, only CPUs of the
 * LLC that owns the word write it. Decisions read @idle, @claimed and @light.
 */
struct ht_word {
	ht_u64 idle;
	ht_u64 claimed;
	ht_u64 run;
	ht_u64 wait;
	ht_u64 light;
	/* private: */
	ht_u64 pad[3];
};

/**
 * struct ht_state - what the threads are doing, read while it changes
 * @word:         [nr_words]
 * @claim_tick:   [nr_words * 64] tick in which the claim was taken; a word has
 *                whole cache lines of it
 * @tick:         the present tick; a claim older than one tick is void
 */
struct ht_state {
	const struct ht_word *word;
	const ht_u32 *claim_tick;
	ht_u32 tick;
};

/* Why a task is being placed. */
enum ht_kind {
	HT_KIND_WAKEUP,		/* distance from the CPU it last ran on */
	HT_KIND_SYNC,		/* the waker is about to sleep: from the waker */
	HT_KIND_FORK,		/* new task: from the parent */
	HT_KIND_EXEC,		/* running task with nothing in cache */
	HT_KIND_AFFINITY,	/* its CPU is no longer allowed */
	HT_KIND_CLASS,		/* it has just become SCHED_HT */
	HT_KIND_HOTPLUG,	/* its CPU goes offline */
	HT_KIND_UNSHARE,	/* running beside a busy thread */
	HT_NR_KINDS,
};

/*
 * Why a verdict is what it is: shared by tracepoints, counters, tests and
 * documentation. Append only: recorded traces carry the number.
 */
enum ht_why {
	HT_WHY_NONE,		/* no CPU found */
	HT_WHY_PINNED,		/* only one CPU is allowed */
	HT_WHY_PREV_CORE,	/* rule 1: prev, its core is wholly idle */
	HT_WHY_IDLE_CORE,	/* rule 2: nearest wholly idle core */
	HT_WHY_PREV_IDLE,	/* rule 3: prev is idle, its core is not */
	HT_WHY_PREV_SIBLING,	/* rule 4: idle sibling of prev */
	HT_WHY_IDLE_THREAD,	/* rule 5: nearest other idle thread */
	HT_WHY_SCHED_IDLE,	/* rule 6: runs only SCHED_IDLE tasks */
	HT_WHY_SHORTEST_WAIT,	/* rule 6: shortest wait */
	HT_WHY_NO_TOPOLOGY,	/* prev takes no part in the snapshot */
	HT_WHY_WARM,		/* price: a wholly idle core costs more */
	HT_WHY_LIGHT,		/* price: beside what loses little by it */
	HT_WHY_PARTNER,		/* price: nearer to its steady waker */
	HT_WHY_FOLLOW,		/* behind its waker: the two take turns */
	HT_NR_WHYS,
};

/* Caches that a move leaves behind, one after the other. */
enum ht_level {
	HT_LEVEL_CORE,		/* L1 and L2 */
	HT_LEVEL_LLC,
	HT_LEVEL_NODE,		/* its memory */
	HT_LEVELS,
};

/**
 * struct ht_prices - what prices are made of: tunables
 * @yield_pct:    speed of a thread beside a busy one, 1..100
 * @refill_ns:    by level: loading again all that it can hold of one task
 * @fill_ns:      by level: run time after which it is full of what ran
 * @pair_ns:      what passing a wakeup's data from LLC to LLC takes
 */
struct ht_prices {
	ht_u32 yield_pct;
	ht_u32 refill_ns[HT_LEVELS];
	ht_u32 fill_ns[HT_LEVELS];
	ht_u32 pair_ns;
};

/**
 * struct ht_price - what a candidate costs
 * @share_ns:     slower beside a busy thread
 * @move_ns:      data to be loaded again
 * @apart_ns:     away from a steady waker
 * @wait_ns:      until it runs
 */
struct ht_price {
	ht_u64 share_ns;
	ht_u64 move_ns;
	ht_u64 apart_ns;
	ht_u64 wait_ns;
};

/**
 * struct ht_wait - a candidate of rule 6
 * @cpu:          CPU number
 * @sched_idle:   runs nothing but SCHED_IDLE tasks, which counts as no wait
 * @wait_ns:      estimated wait for a nice 0 task
 */
struct ht_wait {
	ht_u32 cpu;
	bool sched_idle;
	ht_u64 wait_ns;
};

/**
 * struct ht_request - one placement to decide
 * @kind:         why it is asked
 * @prev_cpu:     where the task last ran; may be not allowed or unknown
 * @origin_cpu:   where distance is measured from: @prev_cpu, or the waker's
 *                CPU for HT_KIND_SYNC and HT_KIND_FORK
 * @smt:          SMT knowledge on (sched_ht_smt); off makes all threads equal
 * @prev_is_self: @prev_cpu is busy with this task alone: it counts as idle
 * @allowed_all:  every present thread is allowed, @allowed is not read
 * @allowed:      bitmap by CPU number in 64-bit words, nr_cpus bits
 * @nr_allowed:   CPUs in @allowed if the caller knows (p->nr_cpus_allowed),
 *                else 0 and they are counted: words of @allowed to be read
 * @nr_waits:     entries of @waits, 0..HT_MAX_WAITS
 * @waits:        sample for rule 6; entries that are not allowed are skipped
 * @priced:       the cheapest candidate wins (sched_ht_cache_hot), if @smt;
 *                else the rules apply and what follows is not read
 * @prices:       tunables
 * @run_ns:       expected run, HT_AVG_MAX_NS at most
 * @resid_ns:     by level: residence of its data where it last ran
 * @waker_cpu:    where its waker runs, if it has a partner
 * @pair:         times in a row that this waker woke it
 */
struct ht_request {
	enum ht_kind kind;
	ht_u32 prev_cpu;
	ht_u32 origin_cpu;
	bool smt;
	bool prev_is_self;
	bool allowed_all;
	const ht_u64 *allowed;
	ht_u32 nr_allowed;
	ht_u32 nr_waits;
	struct ht_wait waits[HT_MAX_WAITS];
	bool priced;
	struct ht_prices prices;
	ht_u64 run_ns;
	ht_u32 resid_ns[HT_LEVELS];
	ht_u32 waker_cpu;
	ht_u32 pair;
};

/**
 * struct ht_verdict - the decision; a hint until the caller re-checked it
 * @cpu:          CPU number, HT_NONE with HT_WHY_NONE
 * @slot:         its slot, HT_NONE if it takes no part in the snapshot
 * @why:          reason
 * @whole_core:   the core was free: the caller must claim it against others
 * @distance:     0 same core, 1 cluster, 2 LLC, 3 node, 4 remote; from origin
 * @price:        what it costs; all 0 if the rules decided
 * @core_ns:      what the cheapest wholly idle core that was looked at costs,
 *                HT_NO_PRICE if none was
 */
struct ht_verdict {
	ht_u32 cpu;
	ht_u32 slot;
	enum ht_why why;
	bool whole_core;
	ht_u8 distance;
	struct ht_price price;
	ht_u64 core_ns;
};

#endif /* _KERNEL_SCHED_HT_TYPES_H */
