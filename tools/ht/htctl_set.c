// SPDX-License-Identifier: GPL-2.0
/*
 * htctl set: make running tasks SCHED_HT, or SCHED_NORMAL again.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "htctl.h"

struct set_options {
	struct ht_params params;
	bool all_threads;
	bool off;
};

/* Passes over a process whose threads multiply while they are being changed. */
#define MAX_PASSES	16

static const char usage[] =
	"Usage: htctl set [OPTION]... PID...\n"
	"\n"
	"Make the task PID a SCHED_HT task.\n"
	"\n"
	"  -a, --all-tasks       all threads of the process PID\n"
	"      --off             back to SCHED_NORMAL, with the nice value kept; tasks of\n"
	"                        other policies are left alone\n"
	HT_PARAMS_HELP
	"  -v, --verbose         show each task afterwards\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 if all were changed, 1 otherwise.\n";

enum { OPT_OFF = 256 };

static const struct option long_options[] = {
	{ "all-tasks",		no_argument, NULL, 'a' },
	{ "off",		no_argument, NULL, OPT_OFF },
	HT_PARAMS_LONG,
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int set_task(pid_t tid, const struct set_options *opts)
{
	return opts->off ? ht_task_off(tid) : ht_task_set(tid, &opts->params);
}

static void explain(pid_t tid, int err, const struct set_options *opts)
{
	ht_explain(tid, -err, opts->off ? NULL : &opts->params);
}

static void show(pid_t tid, const struct set_options *opts)
{
	struct ht_attr attr;

	if (opts->params.verbose && !ht_attr_get(tid, &attr))
		ht_print_attr(stdout, tid, &attr);
}

/* A thread may end while its siblings are being changed. */
static int set_list(const pid_t *tids, size_t nr, const struct set_options *opts)
{
	int err = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		int ret = set_task(tids[i], opts);

		if (!ret || ret == -ESRCH)
			continue;
		explain(tids[i], ret, opts);
		err = ret;
	}
	return err;
}

/*
 * A thread that was not changed yet may start others, with the old policy,
 * behind the reader's back: go on until the list is the one just changed.
 */
static int set_threads(pid_t pid, const struct set_options *opts)
{
	size_t nr_done = 0, nr, i;
	pid_t *done = NULL, *tids;
	int err, pass;

	for (pass = 0; pass < MAX_PASSES; pass++) {
		err = ht_list_threads(pid, &tids, &nr);
		if (err)
			explain(pid, err, opts);
		if (err || (nr == nr_done &&
			    !memcmp(tids, done, nr * sizeof(*tids))))
			break;
		err = set_list(tids, nr, opts);
		free(done);
		done = tids;
		nr_done = nr;
		tids = NULL;
		if (err)
			break;
	}
	free(tids);
	for (i = 0; !err && i < nr_done; i++)
		show(done[i], opts);
	free(done);
	return err;
}

static int set_one(pid_t pid, const struct set_options *opts)
{
	int err;

	if (opts->all_threads)
		return set_threads(pid, opts);
	err = set_task(pid, opts);
	if (err)
		explain(pid, err, opts);
	else
		show(pid, opts);
	return err;
}

static int set_all(const struct set_options *opts, char **pids)
{
	int status = EXIT_SUCCESS;
	pid_t pid;

	for (; *pids; pids++)
		if (ht_parse_pid(*pids, &pid) || set_one(pid, opts))
			status = EXIT_FAILURE;
	return status;
}

static int set_main(int argc, char **argv)
{
	struct set_options opts = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "ah" HT_PARAMS_SHORT, long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'a':
			opts.all_threads = true;
			break;
		case OPT_OFF:
			opts.off = true;
			break;
		case 'h':
			return ht_help(&ht_verb_set);
		default:
			if (ht_parse_param(&opts.params, opt, optarg))
				return ht_usage_error(&ht_verb_set);
		}
	}
	if (optind == argc) {
		fputs("htctl: set: no process id given\n", stderr);
		return ht_usage_error(&ht_verb_set);
	}
	if (opts.off && (opts.params.has_nice || opts.params.has_slice ||
			 opts.params.reset_on_fork)) {
		fputs("htctl: set: --off takes neither -n, -T nor -R\n", stderr);
		return ht_usage_error(&ht_verb_set);
	}
	return ht_require_kernel() ? EXIT_FAILURE : set_all(&opts, argv + optind);
}

const struct ht_verb ht_verb_set = {
	.name = "set",
	.brief = "make running tasks SCHED_HT, or SCHED_NORMAL again (--off)",
	.usage = usage,
	.main = set_main,
};
