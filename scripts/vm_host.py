# SPDX-License-Identifier: GPL-2.0
"""Does the host run QEMU's threads? One that it keeps waiting for seconds is a
virtual CPU that stands still, whatever the guest's scheduler does."""

import os
import threading
import time

PERIOD_SECONDS = 1
# More than a loaded host makes a thread wait, less than any test's patience.
WORTH_SAYING_SECONDS = 5


class HostWaits(threading.Thread):
    """Watches the threads of a process as long as it lives."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.tasks = f"/proc/{pid}/task"
        self.since = {}         # thread: when it last got on, and its run time then
        self.longest = 0.0      # seconds
        self.thread = ""

    def run(self):
        while True:
            try:
                threads = os.listdir(self.tasks)
            except OSError:
                return
            for thread in threads:
                self.look_at(thread)
            time.sleep(PERIOD_SECONDS)

    def look_at(self, thread):
        try:
            with open(f"{self.tasks}/{thread}/stat", encoding="ascii", errors="replace") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
            with open(f"{self.tasks}/{thread}/schedstat", encoding="ascii") as f:
                ran = f.read().split()[0]
        except (OSError, IndexError):
            return
        now = time.monotonic()
        began, before = self.since.get(thread, (now, None))
        if ran != before or rest.split()[0] == "S":
            self.since[thread] = now, ran
        elif now - began > self.longest:
            self.longest, self.thread = now - began, f"{thread} ({name}, {rest.split()[0]})"

    def complaint(self):
        """What to tell the user, or nothing."""
        if self.longest < WORTH_SAYING_SECONDS:
            return ""
        return (f"the host did not run thread {self.thread} of QEMU for {self.longest:.0f} s: "
                "durations in this guest mean little")
