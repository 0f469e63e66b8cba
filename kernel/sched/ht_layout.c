// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: from a list of CPUs to a topology snapshot. See ht_layout.h.
 *
 * The list is sorted three times: by CPU to find duplicates, by core to find
 * cores whose threads disagree about the levels above them, and into slot
 * order. After that everything is a walk over runs of equal keys:
 *
 *	| LLC 0                                    | LLC 1 ...
 *	| cluster 0             | cluster 1        |
 *	| core 0    | core 1    | core 2 | core 3  |
 *	| t0 t1     | t0 t1     | t0 --  | t0 --   |	-- absent
 *	  ^ a word begins with each LLC
 */
#include "ht_layout.h"

/* Heap sort: in place, no recursion, O(n log n) whatever the order. */

/**
 * struct ht_sort - something that can be sorted
 * @base:     what @less and @swap work on
 * @less:     does element @a come before element @b?
 * @swap:     exchange two elements
 * @aux:      for @less and @swap
 */
struct ht_sort {
	void *base;
	bool (*less)(const struct ht_sort *sort, ht_u32 a, ht_u32 b);
	void (*swap)(const struct ht_sort *sort, ht_u32 a, ht_u32 b);
	const void *aux;
};

static void sift_down(const struct ht_sort *sort, ht_u32 root, ht_u32 nr)
{
	while (2 * root + 1 < nr) {
		ht_u32 child = 2 * root + 1;

		if (child + 1 < nr && sort->less(sort, child, child + 1))
			child++;
		if (!sort->less(sort, root, child))
			return;
		sort->swap(sort, root, child);
		root = child;
	}
}

static void heap_sort(const struct ht_sort *sort, ht_u32 nr)
{
	ht_u32 i;

	for (i = nr / 2; i > 0; i--)
		sift_down(sort, i - 1, nr);
	for (i = nr; i > 1; i--) {
		sort->swap(sort, 0, i - 1);
		sift_down(sort, 0, i - 1);
	}
}

/* Orders of CPUs. */

static bool same_llc(const struct ht_cpu_desc *a, const struct ht_cpu_desc *b)
{
	return a->node == b->node && a->llc == b->llc && a->domain == b->domain;
}

static bool same_cluster(const struct ht_cpu_desc *a,
			 const struct ht_cpu_desc *b)
{
	if (a->cluster == HT_NONE)
		return a->core == b->core;
	return a->cluster == b->cluster;
}

static bool less_cpu(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	const struct ht_cpu_desc *desc = sort->base;

	return desc[a].cpu < desc[b].cpu;
}

static bool less_core(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	const struct ht_cpu_desc *desc = sort->base;

	return desc[a].core < desc[b].core;
}

static bool less_slot(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	const struct ht_cpu_desc *desc = sort->base;
	const struct ht_cpu_desc *x = &desc[a], *y = &desc[b];

	bool x_has = x->domain != HT_NONE, y_has = y->domain != HT_NONE;

	/* Those without a slot go last. */
	if (x_has != y_has)
		return x_has;
	if (x->node != y->node)
		return x->node < y->node;
	if (x->llc != y->llc)
		return x->llc < y->llc;
	if (x->domain != y->domain)
		return x->domain < y->domain;
	if (x->cluster != y->cluster)
		return x->cluster < y->cluster;
	if (x->core != y->core)
		return x->core < y->core;
	return x->cpu < y->cpu;
}

static void swap_desc(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	struct ht_cpu_desc *desc = sort->base;
	struct ht_cpu_desc tmp = desc[a];

	desc[a] = desc[b];
	desc[b] = tmp;
}

static void sort_desc(struct ht_cpu_desc *desc, ht_u32 nr,
		      bool (*less)(const struct ht_sort *, ht_u32, ht_u32))
{
	struct ht_sort sort = { .base = desc, .less = less, .swap = swap_desc };

	heap_sort(&sort, nr);
}

/* Checks. */

