// SPDX-License-Identifier: GPL-2.0
/*
 * Policy: what sched_setattr() and its relatives promise for SCHED_HT.
 *
 * Attributes round-trip, are inherited and reset as those of SCHED_NORMAL are;
 * bad values are refused and change nothing; who may do what follows the rules
 * of nice, and the global switch returns everybody to SCHED_NORMAL.
 */
#include "ht_test.h"

#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SLICE_MIN_NS	100000ULL
#define SLICE_MAX_NS	100000000ULL
#define USER_ID		1000
#define OTHER_ID	1001

static uint64_t default_slice(void)
{
	return ht_sysctl_get("slice_us") * 1000ULL;
}

static int set_slice(pid_t pid, int nice, uint64_t slice)
{
	struct ht_attr attr = {
		.size = sizeof(attr),
		.policy = SCHED_HT,
		.nice = nice,
		.runtime = slice,
	};

	return ht_setattr(pid, &attr);
}

static void expect_attr(pid_t pid, int policy, int nice, const char *when)
{
	struct ht_attr attr;

	REQUIRE(!ht_getattr(pid, &attr), "%s: %s", when, strerror(errno));
	EXPECT((int)attr.policy == policy, "%s: policy %u, not %d", when,
	       attr.policy, policy);
	EXPECT(attr.nice == nice, "%s: nice %d, not %d", when, attr.nice, nice);
	EXPECT(attr.priority == 0, "%s: priority %u", when, attr.priority);
}

static int wait_status(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(priority_range, "min and max priority of SCHED_HT are 0")
{
	EXPECT(sched_get_priority_min(SCHED_HT) == 0, "%s", strerror(errno));
	EXPECT(sched_get_priority_max(SCHED_HT) == 0, "%s", strerror(errno));
}

TEST(round_trip_nice, "every nice value comes back as it was set")
{
	for (int nice = -20; nice <= 19; nice++) {
		REQUIRE(!ht_set(0, SCHED_HT, nice), "nice %d: %s", nice,
			strerror(errno));
		expect_attr(0, SCHED_HT, nice, "after set");
		EXPECT(getpriority(PRIO_PROCESS, 0) == nice, "getpriority %d",
		       getpriority(PRIO_PROCESS, 0));
	}
}

TEST(round_trip_slice, "the slice comes back, clamped; 0 is the default")
{
	static const struct {
		uint64_t set, get;
	} slices[] = {
		{ SLICE_MIN_NS, SLICE_MIN_NS }, { 3000000, 3000000 },
		{ 20000000, 20000000 }, { SLICE_MAX_NS, SLICE_MAX_NS },
		{ 1, SLICE_MIN_NS }, { HT_NSEC_PER_SEC, SLICE_MAX_NS },
	};
	struct ht_attr attr;

	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++) {
		REQUIRE(!set_slice(0, 0, slices[i].set), "%s", strerror(errno));
		ht_getattr(0, &attr);
		EXPECT(attr.runtime == slices[i].get,
		       "set %llu, got %llu, expected %llu",
		       (unsigned long long)slices[i].set,
		       (unsigned long long)attr.runtime,
		       (unsigned long long)slices[i].get);
	}
	REQUIRE(!set_slice(0, 0, 0), "%s", strerror(errno));
	ht_getattr(0, &attr);
	EXPECT(!attr.runtime || attr.runtime == default_slice(), "got %llu",
	       (unsigned long long)attr.runtime);
	/* What was read can be written back. */
	attr.size = sizeof(attr);
	EXPECT(!ht_setattr(0, &attr), "%s", strerror(errno));
}

