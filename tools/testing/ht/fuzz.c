// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: the input is a machine, a state and a request (gen.c), the
 * validators are the oracle; the same bytes are read as a description too.
 * A crash file is replayed by naming it on the command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "libht.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void die(const char *wrong)
{
	fprintf(stderr, "fuzz: %s\n", wrong);
	abort();
}

static void fuzz_world(const unsigned char *data, size_t size)
{
	static const unsigned char nothing[1];
	struct source src = { .data = size ? data : nothing, .size = size };
	static struct world w;
	const char *wrong;

	world_make(&w, &src);
	wrong = w.layout ? ht_layout_error_name(w.layout) : NULL;
	if (!wrong)
		wrong = world_check_layout(&w);
	if (!wrong)
		wrong = world_check_words(&w);
	if (!wrong)
		wrong = world_check_decisions(&w, &src);
	if (!wrong)
		wrong = world_check_unsharing(&w);
	if (wrong)
		die(wrong);
	world_free(&w);
}

/* A description is refused with a reason, or its snapshot is valid. */
static void fuzz_text(const unsigned char *data, size_t size)
{
	struct ht_error err = { 0 };
	char *text = calloc(1, size + 1);
	struct ht_snapshot *snap = NULL;
	struct ht_machine *m;

	if (!text)
		abort();
	memcpy(text, data, size);
	m = ht_machine_parse_text(text, &err);
	if (m)
		snap = ht_snapshot_new(m, &err);
	if (!snap && !err.text[0])
		die("refused without a reason");
	if (snap && ht_check_topo(&snap->topo))
		die(ht_check_name(ht_check_topo(&snap->topo)));
	if (m)
		ht_tree_free(ht_tree_build(m));
	ht_snapshot_free(snap);
	ht_machine_free(m);
	free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/* Descriptions begin with a letter or a comment. */
	if (size && (data[0] == 'c' || data[0] == '#'))
		fuzz_text(data, size);
	fuzz_world(data, size);
	return 0;
}