static int check_cpus(const struct ht_cpu_desc *desc, ht_u32 nr)
{
	ht_u32 i;

	if (!nr)
		return HT_LAYOUT_EMPTY;
	for (i = 0; i < nr; i++) {
		if (desc[i].cpu >= HT_MAX_CPUS || desc[i].core >= HT_MAX_CPUS)
			return HT_LAYOUT_BAD_CPU;
		if (i && desc[i].cpu == desc[i - 1].cpu)
			return HT_LAYOUT_DUPLICATE;
	}
	return HT_LAYOUT_OK;
}

/* One core, all of its threads together: do they agree? */
static int settle_core(struct ht_cpu_desc *core, ht_u32 threads)
{
	bool partial = false, split = false;
	ht_u32 i;

	if (threads > HT_MAX_SMT)
		return HT_LAYOUT_WIDE_CORE;
	for (i = 1; i < threads; i++) {
		partial |= !same_llc(&core[0], &core[i]);
		split |= core[0].cluster != core[i].cluster;
	}
	for (i = 0; i < threads; i++) {
		core[i].partial = partial;
		if (split)
			core[i].cluster = HT_NONE;
	}
	return HT_LAYOUT_OK;
}

static int settle_cores(struct ht_cpu_desc *desc, ht_u32 nr)
{
	ht_u32 i, end;
	int err;

	for (i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr; end++)
			if (desc[end].core != desc[i].core)
				break;
		err = settle_core(&desc[i], end - i);
		if (err)
			return err;
	}
	return HT_LAYOUT_OK;
}

/* Walks. */

/**
 * struct ht_span - the CPUs of one LLC, a run of the sorted list
 * @end:      index after its last CPU
 * @cores:    cores in it
 * @shift:    log2 of the slots that its largest core needs
 * @words:    words that it needs
 */
struct ht_span {
	ht_u32 end;
	ht_u32 cores;
	ht_u32 shift;
	ht_u32 words;
};

static ht_u32 core_end(const struct ht_cpu_desc *desc, ht_u32 nr, ht_u32 i)
{
	ht_u32 end = i + 1;

	while (end < nr && same_llc(&desc[i], &desc[end]) &&
	       desc[i].core == desc[end].core)
		end++;
	return end;
}

static void measure_llc(const struct ht_cpu_desc *desc, ht_u32 nr, ht_u32 i,
			struct ht_span *span)
{
	ht_u32 first = i, end, per_word;

	span->cores = 0;
	span->shift = 0;
	for (; i < nr && same_llc(&desc[first], &desc[i]); i = end) {
		end = core_end(desc, nr, i);
		while ((1u << span->shift) < end - i)
			span->shift++;
		span->cores++;
	}
	span->end = i;
	per_word = HT_WORD_BITS >> span->shift;
	span->words = (span->cores + per_word - 1) / per_word;
}

static bool has_slot(const struct ht_cpu_desc *desc, ht_u32 nr, ht_u32 i)
{
	return i < nr && desc[i].domain != HT_NONE;
}

static void measure(const struct ht_cpu_desc *desc, ht_u32 nr,
		    struct ht_layout_size *size)
{
	struct ht_span span;
	ht_u32 i;

	size->nr_cpus = 0;
	size->nr_words = 0;
	size->nr_llcs = 0;
	for (i = 0; i < nr; i++)
		if (desc[i].cpu >= size->nr_cpus)
			size->nr_cpus = desc[i].cpu + 1;
	for (i = 0; has_slot(desc, nr, i); i = span.end) {
		measure_llc(desc, nr, i, &span);
		size->nr_words += span.words;
		size->nr_llcs++;
	}
}

int ht_layout_size(struct ht_cpu_desc *desc, ht_u32 nr,
		   struct ht_layout_size *size)
{
	int err;

	sort_desc(desc, nr, less_cpu);
	err = check_cpus(desc, nr);
	if (err)
		return err;
	sort_desc(desc, nr, less_core);
	err = settle_cores(desc, nr);
	if (err)
		return err;
	sort_desc(desc, nr, less_slot);
	measure(desc, nr, size);
	return size->nr_llcs > HT_MAX_LLCS ? HT_LAYOUT_MANY_LLCS : HT_LAYOUT_OK;
}

