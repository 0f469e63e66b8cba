/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHED_HT: the decisions, apart from the mechanism that carries them out.
 *
 * Pure functions: no locks, clocks, allocation or globals; bounded loops.
 * The same source is compiled into the kernel and into tools/lib/ht.
 *
 * The state may change while it is read. A verdict is then still legal
 * (allowed, in the snapshot, in the root domain), but it is a hint: the caller
 * claims the slot and looks at the CPU again before it counts. The snapshot
 * and the request must hold still.
 */
#ifndef _KERNEL_SCHED_HT_POLICY_H
#define _KERNEL_SCHED_HT_POLICY_H

#include "ht_types.h"

ht_u64 ht_word_free_cores(const struct ht_topo *topo, const struct ht_state *st,
			  ht_u32 word);
ht_u64 ht_word_shared_threads(const struct ht_topo *topo,
			      const struct ht_state *st, ht_u32 word);
ht_u64 ht_core_mask(const struct ht_topo *topo, ht_u32 slot);
bool ht_core_is_free(const struct ht_topo *topo, const struct ht_state *st,
		     ht_u32 slot);
ht_u8 ht_slot_distance(const struct ht_topo *topo, ht_u32 a, ht_u32 b);
bool ht_claim_is_void(const struct ht_state *st, ht_u32 slot);
void ht_policy_select(const struct ht_topo *topo, const struct ht_state *st,
		      const struct ht_request *req, struct ht_verdict *verdict);
bool ht_policy_free_core(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req,
			 struct ht_verdict *verdict);
bool ht_policy_move_pays(const struct ht_topo *topo, const struct ht_state *st,
			 const struct ht_request *req, ht_u32 slot,
			 struct ht_verdict *verdict);
const char *ht_why_name(enum ht_why why);
const char *ht_kind_name(enum ht_kind kind);

#endif /* _KERNEL_SCHED_HT_POLICY_H */
