// SPDX-License-Identifier: GPL-2.0
/*
 * Un-sharing (INV-2): a SCHED_HT task does not stay beside a busy thread while
 * a core that it may use is wholly idle; two ticks handled by its own CPU are
 * the limit. Nor is it put there: the share of wakeups beside a busy thread
 * with a core idle is 0, for one waker and for as many as there are cores.
 *
 *      core 0     core 1                 core 0     core 1
 *     [A] [B]    [ ] [ ]     becomes    [A] [ ]    [B] [ ]
 */
#include "ht_test.h"
#include "ht_trace.h"

#include <time.h>

static struct ht_topo topo;

static void setup(int cores)
{
	ht_topo_read(&topo);
	ht_need_trace();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, cores + 1, cores);
}

static void finish(struct ht_audit *audit)
{
	long long worst;

	ht_trace_stop();
	ht_trace_replay(&topo, audit, NULL, NULL);
	ht_audit_print(audit);
	ht_audit_inv2(audit);
	/* It does not see what the emulator does, see ht_trace.h. */
	worst = ht_inv2_worst_ticks();
	EXPECT(worst <= 8, "the kernel's checker says %lld ticks", worst);
}

/* Once both have run for a while: a host may keep a virtual CPU waiting. */
static bool share_core(int a, int b)
{
	ht_wait_cpu_ns(&a, 1, 5 * ht_tick_ns());
	ht_wait_cpu_ns(&b, 1, 5 * ht_tick_ns());
	return ht_has(topo.core_of[ht_slot(a)->cpu], ht_slot(b)->cpu);
}

/* Both pinned to the threads of one core again, and running there. */
static void bring_together(int a, int b, int first, int second)
{
	ht_pin(ht_slot(a)->pid, HT_CPU(first));
	ht_pin(ht_slot(b)->pid, HT_CPU(second));
	EXPECT(ht_runs_within(a, HT_CPU(first)), "A is not on CPU %d", first);
	EXPECT(ht_runs_within(b, HT_CPU(second)), "B is not on CPU %d", second);
}

static void released(int nice_b, int policy_b)
{
	unsigned int rounds = ht_rounds(20), together = 0;
	int core, first, second, hogs[2];
	struct ht_audit audit;

	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core] & topo.usable);
	second = ht_topo_sibling(&topo, first);
	/* We share A's CPU: no other core is disturbed. */
	ht_pin(0, HT_CPU(first));
	hogs[0] = ht_hog("ht-A", SCHED_HT, 0, HT_CPU(first));
	hogs[1] = ht_hog(policy_b == SCHED_HT ? "ht-B" : "nh-B", policy_b,
			 nice_b, HT_CPU(second));
	for (int n = 0; n < 2; n++)
		ht_trace_mask(ht_slot(hogs[n])->pid, 0);
	ht_inv2_reset();
	ht_trace_start();
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		for (int n = 0; n < 2; n++)
			ht_trace_mark("htmask %d 0", ht_slot(hogs[n])->pid);
		bring_together(hogs[0], hogs[1], first, second);
		for (int n = 0; n < (policy_b == SCHED_HT ? 2 : 1); n++) {
			ht_pin(ht_slot(hogs[n])->pid, topo.usable);
			ht_trace_mark("htmask %d %llx", ht_slot(hogs[n])->pid,
				      (unsigned long long)topo.usable);
		}
		together += share_core(hogs[0], hogs[1]);
	}
	finish(&audit);
	/* The audit knows if they had to; others may drive one back for a moment. */
	EXPECT(together * 8 <= rounds, "%u of %u pairs stayed on one core", together,
	       rounds);
	ht_kill_all();
}

TEST(released_pair, "two hogs on one core, released, separate")
{
	setup(2);
	released(0, SCHED_HT);
}

TEST(released_nice, "nice 0 and nice 19 on siblings separate")
{
	setup(2);
	released(19, SCHED_HT);
}

TEST(beside_fair, "a hog leaves a pinned SCHED_NORMAL hog's core")
{
	setup(2);
	released(0, SCHED_OTHER);
}

