// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: what administrators and tests see. Tunables, counters, the tree,
 * a task's state, and with CONFIG_SCHED_HT_DEBUG the checker of INV-2 and the
 * fault switches.
 */
#include "ht_internal.h"
#include "ht_check.h"

#include <linux/debugfs.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>

unsigned int sysctl_sched_ht_smt = 1;
unsigned int sysctl_sched_ht_slice_us = 3000;
unsigned int sysctl_sched_ht_unshare = 1;
unsigned int sysctl_sched_ht_enabled = 1;

DEFINE_PER_CPU(struct ht_stats, ht_stats);

#ifdef CONFIG_SYSCTL
static int enabled_handler(const struct ctl_table *table, int write,
			   void *buffer, size_t *lenp, loff_t *ppos)
{
	int err = proc_douintvec_minmax(table, write, buffer, lenp, ppos);

	if (!err && write && !READ_ONCE(sysctl_sched_ht_enabled))
		ht_demote_all();

	return err;
}

/* Ends of the ranges, other than 0 and 1. */
static unsigned int pct_min = 10;
static unsigned int pct_max = 100;
static unsigned int us_min = 1;
static unsigned int slice_us_min = 100;
static unsigned int slice_us_max = 100000;
static unsigned int refill_core_us_max = 10000;
static unsigned int refill_far_us_max = 100000;
static unsigned int fill_us_max = 1000000;
static unsigned int wakeup_ns_max = 1000000;

#define HT_KNOB(name, least, most, handler)				\
	{								\
		.procname	= "sched_ht_" #name,			\
		.data		= &sysctl_sched_ht_##name,		\
		.maxlen		= sizeof(unsigned int),			\
		.mode		= 0644,					\
		.proc_handler	= handler,				\
		.extra1		= least,				\
		.extra2		= most,					\
	}
#define HT_SWITCH(name)							\
	HT_KNOB(name, SYSCTL_ZERO, SYSCTL_ONE, proc_douintvec_minmax)
#define HT_NUMBER(name, least, most)					\
	HT_KNOB(name, least, most, proc_douintvec_minmax)

static struct ctl_table ht_sysctls[] = {
	HT_SWITCH(smt),
	HT_NUMBER(slice_us, &slice_us_min, &slice_us_max),
	HT_SWITCH(unshare),
	HT_KNOB(enabled, SYSCTL_ZERO, SYSCTL_ONE, enabled_handler),
	HT_SWITCH(cache_hot),
	HT_NUMBER(smt_yield_pct, &pct_min, &pct_max),
	HT_NUMBER(refill_core_us, SYSCTL_ZERO, &refill_core_us_max),
	HT_NUMBER(refill_llc_us, SYSCTL_ZERO, &refill_far_us_max),
	HT_NUMBER(refill_node_us, SYSCTL_ZERO, &refill_far_us_max),
	HT_NUMBER(fill_core_us, &us_min, &fill_us_max),
	HT_NUMBER(fill_llc_us, &us_min, &fill_us_max),
	HT_NUMBER(pair_ns, SYSCTL_ZERO, &wakeup_ns_max),
	HT_NUMBER(wake_ns, SYSCTL_ZERO, &wakeup_ns_max),
};

static int __init ht_sysctl_init(void)
{
	register_sysctl_init("kernel", ht_sysctls);
	return 0;
}
late_initcall(ht_sysctl_init);
#endif /* CONFIG_SYSCTL */

