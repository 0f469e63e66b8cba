# SPDX-License-Identifier: GPL-2.0
"""Plots of the tables as SVG, by gnuplot."""

import os
import re
import shutil
import subprocess

from . import table

HEAD = """set terminal svg size 900,480 dynamic font "sans-serif,13" background "white"
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


def bounds(summary):
    half = summary.ci95 or 0
    return f"{summary.mean} {max(0, summary.mean - half)} {summary.mean + half}"


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
    return blocks + "set xlabel \"load\"\nplot " + ", \\\n     ".join(parts) + "\n"


def bars(lines, names):
    """One group of bars a case."""
    rows = []
    for line in lines:
        cells = [bounds(line.cells[n]) if n in line.cells else "NaN NaN NaN" for n in names]
        rows.append(f'"{quote(line.case)}" ' + " ".join(cells))
    named = table.titles()
    parts = [f'$d using {2 + 3 * i}:{3 + 3 * i}:{4 + 3 * i}:xtic(1) '
             f'lc rgb "{COLOURS[i % len(COLOURS)]}" title "{quote(named.get(name, name))}"'
             for i, name in enumerate(names)]
    return (data_block("d", rows) + "set style data histograms\n"
            "set style histogram errorbars gap 2 lw 1\nset style fill solid 0.8\n"
            "plot " + ", \\\n     ".join(parts) + "\n")


def script(row, topo, kind, lines, names, output, note):
    """gnuplot's commands for one picture."""
    metric = lines[0].metric
    title = quote(f"{row.name}: {row.title}, {kind}, {topo} {note}".replace(" -,", ""))
    head = HEAD.format(output=output, title=title, unit=quote(metric.unit))
    numbered = [load_of(line.case) for line in lines]
    if len(lines) > 2 and None not in numbered:
        return head + curves(lines, names)
    return head + bars(lines, names)


def pictures(row, records):
    """[(topo, kind, lines)] of the row's first metric."""
    out = {}
    some = [line for line in table.lines(row, records) if line.metric is row.metrics[0]]
    for line in some:
        kind = kind_of(line.case) if load_of(line.case) is not None else "all"
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
            done = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True,
                                  check=False)
            if done.returncode:
                return made, f"gnuplot failed on {name}: {done.stderr.strip()[:300]}"
            made.append(name)
    return made, ""
