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

/* Waits for the word to go, which comes once it is what it should be. */
static void probe(int go, int answer)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	_exit(write(answer, &byte, 1) != 1);
}

static const char *ask(pid_t pid, int cpu, int go, int answer)
{
	struct pollfd end = { .fd = answer, .events = POLLIN };
	char byte;

	/* Asleep, and so it can't get stuck there on its way. */
	if (ht_set(pid, SCHED_FIFO, 99) || ht_pin(pid, HT_CPU(cpu)) ||
	    write(go, "", 1) != 1)
		return "can't be asked to run";
	if (poll(&end, 1, ANSWER_MS) == 1 && read(answer, &byte, 1) == 1)
		return "runs";
	return "DOES NOT RUN";
}

/* Does a real-time task run there? */
static const char *answer_of(int cpu)
{
	int go[2], answer[2];
	const char *text;
	pid_t pid;

	if (pipe(go) || pipe(answer))
		return "can't be asked to run";
	pid = fork();
	if (!pid)
		probe(go[0], answer[1]);
	if (pid < 0) {
		text = "can't be asked to run";
	} else {
		ht_sleep_ms(20);
		text = ask(pid, cpu, go[1], answer[0]);
		/* One that is stuck can't be waited for. */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, WNOHANG);
	}
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(answer[i]);
	}
	return text;
}

static void report_cpus(void)
{
	struct ht_topo topo;
	int cpu;

	ht_topo_read(&topo);
	ht_for_each_cpu(cpu, topo.online) {
		long long irqs = ht_timer_irqs(cpu);
		const char *answer = answer_of(cpu);

		ht_sleep_ms(200);
		ht_note("hang: CPU %d %s a real-time task, %lld timer interrupts",
			cpu, answer, ht_timer_irqs(cpu) - irqs);
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
	char buf[16384], *save, *line;

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
	report_tasks(group);
	report_cpus();
	/* Takes rq locks, and may be the last that is heard. */
	report_file("/sys/kernel/debug/sched_ht/cpus");
}
