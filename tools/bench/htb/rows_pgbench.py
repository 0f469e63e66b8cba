# SPDX-License-Identifier: GPL-2.0
"""S2, S3, S5: pgbench and its server on one machine, data in memory."""

import os
import re
import shutil
import subprocess
import time

from . import database
from .outputs import number
from .rows import Metric, Row, RowError, whole

TPS = re.compile(r"^tps = ([0-9.]+) \(without", re.M)
COUNT = re.compile(r"^number of transactions actually processed: (\d+)", re.M)
LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.M)
SCRIPTS = {"select": ["-n", "-S"], "tpcb": ["-b", "tpcb-like"], "cached": ["-n", "-S"]}


class Server:
    """A server under the column's policy; its backends inherit it."""

    def __init__(self, ctx):
        have = ctx.plan["database"]
        if "missing" in have:
            raise RowError(have["missing"])
        self.ctx, self.bin = ctx, have["bin"]
        self.dir = os.path.join(ctx.work, "pg")
        if not os.path.isdir(self.dir):
            os.makedirs(self.dir)
            shutil.chown(self.dir, database.USER, database.USER)
            ctx.plain(["tar", "-C", self.dir, "-xf", have["tar"]], 600)
        self.process = None

    def __enter__(self):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [*self.ctx.prefix(), *database.as_user([f"{self.bin}/postgres", "-D",
                                                    f"{self.dir}/data", "-k", self.dir])],
            cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            self.await_ready()
        except RowError:
            self.stop()
            raise
        return self

    def await_ready(self):
        ready = [f"{self.bin}/pg_isready", "-q", "-h", self.dir]
        for _ in range(300):
            if self.process.poll() is not None:
                raise RowError(f"the server ended with status {self.process.returncode}")
            if subprocess.run(ready, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise RowError("the server was not ready within 30 s")

    def stop(self):
        # SIGINT: the fast shutdown.
        self.process.send_signal(2)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()


class PgbenchRow(Row):
    """Clients and their server processes; case KIND-CLIENTS."""
    needs_database = True
    metrics = (Metric("tps", "transactions/s", "higher"),
               Metric("latency_ms", "ms, average", "lower", 3),
               Metric("kernel_insns_per_op", "kernel instructions/transaction", "lower"))
    host_s_per_guest_s = 45.0

    def __init__(self, name, title, kinds, clients, topos=(), always=()):
        self.name = self.group = name
        self.title, self.kinds, self.clients = title, kinds, clients
        self.topos, self.always = topos, always

    def cases(self, machine):
        return [f"{kind}-{n}" for kind in self.kinds for n in self.clients(machine)]

    def guest_s(self, case, machine, seconds):
        return max(0.2, seconds) + 1.2

    @staticmethod
    def length(seconds, clients):
        """pgbench counts whole seconds; below one it gets a number of transactions
        per client that takes about as long at 1e9 instructions a second."""
        if seconds >= 1:
            return ["-T", str(whole(seconds))]
        return ["-t", str(max(20, int(8000 * seconds / clients)))]

    @staticmethod
    def command(ctx, kind, clients, length):
        script = SCRIPTS.get(kind) or ["-n", "-f", ctx.source("waiting.sql"),
                                       "-D", f"scale={database.SCALE}"]
        return ["pgbench", *script, "-c", str(clients), "-j", str(clients), *length]

    def run(self, ctx, case):
        kind, count = case.split("-")
        clients = int(count)
        with Server(ctx) as server:
            reach = ["-h", server.dir, "-U", database.USER, "postgres"]
            # Fills the caches of a server that has just started.
            ctx.run([*self.command(ctx, kind, clients, ["-t", "50"]), *reach])
            length = self.length(ctx.seconds, clients)
            out, _ = ctx.run([*self.command(ctx, kind, clients, length), *reach], phase="main")
        ctx.attach("ops", {"main": int(number(COUNT, out, "pgbench"))})
        return {"tps": number(TPS, out, "pgbench"), "latency_ms": number(LATENCY, out, "pgbench")}


def sweep(machine):
    """From one client to twice the CPUs."""
    parts = (0.25, 0.5, 0.75, 1, 1.5, 2)
    return sorted({1, *(max(1, round(machine.cpus * p)) for p in parts)})


ROWS = (
    PgbenchRow("S2", "pgbench, as many server processes as clients", ("select", "tpcb"),
               lambda machine: (1, 2, 3, 4, 8)),
    PgbenchRow("S3", "pgbench on the machines of the seed's second report", ("select", "tpcb"),
               lambda machine: (machine.cores, machine.cpus), topos=("1x4x2", "dual-xeon")),
    PgbenchRow("S5", "pgbench -S by load, data cached, or 2 ms of waiting in each transaction",
               ("cached", "waiting"), sweep, always=("nosmt",)),
)
