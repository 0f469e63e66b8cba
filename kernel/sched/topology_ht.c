// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: topology snapshots, and switching the class on and off.
 *
 * A snapshot is built from what the scheduling domains know: sibling masks,
 * the LLC and cluster ids that follow from the SMT, CLUSTER and MC levels, root
 * domains and NUMA distances. A core is keyed by the lowest CPU of its sibling
 * mask, never by a core id. CPUs without a domain (isolcpus) take no part.
 * Building is aside of everything; publishing is in three steps (ht_idle.c).
 *
 * Every SCHED_HT task holds a reference. The first one switches the hooks on
 * by a static key; some time after the last is gone they are switched off.
 */
#include "ht_internal.h"

#define HT_OFF_DELAY	HZ

DEFINE_STATIC_KEY_FALSE(ht_active_key);

/* Serialises building, publishing, and switching on and off. */
static DEFINE_MUTEX(ht_mutex);
static atomic_t ht_refs;

static void off_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(off_work, off_work_fn);

/* The domains of @cpu must not change meanwhile. */
static struct ht_cpu_desc describe_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	u32 llc = per_cpu(sd_llc_id, cpu), cluster = per_cpu(sd_share_id, cpu);
	bool isolated = !rcu_access_pointer(rq->sd);

	return (struct ht_cpu_desc){
		.cpu	 = cpu,
		.node	 = max(cpu_to_node(cpu), 0),
		.llc	 = llc,
		.cluster = cluster == llc ? HT_NONE : cluster,
		.core	 = cpumask_first(ht_smt_mask(cpu)),
		.domain	 = isolated ? HT_NONE : cpumask_first(rq->rd->span),
	};
}

static u32 describe_machine(struct ht_cpu_desc *desc)
{
	u32 nr = 0;
	int cpu;

	guard(rcu)();
	for_each_cpu(cpu, cpu_active_mask)
		desc[nr++] = describe_cpu(cpu);

	return nr;
}

static u8 *node_distances(void)
{
	int a, b, nr = nr_node_ids;
	u8 *distance = kmalloc_array(nr, nr, GFP_KERNEL);

	if (!distance)
		return NULL;

	for (a = 0; a < nr; a++)
		for (b = 0; b < nr; b++)
			distance[a * nr + b] = node_distance(a, b);

	return distance;
}

/*
 * One block: the snapshot, its topology, words, claim ticks and clocks. Each is a
 * multiple of a cache line long, and kvzalloc() aligns what is.
 */
static struct ht_snap *alloc_snap(const struct ht_layout_size *size)
{
	size_t words = ALIGN(size->nr_words * sizeof(struct ht_word),
			     L1_CACHE_BYTES);
	size_t ticks = ALIGN(size->nr_words * HT_WORD_BITS * sizeof(u32),
			     L1_CACHE_BYTES);
	size_t clocks = size->nr_llcs * sizeof(struct ht_llc_clock);
	size_t head = ALIGN(sizeof(struct ht_snap), L1_CACHE_BYTES);
	size_t topo = ALIGN(ht_layout_bytes(size), L1_CACHE_BYTES);
	char *mem = kvzalloc(head + topo + words + ticks + clocks, GFP_KERNEL);
	struct ht_snap *snap = (struct ht_snap *)mem;

	if (!mem)
		return NULL;

	ht_layout_attach(&snap->topo, size, mem + head);
	mem += head + topo;
	snap->word = (struct ht_word *)mem;
	snap->claim_tick = (u32 *)(mem + words);
	snap->llc_clock = (struct ht_llc_clock *)(mem + words + ticks);

	return snap;
}

static struct ht_snap *lay_out(struct ht_cpu_desc *desc, u32 nr)
{
	struct ht_layout_size size;
	struct ht_snap *snap;
	u8 *distance;
	int err;

	err = ht_layout_size(desc, nr, &size);
	if (err) {
		pr_err_ratelimited("sched_ht: topology refused: %s\n",
				   ht_layout_error_name(err));
		return ERR_PTR(-EINVAL);
	}
	size.nr_cpus = nr_cpu_ids;

	snap = alloc_snap(&size);
	if (!snap)
		return ERR_PTR(-ENOMEM);

