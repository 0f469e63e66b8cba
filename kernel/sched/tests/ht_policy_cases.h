/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: decisions as data, for KUnit and for the host.
 *
 * A machine is a shape with a numbering, a case is what its threads do, what
 * is asked, and the one right answer. CPU sets are written as lists, "0,2-3".
 * Where a public report or a law of the design stands behind a case, its name
 * says what happened.
 *
 * Both runners allocate one struct ht_bench, call ht_case_run() for each case
 * and compare; what they do with a difference is theirs.
 */
#ifndef _KERNEL_SCHED_HT_POLICY_CASES_H
#define _KERNEL_SCHED_HT_POLICY_CASES_H

#include "../ht_check.h"
#include "../ht_layout.h"
#include "../ht_policy.h"
#include "../ht_price.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#define HT_CASE_CPUS	2048

/* CPU lists. */

/* Reads a number and moves on; lists here are literals and need no checks. */
static inline ht_u32 ht_list_number(const char **s)
{
	ht_u32 n = 0;

	for (; **s >= '0' && **s <= '9'; (*s)++)
		n = n * 10 + (**s - '0');
	return n;
}

/* Takes the next range off a list. Returns false at its end. */
static inline bool ht_list_next(const char **s, ht_u32 *lo, ht_u32 *hi)
{
	if (!*s || !**s)
		return false;
	*lo = ht_list_number(s);
	*hi = *lo;
	if (**s == '-') {
		(*s)++;
		*hi = ht_list_number(s);
	}
	if (**s == ',')
		(*s)++;
	return true;
}

static inline bool ht_list_has(const char *list, ht_u32 cpu)
{
	ht_u32 lo, hi;

	while (ht_list_next(&list, &lo, &hi))
		if (lo <= cpu && cpu <= hi)
			return true;
	return false;
}

/* Machines. */

enum ht_numbering {
	HT_NUM_PACKED,		/* siblings n, n+1 */
	HT_NUM_SPLIT,		/* siblings n, n + cores */
	HT_NUM_ODD_EVEN,	/* as split; node 0 has the odd CPUs, node 1 the even */
	HT_NUM_LAST_WRAPS,	/* packed from CPU 1 on; the last core has CPU 0 first */
};

/**
 * struct ht_machine_shape - a machine in one line
 * @name:      for messages
 * @nodes:     NUMA nodes
 * @llcs:      LLCs of a node
 * @clusters:  L2 clusters of an LLC
 * @cores:     cores of a cluster
 * @threads:   threads of a core
 * @numbering: how CPUs are counted
 * @absent:    CPUs that are not there: offline, or a core with fewer threads
 * @isolated:  CPUs outside every scheduling domain
 * @domain1:   CPUs of a second root domain
 * @possible:  CPU numbers that the kernel reckons with, if more than present
 * @fix:       adjusts a descriptor where the machine is not regular
 */
struct ht_machine_shape {
	const char *name;
	ht_u16 nodes;
	ht_u16 llcs;
	ht_u16 clusters;
	ht_u16 cores;
	ht_u16 threads;
	enum ht_numbering numbering;
	const char *absent;
	const char *isolated;
	const char *domain1;
	ht_u32 possible;
	void (*fix)(struct ht_cpu_desc *desc);
};

/* Efficiency cores, 12-27 before absent ones go, share an L2 by fours. */
static inline void ht_fix_hybrid(struct ht_cpu_desc *d)
{
	if (d->core >= 12)
		d->cluster = d->core >= 20 ? 20 : 12;
	/* The last two are low-power cores: an L2, and no L3 at all. */
	if (d->core >= 28) {
		d->cluster = 28;
		d->llc = 28;
	}
}

/* A core whose second thread claims another L2: the cluster is not believed. */
static inline void ht_fix_split_l2(struct ht_cpu_desc *d)
{
	if (d->cpu == 1)
		d->cluster = 2;
}

enum ht_machine_id {
	M_2C2T,			/* the smallest: (0,1)(2,3) */
	M_2C2T_SPLIT,		/* (0,2)(1,3) */
	M_4C2T_SPLIT,		/* (0,4)(1,5)(2,6)(3,7) */
	M_2L2C2T,		/* (0,1)(2,3) | (4,5)(6,7) */
	M_2L2C2T_ISO,		/* the same, second LLC isolated */
	M_2L2C2T_OFF3,		/* the same, CPU 3 offline */
	M_2L2C2T_DOM,		/* the same, second LLC in another root domain */
	M_XEON,			/* the dual Xeon: (1,13).. on node 0, (0,12).. on 1 */
	M_2S8C2T,		/* 2 sockets x 8 x 2, packed */
	M_SMT1,			/* 4 cores of 1 */
	M_SMT3,			/* 4 cores of 3: 0-2, 3-5, .. in slots of 4 */
	M_SMT4,			/* 2 cores of 4 */
	M_SMT8,			/* 2 cores of 8 */
	M_SMT64,		/* 2 cores of 64: a core fills a word */
	M_MIXED,		/* (0,1)(2): a core with one thread */
	M_NOSMT,		/* 2C2T with the second threads offline */
	M_NOLLC,		/* 4 cores of 2, nothing shared above the core */
	M_16L3C,		/* 2 sockets x 4 nodes x 2 LLCs x 3 cores, split */
	M_24L8C,		/* 24 LLCs of 8 cores: 384 CPUs */
	M_UNEQUAL,		/* LLCs of 4 and of 8 cores: 0-7, 16-31 */
	M_HYBRID,		/* 6 x 2 threads, 8 x 1 by fours, 2 without L3 */
	M_POSSIBLE,		/* 4 CPUs online, 128 possible */
	M_HUGE,			/* 4 nodes x 4 LLCs x 64 cores x 2: 2048 CPUs */
	M_KNC,			/* 61 cores of 4, one of them 0,241,242,243 */
	M_CLUSTERS,		/* an LLC of 4 L2 clusters of 2 cores of 2 */
	M_SPLIT_L2,		/* masks that contradict each other */
	M_ISO_SIBLING,		/* (0,1)(2,3), CPU 1 isolated */
	M_WIDE,			/* one LLC of 48 cores: two words */
	M_ONE,			/* one CPU */
	M_65,			/* 65 cores of 1: a mask of two words */
	HT_NR_MACHINES,
};

