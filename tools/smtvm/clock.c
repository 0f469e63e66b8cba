// SPDX-License-Identifier: GPL-2.0
/*
 * Puts the model's time in the place of QEMU's. With -icount QEMU runs all
 * vCPUs in one thread, each for a number of instructions that it asks for
 * beforehand, and lets its virtual clock follow what was executed; but its clock
 * adds up all vCPUs' instructions. Four functions are replaced so that each
 * vCPU has a clock of its own, they are run in step, and idle time is skipped:
 *
 *   icount_round()	"how many instructions are these ns?", asked once before
 *			each slice: the slice's length
 *   icount_get()	the virtual clock, and the guest's TSC
 *   icount_percpu_budget()  QEMU's own slice length: no limit
 *   icount_handle_interrupt()  tells when an idle vCPU is woken
 *   icount_account_warp_timer()  called when a round of slices is over
 *   icount_start_warp_timer()  called by the main loop before it sleeps
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "patch.h"
#include "qemu_abi.h"
#include "smtvm.h"

#define SLICE_MAX	(1 << 30)	/* instructions; QEMU wants less than 2^31 */

/*
 * The slice that runs now; only the vCPUs' thread looks. @raw is QEMU's count
 * of all instructions when it began, @count the block counters then.
 */
static struct {
	int cpu;		/* -1: none */
	int64_t raw;
	struct smtvm_count count;
} slice = { .cpu = -1 };

/* The latest time that any vCPU was shown. */
static _Atomic int64_t shown_ns;
/* What other threads take for now. */
static _Atomic int64_t published_ns;
/* Rises with each slice and each interrupt: something happened. */
static _Atomic unsigned int activity;

static struct smtvm_guest *const g = &smtvm_guest;

static int index_of(const struct CPUState *cpu)
{
	for (int i = 0; i < g->model.nr_cpus; i++) {
		if (g->cpus[i] == cpu)
			return i;
	}
	return -1;
}

static uint64_t extra(void)
{
	return g->count[slice.cpu]->extra - slice.count.extra;
}

/* Instructions' worth of time since the slice began. */
static double executed(void)
{
	return (double)(icount_get_raw() - slice.raw) + (double)extra();
}

static void note_idle(int cpu)
{
	if (g->model.cpus[cpu].busy && cpu_thread_is_idle(g->cpus[cpu]))
		smtvm_set_idle(&g->model, cpu);
}

static void end_slice(void)
{
	if (slice.cpu < 0)
		return;
	g->insns[slice.cpu] += icount_get_raw() - slice.raw;
	smtvm_charge(&g->model, slice.cpu, executed());
	note_idle(slice.cpu);
	slice.cpu = -1;
	smtvm_advance(&g->model);
	atomic_store(&published_ns, llrint(g->model.now_ns));
	atomic_fetch_add(&activity, 1);
}

static void begin_slice(int cpu)
{
	slice.cpu = cpu;
	slice.raw = icount_get_raw();
	slice.count = *g->count[cpu];
}

/* In the vCPUs' thread: this vCPU's time; between slices, the common time. */
static double local_now(void)
{
	if (slice.cpu >= 0)
		return smtvm_time_after(&g->model, slice.cpu, executed());
	return g->model.now_ns;
}

/*
 * For a mark in the middle of a block, where QEMU's count must not be asked for:
 * this vCPU's time and, in *@insns, what it executed since its slice began, by
 * the block counters.
 */
double smtvm_clock_now(uint64_t *insns)
{
	const struct smtvm_count *c;

	*insns = 0;
	if (slice.cpu < 0)
		return g->model.now_ns;
	c = g->count[slice.cpu];
	*insns = c->kernel_insns - slice.count.kernel_insns +
		 c->user_insns - slice.count.user_insns;
	return smtvm_time_after(&g->model, slice.cpu, (double)(*insns + extra()));
}

/* Clocks of all vCPUs together never go back: causes stay before effects. */
static int64_t show(int64_t now_ns)
{
	int64_t seen = atomic_load(&shown_ns);

	if (now_ns <= seen)
		return seen;
	atomic_store(&shown_ns, now_ns);
	return now_ns;
}

