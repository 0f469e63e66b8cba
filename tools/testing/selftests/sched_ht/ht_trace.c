// SPDX-License-Identifier: GPL-2.0
/* Records the scheduler's events in tracefs and replays them; see ht_trace.h. */
#include "ht_trace.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/wait.h>

#define TRACEFS		"/sys/kernel/tracing"
#define MAX_PID		65536
#define MAX_HT_TASKS	4096
/* Two ticks, and one in which a task that has just moved is not moved again. */
#define INV2_TICKS	3
#define INV3_TICKS	2
/* Events that a claim taken by another placement may need to show up. */
#define LOOKAHEAD	64
#define SHOW_FAULTS	3

struct task_state {
	ht_mask mask;		/* 0: unknown at the moment */
	bool has_mask;		/* else anything goes */
	int16_t cpu;		/* runnable there, -1 if not */
	uint16_t shared_ticks;
	uint16_t wait_ticks;
	bool is_ht;
};

/* A placement that looks wrong until the events behind it say otherwise. */
struct suspect {
	bool open;
	int pid;
	ht_mask free_cores;
	uint64_t until;
	char text[256];
};

struct machine {
	struct ht_replay replay;
	struct ht_audit *audit;
	struct suspect suspect[8];
	bool has_select;
	int shown;
};

static struct task_state tasks[MAX_PID];
static int ht_pids[MAX_HT_TASKS];
static int nr_ht_pids;
static int mark_fd = -1;

static const char * const events[] = {
	"sched/sched_switch", "sched/sched_wakeup", "sched/sched_wakeup_new",
	"sched/sched_migrate_task", "sched_ht/sched_ht_select",
	"sched_ht/sched_ht_migrate",
};

/* Recording */

static void event_enable(const char *event, const char *value, bool required)
{
	char path[160];

	snprintf(path, sizeof(path), TRACEFS "/events/%s/enable", event);
	if (ht_write(path, value) && required)
		ht_skip("no trace event %s", event);
}

/* Ticks are a high resolution timer, or the interrupt itself without those. */
static const char *tick_event(void)
{
	char buf[8192];

	if (ht_read("/proc/timer_list", buf, sizeof(buf)) > 0 &&
	    strstr(buf, ".hres_active") && !strstr(buf, ".hres_active    : 1"))
		return "irq_vectors/local_timer_entry";
	return "timer/hrtimer_expire_entry";
}

