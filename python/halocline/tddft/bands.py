# SPDX-License-Identifier: Apache-2.0
"""Band structures: `band_structure(ground, path="GXMGR")`, states at k-points along a path, in the density of a ground
state."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import Interrupted, InvalidArgument, NotConverged
from halocline.reporter import Reporter
from halocline.schema import changed, shown
from halocline.tddft.ground import GroundState, scf_options
from halocline.tddft.runfile_crystal import BandPath
from halocline.tddft.system import LANES, System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

native = _halocline.tddft

TOGETHER = 8
"""K-points that are solved together, if the processes are not divided over more."""


@dataclasses.dataclass
class BandStructure:
    """Bands along a path."""

    path: Any
    """ASE's band path: kpts (n, 3) in units of the reciprocal cell, special points."""
    energies: np.ndarray
    """Shape (spins, n, bands) [hartree]."""
    fermi_level: float
    """Of the ground state [hartree]."""
    filled: int | None
    """Bands that hold electrons, of each spin; None where some are filled in part."""

    @property
    def valence_top(self) -> float | None:
        """Highest energy of a filled band on the path [hartree]; None where bands are filled in part."""
        return None if self.filled is None else float(self.energies[:, :, : self.filled].max())

    @property
    def gap(self) -> float | None:
        """Lowest empty minus highest filled energy on the path [hartree]; negative if bands overlap, None where it is
        unknown."""
        if self.filled is None or self.filled >= self.energies.shape[2]:
            return None
        return float(self.energies[:, :, self.filled :].min()) - self.valence_top

    @property
    def direct_gap(self) -> float | None:
        """The smallest gap at one k-point of the path [hartree]; None where it is unknown."""
        if self.gap is None:
            return None
        return float((self.energies[:, :, self.filled] - self.energies[:, :, self.filled - 1]).min())

    def ase(self) -> Any:
        """ASE's BandStructure [eV], with the top of the filled bands, or the Fermi level, as its reference."""
        from ase.spectrum.band_structure import BandStructure as Drawn

        reference = self.fermi_level if self.valence_top is None else self.valence_top
        return Drawn(self.path, self.energies * HARTREE_EV, reference=reference * HARTREE_EV)

    def summary(self) -> list[str]:
        """Lines about the gap."""
        if self.gap is None:
            return [f"{'Fermi level':<22}{self.fermi_level * HARTREE_EV:20.6f} eV"]
        points = self.path.kpts
        top = np.unravel_index(self.energies[:, :, : self.filled].argmax(), self.energies[:, :, : self.filled].shape)
        low = np.unravel_index(self.energies[:, :, self.filled :].argmin(), self.energies[:, :, self.filled :].shape)
        at = [" ".join(f"{v:.3f}" for v in points[i[1]]) for i in (top, low)]
        return [
            f"{'gap on the path':<22}{self.gap * HARTREE_EV:20.6f} eV, from k = {at[0]} to {at[1]}",
            f"{'direct gap':<22}{self.direct_gap * HARTREE_EV:20.6f} eV",
        ]


def band_path(system: System, options: BandPath) -> Any:
    """ASE's path through the Brillouin zone of the cell. Raises InvalidArgument for a system without one and for
    unknown special points."""
    from ase.cell import Cell

    if not system.periodic:
        raise InvalidArgument("[bands] an isolated system was given; bands are those of a crystal.")
    cell = Cell(system.structure.cell * BOHR_ANGSTROM)
    lattice = cell.get_bravais_lattice()
    known = lattice.get_special_points()
    try:
        return cell.bandpath(options.path, npoints=options.points)
    except (KeyError, ValueError, AssertionError):
        raise InvalidArgument(
            f"[bands] path = {shown(options.path)}: expected special points of the {lattice.longname} cell, "
            f"{', '.join(known)}, as in {shown(lattice.special_path)}; a comma begins a new line."
        ) from None


