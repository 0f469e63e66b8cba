// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: where a SCHED_HT task goes, on every path and whatever topology,
 * by the plain rule: sched_ht_cache_hot is 0. What prices make of it: warm.c.
 *
 * The rule, in this order: the previous CPU if its core is wholly idle; the
 * nearest wholly idle core; the previous CPU if idle; its idle sibling; the
 * nearest other idle thread; the shortest wait. What is nearest, sync wakeups and
 * forks measure from the waker; a child has no previous CPU but its parent's.
 *
 * A scene is a set of pinned hogs, the first of them this process itself so
 * that waking costs no other CPU, and a sleeper T with a previous CPU and a
 * mask. T is woken many times; rounds in which the trace shows anybody else on
 * the machine do not count.
 */
#include "ht_test.h"
#include "ht_trace.h"

#include <sys/wait.h>

#define SETTLE_MS	6
#define MAX_ROUNDS	512

struct scene {
	const char *what;
	ht_mask hogs;
	int hog_policy;
	int weak_cpu;		/* a hog of nice 19 here, -1: none */
	int prev;
	ht_mask allowed;
	ht_mask expect;
	bool sync;
};

struct round {
	bool seen, valid;
	int verdict, target;
	ht_mask busy;
	char why[24];
};

/* Gathers one result per "round" mark. */
struct observer {
	int pid;
	ht_mask hogs;
	int nr;
	bool open;
	struct round round[MAX_ROUNDS];
};

static struct ht_topo topo;

/* The rule by brute force */

static bool core_free(ht_mask busy, int cpu)
{
	return !(topo.core_of[cpu] & busy);
}

static ht_mask nearest(ht_mask candidates, int origin)
{
	ht_mask best = 0;
	int cpu, least = 99;

	ht_for_each_cpu(cpu, candidates) {
		int distance = ht_topo_distance(&topo, origin, cpu);

		if (distance < least) {
			least = distance;
			best = 0;
		}
		if (distance == least)
			best |= HT_CPU(cpu);
	}
	return best;
}

static ht_mask rule(ht_mask busy, int prev, int origin, ht_mask allowed)
{
	ht_mask free = 0, idle, near;
	int cpu;

	allowed &= topo.usable;
	idle = allowed & ~busy;
	ht_for_each_cpu(cpu, idle)
		if (core_free(busy, cpu))
			free |= HT_CPU(cpu);
	if (ht_has(free, prev))
		return HT_CPU(prev);
	if (!ht_has(allowed, origin))
		return free ? free : idle ? idle : allowed;
	if (free)
		return nearest(free, origin);
	if (ht_has(idle, prev))
		return HT_CPU(prev);
	if (idle & topo.core_of[prev])
		return idle & topo.core_of[prev];
	near = nearest(idle, origin);
	return near ? near : allowed;
}

/* Observing */

static void observe(const struct ht_event *ev, const struct ht_replay *replay,
		    void *data)
{
	struct observer *ob = data;
	struct round *round = &ob->round[ob->nr];
	bool verdict = ev->type == HT_EV_SELECT && ev->pid == ob->pid;
	bool woken = (ev->type == HT_EV_WAKEUP || ev->type == HT_EV_WAKEUP_NEW) &&
		     ev->pid == ob->pid;

	if (ev->type == HT_EV_MARK && !strncmp(ev->text, "round", 5)) {
		ob->open = true;
		return;
	}
	if (!ob->open || ob->nr == MAX_ROUNDS || (!verdict && !woken))
		return;
	if (!round->seen) {
		round->seen = true;
		round->busy = ht_replay_busy(replay);
		/* Somebody whom the trace does not show yet may be on the way. */
		round->valid = round->busy == ob->hogs && !ev->tries;
		round->verdict = ev->dst;
		memcpy(round->why, ev->why, sizeof(round->why));
	}
	if (woken) {
		round->target = ev->dst;
		ob->open = false;
		ob->nr++;
	}
}

