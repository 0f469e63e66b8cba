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


class Phases:
    """Pairs marks as they come."""

    def __init__(self):
        self.begun, self.ended = {}, {}

    def add(self, line):
        event = json.loads(line)
        if event.get("event") != "mark":
            return
        edge, _, label = event["label"].partition(":")
        if edge == "begin":
            self.begun[label] = totals(event)
        elif edge == "end" and label in self.begun:
            first, last = self.begun.pop(label), totals(event)
            self.ended[label] = {name: last[name] - first[name] for name in last}

    def take(self, tag):
        """{rest of the label: counters} of the phases whose labels begin with tag."""
        found = [label for label in self.ended if label.startswith(tag)]
        return {label[len(tag):]: self.ended.pop(label) for label in found}


def per_op(counts, ops):
    """Instructions per operation from phases' counters and their operations.

    ops is {phase: number}. With two phases of different size the difference is
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
        self.phases = Phases()

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

    def apply(self, record, tag):
        """Adds the counters of a run that ended. The guest may be in the next
        one already, so a tag says which phases are this run's."""
        for line in self.new_lines():
            self.phases.add(line)
        counts = self.phases.take(tag)
        if counts:
            record["counters"] = counts
            record["metrics"].update(per_op(counts, record.get("ops", {})))
