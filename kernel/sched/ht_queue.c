// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: the queue of one CPU, earliest eligible virtual deadline first.
 *
 * After Ion Stoica and Hussein Abdel-Wahab, "Earliest Eligible Virtual Deadline
 * First: A Flexible and Accurate Mechanism for Proportional Share Resource
 * Allocation" (1995), as the fair class does it:
 *
 *   V        = sum(w x v) / sum(w), the virtual time of the queue
 *   lag      = V - v: service that an entity is owed
 *   eligible   if it is owed something: v <= V
 *   deadline = v + slice / w, moved on whenever the entity reaches it
 *
 * The eligible entity with the earliest deadline runs. Lag is kept over sleep
 * and migration, within two slices; what an entity owes is forgiven while it
 * sleeps, since the others run meanwhile.
 *
 * Nothing here knows of run queues, clocks or tasks: the caller holds the rq
 * lock, and passes real time in. All costs are O(log n) in the entities queued.
 */
#include "ht_internal.h"

#include <linux/rbtree_augmented.h>

#define HT_NICE_0_WEIGHT	1024
/* Who owes more than this part of a slice is not handed the CPU. */
#define HT_HAND_OVER_PART	16

static struct sched_ht_entity *node_entity(struct rb_node *node)
{
	return rb_entry(node, struct sched_ht_entity, run_node);
}

static u64 to_virtual(u64 delta_ns, unsigned long weight)
{
	return div64_ul(delta_ns * HT_NICE_0_WEIGHT, weight);
}

/* Offset of V from q->base, rounded down: never more than what is owed. */
static s64 vtime_offset(const struct ht_queue *q)
{
	s64 sum = q->sum_wv;

	if (!q->weight)
		return 0;
	if (sum < 0)
		sum -= q->weight - 1;

	return div64_s64(sum, q->weight);
}

/* Keep the products of the sums small: let V itself be the reference. */
static void rebase(struct ht_queue *q)
{
	s64 offset = vtime_offset(q);

	q->base += offset;
	q->sum_wv -= offset * (s64)q->weight;
}

static void sums_add(struct ht_queue *q, struct sched_ht_entity *se)
{
	q->sum_wv += (s64)(se->vruntime - q->base) * (s64)se->weight;
	q->weight += se->weight;
	q->expect_ns += se->expect_ns;
	q->nr++;
}

static void sums_del(struct ht_queue *q, struct sched_ht_entity *se)
{
	q->sum_wv -= (s64)(se->vruntime - q->base) * (s64)se->weight;
	q->weight -= se->weight;
	q->expect_ns -= se->expect_ns;
	q->nr--;
	if (!q->nr)
		q->sum_wv = 0;
}

/* v <= V, without the division. */
static bool vtime_eligible(const struct ht_queue *q, u64 vruntime)
{
	return (s64)(vruntime - q->base) * (s64)q->weight <= q->sum_wv;
}

static bool deadline_before(const struct sched_ht_entity *a,
			    const struct sched_ht_entity *b)
{
	return (s64)(a->deadline - b->deadline) < 0;
}

static bool less(struct rb_node *a, const struct rb_node *b)
{
	return deadline_before(node_entity(a),
			       rb_entry(b, struct sched_ht_entity, run_node));
}

static void take_min(struct sched_ht_entity *se, struct rb_node *child)
{
	u64 min;

	if (!child)
		return;

	min = node_entity(child)->min_vruntime;
	if ((s64)(min - se->min_vruntime) < 0)
		se->min_vruntime = min;
}

static bool min_vruntime_compute(struct sched_ht_entity *se, bool exit)
{
	u64 old = se->min_vruntime;

	se->min_vruntime = se->vruntime;
	take_min(se, se->run_node.rb_left);
	take_min(se, se->run_node.rb_right);

	return exit && se->min_vruntime == old;
}

RB_DECLARE_CALLBACKS(static, min_vruntime_cb, struct sched_ht_entity, run_node,
		     min_vruntime, min_vruntime_compute);

static void tree_add(struct ht_queue *q, struct sched_ht_entity *se)
{
	se->min_vruntime = se->vruntime;
	rb_add_augmented_cached(&se->run_node, &q->timeline, less,
				&min_vruntime_cb);
}

static void tree_del(struct ht_queue *q, struct sched_ht_entity *se)
{
	rb_erase_augmented_cached(&se->run_node, &q->timeline,
				  &min_vruntime_cb);
	RB_CLEAR_NODE(&se->run_node);
}

/* Nobody is owed, or owes, more than two slices. */
static s64 lag_clamp(s64 lag, u64 slice_ns, unsigned long weight)
{
	s64 limit = to_virtual(max_t(u64, 2 * slice_ns, TICK_NSEC), weight);

	return clamp(lag, -limit, limit);
}

