// SPDX-License-Identifier: GPL-2.0
/*
 * Balance (INV-3): no CPU idles while an HT task that may run there waits in
 * its LLC for longer than a tick, and unequal queues become even.
 */
#include "ht_test.h"
#include "ht_trace.h"

static struct ht_topo topo;

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_trace();
	ht_need_cpus(&topo, 2, 1);
	/* Our own rounds share the first CPU, whoever runs there. */
	ht_pin(0, HT_CPU(ht_first(topo.usable)));
}

static void finish(void)
{
	struct ht_audit audit;

	ht_trace_stop();
	ht_trace_replay(&topo, &audit, NULL, NULL);
	ht_audit_print(&audit);
	ht_audit_inv3(&audit);
}

/* More hogs than CPUs; those of one CPU end; others move in. */
TEST(idle_pull, "a CPU whose tasks end pulls one that waits elsewhere")
{
	int cpus, hogs;

	setup();
	cpus = ht_count(topo.usable);
	ht_trace_start();
	for (unsigned int round = 0; round < ht_rounds(6) && !ht_failed(); round++) {
		hogs = 2 * cpus;
		for (int i = 0; i < hogs; i++)
			ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
		ht_sleep_ms(100);
		/* One by one down to one task per CPU. */
		for (int i = 0; i < cpus; i++) {
			ht_kill((i * 2 + round) % hogs);
			ht_sleep_ms(20);
		}
		for (int i = 0; i < hogs; i++)
			if (ht_slot(i)->pid > 0)
				EXPECT(ht_advances(i), "hog %d is lost", i);
		ht_kill_all();
	}
	finish();
}

TEST(push_beside_pinned, "who waits beside a pinned task goes to an idle CPU")
{
	ht_mask others;
	int cpu, idle, index;

	setup();
	ht_need_cpus(&topo, 3, 1);
	others = topo.usable & ~HT_CPU(ht_first(topo.usable));
	cpu = ht_first(others);
	idle = ht_first(others & ~HT_CPU(cpu));
	for (unsigned int round = 0; round < ht_rounds(4) && !ht_failed(); round++) {
		ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
		index = ht_hog("ht-T", SCHED_HT, 0, HT_CPU(cpu));
		ht_pin(ht_slot(index)->pid, HT_CPU(cpu) | HT_CPU(idle));
		ht_wait_cpu_ns(&index, 1, 10 * ht_tick_ns());
		EXPECT(ht_slot(index)->cpu == idle, "still on CPU %d", cpu);
		ht_kill_all();
	}
}

/* Tasks that block briefly: every block is an idle entry with waiters around. */
static void blinker_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_burn_ns(1500000);
		ht_sleep_ms(1);
		slot->count++;
	}
}

TEST(blinkers, "tasks that sleep and run: nobody waits beside an idle CPU")
{
	int nr;

	setup();
	nr = 2 * ht_count(topo.usable);
	ht_trace_start();
	for (int i = 0; i < nr; i++)
		ht_task("ht-blink", SCHED_HT, 0, topo.usable, blinker_body);
	ht_sleep_ms(1000 * ht_seconds(3));
	for (int i = 0; i < nr; i++)
		EXPECT(ht_advances(i), "task %d is lost", i);
	finish();
}

static int longest_queue(const int *hogs, int nr)
{
	int on[HT_MAX_CPUS] = { 0 }, most = 0;

	for (int i = 0; i < nr; i++) {
		int now = ++on[ht_slot(hogs[i])->cpu];

		if (now > most)
			most = now;
	}
	return most;
}

TEST(even_queues, "hogs released from one CPU spread evenly")
{
	int hogs[HT_MAX_TASKS], cpus, nr, most = 0;

	setup();
	cpus = ht_count(topo.usable);
	nr = 3 * cpus;
	for (int i = 0; i < nr; i++) {
		hogs[i] = ht_hog("ht-hog", SCHED_HT, 0,
				 HT_CPU(ht_first(topo.usable)));
		ht_trace_mask(ht_slot(hogs[i])->pid, 0);
	}
	ht_trace_start();
	for (int i = 0; i < nr; i++) {
		ht_pin(ht_slot(hogs[i])->pid, topo.usable);
		ht_trace_mark("htmask %d %llx", ht_slot(hogs[i])->pid,
			      (unsigned long long)topo.usable);
	}
	/* A second of every CPU's time is plenty for a periodic pass. */
	ht_wait_cpu_ns(hogs, nr, cpus * HT_NSEC_PER_SEC);
	for (int look = 0; look < 20; look++) {
		most = longest_queue(hogs, nr);
		if (most <= 4)
			break;
		ht_sleep_ms(50);
	}
	EXPECT(most <= 4, "%d of %d hogs on one of %d CPUs", most, nr, cpus);
	finish();
}

/* Equal hogs over all CPUs get comparable time when the queues are even. */
TEST(even_time, "hogs get comparable CPU time, two for each CPU")
{
	uint64_t least = ~0ULL, most = 0;
	int hogs[HT_MAX_TASKS], cpus, nr;

	setup();
	cpus = ht_count(topo.usable);
	nr = 2 * cpus;
	for (int i = 0; i < nr; i++)
		hogs[i] = ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
	ht_wait_cpu_ns(hogs, nr, cpus * 2 * HT_NSEC_PER_SEC);
	for (int i = 0; i < nr; i++) {
		uint64_t ns = ht_cpu_ns(ht_slot(hogs[i])->pid);

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	ht_note("least %.2f s, most %.2f s", least / 1e9, most / 1e9);
	EXPECT(most < 3 * least, "least %.2f s, most %.2f s", least / 1e9,
	       most / 1e9);
}