/* All threads outside A's core are busy until the hogs of one core end. */
TEST(core_falls_idle, "when another core's hogs end, one of two moves there")
{
	unsigned int rounds = ht_rounds(8), together = 0;
	struct ht_audit audit;
	int core, first;

	setup(2);
	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core] & topo.usable);
	ht_pin(0, HT_CPU(first));
	ht_inv2_reset();
	ht_trace_start();
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		int pair[2], fill[HT_MAX_CPUS], nr = 0, cpu, left;

		ht_for_each_cpu(cpu, topo.usable & ~topo.core[core])
			fill[nr++] = ht_hog("nh-fill", SCHED_OTHER, 0, HT_CPU(cpu));
		pair[0] = ht_hog("ht-A", SCHED_HT, 0, topo.usable);
		pair[1] = ht_hog("ht-B", SCHED_HT, 0, topo.usable);
		ht_wait_cpu_ns(pair, 2, 8 * ht_tick_ns());
		/* The last core of all, or the one before. */
		left = topo.nr_cores - 1 - (i % 2 && topo.nr_cores > 2);
		left = left == core ? left - 1 : left;
		for (int n = 0; n < nr; n++)
			if (ht_has(topo.core[left],
				   ht_first(ht_affinity(ht_slot(fill[n])->pid))))
				ht_kill(fill[n]);
		together += share_core(pair[0], pair[1]);
		ht_kill_all();
	}
	finish(&audit);
	/* The audit knows if they had to; others may drive one back for a moment. */
	EXPECT(together * 8 <= rounds, "%u of %u pairs stayed on one core", together,
	       rounds);
}

/* A pair that is not allowed to separate must not bounce either. */
TEST(not_allowed, "un-sharing respects masks: nobody leaves, nothing is counted")
{
	int core, first, second, hogs[2];
	struct ht_audit audit;

	setup(2);
	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core] & topo.usable);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	hogs[0] = ht_hog("ht-A", SCHED_HT, 0, HT_CPU(first) | HT_CPU(second));
	hogs[1] = ht_hog("ht-B", SCHED_HT, 0, HT_CPU(first) | HT_CPU(second));
	for (int i = 0; i < 2; i++)
		ht_trace_mask(ht_slot(hogs[i])->pid,
			      HT_CPU(first) | HT_CPU(second));
	ht_inv2_reset();
	ht_trace_start();
	ht_wait_cpu_ns(hogs, 2, 100 * ht_tick_ns());
	finish(&audit);
	EXPECT(!audit.outside, "%lu moves outside the core", audit.outside);
}

TEST(knob_off, "sched_ht_unshare=0 leaves a released pair where it is")
{
	int core, first, second, hogs[2];

	setup(2);
	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core] & topo.usable);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	REQUIRE(!ht_sysctl_set("unshare", 0), "%s", strerror(errno));
	hogs[0] = ht_hog("ht-A", SCHED_HT, 0, HT_CPU(first));
	hogs[1] = ht_hog("nh-B", SCHED_OTHER, 0, HT_CPU(second));
	bring_together(hogs[0], hogs[1], first, second);
	/* Alone on its CPU: we go away, so only un-sharing could move A. */
	ht_pin(0, HT_CPU(second));
	ht_pin(ht_slot(hogs[0])->pid, topo.usable);
	ht_wait_cpu_ns(hogs, 1, 20 * ht_tick_ns());
	EXPECT(ht_slot(hogs[0])->cpu == first, "moved to CPU %d",
	       ht_slot(hogs[0])->cpu);
	REQUIRE(!ht_sysctl_set("unshare", 1), "%s", strerror(errno));
	ht_wait_cpu_ns(hogs, 1, 20 * ht_tick_ns());
	EXPECT(!ht_has(topo.core[core], ht_slot(hogs[0])->cpu),
	       "still on CPU %d after the knob is on", ht_slot(hogs[0])->cpu);
}

/* prev is the idle sibling of a busy thread, which is us. */
TEST(wakeup_beside_busy, "0 % of wakeups stay beside a busy thread")
{
	unsigned int rounds = ht_rounds(200);
	int core, first, second, index;
	struct ht_audit audit;

	setup(2);
	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core] & topo.usable);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	ht_slot(index)->run_ns = 100000;
	ht_inv2_reset();
	ht_trace_start();
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		pid_t pid = ht_slot(index)->pid;

		ht_trace_mark("htmask %d %llx", pid, HT_CPU(second));
		ht_pin(pid, HT_CPU(second));
		ht_wake(index);
		ht_wait_asleep(index);
		ht_pin(pid, topo.usable);
		ht_trace_mark("htmask %d %llx", pid, ~0ULL);
		ht_wake(index);
		ht_wait_asleep(index);
	}
	finish(&audit);
	EXPECT(audit.placements >= rounds / 2, "only %lu placements seen",
	       audit.placements);
	ht_audit_placement(&audit);
}

