// SPDX-License-Identifier: GPL-2.0
/*
 * htctl: run programs under SCHED_HT, change and show tasks, show the machine.
 *
 * This file only finds the verb; see htctl.1 for what each one does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "htctl.h"

static const struct ht_verb *const verbs[] = {
	&ht_verb_run,
	&ht_verb_set,
	&ht_verb_get,
	&ht_verb_topology,
	&ht_verb_stats,
};

#define NR_VERBS	(sizeof(verbs) / sizeof(verbs[0]))

static const struct ht_verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < NR_VERBS; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: htctl VERB [OPTION]... [ARGUMENT]...\n"
	      "\n"
	      "Run and inspect tasks under SCHED_HT, the scheduling policy that gives a task\n"
	      "an idle core before an idle thread of a busy one.\n"
	      "\n"
	      "Verbs:\n", out);
	for (i = 0; i < NR_VERBS; i++)
		fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->brief);
	fputs("\n"
	      "  -h, --help     this text; 'htctl VERB --help' for one verb\n"
	      "  -V, --version  version\n"
	      "\n"
	      "Exit status: 0 success, 1 error; 'run' ends with the status of the command,\n"
	      "126 if it could not be executed, 127 if it was not found.\n", out);
}

/* What was printed has to have arrived: a full disk is no success. */
static int end(int status)
{
	int err = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;

	if (!err)
		return status;
	fprintf(stderr, "htctl: cannot write the output: %s\n", strerror(err));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const struct ht_verb *verb;

	if (argc < 2) {
		print_help(stderr);
		return EXIT_FAILURE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return end(EXIT_SUCCESS);
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("htctl " HTCTL_VERSION);
		return end(EXIT_SUCCESS);
	}
	verb = find_verb(argv[1]);
	if (!verb) {
		fprintf(stderr, "htctl: unknown verb '%s'; see 'htctl --help'\n",
			argv[1]);
		return EXIT_FAILURE;
	}
	/* getopt begins its messages with argv[0] */
	argv[1] = argv[0];
	return end(verb->main(argc - 1, argv + 1));
}
