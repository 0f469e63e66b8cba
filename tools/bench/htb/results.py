# SPDX-License-Identifier: GPL-2.0
"""The raw result file: one JSON object a line, each written at once."""

import json
import os

VERSION = 1
# What makes two runs the same measurement; runs of one series differ in "run".
KEY = ("machine", "topo", "row", "case", "column", "run")


class ResultError(Exception):
    """A result file that cannot be used; the text is for the user."""


def key_of(record):
    return tuple(record.get(name) for name in KEY)


class ResultFile:
    """Appends to and reads one file; several readers, one writer."""

    def __init__(self, path):
        self.path = path

    def load(self):
        """All records. A last line cut short by a crash is dropped; any other
        line that is no record is an error, since a result would be lost."""
        try:
            with open(self.path, "rb") as f:
                data = f.read()
        except FileNotFoundError:
            return []
        *lines, rest = data.split(b"\n")
        records = [self._parse(line, i) for i, line in enumerate(lines, 1) if line.strip()]
        if rest.strip():
            try:
                records.append(self._parse(rest, len(lines) + 1))
            except ResultError:
                pass
        return records

    def _parse(self, line, number):
        try:
            record = json.loads(line)
        except ValueError as e:
            raise ResultError(f"{self.path}:{number}: not JSON: {e}") from e
        if not isinstance(record, dict) or record.get("v") != VERSION:
            raise ResultError(f"{self.path}:{number}: not a result of version {VERSION}")
        return record

    def repair(self):
        """Cuts an unfinished last line off, so that the next begins a line."""
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb+") as f:
            data = f.read()
            if data and not data.endswith(b"\n"):
                f.truncate(data.rfind(b"\n") + 1)
                f.flush()
                os.fsync(f.fileno())

    def append(self, record):
        line = json.dumps({"v": VERSION, **record}, separators=(",", ":")) + "\n"
        with open(self.path, "ab") as f:
            f.write(line.encode())
            f.flush()
            os.fsync(f.fileno())


def done_keys(records):
    """Keys of what need not run again: failures and skips are tried again."""
    return {key_of(r) for r in records if r.get("status") == "ok"}


def latest(records):
    """One record per key: a good one if there is any, else the last."""
    best = {}
    for record in records:
        old = best.get(key_of(record))
        if old is None or old.get("status") != "ok" or record.get("status") == "ok":
            best[key_of(record)] = record
    return list(best.values())
