# SPDX-License-Identifier: GPL-2.0
"""Finds what a busy sibling costs one's own program, on real SMT hardware.

The program runs alone on a core, then once on each of two (three, ...) of the
core's threads. Its speed there as part of its speed alone is smtvm's f2 (f3,
...).
"""

import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from . import columns

CPU_DIR = "/sys/devices/system/cpu"


class CalibrateError(Exception):
    """No calibration here; the text says why."""


def add_arguments(verbs):
    p = verbs.add_parser("calibrate", help="f2 from runs of one's own program on real hardware",
                         allow_abbrev=False)
    p.add_argument("--cpus", metavar="A,B[,...]",
                   help="threads of one core (default: those of the first core that has two)")
    p.add_argument("--repeat", metavar="N", type=int, default=3,
                   help="runs of each; the median counts (default 3)")
    p.add_argument("--rate", metavar="REGEX",
                   help="the program prints its speed: the first group of this; without it, "
                        "the program does a fixed amount of work and its time is taken")
    p.add_argument("command", nargs="+", metavar="COMMAND", help="after --")


def siblings(cpu, root=CPU_DIR):
    path = f"{root}/cpu{cpu}/topology/thread_siblings_list"
    return sorted(columns.parse_cpus(columns.read(path))) if os.path.exists(path) else [cpu]


def choose_cpus(text, root=CPU_DIR):
    """The threads to use, all of one core."""
    online = columns.parse_cpus(columns.read(f"{root}/online"))
    if text:
        try:
            cpus = [int(word) for word in text.split(",")]
        except ValueError:
            raise CalibrateError(f"--cpus {text}: not a list of CPU numbers") from None
        bad = [c for c in cpus if c not in siblings(cpus[0], root)]
        if bad or len(set(cpus)) < 2:
            raise CalibrateError(f"--cpus {text}: not two or more threads of one core")
        return cpus
    for cpu in sorted(online):
        if len(siblings(cpu, root)) > 1:
            return siblings(cpu, root)
    raise CalibrateError("no CPU here has a sibling: this machine has no SMT, it is switched off "
                         "(smt/control), or a virtual machine hides it. Calibrate on the "
                         "hardware that the model is to resemble")


def refuse_emulation():
    """Emulated siblings do not slow each other, or do so by the model itself."""
    if os.environ.get("HT_VM"):
        raise CalibrateError("this is the emulated machine: its siblings behave as its model "
                             "says, there is nothing to calibrate")


def speed(command, cpu, pattern):
    """Work per second of one instance on a CPU."""
    began = time.monotonic()
    done = subprocess.run(["taskset", "-c", str(cpu), *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    took = time.monotonic() - began
    if done.returncode:
        raise CalibrateError(f"{command[0]} ended with status {done.returncode}: "
                             f"{done.stdout.strip()[-200:]}")
    return rate(pattern, done.stdout, command) if pattern else 1 / took


def speeds(command, cpus, pattern):
    """The same for instances on each of the CPUs, started together."""
    with ThreadPoolExecutor(len(cpus)) as pool:
        return list(pool.map(lambda cpu: speed(command, cpu, pattern), cpus))


def rate(pattern, text, command):
    match = re.search(pattern, text, re.M)
    try:
        return float(match[1])
    except (TypeError, IndexError, ValueError):
        raise CalibrateError(f"{command[0]} printed nothing that matches --rate with a number "
                             "as its first group") from None


def factor(alone, together):
    """How fast each is together, as part of alone: medians over repetitions.

    alone: [speed]; together: [[speed of each thread]].
    """
    return median(sum(some) / len(some) for some in together) / median(alone)


def run(o):
    refuse_emulation()
    if o.repeat < 1:
        raise CalibrateError("--repeat must be at least 1")
    cpus = choose_cpus(o.cpus)
    command = o.command[1:] if o.command[0] == "--" else o.command
    alone, together = [], {k: [] for k in range(2, len(cpus) + 1)}
    for turn in range(1, o.repeat + 1):
        alone += speeds(command, cpus[:1], o.rate)
        print(f"run {turn}: alone on CPU {cpus[0]}: {alone[-1]:.6g} per s", flush=True)
        for k, results in together.items():
            results.append(speeds(command, cpus[:k], o.rate))
            print(f"run {turn}: together on CPUs {','.join(map(str, cpus[:k]))}: "
                  + " ".join(f"{s:.6g}" for s in results[-1]) + " per s", flush=True)
    spread = (max(alone) - min(alone)) / median(alone)
    if spread > 0.05:
        print(f"warning: the runs alone differ by {100 * spread:.0f} %: is the machine busy, or "
              "its frequency not fixed?")
    print("for smtvm: " + ",".join(f"f{k}={factor(alone, results):.3f}"
                                   for k, results in together.items()))
    return 0
