# SPDX-License-Identifier: GPL-2.0
"""Guest topologies: what QEMU is told, and what the guest must then see.

A machine is a full grid of sockets x dies x modules x cores x threads. Its
hardware threads are called slots and counted in that order, threads fastest,
which is also the order of their APIC ids. A topology may leave slots out and
may number the CPUs in any order: the kernel numbers CPUs as the firmware's
MADT lists them, so such a machine gets a second MADT, and the kernel is told
to read that one. CPU 0 is always slot 0: QEMU starts no other first.
"""

import glob
import os
import re
import struct

LEVELS = ("socket", "die", "module", "core", "thread")
SHAPE_KEYS = ("sockets", "dies", "modules", "cores", "threads")
KEYS = ("about", "shape", "order", "present", "llc", "l2", "nodes", "possible", "min-qemu",
        "append")
TOPO_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "topologies")

# Shapes that need no file; any other SxCxT works as well.
PLAIN = {
    "1x2x2": "2 cores x 2 threads",
    "1x4x2": "4 cores x 2 threads",
    "1x4x1": "4 cores without SMT",
    "1x8x2": "8 cores x 2 threads",
    "2x2x2": "2 packages x 2 cores x 2 threads",
    "2x8x2": "2 packages x 8 cores x 2 threads",
}


class TopologyError(Exception):
    """A description that makes no sense; the text is for the user."""


def cpulist(cpus):
    """{0,1,2,5} -> '0-2,5', as the kernel prints masks."""
    out = []
    for cpu in sorted(cpus):
        if out and out[-1][1] == cpu - 1:
            out[-1][1] = cpu
        else:
            out.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def parse_list(text, what):
    """'0-3 8 12-16:2' -> [0, 1, 2, 3, 8, 12, 14, 16], order kept."""
    out = []
    for word in text.replace(",", " ").split():
        m = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", word)
        if not m:
            raise TopologyError(f"{what}: '{word}' is not a number or a range")
        first, last, step = int(m[1]), int(m[2] or m[1]), int(m[3] or 1)
        if last < first or step < 1:
            raise TopologyError(f"{what}: '{word}' is an empty range")
        out += range(first, last + 1, step)
    return out


