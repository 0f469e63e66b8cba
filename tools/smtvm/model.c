// SPDX-License-Identifier: GPL-2.0
/*
 * Conservative parallel simulation in one thread: each vCPU has a clock of its
 * own, and none runs more than a quantum ahead of the slowest (R. Fujimoto,
 * "Parallel discrete event simulation", CACM 33(10), 1990, calls the quantum a
 * bounded time window). What a thread's siblings did is known up to their
 * clocks; beyond, they are taken to go on as they are, and what was charged on
 * that guess is put right when they change.
 */
#include "model.h"

#include <math.h>
#include <string.h>

/* The seed's two processes: 60 us alone, 110 us beside each other. */
#define SPEED_2		(60.0 / 110.0)

void smtvm_params_default(struct smtvm_params *p)
{
	*p = (struct smtvm_params){ .ips = 1e9, .quantum_ns = 2000 };
	p->speed[1] = 1;
	p->speed[2] = SPEED_2;
	p->speed[3] = 0.40;
	p->speed[4] = 0.30;
	p->speed[5] = 0.25;
	p->speed[6] = 0.21;
	p->speed[7] = 0.185;
	p->speed[8] = 0.165;
}

/* Returns what is wrong, NULL if nothing is. */
const char *smtvm_params_check(const struct smtvm_params *p)
{
	if (!(p->ips >= 1e6 && p->ips <= 1e11))
		return "ips must be 1e6 to 1e11";
	if (!(p->quantum_ns >= 100 && p->quantum_ns <= 1e6))
		return "quantum_ns must be 100 to 1000000";
	for (int k = 2; k <= SMTVM_MAX_THREADS; k++) {
		if (!(p->speed[k] >= 0.01 && p->speed[k] <= 1))
			return "speeds must be 0.01 to 1";
		if (p->speed[k] > p->speed[k - 1])
			return "a thread cannot be faster beside more busy siblings";
	}
	return NULL;
}

void smtvm_model_init(struct smtvm_model *m, const struct smtvm_params *p,
		      int nr_cpus)
{
	memset(m, 0, sizeof(*m));
	m->params = *p;
	m->nr_cpus = nr_cpus;
}

/* @cores: a number per vCPU, equal for siblings. Returns what is wrong or NULL. */
const char *smtvm_model_siblings(struct smtvm_model *m, const int *cores)
{
	for (int i = 0; i < m->nr_cpus; i++) {
		struct smtvm_cpu *c = &m->cpus[i];

		c->nr_siblings = 0;
		for (int j = 0; j < m->nr_cpus; j++) {
			if (j == i || cores[j] != cores[i])
				continue;
			if (c->nr_siblings == SMTVM_MAX_THREADS - 1)
				return "a core has more threads than the model knows speeds for";
			c->siblings[c->nr_siblings++] = j;
		}
	}
	return NULL;
}

static const struct smtvm_change *change(const struct smtvm_cpu *c, uint64_t n)
{
	return &c->changes[n % SMTVM_CHANGES];
}

static uint64_t first_change(const struct smtvm_cpu *c)
{
	return c->nr_changes > SMTVM_CHANGES ? c->nr_changes - SMTVM_CHANGES : 0;
}

/*
 * Whether @c was busy at @at_ns, and, in @until_ns, when that ends as far as is
 * known. Walks back from the newest change: callers ask about the present.
 */
static bool busy_at(const struct smtvm_cpu *c, double at_ns, double *until_ns)
{
	uint64_t n = c->nr_changes, first = first_change(c);

	*until_ns = INFINITY;
	for (; n > first; n--) {
		if (change(c, n - 1)->at_ns <= at_ns)
			return change(c, n - 1)->busy;
		*until_ns = change(c, n - 1)->at_ns;
	}
	/* Before all that is remembered: the opposite of the first change. */
	return c->nr_changes ? !change(c, first)->busy : c->busy;
}

/* How many siblings of @c are busy at @at_ns; they stay so until @until_ns. */
static int busy_siblings(const struct smtvm_model *m, const struct smtvm_cpu *c,
			 double at_ns, double *until_ns)
{
	int nr = 0;

	*until_ns = INFINITY;
	for (int i = 0; i < c->nr_siblings; i++) {
		double until;

		nr += busy_at(&m->cpus[c->siblings[i]], at_ns, &until);
		if (until < *until_ns)
			*until_ns = until;
	}
	return nr;
}

static double ns_per_insn(const struct smtvm_model *m, int busy)
{
	return 1e9 / (m->params.ips * m->params.speed[busy]);
}