static const struct ht_machine_shape ht_machines[HT_NR_MACHINES] = {
	[M_2C2T] = { "2c2t", 1, 1, 2, 1, 2 },
	[M_2C2T_SPLIT] = { "2c2t-split", 1, 1, 2, 1, 2, HT_NUM_SPLIT },
	[M_4C2T_SPLIT] = { "4c2t-split", 1, 1, 4, 1, 2, HT_NUM_SPLIT },
	[M_2L2C2T] = { "2llc-2c2t", 1, 2, 2, 1, 2 },
	[M_2L2C2T_ISO] = { "2llc-2c2t-isolated", 1, 2, 2, 1, 2,
			   .isolated = "4-7" },
	[M_2L2C2T_OFF3] = { "2llc-2c2t-3-offline", 1, 2, 2, 1, 2,
			    .absent = "3" },
	[M_2L2C2T_DOM] = { "2llc-2c2t-2-domains", 1, 2, 2, 1, 2,
			   .domain1 = "4-7" },
	[M_XEON] = { "dual-xeon", 2, 1, 6, 1, 2, HT_NUM_ODD_EVEN },
	[M_2S8C2T] = { "2x8x2", 2, 1, 8, 1, 2 },
	[M_SMT1] = { "smt1", 1, 1, 4, 1, 1 },
	[M_SMT3] = { "smt3", 1, 1, 4, 1, 3 },
	[M_SMT4] = { "smt4", 1, 1, 2, 1, 4 },
	[M_SMT8] = { "smt8", 1, 1, 2, 1, 8 },
	[M_SMT64] = { "smt64", 1, 1, 2, 1, 64 },
	[M_MIXED] = { "one-thread-core", 1, 1, 2, 1, 2, .absent = "3" },
	[M_NOSMT] = { "nosmt", 1, 1, 2, 1, 2, .absent = "1,3" },
	[M_NOLLC] = { "no-llc", 1, 4, 1, 1, 2 },
	[M_16L3C] = { "16llc-3c2t", 8, 2, 3, 1, 2, HT_NUM_SPLIT },
	[M_24L8C] = { "24llc-8c2t", 2, 12, 8, 1, 2, HT_NUM_SPLIT },
	[M_UNEQUAL] = { "unequal-llcs", 1, 2, 8, 1, 2, .absent = "8-15" },
	[M_HYBRID] = { "hybrid", 1, 1, 16, 1, 2,
		       .absent = "13,15,17,19,21,23,25,27,29,31",
		       .fix = ht_fix_hybrid },
	[M_POSSIBLE] = { "possible-128", 1, 1, 2, 1, 2, .possible = 128 },
	[M_HUGE] = { "2048-cpus", 4, 4, 64, 1, 2, HT_NUM_SPLIT },
	[M_KNC] = { "knights-corner", 1, 1, 61, 1, 4, HT_NUM_LAST_WRAPS },
	[M_CLUSTERS] = { "l2-clusters", 1, 1, 4, 2, 2 },
	[M_SPLIT_L2] = { "split-l2", 1, 1, 2, 1, 2, .fix = ht_fix_split_l2 },
	[M_ISO_SIBLING] = { "isolated-sibling", 1, 1, 2, 1, 2,
			    .isolated = "1" },
	[M_WIDE] = { "wide-llc", 1, 1, 48, 1, 2 },
	[M_ONE] = { "one-cpu", 1, 1, 1, 1, 1 },
	[M_65] = { "65-cpus", 1, 1, 65, 1, 1 },
};

static inline ht_u32 ht_shape_cores(const struct ht_machine_shape *m)
{
	return m->nodes * m->llcs * m->clusters * m->cores;
}

/* The number of thread @t of core @c. */
static inline ht_u32 ht_shape_cpu(const struct ht_machine_shape *m, ht_u32 c,
				  ht_u32 t)
{
	ht_u32 cores = ht_shape_cores(m), half = cores / 2;
	ht_u32 wrapped = 1 + c * m->threads + t;

	switch (m->numbering) {
	case HT_NUM_SPLIT:
		return t * cores + c;
	case HT_NUM_ODD_EVEN:
		return t * cores + (c < half ? 2 * c + 1 : 2 * (c - half));
	case HT_NUM_LAST_WRAPS:
		if (c + 1 < cores)
			return wrapped;
		return t ? wrapped - 1 : 0;
	default:
		return c * m->threads + t;
	}
}

static inline ht_u32 ht_shape_core_key(const struct ht_machine_shape *m,
				       ht_u32 c)
{
	ht_u32 t, cpu, key = HT_NONE;

	for (t = 0; t < m->threads; t++) {
		cpu = ht_shape_cpu(m, c, t);
		if (cpu < key)
			key = cpu;
	}
	return key;
}

/* Writes the CPUs of a machine down, at most HT_CASE_CPUS. Returns how many. */
static inline ht_u32 ht_shape_desc(const struct ht_machine_shape *m,
				   struct ht_cpu_desc *desc)
{
	ht_u32 c, t, nr = 0;

	for (c = 0; c < ht_shape_cores(m); c++) {
		for (t = 0; t < m->threads; t++) {
			struct ht_cpu_desc *d = &desc[nr];
			ht_u32 cluster = c / m->cores;
			ht_u32 llc = cluster / m->clusters;

			d->cpu = ht_shape_cpu(m, c, t);
			if (ht_list_has(m->absent, d->cpu))
				continue;
			d->core = ht_shape_core_key(m, c);
			d->cluster = cluster;
			d->llc = llc;
			d->node = llc / m->llcs;
			d->domain = ht_list_has(m->domain1, d->cpu);
			if (ht_list_has(m->isolated, d->cpu))
				d->domain = HT_NONE;
			if (m->fix)
				m->fix(d);
			nr++;
		}
	}
	return nr;
}

/* Cases. */

/**
 * struct ht_case - one decision
 * @name:      what it is about
 * @machine:   where
 * @busy:      threads that run something; the others are idle
 * @claimed:   threads with a live claim
 * @stale:     threads with a claim that is too old to count
 * @allowed:   affinity, NULL: all
 * @kind:      of the request
 * @prev:      where the task last ran
 * @origin:    where distance is measured from
 * @from_prev: @origin is @prev
 * @nosmt:     without SMT knowledge
 * @self:      prev is busy with this task alone
 * @waits:     candidates of rule 6
 * @nr_waits:  how many
 * @light:     busy threads whose task loses little by a neighbour
 * @run_us:    expected run; not 0: prices are on, with their defaults
 * @core_us:   residence in the core's caches
 * @llc_us:    residence in the LLC and on the node
 * @pair:      times in a row that the task on CPU 0 woke it
 * @cpu:       the right answer
 * @why:       and its reason
 */
struct ht_case {
	const char *name;
	enum ht_machine_id machine;
	const char *busy;
	const char *claimed;
	const char *stale;
	const char *allowed;
	enum ht_kind kind;
	ht_u32 prev;
	ht_u32 origin;
	bool from_prev;
	bool nosmt;
	bool self;
	struct ht_wait waits[4];
	ht_u32 nr_waits;
	const char *light;
	ht_u32 run_us;
	ht_u32 core_us;
	ht_u32 llc_us;
	ht_u32 pair;
	ht_u32 cpu;
	enum ht_why why;
};

#define ASK(k, p, o)	.kind = HT_KIND_##k, .prev = (p), .origin = (o)
#define WAKE(p)		.prev = (p), .from_prev = true
#define RUNS(run, core, llc)						\
	.run_us = (run), .core_us = (core), .llc_us = (llc)
#define EXPECT(c, w)	.cpu = (c), .why = HT_WHY_##w
#define NOWHERE		.cpu = HT_NONE, .why = HT_WHY_NONE
#define WAITS(n, ...)	.nr_waits = (n), .waits = { __VA_ARGS__ }

