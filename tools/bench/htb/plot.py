# SPDX-License-Identifier: GPL-2.0
"""Plots of the tables as SVG, by gnuplot."""

import os
import re
import shutil
import subprocess

from . import table

HEAD = """set terminal svg size 960,480 dynamic font "sans-serif,12" background "white"
set output "{output}"
set title "{title}"
set ylabel "{unit}"
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set key outside right top
"""
COLOURS = ("#999999", "#1f77b4", "#aec7e8", "#17becf", "#d62728", "#2ca02c", "#bcbd22",
           "#9467bd", "#8c564b", "#e377c2")


def quote(text):
    """Inside double quotes of gnuplot, without its markup."""
    for mark in ("\\", '"'):
        text = text.replace(mark, "\\" + mark)
    return re.sub(r"([_^@{}&~])", r"\\\\\1", text)


def load_of(case):
    """The number that a case name ends with, if it counts clients or tasks."""
    match = re.search(r"[-=](\d+)%?$", case)
    return int(match[1]) if match else None


def kind_of(case):
    return re.sub(r"[-=]\d+%?$", "", case)


def data_block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def bounds(summary, scale=1.0):
    half = summary.ci95 or 0
    return " ".join(f"{scale * value:.8g}" for value in (
        summary.mean, max(0, summary.mean - half), summary.mean + half))


def curves(lines, names):
    """Throughput against load: one curve a column."""
    blocks, parts = "", []
    named = table.titles()
    for i, name in enumerate(names):
        points = sorted((load_of(line.case), bounds(line.cells[name]))
                        for line in lines if name in line.cells)
        if not points:
            continue
        blocks += data_block(f"c{i}", [f"{x} {text}" for x, text in points])
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f'$c{i} using 1:2:3:4 with yerrorlines lw 2 pt 7 ps 0.5 '
                     f'lc rgb "{colour}" title "{quote(named.get(name, name))}"')
    return blocks + "set xlabel \"clients, tasks or % of cores\"\nplot " + ", \\\n     ".join(parts) + "\n"


def bars(lines, names):
    """One group of bars a case, in percent of SCHED_NORMAL: units differ."""
    rows = []
    for line in lines:
        base = line.cells.get(table.BASE)
        if base is None or not base.mean:
            continue
        cells = [bounds(line.cells[n], 100 / base.mean) if n in line.cells else "NaN NaN NaN"
                 for n in names]
        rows.append(f'"{quote(line.case)}" ' + " ".join(cells))
    if not rows:
        return None
    named = table.titles()
    parts = [f'$d using {2 + 3 * i}:{3 + 3 * i}:{4 + 3 * i}:xtic(1) '
             f'lc rgb "{COLOURS[i % len(COLOURS)]}" title "{quote(named.get(name, name))}"'
             for i, name in enumerate(names)]
    return (data_block("d", rows) + "set style data histograms\n"
            "set style histogram errorbars gap 2 lw 1\nset style fill solid 0.8\n"
            "set xtics rotate by -30\nplot " + ", \\\n     ".join(parts) + "\n")


def script(row, topo, kind, lines, names, output, note):
    """gnuplot's commands for one picture; None if there is nothing to compare."""
    metric = lines[0].metric
    names = [n for n in names if any(n in line.cells for line in lines)]
    place = quote(f"{kind}, {topo} {note}" if kind else f"{topo} {note}")
    numbered = [load_of(line.case) for line in lines]
    unit = metric.unit
    if len(lines) > 2 and None not in numbered:
        body = curves(lines, names)
    else:
        body, unit = bars(lines, names), f"{metric.unit}, % of SCHED_NORMAL's"
    if body is None:
        return None
    return HEAD.format(output=output, title=f"{quote(row.name + ': ' + row.title)}\\n{place}",
                       unit=quote(unit)) + body


def pictures(row, records):
    """[(topo, kind, lines)] of the row's first metric."""
    out = {}
    some = [line for line in table.lines(row, records) if line.metric is row.metrics[0]]
    for line in some:
        kind = kind_of(line.case) if load_of(line.case) is not None else ""
        out.setdefault((line.topo, kind), []).append(line)
    return [(topo, kind, lines) for (topo, kind), lines in out.items()]


def draw(rows, records, out, note):
    """Writes OUT/*.svg; their names, or the reason why there are none."""
    if not shutil.which("gnuplot"):
        return [], "gnuplot is not installed ('make deps' does it): no plots"
    names, made = table.ordered_columns(records), []
    for row in rows:
        for topo, kind, lines in pictures(row, records):
            name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{row.name}-{kind}-{topo}") + ".svg"
            text = script(row, topo, kind, lines, names, os.path.join(out, name), note)
            if text is None:
                continue
            done = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True,
                                  check=False)
            if done.returncode:
                return made, f"gnuplot failed on {name}: {done.stderr.strip()[:300]}"
            made.append(name)
    return made, ""
