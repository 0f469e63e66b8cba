// SPDX-License-Identifier: GPL-2.0
/*
 * Prices: the arithmetic that they and the estimate are made of, what must hold
 * for any numbers, and un-sharing that has to pay.
 */
#include <stdio.h>
#include <string.h>

#include "gen.h"
#include "ht_price.h"
#include "test.h"
#include "tests/ht_policy_cases.h"

static struct ht_bench bench;

#define CHECK_NS(got, want)						\
	do {								\
		ht_u64 got_ = (got), want_ = (want);			\
									\
		CHECK(got_ == want_, "got %llu ns, expected %llu",	\
		      got_, want_);					\
	} while (0)

/* A request of default prices; residence in us. */
static struct ht_request request(ht_u32 run_us, ht_u32 core_us, ht_u32 llc_us,
				 ht_u32 node_us)
{
	struct ht_request req = {
		.smt = true, .priced = true, .allowed_all = true,
		.run_ns = run_us * 1000ull,
		.resid_ns = { core_us * 1000, llc_us * 1000, node_us * 1000 },
	};

	ht_bench_prices(&req);
	return req;
}

static struct ht_costs costs(const struct ht_request *req)
{
	struct ht_costs c;

	ht_costs_fill(&c, req);
	return c;
}

static void test_share(void)
{
	struct ht_request req = request(55, 0, 0, 0);

	test_begin("share: a run of 55 us at 55 %% takes 45 us longer");
	CHECK_NS(costs(&req).share_ns, 45000);
	test_begin("share: at 10 %%, nine times as long again");
	req.prices.yield_pct = 10;
	CHECK_NS(costs(&req).share_ns, 9 * 55000);
	test_begin("share: at 100 %%, nothing");
	req.prices.yield_pct = 100;
	CHECK_NS(costs(&req).share_ns, 0);
	test_begin("share: the longest run does not overflow");
	req.prices.yield_pct = 1;
	req.run_ns = HT_AVG_MAX_NS;
	CHECK_NS(costs(&req).share_ns, 99ull * HT_AVG_MAX_NS);
}

static void test_move(void)
{
	struct ht_request req = request(0, 200, 4000, 20000);
	struct ht_costs c = costs(&req);

	test_begin("move: all warm, by distance");
	CHECK_NS(c.move_ns[0], 0);
	CHECK_NS(c.move_ns[1], 5000);
	CHECK_NS(c.move_ns[2], 40000);
	CHECK_NS(c.move_ns[3], 290000);
	CHECK_NS(c.move_ns[4], 540000);
	test_begin("move: all cold, an eighth is left");
	req = request(0, 0, 0, 0);
	c = costs(&req);
	CHECK_NS(c.move_ns[2], 5000);
	CHECK_NS(c.move_ns[4], 67500);
	test_begin("move: half warm, linear");
	req = request(0, 100, 0, 0);
	CHECK_NS(costs(&req).move_ns[2], 22500);
	test_begin("move: a cache that takes no time to fill is warm");
	memset(req.prices.fill_ns, 0, sizeof(req.prices.fill_ns));
	CHECK_NS(costs(&req).move_ns[2], 40000);
	test_begin("move: more residence than fits is all of it");
	req = request(0, 3000000, 4000000, 4000000);
	CHECK_NS(costs(&req).move_ns[4], 540000);
}

static void test_apart(void)
{
	struct ht_request req = request(0, 0, 0, 0);
	struct ht_costs c;

	test_begin("apart: eight wakeups in a row make a partner, seven none");
	req.pair = HT_PAIR_MIN - 1;
	CHECK(!ht_has_partner(&req), "at seven");
	CHECK_NS(costs(&req).apart_ns[4], 0);
	req.pair = HT_PAIR_MIN;
	CHECK(ht_has_partner(&req), "not at eight");
	test_begin("apart: this wakeup within an LLC, all of them beyond");
	c = costs(&req);
	CHECK_NS(c.apart_ns[0], 0);
	CHECK_NS(c.apart_ns[1], 250);
	CHECK_NS(c.apart_ns[2], 500);
	CHECK_NS(c.apart_ns[3], 16500);
	CHECK_NS(c.apart_ns[4], 32500);
	test_begin("apart: nobody has a partner with sched_ht_pair_ns at 0");
	req.prices.pair_ns = 0;
	CHECK(!ht_has_partner(&req), "has one");
}