TEST(setscheduler, "the old interface takes SCHED_HT with priority 0 only")
{
	struct sched_param param = { 0 };

	EXPECT(!sched_setscheduler(0, SCHED_HT, &param), "%s", strerror(errno));
	EXPECT(sched_getscheduler(0) == SCHED_HT, "%d", sched_getscheduler(0));
	EXPECT(!sched_setparam(0, &param), "%s", strerror(errno));
	EXPECT(sched_getscheduler(0) == SCHED_HT, "%d", sched_getscheduler(0));
	param.sched_priority = 1;
	EXPECT(sched_setscheduler(0, SCHED_HT, &param) && errno == EINVAL,
	       "priority 1 accepted");
	EXPECT(sched_setparam(0, &param) && errno == EINVAL,
	       "priority 1 accepted by sched_setparam");
	param.sched_priority = 0;
	EXPECT(!sched_setscheduler(0, SCHED_HT | SCHED_RESET_ON_FORK, &param),
	       "%s", strerror(errno));
	EXPECT(sched_getscheduler(0) == (SCHED_HT | SCHED_RESET_ON_FORK),
	       "%#x", sched_getscheduler(0));
}

/* sched_setattr(2) clamps nice, so 40 is not an error. */
TEST(bad_values, "bad attributes are refused and change nothing")
{
	struct ht_attr good = {
		.size = sizeof(good), .policy = SCHED_HT, .nice = 4,
	};
	struct ht_attr attr;

	REQUIRE(!ht_set(0, SCHED_HT, 3), "%s", strerror(errno));
	attr = good;
	attr.priority = 1;
	EXPECT(ht_setattr(0, &attr) && errno == EINVAL, "priority 1");
	attr = good;
	attr.flags = 1ULL << 40;
	EXPECT(ht_setattr(0, &attr) && errno == EINVAL, "unknown flag");
	attr = good;
	attr.policy = 9;
	EXPECT(ht_setattr(0, &attr) && errno == EINVAL, "policy 9");
	attr = good;
	attr.policy = 0x7fffffff;
	EXPECT(ht_setattr(0, &attr) && errno == EINVAL, "policy 2^31-1");
	attr = good;
	attr.size = 8;
	EXPECT(ht_setattr(0, &attr) && errno == E2BIG, "size 8");
	EXPECT(ht_setattr(-1, &good) && errno == EINVAL, "pid -1");
	EXPECT(ht_setattr(0x3fffffff, &good) && errno == ESRCH, "no such pid");
	EXPECT(ht_setattr(0, NULL) && errno == EINVAL, "no attributes");
	EXPECT(syscall(SYS_sched_setattr, 0, &good, 1) && errno == EINVAL,
	       "flags argument");
	expect_attr(0, SCHED_HT, 3, "after refusals");
	good.nice = 40;
	EXPECT(!ht_setattr(0, &good), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 19, "nice 40");
}

TEST(keep_flags, "KEEP_POLICY and KEEP_PARAMS keep what they say")
{
	struct ht_attr attr = { .size = sizeof(attr) }, now;

	REQUIRE(!set_slice(0, -3, 7000000), "%s", strerror(errno));
	attr.flags = HT_FLAG_KEEP_POLICY;
	attr.nice = 6;
	attr.runtime = 7000000;
	EXPECT(!ht_setattr(0, &attr), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 6, "KEEP_POLICY");
	attr.flags = HT_FLAG_KEEP_POLICY | HT_FLAG_KEEP_PARAMS;
	attr.nice = 0;
	attr.runtime = 0;
	EXPECT(!ht_setattr(0, &attr), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 6, "KEEP_ALL");
	ht_getattr(0, &now);
	EXPECT(now.runtime == 7000000, "slice %llu",
	       (unsigned long long)now.runtime);
	/* As for every policy: what is kept includes the policy. */
	attr.flags = HT_FLAG_KEEP_PARAMS;
	attr.policy = SCHED_OTHER;
	EXPECT(!ht_setattr(0, &attr), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 6, "KEEP_PARAMS");
}

TEST(renice, "setpriority changes an HT task's nice value, policy and slice stay")
{
	struct ht_attr attr;

	REQUIRE(!set_slice(0, 0, 5000000), "%s", strerror(errno));
	EXPECT(!setpriority(PRIO_PROCESS, 0, 7), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 7, "setpriority 7");
	EXPECT(!setpriority(PRIO_PROCESS, 0, -11), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, -11, "setpriority -11");
	EXPECT(nice(2) == -9, "nice() says %d", getpriority(PRIO_PROCESS, 0));
	ht_getattr(0, &attr);
	EXPECT(attr.runtime == 5000000, "slice %llu",
	       (unsigned long long)attr.runtime);
}

