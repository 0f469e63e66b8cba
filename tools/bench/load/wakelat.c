// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to sleeping workers, as schbench makes them: how late a worker
 * wakes, and how long a request takes.
 *
 * usage: wakelat WORKERS REQUEST_US THINK_US SECONDS
 *
 * A dispatcher posts a request to each worker that has been idle for a random
 * time of THINK_US on average, and wakes it. A request is a fixed number of
 * instructions, REQUEST_US on a core of one's own, so sharing a core shows.
 * Prints requests_per_s, and percentiles in microseconds: wakeup (from the
 * post until the worker runs) and request (from the post until it is done).
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define MAX_SAMPLES	65536

struct worker {
	uint32_t posted;	/* the futex: counts requests */
	uint32_t done;
	bool stop;
	uint64_t posted_ns;
	uint64_t idle_until_ns;	/* the dispatcher's */
	size_t samples;
	uint64_t *wakeup_ns;
	uint64_t *request_ns;
	pthread_t thread;
} __attribute__((aligned(128)));

static uint64_t request_turns, think_ns, seed = 1;

static void worker_wait(struct worker *w, uint32_t seen)
{
	while (__atomic_load_n(&w->posted, __ATOMIC_ACQUIRE) == seen)
		syscall(SYS_futex, &w->posted, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void *worker_main(void *data)
{
	struct worker *w = data;
	uint64_t value = 1;
	uint32_t seen = 0;

	for (;;) {
		uint64_t woken;

		worker_wait(w, seen++);
		if (w->stop)
			break;
		woken = load_now_ns();
		value = load_spin(request_turns, value);
		if (w->samples < MAX_SAMPLES) {
			w->wakeup_ns[w->samples] = woken - w->posted_ns;
			w->request_ns[w->samples++] = load_now_ns() - w->posted_ns;
		}
		__atomic_store_n(&w->done, seen, __ATOMIC_RELEASE);
	}
	return (void *)(uintptr_t)value;
}

static void post(struct worker *w)
{
	w->posted_ns = load_now_ns();
	__atomic_add_fetch(&w->posted, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &w->posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Evenly between half and one and a half of the mean. */
static uint64_t think(void)
{
	seed = load_spin(1, seed);
	return think_ns / 2 + (seed >> 33) % (think_ns + 1);
}

/* Posts where it is time; when to look again. */
static uint64_t look_at(struct worker *w, uint64_t now)
{
	if (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) != w->posted)
		return now + think_ns / 4;
	if (!w->idle_until_ns)
		w->idle_until_ns = now + think();
	if (w->idle_until_ns > now)
		return w->idle_until_ns;
	w->idle_until_ns = 0;
	post(w);
	return now + think_ns / 4;
}

static void dispatch(struct worker *workers, int count, uint64_t end_ns)
{
	for (;;) {
		uint64_t now = load_now_ns(), next = end_ns;
		struct timespec ts;
		int i;

		if (now >= end_ns)
			return;
		for (i = 0; i < count; i++) {
			uint64_t at = look_at(&workers[i], now);

			next = at < next ? at : next;
		}
		ts.tv_sec = next / LOAD_NSEC_PER_SEC;
		ts.tv_nsec = next % LOAD_NSEC_PER_SEC;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

static void start(struct worker *workers, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		struct worker *w = &workers[i];

		w->wakeup_ns = calloc(MAX_SAMPLES, sizeof(uint64_t));
		w->request_ns = calloc(MAX_SAMPLES, sizeof(uint64_t));
		if (!w->wakeup_ns || !w->request_ns)
			load_die("calloc");
		if (pthread_create(&w->thread, NULL, worker_main, w))
			load_die("pthread_create");
	}
}

static void stop(struct worker *workers, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		/* Its last request first, or that would count as the end. */
		while (__atomic_load_n(&workers[i].done, __ATOMIC_ACQUIRE) != workers[i].posted)
			usleep(1000);
		workers[i].stop = true;
		post(&workers[i]);
		pthread_join(workers[i].thread, NULL);
	}
}

static void print_percentiles(const char *name, uint64_t *values, size_t count)
{
	static const struct {
		const char *name;
		double pct;
	} which[] = { { "p50", 50 }, { "p99", 99 }, { "p999", 99.9 } };
	size_t i;

	load_sort(values, count);
	for (i = 0; i < sizeof(which) / sizeof(*which); i++)
		printf("%s_%s_us %.2f\n", name, which[i].name,
		       load_percentile(values, count, which[i].pct) / 1e3);
}

static void report(const struct worker *workers, int count, long seconds)
{
	uint64_t *wakeup, *request;
	size_t total = 0, at = 0, j;
	int i;

	for (i = 0; i < count; i++)
		total += workers[i].samples;
	wakeup = calloc(total + 1, sizeof(*wakeup));
	request = calloc(total + 1, sizeof(*request));
	if (!wakeup || !request)
		load_die("calloc");
	for (i = 0; i < count; i++) {
		for (j = 0; j < workers[i].samples; j++) {
			wakeup[at] = workers[i].wakeup_ns[j];
			request[at++] = workers[i].request_ns[j];
		}
	}
	printf("requests_per_s %.2f\n", (double)total / seconds);
	print_percentiles("wakeup", wakeup, total);
	print_percentiles("request", request, total);
}

int main(int argc, char **argv)
{
	struct worker *workers;
	long seconds;
	int count;

	if (argc != 5) {
		fprintf(stderr, "usage: wakelat WORKERS REQUEST_US THINK_US SECONDS\n");
		return 2;
	}
	count = load_number(argv[1], "WORKERS", 1, 1024);
	request_turns = load_spin_per_us() * load_number(argv[2], "REQUEST_US", 1, 1000000);
	think_ns = load_number(argv[3], "THINK_US", 1, 1000000) * 1000;
	seconds = load_number(argv[4], "SECONDS", 1, 86400);
	workers = aligned_alloc(128, count * sizeof(*workers));
	if (!workers)
		load_die("aligned_alloc");
	for (int i = 0; i < count; i++)
		workers[i] = (struct worker){ 0 };
	start(workers, count);
	dispatch(workers, count, load_now_ns() + seconds * LOAD_NSEC_PER_SEC);
	stop(workers, count);
	report(workers, count, seconds);
	return 0;
}
