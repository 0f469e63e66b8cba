// SPDX-License-Identifier: GPL-2.0
/* Common part of the SCHED_HT selftests: harness, files, topology, tasks. */
#include "ht_test.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_CASES	64
#define REASON_LEN	160

/* Shared between the harness and the process that runs a case. */
struct report {
	volatile int failures;
	volatile bool hung;
	char reason[REASON_LEN];
};

struct ht_options ht_opt;

static struct ht_case cases[MAX_CASES];
static int nr_cases;
static struct report *report;
static struct ht_slot *slots;
static int nr_slots;
static ht_mask was_online;

/* System calls */

int ht_setattr(pid_t pid, const struct ht_attr *attr)
{
	return syscall(SYS_sched_setattr, pid, attr, 0);
}

int ht_getattr(pid_t pid, struct ht_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return syscall(SYS_sched_getattr, pid, attr, sizeof(*attr), 0);
}

int ht_set(pid_t pid, int policy, int nice)
{
	struct ht_attr attr = {
		.size = sizeof(attr),
		.policy = policy,
		.nice = nice,
	};

	if (policy == SCHED_FIFO || policy == SCHED_RR) {
		attr.priority = nice;
		attr.nice = 0;
	}
	return ht_setattr(pid, &attr);
}

int ht_policy_of(pid_t pid)
{
	struct ht_attr attr;

	return ht_getattr(pid, &attr) ? -1 : (int)attr.policy;
}

int ht_nice_of(pid_t pid)
{
	struct ht_attr attr;

	return ht_getattr(pid, &attr) ? -100 : attr.nice;
}

/* Cases */

void ht_register(const char *name, const char *what, void (*run)(void))
{
	if (nr_cases == MAX_CASES)
		abort();
	cases[nr_cases++] = (struct ht_case){ name, what, run };
}

void ht_note(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	printf("# %s\n", line);
	fflush(stdout);
}

void ht_fail(const char *file, int line, const char *cond, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A broken kernel fails in every round: the first few say it all. */
	if (__atomic_add_fetch(&report->failures, 1, __ATOMIC_RELAXED) <= 10)
		ht_note("FAILED %s:%d: %s: %s", base ? base + 1 : file, line,
			cond, text);
}

void ht_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(report->reason, sizeof(report->reason), fmt, ap);
	va_end(ap);
	fflush(stdout);
	_exit(HT_EXIT_SKIP);
}

bool ht_failed(void)
{
	return report->failures;
}

void ht_end_case(void)
{
	fflush(stdout);
	_exit(report->failures ? HT_EXIT_FAIL : HT_EXIT_PASS);
}

unsigned int ht_seconds(unsigned int standard)
{
	return ht_opt.seconds ? ht_opt.seconds : standard;
}

unsigned int ht_rounds(unsigned int standard)
{
	return ht_opt.rounds ? ht_opt.rounds : standard;
}

static void run_child(const struct ht_case *tc)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ht_name("nh-main");
	tc->run();
	ht_kill_all();
	ht_end_case();
}

/* Once: what comes after a hang is the same one. */
static void report_hang(pid_t group)
{
	if (report->hung)
		return;
	report->hung = true;
	ht_hang_report(group);
}

/* Sleeps until the case ends: a poll would be load that the case can feel. */
static int wait_case(pid_t pid, unsigned int limit_sec)
{
	struct timespec limit = { .tv_sec = limit_sec };
	uint64_t start = ht_now();
	sigset_t chld;
	int status;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		uint64_t spent = (ht_now() - start) / HT_NSEC_PER_SEC;

		if (spent >= limit_sec) {
			ht_fail("harness", 0, "harness", "no end within %u s", limit_sec);
			report_hang(pid);
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return HT_EXIT_FAIL;
		}
		limit.tv_sec = limit_sec - spent;
		sigtimedwait(&chld, NULL, &limit);
	}
	if (WIFSIGNALED(status)) {
		ht_fail("harness", 0, "harness", "killed by signal %d", WTERMSIG(status));
		return HT_EXIT_FAIL;
	}
	return WEXITSTATUS(status);
}

int ht_cpu_online(int cpu, bool online)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return ht_write(path, online ? "1" : "0");
}

