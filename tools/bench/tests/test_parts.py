# SPDX-License-Identifier: GPL-2.0
"""Counters, estimates, outputs of programs, calibration, plots."""

import json
import os
import tempfile
import unittest

from htb import calibrate, columns, counters, estimate, machine, outputs, plot, rows
from htb import rows_openssl, rows_pgbench, rows_unix

TABLE = rows.all_rows()
SMALL = {"1x2x2": rows.Machine("1x2x2", 4, 2)}


def mark(label, *kernel):
    return json.dumps({"event": "mark", "label": label, "v_ns": 1, "vcpus": [
        {"cpu": i, "insns": 10 * n, "kernel_insns": n} for i, n in enumerate(kernel)]})


class Counters(unittest.TestCase):
    @staticmethod
    def phases(*lines):
        out = counters.Phases()
        for line in lines:
            out.add(line)
        return out

    def test_difference_over_cpus(self):
        got = self.phases(mark("begin:a", 1, 2), mark("end:a", 11, 22)).take("")
        self.assertEqual(got, {"a": {"insns": 300, "kernel_insns": 30}})

    def test_last_phase_of_a_label_counts(self):
        got = self.phases(mark("begin:a", 0), mark("end:a", 5), mark("begin:a", 10),
                          mark("end:a", 17)).take("a")
        self.assertEqual(got[""]["kernel_insns"], 7)

    def test_unended(self):
        self.assertEqual(self.phases(mark("begin:a", 0), mark("end:b", 5)).take(""), {})

    def test_next_run_has_begun_already(self):
        first, second = (rows.tag({"row": "S6", "case": "pipe", "column": c, "run": 1})
                         for c in ("normal", "ht"))
        got = self.phases(mark(f"begin:{first}main", 0), mark(f"end:{first}main", 5),
                          mark(f"begin:{second}main", 10))
        self.assertEqual(got.take(first)["main"]["kernel_insns"], 5)
        got.add(mark(f"end:{second}main", 17))
        self.assertEqual(got.take(second)["main"]["kernel_insns"], 7)
        self.assertEqual(got.take(""), {})

    def test_per_op_by_difference(self):
        counts = {"s": {"kernel_insns": 150, "insns": 500}, "b": {"kernel_insns": 1050,
                                                                  "insns": 5000}}
        self.assertEqual(counters.per_op(counts, {"s": 10, "b": 100}),
                         {"kernel_insns_per_op": 10, "insns_per_op": 50})

    def test_per_op_of_one_phase(self):
        self.assertEqual(counters.per_op({"a": {"kernel_insns": 50}}, {"a": 5}),
                         {"kernel_insns_per_op": 10})

    def test_per_op_without_counters(self):
        self.assertEqual(counters.per_op({}, {"a": 5}), {})

    def test_reader_takes_whole_lines_only(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "marks")
            reader = counters.Reader(path)
            self.assertEqual(reader.new_lines(), [])
            with open(path, "w", encoding="utf-8") as f:
                f.write("one\ntw")
                f.flush()
                self.assertEqual(reader.new_lines(), ["one"])
                f.write("o\n")
                f.flush()
                self.assertEqual(reader.new_lines(), ["two"])


class Estimate(unittest.TestCase):
    JOBS = [{"topo": "1x2x2", "kernel": "", "boot": "", "row": "stress-cpu",
             "case": "tasks=1"}] * 3

    def test_default_pace(self):
        spent = estimate.host_seconds(self.JOBS, TABLE, SMALL, 3.0, {}, True)
        self.assertAlmostEqual(spent["stress-cpu"], 3 * 3.5 * 2.0)

    def test_measured_pace(self):
        records = [{"status": "ok", "row": "stress-cpu", "host_s": 30, "guest_s": 10},
                   {"status": "fail", "row": "stress-cpu", "host_s": 99, "guest_s": 1}]
        self.assertEqual(estimate.paces(records), {"stress-cpu": 3.0})
        text = estimate.text(self.JOBS, TABLE, SMALL, 3.0, records, True)
        self.assertIn("3.0 host s per guest s, from this result file", text)

    def test_native(self):
        spent = estimate.host_seconds(self.JOBS, TABLE, SMALL, 3.0, {}, False)
        self.assertAlmostEqual(spent["stress-cpu"], 10.5)


class Outputs(unittest.TestCase):
    def test_pairs(self):
        self.assertEqual(outputs.pairs("a 1.5\nb 2\n"), {"a": 1.5, "b": 2})
        with self.assertRaises(rows.RowError):
            outputs.pairs("a x")

    def test_pgbench(self):
        text = ("number of transactions actually processed: 1234\n"
                "number of failed transactions: 0 (0.000%)\nlatency average = 0.250 ms\n"
                "initial connection time = 3.1 ms\n"
                "tps = 4000.5 (without initial connection time)\n")
        self.assertEqual(outputs.number(rows_pgbench.TPS, text, "x"), 4000.5)
        self.assertEqual(outputs.number(rows_pgbench.COUNT, text, "x"), 1234)
        self.assertEqual(outputs.number(rows_pgbench.LATENCY, text, "x"), 0.25)
        with self.assertRaisesRegex(rows.RowError, "no result"):
            outputs.number(rows_pgbench.TPS, "pgbench: error", "pgbench")

    def test_pgbench_length(self):
        row = TABLE["S2"]
        self.assertEqual(row.length(3.0, 4), ["-T", "3"])
        self.assertEqual(row.length(0.5, 4), ["-t", "1000"])
        self.assertEqual(row.length(0.1, 64), ["-t", "20"])

    def test_stress_ng(self):
        text = "stress-ng: metrc: [66] cpu  834  0.98  0.39  0.00  851.66  2119.60\n"
        self.assertEqual(outputs.number(outputs.BOGO, text, "x"), 851.66)

    def test_speeds(self):
        self.assertAlmostEqual(rows_unix.says_seconds(1000, " 0.250\n", 0), 4000)
        self.assertAlmostEqual(rows_unix.says_ns_per_op(1000, "fork 200000\n", 0), 5000)
        self.assertAlmostEqual(rows_unix.says_ns_per_op(1, "ns_per_op 1000.5\n", 0), 999500.2, 0)
        self.assertAlmostEqual(rows_unix.took(10, "", 2_000_000_000), 5)
        with self.assertRaises(rows.RowError):
            rows_unix.says_ns_per_op(1, "", 0)

    def test_openssl(self):
        text = "+R1:100:rsa512:1.0\n+F2:0:512:1024.5:9999.0\n"
        self.assertEqual(outputs.number(rows_openssl.RATE, text, "x"), 1024.5)


