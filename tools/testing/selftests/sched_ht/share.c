// SPDX-License-Identifier: GPL-2.0
/*
 * Class sharing (INV-4): on a CPU with runnable SCHED_HT and fair tasks, each
 * side is served in proportion to its weight, within 5 percentage points of
 * the CPU time that the guest accounted to them; fair never gets less than the
 * fair server's floor; sleeping earns no credit; yielding gives the turn away.
 */
#include "ht_test.h"

#define SHARE_NS	(4 * HT_NSEC_PER_SEC)
#define SHORT_NS	(2 * HT_NSEC_PER_SEC)
#define POINTS		5.0
#define MAX_HOGS	20
/* sched_prio_to_weight of nice 0 and nice 5. */
#define WEIGHT_0	1024.0
#define WEIGHT_5	335.0

struct rival {
	int policy, nice, count;
	double share;		/* expected for each of them, in percent */
};

static struct ht_topo topo;
static int cpu;			/* the contested one */

static void setup(void)
{
	ht_topo_read(&topo);
	if (ht_read_number("/proc/sys/kernel/sched_autogroup_enabled", 0))
		ht_write("/proc/sys/kernel/sched_autogroup_enabled", "0");
	cpu = 63 - __builtin_clzll(topo.usable);
	/* Keep our own rounds off that CPU. */
	if (ht_count(topo.usable) > 1)
		ht_pin(0, topo.usable & ~topo.core_of[cpu] ?
		       topo.usable & ~topo.core_of[cpu] :
		       topo.usable & ~HT_CPU(cpu));
}

/* Fills @index with the hogs of all rivals, started together. */
static int start_rivals(const struct rival *rivals, int nr, int *index)
{
	int hogs = 0;

	for (int i = 0; i < nr; i++)
		for (int n = 0; n < rivals[i].count; n++)
			index[hogs++] = ht_hog(rivals[i].policy == SCHED_HT ?
					       "ht-hog" : "nh-hog",
					       rivals[i].policy, rivals[i].nice,
					       HT_CPU(cpu));
	return hogs;
}

/* Shares in percent of what all got together while they got @total_ns. */
static void measure(const int *index, int nr, uint64_t total_ns, double *share)
{
	uint64_t before[MAX_HOGS], spent[MAX_HOGS], sum = 0;

	ht_wait_cpu_ns(index, nr, 200 * HT_NSEC_PER_MSEC);
	for (int i = 0; i < nr; i++)
		before[i] = ht_cpu_ns(ht_slot(index[i])->pid);
	ht_wait_cpu_ns(index, nr, total_ns);
	for (int i = 0; i < nr; i++) {
		spent[i] = ht_cpu_ns(ht_slot(index[i])->pid) - before[i];
		sum += spent[i];
	}
	for (int i = 0; i < nr; i++)
		share[i] = 100.0 * spent[i] / sum;
}

static void expect_shares(const char *what, const struct rival *rivals, int nr,
			  uint64_t total_ns)
{
	int index[MAX_HOGS], hogs = start_rivals(rivals, nr, index), at = 0;
	double share[MAX_HOGS];

	measure(index, hogs, total_ns, share);
	for (int i = 0; i < nr; i++) {
		for (int n = 0; n < rivals[i].count; n++, at++) {
			double off = share[at] - rivals[i].share;

			ht_note("%s: policy %d nice %d: %.1f %%, expected %.1f %%",
				what, rivals[i].policy, rivals[i].nice,
				share[at], rivals[i].share);
			EXPECT(off > -POINTS && off < POINTS, "%s", what);
		}
	}
	ht_kill_all();
}

TEST(equal, "an HT and a NORMAL hog of nice 0 get 50 % each")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, 0, 1, 50 }, { SCHED_OTHER, 0, 1, 50 },
	};

	setup();
	expect_shares("equal", rivals, 2, SHARE_NS);
}

TEST(nice_ht, "nice 5 on the HT hog: 335 to 1024")
{
	const struct rival rivals[] = {
		{ SCHED_HT, 5, 1, 100 * WEIGHT_5 / (WEIGHT_0 + WEIGHT_5) },
		{ SCHED_OTHER, 0, 1, 100 * WEIGHT_0 / (WEIGHT_0 + WEIGHT_5) },
	};

	setup();
	expect_shares("HT nice 5", rivals, 2, SHARE_NS);
}

TEST(nice_fair, "nice 5 on the NORMAL hog: 1024 to 335")
{
	const struct rival rivals[] = {
		{ SCHED_HT, 0, 1, 100 * WEIGHT_0 / (WEIGHT_0 + WEIGHT_5) },
		{ SCHED_OTHER, 5, 1, 100 * WEIGHT_5 / (WEIGHT_0 + WEIGHT_5) },
	};

	setup();
	expect_shares("NORMAL nice 5", rivals, 2, SHARE_NS);
}

