# SPDX-License-Identifier: Apache-2.0
"""Densities of states: `density_of_states(ground, width="0.2 eV")`, from the eigenvalues of a ground state.

Projected on spheres around the atoms, the part of every state with an angular momentum counts. The radii are those at
which the nearest spheres touch, divided between elements by their covalent radii. The rest of a state is between the
spheres.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.schema import changed
from halocline.tddft.ground import GroundState
from halocline.tddft.runfile_crystal import Dos
from halocline.tddft.system import System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

native = _halocline.tddft

CHARACTERS = "spdf"
LARGEST_SPHERES = 1.5
"""Of spheres far from others, in covalent radii."""
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
    projected: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    """"Si s", "Si p", ... -> shape (spins, n) [1/hartree], if it was asked for."""
    radii: dict[str, float] = dataclasses.field(default_factory=dict)
    """Of the spheres [bohr]."""

    @property
    def integral(self) -> np.ndarray:
        """Shape (spins, n): states up to each energy, by the trapezoidal rule."""
        steps = np.diff(self.energy) * 0.5 * (self.density[:, 1:] + self.density[:, :-1])
        return np.concatenate([np.zeros((len(self.density), 1)), np.cumsum(steps, axis=1)], axis=1)

    def summary(self) -> list[str]:
        """Lines about the range."""
        lines = [
            f"{self.of_reference:<22}{self.reference * HARTREE_EV:20.6f} eV",
            f"{'complete up to':<22}{self.complete_to * HARTREE_EV:20.6f} eV, where computed states end",
        ]
        lines += [f"sphere around {s:<8}{r * BOHR_ANGSTROM:20.6f} angstrom" for s, r in self.radii.items()]
        below = self.energy <= self.reference + 3 * self.width
        for name, density in self.projected.items():
            inside = float(np.trapezoid(density[:, below].sum(axis=0), self.energy[below]))
            lines.append(f"{name + ' electrons':<22}{inside:20.4f}")
        return lines


def density_of_states(ground: GroundState, **options: Any) -> DensityOfStates:
    """The density of states of a ground state, with the k-points and states that it has.

    options: keys of [dos]: width, from_energy, to_energy (both absolute energies), step, projected, radii; plain
        numbers in atomic units
    Raises NotConverged, and InvalidArgument for an impossible range. Collective.

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
    scale = full / (chosen.width * np.sqrt(2.0 * np.pi))

    def drawn(shares: np.ndarray) -> np.ndarray:
        """The Gaussians of all states times their shares (spins, k-points, states)."""
        density = np.zeros((system.spins, len(energy)))
        for spin in range(system.spins):
            for levels, share, weight in zip(energies[spin], shares[spin], weights[spin], strict=True):
                apart = (energy[:, None] - levels[None, :]) / chosen.width
                density[spin] += weight * scale * np.exp(-0.5 * apart**2) @ share
        return density

    density = drawn(np.ones(energies.shape))
    radii = sphere_radii(system, chosen.radii) if chosen.projected else {}
    projected = {}
    for number, symbol in enumerate(system.species):
        for angular, name in enumerate(CHARACTERS if radii else ()):
            found = native.characters(ground.model, ground.state, number, angular, radii[symbol])
            projected[f"{symbol} {name}"] = drawn(found.reshape(energies.shape))
    whole = not np.any((ground.occupations > 1e-3 * full) & (ground.occupations < (1 - 1e-3) * full))
    reference = float(ground.eigenvalues[ground.occupations > 0.5 * full].max()) if whole else ground.fermi_level
    # The highest computed state of some k-point is lower than those of others.
    complete = float(energies[:, :, -1].min())
    name = "highest filled state" if whole else "Fermi level"
    return DensityOfStates(energy, density, reference, name, chosen.width, complete, projected, radii)


def sphere_radii(system: System, given: dict[str, float]) -> dict[str, float]:
    """Radii [bohr] of the spheres around the atoms of each element: as given, or where the nearest ones touch.

    Raises InvalidArgument for a system without atoms, and for elements that it does not have.
    """
    from ase.data import atomic_numbers, covalent_radii

    s = system.structure
    if not s.symbols:
        raise InvalidArgument("[dos] projected = true is for atoms, and there is only jellium.")
    for symbol in given:
        if symbol not in system.species:
            raise InvalidArgument(f"[dos] radii has {symbol}, but there are only {', '.join(system.species)} atoms.")
    covalent = {symbol: covalent_radii[atomic_numbers[symbol]] / BOHR_ANGSTROM for symbol in system.species}
    # The shortest distance as a multiple of the sum of covalent radii; to the own images for a single atom.
    scale = np.inf
    around = [np.zeros(3)]
    if s.periodic:
        around = [np.array(n) @ s.cell for n in np.ndindex(3, 3, 3)]
        around = [r - s.cell.sum(axis=0) for r in around]
    for i, one in enumerate(s.symbols):
        for j in range(i + 1):
            for shift in around:
                apart = float(np.linalg.norm(s.positions[i] - s.positions[j] + shift))
                if apart > 1e-9:
                    scale = min(scale, apart / (covalent[one] + covalent[s.symbols[j]]))
    scale = min(scale, LARGEST_SPHERES)
    return {symbol: float(given.get(symbol, scale * covalent[symbol])) for symbol in system.species}
