# SPDX-License-Identifier: GPL-2.0
"""S1: `openssl speed rsa512`, one to four processes."""

import os
import re
import subprocess
import time

from .rows import Metric, Row, RowError, whole
from .tracing import Recording

RATE = re.compile(r"^\+F2:\d+:\d+:([0-9.]+)", re.M)


class OpensslRow(Row):
    """All start at once; each signs for the same time."""
    name = "S1"
    group = "S1"
    title = "openssl speed rsa512, processes at once"
    metrics = (Metric("sign_per_s", "sign/s per process", "higher"),
               Metric("slowest_per_s", "sign/s of the slowest", "higher"),
               Metric("shared_pct", "% of time two share a core while one idles", "lower", 2))
    host_s_per_guest_s = 7.0

    def cases(self, machine):
        return [f"procs={n}" for n in (1, 2, 3, 4) if n <= machine.cpus]

    def guest_s(self, case, machine, seconds):
        return 2 * whole(seconds) + 1

    def run(self, ctx, case):
        count = int(case.partition("=")[2])
        recording = Recording(ctx)
        command = ["openssl", "speed", "-mr", "-elapsed", "-seconds", str(whole(ctx.seconds)),
                   "rsa512"]
        gate = Gate(ctx, count, command)
        with recording:
            ctx.mark("begin", "main")
            started = time.monotonic()
            gate.open()
            texts = gate.outputs(60 + 30 * ctx.seconds)
            elapsed = time.monotonic() - started
            ctx.mark("end", "main")
        rates = []
        for text in texts:
            match = RATE.search(text)
            if not match:
                raise RowError(f"openssl printed no signing rate: {text.strip()[-200:]!r}")
            rates.append(float(match[1]))
        # Who ran where is worked out of the recording, see audit.py.
        ctx.attach("audit", {"trace": recording.save(case), "pids": gate.pids(),
                             "elapsed_s": elapsed, "topology": ctx.topology()})
        return {"sign_per_s": sum(rates) / len(rates), "slowest_per_s": min(rates)}


class Gate:
    """Processes that wait until all are there, then become the command."""

    def __init__(self, ctx, count, command):
        read_end, self.write_end = os.pipe()
        # "read" returns for all at once when the pipe's other end closes.
        wait = ["sh", "-c", 'read _; exec "$@"', "sh", *ctx.prefix(), *command]
        # pylint: disable=consider-using-with
        self.processes = [subprocess.Popen(wait, stdin=read_end, stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL, text=True, cwd=ctx.work)
                          for _ in range(count)]
        os.close(read_end)
        time.sleep(0.2)

    def pids(self):
        return [p.pid for p in self.processes]

    def open(self):
        os.close(self.write_end)

    def outputs(self, timeout):
        out = []
        try:
            for process in self.processes:
                text, _ = process.communicate(timeout=timeout)
                if process.returncode:
                    raise RowError(f"openssl ended with status {process.returncode}")
                out.append(text)
        except subprocess.TimeoutExpired as e:
            raise RowError(f"openssl did not end within {timeout:.0f} s") from e
        finally:
            for process in self.processes:
                process.kill()
        return out


ROWS = (OpensslRow(),)
