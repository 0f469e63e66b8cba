// SPDX-License-Identifier: GPL-2.0
/*
 * htctl topology: this machine or a described one, as a tree, JSON or text.
 *
 * libht reads and writes all of these; here the options choose among them.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "htctl.h"
#include "libht_json.h"

enum topology_format { FORMAT_TREE, FORMAT_JSON, FORMAT_DESCRIBE };

/**
 * struct topology_options - options of htctl topology
 * @format:  what to write
 * @from:    description to read, NULL to look at a machine
 * @sysroot: directory that holds its sys/, NULL for /
 */
struct topology_options {
	enum topology_format format;
	const char *from;
	const char *sysroot;
};

static const char usage[] =
	"Usage: htctl topology [OPTION]...\n"
	"\n"
	"Show the machine as a tree: chips, NUMA nodes, last-level caches, L2 clusters,\n"
	"cores and threads, as far as it has them.\n"
	"\n"
	"  -j, --json         as JSON\n"
	"  -d, --describe     as a description that --from reads, a line per CPU\n"
	"  -f, --from FILE    show the machine described in FILE (-: standard input)\n"
	"      --sysroot DIR  read DIR/sys instead of /sys\n"
	"  -h, --help         this text\n";

enum { OPT_SYSROOT = 256 };

static const struct option long_options[] = {
	{ "json",	no_argument, NULL, 'j' },
	{ "describe",	no_argument, NULL, 'd' },
	{ "from",	required_argument, NULL, 'f' },
	{ "sysroot",	required_argument, NULL, OPT_SYSROOT },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int print_json(const struct ht_machine *machine)
{
	json_t *json = ht_machine_json(machine);
	int err = json ? json_dumpf(json, stdout, JSON_INDENT(2) |
						  JSON_PRESERVE_ORDER) : -1;

	putchar('\n');
	json_decref(json);
	return err;
}

static int show(const struct topology_options *opts)
{
	struct ht_machine *machine;
	struct ht_error error;
	int err = 0;

	if (opts->from)
		machine = ht_machine_from_file(opts->from, &error);
	else
		machine = ht_machine_from_sysfs(opts->sysroot, &error);
	if (!machine) {
		fprintf(stderr, "htctl: topology: %s\n", error.text);
		return EXIT_FAILURE;
	}
	switch (opts->format) {
	case FORMAT_TREE:
		ht_machine_print_tree(machine, stdout);
		break;
	case FORMAT_JSON:
		err = print_json(machine);
		break;
	case FORMAT_DESCRIBE:
		ht_machine_describe(machine, stdout);
		break;
	}
	ht_machine_free(machine);
	if (err && !ferror(stdout))
		fputs("htctl: topology: out of memory\n", stderr);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int topology_main(int argc, char **argv)
{
	struct topology_options opts = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "jdf:h", long_options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			opts.format = FORMAT_JSON;
			break;
		case 'd':
			opts.format = FORMAT_DESCRIBE;
			break;
		case 'f':
			opts.from = optarg;
			break;
		case OPT_SYSROOT:
			opts.sysroot = optarg;
			break;
		case 'h':
			return ht_help(&ht_verb_topology);
		default:
			return ht_usage_error(&ht_verb_topology);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "htctl: topology: unexpected argument '%s'\n",
			argv[optind]);
		return ht_usage_error(&ht_verb_topology);
	}
	if (opts.from && opts.sysroot) {
		fputs("htctl: topology: --from and --sysroot exclude each other\n",
		      stderr);
		return ht_usage_error(&ht_verb_topology);
	}
	return show(&opts);
}

const struct ht_verb ht_verb_topology = {
	.name = "topology",
	.brief = "show the machine, or a described one, as a tree",
	.usage = usage,
	.main = topology_main,
};