static int64_t get_clock(void)
{
	int64_t now;

	if (!current_cpu)
		return atomic_load(&published_ns);
	pthread_mutex_lock(&g->lock);
	/* QEMU prepares another vCPU's slice. */
	if (slice.cpu >= 0 && g->cpus[slice.cpu] != current_cpu)
		end_slice();
	if (slice.cpu >= 0)
		now = show(llrint(local_now()));
	else
		now = atomic_load(&published_ns);
	pthread_mutex_unlock(&g->lock);
	return now;
}

/* An interrupt, or work for the vCPU's thread, that came without our notice. */
static void note_busy(int cpu)
{
	if (!g->model.cpus[cpu].busy && !cpu_thread_is_idle(g->cpus[cpu]))
		smtvm_set_busy(&g->model, cpu, g->model.now_ns);
}

static int64_t insns_for(int cpu, double deadline_ns)
{
	double limit = smtvm_limit(&g->model, cpu, deadline_ns);
	double insns = ceil(smtvm_insns_until(&g->model, cpu, limit));

	return insns > SLICE_MAX ? SLICE_MAX : (int64_t)insns;
}

/*
 * QEMU asks how many instructions fit before the next timer, @left_ns from what
 * get_clock() said: the common time, as no slice runs.
 */
static int64_t slice_length(int64_t left_ns)
{
	int64_t insns = 1;
	int cpu;

	pthread_mutex_lock(&g->lock);
	end_slice();
	cpu = index_of(current_cpu);
	if (cpu >= 0) {
		note_busy(cpu);
		/* 0 would have QEMU run its timers; an idle vCPU executes nothing. */
		if (g->model.cpus[cpu].busy)
			insns = insns_for(cpu, (double)(atomic_load(&published_ns) + left_ns));
		if (insns)
			begin_slice(cpu);
	}
	pthread_mutex_unlock(&g->lock);
	return insns;
}

static int64_t no_budget(int cpu_count)
{
	(void)cpu_count;
	return INT64_MAX;
}

static void round_over(void)
{
	pthread_mutex_lock(&g->lock);
	end_slice();
	pthread_mutex_unlock(&g->lock);
}

/* Returns whether the running vCPU's slice is too long now. */
static bool wake(int cpu)
{
	bool woken;

	pthread_mutex_lock(&g->lock);
	woken = cpu >= 0 && !g->model.cpus[cpu].busy;
	if (woken)
		smtvm_set_busy(&g->model, cpu,
			       current_cpu ? local_now() : g->model.now_ns);
	woken = woken && current_cpu && slice.cpu >= 0;
	pthread_mutex_unlock(&g->lock);
	return woken;
}

static void handle_interrupt(struct CPUState *cpu, int mask)
{
	atomic_fetch_add(&activity, 1);
	tcg_handle_interrupt(cpu, mask);
	if (!cpu_thread_is_idle(cpu) && wake(index_of(cpu)))
		cpu_exit(current_cpu);
}

/*
 * All vCPUs are idle. Before their next timer is made due, the main loop looks
 * once more for something to do: a request of the guest's may be under way.
 */
static void skip_idle(void)
{
	static unsigned int seen;
	unsigned int now = atomic_load(&activity);
	int64_t left;

	if (!runstate_is_running() || !all_cpu_threads_idle())
		return;
	if (now != seen || smtvm_workers_busy()) {
		seen = now;
		qemu_notify_event();
		return;
	}
	left = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, ~QEMU_TIMER_ATTR_EXTERNAL);
	if (left < 0)
		return;
	pthread_mutex_lock(&g->lock);
	smtvm_skip_to(&g->model, (double)(atomic_load(&published_ns) + left));
	atomic_store(&published_ns, llrint(g->model.now_ns));
	pthread_mutex_unlock(&g->lock);
	qemu_clock_notify(QEMU_CLOCK_VIRTUAL);
}

static const struct {
	const char *name;
	void *ours;
} replaced[] = {
	{ "icount_round", slice_length },
	{ "icount_get", get_clock },
	{ "icount_percpu_budget", no_budget },
	{ "icount_handle_interrupt", handle_interrupt },
	{ "icount_account_warp_timer", round_over },
	{ "icount_start_warp_timer", skip_idle },
};

void smtvm_clock_replace(void)
{
	for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
		void *theirs = dlsym(RTLD_DEFAULT, replaced[i].name);

		if (!theirs)
			smtvm_die("this QEMU has no %s(): Debian's QEMU 10 is needed",
				  replaced[i].name);
		if (smtvm_replace(theirs, replaced[i].ours))
			smtvm_die("cannot replace %s()", replaced[i].name);
	}
}