/* A case that failed half-way must not spoil the next one. */
static void restore_machine(void)
{
	static const struct {
		const char *knob;
		long standard;
	} knobs[] = {
		{ "smt", 1 }, { "slice_us", 3000 }, { "unshare", 1 },
		{ "enabled", 1 }, { "cache_hot", 1 }, { "smt_yield_pct", 55 },
		{ "refill_core_us", 40 }, { "refill_llc_us", 250 },
		{ "refill_node_us", 250 }, { "fill_core_us", 200 },
		{ "fill_llc_us", 2000 }, { "pair_ns", 2000 },
		{ "wake_ns", 15000 },
	};
	struct ht_topo topo;
	int cpu;

	for (size_t i = 0; i < sizeof(knobs) / sizeof(*knobs); i++)
		if (ht_sysctl_get(knobs[i].knob) != knobs[i].standard)
			ht_sysctl_set(knobs[i].knob, knobs[i].standard);
	ht_topo_read(&topo);
	ht_for_each_cpu(cpu, was_online & ~topo.online)
		ht_cpu_online(cpu, true);
}

static int run_case(const struct ht_case *tc, int number)
{
	unsigned int limit = 2 * HT_HANG_SEC + 3 * ht_seconds(0);
	int status;
	pid_t pid;

	memset(report, 0, sizeof(*report));
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(HT_EXIT_FAIL);
	}
	if (!pid)
		run_child(tc);
	setpgid(pid, pid);
	status = wait_case(pid, limit);
	kill(-pid, SIGKILL);
	restore_machine();
	if (report->failures)
		status = HT_EXIT_FAIL;
	if (status == HT_EXIT_PASS)
		printf("ok %d %s\n", number, tc->name);
	else if (status == HT_EXIT_SKIP)
		printf("ok %d %s # SKIP %s\n", number, tc->name, report->reason);
	else
		printf("not ok %d %s # %s\n", number, tc->name, tc->what);
	fflush(stdout);
	return status;
}

static bool wanted(const struct ht_case *tc, char **names, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(names[i], tc->name))
			return true;
	return !nr;
}

static int run_all(char **names, int nr)
{
	int passed = 0, failed = 0, skipped = 0, plan = 0;

	for (int i = 0; i < nr_cases; i++)
		plan += wanted(&cases[i], names, nr);
	if (!plan) {
		fprintf(stderr, "no such test\n");
		return 2;
	}
	printf("TAP version 13\n1..%d\n", plan);
	for (int i = 0, number = 0; i < nr_cases; i++) {
		if (!wanted(&cases[i], names, nr))
			continue;
		switch (run_case(&cases[i], ++number)) {
		case HT_EXIT_PASS:
			passed++;
			break;
		case HT_EXIT_SKIP:
			skipped++;
			break;
		default:
			failed++;
		}
		/* Nothing that follows on this machine would mean anything. */
		if (report->hung) {
			printf("Bail out! %s hangs\n", cases[i].name);
			fflush(stdout);
			return HT_EXIT_HUNG;
		}
	}
	printf("# Totals: pass:%d fail:%d xfail:0 xpass:0 skip:%d error:0\n",
	       passed, failed, skipped);
	if (failed)
		return HT_EXIT_FAIL;
	return passed ? HT_EXIT_PASS : HT_EXIT_SKIP;
}

/* The image that exec tests run: it says what it is and ends. */
static void exec_report(void)
{
	const char *fd = getenv("HT_EXEC_REPORT");
	struct ht_attr attr;
	int line[4];

	if (!fd)
		return;
	line[0] = sched_getcpu();
	ht_getattr(0, &attr);
	line[1] = attr.policy;
	line[2] = attr.nice;
	line[3] = attr.runtime / 1000;
	exit(write(atoi(fd), line, sizeof(line)) != sizeof(line));
}

static void usage(const char *prog)
{
	fprintf(stderr,
		"usage: %s [-l] [-v] [-t SEC] [-r ROUNDS] [--cgroup v1|v2] [TEST...]\n",
		prog);
	exit(2);
}

static unsigned int number_arg(const char *prog, const char *text)
{
	char *end;
	unsigned long value;

	if (!text)
		usage(prog);
	value = strtoul(text, &end, 10);
	if (*end || end == text || !value || value > 86400) {
		fprintf(stderr, "%s: bad number \"%s\"\n", prog, text);
		exit(2);
	}
	return value;
}

