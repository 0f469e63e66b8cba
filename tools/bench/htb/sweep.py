# SPDX-License-Identifier: GPL-2.0
"""Sweeps: what a load makes of each value of a tunable, one tunable at a time.

Each is run where it can matter: what is paid for leaving a cache on a machine
that has two of that kind, the slice where more tasks are than CPUs.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass

from . import columns, jobs, plot, results, rows, stats, table


@dataclass(frozen=True)
class Sweep:
    """A tunable without its sched_ht_, its default among the values, and a load."""
    name: str
    default: int
    values: tuple
    row: str
    case: str
    topo: str

    def column(self, value):
        return table.HT if value == self.default else f"{table.HT}:{self.name}={value}"


SWEEPS = (
    Sweep("wake_ns", 15000, (0, 5000, 10000, 15000, 30000, 60000), "S2", "select-2", "1x2x2"),
    Sweep("smt_yield_pct", 55, (10, 30, 55, 80, 100), "S2", "select-3", "1x2x2"),
    Sweep("refill_core_us", 40, (0, 10, 40, 160, 640), "S2", "select-3", "1x2x2"),
    Sweep("fill_core_us", 200, (12, 50, 200, 800, 3200), "S2", "select-3", "1x2x2"),
    Sweep("refill_llc_us", 250, (0, 60, 250, 1000, 4000), "S2", "select-4", "two-llc"),
    Sweep("fill_llc_us", 2000, (125, 500, 2000, 8000, 32000), "S2", "select-4", "two-llc"),
    Sweep("pair_ns", 2000, (0, 500, 2000, 8000, 32000), "S2", "select-4", "two-llc"),
    Sweep("refill_node_us", 250, (0, 60, 250, 1000, 4000), "S2", "select-4", "numa-2"),
    Sweep("slice_us", 3000, (100, 300, 1000, 3000, 10000, 30000), "wakeup", "load=200%",
          "1x2x2"),
)


def select(names):
    """The sweeps of these tunables, or all of them."""
    known = {s.name: s for s in SWEEPS}
    unknown = [n for n in names if n.removeprefix("sched_ht_") not in known]
    if unknown:
        raise ValueError(f"no sweep of '{unknown[0]}'; there are: {', '.join(known)}")
    asked = {n.removeprefix("sched_ht_") for n in names} or set(known)
    return [s for s in SWEEPS if s.name in asked]


def make_jobs(sweeps, machines, topo_of, runs, vm):
    """The runs of all sweeps, each once though sweeps share the default and SCHED_NORMAL."""
    out = {}
    all_rows = rows.all_rows()
    for run in range(1, runs + 1):
        for s in sweeps:
            chosen = columns.find([table.BASE, *map(s.column, s.values)], {})
            for job in jobs.make([(all_rows[s.row], {s.case})], chosen,
                                 lambda _, s=s: [topo_of(s)], machines, 1, vm):
                job["run"] = run
                out.setdefault(results.key_of(job), job)
    return list(out.values())


# Tables and the picture

def summaries(sweep, records):
    """(metric, {column: Summary}, machine) of a sweep's load."""
    metric = rows.all_rows()[sweep.row].metrics[0]
    wanted = {table.BASE, *map(sweep.column, sweep.values)}
    values, topo = {}, None
    for r in records:
        if (r["status"], r["row"], r["case"]) != ("ok", sweep.row, sweep.case) or \
                r["topo"] not in (sweep.topo, "native") or r["column"] not in wanted:
            continue
        values.setdefault(r["column"], []).append(r["metrics"][metric.name])
        topo = r["topo"]
    return metric, {c: stats.summarise(v) for c, v in values.items()}, topo


def grid(sweep, metric, cells):
    """[[text]]: a line for each value, then SCHED_NORMAL."""
    out = [[f"sched_ht_{sweep.name}", metric.unit, "against the default"]]
    default = cells.get(sweep.column(sweep.default))
    lines = [(f"{v} (default)" if v == sweep.default else str(v), sweep.column(v))
             for v in sweep.values] + [("SCHED_NORMAL", table.BASE)]
    for title, column in lines:
        if column not in cells:
            continue
        gain = None if default in (None, cells[column]) else \
            table.gain_pct(metric, cells[column].mean, default.mean)
        out.append([title, table.cell(metric, cells[column]),
                    "" if gain is None else f"{gain:+.1f} %"])
    return out


