# SPDX-License-Identifier: GPL-2.0
"""The list of runs a bench is made of."""


def row_columns(row, columns):
    """The columns asked for and those the row needs, without those it cannot have."""
    from . import columns as table
    names = [c.name for c in columns]
    extra = [name for name in row.always if name not in names]
    return [c for c in list(columns) + table.find(extra, {}) if c.name not in row.never]


def row_topos(row, topos, default):
    """Machines for a row: those asked for, else its own, else the default."""
    return topos or list(row.topos) or [default]


def make(selection, columns, topos, machines, runs, vm=True):
    """One dictionary per run. A guest that needs kernel parameters is one of its own. Columns take turns within a case, so that what
    changes over time falls on all of them; selection: [(row, cases or None)]."""
    out = []
    for run in range(1, runs + 1):
        for row, wanted in selection:
            for topo in topos(row):
                cases = row.cases(machines[topo])
                for case in cases if wanted is None else [c for c in cases if c in wanted]:
                    out += [{"topo": topo, "row": row.name, "case": case, "column": c.name,
                             "kernel": c.kernel or "", "boot": c.boot if vm else "", "run": run}
                            for c in row_columns(row, columns)]
    return out


def unknown_cases(selection, topos, machines):
    """Words "row/case" that no machine has."""
    out = []
    for row, wanted in selection:
        have = {case for topo in topos(row) for case in row.cases(machines[topo])}
        out += [f"{row.name}/{case}" for case in sorted((wanted or set()) - have)]
    return out
