/* SPDX-License-Identifier: GPL-2.0 */
/*
 * htctl: what its verbs share.
 *
 * Each verb lives in htctl_<verb>.c: it parses its own options into a struct
 * of its own and returns an exit status. Everything that talks to the kernel
 * about one task is in htctl_task.c, everything that explains a refusal in
 * htctl_explain.c.
 */
#ifndef _HTCTL_H
#define _HTCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define HTCTL_VERSION		"0.1"

#define HT_POLICY		8	/* SCHED_HT in linux/sched.h */
#define HT_TASK_COMM_LEN	16

/* chrt's exit codes; EXIT_SUCCESS and EXIT_FAILURE are the others. */
#define HT_EXIT_EXEC_FAILED	126
#define HT_EXIT_EXEC_ENOENT	127

/**
 * struct ht_verb - one verb of the command line
 * @name:  what the user types
 * @brief: one line for htctl --help
 * @usage: the whole help text of the verb
 * @main:  called with argv[0] = the program; returns the exit status
 */
struct ht_verb {
	const char *name;
	const char *brief;
	const char *usage;
	int (*main)(int argc, char **argv);
};

struct ht_params;

extern const struct ht_verb ht_verb_run;
extern const struct ht_verb ht_verb_set;
extern const struct ht_verb ht_verb_get;
extern const struct ht_verb ht_verb_topology;
extern const struct ht_verb ht_verb_stats;

/* htctl_util.c: words of the command line, files, lists of threads */
int ht_parse_nice(const char *text, int *nice);
int ht_parse_slice(const char *text, uint64_t *ns);
int ht_parse_pid(const char *text, pid_t *pid);
int ht_parse_seconds(const char *text, double *seconds);
int ht_parse_param(struct ht_params *params, int opt, const char *arg);
int ht_usage_error(const struct ht_verb *verb);
int ht_help(const struct ht_verb *verb);
const char *ht_format_slice(uint64_t ns, char *buf, size_t len);
int ht_read_file(const char *path, char **text);
int ht_list_threads(pid_t pid, pid_t **tids, size_t *nr);
void ht_task_comm(pid_t tid, char *comm);

/* htctl_task.c: one task's policy */

/* The kernel's struct sched_attr in its first published size plus uclamp. */
struct ht_attr {
	uint32_t size;
	uint32_t sched_policy;
	uint64_t sched_flags;
	int32_t sched_nice;
	uint32_t sched_priority;
	uint64_t sched_runtime;
	uint64_t sched_deadline;
	uint64_t sched_period;
	uint32_t sched_util_min;
	uint32_t sched_util_max;
};

#define HT_FLAG_RESET_ON_FORK	0x01

/**
 * struct ht_params - what the user asked for, for run and set
 * @has_nice:      @nice was given; otherwise the task keeps its own
 * @has_slice:     @slice_ns was given; otherwise the kernel's default
 * @reset_on_fork: children start as SCHED_NORMAL
 * @verbose:       show the task once it is SCHED_HT
 */
struct ht_params {
	bool has_nice;
	int nice;
	bool has_slice;
	uint64_t slice_ns;
	bool reset_on_fork;
	bool verbose;
};

/* The options of these, for getopt_long and for the verb's help. */
#define HT_PARAMS_SHORT	"n:T:Rv"
#define HT_PARAMS_LONG						\
	{ "nice",		required_argument, NULL, 'n' },	\
	{ "slice",		required_argument, NULL, 'T' },	\
	{ "reset-on-fork",	no_argument, NULL, 'R' },	\
	{ "verbose",		no_argument, NULL, 'v' }
#define HT_PARAMS_HELP								   \
	"  -n, --nice NICE       nice value, -20 to 19; by default the present one\n" \
	"  -T, --slice SLICE     time slice: a number with ns, us, ms or s (no unit: ns),\n" \
	"                        0 for the default; the kernel keeps it in 100us..100ms\n" \
	"  -R, --reset-on-fork   children start as SCHED_NORMAL\n"

int ht_attr_get(pid_t tid, struct ht_attr *attr);
int ht_task_set(pid_t tid, const struct ht_params *params);
int ht_task_off(pid_t tid);
const char *ht_policy_name(uint32_t policy);
void ht_print_attr(FILE *out, pid_t tid, const struct ht_attr *attr);

/* htctl_explain.c: is SCHED_HT there, and why did the kernel say no */
bool ht_kernel_has_policy(void);
int ht_require_kernel(void);
void ht_explain(pid_t tid, int err, const struct ht_params *params);

#endif /* _HTCTL_H */