/* A task's lines in /proc/PID/sched; no lock is held. */
void ht_show_task(struct task_struct *p, struct seq_file *m)
{
	struct rq *rq = task_rq(p);
	u32 resid_ns[HT_LEVELS];

#define show(name, format, value)	\
	seq_printf(m, "%-45s:%21" format "\n", "ht." name, value)

	show("enabled", "d", task_has_ht_policy(p));
	if (!task_has_ht_policy(p))
		return;

	show("slice_ns", "llu", ht_slice_ns(p));
	show("weight", "lu", p->ht.weight);
	show("vruntime", "llu", p->ht.vruntime);
	show("deadline", "llu", p->ht.deadline);
	show("lag", "lld", p->ht.on_rq ? ht_queue_lag(&rq->ht.queue, &p->ht) :
		p->ht.vlag);
	show("run_avg_ns", "u", p->ht.run_avg_ns);
	show("sleep_avg_ns", "u", p->ht.sleep_avg_ns);
	ht_warm_show(p, resid_ns);
	show("warm_core_ns", "u", resid_ns[HT_LEVEL_CORE]);
	show("warm_llc_ns", "u", resid_ns[HT_LEVEL_LLC]);
	show("warm_node_ns", "u", resid_ns[HT_LEVEL_NODE]);
	show("waker", "d", p->ht.waker);
	show("pair", "u", p->ht.pair);
	show("tail_avg_ns", "u", p->ht.tail_avg_ns);
	show("nr_unshared", "u", p->ht.nr_unshared);
	show("nr_pulled", "u", p->ht.nr_pulled);
	show("last_why", "s", ht_why_name(p->ht.last_why));
#undef show
}

#ifdef CONFIG_DEBUG_FS
static const char * const stat_names[HT_NR_STATS] = {
	[HT_STAT_CLAIM_TAKEN]		= "claim.taken",
	[HT_STAT_CLAIM_LOST]		= "claim.lost",
	[HT_STAT_CLAIM_VOID]		= "claim.void",
	[HT_STAT_UNSHARE_DONE]		= "unshare.done",
	[HT_STAT_UNSHARE_RATE_LIMITED]	= "unshare.rate_limited",
	[HT_STAT_UNSHARE_LOST]		= "unshare.lost",
	[HT_STAT_UNSHARE_NO_CORE]	= "unshare.no_core",
	[HT_STAT_UNSHARE_AFFINITY]	= "unshare.affinity",
	[HT_STAT_UNSHARE_PRICED]	= "unshare.priced",
	[HT_STAT_PULL_DONE]		= "pull.done",
	[HT_STAT_PULL_LOST]		= "pull.lost",
	[HT_STAT_PULL_PRICED]		= "pull.priced",
	[HT_STAT_PUSH_DONE]		= "push.done",
	[HT_STAT_PUSH_LOST]		= "push.lost",
	[HT_STAT_ROVER_DONE]		= "rover.done",
	[HT_STAT_SHARE_TURNS]		= "share.turns",
	[HT_STAT_DEMOTED_CPU_MAX]	= "demoted.cpu_max",
	[HT_STAT_DEMOTED_GROUP]		= "demoted.group",
	[HT_STAT_DEMOTED_DISABLED]	= "demoted.disabled",
	[HT_STAT_BAD_VERDICT]		= "bad_verdict",
};

static void sum_stats(struct ht_stats *sum)
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		struct ht_stats *stats = per_cpu_ptr(&ht_stats, cpu);

		for (i = 0; i < HT_NR_STATS; i++)
			sum->stat[i] += READ_ONCE(stats->stat[i]);
		for (i = 0; i < HT_NR_WHYS; i++)
			sum->why[i] += READ_ONCE(stats->why[i]);
		for (i = 0; i < HT_NR_KINDS; i++)
			sum->kind[i] += READ_ONCE(stats->kind[i]);
	}
}

