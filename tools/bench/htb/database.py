# SPDX-License-Identifier: GPL-2.0
"""The PostgreSQL cluster that pgbench rows use, made once and kept as a tar.

Made on the host at the host's speed, then unpacked into memory by the agent:
preparing data is no part of any measured phase.
"""

import glob
import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from .scripts import script

SCALE = 4
USER = "postgres"
# Nothing that runs when it likes, and no disk to wait for.
CONFIG = """
listen_addresses = ''
max_connections = 200
shared_buffers = 128MB
fsync = off
full_page_writes = off
autovacuum = off
wal_level = minimal
max_wal_senders = 0
checkpoint_timeout = 1d
max_wal_size = 1GB
jit = off
max_parallel_workers_per_gather = 0
logging_collector = off
huge_pages = off
dynamic_shared_memory_type = mmap
"""


def find_bin():
    """The newest server's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"),
                   key=lambda p: [int(n) for n in p.split("/")[4].split(".")])
    return found[-1] if found else None


def as_user(command):
    """The server refuses to run as root."""
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]


def prepare():
    """{"tar", "bin"}, or {"missing": reason}."""
    bin_dir = find_bin()
    if not bin_dir or not shutil.which("pgbench"):
        return {"missing": "PostgreSQL is not installed ('make deps' does it)"}
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return {"missing": f"no user '{USER}' to run the server as"}
    if os.geteuid() != 0:
        return {"missing": "needs root, to start the server as its own user"}
    key = hashlib.sha256(f"{bin_dir} {SCALE} {CONFIG}".encode()).hexdigest()[:12]
    tar = os.path.join(script("vm_machine.py").cache_dir(), f"pgbench-{key}.tar")
    if not os.path.exists(tar):
        try:
            make(bin_dir, tar)
        except subprocess.CalledProcessError as e:
            why = (e.stderr or e.stdout or "").strip()[-300:]
            return {"missing": f"the database could not be made: {' '.join(e.cmd[:6])}: {why}"}
    return {"tar": tar, "bin": bin_dir}


def call(command, **kwargs):
    subprocess.run(command, check=True, capture_output=True, text=True, **kwargs)


def make(bin_dir, tar):
    print(f"making a pgbench database of scale {SCALE} (once)", flush=True)
    with tempfile.TemporaryDirectory(prefix="htbench-pg.") as work:
        shutil.chown(work, USER, USER)
        data = os.path.join(work, "data")
        call(as_user([f"{bin_dir}/initdb", "-D", data, "-A", "trust", "--no-sync",
                      "--wal-segsize=1", "-U", USER]), cwd=work)
        with open(os.path.join(data, "postgresql.conf"), "a", encoding="utf-8") as f:
            f.write(CONFIG)
        server = ["-D", data, "-o", f"-k {work}", "-w"]
        call(as_user([f"{bin_dir}/pg_ctl", *server, "-l", "/dev/null", "start"]), cwd=work)
        try:
            call(["pgbench", "-h", work, "-U", USER, "-q", "-i", "-s", str(SCALE), "postgres"],
                 cwd=work)
        finally:
            call(as_user([f"{bin_dir}/pg_ctl", *server, "-m", "fast", "stop"]), cwd=work)
        call(["tar", "-C", work, "-cf", tar + ".new", "data"])
        Path(tar + ".new").rename(tar)