static void test_follow(void)
{
	test_begin("follow: both tails against two wakeups");
	CHECK(ht_follow_pays(3000, 6999, 5000), "9.999 us in place of 10");
	CHECK(!ht_follow_pays(3000, 7000, 5000), "10 us in place of 10");
	test_begin("follow: both of a pair come to the same answer");
	CHECK(ht_follow_pays(1000, 8000, 5000) ==
	      ht_follow_pays(8000, 1000, 5000), "they differ");
	test_begin("follow: nobody does with sched_ht_wake_ns at 0");
	CHECK(!ht_follow_pays(0, 0, 0), "follows");
	test_begin("follow: nor who is not known yet");
	CHECK(!ht_follow_pays(3000000, 3000000, 1000000), "follows");
}

/* What must hold whatever the numbers are: the search relies on it. */
static void test_monotone(void)
{
	struct source src = { .seed = 1 };
	struct world w;
	int round;
	ht_u32 d;

	test_begin("no price falls with distance, or with residence");
	for (round = 0; round < 3000; round++) {
		struct ht_costs c, warmer;

		world_make(&w, &src);
		c = costs(&w.req);
		for (d = 1; d < HT_NR_DISTANCES; d++)
			CHECK(c.move_ns[d] >= c.move_ns[d - 1] &&
			      c.apart_ns[d] >= c.apart_ns[d - 1],
			      "round %d, distance %u", round, d);
		for (d = 0; d < HT_LEVELS; d++)
			w.req.resid_ns[d] += w.req.resid_ns[d] < 2000000000;
		warmer = costs(&w.req);
		for (d = 0; d < HT_NR_DISTANCES; d++)
			CHECK(warmer.move_ns[d] >= c.move_ns[d],
			      "round %d, warmer, distance %u", round, d);
		world_free(&w);
	}
}

static void test_resid(void)
{
	const ht_u32 fill = 200000;

	test_begin("warmth: a streaming neighbour makes a task cold fast");
	CHECK_NS(ht_resid_next(fill, fill, 0, fill), 0);
	CHECK_NS(ht_resid_next(fill, 10ull * fill, 0, fill), 0);
	test_begin("warmth: a long sleep on an idle core does not");
	CHECK_NS(ht_resid_next(fill, 0, 0, fill), fill);
	test_begin("warmth: it falls in step with what others ran");
	CHECK_NS(ht_resid_next(fill, fill / 4, 0, fill), fill * 3 / 4);
	CHECK_NS(ht_resid_next(fill / 2, fill / 4, 0, fill), fill / 4);
	test_begin("warmth: a task that ran 20 us is not warm");
	CHECK_NS(ht_resid_next(0, 0, 20000, fill), 20000);
	test_begin("warmth: it saturates");
	CHECK_NS(ht_resid_next(0, 0, 10ull * fill, fill), fill);
	CHECK_NS(ht_resid_next(fill, 0, 1, fill), fill);
	CHECK_NS(ht_resid_next(0, ~(ht_u64)0, ~(ht_u64)0, fill), fill);
	test_begin("warmth: first the others, then the task itself");
	CHECK_NS(ht_resid_next(fill, 3ull * fill, 5000, fill), 5000);
	test_begin("warmth: a smaller cache than before");
	CHECK_NS(ht_resid_next(fill, 0, 0, fill / 2), fill / 2);
}