TEST(all_policies, "from and to every other policy, running and sleeping")
{
	struct ht_attr dl = {
		.size = sizeof(dl), .policy = SCHED_DEADLINE,
		.runtime = 10000000, .deadline = 100000000, .period = 100000000,
	};
	static const int policies[] = {
		SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR,
	};
	int sleeper = ht_sleeper("ht-sleep", SCHED_HT, 0, 0);
	pid_t pids[] = { 0, ht_slot(sleeper)->pid };

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 5; i++) {
			bool rt = i >= 3;

			for (int j = 0; j < 2; j++) {
				EXPECT(!ht_set(pids[j], policies[i], rt ? 10 : 2),
				       "policy %d: %s", policies[i],
				       strerror(errno));
				EXPECT(!ht_set(pids[j], SCHED_HT, 2), "back: %s",
				       strerror(errno));
				expect_attr(pids[j], SCHED_HT, 2, "back");
			}
		}
	}
	if (ht_setattr(0, &dl))
		ht_note("SCHED_DEADLINE not tried: %s", strerror(errno));
	EXPECT(!ht_set(0, SCHED_HT, 1), "%s", strerror(errno));
	expect_attr(0, SCHED_HT, 1, "from deadline");
	ht_wake(sleeper);
	ht_wait_answer(sleeper);
}

static void *thread_report(void *arg)
{
	ht_getattr(0, arg);
	return NULL;
}

TEST(inherit, "fork, clone and exec keep policy, nice and slice")
{
	struct ht_attr attr;
	char fd_text[16];
	int line[4], fds[2];
	pthread_t thread;
	pid_t pid;

	REQUIRE(!set_slice(0, 5, 6000000), "%s", strerror(errno));
	pid = fork();
	if (!pid) {
		ht_getattr(0, &attr);
		_exit(attr.policy != SCHED_HT || attr.nice != 5 ||
		      attr.runtime != 6000000);
	}
	EXPECT(wait_status(pid) == 0, "fork did not keep the attributes");
	REQUIRE(!pthread_create(&thread, NULL, thread_report, &attr), "thread");
	pthread_join(thread, NULL);
	EXPECT(attr.policy == SCHED_HT && attr.nice == 5 &&
	       attr.runtime == 6000000, "thread: policy %u nice %d",
	       attr.policy, attr.nice);
	REQUIRE(!pipe(fds), "%s", strerror(errno));
	pid = fork();
	if (!pid) {
		snprintf(fd_text, sizeof(fd_text), "%d", fds[1]);
		setenv("HT_EXEC_REPORT", fd_text, 1);
		execl("/proc/self/exe", "policy", NULL);
		_exit(1);
	}
	REQUIRE(read(fds[0], line, sizeof(line)) == sizeof(line), "no report");
	EXPECT(line[1] == SCHED_HT && line[2] == 5 && line[3] == 6000,
	       "exec: policy %d nice %d slice %d us", line[1], line[2], line[3]);
	wait_status(pid);
}

TEST(reset_on_fork, "reset-on-fork children are SCHED_NORMAL, without the flag")
{
	struct ht_attr attr = {
		.size = sizeof(attr), .policy = SCHED_HT,
		.flags = HT_FLAG_RESET_ON_FORK,
	};
	struct ht_attr *child = ht_shared(sizeof(*child));

	for (int nice = -5; nice <= 5; nice += 5) {
		pid_t pid;

		attr.nice = nice;
		REQUIRE(!ht_setattr(0, &attr), "%s", strerror(errno));
		pid = fork();
		if (!pid) {
			ht_getattr(0, child);
			_exit(0);
		}
		wait_status(pid);
		EXPECT(child->policy == SCHED_OTHER, "policy %u", child->policy);
		EXPECT(child->nice >= 0, "nice %d", child->nice);
		EXPECT(!(child->flags & HT_FLAG_RESET_ON_FORK), "flag inherited");
		expect_attr(0, SCHED_HT, nice, "the parent");
	}
}

