# SPDX-License-Identifier: Apache-2.0
"""Propagators in files, with the parameters that reproduce them. Each process reads and writes its own part.

There are two formats. SciDAC (`.lime`) is the format of Chroma and other codes; its record XML holds the parameters.
HDF5 (`.h5`) holds one dataset, `propagator`, in the order of `Propagator.array()`. This format alone holds the
propagators of staggered quarks and of twisted doublets, in the order of `StaggeredPropagator.array()` and
`DoubletPropagator.array()`. Its attributes:

    format, version            of this layout, of the program
    lattice, source            x y z t
    basis, order               "DeGrand-Rossi", or "one spin, phases of MILC"; names of the axes
    checksum                   SciDAC's two sums over the bytes of each site
    gauge_checksum, plaquette  of the links that the quark saw, the sums taken in the same way
    shift, shift_operator      for solutions of (S^dagger S + shift) x = b alone: "full" where S is D, "even-odd" where
                               it is the Schur complement on the even sites
    record                     JSON: parameters of action, solver and source, the gauge file and its checksum, residuals

Head, trailer and checks of the HDF5 file are those of site_file.py.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, unescape

import h5py
import numpy as np

from halocline import _halocline
from halocline.comm import communicator, on_root
from halocline.errors import FileError, InvalidArgument
from halocline.qcd import checks, site_file
from halocline.qcd.doublet import DoubletPropagator
from halocline.qcd.gauge import geometry
from halocline.qcd.hdf5_gauge import is_hdf5
from halocline.qcd.runfile_action import Action
from halocline.schema import choice, integer, takes

Propagator = _halocline.qcd.Propagator
StaggeredPropagator = _halocline.qcd.StaggeredPropagator
AnyPropagator = Propagator | StaggeredPropagator | DoubletPropagator
FORMAT = "halocline propagator 1"


class Layout(NamedTuple):
    """How the HDF5 format keeps the propagators of a class."""

    order: str
    """The names of the dataset's axes, by which a reader knows the class."""
    numbers: tuple[int, ...]
    """The shape of the numbers of a site: of the sink, then of the source."""
    basis: str
    hdf5_alone: str = ""
    """Whose propagators these are, for classes that SciDAC files do not hold."""


LAYOUTS = {
    Propagator: Layout("t, z, y, x, sink spin, sink colour, source spin, source colour", (4, 3, 4, 3), "DeGrand-Rossi"),
    StaggeredPropagator: Layout(
        "t, z, y, x, sink colour, source colour", (3, 3), "one spin, phases of MILC", "staggered quarks"
    ),
    DoubletPropagator: Layout(
        "t, z, y, x, sink flavour, sink spin, sink colour, source flavour, source spin, source colour",
        (2, 4, 3, 2, 4, 3),
        "DeGrand-Rossi",
        "twisted doublets",
    ),
}


def propagator_class(action: Action) -> type[AnyPropagator]:
    """The class of the propagators of an [action]."""
    return DoubletPropagator if action.flavours == 2 else StaggeredPropagator if action.staggered else Propagator


def layout_of(s: AnyPropagator) -> Layout:
    """That of its class, or of the class from which it is derived."""
    return next(layout for kind, layout in LAYOUTS.items() if isinstance(s, kind))


SUFFIXES = {".lime": "scidac", ".scidac": "scidac", ".qio": "scidac", ".h5": "hdf5", ".hdf5": "hdf5"}


@takes(s=checks.for_a_file, format=choice("hdf5", "scidac"), bits=integer(at_least=1))
def write_propagator(path: str | Path, s: AnyPropagator, format: str | None = None, bits: int = 64) -> None:
    """Writes a propagator and its parameters (`s.record`), the whole file or none.

    format: "hdf5" or "scidac"; taken from the suffix when None (.h5, .lime); staggered quarks and doublets need "hdf5"
    bits: 32 or 64 of each real number
    The midpoint of domain walls is a propagator for a file of its own: write_propagator(path, s.midpoint).
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
    check_format(path, format, layout_of(s))
    record = complete_record(s)
    if format == "scidac":
        _halocline.qcd.write_propagator(str(path), s, bits, record_xml(record))
    else:
        _write_hdf5(str(path), s, bits, record)


@takes(grid=checks.a_grid, source=checks.a_site)
def read_propagator(
    path: str | Path, comm: Any = None, grid: Sequence[int] | None = None, source: Sequence[int] | None = None
) -> AnyPropagator:
    """The propagator of a file, verified against its checksum, each process its own part.

    comm: see halocline.comm; grid: processes along x, y, z, t, least surface when None
    source: position x, y, z, t; needed for the files of other codes, which do not hold it
    Returns a Propagator, or a StaggeredPropagator or DoubletPropagator from a file of these; its attribute `record`
    holds the parameters that reproduce it, and `info` the file's format, lattice, bits, checksum and warnings.
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


