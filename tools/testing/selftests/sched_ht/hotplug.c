// SPDX-License-Identifier: GPL-2.0
/*
 * Hotplug: siblings go offline and come back in every order under load, and
 * smt/control goes off and on. No task is lost, none runs on an offline CPU,
 * and placement knows the threads that are left.
 */
#include "ht_test.h"

#define MAX_THREADS	4

static struct ht_topo topo;
static int nr_tasks;

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_root();
	ht_need_cpus(&topo, 2, 1);
}

/* Hogs of both classes, one pinned per CPU, and sleepers. */
static void start_load(void)
{
	int cpus = ht_count(topo.usable), cpu;

	for (int i = 0; i < cpus; i++)
		ht_hog("ht-hog", SCHED_HT, i % 5, topo.usable);
	ht_hog("nh-hog", SCHED_OTHER, 0, topo.usable);
	ht_for_each_cpu(cpu, topo.usable)
		ht_sleeper("ht-pin", SCHED_HT, 0, HT_CPU(cpu));
	nr_tasks = 2 * cpus + 1;
}

static bool is_sleeper(int index)
{
	return index > ht_count(topo.usable);
}

static void check_load(ht_mask online, const char *when)
{
	for (int i = 0; i < nr_tasks && !ht_failed(); i++) {
		if (is_sleeper(i)) {
			ht_wake(i);
			ht_wait_answer(i);
			EXPECT(ht_has(online, ht_slot(i)->first_cpu),
			       "%s: sleeper %d woke on CPU %d", when, i,
			       ht_slot(i)->first_cpu);
			continue;
		}
		EXPECT(ht_runs_within(i, online), "%s: hog %d on CPU %d", when, i,
		       ht_slot(i)->cpu);
	}
}

static ht_mask online_now(void)
{
	struct ht_topo now;

	ht_topo_read(&now);
	return now.online;
}

static bool toggle(int cpu, bool online)
{
	if (!ht_cpu_online(cpu, online))
		return true;
	EXPECT(errno == EBUSY, "CPU %d %s: %s", cpu, online ? "online" : "offline",
	       strerror(errno));
	return false;
}

static void run_order(const int *order, int nr)
{
	char when[64];

	for (int phase = 0; phase < 2; phase++) {
		for (int i = 0; i < nr; i++) {
			snprintf(when, sizeof(when), "CPU %d %s", order[i],
				 phase ? "online" : "offline");
			toggle(order[i], phase);
			check_load(online_now(), when);
		}
	}
}

/* Every order in which these CPUs can go; they return in the same one. */
static void permute(int *cpus, int nr, int fixed)
{
	if (fixed == nr) {
		run_order(cpus, nr);
		return;
	}
	for (int i = fixed; i < nr && !ht_failed(); i++) {
		int first = cpus[fixed];

		cpus[fixed] = cpus[i];
		cpus[i] = first;
		permute(cpus, nr, fixed + 1);
		cpus[i] = cpus[fixed];
		cpus[fixed] = first;
	}
}

static int removable_threads(ht_mask core, int *cpus)
{
	int nr = 0, cpu;
	char path[96];

	ht_for_each_cpu(cpu, core) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
			 cpu);
		if (nr < MAX_THREADS && ht_exists(path))
			cpus[nr++] = cpu;
	}
	return nr;
}

TEST(sibling_orders, "each core's threads offline and online in every order")
{
	int cpus[MAX_THREADS], nr;

	setup();
	start_load();
	for (int i = 0; i < topo.nr_cores && i < 4; i++) {
		nr = removable_threads(topo.core[i], cpus);
		if (nr)
			permute(cpus, nr, 0);
	}
	EXPECT(online_now() == topo.online, "not all CPUs came back");
}

TEST(all_but_one, "down to the first CPU and back")
{
	int cpus[HT_MAX_CPUS], nr = 0, cpu;

	setup();
	start_load();
	ht_for_each_cpu(cpu, topo.online & ~HT_CPU(ht_first(topo.online)))
		cpus[nr++] = cpu;
	for (int i = 0; i < nr; i++)
		toggle(cpus[i], false);
	check_load(online_now(), "one CPU left");
	for (int i = nr - 1; i >= 0; i--)
		toggle(cpus[i], true);
	check_load(online_now(), "all back");
	EXPECT(online_now() == topo.online, "not all CPUs came back");
}

/* Isolated ones included. */
static int online_cores(void)
{
	int cores = 0, cpu;

	ht_for_each_cpu(cpu, topo.online)
		cores += ht_first(topo.core_of[cpu]) == cpu;
	return cores;
}

TEST(smt_control, "smt/control off and on under load")
{
	char text[32];

	setup();
	ht_need_smt(&topo);
	if (ht_read("/sys/devices/system/cpu/smt/control", text, sizeof(text)) <= 0 ||
	    strncmp(text, "on", 2))
		ht_skip("smt/control is not \"on\"");
	start_load();
	for (unsigned int i = 0; i < ht_rounds(3) && !ht_failed(); i++) {
		ht_mask online;

		REQUIRE(!ht_write("/sys/devices/system/cpu/smt/control", "off"),
			"%s", strerror(errno));
		online = online_now();
		EXPECT(ht_count(online) == online_cores(), "%d CPUs of %d cores",
		       ht_count(online), online_cores());
		check_load(online, "SMT off");
		REQUIRE(!ht_write("/sys/devices/system/cpu/smt/control", "on"),
			"%s", strerror(errno));
		check_load(online_now(), "SMT on");
	}
	EXPECT(online_now() == topo.online, "not all CPUs came back");
}

/* Placement after the topology changed: two hogs, two cores, one thread gone. */
TEST(placement_after, "hogs still take distinct cores with siblings offline")
{
	int own[HT_MAX_CPUS], nr, second;

	setup();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 3, 2);
	second = ht_topo_sibling(&topo,
				 ht_first(topo.core[ht_topo_smt_core(&topo, 0)]));
	for (int phase = 0; phase < 2; phase++) {
		ht_mask seen = 0;
		int cores = 0;

		REQUIRE(toggle(second, phase), "CPU %d", second);
		nr = topo.nr_cores;
		for (int i = 0; i < nr; i++)
			own[i] = ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
		ht_wait_cpu_ns(own, nr, nr * 20ULL * ht_tick_ns());
		for (int i = 0; i < nr; i++) {
			cores += !ht_has(seen, ht_slot(own[i])->cpu);
			seen |= topo.core_of[ht_slot(own[i])->cpu];
		}
		/* We run for a moment now and then: one may be displaced. */
		EXPECT(cores >= nr - 1, "%d hogs on %d cores", nr, cores);
		ht_kill_all();
	}
}
