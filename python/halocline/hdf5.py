# SPDX-License-Identifier: Apache-2.0
"""HDF5 files that are never half written, and whose damage is detected before the HDF5 library opens them.

The HDF5 library fails badly if a write fails (it crashes when the file is closed) or if the structure of a file is
damaged (it may loop for ever and ignore signals). So a file is built in memory and written by `NewFile`. After the end
of the HDF5 data there is a seal, which other programs ignore:

    {"bytes": 16224, "left out": [], "sha256": "..."}  one line of JSON
    halocline seal 1, 00000112 bytes                   one line of 33 bytes: the length of the line before

`bytes` is the length of the HDF5 file itself. `left out` are ranges [offset, length] of it that HDF5 protects by its
own checksums, and sha256 is the digest of all other bytes. A program that changes the file through the HDF5 library
truncates the seal. A file without a seal is first read in a child process with a time limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py

from halocline.comm import LAUNCHER_RANKS
from halocline.errors import Error, FileError
from halocline.files import NewFile, cannot_write

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SEAL_MARK = b"halocline seal"
FOOTER = SEAL_MARK + b" 1, %08d bytes\n"
FOOTER_BYTES = len(FOOTER % 0)
LONGEST_SEAL = 1 << 20
BLOCK = 1 << 22
SECONDS_FOR_A_FOREIGN_FILE = 20.0
FOREIGN_BYTES_A_SECOND = 2e7

Ranges = Sequence[tuple[int, int]]


def write(path: str | Path, fill: Callable[[h5py.File], None]) -> None:
    """Writes an HDF5 file whole or not at all, with a seal.

    fill: puts groups, datasets and attributes into the open file, which is in memory
    Raises FileError; the previous content of `path` is then unchanged. Cost: twice the size of the file in memory.
    Collective: no.
    """
    try:
        with h5py.File("in memory", "w", driver="core", backing_store=False) as file:
            fill(file)
            file.flush()
            image = file.id.get_file_image()
    except Error:
        raise
    except (OSError, RuntimeError) as error:  # such as an attribute that is too long for HDF5
        raise cannot_write(path, error) from None
    with NewFile(path) as new:
        new.write(0, image)
        new.write(len(image), seal(io.BytesIO(image), len(image)))


def seal(image: Any, size: int, left_out: Ranges = ()) -> bytes:
    """The seal of an HDF5 file of `size` bytes. image: has seek() and read()."""
    found = {"bytes": size, "left out": _merged(left_out), "sha256": _digest(image, size, _merged(left_out))}
    line = json.dumps(found).encode() + b"\n"
    return line + FOOTER % len(line)


def _merged(ranges: Ranges) -> list[list[int]]:
    """The ranges in ascending order, with adjacent ranges merged."""
    found: list[list[int]] = []
    for offset, length in sorted(ranges):
        if found and sum(found[-1]) == offset:
            found[-1][1] += length
        else:
            found.append([offset, length])
    return found


def _digest(image: Any, size: int, left_out: Ranges) -> str:
    digest, at = hashlib.sha256(), 0
    for offset, length in [*left_out, (size, 0)]:
        image.seek(at)
        while at < offset:
            block = image.read(min(BLOCK, offset - at))
            if not block:
                raise OSError(f"the file ends at byte {at}")
            digest.update(block)
            at += len(block)
        at += length
    return digest.hexdigest()


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[h5py.File]:
    """Opens an HDF5 file for reading, after checking its seal, or after a child process has read it.

    Raises FileError if the file is missing, damaged, or not HDF5, or if the block finds something missing in it.
    Collective: no.
    """
    check(path)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except Error:
        raise
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, OverflowError) as error:
        raise FileError(f"{path}: not a readable HDF5 file of Halocline ({short(error)}).") from None


def short(error: BaseException) -> str:
    """The first line of an error's message."""
    return str(error).strip().split("\n")[0].strip("'\"")


def check(path: str | Path) -> None:
    """Raises FileError unless the file is safe for the HDF5 library to open. Collective: no."""
    try:
        # O_NONBLOCK: opening a pipe without a writer must not hang; a regular file is not affected.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        os.close(number)
        raise FileError(f"{path}: is no regular file; name the result file itself.")
    with open(number, "rb") as file:
        try:
            sealed = _has_seal(path, file, status.st_size)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {short(error)}.") from None
    if not sealed:
        _read_in_a_child(path, status.st_size)


