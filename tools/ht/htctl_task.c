// SPDX-License-Identifier: GPL-2.0
/*
 * htctl: the policy of one task.
 *
 * The system calls are made directly: the C library of Debian 12 has no
 * wrapper for them, and that of Debian 13 has its own struct sched_attr.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "htctl.h"

#define HT_POLICY_NORMAL	0

/* 0 or -errno */
int ht_attr_get(pid_t tid, struct ht_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	if (syscall(SYS_sched_getattr, tid, attr, sizeof(*attr), 0))
		return -errno;
	return 0;
}

/* The slice of tasks that asked for none; 0 if unknown. */
static uint64_t default_slice_ns(void)
{
	unsigned long long us = 0;
	char *text;

	if (ht_read_file("/proc/sys/kernel/sched_ht_slice_us", &text))
		return 0;
	sscanf(text, "%llu", &us);
	free(text);
	return us * 1000;
}

/*
 * What survives a change of policy: nice, reset-on-fork, and the slice of a
 * task that is SCHED_HT already. Nothing else is passed on: sched_getattr also
 * reports flags and clamps that would be requests when handed back. Nice is
 * asked for by itself, as sched_getattr hides that of a real-time task.
 */
static int attr_keep(pid_t tid, struct ht_attr *attr)
{
	struct ht_attr old;
	int err = ht_attr_get(tid, &old);

	if (err)
		return err;
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->sched_flags = old.sched_flags & HT_FLAG_RESET_ON_FORK;
	errno = 0;
	attr->sched_nice = getpriority(PRIO_PROCESS, tid);
	if (errno)
		return -errno;
	/* the kernel reports the slice in force: a default must stay one */
	if (old.sched_policy == HT_POLICY &&
	    old.sched_runtime != default_slice_ns())
		attr->sched_runtime = old.sched_runtime;
	return 0;
}

static int attr_set(pid_t tid, struct ht_attr *attr)
{
	if (syscall(SYS_sched_setattr, tid, attr, 0))
		return -errno;
	return 0;
}

/* Makes @tid (0: the caller) a SCHED_HT task; 0 or -errno. */
int ht_task_set(pid_t tid, const struct ht_params *params)
{
	struct ht_attr attr;
	int err = attr_keep(tid, &attr);

	if (err)
		return err;
	attr.sched_policy = HT_POLICY;
	if (params->has_nice)
		attr.sched_nice = params->nice;
	if (params->has_slice)
		attr.sched_runtime = params->slice_ns;
	if (params->reset_on_fork)
		attr.sched_flags |= HT_FLAG_RESET_ON_FORK;
	return attr_set(tid, &attr);
}

/* Makes a SCHED_HT task SCHED_NORMAL; others are left alone. 0 or -errno. */
int ht_task_off(pid_t tid)
{
	struct ht_attr attr;
	int err = ht_attr_get(tid, &attr);

	if (err || attr.sched_policy != HT_POLICY)
		return err;
	err = attr_keep(tid, &attr);
	if (err)
		return err;
	attr.sched_policy = HT_POLICY_NORMAL;
	attr.sched_runtime = 0;
	return attr_set(tid, &attr);
}

const char *ht_policy_name(uint32_t policy)
{
	static const char *const names[] = {
		[0] = "SCHED_NORMAL",
		[1] = "SCHED_FIFO",
		[2] = "SCHED_RR",
		[3] = "SCHED_BATCH",
		[5] = "SCHED_IDLE",
		[6] = "SCHED_DEADLINE",
		[7] = "SCHED_EXT",
		[HT_POLICY] = "SCHED_HT",
	};

	if (policy < sizeof(names) / sizeof(names[0]) && names[policy])
		return names[policy];
	return "unknown";
}

static bool policy_has_nice(uint32_t policy)
{
	return policy == 0 || policy == 3 || policy == 7 || policy == HT_POLICY;
}

void ht_print_attr(FILE *out, pid_t tid, const struct ht_attr *attr)
{
	char comm[HT_TASK_COMM_LEN], slice[32];

	ht_task_comm(tid, comm);
	fprintf(out, "%d (%s): %s", (int)tid, comm,
		ht_policy_name(attr->sched_policy));
	if (policy_has_nice(attr->sched_policy))
		fprintf(out, ", nice %d", attr->sched_nice);
	else
		fprintf(out, ", priority %u", attr->sched_priority);
	if (attr->sched_policy == HT_POLICY)
		fprintf(out, ", slice %s",
			ht_format_slice(attr->sched_runtime, slice, sizeof(slice)));
	if (attr->sched_flags & HT_FLAG_RESET_ON_FORK)
		fputs(", reset on fork", out);
	fputc('\n', out);
}
