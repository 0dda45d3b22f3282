# SPDX-License-Identifier: Apache-2.0
"""Symmetries of a crystal, and the irreducible k-points of a mesh.

spglib finds the symmetries. Those are kept that map the points of the grid, and the k-points of the mesh, onto points
of the same grid and mesh. Time reversal adds -k to k.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from halocline.tddft.structure import Structure
from halocline.tddft.units import BOHR_ANGSTROM

TOLERANCE = 1e-5
"""Of positions [angstrom]; of fractions of the cell for grid points and k-points."""


@dataclasses.dataclass(frozen=True)
class Reduction:
    """The irreducible part of a mesh of k-points."""

    rotations: np.ndarray
    """Shape (symmetries, 3, 3), acting on numbers of grid points."""
    shifts: np.ndarray
    """Shape (symmetries, 3), in grid points."""
    points: np.ndarray
    """Shape (irreducible, 3) [1/bohr]."""
    weights: np.ndarray
    """Shape (irreducible,); their sum is 1."""
    time_reversal: bool
    """Whether k represents -k, too."""
    found: int
    """Symmetries of the crystal."""
    of_grid: int
    """Those of them that the grid and the field have."""
    mesh_points: int
    """K-points of the whole mesh."""


def crystal_symmetries(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 3, 3) and translations (n, 3) in fractions of the edges; the identity alone if spglib fails."""
    import spglib

    numbers = {symbol: i + 1 for i, symbol in enumerate(dict.fromkeys(structure.symbols))}
    cell = structure.cell * BOHR_ANGSTROM
    fractions = structure.positions @ np.linalg.inv(structure.cell)
    found = spglib.get_symmetry((cell, fractions, [numbers[s] for s in structure.symbols]), symprec=TOLERANCE)
    if found is None:
        return np.eye(3, dtype=int)[None], np.zeros((1, 3))
    return np.asarray(found["rotations"], dtype=int), np.asarray(found["translations"], dtype=float)


def keeping_open_axes(structure: Structure, rotations: np.ndarray) -> np.ndarray:
    """Which rotations do not mix the axes along which a slab or wire does not repeat with the others."""
    is_open = np.array(structure.open)
    mixed = is_open[:, None] != is_open[None, :]
    return ~(rotations[:, mixed] != 0).any(axis=1)


def on_grid(rotations: np.ndarray, translations: np.ndarray, extent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The symmetries that map grid points onto grid points, acting on their numbers."""
    # x' = W x + w with x = i / N: i' = N W (i / N) + N w
    rotated = rotations * extent[None, :, None] / extent[None, None, :]
    moved = translations * extent[None, :]
    whole = np.abs(rotated - np.round(rotated)).max(axis=(1, 2)) < TOLERANCE
    whole &= np.abs(moved - np.round(moved)).max(axis=1) < TOLERANCE * extent.max()
    shifts = np.round(moved[whole]).astype(int) % extent
    return np.round(rotated[whole]).astype(int), shifts


def _keys(fractions: np.ndarray) -> np.ndarray:
    """Integers that are equal for k-points that differ by reciprocal vectors. Shape (..., 3)."""
    scale = 1 << 20
    return np.round(fractions * scale).astype(np.int64) % scale


def leaving_alone(structure: Structure, rotations: np.ndarray, direction: Sequence[float]) -> np.ndarray:
    """Which rotations (n, 3, 3) in fractions of the edges leave a Cartesian direction alone. Shape (n,)."""
    along = np.asarray(direction, dtype=float) @ np.linalg.inv(structure.cell)
    return np.abs(rotations @ along - along).max(axis=1) < TOLERANCE * np.abs(along).max()


def irreducible(
    structure: Structure, extent: tuple[int, ...], mesh: np.ndarray, direction: Sequence[float] | None = None
) -> Reduction:
    """The irreducible part of a mesh of k-points.

    mesh: shape (n, 3) [1/bohr], points of equal weight
    direction: of a field: only symmetries that leave it alone, and no time reversal
    """
    size = np.array(extent)
    all_rotations, translations = crystal_symmetries(structure)
    kept_apart = keeping_open_axes(structure, all_rotations)
    all_rotations, translations = all_rotations[kept_apart], translations[kept_apart]
    found = len(all_rotations)
    if direction is not None:
        kept_by_field = leaving_alone(structure, all_rotations, direction)
        all_rotations, translations = all_rotations[kept_by_field], translations[kept_by_field]
    rotations, shifts = on_grid(all_rotations, translations, size)
    fractions = mesh @ structure.cell.T / (2.0 * np.pi)
    number = {tuple(key): i for i, key in enumerate(_keys(fractions))}
    kept, images = [], []
    for i, rotation in enumerate(rotations):
        in_fractions = rotation * size[None, :] / size[:, None]
        # f . x is kept: f' = W^-T f
        image = fractions @ np.linalg.inv(in_fractions)
        targets = [number.get(tuple(key)) for key in _keys(image)]
        if None not in targets:
            kept.append(i)
            images.append(targets)
    reversed_targets = [number.get(tuple(key)) for key in _keys(-fractions)]
    time_reversal = direction is None and None not in reversed_targets
    if time_reversal:
        images += [[reversed_targets[t] for t in targets] for targets in images]
    table = np.array(images)
    representative = table.min(axis=0)
    first, counts = np.unique(representative, return_counts=True)
    return Reduction(
        rotations=rotations[kept],
        shifts=shifts[kept],
        points=mesh[first],
        weights=counts / len(mesh),
        time_reversal=time_reversal,
        found=found,
        of_grid=len(rotations),
        mesh_points=len(mesh),
    )
