// SPDX-License-Identifier: GPL-2.0
/* Machines, states and requests out of numbers. See gen.h. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "ht_price.h"

/* Numbers. */

static ht_u32 next_byte(struct source *src)
{
	if (!src->size)
		return 0;
	src->size--;
	return *src->data++;
}

/* SplitMix64: any seed is as good as the next one. */
static ht_u64 next_random(struct source *src)
{
	ht_u64 z = src->seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

ht_u32 draw(struct source *src, ht_u32 below)
{
	ht_u32 value;

	if (!below)
		return 0;
	if (!src->data)
		return next_random(src) % below;
	value = next_byte(src);
	if (below > 256)
		value = value << 8 | next_byte(src);
	return value % below;
}

static bool one_in(struct source *src, ht_u32 n)
{
	return draw(src, n) == n - 1;
}

static void *zalloc(size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem)
		err(EXIT_FAILURE, "gen");
	return mem;
}

/* Machines. */

struct form {
	ht_u32 nodes;
	ht_u32 llcs;
	ht_u32 clusters;
	ht_u32 cores;
	ht_u32 threads;
	ht_u32 missing;		/* how many threads in 8 are not there */
	ht_u32 domains;		/* 0 one, 1 by LLC, 2 by core, 3 by CPU */
	ht_u32 isolated;	/* how many threads in 16 */
	ht_u32 noise;		/* how many threads in 16 lie about a level */
	ht_u32 no_cluster;	/* clusters are unknown */
};

static void draw_form(struct form *f, struct source *src)
{
	static const ht_u32 threads[] = { 2, 1, 2, 2, 3, 4, 8, 2, 5, 64 };

	f->nodes = 1 + draw(src, WORLD_NODES);
	f->llcs = 1 + draw(src, 3);
	f->clusters = 1 + draw(src, 4);
	f->cores = 1 + draw(src, one_in(src, 8) ? 40 : 4);
	f->threads = threads[draw(src, sizeof(threads) / sizeof(threads[0]))];
	f->missing = one_in(src, 3) ? draw(src, 6) : 0;
	f->domains = one_in(src, 3) ? draw(src, 4) : 0;
	f->isolated = one_in(src, 6) ? draw(src, 5) : 0;
	f->noise = one_in(src, 6) ? draw(src, 3) : 0;
	f->no_cluster = one_in(src, 6);
	while (f->nodes * f->llcs * f->clusters * f->cores * f->threads >
	       WORLD_CPUS) {
		f->cores = (f->cores + 1) / 2;
		f->clusters = (f->clusters + 1) / 2;
		if (f->cores == 1 && f->clusters == 1)
			f->nodes = 1;
	}
}

/* Numbers 0..nr-1 in some order. */
static void draw_order(ht_u32 *order, ht_u32 nr, struct source *src)
{
	bool shuffle = !one_in(src, 3);
	ht_u32 i, j, tmp;

	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr; shuffle && i > 1; i--) {
		j = draw(src, i);
		tmp = order[i - 1];
		order[i - 1] = order[j];
		order[j] = tmp;
	}
}

static ht_u32 draw_domain(const struct form *f, const struct ht_cpu_desc *d,
			  ht_u32 core, struct source *src)
{
	if (f->isolated && draw(src, 16) < f->isolated)
		return HT_NONE;
	switch (f->domains) {
	case 1:
		return d->llc & 1;
	case 2:
		return core & 1;
	case 3:
		return draw(src, 2);
	default:
		return 7;
	}
}

static void draw_cpu(const struct form *f, struct ht_cpu_desc *d, ht_u32 core,
		     struct source *src)
{
	d->cluster = core / f->cores;
	d->llc = d->cluster / f->clusters;
	d->node = d->llc / f->llcs;
	d->domain = draw_domain(f, d, core, src);
	if (f->no_cluster)
		d->cluster = HT_NONE;
	if (f->noise && draw(src, 16) < f->noise)
		d->cluster = draw(src, 4);
	if (f->noise && draw(src, 64) < f->noise)
		d->llc = draw(src, 4);
}

