# SPDX-License-Identifier: GPL-2.0
"""What schedulers are usually tried with."""

import os
import shutil

from .outputs import BOGO, SIMPLE, number, pairs
from .rows import Metric, Row, RowError, levels, whole

PARTS_OF_CORES = (0.25, 0.5, 1, 1.5, 2)


class HackbenchRow(Row):
    """perf bench sched messaging: groups of 20 senders and 20 receivers."""
    name = "hackbench"
    group = "classics"
    title = "perf bench sched messaging, groups of 20 senders and 20 receivers"
    metrics = (Metric("time_s", "s", "lower", 3),
               Metric("kernel_insns_per_op", "kernel instructions/message", "lower"))
    host_s_per_guest_s = 8.0
    kinds = {"pipe-process": ["-p"], "pipe-thread": ["-p", "-t"], "socket-process": [],
             "socket-thread": ["-t"]}

    def cases(self, machine):
        return list(self.kinds)

    def guest_s(self, case, machine, seconds):
        return 1.2 * seconds + 0.5

    def run(self, ctx, case):
        groups, loops = max(1, ctx.machine.cpus // 4), max(5, int(150 * ctx.seconds))
        command = ["perf", "bench", "-f", "simple", "sched", "messaging", *self.kinds[case],
                   "-g", str(groups), "-l"]
        if ctx.first_time(case):
            ctx.run([*command, "1"])
        out, _ = ctx.run([*command, str(loops)], phase="main")
        ctx.attach("ops", {"main": groups * 20 * 20 * loops})
        return {"time_s": number(SIMPLE, out, "perf bench")}


class WakeupRow(Row):
    """load/wakelat.c: requests of 1 ms to sleeping workers."""
    name = "wakeup"
    group = "classics"
    title = "requests of 1 ms to sleeping workers, by workers in % of cores"
    metrics = (Metric("wakeup_p99_us", "us, wakeup, 99 %", "lower", 1),
               Metric("wakeup_p50_us", "us, wakeup, median", "lower", 1),
               Metric("request_p50_us", "us, request, median", "lower", 0),
               Metric("request_p99_us", "us, request, 99 %", "lower", 0),
               Metric("requests_per_s", "requests/s", "higher"))
    host_s_per_guest_s = 2.5
    pcts = (25, 50, 100, 200)

    def workers(self, case, machine):
        return max(1, round(machine.cores * int(case[5:-1]) / 100))

    def cases(self, machine):
        # 25 % of two cores are one worker like 50 %, which is what it is called.
        by_workers = {self.workers(case, machine): case
                      for case in (f"load={pct}%" for pct in self.pcts)}
        return list(by_workers.values())

    def guest_s(self, case, machine, seconds):
        return whole(seconds) + 0.5

    def run(self, ctx, case):
        out, _ = ctx.run([ctx.program("wakelat"), str(self.workers(case, ctx.machine)), "1000",
                          "300", str(whole(ctx.seconds))], phase="main")
        return pairs(out)


class StressRow(Row):
    """One of stress-ng's CPU stressors in several processes."""
    group = "classics"
    metrics = (Metric("bogo_per_s", "bogo op/s", "higher", 1),)
    host_s_per_guest_s = 2.0

    def __init__(self, name, title, options):
        self.name, self.title, self.options = name, title, options

    def cases(self, machine):
        return [f"tasks={n}" for n in levels(machine.cores, PARTS_OF_CORES)]

    def guest_s(self, case, machine, seconds):
        return whole(seconds) + 0.5

    def run(self, ctx, case):
        tasks = case.partition("=")[2]
        first, *rest = self.options
        out, _ = ctx.run(["stress-ng", first, tasks, *rest, "-t", f"{whole(ctx.seconds)}s",
                          "--metrics-brief", "--stdout"], phase="main")
        return {"bogo_per_s": number(BOGO, out, "stress-ng")}


class NiceRow(Row):
    """load/hogs.c: one hog of nice 0 and one of nice 10 for each CPU."""
    name = "nice"
    group = "classics"
    title = "hogs of nice 0 and nice 10, one each per CPU"
    metrics = (Metric("turns_per_s", "turns/s of all", "higher"),
               Metric("share_nice_10", "% for nice 10", "", 2))
    host_s_per_guest_s = 2.0

    def cases(self, machine):
        return ["mixed"]

    def guest_s(self, case, machine, seconds):
        return whole(seconds) + 0.5

    def run(self, ctx, case):
        hogs = ["0", "10"] * ctx.machine.cpus
        out, _ = ctx.run([ctx.program("hogs"), str(whole(ctx.seconds)), *hogs], phase="main")
        return pairs(out)


class CompileRow(Row):
    """A small C project: the library of htctl, not optimised."""
    name = "compile"
    group = "classics"
    title = "compile a small C library (make -j, gcc -O0)"
    metrics = (Metric("time_s", "s", "lower", 2),)
    host_s_per_guest_s = 15.0

    def cases(self, machine):
        return [f"jobs={n}" for n in levels(machine.cores, (1, 2))]

    def guest_s(self, case, machine, seconds):
        return 3.0

    def run(self, ctx, case):
        if ctx.first_time(""):
            self.build(ctx, ctx.machine.cpus, None)
        return {"time_s": self.build(ctx, int(case.partition("=")[2]), "main") / 1e9}

    @staticmethod
    def build(ctx, jobs, phase):
        out = os.path.join(ctx.work, "compile")
        shutil.rmtree(out, ignore_errors=True)
        command = ["make", "-s", "-j", str(jobs), "-C", ctx.project, f"O={out}", "CFLAGS=-O0"]
        try:
            _, took_ns = ctx.run(command, phase=phase, timeout=600)
            if not os.path.exists(os.path.join(out, "libht.a")):
                raise RowError("make left no libht.a")
        finally:
            shutil.rmtree(out, ignore_errors=True)
        return took_ns


ROWS = (HackbenchRow(), WakeupRow(),
        StressRow("stress-cpu", "stress-ng --cpu (int64)", ["--cpu", "--cpu-method", "int64"]),
        StressRow("stress-matrix", "stress-ng --matrix (prod)",
                  ["--matrix", "--matrix-method", "prod"]),
        NiceRow(), CompileRow())
