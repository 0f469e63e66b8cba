# SPDX-License-Identifier: GPL-2.0
"""The emulator's counters over a marked phase; see tools/smtvm."""

import json

# Time is nanoseconds of the guest; the rest are counts.
SUMMED = ("insns", "kernel_insns", "user_insns", "busy_ns", "shared_ns", "idle_ns",
          "l2_misses", "l3_misses")


def totals(event):
    """Sums over the CPUs, of the counters that there are."""
    return {name: sum(cpu[name] for cpu in event["vcpus"])
            for name in SUMMED if all(name in cpu for cpu in event["vcpus"])}


def phases(lines):
    """{label: counters of the last phase with that label}."""
    begun, out = {}, {}
    for line in lines:
        event = json.loads(line)
        if event.get("event") != "mark":
            continue
        edge, _, label = event["label"].partition(":")
        if edge == "begin":
            begun[label] = event
        elif edge == "end" and label in begun:
            first, last = totals(begun.pop(label)), totals(event)
            out[label] = {name: last[name] - first[name] for name in last}
    return out


def per_op(counts, ops):
    """Instructions per operation from phases' counters and their operations.

    ops is {label: number}. With two phases of different size the difference is
    taken: what starting and ending costs is in both.
    """
    if not ops or any(label not in counts for label in ops):
        return {}
    small, big = min(ops, key=ops.get), max(ops, key=ops.get)
    size = ops[big] - ops[small] if small != big else ops[big]
    if size <= 0:
        return {}
    out = {}
    for name in ("kernel_insns", "insns"):
        if name in counts[big]:
            base = counts[small][name] if small != big else 0
            out[f"{name}_per_op"] = (counts[big][name] - base) / size
    return out


class Reader:
    """Follows a growing file of marks."""

    def __init__(self, path):
        self.path, self.at = path, 0

    def new_lines(self):
        if not self.path:
            return []
        try:
            with open(self.path, "rb") as f:
                f.seek(self.at)
                data = f.read()
        except FileNotFoundError:
            return []
        whole = data[:data.rfind(b"\n") + 1]
        self.at += len(whole)
        return whole.decode().splitlines()

    def apply(self, record):
        """Adds the counters of the run just ended to its record."""
        counts = phases(self.new_lines())
        ops = record.get("ops", {})
        if counts:
            record["counters"] = counts
            record["metrics"].update(per_op(counts, ops))
