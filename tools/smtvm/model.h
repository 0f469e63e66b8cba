/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of time: what each vCPU's clock shows after so many instructions,
 * and how far each may run before the others have caught up. Pure: no QEMU, no
 * lock, no system call; the caller owns everything and serialises all calls.
 */
#ifndef SMTVM_MODEL_H
#define SMTVM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define SMTVM_MAX_CPUS		256
#define SMTVM_MAX_THREADS	8	/* of one core */
#define SMTVM_CHANGES		64	/* remembered per vCPU; a power of two */

/**
 * struct smtvm_params - what the machine is like
 * @ips: instructions per guest second of a thread that has its core to itself
 * @speed: @speed[k] is the speed of a thread while k threads of its core are
 *	busy, itself included, as a fraction of @ips; @speed[1] is 1
 * @quantum_ns: how far a vCPU may run ahead of the slowest busy one
 */
struct smtvm_params {
	double ips;
	double speed[SMTVM_MAX_THREADS + 1];
	double quantum_ns;
};

/**
 * struct smtvm_change - a vCPU became busy, or idle
 * @at_ns: when, in guest time
 * @busy: what it became
 */
struct smtvm_change {
	double at_ns;
	bool busy;
};

/**
 * struct smtvm_cpu - one vCPU's time
 * @now_ns: its clock; of an idle vCPU, when it became idle
 * @busy: it executes instructions
 * @since_ns: the time of its last change
 * @changes: its last changes, a ring in order of time
 * @nr_changes: all changes so far; the last is at (@nr_changes - 1) modulo size
 * @siblings: the other threads of its core
 * @nr_siblings: how many
 * @busy_ns: time spent busy
 * @shared_ns: part of @busy_ns beside at least one busy sibling
 * @idle_ns: time spent idle, up to @since_ns
 */
struct smtvm_cpu {
	double now_ns;
	bool busy;
	double since_ns;
	struct smtvm_change changes[SMTVM_CHANGES];
	uint64_t nr_changes;
	int siblings[SMTVM_MAX_THREADS - 1];
	int nr_siblings;
	double busy_ns;
	double shared_ns;
	double idle_ns;
};

/**
 * struct smtvm_model - the machine
 * @params: its constants
 * @cpus: its vCPUs
 * @nr_cpus: how many
 * @now_ns: time that every busy vCPU has reached; never falls
 */
struct smtvm_model {
	struct smtvm_params params;
	struct smtvm_cpu cpus[SMTVM_MAX_CPUS];
	int nr_cpus;
	double now_ns;
};

void smtvm_params_default(struct smtvm_params *p);
const char *smtvm_params_check(const struct smtvm_params *p);
void smtvm_model_init(struct smtvm_model *m, const struct smtvm_params *p,
		      int nr_cpus);
const char *smtvm_model_siblings(struct smtvm_model *m, const int *cores);

double smtvm_time_after(const struct smtvm_model *m, int cpu, double insns);
double smtvm_insns_until(const struct smtvm_model *m, int cpu, double until_ns);
void smtvm_charge(struct smtvm_model *m, int cpu, double insns);
double smtvm_limit(const struct smtvm_model *m, int cpu, double deadline_ns);
void smtvm_set_busy(struct smtvm_model *m, int cpu, double at_ns);
void smtvm_set_idle(struct smtvm_model *m, int cpu);
void smtvm_advance(struct smtvm_model *m);
void smtvm_skip_to(struct smtvm_model *m, double at_ns);

#endif
