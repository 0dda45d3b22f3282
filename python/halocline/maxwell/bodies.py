# SPDX-License-Identifier: Apache-2.0
"""Bodies of matter: cuboids, balls, rods and sets of cubes. Lengths and places are in nm."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