static void judge(const struct observer *ob, const struct scene *sc)
{
	int valid = 0, wrong = 0;

	for (int i = 0; i < ob->nr; i++) {
		const struct round *round = &ob->round[i];

		valid += round->valid;
		if (!round->valid || ht_has(sc->expect, round->target))
			continue;
		if (!wrong++)
			ht_note("%s: round %d: CPU %d (%s), expected %#llx, busy %#llx, prev %d",
				sc->what, i, round->target, round->why,
				(unsigned long long)sc->expect,
				(unsigned long long)round->busy, sc->prev);
	}
	if (ht_opt.verbose || wrong || valid < 3)
		ht_note("%s: %d rounds, %d without others, %d wrong", sc->what,
			ob->nr, valid, wrong);
	EXPECT(!wrong, "%s: %d of %d placements are wrong", sc->what, wrong,
	       valid);
	EXPECT(valid >= 3, "%s: only %d of %d rounds were undisturbed", sc->what,
	       valid, ob->nr);
}

/* Waking */

struct pipes {
	int ping[2], pong[2];
};

static struct pipes *pipes;

static void pipe_body(struct ht_slot *slot)
{
	char byte;

	while (read(pipes->ping[0], &byte, 1) == 1) {
		slot->first_cpu = sched_getcpu();
		slot->count++;
		if (write(pipes->pong[1], &byte, 1) != 1)
			break;
	}
}

static void spin_ms(unsigned int ms)
{
	uint64_t end = ht_now() + ms * HT_NSEC_PER_MSEC;

	while (ht_now() < end)
		;
}

static void wake_and_wait(int index, bool sync)
{
	char byte = 0;

	if (sync) {
		if (write(pipes->ping[1], &byte, 1) != 1 ||
		    read(pipes->pong[0], &byte, 1) != 1)
			ht_fail("pipe", 0, "pipe", "%s", strerror(errno));
		return;
	}
	ht_wake(index);
	ht_wait_answer(index);
}

static void await_sleep(int index)
{
	uint64_t start = ht_now();

	while (ht_state(ht_slot(index)->pid) != 'S')
		if (ht_hung(start, "sleep"))
			ht_end_case();
	spin_ms(SETTLE_MS);
}

/* Brings T to sleep with the previous CPU wanted, then wakes it. */
static void play_round(const struct scene *sc, int index, int round)
{
	pid_t pid = ht_slot(index)->pid;

	REQUIRE(!ht_pin(pid, HT_CPU(sc->prev)), "%s", strerror(errno));
	wake_and_wait(index, sc->sync);
	await_sleep(index);
	REQUIRE(!ht_pin(pid, sc->allowed), "%s", strerror(errno));
	ht_trace_mark("round %d", round);
	wake_and_wait(index, sc->sync);
	await_sleep(index);
}

static void start_hogs(const struct scene *sc)
{
	int cpu, self = ht_first(sc->hogs);

	REQUIRE(!ht_pin(0, HT_CPU(self)), "%s", strerror(errno));
	REQUIRE(!ht_set(0, sc->hog_policy, 0), "%s", strerror(errno));
	ht_for_each_cpu(cpu, sc->hogs & ~HT_CPU(self))
		ht_hog("nh-hog", sc->hog_policy, cpu == sc->weak_cpu ? 19 : 0,
		       HT_CPU(cpu));
}

static void play(const struct scene *sc)
{
	static struct observer ob;
	unsigned int rounds = ht_rounds(12);
	struct ht_audit audit;
	int index;

	start_hogs(sc);
	if (sc->sync && (pipe(pipes->ping) || pipe(pipes->pong)))
		ht_skip("pipe: %s", strerror(errno));
	index = sc->sync ?
		ht_task("ht-T", SCHED_HT, 0, HT_CPU(sc->prev), pipe_body) :
		ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(sc->prev));
	ht_trace_start();
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++)
		play_round(sc, index, i);
	ht_trace_stop();
	memset(&ob, 0, sizeof(ob));
	ob.pid = ht_slot(index)->pid;
	ob.hogs = sc->hogs;
	ht_trace_replay(&topo, &audit, observe, &ob);
	judge(&ob, sc);
	ht_kill_all();
	ht_set(0, SCHED_OTHER, 0);
	ht_pin(0, topo.online);
}

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_trace();
	REQUIRE(!ht_sysctl_set("cache_hot", 0), "%s", strerror(errno));
	pipes = ht_shared(sizeof(*pipes));
}