static char **parse_options(char **argv)
{
	char *prog = argv[0];

	for (argv++; *argv && **argv == '-'; argv++) {
		if (!strcmp(*argv, "-l")) {
			for (int i = 0; i < nr_cases; i++)
				printf("%-28s %s\n", cases[i].name, cases[i].what);
			exit(0);
		} else if (!strcmp(*argv, "-v")) {
			ht_opt.verbose = true;
		} else if (!strcmp(*argv, "-t")) {
			ht_opt.seconds = number_arg(prog, *++argv);
		} else if (!strcmp(*argv, "-r")) {
			ht_opt.rounds = number_arg(prog, *++argv);
		} else if (!strcmp(*argv, "--cgroup") && argv[1]) {
			ht_opt.cgroup_v1 = !strcmp(*++argv, "v1");
			if (!ht_opt.cgroup_v1 && strcmp(*argv, "v2"))
				usage(prog);
		} else {
			usage(prog);
		}
	}
	return argv;
}

int main(int argc, char **argv)
{
	struct ht_topo topo;
	sigset_t chld;
	int nr = 0;

	(void)argc;
	exec_report();
	argv = parse_options(argv);
	while (argv[nr])
		nr++;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	report = ht_shared(sizeof(*report));
	slots = ht_shared(HT_MAX_TASKS * sizeof(*slots));
	ht_topo_read(&topo);
	was_online = topo.online;
	if (sched_get_priority_max(SCHED_HT) != 0) {
		printf("TAP version 13\n1..0 # SKIP this kernel has no SCHED_HT\n");
		return HT_EXIT_SKIP;
	}
	return run_all(argv, nr);
}

/* Files */

bool ht_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int ht_read(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while (len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += got;
	close(fd);
	buf[len] = 0;
	return len;
}

/* Returns 0, or -1 with errno: one write() call, as a shell's echo does. */
int ht_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;
	int err;

	if (fd < 0)
		return -1;
	done = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return done < 0 ? -1 : 0;
}

long long ht_read_number(const char *path, long long absent)
{
	char buf[64];

	return ht_read(path, buf, sizeof(buf)) > 0 ? atoll(buf) : absent;
}

static const char *mounted(const char *probe, const char *type, const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, probe);
	if (!ht_exists(path))
		mount(type, dir, type, 0, NULL);
	return ht_exists(path) ? dir : NULL;
}

const char *ht_debugfs(void)
{
	return mounted("sched_ht", "debugfs", "/sys/kernel/debug");
}

const char *ht_tracefs(void)
{
	return mounted("trace", "tracefs", "/sys/kernel/tracing");
}

static void knob_path(char *path, size_t size, const char *knob)
{
	snprintf(path, size, "/proc/sys/kernel/sched_ht_%s", knob);
}

int ht_sysctl_set(const char *knob, long value)
{
	char path[128], text[32];

	knob_path(path, sizeof(path), knob);
	snprintf(text, sizeof(text), "%ld\n", value);
	return ht_write(path, text);
}

long ht_sysctl_get(const char *knob)
{
	char path[128];

	knob_path(path, sizeof(path), knob);
	return ht_read_number(path, -1);
}

/* Finds "name value" in a file of such lines. */
static long long named_number(const char *path, const char *name)
{
	size_t len = strlen(name);
	char buf[16384], *line;

	if (ht_read(path, buf, sizeof(buf)) < 0)
		return -1;
	for (line = buf; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && strchr(" \t:", line[len]))
			return atoll(line + len + 1 + strspn(line + len + 1, " \t:"));
	}
	return -1;
}

long long ht_stat(const char *name)
{
	const char *dir = ht_debugfs();
	char path[128];

	if (!dir)
		return -1;
	snprintf(path, sizeof(path), "%s/sched_ht/stats", dir);
	return named_number(path, name);
}

void ht_inv2_reset(void)
{
	if (ht_debugfs())
		ht_write("/sys/kernel/debug/sched_ht/inv2", "0\n");
}