/**
 * ht_queue_init() - an empty queue
 * @q: queue
 */
void ht_queue_init(struct ht_queue *q)
{
	*q = (struct ht_queue){ .timeline = RB_ROOT_CACHED };
}

/**
 * ht_queue_lag() - service that an entity is owed, in virtual ns
 * @q: queue that @se is in
 * @se: entity
 */
s64 ht_queue_lag(const struct ht_queue *q, const struct sched_ht_entity *se)
{
	return (s64)(q->base + vtime_offset(q) - se->vruntime);
}

/*
 * Adding an entity with lag moves V itself. To leave it with the lag that it
 * came with, it is placed by lag x (W + w) / W before V.
 */
static u64 place_vruntime(struct ht_queue *q, struct sched_ht_entity *se)
{
	s64 lag = se->vlag;

	rebase(q);
	if (!q->weight)
		return q->base;

	lag = div64_s64(lag * (s64)(q->weight + se->weight), q->weight);
	return q->base - lag;
}

/* Virtual times scale with the weight; @se is not queued. */
static void reweight(struct sched_ht_entity *se, unsigned long weight)
{
	if (se->weight && se->weight != weight) {
		se->vlag = div64_s64(se->vlag * (s64)se->weight, weight);
		if (se->keep_deadline)
			se->deadline = div64_s64((s64)se->deadline *
						 (s64)se->weight, weight);
	}
	se->weight = weight;
}

/**
 * ht_queue_forgive() - an entity that owes service slept
 * @q: queue that it is about to join
 * @se: entity
 * @slept_ns: for so long
 *
 * The others were served meanwhile: each by as much as V moved, which goes the
 * slower the more there are. That queue and its weight then are not known any
 * more, it may have been another: this one's as it is now stand for them.
 */
void ht_queue_forgive(const struct ht_queue *q, struct sched_ht_entity *se,
		      u64 slept_ns)
{
	if (se->vlag >= 0)
		return;

	/* Nobody owes more than fractions of a second. */
	slept_ns = min_t(u64, slept_ns, 100ULL * NSEC_PER_SEC);
	se->vlag = min(se->vlag +
		       (s64)to_virtual(slept_ns, max(q->weight, 1UL)), 0LL);
}

/**
 * ht_queue_add() - queue an entity
 * @q: queue
 * @se: entity that is in no queue
 * @weight: its load weight, 1024 for nice 0
 * @slice_ns: length of its requests, in ns of real time
 * @fresh: a new task: its first request is half as long, which lets it start
 *         without letting forks displace those that run
 */
void ht_queue_add(struct ht_queue *q, struct sched_ht_entity *se,
		  unsigned long weight, u64 slice_ns, bool fresh)
{
	reweight(se, weight);
	se->vruntime = place_vruntime(q, se);

	if (se->keep_deadline)
		se->deadline += se->vruntime;
	else
		se->deadline = se->vruntime +
			to_virtual(fresh ? slice_ns / 2 : slice_ns, weight);
	se->keep_deadline = false;
	se->on_rq = true;

	sums_add(q, se);
	tree_add(q, se);
}

/**
 * ht_queue_del() - take an entity out
 * @q: queue
 * @se: entity in it; if it is the running one, it stays q->curr until
 *      ht_queue_put_curr()
 * @keep_deadline: it goes to another queue or comes back at once, not to sleep
 * @slice_ns: length of its requests, bounds the lag that it takes along
 */
void ht_queue_del(struct ht_queue *q, struct sched_ht_entity *se,
		  bool keep_deadline, u64 slice_ns)
{
	se->vlag = lag_clamp(ht_queue_lag(q, se), slice_ns, se->weight);
	if (keep_deadline)
		se->deadline -= se->vruntime;
	se->keep_deadline = keep_deadline;

	if (q->next == se)
		q->next = NULL;
	if (q->curr != se)
		tree_del(q, se);
	sums_del(q, se);
	se->on_rq = false;
}

/**
 * ht_queue_set_curr() - an entity starts to run
 * @q: queue
 * @se: entity in it
 */
void ht_queue_set_curr(struct ht_queue *q, struct sched_ht_entity *se)
{
	if (se->on_rq)
		tree_del(q, se);
	q->curr = se;
	q->next = NULL;
}

/**
 * ht_queue_put_curr() - the running entity stops running
 * @q: queue with a running entity
 */
void ht_queue_put_curr(struct ht_queue *q)
{
	struct sched_ht_entity *se = q->curr;

	q->curr = NULL;
	if (se->on_rq)
		tree_add(q, se);
}

/**
 * ht_queue_charge() - the running entity ran
 * @q: queue with a running entity
 * @delta_ns: for so long
 * @slice_ns: length of its requests
 *
 * Return: true if its request is served.
 */