/* Fills in the usual things; the rule gives the expectation. */
static void play_by_rule(const char *what, ht_mask hogs, int prev,
			 ht_mask allowed, bool sync)
{
	struct scene sc = {
		.what = what, .hogs = hogs, .hog_policy = SCHED_HT,
		.weak_cpu = -1, .prev = prev, .allowed = allowed, .sync = sync,
	};

	sc.expect = rule(hogs, prev, sync ? ht_first(hogs) : prev, allowed);
	play(&sc);
}

/* One thread of each core in @cores. */
static ht_mask one_each(ht_mask cores)
{
	ht_mask mask = 0;

	for (int i = 0; i < topo.nr_cores; i++)
		if (topo.core[i] & cores & topo.usable)
			mask |= HT_CPU(ht_first(topo.core[i] & topo.usable));
	return mask;
}

TEST(prev_core, "rule 1: back to the previous CPU if its core is wholly idle")
{
	setup();
	ht_need_cpus(&topo, 2, 2);
	for (int i = 1; i < topo.nr_cores && i < 4; i++) {
		int cpu;

		ht_for_each_cpu(cpu, topo.core[i] & topo.usable)
			play_by_rule("prev's core idle", HT_CPU(ht_first(topo.core[0])),
				     cpu, topo.usable, false);
	}
}

TEST(beside_busy, "rule 2: not beside a busy thread while a core is idle")
{
	static const int policies[] = { SCHED_HT, SCHED_OTHER, SCHED_IDLE };
	struct scene sc = { .what = "prev beside a hog", .weak_cpu = -1 };
	int core;

	setup();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 3, 2);
	core = ht_topo_smt_core(&topo, 0);
	sc.hogs = HT_CPU(ht_first(topo.core[core]));
	sc.prev = ht_topo_sibling(&topo, ht_first(sc.hogs));
	sc.allowed = topo.usable;
	sc.expect = rule(sc.hogs, sc.prev, sc.prev, sc.allowed);
	for (int i = 0; i < 3; i++) {
		sc.hog_policy = policies[i];
		play(&sc);
	}
}

TEST(own_llc_busy, "rule 2: a wholly idle core of another LLC before a sibling")
{
	ht_mask hogs;

	setup();
	if (topo.nr_llcs < 2)
		ht_skip("needs two last level caches");
	ht_need_smt(&topo);
	hogs = one_each(topo.llc_of[ht_first(topo.usable)]);
	play_by_rule("own LLC busy", hogs, ht_first(hogs), topo.usable, false);
}

TEST(all_cores_busy, "rules 3 to 5: prev, its sibling, another idle thread")
{
	ht_mask hogs, some;
	int prev, sibling;

	setup();
	ht_need_smt(&topo);
	hogs = one_each(~0ULL);
	prev = ht_first(topo.core[ht_topo_smt_core(&topo, 0)]);
	sibling = ht_topo_sibling(&topo, prev);
	play_by_rule("prev idle, core not", hogs, sibling, topo.usable, false);
	play_by_rule("prev busy, sibling idle", hogs, prev, topo.usable, false);
	some = topo.usable & ~hogs & ~topo.core_of[prev];
	if (some)
		play_by_rule("prev's whole core busy", hogs | topo.core_of[prev],
			     prev, topo.usable, false);
}

TEST(nothing_idle, "rule 6: with no idle thread, an allowed CPU")
{
	setup();
	ht_need_cpus(&topo, 2, 1);
	play_by_rule("all busy", topo.usable, ht_first(topo.usable), topo.usable,
		     false);
	play_by_rule("all busy, one allowed", topo.usable, ht_first(topo.usable),
		     HT_CPU(63 - __builtin_clzll(topo.usable)), false);
}

