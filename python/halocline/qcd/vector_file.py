# SPDX-License-Identifier: Apache-2.0
"""HDF5 files of fine vectors and of what they were made for: set-ups of multigrid, low modes.

The dataset `vectors` holds [t][z][y][x][vector][colour][spin][re, im] in fp16, with attributes:

    format, version   of this layout, of the program
    lattice           x y z t
    action            JSON: what the quark is
    gauge_checksum    of the links that the quark saw: SciDAC's sums over the bytes of each site
    checksum          of the vectors

and those of the kind of file. Head, trailer and checks are those of site_file.py.
"""

from __future__ import annotations

import dataclasses
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

DATASET = "vectors"
SPINOR = (3, 4, 2)


@dataclasses.dataclass(frozen=True)
class VectorFile:
    """A kind of such files, which are written, described and refused alike."""

    format: str
    """The attribute."""
    magic: bytes
    """16 bytes that begin the trailer."""
    noun: str
    """For messages: "multigrid set-up"."""
    made: str
    """For messages about another quark: "this set-up was made"."""
    key: str
    """Of the run file, which names the file; for messages."""
    vector: str
    """A noun for some vectors: "{} test vectors"."""
    own: tuple[str, ...] = ()
    """Attributes of lists that this kind has besides."""
    one_a_vector: tuple[str, ...] = ()
    """Attributes of lists that have an entry for every vector."""
    without: tuple[str, ...] = ()
    """Numbers of the action that the vectors do not depend on."""
    takes_fewer: bool = False
    """Whether a file serves for its first vectors alone."""

    @property
    def kind(self) -> site_file.Kind:
        return site_file.Kind(self.magic, DATASET, self.noun, "delete the file, and the next run makes it again")

    def write(self, path: str | Path, numbers: np.ndarray, u: Any, action: Any, own: dict[str, Any]) -> None:
        """Writes a file, the whole of it or none.

        numbers: local array in fp16; own: the attributes besides
        Raises FileError on every process. Collective; each process writes its part.
        """
        attributes = {
            "format": self.format,
            "version": f"halocline {_halocline.core.version}",
            "lattice": list(u.geometry.extents),
            "action": json.dumps(self.action(action), sort_keys=True),
            "gauge_checksum": gauge_record(u)["checksum"],
        }
        site_file.write(str(path), self.kind, attributes | own, numbers, u.geometry)

    def read(self, path: str | Path, u: Any, action: Any, vectors: int) -> tuple[np.ndarray, dict[str, Any]]:
        """The local part of as many vectors in fp16, and the attributes that the kind has of its own.

        Raises FileError (missing, damaged, foreign) and InvalidArgument (made for other links, action, lattice or
        number of vectors; both values are given), on every process alike. Collective.
        """
        here = u.geometry
        info = on_root(here.communicator, lambda: self.inspect(path))
        there = info["vectors"]
        if self.takes_fewer:
            info["vectors"] = min(there, vectors)
        self._refuse_others(path, info, u, action, vectors)
        numbers = np.empty((*here.local[::-1], there, *SPINOR), dtype=np.float16)
        site_file.read(path, self.kind, numbers, here, info["offset"], info["checksum"])
        found = {name: info[name] for name in self.own}
        found |= {name: info[name][:vectors] for name in self.one_a_vector}
        return np.ascontiguousarray(numbers[..., :vectors, :, :, :]), found

    def inspect(self, path: str | Path) -> dict[str, Any]:
        """What the head of a file tells, once its checksum has been verified. Raises FileError. Collective: no."""
        if not is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file; expected a {self.noun} of Halocline.")
        return site_file.inspect(path, self.kind, lambda file, offset: self._described(path, file, offset))

    def action(self, action: Any) -> dict[str, Any]:
        """The numbers of an action that the vectors depend on, whichever way it was given: m0 for kappa, and so on."""
        numbers = {
            "m0": action.m0,
            "csw": action.clover,
            "boundary": [[complex(b).real, complex(b).imag] for b in action.boundary],
            "anisotropy": action.anisotropy,
            "nu": action.nu,
            "csw_t": action.csw_t,
            "mu": action.mu or 0.0,
        }
        return {name: value for name, value in numbers.items() if name not in self.without}

    def _refuse_others(self, path: str | Path, info: dict[str, Any], u: Any, action: Any, vectors: int) -> None:
        wanted = {
            "lattice": (list(u.geometry.extents), "a lattice of {} sites"),
            "action": (self.action(action), "the action {}"),
            "links": (gauge_record(u)["checksum"], "links with the checksum {}"),
            "vectors": (vectors, self.vector),
        }
        for name, (here_is, noun) in wanted.items():
            there, mine = _differing(info[name], here_is) if name == "action" else (info[name], here_is)
            if there != mine:
                raise InvalidArgument(
                    f"{path}: {self.made} for {noun.format(there)}, and this is {mine}; "
                    f"name another {self.key}, or delete this one to have it made again."
                )

    def _described(self, path: str | Path, file: h5py.File, offset: int) -> dict[str, Any]:
        numbers = file[DATASET]
        lattice = [int(n) for n in file.attrs["lattice"]]
        lists = {name: file.attrs[name].tolist() for name in (*self.own, *self.one_a_vector)}
        vectors = numbers.shape[4] if len(numbers.shape) == 8 else 0
        good = numbers.shape == (*lattice[::-1], vectors, *SPINOR) and vectors > 0
        good = good and all(len(lists[name]) == vectors for name in self.one_a_vector)
        if file.attrs["format"] != self.format or not good or numbers.id.get_offset() != offset:
            raise FileError(
                f'{path}: expected format = "{self.format}" with a dataset `vectors` [t][z][y][x][vector][3][4][2].'
            )
        if numbers.dtype != np.dtype("<f2"):
            raise FileError(f"{path} (vectors): holds {numbers.dtype}; expected little-endian fp16.")
        action = json.loads(file.attrs["action"])
        if "mu" not in self.without:
            action = {"mu": 0.0} | action  # files from before twisted masses
        return lists | {
            "lattice": lattice,
            "action": action,
            "links": str(file.attrs["gauge_checksum"]),
            "vectors": int(vectors),
            "checksum": str(file.attrs["checksum"]),
            "offset": offset,
        }


def _differing(there: dict[str, Any], mine: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries of two actions that differ."""
    names = [k for k in {**there, **mine} if there.get(k) != mine.get(k)]
    return {k: there.get(k) for k in names}, {k: mine.get(k) for k in names}
