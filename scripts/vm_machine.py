# SPDX-License-Identifier: GPL-2.0
"""The QEMU command line and the initramfs of a guest."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
INIT_SOURCE = os.path.join(SCRIPTS, "vm-init.c")
INIT_CFLAGS = ["-Wall", "-Wextra", "-O2", "-static"]

# Intel, since QEMU's AMD models show no siblings; check=off, since emulation
# lacks some of the model's features and would say so each time.
CPU_MODEL = "Skylake-Client-v4"
CPU_FLAGS = "check=off"

# Emulation on a shared host makes everything late: what a kernel would call
# stuck is only slow. Limits are raised, never switched off.
PARAMETERS = [
    "console=ttyS0",
    "panic=-1",             # reset at once, which ends QEMU
    "oops=panic",
    "mitigations=off",      # page table switches cost far more in emulation
    "nokaslr",              # addresses in logs match System.map
    "tsc=reliable",         # there is no better clock to check it against
    "no_timer_check",
    "edd=off",
    "random.trust_cpu=on",
    "unknown_nmi_panic",    # how a stuck guest is made to show where it is,
    "panic_print=64",       # on every CPU
    "watchdog_thresh=60",
    "workqueue.watchdog_thresh=300",
    "rcupdate.rcu_cpu_stall_timeout=300",
    "rcupdate.rcu_exp_cpu_stall_timeout=300000",
]


class MachineError(Exception):
    """Something this host lacks; the text is for the user."""


def cache_dir():
    base = os.environ.get("HT_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME")
                            or os.path.expanduser("~/.cache"), "sched-ht")
    path = os.path.join(base, "vm")
    os.makedirs(path, exist_ok=True)
    return path


def qemu_version(qemu):
    """(10, 0) for the QEMU given."""
    try:
        text = subprocess.run([qemu, "--version"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise MachineError(f"{qemu} does not run ({e}): 'make deps' installs it") from e
    m = re.search(r"version (\d+)\.(\d+)", text)
    if not m:
        raise MachineError(f"cannot tell the version of {qemu}")
    return int(m[1]), int(m[2])


def build_init():
    """The guest's first process, compiled once per content."""
    with open(INIT_SOURCE, "rb") as f:
        source = f.read()
    key = hashlib.sha256(source + " ".join(INIT_CFLAGS).encode()).hexdigest()[:16]
    path = os.path.join(cache_dir(), f"init-{key}")
    if os.path.exists(path):
        return path
    if not shutil.which("gcc"):
        raise MachineError("gcc is missing: 'make deps' installs it")
    fd, new = tempfile.mkstemp(dir=cache_dir())
    os.close(fd)
    try:
        done = subprocess.run(["gcc", *INIT_CFLAGS, "-o", new, INIT_SOURCE],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineError(f"{INIT_SOURCE} does not compile:\n{done.stderr}")
        os.rename(new, path)
    finally:
        if os.path.exists(new):
            os.unlink(new)
    return path


def build_smtvm():
    """The plugin that ties guest time to instructions, built once per content."""
    source = os.path.join(os.path.dirname(SCRIPTS), "tools", "smtvm")
    key = hashlib.sha256()
    for name in sorted(os.listdir(source)):
        if name.endswith((".c", ".h")) or name == "Makefile":
            with open(os.path.join(source, name), "rb") as f:
                key.update(f.read())
    path = os.path.join(cache_dir(), f"smtvm-{key.hexdigest()[:16]}")
    if not os.path.exists(os.path.join(path, "smtvm.so")):
        new = tempfile.mkdtemp(dir=cache_dir())
        done = subprocess.run(["make", "-s", "-C", source, f"O={new}"], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            shutil.rmtree(new)
            raise MachineError(f"smtvm does not compile ('make deps' installs what it "
                               f"needs):\n{done.stderr}")
        try:
            os.rename(new, path)
        except OSError:     # another run was faster
            shutil.rmtree(new)
    return os.path.join(path, "smtvm.so")


SMTVM_QEMU = (10, 0)


def smtvm_arguments(options, topology):
    """The clock of --smtvm: QEMU's options, and the plugin's."""
    version = qemu_version(options.qemu)
    if version < SMTVM_QEMU:
        raise MachineError(f"smtvm needs QEMU 10 or later, {options.qemu} is "
                           f"{version[0]}.{version[1]}: 'make deps' installs it (Debian 12: "
                           "from bookworm-backports)")
    words = [build_smtvm(), "llc=" + {"none": "die"}.get(topology.llc, topology.llc)]
    words += options.smtvm.split(",") if options.smtvm else []
    if options.smtvm_out:
        words.append("out=" + _quote(os.path.abspath(options.smtvm_out)))
    return ["-icount", "shift=0,sleep=off", "-plugin", ",".join(words)]


def _cpio_entry(number, name, mode, data=b"", device=(0, 0)):
    """One member of a cpio archive in 'newc' format."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + path
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def initramfs(settings):
    """The archive: init, its directories, and what it is to do."""
    conf = b"".join(f"{key}={value}".encode(errors="surrogateescape") + b"\0"
                    for key, value in settings)
    with open(build_init(), "rb") as f:
        init = f.read()
    members = [(name, 0o040755) for name in ("dev", "sys", "lower", "upper", "root")]
    members += [("dev/console", 0o020600, b"", (5, 1)), ("init", 0o100755, init),
                ("ht.conf", 0o100600, conf), ("TRAILER!!!", 0)]
    return b"".join(_cpio_entry(i, *member) for i, member in enumerate(members, 1))


def _quote(value):
    """QEMU's options are split at commas."""
    return value.replace(",", ",,")


def parameters(topology, panic_on_warn, counted, extra):
    words = list(PARAMETERS)
    if counted:
        words.append("tsc_early_khz=1000000")
    if panic_on_warn:
        words.append("panic_on_warn=1")
    if topology.renumbered:
        words.append("acpi_apic_instance=2")
    return " ".join(words + topology.append.split() + extra)


def _share(tag, path, readonly):
    fsdev = (f"local,id={tag},path={_quote(path)},security_model=none,multidevs=remap"
             + (",readonly=on" if readonly else ""))
    return ["-fsdev", fsdev,
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _ports(fds):
    """Virtio-serial ports; fds maps a port's name to its socket."""
    out = ["-device", f"virtio-serial-pci,max_ports={len(fds) + 1}"]
    for name, fd in fds.items():
        chardev = name.replace(".", "-")
        out += ["-chardev", f"socket,id={chardev},fd={fd}",
                "-device", f"virtserialport,chardev={chardev},name={name}"]
    return out


def command(options, topology, files, fds):
    """QEMU's argument list.

    options: the parsed options; files: 'console', 'initrd' and perhaps 'madt';
    fds: socket numbers by port name, and 'qmp'.
    """
    model = options.cpu or CPU_MODEL
    counted = options.icount or options.smtvm is not None
    machine = ["q35", "smm=off", "sata=off", *topology.machine_properties()]
    cpu = [model, CPU_FLAGS, *topology.cpu_properties()]
    argv = [options.qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", ",".join(machine),
            "-accel", f"tcg,thread={'single' if counted else 'multi'},tb-size=256",
            "-cpu", ",".join(cpu), "-smp", topology.smp_argument(),
            "-m", f"{options.mem}M", "-rtc", "base=utc,clock=vm",
            "-kernel", options.kernel, "-initrd", files["initrd"],
            "-append", parameters(topology, options.panic_on_warn, counted, options.append),
            "-chardev", f"file,id=console,path={_quote(files['console'])}",
            "-serial", "chardev:console"]
    if options.icount:
        argv += ["-icount", "shift=0,sleep=off"]
    if options.smtvm is not None:
        argv += smtvm_arguments(options, topology)
    if "madt" in files:
        argv += ["-acpitable", f"file={_quote(files['madt'])}"]
    argv += topology.firmware_arguments() + topology.device_arguments(model)
    argv += topology.numa_arguments(options.mem)
    ports = {name: fd for name, fd in fds.items() if name != "qmp"}
    argv += _ports(ports)
    argv += ["-chardev", f"socket,id=qmp,fd={fds['qmp']}", "-mon", "chardev=qmp,mode=control"]
    argv += _share("ht.root", "/", True)
    for i, path in enumerate(options.rw):
        argv += _share(f"ht.rw{i}", path, False)
    return argv + options.qemu_arg
