# SPDX-License-Identifier: GPL-2.0
"""The result file: nothing is lost, nothing counts twice."""

import os
import tempfile
import unittest

from htb import results


def record(run, status="ok", **more):
    return {"machine": "smtvm", "topo": "1x2x2", "row": "S1", "case": "procs=2",
            "column": "ht", "run": run, "status": status, "metrics": {"x": run}, **more}


class File(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.path = os.path.join(self.dir.name, "results.jsonl")
        self.file = results.ResultFile(self.path)

    def cut(self, size):
        with open(self.path, "rb+") as f:
            f.truncate(os.path.getsize(self.path) - size)

    def test_none_yet(self):
        self.assertEqual(self.file.load(), [])
        self.file.repair()

    def test_round_trip(self):
        self.file.append(record(1))
        self.file.append(record(2))
        self.assertEqual([r["run"] for r in self.file.load()], [1, 2])

    def test_each_is_a_line_at_once(self):
        self.file.append(record(1))
        with open(self.path, "rb") as f:
            self.assertTrue(f.read().endswith(b"}\n"))

    def test_cut_short(self):
        self.file.append(record(1))
        self.file.append(record(2))
        self.cut(7)
        self.assertEqual([r["run"] for r in self.file.load()], [1])

    def test_only_the_newline_missing(self):
        self.file.append(record(1))
        self.cut(1)
        self.assertEqual([r["run"] for r in self.file.load()], [1])

    def test_goes_on_after_a_cut(self):
        self.file.append(record(1))
        self.file.append(record(2))
        self.cut(7)
        self.file.repair()
        self.file.append(record(3))
        self.assertEqual([r["run"] for r in self.file.load()], [1, 3])

    def test_garbage_is_an_error(self):
        self.file.append(record(1))
        with open(self.path, "ab") as f:
            f.write(b"not json\n")
        self.file.append(record(2))
        with self.assertRaisesRegex(results.ResultError, ":2: not JSON"):
            self.file.load()

    def test_other_version_is_an_error(self):
        with open(self.path, "wb") as f:
            f.write(b'{"v":99}\n')
        with self.assertRaisesRegex(results.ResultError, "version"):
            self.file.load()


class Resume(unittest.TestCase):
    def test_done(self):
        done = results.done_keys([record(1), record(2, "fail")])
        self.assertIn(results.key_of(record(1)), done)
        self.assertNotIn(results.key_of(record(2)), done)

    def test_success_after_failure_counts(self):
        some = results.latest([record(1, "fail"), record(1), record(1, "fail")])
        self.assertEqual([r["status"] for r in some], ["ok"])

    def test_last_failure_counts(self):
        some = results.latest([record(1, "fail", reason="a"), record(1, "fail", reason="b")])
        self.assertEqual([r["reason"] for r in some], ["b"])