/* The longest stretch; the kernel can't know that the host kept a CPU waiting. */
long long ht_inv2_worst_ticks(void)
{
	if (!ht_debugfs())
		return -1;
	return named_number("/sys/kernel/debug/sched_ht/inv2", "worst_ticks");
}

/* Topology */

ht_mask ht_mask_parse(const char *list)
{
	ht_mask mask = 0;
	char *end;

	while (*list >= '0' && *list <= '9') {
		long from = strtol(list, &end, 10), to = from;

		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long cpu = from; cpu <= to && cpu < HT_MAX_CPUS; cpu++)
			mask |= HT_CPU(cpu);
		list = *end == ',' ? end + 1 : end;
	}
	return mask;
}

static ht_mask mask_file(const char *fmt, ...)
{
	char path[256], buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return ht_read(path, buf, sizeof(buf)) > 0 ? ht_mask_parse(buf) : 0;
}

#define CPU_DIR "/sys/devices/system/cpu"

/* Highest cache level that the CPU has; the package if it has none listed. */
static ht_mask llc_mask(int cpu)
{
	long long best = 1;
	ht_mask mask = 0;
	char path[128];

	for (int i = 0; i < 8; i++) {
		long long level;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cache/index%d/level",
			 cpu, i);
		level = ht_read_number(path, -1);
		if (level < 0)
			break;
		if (level <= best)
			continue;
		best = level;
		mask = mask_file(CPU_DIR "/cpu%d/cache/index%d/shared_cpu_list",
				 cpu, i);
	}
	if (!mask)
		mask = mask_file(CPU_DIR "/cpu%d/topology/package_cpus_list", cpu);
	return mask ? mask : HT_CPU(cpu);
}

static void read_nodes(struct ht_topo *topo)
{
	int cpu;

	for (int node = 0; node < 64; node++) {
		ht_mask mask = mask_file("/sys/devices/system/node/node%d/cpulist",
					 node);

		ht_for_each_cpu(cpu, mask)
			topo->node_of[cpu] = mask;
	}
	ht_for_each_cpu(cpu, topo->online)
		if (!topo->node_of[cpu])
			topo->node_of[cpu] = topo->online;
}

void ht_topo_read(struct ht_topo *topo)
{
	ht_mask llcs_seen = 0, possible = mask_file(CPU_DIR "/possible");
	int cpu;

	memset(topo, 0, sizeof(*topo));
	topo->nr_cpus = possible ? 64 - __builtin_clzll(possible) : 1;
	topo->online = mask_file(CPU_DIR "/online");
	topo->isolated = mask_file(CPU_DIR "/isolated");
	topo->usable = topo->online & ~topo->isolated;
	ht_for_each_cpu(cpu, topo->online) {
		ht_mask core = mask_file(CPU_DIR
				"/cpu%d/topology/thread_siblings_list", cpu);

		topo->core_of[cpu] = core & topo->online;
		topo->llc_of[cpu] = llc_mask(cpu) & topo->online;
		if (ht_first(topo->core_of[cpu] & topo->usable) == cpu)
			topo->core[topo->nr_cores++] = topo->core_of[cpu];
		if (!(llcs_seen & topo->llc_of[cpu]) && ht_has(topo->usable, cpu))
			topo->nr_llcs++;
		llcs_seen |= topo->llc_of[cpu];
	}
	read_nodes(topo);
}

/* 0 same core, 2 same LLC, 3 same node, 4 remote; clusters are left out. */
int ht_topo_distance(const struct ht_topo *topo, int from, int to)
{
	if (ht_has(topo->core_of[from], to))
		return 0;
	if (ht_has(topo->llc_of[from], to))
		return 2;
	return ht_has(topo->node_of[from], to) ? 3 : 4;
}

int ht_topo_sibling(const struct ht_topo *topo, int cpu)
{
	return ht_first(topo->core_of[cpu] & topo->usable & ~HT_CPU(cpu));
}

/* Index of the (skip + 1)-th core with more than one thread, or -1. */
int ht_topo_smt_core(const struct ht_topo *topo, int skip)
{
	for (int i = 0; i < topo->nr_cores; i++)
		if (ht_count(topo->core[i] & topo->usable) > 1 && !skip--)
			return i;
	return -1;
}

/* Tasks */

