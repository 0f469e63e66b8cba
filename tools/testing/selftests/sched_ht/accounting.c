// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting (INV-5): what others read about a machine adds up with SCHED_HT
 * tasks and returns to zero after load: running tasks, load average, pressure,
 * CPU time; /proc/PID/sched shows the ht.* lines.
 */
#include "ht_test.h"

#include <dirent.h>
#include <signal.h>

static struct ht_topo topo;

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_root();
}

/* Runnable tasks of the machine, the fourth field, and the first average. */
static int running_tasks(double *load)
{
	char buf[128];
	double avg[3];
	int running = -1;

	if (ht_read("/proc/loadavg", buf, sizeof(buf)) <= 0 ||
	    sscanf(buf, "%lf %lf %lf %d/", &avg[0], &avg[1], &avg[2],
		   &running) != 4)
		return -1;
	if (load)
		*load = avg[0];
	return running;
}

/* Who is it, when there should be nobody. */
static void show_runnable(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[300], buf[512];

	while (dir && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid <= 0 || pid == getpid() || ht_state(pid) != 'R')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		if (ht_read(path, buf, sizeof(buf)) > 0)
			ht_note("runnable, policy %d: %.120s", ht_policy_of(pid), buf);
	}
	if (dir)
		closedir(dir);
}

/* The lowest of many looks: other tasks of the system run now and then. */
static int fewest_running(void)
{
	int least = 1 << 20;

	for (int i = 0; i < 100 && least > 1; i++) {
		int now = running_tasks(NULL);

		if (now < least)
			least = now;
		ht_sleep_ms(10);
	}
	return least;
}

static long long pressure_total(const char *line)
{
	char buf[512], *at;

	if (ht_read("/proc/pressure/cpu", buf, sizeof(buf)) <= 0)
		return -1;
	at = strstr(buf, line);
	at = at ? strstr(at, "total=") : NULL;
	return at ? atoll(at + 6) : -1;
}

TEST(running_tasks_count, "runnable tasks are counted, and none is left over")
{
	int before, during, hogs;

	setup();
	before = fewest_running();
	hogs = 2 * ht_count(topo.usable) + 1;
	for (int i = 0; i < hogs; i++)
		ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
	during = fewest_running();
	EXPECT(during >= hogs, "%d runnable with %d hogs", during, hogs);
	/* Every way out of the queue: policy, sleep, stop, death. */
	for (int i = 0; i < hogs; i++) {
		ht_set(ht_slot(i)->pid, SCHED_OTHER, 0);
		ht_set(ht_slot(i)->pid, SCHED_HT, 0);
		kill(ht_slot(i)->pid, SIGSTOP);
	}
	EXPECT(fewest_running() <= before, "%d runnable with all stopped, %d before",
	       fewest_running(), before);
	for (int i = 0; i < hogs; i++)
		kill(ht_slot(i)->pid, SIGCONT);
	for (int i = 0; i < hogs; i++)
		EXPECT(ht_advances(i), "hog %d is lost", i);
	ht_kill_all();
	EXPECT(fewest_running() <= before, "%d runnable after load, %d before",
	       fewest_running(), before);
}

TEST(load_average, "the load average rises, stays sane and falls")
{
	double start, high, low;
	int hogs = 6;

	setup();
	running_tasks(&start);
	for (int i = 0; i < hogs; i++)
		ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
	/* Sampled every five seconds. */
	ht_sleep_ms(6000);
	running_tasks(&high);
	ht_kill_all();
	ht_sleep_ms(6000);
	running_tasks(&low);
	ht_note("load %.2f, %.2f with %d hogs, %.2f after", start, high, hogs, low);
	EXPECT(high > start, "did not rise");
	EXPECT(high < start + hogs + 3, "rose beyond the number of tasks");
	if (low >= high)
		show_runnable();
	EXPECT(low < high, "did not fall");
	EXPECT(low >= 0 && low < 100, "%.2f", low);
}

TEST(pressure, "CPU pressure counts while tasks wait and stands still after")
{
	long long before, during, after, later;
	int cpu, hogs[3];

	setup();
	if (pressure_total("some") < 0)
		ht_skip("no pressure information (boot with psi=1)");
	cpu = ht_first(topo.usable);
	before = pressure_total("some");
	for (int i = 0; i < 3; i++)
		hogs[i] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
	ht_wait_cpu_ns(hogs, 3, HT_NSEC_PER_SEC);
	during = pressure_total("some");
	EXPECT(during - before > 300000, "only %lld us of pressure",
	       during - before);
	ht_kill_all();
	/* Whatever was still to be added is added now. */
	ht_sleep_ms(2500);
	after = pressure_total("some");
	ht_sleep_ms(1000);
	later = pressure_total("some");
	ht_note("pressure in us: %lld during, %lld in a second after",
		during - before, later - after);
	if (later - after >= 300000)
		show_runnable();
	EXPECT(later - after < 300000, "%lld us in an idle second",
	       later - after);
}

static void spender_body(struct ht_slot *slot)
{
	ht_burn_ns(HT_NSEC_PER_SEC);
	slot->run_ns = ht_own_cpu_ns();
	slot->count = 1;
	for (;;)
		pause();
}

