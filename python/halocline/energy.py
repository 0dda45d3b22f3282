# SPDX-License-Identifier: Apache-2.0
"""Energy counters of the machine: joules of a piece of work, read before and after it.

| source | where | counts |
|---|---|---|
| Cray | /sys/cray/pm_counters/energy, 10 times a second | the node, its GPUs included |
| PowerAPI | libpwr.so of Fugaku and FX1000, `plat.node`, the measured energy | the node |
| RAPL | /sys/class/powercap/intel-rapl:*, Intel and AMD, since Linux 5.10 for root alone | packages and their memory |
| NVML | libnvidia-ml.so.1, since Volta | GPUs; only where the work runs on GPUs |

A counter of the whole node comes first, otherwise RAPL and NVML are added. Nothing is estimated: a source that cannot
be read gives its reason, and a sum that would lack a part is none. A counter counts everything that runs on its
package, node or GPU, other users' programs too. One process of a node reads the counters of the node. Every process
reads the GPU that it works on, because batch systems show a process its own GPU alone; a GPU that several processes
work on is counted once.

RAPL's counters wrap around, after about twenty minutes under load; a thread looks at them every minute meanwhile. A
counter that falls without a known range makes the sum absent.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import re
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

POWERCAP = Path("/sys/class/powercap")
CRAY = Path("/sys/cray/pm_counters")
NVML = "libnvidia-ml.so.1"
PWR_LIBRARIES = ("libpwr.so", "/opt/FJSVtcs/pwrm/aarch64/lib64/libpwr.so")
PWR_HEADERS = ("/opt/FJSVtcs/pwrm/aarch64/include", "/usr/include")
SECONDS_BETWEEN_LOOKS = 60.0


class Absent(Exception):
    """A source cannot be read; the text says why."""


class Source(Protocol):
    """Counters of one kind."""

    name: str
    ranges: dict[str, float]
    """Joules after which a counter begins at zero again, for those that do."""

    def read(self) -> dict[str, float]:
        """Joules since some time, of each part. Raises Absent."""
        ...


def _number(path: Path) -> float:
    """The first word of a file. Raises Absent."""
    try:
        return float(path.read_text().split()[0])
    except PermissionError:
        raise Absent(f"{path} may be read by root alone; ask for permission to read it") from None
    except (OSError, ValueError, IndexError) as error:
        raise Absent(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})") from None


class Rapl:
    """Packages and their memory, by the powercap files of Linux. The memory is not part of the package's counter."""

    name = "RAPL"

    def __init__(self, root: Path = POWERCAP) -> None:
        """Raises Absent."""
        zones = sorted(root.glob("intel-rapl:*")) if root.is_dir() else []
        if not zones:
            raise Absent(f"there is no {root}/intel-rapl:*")
        self.zones: dict[str, Path] = {}
        self.ranges: dict[str, float] = {}
        for zone in zones:
            try:
                kind = (zone / "name").read_text().strip()
            except OSError:
                continue
            place = zone.name.partition(":")[2]
            if kind.startswith("package") or kind == "dram":
                part = f"package {place.split(':')[0]}" + (" memory" if kind == "dram" else "")
                self.zones[part] = zone / "energy_uj"
                with contextlib.suppress(Absent):
                    self.ranges[part] = 1e-6 * _number(zone / "max_energy_range_uj")
        if not self.zones:
            raise Absent(f"{root} names no package")
        self.read()

    def read(self) -> dict[str, float]:
        return {part: 1e-6 * _number(path) for part, path in self.zones.items()}


class Cray:
    """The node, by the files of Cray EX and XC. `freshness` changes at each update; a read across one is repeated."""

    name = "Cray"

    def __init__(self, root: Path = CRAY) -> None:
        """Raises Absent."""
        if not root.is_dir():
            raise Absent(f"there is no {root}")
        self.root, self.ranges = root, {}
        self.read()

    def read(self) -> dict[str, float]:
        for _ in range(10):
            before = self._freshness()
            joules = _number(self.root / "energy")
            if self._freshness() == before:
                break
        return {"node": joules}

    def _freshness(self) -> float:
        with contextlib.suppress(Absent):
            return _number(self.root / "freshness")
        return 0.0


