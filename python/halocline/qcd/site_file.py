# SPDX-License-Identifier: Apache-2.0
"""HDF5 files of one dataset with the numbers of all sites, of which each process writes and reads its own part.

The first process makes the head of the file in memory, and every process writes its sites at their place. A trailer
with checksums follows. It is checked first, so that the HDF5 library never sees a damaged head. SciDAC's two sums over
the bytes of each site protect the numbers; they are the attribute `checksum`.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from halocline import _halocline
from halocline.comm import on_root
from halocline.errors import FileError

TRAILER = struct.Struct("<16sQQQII")


class Kind(NamedTuple):
    """A kind of such files."""

    magic: bytes
    """16 bytes that begin the trailer."""
    dataset: str
    noun: str
    """For messages: "propagator"."""
    remedy: str
    """For messages about damage: "fetch or compute the propagator again"."""


class Head(io.RawIOBase):
    """A file in memory. Only written pages take space, and HDF5 does not write to the place of the numbers."""

    PAGE = 4096

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}
        self.size = self.place = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self.place = offset + (0, self.place, self.size)[whence]
        return self.place

    def tell(self) -> int:
        return self.place

    def truncate(self, size: int | None = None) -> int:
        self.size = self.place if size is None else size
        return self.size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        for i in range(0, len(view), self.PAGE):
            view[i : i + self.PAGE] = self.part(self.place + i, min(self.PAGE, len(view) - i))
        self.place += len(view)
        return len(view)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            page, start = divmod(self.place + done, self.PAGE)
            count = min(len(view) - done, self.PAGE - start)
            self.pages.setdefault(page, bytearray(self.PAGE))[start : start + count] = view[done : done + count]
            done += count
        self.place += done
        self.size = max(self.size, self.place)
        return done

    def part(self, offset: int, count: int) -> bytes:
        """Bytes of the file, zero where nothing was written."""
        out = bytearray()
        while count > 0:
            page, start = divmod(offset, self.PAGE)
            some = min(count, self.PAGE - start)
            out += self.pages[page][start : start + some] if page in self.pages else bytes(some)
            offset, count = offset + some, count - some
        return bytes(out)


def _head_of(kind: Kind, attributes: Mapping[str, Any], shape: tuple[int, ...], dtype: np.dtype) -> dict[str, Any]:
    """The HDF5 file around its numbers: their offset, the size of the file, and the pieces before and after them."""
    head = Head()
    with h5py.File(head, "w") as file:
        for name, value in attributes.items():
            file.attrs[name] = value
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        create.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        create.set_obj_track_times(False)
        space, number = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype, logical=True)
        offset = h5py.h5d.create(file.id, kind.dataset.encode(), number, space, create).get_offset()
    data_bytes = int(np.prod(shape)) * dtype.itemsize
    before, after = head.part(0, offset), head.part(offset + data_bytes, head.size - offset - data_bytes)
    numbers = (kind.magic, offset, data_bytes, head.size, zlib.crc32(before + after))
    trailer = TRAILER.pack(*numbers, zlib.crc32(TRAILER.pack(*numbers, 0)))
    return {
        "offset": offset,
        "size": head.size + TRAILER.size,
        "pieces": [(0, before), (offset + data_bytes, after + trailer)],
    }


def write(path: str, kind: Kind, attributes: Mapping[str, Any], numbers: np.ndarray, geometry: Any) -> None:
    """Writes the whole file or none. numbers: local part [t][z][y][x][...]; attributes: besides `checksum`

    Raises FileError on every process. Collective.
    """
    local = np.ascontiguousarray(numbers).reshape(-1).view(np.uint8)
    checksum = _halocline.qcd.site_checksum(local, geometry)
    rest = numbers.shape[4:]
    pieces: list[tuple[int, bytes]] = []

    def made() -> tuple[int, int]:
        shape = (*geometry.extents[::-1], *rest)
        head = _head_of(kind, {**attributes, "checksum": checksum}, shape, numbers.dtype)
        pieces.extend(head["pieces"])
        return head["offset"], head["size"]

    offset, size = on_root(geometry.communicator, made)
    site_bytes = int(np.prod(rest)) * numbers.itemsize
    _halocline.qcd.write_site_array(path, local, geometry, site_bytes, offset, size, pieces)


def inspect(path: str | Path, kind: Kind, described: Callable[[h5py.File, int], dict[str, Any]]) -> dict[str, Any]:
    """What `described` makes of the head and the offset of the numbers, once the head's checksum has been verified.

    Raises FileError. Collective: no.
    """
    try:
        with open(path, "rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(max(0, size - TRAILER.size))
            trailer = file.read(TRAILER.size)
            magic, offset, data_bytes, end, sum_head, sum_trailer = TRAILER.unpack(trailer.ljust(TRAILER.size, b"\0"))
            if magic != kind.magic:
                raise FileError(f"{path}: an HDF5 file that is no {kind.noun} of Halocline, or one that was cut short.")
            if (
                zlib.crc32(TRAILER.pack(magic, offset, data_bytes, end, sum_head, 0)) != sum_trailer
                or offset + data_bytes > end
                or end + TRAILER.size != size
            ):
                raise FileError(f"{path} (trailer): is damaged; {kind.remedy}.")
            file.seek(0)
            before = file.read(offset)
            file.seek(offset + data_bytes)
            after = file.read(end - offset - data_bytes)
        if zlib.crc32(before + after) != sum_head:
            raise FileError(f"{path} (head): is damaged; {kind.remedy}.")
        head = Head()
        head.write(before)
        head.seek(offset + data_bytes)
        head.write(after)
        head.truncate(end)
        head.seek(0)
        with h5py.File(head, "r") as opened:
            return described(opened, offset)
    except FileError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().split("\n")[0]
        raise FileError(f"{path}: cannot be read as a {kind.noun}: {reason}.") from None


def read(path: str | Path, kind: Kind, numbers: np.ndarray, geometry: Any, offset: int, checksum: str) -> None:
    """Fills the local part [t][z][y][x][...] from the numbers at `offset`. Raises FileError. Collective."""
    site_bytes = int(np.prod(numbers.shape[4:])) * numbers.itemsize
    local = numbers.reshape(-1).view(np.uint8)
    found = _halocline.qcd.read_site_array(str(path), local, geometry, site_bytes, offset)
    if found != checksum:
        raise FileError(
            f"{path} (checksum): the file claims {checksum}, its data give {found}: the file is damaged; {kind.remedy}."
        )
