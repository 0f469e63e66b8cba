// SPDX-License-Identifier: GPL-2.0
/*
 * Latency of the kernel's own pinned threads: beside 1, 4 and 16 SCHED_HT hogs
 * on its CPU, a kworker or any other pinned nice 0 thread waits no longer than
 * beside as many SCHED_NORMAL hogs, plus two ticks.
 *
 * Writing vm.stat_refresh queues work on every CPU and waits for it: that wakes
 * the pinned kworkers. A SCHED_NORMAL thread that sleeps in short steps is the
 * second probe. Waits are counted in ticks that the CPU handled between the
 * wakeup and the switch to the thread, as the trace has them in order. Means are
 * compared by probe, long waits over both. What tracing itself starts on that
 * CPU is another fair task, so the first ticks do not count.
 */
#include "ht_test.h"
#include "ht_trace.h"

#define MAX_WOKEN	64
#define EXTRA_TICKS	2
#define SETTLE_MS	400
#define SETTLE_TICKS	16

struct waits {
	int cpu;
	char kworker[24];
	unsigned int ticks;	/* of that CPU so far */
	struct {
		int pid;
		unsigned int since;
	} woken[MAX_WOKEN];
	struct {
		unsigned int samples, sum, max;
	} probe[2];		/* kworkers, the sleeping thread */
};

static struct ht_topo topo;
static int cpu;

static const char * const probe_names[] = { "kworker", "sleeping thread" };

static int probe_of(const struct waits *w, const char *comm)
{
	if (!strncmp(comm, w->kworker, strlen(w->kworker)))
		return 0;
	return strncmp(comm, "nh-probe", 8) ? -1 : 1;
}

static void note_wakeup(struct waits *w, int pid)
{
	for (int i = 0; i < MAX_WOKEN; i++) {
		if (w->woken[i].pid && w->woken[i].pid != pid)
			continue;
		/* Woken again before it ran: the first wakeup counts. */
		if (!w->woken[i].pid)
			w->woken[i].since = w->ticks;
		w->woken[i].pid = pid;
		return;
	}
}

static void note_run(struct waits *w, int pid, int probe)
{
	for (int i = 0; i < MAX_WOKEN; i++) {
		unsigned int wait = w->ticks - w->woken[i].since;

		if (w->woken[i].pid != pid)
			continue;
		w->woken[i].pid = 0;
		w->probe[probe].samples++;
		w->probe[probe].sum += wait;
		if (wait > w->probe[probe].max)
			w->probe[probe].max = wait;
	}
}

static void observe(const struct ht_event *ev, const struct ht_replay *replay,
		    void *data)
{
	struct waits *w = data;
	int probe = probe_of(w, ev->comm);

	(void)replay;
	if (ev->type == HT_EV_TICK && ev->cpu == w->cpu)
		w->ticks++;
	else if (ev->type == HT_EV_WAKEUP && probe >= 0 && ev->dst == w->cpu &&
		 w->ticks >= SETTLE_TICKS)
		note_wakeup(w, ev->pid);
	else if (ev->type == HT_EV_SWITCH && probe >= 0 && ev->cpu == w->cpu)
		note_run(w, ev->pid, probe);
}

static void probe_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		ht_sleep_ms(5);
		slot->count++;
	}
}

static void measure(int policy, int hogs, int fair_hogs, struct waits *w)
{
	unsigned int rounds = ht_rounds(15);
	struct ht_audit audit;
	int probe;

	for (int i = 0; i < hogs; i++)
		ht_hog(policy == SCHED_HT ? "ht-hog" : "nh-hog", policy, 0,
		       HT_CPU(cpu));
	for (int i = 0; i < fair_hogs; i++)
		ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(cpu));
	probe = ht_task("nh-probe", SCHED_OTHER, 0, HT_CPU(cpu), probe_body);
	/* The hogs began as SCHED_NORMAL tasks: leave what that costs out. */
	ht_sleep_ms(SETTLE_MS);
	ht_trace_start();
	for (unsigned int i = 0; i < rounds; i++) {
		EXPECT(!ht_write("/proc/sys/vm/stat_refresh", "1\n"), "%s",
		       strerror(errno));
		EXPECT(ht_advances(probe), "the sleeping thread is starved");
	}
	ht_trace_stop();
	memset(w, 0, sizeof(*w));
	w->cpu = cpu;
	snprintf(w->kworker, sizeof(w->kworker), "kworker/%d:", cpu);
	ht_trace_replay(&topo, &audit, observe, w);
	EXPECT(!audit.lost, "trace is not complete");
	ht_kill_all();
}

