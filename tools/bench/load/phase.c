// SPDX-License-Identifier: GPL-2.0
/*
 * Brackets a measured phase for the emulator's counters.
 *
 * usage: phase -m TEXT
 *        phase [-o FILE] LABEL COMMAND [ARGUMENT]...
 *
 * The first form marks once. The second marks "begin:LABEL", runs the command,
 * marks "end:LABEL" and writes how many nanoseconds it took to FILE.
 *
 * exit: the command's status; 128 + N if signal N killed it; 127 if it could
 * not be run; 2 wrong usage
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "smtvm_mark.h"

static void usage(void)
{
	fprintf(stderr, "usage: phase -m TEXT | phase [-o FILE] LABEL COMMAND [ARGUMENT]...\n");
	exit(2);
}

static void mark(const char *edge, const char *label)
{
	char text[SMTVM_MARK_MAX];

	snprintf(text, sizeof(text), "%s:%s", edge, label);
	smtvm_mark(text);
}

static void note(const char *path, uint64_t ns)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!path)
		return;
	if (!f || fprintf(f, "%llu\n", (unsigned long long)ns) < 0 || fclose(f))
		load_die(path);
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		load_die("fork");
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			load_die("waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	uint64_t start;
	int opt, status;

	while ((opt = getopt(argc, argv, "+m:o:")) != -1) {
		switch (opt) {
		case 'm':
			smtvm_mark(optarg);
			return 0;
		case 'o':
			file = optarg;
			break;
		default:
			usage();
		}
	}
	if (argc - optind < 2)
		usage();
	mark("begin", argv[optind]);
	start = load_now_ns();
	status = run(argv + optind + 1);
	note(file, load_now_ns() - start);
	mark("end", argv[optind]);
	return status;
}
