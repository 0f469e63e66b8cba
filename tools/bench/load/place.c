// SPDX-License-Identifier: GPL-2.0
/*
 * Where the scheduler puts tasks while a core idles, and how fast it corrects.
 *
 * usage: place release|leave|wake-beside|crowd-futex|crowd-timer ROUNDS
 *
 * release: two hogs pinned to the threads of one core are let go while another
 * core idles: time until they use two cores. leave: two hogs share a core, all
 * other cores are full, then one core's hogs stop: time until one of the two
 * moves. Both print median_ms, worst_ms and never_pct (not within 250 ms; such
 * a round counts as 250 ms).
 *
 * wake-beside: a task wakes whose previous CPU is the idle sibling of a busy
 * thread while another core idles: beside_pct of wakeups that start there, and
 * stays_pct that are still there 200 us later.
 *
 * crowd: as many tasks as cores, whose previous CPUs are random, wake at once,
 * by one futex call or by timers for the same moment: idle_core_pct of rounds in
 * which they start on fewer cores than there are, and settled_pct 300 us later.
 *
 * The policy is the caller's.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "ht_test.h"
#include "load.h"

#define LIMIT_NS	(250 * HT_NSEC_PER_MSEC)
#define SETTLE_NS	(12 * HT_NSEC_PER_MSEC)
#define MAX_ROUNDS	100000

enum filler { FILL, PAUSE };

struct shared {
	volatile int other_cpu __attribute__((aligned(128)));
	/* Fillers of core i watch these. */
	volatile uint32_t filler[HT_MAX_CPUS] __attribute__((aligned(128)));
	/* Woken tasks */
	volatile uint32_t gate __attribute__((aligned(128)));
	volatile uint64_t alarm_ns;
	volatile uint32_t done __attribute__((aligned(128)));
	volatile int waiting;
	volatile int first[HT_MAX_CPUS];
	volatile int last[HT_MAX_CPUS];
};

static struct shared *shared;
static struct ht_topo topo;
static uint64_t turns_per_us;

static void spin_us(uint64_t us)
{
	static volatile uint64_t sink;

	sink = load_spin(turns_per_us * us, sink);
}

static void spin_ns_wall(uint64_t ns)
{
	uint64_t end = load_now_ns() + ns;

	while (load_now_ns() < end)
		;
}

/* A child that runs body(arg) and goes when we go. */
static pid_t child(void (*body)(int arg), int arg)
{
	pid_t pid = fork();

	if (pid < 0)
		load_die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	body(arg);
	_exit(0);
}

static void pin(pid_t pid, ht_mask mask)
{
	if (ht_pin(pid, mask))
		load_die("sched_setaffinity");
}

static bool share_core(void)
{
	return ht_has(topo.core_of[sched_getcpu()], shared->other_cpu);
}

/* Results of rounds */

static void print_times(uint64_t *ns, size_t rounds)
{
	size_t i, never = 0;

	for (i = 0; i < rounds; i++)
		never += ns[i] >= LIMIT_NS;
	load_sort(ns, rounds);
	printf("median_ms %.4f\n", load_percentile(ns, rounds, 50) / 1e6);
	printf("worst_ms %.4f\n", ns[rounds - 1] / 1e6);
	printf("never_pct %.2f\n", 100.0 * never / rounds);
}

/* Until we and the other hog use two cores. */
static uint64_t time_to_separate(void)
{
	uint64_t start = load_now_ns(), took = 0;

	while (share_core() && took < LIMIT_NS)
		took = load_now_ns() - start;
	return took < LIMIT_NS ? took : LIMIT_NS;
}

/* Hogs */

static void other_hog(int unused)
{
	(void)unused;
	for (;;)
		shared->other_cpu = sched_getcpu();
}

static void bring_together(pid_t other, int first, int second)
{
	pin(other, HT_CPU(second));
	pin(0, HT_CPU(first));
	while (shared->other_cpu != second || sched_getcpu() != first)
		;
	spin_ns_wall(SETTLE_NS);
}