TEST(many_ht, "four HT hogs and one NORMAL: 20 % each")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, 0, 4, 20 }, { SCHED_OTHER, 0, 1, 20 },
	};

	setup();
	expect_shares("4 HT, 1 NORMAL", rivals, 2, SHARE_NS);
}

TEST(many_fair, "one HT hog and four NORMAL: 20 % each")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, 0, 1, 20 }, { SCHED_OTHER, 0, 4, 20 },
	};

	setup();
	expect_shares("1 HT, 4 NORMAL", rivals, 2, SHARE_NS);
}

TEST(among_ht, "HT hogs alone share by weight")
{
	static const struct rival equal[] = { { SCHED_HT, 0, 3, 100.0 / 3 } };
	const struct rival nice[] = {
		{ SCHED_HT, 0, 1, 100 * WEIGHT_0 / (WEIGHT_0 + WEIGHT_5) },
		{ SCHED_HT, 5, 1, 100 * WEIGHT_5 / (WEIGHT_0 + WEIGHT_5) },
	};

	setup();
	expect_shares("3 HT", equal, 1, SHORT_NS);
	expect_shares("HT nice 0 and 5", nice, 2, SHORT_NS);
}

TEST(idle_policy, "a SCHED_IDLE hog gets its small weight, not the CPU")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, 0, 1, 97.5 }, { SCHED_IDLE, 0, 1, 2.5 },
	};

	setup();
	expect_shares("HT and SCHED_IDLE", rivals, 2, SHORT_NS);
}

/* The fair server's runtime and period are 50 ms and 1 s. */
TEST(fair_floor, "the smallest fair weight still gets the fair server's floor")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, -20, 4, 0 }, { SCHED_OTHER, 19, 1, 0 },
	};
	int index[MAX_HOGS], hogs;
	double share[MAX_HOGS];

	setup();
	hogs = start_rivals(rivals, 2, index);
	measure(index, hogs, SHARE_NS, share);
	ht_note("fair got %.1f %%", share[4]);
	EXPECT(share[4] >= 4.0, "fair got %.1f %%", share[4]);
}

/* One side runs alone first; the other must not be paid for its absence. */
static void expect_no_credit(int first_policy, int late_policy)
{
	int both[2];
	double share[2];

	both[0] = ht_hog(first_policy == SCHED_HT ? "ht-hog" : "nh-hog",
			 first_policy, 0, HT_CPU(cpu));
	ht_wait_cpu_ns(both, 1, SHORT_NS);
	both[1] = ht_hog(late_policy == SCHED_HT ? "ht-hog" : "nh-hog",
			 late_policy, 0, HT_CPU(cpu));
	measure(both, 2, HT_NSEC_PER_SEC, share);
	ht_note("policy %d came late: %.1f %%", late_policy, share[1]);
	EXPECT(share[1] > 40 && share[1] < 60, "policy %d came late and got %.1f %%",
	       late_policy, share[1]);
	ht_kill_all();
}

TEST(no_credit, "a side that was absent gets no credit and no debt")
{
	setup();
	expect_no_credit(SCHED_HT, SCHED_OTHER);
	expect_no_credit(SCHED_OTHER, SCHED_HT);
}

/* Runs between two ticks, as far as it can. */
static void short_burst_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_burn_ns(3 * HT_NSEC_PER_MSEC);
		usleep(200);
		slot->count++;
	}
}

/* Runs for more than a tick, and is gone before it has to pay for that. */
static void burst_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_burn_ns(6 * HT_NSEC_PER_MSEC);
		ht_sleep_ms(1);
		slot->count++;
	}
}

/* What is owed stays with who owes it, but it is not lost. */
static void expect_debts_paid(int bursts, int hogs,
			      void (*body)(struct ht_slot *slot))
{
	double least = 100.0 * hogs / (hogs + bursts), ht = 0;
	double share[MAX_HOGS];
	int index[MAX_HOGS], nr = 0;

	for (int i = 0; i < hogs; i++)
		index[nr++] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	for (int i = 0; i < bursts; i++)
		index[nr++] = ht_task("nh-burst", SCHED_OTHER, 0, HT_CPU(cpu),
				      body);
	measure(index, nr, SHORT_NS, share);
	for (int i = 0; i < hogs; i++)
		ht += share[i];
	ht_note("%d HT hogs got %.1f %% beside %d that sleep after each burst",
		hogs, ht, bursts);
	EXPECT(ht > least - POINTS && ht < least + 2 * POINTS,
	       "%d hogs got %.1f %%, about %.1f %% expected", hogs, ht, least);
	ht_kill_all();
}

