// SPDX-License-Identifier: GPL-2.0
/*
 * libht: the text description of a machine, read and written.
 *
 * A line is taken apart into key=value words, each key stores its value, and
 * only when all lines are known are CPUs compared with each other.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libht_internal.h"

/**
 * struct line - one line of a description
 * @cpu:        what it says of a CPU
 * @seen:       bit per key that it has
 * @siblings:   sibling list
 * @nr_siblings: entries of @siblings
 * @distance:   NUMA row as text, points into the line
 */
struct line {
	struct ht_machine_cpu cpu;
	unsigned int seen;
	ht_u32 *siblings;
	ht_u32 nr_siblings;
	const char *distance;
};

/**
 * struct parser - a description under way
 * @machine:    result
 * @siblings:   [machine->nr] sibling lists
 * @nr_siblings: [machine->nr] their lengths
 * @row:        NUMA rows by node, NULL where none was given
 * @row_line:   where they were given
 * @nr_rows:    entries of @row
 * @err:        where to complain
 */
struct parser {
	struct ht_machine *machine;
	ht_u32 **siblings;
	ht_u32 *nr_siblings;
	char **row;
	unsigned int *row_line;
	ht_u32 nr_rows;
	struct ht_error *err;
};

#define MAX_NODES	1024

/* Keys. */

static const char *set_domain(struct line *line, const char *value)
{
	if (strcmp(value, "none") == 0) {
		line->cpu.domain = HT_NONE;
		return NULL;
	}
	return ht_number(value, HT_NONE - 1, &line->cpu.domain);
}

static const char *set_siblings(struct line *line, const char *value)
{
	const char *wrong = ht_cpulist_parse(value, &line->siblings,
					     &line->nr_siblings);

	if (!wrong && !line->nr_siblings)
		wrong = "empty list";
	return wrong;
}

static const char *set_distance(struct line *line, const char *value)
{
	line->distance = value;
	return NULL;
}

static const char *set_online(struct line *line, const char *value)
{
	ht_u32 online;
	const char *wrong = ht_number(value, 1, &online);

	line->cpu.online = !wrong && online;
	return wrong;
}

enum key { KEY_CPU, KEY_NODE, KEY_SIBLINGS, KEY_DISTANCE, KEY_OTHER };

#define SEEN(key)	(1u << (key))

static const struct key_desc {
	const char *name;
	size_t offset;		/* of a number in struct ht_machine_cpu */
	ht_u32 max;
	const char *(*set)(struct line *line, const char *value);
} keys[] = {
	[KEY_CPU]	= { "cpu", offsetof(struct ht_machine_cpu, cpu),
			    HT_MAX_CPUS - 1, NULL },
	[KEY_NODE]	= { "node", offsetof(struct ht_machine_cpu, node),
			    MAX_NODES - 1, NULL },
	[KEY_SIBLINGS]	= { "siblings", 0, 0, set_siblings },
	[KEY_DISTANCE]	= { "distance", 0, 0, set_distance },
	[KEY_OTHER]	= { "package", offsetof(struct ht_machine_cpu, package),
			    HT_NONE - 1, NULL },
	{ "llc", offsetof(struct ht_machine_cpu, llc), HT_NONE - 1, NULL },
	{ "l2", offsetof(struct ht_machine_cpu, l2), HT_NONE - 1, NULL },
	{ "core_id", offsetof(struct ht_machine_cpu, core_id), HT_NONE - 1,
	  NULL },
	{ "capacity", offsetof(struct ht_machine_cpu, capacity),
	  HT_CAPACITY_FULL, NULL },
	{ "domain", 0, 0, set_domain },
	{ "online", 0, 0, set_online },
};

#define NR_KEYS		(sizeof(keys) / sizeof(keys[0]))

static const char *set_key(struct line *line, const struct key_desc *key,
			   const char *value)
{
	if (key->set)
		return key->set(line, value);
	return ht_number(value, key->max,
			 (ht_u32 *)((char *)&line->cpu + key->offset));
}

