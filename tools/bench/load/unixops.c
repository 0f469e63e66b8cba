// SPDX-License-Identifier: GPL-2.0
/*
 * What UnixBench measures and everybody knows by name: exec, file copy,
 * arithmetic. Prints ns_per_op.
 *
 * usage: unixops exec|copy|arith COUNT
 *
 * exec: the program replaces itself COUNT times. copy: COUNT times 256 KiB in
 * blocks of 1 KiB between two files in the working directory. arith: COUNT
 * times 1000 operations on doubles that depend on each other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

#define BLOCK		1024
#define FILE_BLOCKS	256

static void print_ns(uint64_t start, long count)
{
	printf("ns_per_op %.1f\n", (double)(load_now_ns() - start) / count);
}

/* START and TOTAL come from the first image. */
static void do_exec(long left, uint64_t start, long total)
{
	char a[32], b[32], c[32];

	if (!left) {
		print_ns(start, total);
		return;
	}
	snprintf(a, sizeof(a), "%ld", left - 1);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)start);
	snprintf(c, sizeof(c), "%ld", total);
	execl("/proc/self/exe", "unixops", "exec", a, b, c, NULL);
	load_die("exec");
}

static int scratch(void)
{
	char name[] = "unixops.XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0)
		load_die(name);
	unlink(name);
	return fd;
}

static void copy_once(int from, int to)
{
	char block[BLOCK];
	off_t at;

	for (at = 0; at < BLOCK * FILE_BLOCKS; at += BLOCK)
		if (pread(from, block, BLOCK, at) != BLOCK ||
		    pwrite(to, block, BLOCK, at) != BLOCK)
			load_die("copy");
}

static void do_copy(long count)
{
	int from = scratch(), to = scratch();
	char block[BLOCK];
	uint64_t start;
	long i;

	memset(block, 'x', sizeof(block));
	for (i = 0; i < FILE_BLOCKS; i++)
		if (write(from, block, BLOCK) != BLOCK)
			load_die("write");
	/* Both files' pages are there from the first copy on. */
	copy_once(from, to);
	start = load_now_ns();
	for (i = 0; i < count; i++)
		copy_once(from, to);
	print_ns(start, count);
}

static void do_arith(long count)
{
	volatile double sink;
	double x = 1.0;
	uint64_t start = load_now_ns();
	long i, j;

	for (i = 0; i < count; i++)
		for (j = 1; j <= 250; j++)
			x = (x * 1.0000001 + j) / 1.5 - 0.5;
	sink = x;
	(void)sink;
	print_ns(start, count);
}

int main(int argc, char **argv)
{
	long count;

	if (argc != 3 && !(argc == 5 && !strcmp(argv[1], "exec"))) {
		fprintf(stderr, "usage: unixops exec|copy|arith COUNT\n");
		return 2;
	}
	count = load_number(argv[2], "COUNT", argc == 5 ? 0 : 1, 100000000);
	if (!strcmp(argv[1], "exec"))
		do_exec(count, argc == 5 ? strtoull(argv[3], NULL, 10) : load_now_ns(),
			argc == 5 ? load_number(argv[4], "TOTAL", 1, 100000000) : count);
	else if (!strcmp(argv[1], "copy"))
		do_copy(count);
	else if (!strcmp(argv[1], "arith"))
		do_arith(count);
	else
		load_number(argv[1], "exec, copy or arith", 1, 0);
	return 0;
}
