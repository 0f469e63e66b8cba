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
	volatile int held;	/* the round in which the holder has the mutex */
	volatile int release;	/* ... may give it back */
	volatile int waiting;	/* ... the waiter is to ask for it */
	volatile int got;	/* ... the waiter had it */
	volatile int hog_runs;	/* ... the hog keeps the holder's CPU busy */
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
	for (int round = 1; slot->command != HT_STOP; round++) {
		pthread_mutex_lock(&stage->mutex);
		stage->held = round;
		while (stage->release != round)
			;
		/* From here on somebody waits for us, and a hog holds the CPU. */
		stage->prio_boosted = shown_prio();
		stage->policy_boosted = ht_policy_of(0);
		ht_burn_ns(3 * HT_NSEC_PER_MSEC);
		pthread_mutex_unlock(&stage->mutex);
		slot->count++;
		while (stage->got != round)
			ht_sleep_ms(1);
	}
}

static void hog_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_sleep_ms(1);
		/* A bounded hog: it gives up when the lock changed hands. */
		while (stage->hog_runs > stage->got)
			slot->count++;
	}
}

static void waiter_body(struct ht_slot *slot)
{
	for (int round = 1; slot->command != HT_STOP; round++) {
		while (stage->waiting != round)
			ht_sleep_ms(1);
		/* Any state 'S' from here on is that of the mutex. */
		slot->ready = 2;
		pthread_mutex_lock(&stage->mutex);
		slot->ready = 1;
		pthread_mutex_unlock(&stage->mutex);
		slot->count++;
		stage->got = round;
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

/* The holder has the mutex; the waiter asks for it and blocks. */
static void make_wait(int round, int waiter, bool hog)
{
	await(&stage->held, round, "the holder");
	stage->waiting = round;
	await(&ht_slot(waiter)->ready, 2, "the waiter to wait");
	while (ht_state(ht_slot(waiter)->pid) != 'S')
		ht_sleep_ms(1);
	if (hog)
		stage->hog_runs = round;
	ht_sleep_ms(3);
}

static void play(int waiter_policy, int waiter_prio, bool hog, int rounds)
{
	int cpu = 63 - __builtin_clzll(topo.usable), holder, waiter;

	ht_pin(0, topo.usable & ~HT_CPU(cpu));
	holder = ht_task("ht-L", SCHED_HT, 2, HT_CPU(cpu), holder_body);
	if (hog)
		ht_task("nh-M", SCHED_FIFO, 50, HT_CPU(cpu), hog_body);
	waiter = ht_task("nh-H", waiter_policy, waiter_prio,
			 topo.usable & ~HT_CPU(cpu), waiter_body);
	for (int round = 1; round <= rounds && !ht_failed(); round++) {
		make_wait(round, waiter, hog);
		if (round % 3 == 1)
			ht_set(ht_slot(holder)->pid, SCHED_HT, round % 5);
		stage->release = round;
		await(&stage->got, round, "the waiter");
		EXPECT(stage->policy_boosted == SCHED_HT, "policy %d while boosted",
		       stage->policy_boosted);
		if (waiter_policy == SCHED_FIFO)
			EXPECT(stage->prio_boosted < 0, "priority %d while a FIFO task waits",
			       stage->prio_boosted);
		EXPECT(ht_policy_of(ht_slot(holder)->pid) == SCHED_HT,
		       "policy %d after", ht_policy_of(ht_slot(holder)->pid));
	}
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
	for (int round = 1; round <= (int)ht_rounds(10) && !ht_failed(); round++) {
		int policy = round % 2 ? SCHED_OTHER : SCHED_HT;

		make_wait(round, waiter, false);
		EXPECT(!ht_set(ht_slot(holder)->pid, policy, 0), "%s",
		       strerror(errno));
		stage->release = round;
		await(&stage->got, round, "the waiter");
		await(&stage->held, round + 1, "the holder's return");
		EXPECT(ht_policy_of(ht_slot(holder)->pid) == policy, "policy %d",
		       ht_policy_of(ht_slot(holder)->pid));
	}
	ht_kill_all();
}
