# SPDX-License-Identifier: GPL-2.0
"""The rows of the table: what is run, and what it measures.

A row has cases (such as a number of processes), each of which every column
runs. A row's methods are of two kinds: cases() and guest_s() are asked on the
host, before anything runs; run() runs on the machine that is measured and
returns metrics.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One number of a run. `better` is "higher", "lower" or "" (no verdict)."""
    name: str
    unit: str
    better: str = ""
    digits: int = 0


@dataclass(frozen=True)
class Machine:
    """What rows may depend on; of the machine with all its threads online."""
    name: str
    cpus: int
    cores: int


class Row:
    """Base of all rows."""
    name = ""
    group = ""
    title = ""
    metrics = ()
    # Machines of the emulator this row is for; () is the one asked for.
    topos = ()
    needs_database = False
    # Columns without which the row says little.
    always = ()
    # Columns that cannot run it.
    never = ()
    # Host seconds per guest second under emulation, where nothing was measured.
    host_s_per_guest_s = 2.0

    def cases(self, machine):
        raise NotImplementedError

    def guest_s(self, case, machine, seconds):
        """About how long one run takes on the machine itself."""
        raise NotImplementedError

    def run(self, ctx, case):
        """Returns {metric name: number}, through ctx (agent.Context)."""
        raise NotImplementedError


class RowError(Exception):
    """A run that gave no result; the text says why."""


def tag(job):
    """What the labels of a run's marked phases begin with."""
    return f"{job['row']}/{job['case']}/{job['column']}/{job['run']}/"


def whole(seconds):
    """For programs that count whole seconds."""
    return max(1, round(seconds))


def levels(count, parts):
    """Task counts at these parts of count, at least 1, each once."""
    out = []
    for part in parts:
        tasks = max(1, round(count * part))
        if tasks not in out:
            out.append(tasks)
    return out


def all_rows():
    """Every row by name, in the table's order."""
    # Here, since they import this module.
    from . import rows_openssl, rows_pgbench, rows_unix, rows_classics, rows_placement
    modules = (rows_openssl, rows_pgbench, rows_unix, rows_classics, rows_placement)
    return {row.name: row for module in modules for row in module.ROWS}


def select(words, rows):
    """[(row, cases or None)] for words such as S1, S6/pipe, classics, all."""
    out = {}
    for word in words:
        name, _, case = word.partition("/")
        found = [r for r in rows.values()
                 if name == "all" or name.lower() in (r.name.lower(), r.group.lower())]
        if not found:
            groups = sorted({r.group for r in rows.values()})
            raise ValueError(f"no row '{name}'; there are: {', '.join(rows)}; "
                             f"groups: {', '.join(groups)}, all")
        for row in found:
            old = out.setdefault(row.name, set())
            if case and old is not None:
                old.add(case)
            elif not case:
                out[row.name] = None
    return [(row, out[row.name]) for row in rows.values() if row.name in out]
