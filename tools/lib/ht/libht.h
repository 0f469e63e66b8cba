/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libht: machines as SCHED_HT sees them, for programs on the host.
 *
 * Holds the kernel's own policy, layout and validators (ht_policy.h,
 * ht_layout.h, ht_check.h), and around them what the kernel does not need: a
 * text description of a machine, a reader for sysfs, and a tree to show.
 *
 *	struct ht_error err;
 *	struct ht_machine *m = ht_machine_from_sysfs(NULL, &err);
 *	if (!m)
 *		errx(1, "%s", err.text);
 *	ht_machine_print_tree(m, stdout);
 *	ht_machine_free(m);
 *
 * Link with -lht -ljansson (the latter only for libht_json.h).
 *
 * Description of a machine, one line per CPU:
 *
 *	cpu=0 package=0 node=0 llc=0 l2=0 core_id=0 siblings=0,12 capacity=1024 online=1
 *
 * '#' starts a comment. cpu and siblings are required, the rest defaults to
 * package 0, node 0, core_id unknown, capacity 1024, online. A CPU without l2
 * shares it with its core alone; one without llc has l2 as its last level.
 * llc and l2 numbers are compared within a package. siblings is a list such as
 * 0,12 or 0-3,8, the same for each CPU of the core. Two more keys:
 *
 *	domain=N	root domain, 0 unless given; "none": isolated CPU
 *
 * and lines without cpu give NUMA distances, one row per node, all or none:
 *
 *	node=0 distance=10,21
 */
#ifndef _LIBHT_H
#define _LIBHT_H

#include <stdio.h>

#include "ht_check.h"
#include "ht_layout.h"
#include "ht_policy.h"

#define HT_CAPACITY_FULL	1024

/**
 * struct ht_error - why something failed
 * @line:       line of the description, 0 if it is not about a line
 * @text:       one line without newline, "line N: " included
 */
struct ht_error {
	unsigned int line;
	char text[256];
};

/**
 * struct ht_machine_cpu - one CPU
 * @cpu:        number
 * @package:    physical package
 * @node:       NUMA node
 * @llc:        last level cache as given, HT_NONE if not
 * @l2:         L2 cache as given, HT_NONE if not
 * @core_id:    as given, HT_NONE if not; need be unique nowhere
 * @core:       lowest CPU of its sibling mask: the core's key
 * @capacity:   1024 for the fastest
 * @domain:     root domain, HT_NONE if isolated
 * @online:     takes part
 * @line:       line it was described in, 0 from sysfs
 */
struct ht_machine_cpu {
	ht_u32 cpu;
	ht_u32 package;
	ht_u32 node;
	ht_u32 llc;
	ht_u32 l2;
	ht_u32 core_id;
	ht_u32 core;
	ht_u32 capacity;
	ht_u32 domain;
	bool online;
	unsigned int line;
};

/**
 * struct ht_machine - a machine
 * @cpu:        CPUs by ascending number
 * @nr:         entries of @cpu
 * @distance:   @nr_nodes x @nr_nodes NUMA distances, or NULL
 * @nr_nodes:   rows of @distance
 */
struct ht_machine {
	struct ht_machine_cpu *cpu;
	ht_u32 nr;
	ht_u8 *distance;
	ht_u32 nr_nodes;
};

/* Each returns NULL and fills @err on failure. */

/** ht_machine_parse() - read a description from an open file */
struct ht_machine *ht_machine_parse(FILE *in, struct ht_error *err);
/** ht_machine_parse_text() - read a description from memory */
struct ht_machine *ht_machine_parse_text(const char *text,
					 struct ht_error *err);
/** ht_machine_from_file() - read a description, "-" is standard input */
struct ht_machine *ht_machine_from_file(const char *path,
					struct ht_error *err);
/**
 * ht_machine_from_sysfs() - read the running machine
 * @sysroot:    directory that holds sys/, NULL for /
 * @err:        output
 *
 * Offline CPUs have no topology in sysfs: they come out as cores of their own,
 * offline.
 */
struct ht_machine *ht_machine_from_sysfs(const char *sysroot,
					 struct ht_error *err);
void ht_machine_free(struct ht_machine *machine);

/** ht_machine_find() - the entry of a CPU, NULL if there is none */
const struct ht_machine_cpu *ht_machine_find(const struct ht_machine *machine,
					     ht_u32 cpu);

/** ht_machine_describe() - write the description; reads back as the same */
void ht_machine_describe(const struct ht_machine *machine, FILE *out);

/* The tree: package, chip, node, LLC, L2, core, thread, levels as they exist. */

/**
 * struct ht_tree - one element and what it consists of
 * @level:      "package" (the root: all chips), "chip", "node", "llc", "l2",
 *              "core" or "thread"
 * @id:         number of a chip, node, cache or core as the machine calls it;
 *              position of a thread in its core; 0 for the root
 * @cpus:       online members, ascending
 * @nr_cpus:    entries of @cpus
 * @child:      parts of the next level that exists
 * @nr_children: entries of @child
 */
struct ht_tree {
	const char *level;
	ht_u32 id;
	ht_u32 *cpus;
	ht_u32 nr_cpus;
	struct ht_tree **child;
	ht_u32 nr_children;
};

/** ht_tree_build() - the tree of the online CPUs */
struct ht_tree *ht_tree_build(const struct ht_machine *machine);
void ht_tree_free(struct ht_tree *tree);

/**
 * ht_machine_print_tree() - print it, a line per element with its members
 *
 *	PACKAGE MEMBERS: 0-3
 *	|-CHIP ID 0: 0-1
 *	| \-CORE ID 0: 0-1
 *	|   |-THREAD ID 0: 0
 *	...
 */
void ht_machine_print_tree(const struct ht_machine *machine, FILE *out);

/* Decisions on a machine. */

/**
 * struct ht_snapshot - a machine ready for ht_policy_select()
 * @topo:       its online CPUs in slots
 * @state:      points at the two arrays below
 * @word:       all threads idle, no claims at first; yours to change
 * @claim_tick: when a claim was taken
 */
struct ht_snapshot {
	struct ht_topo topo;
	struct ht_state state;
	struct ht_word *word;
	ht_u32 *claim_tick;
	/* private: */
	void *mem;
};

/** ht_snapshot_new() - lay a machine out */
struct ht_snapshot *ht_snapshot_new(const struct ht_machine *machine,
				    struct ht_error *err);
void ht_snapshot_free(struct ht_snapshot *snap);
/** ht_snapshot_set_idle() - a CPU without a slot is ignored */
void ht_snapshot_set_idle(struct ht_snapshot *snap, ht_u32 cpu, bool idle);
/** ht_snapshot_set_claimed() - claimed as of tick @tick */
void ht_snapshot_set_claimed(struct ht_snapshot *snap, ht_u32 cpu,
			     bool claimed, ht_u32 tick);

/* CPU lists: 0-3,8,10-11. */

/**
 * ht_cpulist_parse() - read a list
 * @text:       "0-3,8"; an empty list is one without characters
 * @cpus:       output, allocated, ascending and without duplicates
 * @nr:         output
 *
 * Return: NULL, or what is wrong with the list in a few words.
 */
const char *ht_cpulist_parse(const char *text, ht_u32 **cpus, ht_u32 *nr);
/** ht_cpulist_print() - write a list; @cpus ascending */
void ht_cpulist_print(FILE *out, const ht_u32 *cpus, ht_u32 nr);

#endif /* _LIBHT_H */
