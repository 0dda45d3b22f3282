# SPDX-License-Identifier: Apache-2.0
"""GPUs: the available ones, the reason if none is usable, and the entries of the tuner.

    import halocline as hc
    print(hc.gpu.unavailable_reason() or hc.gpu.devices())

When a problem occurs for the first time, the tuner measures the best way to launch each kernel, and keeps the answer in
a file that all processes share (docs/tuning.md). The functions here read that file, clear it, and copy from it; solving
with `device="cuda"` fills it. None of them is collective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from halocline import _halocline
from halocline.errors import FileError, InvalidArgument
from halocline.texts import file_name

__all__ = [
    "GPU",
    "TuneEntry",
    "built",
    "clear_tuning",
    "devices",
    "export_tuning",
    "halo_policies",
    "unavailable_reason",
    "kernel_hash",
    "tune_entries",
    "tune_file",
    "tune_mode",
]


@dataclass(frozen=True)
class GPU:
    """Properties of one GPU as the driver reports them. Versions are texts such as "13.0", sizes are in bytes."""

    number: int
    """As in device="cuda:0"."""
    name: str
    uuid: str
    compute_capability: str
    multiprocessors: int
    memory: int
    second_level_cache: int
    driver: str
    """The newest CUDA version that the driver supports."""
    toolkit: str
    """The CUDA version of this build."""
    pci_address: str = ""
    """As in "0000:3b:00.0"."""

    def __str__(self) -> str:
        return (
            f"{self.name}, compute capability {self.compute_capability}, {self.memory / 2**30:.1f} GiB, "
            f"{self.multiprocessors} multiprocessors"
        )


@dataclass(frozen=True)
class TuneEntry:
    """The fastest way to launch one kernel on one problem, and its measurements. Times are of one run [s]."""

    device: str
    """Name and compute capability."""
    driver: str
    kernel: str
    problem: str
    kernel_hash: str
    """Hash of the measured device code; see `kernel_hash()`."""
    block: tuple[int, int, int]
    sites_per_thread: int
    columns_per_thread: int
    carveout: int
    """Shared memory [percent of the first-level cache]; -1: the driver's choice."""
    prefetch: int
    evict_first: int
    """1: what the kernel reads once is given up first by the second-level cache."""
    no_allocate: int
    """1: what the kernel reads once does not enter the first-level cache."""
    streaming_stores: int
    """1: what the kernel writes is given up first by the second-level cache."""
    policy: str
    """Of a halo exchange; empty for kernels."""
    seconds: float
    first_seconds: float
    """With the first candidate, which is used without measurements; 0 if it could not be launched."""
    bytes: float
    flops: float
    """Of one run, like bytes; 0 if the kernel does not state them."""
    candidates: int
    failed: int
    """Number of candidates that could not be launched."""
    failure: str
    """Error message of the last failed candidate."""
    when: str
    """Date of the measurement, ISO 8601."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """The key that identifies the entry."""
        return self.device, self.driver, self.kernel, self.problem, self.kernel_hash

    @property
    def stale(self) -> bool:
        """Whether other device code than this build's was measured; this build then never uses the entry."""
        return self.kernel_hash != kernel_hash()

    @property
    def flops_per_second(self) -> float | None:
        return self.flops / self.seconds if self.flops and self.seconds else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.bytes / self.seconds if self.bytes and self.seconds else None

    @property
    def gain(self) -> float | None:
        """Time with the first candidate divided by the time with this one."""
        return self.first_seconds / self.seconds if self.first_seconds and self.seconds else None

    def as_dict(self) -> dict[str, Any]:
        """Every field and derived number, in the form of `halocline tune show --json`."""
        derived = ("stale", "flops_per_second", "bytes_per_second", "gain")
        return {f.name: getattr(self, f.name) for f in fields(self)} | {name: getattr(self, name) for name in derived}


def built() -> bool:
    """Whether this build of Halocline has the GPU back end."""
    return _halocline.gpu.built_with_cuda()


def unavailable_reason() -> str:
    """The reason why no GPU can be used here, one sentence; empty if one can be used."""
    return _halocline.gpu.unavailable_reason()


def devices() -> list[GPU]:
    """The GPUs that this process sees; none if there is an `unavailable_reason()`."""
    return [
        GPU(
            number=p["number"],
            name=p["name"],
            uuid=p["uuid"],
            compute_capability=f"{p['major']}.{p['minor']}",
            multiprocessors=p["multiprocessors"],
            memory=p["memory"],
            second_level_cache=p["second_level_cache"],
            driver=_version(p["driver"]),
            toolkit=_version(p["runtime"]),
            pci_address=p["pci_address"],
        )
        for p in _halocline.gpu.gpus()
    ]


