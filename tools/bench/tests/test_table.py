# SPDX-License-Identifier: GPL-2.0
"""The table: numbers in the right cell, losses named."""

import unittest

from htb import report, rows, table

METRICS = (rows.Metric("tps", "tps", "higher"), rows.Metric("ms", "ms", "lower", 2))


class FakeRow(rows.Row):
    name, group, title, metrics = "S9", "S9", "a row", METRICS


ROW = FakeRow()


def records(**columns):
    """tps values by column; ms is their inverse."""
    out = []
    for column, values in columns.items():
        for run, value in enumerate(values, 1):
            out.append({"machine": "smtvm", "topo": "1x2x2", "row": "S9", "case": "c",
                        "column": column, "run": run, "status": "ok", "seconds": 1,
                        "commit": "abc", "model": "smtvm", "release": "6.12",
                        "metrics": {"tps": value, "ms": 1000 / value}})
    return out


def lost(**columns):
    return report.all_losses([ROW], records(**columns))


class Grid(unittest.TestCase):
    def test_cells(self):
        grid = table.grid(ROW, records(ht=[110, 110], normal=[100, 100]))
        self.assertEqual(grid[0], ["machine", "case", "what", "SCHED_NORMAL", "SCHED_HT"])
        self.assertEqual(grid[1], ["1x2x2", "c", "tps", "100 ±0 [100..100]",
                                   "110 ±0 [110..110] (+10.0 %)"])
        self.assertEqual(grid[2][2], "ms")
        self.assertIn("(+9.1 %)", grid[2][4])

    def test_missing_cell_is_empty(self):
        grid = table.grid(ROW, [r for r in records(ht=[1], normal=[1])
                                if r["column"] == "ht" or r["metrics"].pop("tps")])
        self.assertEqual(grid[1][3], "")

    def test_loss_is_marked(self):
        grid = table.grid(ROW, records(normal=[100, 101, 99], ht=[80, 81, 79]))
        self.assertIn("▼", grid[1][4])
        self.assertIn("▼", grid[2][4])

    def test_other_kernel_comes_last_under_its_name(self):
        grid = table.grid(ROW, records(bore=[1], normal=[1], nosmt=[1]))
        self.assertEqual(grid[0][3:], ["SCHED_NORMAL", "HT off", "bore"])

    def test_markdown(self):
        text = table.markdown([["a", "b|c"], ["1", "2"]])
        self.assertEqual(text, "| a | b\\|c |\n|---|---|\n| 1 | 2 |")


class Losses(unittest.TestCase):
    def test_none(self):
        self.assertEqual(lost(normal=[100, 101], ht=[110, 111]), [])

    def test_within_chance(self):
        self.assertEqual(lost(normal=[100, 120, 80], ht=[99, 119, 79]), [])

    def test_certain_but_tiny(self):
        self.assertEqual(lost(normal=[1000, 1000], ht=[999, 999]), [])

    def test_certain(self):
        texts = lost(normal=[100, 101, 99], ht=[90, 91, 89])
        self.assertEqual(len(texts), 2)
        self.assertIn("S9/c on 1x2x2: 90.0 tps, SCHED_NORMAL 100 (-10.0 %)", texts[0])

    def test_single_runs_are_said_to_be(self):
        self.assertIn("single runs", lost(normal=[100], ht=[90])[0])

    def test_below_ht_off(self):
        texts = lost(normal=[80, 80], ht=[90, 90], nosmt=[100, 100])
        self.assertEqual(len(texts), 1)
        self.assertIn("HT off 100", texts[0])


class Report(unittest.TestCase):
    def text(self, some):
        return report.as_text([ROW], table.runs(some), some)

    def test_says_that_speed_is_modelled(self):
        self.assertIn("MODELLED", self.text(records(normal=[1], ht=[1])).splitlines()[0])

    def test_native_does_not(self):
        some = [{**r, "machine": "native"} for r in records(normal=[1])]
        self.assertNotIn("MODELLED", self.text(some))

    def test_losses_skips_and_failures(self):
        some = records(normal=[2, 2], ht=[1, 1])
        some.append({"machine": "smtvm", "status": "skip", "column": "ht-cache0",
                     "reason": "no such sysctl"})
        some.append({**some[0], "run": 7, "status": "fail", "reason": "it broke"})
        text = self.text(some)
        self.assertIn("Where SCHED_HT loses\n  S9/c", text)
        self.assertIn("column ht-cache0 skipped: no such sysctl", text)
        self.assertIn("run 7 on 1x2x2 failed: it broke", text)