class Scx(unittest.TestCase):
    def test_verifier(self):
        text = "153: (85) call x\nR1 has no valid kptr\nprocessed 175 insns (limit 1)\nlibbpf: failed\n"
        self.assertIn("(R1 has no valid kptr)", columns.complaint_of(text))

    def test_program(self):
        self.assertEqual(columns.complaint_of("a\nno permission\n\n"), "no permission")
        self.assertEqual(columns.complaint_of(""), "")


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def cpus(self, *siblings):
        root = self.dir.name
        for cpu, text in enumerate(siblings):
            os.makedirs(f"{root}/cpu{cpu}/topology")
            columns.write(f"{root}/cpu{cpu}/topology/thread_siblings_list", text)
        columns.write(f"{root}/online", f"0-{len(siblings) - 1}")
        return root

    def test_refuses_without_smt(self):
        with self.assertRaisesRegex(calibrate.CalibrateError, "no CPU here has a sibling"):
            calibrate.choose_cpus(None, self.cpus("0", "1"))

    def test_first_core_with_two_threads(self):
        self.assertEqual(calibrate.choose_cpus(None, self.cpus("0", "1-2", "1-2")), [1, 2])

    def test_not_siblings(self):
        with self.assertRaisesRegex(calibrate.CalibrateError, "not two or more threads"):
            calibrate.choose_cpus("0,1", self.cpus("0,2", "1,3", "0,2", "1,3"))

    def test_factor(self):
        self.assertAlmostEqual(calibrate.factor([100, 110, 90], [[60, 50], [50, 60], [55, 55]]),
                               0.55)

    def test_refuses_in_the_emulated_machine(self):
        os.environ["HT_VM"] = "1"
        self.addCleanup(os.environ.pop, "HT_VM")
        with self.assertRaises(calibrate.CalibrateError):
            calibrate.refuse_emulation()


class Plot(unittest.TestCase):
    def test_case_names(self):
        self.assertEqual([plot.load_of(c) for c in ("cached-12", "load=50%", "pipe", "jobs=4")],
                         [12, 50, None, 4])
        self.assertEqual(plot.kind_of("cached-12"), "cached")

    def test_quoting(self):
        self.assertEqual(plot.quote('a_b"'), 'a\\\\_b\\"')


class Agent(unittest.TestCase):
    """What the host makes of the agent's lines."""

    class Bench:
        traces = "/nowhere"

        def __init__(self):
            self.kept, self.skips = [], {}

        def keep(self, record):
            self.kept.append(record)

        def skip(self, column, reason):
            self.skips[column] = reason

    JOBS = [{"topo": "t", "kernel": "", "row": "S1", "case": "c", "column": c, "run": 1}
            for c in ("normal", "ht", "nosmt")]

    def setUp(self):
        self.bench = self.Bench()
        self.collector = machine.Collector(self.bench, counters.Reader(None))

    def say(self, **record):
        self.collector.line(json.dumps(record))

    def test_run_skip_and_death(self):
        self.say(type="machine", release="6.12")
        self.say(type="start", job=self.JOBS[0])
        self.say(type="run", job=self.JOBS[0], status="ok", metrics={"x": 1})
        self.say(type="skip", column="nosmt", reason="no SMT")
        self.say(type="start", job=self.JOBS[1])
        self.assertTrue(self.collector.died("panic"))
        self.assertEqual([(r["column"], r["status"]) for r in self.bench.kept],
                         [("normal", "ok"), ("ht", "fail")])
        self.assertEqual(self.bench.kept[0]["release"], "6.12")
        self.assertEqual(self.collector.left(self.JOBS), [])

    def test_nothing_ran(self):
        self.assertFalse(self.collector.died("no boot"))
        self.assertEqual(self.collector.left(self.JOBS), self.JOBS)

    def test_damaged_recording_is_a_failure(self):
        self.say(type="start", job=self.JOBS[0])
        self.say(type="run", job=self.JOBS[0], status="ok", metrics={},
                 audit={"trace": "gone.gz", "pids": [1], "topology": {}, "elapsed_s": 1})
        self.assertEqual(self.bench.kept[0]["status"], "fail")

    def test_garbage(self):
        with self.assertRaises(machine.BenchError):
            self.collector.line("Segmentation fault\n")


if __name__ == "__main__":
    unittest.main()
