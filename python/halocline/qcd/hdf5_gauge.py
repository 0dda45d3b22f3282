# SPDX-License-Identifier: Apache-2.0
"""Gauge configurations in HDF5: one dataset `links` [t][z][y][x][mu][3][3], complex, with attributes.

Each time slice is one chunk with HDF5's own checksum (Fletcher-32), which the HDF5 library verifies on reading. The
attributes hold plaquette and link trace, which this module verifies. A seal (halocline/hdf5.py) protects the rest of
the file, its structure; it is checked before the HDF5 library opens the file. Every process reads its own part. The
first process writes a sibling of the final file, slice by slice, and then renames it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline import _halocline, hdf5
from halocline.comm import raise_together
from halocline.errors import FileError, InvalidArgument
from halocline.files import NewFile, cannot_write

FORMAT = "halocline gauge 1"
LARGEST_LINK = 1e15
"""Products of matrices with larger elements may not be finite. Elements of SU(3) are at most 1."""


def is_hdf5(path: str | Path) -> bool:
    """True when the file begins as HDF5 does; False also when it cannot be opened, or is a pipe."""
    try:
        if not Path(path).is_file():
            return False
        with open(path, "rb") as file:
            return file.read(len(hdf5.SIGNATURE)) == hdf5.SIGNATURE
    except OSError:
        return False


def inspect(path: str | Path) -> dict[str, Any]:
    """The header, in the form that inspect_gauge gives for the other formats. Raises FileError."""
    with hdf5.opened(path) as file:
        return _header(path, file)


def _header(path: str | Path, file: h5py.File) -> dict[str, Any]:
    if file.attrs.get("format") != FORMAT or "links" not in file:
        raise FileError(f'{path}: an HDF5 file without links; expected the attribute format = "{FORMAT}".')
    links = file["links"]
    shape = links.shape
    if len(shape) != 7 or shape[4:] != (4, 3, 3) or links.dtype not in (np.complex64, np.complex128):
        raise FileError(
            f"{path} (links): has the shape {shape} of {links.dtype}; expected complex (t, z, y, x, 4, 3, 3)."
        )
    return {
        "path": str(path),
        "format": "hdf5",
        "lattice": [int(n) for n in shape[3::-1]],
        "bits": 64 if links.dtype == np.complex128 else 32,
        "rows": 3,
        "endian": "big" if links.dtype.byteorder == ">" else "little",
        "header_plaquette": _claim(path, file, "plaquette"),
        "header_link_trace": _claim(path, file, "link_trace"),
        "checksum": "fletcher32" if links.fletcher32 else None,
        "header": {k: str(v) for k, v in file.attrs.items() if k not in ("plaquette", "link_trace")},
        "warnings": [] if links.fletcher32 else ["the dataset links carries no checksum"],
    }


def _claim(path: str | Path, file: h5py.File, name: str) -> float:
    """An attribute that is one real number."""
    try:
        return float(file.attrs[name])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FileError(f"{path} ({name}): is missing or no number; convert the links again.") from None


def read(path: str | Path, geometry: Any, strict: bool) -> tuple[Any, dict[str, Any]]:
    """(GaugeField, information). Collective; an error of one process is raised on all."""
    info, links, sentence = None, None, ""
    try:
        with h5py.File(path, "r") as file:
            info = _header(path, file)
            at = tuple(slice(o, o + n) for o, n in zip(geometry.offset[::-1], geometry.local[::-1], strict=True))
            links = np.ascontiguousarray(file["links"][at], dtype=np.complex128)
            if not (np.abs(links) < LARGEST_LINK).all():
                sentence = f"{path} (links): holds NaN, infinite or huge numbers; make or fetch the file again."
    except FileError as error:
        sentence = str(error)
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, OverflowError) as error:
        sentence = f"{path} (links): cannot be read, its checksum or structure is damaged ({str(error).strip()})."
    raise_together(geometry.communicator, sentence, FileError)
    u = _halocline.qcd.GaugeField.from_array(geometry, links)
    info["plaquette"] = _halocline.qcd.plaquette(u)
    info["link_trace"] = _halocline.qcd.link_trace(u)
    info["unitarity_violation"] = u.unitarity_violation()
    tolerance = 1e-10 if info["bits"] == 64 else 1e-5
    for name in ("plaquette", "link_trace"):
        claimed = info[f"header_{name}"]
        if not abs(claimed - info[name]) < tolerance:
            raise FileError(f"{path} ({name}): the file claims {claimed!r} and its links give {info[name]!r}.")
    if info["unitarity_violation"] > _halocline.qcd.unitarity_tolerance(info["bits"]):
        sentence = f"links are not in SU(3): |U U^dagger - 1| is up to {info['unitarity_violation']:.3g}"
        if strict:
            raise FileError(f"{path} (links): {sentence}; leave out --strict to read them all the same.")
        info["warnings"].append(sentence)
    return u, info


def write(path: str | Path, u: Any, bits: int, metadata: dict[str, str]) -> None:
    """Collective; the first process writes. Raises InvalidArgument and FileError on every process."""
    if bits not in (32, 64):
        raise InvalidArgument(f"bits = {bits}; HDF5 gauge files have 32 or 64.")
    geometry = u.geometry
    group = geometry.communicator
    numbers = {"plaquette": _halocline.qcd.plaquette(u), "link_trace": _halocline.qcd.link_trace(u)}
    links = u.array().astype(np.complex64 if bits == 32 else np.complex128)
    if group.any(not np.isfinite(links).all()):
        raise InvalidArgument("write_gauge: the links hold NaN or infinite numbers.")
    shape = (*geometry.extents[::-1], 4, 3, 3)

    def slices() -> Iterator[np.ndarray | None]:
        for t in range(shape[0]):
            yield _gather_slice(links, geometry, t)

    sentence = ""
    if group.rank == 0:
        left = slices()
        try:
            _write_slices(Path(path), left, shape, links.dtype, numbers | metadata)
        except FileError as error:
            sentence = str(error)
        except (OSError, RuntimeError, ValueError, TypeError, OverflowError) as error:
            sentence = str(cannot_write(path, error))
    else:
        left = slices()
    for _ in left:  # gathering is collective: slices that the first process no longer needs are gathered too
        pass
    raise_together(group, sentence, FileError)


def _write_slices(
    path: Path, slices: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype, attributes: dict[str, Any]
) -> None:
    """Writes the file, on one process. Raises FileError; some slices may then be left over."""
    with NewFile(path) as new:
        stored = hdf5.Stored(new)
        with h5py.File(stored, "w") as file:
            file.attrs["format"] = FORMAT
            for name, value in attributes.items():
                file.attrs[name] = value
            dataset = file.create_dataset(
                "links", shape, dtype, chunks=(1, *shape[1:]), fletcher32=True, track_times=False
            )
            for t, links in enumerate(slices):
                dataset[t] = links
                if stored.failure is not None:
                    break
            file.flush()
            chunks = [dataset.id.get_chunk_info(n) for n in range(dataset.id.get_num_chunks())]
            left_out = [(chunk.byte_offset, chunk.size) for chunk in chunks]
        if stored.failure is not None:
            raise stored.failure
        new.write(stored.size, hdf5.seal(stored, stored.size, left_out))


def _gather_slice(links: np.ndarray, geometry: Any, t: int) -> np.ndarray | None:
    """Time slice t of the whole lattice on the first process, None on the others."""
    group = geometry.communicator
    here = t - geometry.offset[3]
    mine = links[here] if 0 <= here < geometry.local[3] else links[:0]
    parts = np.frombuffer(group.gather(np.ascontiguousarray(mine).tobytes(), 0), dtype=links.dtype)
    place = np.array(geometry.offset[:3] if mine.size else [], dtype=np.int64)
    places = np.frombuffer(group.gather(place.tobytes(), 0), dtype=np.int64).reshape(-1, 3)
    if group.rank != 0:
        return None
    x, y, z = geometry.local[:3]
    whole = np.empty((*geometry.extents[2::-1], 4, 3, 3), dtype=links.dtype)
    for part, (x0, y0, z0) in zip(parts.reshape(len(places), z, y, x, 4, 3, 3), places, strict=True):
        whole[z0 : z0 + z, y0 : y0 + y, x0 : x0 + x] = part
    return whole
