# SPDX-License-Identifier: Apache-2.0
"""Densities of states: `density_of_states(ground, width="0.2 eV")`, from the eigenvalues of a ground state."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.schema import changed
from halocline.tddft.ground import GroundState
from halocline.tddft.runfile_crystal import Dos
from halocline.tddft.units import HARTREE_EV

REACH = 6.0
"""Widths beyond the outermost eigenvalues that the table covers when no energies are given."""


@dataclasses.dataclass(frozen=True)
class DensityOfStates:
    """States of each energy; every eigenvalue is a Gaussian."""

    energy: np.ndarray
    """Shape (n,) [hartree]."""
    density: np.ndarray
    """Shape (spins, n) [1/hartree]: states in the cell; without spin a state counts twice, once for each electron."""
    reference: float
    """The highest energy that holds electrons, or the Fermi level where states are filled in part [hartree]."""
    of_reference: str
    """"highest filled state" or "Fermi level"."""
    width: float
    """Standard deviation of a Gaussian [hartree]."""
    complete_to: float
    """Energy above which states may be missing, because no more were computed [hartree]."""

    @property
    def integral(self) -> np.ndarray:
        """Shape (spins, n): states up to each energy, by the trapezoidal rule."""
        steps = np.diff(self.energy) * 0.5 * (self.density[:, 1:] + self.density[:, :-1])
        return np.concatenate([np.zeros((len(self.density), 1)), np.cumsum(steps, axis=1)], axis=1)

    def summary(self) -> list[str]:
        """Lines about the range."""
        return [
            f"{self.of_reference:<22}{self.reference * HARTREE_EV:20.6f} eV",
            f"{'complete up to':<22}{self.complete_to * HARTREE_EV:20.6f} eV, where computed states end",
        ]


def density_of_states(ground: GroundState, **options: Any) -> DensityOfStates:
    """The density of states of a ground state, with the k-points and states that it has.

    options: keys of [dos]: width, from_energy, to_energy (both absolute energies), step; plain numbers in hartree
    Raises NotConverged, and InvalidArgument for an impossible range. Collective: no.

        dos = hc.tddft.density_of_states(ground, width="0.2 eV")
        print(dos.energy, dos.density)
    """
    system = ground.require_converged().system
    chosen: Dos = changed(system.run.dos, options)
    energies = ground.eigenvalues.reshape(system.spins, -1, system.states)
    weights = np.array([weight for _, weight, _ in system.native.channels]).reshape(system.spins, -1)
    low = energies.min() - REACH * chosen.width if chosen.from_energy is None else chosen.from_energy
    high = energies.max() + REACH * chosen.width if chosen.to_energy is None else chosen.to_energy
    if high <= low:
        raise InvalidArgument(
            f"[dos] the range from {low:.6g} to {high:.6g} hartree is empty; to_energy must lie above from_energy."
        )
    energy = low + chosen.step * np.arange(int((high - low) / chosen.step + 1e-9) + 1)
    full = 2.0 / system.spins
    density = np.zeros((system.spins, len(energy)))
    scale = full / (chosen.width * np.sqrt(2.0 * np.pi))
    for spin in range(system.spins):
        for levels, weight in zip(energies[spin], weights[spin], strict=True):
            apart = (energy[:, None] - levels[None, :]) / chosen.width
            density[spin] += weight * scale * np.exp(-0.5 * apart**2).sum(axis=1)
    whole = not np.any((ground.occupations > 1e-3 * full) & (ground.occupations < (1 - 1e-3) * full))
    reference = float(ground.eigenvalues[ground.occupations > 0.5 * full].max()) if whole else ground.fermi_level
    # The highest computed state of some k-point is lower than those of others.
    complete = float(energies[:, :, -1].min())
    name = "highest filled state" if whole else "Fermi level"
    return DensityOfStates(energy, density, reference, name, chosen.width, complete)
