# SPDX-License-Identifier: GPL-2.0
"""How long a bench will take, from what its rows took before."""

from collections import defaultdict

BOOT_HOST_S = 15.0


def paces(records):
    """{row: host seconds per guest second}, as recorded."""
    host, guest = defaultdict(float), defaultdict(float)
    for r in records:
        if r.get("status") == "ok" and r.get("host_s") and r.get("guest_s"):
            host[r["row"]] += r["host_s"]
            guest[r["row"]] += r["guest_s"]
    return {row: host[row] / guest[row] for row in host}


def host_seconds(jobs, rows, machines, seconds, measured, vm):
    """{row: host seconds} for the jobs; vm: emulated, else in real time."""
    out = defaultdict(float)
    for job in jobs:
        row, machine = rows[job["row"]], machines[job["topo"]]
        pace = measured.get(row.name, row.host_s_per_guest_s * max(1, machine.cpus / 4))
        out[row.name] += row.guest_s(job["case"], machine, seconds) * (pace if vm else 1.0)
    return dict(out)


def text(jobs, rows, machines, seconds, records, vm):
    """What --estimate prints."""
    measured = paces(records) if vm else {}
    spent = host_seconds(jobs, rows, machines, seconds, measured, vm)
    boots = BOOT_HOST_S * len({(j["topo"], j["kernel"], j["boot"]) for j in jobs}) if vm else 0
    lines = []
    for row, host in spent.items():
        if not vm:
            source = "runs in real time"
        elif row in measured:
            source = f"{measured[row]:.1f} host s per guest s, from this result file"
        else:
            source = (f"{rows[row].host_s_per_guest_s:g} host s per guest s on 4 CPUs, "
                      "in proportion on more: recorded before, on 2 host CPUs")
        count = sum(job["row"] == row for job in jobs)
        lines.append(f"{row:<14} {count:5} runs {host / 3600:7.2f} h   ({source})")
    total = sum(spent.values()) + boots
    lines.append(f"{'total':<14} {len(jobs):5} runs {total / 3600:7.2f} h")
    return "\n".join(lines)
