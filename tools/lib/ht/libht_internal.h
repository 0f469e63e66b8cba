/* SPDX-License-Identifier: GPL-2.0 */
/* libht: what its files share and programs do not see. */
#ifndef _LIBHT_INTERNAL_H
#define _LIBHT_INTERNAL_H

#include "libht.h"

/* Zeroed memory; without any left the program ends. */
void *ht_zalloc(size_t nr, size_t size);
void *ht_grow(void *mem, size_t nr, size_t size);

/* Fill @err and return NULL, for "return ht_fail(...)". */
void *ht_fail(struct ht_error *err, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What is wrong with a number in @text, NULL if it is one up to @max. */
const char *ht_number(const char *text, ht_u32 max, ht_u32 *value);

int ht_compare_u32(const void *a, const void *b);

#endif /* _LIBHT_INTERNAL_H */
