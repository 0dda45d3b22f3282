# SPDX-License-Identifier: Apache-2.0
"""Media: `medium("gold")`, `medium(permittivity=2.25)`, and a table with its sources.

A medium has a permittivity at high frequencies, a conductivity and poles: epsilon(E) = permittivity + i hbar sigma / E
+ sum of strength / (resonance^2 - E^2 - i damping E), all energies in eV. A pole without resonance is Drude's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.maxwell.units import HBAR_C_EV_NM, frequency_of
from halocline.schema import advice


@dataclasses.dataclass(frozen=True)
class Pole:
    """strength / (resonance^2 - E^2 - i damping E). Resonance and damping [eV], strength [eV^2]."""

    resonance: float
    damping: float
    strength: float


@dataclasses.dataclass(frozen=True)
class Medium:
    """Matter that answers the field where it is."""

    permittivity: float = 1.0
    """At energies above all poles."""
    conductivity: float = 0.0
    """hbar sigma / epsilon_0 [eV]."""
    poles: tuple[Pole, ...] = ()
    name: str = ""
    source: str = ""
    """Where the numbers come from."""

    def epsilon(self, energy: Any) -> np.ndarray:
        """The permittivity at photon energies [eV]; complex, with a positive imaginary part where it absorbs."""
        epsilon = np.frompyfunc(self.native.epsilon, 1, 1)
        return np.asarray(epsilon(frequency_of(np.asarray(energy, dtype=float))), dtype=complex)

    def index(self, energy: Any) -> np.ndarray:
        """The refractive index n + i k at photon energies [eV]."""
        return np.sqrt(self.epsilon(energy))

    @property
    def native(self) -> Any:
        """The medium in the units of the compiled room, 1/nm."""
        poles = [
            _halocline.maxwell.Pole(p.resonance / HBAR_C_EV_NM, p.damping / HBAR_C_EV_NM, p.strength / HBAR_C_EV_NM**2)
            for p in self.poles
        ]
        return _halocline.maxwell.Medium(self.permittivity, self.conductivity / HBAR_C_EV_NM, poles)


def _lorentz_drude(plasma: float, terms: Iterable[tuple[float, float, float]]) -> tuple[Pole, ...]:
    """Poles of f_j omega_p^2 / (omega_j^2 - omega^2 - i Gamma_j omega); terms: f, Gamma, omega."""
    return tuple(Pole(resonance, damping, f * plasma**2) for f, damping, resonance in terms)


def _sellmeier(terms: Iterable[tuple[float, float]]) -> tuple[Pole, ...]:
    """Poles of B lambda^2 / (lambda^2 - C^2); terms: B and C in micrometres."""
    energies = [(b, 2 * np.pi * HBAR_C_EV_NM / (1e3 * c)) for b, c in terms]
    return tuple(Pole(float(e), 0.0, float(b * e**2)) for b, e in energies)


RAKIC = "A. D. Rakic et al., Appl. Opt. 37, 5271 (1998), Lorentz-Drude model, 0.2 to 5 eV"
TABLE: Mapping[str, Medium] = {
    "vacuum": Medium(name="vacuum"),
    "gold": Medium(
        poles=_lorentz_drude(
            9.03,
            [
                (0.760, 0.053, 0.0),
                (0.024, 0.241, 0.415),
                (0.010, 0.345, 0.830),
                (0.071, 0.870, 2.969),
                (0.601, 2.494, 4.304),
                (4.384, 2.214, 13.32),
            ],
        ),
        name="gold",
        source=RAKIC,
    ),
    "silver": Medium(
        poles=_lorentz_drude(
            9.01,
            [
                (0.845, 0.048, 0.0),
                (0.065, 3.886, 0.816),
                (0.124, 0.452, 4.481),
                (0.011, 0.065, 8.185),
                (0.840, 0.916, 9.083),
                (5.646, 2.419, 20.29),
            ],
        ),
        name="silver",
        source=RAKIC,
    ),
    "copper": Medium(
        poles=_lorentz_drude(
            10.83,
            [
                (0.575, 0.030, 0.0),
                (0.061, 0.378, 0.291),
                (0.104, 1.056, 2.957),
                (0.723, 3.213, 5.300),
                (0.638, 4.305, 11.18),
            ],
        ),
        name="copper",
        source=RAKIC,
    ),
    "aluminium": Medium(
        poles=_lorentz_drude(
            14.98,
            [
                (0.523, 0.047, 0.0),
                (0.227, 0.333, 0.162),
                (0.050, 0.312, 1.544),
                (0.166, 1.351, 1.808),
                (0.030, 3.382, 3.473),
            ],
        ),
        name="aluminium",
        source=RAKIC,
    ),
    "platinum": Medium(
        poles=_lorentz_drude(
            9.59,
            [
                (0.333, 0.080, 0.0),
                (0.191, 0.517, 0.780),
                (0.659, 1.838, 1.314),
                (0.547, 3.668, 3.141),
                (3.576, 8.517, 9.249),
            ],
        ),
        name="platinum",
        source=RAKIC,
    ),
    "silicon": Medium(
        poles=_sellmeier([(10.6684293, 0.301516485), (0.0030434748, 1.13475115), (1.54133408, 1104.0)]),
        name="silicon",
        source="C. D. Salzberg and J. J. Villa, J. Opt. Soc. Am. 47, 244 (1957), 1.36 to 11 micrometres",
    ),
    "sapphire": Medium(
        poles=_sellmeier([(1.4313493, 0.0726631), (0.65054713, 0.1193242), (5.3414021, 18.028251)]),
        name="sapphire",
        source="I. H. Malitson and M. J. Dodge, J. Opt. Soc. Am. 62, 1405 (1972), ordinary ray, 0.2 to 5 micrometres",
    ),
    "bk7": Medium(
        poles=_sellmeier(
            [
                (1.03961212, 0.00600069867**0.5),
                (0.231792344, 0.0200179144**0.5),
                (1.01046945, 103.560653**0.5),
            ]
        ),
        name="bk7",
        source="Schott, N-BK7, 0.3 to 2.5 micrometres",
    ),
    "silica": Medium(
        poles=_sellmeier([(0.6961663, 0.0684043), (0.4079426, 0.1162414), (0.8974794, 9.896161)]),
        name="silica",
        source="I. H. Malitson, J. Opt. Soc. Am. 55, 1205 (1965), fused silica, 0.21 to 3.7 micrometres",
    ),
}
"""Media by name."""


def medium(name: Any = None, **numbers: Any) -> Medium:
    """A medium of the table by its name, one of a permittivity (a plain number), or one of numbers.

    numbers: permittivity, conductivity [eV], poles (a list of Pole or of (resonance, damping, strength))
    Raises InvalidArgument for a name that the table does not have, with the nearest one.
    """
    if isinstance(name, Medium):
        return name
    if isinstance(name, str):
        if name not in TABLE:
            raise InvalidArgument(f"the table of media has no '{name}'{advice(name, TABLE, 'it', {})}.")
        return TABLE[name]
    if name is not None:
        numbers = {"permittivity": name} | numbers
    poles = tuple(p if isinstance(p, Pole) else Pole(*p) for p in numbers.pop("poles", ()))
    unknown = set(numbers) - {"permittivity", "conductivity"}
    if unknown:
        word = sorted(unknown)[0]
        raise InvalidArgument(f"medium has no keyword '{word}'; it has permittivity, conductivity and poles.")
    return Medium(float(numbers.get("permittivity", 1.0)), float(numbers.get("conductivity", 0.0)), poles)
