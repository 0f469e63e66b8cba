// SPDX-License-Identifier: GPL-2.0
/*
 * Properties over random machines, states and requests.
 *
 * HT_SEED (1) and HT_ROUNDS (8000) in the environment choose them. A failure
 * names its own seed: HT_SEED=that HT_ROUNDS=1 is that failure alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"
#include "ht_price.h"
#include "test.h"

#define MAX_REPORTS	5

static ht_u64 from_env(const char *name, ht_u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static bool has_anchor(const struct world *w, ht_u32 cpu)
{
	return cpu < w->nr_cpus && w->topo.cpu_slot[cpu] != HT_NONE &&
	       (w->req.allowed_all || (w->allowed[cpu / 64] >> cpu % 64 & 1));
}

/* Draws on where the world's own numbers ended. */
static struct source src;

/*
 * Called by other numbers, a machine gets the same answer: the same reason at
 * the same distance. (Without SMT knowledge an idle thread may or may not be
 * on a free core.) Without prev and origin the search begins at the lowest
 * number, and then the answer may differ.
 */
static const char *check_symmetry(struct world *w)
{
	static char text[128];
	struct ht_verdict a, b;
	struct world other;

	if (!has_anchor(w, w->req.prev_cpu) &&
	    !has_anchor(w, w->req.origin_cpu))
		return NULL;
	world_renumber(&other, w, &src);
	ht_policy_select(&w->topo, &w->state, &w->req, &a);
	ht_policy_select(&other.topo, &other.state, &other.req, &b);
	world_free(&other);
	if (w->req.priced && w->req.smt) {
		if (ht_price_sum(&a.price) == ht_price_sum(&b.price))
			return NULL;
		snprintf(text, sizeof(text),
			 "renumbered: CPU %u for %llu ns became %u for %llu",
			 a.cpu, ht_price_sum(&a.price), b.cpu,
			 ht_price_sum(&b.price));
		return text;
	}
	if (a.why == b.why && a.distance == b.distance &&
	    (a.whole_core == b.whole_core || !w->req.smt))
		return NULL;
	snprintf(text, sizeof(text),
		 "renumbered: CPU %u (%s, %u) became %u (%s, %u)", a.cpu,
		 ht_why_name(a.why), a.distance, b.cpu, ht_why_name(b.why),
		 b.distance);
	return text;
}

static const char *check_world(struct world *w)
{
	const char *wrong;

	if (w->layout)
		return ht_layout_error_name(w->layout);
	wrong = world_check_layout(w);
	if (!wrong)
		wrong = world_check_words(w);
	if (!wrong)
		wrong = world_check_decisions(w, &src);
	if (!wrong)
		wrong = check_symmetry(w);
	return wrong ? wrong : world_check_unsharing(w);
}

static bool run_round(ht_u64 seed)
{
	const char *wrong;
	struct world w;

	src = (struct source){ .seed = seed };
	world_make(&w, &src);
	wrong = check_world(&w);
	if (wrong)
		test_fail("HT_SEED=%llu: %s", seed, wrong);
	world_free(&w);
	return !wrong;
}

void test_random(void)
{
	ht_u64 seed = from_env("HT_SEED", 1);
	ht_u64 rounds = from_env("HT_ROUNDS", 8000);
	unsigned int reports = 0;
	ht_u64 i;

	test_begin("%llu worlds from seed %llu", rounds, seed);
	for (i = 0; i < rounds && reports < MAX_REPORTS; i++)
		reports += !run_round(seed + i);
}
