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

static const char usage[] =
	"Usage: htctl run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"\n"
	"Execute COMMAND as a SCHED_HT task; its children inherit the policy.\n"
	"\n"
	HT_PARAMS_HELP
	"  -v, --verbose         show the policy before COMMAND starts\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: that of COMMAND; 1 if SCHED_HT is refused, 126 if COMMAND cannot\n"
	"be executed, 127 if it is not found.\n";

static const struct option long_options[] = {
	HT_PARAMS_LONG,
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void run_verbose(void)
{
	struct ht_attr attr;

	if (!ht_attr_get(0, &attr))
		ht_print_attr(stderr, getpid(), &attr);
}

static int run_command(const struct ht_params *params, char **argv)
{
	int err;

	if (ht_require_kernel())
		return EXIT_FAILURE;
	err = ht_task_set(0, params);
	if (err) {
		ht_explain(getpid(), -err, params);
		return EXIT_FAILURE;
	}
	if (params->verbose)
		run_verbose();
	execvp(argv[0], argv);
	err = errno;
	fprintf(stderr, "htctl: cannot execute %s: %s\n", argv[0], strerror(err));
	return err == ENOENT ? HT_EXIT_EXEC_ENOENT : HT_EXIT_EXEC_FAILED;
}

static int run_main(int argc, char **argv)
{
	struct ht_params params = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "+h" HT_PARAMS_SHORT, long_options,
				  NULL)) != -1) {
		if (opt == 'h')
			return ht_help(&ht_verb_run);
		if (ht_parse_param(&params, opt, optarg))
			return ht_usage_error(&ht_verb_run);
	}
	if (optind == argc) {
		fputs("htctl: run: no command given\n", stderr);
		return ht_usage_error(&ht_verb_run);
	}
	return run_command(&params, argv + optind);
}

const struct ht_verb ht_verb_run = {
	.name = "run",
	.brief = "execute a command under SCHED_HT",
	.usage = usage,
	.main = run_main,
};
