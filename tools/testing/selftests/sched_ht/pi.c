// SPDX-License-Identifier: GPL-2.0
/*
 * Priority inheritance: an HT task that holds a mutex a FIFO task waits for
 * runs with the waiter's priority, even beside a FIFO hog on its CPU, and is a
 * SCHED_HT task again after it let go.
 *
 *	CPU n:	L (HT, holds the mutex)	 M (FIFO 50, hog)  H (FIFO 90, waits)
 */
#include "ht_test.h"

#include <pthread.h>

static struct ht_topo topo;

struct stage {
	pthread_mutex_t mutex;
	volatile int held, release, waiting, got, hog_runs, quit;
	volatile uint64_t boosted_ns;
	volatile int policy_boosted, prio_boosted;
};

static struct stage *stage;

static void stage_init(void)
{
	pthread_mutexattr_t attr;

	ht_topo_read(&topo);
	ht_need_root();
	ht_need_cpus(&topo, 2, 1);
	stage = ht_shared(sizeof(*stage));
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&stage->mutex, &attr))
		ht_skip("no priority inheritance mutexes");
}

/* The 18th field of /proc/PID/stat: negative for a real-time priority. */
static int shown_prio(void)
{
	char buf[512], *at;
	int prio = 0;

	if (ht_read("/proc/self/stat", buf, sizeof(buf)) <= 0)
		return 0;
	at = strrchr(buf, ')');
	if (!at || sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d",
			  &prio) != 1)
		return 0;
	return prio;
}

static void holder_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		pthread_mutex_lock(&stage->mutex);
		stage->held = 1;
		while (!stage->release)
			;
		/* From here on somebody waits for us, and a hog holds the CPU. */
		stage->prio_boosted = shown_prio();
		stage->policy_boosted = ht_policy_of(0);
		ht_burn_ns(3 * HT_NSEC_PER_MSEC);
		stage->held = 0;
		pthread_mutex_unlock(&stage->mutex);
		slot->count++;
		while (stage->release)
			ht_sleep_ms(1);
	}
}

static void hog_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_sleep_ms(1);
		/* A bounded hog: it gives up when the lock changed hands. */
		while (stage->hog_runs && !stage->got)
			slot->count++;
	}
}

static void waiter_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		while (!stage->waiting)
			ht_sleep_ms(1);
		pthread_mutex_lock(&stage->mutex);
		stage->got = 1;
		pthread_mutex_unlock(&stage->mutex);
		slot->count++;
		while (stage->waiting)
			ht_sleep_ms(1);
	}
}

static void await(volatile int *flag, int value, const char *what)
{
	uint64_t start = ht_now();

	while (*flag != value) {
		ht_sleep_ms(1);
		if (ht_hung(start, what))
			ht_end_case();
	}
}

static void play(int waiter_policy, int waiter_prio, bool hog, unsigned int rounds)
{
	int cpu = 63 - __builtin_clzll(topo.usable), holder, medium = -1, waiter;

	ht_pin(0, topo.usable & ~HT_CPU(cpu));
	holder = ht_task("ht-L", SCHED_HT, 2, HT_CPU(cpu), holder_body);
	if (hog)
		medium = ht_task("nh-M", SCHED_FIFO, 50, HT_CPU(cpu), hog_body);
	waiter = ht_task("nh-H", waiter_policy, waiter_prio,
			 topo.usable & ~HT_CPU(cpu), waiter_body);
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		await(&stage->held, 1, "the holder");
		stage->got = 0;
		stage->hog_runs = hog;
		stage->waiting = 1;
		/* The waiter blocks; then the holder may come to the end. */
		while (ht_state(ht_slot(waiter)->pid) != 'S')
			ht_sleep_ms(1);
		ht_sleep_ms(3);
		if (i % 3 == 1)
			ht_set(ht_slot(holder)->pid, SCHED_HT, i % 5);
		stage->release = 1;
		await(&stage->got, 1, "the waiter");
		stage->hog_runs = 0;
		stage->waiting = 0;
		EXPECT(stage->policy_boosted == SCHED_HT, "policy %d while boosted",
		       stage->policy_boosted);
		if (waiter_policy == SCHED_FIFO)
			EXPECT(stage->prio_boosted < 0, "priority %d while a FIFO task waits",
			       stage->prio_boosted);
		EXPECT(ht_policy_of(ht_slot(holder)->pid) == SCHED_HT,
		       "policy %d after", ht_policy_of(ht_slot(holder)->pid));
		stage->release = 0;
		await(&stage->held, 1, "the holder's return");
	}
	EXPECT(ht_slot(holder)->count >= rounds, "%llu rounds",
	       (unsigned long long)ht_slot(holder)->count);
	(void)medium;
	ht_kill_all();
}

TEST(boost_by_fifo, "a FIFO waiter's priority carries the HT holder through")
{
	stage_init();
	play(SCHED_FIFO, 90, true, ht_rounds(30));
}

TEST(waiter_fair, "a SCHED_NORMAL waiter changes nothing and is served")
{
	stage_init();
	play(SCHED_OTHER, 0, false, ht_rounds(15));
}

TEST(waiter_ht, "an HT waiter of an HT holder is served")
{
	stage_init();
	play(SCHED_HT, -5, false, ht_rounds(15));
}

/* The policy changes while the boost lasts; it counts when the boost ends. */
TEST(policy_while_boosted, "setattr during the boost takes effect after it")
{
	int cpu, holder, waiter;

	stage_init();
	cpu = 63 - __builtin_clzll(topo.usable);
	ht_pin(0, topo.usable & ~HT_CPU(cpu));
	holder = ht_task("ht-L", SCHED_HT, 0, HT_CPU(cpu), holder_body);
	waiter = ht_task("nh-H", SCHED_FIFO, 80, topo.usable & ~HT_CPU(cpu),
			 waiter_body);
	for (unsigned int i = 0; i < ht_rounds(10) && !ht_failed(); i++) {
		int policy = i % 2 ? SCHED_HT : SCHED_OTHER;

		await(&stage->held, 1, "the holder");
		stage->got = 0;
		stage->waiting = 1;
		while (ht_state(ht_slot(waiter)->pid) != 'S')
			ht_sleep_ms(1);
		ht_sleep_ms(3);
		EXPECT(!ht_set(ht_slot(holder)->pid, policy, 0), "%s",
		       strerror(errno));
		stage->release = 1;
		await(&stage->got, 1, "the waiter");
		stage->waiting = 0;
		stage->release = 0;
		await(&stage->held, 1, "the holder's return");
		EXPECT(ht_policy_of(ht_slot(holder)->pid) == policy, "policy %d",
		       ht_policy_of(ht_slot(holder)->pid));
	}
	ht_kill_all();
}
