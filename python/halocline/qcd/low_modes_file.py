# SPDX-License-Identifier: Apache-2.0
"""Low modes of gamma5 D in HDF5 files, for deflation: the vectors, and what they belong to.

The dataset `vectors` holds [t][z][y][x][vector][colour][spin][re, im] in fp16, with attributes:

    format, version   of this layout, of the program
    lattice           x y z t
    values            eigenvalues of gamma5 D, by increasing modulus
    action            JSON: what the quark is; without a twisted mass, which changes no eigenvector
    gauge_checksum    of the links that the quark saw: SciDAC's sums over the bytes of each site
    checksum          of the vectors

Head, trailer and checks are those of site_file.py.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline import _halocline
from halocline.comm import on_root
from halocline.errors import FileError
from halocline.qcd import site_file
from halocline.qcd.hdf5_gauge import is_hdf5
from halocline.qcd.propagators import gauge_record
from halocline.qcd.setup_file import quark_numbers, refuse_others

FORMAT = "halocline low modes 1"
KIND = site_file.Kind(
    b"halocline modes1", "vectors", "file of low modes", "delete the file, and the next run makes it again"
)


def write_low_modes(path: str | Path, modes: dict[str, Any], u: Any, action: Any) -> None:
    """Writes low modes, the whole file or none.

    modes: `numbers` (local array in fp16) and `values`, as the solver gives them
    Raises FileError on every process. Collective; each process writes its part.
    """
    attributes = {
        "format": FORMAT,
        "version": f"halocline {_halocline.core.version}",
        "lattice": list(u.geometry.extents),
        "values": list(modes["values"]),
        "action": json.dumps(_quark(action), sort_keys=True),
        "gauge_checksum": gauge_record(u)["checksum"],
    }
    site_file.write(str(path), KIND, attributes, modes["numbers"], u.geometry)


def read_low_modes(path: str | Path, u: Any, action: Any, vectors: int) -> dict[str, Any]:
    """The low modes of a file for these links and this action.

    vectors: the number that is wanted; a file with more gives the lowest of them
    Returns `numbers` (local array in fp16) and `values`.
    Raises FileError (missing, damaged, foreign) and InvalidArgument (of other links, action or lattice, both values
    are given; fewer vectors), on every process alike. Collective.
    """
    here = u.geometry

    def head() -> dict[str, Any]:
        if not is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file; expected low modes of Halocline.")
        return site_file.inspect(path, KIND, functools.partial(_described, path))

    info = on_root(here.communicator, head)
    there = len(info["values"])
    info["vectors"] = min(there, vectors)
    more = {"vectors": (vectors, "{} vectors")}
    refuse_others(path, info, u, _quark(action), more, "these low modes were made", "file of deflation")
    numbers = np.empty((*here.local[::-1], there, 3, 4, 2), dtype=np.float16)
    site_file.read(path, KIND, numbers, here, info["offset"], info["checksum"])
    return {"numbers": np.ascontiguousarray(numbers[..., :vectors, :, :, :]), "values": info["values"][:vectors]}


def _quark(action: Any) -> dict[str, Any]:
    """The numbers that gamma5 D depends on. A twisted mass does not change its modes."""
    return {name: value for name, value in quark_numbers(action).items() if name != "mu"}


def _described(path: str | Path, file: h5py.File, offset: int) -> dict[str, Any]:
    numbers = file["vectors"]
    lattice = [int(n) for n in file.attrs["lattice"]]
    values = [float(v) for v in file.attrs["values"]]
    good = numbers.shape == (*lattice[::-1], len(values), 3, 4, 2)
    if file.attrs["format"] != FORMAT or not good or numbers.id.get_offset() != offset:
        raise FileError(f'{path}: expected format = "{FORMAT}" with a dataset `vectors` [t][z][y][x][vector][3][4][2].')
    if numbers.dtype != np.dtype("<f2"):
        raise FileError(f"{path} (vectors): holds {numbers.dtype}; expected little-endian fp16.")
    return {
        "lattice": lattice,
        "action": json.loads(file.attrs["action"]),
        "links": str(file.attrs["gauge_checksum"]),
        "values": values,
        "checksum": str(file.attrs["checksum"]),
        "offset": offset,
    }