static void let_go(pid_t other)
{
	pin(other, topo.usable);
	pin(0, topo.usable);
}

static void release(size_t rounds, uint64_t *ns)
{
	int first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)] & topo.usable);
	pid_t other = child(other_hog, 0);
	size_t i;

	for (i = 0; i < rounds; i++) {
		bring_together(other, first, ht_topo_sibling(&topo, first));
		let_go(other);
		ns[i] = time_to_separate();
	}
	print_times(ns, rounds);
}

static void filler_hog(int cpu)
{
	volatile uint32_t *word = NULL;
	int i;

	pin(0, HT_CPU(cpu));
	for (i = 0; i < topo.nr_cores; i++)
		if (ht_has(topo.core[i], cpu))
			word = &shared->filler[i];
	for (;;) {
		while (*word == FILL)
			;
		ht_futex_wait(word, PAUSE);
	}
}

static void fill_all(int but)
{
	int i;

	for (i = 0; i < topo.nr_cores; i++) {
		shared->filler[i] = i == but ? PAUSE : FILL;
		ht_futex_wake(&shared->filler[i], HT_MAX_CPUS);
	}
}

/* One round; false if the two had parted before a core fell idle. */
static bool leave_round(pid_t other, int core, int leaves, uint64_t *ns)
{
	int first = ht_first(topo.core[core] & topo.usable);

	fill_all(core);
	bring_together(other, first, ht_topo_sibling(&topo, first));
	let_go(other);
	spin_ns_wall(2 * SETTLE_NS);
	if (!share_core())
		return false;
	shared->filler[leaves] = PAUSE;
	*ns = time_to_separate();
	return true;
}

static void leave(size_t rounds, uint64_t *ns)
{
	int core = ht_topo_smt_core(&topo, 0), cpu;
	size_t done = 0, tried = 0;
	pid_t other = child(other_hog, 0);

	ht_for_each_cpu(cpu, topo.usable & ~topo.core[core])
		child(filler_hog, cpu);
	while (done < rounds && tried < 10 * rounds) {
		int leaves = (core + 1 + tried++ % (topo.nr_cores - 1)) % topo.nr_cores;

		done += leave_round(other, core, leaves, &ns[done]);
	}
	if (done < rounds) {
		fprintf(stderr, "place: only %zu of %zu rounds began with a shared core\n",
			done, tried);
		exit(1);
	}
	print_times(ns, rounds);
}

/* Wakeups */

static void finished(void)
{
	if (__atomic_add_fetch(&shared->done, 1, __ATOMIC_SEQ_CST) == (uint32_t)shared->waiting)
		ht_futex_wake(&shared->done, 1);
}

/* A random CPU becomes our previous one, the same ones in each run. */
static void scatter(uint64_t *seed)
{
	int skip, cpu = 0;

	*seed = load_spin(1, *seed);
	skip = (*seed >> 33) % ht_count(topo.usable);
	ht_for_each_cpu(cpu, topo.usable)
		if (!skip--)
			break;
	pin(0, HT_CPU(cpu));
	pin(0, topo.usable);
}

/* Notes where it starts, and where it is after settle_us. */
static void sleeper(int index, int settle_us, bool scattered)
{
	uint64_t seed = index + 1;
	uint32_t seen = shared->gate;

	finished();
	for (;;) {
		struct timespec at;

		while (shared->gate == seen)
			ht_futex_wait(&shared->gate, seen);
		seen = shared->gate;
		at.tv_sec = shared->alarm_ns / HT_NSEC_PER_SEC;
		at.tv_nsec = shared->alarm_ns % HT_NSEC_PER_SEC;
		if (shared->alarm_ns)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		shared->first[index] = sched_getcpu();
		spin_us(settle_us);
		shared->last[index] = sched_getcpu();
		if (scattered)
			scatter(&seed);
		finished();
	}
}