/* Makes every CPU switch once, so that the replay knows who runs there. */
static void visit_all_cpus(void)
{
	pid_t pid = fork();

	if (!pid) {
		int cpu;

		ht_name("nh-visit");
		ht_for_each_cpu(cpu, ~0ULL)
			ht_pin(0, HT_CPU(cpu));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

void ht_trace_start(void)
{
	ht_need_trace();
	ht_write(TRACEFS "/tracing_on", "0");
	ht_write(TRACEFS "/current_tracer", "nop");
	ht_write(TRACEFS "/events/enable", "0");
	ht_write(TRACEFS "/set_event_pid", "");
	ht_write(TRACEFS "/buffer_size_kb", "6144");
	if (ht_write(TRACEFS "/trace_clock", "counter"))
		ht_skip("no trace clock \"counter\"");
	ht_write(TRACEFS "/trace", "");
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		event_enable(events[i], "1", !strncmp(events[i], "sched/", 6));
	event_enable(tick_event(), "1", true);
	mark_fd = open(TRACEFS "/trace_marker", O_WRONLY | O_CLOEXEC);
	ht_write(TRACEFS "/tracing_on", "1");
	visit_all_cpus();
}

void ht_trace_mark(const char *fmt, ...)
{
	char line[128];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (write(mark_fd, line, len) != len)
		ht_fail("trace", 0, "trace", "trace_marker: %s", strerror(errno));
}

void ht_trace_stop(void)
{
	ht_write(TRACEFS "/tracing_on", "0");
	ht_write(TRACEFS "/events/enable", "0");
	close(mark_fd);
	mark_fd = -1;
}

static unsigned long lost_events(const struct ht_topo *topo)
{
	unsigned long lost = 0;
	char path[128], buf[1024], *at;
	int cpu;

	ht_for_each_cpu(cpu, topo->online) {
		snprintf(path, sizeof(path), TRACEFS "/per_cpu/cpu%d/stats", cpu);
		if (ht_read(path, buf, sizeof(buf)) <= 0)
			continue;
		at = strstr(buf, "overrun:");
		if (at)
			lost += strtoul(at + 8, NULL, 10);
	}
	return lost;
}

/* Parsing */

static long field(const char *text, const char *name, long absent)
{
	size_t len = strlen(name);
	const char *at = text;

	while ((at = strstr(at, name))) {
		if ((at == text || at[-1] == ' ') && at[len] == '=')
			return strtol(at + len + 1, NULL, 10);
		at += len;
	}
	return absent;
}

static void word(const char *text, const char *name, char *to, size_t size)
{
	size_t len = strlen(name), i = 0;
	const char *at = text;

	to[0] = 0;
	while ((at = strstr(at, name))) {
		if ((at == text || at[-1] == ' ') && at[len] == '=')
			break;
		at += len;
	}
	if (!at)
		return;
	for (at += len + 1; *at && !strchr(" \n,)", *at) && i < size - 1; at++)
		to[i++] = *at;
	to[i] = 0;
}

static void parse_switch(struct ht_event *ev)
{
	char state[16];

	ev->type = HT_EV_SWITCH;
	ev->prev_pid = field(ev->text, "prev_pid", 0);
	ev->pid = field(ev->text, "next_pid", 0);
	word(ev->text, "prev_state", state, sizeof(state));
	ev->prev_runs = state[0] == 'R';
	word(ev->text, "next_comm", ev->comm, sizeof(ev->comm));
}

static void parse_event(struct ht_event *ev, const char *name)
{
	if (!strcmp(name, "sched_switch")) {
		parse_switch(ev);
		return;
	}
	ev->pid = field(ev->text, "pid", -1);
	word(ev->text, "comm", ev->comm, sizeof(ev->comm));
	word(ev->text, "why", ev->why, sizeof(ev->why));
	word(ev->text, "kind", ev->kind, sizeof(ev->kind));
	if (!strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new")) {
		ev->type = name[12] ? HT_EV_WAKEUP_NEW : HT_EV_WAKEUP;
		ev->dst = field(ev->text, "target_cpu", -1);
	} else if (!strcmp(name, "sched_migrate_task")) {
		ev->type = HT_EV_MIGRATE;
		ev->src = field(ev->text, "orig_cpu", -1);
		ev->dst = field(ev->text, "dest_cpu", -1);
	} else if (!strcmp(name, "sched_ht_select")) {
		ev->type = HT_EV_SELECT;
		ev->dst = field(ev->text, "cpu", -1);
		ev->tries = field(ev->text, "tries", 0);
	} else if (!strcmp(name, "sched_ht_migrate")) {
		ev->type = HT_EV_HT_MIGRATE;
		ev->src = field(ev->text, "src_cpu", -1);
		ev->dst = field(ev->text, "dst_cpu", -1);
	} else if (!strcmp(name, "tracing_mark_write")) {
		ev->type = HT_EV_MARK;
	} else if (!strcmp(name, "local_timer_entry") ||
		   strstr(ev->text, "function=tick_")) {
		ev->type = HT_EV_TICK;
	}
}

/* "  comm-pid   [cpu] flags  order: name: text" */
static bool parse_line(char *line, struct ht_event *ev)
{
	char *at = strstr(line, " ["), *dash, *name, *end;

	memset(ev, 0, sizeof(*ev));
	if (*line == '#' || !at)
		return false;
	ev->cpu = atoi(at + 2);
	*at = 0;
	dash = strrchr(line, '-');
	if (dash)
		ev->context = atoi(dash + 1);
	at = strchr(at + 2, ']');
	if (!at || ev->cpu >= HT_MAX_CPUS)
		return false;
	/* irqs-off, need-resched, ... */
	ev->resched = strlen(at) > 3 && at[3] != '.';
	name = strstr(at, ": ");
	if (!name)
		return false;
	*name = 0;
	ev->order = strtoull(strrchr(at, ' ') ? strrchr(at, ' ') + 1 : at, NULL, 10);
	name += 2;
	end = strchr(name, ':');
	if (!end)
		return false;
	*end = 0;
	ev->text = end + 1 + strspn(end + 1, " ");
	end = strchr(ev->text, '\n');
	if (end)
		*end = 0;
	parse_event(ev, name);
	return ev->pid < MAX_PID && ev->prev_pid < MAX_PID &&
	       ev->context < MAX_PID;
}

/* Replay */

bool ht_replay_idle(const struct ht_replay *replay, int cpu)
{
	return ht_has(replay->known, cpu) && !replay->curr[cpu] &&
	       replay->queued[cpu] <= 0;
}

ht_mask ht_replay_busy(const struct ht_replay *replay)
{
	ht_mask busy = 0;
	int cpu;

	ht_for_each_cpu(cpu, replay->topo->online)
		if (!ht_replay_idle(replay, cpu))
			busy |= HT_CPU(cpu);
	return busy;
}

static struct task_state *task_of(int pid)
{
	static struct task_state nobody;

	if (pid <= 0 || pid >= MAX_PID) {
		nobody = (struct task_state){ .cpu = -1 };
		return &nobody;
	}
	return &tasks[pid];
}

static void set_runnable(struct ht_replay *replay, int pid, int cpu)
{
	struct task_state *task = task_of(pid);

	if (pid <= 0 || task->cpu == cpu)
		return;
	if (task->cpu >= 0)
		replay->queued[task->cpu]--;
	task->cpu = cpu;
	if (cpu >= 0)
		replay->queued[cpu]++;
	task->wait_ticks = 0;
	task->shared_ticks = 0;
}

static void set_current(struct ht_replay *replay, int cpu, int pid)
{
	replay->curr[cpu] = pid;
	replay->known |= HT_CPU(cpu);
	set_runnable(replay, pid, cpu);
}

static void note_ht(const struct ht_event *ev)
{
	struct task_state *task;

	if (ev->pid <= 0 || strncmp(ev->comm, "ht-", 3))
		return;
	task = task_of(ev->pid);
	if (task->is_ht || nr_ht_pids == MAX_HT_TASKS)
		return;
	task->is_ht = true;
	ht_pids[nr_ht_pids++] = ev->pid;
}

static ht_mask allowed(const struct ht_replay *replay, int pid)
{
	const struct task_state *task = task_of(pid);

	return (task->has_mask ? task->mask : ~0ULL) & replay->topo->usable;
}

/* CPUs of wholly idle cores that the task may use. */
static ht_mask free_cores(const struct ht_replay *replay, int pid)
{
	const struct ht_topo *topo = replay->topo;
	ht_mask may = allowed(replay, pid), busy = ht_replay_busy(replay);
	ht_mask found = 0;

	for (int i = 0; i < topo->nr_cores; i++)
		if (!(topo->core[i] & busy) && (topo->core[i] & may))
			found |= topo->core[i];
	return found;
}

static bool sibling_runs(const struct ht_replay *replay, int cpu)
{
	int other;

	ht_for_each_cpu(other, replay->topo->core_of[cpu] & ~HT_CPU(cpu))
		if (replay->curr[other])
			return true;
	return false;
}

static void show(struct machine *m, const char *what, const char *text)
{
	if (m->shown++ < SHOW_FAULTS)
		ht_note("%s: %s (event %lu, busy %#llx)", what, text,
			m->audit->events,
			(unsigned long long)ht_replay_busy(&m->replay));
}

/* INV-2: runs beside a busy thread though a whole core is idle. */
static bool shares_needlessly(const struct ht_replay *replay, int cpu)
{
	int pid = replay->curr[cpu];

	return pid > 0 && task_of(pid)->is_ht && sibling_runs(replay, cpu) &&
	       free_cores(replay, pid);
}

/* INV-3: waits though a CPU of the LLC is idle. */
static bool waits_needlessly(const struct ht_replay *replay, int pid)
{
	const struct task_state *task = task_of(pid);
	ht_mask may;
	int cpu;

	if (task->cpu < 0 || replay->curr[task->cpu] == pid)
		return false;
	may = allowed(replay, pid) & replay->topo->llc_of[task->cpu];
	ht_for_each_cpu(cpu, may)
		if (ht_replay_idle(replay, cpu))
			return true;
	return false;
}

/* A stretch ends with the first event after which it no longer holds. */
static void end_stretches(struct machine *m)
{
	struct ht_replay *replay = &m->replay;

	for (int i = 0; i < nr_ht_pids; i++) {
		struct task_state *task = task_of(ht_pids[i]);

		if (task->wait_ticks && !waits_needlessly(replay, ht_pids[i]))
			task->wait_ticks = 0;
		if (task->shared_ticks &&
		    (task->cpu < 0 || replay->curr[task->cpu] != ht_pids[i] ||
		     !shares_needlessly(replay, task->cpu))) {
			task->shared_ticks = 0;
			m->audit->separations++;
		}
	}
}

static void count_tick(struct machine *m, const struct ht_event *ev)
{
	struct ht_replay *replay = &m->replay;
	struct ht_audit *audit = m->audit;

	if (shares_needlessly(replay, ev->cpu)) {
		struct task_state *task = task_of(replay->curr[ev->cpu]);

		if (++task->shared_ticks > audit->inv2_worst)
			audit->inv2_worst = task->shared_ticks;
		if (task->shared_ticks == INV2_TICKS + 1) {
			audit->inv2_over++;
			show(m, "INV-2", ev->text);
		}
	}
	for (int i = 0; i < nr_ht_pids; i++) {
		struct task_state *task = task_of(ht_pids[i]);

		if (task->cpu != ev->cpu || !waits_needlessly(replay, ht_pids[i]))
			continue;
		if (++task->wait_ticks > audit->inv3_worst)
			audit->inv3_worst = task->wait_ticks;
		if (task->wait_ticks == INV3_TICKS + 1) {
			audit->inv3_over++;
			show(m, "INV-3", ev->text);
		}
	}
}

static void suspect_add(struct machine *m, const struct ht_event *ev,
			ht_mask cores)
{
	for (int i = 0; i < 8; i++) {
		struct suspect *s = &m->suspect[i];

		if (s->open)
			continue;
		*s = (struct suspect){
			.open = true, .pid = ev->pid, .free_cores = cores,
			.until = m->audit->events + LOOKAHEAD,
		};
		snprintf(s->text, sizeof(s->text), "%.250s", ev->text);
		return;
	}
	m->audit->mistakes++;
}

/* Somebody else turns up on the core that looked free: it was claimed. */
static void suspects_check(struct machine *m, const struct ht_event *ev)
{
	for (int i = 0; i < 8; i++) {
		struct suspect *s = &m->suspect[i];

		if (!s->open)
			continue;
		if (ev->pid > 0 && ev->pid != s->pid &&
		    ht_has(s->free_cores, ev->type == HT_EV_SWITCH ? ev->cpu :
					  ev->dst) &&
		    ev->type != HT_EV_TICK && ev->type != HT_EV_OTHER) {
			s->open = false;
			m->audit->excused++;
		} else if (m->audit->events > s->until) {
			s->open = false;
			m->audit->mistakes++;
			show(m, "mistake", s->text);
		}
	}
}

static void audit_placement(struct machine *m, const struct ht_event *ev)
{
	struct ht_replay *replay = &m->replay;
	ht_mask cores, others;
	int cpu = ev->dst;

	if (cpu < 0 || cpu >= HT_MAX_CPUS || !task_of(ev->pid)->is_ht)
		return;
	if (ht_count(allowed(replay, ev->pid)) < 2 || task_of(ev->pid)->cpu >= 0)
		return;
	m->audit->placements++;
	cores = free_cores(replay, ev->pid);
	others = replay->topo->core_of[cpu] & ht_replay_busy(replay);
	if (!strcmp(ev->why, "follow")) {
		/* It shares the waker's CPU; its core, only if none is near. */
		if (cpu != ev->cpu) {
			m->audit->mistakes++;
			show(m, "followed elsewhere", ev->text);
		}
		others &= ~HT_CPU(cpu);
		cores &= replay->topo->llc_of[cpu];
	}
	if (!others || !cores)
		return;
	if (!strcmp(ev->why, "prev_core") || !strcmp(ev->why, "idle_core"))
		m->audit->raced++;
	else if (!strcmp(ev->why, "warm"))
		m->audit->priced++;
	else if (ev->tries)
		m->audit->excused++;
	else
		suspect_add(m, ev, cores);
}

static void audit_mask(struct machine *m, const struct ht_event *ev, int cpu)
{
	struct task_state *task = task_of(ev->pid);

	if (!task->is_ht || !task->mask)
		return;
	m->audit->moves++;
	if (ht_has(task->mask, cpu))
		return;
	m->audit->outside++;
	show(m, "outside the mask", ev->text);
}

void ht_trace_mask(int pid, ht_mask mask)
{
	task_of(pid)->mask = mask;
	task_of(pid)->has_mask = true;
}

static void apply_mark(const struct ht_event *ev)
{
	unsigned long long mask;
	int pid;

	if (sscanf(ev->text, "htmask %d %llx", &pid, &mask) == 2)
		ht_trace_mask(pid, mask);
}

static void apply_switch(struct machine *m, const struct ht_event *ev)
{
	struct ht_replay *replay = &m->replay;

	if (!ev->prev_runs)
		set_runnable(replay, ev->prev_pid, -1);
	else if (task_of(ev->prev_pid)->cpu < 0)
		set_runnable(replay, ev->prev_pid, ev->cpu);
	set_current(replay, ev->cpu, ev->pid);
	audit_mask(m, ev, ev->cpu);
}

static void apply(struct machine *m, const struct ht_event *ev)
{
	struct ht_replay *replay = &m->replay;

	switch (ev->type) {
	case HT_EV_SWITCH:
		apply_switch(m, ev);
		break;
	case HT_EV_SELECT:
		/* The other kinds are about tasks that run, or do not yet. */
		if (strcmp(ev->kind, "wakeup") && strcmp(ev->kind, "sync") &&
		    strcmp(ev->kind, "fork"))
			return;
		audit_placement(m, ev);
		if (task_of(ev->pid)->cpu < 0)
			set_runnable(replay, ev->pid, ev->dst);
		return;
	case HT_EV_WAKEUP:
	case HT_EV_WAKEUP_NEW:
		if (!m->has_select)
			audit_placement(m, ev);
		audit_mask(m, ev, ev->dst);
		set_runnable(replay, ev->pid, ev->dst);
		break;
	case HT_EV_MIGRATE:
		audit_mask(m, ev, ev->dst);
		if (task_of(ev->pid)->cpu >= 0)
			set_runnable(replay, ev->pid, ev->dst);
		break;
	case HT_EV_TICK:
		if (!ev->resched)
			count_tick(m, ev);
		return;
	case HT_EV_MARK:
		apply_mark(ev);
		return;
	default:
		return;
	}
	end_stretches(m);
}

static void replay_line(struct machine *m, struct ht_event *ev, ht_event_fn fn,
			void *data)
{
	m->audit->events++;
	if (!ht_has(m->replay.known, ev->cpu) && ev->type != HT_EV_SWITCH)
		set_current(&m->replay, ev->cpu, ev->context);
	note_ht(ev);
	suspects_check(m, ev);
	if (fn)
		fn(ev, &m->replay, data);
	apply(m, ev);
}

/* HT_TRACE_SAVE names a file that gets a copy of the trace: for debugging. */
static FILE *save_file(void)
{
	const char *path = getenv("HT_TRACE_SAVE");

	return path ? fopen(path, "w") : NULL;
}

void ht_trace_replay(const struct ht_topo *topo, struct ht_audit *audit,
		     ht_event_fn fn, void *data)
{
	struct machine m = { .replay.topo = topo, .audit = audit };
	FILE *trace = fopen(TRACEFS "/trace", "r"), *save = save_file();
	struct ht_event ev;
	char *line = NULL;
	size_t size = 0;

	REQUIRE(trace, "trace: %s", strerror(errno));
	memset(audit, 0, sizeof(*audit));
	for (int pid = 0; pid < MAX_PID; pid++)
		tasks[pid].cpu = -1;
	m.has_select = ht_exists(TRACEFS "/events/sched_ht/sched_ht_select");
	while (getline(&line, &size, trace) > 0) {
		if (save)
			fputs(line, save);
		if (parse_line(line, &ev))
			replay_line(&m, &ev, fn, data);
	}
	for (int i = 0; i < 8; i++)
		audit->mistakes += m.suspect[i].open;
	audit->lost = lost_events(topo);
	memset(tasks, 0, sizeof(tasks));
	nr_ht_pids = 0;
	free(line);
	fclose(trace);
	if (save)
		fclose(save);
	ht_write(TRACEFS "/trace", "");
}

/* Verdicts */

void ht_audit_print(const struct ht_audit *a)
{
	ht_note("audit: %lu events, %lu lost; %lu placements, %lu mistakes, %lu raced, %lu excused, %lu priced; %lu moves, %lu outside; INV-2 worst %u ticks, %lu too long; INV-3 worst %u ticks, %lu too long",
		a->events, a->lost, a->placements, a->mistakes, a->raced,
		a->excused, a->priced, a->moves, a->outside, a->inv2_worst, a->inv2_over,
		a->inv3_worst, a->inv3_over);
	EXPECT(a->events && !a->lost, "trace is not complete");
}

/* A fair task may arrive between decision and arrival, but not often. */
void ht_audit_placement(const struct ht_audit *a)
{
	EXPECT(a->placements, "no placement was seen");
	EXPECT(!a->mistakes, "%lu of %lu placements beside a busy thread with a core idle",
	       a->mistakes, a->placements);
	EXPECT(a->raced * 50 <= a->placements + 50,
	       "%lu of %lu verdicts took a busy core for idle", a->raced,
	       a->placements);
}

void ht_audit_inv1(const struct ht_audit *a)
{
	EXPECT(a->moves, "no move was seen");
	EXPECT(!a->outside, "%lu of %lu moves outside the mask", a->outside,
	       a->moves);
}

void ht_audit_inv2(const struct ht_audit *a)
{
	EXPECT(!a->inv2_over, "beside a busy thread for up to %u ticks, %lu times longer than %u",
	       a->inv2_worst, a->inv2_over, INV2_TICKS);
}

void ht_audit_inv3(const struct ht_audit *a)
{
	EXPECT(!a->inv3_over, "waited for up to %u ticks with a CPU idle, %lu times longer than %u",
	       a->inv3_worst, a->inv3_over, INV3_TICKS);
}
