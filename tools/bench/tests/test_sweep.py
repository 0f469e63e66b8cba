# SPDX-License-Identifier: GPL-2.0
"""Sweeps: what they run, and what they make of it."""

import contextlib
import io
import os
import re
import tempfile
import unittest

from htb import cli, columns, results, rows, sweep
from htb.scripts import TOP

MACHINES = {"1x2x2": rows.Machine("1x2x2", 4, 2), "two-llc": rows.Machine("two-llc", 8, 4),
            "numa-2": rows.Machine("numa-2", 8, 4)}
PAGE = TOP / "Documentation" / "admin-guide" / "sysctl" / "sched-ht.rst"


def make(names, runs=1):
    return sweep.make_jobs(sweep.select(names), MACHINES, lambda s: s.topo, runs, True)


def record(job, value):
    metric = rows.all_rows()[job["row"]].metrics[0].name
    return {**job, "machine": "smtvm", "status": "ok", "metrics": {metric: value}, "model": "m",
            "release": "6.12", "commit": "c", "seconds": 1,
            "host": {"cpu_model": "cpu", "cpus": 2, "cores": 2}}


class Choice(unittest.TestCase):
    def test_defaults_are_those_of_the_page(self):
        page = PAGE.read_text(encoding="utf-8")
        for s in sweep.SWEEPS:
            with self.subTest(s.name):
                entry = re.search(rf"^sched_ht_{s.name}\n=+\n\n:Default: (\d+)\n"
                                  r":Range:   (\d+)\.\.(\d+)$", page, re.M)
                self.assertEqual(s.default, int(entry[1]))
                self.assertIn(s.default, s.values)
                self.assertTrue(all(int(entry[2]) <= v <= int(entry[3]) for v in s.values))

    def test_every_tunable_with_a_unit(self):
        page = PAGE.read_text(encoding="utf-8")
        units = set(re.findall(r"^sched_ht_(\w+)\n=+\n\n:Default: .*\n:Range: .*\n:Unit:", page,
                               re.M))
        self.assertEqual({s.name for s in sweep.SWEEPS}, units)

    def test_names(self):
        self.assertEqual([s.name for s in sweep.select(["pair_ns", "sched_ht_wake_ns"])],
                         ["wake_ns", "pair_ns"])
        with self.assertRaisesRegex(ValueError, "no sweep of 'smt'"):
            sweep.select(["smt"])

    def test_unknown_tunable_is_a_usage_error(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(cli.main(["sweep", "--tunables", "smt"]), 2)
        self.assertIn("no sweep of 'smt'", said.getvalue())


class Jobs(unittest.TestCase):
    def test_one_tunable(self):
        self.assertEqual([j["column"] for j in make(["refill_core_us"])],
                         ["normal", "ht:refill_core_us=0", "ht:refill_core_us=10", "ht",
                          "ht:refill_core_us=160", "ht:refill_core_us=640"])

    def test_same_load_shares_default_and_normal(self):
        some = make(["refill_core_us", "fill_core_us"], runs=2)
        keys = [results.key_of(j) for j in some]
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual([j["run"] for j in some if j["column"] == "ht"], [1, 2])

    def test_every_column_exists(self):
        for job in make([]):
            columns.find([job["column"]], {})


class Report(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.file = results.ResultFile(os.path.join(self.dir.name, "results.jsonl"))

    def write(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            sweep.write(self.dir.name, lambda r: [f"{len(r)} records"], lambda r: "(modelled)")
        return said.getvalue()

    def test_tables(self):
        for i, job in enumerate(make(["refill_core_us"])):
            self.file.append(record(job, 1000 + 100 * i))
        lines = [re.split(r"  +", line) for line in self.write().splitlines()]
        self.assertIn(["sched_ht_refill_core_us", "transactions/s", "against the default"], lines)
        self.assertIn(["0", "1100", "-15.4 %"], lines)
        self.assertIn(["40 (default)", "1300"], lines)
        self.assertIn(["SCHED_NORMAL", "1000", "-23.1 %"], lines)
        with open(os.path.join(self.dir.name, "sweep.md"), encoding="utf-8") as f:
            self.assertIn("| 640 | 1500 | +15.4 % |", f.read())

    def test_lower_is_better(self):
        for job in make(["slice_us"]):
            self.file.append(record(job, 50 if job["column"] == "ht" else 100))
        self.assertIn("-100.0 %", self.write())

    def test_without_default_or_normal(self):
        job = next(j for j in make(["pair_ns"]) if j["column"] == "ht:pair_ns=0")
        self.file.append(record(job, 7))
        self.assertRegex(self.write(), r"(?m)^0 +7\.00$")

    def test_only_the_load_of_the_sweep(self):
        job = next(j for j in make(["pair_ns"]) if j["column"] == "ht:pair_ns=0")
        self.file.append(record({**job, "case": "select-1"}, 7))
        with self.assertRaises(results.ResultError):
            self.write()

    def test_picture(self):
        for i, job in enumerate(make([], runs=2)):
            self.file.append(record(job, 1000 + i))
        self.assertIn("sweep.svg and sweep.md are in", self.write())
        with open(os.path.join(self.dir.name, "sweep.svg"), encoding="utf-8") as f:
            picture = f.read()
        for s in sweep.SWEEPS:
            self.assertIn(s.name, picture)


if __name__ == "__main__":
    unittest.main()
