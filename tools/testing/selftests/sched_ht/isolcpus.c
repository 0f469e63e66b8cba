// SPDX-License-Identifier: GPL-2.0
/*
 * Isolated CPUs (boot parameter isolcpus=): no SCHED_HT task is placed there
 * unless its mask leaves nothing else, and pinning works.
 */
#include "ht_test.h"
#include "ht_trace.h"

static struct ht_topo topo;

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_root();
	if (!(topo.isolated & topo.online))
		ht_skip("needs the boot parameter isolcpus");
	if (!topo.usable)
		ht_skip("all CPUs are isolated");
}

/* Their masks hold all CPUs, and there are more of them than CPUs outside. */
TEST(not_unasked, "hogs and sleepers allowed everywhere stay outside")
{
	int hogs, sleepers;
	struct ht_audit audit;

	setup();
	hogs = ht_count(topo.usable) + 2;
	sleepers = ht_count(topo.online);
	/* Started with the mask that init passed on, then opened up. */
	for (int i = 0; i < hogs; i++)
		ht_hog("ht-hog", SCHED_HT, 0, 0);
	for (int i = 0; i < sleepers; i++)
		ht_sleeper("ht-sleep", SCHED_HT, 0, 0);
	ht_trace_start();
	for (int i = 0; i < hogs + sleepers; i++)
		REQUIRE(!ht_pin(ht_slot(i)->pid, topo.online), "%s",
			strerror(errno));
	for (int i = 0; i < hogs + sleepers; i++)
		ht_trace_mark("htmask %d %llx", ht_slot(i)->pid,
			      (unsigned long long)topo.usable);
	for (unsigned int round = 0; round < ht_rounds(60); round++) {
		for (int i = hogs; i < hogs + sleepers; i++)
			ht_wake(i);
		ht_sleep_ms(10);
		for (int i = 0; i < hogs + sleepers; i++)
			EXPECT(!ht_has(topo.isolated, ht_slot(i)->cpu),
			       "task %d on isolated CPU %d", i, ht_slot(i)->cpu);
	}
	ht_trace_stop();
	ht_trace_replay(&topo, &audit, NULL, NULL);
	ht_audit_print(&audit);
	ht_audit_inv1(&audit);
}

TEST(pinned, "a task pinned to an isolated CPU runs there")
{
	int cpu, hog;

	setup();
	ht_for_each_cpu(cpu, topo.isolated & topo.online) {
		hog = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
		EXPECT(ht_runs_within(hog, HT_CPU(cpu)), "CPU %d", cpu);
		/* Several on one CPU share it. */
		hog = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
		EXPECT(ht_runs_within(hog, HT_CPU(cpu)), "CPU %d", cpu);
	}
}

TEST(only_isolated, "a mask of isolated CPUs only is obeyed")
{
	int hog, sleeper;
	ht_mask isolated;

	setup();
	isolated = topo.isolated & topo.online;
	hog = ht_hog("ht-hog", SCHED_HT, 0, isolated);
	sleeper = ht_sleeper("ht-sleep", SCHED_HT, 0, isolated);
	for (unsigned int i = 0; i < ht_rounds(20); i++) {
		ht_wake(sleeper);
		ht_wait_answer(sleeper);
		EXPECT(ht_has(isolated, ht_slot(sleeper)->first_cpu), "CPU %d",
		       ht_slot(sleeper)->first_cpu);
		EXPECT(ht_runs_within(hog, isolated), "CPU %d", ht_slot(hog)->cpu);
	}
}

TEST(comes_back, "a task unpinned from an isolated CPU leaves when it must")
{
	int hog, cpu;

	setup();
	cpu = ht_first(topo.isolated & topo.online);
	hog = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	REQUIRE(!ht_pin(ht_slot(hog)->pid, topo.usable), "%s", strerror(errno));
	EXPECT(ht_runs_within(hog, topo.usable), "CPU %d", ht_slot(hog)->cpu);
}