/* A core's key: the lowest number among its threads that are there. */
static void key_core(struct ht_cpu_desc *core, ht_u32 nr)
{
	ht_u32 i, key = HT_NONE;

	for (i = 0; i < nr; i++)
		if (core[i].cpu < key)
			key = core[i].cpu;
	for (i = 0; i < nr; i++)
		core[i].core = key;
}

static void draw_cpus(struct world *w, struct source *src)
{
	ht_u32 order[WORLD_CPUS];
	struct form f;
	ht_u32 c, t, cores, first;

	draw_form(&f, src);
	cores = f.nodes * f.llcs * f.clusters * f.cores;
	draw_order(order, cores * f.threads, src);
	for (c = 0; c < cores; c++) {
		first = w->nr;
		for (t = 0; t < f.threads; t++) {
			/* At least one CPU remains. */
			if (c + t && f.missing && draw(src, 8) < f.missing)
				continue;
			w->desc[w->nr].cpu = order[c * f.threads + t];
			draw_cpu(&f, &w->desc[w->nr++], c, src);
		}
		key_core(&w->desc[first], w->nr - first);
	}
	w->nr_cpus = cores * f.threads + (one_in(src, 3) ? draw(src, 100) : 0);
}

static void draw_distance(struct world *w, struct source *src)
{
	ht_u32 a, b;

	if (one_in(src, 2))
		return;
	w->distance = zalloc(WORLD_NODES, WORLD_NODES);
	for (a = 0; a < WORLD_NODES; a++)
		for (b = 0; b < WORLD_NODES; b++)
			w->distance[a * WORLD_NODES + b] =
				a == b ? 10 : 11 + draw(src, 30);
}

static void lay_out(struct world *w)
{
	w->layout = ht_layout_size(w->desc, w->nr, &w->size);
	if (w->layout)
		return;
	if (w->size.nr_cpus < w->nr_cpus)
		w->size.nr_cpus = w->nr_cpus;
	w->nr_cpus = w->size.nr_cpus;
	w->mem = zalloc(1, ht_layout_bytes(&w->size));
	ht_layout_attach(&w->topo, &w->size, w->mem);
	w->layout = ht_layout_fill(&w->topo, w->desc, w->nr, w->distance,
				   WORLD_NODES);
}

/* States. */

static void alloc_state(struct world *w)
{
	ht_u32 words = w->topo.nr_words;

	w->word = zalloc(words, sizeof(*w->word));
	w->claim_tick = zalloc(words * HT_WORD_BITS, sizeof(*w->claim_tick));
	w->allowed = zalloc((w->nr_cpus + 63) / 64, sizeof(*w->allowed));
	w->state.word = w->word;
	w->state.claim_tick = w->claim_tick;
	w->req.allowed = w->allowed;
}

static void draw_state(struct world *w, struct source *src)
{
	ht_u32 idle = draw(src, 9), claimed = one_in(src, 2) ? draw(src, 4) : 0;
	ht_u32 slot;

	/* Ticks wrap. */
	w->state.tick = draw(src, 5) - 2;
	for (slot = 0; slot < w->topo.nr_words * HT_WORD_BITS; slot++) {
		ht_u64 bit = (ht_u64)1 << (slot % HT_WORD_BITS);

		/* Bits of absent slots mean nothing, whatever they are. */
		if (draw(src, 8) < idle)
			w->word[slot / HT_WORD_BITS].idle |= bit;
		if (one_in(src, 3))
			w->word[slot / HT_WORD_BITS].light |= bit;
		if (!claimed || draw(src, 8) >= claimed)
			continue;
		w->word[slot / HT_WORD_BITS].claimed |= bit;
		w->claim_tick[slot] = w->state.tick - draw(src, 4);
	}
}

/* Requests. */

static ht_u32 draw_cpu_number(const struct world *w, struct source *src)
{
	if (one_in(src, 16))
		return one_in(src, 2) ? HT_NONE : w->nr_cpus + draw(src, 70);
	if (one_in(src, 4))
		return draw(src, w->nr_cpus);
	return w->desc[draw(src, w->nr)].cpu;
}

