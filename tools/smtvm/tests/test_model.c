// SPDX-License-Identifier: GPL-2.0
/* The model of time and of caches, without QEMU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache.h"
#include "model.h"

static int passed, failed;

static void check(bool ok, const char *what)
{
	if (ok)
		passed++;
	else
		failed++;
	if (!ok)
		printf("FAIL: %s\n", what);
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

/* Two cores of two threads: 0,1 and 2,3. */
static struct smtvm_model *two_cores(void)
{
	static const int core[] = { 0, 0, 2, 2 };
	static struct smtvm_model m;
	struct smtvm_params p;

	smtvm_params_default(&p);
	smtvm_model_init(&m, &p, 4);
	if (smtvm_model_siblings(&m, core))
		abort();
	return &m;
}

/* Runs busy vCPUs in turn, as QEMU would, until all have reached @until_ns. */
static void run_until(struct smtvm_model *m, double until_ns, double slice_insns)
{
	while (m->now_ns < until_ns) {
		for (int i = 0; i < m->nr_cpus; i++) {
			double n;

			if (!m->cpus[i].busy)
				continue;
			n = smtvm_insns_until(m, i, smtvm_limit(m, i, until_ns));
			smtvm_charge(m, i, n < slice_insns ? n : slice_insns);
			smtvm_advance(m);
		}
	}
}

static void test_alone(void)
{
	struct smtvm_model *m = two_cores();

	smtvm_set_busy(m, 0, 0);
	check(near(smtvm_time_after(m, 0, 1000), 1000, 1e-6), "alone: an instruction is a ns");
	smtvm_set_busy(m, 2, 0);
	check(near(smtvm_time_after(m, 0, 1000), 1000, 1e-6), "another core slows nobody");
	check(near(smtvm_insns_until(m, 0, 500), 500, 1e-6), "instructions until a time");
}

static void test_beside(void)
{
	struct smtvm_model *m = two_cores();

	smtvm_set_busy(m, 0, 0);
	smtvm_set_busy(m, 1, 0);
	check(near(smtvm_time_after(m, 0, 600), 1100, 1e-6), "beside a sibling: 60 to 110");
	smtvm_charge(m, 0, 600);
	check(near(m->cpus[0].shared_ns, 1100, 1e-6), "time beside a sibling is counted");
	check(near(m->cpus[0].busy_ns, 1100, 1e-6), "so is busy time");
}

/* The sibling stops at 1000 ns, when this vCPU has run to 1500 on the guess it goes on. */
static void test_put_right(void)
{
	struct smtvm_model *m = two_cores();
	double insns = 1500 * 60.0 / 110;

	smtvm_set_busy(m, 0, 0);
	smtvm_set_busy(m, 1, 0);
	smtvm_charge(m, 0, insns);
	smtvm_charge(m, 1, 1000 * 60.0 / 110);
	smtvm_set_idle(m, 1);
	check(near(m->cpus[0].now_ns, 1000 + 500 * 60.0 / 110, 1e-6), "a wrong guess is put right");
	check(near(m->cpus[0].shared_ns, 1000, 1e-6), "in the shared time too");
	smtvm_set_busy(m, 1, 1100);
	check(near(m->cpus[0].now_ns, 1100 + (500 * 60.0 / 110 - 100) * 110 / 60, 1e-6),
	      "and when the sibling starts");
}

/* A sibling that ran ahead and stopped: what it did is known, not guessed. */
static void test_known_past(void)
{
	struct smtvm_model *m = two_cores();

	smtvm_set_busy(m, 0, 0);
	smtvm_set_busy(m, 1, 0);
	smtvm_charge(m, 1, 600);
	smtvm_set_idle(m, 1);
	check(near(smtvm_time_after(m, 0, 600 + 400), 1100 + 400, 1e-6),
	      "slow until the sibling stopped, fast after");
	check(near(smtvm_insns_until(m, 0, 1500), 1000, 1e-6), "and the inverse");
}

/* How the work is cut into slices must not change what a clock shows. */
static void test_slices(void)
{
	static const double slice[] = { 1e9, 700, 50, 13 };

	for (int s = 0; s < 4; s++) {
		struct smtvm_model *m = two_cores();

		for (int i = 0; i < 3; i++)
			smtvm_set_busy(m, i, 0);
		run_until(m, 100000, slice[s]);
		smtvm_set_idle(m, 1);
		run_until(m, 200000, slice[s]);
		check(near(m->cpus[0].shared_ns, 100000, 2 * m->params.quantum_ns),
		      "shared time does not depend on slices");
		check(near(m->cpus[0].now_ns, 200000, 1e-3), "all stop at the deadline");
		check(near(m->cpus[2].shared_ns, 0, 1e-6), "a lone thread shares nothing");
	}
}

static void test_quantum(void)
{
	struct smtvm_model *m = two_cores();

	smtvm_set_busy(m, 0, 0);
	check(near(smtvm_limit(m, 0, 1e6), 1e6, 1e-6), "alone: to the deadline");
	smtvm_set_busy(m, 2, 0);
	check(near(smtvm_limit(m, 0, 1e6), m->params.quantum_ns, 1e-6), "a quantum ahead, no more");
}

