// SPDX-License-Identifier: GPL-2.0
/* libht: from a machine to the snapshot and the state that decisions need. */
#include <stdlib.h>

#include "libht_internal.h"

/* What a CPU shares, as a key that only the sharers have: see last_level(). */
struct share {
	ht_u32 package;
	ht_u32 level;
	ht_u32 id;
	ht_u32 index;
};

static int compare_shares(const void *a, const void *b)
{
	const ht_u32 *x = a, *y = b;
	int i, cmp = 0;

	for (i = 0; !cmp && i < 4; i++)
		cmp = ht_compare_u32(&x[i], &y[i]);
	return cmp;
}

static bool same_share(const struct share *a, const struct share *b)
{
	return a->package == b->package && a->level == b->level &&
	       a->id == b->id;
}

/* The highest cache level that this CPU has; without any, its core. */
static struct share last_level(const struct ht_machine_cpu *cpu, ht_u32 i)
{
	if (cpu->llc != HT_NONE)
		return (struct share){ cpu->package, 3, cpu->llc, i };
	if (cpu->l2 != HT_NONE)
		return (struct share){ cpu->package, 2, cpu->l2, i };
	return (struct share){ cpu->package, 1, cpu->core, i };
}

static struct share second_level(const struct ht_machine_cpu *cpu, ht_u32 i)
{
	if (cpu->l2 != HT_NONE)
		return (struct share){ cpu->package, 2, cpu->l2, i };
	return (struct share){ cpu->package, 1, cpu->core, i };
}

/* key[i]: the lowest CPU that shares with CPU i. */
static ht_u32 *share_keys(const struct ht_machine *m,
			  struct share (*of)(const struct ht_machine_cpu *cpu,
					     ht_u32 i))
{
	struct share *share = ht_zalloc(m->nr, sizeof(*share));
	ht_u32 *key = ht_zalloc(m->nr, sizeof(*key));
	ht_u32 i, first = 0;

	for (i = 0; i < m->nr; i++)
		share[i] = of(&m->cpu[i], i);
	qsort(share, m->nr, sizeof(*share), compare_shares);
	for (i = 0; i < m->nr; i++) {
		if (!same_share(&share[first], &share[i]))
			first = i;
		key[share[i].index] = m->cpu[share[first].index].cpu;
	}
	free(share);
	return key;
}

static struct ht_cpu_desc *make_desc(const struct ht_machine *m, ht_u32 *nr)
{
	struct ht_cpu_desc *desc = ht_zalloc(m->nr, sizeof(*desc));
	ht_u32 *llc = share_keys(m, last_level);
	ht_u32 *l2 = share_keys(m, second_level);
	ht_u32 i;

	*nr = 0;
	for (i = 0; i < m->nr; i++) {
		const struct ht_machine_cpu *cpu = &m->cpu[i];

		if (!cpu->online)
			continue;
		desc[(*nr)++] = (struct ht_cpu_desc){
			.cpu = cpu->cpu,
			.node = cpu->node,
			.llc = llc[i],
			.cluster = l2[i],
			.core = cpu->core,
			.domain = cpu->domain,
		};
	}
	free(llc);
	free(l2);
	return desc;
}

static int lay_out(struct ht_snapshot *snap, const struct ht_machine *m,
		   struct ht_cpu_desc *desc, ht_u32 nr)
{
	struct ht_layout_size size;
	int error = ht_layout_size(desc, nr, &size);

	if (error)
		return error;
	/* Offline CPUs have numbers too. */
	if (size.nr_cpus <= m->cpu[m->nr - 1].cpu)
		size.nr_cpus = m->cpu[m->nr - 1].cpu + 1;
	snap->mem = ht_zalloc(1, ht_layout_bytes(&size));
	ht_layout_attach(&snap->topo, &size, snap->mem);
	return ht_layout_fill(&snap->topo, desc, nr, m->distance, m->nr_nodes);
}

struct ht_snapshot *ht_snapshot_new(const struct ht_machine *machine,
				    struct ht_error *err)
{
	struct ht_snapshot *snap = ht_zalloc(1, sizeof(*snap));
	ht_u32 nr, words, i;
	struct ht_cpu_desc *desc = make_desc(machine, &nr);
	int error = lay_out(snap, machine, desc, nr);

	free(desc);
	if (error) {
		ht_snapshot_free(snap);
		return ht_fail(err, 0, "%s", ht_layout_error_name(error));
	}
	words = snap->topo.nr_words;
	snap->word = ht_zalloc(words, sizeof(*snap->word));
	snap->claim_tick = ht_zalloc((size_t)words * HT_WORD_BITS,
				     sizeof(*snap->claim_tick));
	for (i = 0; i < words; i++)
		snap->word[i].idle = snap->topo.present[i];
	snap->state = (struct ht_state){
		.word = snap->word,
		.claim_tick = snap->claim_tick,
	};
	return snap;
}

void ht_snapshot_free(struct ht_snapshot *snap)
{
	if (!snap)
		return;
	free(snap->word);
	free(snap->claim_tick);
	free(snap->mem);
	free(snap);
}

static void set_bit_of(ht_u64 *bits, ht_u32 slot, bool value)
{
	ht_u64 bit = (ht_u64)1 << (slot % HT_WORD_BITS);

	if (value)
		*bits |= bit;
	else
		*bits &= ~bit;
}

void ht_snapshot_set_idle(struct ht_snapshot *snap, ht_u32 cpu, bool idle)
{
	ht_u32 slot = ht_cpu_slot(&snap->topo, cpu);

	if (slot != HT_NONE)
		set_bit_of(&snap->word[slot / HT_WORD_BITS].idle, slot, idle);
}

void ht_snapshot_set_claimed(struct ht_snapshot *snap, ht_u32 cpu,
			     bool claimed, ht_u32 tick)
{
	ht_u32 slot = ht_cpu_slot(&snap->topo, cpu);

	if (slot == HT_NONE)
		return;
	set_bit_of(&snap->word[slot / HT_WORD_BITS].claimed, slot, claimed);
	snap->claim_tick[slot] = tick;
}