static const struct ht_case ht_cases[] __maybe_unused = {
	/* Rule 1. */
	{ "prev's core is idle", M_2C2T, WAKE(0), EXPECT(0, PREV_CORE) },
	{ "prev's core is idle, prev is the second thread", M_2C2T, WAKE(3),
	  EXPECT(3, PREV_CORE) },
	{ "a stale claim does not count", M_2C2T, .stale = "0-1", WAKE(0),
	  EXPECT(0, PREV_CORE) },
	{ "prev is busy with the task itself", M_2C2T, .busy = "0", WAKE(0),
	  .self = true, EXPECT(0, PREV_CORE) },
	{ "itself and its claimed thread", M_2C2T, .busy = "0", .claimed = "0",
	  WAKE(0), .self = true, EXPECT(0, PREV_CORE) },

	/* Rule 2: the wakeup sequences on 2 LLCs x 2 cores x 2 threads. */
	{ "sequence 1: hog on 0, prev 1", M_2L2C2T, .busy = "0", WAKE(1),
	  EXPECT(2, IDLE_CORE) },
	{ "sequence 2: hogs on 0 and 2, the other LLC", M_2L2C2T,
	  .busy = "0,2", WAKE(0), EXPECT(4, IDLE_CORE) },
	{ "sequence 2 from the second core", M_2L2C2T, .busy = "0,2", WAKE(2),
	  EXPECT(6, IDLE_CORE) },
	{ "sequence 3: all cores half busy, prev 2", M_2L2C2T,
	  .busy = "0,2,4,6", WAKE(2), EXPECT(3, PREV_SIBLING) },
	{ "sequence 4: hog on 0, prev 1, allowed 1 and 3", M_2L2C2T,
	  .busy = "0", .allowed = "1,3", WAKE(1), EXPECT(3, IDLE_CORE) },
	{ "sequence 4: hog on 0, allowed 1 only", M_2L2C2T, .busy = "0",
	  .allowed = "1", WAKE(1), EXPECT(1, PINNED) },
	{ "sequence 6: hogs on 0 and 1, nice 19 on 2", M_2L2C2T,
	  .busy = "0,1,2", WAKE(0), EXPECT(4, IDLE_CORE) },
	{ "sequence 6 from the nice 19 core", M_2L2C2T, .busy = "0,1,2",
	  WAKE(3), EXPECT(6, IDLE_CORE) },
	{ "sequence 7: prev 3 went offline, nobody knows where it was",
	  M_2L2C2T_OFF3, .allowed = "0-7", WAKE(3), EXPECT(0, IDLE_CORE) },
	{ "sequence 7: prev offline, an allowed CPU of the other LLC",
	  M_2L2C2T_OFF3, .allowed = "3,5-6", WAKE(3), EXPECT(5, IDLE_CORE) },
	{ "sequence 8: the other LLC is isolated", M_2L2C2T_ISO,
	  .busy = "0,2", WAKE(0), EXPECT(1, PREV_SIBLING) },

	/* Rule 2: distance. */
	{ "same L2 cluster before the rest of the LLC", M_CLUSTERS,
	  .busy = "4", WAKE(4), EXPECT(6, IDLE_CORE) },
	{ "cluster, the search wraps", M_CLUSTERS, .busy = "6", WAKE(6),
	  EXPECT(4, IDLE_CORE) },
	{ "cluster full, next in the LLC", M_CLUSTERS, .busy = "4,6", WAKE(6),
	  EXPECT(8, IDLE_CORE) },
	{ "last cluster full, the LLC wraps", M_CLUSTERS, .busy = "12,14",
	  WAKE(14), EXPECT(0, IDLE_CORE) },
	{ "same node before a remote one", M_16L3C, .busy = "0-2", WAKE(0),
	  EXPECT(3, IDLE_CORE) },
	{ "node full, the next one", M_16L3C, .busy = "0-5", WAKE(0),
	  EXPECT(6, IDLE_CORE) },
	{ "the same core of the other LLC", M_16L3C, .busy = "0-2", WAKE(1),
	  EXPECT(4, IDLE_CORE) },
	{ "the same core of the other LLC, not from the first one", M_16L3C,
	  .busy = "6-8", WAKE(7), EXPECT(10, IDLE_CORE) },
	{ "unequal LLCs: core 7 of the large one, none such in the small one",
	  M_UNEQUAL, .busy = "16-31", WAKE(30), EXPECT(0, IDLE_CORE) },
	{ "unequal LLCs: small to large", M_UNEQUAL, .busy = "0-7", WAKE(6),
	  EXPECT(22, IDLE_CORE) },
	{ "no LLC: any core of the node", M_NOLLC, .busy = "2", WAKE(2),
	  EXPECT(4, IDLE_CORE) },
	{ "second word of an LLC", M_WIDE, .busy = "0-94", WAKE(0),
	  .self = false, EXPECT(95, IDLE_THREAD) },
	{ "an idle core in the second word", M_WIDE, .busy = "0-93", WAKE(0),
	  EXPECT(94, IDLE_CORE) },
	{ "from the second word back to the first", M_WIDE,
	  .busy = "4-95", WAKE(95), EXPECT(0, IDLE_CORE) },

	/* Rule 2: affinity. */
	{ "core idle, allowed on its second thread only", M_2C2T,
	  .busy = "0", .allowed = "0,3", WAKE(0), EXPECT(3, IDLE_CORE) },
	{ "second thread only, on SMT8", M_SMT8, .busy = "0",
	  .allowed = "0,13", WAKE(0), EXPECT(13, IDLE_CORE) },
	{ "prev not allowed any more, its sibling is", M_XEON,
	  .allowed = "2,13", ASK(AFFINITY, 1, 1), EXPECT(13, IDLE_CORE) },
	{ "prev not allowed, the nearer of two cores", M_XEON,
	  .allowed = "0,23", ASK(AFFINITY, 1, 1), EXPECT(23, IDLE_CORE) },
	{ "nearest core not allowed, a farther one is", M_XEON, .busy = "1",
	  .allowed = "1,12", WAKE(1), EXPECT(12, IDLE_CORE) },
	{ "pinned to CPU 0", M_2C2T, .allowed = "0", WAKE(2),
	  EXPECT(0, PINNED) },
	{ "pinned to CPU 64 of 65", M_65, .allowed = "64", WAKE(0),
	  EXPECT(64, PINNED) },
	{ "CPU 64 of 65 beside a forbidden prev", M_65, .allowed = "1,64",
	  .busy = "1", WAKE(0), EXPECT(64, IDLE_CORE) },
	{ "pinned to a busy CPU", M_2C2T, .busy = "2", .allowed = "2", WAKE(0),
	  EXPECT(2, PINNED) },
	{ "pinned on a machine of many words", M_HUGE, .allowed = "2047",
	  WAKE(0), EXPECT(2047, PINNED) },
	{ "two CPUs in different words are a choice", M_HUGE,
	  .allowed = "5,2040", .busy = "5", WAKE(5), EXPECT(2040, IDLE_CORE) },

	/* Rule 2: claims. */
	{ "a claimed core is not free", M_2L2C2T, .busy = "0", .claimed = "2",
	  WAKE(0), EXPECT(4, IDLE_CORE) },
	{ "a claim on the sibling counts for the core", M_2L2C2T, .busy = "0",
	  .claimed = "3", WAKE(0), EXPECT(4, IDLE_CORE) },
	{ "prev's own core is claimed", M_2C2T, .claimed = "0", WAKE(0),
	  EXPECT(2, IDLE_CORE) },
	{ "a stale claim beside a live one", M_2L2C2T, .busy = "0",
	  .stale = "2", .claimed = "4", WAKE(0), EXPECT(2, IDLE_CORE) },
	{ "a claim never hides an idle sibling", M_2C2T, .busy = "2-3",
	  .claimed = "0", WAKE(3), EXPECT(1, IDLE_THREAD) },
	{ "a claimed thread is not idle for others", M_2C2T, .busy = "0,2,3",
	  .claimed = "1", WAKE(0), EXPECT(0, SHORTEST_WAIT) },

	/* Rule 2: root domains and isolation. */
	{ "never another root domain", M_2L2C2T_DOM, .busy = "0,2", WAKE(0),
	  EXPECT(1, PREV_SIBLING) },
	{ "the second domain for itself", M_2L2C2T_DOM, .busy = "4", WAKE(5),
	  EXPECT(6, IDLE_CORE) },
	{ "prev is in another domain than the waker", M_2L2C2T_DOM,
	  .busy = "0", ASK(SYNC, 4, 0), EXPECT(2, IDLE_CORE) },
	{ "prev left behind in another domain", M_2L2C2T_DOM,
	  .allowed = "6-7", .busy = "6", WAKE(0), EXPECT(7, IDLE_THREAD) },
	{ "an isolated sibling: its core is never wholly idle",
	  M_ISO_SIBLING, WAKE(0), EXPECT(2, IDLE_CORE) },
	{ "an isolated sibling: still a thread to run on", M_ISO_SIBLING,
	  .busy = "2-3", WAKE(2), EXPECT(0, IDLE_THREAD) },
	{ "isolated, allowed, and nothing else", M_2L2C2T_ISO,
	  .allowed = "4-5", WAKE(4), EXPECT(4, NO_TOPOLOGY) },
	{ "isolated and pinned there", M_2L2C2T_ISO, .allowed = "5", WAKE(0),
	  EXPECT(5, PINNED) },
	{ "allowed on isolated CPUs only, prev elsewhere", M_2L2C2T_ISO,
	  .allowed = "4-5", WAKE(0), NOWHERE },
	{ "no allowed CPU at all", M_2C2T, .allowed = "", WAKE(0), NOWHERE },
	{ "prev is no CPU", M_2C2T, .busy = "0", .allowed = "0-3",
	  WAKE(HT_NONE), EXPECT(2, IDLE_CORE) },

	/* Sync: prev's core and prev as in any wakeup, near is near the waker. */
	{ "sync: prev's core idles, far from the waker", M_2L2C2T,
	  .busy = "0", ASK(SYNC, 4, 0), EXPECT(4, PREV_CORE) },
	{ "sync: prev's core is busy, a core near the waker", M_2L2C2T,
	  .busy = "0,4", ASK(SYNC, 5, 0), EXPECT(2, IDLE_CORE) },
	{ "sync: prev's core and the waker's LLC are busy", M_2L2C2T,
	  .busy = "0,2,7", ASK(SYNC, 6, 0), EXPECT(4, IDLE_CORE) },
	{ "sync: no idle core, prev idle, far from the waker", M_2L2C2T,
	  .busy = "0,2,4,6", ASK(SYNC, 5, 0), EXPECT(5, PREV_IDLE) },
	{ "sync: no idle core, prev's sibling, not the waker's", M_2L2C2T,
	  .busy = "0,2,5,6", ASK(SYNC, 5, 0), EXPECT(4, PREV_SIBLING) },
	{ "sync: prev's threads are busy, the waker's sibling", M_2L2C2T,
	  .busy = "0,2,4-6", ASK(SYNC, 5, 0), EXPECT(1, IDLE_THREAD) },
	{ "sync: the waker's CPU is idle, an interrupt", M_2L2C2T,
	  .busy = "1,2,4,6-7", ASK(SYNC, 7, 0), EXPECT(0, IDLE_THREAD) },
	{ "sync: prev is not allowed, its sibling is", M_2L2C2T,
	  .busy = "0,2,4,6", .allowed = "1-3,5-7", ASK(SYNC, 4, 0),
	  EXPECT(5, PREV_SIBLING) },
	{ "sync: the waker's CPU is not allowed", M_2L2C2T,
	  .busy = "0,4", .allowed = "4-7", ASK(SYNC, 5, 0),
	  EXPECT(6, IDLE_CORE) },
	{ "sync: neither is allowed", M_2L2C2T, .busy = "0,4",
	  .allowed = "2-3,6-7", ASK(SYNC, 5, 0), EXPECT(6, IDLE_CORE) },
	{ "sync: prev offline, waker not allowed", M_2L2C2T_OFF3,
	  .allowed = "6-7", ASK(SYNC, 3, 0), EXPECT(6, IDLE_CORE) },
	{ "sync: nothing idles, no candidates: prev", M_2C2T, .busy = "0-3",
	  ASK(SYNC, 3, 0), EXPECT(3, SHORTEST_WAIT) },

	/* Fork and the rest: from where the data is. */
	{ "fork: beside the parent, not beside prev", M_2L2C2T, .busy = "0",
	  ASK(FORK, 0, 0), EXPECT(2, IDLE_CORE) },
	{ "fork: the parent's LLC is full", M_2L2C2T, .busy = "0,2",
	  ASK(FORK, 0, 0), EXPECT(4, IDLE_CORE) },
	{ "fork: no idle core, the parent's sibling", M_2L2C2T,
	  .busy = "0,2,4,6", ASK(FORK, 0, 0), EXPECT(1, PREV_SIBLING) },
	{ "fork, prev elsewhere: near the parent although prev's core idles",
	  M_2L2C2T, .busy = "0", ASK(FORK, 4, 0), EXPECT(2, IDLE_CORE) },
	{ "fork, prev elsewhere: its core is among the nearest", M_CLUSTERS,
	  .busy = "0,2", ASK(FORK, 13, 0), EXPECT(13, PREV_CORE) },
	{ "fork, prev elsewhere: in the parent's cluster", M_CLUSTERS,
	  .busy = "0", ASK(FORK, 3, 0), EXPECT(3, PREV_CORE) },
	{ "fork, prev elsewhere: nothing near, prev's core", M_2L2C2T,
	  .busy = "0,2", ASK(FORK, 7, 0), EXPECT(7, PREV_CORE) },
	{ "fork, prev elsewhere: no idle core, the parent's sibling",
	  M_2L2C2T, .busy = "0,2,4,6", ASK(FORK, 5, 0),
	  EXPECT(1, PREV_SIBLING) },
	{ "fork, prev elsewhere: no idle core, as near as any", M_4C2T_SPLIT,
	  .busy = "0-4", ASK(FORK, 7, 0), EXPECT(7, PREV_IDLE) },
	{ "fork, prev elsewhere: a nearer thread", M_2L2C2T,
	  .busy = "0,1,2,4,6", ASK(FORK, 7, 0), EXPECT(3, IDLE_THREAD) },
	{ "fork, prev elsewhere: the parent's CPU is idle", M_2L2C2T,
	  .busy = "1,2,4,6", ASK(FORK, 7, 0), EXPECT(0, IDLE_THREAD) },
	{ "a wakeup measured from elsewhere still returns to prev", M_2L2C2T,
	  .busy = "0", ASK(WAKEUP, 6, 0), EXPECT(6, PREV_CORE) },
	{ "a wakeup measured from elsewhere, prev's core busy", M_2L2C2T,
	  .busy = "0,6", ASK(WAKEUP, 7, 0), EXPECT(2, IDLE_CORE) },
	{ "exec: it has its core to itself", M_2C2T, .busy = "0",
	  ASK(EXEC, 0, 0), .self = true, EXPECT(0, PREV_CORE) },
	{ "exec: it shares, a core idles", M_2C2T, .busy = "0-1",
	  ASK(EXEC, 0, 0), .self = true, EXPECT(2, IDLE_CORE) },
	{ "exec: it shares, nothing idles", M_2C2T, .busy = "0-3",
	  ASK(EXEC, 0, 0), .self = true, EXPECT(0, PREV_IDLE) },
	{ "class switch beside a busy sibling", M_2C2T, .busy = "2-3",
	  ASK(CLASS, 2, 2), .self = true, EXPECT(0, IDLE_CORE) },
	{ "hotplug: its CPU has no slot any more", M_2L2C2T_OFF3,
	  .busy = "0", ASK(HOTPLUG, 3, 3), EXPECT(2, IDLE_CORE) },
	{ "affinity: moved by its own mask, core to itself", M_2C2T,
	  .busy = "0", .allowed = "1-3", ASK(AFFINITY, 0, 0), .self = true,
	  EXPECT(1, IDLE_CORE) },
	{ "a hog leaves a busy sibling when a core idles", M_2C2T,
	  .busy = "0,1", ASK(UNSHARE, 1, 1), EXPECT(2, IDLE_CORE) },

	/* Rules 3 to 5. */
	{ "prev idle, its sibling busy, no core idle", M_2C2T, .busy = "0,2",
	  WAKE(1), EXPECT(1, PREV_IDLE) },
	{ "prev idle but claimed", M_2C2T, .busy = "0,2", .claimed = "1",
	  WAKE(1), EXPECT(3, IDLE_THREAD) },
	{ "prev idle but not allowed", M_2C2T, .busy = "0,2",
	  .allowed = "0,2-3", WAKE(1), EXPECT(3, IDLE_THREAD) },
	{ "prev's sibling before other threads of the LLC", M_4C2T_SPLIT,
	  .busy = "0-3", WAKE(2), EXPECT(6, PREV_SIBLING) },
	{ "the same machine, numbered n,n+1", M_2L2C2T, .busy = "1,3,5,7",
	  WAKE(5), EXPECT(4, PREV_SIBLING) },
	{ "prev not allowed, its idle sibling is", M_2C2T, .busy = "0,2",
	  .allowed = "1-3", WAKE(0), EXPECT(1, PREV_SIBLING) },
	{ "sibling claimed", M_4C2T_SPLIT, .busy = "0-3", .claimed = "6",
	  WAKE(2), EXPECT(7, IDLE_THREAD) },
	{ "third thread of four", M_SMT4, .busy = "0-1,3-4", WAKE(1),
	  EXPECT(2, PREV_SIBLING) },
	{ "a thread of the cluster before others", M_CLUSTERS,
	  .busy = "0-5,7-10,12,14", WAKE(4), EXPECT(6, IDLE_THREAD) },
	{ "an idle thread in the other LLC", M_2L2C2T, .busy = "0-3,4,6",
	  WAKE(0), EXPECT(5, IDLE_THREAD) },
	{ "an idle thread on the other socket", M_XEON,
	  .busy = "0-11,13,15,17,19,21,23", WAKE(1), EXPECT(12, IDLE_THREAD) },
	{ "the idle thread is not allowed", M_2C2T, .busy = "0-2",
	  .allowed = "0-2", WAKE(0), EXPECT(0, SHORTEST_WAIT) },

	/* Rule 6. */
	{ "all busy: the shortest wait", M_2C2T, .busy = "0-3", WAKE(0),
	  WAITS(3, { 0, false, 900 }, { 2, false, 500 }, { 3, false, 700 }),
	  EXPECT(2, SHORTEST_WAIT) },
	{ "all busy: SCHED_IDLE only is no wait", M_2C2T, .busy = "0-3",
	  WAKE(0), WAITS(3, { 0, false, 1 }, { 2, true, 500 },
			 { 3, true, 100 }), EXPECT(2, SCHED_IDLE) },
	{ "all busy: SCHED_IDLE listed first stays first", M_2C2T,
	  .busy = "0-3", WAKE(0), WAITS(2, { 2, true, 9 }, { 3, false, 1 }),
	  EXPECT(2, SCHED_IDLE) },
	{ "a tie goes to prev", M_2C2T, .busy = "0-3", WAKE(1),
	  WAITS(3, { 0, false, 5 }, { 1, false, 5 }, { 2, false, 5 }),
	  EXPECT(1, SHORTEST_WAIT) },
	{ "a tie of SCHED_IDLE goes to prev", M_2C2T, .busy = "0-3", WAKE(1),
	  WAITS(3, { 0, true, 1 }, { 1, true, 5 }, { 2, true, 5 }),
	  EXPECT(1, SCHED_IDLE) },
	{ "prev loses if it is longer", M_2C2T, .busy = "0-3", WAKE(1),
	  WAITS(2, { 0, false, 5 }, { 1, false, 6 }),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "a tie without prev: the first", M_2C2T, .busy = "0-3", WAKE(3),
	  WAITS(2, { 2, false, 5 }, { 0, false, 5 }),
	  EXPECT(2, SHORTEST_WAIT) },
	{ "the shortest wait is not allowed", M_2C2T, .busy = "0-3",
	  .allowed = "0-1", WAKE(1), WAITS(2, { 2, false, 1 }, { 0, false, 9 }),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "the shortest wait is in another domain", M_2L2C2T_DOM,
	  .busy = "0-7", WAKE(1), WAITS(2, { 4, false, 1 }, { 0, false, 9 }),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "the shortest wait has no slot", M_2L2C2T_OFF3, .busy = "0-7",
	  WAKE(1), WAITS(3, { 3, true, 0 }, { 99, true, 0 }, { 2, false, 9 }),
	  EXPECT(2, SHORTEST_WAIT) },
	{ "no candidate allowed: prev", M_2C2T, .busy = "0-3",
	  .allowed = "0-1", WAKE(1), WAITS(1, { 2, false, 1 }),
	  EXPECT(1, SHORTEST_WAIT) },
	{ "no candidates, prev not allowed: the first allowed CPU", M_2C2T,
	  .busy = "0-3", .allowed = "2-3", WAKE(1),
	  EXPECT(2, SHORTEST_WAIT) },
	{ "fork with everything busy, no candidates: prev", M_2C2T,
	  .busy = "0-3", ASK(FORK, 3, 0), EXPECT(3, SHORTEST_WAIT) },

	/* SMT knowledge off: all threads are equal. */
	{ "smt off: prev although a core idles", M_2C2T, .busy = "0", WAKE(1),
	  .nosmt = true, EXPECT(1, PREV_IDLE) },
	{ "smt off: the nearest thread, a sibling", M_2L2C2T, .busy = "0",
	  WAKE(0), .nosmt = true, EXPECT(1, IDLE_THREAD) },
	{ "smt off: the next core", M_2L2C2T, .busy = "0-1", WAKE(0),
	  .nosmt = true, EXPECT(2, IDLE_THREAD) },
	{ "smt off: all busy", M_2C2T, .busy = "0-3", WAKE(0), .nosmt = true,
	  WAITS(2, { 0, false, 2 }, { 1, false, 1 }),
	  EXPECT(1, SHORTEST_WAIT) },
	{ "smt off: fork, prev as near as any", M_4C2T_SPLIT, .busy = "0,4",
	  ASK(FORK, 3, 0), .nosmt = true, EXPECT(3, PREV_IDLE) },
	{ "smt off: sync, prev far from the waker", M_2L2C2T, .busy = "0",
	  ASK(SYNC, 7, 0), .nosmt = true, EXPECT(7, PREV_IDLE) },
	{ "smt off: sync, prev busy, a thread near the waker", M_2L2C2T,
	  .busy = "0,7", ASK(SYNC, 7, 0), .nosmt = true,
	  EXPECT(1, IDLE_THREAD) },

	/* Shapes. */
	{ "one CPU: idle", M_ONE, WAKE(0), EXPECT(0, PREV_CORE) },
	{ "one CPU: busy", M_ONE, .busy = "0", ASK(FORK, 0, 0),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "no SMT: an idle CPU is an idle core", M_SMT1, .busy = "1", WAKE(1),
	  EXPECT(2, IDLE_CORE) },
	{ "no SMT: prev", M_SMT1, .busy = "1", WAKE(2), EXPECT(2, PREV_CORE) },
	{ "SMT switched off: an idle CPU is an idle core", M_NOSMT,
	  .busy = "0", WAKE(0), EXPECT(2, IDLE_CORE) },
	{ "SMT switched off: prev was a sibling that is gone", M_NOSMT,
	  .busy = "0", WAKE(3), EXPECT(2, IDLE_CORE) },
	{ "SMT3: the padding is no thread", M_SMT3, .busy = "0,3,6",
	  WAKE(0), EXPECT(9, IDLE_CORE) },
	{ "SMT3: third thread", M_SMT3, .busy = "0,1,3,6,9", WAKE(0),
	  EXPECT(2, PREV_SIBLING) },
	{ "SMT8: one busy thread of eight", M_SMT8, .busy = "3", WAKE(0),
	  EXPECT(8, IDLE_CORE) },
	{ "SMT8: both cores busy", M_SMT8, .busy = "3,15", WAKE(3),
	  EXPECT(0, PREV_SIBLING) },
	{ "SMT64: a core fills a word", M_SMT64, .busy = "63", WAKE(0),
	  EXPECT(64, IDLE_CORE) },
	{ "SMT64: the last thread of the last core", M_SMT64,
	  .busy = "0-126", WAKE(0), EXPECT(127, IDLE_THREAD) },
	{ "a one-thread core is a whole core", M_MIXED, .busy = "0", WAKE(1),
	  EXPECT(2, IDLE_CORE) },
	{ "a one-thread core, busy", M_MIXED, .busy = "2", WAKE(2),
	  EXPECT(0, IDLE_CORE) },
	{ "hybrid: a one-thread core before a sibling", M_HYBRID,
	  .busy = "0,2,4,6,8,10", WAKE(0), EXPECT(12, IDLE_CORE) },
	{ "hybrid: within the L2 of efficiency cores", M_HYBRID,
	  .busy = "12,14", WAKE(14), EXPECT(16, IDLE_CORE) },
	{ "hybrid: cores without L3 last", M_HYBRID,
	  .busy = "0,2,4,6,8,10,12,14,16,18,20,22,24,26", WAKE(0),
	  EXPECT(28, IDLE_CORE) },
	{ "hybrid: from a core without L3 to the other one", M_HYBRID,
	  .busy = "28", WAKE(28), EXPECT(30, IDLE_CORE) },
	{ "possible far beyond present", M_POSSIBLE, .busy = "0",
	  .allowed = "0-127", WAKE(100), EXPECT(2, IDLE_CORE) },
	{ "possible far beyond present: a stale prev, none idle",
	  M_POSSIBLE, .busy = "0-3", .allowed = "0-127", WAKE(100),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "2048 CPUs: the last core of the last node", M_HUGE,
	  .busy = "0-1022,1024-2046", WAKE(0), EXPECT(1023, IDLE_CORE) },
	{ "2048 CPUs: the last thread", M_HUGE, .busy = "0-2046", WAKE(0),
	  EXPECT(2047, IDLE_THREAD) },
	{ "24 LLCs: own LLC first", M_24L8C, .busy = "7", WAKE(7),
	  EXPECT(0, IDLE_CORE) },
	{ "24 LLCs: next LLC of the node", M_24L8C, .busy = "8-15", WAKE(8),
	  EXPECT(16, IDLE_CORE) },
	{ "core of 0,241,242,243: CPU 0 busy", M_KNC, .busy = "0",
	  WAKE(241), EXPECT(1, IDLE_CORE) },
	{ "core of 0,241,242,243: sibling", M_KNC, .busy = "0-239",
	  WAKE(0), EXPECT(241, PREV_SIBLING) },
	{ "contradicting masks: the core still counts", M_SPLIT_L2,
	  .busy = "0", WAKE(1), EXPECT(2, IDLE_CORE) },
	{ "equal core ids on two sockets are two cores", M_XEON, .busy = "1",
	  WAKE(0), EXPECT(0, PREV_CORE) },
	{ "the Xeon: next core of the socket", M_XEON, .busy = "13", WAKE(1),
	  EXPECT(3, IDLE_CORE) },

	/* Prices: cores. A run of 20 us loses 16 us beside a busy thread. */
	{ "price: prev's core is idle", M_2L2C2T, WAKE(3), RUNS(5000, 0, 0),
	  EXPECT(3, PREV_CORE) },
	{ "price: back to a core that nothing else used is free", M_2L2C2T,
	  WAKE(3), RUNS(1, 200, 4000), EXPECT(3, PREV_CORE) },
	{ "price: 5 ms, warm: a core of the LLC", M_2C2T, .busy = "0",
	  WAKE(1), RUNS(5000, 200, 4000), EXPECT(2, IDLE_CORE) },
	{ "price: 30 us, warm: stays beside a busy thread", M_2C2T,
	  .busy = "0", WAKE(1), RUNS(30, 200, 4000), EXPECT(1, WARM) },
	{ "price: 30 us, cold: a core of the LLC", M_2C2T, .busy = "0",
	  WAKE(1), RUNS(30, 0, 4000), EXPECT(2, IDLE_CORE) },
	{ "price: 30 us, half warm: a core of the LLC", M_2C2T, .busy = "0",
	  WAKE(1), RUNS(30, 100, 4000), EXPECT(2, IDLE_CORE) },
	{ "price: 30 us, warm, prev busy: its sibling", M_2C2T, .busy = "0",
	  WAKE(0), RUNS(30, 200, 4000), EXPECT(1, WARM) },
	{ "price: the same without SMT knowledge", M_2C2T, .busy = "0",
	  WAKE(1), .nosmt = true, RUNS(5000, 0, 0), EXPECT(1, PREV_IDLE) },
	{ "price: 20 us, cold: never another LLC for a core", M_2L2C2T,
	  .busy = "0,2", WAKE(1), RUNS(20, 0, 0), EXPECT(1, WARM) },
	{ "price: 20 us, cold, prev busy: its sibling", M_2L2C2T,
	  .busy = "0,2", WAKE(2), RUNS(20, 0, 0), EXPECT(3, WARM) },
	{ "price: 20 us, prev's core busy: a thread of the LLC", M_2L2C2T,
	  .busy = "0-2", WAKE(0), RUNS(20, 0, 0), EXPECT(3, WARM) },
	{ "price: 5 ms, warm: another LLC for a core", M_2L2C2T,
	  .busy = "0,2", WAKE(1), RUNS(5000, 200, 4000),
	  EXPECT(4, IDLE_CORE) },
	{ "price: 300 us, warm: not another LLC", M_2L2C2T, .busy = "0,2",
	  WAKE(1), RUNS(300, 200, 4000), EXPECT(1, WARM) },
	{ "price: 300 us, cold: another LLC", M_2L2C2T, .busy = "0,2",
	  WAKE(1), RUNS(300, 0, 0), EXPECT(4, IDLE_CORE) },
	{ "price: 500 us, warm: the other LLC of the node", M_16L3C,
	  .busy = "0-2", WAKE(0), RUNS(500, 200, 4000),
	  EXPECT(3, IDLE_CORE) },
	{ "price: 500 us, warm: not another node", M_16L3C, .busy = "0-5",
	  WAKE(0), RUNS(500, 200, 20000), EXPECT(48, WARM) },
	{ "price: 5 ms, warm: another node", M_16L3C, .busy = "0-5",
	  WAKE(0), RUNS(5000, 200, 20000), EXPECT(6, IDLE_CORE) },
	{ "price: 10 us, warm: the L2 is shared", M_CLUSTERS, .busy = "4",
	  WAKE(4), RUNS(10, 200, 4000), EXPECT(6, IDLE_CORE) },
	{ "price: nowhere else, 5 ms", M_2C2T, .busy = "0,2-3", WAKE(1),
	  RUNS(5000, 200, 4000), EXPECT(1, PREV_IDLE) },
	{ "price: fork: a core", M_2C2T, .busy = "0", ASK(FORK, 0, 0),
	  RUNS(3000, 200, 4000), EXPECT(2, IDLE_CORE) },
	{ "price: exec alone on its core", M_2C2T, .busy = "0",
	  ASK(EXEC, 0, 0), .self = true, RUNS(3000, 0, 0),
	  EXPECT(0, PREV_CORE) },
	{ "price: a core is unknown in part", M_ISO_SIBLING, .busy = "0,2",
	  .allowed = "0,2-3", WAKE(2), RUNS(5000, 0, 0),
	  EXPECT(3, PREV_SIBLING) },

	/* Prices: whom to sit beside. */
	{ "price: 5 ms beside nice 19 rather than nice 0", M_2C2T,
	  .busy = "0,2", .light = "2", WAKE(1), RUNS(5000, 200, 4000),
	  EXPECT(3, LIGHT) },
	{ "price: rules do not know who is light", M_2C2T, .busy = "0,2",
	  .light = "2", WAKE(1), EXPECT(1, PREV_IDLE) },
	{ "price: stays beside nice 19", M_2C2T, .busy = "0,2",
	  .light = "0,2", WAKE(1), RUNS(5000, 200, 4000),
	  EXPECT(1, PREV_IDLE) },
	{ "price: one of two neighbours is not light", M_SMT4,
	  .busy = "0,1,4", .light = "0,4", WAKE(2), RUNS(5000, 200, 4000),
	  EXPECT(5, LIGHT) },
	{ "price: too short to go and sit beside nice 19", M_2C2T,
	  .busy = "0,2", .light = "2", WAKE(1), RUNS(10, 200, 4000),
	  EXPECT(1, WARM) },

	/* Prices: partners. */
	{ "price: one wakeup makes no partner", M_2L2C2T, .busy = "0",
	  WAKE(4), RUNS(20, 0, 0), .pair = 1, EXPECT(4, PREV_CORE) },
	{ "price: seven neither", M_2L2C2T, .busy = "0", WAKE(4),
	  RUNS(20, 0, 0), .pair = 7, EXPECT(4, PREV_CORE) },
	{ "price: a steady partner, nothing warm: to its LLC", M_2L2C2T,
	  .busy = "0", WAKE(4), RUNS(20, 0, 0), .pair = 100,
	  EXPECT(2, PARTNER) },
	{ "price: a steady partner, but all is warm here", M_2L2C2T,
	  .busy = "0", WAKE(4), RUNS(20, 200, 4000), .pair = 100,
	  EXPECT(4, PREV_CORE) },
	{ "price: steadier still", M_2L2C2T, .busy = "0", WAKE(4),
	  RUNS(20, 200, 4000), .pair = 255, EXPECT(2, PARTNER) },
	{ "price: no core near the partner: its sibling", M_2L2C2T,
	  .busy = "0,2", WAKE(4), RUNS(20, 0, 0), .pair = 100,
	  EXPECT(1, WARM) },
	{ "price: too long for a place beside the partner", M_2L2C2T,
	  .busy = "0,2", WAKE(4), RUNS(5000, 0, 0), .pair = 100,
	  EXPECT(4, PREV_CORE) },
	{ "price: a partner in the same LLC draws nobody", M_2L2C2T,
	  .busy = "0", WAKE(2), RUNS(1, 0, 0), .pair = 255,
	  EXPECT(2, PREV_CORE) },
	{ "price: the partner is in another root domain", M_2L2C2T_DOM,
	  .busy = "0", WAKE(4), RUNS(20, 0, 0), .pair = 255,
	  EXPECT(4, PREV_CORE) },

	/* Prices: with nothing idle. */
	{ "price: the shorter wait is near", M_2L2C2T, .busy = "0-7",
	  WAKE(0), RUNS(20, 200, 4000),
	  WAITS(2, { 0, false, 6000000 }, { 2, false, 3000000 }),
	  EXPECT(2, SHORTEST_WAIT) },
	{ "price: a little less wait is not worth another LLC", M_2L2C2T,
	  .busy = "0-7", WAKE(0), RUNS(20, 200, 4000),
	  WAITS(2, { 4, false, 2900000 }, { 0, false, 3000000 }),
	  EXPECT(0, SHORTEST_WAIT) },
	{ "price: SCHED_IDLE in another LLC", M_2L2C2T, .busy = "0-7",
	  WAKE(0), RUNS(20, 200, 4000),
	  WAITS(2, { 0, false, 3000000 }, { 4, true, 9000000 }),
	  EXPECT(4, SCHED_IDLE) },
	{ "price: no sample of waits", M_2C2T, .busy = "0-3", WAKE(2),
	  RUNS(20, 200, 4000), EXPECT(2, SHORTEST_WAIT) },
	{ "price: no candidate of the sample is allowed", M_2C2T,
	  .busy = "0-3", .allowed = "0-1", WAKE(1), RUNS(20, 200, 4000),
	  WAITS(1, { 2, false, 1 }), EXPECT(1, SHORTEST_WAIT) },
};

