/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the plugin that need QEMU, and what they share.
 */
#ifndef SMTVM_H
#define SMTVM_H

#include <pthread.h>
#include <stdint.h>

#include "cache.h"
#include "model.h"

/**
 * struct smtvm_count - counted by translated code itself, per vCPU
 * @kernel_insns: instructions of blocks at kernel addresses
 * @user_insns: instructions of all other blocks
 * @extra: instructions that instructions cost more than one (a pause, a cache
 *	miss), charged as time but not counted as executed
 *
 * Whole blocks: one left early by a fault counts in full, unlike in @insns of
 * struct smtvm_guest.
 */
struct smtvm_count {
	uint64_t kernel_insns;
	uint64_t user_insns;
	uint64_t extra;
};

/**
 * struct smtvm_guest - the machine under emulation
 * @lock: serialises all of it but @count: the vCPUs' thread writes the model,
 *	the main loop's wakes vCPUs
 * @model: its time
 * @cpus: QEMU's vCPUs, by index
 * @insns: executed by each vCPU until its last slice's end
 * @count: by each vCPU; written by that vCPU's translated code
 * @caches: the model of its caches, if asked for
 * @out: where counters are written, JSON lines
 * @llc_levels: vCPUs that agree in so many of socket, die and module share an L3
 */
struct smtvm_guest {
	pthread_mutex_t lock;
	struct smtvm_model model;
	struct CPUState *cpus[SMTVM_MAX_CPUS];
	uint64_t insns[SMTVM_MAX_CPUS];
	struct smtvm_count *count[SMTVM_MAX_CPUS];
	struct smtvm_caches *caches;
	const char *out;
	int llc_levels;
};

extern struct smtvm_guest smtvm_guest;

_Noreturn void smtvm_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* clock.c */
void smtvm_clock_replace(void);
double smtvm_clock_now(uint64_t *insns);

/* idle.c */
bool smtvm_workers_busy(void);

/* machine.c */
void smtvm_machine_read(int nr_cpus);

/* counters.c */
void smtvm_counters_write(const char *event, const char *label, int marker);

#endif
