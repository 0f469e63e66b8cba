// SPDX-License-Identifier: GPL-2.0
/*
 * htctl stats: the counters of /sys/kernel/debug/sched_ht.
 *
 * The kernel's files hold one "name value" pair per line, so a counter that a
 * newer kernel adds shows up here without a change.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "htctl.h"

#define STATS_DIR	"/sys/kernel/debug/sched_ht"

/**
 * struct stats_options - options of htctl stats
 * @json:     JSON objects instead of text
 * @interval: seconds between two reports of what changed, 0 for one total
 * @sysroot:  directory that stands for /
 */
struct stats_options {
	bool json;
	double interval;
	const char *sysroot;
};

/**
 * struct stats_entry - one counter
 * @group: file that it comes from, or the part of its name before the dot
 * @name:  the rest of its name
 * @value: what it says
 * @gauge: a present value or a maximum: it has no rate
 */
struct stats_entry {
	char group[80];
	char name[80];
	int64_t value;
	bool gauge;
};

struct stats_sample {
	struct stats_entry *entry;
	size_t nr;
};

static const char usage[] =
	"Usage: htctl stats [OPTION]...\n"
	"\n"
	"Show what SCHED_HT has decided so far, counted by reason.\n"
	"\n"
	"  -j, --json          as JSON\n"
	"  -i, --interval SEC  every SEC seconds what has changed, until interrupted\n"
	"      --sysroot DIR   read below DIR instead of /\n"
	"  -h, --help          this text\n"
	"\n"
	"Needs to read " STATS_DIR ", which only root may.\n";

enum { OPT_SYSROOT = 256 };