	/* Without distances all other nodes are equally far. */
	distance = node_distances();
	ht_layout_fill(&snap->topo, desc, nr, distance,
		       distance ? nr_node_ids : 0);
	kfree(distance);
	ht_debug_snap(snap);

	return snap;
}

/* CPUs can't come or go: cpus_read_lock() or a hotplug callback. */
static struct ht_snap *build_snap(void)
{
	struct ht_cpu_desc *desc;
	struct ht_snap *snap;

	desc = kvmalloc_array(nr_cpu_ids, sizeof(*desc), GFP_KERNEL);
	if (!desc)
		return ERR_PTR(-ENOMEM);

	snap = lay_out(desc, describe_machine(desc));
	kvfree(desc);

	return snap;
}

/* First step, for which the snapshot gets its number. */
static void write_snap(struct ht_snap *snap)
{
	static u32 gen;

	lockdep_assert_held(&ht_mutex);

	snap->gen = ++gen;
	rcu_assign_pointer(ht_snap_write, snap);
}

/* Second step, then the third: see ht_idle.c. */
static void publish_snap(struct ht_snap *snap, bool first)
{
	struct ht_snap *old = rcu_dereference_protected(ht_snap_read,
							lockdep_is_held(&ht_mutex));
	int cpu;

	for_each_online_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		guard(rq_lock_irqsave)(rq);
		update_rq_clock(rq);
		if (first) {
			rq->ht.share = (struct ht_share){
				.stamp_ns = rq_clock_task(rq),
			};
			ht_clock_start(rq);
		}
		ht_bits_sync(rq, snap);
	}

	rcu_assign_pointer(ht_snap_read, snap);
	if (old)
		kvfree_rcu(old, rcu);
}

static int switch_on(void)
{
	struct ht_snap *snap = build_snap();

	lockdep_assert_held(&ht_mutex);

	if (IS_ERR(snap))
		return PTR_ERR(snap);

	write_snap(snap);
	static_branch_enable_cpuslocked(&ht_active_key);
	publish_snap(snap, true);

	return 0;
}

static void switch_off(void)
{
	struct ht_snap *old = rcu_dereference_protected(ht_snap_read,
							lockdep_is_held(&ht_mutex));

	RCU_INIT_POINTER(ht_snap_read, NULL);
	static_branch_disable_cpuslocked(&ht_active_key);
	RCU_INIT_POINTER(ht_snap_write, NULL);
	kvfree_rcu(old, rcu);
}

/**
 * ht_get() - a reference that keeps the class switched on; may sleep
 *
 * Return: 0, -ENOMEM, or -EINVAL for a topology that makes no sense.
 */
int ht_get(void)
{
	int err = 0;

	if (ht_get_live())
		return 0;

	guard(cpus_read_lock)();
	guard(mutex)(&ht_mutex);
	if (!static_key_enabled(&ht_active_key))
		err = switch_on();
	if (!err)
		atomic_inc(&ht_refs);

	return err;
}

/**
 * ht_get_live() - a reference, if the class is on by somebody else's
 *
 * Return: false if there is none; does not sleep.
 */
bool ht_get_live(void)
{
	return atomic_inc_not_zero(&ht_refs);
}

/**
 * ht_get_again() - one more reference for somebody who holds one
 */
void ht_get_again(void)
{
	atomic_inc(&ht_refs);
}

/**
 * ht_nr_refs() - references held: tasks of the policy, and calls under way
 */
int ht_nr_refs(void)
{
	return atomic_read(&ht_refs);
}

static void off_irq_work_fn(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &off_work, HT_OFF_DELAY);
}

static DEFINE_IRQ_WORK(off_irq_work, off_irq_work_fn);

/* Called with rq locks held, from where no work can be queued directly. */
void __ht_put(void)
{
	if (atomic_dec_and_test(&ht_refs))
		irq_work_queue(&off_irq_work);
}

static void off_work_fn(struct work_struct *work)
{
	guard(cpus_read_lock)();
	guard(mutex)(&ht_mutex);
	if (!atomic_read(&ht_refs) && static_key_enabled(&ht_active_key))
		switch_off();
}