#define HT_NR_CASES	ARRAY_SIZE(ht_cases)

/**
 * struct ht_spread - tasks that arrive one after the other and stay
 * @name:      what it is about
 * @machine:   where
 * @kind:      how they arrive
 * @origin:    prev and origin of each
 * @tasks:     how many
 * @allowed:   affinity, NULL: all
 * @cores:     how many distinct cores they must be on at the end
 */
struct ht_spread {
	const char *name;
	enum ht_machine_id machine;
	enum ht_kind kind;
	ht_u32 origin;
	ht_u32 tasks;
	const char *allowed;
	ht_u32 cores;
};

static const struct ht_spread ht_spreads[] __maybe_unused = {
	{ "4 hogs on 4 cores numbered (0,4)..(3,7)", M_4C2T_SPLIT,
	  HT_KIND_WAKEUP, 0, 4, NULL, 4 },
	{ "4 forks from one parent", M_2L2C2T, HT_KIND_FORK, 0, 4, NULL, 4 },
	{ "5 forks: one shares", M_2L2C2T, HT_KIND_FORK, 0, 5, NULL, 4 },
	{ "4 forks, then exec", M_2L2C2T, HT_KIND_EXEC, 0, 4, NULL, 4 },
	{ "16 on 2 sockets x 8 x 2", M_2S8C2T, HT_KIND_WAKEUP, 5, 16, NULL,
	  16 },
	{ "11 on 2 sockets x 8 x 2", M_2S8C2T, HT_KIND_FORK, 31, 11, NULL,
	  11 },
	{ "4 on 1 x 4 x 2", M_4C2T_SPLIT, HT_KIND_FORK, 7, 4, NULL, 4 },
	{ "7, one short of an LLC of 8 CPUs", M_4C2T_SPLIT, HT_KIND_FORK, 0,
	  7, NULL, 4 },
	{ "3 on a one-thread core and a two-thread core", M_MIXED,
	  HT_KIND_FORK, 0, 3, NULL, 2 },
	{ "16 on the hybrid", M_HYBRID, HT_KIND_FORK, 0, 16, NULL, 16 },
	{ "48 on 16 LLCs of 3", M_16L3C, HT_KIND_FORK, 0, 48, NULL, 48 },
	{ "61 on 61 cores of 4", M_KNC, HT_KIND_FORK, 0, 61, NULL, 61 },
	{ "12 on the dual Xeon", M_XEON, HT_KIND_FORK, 0, 12, NULL, 12 },
	{ "6 on one socket by affinity", M_XEON, HT_KIND_FORK, 1, 6,
	  "1,3,5,7,9,11,13,15,17,19,21,23", 6 },
	{ "second threads only", M_XEON, HT_KIND_FORK, 12, 12, "12-23", 12 },
};

