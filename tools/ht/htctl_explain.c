// SPDX-License-Identifier: GPL-2.0
/*
 * htctl: is SCHED_HT there, and why did the kernel say no?
 *
 * An errno alone does not tell a cgroup limit from a missing capability. The
 * kernel decides; what stands here looks at the same places afterwards and
 * says which of them would be a reason.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "htctl.h"

#define CAP_SYS_NICE_BIT	23
#define CGROUP2			"/sys/fs/cgroup"

bool ht_kernel_has_policy(void)
{
	return sched_get_priority_max(HT_POLICY) == 0;
}

/* 0, or EXIT_FAILURE after saying that this kernel cannot do it. */
int ht_require_kernel(void)
{
	if (ht_kernel_has_policy())
		return 0;
	fputs("htctl: this kernel has no SCHED_HT (sched_get_priority_max(8): EINVAL);\n"
	      "htctl: boot a kernel with CONFIG_SCHED_HT_AWARE=y, see the README\n",
	      stderr);
	return EXIT_FAILURE;
}

/* The first line of a file without its newline; false if unreadable. */
static bool read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, len, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

static bool have_cap_sys_nice(void)
{
	unsigned long long caps = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps >> CAP_SYS_NICE_BIT & 1;
}

/* The task's path in the unified hierarchy, or in v1's cpu controller. */
static bool task_cgroup(pid_t tid, bool *v1, char *path, size_t len)
{
	char file[64], line[4096], *controllers, *cgroup;
	bool found = false;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)tid);
	f = fopen(file, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		cgroup = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!cgroup)
			continue;
		*cgroup++ = '\0';
		controllers++;
		*v1 = !strcmp(controllers, "cpu,cpuacct") ||
		      !strcmp(controllers, "cpuacct,cpu") ||
		      !strcmp(controllers, "cpu");
		if (*v1 || (!*controllers && !found)) {
			snprintf(path, len, "%s", cgroup);
			found = true;
		}
		if (*v1)
			break;
	}
	if (f)
		fclose(f);
	return found;
}

static const char *hierarchy(bool v1)
{
	if (!v1)
		return CGROUP2;
	return access(CGROUP2 "/cpu,cpuacct", F_OK) ? CGROUP2 "/cpu"
						    : CGROUP2 "/cpu,cpuacct";
}

/* Does this one group limit CPU time? Fills @limit for the message. */
static bool group_limited(const char *dir, bool v1, char *limit, size_t len)
{
	char file[4300], text[128];

	snprintf(file, sizeof(file), "%s/%s", dir,
		 v1 ? "cpu.cfs_quota_us" : "cpu.max");
	if (!read_line(file, text, sizeof(text)))
		return false;
	if (v1 ? text[0] == '-' : !strncmp(text, "max", 3))
		return false;
	snprintf(limit, len, "%s = %s", strrchr(file, '/') + 1, text);
	return true;
}

static bool group_has_weight(const char *dir, bool v1)
{
	char file[4300];

	snprintf(file, sizeof(file), "%s/%s", dir,
		 v1 ? "cpu.shares" : "cpu.weight");
	return !access(file, F_OK);
}

/*
 * Walks from the task's group to the root. A v2 group below which the cpu
 * controller is not enabled belongs to its parent's task group, so only
 * groups that have the controller's files count.
 */
static bool explain_cgroup(pid_t tid, bool privileged)
{
	char path[4096], dir[4200], limit[160], *slash;
	bool v1, weighted = false;

	if (!task_cgroup(tid, &v1, path, sizeof(path)))
		return false;
	while (strlen(path) > 1) {
		snprintf(dir, sizeof(dir), "%s%s", hierarchy(v1), path);
		if (group_limited(dir, v1, limit, sizeof(limit))) {
			fprintf(stderr,
				"htctl:   its cgroup %s limits CPU time (%s), which SCHED_HT does not honour yet\n",
				path, limit);
			return true;
		}
		if (!weighted && !privileged && group_has_weight(dir, v1)) {
			fprintf(stderr,
				"htctl:   it is in the cgroup %s: outside the root group SCHED_HT needs CAP_SYS_NICE\n",
				path);
			weighted = true;
		}
		slash = strrchr(path, '/');
		if (slash == path)
			break;
		*slash = '\0';
	}
	return weighted;
}

static bool explain_autogroup(pid_t tid)
{
	char path[64], line[64];

	if (!read_line("/proc/sys/kernel/sched_autogroup_enabled", line,
		       sizeof(line)) || strcmp(line, "1"))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)tid);
	if (!read_line(path, line, sizeof(line)))
		return false;
	fprintf(stderr,
		"htctl:   it may be in an autogroup (%s): there SCHED_HT needs CAP_SYS_NICE;\n"
		"htctl:   kernel.sched_autogroup_enabled=0 switches autogroups off\n",
		line);
	return true;
}

static bool explain_owner(pid_t tid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	if (stat(path, &st) || st.st_uid == geteuid())
		return false;
	fprintf(stderr,
		"htctl:   it belongs to user %u: changing it needs CAP_SYS_NICE\n",
		(unsigned int)st.st_uid);
	return true;
}

static void explain_eperm(pid_t tid, const struct ht_params *params)
{
	bool privileged = have_cap_sys_nice();
	bool known = explain_cgroup(tid, privileged);

	if (!privileged) {
		known |= explain_owner(tid);
		known |= explain_autogroup(tid);
		if (params && params->has_nice) {
			fprintf(stderr,
				"htctl:   nice %d may be below what RLIMIT_NICE allows without CAP_SYS_NICE\n",
				params->nice);
			known = true;
		}
	}
	if (!known)
		fputs("htctl:   SCHED_HT needs CAP_SYS_NICE outside the root cgroup and in an autogroup,\n"
		      "htctl:   and is refused under a CPU limit (cpu.max); see sched_ht(7)\n",
		      stderr);
}

/* Says on stderr why @tid could not be changed; @params NULL for --off. */
void ht_explain(pid_t tid, int err, const struct ht_params *params)
{
	const char *what = params ? "make it SCHED_HT" : "make it SCHED_NORMAL";

	fprintf(stderr, "htctl: pid %d: cannot %s: %s\n", (int)tid, what,
		err == ESRCH ? "no such process" : strerror(err));
	switch (err) {
	case EPERM:
		explain_eperm(tid, params);
		break;
	case EOPNOTSUPP:
		fputs("htctl:   SCHED_HT is switched off (kernel.sched_ht_enabled=0)\n",
		      stderr);
		break;
	default:
		break;
	}
}