void *ht_shared(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED) {
		perror("mmap");
		exit(HT_EXIT_FAIL);
	}
	return mem;
}

struct ht_slot *ht_slot(int index)
{
	return &slots[index];
}

int ht_pin(pid_t pid, ht_mask mask)
{
	return syscall(SYS_sched_setaffinity, pid, sizeof(mask), &mask);
}

ht_mask ht_affinity(pid_t pid)
{
	unsigned long words[16] = { 0 };

	if (syscall(SYS_sched_getaffinity, pid, sizeof(words), words) < 0)
		return 0;
	return words[0];
}

void ht_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

uint64_t ht_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * HT_NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t ht_cpu_ns(pid_t pid)
{
	struct timespec ts = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * HT_NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t ht_own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * HT_NSEC_PER_SEC + ts.tv_nsec;
}

void ht_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Takes that much CPU time, as the guest accounts it. */
void ht_burn_ns(uint64_t ns)
{
	uint64_t end = ht_own_cpu_ns() + ns;

	while (ht_own_cpu_ns() < end)
		;
}

/* The resolution of the coarse clock is the tick. */
long ht_tick_ns(void)
{
	struct timespec ts = { 0, 4000000 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_nsec;
}

int ht_futex_wait(volatile uint32_t *word, uint32_t value)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

int ht_futex_wake(volatile uint32_t *word, int nr)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, nr, NULL, NULL, 0);
}

/* For waiting loops: says so, fails the case and ends the wait after a hang. */
bool ht_hung(uint64_t since, const char *what)
{
	if (ht_now() - since < HT_HANG_SEC * HT_NSEC_PER_SEC)
		return false;
	ht_fail("hang", 0, "hang", "%s: nothing within %d s", what, HT_HANG_SEC);
	report_hang(getpgrp());
	return true;
}

static void hog_body(struct ht_slot *slot)
{
	while (slot->command != HT_STOP) {
		slot->cpu = sched_getcpu();
		slot->count++;
	}
}

static void sleeper_body(struct ht_slot *slot)
{
	uint32_t seen = slot->futex;

	while (slot->command != HT_STOP) {
		slot->answered = seen;
		slot->cpu = sched_getcpu();
		while (slot->futex == seen)
			ht_futex_wait(&slot->futex, seen);
		slot->first_cpu = sched_getcpu();
		seen = slot->futex;
		slot->count++;
		if (slot->run_ns)
			ht_burn_ns(slot->run_ns);
	}
}

static void start_child(struct ht_slot *slot, const char *name, int policy,
			int nice, ht_mask mask, void (*body)(struct ht_slot *))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ht_name(name);
	if (mask && ht_pin(0, mask)) {
		ht_fail("task", 0, "task", "%s: affinity %#llx: %s", name,
			(unsigned long long)mask, strerror(errno));
		_exit(1);
	}
	if (ht_set(0, policy, nice)) {
		ht_fail("task", 0, "task", "%s: policy %d nice %d: %s", name, policy,
			nice, strerror(errno));
		_exit(1);
	}
	slot->cpu = sched_getcpu();
	slot->ready = 1;
	body(slot);
	_exit(0);
}

