// SPDX-License-Identifier: GPL-2.0
/*
 * htctl run: execute a command under SCHED_HT.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "htctl.h"

struct run_options {
	struct ht_params params;
	bool verbose;
};

static const char usage[] =
	"Usage: htctl run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"\n"
	"Execute COMMAND as a SCHED_HT task; its children inherit the policy.\n"
	"\n"
	"  -n, --nice NICE       nice value, -20 to 19; by default the present one\n"
	"  -T, --slice SLICE     time slice: a number with ns, us, ms or s (no unit: ns),\n"
	"                        0 for the default; the kernel keeps it in 100us..100ms\n"
	"  -R, --reset-on-fork   children start as SCHED_NORMAL\n"
	"  -v, --verbose         show the policy before COMMAND starts\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: that of COMMAND; 1 if SCHED_HT is refused, 126 if COMMAND cannot\n"
	"be executed, 127 if it is not found.\n";

static const struct option long_options[] = {
	{ "nice",		required_argument, NULL, 'n' },
	{ "slice",		required_argument, NULL, 'T' },
	{ "reset-on-fork",	no_argument, NULL, 'R' },
	{ "verbose",		no_argument, NULL, 'v' },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void run_verbose(void)
{
	struct ht_attr attr;

	if (!ht_attr_get(0, &attr))
		ht_print_attr(stderr, getpid(), &attr);
}

static int run_command(const struct run_options *opts, char **argv)
{
	int err;

	if (ht_require_kernel())
		return EXIT_FAILURE;
	err = ht_task_set(0, &opts->params);
	if (err) {
		ht_explain(getpid(), -err, &opts->params);
		return EXIT_FAILURE;
	}
	if (opts->verbose)
		run_verbose();
	execvp(argv[0], argv);
	err = errno;
	fprintf(stderr, "htctl: cannot execute %s: %s\n", argv[0], strerror(err));
	return err == ENOENT ? HT_EXIT_EXEC_ENOENT : HT_EXIT_EXEC_FAILED;
}

static int run_main(int argc, char **argv)
{
	struct run_options opts = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "+n:T:Rvh", long_options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			if (ht_parse_nice(optarg, &opts.params.nice))
				return ht_usage_error(&ht_verb_run);
			opts.params.has_nice = true;
			break;
		case 'T':
			if (ht_parse_slice(optarg, &opts.params.slice_ns))
				return ht_usage_error(&ht_verb_run);
			opts.params.has_slice = true;
			break;
		case 'R':
			opts.params.reset_on_fork = true;
			break;
		case 'v':
			opts.verbose = true;
			break;
		case 'h':
			return ht_help(&ht_verb_run);
		default:
			return ht_usage_error(&ht_verb_run);
		}
	}
	if (optind == argc) {
		fputs("htctl: run: no command given\n", stderr);
		return ht_usage_error(&ht_verb_run);
	}
	return run_command(&opts, argv + optind);
}

const struct ht_verb ht_verb_run = {
	.name = "run",
	.brief = "execute a command under SCHED_HT",
	.usage = usage,
	.main = run_main,
};