TEST(masks, "only allowed threads count: second threads, single CPUs")
{
	int core, other, first, second;

	setup();
	ht_need_smt(&topo);
	core = ht_topo_smt_core(&topo, 0);
	first = ht_first(topo.core[core]);
	second = ht_topo_sibling(&topo, first);
	play_by_rule("one CPU allowed", HT_CPU(first), second, HT_CPU(second),
		     false);
	other = ht_topo_smt_core(&topo, 1);
	if (other < 0)
		return;
	/* The core counts as idle, and its allowed thread is the one to get. */
	play_by_rule("second thread of the idle core allowed", HT_CPU(first), second,
		     HT_CPU(second) |
		     HT_CPU(ht_topo_sibling(&topo, ht_first(topo.core[other]))),
		     false);
	play_by_rule("prev not allowed", HT_CPU(first), second,
		     topo.usable & ~topo.core_of[first], false);
}

TEST(sync_wakeup, "a sync wakeup returns to prev, or stays near the waker")
{
	setup();
	ht_need_cpus(&topo, 2, 2);
	play_by_rule("sync, prev beside the waker",
		     HT_CPU(ht_first(topo.usable)),
		     ht_topo_sibling(&topo, ht_first(topo.usable)) < 0 ?
		     ht_first(topo.core[1]) :
		     ht_topo_sibling(&topo, ht_first(topo.usable)),
		     topo.usable, true);
	play_by_rule("sync, prev in the last core",
		     HT_CPU(ht_first(topo.usable)),
		     ht_first(topo.core[topo.nr_cores - 1] & topo.usable),
		     topo.usable, true);
	ht_need_smt(&topo);
	play_by_rule("sync, no core idle", one_each(~0ULL),
		     ht_first(topo.core[topo.nr_cores - 1] & topo.usable),
		     topo.usable, true);
}

TEST(smt_off, "sched_ht_smt=0: all threads are equal, prev stays if idle")
{
	int first, second;

	setup();
	ht_need_smt(&topo);
	first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)]);
	second = ht_topo_sibling(&topo, first);
	REQUIRE(!ht_sysctl_set("smt", 0), "%s", strerror(errno));
	/* Un-sharing would correct what this is to show. */
	ht_sysctl_set("unshare", 0);
	struct scene sc = {
		.what = "smt off", .hogs = HT_CPU(first), .hog_policy = SCHED_HT,
		.weak_cpu = -1, .prev = second, .allowed = topo.usable,
		.expect = HT_CPU(second),
	};
	play(&sc);
	ht_sysctl_set("smt", 1);
	ht_sysctl_set("unshare", 1);
	sc.what = "smt on again";
	sc.expect = rule(sc.hogs, second, second, topo.usable);
	if (topo.nr_cores > 1)
		play(&sc);
}

/*
 * The sequences for 2 LLCs x 2 cores x 2 threads, siblings 0-1, 2-3 | 4-5, 6-7,
 * with the expectations written out rather than derived.
 */
static bool is_sequence_machine(void)
{
	if (topo.online != 0xff || topo.llc_of[0] != 0x0f ||
	    topo.llc_of[4] != 0xf0)
		return false;
	for (int cpu = 0; cpu < 8; cpu += 2)
		if (topo.core_of[cpu] != 3ULL << cpu)
			return false;
	return true;
}