#define HT_NR_SPREADS	ARRAY_SIZE(ht_spreads)

/* Running them. */

/**
 * struct ht_bench - what a runner needs; a few hundred KiB, zeroed once
 * @desc:       CPUs of the present machine
 * @topo:       its snapshot
 * @state:      points to the arrays below
 * @req:        the present request
 * @word:       state
 * @claim_tick: state
 * @allowed:    affinity
 * @mem:        arrays of @topo
 */
struct ht_bench {
	struct ht_cpu_desc desc[HT_CASE_CPUS];
	struct ht_topo topo;
	struct ht_state state;
	struct ht_request req;
	struct ht_word word[HT_CASE_CPUS / 8];
	ht_u32 claim_tick[HT_CASE_CPUS * 8];
	ht_u64 allowed[HT_CASE_CPUS / HT_WORD_BITS];
	ht_u64 mem[HT_CASE_CPUS * 16];
};

#define HT_CASE_TICK	1000

/* Sets a machine up, all of it idle. Returns an enum ht_layout_error. */
static inline int ht_bench_machine(struct ht_bench *b, enum ht_machine_id id)
{
	const struct ht_machine_shape *m = &ht_machines[id];
	ht_u32 nr = ht_shape_desc(m, b->desc);
	struct ht_layout_size size;
	ht_u32 i;
	int err = ht_layout_size(b->desc, nr, &size);

	if (err)
		return err;
	if (size.nr_cpus < m->possible)
		size.nr_cpus = m->possible;
	if (ht_layout_bytes(&size) > sizeof(b->mem))
		return HT_LAYOUT_MISMATCH;
	ht_layout_attach(&b->topo, &size, b->mem);
	err = ht_layout_fill(&b->topo, b->desc, nr, NULL, 0);
	b->state.word = b->word;
	b->state.claim_tick = b->claim_tick;
	b->state.tick = HT_CASE_TICK;
	for (i = 0; !err && i < b->topo.nr_words; i++)
		b->word[i] = (struct ht_word){ .idle = b->topo.present[i] };
	return err;
}

