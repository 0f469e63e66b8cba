# SPDX-License-Identifier: GPL-2.0
"""Starts the agent, in a guest or right here, and keeps what it says."""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict

from . import audit, counters, estimate, results, rows
from .scripts import TOP

BENCH = TOP / "tools" / "bench"
VM = TOP / "scripts" / "vm"
SKIPPED = 77
# In a guest the system's own, which starts fastest.
PYTHON = "/usr/bin/python3"
MEM_MB = {4: 2048, 16: 3072}


class BenchError(Exception):
    """The bench cannot go on; the text is for the user."""


def group(jobs):
    """Jobs by boot, order kept: (topo, kernel, parameters) -> jobs."""
    out = defaultdict(list)
    for job in jobs:
        out[job["topo"], job["kernel"], job["boot"]].append(job)
    return out


class Collector:
    """Turns the agent's lines into records of the result file."""

    def __init__(self, bench, reader):
        self.bench, self.reader = bench, reader
        self.about = {}
        self.started = None     # the job that runs
        self.began = 0.0
        self.seen = set()       # jobs that ended, and columns skipped
        self.skipped = {}

    def line(self, text):
        try:
            said = json.loads(text)
            kind = said.pop("type")
        except (ValueError, KeyError, AttributeError):
            raise BenchError(f"the agent said something unexpected: {text.strip()!r}") from None
        if kind == "machine":
            self.about = said
        elif kind == "skip":
            self.skipped[said["column"]] = said["reason"]
            self.bench.skip(said["column"], said["reason"])
        elif kind == "start":
            self.started, self.began = said["job"], time.monotonic()
        elif kind == "run":
            self.run(said)

    def run(self, said):
        job = said.pop("job")
        said["host_s"] = round(time.monotonic() - self.began, 3)
        try:
            self.reader.apply(said, rows.tag(job))
            audit.apply(said, self.bench.traces)
        except (ValueError, OSError, KeyError) as e:
            said.update(status="fail", reason=f"what it recorded is no good: {e}")
        said.pop("audit", None)
        self.keep(job, said)
        self.started = None

    def keep(self, job, said):
        self.seen.add(identity(job))
        self.bench.keep({**job, **said, "release": self.about.get("release"),
                         "host": self.about})

    def died(self, reason):
        """The job that ran when the guest went down has failed."""
        if self.started:
            self.keep(self.started, {"status": "fail", "metrics": {}, "reason": reason})
            self.started = None
            return True
        return False

    def left(self, jobs):
        return [j for j in jobs
                if identity(j) not in self.seen and j["column"] not in self.skipped]


def identity(job):
    return (job["topo"], job["row"], job["case"], job["column"], job["run"])