TEST(sequences, "the wakeup sequences 1 to 4 and 6, written out")
{
	static const struct scene scenes[] = {
		{ "sequence 1", 0x01, SCHED_HT, -1, 1, 0xff, 0x0c, false },
		{ "sequence 2", 0x05, SCHED_HT, -1, 0, 0xff, 0xf0, false },
		{ "sequence 3", 0x55, SCHED_HT, -1, 2, 0xff, 0x08, false },
		{ "sequence 4", 0x01, SCHED_HT, -1, 1, 0x0a, 0x08, false },
		{ "sequence 4, pinned", 0x01, SCHED_HT, -1, 1, 0x02, 0x02, false },
		{ "sequence 6", 0x07, SCHED_HT, 2, 2, 0xff, 0xf0, false },
		{ "sequence 6, fair hogs", 0x07, SCHED_OTHER, 2, 3, 0xff, 0xf0, false },
	};

	setup();
	if (!is_sequence_machine() || topo.isolated)
		ht_skip("needs 2 LLCs x 2 cores x 2 threads, numbered 0-1 2-3 4-5 6-7");
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		play(&scenes[i]);
}

/* The last CPU, if it can be taken offline. */
static int need_removable_cpu(void)
{
	char path[96];
	int cpu;

	ht_need_cpus(&topo, 2, 1);
	cpu = 63 - __builtin_clzll(topo.usable);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (!ht_exists(path))
		ht_skip("CPU %d cannot go offline", cpu);
	return cpu;
}

TEST(sequence_7_offline_prev, "prev goes offline while T sleeps")
{
	int index, prev;

	setup();
	prev = need_removable_cpu();
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(prev));
	for (unsigned int i = 0; i < ht_rounds(5); i++) {
		ht_pin(ht_slot(index)->pid, HT_CPU(prev));
		ht_wake(index);
		ht_wait_asleep(index);
		ht_pin(ht_slot(index)->pid, i % 2 ? topo.online :
		       HT_CPU(prev) | HT_CPU(ht_first(topo.usable)));
		REQUIRE(!ht_cpu_online(prev, false), "offline: %s", strerror(errno));
		ht_wake(index);
		ht_wait_answer(index);
		EXPECT(ht_slot(index)->first_cpu != prev, "woken on offline CPU %d",
		       prev);
		if (i % 2 == 0)
			EXPECT(ht_slot(index)->first_cpu == ht_first(topo.usable),
			       "CPU %d was not allowed",
			       ht_slot(index)->first_cpu);
		REQUIRE(!ht_cpu_online(prev, true), "online: %s", strerror(errno));
	}
}

/* Runs @body as an unpinned HT task that this process only waits for. */
static void trace_task(const char *name, void (*body)(struct ht_slot *),
		       struct ht_audit *audit)
{
	uint64_t start = ht_now();
	int index;

	ht_trace_start();
	index = ht_task(name, SCHED_HT, 0, topo.usable, body);
	while (ht_state(ht_slot(index)->pid) != 'Z') {
		ht_sleep_ms(50);
		if (ht_hung(start, name))
			break;
	}
	ht_trace_stop();
	ht_trace_replay(&topo, audit, NULL, NULL);
	ht_audit_print(audit);
	EXPECT(!ht_slot(index)->bad, "%d complaints of %s", ht_slot(index)->bad,
	       name);
}

static void fork_body(struct ht_slot *slot)
{
	for (unsigned int i = 0; i < ht_rounds(60); i++) {
		pid_t pid = fork();

		if (!pid) {
			ht_burn_ns(200000);
			_exit(0);
		}
		if (pid < 0)
			slot->bad++;
		/* Half of the children run beside a parent that is busy. */
		if (i % 2)
			ht_burn_ns(400000);
		waitpid(pid, NULL, 0);
	}
}

TEST(fork_path, "a forked task takes the nearest idle core")
{
	struct ht_audit audit;

	setup();
	ht_need_cpus(&topo, 2, 2);
	trace_task("ht-fork", fork_body, &audit);
	ht_audit_placement(&audit);
	ht_audit_inv2(&audit);
}

static void exec_child(int fd)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	setenv("HT_EXEC_REPORT", text, 1);
	execl("/proc/self/exe", "ht-exec", NULL);
	_exit(1);
}

