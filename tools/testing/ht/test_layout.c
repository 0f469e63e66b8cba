// SPDX-License-Identifier: GPL-2.0
/* From descriptors to snapshots: what is refused, and odd machines. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "tests/ht_policy_cases.h"

#define MANY	8192

static struct ht_cpu_desc desc[MANY];
static struct ht_topo topo;
static void *mem;

/* In a block of exactly the bytes asked for. */
static int lay_out(ht_u32 nr, const ht_u8 *distance, ht_u32 nr_nodes)
{
	struct ht_layout_size size;
	int err = ht_layout_size(desc, nr, &size);

	if (err)
		return err;
	free(mem);
	mem = malloc(ht_layout_bytes(&size));
	if (!mem)
		abort();
	memset(mem, 0xa5, ht_layout_bytes(&size));
	ht_layout_attach(&topo, &size, mem);
	return ht_layout_fill(&topo, desc, nr, distance, nr_nodes);
}

/* Cores of @threads, @cores to an LLC, LLCs of a node each. */
static void regular(ht_u32 nr, ht_u32 threads, ht_u32 cores)
{
	ht_u32 i;

	for (i = 0; i < nr; i++) {
		desc[i] = (struct ht_cpu_desc){
			.cpu = i,
			.core = i - i % threads,
			.cluster = i / threads,
			.llc = i / threads / cores,
			.node = i / threads / cores,
		};
	}
}

static void expect(int got, int want)
{
	CHECK(got == want, "got \"%s\", expected \"%s\"",
	      ht_layout_error_name(got), ht_layout_error_name(want));
}

static void test_refusals(void)
{
	struct ht_layout_size size;
	ht_u32 i;

	test_begin("no CPU");
	expect(lay_out(0, NULL, 0), HT_LAYOUT_EMPTY);
	test_begin("CPU number too large");
	regular(2, 2, 1);
	desc[1].cpu = HT_MAX_CPUS;
	expect(lay_out(2, NULL, 0), HT_LAYOUT_BAD_CPU);
	test_begin("core number too large");
	regular(2, 2, 1);
	desc[1].core = HT_NONE;
	expect(lay_out(2, NULL, 0), HT_LAYOUT_BAD_CPU);
	test_begin("CPU listed twice, far apart");
	regular(9, 2, 2);
	desc[8].cpu = 1;
	expect(lay_out(9, NULL, 0), HT_LAYOUT_DUPLICATE);
	test_begin("core of 65 threads");
	regular(65, 65, 1);
	expect(lay_out(65, NULL, 0), HT_LAYOUT_WIDE_CORE);
	test_begin("core of 64 threads");
	regular(64, 64, 1);
	expect(lay_out(64, NULL, 0), HT_LAYOUT_OK);
	test_begin("more LLCs than can be ordered");
	regular(HT_MAX_LLCS + 1, 1, 1);
	expect(lay_out(HT_MAX_LLCS + 1, NULL, 0), HT_LAYOUT_MANY_LLCS);
	test_begin("fill with another list than was measured");
	regular(4, 2, 2);
	expect(ht_layout_size(desc, 4, &size), HT_LAYOUT_OK);
	ht_layout_attach(&topo, &size, mem);
	desc[3].cpu = 4;
	expect(ht_layout_fill(&topo, desc, 4, NULL, 0), HT_LAYOUT_MISMATCH);
	regular(4, 2, 1);
	expect(ht_layout_fill(&topo, desc, 4, NULL, 0), HT_LAYOUT_MISMATCH);
	test_begin("every error has a name");
	for (i = 0; i < HT_NR_LAYOUT_ERRORS; i++)
		CHECK(strcmp(ht_layout_error_name(i), "unknown error"),
		      "error %u", i);
	CHECK_STR(ht_layout_error_name(-1), "unknown error");
	CHECK_STR(ht_layout_error_name(HT_NR_LAYOUT_ERRORS), "unknown error");
}

static void check_topo(void)
{
	CHECK_STR(ht_check_name(ht_check_topo(&topo)), "ok");
}

static void test_machines(void)
{
	static struct ht_bench bench;
	int i;

	for (i = 0; i < HT_NR_MACHINES; i++) {
		test_begin("%s", ht_machines[i].name);
		expect(ht_bench_machine(&bench, i), HT_LAYOUT_OK);
		CHECK_STR(ht_check_name(ht_check_topo(&bench.topo)), "ok");
	}
}

