// SPDX-License-Identifier: GPL-2.0
/*
 * htctl get: show the policy of tasks, of whatever class.
 *
 * Works on kernels without SCHED_HT too: there no task has the policy.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "htctl.h"

/**
 * struct get_options - options of htctl get
 * @all_threads: every thread of each process
 * @verbose:     also the ht.* lines of /proc/PID/sched
 * @list:        the answer so far with --json, NULL without
 */
struct get_options {
	bool all_threads;
	bool verbose;
	json_t *list;
};

static const char usage[] =
	"Usage: htctl get [OPTION]... PID...\n"
	"\n"
	"Show the scheduling policy of the task PID.\n"
	"\n"
	"  -a, --all-tasks  all threads of the process PID\n"
	"  -j, --json       as a JSON list, with the scheduler's numbers\n"
	"  -v, --verbose    also what the scheduler knows about a SCHED_HT task\n"
	"  -h, --help       this text\n"
	"\n"
	"Exit status: 0 if all were found, 1 otherwise.\n";

static const struct option long_options[] = {
	{ "all-tasks",	no_argument, NULL, 'a' },
	{ "json",	no_argument, NULL, 'j' },
	{ "verbose",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/*
 * Calls @fn for each "ht.name : value" line of the task's sched file.
 */
static void for_each_ht_line(pid_t tid, void *data,
			     void (*fn)(void *data, const char *name,
					const char *value))
{
	char path[64], *text, *line, *save = NULL;

	snprintf(path, sizeof(path), "/proc/%d/sched", (int)tid);
	if (ht_read_file(path, &text))
		return;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[64], value[64];

		if (sscanf(line, "ht.%63[^ :] : %63s", name, value) == 2)
			fn(data, name, value);
	}
	free(text);
}

static void print_ht_line(void *data, const char *name, const char *value)
{
	fprintf(data, "    %-16s %s\n", name, value);
}

static void add_ht_line(void *data, const char *name, const char *value)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	json_object_set_new(data, name, *end || errno ? json_string(value)
						      : json_integer(number));
}

/* A name may hold any bytes; JSON takes only UTF-8. */
static json_t *comm_json(const char *comm)
{
	json_t *text = json_string(comm);

	return text ? text : json_string("?");
}

static json_t *task_json(pid_t tid, const struct ht_attr *attr)
{
	bool reset = attr->sched_flags & HT_FLAG_RESET_ON_FORK;
	char comm[HT_TASK_COMM_LEN];
	json_t *obj = json_object();

	ht_task_comm(tid, comm);
	json_object_set_new(obj, "pid", json_integer(tid));
	json_object_set_new(obj, "comm", comm_json(comm));
	json_object_set_new(obj, "policy",
			    json_string(ht_policy_name(attr->sched_policy)));
	json_object_set_new(obj, "policy_number", json_integer(attr->sched_policy));
	json_object_set_new(obj, "nice", json_integer(attr->sched_nice));
	json_object_set_new(obj, "priority", json_integer(attr->sched_priority));
	json_object_set_new(obj, "slice_ns", json_integer(attr->sched_runtime));
	json_object_set_new(obj, "reset_on_fork", json_boolean(reset));
	if (attr->sched_policy == HT_POLICY) {
		json_t *ht = json_object();

		for_each_ht_line(tid, ht, add_ht_line);
		json_object_set_new(obj, "ht", ht);
	}
	return obj;
}

static int get_task(pid_t tid, const struct get_options *opts)
{
	struct ht_attr attr;
	int err = ht_attr_get(tid, &attr);

	if (err)
		return err;
	if (opts->list) {
		json_array_append_new(opts->list, task_json(tid, &attr));
		return 0;
	}
	ht_print_attr(stdout, tid, &attr);
	if (opts->verbose && attr.sched_policy == HT_POLICY)
		for_each_ht_line(tid, stdout, print_ht_line);
	return 0;
}

static int get_threads(pid_t pid, const struct get_options *opts)
{
	pid_t *tids;
	size_t nr, i;
	int err = ht_list_threads(pid, &tids, &nr);

	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		int ret = get_task(tids[i], opts);

		if (ret && ret != -ESRCH)
			err = ret;
	}
	free(tids);
	return err;
}

static int get_one(const char *word, const struct get_options *opts)
{
	pid_t pid;
	int err;

	if (ht_parse_pid(word, &pid))
		return -1;
	err = opts->all_threads ? get_threads(pid, opts) : get_task(pid, opts);
	if (err)
		fprintf(stderr, "htctl: pid %d: %s\n", (int)pid,
			err == -ESRCH ? "no such process" : strerror(-err));
	return err;
}

static int get_all(struct get_options *opts, char **pids)
{
	int status = EXIT_SUCCESS;

	for (; *pids; pids++)
		if (get_one(*pids, opts))
			status = EXIT_FAILURE;
	if (opts->list) {
		json_dumpf(opts->list, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
		json_decref(opts->list);
	}
	return status;
}

static int get_main(int argc, char **argv)
{
	struct get_options opts = { 0 };
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "ajvh", long_options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			opts.all_threads = true;
			break;
		case 'j':
			json = true;
			break;
		case 'v':
			opts.verbose = true;
			break;
		case 'h':
			return ht_help(&ht_verb_get);
		default:
			return ht_usage_error(&ht_verb_get);
		}
	}
	if (optind == argc) {
		fputs("htctl: get: no process id given\n", stderr);
		return ht_usage_error(&ht_verb_get);
	}
	if (json)
		opts.list = json_array();
	return get_all(&opts, argv + optind);
}

const struct ht_verb ht_verb_get = {
	.name = "get",
	.brief = "show the policy of tasks",
	.usage = usage,
	.main = get_main,
};