/* T runs beside us, with un-sharing off; exec has to take it away. */
TEST(exec_path, "exec leaves a shared core for an idle one")
{
	int first, second, fds[2], line[4];
	long long kind = ht_stat("kind.exec");

	setup();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 3, 2);
	first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)]);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	ht_sysctl_set("unshare", 0);
	REQUIRE(!pipe(fds), "%s", strerror(errno));
	int shared = 0;
	unsigned int rounds = ht_rounds(20);

	for (unsigned int i = 0; i < rounds; i++) {
		int ready[2];
		char byte;
		pid_t pid;

		REQUIRE(!pipe(ready), "%s", strerror(errno));
		pid = fork();
		if (!pid) {
			ht_name("ht-exec");
			ht_pin(0, HT_CPU(second));
			ht_set(0, SCHED_HT, 0);
			if (read(ready[0], &byte, 1) != 1)
				_exit(1);
			ht_pin(0, topo.usable);
			exec_child(fds[1]);
		}
		spin_ms(SETTLE_MS);
		if (write(ready[1], "", 1) != 1)
			ht_fail("pipe", 0, "pipe", "%s", strerror(errno));
		/* Stay busy until it is over: the report waits in the pipe. */
		while (ht_state(pid) != 'Z')
			;
		REQUIRE(read(fds[0], line, sizeof(line)) == sizeof(line), "report");
		waitpid(pid, NULL, 0);
		close(ready[0]);
		close(ready[1]);
		EXPECT(line[1] == SCHED_HT, "policy %d after exec", line[1]);
		shared += ht_has(topo.core_of[first], line[0]);
	}
	ht_sysctl_set("unshare", 1);
	/* Other tasks of the system may take the idle cores for a moment. */
	EXPECT(shared * 10 <= (int)rounds, "%d of %u stayed beside a busy thread",
	       shared, rounds);
	if (kind >= 0)
		EXPECT(ht_stat("kind.exec") > kind, "exec was not asked");
}

static int distinct_cores(const int *cpus, int nr)
{
	ht_mask seen = 0;
	int cores = 0;

	for (int i = 0; i < nr; i++) {
		cores += !(topo.core_of[cpus[i]] & seen);
		seen |= topo.core_of[cpus[i]];
	}
	return cores;
}

struct gang {
	volatile int arrived, settled;
	volatile int cpu[HT_MAX_CPUS];
};

static struct gang *gang;
static int gang_size;

static void gang_member(int number)
{
	__atomic_add_fetch(&gang->arrived, 1, __ATOMIC_RELAXED);
	while (gang->arrived < gang_size)
		;
	/* Several ticks of its own for any correction. */
	ht_burn_ns(6 * ht_tick_ns());
	gang->cpu[number] = sched_getcpu();
	__atomic_add_fetch(&gang->settled, 1, __ATOMIC_RELAXED);
	while (gang->settled < gang_size)
		;
	_exit(0);
}

static void gang_body(struct ht_slot *slot)
{
	for (unsigned int round = 0; round < ht_rounds(8); round++) {
		int cpus[HT_MAX_CPUS], cores;

		gang->arrived = 0;
		gang->settled = 0;
		for (int i = 0; i < gang_size; i++)
			if (!fork())
				gang_member(i);
		while (wait(NULL) > 0)
			;
		for (int i = 0; i < gang_size; i++)
			cpus[i] = gang->cpu[i];
		cores = distinct_cores(cpus, gang_size);
		slot->bad += cores < (gang_size < topo.nr_cores ? gang_size :
						  topo.nr_cores);
	}
}

/* Sequence 9, and P tasks on P cores for every P up to the number of cores. */
TEST(sequence_9_forks, "forks of one parent take distinct cores first")
{
	struct ht_audit audit;

	setup();
	ht_need_cpus(&topo, 2, 2);
	gang = ht_shared(sizeof(*gang));
	for (gang_size = 2; gang_size <= topo.nr_cores && gang_size <= 8;
	     gang_size += gang_size < 4 ? 1 : 3) {
		ht_note("%d tasks", gang_size);
		trace_task("ht-gang", gang_body, &audit);
		ht_audit_placement(&audit);
		ht_audit_inv2(&audit);
	}
}