static void test_idle(void)
{
	struct smtvm_model *m = two_cores();

	smtvm_set_busy(m, 0, 100);
	check(near(m->cpus[0].idle_ns, 100, 1e-6), "idle time");
	smtvm_charge(m, 0, 50);
	smtvm_set_idle(m, 0);
	check(near(m->now_ns, 150, 1e-6), "common time follows the last to stop");
	smtvm_skip_to(m, 1000);
	check(near(m->now_ns, 1000, 1e-6), "idle time is skipped");
	smtvm_set_busy(m, 0, 120);
	check(near(m->cpus[0].now_ns, 150, 1e-6), "nobody wakes before it slept");
}

/* Random histories: clocks and the common time never go back, sums add up. */
static void test_random(void)
{
	bool forward = true, sums = true;

	srand(1);
	for (int round = 0; round < 200; round++) {
		struct smtvm_model *m = two_cores();
		double now = 0;

		for (int step = 0; step < 500; step++) {
			int cpu = rand() % 4;
			struct smtvm_cpu *c = &m->cpus[cpu];

			if (!c->busy)
				smtvm_set_busy(m, cpu, m->now_ns + rand() % 100);
			else if (rand() % 8 == 0)
				smtvm_set_idle(m, cpu);
			else
				smtvm_charge(m, cpu, rand() % 3000);
			smtvm_advance(m);
			forward &= m->now_ns >= now;
			now = m->now_ns;
		}
		for (int i = 0; i < 4; i++) {
			struct smtvm_cpu *c = &m->cpus[i];

			sums &= near(c->busy_ns + c->idle_ns, c->busy ? c->now_ns : c->since_ns,
				     1e-3);
			sums &= c->shared_ns >= -1e-3 && c->shared_ns <= c->busy_ns + 1e-3;
		}
	}
	check(forward, "common time never goes back");
	check(sums, "busy and idle time add up, shared is a part of busy");
}

static void test_params(void)
{
	static const int one_core[9] = { 0 };
	struct smtvm_params p;
	struct smtvm_model *m = two_cores();

	smtvm_params_default(&p);
	check(!smtvm_params_check(&p), "defaults are valid");
	p.speed[2] = 1.2;
	check(smtvm_params_check(&p), "no thread is faster than alone");
	smtvm_params_default(&p);
	p.ips = NAN;
	check(smtvm_params_check(&p), "ips must be a number");
	m->nr_cpus = 9;
	check(smtvm_model_siblings(m, one_core), "nine threads of a core are refused");
}

/* The @n-th line that is simulated. */
static uint64_t line(unsigned int n)
{
	return ((uint64_t)n * SMTVM_SAMPLE + SMTVM_SAMPLE_PHASE) << SMTVM_LINE_SHIFT;
}

/* Cost of reading @n lines once. */
static unsigned int sweep(struct smtvm_caches *c, int cpu, unsigned int first, unsigned int n)
{
	unsigned int cost = 0;

	for (unsigned int i = first; i < first + n; i++)
		cost += smtvm_caches_access(c, cpu, line(i), false);
	return cost;
}

static void test_caches(void)
{
	static const int core[] = { 0, 0, 2, 2 }, llc[] = { 0, 0, 0, 0 };
	struct smtvm_cache_params p;
	struct smtvm_caches *c;
	unsigned int l2, l3;
	const unsigned int fits = 1024, floods = 4096;	/* L2: 2048 sampled lines */
	uint64_t m2, m3;

	smtvm_cache_params_default(&p);
	check(!smtvm_cache_params_check(&p), "cache defaults are valid");
	c = smtvm_caches_new(&p);
	smtvm_caches_place(c, 4, core, llc);
	l2 = (unsigned int)p.l2_miss_insns * SMTVM_SAMPLE;
	l3 = (unsigned int)p.l3_miss_insns * SMTVM_SAMPLE;
	check(sweep(c, 0, 0, fits) == fits * l3, "first use misses both levels");
	check(sweep(c, 0, 0, fits) == 0, "what was used is there");
	check(sweep(c, 1, 0, fits) == 0, "the sibling shares it");
	check(sweep(c, 2, 0, fits) == fits * l2, "another core of the LLC refills its L2");
	check(sweep(c, 3, 100000, floods) == floods * l3, "a sibling streams");
	check(sweep(c, 2, 0, fits) == fits * l2, "which evicts the neighbour's data");
	check(sweep(c, 0, 0, fits) == 0, "and not that of another core");
	smtvm_caches_access(c, 2, line(5), true);
	check(smtvm_caches_access(c, 0, line(5), false) == l2, "a write takes the line away");
	smtvm_caches_misses(c, 0, &m2, &m3);
	check(m2 == (fits + 1) * SMTVM_SAMPLE && m3 == fits * SMTVM_SAMPLE, "misses are counted");
	smtvm_caches_free(c);
}

int main(void)
{
	test_alone();
	test_beside();
	test_put_right();
	test_known_past();
	test_slices();
	test_quantum();
	test_idle();
	test_random();
	test_params();
	test_caches();
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
