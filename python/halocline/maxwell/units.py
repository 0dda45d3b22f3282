# SPDX-License-Identifier: Apache-2.0
"""Units of light: nanometres, femtoseconds, electronvolts.

The compiled room counts lengths in any unit, and times in the time that light takes for it. This package gives it
nanometres. So a plain number is a length in nm, a time in fs or a photon energy in eV; a text carries its unit, as in
"1.55 um". Constants are exact (SI 2019).
"""

from __future__ import annotations

import math

from halocline.quantities import Units, times

LIGHT_NM_PER_FS = 299.792458
HBAR_C_EV_NM = 197.3269804593025

_UNITS = Units(
    {
        "length": {
            "nm": times(1.0), "um": times(1e3), "mm": times(1e6), "angstrom": times(0.1), "bohr": times(0.0529177210544)
        },
        "time": {"fs": times(1.0), "as": times(1e-3), "ps": times(1e3)},
        "energy": {"eV": times(1.0), "meV": times(1e-3), "hartree": times(27.211386245981)},
    }
)  # fmt: skip
quantity = _UNITS.quantity


def frequency_of(energy: float) -> float:
    """The angular frequency in 1/nm (c = 1) of a photon energy in eV."""
    return energy / HBAR_C_EV_NM


def energy_of(wavelength: float) -> float:
    """The photon energy in eV of a vacuum wavelength in nm."""
    return 2 * math.pi * HBAR_C_EV_NM / wavelength
