# SPDX-License-Identifier: Apache-2.0
"""Effective masses at the edges of bands: `effective_mass(ground, k=[0.42, 0, 0.42], band=4)`."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument, NotConverged
from halocline.reporter import Reporter
from halocline.schema import shown
from halocline.tddft.bands import energies_at
from halocline.tddft.ground import GroundState
from halocline.tddft.units import HARTREE_EV

STEP = 0.01
"""Between the k-points of a derivative [1/bohr]."""
DEGENERATE = 1e-4
"""Distance of two bands below which they count as one with several masses [hartree]."""
FLAT = 1e-6
"""Slope of a band at its edge [hartree bohr]."""
MOST_STEPS = 8


@dataclasses.dataclass(frozen=True)
class EffectiveMass:
    """The curvature of a band at a k-point."""

    k: np.ndarray
    """Shape (3,), in units of the reciprocal cell."""
    band: int
    spin: int
    energy: float
    """[hartree]"""
    slope: np.ndarray
    """Shape (3,), Cartesian [hartree bohr]; zero at an edge."""
    masses: np.ndarray
    """Shape (3,), in electron masses; negative where the band bends downwards."""
    axes: np.ndarray
    """Shape (3, 3), Cartesian: the direction of each mass, in rows."""

    def summary(self) -> list[str]:
        """Lines about the place and the masses."""
        at = " ".join(f"{v:.4f}" for v in self.k)
        lines = [f"band {self.band} at k = {at}: {self.energy * HARTREE_EV:.6f} eV"]
        for mass, axis in zip(self.masses, self.axes, strict=True):
            lines.append(f"mass {mass:10.4f} along {' '.join(f'{v:7.4f}' for v in axis)}")
        return lines


def effective_mass(
    ground: GroundState,
    k: Sequence[float],
    band: int,
    *,
    spin: int = 0,
    search: bool = True,
    step: float = STEP,
    reporter: Reporter | None = None,
    scf: Mapping[str, Any] | None = None,
) -> EffectiveMass:
    """The masses of a band, from the second derivatives of its energy.

    k: where, in units of the reciprocal cell
    band: its number, from 0; the filled bands of an insulator are 0 to electrons/2 - 1
    search: go to the edge of the band near k first, by Newton's steps; otherwise stay at k
    step: between the k-points of a derivative [1/bohr]; the error grows with its fourth power (mixed derivatives: with
        its square)
    scf: keys of [scf] for the bands, as for band_structure()
    Raises InvalidArgument for a band that meets another one at k, whose masses depend on the direction, and for
    impossible arguments; NotConverged if no edge is near, or the bands do not converge. Collective.

        light = hc.tddft.effective_mass(ground, k=[0.42, 0, 0.42], band=4)
        print(light.masses)
    """
    system = ground.require_converged().system
    if not system.periodic:
        raise InvalidArgument("an effective mass of an isolated system was asked for; bands are those of a crystal.")
    at = np.array(k, dtype=float)
    if at.shape != (3,) or not np.isfinite(at).all():
        raise InvalidArgument(f"k = {shown(k)} given; three numbers in units of the reciprocal cell expected.")
    known = isinstance(band, int) and not isinstance(band, bool) and band >= 0
    if not known or not 0 <= spin < system.spins or step <= 0:
        raise InvalidArgument(
            f"band = {shown(band)}, spin = {shown(spin)} and step = {shown(step)} given; a band and a spin counted "
            "from 0 and a positive step expected."
        )
    fine = {"eigen_tolerance": 1e-7} | dict(scf or {})
    reciprocal = system.structure.reciprocal
    place = at @ reciprocal
    for _ in range(MOST_STEPS if search else 1):
        energy, slope, tensor = _derivatives(ground, place, band, spin, step, reporter, fine)
        if not search or np.abs(slope).max() < FLAT:
            break
        move = -np.linalg.solve(tensor, slope)
        # A step longer than a tenth of the zone leaves the neighbourhood.
        longest = 0.1 * np.linalg.norm(reciprocal, axis=1).min()
        place = place + move * min(1.0, longest / np.linalg.norm(move))
    else:
        raise NotConverged(
            f"no edge of band {band} was found near k = {shown(list(map(float, at)))} in {MOST_STEPS} steps: the slope "
            f"is {np.abs(slope).max():.1e} hartree bohr where {FLAT:.0e} is asked for; begin nearer, or set search = "
            "False."
        )
    inverse, axes = np.linalg.eigh(tensor)
    masses = np.divide(1.0, inverse, out=np.full(3, np.inf), where=inverse != 0)
    return EffectiveMass(place @ np.linalg.inv(reciprocal), band, spin, energy, slope, masses, axes.T)


def _derivatives(
    ground: GroundState, place: np.ndarray, band: int, spin: int, h: float, reporter: Reporter | None, scf: Any
) -> tuple[float, np.ndarray, np.ndarray]:
    """Energy, first and second derivatives of a band. place: [1/bohr]"""
    unit = np.eye(3)
    offsets = [np.zeros(3)] + [n * unit[a] for a in range(3) for n in (-2, -1, 1, 2)]
    pairs = list(itertools.combinations(range(3), 2))
    offsets += [p * unit[a] + q * unit[b] for a, b in pairs for p in (-1, 1) for q in (-1, 1)]
    all_bands = energies_at(ground, place + h * np.array(offsets), band + 2, reporter=reporter, scf=scf)[spin]
    here = all_bands[0]
    others = [n for n in (band - 1, band + 1) if n >= 0 and abs(here[n] - here[band]) < DEGENERATE]
    if others:
        raise InvalidArgument(
            f"band {band} meets band {others[0]} at this k-point ({abs(here[others[0]] - here[band]):.1e} hartree "
            "apart); its masses there depend on the direction: take another k-point or band."
        )
    e = all_bands[:, band]
    slope, tensor = np.empty(3), np.empty((3, 3))
    for a in range(3):
        far_below, below, above, far_above = e[1 + 4 * a : 5 + 4 * a]
        slope[a] = (8 * (above - below) - (far_above - far_below)) / (12 * h)
        tensor[a, a] = (16 * (above + below) - (far_above + far_below) - 30 * e[0]) / (12 * h * h)
    for n, (a, b) in enumerate(pairs):
        both_below, one, other, both_above = e[13 + 4 * n : 17 + 4 * n]
        tensor[a, b] = tensor[b, a] = (both_below + both_above - one - other) / (4 * h * h)
    return float(e[0]), slope, tensor
