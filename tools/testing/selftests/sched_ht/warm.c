// SPDX-License-Identifier: GPL-2.0
/*
 * The cache-hot estimate and the price: what others ran displaces a task's
 * data and what time passes does not; a task stays beside its data if it is
 * short for what a move costs, and gets a core if it is long; with
 * sched_ht_cache_hot off the plain rule is back.
 *
 * Under emulation run times are what they are, so prices are set to suit them:
 * a scene says which side of a price a run is on, never by how little.
 */
#include "ht_test.h"

#include <sys/wait.h>

#define MS		HT_NSEC_PER_MSEC
/* Of runs and residence in these scenes. */
#define RUN_NS		(2 * MS)
#define FILL_US		100000
#define FILL_NS		(FILL_US * 1000LL)

static struct ht_topo topo;
/* We are busy on @first; T's place is @second, its sibling. */
static int first, second;

static void set_knob(const char *name, long value)
{
	REQUIRE(!ht_sysctl_set(name, value), "%s = %ld: %s", name, value,
		strerror(errno));
}

static void setup(int cores)
{
	ht_topo_read(&topo);
	ht_need_root();
	ht_need_smt(&topo);
	ht_need_cpus(&topo, 2 * cores, cores);
	first = ht_first(topo.core[ht_topo_smt_core(&topo, 0)] & topo.usable);
	second = ht_topo_sibling(&topo, first);
	REQUIRE(!ht_pin(0, HT_CPU(first)), "%s", strerror(errno));
}

/* A number from /proc/PID/sched, -1 if it is not there. */
static long long sched_number(pid_t pid, const char *name)
{
	char path[64], buf[8192], *at;

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	if (ht_read(path, buf, sizeof(buf)) <= 0)
		ht_skip("no /proc/PID/sched (CONFIG_SCHED_DEBUG)");
	at = strstr(buf, name);
	at = at ? strchr(at, ':') : NULL;
	return at ? atoll(at + 1) : -1;
}

static long long warm_ns(int index, const char *level)
{
	char name[32];

	snprintf(name, sizeof(name), "ht.warm_%s_ns", level);
	return sched_number(ht_slot(index)->pid, name);
}

static void wake_and_sleep(int index)
{
	ht_wake(index);
	ht_wait_asleep(index);
}

/* Short runs at one place until all of its caches are T's; we are elsewhere. */
static void warm_up(int index, int cpu)
{
	ht_pin(0, topo.usable & ~topo.core_of[cpu]);
	ht_pin(ht_slot(index)->pid, HT_CPU(cpu));
	ht_slot(index)->run_ns = RUN_NS;
	for (int i = 0; i < 3 * FILL_NS / (2 * (long long)RUN_NS); i++)
		wake_and_sleep(index);
}

/* Somebody else runs at @cpu for so long. Returns for how long in the end. */
static long long others_run(int cpu, long long ns)
{
	int hog = ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(cpu));
	long long ran;

	ht_wait_cpu_ns(&hog, 1, ns);
	ran = ht_cpu_ns(ht_slot(hog)->pid);
	ht_kill(hog);
	return ran;
}

static void spin_ns(uint64_t ns)
{
	uint64_t end = ht_now() + ns;

	while (ht_now() < end)
		;
}

/* We run beside T's place while it is woken: where does it go? */
static int wake_after(int index, uint64_t spin)
{
	ht_pin(0, HT_CPU(first));
	ht_pin(ht_slot(index)->pid, topo.usable);
	spin_ns(spin);
	ht_wake(index);
	ht_wait_answer(index);
	ht_wait_asleep(index);
	return ht_slot(index)->first_cpu;
}

static int wake_beside_us(int index)
{
	return wake_after(index, 3 * MS);
}

/* A task that sleeps on the last core, which is full of its data. */
static int warm_sleeper(int *cpu)
{
	int index;

	setup(2);
	set_knob("fill_core_us", FILL_US);
	*cpu = ht_first(topo.core[topo.nr_cores - 1] & topo.usable);
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(*cpu));
	warm_up(index, *cpu);
	return index;
}