/* The clock after @insns more instructions; adds what was shared to *@shared_ns. */
static double run(const struct smtvm_model *m, const struct smtvm_cpu *c,
		  double insns, double *shared_ns)
{
	double at = c->now_ns;

	while (insns > 0) {
		double until, cost, step;
		int others = busy_siblings(m, c, at, &until);

		cost = ns_per_insn(m, others + 1);
		step = insns * cost;
		if (at + step > until)
			step = until - at;
		insns = at + step < until ? 0 : insns - step / cost;
		at += step;
		if (others)
			*shared_ns += step;
	}
	return at;
}

double smtvm_time_after(const struct smtvm_model *m, int cpu, double insns)
{
	double shared = 0;

	return run(m, &m->cpus[cpu], insns, &shared);
}

/* How many instructions bring the clock to @until_ns. */
double smtvm_insns_until(const struct smtvm_model *m, int cpu, double until_ns)
{
	const struct smtvm_cpu *c = &m->cpus[cpu];
	double at = c->now_ns, insns = 0;

	while (at < until_ns) {
		double until;
		int others = busy_siblings(m, c, at, &until);

		if (until > until_ns)
			until = until_ns;
		insns += (until - at) / ns_per_insn(m, others + 1);
		at = until;
	}
	return insns;
}

void smtvm_charge(struct smtvm_model *m, int cpu, double insns)
{
	struct smtvm_cpu *c = &m->cpus[cpu];
	double at = run(m, c, insns, &c->shared_ns);

	c->busy_ns += at - c->now_ns;
	c->now_ns = at;
}

/*
 * How far @cpu may run: to the deadline, and no more than a quantum beyond the
 * slowest of the other busy vCPUs.
 */
double smtvm_limit(const struct smtvm_model *m, int cpu, double deadline_ns)
{
	double limit = deadline_ns;

	for (int i = 0; i < m->nr_cpus; i++) {
		const struct smtvm_cpu *c = &m->cpus[i];

		if (i == cpu || !c->busy)
			continue;
		if (c->now_ns + m->params.quantum_ns < limit)
			limit = c->now_ns + m->params.quantum_ns;
	}
	return limit;
}

/*
 * A sibling of @c changed at @at_ns, @before its @others counted as they were:
 * what @c did since then was charged at the wrong speed.
 */
static void put_right(struct smtvm_model *m, struct smtvm_cpu *c, double at_ns,
		      int before, int after)
{
	double start = at_ns > c->since_ns ? at_ns : c->since_ns;
	double was = c->now_ns - start, is;

	if (!c->busy || was <= 0)
		return;
	is = was * m->params.speed[before] / m->params.speed[after];
	c->now_ns = start + is;
	c->busy_ns += is - was;
	if (after == 1)
		c->shared_ns -= was;
	else if (before == 1)
		c->shared_ns += is;
	else
		c->shared_ns += is - was;
}

static void add_change(struct smtvm_model *m, struct smtvm_cpu *c, double at_ns,
		       bool busy)
{
	for (int i = 0; i < c->nr_siblings; i++) {
		struct smtvm_cpu *s = &m->cpus[c->siblings[i]];
		double until;
		int others = busy_siblings(m, s, at_ns, &until) - c->busy;

		put_right(m, s, at_ns, others + c->busy + 1, others + busy + 1);
	}
	c->changes[c->nr_changes++ % SMTVM_CHANGES] =
		(struct smtvm_change){ .at_ns = at_ns, .busy = busy };
	c->busy = busy;
	c->since_ns = at_ns;
	c->now_ns = at_ns;
}

/* @cpu is woken at @at_ns; it cannot start before it stopped. */
void smtvm_set_busy(struct smtvm_model *m, int cpu, double at_ns)
{
	struct smtvm_cpu *c = &m->cpus[cpu];

	if (c->busy)
		return;
	if (at_ns < c->now_ns)
		at_ns = c->now_ns;
	c->idle_ns += at_ns - c->since_ns;
	add_change(m, c, at_ns, true);
}

void smtvm_set_idle(struct smtvm_model *m, int cpu)
{
	struct smtvm_cpu *c = &m->cpus[cpu];

	if (c->busy)
		add_change(m, c, c->now_ns, false);
	smtvm_advance(m);
}

/* Moves the common time up to the slowest busy vCPU, or to where the last stopped. */
void smtvm_advance(struct smtvm_model *m)
{
	double least = INFINITY, last = m->now_ns;

	for (int i = 0; i < m->nr_cpus; i++) {
		const struct smtvm_cpu *c = &m->cpus[i];

		if (c->busy && c->now_ns < least)
			least = c->now_ns;
		if (c->now_ns > last)
			last = c->now_ns;
	}
	if (least == INFINITY)
		least = last;
	if (least > m->now_ns)
		m->now_ns = least;
}

/* All vCPUs are idle: nothing happens before @at_ns. */
void smtvm_skip_to(struct smtvm_model *m, double at_ns)
{
	if (at_ns > m->now_ns)
		m->now_ns = at_ns;
}