static double mean(const struct waits *w, int probe)
{
	return w->probe[probe].samples ?
		(double)w->probe[probe].sum / w->probe[probe].samples : 0;
}

/* Of either probe: both are pinned threads of nice 0, and wakeups are few. */
static unsigned int longest(const struct waits *w)
{
	return w->probe[0].max > w->probe[1].max ? w->probe[0].max :
						   w->probe[1].max;
}

/* Both probes, over all wakeups. */
static double mean_of_all(const struct waits *w)
{
	unsigned int samples = w->probe[0].samples + w->probe[1].samples;

	return samples ? (double)(w->probe[0].sum + w->probe[1].sum) / samples : 0;
}

static void measure_both(int hogs, int fair_hogs, struct waits *normal,
			 struct waits *ht)
{
	ht_topo_read(&topo);
	ht_need_trace();
	ht_need_cpus(&topo, 2, 1);
	if (!ht_exists("/proc/sys/vm/stat_refresh"))
		ht_skip("needs vm.stat_refresh");
	cpu = 63 - __builtin_clzll(topo.usable);
	ht_pin(0, topo.usable & ~HT_CPU(cpu));
	measure(SCHED_OTHER, hogs, fair_hogs, normal);
	measure(SCHED_HT, hogs, fair_hogs, ht);
	for (int i = 0; i < 2; i++) {
		ht_note("%s, %d hogs: waits of %u/%u wakeups in ticks: NORMAL mean %.2f max %u, HT mean %.2f max %u",
			probe_names[i], hogs, normal->probe[i].samples,
			ht->probe[i].samples, mean(normal, i),
			normal->probe[i].max, mean(ht, i), ht->probe[i].max);
		EXPECT(ht->probe[i].samples >= 5, "only %u wakeups",
		       ht->probe[i].samples);
	}
}

static void compare(int hogs)
{
	struct waits ht, normal;

	measure_both(hogs, 0, &normal, &ht);
	for (int i = 0; i < 2; i++)
		EXPECT(mean(&ht, i) <= mean(&normal, i) + EXTRA_TICKS, "%s, mean",
		       probe_names[i]);
	EXPECT(longest(&ht) <= longest(&normal) + EXTRA_TICKS,
	       "the longest wait: %u ticks, %u beside SCHED_NORMAL hogs",
	       longest(&ht), longest(&normal));
}

TEST(hogs_1, "pinned kernel threads beside 1 HT hog")
{
	compare(1);
}

TEST(hogs_4, "pinned kernel threads beside 4 HT hogs")
{
	compare(4);
}

TEST(hogs_16, "pinned kernel threads beside 16 HT hogs")
{
	compare(16);
}

/*
 * The side of the fair class then waits for its share, 1/17 of the time, and a
 * probe must not wait with it. It may when the other has run in its turn, so only
 * the mean is judged.
 */
TEST(fair_hog, "pinned kernel threads beside 16 HT hogs and a NORMAL one")
{
	struct waits ht, normal;

	measure_both(16, 1, &normal, &ht);
	EXPECT(mean_of_all(&ht) <= mean_of_all(&normal) + EXTRA_TICKS,
	       "mean of all waits: %.2f ticks, %.2f beside SCHED_NORMAL hogs",
	       mean_of_all(&ht), mean_of_all(&normal));
}