static void draw_allowed(struct world *w, struct source *src)
{
	ht_u32 density = 1 + draw(src, 8), few = draw(src, 4), i;
	ht_u32 mode = draw(src, 4);

	w->req.allowed_all = mode == 0;
	for (i = 0; i < w->nr_cpus && mode > 1; i++)
		if (draw(src, 8) < density)
			w->allowed[i / 64] |= (ht_u64)1 << i % 64;
	for (i = 0; i < few && mode == 1; i++) {
		ht_u32 cpu = draw_cpu_number(w, src);

		if (cpu < w->nr_cpus)
			w->allowed[cpu / 64] |= (ht_u64)1 << cpu % 64;
	}
	/* Bits beyond the last CPU mean nothing. */
	if (w->nr_cpus % 64 && one_in(src, 2))
		w->allowed[w->nr_cpus / 64] |= ~(ht_u64)0 << w->nr_cpus % 64;
}

static ht_u32 count_allowed(const struct world *w)
{
	ht_u32 cpu, nr = 0;

	for (cpu = 0; cpu < w->nr_cpus; cpu++)
		nr += w->allowed[cpu / 64] >> cpu % 64 & 1;
	return nr;
}

static void draw_waits(struct world *w, struct source *src)
{
	ht_u32 i;

	w->req.nr_waits = one_in(src, 16) ? HT_MAX_WAITS + draw(src, 3) :
					    draw(src, HT_MAX_WAITS + 1);
	for (i = 0; i < HT_MAX_WAITS; i++) {
		w->req.waits[i].cpu = draw_cpu_number(w, src);
		w->req.waits[i].sched_idle = one_in(src, 6);
		w->req.waits[i].wait_ns = draw(src, 4);
	}
}

/* Mostly small numbers, so that prices tie now and then. */
static ht_u32 draw_ns(struct source *src)
{
	static const ht_u32 most[] = { 2, 10, 1000, 300000, 1000000001 };

	return draw(src, most[draw(src, 5)]);
}

static void draw_prices(struct world *w, struct source *src)
{
	ht_u32 level;

	w->req.prices.yield_pct = one_in(src, 4) ? 100 : 10 + draw(src, 91);
	w->req.run_ns = draw_ns(src);
	w->req.prices.pair_ns = draw_ns(src);
	w->req.pair = one_in(src, 3) ? draw(src, 256) : 0;
	w->req.waker_cpu = draw_cpu_number(w, src);
	for (level = 0; level < HT_LEVELS; level++) {
		w->req.prices.refill_ns[level] = draw_ns(src);
		w->req.prices.fill_ns[level] = draw_ns(src);
		w->req.resid_ns[level] = draw_ns(src);
	}
}

static void draw_request(struct world *w, struct source *src)
{
	w->req.kind = draw(src, HT_NR_KINDS);
	w->req.prev_cpu = draw_cpu_number(w, src);
	w->req.origin_cpu = one_in(src, 2) ? draw_cpu_number(w, src) :
					     w->req.prev_cpu;
	w->req.smt = !one_in(src, 5);
	w->req.prev_is_self = one_in(src, 4);
	draw_allowed(w, src);
	w->req.nr_allowed = one_in(src, 2) ? count_allowed(w) : 0;
	draw_waits(w, src);
	w->req.priced = one_in(src, 2);
	draw_prices(w, src);
}

void world_make(struct world *w, struct source *src)
{
	memset(w, 0, sizeof(*w));
	draw_cpus(w, src);
	draw_distance(w, src);
	lay_out(w);
	if (w->layout)
		return;
	alloc_state(w);
	draw_state(w, src);
	draw_request(w, src);
}

void world_free(struct world *w)
{
	free(w->distance);
	free(w->mem);
	free(w->word);
	free(w->claim_tick);
	free(w->allowed);
}

/* Renumbering. */

static bool bit_of(const ht_u64 *words, ht_u32 nr)
{
	return words[nr / HT_WORD_BITS] >> (nr % HT_WORD_BITS) & 1;
}

