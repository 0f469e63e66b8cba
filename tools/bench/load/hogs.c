// SPDX-License-Identifier: GPL-2.0
/*
 * CPU hogs of given nice values: who gets how much.
 *
 * usage: hogs SECONDS NICE...
 *
 * One process for each NICE; all start together and count turns of a loop for
 * SECONDS. Prints turns_per_s, and for each nice value its hogs' part of all
 * turns in percent (share_nice_N).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

#define MAX_HOGS	1024
#define TURNS		20000

struct shared {
	volatile int go;
	volatile uint64_t end_ns;
	uint64_t turns[MAX_HOGS];
};

static struct shared *shared;

static void hog(int index, int nice)
{
	uint64_t turns = 0, value = index;

	if (setpriority(PRIO_PROCESS, 0, nice))
		load_die("setpriority");
	while (!shared->go)
		usleep(1000);
	while (load_now_ns() < shared->end_ns) {
		value = load_spin(TURNS, value);
		turns += TURNS;
	}
	shared->turns[index] = turns + (value == 0);
	_exit(0);
}

static void print_shares(const int *nice, int count, uint64_t total)
{
	int level, i;

	for (level = -20; level < 20; level++) {
		uint64_t turns = 0;
		int members = 0;

		for (i = 0; i < count; i++) {
			if (nice[i] != level)
				continue;
			turns += shared->turns[i];
			members++;
		}
		if (members)
			printf("share_nice_%d %.3f\n", level, 100.0 * turns / total);
	}
}

int main(int argc, char **argv)
{
	int nice[MAX_HOGS], count = argc - 2, i, status, failed = 0;
	uint64_t total = 0;
	long seconds;

	if (argc < 3 || count > MAX_HOGS) {
		fprintf(stderr, "usage: hogs SECONDS NICE...\n");
		return 2;
	}
	seconds = load_number(argv[1], "SECONDS", 1, 86400);
	for (i = 0; i < count; i++)
		nice[i] = load_number(argv[i + 2], "NICE", -20, 19);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		load_die("mmap");
	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			load_die("fork");
		if (!pid)
			hog(i, nice[i]);
	}
	usleep(100000);
	shared->end_ns = load_now_ns() + seconds * LOAD_NSEC_PER_SEC;
	shared->go = 1;
	while (wait(&status) > 0)
		failed |= status;
	for (i = 0; i < count; i++)
		total += shared->turns[i];
	if (failed || !total) {
		fprintf(stderr, "hogs: a hog failed\n");
		return 1;
	}
	printf("turns_per_s %.0f\n", (double)total / seconds);
	print_shares(nice, count, total);
	return 0;
}