static void test_large(void)
{
	ht_u32 i;

	test_begin("8192 CPUs in reverse order");
	regular(MANY, 2, 64);
	for (i = 0; i < MANY / 2; i++) {
		struct ht_cpu_desc tmp = desc[i];

		desc[i] = desc[MANY - 1 - i];
		desc[MANY - 1 - i] = tmp;
	}
	expect(lay_out(MANY, NULL, 0), HT_LAYOUT_OK);
	CHECK(topo.nr_llcs == 64 && topo.nr_words == 128 &&
	      topo.nr_cpus == MANY, "%u LLCs, %u words, %u CPUs", topo.nr_llcs,
	      topo.nr_words, topo.nr_cpus);
	check_topo();
}

static void test_isolated(void)
{
	ht_u32 i;

	test_begin("every CPU isolated: an empty snapshot");
	regular(4, 2, 2);
	for (i = 0; i < 4; i++)
		desc[i].domain = HT_NONE;
	expect(lay_out(4, NULL, 0), HT_LAYOUT_OK);
	/* Isolated or not, CPU 3 is the highest. */
	CHECK(!topo.nr_words && !topo.nr_llcs && topo.nr_cpus == 4,
	      "%u words, %u CPUs", topo.nr_words, topo.nr_cpus);
	check_topo();
	test_begin("a core of two root domains is whole in neither");
	regular(4, 2, 2);
	desc[1].domain = 1;
	expect(lay_out(4, NULL, 0), HT_LAYOUT_OK);
	CHECK(topo.nr_llcs == 2 && topo.partial[0] == 1 &&
	      topo.partial[1] == 1, "%u LLCs", topo.nr_llcs);
	check_topo();
}

static void test_clusters(void)
{
	test_begin("a cluster that would split a core is the core");
	regular(8, 2, 4);
	desc[1].cluster = 3;
	expect(lay_out(8, NULL, 0), HT_LAYOUT_OK);
	CHECK(ht_slot_distance(&topo, topo.cpu_slot[0], topo.cpu_slot[1]) == 0,
	      "its threads are apart");
	check_topo();
	test_begin("clusters unknown: a core each");
	regular(4, 2, 2);
	desc[0].cluster = HT_NONE;
	desc[1].cluster = HT_NONE;
	desc[2].cluster = HT_NONE;
	desc[3].cluster = HT_NONE;
	expect(lay_out(4, NULL, 0), HT_LAYOUT_OK);
	CHECK(ht_slot_distance(&topo, topo.cpu_slot[0], topo.cpu_slot[2]) == 2,
	      "two unknowns are one cluster");
	check_topo();
}

static void check_row(ht_u32 l, ht_u32 a, ht_u32 b, ht_u32 c, ht_u32 d)
{
	const ht_u32 *row = topo.llc_order + l * topo.nr_llcs;

	CHECK(row[0] == a && row[1] == b && row[2] == c && row[3] == d,
	      "row %u is %u %u %u %u, expected %u %u %u %u", l, row[0], row[1],
	      row[2], row[3], a, b, c, d);
}

static void test_order(void)
{
	static const ht_u8 line[16] = { 10, 20, 30, 40,
					20, 10, 20, 30,
					30, 20, 10, 20,
					40, 30, 20, 10 };

	test_begin("LLC order without distances: next ones first");
	regular(8, 2, 1);
	expect(lay_out(8, NULL, 0), HT_LAYOUT_OK);
	check_row(0, 0, 1, 2, 3);
	check_row(2, 2, 3, 0, 1);
	test_begin("LLC order by distance");
	expect(lay_out(8, line, 4), HT_LAYOUT_OK);
	check_row(3, 3, 2, 1, 0);
	check_row(1, 1, 2, 0, 3);
	test_begin("LLC order: nodes that the matrix lacks come last");
	expect(lay_out(8, line, 2), HT_LAYOUT_OK);
	check_row(1, 1, 0, 2, 3);
}

void test_layout(void)
{
	test_refusals();
	test_machines();
	test_large();
	test_isolated();
	test_clusters();
	test_order();
	free(mem);
	mem = NULL;
}