def _has_seal(path: str | Path, file: Any, size: int) -> bool:
    """True for a valid seal, False for a file that never had one. Raises FileError for a damaged file."""
    head = file.read(64)
    if not head.startswith(SIGNATURE):
        raise FileError(f"{path}: not a readable HDF5 file of Halocline (it does not begin as HDF5 files do).")
    end = _end_of_hdf5(head)
    damaged = "the file is damaged; take another copy, or compute it anew."
    if end is None or end == size:
        if SEAL_MARK in _tail(file, size, FOOTER_BYTES):  # HDF5 overlooks some damage to the superblock
            raise FileError(f"{path}: has a seal, and its first bytes are not those of the sealed file: {damaged}")
        return False
    if size < end:
        raise FileError(f"{path}: ends at byte {size}, and should at {end}: it is truncated; take another copy.")
    footer = _tail(file, size, FOOTER_BYTES)
    length = footer[18:26]
    if not length.isdigit() or footer != FOOTER % int(length) or int(length) > LONGEST_SEAL:
        raise FileError(f"{path} (seal): the last line is none of a seal: {damaged}")
    line = _tail(file, size - FOOTER_BYTES, int(length))
    try:
        found = json.loads(line)
        bytes_, wanted = found["bytes"], found["sha256"]
        left_out = [(int(offset), int(count)) for offset, count in found["left out"]]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise FileError(f"{path} (seal): cannot be understood: {damaged}") from None
    at = 0
    for offset, count in left_out:
        if offset < at or count < 0:
            raise FileError(f"{path} (seal): names parts of the file that are none: {damaged}")
        at = offset + count
    if bytes_ != end or at > end or size != end + int(length) + FOOTER_BYTES:
        raise FileError(f"{path} (seal): is of a file of {bytes_} bytes, and this one has {end}: {damaged}")
    digest = _digest(file, end, left_out)
    if digest != wanted:
        raise FileError(f"{path} (seal): the file claims the checksum {wanted}, its bytes give {digest}: {damaged}")
    return True


def _tail(file: Any, end: int, count: int) -> bytes:
    file.seek(max(0, end - count))
    return file.read(min(count, end))


def _end_of_hdf5(head: bytes) -> int | None:
    """The end of the file according to its superblock; None for unknown superblock versions."""
    if len(head) < 52:
        return None
    version, width = head[8], head[13] if head[8] < 2 else head[9]
    base = {0: 24, 1: 28, 2: 12, 3: 12}.get(version)
    if base is None or width != 8:
        return None
    first, _, end = struct.unpack_from("<QQQ", head, base)
    return end if first == 0 else None


CHILD = """
import resource, signal, sys
path, seconds, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
signal.alarm(seconds)  # ends the process even where the library loops
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import h5py
def attributes(item):
    for name in item.attrs:
        item.attrs[name]
def visit(name, item):
    attributes(item)
    if isinstance(item, h5py.Dataset):
        if item.chunks is not None:
            item.id.get_num_chunks()
        if item.size * item.dtype.itemsize > 1000 * size:
            sys.exit("the dataset " + name + " claims more than the file can hold")
        if item.chunks is None:
            item[()]
with h5py.File(path, "r") as file:
    attributes(file)
    file.visititems(visit)
"""
"""Reads everything that a reader will access."""


def _read_in_a_child(path: str | Path, size: int) -> None:
    seconds = int(SECONDS_FOR_A_FOREIGN_FILE + size / FOREIGN_BYTES_A_SECOND) + 1
    words = [sys.executable, "-P", "-c", CHILD, os.fspath(path), str(seconds), str(size)]
    # The child is not a process of an MPI run, even if an MPI process starts it.
    prefixes = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "MV2_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(prefixes) and k not in LAUNCHER_RANKS}
    try:
        done = subprocess.run(words, env=kept, capture_output=True, stdin=subprocess.DEVNULL, timeout=2.0 * seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FileError(f"{path}: has no seal, and cannot be tried out in a child process ({error}).") from None
    if done.returncode == 0:
        return
    why = done.stderr.decode(errors="replace").strip().splitlines()
    said = why[-1] if why and done.returncode > 0 else f"the HDF5 library did not come to an end within {seconds} s"
    if done.returncode < 0 and done.returncode != -14:  # killed by a signal other than the alarm
        said = f"the HDF5 library crashed on it, signal {-done.returncode}"
    raise FileError(f"{path}: not a readable HDF5 file of Halocline ({said}).")


class Stored(io.RawIOBase):
    """A NewFile to which the HDF5 library writes, for files too large for memory.

    The library is never told of a failed write, because it cannot recover from one. Bytes that the disk did not accept
    are kept here, so that the library can read them again while it closes the file. `failure` describes the error.
    """

    def __init__(self, file: NewFile) -> None:
        self.file = file
        self.at = self.size = 0
        self.failure: OSError | None = None
        self.remembered: list[tuple[int, bytes]] = []

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size}[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        try:
            if self.failure is None:
                self.file.write(self.at, view)
        except OSError as error:
            self.failure = error
        if self.failure is not None:
            self.remembered.append((self.at, bytes(view)))
        self.at += len(view)
        self.size = max(self.size, self.at)
        return len(view)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self.size - self.at))
        read = self.file.read(self.at, count)
        view[:count] = read + bytes(count - len(read))
        for offset, data in self.remembered:
            begin, end = max(offset, self.at), min(offset + len(data), self.at + count)
            if begin < end:
                view[begin - self.at : end - self.at] = data[begin - offset : end - offset]
        self.at += count
        return count

    def truncate(self, size: int | None = None) -> int:
        self.size = self.at if size is None else size
        return self.size
