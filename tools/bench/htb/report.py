# SPDX-License-Identifier: GPL-2.0
"""Prints the tables of a result file, and writes them as Markdown and SVG."""

import os

from . import plot, results, rows, table

MODELLED = ("Speed is MODELLED: an emulator ties guest time to executed instructions and slows "
            "a thread whose sibling is busy. Placement and instruction counts are exact.")
COUNTED = ("Time is COUNTED, not modelled: one nanosecond per executed instruction, CPUs taking "
           "turns, siblings not slowing each other. Speed means nothing here; placement and "
           "cost do.")
NATIVE = "Measured on the machine itself."
LEGEND = ("Mean ±half the 95 % confidence interval (Student's t) [least..greatest]; in brackets "
          "the gain over SCHED_NORMAL. ▼ SCHED_HT loses to SCHED_NORMAL.")


def one(records, name):
    """The values of a field, as text."""
    return ", ".join(dict.fromkeys(str(r[name]) for r in records if r.get(name) is not None))


def heading(records):
    """What was measured where, line by line."""
    kinds = {r["machine"] for r in records}
    out = [text for kind, text in (("smtvm", MODELLED), ("icount", COUNTED), ("native", NATIVE))
           if kind in kinds]
    counts = sorted({r["run"] for r in records})
    hosts = dict.fromkeys(f"{r['host']['cpu_model']}, {r['host']['cpus']} CPUs on "
                          f"{r['host']['cores']} cores" for r in records if r.get("host"))
    out += [f"Kernel {one(records, 'release')}; commit {one(records, 'commit')}",
            f"Machine: {'; '.join(hosts)}", f"Model: {one(records, 'model')}",
            f"Measured phases of {one(records, 'seconds')} s; up to {len(counts)} runs of each",
            LEGEND]
    return out


def skipped(records):
    last = {r["column"]: r["reason"] for r in records if r.get("status") == "skip"}
    done = {r["column"] for r in records if r.get("status") == "ok"}
    return [f"column {column} skipped: {reason}" for column, reason in last.items()
            if column not in done]


def failed(records):
    return [f"{r['row']}/{r['case']} {r['column']} run {r['run']} on {r['topo']} failed: "
            f"{r['reason']}" for r in records if r["status"] == "fail"]


def all_losses(some, records):
    return [text for row in some for line in table.lines(row, records)
            for text in table.losses(row, line)]


def notes(some, records, every):
    """What a table alone would hide."""
    lost = all_losses(some, records)
    out = [("Where SCHED_HT loses", lost or ["nowhere in this table"])]
    for title, texts in (("Skipped", skipped(every)), ("Failed", failed(records))):
        if texts:
            out.append((title, texts))
    return out


def as_text(some, records, every):
    parts = ["\n".join(heading(records))]
    for row in some:
        parts.append(f"{row.name}: {row.title}\n" + table.plain(table.grid(row, records)))
    for title, texts in notes(some, records, every):
        parts.append(title + "\n" + "\n".join(f"  {t}" for t in texts))
    return "\n\n".join(parts) + "\n"


def as_markdown(some, records, every, pictures):
    parts = ["## Results", "\n".join(f"- {line}" for line in heading(records))]
    for row in some:
        parts += [f"### {row.name}: {row.title}", table.markdown(table.grid(row, records))]
        parts += [f"![{name[:-4]}]({name})" for name in pictures
                  if name.startswith(f"{row.name}-")]
    for title, texts in notes(some, records, every):
        parts += [f"### {title}", "\n".join(f"- {t}" for t in texts)]
    return "\n\n".join(parts) + "\n"


def note(records):
    """What a picture says of its figures."""
    return {"smtvm": "(speed modelled)", "icount": "(instructions counted)"}.get(
        records[0]["machine"], "")


def write(out):
    """Reads OUT/results.jsonl; prints, and writes OUT/table.{txt,md} and SVGs."""
    every = results.ResultFile(os.path.join(out, "results.jsonl")).load()
    records = table.runs(every)
    good = [r for r in records if r["status"] == "ok"]
    if not good:
        raise results.ResultError(f"{out}: no results")
    have = {r["row"] for r in good}
    some = [row for row in rows.all_rows().values() if row.name in have]
    pictures, why_not = plot.draw(some, records, out, note(good))
    text = as_text(some, records, every)
    with open(os.path.join(out, "table.txt"), "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(out, "table.md"), "w", encoding="utf-8") as f:
        f.write(as_markdown(some, records, every, pictures))
    print(text)
    print(why_not or f"{len(pictures)} plots, table.md and table.txt are in {out}")
