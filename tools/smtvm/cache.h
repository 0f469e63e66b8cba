/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Caches of the modelled machine: an L2 per core, an L3 per LLC, by physical
 * address. Data only; the first level and instruction fetches cost nothing.
 * Pure, as the model of time; only one vCPU runs at a time, so no lock.
 */
#ifndef SMTVM_CACHE_H
#define SMTVM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define SMTVM_LINE_SHIFT	6
/*
 * One line in eight is simulated, in caches of an eighth of the size, and its
 * misses cost eight times as much. Chosen by address bits within a page, which
 * are the same in virtual and physical addresses; not the page's first lines,
 * where structures like to begin.
 */
#define SMTVM_SAMPLE		8
#define SMTVM_SAMPLE_PHASE	5

/**
 * struct smtvm_cache_params - sizes and costs
 * @l2_kib: size of each core's L2
 * @l2_ways: its associativity
 * @l3_kib: size of an LLC for each core that shares it
 * @l3_ways: its associativity
 * @l2_miss_insns: what an access costs that misses L2 and hits L3, in
 *	instructions of a thread on a core of its own
 * @l3_miss_insns: what one costs that misses both
 */
struct smtvm_cache_params {
	double l2_kib, l2_ways, l3_kib, l3_ways;
	double l2_miss_insns, l3_miss_insns;
};

struct smtvm_caches;

void smtvm_cache_params_default(struct smtvm_cache_params *p);
bool smtvm_cache_param(struct smtvm_cache_params *p, const char *name, double value);
const char *smtvm_cache_params_check(const struct smtvm_cache_params *p);
struct smtvm_caches *smtvm_caches_new(const struct smtvm_cache_params *p);
void smtvm_caches_free(struct smtvm_caches *c);
void smtvm_caches_place(struct smtvm_caches *c, int nr_cpus, const int *core,
			const int *llc);
unsigned int smtvm_caches_access(struct smtvm_caches *c, int cpu, uint64_t paddr,
				 bool store);
void smtvm_caches_misses(const struct smtvm_caches *c, int cpu, uint64_t *l2,
			 uint64_t *l3);

/* Whether an access is one of those simulated. */
static inline bool smtvm_sampled(uint64_t addr)
{
	return (addr >> SMTVM_LINE_SHIFT) % SMTVM_SAMPLE == SMTVM_SAMPLE_PHASE;
}

#endif