/* One key=value word. Returns false after a complaint. */
static bool parse_word(struct parser *p, struct line *line, char *word)
{
	unsigned int nr = line->cpu.line;
	char *value = strchr(word, '=');
	const char *wrong;
	size_t k;

	if (!value)
		return ht_fail(p->err, nr, "'%s' is not key=value", word);
	*value++ = '\0';
	for (k = 0; k < NR_KEYS; k++)
		if (strcmp(word, keys[k].name) == 0)
			break;
	if (k == NR_KEYS)
		return ht_fail(p->err, nr, "unknown key '%s'", word);
	if (line->seen & SEEN(k))
		return ht_fail(p->err, nr, "key '%s' given twice", word);
	line->seen |= SEEN(k);
	wrong = set_key(line, &keys[k], value);
	if (wrong)
		return ht_fail(p->err, nr, "%s=%s: %s", word, value, wrong);
	return true;
}

/* Lines. */

static void init_line(struct line *line, unsigned int nr)
{
	memset(line, 0, sizeof(*line));
	line->cpu.llc = HT_NONE;
	line->cpu.l2 = HT_NONE;
	line->cpu.core_id = HT_NONE;
	line->cpu.capacity = HT_CAPACITY_FULL;
	line->cpu.online = true;
	line->cpu.line = nr;
}

static bool add_row(struct parser *p, struct line *line)
{
	ht_u32 node = line->cpu.node;

	if (line->seen != (SEEN(KEY_NODE) | SEEN(KEY_DISTANCE)))
		return ht_fail(p->err, line->cpu.line,
			       "distance goes with node alone");
	while (p->nr_rows <= node) {
		p->row = ht_grow(p->row, p->nr_rows + 1, sizeof(*p->row));
		p->row_line = ht_grow(p->row_line, p->nr_rows + 1,
				      sizeof(*p->row_line));
		p->row[p->nr_rows++] = NULL;
	}
	if (p->row[node])
		return ht_fail(p->err, line->cpu.line,
			       "distances of node %u given twice", node);
	p->row[node] = strdup(line->distance);
	p->row_line[node] = line->cpu.line;
	return true;
}

static bool add_cpu(struct parser *p, struct line *line)
{
	struct ht_machine *m = p->machine;

	if (!(line->seen & SEEN(KEY_CPU)))
		return ht_fail(p->err, line->cpu.line, "no cpu=");
	if (!(line->seen & SEEN(KEY_SIBLINGS)))
		return ht_fail(p->err, line->cpu.line, "no siblings=");
	line->cpu.core = line->siblings[0];
	m->cpu = ht_grow(m->cpu, m->nr + 1, sizeof(*m->cpu));
	p->siblings = ht_grow(p->siblings, m->nr + 1, sizeof(*p->siblings));
	p->nr_siblings = ht_grow(p->nr_siblings, m->nr + 1,
				 sizeof(*p->nr_siblings));
	m->cpu[m->nr] = line->cpu;
	p->siblings[m->nr] = line->siblings;
	p->nr_siblings[m->nr] = line->nr_siblings;
	line->siblings = NULL;
	m->nr++;
	return true;
}

