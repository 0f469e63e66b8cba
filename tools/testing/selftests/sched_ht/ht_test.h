/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common part of the SCHED_HT selftests.
 *
 * Each program pins one promise, each TEST() one case of it. A case runs in a
 * process group of its own, so whatever it leaves behind is killed and a hang
 * ends as a failure. Output is TAP; exit status 0 passed, 1 failed, 4 skipped,
 * as kselftest has it.
 *
 * Guests run under emulation, where wall-clock time says nothing: cases judge
 * counts, CPU time that the guest accounted, and ticks that a CPU handled.
 * Wall-clock limits exist only to end a hang.
 */
#ifndef HT_TEST_H
#define HT_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SCHED_HT
#define SCHED_HT		8
#endif
#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE		6
#endif

#define HT_FLAG_RESET_ON_FORK	0x01
#define HT_FLAG_KEEP_POLICY	0x08
#define HT_FLAG_KEEP_PARAMS	0x10
#define HT_FLAG_UTIL_MIN	0x20
#define HT_FLAG_UTIL_MAX	0x40

#define HT_MAX_CPUS		64
#define HT_MAX_TASKS		256
#define HT_NSEC_PER_SEC		1000000000ULL
#define HT_NSEC_PER_MSEC	1000000ULL
/* Longest that anything may take before it is taken for hung. */
#ifndef HT_HANG_SEC
#define HT_HANG_SEC		120
#endif

#define HT_EXIT_PASS		0
#define HT_EXIT_FAIL		1
#define HT_EXIT_SKIP		4
#define HT_EXIT_HUNG		5

/* CPUs as a bitmap: the guests of these tests have at most 64. */
typedef uint64_t ht_mask;

#define HT_CPU(cpu)		(1ULL << (cpu))

static inline bool ht_has(ht_mask mask, int cpu)
{
	return cpu >= 0 && cpu < HT_MAX_CPUS && (mask >> cpu & 1);
}

static inline int ht_first(ht_mask mask)
{
	return mask ? __builtin_ctzll(mask) : -1;
}

static inline int ht_count(ht_mask mask)
{
	return __builtin_popcountll(mask);
}

#define ht_for_each_cpu(cpu, mask)				\
	for (ht_mask __m = (mask); __m && ((cpu) = ht_first(__m), 1);	\
	     __m &= __m - 1)

/* The layout of struct sched_attr, under a name that no libc uses. */
struct ht_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min;
	uint32_t util_max;
};

int ht_setattr(pid_t pid, const struct ht_attr *attr);
int ht_getattr(pid_t pid, struct ht_attr *attr);
int ht_set(pid_t pid, int policy, int nice);
int ht_policy_of(pid_t pid);
int ht_nice_of(pid_t pid);

/* Cases */

struct ht_case {
	const char *name;
	const char *what;
	void (*run)(void);
};

struct ht_options {
	unsigned int seconds;	/* 0: the case's own default */
	unsigned int rounds;	/* 0: the case's own default */
	bool cgroup_v1;
	bool verbose;
};

extern struct ht_options ht_opt;