static bool is_idle(const struct world *w, ht_u32 slot)
{
	return w->word[slot / HT_WORD_BITS].idle >> (slot % HT_WORD_BITS) & 1;
}

static bool is_claimed(const struct world *w, ht_u32 slot)
{
	return w->word[slot / HT_WORD_BITS].claimed >> (slot % HT_WORD_BITS) & 1;
}

static void rename_desc(struct world *to, const struct world *from,
			const ht_u32 *name)
{
	ht_u32 lowest[WORLD_CPUS];
	ht_u32 i;

	memset(lowest, 0xff, sizeof(lowest));
	for (i = 0; i < from->nr; i++) {
		to->desc[i] = from->desc[i];
		to->desc[i].cpu = name[from->desc[i].cpu];
		if (to->desc[i].cpu < lowest[from->desc[i].core])
			lowest[from->desc[i].core] = to->desc[i].cpu;
	}
	for (i = 0; i < from->nr; i++)
		to->desc[i].core = lowest[from->desc[i].core];
	to->nr = from->nr;
	to->nr_cpus = from->nr_cpus;
}

static void rename_state(struct world *to, const struct world *from,
			 const ht_u32 *name)
{
	ht_u32 cpu;

	to->state.tick = from->state.tick;
	for (cpu = 0; cpu < from->nr_cpus; cpu++) {
		ht_u32 a = from->topo.cpu_slot[cpu];
		ht_u32 b = to->topo.cpu_slot[name[cpu]];

		if (bit_of(from->allowed, cpu))
			to->allowed[name[cpu] / 64] |= (ht_u64)1 << name[cpu] % 64;
		if (a == HT_NONE)
			continue;
		if (is_idle(from, a))
			to->word[b / 64].idle |= (ht_u64)1 << b % 64;
		if (from->word[a / 64].light >> a % 64 & 1)
			to->word[b / 64].light |= (ht_u64)1 << b % 64;
		if (is_claimed(from, a))
			to->word[b / 64].claimed |= (ht_u64)1 << b % 64;
		to->claim_tick[b] = from->claim_tick[a];
	}
}

static ht_u32 new_name(const struct world *w, const ht_u32 *name, ht_u32 cpu)
{
	return cpu < w->nr_cpus ? name[cpu] : cpu;
}

void world_renumber(struct world *to, const struct world *from,
		    struct source *src)
{
	ht_u32 name[WORLD_CPUS + 100];
	const ht_u64 *allowed;
	ht_u32 i;

	memset(to, 0, sizeof(*to));
	draw_order(name, from->nr_cpus, src);
	rename_desc(to, from, name);
	if (from->distance) {
		to->distance = zalloc(WORLD_NODES, WORLD_NODES);
		memcpy(to->distance, from->distance, WORLD_NODES * WORLD_NODES);
	}
	lay_out(to);
	if (to->layout)
		return;
	alloc_state(to);
	rename_state(to, from, name);
	allowed = to->req.allowed;
	to->req = from->req;
	to->req.allowed = allowed;
	to->req.prev_cpu = new_name(from, name, from->req.prev_cpu);
	to->req.origin_cpu = new_name(from, name, from->req.origin_cpu);
	to->req.waker_cpu = new_name(from, name, from->req.waker_cpu);
	for (i = 0; i < HT_MAX_WAITS; i++)
		to->req.waits[i].cpu = new_name(from, name,
						from->req.waits[i].cpu);
}

/* What must hold. */

static char message[512];

#define SAY(...) (snprintf(message, sizeof(message), __VA_ARGS__), message)

static ht_u32 node_distance(const struct world *w, ht_u32 a, ht_u32 b)
{
	if (a == b)
		return 0;
	return w->distance ? w->distance[a * WORLD_NODES + b] : 255;
}

