// SPDX-License-Identifier: GPL-2.0
/*
 * Core scheduling and utilisation clamps with SCHED_HT: tasks of two cookies
 * never run on one core's threads together, all of them go on, nothing hangs;
 * uclamp values are accepted and round-trip.
 */
#include "ht_test.h"
#include "ht_trace.h"

#include <sys/prctl.h>

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE		62
#define PR_SCHED_CORE_CREATE	1
#define PR_SCHED_CORE_SHARE_TO	2
#endif
#define SCOPE_THREAD	0

static struct ht_topo topo;

struct mates {
	int pid[HT_MAX_TASKS];
	int cookie[HT_MAX_TASKS];
	int nr;
	int ticks[HT_MAX_CPUS];	/* since a thread of its core switched */
	int waits[HT_MAX_TASKS];	/* ticks of all CPUs since it ran */
	int longest;
	unsigned long seen, together;
};

/*
 * Ticks, of all CPUs, that one of six tasks may wait, for each CPU that they may
 * use. A round of theirs takes a dozen on one core; but on a slow host a CPU
 * stands still now and then, and tasks of the fair class were seen to wait 190.
 */
#define MAX_WAIT_TICKS	250

static int cookie_of(const struct mates *m, int pid)
{
	for (int i = 0; i < m->nr; i++)
		if (m->pid[i] == pid)
			return m->cookie[i];
	return 0;
}

static void switched(struct mates *m, int cpu)
{
	int thread;

	ht_for_each_cpu(thread, topo.core_of[cpu])
		m->ticks[thread] = 0;
}

static void count_waits(struct mates *m, const struct ht_replay *replay)
{
	int cpu;

	for (int i = 0; i < m->nr; i++) {
		m->waits[i]++;
		ht_for_each_cpu(cpu, topo.usable)
			if (replay->curr[cpu] == m->pid[i])
				m->waits[i] = 0;
		if (m->waits[i] > m->longest)
			m->longest = m->waits[i];
	}
}

/*
 * Threads do not switch in one instant. But with two ticks handled by each
 * since then, both have done what they had to.
 */
static void observe(const struct ht_event *ev, const struct ht_replay *replay,
		    void *data)
{
	struct mates *m = data;
	int mine, other;

	if (ev->type == HT_EV_SWITCH)
		switched(m, ev->cpu);
	if (ev->type != HT_EV_TICK)
		return;
	m->ticks[ev->cpu]++;
	count_waits(m, replay);
	mine = cookie_of(m, replay->curr[ev->cpu]);
	if (!mine)
		return;
	m->seen++;
	ht_for_each_cpu(other, topo.core_of[ev->cpu] & ~HT_CPU(ev->cpu)) {
		int cookie = cookie_of(m, replay->curr[other]);

		m->together += cookie && cookie != mine && m->ticks[other] > 2 &&
			       m->ticks[ev->cpu] > 2;
	}
}

static ht_mask one_core(void)
{
	return topo.core[ht_topo_smt_core(&topo, 0)] & topo.usable;
}

static void need_core_sched(void)
{
	ht_topo_read(&topo);
	ht_need_trace();
	ht_need_smt(&topo);
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, SCOPE_THREAD, 0))
		ht_skip("no core scheduling (CONFIG_SCHED_CORE): %s",
			strerror(errno));
}

static void run_cookies(int policy_a, int policy_b, ht_mask mask, int each)
{
	int policies[] = { policy_a, policy_b };
	static struct mates m;
	struct ht_audit audit;
	uint64_t longest = 0;

	memset(&m, 0, sizeof(m));
	ht_trace_start();
	for (int cookie = 1; cookie <= 2; cookie++) {
		prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, SCOPE_THREAD, 0);
		for (int i = 0; i < each; i++) {
			int index = ht_hog(policies[cookie - 1] == SCHED_HT ?
					   "ht-hog" : "nh-hog",
					   policies[cookie - 1], 0, mask);

			m.pid[m.nr] = ht_slot(index)->pid;
			m.cookie[m.nr++] = cookie;
		}
	}
	for (unsigned int i = 0; i < ht_seconds(1); i++) {
		ht_sleep_ms(1000);
		for (int n = 0; n < m.nr; n++) {
			uint64_t start = ht_now();

			EXPECT(ht_advances(n), "task %d stands still", n);
			if (ht_now() - start > longest)
				longest = ht_now() - start;
		}
	}
	ht_trace_stop();
	ht_trace_replay(&topo, &audit, observe, &m);
	ht_note("%lu ticks seen, %lu with two cookies on a core, longest wait %d ticks, %llu ms",
		m.seen, m.together, m.longest,
		(unsigned long long)(longest / HT_NSEC_PER_MSEC));
	EXPECT(m.longest <= MAX_WAIT_TICKS * ht_count(mask),
	       "one waited %d ticks", m.longest);
	/* Even the fair class has one now and then, where the host is slow. */
	EXPECT(m.together * 100 <= m.seen, "%lu of %lu ticks", m.together, m.seen);
	ht_kill_all();
}

/* What the machine and the fair class do: to compare with. */
TEST(cookies_fair, "two cookies of fair tasks on one core")
{
	need_core_sched();
	run_cookies(SCHED_OTHER, SCHED_OTHER, one_core(), 3);
}

TEST(cookies_ht, "two cookies of HT tasks on one core")
{
	need_core_sched();
	run_cookies(SCHED_HT, SCHED_HT, one_core(), 3);
}

TEST(cookies_mixed, "a cookie of HT tasks against one of fair tasks")
{
	need_core_sched();
	run_cookies(SCHED_HT, SCHED_OTHER, one_core(), 3);
}

TEST(cookies_alone, "one HT task of each cookie, each alone on its thread")
{
	need_core_sched();
	run_cookies(SCHED_HT, SCHED_HT, one_core(), 1);
}

TEST(cookies_everywhere, "the same with all CPUs allowed")
{
	need_core_sched();
	run_cookies(SCHED_HT, SCHED_HT, topo.usable, 3);
	run_cookies(SCHED_HT, SCHED_OTHER, topo.usable, 3);
}

TEST(uclamp, "uclamp values are taken and come back")
{
	struct ht_attr attr = {
		.size = sizeof(attr), .policy = SCHED_HT,
		.flags = HT_FLAG_UTIL_MIN | HT_FLAG_UTIL_MAX,
		.util_min = 128, .util_max = 512,
	};

	if (ht_setattr(0, &attr) && errno == EOPNOTSUPP)
		ht_skip("no utilisation clamps (CONFIG_UCLAMP_TASK)");
	REQUIRE(!ht_setattr(0, &attr), "%s", strerror(errno));
	ht_getattr(0, &attr);
	EXPECT(attr.util_min == 128 && attr.util_max == 512, "%u %u",
	       attr.util_min, attr.util_max);
	attr.size = sizeof(attr);
	attr.flags = HT_FLAG_KEEP_POLICY | HT_FLAG_KEEP_PARAMS | HT_FLAG_UTIL_MIN;
	attr.util_min = 64;
	EXPECT(!ht_setattr(0, &attr), "as uclampset does: %s", strerror(errno));
	ht_getattr(0, &attr);
	EXPECT(attr.policy == SCHED_HT && attr.util_min == 64, "policy %u min %u",
	       attr.policy, attr.util_min);
	ht_burn_ns(20 * HT_NSEC_PER_MSEC);
}
