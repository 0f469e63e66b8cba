/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: from a list of CPUs to a topology snapshot.
 *
 * The kernel knows a machine as sets of CPU numbers, a text description knows
 * it as lines, a test as a few rows. All three are written down as one plain
 * descriptor per CPU, and the renumbering into slots happens here, once. Use:
 *
 *	err = ht_layout_size(desc, nr, &size);	// sorts desc, counts
 *	mem = alloc(ht_layout_bytes(&size));	// 8 byte aligned, any content
 *	ht_layout_attach(&topo, &size, mem);	// carves the arrays out of it
 *	ht_layout_fill(&topo, desc, nr, dist, nr_nodes);
 *
 * Storage belongs to the caller; nothing here allocates, locks or recurses.
 * Cost: O(n log n) in CPUs and O(l^2 log l) in LLCs.
 */
#ifndef _KERNEL_SCHED_HT_LAYOUT_H
#define _KERNEL_SCHED_HT_LAYOUT_H

#include "ht_types.h"

/* llc_order holds nr_llcs^2 entries: a machine beyond this is refused. */
#define HT_MAX_LLCS	4096
/* Highest CPU number that is believed; more is a corrupt list. */
#define HT_MAX_CPUS	0x100000u

/**
 * struct ht_cpu_desc - where one CPU sits
 * @cpu:        CPU number
 * @node:       NUMA node
 * @llc:        any number that CPUs with the same last level cache share; a
 *              CPU without one gives a number of its own, such as @core
 * @cluster:    any number that CPUs with the same L2 (or cluster) share;
 *              HT_NONE: none but the core itself
 * @core:       lowest CPU of its sibling mask; never a core_id
 * @domain:     any number for its root domain; HT_NONE for a CPU that runs but
 *              is nobody's target (isolated): it gets no slot, but a core that
 *              it belongs to does not count as wholly idle without it
 * @partial:    output of ht_layout_size(), the caller need not set it
 *
 * Leave out CPUs that are not online. The three keys may be equal numbers:
 * they are compared within their level only.
 */
struct ht_cpu_desc {
	ht_u32 cpu;
	ht_u32 node;
	ht_u32 llc;
	ht_u32 cluster;
	ht_u32 core;
	ht_u32 domain;
	bool partial;
};

/**
 * struct ht_layout_size - what a snapshot needs
 * @nr_cpus:    highest CPU number in the list + 1; the caller may raise it
 *              before ht_layout_bytes(), e.g. to nr_cpu_ids
 * @nr_words:   64-bit words, HT_WORD_BITS slots each; 0 if every CPU is
 *              isolated, which is a valid, empty snapshot
 * @nr_llcs:    LLCs; one that spans nodes or root domains counts once in each
 */
struct ht_layout_size {
	ht_u32 nr_cpus;
	ht_u32 nr_words;
	ht_u32 nr_llcs;
};

/* What ht_layout_size() and ht_layout_fill() return; 0 is success. */
enum ht_layout_error {
	HT_LAYOUT_OK,
	HT_LAYOUT_EMPTY,	/* no CPU in the list */
	HT_LAYOUT_BAD_CPU,	/* CPU or core number beyond HT_MAX_CPUS */
	HT_LAYOUT_DUPLICATE,	/* a CPU is listed twice */
	HT_LAYOUT_WIDE_CORE,	/* a core of more than HT_MAX_SMT threads */
	HT_LAYOUT_MANY_LLCS,	/* more than HT_MAX_LLCS */
	HT_LAYOUT_MISMATCH,	/* fill: @desc is not what @topo was sized for */
	HT_NR_LAYOUT_ERRORS,
};

/**
 * ht_layout_size() - sort a list of CPUs and count what its snapshot needs
 * @desc:       one entry per CPU in any order; sorted in place into slot order
 * @nr:         entries of @desc
 * @size:       output, valid if 0 is returned
 *
 * A core whose threads disagree about LLC, node or domain becomes a part of a
 * core in each, never wholly idle. A cluster that would split a core is taken
 * to be the core itself.
 *
 * Return: 0 or an enum ht_layout_error.
 */
int ht_layout_size(struct ht_cpu_desc *desc, ht_u32 nr,
		   struct ht_layout_size *size);

/**
 * ht_layout_bytes() - bytes that ht_layout_attach() carves up
 * @size:       result of ht_layout_size()
 */
ht_u64 ht_layout_bytes(const struct ht_layout_size *size);

/**
 * ht_layout_attach() - point the arrays of a snapshot into one block
 * @topo:       snapshot to set up
 * @size:       result of ht_layout_size()
 * @mem:        ht_layout_bytes() bytes, 8 byte aligned, content does not matter
 *
 * Freeing @mem frees all of @topo's arrays.
 */
void ht_layout_attach(struct ht_topo *topo, const struct ht_layout_size *size,
		      void *mem);

/**
 * ht_layout_fill() - fill an attached snapshot
 * @topo:       snapshot that ht_layout_attach() set up
 * @desc:       the list as ht_layout_size() left it
 * @nr:         entries of @desc
 * @distance:   nr_nodes x nr_nodes NUMA distances, row by row, or NULL: every
 *              other node is equally far; nodes beyond @nr_nodes likewise
 * @nr_nodes:   rows of @distance
 *
 * Return: 0 or HT_LAYOUT_MISMATCH.
 */
int ht_layout_fill(struct ht_topo *topo, const struct ht_cpu_desc *desc,
		   ht_u32 nr, const ht_u8 *distance, ht_u32 nr_nodes);

/**
 * ht_layout_error_name() - a few words on what is wrong
 * @error:      what ht_layout_size() or ht_layout_fill() returned
 */
const char *ht_layout_error_name(int error);

#endif /* _KERNEL_SCHED_HT_LAYOUT_H */