def bands_wanted(system: System, options: BandPath) -> tuple[int, int | None]:
    """Number of bands, and how many of them are filled (None: in part). Raises InvalidArgument."""
    filled = 0.5 * system.electrons
    whole = None if system.spins == 2 or abs(filled - round(filled)) > 1e-9 else round(filled)
    if system.run.scf.temperature > 0:
        whole = None
    count = math.ceil(filled - 1e-9)
    bands = options.bands or count + max(4, count // 2)
    if bands < count:
        raise InvalidArgument(f"[bands] bands = {bands} given; at least {count} expected, those that hold electrons.")
    return bands, whole


def band_structure(
    ground: GroundState, *, reporter: Reporter | None = None, scf: Mapping[str, Any] | None = None, **options: Any
) -> BandStructure:
    """The bands of a crystal along a path, in the density of its ground state.

    options: keys of [bands]: path, such as "GXMGR" (ASE's default for the cell when absent), points, bands
    scf: keys of [scf]: eigen_tolerance, eigensolver, ...
    K-points are solved a few at a time, so that the memory is that of a ground state with few k-points.
    Raises NotConverged, InvalidArgument, Interrupted if the reporter asks to stop. Collective.

        bands = hc.tddft.band_structure(ground, path="GXMGR", points=60)
        bands.ase().plot(filename="bands.png")
    """
    ground.require_converged()
    chosen = changed(ground.system.run.bands, options)
    path = band_path(ground.system, chosen)
    bands, filled = bands_wanted(ground.system, chosen)
    k = path.kpts @ ground.system.structure.reciprocal
    found = energies_at(ground, k, bands, reporter=reporter, scf=scf)
    return BandStructure(path, found, ground.fermi_level, filled)


def energies_at(
    ground: GroundState,
    k: np.ndarray,
    bands: int,
    *,
    reporter: Reporter | None = None,
    scf: Mapping[str, Any] | None = None,
) -> np.ndarray:
    """Energies of the lowest bands at k-points, in the density of a ground state. Shape (spins, n, bands) [hartree].

    k: shape (n, 3) [1/bohr]; scf: as for band_structure()
    Raises as band_structure(). Collective.
    """
    system, run = ground.system, ground.system.run
    counts = ground.model.counts
    together = min(len(k), max(TOGETHER, -(-counts["k"] // system.spins)))
    # A few more states than bands, whole groups of lanes, and one group for each process along the orbitals.
    states = LANES * max(counts["orbitals"], -(-(bands + 2) // LANES))
    options_scf = changed(run.scf, scf or {})
    odd = run.scf.temperature > 0
    reporter, group = reporter or Reporter(), ground.model.communicator
    found, before = np.empty((system.spins, len(k), bands)), None
    with reporter.stage("bands", len(k)) as advance:
        for first in range(0, len(k), together):
            # The last group ends at the end of the path, so that all groups have the same size.
            first = min(first, len(k) - together)
            part = system.with_points(k[first : first + together], states)
            model = native.Model(
                part.native, group,
                (counts["k"], counts["orbitals"], *counts["space"]), system.functional,
                ground.model.hartree["share"], run.parallel.transport, odd,
            )  # fmt: skip
            state = model.empty_state() if before is None else before
            solved = native.solve_bands(
                model, state, ground.state, bands, scf_options(part, options_scf),
                lambda residual: not group.any(reporter.stop_requested()),
            )  # fmt: skip
            if group.any(reporter.stop_requested()):
                raise Interrupted(f"stopped after {first} of {len(k)} k-points; bands are written when all are there.")
            if not solved["converged"]:
                raise NotConverged(
                    f"the bands from k-point {first} on did not converge: the eigen residual is "
                    f"{solved['residual']:.1e} hartree after {solved['passes']} passes, where "
                    f"{options_scf.eigen_tolerance:.1e} is asked for; raise [scf] max_iterations, or take fewer bands."
                )
            found[:, first : first + together] = state.eigenvalues.reshape(system.spins, together, states)[:, :, :bands]
            before = state
            advance(min(len(k), first + together), f"k-point {first + together} of {len(k)}")
    return found