class Nvml:
    """The GPUs of the node that the driver shows this process, or one of them."""

    name = "NVML"

    def __init__(self, library: str = NVML, uuid: str | None = None) -> None:
        """uuid: of the GPU to count; None for all. Raises Absent."""
        self.ranges: dict[str, float] = {}
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError:
            raise Absent(f"there is no {library}") from None
        self._call("nvmlInit_v2")
        self._devices: dict[str, ctypes.c_void_p] = {}
        if uuid is not None:
            self._devices[f"GPU {uuid}"] = device = ctypes.c_void_p()
            self._call("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(device))
        else:
            count = ctypes.c_uint()
            self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
            for number in range(count.value):
                self._devices[f"GPU {number}"] = device = ctypes.c_void_p()
                self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(number), ctypes.byref(device))
        if not self._devices:
            raise Absent("NVML shows no GPU")
        self.read()

    def _call(self, function: str, *arguments: Any) -> None:
        try:
            status = getattr(self._nvml, function)(*arguments)
        except AttributeError:
            raise Absent(f"NVML has no {function}") from None
        if status:
            known = {3: "not supported by this GPU", 4: "no permission", 6: "not found", 9: "the driver is not loaded"}
            raise Absent(f"{function} fails: {known.get(status, f'status {status}')}")

    def read(self) -> dict[str, float]:
        found = {}
        for part, device in self._devices.items():
            millijoules = ctypes.c_ulonglong()
            self._call("nvmlDeviceGetTotalEnergyConsumption", device, ctypes.byref(millijoules))
            found[part] = 1e-3 * millijoules.value
        return found


class PowerApi:
    """The node of Fugaku and FX1000, by the Power API: the measured energy, not the estimated one.

    The numbers of roles and attributes belong to the installation, so they are read from its header pwr.h and the files
    that it includes.
    """

    name = "PowerAPI"
    NEEDED = ("PWR_CNTXT_FX1000", "PWR_ROLE_APP", "PWR_ATTR_MEASURED_ENERGY", "PWR_RET_SUCCESS")

    def __init__(self, libraries: Sequence[str] = PWR_LIBRARIES, headers: Sequence[str] = PWR_HEADERS) -> None:
        """libraries: names or paths, the first one that loads is taken; headers: folders. Raises Absent."""
        self.ranges: dict[str, float] = {}
        self._pwr = None
        for library in libraries:
            with contextlib.suppress(OSError):
                self._pwr = ctypes.CDLL(library)
                break
        if self._pwr is None:
            raise Absent(f"there is no {libraries[0]}")
        numbers: dict[str, int] = {}
        for folder in headers:
            for header in ("pwr.h", "pwrtypes.h", "pwrdev.h"):
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    numbers |= constants(Path(folder, header).read_text())
            for header in sorted(Path(folder).glob("pwr*.h")) + sorted(Path(folder).glob("pwr*/*.h")):
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    numbers |= constants(header.read_text())
        if missing := [name for name in self.NEEDED if name not in numbers]:
            raise Absent(f"no header in {' or '.join(map(str, headers))} has {missing[0]}")
        self._ok, self._energy = numbers["PWR_RET_SUCCESS"], numbers["PWR_ATTR_MEASURED_ENERGY"]
        context, self._node = ctypes.c_void_p(), ctypes.c_void_p()
        kind, role = numbers["PWR_CNTXT_FX1000"], numbers["PWR_ROLE_APP"]
        self._call("PWR_CntxtInit", ctypes.c_int(kind), ctypes.c_int(role), b"halocline", ctypes.byref(context))
        self._call("PWR_CntxtGetObjByName", context, b"plat.node", ctypes.byref(self._node))
        self.read()

    def _call(self, function: str, *arguments: Any) -> None:
        try:
            status = getattr(self._pwr, function)(*arguments)
        except AttributeError:
            raise Absent(f"libpwr.so has no {function}") from None
        if status != self._ok:
            raise Absent(f"{function} fails with status {status}")

    def read(self) -> dict[str, float]:
        joules, moment = ctypes.c_double(), ctypes.c_uint64()
        self._call(
            "PWR_ObjAttrGetValue", self._node, ctypes.c_int(self._energy), ctypes.byref(joules), ctypes.byref(moment)
        )
        return {"node": joules.value}


def constants(header: str) -> dict[str, int]:
    """The integers that a C header names, by enumerations and by #define."""
    header = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.DOTALL)
    found: dict[str, int] = {}
    for name, text in re.findall(r"^\s*#\s*define\s+(\w+)\s+\(?(-?\w+)\)?\s*$", header, flags=re.MULTILINE):
        with contextlib.suppress(ValueError):
            found[name] = int(text, 0)
    header = re.sub(r"^\s*#.*$", " ", header, flags=re.MULTILINE)
    for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", header):
        following = 0
        for entry in filter(None, (part.strip() for part in body.split(","))):
            name, given, text = (word.strip() for word in entry.partition("="))
            try:
                following = (found[text] if text in found else int(text.strip("() "), 0)) if given else following
            except ValueError:
                break  # an expression; what follows is not known
            found[name] = following
            following += 1
    return found


# ---- the counters of this node


