# SPDX-License-Identifier: GPL-2.0
"""S6: what a switch, a fork, an exec cost.

Each case is a command that does a number of operations and says how fast it
was. It runs with two numbers: instructions per operation come from the
difference, so that starting and ending the command does not count.
"""

import re
from collections import namedtuple

from .outputs import BOGO, SIMPLE, number
from .rows import Metric, Row

NS_PER_OP = re.compile(r"^\S+ ([0-9.]+)$", re.M)

# command: from (ctx, count) to arguments; ops: how many operations count makes;
# rate: count per second, roughly, at 1e9 instructions a second; speed: from
# (count, output, ns of the phase) to operations per second.
Op = namedtuple("Op", "about command ops rate speed")


def same(count):
    return count


def with_warm_up(count):
    """bench/cost.c runs a tenth more, outside its time."""
    return count + count // 10 + 1


def says_seconds(count, text, _):
    return count / number(SIMPLE, text, "perf bench")


def says_ns_per_op(_, text, __):
    return 1e9 / number(NS_PER_OP, text, "the load")


def says_bogo(_, text, __):
    return number(BOGO, text, "stress-ng")


def took(count, _, ns):
    return 1e9 * count / ns


OPS = {
    "pipe": Op("perf bench sched pipe, round trips, two processes",
               lambda ctx, n: ["perf", "bench", "-f", "simple", "sched", "pipe", "-l", str(n)],
               same, 40000, says_seconds),
    "pipe-one-cpu": Op("pipe round trips, both on one CPU",
                       lambda ctx, n: ["taskset", "-c", "0", *OPS["pipe"].command(ctx, n)],
                       same, 60000, says_seconds),
    "switch": Op("stress-ng --switch, switches",
                 lambda ctx, n: ["stress-ng", "--switch", "1", "--switch-ops", str(n),
                                 "--metrics-brief", "--stdout"], same, 60000, says_bogo),
    "fork": Op("fork, exit, wait", lambda ctx, n: [ctx.program("cost"), "fork", str(n)],
               with_warm_up, 3000, says_ns_per_op),
    "exec": Op("a program replaces itself",
               lambda ctx, n: [ctx.program("unixops"), "exec", str(n)],
               same, 1500, says_ns_per_op),
    "scripts8": Op("8 shell scripts at once, rounds",
                   lambda ctx, n: ["env", f"PATH={ctx.small_system()}",
                                   f"{ctx.small_system()}/sh", ctx.source("scripts8.sh"), str(n)],
                   same, 8, took),
    "copy": Op("256 KiB between files in memory, 1 KiB blocks",
               lambda ctx, n: [ctx.program("unixops"), "copy", str(n)],
               same, 1000, says_ns_per_op),
    "arith": Op("1000 dependent double operations",
                lambda ctx, n: [ctx.program("unixops"), "arith", str(n)],
                same, 300000, says_ns_per_op),
}


class UnixRow(Row):
    """Operations of one kind after the other, each kind one case."""
    name = "S6"
    group = "S6"
    title = "switch, fork, exec, scripts, copy, arithmetic"
    metrics = (Metric("ops_per_s", "op/s", "higher"),
               Metric("kernel_insns_per_op", "kernel instructions/op", "lower"))
    host_s_per_guest_s = 15.0

    def cases(self, machine):
        return list(OPS)

    @staticmethod
    def counts(case, seconds):
        big = max(10, int(OPS[case].rate * seconds))
        return max(1, big // 8), big

    def guest_s(self, case, machine, seconds):
        return 1.3 * seconds + 0.5

    def run(self, ctx, case):
        op, ops = OPS[case], {}
        small, big = self.counts(case, ctx.seconds)
        if ctx.first_time(case):
            # The emulated machine reads programs from the host the first time.
            ctx.run(op.command(ctx, small))
        for count, phase in ((small, "small"), (big, "main")):
            text, ns = ctx.run(op.command(ctx, count), phase=phase)
            ops[phase] = op.ops(count)
        ctx.attach("ops", ops)
        return {"ops_per_s": op.speed(big, text, ns)}


ROWS = (UnixRow(),)
