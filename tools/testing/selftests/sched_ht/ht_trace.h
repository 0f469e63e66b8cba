/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every CPU did, replayed from a trace.
 *
 * The trace uses the "counter" clock: a strict order over all CPUs, which is
 * what matters here, rather than time, which emulation makes meaningless. The
 * replay knows for each CPU who runs and who is queued, and audits:
 *
 *  - placement: a woken or forked SCHED_HT task put beside a busy thread while
 *    a core that it may use was wholly idle (a mistake);
 *  - INV-1: an HT task placed, moved or run outside its mask;
 *  - INV-2: ticks that an HT task's CPU handled while the task ran beside a
 *    busy thread and a core that it may use was wholly idle;
 *  - INV-3: ticks that an HT task waited through while a CPU of its LLC that
 *    it may use was idle.
 *
 * A tick that finds the CPU already asked to reschedule does not count: there,
 * the emulator has let pass a tick's time between two instructions. Likewise a
 * CPU counts as idle only if nothing is on its way to it either, so a host
 * that is slow to run a virtual CPU does not show up as a kernel's fault.
 */
#ifndef HT_TRACE_H
#define HT_TRACE_H

#include "ht_test.h"

enum ht_event_type {
	HT_EV_OTHER,
	HT_EV_SWITCH,
	HT_EV_WAKEUP,
	HT_EV_WAKEUP_NEW,
	HT_EV_MIGRATE,
	HT_EV_TICK,
	HT_EV_SELECT,
	HT_EV_HT_MIGRATE,
	HT_EV_MARK,
};

struct ht_event {
	enum ht_event_type type;
	int cpu;		/* where it was recorded */
	int context;		/* pid that ran there */
	uint64_t order;
	int pid;		/* the task concerned; next of a switch */
	int prev_pid;
	bool resched;		/* that CPU has been asked to reschedule */
	bool prev_runs;		/* the task switched out stays runnable */
	int src;
	int dst;		/* verdict, target or destination CPU */
	int tries;		/* choices lost to others before the verdict */
	char comm[32];
	char kind[24];
	char why[24];
	const char *text;	/* behind the event's name */
};

struct ht_replay {
	const struct ht_topo *topo;
	ht_mask known;		/* CPUs of which the current task is known */
	int curr[HT_MAX_CPUS];
	int queued[HT_MAX_CPUS];	/* runnable there, the running one included */
};

struct ht_audit {
	unsigned long events, lost;
	unsigned long placements;	/* wakeups and forks of HT tasks audited */
	unsigned long mistakes;
	unsigned long raced;	/* core busy by the time, verdict says whole */
	unsigned long excused;	/* the idle core was being taken by another */
	unsigned long priced;	/* the verdict says that the core costs more */
	unsigned long moves;	/* migrations and switches checked by mask */
	unsigned long outside;
	unsigned long separations;
	unsigned int inv2_worst;	/* ticks */
	unsigned long inv2_over;	/* times longer than that takes */
	unsigned int inv3_worst;
	unsigned long inv3_over;
};

/* Called before the event is applied to the replay. */
typedef void (*ht_event_fn)(const struct ht_event *ev,
			    const struct ht_replay *replay, void *data);

void ht_trace_start(void);
/*
 * The mark "htmask PID HEX" says what the task may use from there on; 0 that it
 * is not known, and nothing about the task is audited until the next one.
 */
void ht_trace_mark(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ht_trace_stop(void);
/* The same without a mark: how things are when the trace starts. */
void ht_trace_mask(int pid, ht_mask mask);
void ht_trace_replay(const struct ht_topo *topo, struct ht_audit *audit,
		     ht_event_fn fn, void *data);
bool ht_replay_idle(const struct ht_replay *replay, int cpu);
ht_mask ht_replay_busy(const struct ht_replay *replay);

/* Expectations that most users share; each fails the case. */
void ht_audit_print(const struct ht_audit *audit);
void ht_audit_placement(const struct ht_audit *audit);
void ht_audit_inv1(const struct ht_audit *audit);
void ht_audit_inv2(const struct ht_audit *audit);
void ht_audit_inv3(const struct ht_audit *audit);

#endif /* HT_TRACE_H */
