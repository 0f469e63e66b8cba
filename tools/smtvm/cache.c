// SPDX-License-Identifier: GPL-2.0
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"

#define MAX_WAYS	32

/**
 * struct store - one cache
 * @tags: lines in order of last use, @ways to a set; 0 is empty
 * @sets: how many
 * @ways: lines in a set
 */
struct store {
	uint64_t *tags;
	uint64_t sets;
	unsigned int ways;
};

/**
 * struct smtvm_caches - all caches
 * @params: sizes and costs
 * @l2: by the number of a core's first vCPU
 * @l3: by the number of an LLC's first vCPU
 * @core: of each vCPU, its core
 * @llc: of each vCPU, its LLC
 * @l2_misses: of each vCPU; sampled ones times the sampling factor
 * @l3_misses: likewise
 */
struct smtvm_caches {
	struct smtvm_cache_params params;
	struct store l2[SMTVM_MAX_CPUS], l3[SMTVM_MAX_CPUS];
	int core[SMTVM_MAX_CPUS], llc[SMTVM_MAX_CPUS];
	uint64_t l2_misses[SMTVM_MAX_CPUS], l3_misses[SMTVM_MAX_CPUS];
	int nr_cpus;
};

/*
 * A Xeon Scalable of the first generation ("Skylake-SP"): 1 MiB of L2, 16 ways,
 * and 1.375 MiB of L3, 11 ways, per core (Intel 64 and IA-32 Architectures
 * Optimization Reference Manual, Skylake Server microarchitecture). Measured
 * latencies are some 20 ns for L3 and 90 ns for memory; out-of-order execution
 * hides a part, taken as a quarter. At 1e9 instructions per second an
 * instruction is a nanosecond.
 */
void smtvm_cache_params_default(struct smtvm_cache_params *p)
{
	*p = (struct smtvm_cache_params){
		.l2_kib = 1024, .l2_ways = 16, .l3_kib = 1408, .l3_ways = 11,
		.l2_miss_insns = 15, .l3_miss_insns = 70,
	};
}

bool smtvm_cache_param(struct smtvm_cache_params *p, const char *name, double value)
{
	const struct {
		const char *name;
		double *where;
	} known[] = {
		{ "l2_kib", &p->l2_kib }, { "l2_ways", &p->l2_ways },
		{ "l3_kib", &p->l3_kib }, { "l3_ways", &p->l3_ways },
		{ "l2_miss_insns", &p->l2_miss_insns },
		{ "l3_miss_insns", &p->l3_miss_insns },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name)) {
			*known[i].where = value;
			return true;
		}
	}
	return false;
}

const char *smtvm_cache_params_check(const struct smtvm_cache_params *p)
{
	if (!(p->l2_kib >= 64 && p->l2_kib <= 65536 && p->l3_kib >= 64 && p->l3_kib <= 65536))
		return "l2_kib and l3_kib must be 64 to 65536";
	if (!(p->l2_ways >= 1 && p->l2_ways <= MAX_WAYS && p->l3_ways >= 1 &&
	      p->l3_ways <= MAX_WAYS))
		return "l2_ways and l3_ways must be 1 to 32";
	if (!(p->l2_miss_insns >= 0 && p->l2_miss_insns <= p->l3_miss_insns &&
	      p->l3_miss_insns <= 10000))
		return "l2_miss_insns must be at most l3_miss_insns, that at most 10000";
	return NULL;
}

struct smtvm_caches *smtvm_caches_new(const struct smtvm_cache_params *p)
{
	struct smtvm_caches *c = calloc(1, sizeof(*c));

	if (c)
		c->params = *p;
	return c;
}

static void clear(struct smtvm_caches *c)
{
	for (int i = 0; i < SMTVM_MAX_CPUS; i++) {
		free(c->l2[i].tags);
		free(c->l3[i].tags);
	}
	memset(c->l2, 0, sizeof(c->l2));
	memset(c->l3, 0, sizeof(c->l3));
}

