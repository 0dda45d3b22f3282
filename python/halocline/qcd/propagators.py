# SPDX-License-Identifier: Apache-2.0
"""Propagators in files, with the parameters that reproduce them. Each process reads and writes its own part.

There are two formats. SciDAC (`.lime`) is the format of Chroma and other codes; its record XML holds the parameters.
HDF5 (`.h5`) holds one dataset, `propagator`, in the order of `Propagator.array()`, with attributes:

    format, version            of this layout, of the program
    lattice, source            x y z t
    basis, order               "DeGrand-Rossi"; the names of the dataset's axes
    checksum                   SciDAC's two sums over the bytes of each site
    gauge_checksum, plaquette  of the links that the quark saw, the sums taken in the same way
    record                     JSON: parameters of action, solver and source, the gauge file and its checksum, residuals

The first process makes the head of the HDF5 file in memory, and every process writes its sites at their place. A
trailer with checksums follows. It is checked first, so that the HDF5 library never sees a damaged head.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, unescape

import h5py
import numpy as np

from halocline import _halocline
from halocline.comm import communicator, on_root
from halocline.errors import FileError, InvalidArgument
from halocline.qcd import checks
from halocline.qcd.gauge import geometry
from halocline.qcd.hdf5_gauge import is_hdf5
from halocline.schema import choice, integer, takes

Propagator = _halocline.qcd.Propagator
FORMAT = "halocline propagator 1"
ORDER = "t, z, y, x, sink spin, sink colour, source spin, source colour"
SUFFIXES = {".lime": "scidac", ".scidac": "scidac", ".qio": "scidac", ".h5": "hdf5", ".hdf5": "hdf5"}
NUMBERS = 144


@takes(s=checks.a_propagator, format=choice("hdf5", "scidac"), bits=integer(at_least=1))
def write_propagator(path: str | Path, s: Propagator, format: str | None = None, bits: int = 64) -> None:
    """Writes a propagator and its parameters (`s.record`), the whole file or none.

    format: "hdf5" or "scidac"; taken from the suffix when None (.h5, .lime); bits: 32 or 64 of each real number
    Raises InvalidArgument and FileError, on every process alike. Collective; each process writes its part.
    """
    if format is None:
        format = format_of(path, "")
        if not format:
            known = ", ".join(f"{k} ({v})" for k, v in SUFFIXES.items())
            raise InvalidArgument(
                f'{path}: the suffix "{Path(path).suffix}" names no format of propagators; use {known}, or give the '
                "format."
            )
    if bits not in (32, 64):
        raise InvalidArgument(f"write_propagator: bits = {bits}: expected 32 or 64.")
    record = complete_record(s)
    if format == "scidac":
        _halocline.qcd.write_propagator(str(path), s, bits, record_xml(record))
    else:
        _write_hdf5(str(path), s, bits, record)


@takes(grid=checks.a_grid, source=checks.a_site)
def read_propagator(
    path: str | Path, comm: Any = None, grid: Sequence[int] | None = None, source: Sequence[int] | None = None
) -> Propagator:
    """The propagator of a file, verified against its checksum, each process its own part.

    comm: see halocline.comm; grid: processes along x, y, z, t, least surface when None
    source: position x, y, z, t; needed for the files of other codes, which do not hold it
    Returns a Propagator; its attribute `record` holds the parameters that reproduce it, and `info` the file's format,
    lattice, bits, checksum and warnings.
    Raises FileError (missing, damaged, foreign, truncated) and InvalidArgument (grid; no source), on every process
    alike. Collective.
    """
    group = communicator(comm)
    hdf5 = on_root(group, lambda: is_hdf5(path))
    info = on_root(group, lambda: _inspect_hdf5(path) if hdf5 else _inspect_scidac(path))
    record = info.pop("record")
    position = record.get("position") if source is None else list(source)
    if position is None:
        raise InvalidArgument(f"{path}: does not say where its source is; give source = [x, y, z, t].")
    here = geometry(info["lattice"], group, grid)
    s = _read_hdf5(path, here, info, position) if hdf5 else _halocline.qcd.read_propagator(str(path), here, position)
    s.info, s.record = info, record
    return s


def format_of(path: str | Path, otherwise: str = "scidac") -> str:
    """The format of a file name, from its suffix; `otherwise` for an unknown suffix."""
    return SUFFIXES.get(Path(path).suffix.lower(), otherwise)


def complete_record(s: Propagator) -> dict[str, Any]:
    """The record of a propagator with the entries that every file has, the only ones for a propagator made by hand."""
    record = dict(getattr(s, "record", {}))
    return record | {
        "program": f"halocline {_halocline.core.version}",
        "lattice": list(s.geometry.extents),
        "position": list(s.source),
        "basis": "DeGrand-Rossi",
    }


def gauge_record(u: Any) -> dict[str, Any]:
    """What identifies the links: checksum and plaquette; for links from a file also its name, format and checksum.

    Collective.
    """
    info = getattr(u, "info", {})
    known = {"file": info.get("path"), "file_format": info.get("format"), "file_checksum": info.get("checksum")}
    checksum = _halocline.qcd.site_checksum(u.array().reshape(-1).view(np.uint8), u.geometry)
    return {"checksum": checksum, "plaquette": _halocline.qcd.plaquette(u)} | {k: v for k, v in known.items() if v}


def record_xml(record: dict[str, Any]) -> str:
    """The record as the text of a SciDAC file, with the position as an element of its own for other codes to read."""
    return (
        f'<?xml version="1.0"?><propagator><program>{escape(record["program"])}</program>'
        f"<position>{' '.join(map(str, record['position']))}</position><basis>{record['basis']}</basis>"
        f"<record>{escape(json.dumps(record))}</record></propagator>"
    )


def _inspect_scidac(path: str | Path) -> dict[str, Any]:
    info = _halocline.qcd.inspect_propagator(str(path))
    _, opened, rest = info["record_xml"].partition("<record>")
    record: Any = {}
    if opened:
        try:
            record = json.loads(unescape(rest.partition("</record>")[0]))
        except ValueError:
            info["warnings"].append("the record of what made the propagator cannot be read")
    names = ("path", "lattice", "bits", "checksum", "warnings")
    return {n: info[n] for n in names} | {"format": "scidac", "record": record if isinstance(record, dict) else {}}


# ---- HDF5 --------------------------------------------------------------------------------------------------------

TRAILER = struct.Struct("<16sQQQII")
MAGIC = b"halocline prop.1"


class _Head(io.RawIOBase):
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


def _head_of(record: dict[str, Any], shape: tuple[int, ...], dtype: np.dtype, checksum: str) -> dict[str, Any]:
    """The HDF5 file around its numbers: their offset, the size of the file, and the pieces before and after them."""
    head = _Head()
    with h5py.File(head, "w") as file:
        gauge = record.get("gauge", {})
        file.attrs["format"] = FORMAT
        file.attrs["version"] = record["program"]
        file.attrs["lattice"] = record["lattice"]
        file.attrs["source"] = record["position"]
        file.attrs["basis"] = record["basis"]
        file.attrs["order"] = ORDER
        file.attrs["checksum"] = checksum
        if gauge:
            file.attrs["gauge_checksum"], file.attrs["plaquette"] = gauge["checksum"], gauge["plaquette"]
        file.attrs["record"] = json.dumps(record)
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        create.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        create.set_obj_track_times(False)
        space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype, logical=True)
        offset = h5py.h5d.create(file.id, b"propagator", kind, space, create).get_offset()
    data_bytes = int(np.prod(shape)) * dtype.itemsize
    before, after = head.part(0, offset), head.part(offset + data_bytes, head.size - offset - data_bytes)
    numbers = (MAGIC, offset, data_bytes, head.size, zlib.crc32(before + after))
    trailer = TRAILER.pack(*numbers, zlib.crc32(TRAILER.pack(*numbers, 0)))
    return {
        "offset": offset,
        "size": head.size + TRAILER.size,
        "pieces": [(0, before), (offset + data_bytes, after + trailer)],
    }


def _write_hdf5(path: str, s: Propagator, bits: int, record: dict[str, Any]) -> None:
    here = s.geometry
    numbers = s.array().astype(np.complex64 if bits == 32 else np.complex128, copy=False)
    if here.communicator.any(not np.isfinite(numbers).all()):
        raise InvalidArgument("write_propagator: the propagator holds NaN or infinite numbers.")
    local = numbers.reshape(-1).view(np.uint8)
    checksum = _halocline.qcd.site_checksum(local, here)
    shape = (*here.extents[::-1], 4, 3, 4, 3)
    pieces: list[tuple[int, bytes]] = []

    def made() -> tuple[int, int]:
        head = _head_of(record, shape, numbers.dtype, checksum)
        pieces.extend(head["pieces"])
        return head["offset"], head["size"]

    offset, size = on_root(here.communicator, made)
    _halocline.qcd.write_site_array(path, local, here, NUMBERS * numbers.itemsize, offset, size, pieces)


def _inspect_hdf5(path: str | Path) -> dict[str, Any]:
    """The head of an HDF5 file, once its checksum has been verified. Raises FileError."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(max(0, size - TRAILER.size))
            trailer = file.read(TRAILER.size)
            magic, offset, data_bytes, end, sum_head, sum_trailer = TRAILER.unpack(trailer.ljust(TRAILER.size, b"\0"))
            if magic != MAGIC:
                raise FileError(f"{path}: an HDF5 file that is no propagator of Halocline, or one that was cut short.")
            if (
                zlib.crc32(TRAILER.pack(magic, offset, data_bytes, end, sum_head, 0)) != sum_trailer
                or offset + data_bytes > end
                or end + TRAILER.size != size
            ):
                raise FileError(f"{path} (trailer): is damaged; fetch or compute the propagator again.")
            head = io.BytesIO()
            file.seek(0)
            before = file.read(offset)
            file.seek(offset + data_bytes)
            after = file.read(end - offset - data_bytes)
        if zlib.crc32(before + after) != sum_head:
            raise FileError(f"{path} (head): is damaged; fetch or compute the propagator again.")
        head = _Head()
        head.write(before)
        head.seek(offset + data_bytes)
        head.write(after)
        head.truncate(end)
        head.seek(0)
        with h5py.File(head, "r") as opened:
            return _described(path, opened, offset)
    except FileError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().split("\n")[0]
        raise FileError(f"{path}: cannot be read as a propagator: {reason}.") from None


