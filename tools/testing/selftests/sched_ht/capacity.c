// SPDX-License-Identifier: GPL-2.0
/*
 * Capacity: fair's balancer sees what HT tasks take of a CPU, but no more than
 * their share. With 4 pinned HT hogs on 4 of 8 CPUs and 8 fair hogs that may
 * go anywhere, every fair hog gets within 15 % of the mean.
 */
#include "ht_test.h"

#define NR_HT		4
#define NR_FAIR		8
#define PERCENT		15.0

TEST(fair_hogs, "8 fair hogs beside 4 pinned HT hogs on 8 CPUs")
{
	uint64_t before[NR_FAIR], spent[NR_FAIR], ht_before = 0, ht_spent = 0;
	int ht[NR_HT], fair[NR_FAIR];
	double mean = 0;
	struct ht_topo topo;

	ht_topo_read(&topo);
	ht_need_root();
	if (ht_count(topo.usable) != 8 || topo.nr_cores != 8)
		ht_skip("needs 8 CPUs in 8 cores");
	ht_write("/proc/sys/kernel/sched_autogroup_enabled", "0");
	for (int i = 0; i < NR_HT; i++)
		ht[i] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(i));
	for (int i = 0; i < NR_FAIR; i++)
		fair[i] = ht_hog("nh-hog", SCHED_OTHER, 0, topo.usable);
	/* Utilisation signals take about a second to become right. */
	ht_wait_cpu_ns(fair, NR_FAIR, NR_FAIR * 2 * HT_NSEC_PER_SEC);
	for (int i = 0; i < NR_FAIR; i++)
		before[i] = ht_cpu_ns(ht_slot(fair[i])->pid);
	for (int i = 0; i < NR_HT; i++)
		ht_before += ht_cpu_ns(ht_slot(ht[i])->pid);
	/* 10 s of the machine: fair's part of it is 6 of 8 CPUs. */
	ht_wait_cpu_ns(fair, NR_FAIR, 6ULL * ht_seconds(10) * HT_NSEC_PER_SEC);
	for (int i = 0; i < NR_FAIR; i++) {
		spent[i] = ht_cpu_ns(ht_slot(fair[i])->pid) - before[i];
		mean += (double)spent[i] / NR_FAIR;
	}
	for (int i = 0; i < NR_HT; i++)
		ht_spent += ht_cpu_ns(ht_slot(ht[i])->pid);
	ht_note("mean of the fair hogs %.2f s, of the HT hogs %.2f s", mean / 1e9,
		(ht_spent - ht_before) / 1e9 / NR_HT);
	for (int i = 0; i < NR_FAIR; i++) {
		double off = 100 * (spent[i] - mean) / mean;

		ht_note("fair hog %d: %.2f s, %+.1f %%", i, spent[i] / 1e9, off);
		EXPECT(off > -PERCENT && off < PERCENT, "fair hog %d", i);
	}
}
