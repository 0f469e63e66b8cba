# SPDX-License-Identifier: GPL-2.0
"""The command line of htbench."""

import argparse
import hashlib
import os
import platform
import signal
import struct
import subprocess
import sys

from . import calibrate, columns, database, estimate, jobs, machine, report, results, rows
from . import sweep as sweeps
from .scripts import TOP, script

NATIVE = "native"
# What CI runs: each kind of row once, in minutes.
SHORT = {"rows": ["S1/procs=2", "S2/select-2", "S6/pipe", "hackbench/pipe-process",
                  "wakeup/load=50%", "release", "wake-beside"],
         "columns": ["normal", "ht", "nosmt"], "runs": 1, "seconds": 0.2}

USAGE = """htbench run [--vm] [OPTION]...
       htbench sweep [--vm] [--tunables NAME,...] [OPTION]...
       htbench report [--out DIR]
       htbench list
       htbench calibrate [--cpus A,B] -- COMMAND [ARGUMENT]..."""


class UsageError(Exception):
    """What the user asked for makes no sense; the text says why."""


def words(text):
    return [w for w in text.replace(",", " ").split() if w]


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="htbench", usage=USAGE, allow_abbrev=False,
                                     description="Fills the results tables; see htbench(1).")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    run = verbs.add_parser("run", help="run what is missing, then report", allow_abbrev=False)
    add_common(run, seconds=3)
    run.add_argument("--rows", metavar="ROW[/CASE],...", type=words, help="default: all")
    run.add_argument("--columns", metavar="NAME,...", type=words, help="default: all")
    run.add_argument("--topo", metavar="NAME,...", type=words, default=[],
                     help="machines of scripts/vm (default: each row's own, else 1x2x2)")
    run.add_argument("--kernel", metavar="[NAME=]BZIMAGE", action="append", default=[],
                     help="another kernel as one more column (repeatable)")
    run.add_argument("--short", action="store_true",
                     help="minutes: a few rows, one run; fails on missing results only")
    swept = verbs.add_parser("sweep", help="each tunable in turn, then tables and a picture",
                             allow_abbrev=False)
    add_common(swept, seconds=0.25, out="sweep")
    swept.add_argument("--tunables", metavar="NAME,...", type=words, default=[],
                       help="default: all that have a sweep")
    swept.set_defaults(short=False, kernel=[], topo=[], rows=[], columns=[])
    show = verbs.add_parser("report", help="tables and plots of the results there are")
    show.add_argument("--out", metavar="DIR", default=str(TOP / "out" / "bench"))
    verbs.add_parser("list", help="rows, cases and columns")
    calibrate.add_arguments(verbs)
    return parser.parse_args(argv)


def add_common(parser, seconds, out="bench"):
    """Options of the verbs that run something."""
    parser.add_argument("--vm", action="store_true",
                        help="in the emulated SMT machine; without it, on this one")
    parser.add_argument("--clock", choices=("smtvm", "icount"),
                        help="the emulated machine's time: modelled (default), or one nanosecond "
                             "per instruction without a model of SMT")
    parser.add_argument("--model", metavar="KEY=VALUE", type=words, action="extend", default=[],
                        help="parameters of smtvm (repeatable)")
    parser.add_argument("--runs", metavar="N", type=int, help="runs of each (default 3)")
    parser.add_argument("--seconds", metavar="S", type=float,
                        help=f"length of a measured phase (default {seconds})")
    parser.add_argument("--estimate", action="store_true",
                        help="print how long it would take, and run nothing")
    parser.add_argument("--out", metavar="DIR", default=str(TOP / "out" / out))


# What is measured

def bzimage_release(path):
    """The release that a bzImage says it is."""
    try:
        with open(path, "rb") as f:
            head = f.read(65536)
    except OSError as e:
        raise UsageError(f"--kernel {path}: {e.strerror}") from e
    if len(head) < 0x264 or head[0x202:0x206] != b"HdrS":
        raise UsageError(f"--kernel {path}: not a bzImage")
    at = struct.unpack_from("<H", head, 0x20e)[0] + 0x200
    return head[at:head.index(b"\0", at)].split()[0].decode(errors="replace")


def other_kernels(arguments):
    """{column: path} of --kernel."""
    out = {}
    for text in arguments:
        name, equals, path = text.partition("=")
        if not equals:
            name, path = "", text
        release = bzimage_release(path)
        name = name or release
        if name in out:
            raise UsageError(f"--kernel: two kernels would be the column '{name}'; "
                             "give them names: --kernel NAME=BZIMAGE")
        out[name] = os.path.abspath(path)
    return out


