// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups: SCHED_HT weighs as in the root group, so it is refused, or
 * taken away, where that would be an escape: under a cpu.max limit (of any
 * ancestor) from everybody, outside the root group or in an autogroup from
 * tasks without CAP_SYS_NICE. A task that gets there later becomes
 * SCHED_NORMAL with its nice value, and the kernel says so.
 *
 *	ht-selftest/		limit written here, no tasks (as v2 wants it)
 *	ht-selftest/side	tasks in a group with a CPU controller of its own
 *	ht-selftest/mid		the same
 *	ht-selftest/mid/leaf	tasks in a group without (v2)
 *	ht-selftest-free/	never limited
 */
#include "ht_test.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define DIR_ROOT	"/tmp/ht-cgroup"
#define DIR_TOP		DIR_ROOT "/ht-selftest"
#define DIR_SIDE	DIR_TOP "/side"
#define DIR_MID		DIR_TOP "/mid"
#define DIR_LEAF	DIR_MID "/leaf"
#define DIR_FREE	DIR_ROOT "/ht-selftest-free"
#define USER_ID		1000

static const char * const groups[] = {
	DIR_TOP, DIR_SIDE, DIR_MID, DIR_LEAF, DIR_FREE,
};

#define NR_GROUPS (sizeof(groups) / sizeof(*groups))
/* Groups below the limit that hold tasks. */
#define NR_LIMITED 3

static const char * const limited[] = { DIR_SIDE, DIR_MID, DIR_LEAF };

static int group_write(const char *dir, const char *file, const char *text)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return ht_write(path, text);
}

static int set_limit(const char *dir, bool limited)
{
	if (ht_opt.cgroup_v1)
		return group_write(dir, "cpu.cfs_quota_us",
				   limited ? "50000" : "-1");
	return group_write(dir, "cpu.max",
			   limited ? "50000 100000" : "max 100000");
}

static int move(pid_t pid, const char *dir)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", pid);
	return group_write(dir, "cgroup.procs", text);
}

static void remove_groups(void)
{
	for (int i = NR_GROUPS - 1; i >= 0; i--)
		for (int try = 0; rmdir(groups[i]) && errno == EBUSY && try < 50;
		     try++)
			ht_sleep_ms(20);
}

static void mount_groups(void)
{
	mkdir(DIR_ROOT, 0755);
	if (ht_exists(DIR_ROOT "/cgroup.procs"))
		return;
	if (ht_opt.cgroup_v1) {
		/* As it is mounted elsewhere, or it cannot be. */
		if (mount("cgroup", DIR_ROOT, "cgroup", 0, "cpu,cpuacct") &&
		    mount("cgroup", DIR_ROOT, "cgroup", 0, "cpu"))
			ht_skip("cannot mount the v1 cpu controller: %s",
				strerror(errno));
		return;
	}
	if (mount("cgroup2", DIR_ROOT, "cgroup2", 0, NULL))
		ht_skip("cannot mount cgroup2: %s", strerror(errno));
}

static void setup(void)
{
	ht_need_root();
	ht_write("/proc/sys/kernel/sched_autogroup_enabled", "0");
	mount_groups();
	move(0, DIR_ROOT);
	remove_groups();
	if (!ht_opt.cgroup_v1 &&
	    group_write(DIR_ROOT, "cgroup.subtree_control", "+cpu"))
		ht_skip("no cpu controller on v2: %s", strerror(errno));
	for (size_t i = 0; i < NR_GROUPS; i++) {
		REQUIRE(!mkdir(groups[i], 0755), "%s: %s", groups[i],
			strerror(errno));
		/* The leaf keeps no group of its own: an ancestor's counts. */
		if (!ht_opt.cgroup_v1 && i < 1)
			group_write(groups[i], "cgroup.subtree_control", "+cpu");
	}
	if (set_limit(DIR_TOP, false))
		ht_skip("no CPU bandwidth control (CONFIG_CFS_BANDWIDTH)");
}

static void cleanup(void)
{
	ht_kill_all();
	move(0, DIR_ROOT);
	remove_groups();
}