static const char *check_order(const struct world *w, ht_u32 l)
{
	const ht_u32 *row = w->topo.llc_order + l * w->topo.nr_llcs;
	ht_u32 i, last = 0, d;

	for (i = 0; i < w->topo.nr_llcs; i++) {
		d = node_distance(w, w->topo.llc[l].node,
				  w->topo.llc[row[i]].node);
		if (d < last)
			return SAY("LLC %u: %u is nearer and comes later", l,
				   row[i]);
		last = d;
	}
	return NULL;
}

static bool same_llc(const struct ht_cpu_desc *a, const struct ht_cpu_desc *b)
{
	return a->node == b->node && a->llc == b->llc && a->domain == b->domain;
}

/* From the descriptors, as ht_layout.h says: 0 core .. 4 remote. */
static ht_u32 desc_distance(const struct ht_cpu_desc *a,
			    const struct ht_cpu_desc *b)
{
	if (a->node != b->node)
		return 4;
	if (!same_llc(a, b))
		return 3;
	if (a->core == b->core)
		return 0;
	return a->cluster == b->cluster && a->cluster != HT_NONE ? 1 : 2;
}

static const char *check_pair(const struct world *w,
			      const struct ht_cpu_desc *a,
			      const struct ht_cpu_desc *b)
{
	ht_u32 want = desc_distance(a, b);
	ht_u32 got = ht_slot_distance(&w->topo, w->topo.cpu_slot[a->cpu],
				      w->topo.cpu_slot[b->cpu]);

	if (got != want)
		return SAY("CPUs %u and %u: distance %u, expected %u", a->cpu,
			   b->cpu, got, want);
	return NULL;
}

/* A core that lies in several places, or is not all in the snapshot. */
static bool is_partial(const struct world *w, const struct ht_cpu_desc *d)
{
	ht_u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->desc[i].core == d->core && !same_llc(&w->desc[i], d))
			return true;
	return false;
}

static const char *check_cpu(const struct world *w,
			     const struct ht_cpu_desc *d)
{
	ht_u32 slot = w->topo.cpu_slot[d->cpu];
	const struct ht_llc *llc;

	if ((slot == HT_NONE) != (d->domain == HT_NONE))
		return SAY("CPU %u: slot %d, domain %d", d->cpu, (int)slot,
			   (int)d->domain);
	if (slot == HT_NONE)
		return NULL;
	llc = &w->topo.llc[w->topo.word_llc[slot / HT_WORD_BITS]];
	if (llc->node != d->node || llc->domain != d->domain)
		return SAY("CPU %u: in an LLC of node %u and domain %u",
			   d->cpu, llc->node, llc->domain);
	if (bit_of(w->topo.partial, slot) != is_partial(w, d))
		return SAY("CPU %u: partial is wrong", d->cpu);
	return NULL;
}

const char *world_check_layout(const struct world *w)
{
	enum ht_check_error error = ht_check_topo(&w->topo);
	const char *wrong = NULL;
	ht_u32 i, j;

	if (error)
		return SAY("snapshot: %s", ht_check_name(error));
	for (i = 0; !wrong && i < w->topo.nr_llcs; i++)
		wrong = check_order(w, i);
	for (i = 0; !wrong && i < w->nr; i++) {
		wrong = check_cpu(w, &w->desc[i]);
		/* Pairs a prime apart: enough of them, in linear time. */
		j = (i + 7) % w->nr;
		if (!wrong && w->desc[i].domain != HT_NONE &&
		    w->desc[j].domain != HT_NONE)
			wrong = check_pair(w, &w->desc[i], &w->desc[j]);
		j = (i + 1) % w->nr;
		if (!wrong && w->desc[i].domain != HT_NONE &&
		    w->desc[j].domain != HT_NONE)
			wrong = check_pair(w, &w->desc[i], &w->desc[j]);
	}
	return wrong;
}

/* One core, thread by thread. */
struct core_view {
	ht_u32 present;
	ht_u32 busy;
	ht_u32 claims;
	bool partial;
};

static void view_core(const struct world *w, ht_u32 first, ht_u32 slots,
		      struct core_view *v)
{
	ht_u32 s;

