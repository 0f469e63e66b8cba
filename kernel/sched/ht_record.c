// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: asking the policy, and recording what it was asked and said.
 *
 * The words change while a decision reads them. While the tracepoint
 * sched_ht_decision is on, or decisions are checked, they are copied first and
 * the decision is made on the copy: what is recorded is what it was made from,
 * and decides the same anywhere (INV-9).
 */
#include "ht_internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/sched_ht.h>

/* Words that hold still while a decision is made, recorded and judged. */
struct still {
	struct ht_word	word[HT_STILL_WORDS];
};

static DEFINE_PER_CPU(struct still, still_words);

/* Void claims are left out of the copy, so those in it are of this tick: 0. */
static const u32 still_ticks[HT_STILL_WORDS * HT_WORD_BITS];

/**
 * ht_still_state() - copy the state, for decisions on this CPU to be made on
 * @snap: snapshot, read under RCU; interrupts are off
 * @st: the copy, until the next one is made on this CPU
 *
 * Return: false if the machine is too large for it; @st is not changed then.
 */
bool ht_still_state(const struct ht_snap *snap, struct ht_state *st)
{
	struct still *still = this_cpu_ptr(&still_words);
	u32 i;

	lockdep_assert_irqs_disabled();

	if (snap->topo.nr_words > HT_STILL_WORDS)
		return false;

	for (i = 0; i < snap->topo.nr_words; i++) {
		still->word[i].idle = READ_ONCE(snap->word[i].idle);
		still->word[i].claimed = ht_live_claims(snap, i, ~0ULL);
		still->word[i].light = READ_ONCE(snap->word[i].light);
	}
	*st = (struct ht_state){
		.word		= still->word,
		.claim_tick	= still_ticks,
		.tick		= 0,
	};

	return true;
}

/**
 * ht_allowed_words() - words of a request's affinity mask that count
 * @topo: machine
 * @req: request
 */
u32 ht_allowed_words(const struct ht_topo *topo, const struct ht_request *req)
{
	return req->allowed_all ? 0 : DIV_ROUND_UP(topo->nr_cpus, HT_WORD_BITS);
}

/**
 * ht_record_words() - the state, for a trace
 * @out: three words for each word of the topology: idle, claimed, light
 * @topo: machine
 * @st: copy of its state
 */
void ht_record_words(u64 *out, const struct ht_topo *topo,
		     const struct ht_state *st)
{
	u32 i;

	for (i = 0; i < topo->nr_words; i++) {
		*out++ = st->word[i].idle;
		*out++ = st->word[i].claimed;
		*out++ = st->word[i].light;
	}
}

/**
 * ht_record_waits() - the sample of rule 6, for a trace
 * @out: two words for each entry: CPU and whether it counts as no wait, wait
 * @req: request
 */
void ht_record_waits(u64 *out, const struct ht_request *req)
{
	u32 i;

	for (i = 0; i < req->nr_waits; i++) {
		const struct ht_wait *w = &req->waits[i];

		*out++ = w->cpu | (u64)w->sched_idle << 32;
		*out++ = w->wait_ns;
	}
}

/* The state to decide on: as it is, or a copy if somebody wants to know. */
static struct ht_state state_for(const struct ht_snap *snap, bool *recorded)
{
	struct ht_state st = ht_snap_state(snap);

	*recorded = trace_sched_ht_decision_enabled() &&
		ht_still_state(snap, &st);

	return st;
}

/**
 * ht_select() - ht_policy_select(), recorded
 * @snap: snapshot, read under RCU; interrupts are off
 * @p: task
 * @req: what is asked
 * @verdict: output
 */
void ht_select(struct ht_snap *snap, struct task_struct *p,
	       const struct ht_request *req, struct ht_verdict *verdict)
{
	struct ht_state st;
	bool recorded;

	ht_debug_select(snap, req);
	st = state_for(snap, &recorded);
	ht_policy_select(&snap->topo, &st, req, verdict);
	if (recorded)
		trace_sched_ht_decision(p, &snap->topo, &st, req,
					HT_CALL_SELECT, HT_NONE, verdict);
}

/**
 * ht_free_core() - ht_policy_free_core(), recorded
 * @snap: snapshot, read under RCU; interrupts are off
 * @p: task
 * @req: what is asked
 * @verdict: output
 */
bool ht_free_core(struct ht_snap *snap, struct task_struct *p,
		  const struct ht_request *req, struct ht_verdict *verdict)
{
	bool recorded, found;
	struct ht_state st;

	st = state_for(snap, &recorded);
	found = ht_policy_free_core(&snap->topo, &st, req, verdict);
	if (recorded)
		trace_sched_ht_decision(p, &snap->topo, &st, req,
					HT_CALL_FREE_CORE, HT_NONE, verdict);

	return found;
}

/**
 * ht_move_pays() - ht_policy_move_pays(), recorded
 * @snap: snapshot, read under RCU; interrupts are off
 * @p: task
 * @req: what is asked
 * @slot: where it would go
 */
bool ht_move_pays(struct ht_snap *snap, struct task_struct *p,
		  const struct ht_request *req, u32 slot)
{
	struct ht_verdict verdict;
	struct ht_state st;
	bool recorded, pays;

	st = state_for(snap, &recorded);
	pays = ht_policy_move_pays(&snap->topo, &st, req, slot, &verdict);
	if (recorded)
		trace_sched_ht_decision(p, &snap->topo, &st, req,
					HT_CALL_MOVE_PAYS, slot, &verdict);

	return pays;
}