def own_kernel(config):
    """Of $HT_KERNEL, else of this configuration, built if need be."""
    path = os.environ.get("HT_KERNEL")
    if not path:
        make = ["make", "-s", "-C", str(TOP), "--no-print-directory", "kernel-path",
                f"CONFIG={config}"]
        done = subprocess.run(make, stdout=subprocess.PIPE, text=True, check=False)
        path = done.stdout.split("\n")[0]
        if done.returncode or not path:
            raise UsageError("no kernel: 'make kernel-path' failed")
    bzimage_release(path)
    return os.path.abspath(path)


def kernel_id(path):
    """Tells kernels of the same release apart."""
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:12]


def git_commit():
    done = subprocess.run(["git", "-C", str(TOP), "describe", "--always", "--dirty",
                           "--abbrev=12"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def vm_has_smtvm():
    done = subprocess.run([str(machine.VM), "--help"], capture_output=True, text=True,
                          check=False)
    return "--smtvm" in done.stdout


def native_machine():
    topology = {}
    for cpu in columns.online_cpus():
        topology[cpu] = columns.read(f"{columns.SMT_CONTROL[:-12]}/cpu{cpu}/topology/"
                                     "thread_siblings_list")
    return rows.Machine(NATIVE, len(topology), len(set(topology.values())))


def vm_machines(names):
    """{name: Machine} of scripts/vm's topologies."""
    vm_topology = script("vm_topology.py")
    out = {}
    for name in names:
        try:
            t = vm_topology.find(name)
        except vm_topology.TopologyError as e:
            raise UsageError(str(e)) from e
        cores = {t.place(slot)[:4] for slot in t.slots}
        out[name] = rows.Machine(name, len(t.slots), len(cores))
    return out


def scx_programs(names):
    """{program: path, or why there is none}."""
    out = {}
    for name in names:
        script = [str(TOP / "scripts" / "scx-simple.sh"), os.environ.get("KVER", "6.12"),
                  os.environ.get("CONFIG", "base"), name]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
        out[name] = lines[-1] if lines else f"{name} could not be built"
    return out


# The verbs

def complete(o):
    """Fills in defaults and looks at what there is."""
    defaults = SHORT if o.short else {"rows": ["all"], "columns": None, "runs": 3, "seconds": 3.0}
    for name, value in defaults.items():
        if getattr(o, name) is None:
            setattr(o, name, value)
    if not 1 <= o.runs <= 1000:
        raise UsageError("--runs must be 1 to 1000")
    if not 0.1 <= o.seconds <= 3600:
        raise UsageError("--seconds must be 0.1 to 3600")
    o.out = os.path.realpath(o.out)
    o.commit = git_commit()
    if o.vm:
        complete_vm(o)
    elif o.kernel or o.model or o.clock or o.topo:
        raise UsageError("--kernel, --model, --clock and --topo are for --vm")
    else:
        o.clock, o.machine, o.model_text = None, NATIVE, "none: measured on the machine itself"
        o.kernels, o.kernel_ids = {"": None}, {"": platform.release() + " " + platform.version()}


def complete_vm(o):
    if o.clock is None:
        o.clock = "smtvm"
    if o.clock == "smtvm" and not vm_has_smtvm():
        raise UsageError("scripts/vm has no --smtvm here; --clock icount counts instructions "
                         "without a model of SMT")
    if o.clock == "icount" and o.model:
        raise UsageError("--model is for --clock smtvm")
    o.machine = o.clock
    o.model_text = ("smtvm " + (",".join(o.model) or "defaults") if o.clock == "smtvm"
                    else "1 ns per instruction, CPUs take turns, no SMT slowdown")
    others = other_kernels(o.kernel)
    o.kernels = {"": own_kernel("base" if o.short else "prod"), **others}
    o.kernel_ids = {name: kernel_id(path) for name, path in o.kernels.items()}


def build_tools():
    # Two benches may begin at the same moment.
    done = subprocess.run(["flock", str(machine.BENCH), "make", "-s", "-C", str(machine.BENCH)],
                          check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise machine.BenchError("the loads do not build (tools/bench/load)")


def check_setup(o, records):
    """One file, one set-up: a mean over different kernels would be a lie."""
    for r in records:
        if r.get("status") != "ok":
            continue
        now = {"machine": o.machine, "model": o.model_text, "seconds": o.seconds}
        if r["kernel"] in o.kernel_ids:
            now["kernel_id"] = o.kernel_ids[r["kernel"]]
        for name, value in now.items():
            if r.get(name) != value:
                raise UsageError(f"{o.out} holds results with {name} '{r.get(name)}', this run "
                                 f"has '{value}': choose another --out")


def plan(o):
    """(jobs, rows, machines) of a run."""
    table = rows.all_rows()
    try:
        selection = rows.select(o.rows, table)
        chosen = columns.find(o.columns or [c.name for c in columns.COLUMNS],
                              {n: p for n, p in o.kernels.items() if n})
    except ValueError as e:
        raise UsageError(str(e)) from e

    def topos(row):
        return jobs.row_topos(row, o.topo, "1x2x2") if o.vm else [NATIVE]

    names = {name for row, _ in selection for name in topos(row)}
    machines = vm_machines(names) if o.vm else {NATIVE: native_machine()}
    unknown = jobs.unknown_cases(selection, topos, machines)
    if unknown:
        raise UsageError(f"no case {', '.join(unknown)}; 'htbench list' names them")
    return jobs.make(selection, chosen, topos, machines, o.runs, o.vm), table, machines


def run(o):
    complete(o)
    return execute(o, *plan(o), report.write)


def sweep(o):
    """One tunable at a time; figures as `run` takes them, and kept like them."""
    if o.seconds is None:
        o.seconds = 0.25
    if o.vm and o.clock != "icount" and not o.model:
        # Most of the tunables are about caches.
        o.model = ["cache=on"]
    complete(o)
    try:
        some = sweeps.select(o.tunables)
    except ValueError as e:
        raise UsageError(str(e)) from e

    machines = vm_machines({s.topo for s in some}) if o.vm else {NATIVE: native_machine()}
    todo = sweeps.make_jobs(some, machines, lambda s: s.topo if o.vm else NATIVE, o.runs, o.vm)
    return execute(o, todo, rows.all_rows(), machines,
                   lambda out: sweeps.write(out, report.heading, report.note))


def execute(o, todo, table, machines, write_report):
    """Runs what is missing of `todo`, and reports."""
    file = results.ResultFile(os.path.join(o.out, "results.jsonl"))
    records = file.load()
    check_setup(o, records)
    done = results.done_keys(records)
    asked = todo
    todo = [j for j in todo if results.key_of({"machine": o.machine, **j}) not in done]
    if o.estimate:
        print(estimate.text(todo, table, machines, o.seconds, records, o.vm))
        return 0
    os.makedirs(o.out, exist_ok=True)
    file.repair()
    build_tools()
    wanted = {c.scx for c in columns.COLUMNS if c.scx and any(j["column"] == c.name for j in todo)}
    o.database = database.prepare() if any(table[j["row"]].needs_database for j in todo) else None
    bench = machine.Bench(o, table, machines, scx_programs(sorted(wanted)))
    if len(todo) < len(asked):
        print(f"{len(asked) - len(todo)} of {len(asked)} runs are in {file.path} already")
    print(estimate.text(todo, table, machines, o.seconds, records, o.vm).splitlines()[-1],
          "expected")
    bench.run(todo)
    write_report(o.out)
    return verdict(bench, file, asked, o)


def verdict(bench, file, asked, o):
    """What ran counts, whatever its figures."""
    done = results.done_keys(file.load())
    keys = [results.key_of({"machine": o.machine, **j}) for j in asked]
    passed = sum(key in done for key in keys)
    skipped = sum(j["column"] in bench.skips for j, key in zip(asked, keys) if key not in done)
    failed = len(asked) - passed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def list_all(_):
    print("columns:")
    for c in columns.COLUMNS:
        print(f"  {c.name:<14} {c.title:<22} {c.about}")
    print(f"  {'ht:NAME=VALUE':<14} {'':<22} the class with tunable sched_ht_NAME changed")
    print("rows (cases on 2 cores x 2 threads):")
    for row in rows.all_rows().values():
        print(f"  {row.name:<14} {row.title} [{row.group}]")
        print(f"  {'':<14} {' '.join(row.cases(rows.Machine('1x2x2', 4, 2)))}")
    return 0


def show_report(o):
    report.write(os.path.realpath(o.out))
    return 0


def main(argv=None):
    o = parse_arguments(sys.argv[1:] if argv is None else argv)
    verbs = {"run": run, "sweep": sweep, "report": show_report, "list": list_all, "calibrate": calibrate.run}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return verbs[o.verb](o)
    except (UsageError, results.ResultError) as e:
        print(f"htbench: {e}", file=sys.stderr)
        return 2
    except (machine.BenchError, calibrate.CalibrateError) as e:
        print(f"htbench: {e}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # As a program that a signal ends; nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        print("htbench: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
