# SPDX-License-Identifier: Apache-2.0
"""Bodies of matter: cuboids, balls, rods, sets of cubes and closed surfaces. Lengths and places are in nm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import FileError, InvalidArgument
from halocline.maxwell.checks import a_corner, a_direction, a_place
from halocline.maxwell.units import quantity
from halocline.schema import takes


@takes(lower=a_corner, upper=a_corner)
def cuboid(lower: Sequence[Any], upper: Sequence[Any]) -> Any:
    """The body between two corners [nm]; `...` stands for no end on that side.

    Raises InvalidArgument for a lower bound above the upper one.
    """
    none = -math.inf, math.inf
    corners = [[end if v is ... else v for v in c] for c, end in zip((lower, upper), none, strict=True)]
    return _halocline.maxwell.cuboid(*corners)


@takes(centre=a_place, radius=quantity("length", above=0.0))
def sphere(centre: Sequence[Any], radius: Any) -> Any:
    """A ball [nm]."""
    return _halocline.maxwell.sphere(centre, radius)


@takes(centre=a_place, axis=a_direction, radius=quantity("length", above=0.0), length=quantity("length", above=0.0))
def cylinder(centre: Sequence[Any], axis: Any, radius: Any, length: Any = None) -> Any:
    """A rod along an axis, "x", "y", "z" or a vector [nm]; without a length it has no ends."""
    return _halocline.maxwell.cylinder(centre, axis, radius, math.inf if length is None else length)


@takes(origin=a_place, step=quantity("length", above=0.0))
def voxels(inside: Any, origin: Any, step: Any) -> Any:
    """The body made of cubes around the points of a lattice.

    inside: shape (z, y, x), true where a point is inside; origin: of the first point; step: of the lattice [nm]
    Raises InvalidArgument for another shape.
    """
    whole = np.ascontiguousarray(np.asarray(inside) != 0, dtype=np.uint8)
    if whole.ndim != 3:
        raise InvalidArgument(f"voxels: an array of shape {whole.shape} was given; expected (z, y, x).")
    return _halocline.maxwell.voxels(origin, [step] * 3, whole)


@takes(centre=a_place)
def voxels_of_cube(path: str, value: float | None = None, centre: Sequence[float] | None = None) -> Any:
    """The body made of cubes around the points of a cube file (Gaussian's format, a rectangular lattice of one step).

    value: of the points inside; any but zero when absent. centre: of the lattice [nm]; that of the file when absent
    Raises FileError for a file that is none, InvalidArgument for another lattice and for a file without such points.
    """
    from ase.io.cube import read_cube  # slow to load

    try:
        with open(path) as file:
            found = read_cube(file)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, IndexError, TypeError, KeyError) as error:
        raise FileError(f"{path}: is no cube file: {error}.") from None
    data, spacing = found["data"], 0.1 * np.asarray(found["spacing"])
    steps = np.diag(spacing)
    if np.abs(spacing - np.diag(steps)).max() > 1e-9 * steps.max() or np.ptp(steps) > 1e-6 * steps.max():
        raise InvalidArgument(f"{path}: has lattice vectors {spacing.tolist()} nm; expected one step along x, y and z.")
    inside = data != 0 if value is None else np.abs(data - value) < 1e-6
    if not inside.any():
        raise InvalidArgument(f"{path}: has no point {'but zeros' if value is None else f'of the number {value:g}'}.")
    origin = 0.1 * np.asarray(found["origin"])
    if centre is not None:
        origin = np.asarray(centre) - 0.5 * (np.array(data.shape) - 1) * steps
    return voxels(inside.transpose(2, 1, 0), origin.tolist(), float(steps[0]))


MOST_CUBES = 500_000_000
"""In the box around a surface."""


@takes(step=quantity("length", above=0.0), unit=quantity("length", above=0.0), centre=a_place)
def voxels_of_mesh(path: str, step: Any, unit: Any = 1.0, centre: Sequence[float] | None = None) -> Any:
    """The body inside a closed surface of triangles, as cubes whose centres are inside: STL, OBJ, PLY, OFF.

    step: of the cubes [nm], a quarter of the grid's step or less, which is also the error of its faces at most; unit:
    length of the file's unit [nm]; centre: of the box around the surface [nm]; where the file has it when absent
    Surfaces may overlap. One inside another whose triangles face the other way is a hollow.
    Raises FileError for a file that is none, InvalidArgument for a surface with holes, for triangles that do not all
    face the same way, and for too many cubes.
    Cost: each triangle is crossed by the lines of the lattice along x below it.
    """
    corners = unit * _triangles(path)
    lower, upper = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    if centre is not None:
        corners = corners + np.asarray(centre) - 0.5 * (lower + upper)
        lower, upper = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    counts = np.maximum(1, np.rint((upper - lower) / step)).astype(np.int64)
    if math.prod(counts.tolist()) > MOST_CUBES:
        raise InvalidArgument(
            f"{path}: {' x '.join(map(str, counts))} cubes of {step:g} nm in the box around the surface, at most "
            f"{MOST_CUBES:.0e} expected; take a larger step, or the right unit of the file."
        )
    origin = 0.5 * (lower + upper - (counts - 1) * step)
    inside = _inside(corners, origin, step, counts)
    if not inside.any():
        raise InvalidArgument(f"{path}: no cube of {step:g} nm has its centre inside the surface; take a smaller step.")
    return voxels(inside, origin.tolist(), float(step))


def _triangles(path: str) -> np.ndarray:
    """Corners of the triangles of a closed surface, shape (n, 3, 3)."""
    import trimesh  # slow to load

    if not Path(path).is_file():
        raise FileError(f"{path}: no such file (paths are relative to the folder of the command).")
    try:
        surface = trimesh.load_mesh(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    except Exception as error:  # each format of the library has errors of its own
        raise FileError(f"{path}: is no surface of triangles: {type(error).__name__}: {error}.") from None
    if not isinstance(surface, trimesh.Trimesh) or not len(surface.faces):
        raise FileError(f"{path}: has no triangles.")
    if not surface.is_watertight:
        raise InvalidArgument(
            f"{path}: the surface has holes, so nothing is inside; close it with the program that made it."
        )
    if not surface.is_winding_consistent:
        raise InvalidArgument(
            f"{path}: some triangles face inwards and others outwards; let the program that made it unify them."
        )
    return np.asarray(surface.triangles, dtype=float)


def _inside(corners: np.ndarray, origin: np.ndarray, step: float, counts: np.ndarray) -> np.ndarray:
    """Which points of a lattice lie inside, shape (z, y, x): those around which the surfaces wind, by the crossings of
    both senses towards smaller x.

    The lines are moved by a millionth of a step, so that none meets an edge of the surface.
    """
    changes = np.zeros((counts[2], counts[1], counts[0] + 1), dtype=np.int16)
    aside = 1e-6 * step * np.array([0.381966, 0.754878])
    places = [origin[a] + step * np.arange(counts[a]) + aside[a - 1] for a in (1, 2)]
    for triangle in corners:
        (y0, z0), (y1, z1), (y2, z2) = triangle[:, 1:]
        area = (y1 - y0) * (z2 - z0) - (y2 - y0) * (z1 - z0)
        if area == 0.0:
            continue
        rows = [
            slice(*np.searchsorted(places[a], (triangle[:, a + 1].min(), triangle[:, a + 1].max()))) for a in (0, 1)
        ]
        y, z = places[0][rows[0]][None, :], places[1][rows[1]][:, None]
        second = ((y - y0) * (z2 - z0) - (y2 - y0) * (z - z0)) / area
        third = ((y1 - y0) * (z - z0) - (y - y0) * (z1 - z0)) / area
        at_z, at_y = np.nonzero((second >= 0) & (third >= 0) & (second + third <= 1))
        weights = second[at_z, at_y], third[at_z, at_y]
        x = triangle[0, 0] + weights[0] * (triangle[1, 0] - triangle[0, 0])
        x += weights[1] * (triangle[2, 0] - triangle[0, 0])
        first = np.clip(np.ceil((x - origin[0]) / step), 0, counts[0]).astype(np.int64)
        np.add.at(changes, (at_z + rows[1].start, at_y + rows[0].start, first), 1 if area > 0 else -1)
    return np.cumsum(changes, axis=2, dtype=np.int16)[:, :, :-1] != 0
