# SPDX-License-Identifier: Apache-2.0
"""Symmetries of a crystal, and the irreducible k-points of a mesh.

spglib finds the symmetries. Those are kept that map the points of the grid, and the k-points of the mesh, onto points
of the same grid and mesh. Time reversal adds -k to k.
"""

from __future__ import annotations

import dataclasses

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
    found: int
    """Symmetries of the crystal."""
    of_grid: int
    """Those of them that the grid has."""
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


def irreducible(structure: Structure, extent: tuple[int, ...], mesh: np.ndarray) -> Reduction:
    """The irreducible part of a mesh of k-points.

    mesh: shape (n, 3) [1/bohr], points of equal weight
    """
    size = np.array(extent)
    all_rotations, translations = crystal_symmetries(structure)
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
    if None not in reversed_targets:
        images += [[reversed_targets[t] for t in targets] for targets in images]
    table = np.array(images)
    representative = table.min(axis=0)
    first, counts = np.unique(representative, return_counts=True)
    return Reduction(
        rotations=rotations[kept],
        shifts=shifts[kept],
        points=mesh[first],
        weights=counts / len(mesh),
        found=len(all_rotations),
        of_grid=len(rotations),
        mesh_points=len(mesh),
    )