class Counters:
    """The sources of this node. Their counters are unwrapped, so that `joules` never falls. Not collective."""

    def __init__(
        self,
        powercap: Path = POWERCAP,
        cray: Path = CRAY,
        nvml: str = NVML,
        pwr: tuple[Sequence[str], Sequence[str]] = (PWR_LIBRARIES, PWR_HEADERS),
        devices: bool = False,
    ) -> None:
        """devices: the work runs on GPUs; their energy is needed then. The rest says where to look."""
        self.absent: dict[str, str] = {}
        self.available: dict[str, Source] = {}
        makers = {
            "Cray": lambda: Cray(cray),
            "PowerAPI": lambda: PowerApi(*pwr),
            "RAPL": lambda: Rapl(powercap),
            "NVML": lambda: Nvml(nvml),
        }
        for name, make in makers.items():
            try:
                self.available[name] = make()
            except Absent as why:
                self.absent[name] = str(why)
        self._begin(*self._chosen(devices))

    @classmethod
    def of_gpu(cls, uuid: str, nvml: str = NVML) -> Counters:
        """The counter of one GPU."""
        self = cls.__new__(cls)
        try:
            self._begin([Nvml(nvml, uuid)], "")
        except Absent as why:
            self._begin([], f"NVML: {why}")
        return self

    def _begin(self, used: list[Source], reason: str) -> None:
        self.used, self.reason = used, reason
        self._lock = threading.Lock()
        self._joules = 0.0
        self._last: dict[tuple[str, str], float] = {}
        with contextlib.suppress(Absent):
            self._look()

    def _chosen(self, devices: bool) -> tuple[list[Source], str]:
        """The sources that are added, and why there are none."""
        for name in ("Cray", "PowerAPI"):
            if name in self.available:
                return [self.available[name]], ""
        wanted = ["RAPL", "NVML"] if devices else ["RAPL"]
        missing = [name for name in wanted if name not in self.available]
        if not missing:
            return [self.available[name] for name in wanted], ""
        told = [name for name in ("RAPL", "NVML", "Cray", "PowerAPI") if name in wanted or name not in ("RAPL", "NVML")]
        return [], "; ".join(f"{name}: {self.absent[name]}" for name in told if name in self.absent)

    @property
    def names(self) -> str:
        return " and ".join(source.name for source in self.used)

    def _look(self) -> None:
        for source in self.used:
            for part, now in source.read().items():
                before = self._last.get((source.name, part), now)
                step = now - before
                if step < 0:
                    if part not in source.ranges:
                        fell = f"the counter of {part} fell from {before:.6g} to {now:.6g} J"
                        raise Absent(f"{source.name}: {fell}, and nothing tells its range")
                    step += source.ranges[part]
                self._joules += max(step, 0.0)
                self._last[(source.name, part)] = now

    def joules(self) -> float | None:
        """Joules since this object was made; None where nothing counts them."""
        if not self.used:
            return None
        with self._lock:
            try:
                self._look()
            except Absent as why:
                self.used, self.reason = [], str(why)
                return None
            return self._joules

    @property
    def wrap(self) -> bool:
        """Whether some counters wrap around and must be looked at in time."""
        return any(source.ranges or source.name == "RAPL" for source in self.used)

    @property
    def of_the_whole_node(self) -> bool:
        """Whether GPUs are counted too."""
        return any(source.name in ("Cray", "PowerAPI") for source in self.used)


# ---- over all processes


@dataclasses.dataclass(frozen=True)
class Energy:
    """What a piece of work has used; `joules` is None where it was not counted, and `reason` says why."""

    joules: float | None
    seconds: float
    nodes: int
    sources: str
    reason: str

    @property
    def watts(self) -> float | None:
        return None if self.joules is None or self.seconds <= 0 else self.joules / self.seconds

    def as_json(self, count: int | None = None, of: str = "iteration") -> dict[str, Any]:
        """For --json. count: how many iterations or steps the work had."""
        each = None if self.joules is None or not count else self.joules / count
        article = "an" if of[0] in "aeiou" else "a"
        return {"joules": self.joules, "watts": self.watts, f"joules_{article}_{of}": each, "sources": self.sources}

    def sentence(self, count: int | None = None, of: str = "iteration") -> str:
        """One line for a log."""
        if self.joules is None:
            return "energy        not counted: no readable counter (`halocline doctor` says why)"
        each = f", {quantity(self.joules / count, 'J')} {'an' if of[0] in 'aeiou' else 'a'} {of}" if count else ""
        where = f" of {self.nodes} nodes" if self.nodes > 1 else ""
        mean = "" if self.watts is None else f", {quantity(self.watts, 'W')}"
        return f"energy        {quantity(self.joules, 'J')}{mean}{where}{each} ({self.sources})"


