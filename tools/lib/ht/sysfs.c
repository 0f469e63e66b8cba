// SPDX-License-Identifier: GPL-2.0
/*
 * libht: the running machine, or a copy of its sysfs below a directory.
 *
 * A cache has no number that is unique and always there, so LLC and L2 are
 * named by the lowest CPU that shares them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "libht_internal.h"

/**
 * struct sysfs - where to read, and what for
 * @root:       sysroot without a slash at its end
 * @err:        where to complain
 */
struct sysfs {
	const char *root;
	struct ht_error *err;
};

/* The first line of a file below sys/devices/system, or NULL. */
__attribute__((format(printf, 2, 3)))
static char *read_line(const struct sysfs *sys, const char *fmt, ...)
{
	char *name, *path, *text = NULL;
	size_t size = 0;
	va_list ap;
	FILE *in;

	va_start(ap, fmt);
	if (vasprintf(&name, fmt, ap) < 0)
		name = NULL;
	va_end(ap);
	if (!name || asprintf(&path, "%s/sys/devices/system/%s", sys->root,
			      name) < 0)
		path = NULL;
	free(name);
	in = path ? fopen(path, "r") : NULL;
	free(path);
	if (!in)
		return NULL;
	if (getline(&text, &size, in) < 0) {
		free(text);
		text = NULL;
	} else {
		text[strcspn(text, "\n")] = '\0';
	}
	fclose(in);
	return text;
}

/* A number that a file holds; @otherwise without the file or without sense. */
static ht_u32 number_in(char *text, ht_u32 otherwise)
{
	ht_u32 value;

	if (!text || ht_number(text, HT_NONE - 1, &value))
		value = otherwise;
	free(text);
	return value;
}

/* A CPU list that a file holds; empty without the file. */
static bool list_in(const struct sysfs *sys, const char *what, char *text,
		    ht_u32 **cpus, ht_u32 *nr)
{
	const char *wrong = ht_cpulist_parse(text ? text : "", cpus, nr);

	if (wrong)
		ht_fail(sys->err, 0, "%s: '%s': %s", what, text, wrong);
	free(text);
	return !wrong;
}

/* The lowest CPU of a list that a file holds; @otherwise without one. */
static ht_u32 lowest_in(char *text, ht_u32 otherwise)
{
	ht_u32 *cpus, nr, value = otherwise;

	if (text && !ht_cpulist_parse(text, &cpus, &nr)) {
		if (nr)
			value = cpus[0];
		free(cpus);
	}
	free(text);
	return value;
}

/* Caches: the L2, and whatever level is the highest if above that. */
static void read_caches(const struct sysfs *sys, struct ht_machine_cpu *cpu)
{
	ht_u32 i, level, shared, last = 2;
	char *type;

	for (i = 0; ; i++) {
		level = number_in(read_line(sys, "cpu/cpu%u/cache/index%u/level",
					    cpu->cpu, i), 0);
		if (!level)
			return;
		type = read_line(sys, "cpu/cpu%u/cache/index%u/type", cpu->cpu,
				 i);
		if (type && strcmp(type, "Instruction") == 0)
			level = 0;
		free(type);
		if (level < 2)
			continue;
		shared = lowest_in(read_line(sys,
					     "cpu/cpu%u/cache/index%u/shared_cpu_list",
					     cpu->cpu, i), cpu->cpu);
		if (level == 2) {
			cpu->l2 = shared;
		} else if (level > last) {
			cpu->llc = shared;
			last = level;
		}
	}
}

static void read_cpu(const struct sysfs *sys, struct ht_machine_cpu *cpu)
{
	char *siblings = read_line(sys, "cpu/cpu%u/topology/core_cpus_list",
				   cpu->cpu);

	if (!siblings)	/* its name before Linux 5.4 */
		siblings = read_line(sys,
				     "cpu/cpu%u/topology/thread_siblings_list",
				     cpu->cpu);
	cpu->core = lowest_in(siblings, cpu->cpu);
	cpu->package = number_in(read_line(sys,
					   "cpu/cpu%u/topology/physical_package_id",
					   cpu->cpu), 0);
	cpu->core_id = number_in(read_line(sys, "cpu/cpu%u/topology/core_id",
					   cpu->cpu), HT_NONE);
	cpu->capacity = number_in(read_line(sys, "cpu/cpu%u/cpu_capacity",
					    cpu->cpu), HT_CAPACITY_FULL);
	cpu->llc = HT_NONE;
	cpu->l2 = HT_NONE;
	read_caches(sys, cpu);
}

