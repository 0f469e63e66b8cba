# SPDX-License-Identifier: GPL-2.0
"""Statistics, against numbers worked out elsewhere."""

import unittest

from htb import stats

# Runs of the seed's second report; its own text says means 21637 and 20800.
SEED_ON = [21652, 21648, 21588, 21608, 21625, 21765, 21646, 21513, 21667, 21656]
SEED_OFF = [20844, 20799, 20706, 20834, 20780, 20854, 20768, 20785, 20802, 20823]


class Summarise(unittest.TestCase):
    def test_seed(self):
        s = stats.summarise(SEED_ON)
        self.assertEqual((s.count, s.low, s.high), (10, 21513, 21765))
        self.assertAlmostEqual(s.mean, 21636.8)
        # 2.262 * 63.97 / sqrt(10)
        self.assertAlmostEqual(s.ci95, 45.76, delta=0.01)

    def test_one_value_has_no_interval(self):
        self.assertIsNone(stats.summarise([5.0]).ci95)

    def test_nothing(self):
        with self.assertRaises(ValueError):
            stats.summarise([])

    def test_equal_values(self):
        self.assertEqual(stats.summarise([3, 3, 3]).ci95, 0)


class Quantile(unittest.TestCase):
    def test_table(self):
        self.assertEqual(stats.t95(1), 12.706)
        self.assertEqual(stats.t95(9), 2.262)

    def test_between_entries_is_the_wider(self):
        self.assertEqual(stats.t95(24), stats.t95(20))
        self.assertEqual(stats.t95(100000), 1.980)

    def test_none(self):
        with self.assertRaises(ValueError):
            stats.t95(0)


class Differs(unittest.TestCase):
    def check(self, a, b, expect):
        self.assertIs(stats.differs(stats.summarise(a), stats.summarise(b)), expect)

    def test_seed(self):
        self.check(SEED_ON, SEED_OFF, True)

    def test_chance(self):
        self.check([1.0, 2.0, 3.0], [1.5, 2.5, 3.5], False)

    def test_single_run_says_nothing(self):
        self.check([1.0], [2.0, 2.0], None)

    def test_no_spread(self):
        self.check([1, 1], [2, 2], True)
        self.check([1, 1], [1, 1], False)

    def test_symmetric(self):
        self.check(SEED_OFF, SEED_ON, True)