ht_u64 ht_layout_bytes(const struct ht_layout_size *size)
{
	const ht_u64 per_slot = 3 * sizeof(ht_u32);
	const ht_u64 per_word = 2 * sizeof(ht_u64) + sizeof(ht_u32) +
				HT_WORD_BITS * per_slot;
	ht_u64 llcs = size->nr_llcs;

	return size->nr_words * per_word + size->nr_cpus * sizeof(ht_u32) +
	       llcs * sizeof(struct ht_llc) + llcs * llcs * sizeof(ht_u32);
}

void ht_layout_attach(struct ht_topo *topo, const struct ht_layout_size *size,
		      void *mem)
{
	ht_u32 slots = size->nr_words * HT_WORD_BITS;
	ht_u32 *u32s;

	topo->nr_cpus = size->nr_cpus;
	topo->nr_words = size->nr_words;
	topo->nr_llcs = size->nr_llcs;
	/* Widest alignment first, so that nothing needs padding. */
	topo->present = mem;
	topo->partial = topo->present + size->nr_words;
	topo->llc = (struct ht_llc *)(topo->partial + size->nr_words);
	u32s = (ht_u32 *)(topo->llc + size->nr_llcs);
	topo->cpu_slot = u32s;
	topo->slot_cpu = topo->cpu_slot + size->nr_cpus;
	topo->slot_cluster = topo->slot_cpu + slots;
	topo->slot_cluster_end = topo->slot_cluster + slots;
	topo->word_llc = topo->slot_cluster_end + slots;
	topo->llc_order = topo->word_llc + size->nr_words;
}

static void clear_topo(struct ht_topo *topo)
{
	ht_u32 i;

	for (i = 0; i < topo->nr_cpus; i++)
		topo->cpu_slot[i] = HT_NONE;
	for (i = 0; i < topo->nr_words * HT_WORD_BITS; i++) {
		topo->slot_cpu[i] = HT_NONE;
		topo->slot_cluster[i] = HT_NONE;
		topo->slot_cluster_end[i] = HT_NONE;
	}
	for (i = 0; i < topo->nr_words; i++) {
		topo->present[i] = 0;
		topo->partial[i] = 0;
	}
}

static void fill_core(struct ht_topo *topo, const struct ht_cpu_desc *core,
		      ht_u32 threads, ht_u32 slot)
{
	ht_u32 i;

	for (i = 0; i < threads; i++, slot++) {
		ht_u64 bit = (ht_u64)1 << (slot % HT_WORD_BITS);

		topo->cpu_slot[core[i].cpu] = slot;
		topo->slot_cpu[slot] = core[i].cpu;
		topo->present[slot / HT_WORD_BITS] |= bit;
		if (core[i].partial)
			topo->partial[slot / HT_WORD_BITS] |= bit;
	}
}

static void fill_cluster(struct ht_topo *topo, ht_u32 first, ht_u32 end)
{
	ht_u32 slot;

	for (slot = first; slot < end; slot++) {
		topo->slot_cluster[slot] = first;
		topo->slot_cluster_end[slot] = end;
	}
}

/* The cores of LLC @l, which is desc[i..span->end). */
static void fill_cores(struct ht_topo *topo, const struct ht_cpu_desc *desc,
		       ht_u32 i, const struct ht_span *span, ht_u32 l)
{
	ht_u32 slot = topo->llc[l].first_word * HT_WORD_BITS;
	ht_u32 cluster = slot;
	ht_u32 end;

	for (; i < span->end; i = end) {
		end = core_end(desc, span->end, i);
		fill_core(topo, &desc[i], end - i, slot);
		slot += 1u << span->shift;
		if (end == span->end || !same_cluster(&desc[i], &desc[end])) {
			fill_cluster(topo, cluster, slot);
			cluster = slot;
		}
	}
}

static void fill_llcs(struct ht_topo *topo, const struct ht_cpu_desc *desc,
		      ht_u32 nr)
{
	struct ht_span span;
	ht_u32 i, l, w, word = 0;

	for (i = 0, l = 0; has_slot(desc, nr, i); i = span.end, l++) {
		struct ht_llc *llc = &topo->llc[l];

		measure_llc(desc, nr, i, &span);
		llc->first_word = word;
		llc->nr_words = span.words;
		llc->node = desc[i].node;
		llc->domain = desc[i].domain;
		llc->nr_cores = span.cores;
		llc->smt_shift = span.shift;
		for (w = 0; w < span.words; w++)
			topo->word_llc[word++] = l;
		fill_cores(topo, desc, i, &span, l);
	}
}