static void sleeper_200us(int index)
{
	sleeper(index, 200, false);
}

static void sleeper_300us(int index)
{
	sleeper(index, 300, true);
}

static void open_gate(void)
{
	shared->done = 0;
	shared->gate++;
	ht_futex_wake(&shared->gate, HT_MAX_CPUS);
}

static void await_done(bool busy)
{
	uint32_t seen;

	while ((seen = shared->done) < (uint32_t)shared->waiting)
		if (!busy)
			ht_futex_wait(&shared->done, seen);
	/* The last of them is still on its way to sleep. */
	if (busy)
		spin_us(300);
	else
		ht_sleep_ms(2);
}

static void print_pct(const char *name, size_t part, size_t rounds)
{
	printf("%s %.3f\n", name, 100.0 * part / rounds);
}

/* We are the busy thread. */
static void wake_beside(size_t rounds)
{
	int first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)] & topo.usable);
	int second = ht_topo_sibling(&topo, first);
	size_t i, beside = 0, stays = 0;
	pid_t pid;

	pin(0, HT_CPU(first));
	shared->waiting = 1;
	pid = child(sleeper_200us, 0);
	await_done(true);
	for (i = 0; i < rounds; i++) {
		pin(pid, HT_CPU(second));
		open_gate();
		await_done(true);
		pin(pid, topo.usable);
		open_gate();
		await_done(true);
		beside += ht_has(topo.core_of[first], shared->first[0]);
		stays += ht_has(topo.core_of[first], shared->last[0]);
	}
	print_pct("beside_pct", beside, rounds);
	print_pct("stays_pct", stays, rounds);
}

static bool core_left_idle(volatile int *cpu, int count)
{
	ht_mask seen = 0;
	int i, cores = 0;

	for (i = 0; i < count; i++) {
		cores += !ht_has(seen, cpu[i]);
		seen |= topo.core_of[cpu[i]];
	}
	return cores < topo.nr_cores;
}

static void crowd(size_t rounds, bool by_timer)
{
	int i, count = topo.nr_cores;
	size_t round, idle = 0, settled = 0;

	shared->waiting = count;
	for (i = 0; i < count; i++)
		child(sleeper_300us, i);
	await_done(false);
	for (round = 0; round < rounds; round++) {
		shared->alarm_ns = by_timer ? load_now_ns() + 3 * HT_NSEC_PER_MSEC : 0;
		open_gate();
		await_done(false);
		idle += core_left_idle(shared->first, count);
		settled += core_left_idle(shared->last, count);
	}
	print_pct("idle_core_pct", idle, rounds);
	print_pct("settled_pct", settled, rounds);
}

int main(int argc, char **argv)
{
	uint64_t *ns;
	size_t rounds;

	if (argc != 3) {
		fprintf(stderr, "usage: place release|leave|wake-beside|crowd-futex|crowd-timer "
			"ROUNDS\n");
		return 2;
	}
	rounds = load_number(argv[2], "ROUNDS", 1, MAX_ROUNDS);
	ht_topo_read(&topo);
	if (topo.nr_cores < 2 || ht_topo_smt_core(&topo, 0) < 0) {
		fprintf(stderr, "place: needs two cores, one of them with two threads\n");
		return 1;
	}
	turns_per_us = load_spin_per_us();
	shared = ht_shared(sizeof(*shared));
	ns = calloc(rounds, sizeof(*ns));
	if (!ns)
		load_die("calloc");
	if (!strcmp(argv[1], "release"))
		release(rounds, ns);
	else if (!strcmp(argv[1], "leave"))
		leave(rounds, ns);
	else if (!strcmp(argv[1], "wake-beside"))
		wake_beside(rounds);
	else if (!strncmp(argv[1], "crowd-", 6))
		crowd(rounds, !strcmp(argv[1], "crowd-timer"));
	else
		load_number(argv[1], "what to place", 1, 0);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	return 0;
}
