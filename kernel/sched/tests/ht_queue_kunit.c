// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: the queue of one CPU, without any CPU.
 *
 * The queue knows no run queues, clocks or tasks, so time is what a case says.
 */
#include <kunit/test.h>

#include "../ht_internal.h"

#define NR		3
#define SLICE_NS	(3 * NSEC_PER_MSEC)
#define NICE_0		1024UL
#define NICE_5		335UL

struct queue_case {
	struct ht_queue q;
	struct sched_ht_entity se[NR];
	u64 ran_ns[NR];
};

static int ht_queue_test_init(struct kunit *test)
{
	struct queue_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	ht_queue_init(&c->q);
	test->priv = c;
	return 0;
}

static void add(struct queue_case *c, int i, unsigned long weight)
{
	ht_queue_add(&c->q, &c->se[i], weight, SLICE_NS, false);
}

/* Picks and runs for @ns. Returns which one it was. */
static int run(struct queue_case *c, u64 ns)
{
	struct sched_ht_entity *se = ht_queue_pick(&c->q, false);
	int i = se - c->se;

	ht_queue_set_curr(&c->q, se);
	ht_queue_charge(&c->q, ns, SLICE_NS);
	ht_queue_put_curr(&c->q);
	c->ran_ns[i] += ns;

	return i;
}

/* Service is proportional to weight, within a request of each. */
static void by_weight(struct kunit *test)
{
	static const unsigned long weight[NR] = { NICE_0, NICE_5, NICE_0 };
	struct queue_case *c = test->priv;
	const u64 all_ns = 1000 * NSEC_PER_MSEC;
	u64 due_ns;
	int i;

	for (i = 0; i < NR; i++)
		add(c, i, weight[i]);
	for (i = 0; i < 1000; i++)
		run(c, NSEC_PER_MSEC);
	for (i = 0; i < NR; i++) {
		due_ns = div_u64(all_ns * weight[i], 2 * NICE_0 + NICE_5);
		KUNIT_EXPECT_LE(test, c->ran_ns[i], due_ns + SLICE_NS);
		KUNIT_EXPECT_GE(test, c->ran_ns[i] + SLICE_NS, due_ns);
	}
}

/* What an entity owes goes with it, and is forgiven as the others are served. */
static void lag_is_kept(struct kunit *test)
{
	struct queue_case *c = test->priv;
	struct sched_ht_entity *se = &c->se[0];
	s64 owes;

	add(c, 0, NICE_0);
	ht_queue_set_curr(&c->q, se);
	add(c, 1, NICE_0);
	ht_queue_charge(&c->q, 2 * NSEC_PER_MSEC, SLICE_NS);
	ht_queue_del(&c->q, se, false, SLICE_NS);
	ht_queue_put_curr(&c->q);
	owes = se->vlag;
	KUNIT_EXPECT_EQ(test, owes, -(s64)NSEC_PER_MSEC);

	add(c, 0, NICE_0);
	KUNIT_EXPECT_LE(test, abs(ht_queue_lag(&c->q, se) - owes), 1);
	ht_queue_del(&c->q, se, false, SLICE_NS);

	ht_queue_forgive(&c->q, se, NSEC_PER_MSEC / 2);
	KUNIT_EXPECT_LE(test, abs(se->vlag - owes / 2), 1);
	ht_queue_forgive(&c->q, se, SLICE_NS);
	KUNIT_EXPECT_EQ(test, se->vlag, 0);
}

/* Who owes service does not run, however early its deadline. */
static void eligible_first(struct kunit *test)
{
	struct queue_case *c = test->priv;

	add(c, 0, NICE_0);
	KUNIT_EXPECT_EQ(test, run(c, NSEC_PER_MSEC), 0);
	add(c, 1, NICE_0);
	KUNIT_EXPECT_EQ(test, run(c, NSEC_PER_MSEC), 0);
	KUNIT_EXPECT_EQ(test, run(c, NSEC_PER_MSEC), 1);
}

/* Whoever ran for long, alone or not, owes two slices and no more. */
static void lag_is_bounded(struct kunit *test)
{
	struct queue_case *c = test->priv;
	struct sched_ht_entity *se = &c->se[0];

	add(c, 0, NICE_0);
	add(c, 1, NICE_0);
	ht_queue_set_curr(&c->q, se);
	KUNIT_EXPECT_FALSE(test, ht_queue_charge(&c->q, SLICE_NS / 2, SLICE_NS));
	KUNIT_EXPECT_TRUE(test, ht_queue_charge(&c->q, 100 * SLICE_NS, SLICE_NS));
	ht_queue_put_curr(&c->q);
	ht_queue_del(&c->q, se, false, SLICE_NS);
	KUNIT_EXPECT_EQ(test, se->vlag, -max_t(s64, 2 * SLICE_NS, TICK_NSEC));
	ht_queue_del(&c->q, &c->se[1], false, SLICE_NS);
	KUNIT_EXPECT_GE(test, c->se[1].vlag, 0);
}