static inline void ht_bench_busy(struct ht_bench *b, ht_u32 cpu)
{
	ht_u32 slot = b->topo.cpu_slot[cpu];

	if (slot != HT_NONE)
		b->word[slot / HT_WORD_BITS].idle &=
			~((ht_u64)1 << (slot % HT_WORD_BITS));
}

static inline void ht_bench_light(struct ht_bench *b, ht_u32 cpu)
{
	ht_u32 slot = b->topo.cpu_slot[cpu];

	if (slot != HT_NONE)
		b->word[slot / HT_WORD_BITS].light |=
			(ht_u64)1 << (slot % HT_WORD_BITS);
}

static inline void ht_bench_claim(struct ht_bench *b, ht_u32 cpu, ht_u32 tick)
{
	ht_u32 slot = b->topo.cpu_slot[cpu];

	if (slot == HT_NONE)
		return;
	b->word[slot / HT_WORD_BITS].claimed |=
		(ht_u64)1 << (slot % HT_WORD_BITS);
	b->claim_tick[slot] = tick;
}

static inline void ht_bench_allow(struct ht_bench *b, const char *list)
{
	ht_u32 cpu;

	b->req.allowed_all = !list;
	b->req.allowed = b->allowed;
	for (cpu = 0; cpu < HT_CASE_CPUS; cpu++) {
		ht_u64 bit = (ht_u64)1 << (cpu % HT_WORD_BITS);

		if (list && ht_list_has(list, cpu))
			b->allowed[cpu / HT_WORD_BITS] |= bit;
		else
			b->allowed[cpu / HT_WORD_BITS] &= ~bit;
	}
}