TEST(sleep_keeps, "a long sleep on an idle core leaves a task warm")
{
	long long before, after;
	int cpu, index = warm_sleeper(&cpu);

	before = warm_ns(index, "core");
	EXPECT(before > FILL_NS * 8 / 10, "%lld ns of %lld after 150 ms of run",
	       before, FILL_NS);
	ht_sleep_ms(1500);
	after = warm_ns(index, "core");
	/* Others of the system may have run there for a moment. */
	EXPECT(after > before * 8 / 10, "%lld ns, then %lld after a sleep", before,
	       after);
}

TEST(sibling_evicts, "what a sibling runs displaces a task's data, ns for ns")
{
	long long before, after, ran;
	int cpu, index = warm_sleeper(&cpu);

	before = warm_ns(index, "core");
	ran = others_run(ht_topo_sibling(&topo, cpu), 30 * MS);
	after = warm_ns(index, "core");
	EXPECT(before - after >= ran * 8 / 10,
	       "%lld ns, then %lld; a sibling ran %lld", before, after, ran);
	if (ran < FILL_NS / 2)
		EXPECT(after > 0, "nothing left after %lld ns", ran);
	others_run(ht_topo_sibling(&topo, cpu), 2 * FILL_NS);
	EXPECT(!warm_ns(index, "core"), "%lld ns left", warm_ns(index, "core"));
}

TEST(short_run_is_cold, "a task that ran for a moment never got warm")
{
	long long warm, run;
	int index;

	setup(2);
	set_knob("fill_core_us", 1000000);
	index = ht_sleeper("ht-T", SCHED_HT, 0, topo.usable);
	wake_and_sleep(index);
	warm = warm_ns(index, "core");
	run = ht_cpu_ns(ht_slot(index)->pid);
	EXPECT(warm <= run, "%lld ns warm after %lld of run", warm, run);
}

/* Sequence 5 of the wakeup sequences. */
TEST(stays_then_moves, "a task stays beside a busy thread while warm, not when cold")
{
	unsigned int rounds = ht_rounds(8), stayed = 0, moved = 0;
	long long warm = ht_stat("select.warm");
	int index;

	setup(2);
	/*
	 * A run of 2 ms loses 1.6 ms, or half of that while the busy thread
	 * passes for light, as it slept long; the move costs 0.6 ms to 5 ms.
	 */
	set_knob("refill_core_us", 5000);
	set_knob("fill_core_us", FILL_US);
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		warm_up(index, second);
		stayed += wake_beside_us(index) == second;
		warm_up(index, second);
		others_run(second, 2 * FILL_NS);
		moved += !ht_has(topo.core_of[first], wake_beside_us(index));
	}
	ht_note("stayed %u, moved %u of %u; run %lld ns", stayed, moved, rounds,
		sched_number(ht_slot(index)->pid, "ht.run_avg_ns"));
	EXPECT(stayed * 4 >= rounds * 3, "stayed %u of %u times while warm",
	       stayed, rounds);
	EXPECT(moved * 4 >= rounds * 3, "moved %u of %u times when cold", moved,
	       rounds);
	if (warm >= 0)
		EXPECT(ht_stat("select.warm") > warm, "not for that reason");
}

TEST(off_is_plain, "with sched_ht_cache_hot=0 a warm task moves as by the rule")
{
	unsigned int rounds = ht_rounds(8), moved = 0;
	long long warm;
	int index;

	setup(2);
	set_knob("refill_core_us", 10000);
	set_knob("fill_core_us", FILL_US);
	set_knob("cache_hot", 0);
	warm = ht_stat("select.warm");
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		warm_up(index, second);
		moved += !ht_has(topo.core_of[first], wake_beside_us(index));
	}
	EXPECT(moved * 4 >= rounds * 3, "moved %u of %u times", moved, rounds);
	if (warm >= 0)
		EXPECT(ht_stat("select.warm") == warm, "a price was asked");
}

