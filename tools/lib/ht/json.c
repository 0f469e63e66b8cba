// SPDX-License-Identifier: GPL-2.0
/* libht: machines as JSON. */
#include "libht_internal.h"
#include "libht_json.h"

static json_t *number(ht_u32 value)
{
	return value == HT_NONE ? json_null() : json_integer(value);
}

static json_t *cpu_json(const struct ht_machine_cpu *cpu)
{
	return json_pack("{s:o s:o s:o s:o s:o s:o s:o s:o s:o s:b}",
			 "cpu", number(cpu->cpu),
			 "package", number(cpu->package),
			 "node", number(cpu->node),
			 "llc", number(cpu->llc),
			 "l2", number(cpu->l2),
			 "core_id", number(cpu->core_id),
			 "core", number(cpu->core),
			 "capacity", number(cpu->capacity),
			 "domain", number(cpu->domain),
			 "online", (int)cpu->online);
}

static json_t *tree_json(const struct ht_tree *tree)
{
	json_t *cpus = json_array(), *children = json_array();
	ht_u32 i;

	for (i = 0; i < tree->nr_cpus; i++)
		json_array_append_new(cpus, number(tree->cpus[i]));
	for (i = 0; i < tree->nr_children; i++)
		json_array_append_new(children, tree_json(tree->child[i]));
	return json_pack("{s:s s:o s:o s:o}", "level", tree->level,
			 "id", number(tree->id), "cpus", cpus,
			 "children", children);
}

json_t *ht_machine_json(const struct ht_machine *machine)
{
	struct ht_tree *tree = ht_tree_build(machine);
	json_t *cpus = json_array();
	ht_u32 i;

	for (i = 0; i < machine->nr; i++)
		json_array_append_new(cpus, cpu_json(&machine->cpu[i]));
	cpus = json_pack("{s:o s:o}", "cpus", cpus, "tree", tree_json(tree));
	ht_tree_free(tree);
	return cpus;
}
