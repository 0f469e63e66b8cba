// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: the decision tables of ht_policy_cases.h inside the kernel.
 *
 * The host runs the same tables; here they meet the kernel's compiler flags,
 * its types and READ_ONCE().
 */
#include <kunit/test.h>
#include <linux/mm.h>

#include "ht_policy_cases.h"

static int ht_policy_init(struct kunit *test)
{
	struct ht_bench *b = kvzalloc(sizeof(*b), GFP_KERNEL);

	test->priv = b;
	return b ? 0 : -ENOMEM;
}

static void ht_policy_exit(struct kunit *test)
{
	kvfree(test->priv);
}

static void ht_case_desc(const struct ht_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s",
		 ht_machines[c->machine].name, c->name);
}

KUNIT_ARRAY_PARAM(ht_case, ht_cases, ht_case_desc);

static void select_case(struct kunit *test)
{
	const struct ht_case *c = test->param_value;
	struct ht_result r = { };

	ht_case_run(test->priv, c, &r);
	KUNIT_EXPECT_STREQ(test, ht_layout_error_name(r.layout), "ok");
	KUNIT_EXPECT_STREQ(test, ht_check_name(r.topo), "ok");
	KUNIT_EXPECT_STREQ(test, ht_check_name(r.check), "ok");
	KUNIT_EXPECT_EQ(test, r.verdict.cpu, c->cpu);
	KUNIT_EXPECT_STREQ(test, ht_why_name(r.verdict.why),
			   ht_why_name(c->why));
}

static void ht_spread_desc(const struct ht_spread *s, char *desc)
{
	strscpy(desc, s->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ht_spread, ht_spreads, ht_spread_desc);

static void run_spread(struct kunit *test, bool claims)
{
	const struct ht_spread *s = test->param_value;
	struct ht_result r = { };

	ht_spread_run(test->priv, s, claims, &r);
	KUNIT_EXPECT_STREQ(test, ht_layout_error_name(r.layout), "ok");
	KUNIT_EXPECT_STREQ(test, ht_check_name(r.check), "ok");
	KUNIT_EXPECT_EQ(test, ht_bench_taken_cores(test->priv), s->cores);
}

static void spread_one_by_one(struct kunit *test)
{
	run_spread(test, false);
}

static void spread_at_once(struct kunit *test)
{
	run_spread(test, true);
}

/* Two busy threads of one core, one of another: who shares? */
static void shared_threads(struct kunit *test)
{
	struct ht_bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, ht_bench_machine(b, M_SMT4), 0);
	ht_bench_busy(b, 1);
	ht_bench_busy(b, 3);
	ht_bench_busy(b, 6);
	KUNIT_EXPECT_EQ(test, ht_word_shared_threads(&b->topo, &b->state, 0),
			0x0full);
	KUNIT_EXPECT_EQ(test, ht_word_free_cores(&b->topo, &b->state, 0),
			0ull);
	ht_bench_busy(b, 7);
	KUNIT_EXPECT_EQ(test, ht_word_shared_threads(&b->topo, &b->state, 0),
			0xffull);
}

/* A claim lives through the tick after the one that it was taken in. */
static void claim_age(struct kunit *test)
{
	struct ht_bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, ht_bench_machine(b, M_2C2T), 0);
	ht_bench_claim(b, 0, HT_CASE_TICK);
	KUNIT_EXPECT_FALSE(test, ht_claim_is_void(&b->state, 0));
	b->state.tick++;
	KUNIT_EXPECT_FALSE(test, ht_claim_is_void(&b->state, 0));
	KUNIT_EXPECT_FALSE(test, ht_core_is_free(&b->topo, &b->state, 1));
	b->state.tick++;
	KUNIT_EXPECT_TRUE(test, ht_claim_is_void(&b->state, 0));
	KUNIT_EXPECT_TRUE(test, ht_core_is_free(&b->topo, &b->state, 1));
}

static void names(struct kunit *test)
{
	int i;

	for (i = 0; i < HT_NR_WHYS; i++)
		KUNIT_EXPECT_STRNEQ(test, ht_why_name(i), "unknown");
	for (i = 0; i < HT_NR_KINDS; i++)
		KUNIT_EXPECT_STRNEQ(test, ht_kind_name(i), "unknown");
	KUNIT_EXPECT_STREQ(test, ht_why_name(HT_NR_WHYS), "unknown");
	KUNIT_EXPECT_STREQ(test, ht_kind_name(HT_NR_KINDS), "unknown");
}

static struct kunit_case ht_policy_tests[] = {
	KUNIT_CASE_PARAM(select_case, ht_case_gen_params),
	KUNIT_CASE_PARAM(spread_one_by_one, ht_spread_gen_params),
	KUNIT_CASE_PARAM(spread_at_once, ht_spread_gen_params),
	KUNIT_CASE(shared_threads),
	KUNIT_CASE(claim_age),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite ht_policy_suite = {
	.name = "sched_ht_policy",
	.init = ht_policy_init,
	.exit = ht_policy_exit,
	.test_cases = ht_policy_tests,
};

kunit_test_suite(ht_policy_suite);
