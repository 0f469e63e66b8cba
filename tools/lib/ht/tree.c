// SPDX-License-Identifier: GPL-2.0
/*
 * libht: a machine as a tree.
 *
 * Every online CPU gets a row of keys, one per level; rows are sorted, and the
 * elements of a level are runs of rows with the same key. A CPU that knows
 * nothing of a level (no LLC, an L2 of its core's own) has no key there, and
 * what it belongs to hangs one level higher.
 */
#include <stdlib.h>
#include <string.h>

#include "libht_internal.h"

enum level { CHIP, NODE, LLC, L2, CORE, THREAD, NR_LEVELS };

static const struct {
	const char *level;
	const char *title;
} names[NR_LEVELS] = {
	[CHIP]		= { "chip", "CHIP" },
	[NODE]		= { "node", "NODE" },
	[LLC]		= { "llc", "LLC" },
	[L2]		= { "l2", "L2" },
	[CORE]		= { "core", "CORE" },
	[THREAD]	= { "thread", "THREAD" },
};

/**
 * struct row - one CPU's place
 * @cpu:        number
 * @core_id:    sorts cores; CPU number of the core if it has none
 * @key:        what it is in at each level, HT_NONE: in nothing
 */
struct row {
	ht_u32 cpu;
	ht_u32 core_id;
	ht_u32 key[NR_LEVELS];
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int level, cmp;

	for (level = CHIP; level < CORE; level++) {
		ht_u32 kx = x->key[level], ky = y->key[level];

		/* Cores with an L2 of their own before those that share one. */
		if (level == L2) {
			kx++;
			ky++;
		}
		cmp = ht_compare_u32(&kx, &ky);
		if (cmp)
			return cmp;
	}
	cmp = ht_compare_u32(&x->core_id, &y->core_id);
	if (!cmp)
		cmp = ht_compare_u32(&x->key[CORE], &y->key[CORE]);
	return cmp ? cmp : ht_compare_u32(&x->cpu, &y->cpu);
}

static void fill_row(struct row *row, const struct ht_machine_cpu *cpu)
{
	row->cpu = cpu->cpu;
	row->core_id = cpu->core_id != HT_NONE ? cpu->core_id : cpu->core;
	row->key[CHIP] = cpu->package;
	row->key[NODE] = cpu->node;
	row->key[LLC] = cpu->llc;
	row->key[L2] = cpu->l2;
	row->key[CORE] = cpu->core;
	row->key[THREAD] = cpu->cpu;
}

/* One node alone is no level. */
static void drop_lone_node(struct row *row, ht_u32 nr)
{
	ht_u32 i;

	for (i = 1; i < nr; i++)
		if (row[i].key[NODE] != row[0].key[NODE])
			return;
	for (i = 0; i < nr; i++)
		row[i].key[NODE] = HT_NONE;
}

static ht_u32 run_end(const struct row *row, ht_u32 nr, ht_u32 i,
		      enum level level)
{
	ht_u32 end = i + 1;
	int l;

	for (; end < nr; end++)
		for (l = CHIP; l <= (int)level; l++)
			if (row[end].key[l] != row[i].key[l])
				return end;
	return end;
}

/* An L2 of one core says no more than the core does. */
static void drop_private_l2(struct row *row, ht_u32 nr)
{
	ht_u32 i, j, end;
	bool shared;

	for (i = 0; i < nr; i = end) {
		end = run_end(row, nr, i, L2);
		shared = false;
		for (j = i; j < end; j++)
			shared |= row[j].key[CORE] != row[i].key[CORE];
		for (j = i; j < end && !shared; j++)
			row[j].key[L2] = HT_NONE;
	}
}

static struct row *make_rows(const struct ht_machine *m, ht_u32 *nr)
{
	struct row *row = ht_zalloc(m->nr, sizeof(*row));
	ht_u32 i;