def halo_policies() -> dict[str, str]:
    """The methods to exchange halos between GPUs, each with the reason why it is unavailable here; empty if available.

    On a machine without a GPU these are the methods of the host executor, which stands in for a GPU in tests.
    """
    return _halocline.gpu.halo_policies("host-executor" if unavailable_reason() else "cuda")


def kernel_hash() -> str:
    """16 hexadecimal digits: a hash of this build's device code. Entries with another hash are not used."""
    return _halocline.gpu.kernel_hash()


def tune_file() -> str:
    """The tuner's file: $HALOCLINE_TUNE_CACHE, else a file in the user's cache folder.

    Empty if the environment names no place; measurements are then remembered in each process only.
    """
    return _halocline.gpu.TuneCache.open().path


def tune_mode() -> str:
    """The mode set by $HALOCLINE_TUNE: "read-write", "read-only" or "off". Raises InvalidArgument for another value."""
    return _halocline.gpu.TuneCache.open().mode


def tune_entries(
    file: str | Path = "", *, kernel: str | None = None, device: str | None = None, stale: bool | None = None
) -> list[TuneEntry]:
    """All entries of the tuner, from its file and from the defaults shipped with Halocline, sorted.

    Args:
        file: a tune cache; the usual one if empty. A missing file has no entries.
        kernel: only entries of this kernel.
        device: only entries whose device name contains this text; upper and lower case are equal.
        stale: only entries of other device code than this build's (True), or of this build's (False).

    Raises FileError, with the position, if the file is damaged; InvalidArgument for a wrong $HALOCLINE_TUNE.
    """
    return _entries(_halocline.gpu.TuneCache.open(file_name(file)), kernel, device, stale)


def clear_tuning(
    file: str | Path = "",
    *,
    kernel: str | None = None,
    device: str | None = None,
    stale: bool = False,
    everything: bool = False,
) -> int:
    """Removes entries from the tuner's file, and returns how many; removed problems are measured again when needed.

    Args:
        file: a tune cache; the usual one if empty.
        kernel, device: as for `tune_entries`; both together remove entries that match both.
        stale: only entries of other device code than this build's.
        everything: the whole file, even a damaged one, which counts as 0 entries.

    Raises InvalidArgument if nothing is chosen, or everything and something else, or $HALOCLINE_TUNE is read-only;
    FileError if the file is damaged or cannot be written.
    """
    if everything and (kernel or device or stale):
        raise InvalidArgument("everything is to be cleared, and a part of it; choose one.")
    if not everything and not (kernel or device or stale):
        raise InvalidArgument("nothing is named to be cleared; name a kernel, a device, stale entries, or everything.")
    cache = _halocline.gpu.TuneCache.open(file_name(file))
    if everything:
        return cache.reset()
    return cache.clear([e.key for e in _entries(cache, kernel, device, True if stale else None)])


def export_tuning(
    path: str | Path,
    file: str | Path = "",
    *,
    kernel: str | None = None,
    device: str | None = None,
    stale: bool | None = False,
) -> int:
    """Writes entries to another file, in the form of the defaults shipped with Halocline, and returns how many.

    Arguments as for `tune_entries`. The default is the entries of this build's device code, since only these are useful
    as defaults. Raises FileError if a file cannot be read or written, InvalidArgument if `path` is the tune cache
    itself.
    """
    cache = _halocline.gpu.TuneCache.open(file_name(file))
    return cache.export_to(file_name(path), [e.key for e in _entries(cache, kernel, device, stale)])


def _entries(cache: Any, kernel: str | None, device: str | None, stale: bool | None) -> list[TuneEntry]:
    found = [TuneEntry(**entry) for entry in cache.entries()]
    for sentence in cache.take_warnings():
        if cache.path and sentence.startswith(cache.path):
            raise FileError(sentence)
    conditions: list[Callable[[TuneEntry], bool]] = []
    if kernel is not None:
        conditions.append(lambda e: e.kernel == kernel)
    if device is not None:
        conditions.append(lambda e: device.lower() in e.device.lower())
    if stale is not None:
        conditions.append(lambda e: e.stale == stale)
    return [e for e in found if all(condition(e) for condition in conditions)]


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
