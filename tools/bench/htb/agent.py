# SPDX-License-Identifier: GPL-2.0
"""Runs on the machine that is measured: a list of jobs, one line for each.

Usage: python3 -m htb.agent JOBS.json

Standard output has JSON objects, one a line: {"type": "machine"|"skip"|"start"|
"run", ...}. A job that fails gives a "run" with status "fail" and its reason;
the next goes on. What programs print themselves goes nowhere else.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

from . import columns, rows

CPU_DIR = "/sys/devices/system/cpu"
APPLETS = ("sh", "sort", "grep", "od", "tr", "uniq", "tail", "rm")


def say(record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


class Context:
    """What a row's run() works with."""

    def __init__(self, plan, work):
        self.plan, self.work = plan, work
        self.seconds = plan["seconds"]
        self.load, self.bin = plan["load"], os.path.join(work, "bin")
        self.traces = plan["traces"]
        self.machine = rows.Machine(**plan["machine"])
        self.job = self.setting = None
        self.attached = {}
        self.seen = set()
        self.project = plan["project"]

    # About the column

    def prefix(self):
        return self.setting.prefix()

    # Files

    def file_name(self, case):
        parts = [self.machine.name, self.job["row"], case, self.job["column"],
                 str(self.job["run"])]
        return "-".join(p.replace("/", "_") for p in parts)

    def attach(self, name, value):
        """Beside the metrics, for the host."""
        self.attached[name] = value

    @staticmethod
    def topology():
        """{cpu: its core's first CPU}, of the CPUs that are online."""
        out = {}
        for cpu in columns.online_cpus():
            siblings = columns.read(f"{CPU_DIR}/cpu{cpu}/topology/thread_siblings_list")
            out[cpu] = int(siblings.replace("-", ",").split(",")[0])
        return out

    # Programs

    def program(self, name):
        """A load, from memory: a guest asks its host at each open of a file."""
        return self.in_memory(os.path.join(self.load, name))

    def source(self, name):
        return self.in_memory(os.path.join(os.path.dirname(self.load), name))

    def in_memory(self, path):
        copy = os.path.join(self.bin, os.path.basename(path))
        if not os.path.exists(copy):
            os.makedirs(self.bin, exist_ok=True)
            shutil.copy(path, copy)
        return copy

    def small_system(self):
        """PATH of a directory in memory with what shell scripts use."""
        busybox = shutil.which("busybox")
        if not busybox:
            raise rows.RowError("busybox is not installed ('make deps' does it)")
        program = self.in_memory(busybox)
        path = os.path.join(self.work, "applets")
        os.makedirs(path, exist_ok=True)
        for name in APPLETS:
            if not os.path.lexists(os.path.join(path, name)):
                os.symlink(program, os.path.join(path, name))
        return path

    def first_time(self, case):
        """Whether this boot has not run the row's case yet."""
        key = self.job["row"], case
        fresh = key not in self.seen
        self.seen.add(key)
        return fresh

    def label(self, phase):
        return rows.tag(self.job) + phase

    def mark(self, edge, phase):
        subprocess.run([self.program("phase"), "-m", f"{edge}:{self.label(phase)}"], check=True)

    def run(self, command, *, phase=None, timeout=None, **kwargs):
        """Runs a load under the column; with a name, as a marked phase.

        Returns (standard output, nanoseconds of the phase).
        """
        timeout = timeout or 120 + 30 * self.seconds
        argv = [*self.prefix(), *command]
        if phase is None:
            return self.plain(argv, timeout, **kwargs), None
        with tempfile.NamedTemporaryFile(dir=self.work) as note:
            argv = [self.program("phase"), "-o", note.name, self.label(phase), *argv]
            out = self.plain(argv, timeout, **kwargs)
            return out, int(note.read())

    def plain(self, argv, timeout=120, **kwargs):
        """Runs something that is not measured; its standard output."""
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, errors="replace",
                                  timeout=timeout, check=False,
                                  **{"cwd": self.work, **kwargs})
        except subprocess.TimeoutExpired as e:
            raise rows.RowError(f"{argv[0]} did not end within {timeout:.0f} s") from e
        except OSError as e:
            raise rows.RowError(f"{argv[0]}: {e.strerror}") from e
        if done.returncode:
            why = (done.stderr.strip() or done.stdout.strip())[-300:]
            raise rows.RowError(f"{' '.join(argv[:6])}: status {done.returncode}: {why}")
        return done.stdout


def describe():
    """The machine, for the record."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        models = [line.partition(":")[2].strip() for line in f if line.startswith("model name")]
    return {"release": platform.release(), "version": platform.version(),
            "cpu_model": models[0] if models else platform.machine(),
            "cpus": len(columns.online_cpus()),
            "cores": len(set(Context.topology().values())),
            "clocksource": columns.read(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource")}


def quieten():
    """Measure the class, not the checker that some kernels run beside it."""
    check = "/sys/kernel/debug/sched_ht/check"
    if os.access(check, os.W_OK):
        columns.write(check, 0)


class Agent:
    """Works through the jobs, switching columns only where they change."""

    def __init__(self, plan, work):
        self.plan = plan
        self.rows = rows.all_rows()
        self.ctx = Context(plan, work)
        self.settings = {}
        self.unavailable = {}
        self.current = None
        kernels = [] if plan["kernel"] == "" else [plan["kernel"]]
        for column in columns.find([c for c in plan["columns"] if c not in kernels], kernels):
            self.settings[column.name] = columns.Setting(
                column, self.ctx.program("htctl/htctl"), plan["scx_programs"])

    def switch_to(self, name):
        if self.current == name:
            return
        self.leave()
        self.settings[name].enter()
        self.current = name

    def leave(self):
        if self.current:
            self.settings[self.current].leave()
            self.current = None

    def skip(self, job, reason):
        if job["column"] not in self.unavailable:
            self.unavailable[job["column"]] = reason
            say({"type": "skip", "column": job["column"], "reason": reason})

    def one(self, job):
        if job["column"] in self.unavailable:
            return
        try:
            self.switch_to(job["column"])
        except columns.Unavailable as e:
            self.skip(job, str(e))
            return
        say({"type": "start", "job": job})
        self.ctx.job, self.ctx.setting = job, self.settings[job["column"]]
        self.ctx.attached = {}
        began = time.monotonic()
        record = {"type": "run", "job": job, "status": "ok"}
        try:
            record["metrics"] = self.rows[job["row"]].run(self.ctx, job["case"])
        except (rows.RowError, OSError, subprocess.SubprocessError, ValueError) as e:
            record.update(status="fail", reason=str(e), metrics={})
        record.update(self.ctx.attached, guest_s=round(time.monotonic() - began, 3))
        say(record)

    def work(self):
        say({"type": "machine", **describe()})
        quieten()
        try:
            for job in self.plan["jobs"]:
                self.one(job)
        finally:
            self.leave()


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        plan = json.load(f)
    os.makedirs(plan["traces"], exist_ok=True)
    work = tempfile.mkdtemp(prefix="htbench.", dir="/dev/shm")
    # The database's server runs as another user.
    os.chmod(work, 0o755)
    try:
        Agent(plan, work).work()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
