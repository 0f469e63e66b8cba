# SPDX-License-Identifier: GPL-2.0
"""What rows use to read the output of programs."""

import re

from .rows import RowError

# stress-ng --metrics-brief: operations per second of real time.
BOGO = re.compile(r"metrc:\s+\[\d+\]\s+\S+\s+\d+\s+[0-9.]+\s+[0-9.]+\s+[0-9.]+\s+([0-9.]+)")
# perf bench -f simple: seconds.
SIMPLE = re.compile(r"^\s*([0-9.]+)\s*$", re.M)


def pairs(text):
    """The numbers of a load that prints lines "name value"."""
    out = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            out[name] = float(value)
        except ValueError as e:
            raise RowError(f"no number in '{line}'") from e
    return out


def number(pattern, text, what):
    """The first group of a compiled pattern, as a number."""
    match = pattern.search(text)
    if not match:
        raise RowError(f"{what}: no result in {text.strip()[-200:]!r}")
    return float(match[1])
