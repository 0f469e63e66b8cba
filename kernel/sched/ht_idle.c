// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: which threads are idle, which are spoken for, which run what.
 *
 * Five bits per thread, in words of the snapshot that belong to one LLC:
 *
 *   idle     it runs its idle task	    written by the CPU itself, under its
 *   run      it runs a SCHED_HT task  >   rq lock, at idle entry and exit and
 *   wait     a SCHED_HT task waits   /    where SCHED_HT's queue changes
 *   light    what it runs loses little by a busy neighbour: written by the CPU
 *            itself at switches and ticks
 *   claimed  a placement is on its way here: set by the waker, atomically for
 *            the whole core where the core was free; cleared when the thread
 *            leaves idle or enters it again, by the claimant when its task
 *            ends up elsewhere, and void after one tick
 *
 * The claim is a bit per thread rather than per core, so that it hides no idle
 * sibling from the later rules, but does hide the very thread that is taken.
 *
 * A new snapshot goes live in three steps: the hooks write it, then each CPU's
 * bits are synced under its rq lock, then decisions read it. So a decision
 * never sees a snapshot whose bits were not maintained from the start.
 */
#include "ht_internal.h"

struct ht_snap __rcu *ht_snap_write;
struct ht_snap __rcu *ht_snap_read;

static u32 claim_tick(void)
{
	return (u32)jiffies;
}

static struct ht_word *word_of(const struct ht_snap *snap, u32 slot)
{
	return &snap->word[slot / HT_WORD_BITS];
}

static void write_bit(u64 *bits, u32 slot, bool set)
{
	if (set)
		set_bit(slot % HT_WORD_BITS, (unsigned long *)bits);
	else
		clear_bit(slot % HT_WORD_BITS, (unsigned long *)bits);
}

static void write_bits(struct ht_snap *snap, u32 slot, unsigned int bits,
		       unsigned int changed)
{
	struct ht_word *word = word_of(snap, slot);

	if (changed & HT_BIT_IDLE)
		write_bit(&word->idle, slot, bits & HT_BIT_IDLE);
	if (changed & HT_BIT_RUN)
		write_bit(&word->run, slot, bits & HT_BIT_RUN);
	if (changed & HT_BIT_WAIT)
		write_bit(&word->wait, slot, bits & HT_BIT_WAIT);
	if (changed & HT_BIT_LIGHT)
		write_bit(&word->light, slot, bits & HT_BIT_LIGHT);
}

static void release_claim(struct ht_snap *snap, u32 slot)
{
	struct ht_word *word = word_of(snap, slot);

	/* Usually nothing is claimed: look before touching the line. */
	if (READ_ONCE(word->claimed) & BIT_ULL(slot % HT_WORD_BITS))
		write_bit(&word->claimed, slot, false);
}

/* Write what changed, and only that: the words are shared by an LLC. */
static void set_bits(struct rq *rq, unsigned int bits)
{
	unsigned int changed = bits ^ rq->ht.bits;
	struct ht_snap *snap;
	u32 slot;

	lockdep_assert_rq_held(rq);

	if (!changed)
		return;

	rq->ht.bits = bits;
	snap = rcu_dereference_sched(ht_snap_write);
	slot = ht_snap_slot(snap, cpu_of(rq));
	if (slot == HT_NONE)
		return;

	if (changed & HT_BIT_IDLE)
		release_claim(snap, slot);
	write_bits(snap, slot, bits, changed);
}

/* Bits that do not follow from the queue of SCHED_HT. */
#define HT_BITS_OF_CPU	(HT_BIT_IDLE | HT_BIT_LIGHT)

/* All bits of a CPU, of which @bits are known. */
static unsigned int queue_bits(struct rq *rq, unsigned int bits)
{
	if (rq->ht.queue.curr && rq->ht.queue.curr->on_rq)
		bits |= HT_BIT_RUN;
	/*
	 * A task queued on an idle CPU is about to run, not waiting, and one
	 * that is pinned waits for nobody else.
	 */
	if (ht_nr_movable(rq) && !(bits & HT_BIT_IDLE))
		bits |= HT_BIT_WAIT;

	return bits;
}

/**
 * ht_bits_update() - publish what SCHED_HT does on a CPU
 * @rq: run queue, its lock held
 *
 * To be called when its queue or its running task changed.
 */
void ht_bits_update(struct rq *rq)
{
	set_bits(rq, queue_bits(rq, rq->ht.bits & HT_BITS_OF_CPU));
}

/**
 * ht_bits_light() - publish whether what runs on a CPU loses little
 * @rq: run queue, its lock held
 * @light: does it?
 */
void ht_bits_light(struct rq *rq, bool light)
{
	unsigned int bits = rq->ht.bits & ~HT_BIT_LIGHT;

	set_bits(rq, light ? bits | HT_BIT_LIGHT : bits);
}

/* The idle task starts to run: called with the rq lock held. */
void __ht_idle_enter(struct rq *rq)
{
	ht_clock_set(rq, true);
	set_bits(rq, HT_BIT_IDLE | (rq->ht.bits & HT_BIT_LIGHT));
	ht_core_idle(rq);
}

/* The idle task stops running: called with the rq lock held. */
void __ht_idle_exit(struct rq *rq)
{
	ht_clock_set(rq, false);
	if (ht_fault(HT_FAULT_IDLE_NEVER_CLEARED))
		return;

	set_bits(rq, rq->ht.bits & ~HT_BIT_IDLE);
}

