/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For programs in the guest: smtvm_mark("text") makes the emulator write its
 * counters with that text, at no cost in guest time that would show. Anywhere
 * else it reads one byte.
 */
#ifndef SMTVM_MARK_H
#define SMTVM_MARK_H

#define SMTVM_MARK_MAX	200	/* longer texts are cut */

/*
 * testb $0x53,(%rax) behind segment prefixes that mean nothing in 64-bit mode:
 * no compiler emits this, and every processor runs it.
 */
#define SMTVM_MARK_BYTES { 0x2e, 0x3e, 0x26, 0x36, 0x2e, 0x3e, 0x26, 0xf6, 0x00, 0x53 }

#if defined(__x86_64__)
static inline void smtvm_mark(const char *label)
{
	__asm__ volatile(".byte 0x2e,0x3e,0x26,0x36,0x2e,0x3e,0x26,0xf6,0x00,0x53"
			 : : "a" (label) : "cc", "memory");
}
#else
static inline void smtvm_mark(const char *label)
{
	(void)label;
}
#endif

#endif
