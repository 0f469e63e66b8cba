# SPDX-License-Identifier: GPL-2.0
"""Records who ran where, for rows that audit placement."""

import gzip
import os
import shutil

TRACEFS = "/sys/kernel/tracing"
EVENTS = ("sched/sched_switch", "sched/sched_wakeup", "sched/sched_wakeup_new",
          "sched/sched_process_exec", "sched/sched_process_exit")
OPTIONAL_EVENTS = ("sched_ht/sched_ht_select",)
BUFFER_KB = 4096


def put(name, text):
    with open(f"{TRACEFS}/{name}", "w", encoding="utf-8") as f:
        f.write(f"{text}\n")


class Recording:
    """Records while the with block lasts; nothing where tracefs is not ours."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.usable = os.access(f"{TRACEFS}/tracing_on", os.W_OK)
        self.saved = None

    def __enter__(self):
        if not self.usable:
            return self
        put("tracing_on", 0)
        # One clock for all CPUs: the record is about what happened at once.
        put("trace_clock", "mono")
        put("buffer_size_kb", BUFFER_KB)
        for event in EVENTS:
            put(f"events/{event}/enable", 1)
        for event in OPTIONAL_EVENTS:
            if os.path.exists(f"{TRACEFS}/events/{event}"):
                put(f"events/{event}/enable", 1)
        put("trace", "")
        put("tracing_on", 1)
        return self

    def __exit__(self, *_):
        if self.usable:
            put("tracing_on", 0)
            put("events/enable", 0)

    def save(self, case):
        """Keeps the recording beside the results; its name, or None."""
        if not self.usable:
            return None
        name = self.ctx.file_name(case) + ".trace.gz"
        with open(f"{TRACEFS}/trace", "rb") as trace, \
                gzip.open(os.path.join(self.ctx.traces, name), "wb", 1) as out:
            shutil.copyfileobj(trace, out)
        put("trace", "")
        put("buffer_size_kb", 1)
        return name