TEST(yield_100, "with sched_ht_smt_yield_pct=100 nobody pays to leave a shared core")
{
	unsigned int rounds = ht_rounds(8), stayed = 0;
	int index;

	setup(2);
	set_knob("smt_yield_pct", 100);
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	for (unsigned int i = 0; i < rounds && !ht_failed(); i++) {
		ht_pin(ht_slot(index)->pid, HT_CPU(second));
		wake_and_sleep(index);
		stayed += wake_beside_us(index) == second;
	}
	EXPECT(stayed * 4 >= rounds * 3, "stayed %u of %u times", stayed, rounds);
}

/* One hog on each core of our LLC; the other LLC idles. */
static unsigned int crossings(unsigned int rounds, uint64_t run_ns)
{
	unsigned int crossed = 0;
	int index, i;

	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	ht_slot(index)->run_ns = run_ns;
	for (i = 0; i < topo.nr_cores; i++) {
		int cpu = ht_first(topo.core[i] & topo.usable);

		if (ht_has(topo.llc_of[first], cpu) && cpu != first)
			ht_hog("nh-hog", SCHED_OTHER, 0, HT_CPU(cpu));
	}
	for (unsigned int n = 0; n < rounds && !ht_failed(); n++) {
		ht_pin(ht_slot(index)->pid, HT_CPU(second));
		wake_and_sleep(index);
		wake_and_sleep(index);
		crossed += !ht_has(topo.llc_of[first], wake_beside_us(index));
	}
	ht_kill_all();
	return crossed;
}

static void setup_llcs(void)
{
	setup(4);
	if (topo.nr_llcs < 2)
		ht_skip("needs two last level caches");
}

TEST(long_crosses, "a task of 20 ms leaves its LLC for an idle core")
{
	unsigned int rounds = ht_rounds(6), crossed;

	setup_llcs();
	crossed = crossings(rounds, 20 * MS);
	EXPECT(crossed * 4 >= rounds * 3, "%u of %u times", crossed, rounds);
}

TEST(short_does_not_cross, "a run that is short for the LLC's price never does")
{
	unsigned int rounds = ht_rounds(6), crossed;

	setup_llcs();
	/* An eighth of it, for a task that is cold, is 12.5 ms. */
	set_knob("refill_llc_us", 100000);
	crossed = crossings(rounds, RUN_NS);
	EXPECT(crossed * 6 <= rounds, "%u of %u times", crossed, rounds);
}

/* Woken by us alone, from the other LLC. Returns the wakeup that moved it. */
static unsigned int wakeups_to_move(unsigned int most)
{
	unsigned int i;
	int index, far = -1, cpu;

	ht_for_each_cpu(cpu, topo.usable & ~topo.llc_of[first])
		far = cpu;
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(far));
	wake_and_sleep(index);
	ht_pin(ht_slot(index)->pid, topo.usable);
	for (i = 1; i <= most && !ht_failed(); i++) {
		wake_and_sleep(index);
		if (ht_has(topo.llc_of[first], ht_slot(index)->first_cpu))
			break;
	}
	ht_kill_all();
	return i;
}

TEST(partner, "a steady pair ends up in one LLC, but not after a few wakeups")
{
	unsigned int at;

	setup_llcs();
	set_knob("pair_ns", 1000000);
	at = wakeups_to_move(100);
	ht_note("moved at wakeup %u", at);
	EXPECT(at > 4, "moved at wakeup %u", at);
	EXPECT(at <= 100, "not after 100 wakeups");
	set_knob("pair_ns", 0);
	at = wakeups_to_move(60);
	EXPECT(at > 60, "moved at wakeup %u with sched_ht_pair_ns=0", at);
}

#define TURNS	200

static int mate, to_mate, from_mate;
/* In how many of the last turns the partner ran on our CPU. */
static int turns_here;

/* For each byte its CPU as one, and then as many ms of work. */
static void answer(int in, int out)
{
	char ms, cpu;

	while (read(in, &ms, 1) == 1) {
		cpu = sched_getcpu();
		if (write(out, &cpu, 1) != 1)
			break;
		spin_ns(ms * MS);
	}
	_exit(0);
}

