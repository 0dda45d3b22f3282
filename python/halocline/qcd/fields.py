# SPDX-License-Identifier: Apache-2.0
"""Fields as NumPy arrays: moved along an axis, and covariantly differentiated, on any number of processes.

Arrays are local parts [t][z][y][x]..., as everywhere. `numpy.roll` works on one process only: under mpirun it wraps
around the box of each process instead of the lattice, without an error. `shift` fetches sites from the neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.comm import raise_together
from halocline.errors import InvalidArgument
from halocline.qcd import checks
from halocline.qcd.gauge import GaugeField, Geometry
from halocline.schema import choice, integer, takes

DIFFERENCES = ("symmetric", "forward", "backward")


@takes(
    where=checks.a_place,
    axis=checks.an_axis,
    steps=integer(at_least=-(2**31), at_most=2**31 - 1),
    boundary=checks.four_phases,
)
def shift(
    field: NDArray[Any],
    where: Geometry | GaugeField,
    axis: int | str,
    steps: int = 1,
    boundary: Sequence[complex] = (1, 1, 1, 1),
) -> NDArray[Any]:
    """The field shifted along an axis: out(x) = field(x + steps mu), periodic over the whole lattice.

    field: local part [t][z][y][x]... of links, spinors, propagators or any other numbers
    axis: 0 to 3 or "x", "y", "z", "t"; steps: number of sites; negative steps fetch from behind
    boundary: factor of the field across the upper end of each axis, as in the action, once for each time around
    Returns a new array; complex128 where a boundary factor is not 1, and otherwise of the same type, bit for bit.
    On one process, with the default boundary, it is numpy.roll(field, -steps, axis=3 - mu).
    Raises InvalidArgument, on every process alike, for an array that is no local part. Collective.

    >>> import numpy as np
    >>> import halocline as hc
    >>> g = hc.qcd.geometry([4, 4, 4, 8])
    >>> time = np.arange(8.0)[:, None, None, None] * np.ones((8, 4, 4, 4))
    >>> shift(time, g, "t")[:, 0, 0, 0]
    array([1., 2., 3., 4., 5., 6., 7., 0.])
    """
    here = where.geometry if isinstance(where, GaugeField) else where
    field = _local_array("shift", field, here)
    factor = boundary[axis]
    if factor == 1:
        out = np.empty_like(field)
        site_bytes = field.itemsize * int(np.prod(field.shape[4:]))
        _halocline.qcd.shift_bytes(_bytes_of(out), _bytes_of(field), here, site_bytes, axis, steps)
        return out
    field = np.ascontiguousarray(field, dtype=np.complex128)
    out = np.empty_like(field)
    _halocline.qcd.shift(out.reshape(-1), field.reshape(-1), here, axis, steps, factor)
    return out


@takes(u=checks.a_field, axis=checks.an_axis, boundary=checks.four_phases, difference=choice(*DIFFERENCES))
def covariant_derivative(
    field: NDArray[Any],
    u: GaugeField,
    axis: int | str,
    boundary: Sequence[complex] = (1, 1, 1, -1),
    difference: str = "symmetric",
) -> NDArray[np.complex128]:
    """The covariant derivative along an axis, in lattice units.

    field: local part [t][z][y][x] and then [spin][colour] of a spinor, [spin][colour][spin][colour] of a propagator, of
      which the sink is differentiated, or [3][3] or [n][3][3] of fields in the adjoint representation
    axis: 0 to 3 or "x", "y", "z", "t"
    boundary: factor of the quark field across the upper end of each axis; an adjoint field has none
    difference: "forward", U_mu(x) psi(x+mu) - psi(x); "backward", psi(x) - U_mu(x-mu)^dagger psi(x-mu); or "symmetric",
      the mean of both
    Returns a new array, complex128.
    Raises InvalidArgument, on every process alike, for another shape. Collective.
    """
    field = _local_array("covariant_derivative", field, u.geometry)
    inside = field.shape[4:]
    if inside == (4, 3):
        colour = (4, 1, False)
    elif inside == (4, 3, 4, 3):
        colour = (4, 12, False)
    elif inside[-2:] == (3, 3) and len(inside) <= 3:
        colour = (int(np.prod(inside[:-2])), 1, True)
    else:
        raise InvalidArgument(
            f"covariant_derivative: the array has {inside} at a site; expected (4, 3) of a spinor, (4, 3, 4, 3) of a "
            "propagator, or (3, 3) or (n, 3, 3) of adjoint fields."
        )
    field = np.ascontiguousarray(field, dtype=np.complex128)
    out = np.empty_like(field)
    factor = 1 if colour[2] else boundary[axis]
    _halocline.qcd.covariant_derivative(
        out.reshape(-1), field.reshape(-1), u, axis, colour, factor, DIFFERENCES.index(difference)
    )
    return out


def _bytes_of(field: NDArray[Any]) -> NDArray[np.uint8]:
    return field.reshape(-1).view(np.uint8)


def _local_array(title: str, field: Any, here: Geometry) -> NDArray[Any]:
    """The field as a contiguous array. Raises InvalidArgument on every process. Collective."""
    box, sentence = tuple(here.local[::-1]), ""
    if not isinstance(field, np.ndarray) or field.dtype.hasobject:
        sentence = f"{title}: the field is {type(field).__name__}; expected a NumPy array of numbers"
    elif field.shape[:4] != box or field.size == 0:
        sentence = f"{title}: the array has the shape {field.shape}; this process's part begins with {box}, t, z, y, x"
    raise_together(here.communicator, sentence and sentence + ".", InvalidArgument)
    return np.ascontiguousarray(field)