static inline void ht_bench_state(struct ht_bench *b, const struct ht_case *c)
{
	ht_u32 cpu;

	for (cpu = 0; cpu < b->topo.nr_cpus; cpu++) {
		if (ht_list_has(c->busy, cpu))
			ht_bench_busy(b, cpu);
		if (ht_list_has(c->light, cpu))
			ht_bench_light(b, cpu);
		if (ht_list_has(c->stale, cpu))
			ht_bench_claim(b, cpu, HT_CASE_TICK - 2);
		if (ht_list_has(c->claimed, cpu))
			ht_bench_claim(b, cpu, HT_CASE_TICK - 1);
	}
}

/* The defaults of the tunables, on a machine with two cores to an LLC. */
static inline void ht_bench_prices(struct ht_request *req)
{
	req->prices = (struct ht_prices){
		.yield_pct = HT_YIELD_PCT,
		.refill_ns = { HT_REFILL_CORE_US * 1000,
			       HT_REFILL_LLC_US * 1000,
			       HT_REFILL_NODE_US * 1000 },
		.fill_ns = { HT_FILL_CORE_US * 1000, 2 * HT_FILL_LLC_US * 1000,
			     HT_FILL_NODE_US * 1000 },
		.pair_ns = HT_PAIR_NS,
	};
}