static const struct option long_options[] = {
	{ "json",	no_argument, NULL, 'j' },
	{ "interval",	required_argument, NULL, 'i' },
	{ "sysroot",	required_argument, NULL, OPT_SYSROOT },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int explain_missing(const char *dir, int err)
{
	if (access(dir, F_OK) && errno == ENOENT && !ht_kernel_has_policy())
		return ht_require_kernel();
	fprintf(stderr, "htctl: cannot read %s/stats: %s\n", dir, strerror(err));
	if (err == EACCES || err == EPERM)
		fputs("htctl:   only root may read it\n", stderr);
	if (err == ENOENT)
		fputs("htctl:   is debugfs mounted? mount -t debugfs none /sys/kernel/debug\n",
		      stderr);
	return EXIT_FAILURE;
}

static bool is_gauge(const char *group, const char *name)
{
	return !strcmp(group, "tasks") || !strncmp(name, "worst", 5);
}

/* "select.prev_core 12" of file stats, "violations 0" of file inv2 */
static int add_line(struct stats_sample *sample, const char *file, char *line)
{
	struct stats_entry *entry, *more;
	char name[80], *rest = name, *dot;
	int64_t value;

	if (sscanf(line, "%79s %" SCNd64, name, &value) != 2)
		return 0;
	more = realloc(sample->entry, (sample->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	sample->entry = more;
	entry = &more[sample->nr++];
	dot = strchr(name, '.');
	if (dot) {
		*dot = '\0';
		file = name;
		rest = dot + 1;
	}
	snprintf(entry->group, sizeof(entry->group), "%s", file);
	snprintf(entry->name, sizeof(entry->name), "%s", rest);
	entry->value = value;
	entry->gauge = is_gauge(entry->group, entry->name);
	return 0;
}

static int add_file(struct stats_sample *sample, const char *dir,
		    const char *file)
{
	char path[4200], *text, *line, *save = NULL;
	int err;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	err = ht_read_file(path, &text);
	if (err)
		return err;
	for (line = strtok_r(text, "\n", &save); line && !err;
	     line = strtok_r(NULL, "\n", &save))
		err = add_line(sample, file, line);
	free(text);
	return err;
}

/* inv2 exists with SCHED_HT_DEBUG only, so a file that is not there is fine. */
static int take_sample(const char *dir, struct stats_sample *sample)
{
	int err;

	memset(sample, 0, sizeof(*sample));
	err = add_file(sample, dir, "stats");
	if (err)
		return err;
	err = add_file(sample, dir, "inv2");
	if (!err || err == -ENOENT)
		err = add_file(sample, dir, "tasks");
	return err == -ENOENT ? 0 : err;
}

static const struct stats_entry *find_entry(const struct stats_sample *sample,
					    const struct stats_entry *like)
{
	size_t i;

	for (i = 0; i < sample->nr; i++)
		if (!strcmp(sample->entry[i].group, like->group) &&
		    !strcmp(sample->entry[i].name, like->name))
			return &sample->entry[i];
	return NULL;
}

/* @before becomes what its counters grew by until @now; gauges stay. */
static void make_changes(struct stats_sample *before,
			 const struct stats_sample *now)
{
	size_t i;

	for (i = 0; i < before->nr; i++) {
		struct stats_entry *e = &before->entry[i];
		const struct stats_entry *later = find_entry(now, e);

		if (later)
			e->value = e->gauge ? later->value
					    : later->value - e->value;
	}
}

static void print_text(const struct stats_sample *sample, bool changes)
{
	size_t i;

	for (i = 0; i < sample->nr; i++) {
		const struct stats_entry *e = &sample->entry[i];
		char name[192];

		if (changes && !e->value)
			continue;
		snprintf(name, sizeof(name), "%s.%s", e->group, e->name);
		printf(changes && !e->gauge ? "%-28s %+" PRId64 "\n"
					    : "%-28s %" PRId64 "\n",
		       name, e->value);
	}
}

static void print_json(const struct stats_sample *sample, bool one_line)
{
	json_t *root = json_object(), *group;
	size_t i;

	for (i = 0; i < sample->nr; i++) {
		const struct stats_entry *e = &sample->entry[i];

		group = json_object_get(root, e->group);
		if (!group) {
			group = json_object();
			json_object_set_new(root, e->group, group);
		}
		json_object_set_new(group, e->name, json_integer(e->value));
	}
	json_dumpf(root, stdout, JSON_PRESERVE_ORDER |
				 (one_line ? JSON_COMPACT : JSON_INDENT(2)));
	putchar('\n');
	json_decref(root);
}

static void wait_interval(double seconds)
{
	struct timespec ts = { .tv_sec = seconds };

	ts.tv_nsec = (seconds - ts.tv_sec) * 1e9;
	nanosleep(&ts, NULL);
}

static int report_changes(const char *dir, const struct stats_options *opts)
{
	struct stats_sample before, now = { 0 };
	int err = take_sample(dir, &before);

	while (!err && !ferror(stdout)) {
		wait_interval(opts->interval);
		err = take_sample(dir, &now);
		if (err)
			break;
		make_changes(&before, &now);
		if (opts->json) {
			print_json(&before, true);
		} else {
			print_text(&before, true);
			puts("--");
		}
		fflush(stdout);
		free(before.entry);
		before = now;
		now.entry = NULL;
	}
	free(before.entry);
	free(now.entry);
	return err;
}

static int report_total(const char *dir, const struct stats_options *opts)
{
	struct stats_sample sample;
	int err = take_sample(dir, &sample);

	if (!err && opts->json)
		print_json(&sample, false);
	else if (!err)
		print_text(&sample, false);
	free(sample.entry);
	return err;
}

static int stats_main(int argc, char **argv)
{
	struct stats_options opts = { .sysroot = "" };
	char dir[4096];
	int opt, err;

	while ((opt = getopt_long(argc, argv, "ji:h", long_options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			opts.json = true;
			break;
		case 'i':
			if (ht_parse_seconds(optarg, &opts.interval))
				return ht_usage_error(&ht_verb_stats);
			break;
		case OPT_SYSROOT:
			opts.sysroot = optarg;
			break;
		case 'h':
			return ht_help(&ht_verb_stats);
		default:
			return ht_usage_error(&ht_verb_stats);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "htctl: stats: unexpected argument '%s'\n",
			argv[optind]);
		return ht_usage_error(&ht_verb_stats);
	}
	snprintf(dir, sizeof(dir), "%s" STATS_DIR, opts.sysroot);
	err = opts.interval ? report_changes(dir, &opts)
			    : report_total(dir, &opts);
	return err ? explain_missing(dir, -err) : EXIT_SUCCESS;
}

const struct ht_verb ht_verb_stats = {
	.name = "stats",
	.brief = "show what SCHED_HT has decided, by reason",
	.usage = usage,
	.main = stats_main,
};