static void test_averages(void)
{
	ht_u32 avg = 0;
	int i;

	test_begin("average: a sample counts for a quarter");
	CHECK_NS(ht_avg_next(0, 4000), 1000);
	CHECK_NS(ht_avg_next(4000, 0), 3000);
	test_begin("average: settles at a steady sample");
	for (i = 0; i < 60; i++)
		avg = ht_avg_next(avg, 100000);
	CHECK(avg > 99900 && avg <= 100000, "%u", avg);
	test_begin("average: forgets a burst");
	for (i = 0; i < 60; i++)
		avg = ht_avg_next(avg, 0);
	CHECK(avg < 10, "%u", avg);
	test_begin("average: bounded");
	for (i = 0; i < 100; i++)
		avg = ht_avg_next(avg, ~(ht_u64)0);
	CHECK(avg <= HT_AVG_MAX_NS && avg > HT_AVG_MAX_NS - 10, "%u", avg);
	test_begin("rest: what is left of an average run");
	CHECK_NS(ht_expected_rest(100, 30), 70);
	test_begin("rest: who outlasts it goes on as long again");
	CHECK_NS(ht_expected_rest(100, 60), 60);
	CHECK_NS(ht_expected_rest(100, 5000), 5000);
	CHECK_NS(ht_expected_rest(100, ~(ht_u64)0), HT_AVG_MAX_NS);
}

/* Beside a hog on CPU 0 of 2 x 2, core 1 idle: does CPU 1's task leave? */
static bool leaves(ht_u32 rest_us, ht_u32 core_us, const char *light,
		   struct ht_verdict *v)
{
	const struct ht_case c = { .machine = M_2C2T, .busy = "0-1",
				   .light = light, .kind = HT_KIND_UNSHARE,
				   .prev = 1, .origin = 1, .run_us = rest_us,
				   .core_us = core_us, .llc_us = 4000 };
	enum ht_check_error error;
	struct ht_verdict pays;
	bool found;

	CHECK(!ht_bench_machine(&bench, c.machine), "no such machine");
	ht_bench_state(&bench, &c);
	ht_bench_request(&bench, &c);
	found = ht_policy_free_core(&bench.topo, &bench.state, &bench.req, v);
	error = ht_check_free_core(&bench.topo, &bench.state, &bench.req, found,
				   v);
	CHECK(!error, "%s", ht_check_name(error));
	CHECK(ht_policy_move_pays(&bench.topo, &bench.state, &bench.req,
				  bench.topo.cpu_slot[2], &pays) == found &&
	      pays.why == v->why && pays.cpu == v->cpu,
	      "asked for that core: CPU %d (%s)", (int)pays.cpu,
	      ht_why_name(pays.why));
	return found;
}

static void test_unshare(void)
{
	struct ht_verdict v;

	test_begin("unshare: a task that goes on for 5 ms leaves");
	CHECK(leaves(5000, 200, NULL, &v) && v.cpu == 2, "CPU %d", (int)v.cpu);
	CHECK_NS(v.price.move_ns, 40000);
	test_begin("unshare: one with 30 us to go does not");
	CHECK(!leaves(30, 200, NULL, &v) && v.why == HT_WHY_WARM, "%s",
	      ht_why_name(v.why));
	CHECK_NS(v.price.share_ns, 24545);
	CHECK_NS(v.core_ns, 40000);
	test_begin("unshare: the same, with nothing to lose");
	CHECK(leaves(30, 0, NULL, &v), "%s", ht_why_name(v.why));
	test_begin("unshare: a gain of less than a move's least price is none");
	CHECK(!leaves(6, 0, NULL, &v), "%s", ht_why_name(v.why));
	test_begin("unshare: beside nice 19 it has to go on twice as long");
	CHECK(!leaves(90, 200, "0", &v) && leaves(90, 200, NULL, &v) &&
	      leaves(110, 200, "0", &v), "%s", ht_why_name(v.why));
	test_begin("unshare: nothing to weigh without prices, or a place");
	bench.req.priced = false;
	bench.req.run_ns = 0;
	CHECK(ht_policy_move_pays(&bench.topo, &bench.state, &bench.req, 2, &v),
	      "prices off");
	bench.req.priced = true;
	ht_bench_allow(&bench, "");
	CHECK(ht_policy_move_pays(&bench.topo, &bench.state, &bench.req, 2, &v),
	      "no CPU allowed");
}

void test_price(void)
{
	test_share();
	test_move();
	test_apart();
	test_follow();
	test_monotone();
	test_resid();
	test_averages();
	test_unshare();
}
