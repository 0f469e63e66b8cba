// SPDX-License-Identifier: GPL-2.0
/* libht: memory, errors, numbers, CPU lists. */
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "libht_internal.h"

void *ht_zalloc(size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem)
		err(EXIT_FAILURE, "libht");
	return mem;
}

void *ht_grow(void *mem, size_t nr, size_t size)
{
	mem = reallocarray(mem, nr, size);
	if (!mem)
		err(EXIT_FAILURE, "libht");
	return mem;
}

void *ht_fail(struct ht_error *err, unsigned int line, const char *fmt, ...)
{
	int len = 0;
	va_list ap;

	err->line = line;
	if (line)
		len = snprintf(err->text, sizeof(err->text), "line %u: ", line);
	va_start(ap, fmt);
	vsnprintf(err->text + len, sizeof(err->text) - len, fmt, ap);
	va_end(ap);
	return NULL;
}

const char *ht_number(const char *text, ht_u32 max, ht_u32 *value)
{
	unsigned long long n;
	char *end;

	/* strtoull() takes signs and blanks: begin with a digit. */
	if (text[0] < '0' || text[0] > '9')
		return "not a number";
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end)
		return "not a number";
	if (errno || n > max)
		return "number too large";
	*value = n;
	return NULL;
}

int ht_compare_u32(const void *a, const void *b)
{
	const ht_u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One element of a list: a number or a range. */
static const char *parse_range(char *text, ht_u32 *lo, ht_u32 *hi)
{
	char *dash = strchr(text, '-');
	const char *wrong;

	if (dash)
		*dash++ = '\0';
	wrong = ht_number(text, HT_MAX_CPUS - 1, lo);
	if (wrong)
		return wrong;
	*hi = *lo;
	if (dash)
		wrong = ht_number(dash, HT_MAX_CPUS - 1, hi);
	if (!wrong && *hi < *lo)
		wrong = "range ends before it begins";
	return wrong;
}

static ht_u32 sort_unique(ht_u32 *cpus, ht_u32 nr)
{
	ht_u32 i, out = 0;

	qsort(cpus, nr, sizeof(*cpus), ht_compare_u32);
	for (i = 0; i < nr; i++)
		if (!out || cpus[out - 1] != cpus[i])
			cpus[out++] = cpus[i];
	return out;
}

static const char *parse_list(char *text, ht_u32 **cpus, ht_u32 *nr)
{
	const char *wrong;
	ht_u32 lo, hi;
	char *next;

	for (; text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		wrong = parse_range(text, &lo, &hi);
		if (wrong)
			return wrong;
		/* Repeated ranges must not add up to endless memory. */
		if (*nr + (hi - lo) >= 2 * HT_MAX_CPUS)
			return "list too long";
		*cpus = ht_grow(*cpus, *nr + (hi - lo) + 1, sizeof(**cpus));
		for (; lo <= hi; lo++)
			(*cpus)[(*nr)++] = lo;
	}
	*nr = sort_unique(*cpus, *nr);
	return NULL;
}

const char *ht_cpulist_parse(const char *text, ht_u32 **cpus, ht_u32 *nr)
{
	const char *wrong = NULL;
	char *copy;

	*cpus = ht_zalloc(1, sizeof(**cpus));
	*nr = 0;
	if (!*text)
		return NULL;
	copy = strdup(text);
	if (!copy)
		err(EXIT_FAILURE, "libht");
	wrong = parse_list(copy, cpus, nr);
	free(copy);
	if (wrong) {
		free(*cpus);
		*cpus = NULL;
		*nr = 0;
	}
	return wrong;
}

void ht_cpulist_print(FILE *out, const ht_u32 *cpus, ht_u32 nr)
{
	ht_u32 i, end;

	for (i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr; end++)
			if (cpus[end] != cpus[end - 1] + 1)
				break;
		fprintf(out, "%s%u", i ? "," : "", cpus[i]);
		if (end - i > 1)
			fprintf(out, "-%u", cpus[end - 1]);
	}
}
