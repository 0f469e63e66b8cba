// SPDX-License-Identifier: GPL-2.0
/* The functions on words, where an example says more than a random world. */
#include <string.h>

#include "test.h"
#include "tests/ht_policy_cases.h"

static struct ht_bench bench;

#define CHECK_WORD(got, want)						\
	do {								\
		ht_u64 got_ = (got), want_ = (want);			\
									\
		CHECK(got_ == want_, "got %#llx, expected %#llx",	\
		      (unsigned long long)got_, (unsigned long long)want_); \
	} while (0)

static void set_up(enum ht_machine_id id, const char *busy)
{
	ht_u32 cpu;

	CHECK(!ht_bench_machine(&bench, id), "no such machine");
	for (cpu = 0; cpu < bench.topo.nr_cpus; cpu++)
		if (ht_list_has(busy, cpu))
			ht_bench_busy(&bench, cpu);
}

static ht_u64 free_cores(void)
{
	return ht_word_free_cores(&bench.topo, &bench.state, 0);
}

static ht_u64 shared(void)
{
	return ht_word_shared_threads(&bench.topo, &bench.state, 0);
}

static void test_free(void)
{
	test_begin("free cores, a bit at the first slot");
	set_up(M_4C2T_SPLIT, "5");	/* slots 0,4 1,5 2,6 3,7 */
	CHECK_WORD(free_cores(), 0x51);
	test_begin("free cores of three threads in slots of four");
	set_up(M_SMT3, "4");
	CHECK_WORD(free_cores(), 0x1101);
	test_begin("free cores, one-thread cores");
	set_up(M_MIXED, "");
	CHECK_WORD(free_cores(), 0x5);
	test_begin("free cores: a core that fills the word");
	set_up(M_SMT64, "");
	CHECK_WORD(free_cores(), 1);
	set_up(M_SMT64, "63");
	CHECK_WORD(free_cores(), 0);
	test_begin("free cores: absent slots do not count, whatever they say");
	set_up(M_MIXED, "");
	bench.word[0].idle = ~(ht_u64)0;
	CHECK_WORD(free_cores(), 0x5);
}

static void test_shared(void)
{
	test_begin("shared: two busy threads of four, not next to each other");
	set_up(M_SMT4, "0,3,5");
	CHECK_WORD(shared(), 0x0f);
	test_begin("shared: the last and the first of neighbours do not share");
	set_up(M_SMT4, "3,4");
	CHECK_WORD(shared(), 0);
	test_begin("shared: without SMT nobody does");
	set_up(M_SMT1, "0-3");
	CHECK_WORD(shared(), 0);
	test_begin("shared: a one-thread core does not");
	set_up(M_MIXED, "0-2");
	CHECK_WORD(shared(), 0x3);
	test_begin("shared: absent slots do not count");
	set_up(M_MIXED, "2");
	CHECK_WORD(shared(), 0);
	test_begin("shared: first and last of 64");
	set_up(M_SMT64, "0,63");
	CHECK_WORD(shared(), ~(ht_u64)0);
}

static void test_claims(void)
{
	test_begin("claim: live in its tick and the next");
	set_up(M_2C2T, "");
	ht_bench_claim(&bench, 1, HT_CASE_TICK);
	CHECK(!ht_claim_is_void(&bench.state, 1), "void at once");
	CHECK_WORD(free_cores(), 0x4);
	bench.state.tick++;
	CHECK(!ht_claim_is_void(&bench.state, 1), "void after one tick");
	bench.state.tick++;
	CHECK(ht_claim_is_void(&bench.state, 1), "still live after two");
	CHECK_WORD(free_cores(), 0x5);
	test_begin("claim: ticks wrap");
	ht_bench_claim(&bench, 1, 0xffffffff);
	bench.state.tick = 0;
	CHECK(!ht_claim_is_void(&bench.state, 1), "void after a wrap");
	bench.state.tick = 1;
	CHECK(ht_claim_is_void(&bench.state, 1), "live after a wrap");
}

static void test_core(void)
{
	test_begin("core mask");
	set_up(M_SMT3, "");
	CHECK_WORD(ht_core_mask(&bench.topo, 5), 0xf0);
	set_up(M_SMT1, "");
	CHECK_WORD(ht_core_mask(&bench.topo, 2), 0x4);
	set_up(M_SMT64, "");
	CHECK_WORD(ht_core_mask(&bench.topo, 70), ~(ht_u64)0);
	test_begin("core is free");
	set_up(M_2C2T, "1");
	CHECK(!ht_core_is_free(&bench.topo, &bench.state, 0), "sibling busy");
	CHECK(ht_core_is_free(&bench.topo, &bench.state, 3), "idle");
}

static void test_names(void)
{
	int i;

	test_begin("every reason and kind has a name");
	for (i = 0; i < HT_NR_WHYS; i++)
		CHECK(ht_why_name(i) && strcmp(ht_why_name(i), "unknown"),
		      "reason %d", i);
	for (i = 0; i < HT_NR_KINDS; i++)
		CHECK(ht_kind_name(i) && strcmp(ht_kind_name(i), "unknown"),
		      "kind %d", i);
	for (i = 0; i < HT_NR_CHECKS; i++)
		CHECK(ht_check_name(i) && strcmp(ht_check_name(i), "unknown"),
		      "check %d", i);
	CHECK_STR(ht_why_name(HT_NR_WHYS), "unknown");
	CHECK_STR(ht_kind_name(-1), "unknown");
	CHECK_STR(ht_check_name(HT_NR_CHECKS), "unknown");
	CHECK_STR(ht_why_name(HT_WHY_PREV_SIBLING), "prev_sibling");
	CHECK_STR(ht_kind_name(HT_KIND_UNSHARE), "unshare");
}

/* The most specific answers of ht_policy_free_core(). */
static void test_free_core(void)
{
	struct ht_verdict v;

	test_begin("free core: for a hog beside a hog");
	set_up(M_2C2T, "0-1");
	bench.req = (struct ht_request){ .kind = HT_KIND_UNSHARE, .smt = true,
					 .allowed_all = true };
	CHECK(ht_policy_free_core(&bench.topo, &bench.state, &bench.req, &v) &&
	      v.cpu == 2 && v.whole_core, "CPU %d", (int)v.cpu);
	test_begin("free core: none");
	set_up(M_2C2T, "0-2");
	CHECK(!ht_policy_free_core(&bench.topo, &bench.state, &bench.req, &v) &&
	      v.why == HT_WHY_NONE && v.cpu == HT_NONE, "CPU %d", (int)v.cpu);
	test_begin("free core: none that is allowed");
	set_up(M_2C2T, "0-1");
	ht_bench_allow(&bench, "0-1");
	CHECK(!ht_policy_free_core(&bench.topo, &bench.state, &bench.req, &v),
	      "CPU %d", (int)v.cpu);
	test_begin("free core: no CPU allowed at all");
	ht_bench_allow(&bench, "");
	CHECK(!ht_policy_free_core(&bench.topo, &bench.state, &bench.req, &v),
	      "CPU %d", (int)v.cpu);
	test_begin("free core: its own, when nobody shares it");
	set_up(M_2C2T, "0");
	ht_bench_allow(&bench, NULL);
	bench.req.prev_is_self = true;
	CHECK(ht_policy_free_core(&bench.topo, &bench.state, &bench.req, &v) &&
	      v.cpu == 0 && v.why == HT_WHY_PREV_CORE, "CPU %d", (int)v.cpu);
}

void test_words(void)
{
	test_free();
	test_shared();
	test_claims();
	test_core();
	test_names();
	test_free_core();
}