/* The domains were rebuilt: sched_domains_mutex and the hotplug lock are held. */
void __ht_topology_update(void)
{
	struct ht_snap *snap;

	guard(mutex)(&ht_mutex);
	if (!static_key_enabled(&ht_active_key))
		return;

	snap = build_snap();
	if (IS_ERR(snap)) {
		/* The old one stays: CPUs that left it are not active. */
		pr_warn_ratelimited("sched_ht: topology not updated (%pe)\n",
				    snap);
		return;
	}

	write_snap(snap);
	publish_snap(snap, false);
}

/* The tree in debugfs, one line per node, LLC, core and thread. */

struct tree_level {
	const char	*name;
	u32		(*key)(const struct ht_topo *topo, u32 slot);
};

static u32 node_key(const struct ht_topo *topo, u32 slot)
{
	return topo->llc[topo->word_llc[slot / HT_WORD_BITS]].node;
}

static u32 llc_key(const struct ht_topo *topo, u32 slot)
{
	return topo->word_llc[slot / HT_WORD_BITS];
}

static u32 slot_core_key(const struct ht_topo *topo, u32 slot)
{
	return slot / HT_WORD_BITS * HT_WORD_BITS +
		__ffs64(ht_core_mask(topo, slot));
}

static u32 thread_key(const struct ht_topo *topo, u32 slot)
{
	return slot;
}

static const struct tree_level levels[] = {
	{ "NODE", node_key },
	{ "LLC", llc_key },
	{ "CORE", slot_core_key },
	{ "THREAD", thread_key },
};

/* Same branch of the tree from the root to @level? */
static bool same_branch(const struct ht_topo *topo, u32 a, u32 b, int level)
{
	int i;

	for (i = 0; i <= level; i++) {
		if (levels[i].key(topo, a) != levels[i].key(topo, b))
			return false;
	}

	return true;
}

/* Is there a later slot in @slot's parent that starts another branch? */
static bool has_more(const struct ht_topo *topo, u32 slot, int level)
{
	u32 s, end = topo->nr_words * HT_WORD_BITS;

	for (s = slot + 1; s < end; s++) {
		if (topo->slot_cpu[s] != HT_NONE &&
		    same_branch(topo, slot, s, level - 1) &&
		    !same_branch(topo, slot, s, level))
			return true;
	}

	return false;
}

static void show_members(struct seq_file *m, const struct ht_topo *topo,
			 u32 slot, int level)
{
	u32 s, end = topo->nr_words * HT_WORD_BITS;

	for (s = slot; s < end; s++) {
		if (topo->slot_cpu[s] != HT_NONE &&
		    same_branch(topo, slot, s, level))
			seq_printf(m, " cpu%u", topo->slot_cpu[s]);
	}
	seq_putc(m, '\n');
}

static void show_line(struct seq_file *m, const struct ht_topo *topo, u32 slot,
		      int level)
{
	int i;

	for (i = 0; i < level; i++)
		seq_puts(m, has_more(topo, slot, i) ? "| " : "  ");
	seq_puts(m, has_more(topo, slot, level) ? "|-" : "\\-");
	seq_printf(m, "%s %u:", levels[level].name,
		   level >= 2 ? topo->slot_cpu[slot] :
		   levels[level].key(topo, slot));
	show_members(m, topo, slot, level);
}

static void show_tree(struct seq_file *m, const struct ht_topo *topo)
{
	u32 slot, last = HT_NONE, end = topo->nr_words * HT_WORD_BITS;
	int level;

	for (slot = 0; slot < end; slot++) {
		if (topo->slot_cpu[slot] == HT_NONE)
			continue;
		for (level = 0; level < ARRAY_SIZE(levels); level++) {
			if (last == HT_NONE ||
			    !same_branch(topo, last, slot, level))
				show_line(m, topo, slot, level);
		}
		last = slot;
		cond_resched();
	}
}

/**
 * ht_topology_show() - the machine as SCHED_HT sees it, for debugfs
 * @m: file
 *
 * Built anew, so that it can be read while no SCHED_HT task is alive.
 */
void ht_topology_show(struct seq_file *m)
{
	struct ht_snap *snap;

	guard(cpus_read_lock)();
	snap = build_snap();
	if (IS_ERR(snap)) {
		seq_printf(m, "not available (%pe)\n", snap);
		return;
	}

	show_tree(m, &snap->topo);
	kvfree(snap);
}
