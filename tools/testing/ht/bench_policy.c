// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions to be counted by callgrind: see bench-policy.sh.
 *
 * usage: bench-policy CPUS LLCS PRICED DECISIONS
 *
 * A machine of CPUS threads, two to a core and eight cores to an LLC (all in
 * one LLC below 16), and DECISIONS wakeups from LLC after LLC of a task that
 * runs for 5 ms and whose data is warm where it last ran. LLCS is how many of
 * them a decision has to visit: 0, its core is idle; 1, another core of the LLC
 * is; 2, one of the next LLC is.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "ht_layout.h"
#include "ht_policy.h"
#include "ht_price.h"
#include "libht_internal.h"

#define LLC_CPUS	16

struct bench {
	ht_u32 nr_cpus;
	ht_u32 llc_cpus;
	struct ht_topo topo;
	struct ht_state st;
	struct ht_word *word;
	struct ht_request req;
};

static ht_u32 number(const char *text)
{
	const char *wrong;
	ht_u32 value;

	wrong = ht_number(text, HT_MAX_CPUS, &value);
	if (wrong)
		errx(2, "%s: %s", text, wrong);
	return value;
}

static void build(struct bench *b)
{
	struct ht_cpu_desc *desc = ht_zalloc(b->nr_cpus, sizeof(*desc));
	struct ht_layout_size size;
	ht_u32 i;
	int error;

	for (i = 0; i < b->nr_cpus; i++)
		desc[i] = (struct ht_cpu_desc){
			.cpu = i, .core = i & ~1u, .cluster = HT_NONE,
			.llc = i / b->llc_cpus, .node = i / 1024,
		};
	error = ht_layout_size(desc, b->nr_cpus, &size);
	if (error)
		errx(2, "%s", ht_layout_error_name(error));
	ht_layout_attach(&b->topo, &size, ht_zalloc(1, ht_layout_bytes(&size)));
	ht_layout_fill(&b->topo, desc, b->nr_cpus, NULL, 0);
	free(desc);
	b->word = ht_zalloc(size.nr_words, sizeof(*b->word));
	b->st.word = b->word;
	b->st.claim_tick = ht_zalloc((size_t)size.nr_words * HT_WORD_BITS,
				     sizeof(ht_u32));
	for (i = 0; i < size.nr_words; i++)
		b->word[i].idle = b->topo.present[i];
}

static void set_busy(struct bench *b, ht_u32 cpu, bool busy)
{
	ht_u32 slot = b->topo.cpu_slot[cpu];
	ht_u64 bit = (ht_u64)1 << slot % HT_WORD_BITS;

	if (busy)
		b->word[slot / HT_WORD_BITS].idle &= ~bit;
	else
		b->word[slot / HT_WORD_BITS].idle |= bit;
}

/* One thread of each core that the decision is to pass by. */
static void occupy(struct bench *b, ht_u32 first, ht_u32 llcs, bool busy)
{
	ht_u32 cpu;

	if (llcs == 1)
		set_busy(b, first, busy);
	for (cpu = first; llcs > 1 && cpu < first + b->llc_cpus; cpu += 2)
		set_busy(b, cpu, busy);
}

static void ask(struct bench *b, bool priced)
{
	b->req = (struct ht_request){
		.smt = true, .allowed_all = true, .priced = priced,
		.run_ns = 5000000,
		.resid_ns = { HT_FILL_CORE_US * 1000, HT_FILL_LLC_US * 8000,
			      HT_FILL_NODE_US * 1000 },
		.prices = {
			.yield_pct = HT_YIELD_PCT,
			.refill_ns = { HT_REFILL_CORE_US * 1000,
				       HT_REFILL_LLC_US * 1000,
				       HT_REFILL_NODE_US * 1000 },
			.fill_ns = { HT_FILL_CORE_US * 1000,
				     HT_FILL_LLC_US * 8000,
				     HT_FILL_NODE_US * 1000 },
			.pair_ns = HT_PAIR_NS,
		},
	};
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	ht_u32 llcs, decisions, i;

	if (argc != 5)
		errx(2, "usage: bench-policy CPUS LLCS PRICED DECISIONS");
	b.nr_cpus = number(argv[1]);
	b.llc_cpus = b.nr_cpus < LLC_CPUS ? b.nr_cpus : LLC_CPUS;
	llcs = number(argv[2]);
	decisions = number(argv[4]);
	build(&b);
	ask(&b, number(argv[3]));
	for (i = 0; i < decisions; i++) {
		ht_u32 first = i * b.llc_cpus % b.nr_cpus;
		struct ht_verdict v;

		occupy(&b, first, llcs, true);
		b.req.prev_cpu = first;
		b.req.origin_cpu = first;
		ht_policy_select(&b.topo, &b.st, &b.req, &v);
		if (!v.whole_core || (v.distance > 2) != (llcs > 1) ||
		    (v.cpu == first) != !llcs)
			errx(1, "CPU %u is not what this is about", v.cpu);
		occupy(&b, first, llcs, false);
	}
	return 0;
}
