// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces a function of the running program. QEMU calls its own functions
 * directly, not through the PLT, so no preloaded symbol would be seen.
 */
#include "patch.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#error smtvm needs an x86-64 host
#endif

/* movabs $to, %rax; jmp *%rax */
struct jump {
	uint8_t movabs[2];
	uint64_t to;
	uint8_t jmp[2];
} __attribute__((packed));

int smtvm_replace(void *from, const void *to)
{
	struct jump jump = {
		.movabs = { 0x48, 0xb8 },
		.to = (uintptr_t)to,
		.jmp = { 0xff, 0xe0 },
	};
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)from & ~(page - 1);
	size_t len = (uintptr_t)from + sizeof(jump) - start;

	if (mprotect((void *)start, len, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -1;
	memcpy(from, &jump, sizeof(jump));
	return mprotect((void *)start, len, PROT_READ | PROT_EXEC);
}