def quantity(value: float, unit: str) -> str:
    """'1.23 kJ'."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u")):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


class Meter:
    """Counts the energy of the nodes of a group of processes, from its making on.

    Making it and `used()` are collective; after an error on some processes alone, leave it without a call.
    """

    def __init__(
        self,
        group: Any,
        device: str = "cpu",
        counters: Counters | None = None,
        gpus: Sequence[str] | None = None,
        nvml: str = NVML,
    ) -> None:
        """device: the [parallel] device of the work; the rest is for tests: the counters of this node, the UUIDs of the
        GPUs that this process sees, and the library that counts them"""
        self._group = group
        node_rank = 0 if group.size == 1 else group.split_by_node().rank
        self._reads = node_rank == 0
        self._counters = [counters or Counters()] if self._reads else []
        if device.startswith("cuda"):
            uuid = gpu_of(device, node_rank, seen_gpus() if gpus is None else gpus)
            if self._counts_gpu(uuid):
                self._counters.append(Counters.of_gpu(uuid, nvml))
        self._end = threading.Event()
        self.restart()
        if any(counters.wrap for counters in self._counters):
            threading.Thread(target=self._keep_looking, daemon=True).start()

    def _counts_gpu(self, uuid: str) -> bool:
        """Whether this process is the one to count its GPU: the first that works on it, where nothing counts the whole
        node. Collective."""
        host, whole = socket.gethostname(), any(counters.of_the_whole_node for counters in self._counters)
        mine = json.dumps([host, uuid, whole]).encode() + b"\n"
        everyone = [json.loads(line) for line in self._group.broadcast(self._group.gather(mine, 0), 0).splitlines()]
        first = next(rank for rank, other in enumerate(everyone) if other[:2] == [host, uuid])
        return first == self._group.rank and not any(counted for where, _, counted in everyone if where == host)

    def _keep_looking(self) -> None:
        while not self._end.wait(SECONDS_BETWEEN_LOOKS):
            for counters in self._counters:
                counters.joules()

    def restart(self) -> None:
        """Counts from here on. Not collective."""
        self._first = [counters.joules() for counters in self._counters]
        self._begun = time.monotonic()

    def joules(self) -> float:
        """Joules of all nodes since the start; NaN where one of them is not counted. Collective."""
        return self._sum()[0]

    def _sum(self) -> tuple[float, int]:
        mine = 0.0
        for counters, first in zip(self._counters, self._first, strict=True):
            now = counters.joules()
            mine += float("nan") if now is None or first is None else now - first
        total, nodes = self._group.sum([mine, float(self._reads)])
        return total, int(nodes)

    def used(self) -> Energy:
        """What was used since the start, and by whom it was counted: the same on all processes. Collective."""
        seconds = time.monotonic() - self._begun
        total, nodes = self._sum()
        told = [[counters.names, counters.reason] for counters in self._counters]
        mine = json.dumps(told).encode() + b"\n"
        everyone = self._group.broadcast(self._group.gather(mine, 0), 0).splitlines()
        pairs = [pair for line in everyone for pair in json.loads(line)]
        names = " and ".join(dict.fromkeys(name for name, _ in pairs if name))
        reason = next((why for _, why in pairs if why), "")
        if total != total:
            return Energy(None, seconds, nodes, "", reason or "a node of the run has no readable counter")
        return Energy(total, seconds, nodes, names, "")

    def stop(self) -> None:
        """Ends the thread that looks at counters. Not collective."""
        self._end.set()

    def close(self) -> Energy:
        """`used()`, and the end of the counting. Collective."""
        self.stop()
        return self.used()


def seen_gpus() -> list[str]:
    """The UUIDs of the GPUs that this process sees. Not collective."""
    from halocline import _halocline

    return [gpu["uuid"] for gpu in _halocline.gpu.gpus()]


def gpu_of(device: str, node_rank: int, seen: Sequence[str]) -> str:
    """The UUID of the GPU that a process works on (src/halocline/gpu/device.hpp); empty if there is none.

    device: "cuda" or "cuda:N"; node_rank: of the process among those of its machine; seen: the GPUs that it sees
    """
    number = int(device[5:]) if device[5:] else node_rank % max(1, len(seen))
    return seen[number] if number < len(seen) else ""


def sources() -> dict[str, str]:
    """Every source, and what it counts here or why it is absent. Not collective."""
    counters = Counters(devices=True)
    return {
        name: ", ".join(counters.available[name].read()) if name in counters.available else f"absent: {why}"
        for name in ("RAPL", "NVML", "Cray", "PowerAPI")
        for why in [counters.absent.get(name, "")]
    }