/* The order of LLCs around one of them. */

/**
 * struct ht_view - the machine as one LLC sees it
 * @topo:     the machine
 * @distance: NUMA distances or NULL
 * @nr_nodes: rows of @distance
 * @self:     the LLC
 */
struct ht_view {
	const struct ht_topo *topo;
	const ht_u8 *distance;
	ht_u32 nr_nodes;
	ht_u32 self;
};

#define HT_FAR	256	/* beyond any distance that a byte can say */

static ht_u32 llc_rank(const struct ht_view *view, ht_u32 l)
{
	ht_u32 from = view->topo->llc[view->self].node;
	ht_u32 to = view->topo->llc[l].node;

	if (l == view->self)
		return 0;
	if (from == to)
		return 1;
	if (!view->distance || from >= view->nr_nodes || to >= view->nr_nodes)
		return 2 + HT_FAR;
	return 2 + view->distance[(ht_u64)from * view->nr_nodes + to];
}

/* Among equally far LLCs each begins with another one: next after itself. */
static ht_u32 llc_turn(const struct ht_view *view, ht_u32 l)
{
	return l >= view->self ? l - view->self :
				 l + view->topo->nr_llcs - view->self;
}

static bool less_llc(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	const struct ht_view *view = sort->aux;
	const ht_u32 *row = sort->base;
	ht_u32 ra = llc_rank(view, row[a]), rb = llc_rank(view, row[b]);

	if (ra != rb)
		return ra < rb;
	return llc_turn(view, row[a]) < llc_turn(view, row[b]);
}

static void swap_llc(const struct ht_sort *sort, ht_u32 a, ht_u32 b)
{
	ht_u32 *row = sort->base;
	ht_u32 tmp = row[a];

	row[a] = row[b];
	row[b] = tmp;
}

static void fill_order(struct ht_topo *topo, const ht_u8 *distance,
		       ht_u32 nr_nodes)
{
	struct ht_view view = { topo, distance, nr_nodes, 0 };
	struct ht_sort sort = { NULL, less_llc, swap_llc, &view };
	ht_u32 i;

	for (; view.self < topo->nr_llcs; view.self++) {
		ht_u32 *row = topo->llc_order +
			      (ht_u64)view.self * topo->nr_llcs;

		for (i = 0; i < topo->nr_llcs; i++)
			row[i] = i;
		sort.base = row;
		heap_sort(&sort, topo->nr_llcs);
	}
}

int ht_layout_fill(struct ht_topo *topo, const struct ht_cpu_desc *desc,
		   ht_u32 nr, const ht_u8 *distance, ht_u32 nr_nodes)
{
	struct ht_layout_size size;

	measure(desc, nr, &size);
	if (size.nr_cpus > topo->nr_cpus || size.nr_words != topo->nr_words ||
	    size.nr_llcs != topo->nr_llcs)
		return HT_LAYOUT_MISMATCH;
	clear_topo(topo);
	fill_llcs(topo, desc, nr);
	fill_order(topo, distance, nr_nodes);
	return HT_LAYOUT_OK;
}

static const char * const ht_layout_errors[HT_NR_LAYOUT_ERRORS] = {
	[HT_LAYOUT_OK]		= "ok",
	[HT_LAYOUT_EMPTY]	= "no CPU",
	[HT_LAYOUT_BAD_CPU]	= "CPU number too large",
	[HT_LAYOUT_DUPLICATE]	= "CPU listed twice",
	[HT_LAYOUT_WIDE_CORE]	= "core with too many threads",
	[HT_LAYOUT_MANY_LLCS]	= "too many last level caches",
	[HT_LAYOUT_MISMATCH]	= "list does not match the snapshot's size",
};

const char *ht_layout_error_name(int error)
{
	if (error < 0 || error >= HT_NR_LAYOUT_ERRORS)
		return "unknown error";
	return ht_layout_errors[error];
}