def reach(summary):
    """Mean, least and greatest: with few runs a confidence interval hides the curve."""
    return f"{summary.mean:.8g} {summary.low:.8g} {summary.high:.8g}"


def panel(number, sweep, metric, cells, topo):
    """gnuplot's commands for one tunable: equal steps on x, the default filled."""
    points = [(i, v, cells[sweep.column(v)]) for i, v in enumerate(sweep.values)
              if sweep.column(v) in cells]
    low, high = min(s.low for s in cells.values()), max(s.high for s in cells.values())
    room = max(0.05 * high, 0.1 * (high - low))
    text = plot.data_block(f"s{number}", [f"{i} {reach(s)}" for i, _, s in points])
    text += plot.data_block(f"d{number}", [f"{i} {reach(s)}" for i, v, s in points
                                           if v == sweep.default] or ["NaN NaN NaN NaN"])
    ticks = ", ".join(f'"{v}" {i}' for i, v, _ in points)
    text += (f'set title "{plot.quote(sweep.name)}\\n{plot.quote(sweep.row)}/'
             f'{plot.quote(sweep.case)}, {topo}"\n'
             f'set ylabel "{plot.quote(metric.unit)}"\nset xtics ({ticks})\n'
             f"set xrange [-0.5:{len(sweep.values) - 0.5}]\n"
             f"set yrange [{max(0, low - room):.6g}:{high + room:.6g}]\n")
    parts = [f'$s{number} using 1:2:3:4 with yerrorlines lw 2 pt 6 lc rgb "#1f77b4" notitle',
             f'$d{number} using 1:2 with points pt 7 ps 1 lc rgb "#1f77b4" notitle']
    if table.BASE in cells:
        parts.append(f'{cells[table.BASE].mean:.8g} lc rgb "#999999" dt 2 notitle')
    return text + "plot " + ", \\\n     ".join(parts) + "\n"


def script(some, output, note):
    """gnuplot's commands for the picture: one panel a tunable, three in a line."""
    lines = (len(some) + 2) // 3
    text = (f'set terminal svg size 1080,{80 + 300 * lines} dynamic font "sans-serif,11" '
            f'background "white"\nset output "{output}"\n'
            f'set multiplot layout {lines},3 title "SCHED\\\\_HT by tunable {note}: filled the '
            'default, dashed SCHED\\\\_NORMAL"\nset grid ytics lc rgb "#dddddd"\n')
    for i, (sweep, metric, cells, topo) in enumerate(some):
        text += panel(i, sweep, metric, cells, topo)
    return text + "unset multiplot\n"


def draw(some, out, note):
    """Writes OUT/sweep.svg; the reason why not, or nothing."""
    if not shutil.which("gnuplot"):
        return "gnuplot is not installed ('make deps' does it): no picture"
    done = subprocess.run(["gnuplot"], input=script(some, os.path.join(out, "sweep.svg"), note),
                          text=True, capture_output=True, check=False)
    return f"gnuplot failed: {done.stderr.strip()[:300]}" if done.returncode else ""


def write(out, heading, note):
    """Reads OUT/results.jsonl; prints, and writes OUT/sweep.md and sweep.svg."""
    records = table.runs(results.ResultFile(os.path.join(out, "results.jsonl")).load())
    some = [(s, *summaries(s, records)) for s in SWEEPS]
    some = [entry for entry in some if any(c != table.BASE for c in entry[2])]
    if not some:
        raise results.ResultError(f"{out}: no results of a sweep")
    why_not = draw(some, out, note(records))
    text, markdown = heading(records), "\n".join(f"- {line}" for line in heading(records))
    parts = ["\n".join(text)]
    marked = ["## Sweeps", markdown] + ([] if why_not else ["![sweep](sweep.svg)"])
    for sweep, metric, cells, topo in some:
        title = f"sched_ht_{sweep.name}: {sweep.row}/{sweep.case} on {topo}"
        body = grid(sweep, metric, cells)
        parts.append(title + "\n" + table.plain(body))
        marked += [f"### {title}", table.markdown(body)]
    with open(os.path.join(out, "sweep.md"), "w", encoding="utf-8") as f:
        f.write("\n\n".join(marked) + "\n")
    print("\n\n".join(parts) + "\n")
    print(why_not or f"sweep.svg and sweep.md are in {out}")
