// SPDX-License-Identifier: GPL-2.0
/*
 * Which vCPUs are threads of one core: read from QEMU's own CPU objects, as the
 * guest will see them.
 */
#include <stdio.h>
#include <string.h>

#include "qemu_abi.h"
#include "smtvm.h"

static const char *const levels[] = { "socket-id", "die-id", "module-id", "core-id" };

#define NR_LEVELS	((int)(sizeof(levels) / sizeof(levels[0])))

static void read_place(struct CPUState *cpu, int64_t place[NR_LEVELS])
{
	/* A level that this machine type lacks reads as -1 for all. */
	for (int i = 0; i < NR_LEVELS; i++)
		place[i] = object_property_get_int((struct Object *)cpu, levels[i], NULL);
}

/* Numbers the groups of vCPUs that agree in their first @nr levels. */
static void number(int64_t (*place)[NR_LEVELS], int nr_cpus, int nr, int *group)
{
	for (int i = 0; i < nr_cpus; i++) {
		group[i] = i;
		for (int j = 0; j < i; j++) {
			if (memcmp(place[i], place[j], (size_t)nr * sizeof(place[i][0])))
				continue;
			group[i] = group[j];
			break;
		}
	}
}

/* Under the lock, before the guest runs; again when a vCPU is added. */
void smtvm_machine_read(int nr_cpus)
{
	int64_t place[SMTVM_MAX_CPUS][NR_LEVELS];
	int core[SMTVM_MAX_CPUS], llc[SMTVM_MAX_CPUS];
	const char *wrong;

	smtvm_guest.model.nr_cpus = nr_cpus;
	for (int i = 0; i < nr_cpus; i++) {
		smtvm_guest.cpus[i] = qemu_get_cpu(i);
		if (!smtvm_guest.cpus[i])
			smtvm_die("QEMU has no vCPU %d of %d", i, nr_cpus);
		read_place(smtvm_guest.cpus[i], place[i]);
	}
	number(place, nr_cpus, NR_LEVELS, core);
	number(place, nr_cpus, smtvm_guest.llc_levels, llc);
	wrong = smtvm_model_siblings(&smtvm_guest.model, core);
	if (wrong)
		smtvm_die("%s", wrong);
	if (smtvm_guest.caches)
		smtvm_caches_place(smtvm_guest.caches, nr_cpus, core, llc);
}