	memset(v, 0, sizeof(*v));
	for (s = first; s < first + slots; s++) {
		if (w->topo.slot_cpu[s] == HT_NONE)
			continue;
		v->present++;
		v->busy += !is_idle(w, s);
		v->claims += is_claimed(w, s) &&
			     (w->state.tick - w->claim_tick[s] == 0 ||
			      w->state.tick - w->claim_tick[s] == 1);
		v->partial |= bit_of(w->topo.partial, s);
	}
}

static const char *check_core(const struct world *w, ht_u32 first,
			      ht_u32 slots)
{
	ht_u32 word = first / HT_WORD_BITS, s;
	ht_u64 free = ht_word_free_cores(&w->topo, &w->state, word);
	ht_u64 shared = ht_word_shared_threads(&w->topo, &w->state, word);
	struct core_view v;
	bool is_free;

	view_core(w, first, slots, &v);
	is_free = v.present && !v.busy && !v.claims && !v.partial;
	for (s = first; s < first + slots; s++) {
		bool present = w->topo.slot_cpu[s] != HT_NONE;

		if ((free >> s % 64 & 1) != (is_free && s == first))
			return SAY("slot %u: free_cores is wrong", s);
		if ((shared >> s % 64 & 1) != (present && v.busy >= 2))
			return SAY("slot %u: shared_threads is wrong", s);
		if (ht_core_is_free(&w->topo, &w->state, s) != is_free)
			return SAY("slot %u: core_is_free is wrong", s);
		if (ht_core_mask(&w->topo, s) !=
		    (slots == 64 ? ~(ht_u64)0 :
				   (((ht_u64)1 << slots) - 1) << first % 64))
			return SAY("slot %u: core_mask is wrong", s);
	}
	return NULL;
}

const char *world_check_words(const struct world *w)
{
	const char *wrong = NULL;
	ht_u32 slot, slots;

	for (slot = 0; !wrong && slot < w->topo.nr_words * HT_WORD_BITS;
	     slot += slots) {
		slots = 1u << w->topo.llc[w->topo.word_llc[slot / 64]].smt_shift;
		wrong = check_core(w, slot, slots);
	}
	return wrong;
}

/* Said once more in plain words, beside what the validator says. */
static const char *check_promises(const struct world *w,
				  const struct ht_verdict *v)
{
	ht_u32 cpu, slot;

	if (v->cpu == HT_NONE)
		return NULL;
	if (!w->req.allowed_all && !bit_of(w->allowed, v->cpu))
		return SAY("CPU %u is not allowed", v->cpu);
	if (!w->req.smt || v->whole_core || v->why == HT_WHY_PINNED ||
	    v->slot == HT_NONE)
		return NULL;
	/* The one reason for leaving a core idle, and only with prices on. */
	if (w->req.priced && v->why == HT_WHY_WARM)
		return NULL;
	for (cpu = 0; cpu < w->nr_cpus; cpu++) {
		slot = w->topo.cpu_slot[cpu];
		if (slot == HT_NONE ||
		    !(w->req.allowed_all || bit_of(w->allowed, cpu)) ||
		    w->topo.llc[w->topo.word_llc[slot / 64]].domain !=
		    w->topo.llc[w->topo.word_llc[v->slot / 64]].domain)
			continue;
		if (ht_core_is_free(&w->topo, &w->state, slot))
			return SAY("CPU %u (%s), though the core of %u is idle",
				   v->cpu, ht_why_name(v->why), cpu);
	}
	return NULL;
}

/* Prices off: whatever else is known about the task, the rules decide alone. */
static const char *check_plain(struct world *w, struct source *src)
{
	struct ht_verdict a, b;
	bool priced = w->req.priced;
	ht_u32 i;

	w->req.priced = false;
	ht_policy_select(&w->topo, &w->state, &w->req, &a);
	draw_prices(w, src);
	for (i = 0; i < w->topo.nr_words; i++)
		w->word[i].light ^= draw(src, 0xffffffff);
	ht_policy_select(&w->topo, &w->state, &w->req, &b);
	w->req.priced = priced;
	if (a.cpu != b.cpu || a.why != b.why)
		return SAY("prices off: CPU %d (%s), then %d (%s)", (int)a.cpu,
			   ht_why_name(a.why), (int)b.cpu, ht_why_name(b.why));
	if (b.core_ns != HT_NO_PRICE || ht_price_sum(&b.price))
		return SAY("prices off: and yet a price");
	return NULL;
}

