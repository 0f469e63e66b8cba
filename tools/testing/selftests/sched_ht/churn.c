// SPDX-License-Identifier: GPL-2.0
/*
 * Churn: fork, exec, exit, policy, nice, affinity and hotplug at once, for -t
 * seconds (60). No task is lost: every child is reaped, every sleeper answers,
 * every hog goes on.
 */
#include "ht_test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NR_SLEEPERS	6
#define NR_HOGS		4

static struct ht_topo topo;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static ht_mask random_mask(uint64_t *seed)
{
	ht_mask mask = next_random(seed) & topo.usable;

	return mask ? mask : topo.usable;
}

static void set_random(pid_t pid, uint64_t *seed)
{
	static const int policies[] = {
		SCHED_HT, SCHED_HT, SCHED_HT, SCHED_OTHER, SCHED_BATCH,
		SCHED_IDLE,
	};

	/* Errors are fine: the target may be gone. */
	switch (next_random(seed) % 4) {
	case 0:
		ht_pin(pid, random_mask(seed));
		break;
	case 1:
		setpriority(PRIO_PROCESS, pid, next_random(seed) % 20);
		break;
	default:
		ht_set(pid, policies[next_random(seed) % 6],
		       next_random(seed) % 20);
	}
}

static void exec_self(void)
{
	/* Says its CPU to nowhere and ends. */
	setenv("HT_EXEC_REPORT", "1", 1);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execl("/proc/self/exe", "ht-exec", NULL);
	_exit(1);
}

static void *thread_body(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	ht_set(0, SCHED_HT, next_random(&seed) % 10);
	ht_burn_ns(next_random(&seed) % 300000);
	return NULL;
}

static void child(uint64_t seed)
{
	pthread_t thread;

	switch (next_random(&seed) % 5) {
	case 0:
		exec_self();
		break;
	case 1:
		if (!pthread_create(&thread, NULL, thread_body,
				    (void *)(uintptr_t)(seed | 1)))
			pthread_join(thread, NULL);
		break;
	case 2:
		ht_sleep_ms(1 + next_random(&seed) % 5);
		break;
	case 3:
		for (int i = 0; i < 10; i++)
			set_random(0, &seed);
		sched_yield();
		break;
	}
	ht_burn_ns(next_random(&seed) % 500000);
	_exit(0);
}

/* Children in batches; an unreaped one would hang waitpid and the guard. */
static void forker_body(struct ht_slot *slot)
{
	uint64_t seed = 1234567 + getpid();

	ht_set(0, SCHED_HT, 0);
	while (slot->command != HT_STOP) {
		pid_t pids[8];

		for (int i = 0; i < 8; i++) {
			uint64_t own = next_random(&seed);

			pids[i] = fork();
			if (!pids[i])
				child(own);
			if (pids[i] < 0)
				slot->bad++;
			else if (next_random(&seed) % 2)
				set_random(pids[i], &seed);
		}
		for (int i = 0; i < 8; i++)
			if (pids[i] > 0 && waitpid(pids[i], NULL, 0) != pids[i])
				slot->bad++;
		slot->count++;
	}
	_exit(0);
}

static void setter_body(struct ht_slot *slot)
{
	uint64_t seed = 7654321 + getpid();

	while (slot->command != HT_STOP) {
		set_random(ht_slot(next_random(&seed) % (NR_SLEEPERS + NR_HOGS))->pid,
			   &seed);
		if (next_random(&seed) % 8 == 0)
			ht_sleep_ms(1);
		slot->count++;
	}
}

static void hotplug_body(struct ht_slot *slot)
{
	uint64_t seed = 555 + getpid();

	while (slot->command != HT_STOP) {
		int cpu = next_random(&seed) % topo.nr_cpus;

		if (cpu && ht_has(topo.online, cpu)) {
			ht_cpu_online(cpu, false);
			ht_sleep_ms(next_random(&seed) % 50);
			ht_cpu_online(cpu, true);
		}
		ht_sleep_ms(next_random(&seed) % 100);
		slot->count++;
	}
}

static void check(void)
{
	for (int i = 0; i < NR_SLEEPERS; i++) {
		ht_wake(i);
		ht_wait_answer(i);
	}
	for (int i = NR_SLEEPERS; i < NR_SLEEPERS + NR_HOGS; i++)
		EXPECT(ht_advances(i), "hog %d is lost", i);
}

static void stop_and_reap(int index)
{
	uint64_t start = ht_now();

	ht_slot(index)->command = HT_STOP;
	while (waitpid(ht_slot(index)->pid, NULL, WNOHANG) == 0) {
		ht_sleep_ms(10);
		if (ht_hung(start, "the end of a churning task"))
			return;
	}
	ht_slot(index)->pid = 0;
}

static void churn(bool hotplug)
{
	void (*bodies[])(struct ht_slot *) = {
		forker_body, forker_body, setter_body, setter_body, hotplug_body,
	};
	int workers[5], nr = hotplug ? 5 : 4;
	uint64_t end;

	ht_topo_read(&topo);
	ht_need_root();
	for (int i = 0; i < NR_SLEEPERS; i++)
		ht_sleeper("ht-sleep", SCHED_HT, 0, topo.usable);
	for (int i = 0; i < NR_HOGS; i++)
		ht_hog("ht-hog", SCHED_HT, i, topo.usable);
	for (int i = 0; i < nr; i++)
		workers[i] = ht_task("nh-work", SCHED_OTHER, 0, topo.usable,
				     bodies[i]);
	end = ht_now() + ht_seconds(60) * HT_NSEC_PER_SEC;
	while (ht_now() < end && !ht_failed()) {
		check();
		ht_sleep_ms(100);
		for (int i = 0; i < nr; i++)
			EXPECT(ht_advances(workers[i]), "worker %d stands still", i);
	}
	for (int i = 0; i < nr; i++)
		stop_and_reap(workers[i]);
	check();
	for (int i = 0; i < nr; i++) {
		ht_note("worker %d: %llu rounds", i,
			(unsigned long long)ht_slot(workers[i])->count);
		EXPECT(!ht_slot(workers[i])->bad, "worker %d: %d children lost", i,
		       ht_slot(workers[i])->bad);
	}
	ht_kill_all();
}

TEST(with_hotplug, "fork, exec, exit, policy, nice, affinity, hotplug")
{
	churn(true);
}

TEST(short_without, "the same without hotplug, a quarter of the time")
{
	unsigned int full = ht_seconds(60);

	ht_opt.seconds = full / 4 ? full / 4 : 1;
	churn(false);
}