static int wait_status(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_policy(pid_t pid, int policy, int nice, const char *when)
{
	EXPECT(ht_policy_of(pid) == policy, "%s: policy %d, not %d", when,
	       ht_policy_of(pid), policy);
	EXPECT(ht_nice_of(pid) == nice, "%s: nice %d, not %d", when,
	       ht_nice_of(pid), nice);
}

/* Kernel messages since kmsg_open() */

static int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static bool kmsg_names(int fd, pid_t pid, const char *comm, const char *group)
{
	char record[2048], number[16];
	ssize_t len;

	snprintf(number, sizeof(number), "%d", pid);
	while ((len = read(fd, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		if (len <= 0)
			continue;
		record[len] = 0;
		if (strstr(record, number) && strstr(record, comm) &&
		    strstr(record, group))
			return true;
	}
	return false;
}

TEST(message, "the message names pid, comm and cgroup")
{
	int fd, hog;
	pid_t pid;

	setup();
	REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
	hog = ht_hog("ht-named", SCHED_HT, 3, 0);
	pid = ht_slot(hog)->pid;
	fd = kmsg_open();
	if (fd < 0)
		ht_skip("no /dev/kmsg");
	REQUIRE(!move(pid, DIR_SIDE), "%s", strerror(errno));
	expect_policy(pid, SCHED_OTHER, 3, "moved");
	EXPECT(kmsg_names(fd, pid, "ht-named", "ht-selftest"),
	       "no such message");
	cleanup();
}

TEST(eperm_limited, "under a limit, SCHED_HT is EPERM even for root")
{
	int hog;
	pid_t pid;

	setup();
	hog = ht_hog("nh-hog", SCHED_OTHER, 0, 0);
	pid = ht_slot(hog)->pid;
	for (int i = 0; i < NR_LIMITED; i++) {
		REQUIRE(!move(pid, limited[i]), "%s", strerror(errno));
		REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
		EXPECT(ht_set(pid, SCHED_HT, 0) && errno == EPERM, "in %s",
		       limited[i]);
		expect_policy(pid, SCHED_OTHER, 0, limited[i]);
		REQUIRE(!set_limit(DIR_TOP, false), "%s", strerror(errno));
		EXPECT(!ht_set(pid, SCHED_HT, 0), "limit lifted: %s",
		       strerror(errno));
		EXPECT(!ht_set(pid, SCHED_OTHER, 0), "%s", strerror(errno));
	}
	EXPECT(ht_advances(hog), "lost");
	cleanup();
}

TEST(move_task, "moving into a limited group makes a task SCHED_NORMAL")
{
	int tasks[2];

	setup();
	REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
	tasks[0] = ht_hog("ht-hog", SCHED_HT, 4, 0);
	tasks[1] = ht_sleeper("ht-sleep", SCHED_HT, -6, 0);
	for (int i = 0; i < 3; i++) {
		for (int n = 0; n < 2; n++) {
			pid_t pid = ht_slot(tasks[n])->pid;
			int nice = n ? -6 : 4;

			REQUIRE(!move(pid, DIR_FREE), "%s", strerror(errno));
			REQUIRE(!ht_set(pid, SCHED_HT, nice), "%s",
				strerror(errno));
			expect_policy(pid, SCHED_HT, nice, "free");
			/* The move itself never fails. */
			REQUIRE(!move(pid, limited[i]), "%s", strerror(errno));
			expect_policy(pid, SCHED_OTHER, nice, limited[i]);
		}
		EXPECT(ht_advances(tasks[0]), "lost");
		ht_wake(tasks[1]);
		ht_wait_answer(tasks[1]);
	}
	cleanup();
}

TEST(quota_write, "a limit written on any ancestor takes SCHED_HT from all below")
{
	int tasks[6];

	setup();
	for (int i = 0; i < 6; i++) {
		tasks[i] = i % 2 ? ht_sleeper("ht-sleep", SCHED_HT, 1, 0) :
				   ht_hog("ht-hog", SCHED_HT, 1, 0);
		REQUIRE(!move(ht_slot(tasks[i])->pid, limited[i / 2]), "%s",
			strerror(errno));
		expect_policy(ht_slot(tasks[i])->pid, SCHED_HT, 1, "before");
	}
	for (int round = 0; round < 3; round++) {
		REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
		for (int i = 0; i < 6; i++)
			expect_policy(ht_slot(tasks[i])->pid, SCHED_OTHER, 1,
				      limited[i / 2]);
		REQUIRE(!set_limit(DIR_TOP, false), "%s", strerror(errno));
		for (int i = 0; i < 6; i++)
			EXPECT(!ht_set(ht_slot(tasks[i])->pid, SCHED_HT, 1),
			       "%s", strerror(errno));
	}
	for (int i = 0; i < 6; i += 2)
		EXPECT(ht_advances(tasks[i]), "lost");
	cleanup();
}

static pid_t clone_into(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = fd,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid)
		close(fd);
	return pid;
}

TEST(clone_into_cgroup, "a child born into a limited group is SCHED_NORMAL")
{
	pid_t pid;

	setup();
	if (ht_opt.cgroup_v1)
		ht_skip("CLONE_INTO_CGROUP is for cgroup v2");
	REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
	REQUIRE(!ht_set(0, SCHED_HT, 2), "%s", strerror(errno));
	for (unsigned int i = 0; i < ht_rounds(10); i++) {
		pid = clone_into(i % 2 ? DIR_SIDE : DIR_LEAF);
		if (!pid)
			_exit(ht_policy_of(0) != SCHED_OTHER || ht_nice_of(0) != 2);
		REQUIRE(pid > 0, "clone3: %s", strerror(errno));
		EXPECT(wait_status(pid) == 0, "the child is SCHED_HT");
		pid = clone_into(DIR_FREE);
		if (!pid)
			_exit(ht_policy_of(0) != SCHED_HT);
		EXPECT(wait_status(pid) == 0, "the free child is not SCHED_HT");
	}
	cleanup();
}

/* The limit may become visible between a fork's check and its first wakeup. */
TEST(fork_race, "no child keeps SCHED_HT when the limit is written meanwhile")
{
	char path[128], buf[4096];

	setup();
	snprintf(path, sizeof(path), DIR_SIDE "/cgroup.procs");
	for (unsigned int i = 0; i < ht_rounds(20); i++) {
		pid_t parent = fork();

		if (!parent) {
			setpgid(0, 0);
			move(0, DIR_SIDE);
			ht_set(0, SCHED_HT, 0);
			for (int n = 0; n < 25; n++)
				if (!fork())
					for (;;)
						pause();
			for (;;)
				pause();
		}
		ht_sleep_ms(i % 12);
		REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
		/* The last forks under way come to their end. */
		ht_sleep_ms(40);
		if (ht_read(path, buf, sizeof(buf)) > 0)
			for (char *at = strtok(buf, "\n"); at; at = strtok(NULL, "\n"))
				EXPECT(ht_policy_of(atoi(at)) != SCHED_HT,
				       "round %u: %s is SCHED_HT", i, at);
		setpgid(parent, parent);
		kill(-parent, SIGKILL);
		kill(parent, SIGKILL);
		wait_status(parent);
		set_limit(DIR_TOP, false);
	}
	cleanup();
}

/* In a child: an unprivileged user in @dir asks for SCHED_HT. */
static int user_asks(const char *dir, bool new_session)
{
	pid_t pid = fork();

	if (!pid) {
		if (dir && move(0, dir))
			_exit(255);
		if (new_session)
			setsid();
		if (setresgid(USER_ID, USER_ID, USER_ID) ||
		    setresuid(USER_ID, USER_ID, USER_ID))
			_exit(255);
		_exit(ht_set(0, SCHED_HT, 0) ? errno : 0);
	}
	return wait_status(pid);
}

TEST(unprivileged, "without CAP_SYS_NICE, only in the root group")
{
	pid_t pid;

	setup();
	EXPECT(user_asks(NULL, false) == 0, "in the root group");
	EXPECT(user_asks(DIR_FREE, false) == EPERM, "in a group");
	EXPECT(user_asks(DIR_SIDE, false) == EPERM, "in another group");
	/* With the capability the group does not matter. */
	pid = ht_slot(ht_sleeper("nh-sleep", SCHED_OTHER, 0, 0))->pid;
	REQUIRE(!move(pid, DIR_FREE), "%s", strerror(errno));
	EXPECT(!ht_set(pid, SCHED_HT, 0), "root: %s", strerror(errno));
	cleanup();
}

static void user_body(struct ht_slot *slot)
{
	ht_set(0, SCHED_OTHER, 0);
	if (setresgid(USER_ID, USER_ID, USER_ID) ||
	    setresuid(USER_ID, USER_ID, USER_ID) || ht_set(0, SCHED_HT, 0))
		slot->bad = errno ? errno : 255;
	slot->count = 1;
	for (;;)
		pause();
}

TEST(unprivileged_move, "an unprivileged HT task moved into a group loses it")
{
	int task;

	setup();
	task = ht_task("nh-user", SCHED_OTHER, 0, 0, user_body);
	while (!ht_slot(task)->count)
		ht_sleep_ms(1);
	REQUIRE(!ht_slot(task)->bad, "%s", strerror(ht_slot(task)->bad));
	expect_policy(ht_slot(task)->pid, SCHED_HT, 0, "in the root group");
	REQUIRE(!move(ht_slot(task)->pid, DIR_FREE), "%s", strerror(errno));
	expect_policy(ht_slot(task)->pid, SCHED_OTHER, 0, "moved");
	cleanup();
}

TEST(autogroup, "without CAP_SYS_NICE, not in an autogroup")
{
	int pipes[2], policy = -1;
	pid_t pid;

	setup();
	if (ht_write("/proc/sys/kernel/sched_autogroup_enabled", "1"))
		ht_skip("no autogroup");
	EXPECT(user_asks(NULL, true) == EPERM, "in an autogroup");
	/* One that is SCHED_HT already and then gets an autogroup. */
	REQUIRE(!pipe(pipes), "%s", strerror(errno));
	ht_write("/proc/sys/kernel/sched_autogroup_enabled", "0");
	pid = fork();
	if (!pid) {
		if (setresuid(USER_ID, USER_ID, USER_ID) || ht_set(0, SCHED_HT, 0))
			_exit(1);
		policy = ht_policy_of(0);
		if (write(pipes[1], &policy, sizeof(policy)) < 0)
			_exit(1);
		while (!ht_read_number("/proc/sys/kernel/sched_autogroup_enabled", 0))
			ht_sleep_ms(1);
		setsid();
		policy = ht_policy_of(0);
		if (write(pipes[1], &policy, sizeof(policy)) < 0)
			_exit(1);
		_exit(0);
	}
	REQUIRE(read(pipes[0], &policy, sizeof(policy)) == sizeof(policy) &&
		policy == SCHED_HT, "policy %d before setsid", policy);
	ht_write("/proc/sys/kernel/sched_autogroup_enabled", "1");
	EXPECT(read(pipes[0], &policy, sizeof(policy)) == sizeof(policy) &&
	       policy == SCHED_OTHER, "policy %d after setsid", policy);
	wait_status(pid);
	ht_write("/proc/sys/kernel/sched_autogroup_enabled", "0");
	cleanup();
}

/* The storm */

#define NR_VICTIMS	16

static pid_t *victims;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static pid_t random_victim(uint64_t *seed)
{
	return victims[next_random(seed) % NR_VICTIMS];
}

static void storm_fork(struct ht_slot *slot)
{
	uint64_t seed = 97 + getpid();

	while (slot->command != HT_STOP) {
		pid_t pid;

		ht_set(0, SCHED_HT, 0);
		pid = fork();
		if (!pid) {
			ht_burn_ns(next_random(&seed) % 1000000);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		slot->count++;
	}
	for (;;)
		pause();
}

static void storm_move(struct ht_slot *slot)
{
	uint64_t seed = 31 + getpid();

	while (slot->command != HT_STOP) {
		int to = next_random(&seed) % (NR_LIMITED + 1);

		move(random_victim(&seed), to < NR_LIMITED ? limited[to] : DIR_FREE);
		slot->count++;
	}
	for (;;)
		pause();
}

static void storm_set(struct ht_slot *slot)
{
	uint64_t seed = 17 + getpid();

	while (slot->command != HT_STOP) {
		ht_set(random_victim(&seed), SCHED_HT, next_random(&seed) % 5);
		slot->count++;
	}
	for (;;)
		pause();
}

static void storm_quota(struct ht_slot *slot)
{
	uint64_t seed = 11 + getpid();

	while (slot->command != HT_STOP) {
		set_limit(next_random(&seed) % 2 && !ht_opt.cgroup_v1 ? DIR_MID :
			  DIR_TOP, next_random(&seed) % 2);
		slot->count++;
	}
	for (;;)
		pause();
}

static void expect_no_ht_below(const char *dir)
{
	char path[192], buf[8192];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	if (ht_read(path, buf, sizeof(buf)) <= 0)
		return;
	for (char *at = strtok(buf, "\n"); at; at = strtok(NULL, "\n"))
		EXPECT(ht_policy_of(atoi(at)) != SCHED_HT, "%s in %s is SCHED_HT",
		       at, dir);
}

TEST(storm, "fork, move, setattr and quota writes at once: nobody escapes")
{
	void (*bodies[])(struct ht_slot *) = {
		storm_fork, storm_move, storm_move, storm_set, storm_quota,
	};
	int storm[5], rounds = ht_seconds(4);

	setup();
	victims = ht_shared(NR_VICTIMS * sizeof(*victims));
	for (int i = 0; i < NR_VICTIMS; i++)
		victims[i] = ht_slot(i % 4 ?
			ht_task("ht-fork", SCHED_HT, 0, 0, storm_fork) :
			ht_hog("ht-hog", SCHED_HT, 0, 0))->pid;
	for (int round = 0; round < rounds && !ht_failed(); round++) {
		for (int i = 0; i < 5; i++)
			storm[i] = ht_task("nh-storm", SCHED_OTHER, 0, 0, bodies[i]);
		ht_sleep_ms(900);
		for (int i = 0; i < 5; i++)
			EXPECT(ht_advances(storm[i]), "storm %d stands still", i);
		for (int i = 0; i < 5; i++)
			ht_kill(storm[i]);
		/* Whatever the state it left: now everything here is limited. */
		REQUIRE(!set_limit(DIR_TOP, true), "%s", strerror(errno));
		for (int i = 0; i < NR_LIMITED; i++)
			expect_no_ht_below(limited[i]);
		/* And it stays so while the victims fork on. */
		ht_sleep_ms(50);
		for (int i = 0; i < NR_LIMITED; i++)
			expect_no_ht_below(limited[i]);
		set_limit(DIR_TOP, false);
	}
	cleanup();
}