/* The same second of CPU time, wherever it is shown. */
TEST(cpu_time, "utime and stime add up to the time that the task ran")
{
	long hz = sysconf(_SC_CLK_TCK);
	unsigned long utime = 0, stime = 0;
	char path[64], buf[512], *at;
	uint64_t start, shown;
	int task;

	setup();
	task = ht_task("ht-spend", SCHED_HT, 0, topo.usable, spender_body);
	for (start = ht_now(); !ht_slot(task)->count && !ht_hung(start, "spender");)
		ht_sleep_ms(20);
	snprintf(path, sizeof(path), "/proc/%d/stat", ht_slot(task)->pid);
	REQUIRE(ht_read(path, buf, sizeof(buf)) > 0, "%s", path);
	at = strrchr(buf, ')');
	REQUIRE(at && sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			     &utime, &stime) == 2, "%s", buf);
	shown = (utime + stime) * (HT_NSEC_PER_SEC / hz);
	ht_note("ran %.3f s, utime + stime %.3f s, clock %.3f s",
		ht_slot(task)->run_ns / 1e9, shown / 1e9,
		ht_cpu_ns(ht_slot(task)->pid) / 1e9);
	EXPECT(shown * 10 > ht_slot(task)->run_ns * 9 &&
	       shown * 10 < ht_slot(task)->run_ns * 11 + 10 * HT_NSEC_PER_SEC / hz,
	       "%.3f s of %.3f s", shown / 1e9, ht_slot(task)->run_ns / 1e9);
	ht_kill_all();
}

TEST(schedstat, "run delay is counted for HT tasks that wait")
{
	unsigned long long run, wait = 0;
	char path[64], buf[128];
	int hogs[2];

	setup();
	for (int i = 0; i < 2; i++)
		hogs[i] = ht_hog("ht-hog", SCHED_HT, 0,
				 HT_CPU(ht_first(topo.usable)));
	ht_wait_cpu_ns(hogs, 2, HT_NSEC_PER_SEC);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", ht_slot(hogs[0])->pid);
	if (ht_read(path, buf, sizeof(buf)) <= 0)
		ht_skip("no schedstat (CONFIG_SCHED_INFO)");
	REQUIRE(sscanf(buf, "%llu %llu", &run, &wait) == 2, "%s", buf);
	ht_note("ran %.3f s, waited %.3f s", run / 1e9, wait / 1e9);
	EXPECT(wait > 100 * HT_NSEC_PER_MSEC, "waited %.3f s only", wait / 1e9);
}

TEST(proc_sched, "/proc/PID/sched has the ht lines")
{
	static const char * const lines[] = {
		"ht.vruntime", "ht.deadline", "ht.lag", "ht.slice_ns",
		"ht.weight", "ht.nr_unshared", "ht.nr_pulled", "ht.last_why",
		"ht.run_avg_ns", "ht.sleep_avg_ns", "ht.warm_core_ns",
		"ht.warm_llc_ns", "ht.warm_node_ns", "ht.waker", "ht.pair",
	};
	static char buf[16384];
	char *at;

	setup();
	if (ht_read("/proc/self/sched", buf, sizeof(buf)) <= 0)
		ht_skip("no /proc/PID/sched (CONFIG_SCHED_DEBUG)");
	at = strstr(buf, "ht.enabled");
	EXPECT(at && strtol(strchr(at, ':') + 1, NULL, 10) == 0,
	       "ht.enabled of a NORMAL task");
	REQUIRE(!ht_set(0, SCHED_HT, 0), "%s", strerror(errno));
	ht_read("/proc/self/sched", buf, sizeof(buf));
	at = strstr(buf, "ht.enabled");
	EXPECT(at && strtol(strchr(at, ':') + 1, NULL, 10) == 1,
	       "ht.enabled of an HT task");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		EXPECT(strstr(buf, lines[i]), "%s is missing", lines[i]);
	at = strstr(buf, "ht.weight");
	if (at)
		EXPECT(strtol(strchr(at, ':') + 1, NULL, 10) == 1024,
		       "weight of nice 0: %s", strtok(at, "\n"));
}

TEST(debugfs, "topology, counters and the number of references")
{
	static const char * const files[] = { "topology", "stats", "tasks" };
	static char buf[65536];
	char path[64];
	int refs = 0;

	setup();
	if (!ht_debugfs())
		ht_skip("no debugfs");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/sched_ht/%s",
			 files[i]);
		EXPECT(ht_read(path, buf, sizeof(buf)) > 0, "%s", path);
	}
	EXPECT(sscanf(buf, "refs %d", &refs) == 1 && refs == 0,
	       "references without a task: %s", buf);
	ht_hog("ht-hog", SCHED_HT, 0, 0);
	ht_read("/sys/kernel/debug/sched_ht/tasks", buf, sizeof(buf));
	EXPECT(sscanf(buf, "refs %d", &refs) == 1 && refs == 1,
	       "references with one task: %s", buf);
	EXPECT(strstr(buf, "active 1"), "%s", buf);
	ht_kill_all();
	/* The last reference goes when the task is finally freed. */
	for (int i = 0; i < 100 && refs; i++) {
		ht_sleep_ms(20);
		ht_read("/sys/kernel/debug/sched_ht/tasks", buf, sizeof(buf));
		sscanf(buf, "refs %d", &refs);
	}
	EXPECT(refs == 0, "references after the task: %d", refs);
}
