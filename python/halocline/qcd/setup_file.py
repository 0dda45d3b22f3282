# SPDX-License-Identifier: Apache-2.0
"""Set-ups of multigrid in HDF5 files: the test vectors, and what they were made for.

The dataset `vectors` holds [t][z][y][x][vector][colour][spin][re, im] in fp16, with attributes:

    format, version   of this layout, of the program
    lattice           x y z t
    aggregate         sites x y z t of an aggregate
    action            JSON: what the quark is
    gauge_checksum    of the links that the quark saw: SciDAC's sums over the bytes of each site
    contraction       factor by which a cycle lowered the residual
    rounds            of inverse iteration
    checksum          of the vectors

The coarse operator is made again from the vectors and the links. Head, trailer and checks are those of site_file.py.
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
from halocline.errors import FileError, InvalidArgument
from halocline.qcd import site_file
from halocline.qcd.hdf5_gauge import is_hdf5
from halocline.qcd.propagators import gauge_record

FORMAT = "halocline multigrid 1"
KIND = site_file.Kind(
    b"halocline mgrid1", "vectors", "multigrid set-up", "delete the file, and the next run makes it again"
)


def write_setup(path: str | Path, setup: dict[str, Any], u: Any, action: Any) -> None:
    """Writes a set-up, the whole file or none.

    setup: `numbers` (local array in fp16), `aggregate`, `contraction` and `rounds`, as the solver gives them
    Raises FileError on every process. Collective; each process writes its part.
    """
    attributes = {
        "format": FORMAT,
        "version": f"halocline {_halocline.core.version}",
        "lattice": list(u.geometry.extents),
        "aggregate": list(setup["aggregate"]),
        "action": json.dumps(quark_numbers(action), sort_keys=True),
        "gauge_checksum": gauge_record(u)["checksum"],
        "contraction": setup["contraction"],
        "rounds": setup["rounds"],
    }
    site_file.write(str(path), KIND, attributes, setup["numbers"], u.geometry)


def read_setup(path: str | Path, u: Any, action: Any, vectors: int) -> dict[str, Any]:
    """The test vectors of a file for these links and this action.

    vectors: the number that is wanted
    Returns `numbers` (local array in fp16) and `aggregate`.
    Raises FileError (missing, damaged, foreign) and InvalidArgument (made for other links, action, lattice or number
    of vectors; both values are given), on every process alike. Collective.
    """
    here = u.geometry

    def head() -> dict[str, Any]:
        if not is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file; expected a multigrid set-up of Halocline.")
        return site_file.inspect(path, KIND, functools.partial(_described, path))

    info = on_root(here.communicator, head)
    more = {"vectors": (vectors, "{} test vectors")}
    refuse_others(path, info, u, quark_numbers(action), more, "this set-up was made", "setup_file")
    numbers = np.empty((*here.local[::-1], vectors, 3, 4, 2), dtype=np.float16)
    site_file.read(path, KIND, numbers, here, info["offset"], info["checksum"])
    return {"numbers": numbers, "aggregate": info["aggregate"]}


def refuse_others(
    path: str | Path,
    info: dict[str, Any],
    u: Any,
    action: dict[str, Any],
    more: dict[str, tuple[Any, str]],
    made: str,
    key: str,
) -> None:
    """Raises InvalidArgument, with both values, unless a file was made for this lattice, action and links.

    info: `lattice`, `action` and `links` of the file, and the names of `more`, which gives the wanted value and a noun
    of each; action: the wanted numbers, as `quark_numbers`; made: "this set-up was made"; key: of the run file, which
    names the file
    """
    wanted = {
        "lattice": (list(u.geometry.extents), "a lattice of {} sites"),
        "action": (action, "the action {}"),
        "links": (gauge_record(u)["checksum"], "links with the checksum {}"),
        **more,
    }
    for name, (here_is, noun) in wanted.items():
        there, mine = _differing(info[name], here_is) if name == "action" else (info[name], here_is)
        if there != mine:
            raise InvalidArgument(
                f"{path}: {made} for {noun.format(there)}, and this is {mine}; "
                f"name another {key}, or delete this one to have it made again."
            )


def quark_numbers(action: Any) -> dict[str, Any]:
    """An action in numbers, whichever way it was given: m0 for kappa, and so on."""
    return {
        "m0": action.m0,
        "csw": action.clover,
        "boundary": [[complex(b).real, complex(b).imag] for b in action.boundary],
        "anisotropy": action.anisotropy,
        "nu": action.nu,
        "csw_t": action.csw_t,
        "mu": action.mu or 0.0,
    }


def _differing(there: dict[str, Any], mine: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries of two actions that differ."""
    names = [k for k in {**there, **mine} if there.get(k) != mine.get(k)]
    return {k: there.get(k) for k in names}, {k: mine.get(k) for k in names}


def _described(path: str | Path, file: h5py.File, offset: int) -> dict[str, Any]:
    numbers = file["vectors"]
    lattice = [int(n) for n in file.attrs["lattice"]]
    shape = numbers.shape
    good = shape[:4] == (*lattice[::-1],) and len(shape) == 8 and shape[5:] == (3, 4, 2)
    if file.attrs["format"] != FORMAT or not good or numbers.id.get_offset() != offset:
        raise FileError(f'{path}: expected format = "{FORMAT}" with a dataset `vectors` [t][z][y][x][vector][3][4][2].')
    if numbers.dtype != np.dtype("<f2"):
        raise FileError(f"{path} (vectors): holds {numbers.dtype}; expected little-endian fp16.")
    return {
        "lattice": lattice,
        "action": {"mu": 0.0} | json.loads(file.attrs["action"]),
        "links": str(file.attrs["gauge_checksum"]),
        "vectors": int(shape[4]),
        "aggregate": [int(n) for n in file.attrs["aggregate"]],
        "checksum": str(file.attrs["checksum"]),
        "offset": offset,
    }