/* Wakers at once */

struct crowd {
	volatile uint32_t gate __attribute__((aligned(64)));
	volatile uint64_t alarm;
	volatile int size;
	volatile int ready __attribute__((aligned(64)));
	volatile int done __attribute__((aligned(64)));
	volatile int cpu[HT_MAX_CPUS];
	volatile uint32_t all_done;
};

static struct crowd *crowd;

static void crowd_wait(uint32_t seen)
{
	struct timespec at;

	while (crowd->gate == seen)
		ht_futex_wait(&crowd->gate, seen);
	if (!crowd->alarm)
		return;
	at.tv_sec = crowd->alarm / HT_NSEC_PER_SEC;
	at.tv_nsec = crowd->alarm % HT_NSEC_PER_SEC;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static void crowd_body(struct ht_slot *slot)
{
	int number = slot - ht_slot(0);

	for (;;) {
		uint32_t seen = crowd->gate;

		__atomic_add_fetch(&crowd->ready, 1, __ATOMIC_SEQ_CST);
		crowd_wait(seen);
		slot->count++;
		/* Long enough for whatever correction is allowed. */
		ht_burn_ns(5 * ht_tick_ns());
		crowd->cpu[number] = sched_getcpu();
		if (__atomic_add_fetch(&crowd->done, 1, __ATOMIC_SEQ_CST) ==
		    crowd->size) {
			crowd->all_done++;
			ht_futex_wake(&crowd->all_done, 1);
		}
		/* All run to the end together, or an early one frees a core. */
		while (crowd->done < crowd->size && slot->command != HT_STOP)
			;
	}
}

static void crowd_gather(void)
{
	uint64_t start = ht_now();

	while (crowd->ready < crowd->size) {
		ht_sleep_ms(1);
		if (ht_hung(start, "gathering"))
			ht_end_case();
	}
	ht_sleep_ms(3);
	crowd->ready = 0;
	crowd->done = 0;
}

static int crowd_cores(void)
{
	ht_mask seen = 0;
	int cores = 0;

	for (int i = 0; i < crowd->size; i++) {
		ht_mask core = topo.core_of[crowd->cpu[i]];

		cores += !(core & seen);
		seen |= core;
	}
	return cores;
}

static void simultaneous(bool by_timer)
{
	unsigned int rounds = ht_rounds(by_timer ? 60 : 200), shared = 0;
	struct ht_audit audit;

	crowd = ht_shared(sizeof(*crowd));
	crowd->size = topo.nr_cores;
	for (int i = 0; i < crowd->size; i++)
		ht_task("ht-crowd", SCHED_HT, 0, topo.usable, crowd_body);
	ht_inv2_reset();
	ht_trace_start();
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		uint32_t seen = crowd->all_done;
		uint64_t start = ht_now();

		crowd_gather();
		crowd->alarm = by_timer ? ht_now() + 5 * HT_NSEC_PER_MSEC : 0;
		crowd->gate++;
		ht_futex_wake(&crowd->gate, crowd->size);
		while (crowd->all_done == seen && !ht_hung(start, "round"))
			ht_futex_wait(&crowd->all_done, seen);
		shared += crowd_cores() < crowd->size;
	}
	finish(&audit);
	ht_audit_placement(&audit);
	ht_note("%u of %u rounds ended with a core shared", shared, rounds);
	/* The trace knows that no core was idle then: others had taken it. */
	EXPECT(shared * 4 <= rounds, "%u of %u rounds ended with a core shared",
	       shared, rounds);
}

TEST(simultaneous_futex, "as many tasks as cores woken at once: one per core")
{
	setup(2);
	simultaneous(false);
}

TEST(simultaneous_timer, "the same from timers on several CPUs")
{
	setup(2);
	simultaneous(true);
}