int ht_task(const char *name, int policy, int nice, ht_mask mask,
	    void (*body)(struct ht_slot *slot))
{
	struct ht_slot *slot = &slots[nr_slots];
	uint64_t start = ht_now();
	pid_t pid;

	if (nr_slots == HT_MAX_TASKS)
		ht_skip("more tasks than the harness has slots for");
	memset(slot, 0, sizeof(*slot));
	fflush(stdout);
	pid = fork();
	REQUIRE(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		start_child(slot, name, policy, nice, mask, body);
	slot->pid = pid;
	while (!slot->ready) {
		ht_sleep_ms(1);
		if (ht_failed() || ht_hung(start, name))
			ht_end_case();
	}
	return nr_slots++;
}

int ht_hog(const char *name, int policy, int nice, ht_mask mask)
{
	return ht_task(name, policy, nice, mask, hog_body);
}

int ht_sleeper(const char *name, int policy, int nice, ht_mask mask)
{
	return ht_task(name, policy, nice, mask, sleeper_body);
}

void ht_kill(int index)
{
	if (slots[index].pid <= 0)
		return;
	kill(slots[index].pid, SIGKILL);
	waitpid(slots[index].pid, NULL, 0);
	slots[index].pid = 0;
}

/* Also gives the slots back. */
void ht_kill_all(void)
{
	for (int i = 0; i < nr_slots; i++)
		if (slots[i].pid > 0)
			kill(slots[i].pid, SIGKILL);
	for (int i = 0; i < nr_slots; i++)
		ht_kill(i);
	nr_slots = 0;
}

void ht_wake(int index)
{
	slots[index].futex++;
	ht_futex_wake(&slots[index].futex, 1);
}

bool ht_answered(int index)
{
	return slots[index].answered == slots[index].futex;
}

void ht_wait_answer(int index)
{
	uint64_t start = ht_now();

	while (!ht_answered(index))
		if (ht_hung(start, "sleeper's answer"))
			ht_end_case();
}

/* The state letter of /proc/PID/stat; the name before it may hold anything. */
char ht_state(pid_t pid)
{
	char path[64], buf[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (ht_read(path, buf, sizeof(buf)) <= 0)
		return 0;
	end = strrchr(buf, ')');
	return end && end[1] ? end[2] : 0;
}

/* Spins: the caller's CPU stays busy, as a hog's. */
void ht_wait_asleep(int index)
{
	uint64_t start = ht_now();

	while (!ht_answered(index) || ht_state(slots[index].pid) != 'S')
		if (ht_hung(start, "sleeper's sleep"))
			ht_end_case();
}

/* A task that was not lost runs again; how soon is the host's affair. */
bool ht_advances(int index)
{
	uint64_t before = slots[index].count, start = ht_now();

	while (slots[index].count == before) {
		ht_sleep_ms(2);
		if (ht_hung(start, "task's progress"))
			return false;
	}
	return true;
}

/* Twice: between looking where it is and counting, it may have moved. */
bool ht_runs_within(int index, ht_mask mask)
{
	return ht_advances(index) && ht_advances(index) &&
	       ht_has(mask, slots[index].cpu);
}

/* Until these tasks have received @sum_ns of CPU time together. */
void ht_wait_cpu_ns(const int *index, int nr, uint64_t sum_ns)
{
	uint64_t start = ht_now(), first = 0, sum;

	for (int i = 0; i < nr; i++)
		first += ht_cpu_ns(slots[index[i]].pid);
	do {
		ht_sleep_ms(20);
		sum = 0;
		for (int i = 0; i < nr; i++)
			sum += ht_cpu_ns(slots[index[i]].pid);
		if (ht_hung(start, "CPU time of the tasks"))
			ht_end_case();
	} while (sum - first < sum_ns);
}

/* Local timer interrupts that the CPU has handled. */
long long ht_timer_irqs(int cpu)
{
	static char buf[65536];
	char *line, *next, *header;
	int column = 0;

	if (ht_read("/proc/interrupts", buf, sizeof(buf)) <= 0)
		return -1;
	header = buf;
	line = strstr(buf, "LOC:");
	if (!line)
		return -1;
	/* Offline CPUs have no column. */
	for (header = strstr(header, "CPU"); header && header < line;
	     header = strstr(header + 3, "CPU"), column++)
		if (atoi(header + 3) == cpu)
			break;
	line += 4;
	for (int i = 0; i < column; i++) {
		strtoll(line, &next, 10);
		line = next;
	}
	return strtoll(line, NULL, 10);
}

/* Needs */

void ht_need_root(void)
{
	if (geteuid())
		ht_skip("needs root");
}

void ht_need_cpus(const struct ht_topo *topo, int cpus, int cores)
{
	if (ht_count(topo->usable) < cpus || topo->nr_cores < cores)
		ht_skip("needs %d CPUs in %d cores, this machine has %d in %d",
			cpus, cores, ht_count(topo->usable), topo->nr_cores);
}

void ht_need_smt(const struct ht_topo *topo)
{
	if (ht_topo_smt_core(topo, 0) < 0)
		ht_skip("needs a core with two threads online");
}

void ht_need_trace(void)
{
	ht_need_root();
	if (!ht_tracefs())
		ht_skip("needs tracefs (CONFIG_FTRACE, CONFIG_ENABLE_DEFAULT_TRACERS)");
}
