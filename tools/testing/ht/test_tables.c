// SPDX-License-Identifier: GPL-2.0
/* The decision tables that the kernel runs under KUnit too. */
#include <stdio.h>

#include "test.h"
#include "tests/ht_policy_cases.h"

static struct ht_bench bench;

static void run_case(const struct ht_case *c)
{
	struct ht_result r = { 0 };

	test_begin("%s: %s", ht_machines[c->machine].name, c->name);
	if (ht_case_run(&bench, c, &r))
		return;
	test_fail("got CPU %d (%s), expected %d (%s); layout %s, snapshot %s, verdict %s",
		  (int)r.verdict.cpu, ht_why_name(r.verdict.why), (int)c->cpu,
		  ht_why_name(c->why), ht_layout_error_name(r.layout),
		  ht_check_name(r.topo), ht_check_name(r.check));
}

static void run_spread(const struct ht_spread *s, bool claims)
{
	struct ht_result r = { 0 };

	test_begin("%s: %s%s", ht_machines[s->machine].name, s->name,
		   claims ? ", at once (INV-7)" : "");
	if (ht_spread_run(&bench, s, claims, &r))
		return;
	test_fail("on %u cores, expected %u; layout %s, verdict %s",
		  ht_bench_taken_cores(&bench), s->cores,
		  ht_layout_error_name(r.layout), ht_check_name(r.check));
}

void test_tables(void)
{
	size_t i;

	for (i = 0; i < HT_NR_CASES; i++)
		run_case(&ht_cases[i]);
	for (i = 0; i < HT_NR_SPREADS; i++) {
		run_spread(&ht_spreads[i], false);
		run_spread(&ht_spreads[i], true);
	}
}