TEST(other_task, "a root task sets a running and a sleeping task")
{
	int hog = ht_hog("nh-hog", SCHED_OTHER, 0, 0);
	int sleeper = ht_sleeper("nh-sleep", SCHED_OTHER, 0, 0);
	int both[] = { hog, sleeper };

	for (int i = 0; i < 2; i++) {
		pid_t pid = ht_slot(both[i])->pid;

		EXPECT(!ht_set(pid, SCHED_HT, -2), "%s", strerror(errno));
		expect_attr(pid, SCHED_HT, -2, "set by root");
	}
	EXPECT(ht_advances(hog), "lost");
	ht_wake(sleeper);
	ht_wait_answer(sleeper);
	EXPECT(!ht_set(ht_slot(hog)->pid, SCHED_OTHER, 0), "%s", strerror(errno));
	EXPECT(ht_advances(hog), "lost after the return");
}

/* Permissions: each attempt runs in a child with its own identity. */

struct attempt {
	const char *what;
	int uid;
	bool cap_nice;		/* keep CAP_SYS_NICE */
	int rlimit;		/* of RLIMIT_NICE, 0: nice 0 is the lowest */
	int from, to;		/* nice values */
	int error;		/* expected, 0: allowed */
};

static bool drop_to_user(int uid, bool keep_nice)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	prctl(PR_SET_KEEPCAPS, keep_nice);
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return false;
	if (!keep_nice)
		return true;
	data[0].effective = 1U << CAP_SYS_NICE;
	data[0].permitted = data[0].effective;
	return !syscall(SYS_capset, &header, data);
}

/* The child's exit status is the errno that it got. */
static int try_attempt(const struct attempt *at)
{
	pid_t pid = fork();

	if (!pid) {
		struct rlimit limit = { at->rlimit, at->rlimit };

		setrlimit(RLIMIT_NICE, &limit);
		ht_set(0, SCHED_OTHER, at->from);
		if (at->uid && !drop_to_user(at->uid, at->cap_nice))
			_exit(255);
		_exit(ht_set(0, SCHED_HT, at->to) ? errno : 0);
	}
	return wait_status(pid);
}

static void need_plain_group(void)
{
	char buf[512];

	ht_need_root();
	if (ht_read("/proc/self/autogroup", buf, sizeof(buf)) > 0 &&
	    ht_read_number("/proc/sys/kernel/sched_autogroup_enabled", 0))
		ht_skip("autogroup is on: boot with noautogroup");
}

TEST(permissions, "who may become SCHED_HT, and with which nice value")
{
	static const struct attempt attempts[] = {
		{ "root", 0, true, 0, 0, -20, 0 },
		{ "user, same nice", USER_ID, false, 0, 0, 0, 0 },
		{ "user, higher nice", USER_ID, false, 0, 0, 10, 0 },
		{ "user, lower nice", USER_ID, false, 0, 5, 0, EPERM },
		{ "user, negative nice", USER_ID, false, 0, 0, -1, EPERM },
		{ "user, same negative nice", USER_ID, false, 0, -5, -5, 0 },
		{ "user, within RLIMIT_NICE", USER_ID, false, 30, 0, -10, 0 },
		{ "user, beyond RLIMIT_NICE", USER_ID, false, 30, 0, -11, EPERM },
		{ "user with CAP_SYS_NICE", USER_ID, true, 0, 0, -20, 0 },
	};

	need_plain_group();
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		int err = try_attempt(&attempts[i]);

		EXPECT(err == attempts[i].error, "%s: %s, not %s",
		       attempts[i].what, strerror(err),
		       strerror(attempts[i].error));
	}
}

