// SPDX-License-Identifier: GPL-2.0
/*
 * htctl: words of the command line, whole files, lists of threads.
 *
 * The parsers print what is wrong with the word and return -1, so that every
 * verb says the same about the same mistake.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htctl.h"

static int parse_long(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (end == text || *end || errno || isspace((unsigned char)text[0]))
		return -1;
	return *value < min || *value > max ? -1 : 0;
}

int ht_parse_nice(const char *text, int *nice)
{
	long value;

	if (parse_long(text, -20, 19, &value)) {
		fprintf(stderr, "htctl: nice value '%s' is not a number from -20 to 19\n",
			text);
		return -1;
	}
	*nice = value;
	return 0;
}

int ht_parse_pid(const char *text, pid_t *pid)
{
	long value;

	if (parse_long(text, 1, INT_MAX, &value)) {
		fprintf(stderr, "htctl: '%s' is not a process id\n", text);
		return -1;
	}
	*pid = value;
	return 0;
}

/* Nanoseconds in one unit of @suffix, 0 if there is no such unit. */
static uint64_t slice_unit(const char *suffix)
{
	if (!*suffix || !strcmp(suffix, "ns"))
		return 1;
	if (!strcmp(suffix, "us"))
		return 1000;
	if (!strcmp(suffix, "ms"))
		return 1000 * 1000;
	if (!strcmp(suffix, "s"))
		return 1000 * 1000 * 1000;
	return 0;
}

int ht_parse_slice(const char *text, uint64_t *ns)
{
	unsigned long long value;
	uint64_t unit;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	unit = slice_unit(end);
	if (!isdigit((unsigned char)text[0]) || errno || !unit ||
	    value > UINT64_MAX / unit) {
		fprintf(stderr,
			"htctl: slice '%s' is not a number with ns, us, ms, s or no unit (ns)\n",
			text);
		return -1;
	}
	*ns = value * unit;
	return 0;
}

int ht_parse_seconds(const char *text, double *seconds)
{
	char *end;

	errno = 0;
	*seconds = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(*seconds) ||
	    *seconds < 0.01 || *seconds > 86400) {
		fprintf(stderr,
			"htctl: interval '%s' is not a number of seconds from 0.01 to 86400\n",
			text);
		return -1;
	}
	return 0;
}

/* One of HT_PARAMS_SHORT: 0, or -1 if it is none of them or its word is wrong. */
int ht_parse_param(struct ht_params *params, int opt, const char *arg)
{
	switch (opt) {
	case 'n':
		params->has_nice = true;
		return ht_parse_nice(arg, &params->nice);
	case 'T':
		params->has_slice = true;
		return ht_parse_slice(arg, &params->slice_ns);
	case 'R':
		params->reset_on_fork = true;
		return 0;
	case 'v':
		params->verbose = true;
		return 0;
	default:
		return -1;
	}
}

int ht_usage_error(const struct ht_verb *verb)
{
	fprintf(stderr, "Try 'htctl %s --help'.\n", verb->name);
	return EXIT_FAILURE;
}

int ht_help(const struct ht_verb *verb)
{
	fputs(verb->usage, stdout);
	return EXIT_SUCCESS;
}

const char *ht_format_slice(uint64_t ns, char *buf, size_t len)
{
	if (!ns)
		snprintf(buf, len, "default");
	else if (ns % 1000)
		snprintf(buf, len, "%llu ns", (unsigned long long)ns);
	else if (ns % 1000000)
		snprintf(buf, len, "%llu us", (unsigned long long)ns / 1000);
	else
		snprintf(buf, len, "%llu ms", (unsigned long long)ns / 1000000);
	return buf;
}

/* The whole of @path in an allocated string; 0 or -errno. */
int ht_read_file(const char *path, char **text)
{
	size_t len = 0, size = 4096;
	char *buf = malloc(size);
	FILE *f = fopen(path, "re");
	int err = f ? 0 : -errno;

	while (f && buf) {
		len += fread(buf + len, 1, size - len - 1, f);
		if (len + 1 < size)
			break;
		size *= 2;
		buf = realloc(buf, size);
	}
	if (f && ferror(f))
		err = errno ? -errno : -EIO;
	if (f)
		fclose(f);
	if (!err && !buf)
		err = -ENOMEM;
	if (err) {
		free(buf);
		return err;
	}
	buf[len] = '\0';
	*text = buf;
	return 0;
}

/* The thread ids of @pid in an allocated array; 0 or -errno. */
int ht_list_threads(pid_t pid, pid_t **tids, size_t *nr)
{
	size_t size = 0;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	*tids = NULL;
	*nr = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (*nr == size) {
			pid_t *more;

			size = size ? 2 * size : 64;
			more = realloc(*tids, size * sizeof(**tids));
			if (!more) {
				closedir(dir);
				free(*tids);
				*tids = NULL;
				return -ENOMEM;
			}
			*tids = more;
		}
		(*tids)[(*nr)++] = atoi(entry->d_name);
	}
	closedir(dir);
	return 0;
}

/* @comm has room for HT_TASK_COMM_LEN; "?" when the task is gone. */
void ht_task_comm(pid_t tid, char *comm)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	if (ht_read_file(path, &text)) {
		strcpy(comm, "?");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	snprintf(comm, HT_TASK_COMM_LEN, "%.*s", HT_TASK_COMM_LEN - 1, text);
	free(text);
}