class Bench:
    """One `htbench run`: jobs, where results go, how guests are started."""

    def __init__(self, options, rows, machines, scx_programs):
        self.o, self.rows, self.machines = options, rows, machines
        self.scx_programs = scx_programs
        self.traces = os.path.join(options.out, "traces")
        self.file = results.ResultFile(os.path.join(options.out, "results.jsonl"))
        self.counts = {"ok": 0, "fail": 0}
        self.skips = {}
        self.total = 0

    # Results

    def keep(self, record):
        record = {"machine": self.o.machine, "commit": self.o.commit, "model": self.o.model_text,
                  "seconds": self.o.seconds, "kernel_id": self.o.kernel_ids[record["kernel"]],
                  "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **record}
        self.file.append(record)
        self.counts[record["status"]] += 1
        self.show(record)

    def show(self, r):
        row = self.rows[r["row"]]
        if r["status"] == "ok":
            first = row.metrics[0]
            text = f"{r['metrics'].get(first.name, float('nan')):.{first.digits}f} {first.unit}"
            text += f"  ({r['host_s']:.0f} s)"
        else:
            text = f"FAILED: {r['reason']}"
        done = sum(self.counts.values())
        print(f"[{done}/{self.total}] {r['topo']} {r['row']}/{r['case']} {r['column']} "
              f"run {r['run']}: {text}", flush=True)

    def skip(self, column, reason):
        if self.skips.get(column) != reason:
            self.skips[column] = reason
            print(f"SKIP column {column}: {reason}", flush=True)
        # The table says so, too; it never counts as done.
        self.file.append({"machine": self.o.machine, "status": "skip", "column": column,
                          "reason": reason, "model": self.o.model_text})

    # Running

    def run(self, jobs):
        self.total = len(jobs)
        os.makedirs(self.traces, exist_ok=True)
        for some in group(jobs).values():
            self.run_group(some)

    def run_group(self, jobs):
        """Boots again after a guest that went down, without the job that ran."""
        stuck = 0
        while jobs:
            before = len(jobs)
            jobs = self.boot(jobs)
            stuck = stuck + 1 if len(jobs) == before else 0
            if stuck == 2:
                raise BenchError(f"{jobs[0]['topo']}: the guest does not get to its first run")

    def plan(self, jobs):
        path = os.path.join(self.o.out, "plan.json")
        plan = {"jobs": jobs, "seconds": self.o.seconds, "kernel": jobs[0]["kernel"],
                "columns": list(dict.fromkeys(j["column"] for j in jobs)),
                "machine": vars(self.machines[jobs[0]["topo"]]), "traces": self.traces,
                "load": str(BENCH / "load" / "build"), "project": str(TOP / "tools" / "lib" / "ht"),
                "scx_programs": self.scx_programs, "database": self.o.database}
        with open(path, "w", encoding="utf-8") as f:
            json.dump(plan, f)
        return path

    def vm_command(self, jobs, marks):
        topo, kernel, boot = next(iter(group(jobs)))
        machine = self.machines[topo]
        spent = sum(estimate.host_seconds(jobs, self.rows, self.machines, self.o.seconds, {},
                                          True).values())
        mem = next((mb for cpus, mb in MEM_MB.items() if machine.cpus <= cpus), 4096)
        command = [str(VM), "--quiet", "--kernel", self.o.kernels[kernel], "--topo", topo,
                   "--mem", str(mem), "--append", f"noautogroup {boot}", "--rw", self.o.out,
                   "--timeout", str(int(900 + 6 * spent)), "--log",
                   os.path.join(self.o.out, "console.log"),
                   "--env", f"PYTHONPATH={BENCH}", "--env", "PYTHONDONTWRITEBYTECODE=1"]
        if self.o.clock == "smtvm":
            model = ",".join(self.o.model)
            command += [f"--smtvm={model}" if model else "--smtvm", "--smtvm-out", marks]
        elif self.o.clock == "icount":
            command += ["--icount"]
        return command

    def boot(self, jobs):
        """Runs one agent; the jobs that are still to do."""
        topo = jobs[0]["topo"]
        plan = self.plan(jobs)
        marks = os.path.join(self.o.out, "marks.jsonl") if self.o.clock == "smtvm" else None
        if marks and os.path.exists(marks):
            os.unlink(marks)
        agent = [PYTHON if self.o.vm and os.path.exists(PYTHON) else sys.executable,
                 "-m", "htb.agent", plan]
        command = agent
        if self.o.vm:
            command = self.vm_command(jobs, marks) + ["--", *agent]
        collector = Collector(self, counters.Reader(marks))
        env = {**os.environ, "PYTHONPATH": str(BENCH), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, env=env) as process:
            try:
                for line in process.stdout:
                    collector.line(line)
                status = process.wait()
            except BaseException:
                process.terminate()
                raise
        if status == SKIPPED:
            for column in dict.fromkeys(j["column"] for j in jobs):
                self.skip(column, f"this QEMU cannot make topology {topo}")
            return []
        if status and not collector.died(f"the machine went down under it (status {status})"):
            print(f"{topo}: the machine ended with status {status}", file=sys.stderr)
        return collector.left(jobs)