TEST(other_user, "another user's process is EPERM, with CAP_SYS_NICE allowed")
{
	pid_t target, pid;

	need_plain_group();
	target = fork();
	if (!target) {
		drop_to_user(OTHER_ID, false);
		for (;;)
			pause();
	}
	ht_sleep_ms(50);
	for (int cap = 0; cap < 2; cap++) {
		pid = fork();
		if (!pid) {
			if (!drop_to_user(USER_ID, cap))
				_exit(255);
			_exit(ht_set(target, SCHED_HT, 0) ? errno : 0);
		}
		EXPECT(wait_status(pid) == (cap ? 0 : EPERM),
		       "CAP_SYS_NICE %d: not as expected", cap);
	}
	expect_attr(target, SCHED_HT, 0, "the other user's task");
}

TEST(user_leaves, "an unprivileged task may leave SCHED_HT and come back")
{
	pid_t pid;

	need_plain_group();
	pid = fork();
	if (!pid) {
		drop_to_user(USER_ID, false);
		for (int i = 0; i < 10; i++)
			if (ht_set(0, SCHED_HT, 3) || ht_set(0, SCHED_OTHER, 3))
				_exit(errno);
		_exit(0);
	}
	EXPECT(wait_status(pid) == 0, "refused");
}

TEST(disabled, "sched_ht_enabled=0 returns every task and refuses new ones")
{
	int hog, sleeper;
	pid_t pids[2];

	ht_need_root();
	hog = ht_hog("ht-hog", SCHED_HT, 4, 0);
	sleeper = ht_sleeper("ht-sleep", SCHED_HT, -4, 0);
	pids[0] = ht_slot(hog)->pid;
	pids[1] = ht_slot(sleeper)->pid;
	REQUIRE(!ht_sysctl_set("enabled", 0), "%s", strerror(errno));
	expect_attr(pids[0], SCHED_OTHER, 4, "hog");
	expect_attr(pids[1], SCHED_OTHER, -4, "sleeper");
	EXPECT(ht_set(0, SCHED_HT, 0) && errno == EOPNOTSUPP,
	       "a new task: %s", strerror(errno));
	EXPECT(ht_advances(hog), "hog lost");
	ht_wake(sleeper);
	ht_wait_answer(sleeper);
	EXPECT(!ht_sysctl_set("enabled", 1), "%s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		EXPECT(!ht_set(pids[i], SCHED_HT, 0), "back: %s", strerror(errno));
		expect_attr(pids[i], SCHED_HT, 0, "back");
	}
	EXPECT(ht_advances(hog), "hog lost after the return");
}

#define NR_CHILDREN	30

/* An HT task that forks as fast as it can; its children wait. */
static void forker(volatile pid_t *children)
{
	ht_name("ht-forker");
	ht_set(0, SCHED_HT, 0);
	for (int n = 0; n < NR_CHILDREN; n++) {
		pid_t pid = fork();

		if (!pid)
			for (;;)
				pause();
		children[n] = pid;
	}
	for (;;)
		pause();
}

/* Fork races with the switch: no child may stay behind. */
TEST(disabled_race, "no task stays SCHED_HT when the switch races with forks")
{
	volatile pid_t *children = ht_shared(NR_CHILDREN * sizeof(pid_t));
	unsigned int rounds = ht_rounds(20);

	ht_need_root();
	for (unsigned int i = 0; i < rounds; i++) {
		pid_t parent;

		memset((void *)children, 0, NR_CHILDREN * sizeof(pid_t));
		parent = fork();
		if (!parent)
			forker(children);
		ht_sleep_ms(i % 10);
		EXPECT(!ht_sysctl_set("enabled", 0), "%s", strerror(errno));
		ht_sleep_ms(50);
		EXPECT(ht_policy_of(parent) != SCHED_HT, "the parent is");
		for (int n = 0; n < NR_CHILDREN; n++)
			EXPECT(!children[n] || ht_policy_of(children[n]) != SCHED_HT,
			       "round %u: child %d is SCHED_HT", i, n);
		ht_sysctl_set("enabled", 1);
		kill(parent, SIGKILL);
		wait_status(parent);
		for (int n = 0; n < NR_CHILDREN; n++)
			if (children[n] > 0)
				kill(children[n], SIGKILL);
	}
}
