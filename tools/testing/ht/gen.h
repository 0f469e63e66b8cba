/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Machines, states and requests out of numbers: drawn from a seed by the
 * property tests, from its input by the fuzzer.
 *
 * Every array is a block of its own of exactly the size needed, so that the
 * address sanitizer sees one step too far.
 */
#ifndef _TESTING_HT_GEN_H
#define _TESTING_HT_GEN_H

#include <stddef.h>

#include "ht_check.h"
#include "ht_layout.h"
#include "ht_policy.h"

/**
 * struct source - where numbers come from
 * @data:     bytes of a fuzzer, NULL: @seed
 * @size:     bytes left; zeros follow
 * @seed:     state of the generator
 */
struct source {
	const unsigned char *data;
	size_t size;
	ht_u64 seed;
};

/* A number below @below; 0 if that is 0. */
ht_u32 draw(struct source *src, ht_u32 below);

#define WORLD_CPUS	640
#define WORLD_NODES	4

/**
 * struct world - a machine with a state and a request
 * @desc:     its CPUs, as ht_layout_size() left them
 * @nr:       entries of @desc
 * @nr_cpus:  CPU numbers
 * @distance: NUMA distances or NULL
 * @size:     of the snapshot
 * @layout:   what the layout said; the rest is valid if 0
 */
struct world {
	struct ht_cpu_desc desc[WORLD_CPUS];
	ht_u32 nr;
	ht_u32 nr_cpus;
	ht_u8 *distance;
	struct ht_layout_size size;
	int layout;

	struct ht_topo topo;
	struct ht_state state;
	struct ht_request req;
	struct ht_word *word;
	ht_u32 *claim_tick;
	ht_u64 *allowed;
	void *mem;
};

void world_make(struct world *w, struct source *src);
void world_free(struct world *w);

/* The same world with every CPU called by another number. */
void world_renumber(struct world *to, const struct world *from,
		    struct source *src);

/* What a world must keep to. NULL, or what is wrong. */
const char *world_check_layout(const struct world *w);
const char *world_check_words(const struct world *w);
/* Draws new prices on the way: the world is another one then. */
const char *world_check_decisions(struct world *w, struct source *src);
/* Un-shares until nothing is left to do; the world is another one then. */
const char *world_check_unsharing(struct world *w);

#endif /* _TESTING_HT_GEN_H */
