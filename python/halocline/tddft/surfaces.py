# SPDX-License-Identifier: Apache-2.0
"""The vacuum on both sides of a slab: the levels of an electron at rest there, and work functions.

The potential of a neutral slab is constant far from it. Its zero is the mean of both sides (base/coulomb_cut.hpp of the
library). With the dipole p of the slab along its open axis, charge times place, and the area A of the cell, the levels
are -2 pi p / A above and +2 pi p / A below.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline.comm import on_root
from halocline.errors import InvalidArgument
from halocline.tddft.ground import GroundState
from halocline.tddft.system import System


@dataclasses.dataclass(frozen=True)
class Vacuum:
    """The two sides of a slab."""

    dipole: float
    """Along the open axis [e bohr a cell]."""
    below: float
    """Energy of an electron at rest in the vacuum below [hartree], against the zero of the eigenvalues."""
    above: float
    fermi_level: float

    @property
    def work_functions(self) -> tuple[float, float]:
        """Of the surfaces below and above [hartree]: the vacuum's level above the Fermi level."""
        return self.below - self.fermi_level, self.above - self.fermi_level


def vacuum(ground: GroundState) -> Vacuum:
    """The levels of the vacuum of a slab. Raises InvalidArgument for anything else. Collective.

    print(hc.tddft.vacuum(ground).work_functions)
    """
    system = ground.system
    if system.structure.boundaries != "slab":
        raise InvalidArgument(
            f"the vacuum of a {system.structure.boundaries} was asked for; a slab has one: atoms that are periodic "
            'along two axes, or [system] periodic = "xy".'
        )
    density = ground.density()
    dipole = on_root(ground.model.communicator, lambda: _dipole(system, density))
    axis = system.structure.open.index(True)
    level = 2.0 * np.pi * dipole * float(system.structure.edges[axis]) / system.native.volume
    return Vacuum(dipole, level, -level, ground.fermi_level)


def _dipole(system: System, density: Any) -> float:
    """Of ions and electrons about the middle of the slab, along its open axis [e bohr]."""
    s = system.structure
    axis = s.open.index(True)
    length, points = float(s.edges[axis]), system.extent[axis]
    at = np.mod(s.positions @ np.linalg.inv(s.cell), 1.0)[:, axis] if s.symbols else np.array([0.5])
    places = np.sort(at)
    gaps = np.append(np.diff(places), 1.0 + places[0] - places[-1])
    widest = int(np.argmax(gaps))
    middle = places[widest] + 0.5 * gaps[widest] + 0.5  # opposite to the middle of the vacuum

    def from_middle(fractions: np.ndarray) -> np.ndarray:
        return length * (np.mod(fractions - middle + 0.5, 1.0) - 0.5)

    along = density.sum(axis=0).sum(axis=tuple(a for a in range(3) if a != 2 - axis))
    electrons = along * (system.native.volume / np.prod(system.extent))
    charges = np.array([system.species[symbol].valence for symbol in s.symbols])
    positive = charges @ from_middle(at) if s.symbols else 0.0
    return float(positive - electrons @ from_middle(np.arange(points) / points))
