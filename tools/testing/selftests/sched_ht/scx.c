// SPDX-License-Identifier: GPL-2.0
/*
 * sched_ext: while a BPF scheduler is loaded its tasks share the low side with
 * fair. With one HT hog on each CPU and ext tasks that wait there, HT keeps at
 * most half, and the watchdog of sched_ext does not end the scheduler.
 *
 * The scheduler is a program of the caller's, named by HT_SCX (scx_simple from
 * the kernel's tools/sched_ext, for one); it runs until it is killed.
 */
#include "ht_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#ifndef SCHED_EXT
#define SCHED_EXT	7
#endif
#define STATE		"/sys/kernel/sched_ext/state"

static struct ht_topo topo;

static bool loaded(void)
{
	char buf[32];

	return ht_read(STATE, buf, sizeof(buf)) > 0 &&
	       !strncmp(buf, "enabled", 7);
}

static pid_t load(void)
{
	const char *prog = getenv("HT_SCX");
	uint64_t start = ht_now();
	pid_t pid;

	if (!ht_exists(STATE))
		ht_skip("no sched_ext (CONFIG_SCHED_CLASS_EXT)");
	if (!prog || access(prog, X_OK))
		ht_skip("HT_SCX names no sched_ext scheduler");
	pid = fork();
	if (!pid) {
		int fd = open("/dev/null", O_WRONLY);

		ht_name("nh-scx");
		dup2(fd, 1);
		execl(prog, prog, NULL);
		_exit(127);
	}
	while (!loaded()) {
		int status;

		ht_sleep_ms(50);
		if (waitpid(pid, &status, WNOHANG) == pid)
			ht_skip("%s ended with status %#x", prog, status);
		if (ht_hung(start, "loading the scheduler"))
			ht_end_case();
	}
	return pid;
}

static void unload(pid_t pid)
{
	uint64_t start = ht_now();

	kill(pid, SIGINT);
	waitpid(pid, NULL, 0);
	while (loaded() && !ht_hung(start, "unloading"))
		ht_sleep_ms(20);
}

static void setup(void)
{
	ht_topo_read(&topo);
	ht_need_root();
}

TEST(half, "HT hogs keep at most half of CPUs where ext tasks wait")
{
	int ht[HT_MAX_CPUS], ext[HT_MAX_CPUS], nr = 0, cpu;
	uint64_t ht_ns = 0, ext_ns = 0, end;
	pid_t scx;

	setup();
	scx = load();
	ht_for_each_cpu(cpu, topo.usable) {
		ht[nr] = ht_hog("ht-hog", SCHED_HT, 0, HT_CPU(cpu));
		ext[nr++] = ht_hog("nh-ext", SCHED_OTHER, 0, HT_CPU(cpu));
	}
	for (end = ht_now() + ht_seconds(60) * HT_NSEC_PER_SEC; ht_now() < end;) {
		ht_sleep_ms(1000);
		REQUIRE(loaded(), "the scheduler was ended, see its exit reason");
	}
	for (int i = 0; i < nr; i++) {
		uint64_t a = ht_cpu_ns(ht_slot(ht[i])->pid);
		uint64_t b = ht_cpu_ns(ht_slot(ext[i])->pid);

		ht_note("CPU %d: HT %.2f s, ext %.2f s", i, a / 1e9, b / 1e9);
		EXPECT(a * 100 <= (a + b) * 55, "HT got %.1f %%",
		       100.0 * a / (a + b));
		ht_ns += a;
		ext_ns += b;
	}
	EXPECT(ht_ns * 100 >= (ht_ns + ext_ns) * 40, "HT got %.1f %% only",
	       100.0 * ht_ns / (ht_ns + ext_ns));
	ht_kill_all();
	unload(scx);
}

TEST(load_unload, "loading and unloading with HT tasks running and sleeping")
{
	int hog, sleeper;

	setup();
	hog = ht_hog("ht-hog", SCHED_HT, 0, topo.usable);
	sleeper = ht_sleeper("ht-sleep", SCHED_HT, 0, topo.usable);
	for (unsigned int i = 0; i < ht_rounds(3); i++) {
		pid_t scx = load();

		EXPECT(ht_policy_of(ht_slot(hog)->pid) == SCHED_HT, "policy %d",
		       ht_policy_of(ht_slot(hog)->pid));
		EXPECT(ht_advances(hog), "the hog is lost");
		EXPECT(!ht_set(ht_slot(sleeper)->pid, SCHED_EXT, 0), "%s",
		       strerror(errno));
		ht_wake(sleeper);
		ht_wait_answer(sleeper);
		EXPECT(!ht_set(ht_slot(sleeper)->pid, SCHED_HT, 0), "%s",
		       strerror(errno));
		unload(scx);
		EXPECT(ht_advances(hog), "the hog is lost after unloading");
		ht_wake(sleeper);
		ht_wait_answer(sleeper);
	}
}

TEST(without_scheduler, "SCHED_EXT and back with no scheduler loaded")
{
	setup();
	if (!ht_exists(STATE))
		ht_skip("no sched_ext (CONFIG_SCHED_CLASS_EXT)");
	for (int i = 0; i < 20; i++) {
		EXPECT(!ht_set(0, SCHED_EXT, 1), "%s", strerror(errno));
		EXPECT(!ht_set(0, SCHED_HT, 1), "%s", strerror(errno));
		EXPECT(ht_policy_of(0) == SCHED_HT, "policy %d", ht_policy_of(0));
	}
}