static const char *check_free_core(struct world *w)
{
	enum ht_check_error error;
	struct ht_verdict v;
	bool smt = w->req.smt, found;

	w->req.smt = true;
	found = ht_policy_free_core(&w->topo, &w->state, &w->req, &v);
	error = ht_check_free_core(&w->topo, &w->state, &w->req, found, &v);
	/* A certain core, that one, is judged as the search for one judges it. */
	if (found && !ht_policy_move_pays(&w->topo, &w->state, &w->req, v.slot,
					  &v))
		error = HT_CHECK_DEARER;
	w->req.smt = smt;
	if (error)
		return SAY("free_core: CPU %d (%s): %s", (int)v.cpu,
			   ht_why_name(v.why), ht_check_name(error));
	return NULL;
}

const char *world_check_decisions(struct world *w, struct source *src)
{
	enum ht_check_error error;
	struct ht_verdict v;
	const char *wrong;

	ht_policy_select(&w->topo, &w->state, &w->req, &v);
	error = ht_check_select(&w->topo, &w->state, &w->req, &v);
	if (error)
		return SAY("select, %s: CPU %d (%s): %s",
			   ht_kind_name(w->req.kind), (int)v.cpu,
			   ht_why_name(v.why), ht_check_name(error));
	wrong = check_promises(w, &v);
	if (!wrong)
		wrong = check_free_core(w);
	return wrong ? wrong : check_plain(w, src);
}

/* Threads beyond the first that are busy, summed over cores. */
static ht_u32 potential(const struct world *w)
{
	ht_u32 slot, slots, sum = 0;
	struct core_view v;

	for (slot = 0; slot < w->topo.nr_words * HT_WORD_BITS; slot += slots) {
		slots = 1u << w->topo.llc[w->topo.word_llc[slot / 64]].smt_shift;
		view_core(w, slot, slots, &v);
		sum += v.busy > 1 ? v.busy - 1 : 0;
	}
	return sum;
}

/* A thread that shares its core and has a free one to go to. */
static bool find_move(struct world *w, struct ht_verdict *v)
{
	ht_u32 word, slot;

	for (word = 0; word < w->topo.nr_words; word++) {
		ht_u64 shared = ht_word_shared_threads(&w->topo, &w->state,
						       word);

		for (slot = word * 64; slot < word * 64 + 64; slot++) {
			if (!(shared >> slot % 64 & 1) || is_idle(w, slot))
				continue;
			w->req.kind = HT_KIND_UNSHARE;
			w->req.prev_cpu = w->topo.slot_cpu[slot];
			w->req.origin_cpu = w->req.prev_cpu;
			w->req.prev_is_self = false;
			if (ht_policy_free_core(&w->topo, &w->state, &w->req,
						v))
				return true;
		}
	}
	return false;
}

const char *world_check_unsharing(struct world *w)
{
	ht_u32 before = potential(w), after;
	struct ht_verdict v;

	w->req.smt = true;
	while (find_move(w, &v)) {
		ht_u32 slot = w->topo.cpu_slot[w->req.prev_cpu];
		enum ht_check_error error =
			ht_check_free_core(&w->topo, &w->state, &w->req, true,
					   &v);

		/* With prices on: it gains more than it costs. */
		if (error)
			return SAY("CPU %u to %u: %s", w->req.prev_cpu, v.cpu,
				   ht_check_name(error));
		w->word[slot / 64].idle |= (ht_u64)1 << slot % 64;
		w->word[v.slot / 64].idle &= ~((ht_u64)1 << v.slot % 64);
		after = potential(w);
		if (after >= before)
			return SAY("CPU %u to %u: shared threads %u, then %u",
				   w->req.prev_cpu, v.cpu, before, after);
		before = after;
	}
	return NULL;
}