static int stats_show(struct seq_file *m, void *v)
{
	struct ht_stats sum;
	int i;

	sum_stats(&sum);
	for (i = 0; i < HT_NR_WHYS; i++)
		seq_printf(m, "select.%s %llu\n", ht_why_name(i), sum.why[i]);
	for (i = 0; i < HT_NR_KINDS; i++)
		seq_printf(m, "kind.%s %llu\n", ht_kind_name(i), sum.kind[i]);
	for (i = 0; i < HT_NR_STATS; i++)
		seq_printf(m, "%s %llu\n", stat_names[i], sum.stat[i]);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int topology_show(struct seq_file *m, void *v)
{
	ht_topology_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(topology);

static int tasks_show(struct seq_file *m, void *v)
{
	seq_printf(m, "refs %d\n", ht_nr_refs());
	seq_printf(m, "active %d\n", static_key_enabled(&ht_active_key));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tasks);

/* Who runs where, and whose turn it is: for whom something does not run. */
static void show_cpu(struct seq_file *m, int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *curr;
	struct ht_share share;
	unsigned int nr, nr_low;
	struct rq_flags rf;
	s64 clock_age_ns;
	pid_t pid;
	bool resched;

	rq_lock_irqsave(rq, &rf);
	curr = ht_curr(rq);
	pid = curr->pid;
	resched = test_tsk_need_resched(curr);
	nr = rq->ht.queue.nr;
	nr_low = ht_nr_low(rq);
	share = rq->ht.share;
	clock_age_ns = sched_clock_cpu(cpu) - rq->clock;
	rq_unlock_irqrestore(rq, &rf);

	seq_printf(m, "cpu%d: pid=%d resched=%d nr=%u low=%u bits=%#x", cpu, pid,
		   resched, nr, nr_low, READ_ONCE(rq->ht.bits));
	seq_printf(m, " low_turn=%d contended=%d lag_ns=%lld aside_ns=%lld",
		   share.low_turn, share.contended, share.lag_ns,
		   share.aside_ns);
	seq_printf(m, " guest=%d guest_waits=%d clock_age_ns=%lld\n",
		   share.guest, share.guest_waits, clock_age_ns);
}

static int cpus_show(struct seq_file *m, void *v)
{
	int cpu;

	for_each_online_cpu(cpu)
		show_cpu(m, cpu);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cpus);

#ifdef CONFIG_SCHED_HT_DEBUG
enum ht_fault ht_fault_on;

static const char * const fault_names[HT_NR_FAULTS] = {
	[HT_FAULT_NONE]			= "none",
	[HT_FAULT_SKIP_CLAIM]		= "skip_claim",
	[HT_FAULT_IDLE_NEVER_CLEARED]	= "idle_never_cleared",
	[HT_FAULT_IGNORE_AFFINITY]	= "ignore_affinity",
	[HT_FAULT_NO_UNSHARE]		= "no_unshare",
	[HT_FAULT_NO_SHARING]		= "no_sharing",
	[HT_FAULT_NO_CLOCK]		= "no_clock",
};

static int fault_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", fault_names[READ_ONCE(ht_fault_on)]);
	return 0;
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, NULL);
}

static ssize_t fault_write(struct file *file, const char __user *ubuf,
			   size_t count, loff_t *ppos)
{
	char buf[32];
	int fault;

	if (count >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, count))
		return -EFAULT;
	buf[count] = '\0';

	fault = match_string(fault_names, HT_NR_FAULTS, strim(buf));
	if (fault < 0)
		return fault;

	WRITE_ONCE(ht_fault_on, fault);
	return count;
}