bool ht_queue_charge(struct ht_queue *q, u64 delta_ns, u64 slice_ns)
{
	struct sched_ht_entity *se = q->curr;
	u64 delta = to_virtual(delta_ns, se->weight);

	se->vruntime += delta;
	if (se->on_rq)
		q->sum_wv += (s64)delta * (s64)se->weight;
	rebase(q);

	if ((s64)(se->vruntime - se->deadline) < 0)
		return false;

	se->deadline = se->vruntime + to_virtual(slice_ns, se->weight);
	return true;
}

/**
 * ht_queue_expect() - how long an entity is going to run
 * @q: queue that it is in, if it is in one
 * @se: entity
 * @expect_ns: within its request; what others reckon with who may wait for it
 */
void ht_queue_expect(struct ht_queue *q, struct sched_ht_entity *se,
		     u64 expect_ns)
{
	u32 ns = min_t(u64, expect_ns, U32_MAX);

	if (se->on_rq)
		q->expect_ns += (s64)ns - se->expect_ns;
	se->expect_ns = ns;
}

/**
 * ht_queue_yield() - the running entity lets the others go first
 * @q: queue with a running entity
 * @slice_ns: length of its requests
 */
void ht_queue_yield(struct ht_queue *q, u64 slice_ns)
{
	q->curr->deadline += to_virtual(slice_ns, q->curr->weight);
}

static struct sched_ht_entity *tree_pick(struct ht_queue *q)
{
	struct rb_node *node = q->timeline.rb_root.rb_node;
	struct rb_node *first = rb_first_cached(&q->timeline);
	struct sched_ht_entity *se, *best = NULL;

	if (first && vtime_eligible(q, node_entity(first)->vruntime))
		return node_entity(first);

	while (node) {
		struct rb_node *left = node->rb_left;

		se = node_entity(node);
		if (left && vtime_eligible(q, node_entity(left)->min_vruntime)) {
			node = left;
			continue;
		}
		if (vtime_eligible(q, se->vruntime)) {
			best = se;
			break;
		}
		node = node->rb_right;
	}

	return best;
}

/* Little enough for fairness not to suffer if it is served ahead of others. */
static bool owes_little(s64 lag, u64 slice_ns)
{
	return lag >= -(s64)(slice_ns / HT_HAND_OVER_PART);
}

/**
 * ht_queue_hand_over() - the running entity lets a certain one go first
 * @q: queue with a running entity
 * @se: queued entity
 * @slice_ns: length of its requests
 *
 * Return: true if it goes first, which it does if it owes little.
 */
bool ht_queue_hand_over(struct ht_queue *q, struct sched_ht_entity *se,
			u64 slice_ns)
{
	if (!owes_little(ht_queue_lag(q, se), slice_ns))
		return false;

	q->next = se;
	return true;
}

/**
 * ht_queue_takes_over() - would a sleeping entity be handed the CPU?
 * @se: entity in no queue
 * @slice_ns: length of its requests
 */
bool ht_queue_takes_over(const struct sched_ht_entity *se, u64 slice_ns)
{
	return owes_little(se->vlag, slice_ns);
}

/**
 * ht_queue_preempts() - does an entity that was just queued run at once?
 * @q: queue with a running entity, which has been charged
 * @se: the entity
 * @shorter: its requests are shorter than those of the running one
 *
 * As the fair class has it (RUN_TO_PARITY, PREEMPT_SHORT): who runs goes on as
 * long as it is owed service, or its request would be cut up by each wakeup.
 * Somebody else who is to run before @se had his chance before.
 */
bool ht_queue_preempts(struct ht_queue *q, struct sched_ht_entity *se,
		       bool shorter)
{
	if (!shorter && q->curr->on_rq && vtime_eligible(q, q->curr->vruntime))
		return false;

	return ht_queue_pick(q, false) == se;
}

/**
 * ht_queue_pick() - which entity is to run
 * @q: queue; not changed
 * @skip_curr: leave out the running entity, it is about to be moved
 *
 * Return: the eligible entity with the earliest deadline, NULL if there is
 * none but the one left out.
 */
struct sched_ht_entity *ht_queue_pick(struct ht_queue *q, bool skip_curr)
{
	struct sched_ht_entity *curr = q->curr, *best;
	struct rb_node *first;

	if (q->next)
		return q->next;
	if (skip_curr || (curr && !curr->on_rq))
		curr = NULL;

	best = tree_pick(q);
	if (curr && (!best || deadline_before(curr, best)) &&
	    vtime_eligible(q, curr->vruntime))
		return curr;
	if (best)
		return best;

	/* Only the one left out is owed something: the others may run. */
	first = rb_first_cached(&q->timeline);
	return first ? node_entity(first) : curr;
}