class Topology:
    """One guest machine."""

    def __init__(self, name, fields):
        self.name = name
        self.about = fields.get("about", "")
        self.append = fields.get("append", "")
        self.shape = self._shape(fields.get("shape", ""))
        self.total = 1
        for key in SHAPE_KEYS:
            self.total *= self.shape[key]
        if self.total > 4096:
            raise TopologyError(f"{name}: {self.total} CPUs are more than QEMU has")
        self.slots = self._slots(fields)
        self.llc = self._choice(fields, "llc", "die", ("die", "module", "core", "none"))
        self.l2 = self._choice(fields, "l2", "core", ("core", "module"))
        self.nodes = self._nodes(fields.get("nodes", ""))
        self.hotplug = self._choice(fields, "possible", "present", ("present", "all")) == "all"
        self.min_qemu = self._min_qemu(fields.get("min-qemu", ""))

    def _shape(self, text):
        shape = dict.fromkeys(SHAPE_KEYS, 1)
        if not text:
            raise TopologyError(f"{self.name}: no 'shape'")
        for word in text.split():
            key, _, value = word.partition("=")
            if key not in shape or not re.fullmatch(r"[1-9]\d{0,3}", value):
                raise TopologyError(
                    f"{self.name}: shape: '{word}' is not one of "
                    f"{', '.join(k + '=N' for k in SHAPE_KEYS)} with N >= 1")
            shape[key] = int(value)
        return shape

    def _slots(self, fields):
        """The slot of each CPU, by CPU number."""
        if "order" in fields and "present" in fields:
            raise TopologyError(f"{self.name}: 'order' already says which CPUs are present")
        if "present" in fields:
            if not re.fullmatch(r"[1-9]\d*", fields["present"]) or \
                    int(fields["present"]) > self.total:
                raise TopologyError(f"{self.name}: present must be 1..{self.total}")
            return list(range(int(fields["present"])))
        slots = parse_list(fields.get("order", f"0-{self.total - 1}"), f"{self.name}: order")
        if len(set(slots)) != len(slots) or max(slots) >= self.total:
            raise TopologyError(f"{self.name}: order: each slot 0-{self.total - 1} at most once")
        if slots[0] != 0:
            raise TopologyError(f"{self.name}: order: CPU 0 must be slot 0")
        return slots

    def _choice(self, fields, key, default, allowed):
        value = fields.get(key, default)
        if value not in allowed:
            raise TopologyError(f"{self.name}: {key} must be one of {', '.join(allowed)}")
        return value

    def _nodes(self, text):
        """The NUMA node of each slot, or nothing without NUMA."""
        if not text:
            return []
        if text == "socket":
            return [self.place(s)[0] for s in range(self.total)]
        cores = self.total // self.shape["threads"]
        nodes = parse_list(text, f"{self.name}: nodes")
        if len(nodes) != cores:
            raise TopologyError(
                f"{self.name}: nodes is 'socket' or one node number for each of the {cores} cores")
        return [nodes[s // self.shape["threads"]] for s in range(self.total)]

    def _min_qemu(self, text):
        least = (0, 0)
        # 7.2 knows neither modules nor caches shared at a chosen level.
        if self.shape["modules"] > 1 or self.l2 != "core" or self.llc in ("module", "core"):
            least = (10, 0)
        if text:
            m = re.fullmatch(r"(\d+)\.(\d+)", text)
            if not m:
                raise TopologyError(f"{self.name}: min-qemu must look like 10.0")
            least = max(least, (int(m[1]), int(m[2])))
        return least

    def place(self, slot):
        """A slot's (socket, die, module, core, thread)."""
        out = []
        for key in reversed(SHAPE_KEYS):
            out.append(slot % self.shape[key])
            slot //= self.shape[key]
        return tuple(reversed(out))

    def apic_id(self, slot):
        """Each level's number in the fewest bits that hold it."""
        out = 0
        for key, value in zip(SHAPE_KEYS, self.place(slot)):
            out = out << (self.shape[key] - 1).bit_length() | value
        return out

    @property
    def renumbered(self):
        return self.slots != sorted(self.slots)

    @property
    def sparse(self):
        """Slots left out other than at the end, which -smp alone cannot say."""
        return set(self.slots) != set(range(len(self.slots)))

    # What the guest must see

    def _group(self, cpus, level):
        """CPU -> list of those that share its unit at this level."""
        depth = LEVELS.index(level) + 1
        units = {}
        for cpu in cpus:
            units.setdefault(self.place(self.slots[cpu])[:depth], []).append(cpu)
        return {cpu: cpulist(unit) for unit in units.values() for cpu in unit}

    def expected(self, online):
        """For each CPU of 'online': the lists that sysfs must show."""
        views = {
            "siblings": self._group(online, "core"),
            "package": self._group(online, "socket"),
            "l2": self._group(online, self.l2),
            "llc": self._group(online, self.llc) if self.llc != "none" else {},
        }
        out = {}
        for cpu in online:
            out[cpu] = {key: view.get(cpu, "none") for key, view in views.items()}
            out[cpu]["node"] = str(self.nodes[self.slots[cpu]] if self.nodes else 0)
        return out

    def possible(self):
        """How many CPUs the kernel reserves numbers for; nothing if versions differ."""
        if self.hotplug:
            return self.total
        full = self.renumbered or len(self.slots) == self.total
        return len(self.slots) if full else None

    # What QEMU is told

    def smp_argument(self):
        words = ["1" if self.sparse else str(len(self.slots)), f"maxcpus={self.total}"]
        for key in SHAPE_KEYS:
            # QEMU 7.2 refuses the word modules.
            if key != "modules" or self.shape[key] > 1:
                words.append(f"{key}={self.shape[key]}")
        return ",".join(words)

    def cpu_properties(self):
        props = []
        # Else QEMU 10 raises the CPUID level to report dies and modules, and
        # models that never had those leaves make it abort.
        if self.shape["dies"] > 1 or self.shape["modules"] > 1:
            props.append("full-cpuid-auto-level=off")
        if self.llc == "none":
            props.append("l3-cache=off")
        if self.hotplug:
            props.append("hypervisor=off")
        return props

    def firmware_arguments(self):
        """The kernel takes TCG for bare metal, and there it ignores absent
        CPUs of QEMU's kind. It finds VMware by this serial number and a port
        that QEMU has, and then counts them as possible.
        """
        return ["-smbios", "type=1,serial=VMware-56"] if self.hotplug else []

    def machine_properties(self):
        caches = []
        if self.l2 != "core":
            caches.append(("l2", self.l2))
        if self.llc in ("module", "core"):
            caches.append(("l3", self.llc))
        vmport = ["vmport=on" if self.hotplug else "vmport=off"]
        return vmport + [f"smp-cache.{i}.{key}={value}" for i, pair in enumerate(caches)
                for key, value in zip(("cache", "topology"), pair)]

    def _unit_argument(self, slot, levels):
        names = dict(zip(LEVELS, self.place(slot)))
        if self.shape["dies"] == 1:
            names.pop("die")
        if self.shape["modules"] == 1:
            names.pop("module")
        return ",".join(f"{key}-id={names[key]}" for key in levels if key in names)

    def device_arguments(self, model):
        """CPUs plugged in one by one, where some slots stay empty."""
        if not self.sparse:
            return []
        out = []
        for slot in sorted(self.slots[1:]):
            out += ["-device", f"{model}-x86_64-cpu,{self._unit_argument(slot, LEVELS)}"]
        return out

    def numa_arguments(self, mem):
        if not self.nodes:
            return []
        count = max(self.nodes) + 1
        out = []
        for node in range(count):
            out += ["-object", f"memory-backend-ram,id=node{node},size={mem // count}M",
                    "-numa", f"node,nodeid={node},memdev=node{node}"]
        for slot in range(0, self.total, self.shape["threads"]):
            out += ["-numa", f"cpu,node-id={self.nodes[slot]},"
                    + self._unit_argument(slot, LEVELS[:4])]
        return out

    def madt(self):
        """An ACPI MADT that lists the CPUs in the order of their numbers."""
        entries = b""
        for slot in self.slots:
            apic = self.apic_id(slot)
            if apic > 254:
                raise TopologyError(f"{self.name}: 'order' works up to APIC id 254")
            # The uid is the one QEMU's DSDT gives this CPU.
            entries += struct.pack("<BBBBI", 0, 8, slot, apic, 1)
        entries += struct.pack("<BBBBII", 1, 12, 0, 0, 0xfec00000, 0)
        # The timer is on pin 2; PCI's interrupts are active high, level.
        for irq, pin, flags in ((0, 2, 0), (5, 5, 13), (9, 9, 13), (10, 10, 13), (11, 11, 13)):
            entries += struct.pack("<BBBBIH", 2, 10, 0, irq, pin, flags)
        entries += struct.pack("<BBBHB", 4, 6, 0xff, 0, 1)
        body = struct.pack("<II", 0xfee00000, 1) + entries
        head = struct.pack("<4sIBB6s8sI4sI", b"APIC", 36 + len(body), 3, 0,
                           b"SCHEDH", b"VMORDER ", 1, b"HTVM", 1)
        checksum = -sum(head + body) & 0xff
        return head[:9] + bytes([checksum]) + head[10:] + body


def from_smp(text):
    """'1,2,2' or '1x2x2': sockets, cores, threads."""
    m = re.fullmatch(r"([1-9]\d{0,3})[,x]([1-9]\d{0,3})[,x]([1-9]\d{0,2})", text)
    if not m:
        raise TopologyError(f"'{text}' is not SOCKETS,CORES,THREADS")
    name = "x".join(m.groups())
    return Topology(name, {"about": PLAIN.get(name, ""),
                           "shape": f"sockets={m[1]} cores={m[2]} threads={m[3]}"})


def from_file(path):
    """Reads 'key = value' lines; '#' starts a comment."""
    fields = {}
    name = os.path.basename(path)
    name = name[:-3] if name.endswith(".vm") else name
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise TopologyError(f"cannot read topology {path}: {e}") from e
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        key, equals, value = (s.strip() for s in line.partition("="))
        if not equals or key not in KEYS or key in fields:
            raise TopologyError(f"{path}:{number}: expected one '{'|'.join(KEYS)} = value', "
                                f"each once")
        fields[key] = value
    return Topology(name, fields)


def find(name):
    """A topology by name, SxCxT or file."""
    if os.path.sep in name or name.endswith(".vm"):
        return from_file(name)
    path = os.path.join(TOPO_DIR, name + ".vm")
    if os.path.exists(path):
        return from_file(path)
    if re.fullmatch(r"\d+x\d+x\d+", name):
        return from_smp(name)
    raise TopologyError(f"no topology '{name}'; --list-topos names them, SxCxT and files work too")


def known():
    """All named topologies."""
    paths = sorted(glob.glob(os.path.join(TOPO_DIR, "*.vm")))
    return [from_smp(name) for name in PLAIN] + [from_file(path) for path in paths]
