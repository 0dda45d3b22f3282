# SPDX-License-Identifier: Apache-2.0
"""Atoms in a cell or a box, in bohr and in the frame of the grid, from an ASE object, a file or a run file.

A crystal keeps its coordinates: grid point i of an axis is at i h. A box has its centre at the origin. The point moved
there is the centre of ASE's cell if the atoms have a non-periodic cell, and otherwise the centre of the atoms (with
centre = false, the origin of the coordinates).
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from halocline.errors import FileError, InvalidArgument
from halocline.tddft.runfile import System
from halocline.tddft.runfile_crystal import AXES
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM


def formula_of(symbols: Iterable[str]) -> str:
    """'C2H2', in the order of first appearance; "jellium" without atoms."""
    counts = collections.Counter(symbols)
    return "".join(f"{s}{n if n > 1 else ''}" for s, n in counts.items()) or "jellium"


@dataclasses.dataclass(frozen=True)
class Structure:
    """The positions of the atoms, or of the jellium sphere, in the cell or box."""

    symbols: tuple[str, ...]
    positions: np.ndarray
    """Shape (atoms, 3) [bohr], in the frame of the grid."""
    cell: np.ndarray
    """Shape (3, 3) [bohr], the edges of the cell or box in rows; diagonal for a box."""
    periodic: bool
    jellium: tuple[float, float, tuple[float, float, float]] | None = None
    """Radius r_s [bohr], charge, centre [bohr]."""
    velocities: np.ndarray | None = None
    """Shape (atoms, 3) [a.u.], if the file or the atoms had some."""
    open: tuple[bool, bool, bool] = (False, False, False)
    """Of a crystal, the axes along which it does not repeat: one of a slab, two of a wire."""

    @property
    def boundaries(self) -> str:
        """'crystal', 'slab', 'wire' or 'isolated'."""
        return ("crystal", "slab", "wire")[sum(self.open)] if self.periodic else "isolated"

    @property
    def edges(self) -> np.ndarray:
        """Shape (3,) [bohr], lengths of the edges."""
        return np.diag(self.cell) if self.orthogonal else np.linalg.norm(self.cell, axis=1)

    @property
    def orthogonal(self) -> bool:
        """Whether the edges are parallel to x, y and z."""
        return not np.any(self.cell - np.diag(np.diag(self.cell)))

    @property
    def reciprocal(self) -> np.ndarray:
        """Shape (3, 3) [1/bohr], the vectors of the reciprocal cell in rows, with the factor 2 pi."""
        return 2.0 * np.pi * np.linalg.inv(self.cell).T

    def to_nearest(self, vectors: np.ndarray) -> np.ndarray:
        """Shape (n, 3): the translations of the crystal that bring vectors (n, 3) nearest to zero; none in a box."""
        if not self.periodic:
            return np.zeros_like(vectors)
        whole = -np.round(vectors @ self.reciprocal.T / (2.0 * np.pi))
        around = np.array(sorted(itertools.product((-1, 0, 1), repeat=3), key=np.linalg.norm))
        translations = (whole[:, None, :] + around) @ self.cell
        best = np.argmin(np.linalg.norm(vectors[:, None, :] + translations, axis=2), axis=1)
        return translations[np.arange(len(vectors)), best]

    def formula(self) -> str:
        """As formula_of() gives it."""
        return formula_of(self.symbols)


def read_atoms(path: str) -> Any:
    """The last image of a file in any format that ASE reads. Raises FileError."""
    import ase.io

    if not Path(path.rsplit("@", 1)[0]).is_file():
        raise FileError(f"{path}: no such file of atoms (paths are relative to the folder of the command).")
    try:
        atoms = ase.io.read(path)
        atoms.get_chemical_symbols()  # raises an error for atomic numbers that no element has
        return atoms
    except Exception as error:  # ASE's readers raise errors of any type
        said = str(error).strip().split("\n")[0]
        raise FileError(f"{path}: ASE cannot read atoms from it ({type(error).__name__}: {said}).") from None


def structure_of(section: System, atoms: Any = None) -> Structure:
    """The structure of a [system] section.

    atoms: an ASE Atoms object, in place of the atoms named in the section
    Raises InvalidArgument and FileError.
    """
    if section.jellium is not None:
        return _jellium(section)
    if section.atoms is not None:
        positions = np.array([[section.in_bohr(v) for v in entry[1:]] for entry in section.atoms])
        return _placed(section, [entry[0] for entry in section.atoms], positions, section.vectors(), None)
    atoms = read_atoms(section.file) if atoms is None else atoms
    cell, periodic = _cell_of(atoms)
    if section.periodic is not None:
        periodic = section.periodic
    elif section.box is not None:
        periodic = False
    elif section.cell is not None:
        periodic = True
    given = section.vectors()
    if given is None and cell is None:
        raise InvalidArgument("[system] these atoms have no cell; say the edges of the box in 'box' (or 'cell').")
    positions = np.asarray(atoms.get_positions(), dtype=float) / BOHR_ANGSTROM
    middle = None if cell is None else 0.5 * cell.sum(axis=0)
    chosen = dataclasses.replace(section, periodic=periodic, cell=None, box=None)
    placed = _placed(chosen, atoms.get_chemical_symbols(), positions, cell if given is None else given, middle)
    return dataclasses.replace(placed, velocities=_velocities_of(atoms))


def _velocities_of(atoms: Any) -> np.ndarray | None:
    """Velocities of ASE's atoms [a.u.]; None if all are zero."""
    from ase.units import fs

    if "momenta" not in atoms.arrays or not atoms.get_momenta().any():
        return None
    return atoms.get_velocities() * (fs * ATOMIC_TIME_FS / BOHR_ANGSTROM)


