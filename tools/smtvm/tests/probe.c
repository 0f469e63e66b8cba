// SPDX-License-Identifier: GPL-2.0
/*
 * What the guest sees of its machine, for smtvm-check.
 *
 *   probe speed CPU...	one loop pinned to each CPU; prints how many
 *			instructions per ns each got
 *   probe pipe A B	a byte back and forth between two tasks on CPUs A and B;
 *			prints ns per round
 *   probe timer CPU	prints by how many ns timers fire late, as the kernel's
 *			own trace shows (needs tracefs)
 *   probe walk A B	ns to read 512 KiB on CPU A: warm, after CPU B has
 *			streamed through 16 MiB, and after moving to CPU B
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACING		"/sys/kernel/tracing/"
#define LOOPS		20000000UL	/* of two instructions */
#define SETTLE_US	10000
#define ROUNDS		3000
#define WARM_UP		100
#define LINE		64
#define WALK_BYTES	(512UL << 10)
#define STREAM_BYTES	(16UL << 20)

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %s", cpu);
}

static double loop_ns(void)
{
	unsigned long left = LOOPS;
	double start = now_ns();

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r" (left));
	return now_ns() - start;
}

/* The loop on @cpu in a child; returns where its time can be read. */
static int start_loop(const char *cpu)
{
	double ns;
	int p[2];

	if (pipe(p))
		err(1, "pipe");
	if (fork())
		return p[0];
	pin(cpu);
	usleep(SETTLE_US);
	ns = loop_ns();
	if (write(p[1], &ns, sizeof(ns)) != sizeof(ns))
		err(1, "write");
	_exit(0);
}

static int speed(int nr, char **cpus)
{
	int from[64];

	for (int i = 0; i < nr; i++)
		from[i] = start_loop(cpus[i]);
	for (int i = 0; i < nr; i++) {
		double ns;

		if (read(from[i], &ns, sizeof(ns)) != sizeof(ns))
			errx(1, "no time from CPU %s", cpus[i]);
		printf("speed %s %.4f\n", cpus[i], 2.0 * LOOPS / ns);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static void echo(int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1) {
		if (write(to, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static int ping_pong(const char *a, const char *b)
{
	double start = 0;
	int to[2], from[2];
	char c = 0;

	if (pipe(to) || pipe(from))
		err(1, "pipe");
	if (!fork()) {
		pin(b);
		close(to[1]);
		echo(to[0], from[1]);
	}
	pin(a);
	usleep(SETTLE_US);
	for (int i = -WARM_UP; i < ROUNDS; i++) {
		if (!i)
			start = now_ns();
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			err(1, "pipe");
	}
	printf("pipe %s %s %.0f\n", a, b, (now_ns() - start) / ROUNDS);
	return 0;
}

static void write_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) == EOF || fclose(f))
		err(1, "%s", path);
}

/* The number behind @key in @line, or 0. */
static uint64_t field(const char *line, const char *key, int base)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* Pairs each start of a timer with its expiry; prints the lateness. */
static void print_lateness(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	uint64_t timer = 0, expires = 0;
	char line[512];

	if (!f)
		err(1, TRACING "trace");
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, " hrtimer_start:") && strstr(line, "hrtimer_wakeup")) {
			timer = field(line, "hrtimer=", 16);
			expires = field(line, " expires=", 10);
		} else if (strstr(line, " hrtimer_expire_entry:") && timer &&
			   field(line, "hrtimer=", 16) == timer) {
			printf("late %lld\n", (long long)(field(line, " now=", 10) - expires));
			timer = 0;
		}
	}
	fclose(f);
}

static int timer(const char *cpu)
{
	char mask[32];

	pin(cpu);
	/* A timer that may fire in a range has no time to be late for. */
	if (prctl(PR_SET_TIMERSLACK, 1))
		err(1, "timer slack");
	snprintf(mask, sizeof(mask), "%llx\n", 1ULL << atoi(cpu));
	write_to(TRACING "tracing_cpumask", mask);
	write_to(TRACING "events/timer/hrtimer_start/enable", "1");
	write_to(TRACING "events/timer/hrtimer_expire_entry/enable", "1");
	for (int i = 0; i < 200; i++)
		usleep(1000 + i);
	write_to(TRACING "tracing_on", "0");
	print_lateness();
	return 0;
}

/* One read of each line. */
static double walk_ns(const volatile char *data, size_t bytes)
{
	double start = now_ns();

	for (size_t i = 0; i < bytes; i += LINE)
		(void)data[i];
	return now_ns() - start;
}

static void stream(const char *cpu)
{
	if (!fork()) {
		volatile char *data = malloc(STREAM_BYTES);

		pin(cpu);
		for (size_t i = 0; data && i < STREAM_BYTES; i += LINE)
			data[i] = 1;
		_exit(0);
	}
	wait(NULL);
}

static int walk(const char *a, const char *b)
{
	char *data = malloc(WALK_BYTES);
	double warm, evicted;

	if (!data)
		err(1, "malloc");
	memset(data, 1, WALK_BYTES);
	pin(a);
	walk_ns(data, WALK_BYTES);
	warm = walk_ns(data, WALK_BYTES);
	stream(b);
	evicted = walk_ns(data, WALK_BYTES);
	pin(b);
	printf("walk %s %s %.0f %.0f %.0f\n", a, b, warm, evicted, walk_ns(data, WALK_BYTES));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && argc <= 66 && !strcmp(argv[1], "speed"))
		return speed(argc - 2, argv + 2);
	if (argc == 4 && !strcmp(argv[1], "pipe"))
		return ping_pong(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "walk"))
		return walk(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "timer"))
		return timer(argv[2]);
	fprintf(stderr, "usage: probe speed CPU... | pipe A B | timer CPU | walk A B\n");
	return 2;
}
