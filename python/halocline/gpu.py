# SPDX-License-Identifier: Apache-2.0
"""GPUs: which there are, why none can be used, and what the tuner remembers about them.

    import halocline as hc
    print(hc.gpu.unavailable_reason() or hc.gpu.devices())

The tuner measures how each kernel is best launched the first time that a problem is met, and keeps the answer in a file
that all processes share (docs/tuning.md). The functions here read that file, clear it, and copy from it; solving with
`device="cuda"` fills it. None of them is collective.
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
    """What the driver says about one GPU. Versions are as people write them ("13.0"), sizes in bytes."""

    number: int
    """As in device="cuda:0"."""
    name: str
    uuid: str
    compute_capability: str
    multiprocessors: int
    memory: int
    second_level_cache: int
    driver: str
    """The newest CUDA that the driver can do."""
    toolkit: str
    """The CUDA that this build was made with."""

    def __str__(self) -> str:
        return (
            f"{self.name}, compute capability {self.compute_capability}, {self.memory / 2**30:.1f} GiB, "
            f"{self.multiprocessors} multiprocessors"
        )


@dataclass(frozen=True)
class TuneEntry:
    """The quickest way to launch one kernel on one problem, and what was measured. Times of one run in seconds."""

    device: str
    """Name and compute capability."""
    driver: str
    kernel: str
    problem: str
    kernel_hash: str
    """Of the device code that was measured; see `kernel_hash()`."""
    block: tuple[int, int, int]
    sites_per_thread: int
    columns_per_thread: int
    carveout: int
    """Shared memory, percent of the first-level cache; -1 where the driver chooses."""
    prefetch: int
    policy: str
    """Of a halo exchange; empty for kernels."""
    seconds: float
    first_seconds: float
    """With the first candidate, which is taken where nothing is measured; 0 where that could not be launched."""
    bytes: float
    flops: float
    """Of one run, like bytes; 0 where the kernel does not say."""
    candidates: int
    failed: int
    """How many of the candidates could not be launched."""
    failure: str
    """What the last of these said."""
    when: str
    """Date of the measurement, ISO 8601."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What the entry belongs to."""
        return self.device, self.driver, self.kernel, self.problem, self.kernel_hash

    @property
    def stale(self) -> bool:
        """Measured with other device code than this build's, which never uses it."""
        return self.kernel_hash != kernel_hash()

    @property
    def flops_per_second(self) -> float | None:
        return self.flops / self.seconds if self.flops and self.seconds else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.bytes / self.seconds if self.bytes and self.seconds else None

    @property
    def gain(self) -> float | None:
        """Time with the first candidate over time with this one."""
        return self.first_seconds / self.seconds if self.first_seconds and self.seconds else None

    def as_dict(self) -> dict[str, Any]:
        """Every field and derived number, as `halocline tune show --json` writes them."""
        derived = ("stale", "flops_per_second", "bytes_per_second", "gain")
        return {f.name: getattr(self, f.name) for f in fields(self)} | {name: getattr(self, name) for name in derived}


def built() -> bool:
    """True where this build of Halocline has the GPU back end."""
    return _halocline.gpu.built_with_cuda()


def unavailable_reason() -> str:
    """Why no GPU can be used here, one sentence; empty where one can."""
    return _halocline.gpu.unavailable_reason()


def devices() -> list[GPU]:
    """The GPUs that this process sees; none where `unavailable_reason()` says why."""
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
        )
        for p in _halocline.gpu.gpus()
    ]


def halo_policies() -> dict[str, str]:
    """The ways to exchange halos between GPUs, each with the reason why this process cannot; empty where it can.

    On a machine without a GPU they are those of the host executor, which stands in for one in tests.
    """
    return _halocline.gpu.halo_policies("host-executor" if unavailable_reason() else "cuda")


def kernel_hash() -> str:
    """16 hexadecimal digits made of the content of this build's device code; entries of others are not used."""
    return _halocline.gpu.kernel_hash()


def tune_file() -> str:
    """Where the tuner keeps what it measured: $HALOCLINE_TUNE_CACHE, else a file in the user's cache folder.

    Empty where the environment names no place; then it is remembered in each process only.
    """
    return _halocline.gpu.TuneCache.open().path


def tune_mode() -> str:
    """What $HALOCLINE_TUNE asks for: "read-write", "read-only" or "off". Raises InvalidArgument for another word."""
    return _halocline.gpu.TuneCache.open().mode


def tune_entries(
    file: str | Path = "", *, kernel: str | None = None, device: str | None = None, stale: bool | None = None
) -> list[TuneEntry]:
    """What the tuner knows, from its file and from the defaults that come with Halocline, sorted.

    Args:
        file: a tune cache; the usual one when empty. A file that is not there has no entries.
        kernel: only entries of this kernel.
        device: only entries whose device has this in its name, whatever the case.
        stale: only entries of other device code than this build's (True), or of this build's (False).

    Raises FileError, with the position, where the file is damaged; InvalidArgument for a wrong $HALOCLINE_TUNE.
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
    """Removes entries from the tuner's file, and returns how many; what they told is measured anew when it is needed.

    Args:
        file: a tune cache; the usual one when empty.
        kernel, device: as for `tune_entries`; both together remove what matches both.
        stale: only entries of other device code than this build's.
        everything: the whole file, even a damaged one, which counts as 0 entries.

    Raises InvalidArgument where nothing is chosen, or everything and something else, or $HALOCLINE_TUNE is read-only;
    FileError where the file is damaged or cannot be written.
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
    """Writes entries to another file, in the form of the defaults that come with Halocline, and returns how many.

    Arguments as for `tune_entries`; by default those of this build's device code, for no other are of use as defaults.
    Raises FileError where a file cannot be read or written, InvalidArgument where `path` is the tune cache itself.
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
