# SPDX-License-Identifier: GPL-2.0
"""The columns of the table: under what the same load runs.

A new column is one line of COLUMNS. What a column needs and the machine lacks
makes it skipped, with the reason; it never fails the bench.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace

PROC_SYS = "/proc/sys/kernel"
SMT_CONTROL = "/sys/devices/system/cpu/smt/control"
SCX_STATE = "/sys/kernel/sched_ext/state"


class Unavailable(Exception):
    """This machine cannot have the column; the text says why."""


@dataclass(frozen=True)
class Column:
    """One column; `kernel` names another kernel of --kernel, None is ours."""
    name: str
    title: str
    about: str
    ht: bool = False                # run the load under SCHED_HT
    sysctls: dict = field(default_factory=dict)
    smt: bool = True                # False: second threads off
    boot: str = ""                  # the same as a kernel parameter, for a guest
    scx: str = ""                   # a sched_ext scheduler that is loaded
    kernel: str = None


COLUMNS = (
    Column("normal", "SCHED_NORMAL", "the same kernel, the class not used"),
    Column("ht", "SCHED_HT", "the class with its defaults", ht=True),
    Column("ht-smt0", "SCHED_HT smt=0", "the class blind to SMT", ht=True,
           sysctls={"sched_ht_smt": 0}),
    Column("ht-cache0", "SCHED_HT cache_hot=0", "the class without its cache estimate", ht=True,
           sysctls={"sched_ht_cache_hot": 0}),
    Column("nosmt", "HT off", "SCHED_NORMAL, second threads off", smt=False,
           boot="nosmt"),
    Column("scx_simple", "scx_simple", "sched_ext's smallest example", scx="scx_simple"),
    Column("scx_flatcg", "scx_flatcg", "sched_ext's example for cgroups", scx="scx_flatcg"),
)


KNOB = re.compile(r"^[a-z_]+=\d+$")


def with_knobs(base, text):
    """A column with tunables changed: "wake_ns=0+pair_ns=0", the names without
    the sched_ht_ that they all begin with."""
    knobs = text.split("+")
    if not base.ht or not all(KNOB.match(knob) for knob in knobs):
        raise ValueError(f"column '{base.name}:{text}': tunables of SCHED_HT look like "
                         "ht:wake_ns=0 or ht:wake_ns=0+pair_ns=0")
    sysctls = {f"sched_ht_{name}": int(value)
               for name, value in (knob.split("=") for knob in knobs)}
    return replace(base, name=f"{base.name}:{text}", title=f"{base.title} {' '.join(knobs)}",
                   about="the class with other tunables", sysctls={**base.sysctls, **sysctls})


def find(names, kernels):
    """Columns by name, with those of other kernels behind; kernels: {name: path}."""
    known = {c.name: c for c in COLUMNS}
    out = []
    for name in names:
        base, _, knobs = name.partition(":")
        if base not in known:
            raise ValueError(f"no column '{name}'; there are: {', '.join(known)}")
        column = with_knobs(known[base], knobs) if knobs else known[base]
        if column not in out:
            out.append(column)
    for name in kernels:
        if name in known:
            raise ValueError(f"--kernel {name}=...: that is the name of a column")
        out.append(replace(known["normal"], name=name, title=name, kernel=name,
                           about="SCHED_NORMAL of another kernel"))
    return out


# What follows runs on the machine that is measured.

def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


def write(path, value):
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{value}\n")


def parse_cpus(text):
    """The CPUs of a list such as 0-3,8."""
    out = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out


def online_cpus():
    return parse_cpus(read("/sys/devices/system/cpu/online"))


def complaint_of(text):
    """Why a BPF program does not load: what the kernel's verifier said last, or
    else the program itself."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for before, line in zip(lines, lines[1:]):
        if re.match(r"processed \d+ insns", line):
            return f"this kernel refuses what the compiler made of it ({before})"
    return lines[-1] if lines else ""


class Setting:
    """A column's settings on this machine: enter() makes them, leave() undoes."""

    def __init__(self, column, htctl, scx_programs):
        self.column, self.htctl, self.scx_programs = column, htctl, scx_programs
        self.undo = []
        self.loader = self.complaint = None

    def prefix(self):
        """What a command is started through."""
        return [self.htctl, "run", "--"] if self.column.ht else []

    def check(self):
        """Raises Unavailable with the reason."""
        if self.column.ht and not os.path.exists(f"{PROC_SYS}/sched_ht_enabled"):
            raise Unavailable("this kernel has no SCHED_HT")
        for name in self.column.sysctls:
            if not os.path.exists(f"{PROC_SYS}/{name}"):
                raise Unavailable(f"this kernel has no kernel.{name}")
        if not self.column.smt:
            self._check_smt()
        if self.column.scx:
            self._check_scx()
        changes = self.column.ht or self.column.sysctls or self.column.scx
        if (changes or not self.column.smt) and os.geteuid() != 0:
            raise Unavailable("needs root")

    def _check_smt(self):
        state = read(SMT_CONTROL) if os.path.exists(SMT_CONTROL) else "notimplemented"
        if state not in ("on", "off"):
            raise Unavailable(f"second threads cannot be switched off here (smt/control: {state})")

    def _check_scx(self):
        if not os.path.exists(SCX_STATE):
            raise Unavailable("this kernel has no sched_ext")
        program = self.scx_programs.get(self.column.scx, "")
        if not os.access(program, os.X_OK):
            raise Unavailable(program or f"no program {self.column.scx}")

    def enter(self):
        self.check()
        try:
            self._set_sysctls()
            if not self.column.smt and read(SMT_CONTROL) == "on":
                self.undo.append(lambda: write(SMT_CONTROL, "on"))
                write(SMT_CONTROL, "off")
            if self.column.scx:
                self._load_scx()
        except (OSError, Unavailable) as e:
            self.leave()
            raise Unavailable(str(e)) from e

    def leave(self):
        while self.undo:
            self.undo.pop()()

    def _set_sysctls(self):
        for name, value in self.column.sysctls.items():
            path = f"{PROC_SYS}/{name}"
            old = read(path)
            write(path, value)
            self.undo.append(lambda path=path, old=old: write(path, old))

    def _load_scx(self):
        self.complaint = tempfile.TemporaryFile("w+")
        # pylint: disable=consider-using-with
        self.loader = subprocess.Popen([self.scx_programs[self.column.scx]],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=self.complaint)
        self.undo.append(self._unload_scx)
        for _ in range(200):
            if read(SCX_STATE) == "enabled":
                return
            if self.loader.poll() is not None:
                break
            time.sleep(0.05)
        self.complaint.seek(0)
        why = complaint_of(self.complaint.read()) or f"sched_ext stays {read(SCX_STATE)}"
        raise Unavailable(f"{self.column.scx} does not load: {why}")

    def _unload_scx(self):
        self.loader.send_signal(signal.SIGINT)
        try:
            self.loader.wait(30)
        except subprocess.TimeoutExpired:
            self.loader.kill()
            self.loader.wait()
        self.complaint.close()