/* The hog T keeps running; it must have left within a few of its own ticks. */
static void expect_leaves(const char *what, int index, int beside)
{
	int own[] = { index };

	ht_wait_cpu_ns(own, 1, 8 * ht_tick_ns());
	EXPECT(!ht_has(topo.core_of[beside], ht_slot(index)->cpu),
	       "%s: still on CPU %d beside a hog", what, ht_slot(index)->cpu);
}

/* Like expect_leaves(), but through the trace as well. */
TEST(affinity_path, "a running task whose CPU is taken away finds an idle core")
{
	struct ht_audit audit;
	int first, second, index;

	setup();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 4, 2);
	first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)]);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(first));
	index = ht_hog("ht-T", SCHED_HT, 0, HT_CPU(ht_first(topo.core[1])));
	ht_trace_mask(ht_slot(index)->pid, 0);
	ht_trace_start();
	for (unsigned int i = 0; i < ht_rounds(10); i++) {
		int core = 1 + i % (topo.nr_cores - 1);
		int own[] = { index };
		pid_t pid = ht_slot(index)->pid;

		ht_trace_mark("htmask %d 0", pid);
		ht_pin(pid, HT_CPU(ht_first(topo.core[core])));
		ht_wait_cpu_ns(own, 1, 2 * ht_tick_ns());
		/* Everything but where it runs. */
		ht_pin(pid, topo.usable & ~HT_CPU(ht_first(topo.core[core])));
		expect_leaves("affinity", index, first);
		/* Only the thread beside the hog and one idle core. */
		ht_pin(pid, HT_CPU(second) | topo.core[core]);
		expect_leaves("affinity, few", index, first);
	}
	ht_trace_stop();
	ht_trace_replay(&topo, &audit, NULL, NULL);
	ht_audit_print(&audit);
}

TEST(class_path, "a running task that becomes SCHED_HT leaves a shared core")
{
	int first, second, index;

	setup();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 3, 2);
	first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)]);
	second = ht_topo_sibling(&topo, first);
	ht_pin(0, HT_CPU(first));
	ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(first));
	index = ht_hog("ht-T", SCHED_OTHER, 0, HT_CPU(second));
	for (unsigned int i = 0; i < ht_rounds(10); i++) {
		pid_t pid = ht_slot(index)->pid;

		ht_pin(pid, HT_CPU(second));
		REQUIRE(!ht_set(pid, SCHED_OTHER, 0), "%s", strerror(errno));
		REQUIRE(!ht_set(pid, SCHED_HT, 0), "%s", strerror(errno));
		EXPECT(ht_runs_within(index, HT_CPU(second)), "left its mask");
		REQUIRE(!ht_set(pid, SCHED_OTHER, 0), "%s", strerror(errno));
		ht_pin(pid, topo.usable);
		REQUIRE(!ht_set(pid, SCHED_HT, 0), "%s", strerror(errno));
		expect_leaves("class switch", index, first);
	}
}

TEST(hotplug_path, "a running task whose CPU goes offline runs on")
{
	int index, cpu;

	setup();
	cpu = need_removable_cpu();
	index = ht_hog("ht-T", SCHED_HT, 0, HT_CPU(cpu));
	for (unsigned int i = 0; i < ht_rounds(4); i++) {
		ht_mask allowed = i % 2 ? topo.usable : HT_CPU(cpu);

		ht_pin(ht_slot(index)->pid, HT_CPU(cpu));
		EXPECT(ht_runs_within(index, HT_CPU(cpu)), "not there");
		ht_pin(ht_slot(index)->pid, allowed);
		REQUIRE(!ht_cpu_online(cpu, false), "offline: %s", strerror(errno));
		EXPECT(ht_runs_within(index, topo.online & ~HT_CPU(cpu)),
		       "on CPU %d", ht_slot(index)->cpu);
		REQUIRE(!ht_cpu_online(cpu, true), "online: %s", strerror(errno));
	}
}