static void begin_turns(long long wake_ns)
{
	int to[2], from[2];

	setup(2);
	if (ht_stat("select.follow") < 0)
		ht_skip("no statistics (CONFIG_SCHED_HT_DEBUG)");
	set_knob("wake_ns", wake_ns);
	REQUIRE(!pipe(to) && !pipe(from), "%s", strerror(errno));
	REQUIRE(!ht_pin(0, topo.usable), "%s", strerror(errno));
	REQUIRE(!ht_set(0, SCHED_HT, 0), "%s", strerror(errno));
	mate = fork();
	if (!mate) {
		close(to[1]);
		close(from[0]);
		answer(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	to_mate = to[1];
	from_mate = from[0];
}

/*
 * In each turn the partner works for @ms and we for twice as long, so that it
 * sleeps when its next turn comes. Returns how often one followed the other.
 */
static long long take_turns(int turns, char ms)
{
	long long before = ht_stat("select.follow");
	char cpu;

	turns_here = 0;
	for (int i = 0; i < turns && !ht_failed(); i++) {
		EXPECT(write(to_mate, &ms, 1) == 1, "%s", strerror(errno));
		spin_ns(2 * ms * MS);
		EXPECT(read(from_mate, &cpu, 1) == 1, "no answer");
		turns_here += cpu == sched_getcpu();
	}
	return ht_stat("select.follow") - before;
}

static void end_turns(void)
{
	close(to_mate);
	close(from_mate);
	waitpid(mate, NULL, 0);
}

TEST(turns, "two that take turns end up on one CPU, but not at once")
{
	long long times;

	begin_turns(1000000);
	times = take_turns(TURNS, 0);
	ht_note("followed %lld times in %d turns", times, TURNS);
	/* An answer that is there already wakes nobody. */
	EXPECT(times > TURNS / 10, "%lld times only", times);
	EXPECT(times < 2 * TURNS - 2 * 8, "%lld times", times);
	end_turns();
}

TEST(turns_knobs, "no turns with sched_ht_wake_ns, _cache_hot or _smt at 0")
{
	static const char *const knobs[] = { "wake_ns", "cache_hot", "smt" };

	for (size_t i = 0; i < sizeof(knobs) / sizeof(*knobs); i++) {
		begin_turns(1000000);
		set_knob(knobs[i], 0);
		EXPECT(!take_turns(TURNS, 0), "followed with %s=0", knobs[i]);
		set_knob("cache_hot", 1);
		set_knob("smt", 1);
		end_turns();
	}
}

TEST(turns_end, "two that begin to run at the same time are told apart")
{
	long long times;

	begin_turns(1000000);
	times = take_turns(TURNS, 0);
	EXPECT(times > TURNS / 10, "%lld times only", times);
	EXPECT(sched_number(mate, "ht.pair") >= 8, "no pair");
	/* Time for some of the turns that are taken apart, one in 128. */
	take_turns(3 * TURNS, 4);
	times = take_turns(TURNS / 4, 4);
	EXPECT(times <= TURNS / 40, "followed %lld times at the end", times);
	end_turns();
}

/* Behind the hog that runs there, but it is handed the CPU. */
TEST(turns_busy, "with every CPU busy two that take turns share one")
{
	int turns = TURNS / 4, cpu;
	long long times;

	begin_turns(1);
	ht_for_each_cpu(cpu, topo.usable)
		ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	take_turns(turns, 0);
	times = take_turns(turns, 0);
	ht_note("followed %lld times in %d turns", times, turns);
	EXPECT(times > turns / 4, "%lld times only", times);
	set_knob("wake_ns", 0);
	times = take_turns(turns, 0);
	EXPECT(!times, "followed %lld times with wake_ns=0", times);
	/* They have the pipes open, too. */
	ht_kill_all();
	end_turns();
}

/*
 * As long as our runs are, our CPU is no better than that of a hog, unless it is
 * known that we are about to sleep.
 */
TEST(plain_sync, "without SMT knowledge and nothing idle: to the waker's CPU")
{
	int turns = TURNS / 8, cpu;

	begin_turns(1000000);
	set_knob("smt", 0);
	ht_pin(mate, HT_CPU(second));
	ht_pin(0, HT_CPU(first));
	ht_for_each_cpu(cpu, topo.usable & ~HT_CPU(first))
		ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	take_turns(turns, 2);
	EXPECT(!turns_here, "%d turns of a pinned partner here", turns_here);
	ht_pin(mate, topo.usable);
	take_turns(turns, 2);
	EXPECT(turns_here > turns / 2, "%d of %d turns here", turns_here, turns);
	ht_kill_all();
	end_turns();
}

/* Both cores have one busy thread: ours of nice 0, the other of nice 19. */
TEST(light_neighbour, "a task sits beside nice 19 rather than beside nice 0")
{
	unsigned int rounds = ht_rounds(8), right = 0;
	ht_mask others = 0;
	int index;

	setup(2);
	index = ht_sleeper("ht-T", SCHED_HT, 0, HT_CPU(second));
	ht_slot(index)->run_ns = 20 * MS;
	for (int i = 0; i < topo.nr_cores; i++) {
		int cpu = ht_first(topo.core[i] & topo.usable);

		if (ht_has(topo.core_of[first], cpu))
			continue;
		ht_hog("nh-weak", SCHED_OTHER, 19, HT_CPU(cpu));
		others |= topo.core_of[cpu];
	}
	for (unsigned int n = 0; n < rounds && !ht_failed(); n++) {
		ht_pin(ht_slot(index)->pid, HT_CPU(second));
		wake_and_sleep(index);
		/* Long enough that we are not taken for one who seldom runs. */
		right += ht_has(others, wake_after(index, 150 * MS));
	}
	EXPECT(right * 4 >= rounds * 3, "%u of %u times", right, rounds);
}

/* Reads what /proc/self/sched says of @name after exec in a SCHED_HT task. */
static long long number_after_exec(const char *name)
{
	char buf[8192], *at;
	ssize_t len = 0, n;
	int fds[2];

	REQUIRE(!pipe(fds), "%s", strerror(errno));
	if (!fork()) {
		ht_set(0, SCHED_HT, 0);
		for (int i = 0; i < 40; i++)
			ht_sleep_ms(1);
		dup2(fds[1], 1);
		execlp("cat", "cat", "/proc/self/sched", NULL);
		_exit(1);
	}
	close(fds[1]);
	while ((n = read(fds[0], buf + len, sizeof(buf) - 1 - len)) > 0)
		len += n;
	buf[len] = 0;
	close(fds[0]);
	wait(NULL);
	at = strstr(buf, name);
	at = at ? strchr(at, ':') : NULL;
	return at ? atoll(at + 1) : -1;
}

TEST(inherited, "a new task and a new program are expected to run for a slice")
{
	long long slice = 3000000, run, parent;
	int fds[2];

	ht_topo_read(&topo);
	ht_need_root();
	REQUIRE(!pipe(fds), "%s", strerror(errno));
	REQUIRE(!ht_set(0, SCHED_HT, 0), "%s", strerror(errno));
	for (int i = 0; i < 40; i++)
		ht_sleep_ms(1);
	parent = sched_number(getpid(), "ht.run_avg_ns");
	EXPECT(parent >= 0 && parent < slice, "%lld ns expected of a short runner",
	       parent);
	if (!fork()) {
		run = sched_number(getpid(), "ht.run_avg_ns");
		if (write(fds[1], &run, sizeof(run)) != sizeof(run))
			_exit(1);
		_exit(0);
	}
	REQUIRE(read(fds[0], &run, sizeof(run)) == sizeof(run), "child");
	wait(NULL);
	EXPECT(run >= slice, "%lld ns expected of a child", run);
	run = number_after_exec("ht.run_avg_ns");
	/* It may have slept a time or two since, for the disk. */
	EXPECT(run > parent, "%lld ns expected after exec, %lld before", run,
	       parent);
}
