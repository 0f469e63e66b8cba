// SPDX-License-Identifier: GPL-2.0
/*
 * The counters as JSON, one object per line: at each mark of the guest's, and at
 * exit. Instructions are exact up to the last slice; a mark adds what its own
 * vCPU has executed of its slice, in whole blocks.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "qemu_abi.h"
#include "smtvm.h"

static json_t *of_cpu(int cpu, double now_ns, uint64_t more_insns)
{
	const struct smtvm_cpu *c = &smtvm_guest.model.cpus[cpu];
	const struct smtvm_count *count = smtvm_guest.count[cpu];
	double idle_ns = c->idle_ns, busy_ns = c->busy_ns, shared_ns = c->shared_ns;
	uint64_t l2 = 0, l3 = 0;

	if (!c->busy && now_ns > c->since_ns)
		idle_ns += now_ns - c->since_ns;
	if (smtvm_guest.caches)
		smtvm_caches_misses(smtvm_guest.caches, cpu, &l2, &l3);
	return json_pack("{sisIsIsIsIsIsIsIsI}", "cpu", cpu,
			 "insns", (json_int_t)(smtvm_guest.insns[cpu] + more_insns),
			 "kernel_insns", (json_int_t)count->kernel_insns,
			 "user_insns", (json_int_t)count->user_insns,
			 "busy_ns", (json_int_t)busy_ns,
			 "shared_ns", (json_int_t)shared_ns,
			 "idle_ns", (json_int_t)idle_ns,
			 "l2_misses", (json_int_t)l2, "l3_misses", (json_int_t)l3);
}

static json_int_t host_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (json_int_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* @marker: the vCPU that asks, -1 for none. Under the lock. */
static json_t *snapshot(const char *event, const char *label, int marker)
{
	uint64_t more = 0;
	double now_ns = smtvm_clock_now(&more);
	json_t *cpus = json_array();

	for (int i = 0; i < smtvm_guest.model.nr_cpus; i++)
		json_array_append_new(cpus, of_cpu(i, now_ns, i == marker ? more : 0));
	return json_pack("{sssssIsIsIsfsfso}", "event", event, "label", label,
			 "v_ns", (json_int_t)now_ns,
			 "host_ns", host_ns(CLOCK_MONOTONIC),
			 "host_cpu_ns", host_ns(CLOCK_PROCESS_CPUTIME_ID),
			 "ips", smtvm_guest.model.params.ips,
			 "quantum_ns", smtvm_guest.model.params.quantum_ns,
			 "vcpus", cpus);
}

/* @marker as above. A label that is not UTF-8 is written as "?". */
void smtvm_counters_write(const char *event, const char *label, int marker)
{
	json_t *line;
	FILE *f;

	if (!smtvm_guest.out)
		return;
	pthread_mutex_lock(&smtvm_guest.lock);
	line = snapshot(event, label, marker);
	if (!line)
		line = snapshot(event, "?", marker);
	pthread_mutex_unlock(&smtvm_guest.lock);
	f = fopen(smtvm_guest.out, "a");
	if (!f || json_dumpf(line, f, JSON_COMPACT) || fputc('\n', f) == EOF || fclose(f))
		smtvm_die("cannot write %s", smtvm_guest.out);
	json_decref(line);
}