TEST(debts_paid, "fair tasks that sleep when they have had too much pay for it")
{
	setup();
	expect_debts_paid(1, 1, burst_body);
	expect_debts_paid(1, 8, burst_body);
	expect_debts_paid(4, 4, burst_body);
	expect_debts_paid(4, 8, burst_body);
	expect_debts_paid(1, 8, short_burst_body);
	expect_debts_paid(3, 8, short_burst_body);
}

static void yield_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		slot->count++;
		sched_yield();
	}
}

TEST(yield_fair, "sched_yield of an HT task gives the turn to fair")
{
	int both[2];
	double share[2];

	setup();
	both[0] = ht_task("ht-yield", SCHED_HT, 0, HT_CPU(cpu), yield_body);
	both[1] = ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(cpu));
	measure(both, 2, SHORT_NS, share);
	ht_note("the yielding task got %.1f %%", share[0]);
	EXPECT(share[0] < 50 + POINTS, "the yielding task got %.1f %%", share[0]);
	EXPECT(ht_advances(both[0]), "the yielding task is starved");
}

TEST(yield_ht, "sched_yield lets another HT task run")
{
	int both[2];
	double share[2];

	setup();
	both[0] = ht_task("ht-yield", SCHED_HT, 0, HT_CPU(cpu), yield_body);
	both[1] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	measure(both, 2, SHORT_NS, share);
	ht_note("the yielding task got %.1f %%", share[0]);
	EXPECT(share[0] < 50 + POINTS, "the yielding task got %.1f %%", share[0]);
	EXPECT(ht_advances(both[0]), "the yielding task is starved");
}

TEST(yield_alone, "two yielding HT tasks both go on")
{
	int both[2];

	setup();
	for (int i = 0; i < 2; i++)
		both[i] = ht_task("ht-yield", SCHED_HT, 0, HT_CPU(cpu), yield_body);
	for (int i = 0; i < 20; i++) {
		EXPECT(ht_advances(both[0]), "starved");
		EXPECT(ht_advances(both[1]), "starved");
	}
}

/* Full dynticks */

static int nohz_full_cpu(void)
{
	char buf[256];

	if (ht_read("/sys/devices/system/cpu/nohz_full", buf, sizeof(buf)) <= 0)
		return -1;
	return ht_first(ht_mask_parse(buf) & topo.online);
}

static void setup_nohz_full(void)
{
	setup();
	cpu = nohz_full_cpu();
	if (cpu < 0)
		ht_skip("needs the boot parameter nohz_full");
	ht_pin(0, topo.online & ~HT_CPU(cpu));
}

/* Timer interrupts of the CPU per tick of CPU time that the hogs got. */
static double ticks_per_tick(const int *index, int nr)
{
	long long irqs = ht_timer_irqs(cpu);

	ht_wait_cpu_ns(index, nr, SHORT_NS);
	return (double)(ht_timer_irqs(cpu) - irqs) * ht_tick_ns() / SHORT_NS;
}

TEST(nohz_full_alone, "the tick of a lone HT hog's nohz_full CPU stops")
{
	int hog;
	double ticks;

	setup_nohz_full();
	hog = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	ht_wait_cpu_ns(&hog, 1, HT_NSEC_PER_SEC);
	ticks = ticks_per_tick(&hog, 1);
	ht_note("%.3f interrupts per tick", ticks);
	EXPECT(ticks < 0.1, "the tick goes on: %.3f interrupts per tick", ticks);
}

TEST(nohz_full_share, "on a nohz_full CPU both classes get their share")
{
	static const struct rival rivals[] = {
		{ SCHED_HT, 0, 1, 50 }, { SCHED_OTHER, 0, 1, 50 },
	};

	setup_nohz_full();
	expect_shares("nohz_full", rivals, 2, SHARE_NS);
}

TEST(nohz_full_late, "a second hog brings a stopped tick back")
{
	static const int late[] = { SCHED_OTHER, SCHED_HT };

	setup_nohz_full();
	for (int i = 0; i < 2; i++) {
		double share[2];
		int both[2];

		both[0] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
		ht_wait_cpu_ns(both, 1, HT_NSEC_PER_SEC);
		both[1] = ht_hog("nh-late", late[i], 0, HT_CPU(cpu));
		measure(both, 2, SHORT_NS, share);
		ht_note("policy %d came late: %.1f %%", late[i], share[1]);
		EXPECT(share[1] > 40 && share[1] < 60, "policy %d got %.1f %%",
		       late[i], share[1]);
		ht_kill_all();
	}
}
