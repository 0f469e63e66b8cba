# SPDX-License-Identifier: GPL-2.0
"""Mean, spread and confidence interval of a few runs."""

from collections import namedtuple
from math import sqrt
from statistics import mean, stdev

# Two-sided 95 % quantiles of Student's t by degrees of freedom; beyond the
# table the next smaller entry is used, which errs towards a wider interval.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365,
       8: 2.306, 9: 2.262, 10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145,
       15: 2.131, 16: 2.120, 17: 2.110, 18: 2.101, 19: 2.093, 20: 2.086, 25: 2.060,
       30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980}

Summary = namedtuple("Summary", "count mean low high ci95")


def t95(degrees):
    """The quantile for that many degrees of freedom, at least one."""
    if degrees < 1:
        raise ValueError("a confidence interval takes two values or more")
    return T95[max(d for d in T95 if d <= degrees)]


def summarise(values):
    """Summary of a list; ci95 (half the interval's width) is None for one value."""
    if not values:
        raise ValueError("nothing to summarise")
    half = None
    if len(values) > 1:
        half = t95(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Summary(len(values), mean(values), min(values), max(values), half)


def differs(a, b):
    """Whether two means are apart by more than chance: Welch's test at 95 %.

    None if either has only one run: that says nothing about chance.
    """
    if a.ci95 is None or b.ci95 is None:
        return None
    va, vb = ((s.ci95 / t95(s.count - 1)) ** 2 for s in (a, b))
    if va + vb == 0:
        return a.mean != b.mean
    degrees = (va + vb) ** 2 / (va ** 2 / (a.count - 1) + vb ** 2 / (b.count - 1))
    return abs(a.mean - b.mean) > t95(max(1, int(degrees))) * sqrt(va + vb)