	*nr = 0;
	for (i = 0; i < m->nr; i++)
		if (m->cpu[i].online)
			fill_row(&row[(*nr)++], &m->cpu[i]);
	drop_lone_node(row, *nr);
	qsort(row, *nr, sizeof(*row), compare_rows);
	drop_private_l2(row, *nr);
	qsort(row, *nr, sizeof(*row), compare_rows);
	return row;
}

static struct ht_tree *new_tree(const char *level, ht_u32 id,
				const struct row *row, ht_u32 nr)
{
	struct ht_tree *tree = ht_zalloc(1, sizeof(*tree));
	ht_u32 i;

	tree->level = level;
	tree->id = id;
	tree->nr_cpus = nr;
	tree->cpus = ht_zalloc(nr, sizeof(*tree->cpus));
	for (i = 0; i < nr; i++)
		tree->cpus[i] = row[i].cpu;
	qsort(tree->cpus, nr, sizeof(*tree->cpus), ht_compare_u32);
	return tree;
}

static ht_u32 id_of(const struct row *row, enum level level, ht_u32 position)
{
	if (level == CORE)
		return row->core_id;
	return level == THREAD ? position : row->key[level];
}

/* Hang what the rows consist of, from @level on, below @parent. */
static void grow(struct ht_tree *parent, const struct row *row, ht_u32 nr,
		 enum level level)
{
	ht_u32 i, end;

	for (i = 0; level < NR_LEVELS && i < nr; i = end) {
		struct ht_tree *child = parent;

		end = run_end(row, nr, i, level);
		if (row[i].key[level] != HT_NONE) {
			child = new_tree(names[level].level,
					 id_of(&row[i], level,
					       parent->nr_children),
					 &row[i], end - i);
			parent->child = ht_grow(parent->child,
						parent->nr_children + 1,
						sizeof(*parent->child));
			parent->child[parent->nr_children++] = child;
		}
		grow(child, &row[i], end - i, level + 1);
	}
}

struct ht_tree *ht_tree_build(const struct ht_machine *machine)
{
	ht_u32 nr;
	struct row *row = make_rows(machine, &nr);
	struct ht_tree *tree = new_tree("package", 0, row, nr);

	grow(tree, row, nr, CHIP);
	free(row);
	return tree;
}

void ht_tree_free(struct ht_tree *tree)
{
	ht_u32 i;

	if (!tree)
		return;
	for (i = 0; i < tree->nr_children; i++)
		ht_tree_free(tree->child[i]);
	free(tree->child);
	free(tree->cpus);
	free(tree);
}

/* Printing. */

static const char *title_of(const struct ht_tree *tree)
{
	int level;

	for (level = CHIP; level < NR_LEVELS; level++)
		if (strcmp(names[level].level, tree->level) == 0)
			return names[level].title;
	return "PACKAGE";
}

/* @indent: what stands left of the branches, two characters per level. */
static void print_children(const struct ht_tree *tree, char *indent, FILE *out)
{
	size_t len = strlen(indent);
	ht_u32 i;

	for (i = 0; i < tree->nr_children; i++) {
		const struct ht_tree *child = tree->child[i];
		bool last = i + 1 == tree->nr_children;

		fprintf(out, "%s%s%s ID %u: ", indent, last ? "\\-" : "|-",
			title_of(child), child->id);
		ht_cpulist_print(out, child->cpus, child->nr_cpus);
		fputc('\n', out);
		memcpy(indent + len, last ? "  " : "| ", 3);
		print_children(child, indent, out);
		indent[len] = '\0';
	}
}

void ht_machine_print_tree(const struct ht_machine *machine, FILE *out)
{
	struct ht_tree *tree = ht_tree_build(machine);
	char indent[2 * (NR_LEVELS + 1) + 1] = "";

	fputs("PACKAGE MEMBERS: ", out);
	ht_cpulist_print(out, tree->cpus, tree->nr_cpus);
	fputc('\n', out);
	print_children(tree, indent, out);
	ht_tree_free(tree);
}
