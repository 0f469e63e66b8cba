/* SPDX-License-Identifier: GPL-2.0 */
/* libht: machines as JSON, for programs that link with jansson. */
#ifndef _LIBHT_JSON_H
#define _LIBHT_JSON_H

#include <jansson.h>

#include "libht.h"

/**
 * ht_machine_json() - the tree, and every CPU with what is known of it
 *
 *	{ "cpus": [ { "cpu": 0, "package": 0, "node": 0, "core": 0, ... } ],
 *	  "tree": { "level": "package", "id": 0, "cpus": [0, 1],
 *		    "children": [ { "level": "chip", ... } ] } }
 *
 * Unknown numbers (llc, l2, core_id) are null, as is the domain of an isolated
 * CPU. Return: a new reference, NULL without memory.
 */
json_t *ht_machine_json(const struct ht_machine *machine);

#endif /* _LIBHT_JSON_H */