void ht_register(const char *name, const char *what, void (*run)(void));
void ht_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ht_fail(const char *file, int line, const char *cond, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void ht_skip(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
void ht_end_case(void) __attribute__((noreturn));
bool ht_failed(void);

#define TEST(name, what)						\
	static void name(void);						\
	__attribute__((constructor)) static void register_##name(void)	\
	{								\
		ht_register(#name, what, name);				\
	}								\
	static void name(void)

/* The case goes on after EXPECT and ends after REQUIRE. */
#define EXPECT(cond, ...)						\
	do {								\
		if (!(cond))						\
			ht_fail(__FILE__, __LINE__, #cond, __VA_ARGS__); \
	} while (0)

#define REQUIRE(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			ht_fail(__FILE__, __LINE__, #cond, __VA_ARGS__); \
			ht_end_case();					\
		}							\
	} while (0)

unsigned int ht_seconds(unsigned int standard);
unsigned int ht_rounds(unsigned int standard);

/* Files */

int ht_read(const char *path, char *buf, size_t size);
int ht_write(const char *path, const char *text);
long long ht_read_number(const char *path, long long absent);
bool ht_exists(const char *path);
const char *ht_debugfs(void);
const char *ht_tracefs(void);
int ht_sysctl_set(const char *knob, long value);
long ht_sysctl_get(const char *knob);
long long ht_stat(const char *name);

/* INV-2 as the kernel's own checker sees it: -1 without SCHED_HT_DEBUG. */
void ht_inv2_reset(void);
long long ht_inv2_worst_ticks(void);

/* Topology, from sysfs */

struct ht_topo {
	int nr_cpus;		/* highest possible CPU + 1 */
	ht_mask online;
	ht_mask isolated;
	ht_mask usable;		/* online and not isolated */
	int nr_cores;		/* cores with a usable thread */
	ht_mask core[HT_MAX_CPUS];
	ht_mask core_of[HT_MAX_CPUS];
	ht_mask llc_of[HT_MAX_CPUS];
	ht_mask node_of[HT_MAX_CPUS];
	int nr_llcs;
};

void ht_topo_read(struct ht_topo *topo);
int ht_topo_distance(const struct ht_topo *topo, int from, int to);
int ht_topo_sibling(const struct ht_topo *topo, int cpu);
int ht_topo_smt_core(const struct ht_topo *topo, int skip);
ht_mask ht_mask_parse(const char *list);
int ht_cpu_online(int cpu, bool online);

/* Tasks */

enum ht_command { HT_GO, HT_STOP };

/* What a test and one of its tasks share. */
struct ht_slot {
	volatile uint64_t count;	/* rounds of a hog, wakeups of a sleeper */
	volatile int cpu;		/* where it ran last */
	volatile int command;
	volatile uint32_t futex;	/* a sleeper waits for it to change */
	volatile uint32_t answered;	/* the futex value last answered */
	volatile int first_cpu;		/* where it ran right after the wakeup */
	volatile uint64_t run_ns;	/* CPU time a sleeper takes per wakeup */
	volatile int bad;		/* complaints of the task itself */
	volatile int ready;
	pid_t pid;
} __attribute__((aligned(128)));

struct ht_slot *ht_slot(int index);
void *ht_shared(size_t size);
int ht_pin(pid_t pid, ht_mask mask);
ht_mask ht_affinity(pid_t pid);
void ht_name(const char *name);

/*
 * A task is a SCHED_HT one for the trace audit if its name starts with "ht-".
 * Start functions return an index for ht_slot() and wait until it runs.
 */
int ht_hog(const char *name, int policy, int nice, ht_mask mask);
int ht_sleeper(const char *name, int policy, int nice, ht_mask mask);
int ht_task(const char *name, int policy, int nice, ht_mask mask,
	    void (*body)(struct ht_slot *slot));
void ht_kill(int index);
void ht_kill_all(void);
void ht_wake(int index);
bool ht_answered(int index);
void ht_wait_answer(int index);
void ht_wait_asleep(int index);
bool ht_advances(int index);
bool ht_runs_within(int index, ht_mask mask);

uint64_t ht_now(void);
uint64_t ht_cpu_ns(pid_t pid);
uint64_t ht_own_cpu_ns(void);
void ht_sleep_ms(unsigned int ms);
void ht_burn_ns(uint64_t ns);
void ht_wait_cpu_ns(const int *index, int nr, uint64_t sum_ns);
long ht_tick_ns(void);
char ht_state(pid_t pid);
long long ht_timer_irqs(int cpu);
int ht_futex_wait(volatile uint32_t *word, uint32_t value);
int ht_futex_wake(volatile uint32_t *word, int nr);
bool ht_hung(uint64_t since, const char *what);
void ht_hang_report(pid_t group);

/* Needs: end the case as skipped when the machine or kernel lacks it. */

void ht_need_root(void);
void ht_need_cpus(const struct ht_topo *topo, int cpus, int cores);
void ht_need_smt(const struct ht_topo *topo);
void ht_need_trace(void);

#endif /* HT_TEST_H */
