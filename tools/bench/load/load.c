// SPDX-License-Identifier: GPL-2.0
/* What the loads share; see load.h. */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t load_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * LOAD_NSEC_PER_SEC + ts.tv_nsec;
}

void load_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

long load_number(const char *text, const char *what, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < min || value > max) {
		fprintf(stderr, "%s: '%s' is not a number from %ld to %ld\n", what, text,
			min, max);
		exit(2);
	}
	return value;
}

uint64_t load_spin(uint64_t turns, uint64_t value)
{
	while (turns--)
		value = value * 6364136223846793005ULL + 1442695040888963407ULL;
	return value;
}

uint64_t load_spin_per_us(void)
{
	uint64_t best = ~0ULL, turns = 200000;
	volatile uint64_t sink;
	int i;

	/* The least of a few: interruptions only ever make it longer. */
	for (i = 0; i < 5; i++) {
		uint64_t start = load_now_ns(), took;

		sink = load_spin(turns, start);
		took = load_now_ns() - start;
		if (took < best)
			best = took;
	}
	(void)sink;
	turns = best ? turns * 1000 / best : 1;
	return turns ? turns : 1;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void load_sort(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

uint64_t load_percentile(const uint64_t *sorted, size_t count, double pct)
{
	size_t at = count * pct / 100;

	if (!count)
		return 0;
	return sorted[at < count ? at : count - 1];
}