def _cell_of(atoms: Any) -> tuple[np.ndarray | None, bool | str]:
    """Edges [bohr] of ASE's cell in rows, None if it has none, and [system] periodic as its boundaries say."""
    axes = "".join(name for name, p in zip(AXES, atoms.get_pbc(), strict=True) if p)
    cell = np.asarray(atoms.get_cell()[:], dtype=float) / BOHR_ANGSTROM
    return (cell, {"": False, "xyz": True}.get(axes, axes)) if cell.any() else (None, False)


def open_axes(periodic: bool | str) -> tuple[bool, bool, bool]:
    """The axes along which a crystal does not repeat, from [system] periodic."""
    return tuple(isinstance(periodic, str) and name not in periodic for name in AXES)  # type: ignore[return-value]


ROUNDING = 1e-6
"""Entries beside the diagonal of a cell below which its edges are taken to be parallel to x, y, z [bohr]."""


def _checked_cell(cell: np.ndarray, periodic: bool) -> np.ndarray:
    """The cell, with entries beside the diagonal that are mere rounding left out. Raises InvalidArgument."""
    cell = np.array(cell, dtype=float)
    outside = float(np.abs(cell - np.diag(np.diag(cell))).max())
    if outside <= ROUNDING and np.diag(cell).min() > 0:
        return np.diag(np.diag(cell))
    if not periodic:
        raise InvalidArgument(
            f"[system] the cell of these isolated atoms is not orthogonal along x, y, z (largest entry off the "
            f"diagonal {outside:.4g} bohr); say the edges of their box in 'box'."
        )
    lengths = np.linalg.norm(cell, axis=1)
    if lengths.min() <= 0 or abs(np.linalg.det(cell)) < 1e-3 * lengths.prod():
        raise InvalidArgument(
            "[system] the edges of the cell lie in one plane, or nearly, or one of them is zero; check them."
        )
    return cell


def _placed(section: System, symbols: list[str], positions: np.ndarray, cell: Any, middle: Any) -> Structure:
    periodic = section.periodic if section.periodic is not None else section.cell is not None
    cell = _checked_cell(cell, bool(periodic))
    if periodic:
        positions = _into_cell(positions, cell)
    elif middle is not None:
        positions = positions - middle
    elif section.centre:
        positions = positions - 0.5 * (positions.min(axis=0) + positions.max(axis=0))
    return Structure(tuple(symbols), positions, cell, bool(periodic), open=open_axes(periodic))


def _into_cell(positions: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """The images of positions inside of the cell."""
    if not np.any(cell - np.diag(np.diag(cell))):
        return np.mod(positions, np.diag(cell))
    return positions - np.floor(positions @ np.linalg.inv(cell)) @ cell


def _jellium(section: System) -> Structure:
    j = section.jellium
    periodic = section.periodic if section.periodic is not None else section.cell is not None
    cell = _checked_cell(section.vectors(), bool(periodic))
    if j.centre is not None:
        centre = tuple(section.in_bohr(v) for v in j.centre)
    else:
        centre = tuple(0.5 * cell.sum(axis=0)) if periodic else (0.0, 0.0, 0.0)
    jellium = (j.radius, j.charge, centre)
    return Structure((), np.empty((0, 3)), cell, bool(periodic), jellium, open=open_axes(periodic))
