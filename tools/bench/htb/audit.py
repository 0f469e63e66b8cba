# SPDX-License-Identifier: GPL-2.0
"""Works out of a recording for how long two shared a core while one idled.

What that means, and the replay, are scripts/demo-report's.
"""

import os
from pathlib import Path

from .scripts import script


def sharing(trace, pids, core_of, elapsed_s):
    """{metric: number} from one recording."""
    demo = script("demo-report")
    try:
        events = demo.read_events(Path(trace))
    except demo.BadRecording as e:
        raise ValueError(str(e)) from e
    replay = demo.Sharing(core_of, demo.first_tasks(events, core_of), set(pids))
    seen = set()
    for now, cpu, _, name, text in events:
        replay.event(now, cpu, name, text)
        seen |= replay.started
    if seen != set(pids):
        raise ValueError(f"{trace}: {len(set(pids) - seen)} of {len(pids)} processes never "
                         "became openssl in the recording")
    total = sum(end - start for start, end, _ in replay.intervals)
    longest = max((end - start for start, end, _ in replay.intervals), default=0.0)
    return {"shared_pct": 100 * total / elapsed_s, "longest_shared_ms": 1e3 * longest}


def apply(record, traces):
    """Adds to a run's metrics what its recording shows, if it has one."""
    audit = record.pop("audit", None)
    if not audit or not audit["trace"]:
        return
    core_of = {int(cpu): core for cpu, core in audit["topology"].items()}
    record["trace"] = audit["trace"]
    record["metrics"].update(sharing(os.path.join(traces, audit["trace"]), audit["pids"],
                                     core_of, audit["elapsed_s"]))