static struct ht_machine_cpu *find(struct ht_machine *m, ht_u32 cpu)
{
	return (struct ht_machine_cpu *)ht_machine_find(m, cpu);
}

static bool read_cpus(const struct sysfs *sys, struct ht_machine *m)
{
	char *text = read_line(sys, "cpu/present");
	ht_u32 *cpus, i;

	if (!text) {
		ht_fail(sys->err, 0, "%s/sys/devices/system/cpu/present: %s",
			sys->root, strerror(errno));
		return false;
	}
	if (!list_in(sys, "cpu/present", text, &cpus, &m->nr))
		return false;
	m->cpu = ht_zalloc(m->nr, sizeof(*m->cpu));
	for (i = 0; i < m->nr; i++) {
		m->cpu[i].cpu = cpus[i];
		read_cpu(sys, &m->cpu[i]);
	}
	free(cpus);
	return true;
}

static bool mark_online(const struct sysfs *sys, struct ht_machine *m)
{
	char *text = read_line(sys, "cpu/online");
	ht_u32 *cpus, nr, i;
	bool all = !text;

	for (i = 0; all && i < m->nr; i++)
		m->cpu[i].online = true;
	if (!list_in(sys, "cpu/online", text, &cpus, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (find(m, cpus[i]))
			find(m, cpus[i])->online = true;
	free(cpus);
	return true;
}

static bool mark_isolated(const struct sysfs *sys, struct ht_machine *m)
{
	ht_u32 *cpus, nr, i;

	if (!list_in(sys, "cpu/isolated", read_line(sys, "cpu/isolated"),
		     &cpus, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (find(m, cpus[i]))
			find(m, cpus[i])->domain = HT_NONE;
	free(cpus);
	return true;
}

/* A row of distances has a column for each node in @nodes. */
static void read_distances(const struct sysfs *sys, struct ht_machine *m,
			   ht_u32 node, const ht_u32 *nodes, ht_u32 nr)
{
	char *text = read_line(sys, "node/node%u/distance", node);
	char *word, *rest;
	ht_u32 value, i = 0;

	if (!text)
		return;
	for (word = strtok_r(text, " ", &rest); word && i < nr;
	     word = strtok_r(NULL, " ", &rest), i++)
		if (!ht_number(word, 255, &value))
			m->distance[node * m->nr_nodes + nodes[i]] = value;
	free(text);
}

static bool read_node(const struct sysfs *sys, struct ht_machine *m,
		      ht_u32 node)
{
	ht_u32 *cpus, nr, i;

	if (!list_in(sys, "node cpulist",
		     read_line(sys, "node/node%u/cpulist", node), &cpus, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (find(m, cpus[i]))
			find(m, cpus[i])->node = node;
	free(cpus);
	return true;
}

#define MAX_NODES	1024

static bool read_nodes(const struct sysfs *sys, struct ht_machine *m)
{
	ht_u32 *nodes, nr, i;
	bool ok = true;

	if (!list_in(sys, "node/online", read_line(sys, "node/online"), &nodes,
		     &nr))
		return false;
	if (nr && nodes[nr - 1] >= MAX_NODES) {
		ht_fail(sys->err, 0, "node/online: node %u is too high",
			nodes[nr - 1]);
		ok = false;
	} else if (nr > 1) {
		m->nr_nodes = nodes[nr - 1] + 1;
		m->distance = ht_zalloc(m->nr_nodes, m->nr_nodes);
		memset(m->distance, 255, (size_t)m->nr_nodes * m->nr_nodes);
	}
	for (i = 0; ok && i < nr; i++) {
		ok = read_node(sys, m, nodes[i]);
		if (ok && m->distance)
			read_distances(sys, m, nodes[i], nodes, nr);
	}
	free(nodes);
	return ok;
}

struct ht_machine *ht_machine_from_sysfs(const char *sysroot,
					 struct ht_error *err)
{
	struct sysfs sys = { .root = sysroot ? sysroot : "", .err = err };
	struct ht_machine *m = ht_zalloc(1, sizeof(*m));

	if (read_cpus(&sys, m) && mark_online(&sys, m) &&
	    mark_isolated(&sys, m) && read_nodes(&sys, m)) {
		if (m->nr)
			return m;
		ht_fail(err, 0, "cpu/present: no CPU");
	}
	ht_machine_free(m);
	return NULL;
}
