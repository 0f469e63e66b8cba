/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: is a snapshot what it claims to be, is a verdict the right one?
 *
 * Written from the rules and not from ht_policy.c: every CPU is looked at, one
 * bit at a time, so that a fault in the bit tricks cannot hide in its own
 * judge. The state must hold still from decision to check.
 */
#ifndef _KERNEL_SCHED_HT_CHECK_H
#define _KERNEL_SCHED_HT_CHECK_H

#include "ht_layout.h"
#include "ht_policy.h"

/* What is wrong, the first thing found. */
enum ht_check_error {
	HT_CHECK_OK,

	/* Snapshots. */
	HT_CHECK_LLC_WORDS,	/* LLCs do not divide the words among them */
	HT_CHECK_LLC_SHIFT,	/* a core wider than a word */
	HT_CHECK_LLC_CORES,	/* cores are not counted or not packed */
	HT_CHECK_CPU_SLOT,	/* a CPU's slot is not that CPU's */
	HT_CHECK_SLOT_CPU,	/* a slot's CPU does not point back */
	HT_CHECK_PRESENT,	/* a present bit without a CPU, or the reverse */
	HT_CHECK_PARTIAL,	/* a core that is partial in part */
	HT_CHECK_CLUSTER,	/* not contiguous, splits a core, leaves its LLC */
	HT_CHECK_ORDER,		/* not each LLC once, or a nearer one later */

	/* Verdicts: not legal. */
	HT_CHECK_NO_CPU,	/* none, though the task can go somewhere */
	HT_CHECK_BAD_CPU,	/* no such CPU */
	HT_CHECK_NOT_ALLOWED,	/* outside the affinity mask */
	HT_CHECK_BAD_SLOT,	/* not the slot of that CPU */
	HT_CHECK_PINNED,	/* pinned with a choice, or not pinned without */
	HT_CHECK_NOT_PREV,	/* no snapshot entry and yet not prev */
	HT_CHECK_DOMAIN,	/* another root domain */
	HT_CHECK_WHY,		/* the reason does not agree with the state */
	HT_CHECK_WHOLE_CORE,	/* whole_core does not agree with the state */
	HT_CHECK_DISTANCE,	/* not the distance from the origin */

	/* Verdicts: legal, but a better CPU was left unused. */
	HT_CHECK_BETTER_CORE,	/* a wholly idle core */
	HT_CHECK_BETTER_THREAD,	/* an idle thread */
	HT_CHECK_NEARER,	/* one as good and nearer */
	HT_CHECK_PREV_MISSED,	/* prev or its core was as good and as near */
	HT_CHECK_WAIT,		/* a shorter wait */
	HT_CHECK_DEARER,	/* one that costs less */
	HT_CHECK_PRICE,		/* the price told is not the price */

	HT_NR_CHECKS,
};

enum ht_check_error ht_check_topo(const struct ht_topo *topo);
enum ht_check_error ht_check_select(const struct ht_topo *topo,
				    const struct ht_state *st,
				    const struct ht_request *req,
				    const struct ht_verdict *verdict);
enum ht_check_error ht_check_free_core(const struct ht_topo *topo,
				       const struct ht_state *st,
				       const struct ht_request *req, bool found,
				       const struct ht_verdict *verdict);
const char *ht_check_name(enum ht_check_error error);

#endif /* _KERNEL_SCHED_HT_CHECK_H */