/**
 * ht_bits_sync() - second step of a snapshot going live, for one CPU
 * @rq: run queue, its lock held
 * @snap: new snapshot, already the one that hooks write
 */
void ht_bits_sync(struct rq *rq, struct ht_snap *snap)
{
	u32 slot = ht_snap_slot(snap, cpu_of(rq));

	lockdep_assert_rq_held(rq);

	rq->ht.bits &= HT_BIT_LIGHT;
	if (ht_curr(rq) == rq->idle)
		rq->ht.bits |= HT_BIT_IDLE;
	rq->ht.bits = queue_bits(rq, rq->ht.bits);
	if (slot != HT_NONE)
		write_bits(snap, slot, rq->ht.bits, ~0U);
}

/**
 * ht_snap_state() - the state that decisions read
 * @snap: snapshot, read under RCU
 */
struct ht_state ht_snap_state(const struct ht_snap *snap)
{
	return (struct ht_state){
		.word		= snap->word,
		.claim_tick	= snap->claim_tick,
		.tick		= claim_tick(),
	};
}

/**
 * ht_live_claims() - those claims of a word that still hold
 * @snap: snapshot, read under RCU
 * @word: word of it
 * @mask: threads asked about
 */
u64 ht_live_claims(const struct ht_snap *snap, u32 word, u64 mask)
{
	struct ht_state st = ht_snap_state(snap);
	u64 claims = READ_ONCE(snap->word[word].claimed) & mask, live = 0;

	while (claims) {
		u32 bit = __ffs64(claims);

		claims &= claims - 1;
		if (!ht_claim_is_void(&st, word * HT_WORD_BITS + bit))
			live |= 1ULL << bit;
	}

	return live;
}

/**
 * ht_claim() - take an idle thread before somebody else does
 * @snap: snapshot, read under RCU
 * @slot: thread
 * @whole_core: no thread of its core may be claimed
 *
 * A claim that is void is replaced. Test and set are one atomic step for the
 * core, since a core's threads share a word (INV-7).
 *
 * Return: true if the thread is the caller's.
 */
bool ht_claim(struct ht_snap *snap, u32 slot, bool whole_core)
{
	u32 word = slot / HT_WORD_BITS;
	u64 bit = 1ULL << (slot % HT_WORD_BITS);
	u64 mask = whole_core ? ht_core_mask(&snap->topo, slot) : bit;
	u64 *claimed = &snap->word[word].claimed;
	u64 old = READ_ONCE(*claimed);

	if (ht_fault(HT_FAULT_SKIP_CLAIM))
		return true;

	do {
		if ((old & mask) && ht_live_claims(snap, word, mask)) {
			ht_count(CLAIM_LOST);
			return false;
		}
		/*
		 * Ahead of the bit, for those who test its age. A loser of the
		 * race makes the winner's claim no older than it is.
		 */
		WRITE_ONCE(snap->claim_tick[slot], claim_tick());
	} while (!try_cmpxchg64(claimed, &old, (old & ~mask) | bit));

	if (old & mask)
		ht_count(CLAIM_VOID);
	ht_count(CLAIM_TAKEN);
	return true;
}

/**
 * ht_unclaim_cpu() - give a claim back
 * @cpu: CPU that was claimed; it may have left the snapshot since
 *
 * A claim that another placement took there meanwhile is lost with it, which
 * un-sharing mends (INV-2).
 */
void ht_unclaim_cpu(int cpu)
{
	struct ht_snap *snap;
	u32 slot;

	guard(rcu)();
	snap = rcu_dereference(ht_snap_read);
	slot = ht_snap_slot(snap, cpu);
	if (slot != HT_NONE)
		release_claim(snap, slot);
}

/**
 * ht_claim_settle() - a task with a claim arrived somewhere
 * @p: task
 * @cpu: where it is queued
 *
 * On the claimed CPU the claim ends with its idleness; elsewhere, now.
 */
void ht_claim_settle(struct task_struct *p, int cpu)
{
	int claimed = p->ht.claim_cpu;

	if (claimed < 0)
		return;

	p->ht.claim_cpu = -1;
	if (claimed != cpu)
		ht_unclaim_cpu(claimed);
}

/**
 * ht_any_idle() - is any thread idle, of whatever LLC?
 * @snap: snapshot, read under RCU
 * @cpu: CPU whose neighbours are asked first
 */
bool ht_any_idle(const struct ht_snap *snap, int cpu)
{
	u32 nr = snap->topo.nr_words, slot = ht_cpu_slot(&snap->topo, cpu), i;
	u32 first = slot == HT_NONE ? 0 : slot / HT_WORD_BITS;

	for (i = 0; i < nr; i++) {
		u32 word = first + i < nr ? first + i : first + i - nr;

		if (READ_ONCE(snap->word[word].idle) & snap->topo.present[word])
			return true;
	}

	return false;
}

/**
 * ht_beside_busy() - is another thread of a CPU's core busy?
 * @snap: snapshot, read under RCU
 * @cpu: CPU that runs the caller's task
 */
bool ht_beside_busy(struct ht_snap *snap, int cpu)
{
	u32 slot = ht_snap_slot(snap, cpu), word;
	u64 others;

	if (slot == HT_NONE)
		return false;

	word = slot / HT_WORD_BITS;
	others = ht_core_mask(&snap->topo, slot) & snap->topo.present[word];
	others &= ~(1ULL << (slot % HT_WORD_BITS));

	return others & ~READ_ONCE(snap->word[word].idle);
}