static const struct file_operations fault_fops = {
	.open		= fault_open,
	.read		= seq_read,
	.write		= fault_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* Written by debugfs: off for those who count what a wakeup costs. */
static bool check_decisions = true;

/**
 * ht_debug_snap() - is a new snapshot valid?
 * @snap: snapshot, not published yet
 */
void ht_debug_snap(const struct ht_snap *snap)
{
	enum ht_check_error error = ht_check_topo(&snap->topo);

	WARN_ONCE(error, "sched_ht: invalid topology snapshot: %s\n",
		  ht_check_name(error));
}

/**
 * ht_debug_select() - would the policy decide rightly as things stand now?
 * @snap: snapshot, read under RCU
 * @req: what it is asked; interrupts are off
 *
 * Judged by a plain search over all CPUs, on a copy of the words.
 */
void ht_debug_select(const struct ht_snap *snap, const struct ht_request *req)
{
	enum ht_check_error error;
	struct ht_verdict verdict;
	struct ht_state st;

	if (!READ_ONCE(check_decisions) || ht_fault(HT_FAULT_IGNORE_AFFINITY) ||
	    !ht_still_state(snap, &st))
		return;

	ht_policy_select(&snap->topo, &st, req, &verdict);
	error = ht_check_select(&snap->topo, &st, req, &verdict);
	if (!error)
		return;

	ht_count(BAD_VERDICT);
	WARN_ONCE(1, "sched_ht: bad verdict: %s (kind %s, prev %u, origin %u, cpu %u, why %s)\n",
		  ht_check_name(error), ht_kind_name(req->kind), req->prev_cpu,
		  req->origin_cpu, verdict.cpu, ht_why_name(verdict.why));
}

/*
 * INV-2: a task does not stay beside a busy thread longer than two ticks of its
 * CPU while a core that it may use is wholly idle, unless a reason is counted.
 * Written by the CPU concerned, summed and reset by readers.
 */
struct inv2 {
	u64		violations;
	u64		excused;
	u64		worst_ticks;
	u64		worst_ns;
	u64		total_ns;
	unsigned int	row;		/* ticks of the present task's stay */
};

static DEFINE_PER_CPU(struct inv2, ht_inv2);

#define INV2_TICKS	2

/**
 * ht_inv2_tick() - checker of INV-2, at a tick of the task's CPU
 * @rq: run queue, its lock held
 * @p: its running task, of SCHED_HT
 * @beside: it is beside a busy thread and could be on a wholly idle core
 */
void ht_inv2_tick(struct rq *rq, struct task_struct *p, bool beside)
{
	struct inv2 *inv2 = per_cpu_ptr(&ht_inv2, cpu_of(rq));
	u64 stay_ns;

	if (!beside) {
		p->ht.beside_tick = 0;
		return;
	}
	if (!READ_ONCE(sysctl_sched_ht_unshare) ||
	    !READ_ONCE(sysctl_sched_ht_smt)) {
		inv2->excused++;
		return;
	}

	if (!p->ht.beside_tick) {
		p->ht.beside_tick = jiffies ?: 1;
		inv2->row = 0;
	}
	if (++inv2->row <= INV2_TICKS)
		return;

	stay_ns = jiffies_to_nsecs(jiffies - p->ht.beside_tick);
	inv2->worst_ticks = max_t(u64, inv2->worst_ticks, inv2->row);
	inv2->worst_ns = max(inv2->worst_ns, stay_ns);
	inv2->total_ns += TICK_NSEC;
	if (inv2->row == INV2_TICKS + 1)
		inv2->violations++;
}

static int inv2_show(struct seq_file *m, void *v)
{
	struct inv2 sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		struct inv2 *inv2 = per_cpu_ptr(&ht_inv2, cpu);

		sum.violations += READ_ONCE(inv2->violations);
		sum.excused += READ_ONCE(inv2->excused);
		sum.total_ns += READ_ONCE(inv2->total_ns);
		sum.worst_ns = max(sum.worst_ns, READ_ONCE(inv2->worst_ns));
		sum.worst_ticks = max(sum.worst_ticks,
				      READ_ONCE(inv2->worst_ticks));
	}

	seq_printf(m, "violations %llu\n", sum.violations);
	seq_printf(m, "worst_ticks %llu\n", sum.worst_ticks);
	seq_printf(m, "worst_ns %llu\n", sum.worst_ns);
	seq_printf(m, "total_ns %llu\n", sum.total_ns);
	seq_printf(m, "excused %llu\n", sum.excused);

	return 0;
}

static int inv2_open(struct inode *inode, struct file *file)
{
	return single_open(file, inv2_show, NULL);
}

static ssize_t inv2_write(struct file *file, const char __user *ubuf,
			  size_t count, loff_t *ppos)
{
	unsigned int zero;
	int cpu, err = kstrtouint_from_user(ubuf, count, 0, &zero);

	if (err)
		return err;
	if (zero)
		return -EINVAL;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&ht_inv2, cpu), 0, sizeof(struct inv2));

	return count;
}

static const struct file_operations inv2_fops = {
	.open		= inv2_open,
	.read		= seq_read,
	.write		= inv2_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static void __init debug_files(struct dentry *dir)
{
	debugfs_create_file("fault", 0600, dir, NULL, &fault_fops);
	debugfs_create_bool("check", 0600, dir, &check_decisions);
	debugfs_create_file("inv2", 0600, dir, NULL, &inv2_fops);
}
#else
static void __init debug_files(struct dentry *dir) { }
#endif /* CONFIG_SCHED_HT_DEBUG */

static int __init ht_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("sched_ht", NULL);

	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("topology", 0400, dir, NULL, &topology_fops);
	debugfs_create_file("tasks", 0400, dir, NULL, &tasks_fops);
	debugfs_create_file("cpus", 0400, dir, NULL, &cpus_fops);
	debug_files(dir);

	return 0;
}
late_initcall(ht_debugfs_init);
#endif /* CONFIG_DEBUG_FS */
