// SPDX-License-Identifier: GPL-2.0
/*
 * What to look at when something did not happen for minutes: does each CPU run
 * what stands above SCHED_HT and take its timer interrupts, where are the tasks,
 * and whose turn is it? Tells a class that starves from a machine that is stuck.
 */
#include "ht_test.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define ANSWER_MS	3000

static void answer_from(int cpu, int fd)
{
	if (ht_pin(0, HT_CPU(cpu)) || ht_set(0, SCHED_FIFO, 1))
		_exit(1);
	_exit(write(fd, "", 1) != 1);
}

/* Does a real-time task run there? */
static bool answers(int cpu)
{
	struct pollfd end = { .events = POLLIN };
	bool answer = false;
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds))
		return false;
	pid = fork();
	if (!pid)
		answer_from(cpu, fds[1]);
	close(fds[1]);
	end.fd = fds[0];
	if (pid > 0 && poll(&end, 1, ANSWER_MS) == 1)
		answer = read(fds[0], &byte, 1) == 1;
	close(fds[0]);
	/* One that is stuck can't be waited for. */
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, answer ? 0 : WNOHANG);
	}
	return answer;
}

static void report_cpus(void)
{
	struct ht_topo topo;
	int cpu;

	ht_topo_read(&topo);
	ht_for_each_cpu(cpu, topo.online) {
		long long irqs = ht_timer_irqs(cpu);
		bool answer = answers(cpu);

		ht_sleep_ms(200);
		ht_note("hang: CPU %d %s a real-time task, %lld timer interrupts",
			cpu, answer ? "runs" : "DOES NOT RUN",
			ht_timer_irqs(cpu) - irqs);
	}
}

/* State, CPU and CPU time of a task of process group @group. */
static void report_task(const char *pid, pid_t group)
{
	char path[64], buf[1024], state;
	long cpu = -1, pgrp;
	char *rest, *name;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if (ht_read(path, buf, sizeof(buf)) <= 0)
		return;
	name = strchr(buf, '(');
	rest = strrchr(buf, ')');
	if (!name || !rest || sscanf(rest + 2, "%c %*d %ld", &state, &pgrp) != 2 ||
	    pgrp != group)
		return;
	*++rest = 0;
	/* The third field comes next; the CPU is the 39th. */
	for (int field = 3; field < 39 && rest; field++)
		rest = strchr(rest + 1, ' ');
	if (rest)
		cpu = strtol(rest, NULL, 10);
	ht_note("hang: %s %s: %c, CPU %ld, policy %d, %llu ns", pid, name, state,
		cpu, ht_policy_of(atoi(pid)),
		(unsigned long long)ht_cpu_ns(atoi(pid)));
}

static void report_tasks(pid_t group)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			report_task(entry->d_name, group);
	if (proc)
		closedir(proc);
}

static void report_file(const char *path)
{
	char buf[4096], *save, *line;

	if (ht_read(path, buf, sizeof(buf)) <= 0)
		return;
	for (line = strtok_r(buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		ht_note("hang: %s", line);
}

/* @group: processes of the case that does not go on. */
void ht_hang_report(pid_t group)
{
	report_file("/proc/uptime");
	report_file("/sys/kernel/debug/sched_ht/cpus");
	report_tasks(group);
	report_cpus();
}