/* A new task's first request is half as long as others. */
static void fresh_is_short(struct kunit *test)
{
	struct queue_case *c = test->priv;

	add(c, 0, NICE_0);
	ht_queue_add(&c->q, &c->se[1], NICE_0, SLICE_NS, true);
	KUNIT_EXPECT_EQ(test, c->se[0].deadline - c->se[0].vruntime, SLICE_NS);
	KUNIT_EXPECT_EQ(test, c->se[1].deadline - c->se[1].vruntime, SLICE_NS / 2);
	KUNIT_EXPECT_PTR_EQ(test, ht_queue_pick(&c->q, false), &c->se[1]);
}

/* To one that is owed service at once, to one that owes it not at all. */
static void hand_over(struct kunit *test)
{
	struct queue_case *c = test->priv;

	add(c, 0, NICE_0);
	ht_queue_set_curr(&c->q, &c->se[0]);
	add(c, 1, NICE_0);
	add(c, 2, NICE_0);
	KUNIT_EXPECT_TRUE(test, ht_queue_hand_over(&c->q, &c->se[2], SLICE_NS));
	KUNIT_EXPECT_PTR_EQ(test, ht_queue_pick(&c->q, false), &c->se[2]);
	ht_queue_put_curr(&c->q);
	KUNIT_EXPECT_EQ(test, run(c, 2 * SLICE_NS), 2);
	KUNIT_EXPECT_FALSE(test, ht_queue_hand_over(&c->q, &c->se[2], SLICE_NS));
	KUNIT_EXPECT_PTR_NE(test, ht_queue_pick(&c->q, false), &c->se[2]);
}

/* Who runs goes on while it is owed service, but for shorter requests. */
static void parity(struct kunit *test)
{
	struct queue_case *c = test->priv;

	add(c, 0, NICE_0);
	ht_queue_set_curr(&c->q, &c->se[0]);
	c->se[1].vlag = NSEC_PER_MSEC;
	ht_queue_add(&c->q, &c->se[1], NICE_0, SLICE_NS / 4, false);
	c->se[2].vlag = -(s64)SLICE_NS;
	add(c, 2, NICE_0);
	KUNIT_EXPECT_FALSE(test, ht_queue_preempts(&c->q, &c->se[1], false));
	KUNIT_EXPECT_TRUE(test, ht_queue_preempts(&c->q, &c->se[1], true));
	KUNIT_EXPECT_TRUE(test, ht_queue_charge(&c->q, SLICE_NS, SLICE_NS));
	KUNIT_EXPECT_TRUE(test, ht_queue_preempts(&c->q, &c->se[1], false));
	KUNIT_EXPECT_FALSE(test, ht_queue_preempts(&c->q, &c->se[2], false));
}

/* Sums follow what is expected of each, whoever comes, outlasts it and goes. */
static void expected_runs(struct kunit *test)
{
	struct queue_case *c = test->priv;

	c->se[0].expect_ns = 100;
	c->se[1].expect_ns = 20;
	add(c, 0, NICE_0);
	add(c, 1, NICE_0);
	KUNIT_EXPECT_EQ(test, c->q.expect_ns, 120);
	ht_queue_expect(&c->q, &c->se[1], SLICE_NS);
	KUNIT_EXPECT_EQ(test, c->q.expect_ns, 100 + SLICE_NS);
	ht_queue_expect(&c->q, &c->se[2], 7);
	KUNIT_EXPECT_EQ(test, c->q.expect_ns, 100 + SLICE_NS);
	ht_queue_del(&c->q, &c->se[0], true, SLICE_NS);
	ht_queue_expect(&c->q, &c->se[1], 5);
	KUNIT_EXPECT_EQ(test, c->q.expect_ns, 5);
	ht_queue_del(&c->q, &c->se[1], true, SLICE_NS);
	KUNIT_EXPECT_EQ(test, c->q.expect_ns, 0);
	KUNIT_EXPECT_EQ(test, c->q.weight, 0);
	KUNIT_EXPECT_EQ(test, c->q.nr, 0);
}

static struct kunit_case ht_queue_cases[] = {
	KUNIT_CASE(by_weight),
	KUNIT_CASE(lag_is_kept),
	KUNIT_CASE(eligible_first),
	KUNIT_CASE(lag_is_bounded),
	KUNIT_CASE(fresh_is_short),
	KUNIT_CASE(hand_over),
	KUNIT_CASE(parity),
	KUNIT_CASE(expected_runs),
	{}
};

static struct kunit_suite ht_queue_suite = {
	.name = "sched_ht_queue",
	.init = ht_queue_test_init,
	.test_cases = ht_queue_cases,
};

kunit_test_suite(ht_queue_suite);

MODULE_DESCRIPTION("KUnit tests of the queue of SCHED_HT");
MODULE_LICENSE("GPL");
