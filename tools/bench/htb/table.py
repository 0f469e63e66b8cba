# SPDX-License-Identifier: GPL-2.0
"""Tables from records: which numbers belong together, and who loses."""

from collections import namedtuple

from . import columns as column_table
from . import results, stats

# One line of a table: a metric of a case on a machine; cells by column name.
Line = namedtuple("Line", "topo case metric cells")
BASE = "normal"
HT = "ht"
HT_OFF = "nosmt"
# A difference smaller than this is nobody's loss, however certain.
LEAST_PCT = 0.5


def ordered_columns(records):
    """Names of the columns there are, in the table's order, other kernels last."""
    known = [c.name for c in column_table.COLUMNS]
    have = dict.fromkeys(r["column"] for r in records)
    return [n for n in known if n in have] + [n for n in have if n not in known]


def titles():
    return {c.name: c.title for c in column_table.COLUMNS}


def lines(row, records):
    """The row's lines, with a Summary in each cell that was measured."""
    values = {}
    for r in records:
        if r["row"] != row.name or r["status"] != "ok":
            continue
        for metric in row.metrics:
            if metric.name in r["metrics"]:
                values.setdefault((r["topo"], r["case"]), {}).setdefault(metric, {}) \
                    .setdefault(r["column"], []).append(r["metrics"][metric.name])
    out = []
    for (topo, case), by_metric in values.items():
        for metric in (m for m in row.metrics if m in by_metric):
            cells = {c: stats.summarise(v) for c, v in by_metric[metric].items()}
            out.append(Line(topo, case, metric, cells))
    return sorted(out, key=lambda line: line.topo)


def gain_pct(metric, value, base):
    """By how much value is better than base, in percent of base; None if unknown."""
    if not metric.better or base == 0:
        return None
    change = 100.0 * (value - base) / abs(base)
    return change if metric.better == "higher" else -change


def worse(metric, a, b):
    """a's mean is worse than b's, by more than chance where runs allow to say."""
    if not metric.better or a.mean == b.mean:
        return False
    if (a.mean > b.mean) == (metric.better == "higher"):
        return False
    gain = gain_pct(metric, a.mean, b.mean)
    if gain is not None and gain > -LEAST_PCT:
        return False
    return stats.differs(a, b) is not False


def losses(row, line):
    """Sentences about what SCHED_HT loses here."""
    out = []
    ht = line.cells.get(HT)
    # Against HT off only throughput is promised.
    throughput = next((m for m in row.metrics if m.better == "higher"), None)
    for base in (BASE, HT_OFF):
        other = line.cells.get(base)
        if not ht or not other or (base == HT_OFF and line.metric is not throughput):
            continue
        if worse(line.metric, ht, other):
            gain = gain_pct(line.metric, ht.mean, other.mean)
            by = f" ({gain:+.1f} %)" if gain is not None else ""
            single = "" if ht.ci95 is not None and other.ci95 is not None else ", single runs"
            out.append(f"{row.name}/{line.case} on {line.topo}: {number(line.metric, ht.mean)} "
                       f"{line.metric.unit}, {titles()[base]} {number(line.metric, other.mean)}"
                       f"{by}{single}")
    return out


# Text

def number(metric, value, like=None):
    """With the metric's digits, or three that count; as many as `like` has."""
    size = abs(value if like is None else like)
    digits = metric.digits or (0 if size >= 100 else 1 if size >= 10 else 2)
    return f"{value:.{digits}f}"


def cell(metric, summary):
    """Mean, half the confidence interval, least and greatest."""
    if summary is None:
        return ""
    mean = summary.mean
    text = number(metric, mean)
    if summary.ci95 is not None:
        text += (f" ±{number(metric, summary.ci95, mean)} "
                 f"[{number(metric, summary.low, mean)}..{number(metric, summary.high, mean)}]")
    return text


def cell_with_gain(line, name):
    summary, base = line.cells.get(name), line.cells.get(BASE)
    text = cell(line.metric, summary)
    if summary is None or base is None or name == BASE:
        return text
    gain = gain_pct(line.metric, summary.mean, base.mean)
    if gain is not None:
        text += f" ({gain:+.1f} %)"
    if name == HT and worse(line.metric, summary, base):
        text += " ▼"
    return text


def grid(row, records):
    """[[text]] of one row: heading, then a line for each metric of each case."""
    some = lines(row, records)
    names = ordered_columns([r for r in records if r["row"] == row.name and r["status"] == "ok"])
    named = titles()
    out = [["machine", "case", "what", *(named.get(n, n) for n in names)]]
    for line in some:
        out.append([line.topo, line.case, line.metric.unit,
                    *(cell_with_gain(line, n) for n in names)])
    return out


def plain(rows_of_text):
    widths = [max(len(line[i]) for line in rows_of_text) for i in range(len(rows_of_text[0]))]
    return "\n".join("  ".join(text.ljust(w) for text, w in zip(line, widths)).rstrip()
                     for line in rows_of_text)


def markdown(rows_of_text):
    escaped = [[text.replace("|", "\\|") for text in line] for line in rows_of_text]
    head, *body = escaped
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(line) + " |" for line in body])


def runs(records):
    """The records that stand for a run each, failures included."""
    return results.latest([r for r in records if r.get("status") in ("ok", "fail")])