void smtvm_caches_free(struct smtvm_caches *c)
{
	if (c)
		clear(c);
	free(c);
}

static void resize(struct store *s, double kib, double ways)
{
	s->ways = (unsigned int)ways;
	s->sets = (uint64_t)(kib * 1024 / ways) >> SMTVM_LINE_SHIFT;
	s->sets = s->sets / SMTVM_SAMPLE ? s->sets / SMTVM_SAMPLE : 1;
	free(s->tags);
	s->tags = calloc(s->sets * s->ways, sizeof(*s->tags));
	if (!s->tags)
		abort();
}

/* @core and @llc: of each vCPU, the number of the first vCPU it shares that with. */
void smtvm_caches_place(struct smtvm_caches *c, int nr_cpus, const int *core,
			const int *llc)
{
	int cores[SMTVM_MAX_CPUS] = { 0 };

	clear(c);
	c->nr_cpus = nr_cpus;
	for (int i = 0; i < nr_cpus; i++) {
		c->core[i] = core[i];
		c->llc[i] = llc[i];
		cores[llc[i]] += core[i] == i;
	}
	for (int i = 0; i < nr_cpus; i++) {
		if (core[i] == i)
			resize(&c->l2[i], c->params.l2_kib, c->params.l2_ways);
		if (llc[i] == i)
			resize(&c->l3[i], c->params.l3_kib * cores[i], c->params.l3_ways);
	}
}

static uint64_t *set_of(const struct store *s, uint64_t line)
{
	return s->tags + line / SMTVM_SAMPLE % s->sets * s->ways;
}

/* Makes @line the last used of its set; returns whether it was there. */
static bool touch(struct store *s, uint64_t line)
{
	uint64_t *set = set_of(s, line), tag = line + 1;
	unsigned int i;

	for (i = 0; i < s->ways - 1; i++) {
		if (set[i] == tag)
			break;
	}
	if (i == s->ways - 1 && set[i] != tag) {
		memmove(set + 1, set, i * sizeof(*set));
		set[0] = tag;
		return false;
	}
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = tag;
	return true;
}

static void drop(struct store *s, uint64_t line)
{
	uint64_t *set;

	if (!s->tags)
		return;
	set = set_of(s, line);
	for (unsigned int i = 0; i < s->ways; i++) {
		if (set[i] == line + 1)
			set[i] = 0;
	}
}

/* A write takes the line from all caches but the writer's own. */
static void take(struct smtvm_caches *c, int cpu, uint64_t line)
{
	for (int i = 0; i < c->nr_cpus; i++) {
		if (i != c->core[cpu])
			drop(&c->l2[i], line);
		if (i != c->llc[cpu])
			drop(&c->l3[i], line);
	}
}

/* Returns what the access costs, in instructions. @paddr must be a sampled one. */
unsigned int smtvm_caches_access(struct smtvm_caches *c, int cpu, uint64_t paddr,
				 bool store)
{
	uint64_t line = paddr >> SMTVM_LINE_SHIFT;
	bool l2 = touch(&c->l2[c->core[cpu]], line);
	bool l3 = l2 || touch(&c->l3[c->llc[cpu]], line);

	if (store)
		take(c, cpu, line);
	if (l2)
		return 0;
	c->l2_misses[cpu] += SMTVM_SAMPLE;
	if (l3)
		return (unsigned int)(c->params.l2_miss_insns * SMTVM_SAMPLE);
	c->l3_misses[cpu] += SMTVM_SAMPLE;
	return (unsigned int)(c->params.l3_miss_insns * SMTVM_SAMPLE);
}

void smtvm_caches_misses(const struct smtvm_caches *c, int cpu, uint64_t *l2,
			 uint64_t *l3)
{
	*l2 = c->l2_misses[cpu];
	*l3 = c->l3_misses[cpu];
}