static inline void ht_bench_request(struct ht_bench *b,
				    const struct ht_case *c)
{
	ht_u32 i;

	b->req.kind = c->kind;
	b->req.prev_cpu = c->prev;
	b->req.origin_cpu = c->from_prev ? c->prev : c->origin;
	b->req.smt = !c->nosmt;
	b->req.prev_is_self = c->self;
	b->req.nr_allowed = 0;
	b->req.nr_waits = c->nr_waits;
	for (i = 0; i < c->nr_waits; i++)
		b->req.waits[i] = c->waits[i];
	b->req.priced = c->run_us;
	ht_bench_prices(&b->req);
	b->req.run_ns = c->run_us * 1000ull;
	b->req.resid_ns[HT_LEVEL_CORE] = c->core_us * 1000;
	b->req.resid_ns[HT_LEVEL_LLC] = c->llc_us * 1000;
	b->req.resid_ns[HT_LEVEL_NODE] = c->llc_us * 1000;
	b->req.waker_cpu = 0;
	b->req.pair = c->pair;
	ht_bench_allow(b, c->allowed);
}

/**
 * struct ht_result - what came of a case
 * @layout:    enum ht_layout_error, the rest is valid if 0
 * @topo:      what the validator says of the snapshot
 * @verdict:   what was decided
 * @check:     what the validator says of that
 */
struct ht_result {
	int layout;
	enum ht_check_error topo;
	struct ht_verdict verdict;
	enum ht_check_error check;
};

static inline bool ht_case_run(struct ht_bench *b, const struct ht_case *c,
			       struct ht_result *r)
{
	r->topo = HT_CHECK_OK;
	r->check = HT_CHECK_OK;
	r->layout = ht_bench_machine(b, c->machine);
	if (r->layout)
		return false;
	r->topo = ht_check_topo(&b->topo);
	ht_bench_state(b, c);
	ht_bench_request(b, c);
	ht_policy_select(&b->topo, &b->state, &b->req, &r->verdict);
	r->check = ht_check_select(&b->topo, &b->state, &b->req, &r->verdict);
	return !r->topo && !r->check && r->verdict.cpu == c->cpu &&
	       r->verdict.why == c->why;
}

/* Cores with at least one thread that is busy or claimed. */
static inline ht_u32 ht_bench_taken_cores(const struct ht_bench *b)
{
	ht_u32 slot, cores = 0;
	ht_u64 seen = 0;

	for (slot = 0; slot < b->topo.nr_words * HT_WORD_BITS; slot++) {
		ht_u32 word = slot / HT_WORD_BITS;
		ht_u64 bit = (ht_u64)1 << (slot % HT_WORD_BITS);
		const struct ht_word *w = &b->word[word];

		if (!(slot % HT_WORD_BITS))
			seen = 0;
		if (!(b->topo.present[word] & (~w->idle | w->claimed) & bit &
		      ~seen))
			continue;
		seen |= ht_core_mask(&b->topo, slot);
		cores++;
	}
	return cores;
}

/**
 * ht_spread_run() - place the tasks of a spread
 * @b:         bench
 * @s:         which tasks, where
 * @claims:    all at once: each one sees the claims of those before it, and
 *             nobody has arrived yet (INV-7)
 * @r:         output, with the last verdict
 *
 * Return: whether each verdict was right and they are on as many cores as
 * they should be.
 */
static inline bool ht_spread_run(struct ht_bench *b, const struct ht_spread *s,
				 bool claims, struct ht_result *r)
{
	struct ht_case ask = { .kind = s->kind, .prev = s->origin,
			       .origin = s->origin, .allowed = s->allowed };
	ht_u32 i;

	r->check = HT_CHECK_OK;
	r->layout = ht_bench_machine(b, s->machine);
	if (r->layout)
		return false;
	ht_bench_request(b, &ask);
	for (i = 0; i < s->tasks; i++) {
		ht_policy_select(&b->topo, &b->state, &b->req, &r->verdict);
		r->check = ht_check_select(&b->topo, &b->state, &b->req,
					   &r->verdict);
		if (r->check)
			break;
		if (claims)
			ht_bench_claim(b, r->verdict.cpu, HT_CASE_TICK);
		else
			ht_bench_busy(b, r->verdict.cpu);
	}
	return !r->check && ht_bench_taken_cores(b) == s->cores;
}

#undef ASK
#undef WAKE
#undef RUNS
#undef EXPECT
#undef NOWHERE
#undef WAITS

#endif /* _KERNEL_SCHED_HT_POLICY_CASES_H */