def _described(path: str | Path, file: h5py.File, offset: int) -> dict[str, Any]:
    numbers = file["propagator"]
    lattice = [int(n) for n in file.attrs["lattice"]]
    shape = (*lattice[::-1], 4, 3, 4, 3)
    if file.attrs["format"] != FORMAT or numbers.shape != shape or numbers.id.get_offset() != offset:
        raise FileError(f'{path}: expected format = "{FORMAT}" with a dataset `propagator` of the shape {shape}.')
    if numbers.dtype not in (np.dtype("<c8"), np.dtype("<c16")):
        raise FileError(f"{path} (propagator): holds {numbers.dtype}; expected little-endian complex numbers.")
    return {
        "path": str(path),
        "format": "hdf5",
        "lattice": lattice,
        "bits": 4 * numbers.dtype.itemsize,
        "checksum": str(file.attrs["checksum"]),
        "warnings": [],
        "record": json.loads(file.attrs["record"]),
        "offset": offset,
    }


def _read_hdf5(path: str | Path, here: Any, info: dict[str, Any], position: Sequence[int]) -> Propagator:
    offset = info.pop("offset")
    numbers = np.empty((*here.local[::-1], 4, 3, 4, 3), dtype=np.complex64 if info["bits"] == 32 else np.complex128)
    bytes_a_site = NUMBERS * numbers.itemsize
    found = _halocline.qcd.read_site_array(str(path), numbers.reshape(-1).view(np.uint8), here, bytes_a_site, offset)
    if found != info["checksum"]:
        raise FileError(
            f"{path} (checksum): the file claims {info['checksum']}, its data give {found}: the file is damaged; "
            "fetch or compute the propagator again."
        )
    s = Propagator(here, list(position))
    for spin in range(4):
        for colour in range(3):
            s.column(spin, colour)[...] = numbers[..., spin, colour]
    return s
