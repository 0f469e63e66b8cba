// SPDX-License-Identifier: GPL-2.0
/*
 * What scheduling costs: pipe round trips and forks.
 *
 * Prints clock time per operation. In a guest whose clock counts instructions
 * (scripts/vm --icount) that is instructions per operation, whatever the host
 * does meanwhile; anywhere else it is time, and noisy.
 *
 * Usage: cost pipe|pipe-apart|fork ROUNDS
 *
 * pipe: both ends on one CPU; pipe-apart: wherever the policy puts them;
 * fork: fork, exit and wait of a child that does nothing. The policy is the
 * caller's: run it by htctl run to see another one.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void pass(int from, int to, int rounds)
{
	char c = 0;

	while (rounds--) {
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			die("pipe");
	}
}

static void pipe_rounds(int rounds)
{
	int there[2], back[2];
	pid_t pid;
	char c = 0;

	if (pipe(there) || pipe(back))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		pass(there[0], back[1], rounds);
		_exit(0);
	}
	while (rounds--) {
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			die("pipe");
	}
	waitpid(pid, NULL, 0);
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

static void fork_rounds(int rounds)
{
	while (rounds--) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	void (*run)(int rounds) = pipe_rounds;
	unsigned long long start;
	int rounds;

	if (argc != 3 || (rounds = atoi(argv[2])) <= 0) {
		fprintf(stderr, "usage: cost pipe|pipe-apart|fork ROUNDS\n");
		return 2;
	}
	if (!strcmp(argv[1], "pipe"))
		pin(1);
	if (!strcmp(argv[1], "fork"))
		run = fork_rounds;

	run(rounds / 10 + 1);
	start = now_ns();
	run(rounds);
	printf("%s %llu\n", argv[1], (now_ns() - start) / rounds);
	return 0;
}
