# SPDX-License-Identifier: GPL-2.0
"""Which runs a bench is made of, in which order."""

import unittest

from htb import cli, columns, jobs, machine, rows

SMALL = rows.Machine("1x2x2", 4, 2)
XEON = rows.Machine("dual-xeon", 24, 12)
MACHINES = {"1x2x2": SMALL, "1x4x2": rows.Machine("1x4x2", 8, 4), "dual-xeon": XEON,
            "1x4x1": rows.Machine("1x4x1", 4, 4)}
TABLE = rows.all_rows()


def make(words, names, runs=1, topos=()):
    selection = rows.select(words, TABLE)
    chosen = columns.find(names, {})
    return jobs.make(selection, chosen, lambda row: jobs.row_topos(row, list(topos), "1x2x2"),
                     MACHINES, runs)


class Make(unittest.TestCase):
    def test_columns_take_turns(self):
        some = make(["S1/procs=2", "S1/procs=1"], ["normal", "ht"], runs=2)
        self.assertEqual([(j["run"], j["case"], j["column"]) for j in some],
                         [(run, case, column) for run in (1, 2)
                          for case in ("procs=1", "procs=2") for column in ("normal", "ht")])

    def test_all_distinct(self):
        some = make(["all"], [c.name for c in columns.COLUMNS], runs=2)
        keys = {tuple(sorted(j.items())) for j in some}
        self.assertEqual(len(keys), len(some))

    def test_ht_off_always_beside_s5(self):
        some = make(["S5/cached-4"], ["ht"])
        self.assertEqual([j["column"] for j in some], ["ht", "nosmt"])

    def test_placement_not_without_smt(self):
        self.assertEqual([j["column"] for j in make(["release"], ["ht", "nosmt"])], ["ht"])
        self.assertEqual(make(["placement"], ["ht"], topos=["1x4x1"]), [])

    def test_s3_has_machines_of_its_own(self):
        self.assertEqual({j["topo"] for j in make(["S3"], ["ht"])}, {"1x4x2", "dual-xeon"})
        self.assertEqual({j["topo"] for j in make(["S3"], ["ht"], topos=["1x2x2"])}, {"1x2x2"})

    def test_kernels_are_columns(self):
        chosen = columns.find(["normal"], {"bore": "/k"})
        some = jobs.make(rows.select(["nice"], TABLE), chosen, lambda row: ["1x2x2"], MACHINES, 1)
        self.assertEqual([(j["column"], j["kernel"]) for j in some],
                         [("normal", ""), ("bore", "bore")])

    def test_ht_off_boots_with_a_parameter(self):
        some = make(["nice"], ["normal", "nosmt", "ht"], runs=2)
        self.assertEqual([[j["column"] for j in g] for g in machine.group(some).values()],
                         [["normal", "ht"] * 2, ["nosmt"] * 2])

    def test_unknown_case(self):
        selection = rows.select(["S1/procs=9", "S1/procs=1"], TABLE)
        self.assertEqual(jobs.unknown_cases(selection, lambda row: ["1x2x2"], MACHINES),
                         ["S1/procs=9"])


class Select(unittest.TestCase):
    def test_group(self):
        names = [row.name for row, _ in rows.select(["placement"], TABLE)]
        self.assertEqual(names, ["release", "leave", "wake-beside", "crowd-futex", "crowd-timer"])

    def test_whole_row_wins_over_case(self):
        self.assertEqual(rows.select(["S6/pipe", "S6"], TABLE), [(TABLE["S6"], None)])
        self.assertEqual(rows.select(["S6", "S6/pipe"], TABLE), [(TABLE["S6"], None)])

    def test_unknown(self):
        with self.assertRaisesRegex(ValueError, "no row 'S9'"):
            rows.select(["S9"], TABLE)

    def test_unknown_column(self):
        with self.assertRaisesRegex(ValueError, "no column 'x'"):
            columns.find(["x"], {})

    def test_column_with_tunables(self):
        found, = columns.find(["ht:wake_ns=0+pair_ns=10"], {})
        self.assertEqual(found.sysctls, {"sched_ht_wake_ns": 0, "sched_ht_pair_ns": 10})
        self.assertTrue(found.ht)
        both, = columns.find(["ht-smt0:wake_ns=0"], {})
        self.assertEqual(both.sysctls, {"sched_ht_smt": 0, "sched_ht_wake_ns": 0})

    def test_tunables_that_are_none(self):
        for name in ("ht:wake_ns", "ht:wake_ns=x", "ht:wake_ns=1+", "normal:wake_ns=1",
                     "ht:wake_ns=-1", "x:wake_ns=1"):
            with self.assertRaises(ValueError, msg=name):
                columns.find([name], {})

    def test_kernel_named_as_a_column(self):
        with self.assertRaisesRegex(ValueError, "name of a column"):
            columns.find(["normal"], {"ht": "/k"})


class Cases(unittest.TestCase):
    def test_sweep_covers_one_to_twice_the_cpus(self):
        cases = TABLE["S5"].cases(SMALL)
        self.assertEqual([c for c in cases if c.startswith("cached")],
                         [f"cached-{n}" for n in (1, 2, 3, 4, 6, 8)])
        self.assertIn("waiting-48", TABLE["S5"].cases(XEON))

    def test_levels(self):
        self.assertEqual(rows.levels(2, (0.25, 0.5, 1, 1.5, 2)), [1, 2, 3, 4])
        self.assertEqual(rows.levels(16, (0.25, 0.5, 1, 1.5, 2)), [4, 8, 16, 24, 32])

    def test_wakeup_loads(self):
        self.assertEqual(TABLE["wakeup"].cases(SMALL), ["load=50%", "load=100%", "load=200%"])
        self.assertEqual(len(TABLE["wakeup"].cases(XEON)), 4)

    def test_short_bench_names_what_there_is(self):
        make(cli.SHORT["rows"], cli.SHORT["columns"])
        selection = rows.select(cli.SHORT["rows"], TABLE)
        self.assertEqual(jobs.unknown_cases(selection, lambda row: ["1x2x2"], MACHINES), [])

    def test_every_row_can_be_estimated(self):
        for row in TABLE.values():
            for machine in (SMALL, XEON):
                for case in row.cases(machine):
                    self.assertGreater(row.guest_s(case, machine, 1.0), 0, row.name)
