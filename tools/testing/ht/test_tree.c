// SPDX-License-Identifier: GPL-2.0
/*
 * Trees: each topologies/NAME.topo must print as expected/NAME.tree, read back
 * from its own description as the same, and lay out as a valid snapshot.
 * HT_UPDATE=1 in the environment writes expected/ anew, to be looked at.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libht.h"
#include "libht_json.h"
#include "test.h"

static char *tree_of(const struct ht_machine *m)
{
	return test_printed(ht_machine_print_tree, m);
}

static char *description_of(const struct ht_machine *m)
{
	return test_printed(ht_machine_describe, m);
}

static char *read_all(const char *path)
{
	char *out = NULL;
	size_t size = 0;
	FILE *in = fopen(path, "r");

	if (in && getdelim(&out, &size, '\0', in) < 0) {
		free(out);
		out = NULL;
	}
	if (in)
		fclose(in);
	return out;
}

static void write_all(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	if (CHECK(out, "%s cannot be written", path)) {
		fputs(text, out);
		fclose(out);
	}
}

static void compare_file(const char *path, const char *text)
{
	char *want;

	if (getenv("HT_UPDATE"))
		write_all(path, text);
	want = read_all(path);
	if (CHECK(want, "%s is missing", path))
		CHECK(strcmp(text, want) == 0, "got:\n%s", text);
	free(want);
}

static void check_snapshot(const struct ht_machine *m)
{
	struct ht_error err = { 0 };
	struct ht_snapshot *snap = ht_snapshot_new(m, &err);

	if (CHECK(snap, "%s", err.text))
		CHECK_STR(ht_check_name(ht_check_topo(&snap->topo)), "ok");
	ht_snapshot_free(snap);
}

static void check_again(const struct ht_machine *m, const char *tree)
{
	struct ht_error err = { 0 };
	char *text = description_of(m), *tree2, *text2;
	struct ht_machine *m2 = ht_machine_parse_text(text, &err);

	if (CHECK(m2, "own description: %s", err.text)) {
		tree2 = tree_of(m2);
		text2 = description_of(m2);
		CHECK_STR(tree2, tree);
		CHECK_STR(text2, text);
		free(tree2);
		free(text2);
	}
	ht_machine_free(m2);
	free(text);
}

static void test_file(const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	struct ht_error err = { 0 };
	char expected[512], *tree;
	struct ht_machine *m;

	test_begin("%s", base);
	m = ht_machine_from_file(path, &err);
	if (!CHECK(m, "%s", err.text))
		return;
	snprintf(expected, sizeof(expected), "%s/expected/%.*s.tree", test_dir,
		 (int)(strlen(base) - strlen(".topo")), base);
	tree = tree_of(m);
	compare_file(expected, tree);
	check_again(m, tree);
	check_snapshot(m);
	free(tree);
	ht_machine_free(m);
}

static void test_files(void)
{
	char pattern[512];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/topologies/*.topo", test_dir);
	test_begin("topologies are there");
	if (!CHECK(!glob(pattern, 0, NULL, &found), "none: %s", pattern))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		test_file(found.gl_pathv[i]);
	globfree(&found);
}

static void test_json(void)
{
	static const char want[] =
		"{\"cpus\":[{\"cpu\":0,\"package\":0,\"node\":0,\"llc\":1,"
		"\"l2\":null,\"core_id\":4,\"core\":0,\"capacity\":1024,"
		"\"domain\":0,\"online\":true},"
		"{\"cpu\":1,\"package\":0,\"node\":0,\"llc\":null,"
		"\"l2\":null,\"core_id\":null,\"core\":1,\"capacity\":512,"
		"\"domain\":null,\"online\":false}],"
		"\"tree\":{\"level\":\"package\",\"id\":0,\"cpus\":[0],"
		"\"children\":[{\"level\":\"chip\",\"id\":0,\"cpus\":[0],"
		"\"children\":[{\"level\":\"llc\",\"id\":1,\"cpus\":[0],"
		"\"children\":[{\"level\":\"core\",\"id\":4,\"cpus\":[0],"
		"\"children\":[{\"level\":\"thread\",\"id\":0,\"cpus\":[0],"
		"\"children\":[]}]}]}]}]}}";
	struct ht_error err = { 0 };
	struct ht_machine *m;
	json_t *json;
	char *text;

	test_begin("JSON");
	m = ht_machine_parse_text("cpu=0 llc=1 core_id=4 siblings=0\n"
				  "cpu=1 siblings=1 online=0 capacity=512 "
				  "domain=none\n", &err);
	json = m ? ht_machine_json(m) : NULL;
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	if (CHECK(text, "%s", err.text))
		CHECK_STR(text, want);
	free(text);
	json_decref(json);
	ht_machine_free(m);
}

static void test_edges(void)
{
	struct ht_error err = { 0 };
	struct ht_machine *m;
	char *tree;

	test_begin("a machine that is all offline");
	m = ht_machine_parse_text("cpu=0 siblings=0 online=0\n", &err);
	tree = tree_of(m);
	CHECK_STR(tree, "PACKAGE MEMBERS: \n");
	free(tree);
	ht_machine_free(m);
}

void test_tree(void)
{
	test_files();
	test_json();
	test_edges();
}
