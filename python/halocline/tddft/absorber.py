# SPDX-License-Identifier: Apache-2.0
"""Absorbing walls: how strong a layer must be, and which electrons come back from it.

In the layer H becomes H - i W with W(s) = strength sin^2(pi s / 2), s from 0 at its inner face to 1 at the wall. A fast
electron of momentum k passes the layer twice, to the wall and back; exp(-2 strength width / k) of it is left. A slow
one, whose wave is longer than the layer, is reflected by it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.tddft.runfile_light import Absorber, Propagate
from halocline.tddft.system import System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

LEFT = 0.01
"""Largest fraction of the electrons that may come back where the layer is said to absorb."""


@dataclasses.dataclass(frozen=True)
class Layer:
    """An absorbing layer with all its numbers."""

    width: float
    """[bohr]"""
    strength: float
    """[hartree]"""

    def reflected(self, energies: Any) -> np.ndarray:
        """Fraction of electrons of these kinetic energies [hartree] that come back, at right angles to the wall.

        The wave in 400 slices of constant W, from the wall, where it is zero, to the inner face.
        """
        slices = 400
        energy = np.asarray(energies, dtype=float)
        value, slope = np.zeros(energy.shape, complex), -np.ones(energy.shape, complex)
        thickness = self.width / slices
        for depth in (np.arange(slices)[::-1] + 0.5) / slices:
            k = np.sqrt(2.0 * (energy + 1j * self.strength * math.sin(0.5 * math.pi * depth) ** 2))
            c, s = np.cos(k * thickness), np.sin(k * thickness)
            value, slope = c * value - s / k * slope, s * k * value + c * slope
            size = np.abs(value) + np.abs(slope / k)
            value, slope = value / size, slope / size
        outside = 1j * np.sqrt(2.0 * energy)
        return np.abs((outside * value - slope) / (outside * value + slope)) ** 2

    def absorbs(self) -> tuple[float, float] | None:
        """Lowest and highest kinetic energy [hartree] between which 99 % do not come back; None if there are none."""
        highest = 0.5 * (2.0 * self.strength * self.width / math.log(1.0 / LEFT)) ** 2
        energy = np.geomspace(1e-4, max(4.0 * highest, 1e-2), 1200)
        good = np.flatnonzero(self.reflected(energy) < LEFT)
        if not good.size:
            return None
        gaps = np.flatnonzero(np.diff(good) > 1)
        first = good[gaps[-1] + 1] if gaps.size else good[0]
        return float(energy[first]), float(energy[good[-1]])

    def sentence(self) -> str:
        """What the layer does, for the log."""
        at_wall = f"{self.width * BOHR_ANGSTROM:.3g} angstrom, {self.strength * HARTREE_EV:.3g} eV at the wall"
        found = self.absorbs()
        if found is None:
            return f"{at_wall}; it takes 99 % of the electrons at no energy"
        low, high = (e * HARTREE_EV for e in found)
        return f"{at_wall}; it takes 99 % of the electrons from {low:.2g} to {high:.2g} eV"


def layer_of(given: Absorber | None) -> Layer | None:
    """The layer of a run file."""
    if given is None:
        return None
    momentum = math.sqrt(2.0 * given.up_to)
    strength = given.strength or 0.5 * math.log(1.0 / LEFT) * momentum / given.width
    return Layer(given.width, strength)


def check_absorber(system: System, options: Propagate) -> None:
    """Raises InvalidArgument for a crystal, and for atoms inside of the layer."""
    if (layer := layer_of(options.absorber)) is None:
        return
    if system.periodic:
        raise InvalidArgument("[propagate] absorber is for isolated atoms in a box; a crystal has no walls.")
    edges = np.array(system.extent) * np.array(system.spacing)
    room = 0.5 * edges - np.abs(system.structure.positions).reshape(-1, 3).max(axis=0, initial=0.0)
    if (room <= layer.width).any():
        raise InvalidArgument(
            f"[propagate] absorber: a layer of {layer.width * BOHR_ANGSTROM:.3g} angstrom reaches the atoms, which are "
            f"{room.min() * BOHR_ANGSTROM:.3g} angstrom from the nearest wall; take a larger box."
        )
