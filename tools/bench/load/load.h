/* SPDX-License-Identifier: GPL-2.0 */
/* What the loads share. Each prints its result as lines "name value". */
#ifndef HTBENCH_LOAD_H
#define HTBENCH_LOAD_H

#include <stdint.h>
#include <sys/types.h>

#define LOAD_NSEC_PER_SEC	1000000000ULL

uint64_t load_now_ns(void);
void load_die(const char *what) __attribute__((noreturn));
/* A whole number from min to max, or the program ends with status 2. */
long load_number(const char *text, const char *what, long min, long max);

/* Turns that take the same instructions each; the result depends on them all. */
uint64_t load_spin(uint64_t turns, uint64_t value);
/* Turns that take a microsecond on a core of one's own, at least 1. */
uint64_t load_spin_per_us(void);

/* The value below which @pct percent of sorted values lie; 0 without any. */
uint64_t load_percentile(const uint64_t *sorted, size_t count, double pct);
void load_sort(uint64_t *values, size_t count);

#endif
