# SPDX-License-Identifier: Apache-2.0
"""Units of light: nanometres, femtoseconds, electronvolts.

The compiled room counts lengths in any unit, and times in the time that light takes for it. This package gives it
nanometres. So a plain number is a length in nm, a time in fs or a photon energy in eV; a text carries its unit, as in
"1.55 um". Constants are exact (SI 2019).
"""

from __future__ import annotations

import math
import re
from typing import Any

from halocline.schema import Check, Unfit

LIGHT_NM_PER_FS = 299.792458
HBAR_C_EV_NM = 197.3269804593025

UNITS: dict[str, dict[str, float]] = {
    "length": {"nm": 1.0, "um": 1e3, "mm": 1e6, "angstrom": 0.1, "bohr": 0.0529177210544},
    "time": {"fs": 1.0, "as": 1e-3, "ps": 1e3},
    "energy": {"eV": 1.0, "meV": 1e-3, "hartree": 27.211386245981},
}
"""Quantity -> unit -> factor to the first unit."""
_TEXT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d]\S*)\s*")


def quantity(kind: str, *, above: float | None = None, at_least: float | None = None) -> Check:
    """A check that returns a number in the first unit of UNITS[kind]."""
    units = UNITS[kind]
    bound = f" above {above:g}" if above is not None else f" of at least {at_least:g}" if at_least is not None else ""

    def check(value: Any) -> float:
        expected = f'a {kind}{bound}, as a number in {next(iter(units))} or a text such as "1.5 {next(iter(units))}"'
        if isinstance(value, str):
            match = _TEXT.fullmatch(value)
            if match is None or match[2] not in units:
                raise Unfit(f"{expected}; units are {', '.join(units)}")
            number = float(match[1]) * units[match[2]]
        elif isinstance(value, bool) or not hasattr(value, "__float__"):
            raise Unfit(expected)
        else:
            number = float(value)
        low = (above is not None and number <= above) or (at_least is not None and number < at_least)
        if math.isnan(number) or low:
            raise Unfit(expected)
        return number

    return check


def frequency_of(energy: float) -> float:
    """The angular frequency in 1/nm (c = 1) of a photon energy in eV."""
    return energy / HBAR_C_EV_NM


def energy_of(wavelength: float) -> float:
    """The photon energy in eV of a vacuum wavelength in nm."""
    return 2 * math.pi * HBAR_C_EV_NM / wavelength