static bool parse_line(struct parser *p, char *text, unsigned int nr)
{
	struct line line;
	char *word, *rest;
	bool ok = true;

	init_line(&line, nr);
	text[strcspn(text, "#")] = '\0';
	for (word = strtok_r(text, " \t\r\n", &rest); ok && word;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		ok = parse_word(p, &line, word);
	if (ok && line.seen)
		ok = line.distance ? add_row(p, &line) : add_cpu(p, &line);
	free(line.siblings);
	return ok;
}

/* The whole. */

/* CPUs by number, each still beside its sibling list. */
static ht_u32 *order_of(const struct ht_machine *m)
{
	ht_u32 *index = NULL, i, max = 0;

	for (i = 0; i < m->nr; i++)
		if (m->cpu[i].cpu > max)
			max = m->cpu[i].cpu;
	index = ht_zalloc(max + 1, sizeof(*index));
	for (i = 0; i < m->nr; i++)
		index[m->cpu[i].cpu] = i + 1;
	return index;
}

static bool same_list(const struct parser *p, ht_u32 a, ht_u32 b)
{
	return p->nr_siblings[a] == p->nr_siblings[b] &&
	       memcmp(p->siblings[a], p->siblings[b],
		      p->nr_siblings[a] * sizeof(ht_u32)) == 0;
}

/* @index is that of order_of(): position + 1 by CPU number. */
static bool check_siblings(struct parser *p, const ht_u32 *index, ht_u32 max,
			   ht_u32 i)
{
	const struct ht_machine_cpu *cpu = &p->machine->cpu[i];
	bool self = false;
	ht_u32 s;

	for (s = 0; s < p->nr_siblings[i]; s++) {
		ht_u32 other = p->siblings[i][s];

		self |= other == cpu->cpu;
		if (other > max || !index[other])
			return ht_fail(p->err, cpu->line,
				       "sibling %u of CPU %u is not described",
				       other, cpu->cpu);
		if (!same_list(p, i, index[other] - 1))
			return ht_fail(p->err, cpu->line,
				       "CPUs %u and %u disagree about siblings",
				       cpu->cpu, other);
		if (p->machine->cpu[index[other] - 1].package != cpu->package)
			return ht_fail(p->err, cpu->line,
				       "siblings %u and %u are in different packages",
				       cpu->cpu, other);
	}
	return self || ht_fail(p->err, cpu->line,
			       "CPU %u is not among its siblings", cpu->cpu);
}

static bool check_duplicates(struct parser *p, const ht_u32 *index)
{
	const struct ht_machine *m = p->machine;
	ht_u32 i;

	/* The index holds the last line of each CPU. */
	for (i = 0; i < m->nr; i++)
		if (index[m->cpu[i].cpu] != i + 1)
			return ht_fail(p->err,
				       m->cpu[index[m->cpu[i].cpu] - 1].line,
				       "CPU %u described twice, first in line %u",
				       m->cpu[i].cpu, m->cpu[i].line);
	return true;
}

static int compare_cpus(const void *a, const void *b)
{
	const struct ht_machine_cpu *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static bool check_cpus(struct parser *p)
{
	struct ht_machine *m = p->machine;
	ht_u32 *index, i, max = 0;
	bool ok;

	if (!m->nr)
		return ht_fail(p->err, 0, "no CPU described");
	for (i = 0; i < m->nr; i++)
		if (m->cpu[i].cpu > max)
			max = m->cpu[i].cpu;
	index = order_of(m);
	ok = check_duplicates(p, index);
	for (i = 0; ok && i < m->nr; i++)
		ok = check_siblings(p, index, max, i);
	free(index);
	if (ok)
		qsort(m->cpu, m->nr, sizeof(*m->cpu), compare_cpus);
	return ok;
}

static bool parse_row(struct parser *p, ht_u32 node)
{
	ht_u32 value, nr = 0;
	char *word, *rest;
	const char *wrong;

	for (word = strtok_r(p->row[node], ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		wrong = ht_number(word, 255, &value);
		if (wrong)
			return ht_fail(p->err, p->row_line[node],
				       "distance '%s': %s", word, wrong);
		if (nr < p->nr_rows)
			p->machine->distance[node * p->nr_rows + nr] = value;
		nr++;
	}
	return nr == p->nr_rows ||
	       ht_fail(p->err, p->row_line[node],
		       "%u distances, but there are %u nodes", nr, p->nr_rows);
}

static bool finish_distances(struct parser *p)
{
	ht_u32 node;

	if (!p->nr_rows)
		return true;
	p->machine->nr_nodes = p->nr_rows;
	p->machine->distance = ht_zalloc(p->nr_rows, p->nr_rows);
	for (node = 0; node < p->nr_rows; node++) {
		if (!p->row[node])
			return ht_fail(p->err, p->row_line[p->nr_rows - 1],
				       "distances of node %u, but none of node %u",
				       p->nr_rows - 1, node);
		if (!parse_row(p, node))
			return false;
	}
	return true;
}

static void free_parser(struct parser *p, ht_u32 nr)
{
	ht_u32 i;

	for (i = 0; i < nr; i++)
		free(p->siblings[i]);
	for (i = 0; i < p->nr_rows; i++)
		free(p->row[i]);
	free(p->siblings);
	free(p->nr_siblings);
	free(p->row);
	free(p->row_line);
}

struct ht_machine *ht_machine_parse(FILE *in, struct ht_error *err)
{
	struct ht_machine *m = ht_zalloc(1, sizeof(*m));
	struct parser p = { .machine = m, .err = err };
	char *text = NULL;
	size_t size = 0;
	unsigned int nr = 0;
	bool ok = true;

	while (ok && getline(&text, &size, in) >= 0)
		ok = parse_line(&p, text, ++nr);
	if (ok && ferror(in))
		ok = ht_fail(err, 0, "read: %s", strerror(errno));
	free(text);
	ok = ok && check_cpus(&p) && finish_distances(&p);
	free_parser(&p, m->nr);
	if (ok)
		return m;
	ht_machine_free(m);
	return NULL;
}

struct ht_machine *ht_machine_parse_text(const char *text,
					 struct ht_error *err)
{
	struct ht_machine *m;
	FILE *in;

	if (!*text)
		return ht_fail(err, 0, "no CPU described");
	in = fmemopen((void *)text, strlen(text), "r");
	if (!in)
		return ht_fail(err, 0, "%s", strerror(errno));
	m = ht_machine_parse(in, err);
	fclose(in);
	return m;
}

static void name_file(struct ht_error *err, const char *path)
{
	char text[sizeof(err->text)];

	memcpy(text, err->text, sizeof(text));
	snprintf(err->text, sizeof(err->text), "%.120s: %.130s", path, text);
}

struct ht_machine *ht_machine_from_file(const char *path,
					struct ht_error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "r");
	struct ht_machine *m = NULL;

	if (!in) {
		ht_fail(err, 0, "%s", strerror(errno));
	} else {
		m = ht_machine_parse(in, err);
		if (!is_stdin)
			fclose(in);
	}
	if (!m)
		name_file(err, path);
	return m;
}

void ht_machine_free(struct ht_machine *machine)
{
	if (!machine)
		return;
	free(machine->cpu);
	free(machine->distance);
	free(machine);
}

const struct ht_machine_cpu *ht_machine_find(const struct ht_machine *machine,
					     ht_u32 cpu)
{
	const struct ht_machine_cpu key = { .cpu = cpu };

	return bsearch(&key, machine->cpu, machine->nr, sizeof(key),
		       compare_cpus);
}

/* Writing. */

static void describe_siblings(const struct ht_machine *m, ht_u32 core,
			      FILE *out)
{
	const char *comma = "";
	ht_u32 i;

	fputs(" siblings=", out);
	for (i = 0; i < m->nr; i++) {
		if (m->cpu[i].core != core)
			continue;
		fprintf(out, "%s%u", comma, m->cpu[i].cpu);
		comma = ",";
	}
}

static void describe_known(FILE *out, const char *key, ht_u32 value)
{
	if (value != HT_NONE)
		fprintf(out, " %s=%u", key, value);
}

static void describe_cpu(const struct ht_machine *m,
			 const struct ht_machine_cpu *cpu, FILE *out)
{
	fprintf(out, "cpu=%u package=%u node=%u", cpu->cpu, cpu->package,
		cpu->node);
	describe_known(out, "llc", cpu->llc);
	describe_known(out, "l2", cpu->l2);
	describe_known(out, "core_id", cpu->core_id);
	describe_siblings(m, cpu->core, out);
	fprintf(out, " capacity=%u online=%u", cpu->capacity, cpu->online);
	if (cpu->domain == HT_NONE)
		fputs(" domain=none", out);
	else if (cpu->domain)
		fprintf(out, " domain=%u", cpu->domain);
	fputc('\n', out);
}

void ht_machine_describe(const struct ht_machine *machine, FILE *out)
{
	ht_u32 i, node;

	for (i = 0; i < machine->nr; i++)
		describe_cpu(machine, &machine->cpu[i], out);
	for (node = 0; node < machine->nr_nodes; node++) {
		fprintf(out, "node=%u distance=", node);
		for (i = 0; i < machine->nr_nodes; i++)
			fprintf(out, "%s%u", i ? "," : "",
				machine->distance[node * machine->nr_nodes + i]);
		fputc('\n', out);
	}
}
