# SPDX-License-Identifier: Apache-2.0
"""Conversion to Hartree atomic units, which are used internally, from any unit in the input.

A number in a run file or an argument is in Hartree atomic units; a text carries its unit, as in "0.25 angstrom".
Constants are from CODATA 2022. `quantity("length")` is a check for schema.py that returns the number in atomic units.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from halocline.quantities import Convert, Units, times
from halocline.schema import Unfit

BOHR_ANGSTROM = 0.529177210544
HARTREE_EV = 27.211386245981
ATOMIC_TIME_FS = 0.024188843265864
ATOMIC_FIELD_V_PER_ANGSTROM = HARTREE_EV / BOHR_ANGSTROM
ATOMIC_INTENSITY_W_PER_CM2 = 3.50944506e16
"""Intensity of a linearly polarised wave with a peak field of one atomic unit: c eps_0 E^2 / 2."""
KELVIN_HARTREE = 3.1668115634564e-6
ELECTRON_MASSES_PER_U = 1822.888486283
"""The atomic mass unit."""
SPEED_OF_LIGHT = 137.035999177

_ALIASES = {
    "Å": "angstrom", "Angstrom": "angstrom", "a0": "bohr", "Ha": "hartree", "Hartree": "hartree", "Ry": "rydberg",
}  # fmt: skip

UNITS: dict[str, dict[str, Convert]] = {
    "length": {
        "bohr": times(1.0),
        "angstrom": times(1.0 / BOHR_ANGSTROM),
        "nm": times(10.0 / BOHR_ANGSTROM),
        "pm": times(0.01 / BOHR_ANGSTROM),
    },
    "energy": {
        "hartree": times(1.0),
        "eV": times(1.0 / HARTREE_EV),
        "meV": times(1e-3 / HARTREE_EV),
        "rydberg": times(0.5),
        "K": times(KELVIN_HARTREE),
    },
    "time": {
        "au": times(1.0),
        "fs": times(1.0 / ATOMIC_TIME_FS),
        "as": times(1e-3 / ATOMIC_TIME_FS),
        "ps": times(1e3 / ATOMIC_TIME_FS),
    },
    "chirp": {"au": times(1.0), "eV/fs": times(ATOMIC_TIME_FS / HARTREE_EV)},
    "velocity": {
        "au": times(1.0),
        "angstrom/fs": times(ATOMIC_TIME_FS / BOHR_ANGSTROM),
        "angstrom/ps": times(1e-3 * ATOMIC_TIME_FS / BOHR_ANGSTROM),
        "bohr/fs": times(ATOMIC_TIME_FS),
    },
    "force": {"au": times(1.0), "eV/angstrom": times(BOHR_ANGSTROM / HARTREE_EV)},
    "momentum": {"1/bohr": times(1.0), "1/angstrom": times(BOHR_ANGSTROM)},
    "field": {
        "au": times(1.0),
        "V/angstrom": times(1.0 / ATOMIC_FIELD_V_PER_ANGSTROM),
        "V/nm": times(0.1 / ATOMIC_FIELD_V_PER_ANGSTROM),
        "W/cm^2": lambda intensity: math.sqrt(intensity / ATOMIC_INTENSITY_W_PER_CM2) if intensity >= 0 else math.nan,
    },
    "angle": {"rad": times(1.0), "deg": times(math.pi / 180.0), "pi": times(math.pi)},
    "wall time": {"s": times(1.0), "min": times(60.0), "h": times(3600.0)},
}
"""Quantity -> unit -> conversion to atomic units (or seconds). A plain number has the first unit."""

_UNITS = Units(UNITS, _ALIASES)
quantity = _UNITS.quantity


def converted(value: Any, kind: str) -> float:
    """A number, or a text with its unit, in atomic units.

    >>> round(converted("0.529177210544 angstrom", "length"), 12)
    1.0
    >>> converted(0.5, "energy")
    0.5

    Raises Unfit: neither a number nor a text, an unknown unit, or not finite.
    """
    return _UNITS.converted(value, kind)


def in_unit(value: Any, unit: str) -> Any:
    """Turns plain numbers, also in a list, into texts with this unit; other values are unchanged.

    >>> in_unit([3.0, "4 bohr", None], "angstrom")
    ['3.0 angstrom', '4 bohr', None]
    """
    if isinstance(value, (list, tuple, np.ndarray)):
        return [in_unit(v, unit) for v in value]
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return f"{float(value)!r} {unit}"
    return value


def vector(entry: Callable[[Any], Any], expected: str) -> Callable[[Any], tuple]:
    """A check: three entries, or one entry for all three."""

    def check(value: Any) -> tuple:
        if not isinstance(value, (list, tuple)):
            value = (value, value, value)
        if len(value) != 3:
            raise Unfit(expected)
        return tuple(entry(v) for v in value)

    return check