def record_of(path: str | Path, comm: Any = None) -> dict[str, Any]:
    """The record of a propagator file, whose checks are made; {} for one of another code. Raises as `read_propagator`.

    Collective; one process reads.
    """

    def look() -> dict[str, Any]:
        return (_inspect_hdf5(path) if is_hdf5(path) else _inspect_scidac(path))["record"]

    return on_root(communicator(comm), look)


def format_of(path: str | Path, otherwise: str = "scidac") -> str:
    """The format of a file name, from its suffix; `otherwise` for an unknown suffix."""
    return SUFFIXES.get(Path(path).suffix.lower(), otherwise)


def check_format(path: str | Path, format: str, layout: Layout) -> None:
    """Raises InvalidArgument for a format that does not hold propagators of this layout. Not collective."""
    if layout.hdf5_alone and format != "hdf5":
        raise InvalidArgument(
            f"{path}: propagators of {layout.hdf5_alone} are kept as HDF5; give a name that ends in .h5."
        )


def complete_record(s: AnyPropagator) -> dict[str, Any]:
    """The record of a propagator with the entries that every file has, the only ones for a propagator made by hand."""
    record = dict(getattr(s, "record", {}))
    return record | {
        "program": f"halocline {_halocline.core.version}",
        "lattice": list(s.geometry.extents),
        "position": list(s.source),
        "basis": layout_of(s).basis,
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

KIND = site_file.Kind(b"halocline prop.1", "propagator", "propagator", "fetch or compute the propagator again")


def _write_hdf5(path: str, s: AnyPropagator, bits: int, record: dict[str, Any]) -> None:
    here = s.geometry
    numbers = s.array().astype(np.complex64 if bits == 32 else np.complex128, copy=False)
    if here.communicator.any(not np.isfinite(numbers).all()):
        raise InvalidArgument("write_propagator: the propagator holds NaN or infinite numbers.")
    gauge = record.get("gauge", {})
    attributes = {
        "format": FORMAT,
        "version": record["program"],
        "lattice": record["lattice"],
        "source": record["position"],
        "basis": record["basis"],
        "order": layout_of(s).order,
        **({"gauge_checksum": gauge["checksum"], "plaquette": gauge["plaquette"]} if gauge else {}),
        **{name: record[name] for name in ("shift", "shift_operator") if name in record},
        "record": json.dumps(record),
    }
    site_file.write(path, KIND, attributes, numbers, here)


def _inspect_hdf5(path: str | Path) -> dict[str, Any]:
    """The head of an HDF5 file, once its checksum has been verified. Raises FileError."""
    return site_file.inspect(path, KIND, functools.partial(_described, path))


def _described(path: str | Path, file: h5py.File, offset: int) -> dict[str, Any]:
    numbers = file["propagator"]
    lattice = [int(n) for n in file.attrs["lattice"]]
    kinds = {layout.order: kind for kind, layout in LAYOUTS.items()}
    kind = kinds.get(file.attrs.get("order"))
    if kind is None:
        known = " or ".join(f'"{order}"' for order in kinds)
        raise FileError(f'{path}: the axes are "{file.attrs.get("order")}"; expected {known}.')
    shape = (*lattice[::-1], *LAYOUTS[kind].numbers)
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
        "class": kind,
    }


def _read_hdf5(path: str | Path, here: Any, info: dict[str, Any], position: Sequence[int]) -> AnyPropagator:
    kind = info.pop("class")
    shape = LAYOUTS[kind].numbers
    numbers = np.empty((*here.local[::-1], *shape), dtype=np.complex64 if info["bits"] == 32 else np.complex128)
    site_file.read(path, KIND, numbers, here, info.pop("offset"), info["checksum"])
    s = kind(here, list(position))
    for source in np.ndindex(shape[len(shape) // 2 :]):
        s.column(*source)[...] = numbers[(..., *source)]
    return s
