# SPDX-License-Identifier: GPL-2.0
"""What a recording says about sharing a core while another idles."""

import os
import tempfile
import unittest

from htb import audit

CORES = {0: 0, 1: 0, 2: 2, 3: 2}


def switch(time, cpu, before, after):
    return (f"  x-{before}  [{cpu:03d}] d..2.  {time:.6f}: sched_switch: prev_comm=x prev_pid="
            f"{before} prev_prio=120 prev_state=S ==> next_comm=x next_pid={after} next_prio=120")


def become_openssl(time, cpu, pid):
    return (f"  x-{pid}  [{cpu:03d}] .....  {time:.6f}: sched_process_exec: "
            f"filename=/usr/bin/openssl pid={pid} old_pid={pid}")


class Sharing(unittest.TestCase):
    def sharing(self, lines, pids, elapsed_s=2.0):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.trace")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
            return audit.sharing(path, pids, CORES, elapsed_s)

    def two(self, second_cpu):
        """Both openssl from 1.0 s on; pid 12 ends at 2.0 s."""
        return [switch(0.5, 0, 0, 11), switch(0.5, second_cpu, 0, 12),
                become_openssl(1.0, 0, 11), become_openssl(1.0, second_cpu, 12),
                switch(2.0, second_cpu, 12, 0)]

    def test_siblings(self):
        got = self.sharing(self.two(1), [11, 12])
        self.assertAlmostEqual(got["shared_pct"], 50.0)
        self.assertAlmostEqual(got["longest_shared_ms"], 1000.0)

    def test_two_cores(self):
        self.assertEqual(self.sharing(self.two(2), [11, 12])["shared_pct"], 0)

    def test_other_core_busy(self):
        busy = [switch(0.4, 3, 0, 99)]
        self.assertEqual(self.sharing(busy + self.two(1), [11, 12])["shared_pct"], 0)

    def test_process_that_never_came(self):
        with self.assertRaisesRegex(ValueError, "never became openssl"):
            self.sharing(self.two(1), [11, 12, 13])

    def test_lost_events(self):
        with self.assertRaisesRegex(ValueError, "lost events"):
            self.sharing(["CPU:1 [LOST 5 EVENTS]"] + self.two(1), [11, 12])
