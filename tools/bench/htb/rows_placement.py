# SPDX-License-Identifier: GPL-2.0
"""Placement: where tasks go while a core idles, and how soon that is mended."""

from .outputs import pairs
from .rows import Metric, Row

TIMES = (Metric("median_ms", "ms, median", "lower", 3), Metric("worst_ms", "ms, worst", "lower", 2),
         Metric("never_pct", "% not within 250 ms", "lower", 1))
WAKE = (Metric("beside_pct", "% of wakeups beside a busy thread", "lower", 1),
        Metric("stays_pct", "% still there after 200 us", "lower", 1))
CROWD = (Metric("idle_core_pct", "% of rounds that leave a core idle", "lower", 1),
         Metric("settled_pct", "% still after 300 us", "lower", 1))


class PlacementRow(Row):
    """One scene of load/place.c, many rounds a run."""
    group = "placement"
    never = ("nosmt",)

    def __init__(self, name, title, metrics, round_s, pace):
        self.name, self.title, self.metrics = name, title, metrics
        self.round_s, self.host_s_per_guest_s = round_s, pace

    def cases(self, machine):
        return ["-"] if machine.cpus > machine.cores > 1 else []

    def rounds(self, seconds):
        return max(5, int(seconds / self.round_s))

    def guest_s(self, case, machine, seconds):
        return self.rounds(seconds) * self.round_s + 0.5

    def run(self, ctx, case):
        out, _ = ctx.run([ctx.program("place"), self.name, str(self.rounds(ctx.seconds))])
        return pairs(out)


ROWS = (
    PlacementRow("release", "two hogs on one core, let go: until they use two", TIMES, 0.03, 2),
    PlacementRow("leave", "two hogs on one core, another core falls idle: until one moves",
                 TIMES, 0.08, 2.5),
    PlacementRow("wake-beside", "wakeups whose previous CPU is beside a busy thread", WAKE,
                 0.003, 4),
    PlacementRow("crowd-futex", "as many tasks as cores woken by one call", CROWD, 0.004, 4),
    PlacementRow("crowd-timer", "as many tasks as cores woken by timers at one moment", CROWD,
                 0.007, 4),
)
