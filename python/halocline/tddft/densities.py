# SPDX-License-Identifier: Apache-2.0
"""Densities that move at a frequency: `response_densities(ground, ["9.4 eV"], ...)`, where an excitation lives.

After a kick kappa the density is n(r, 0) + kappa times a response. Its Fourier transform at a photon energy,
    delta n(r, omega) = 1/kappa integral w(t) (n(r, t) - n(r, 0)) exp(i omega t) dt,
has the polarisability as its dipole. At a resonance its imaginary part is the transition density, times the dipole of
the transition and half the length of the run.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.files import write_file
from halocline.reporter import Reporter
from halocline.schema import Unfit, shown
from halocline.tddft.ground import GroundState
from halocline.tddft.motion import frames
from halocline.tddft.propagation import Series, propagate
from halocline.tddft.system import System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV, converted

native = _halocline.tddft


@dataclasses.dataclass(frozen=True)
class ResponseDensities:
    """Responses of the density at some photon energies."""

    system: System
    energies: np.ndarray
    """Shape (n,) [hartree]."""
    values: np.ndarray | None
    """Shape (n, z, y, x), complex [1/(bohr^2 hartree)]: of both spins, divided by the kick. None but on process 0."""
    series: Series
    """The propagation."""

    def write_cubes(self, prefix: str | Path) -> list[Path]:
        """Writes the imaginary part at each energy to `<prefix>_<energy in eV>.cube`. For process 0.

        Raises FileError.
        """
        from ase.io.cube import write_cube

        written = []
        atoms = frames(self.system, self.system.structure.positions[None])[0]
        if not self.system.periodic:
            atoms.positions -= 0.5 * np.diag(atoms.cell[:])
        extent, spacing = np.array(self.system.extent), np.array(self.system.spacing)
        cell = self.system.structure.cell * BOHR_ANGSTROM
        atoms.set_cell(cell)
        first = np.zeros(3) if self.system.periodic else -0.5 * (extent - 1) * spacing * BOHR_ANGSTROM
        for energy, values in zip(self.energies, self.values, strict=True):
            path = Path(f"{prefix}_{energy * HARTREE_EV:.3f}.cube")
            comment = f"Im delta n at {energy * HARTREE_EV:.6f} eV, {self.system.structure.formula()}"
            with tempfile.TemporaryFile("w+") as text:  # ASE writes to nothing but a file
                write_cube(text, atoms, data=values.imag.transpose(2, 1, 0), origin=first, comment=comment)
                text.seek(0)
                write_file(path, text.read())
            written.append(path)
        return written


def response_densities(
    ground: GroundState, energies: Sequence[Any], *, reporter: Reporter | None = None, **options: Any
) -> ResponseDensities:
    """Propagates a kicked ground state and collects the density that moves at some photon energies.

    energies: plain numbers in hartree, or texts such as "9.4 eV"
    options: as for propagate(): kick, direction, total_time or steps, time_step, ...; no pulses
    The window is the polynomial one of spectra. Memory: 16 bytes for each point and energy on process 0.
    Raises as propagate(), and InvalidArgument for no energy, no kick, or pulses beside it. Collective.

        found = hc.tddft.response_densities(ground, ["9.4 eV"], kick=0.01, direction="z", total_time="20 fs")
        found.write_cubes("acetylene")
    """
    try:
        wanted = np.array([converted(e, "energy") for e in energies])
    except Unfit as unfit:
        raise InvalidArgument(f"energies = {shown(list(energies))} given, each expected to be {unfit}.") from None
    if wanted.size == 0 or not np.isfinite(wanted).all():
        raise InvalidArgument("no photon energy was given for the densities, or one that is not finite; give some.")
    given = ground.system.run.propagate
    if options.get("pulses", given.pulses) or options.get("field_table", given.field_table):
        raise InvalidArgument("densities at a frequency were asked for under a pulse; they are the response to a kick.")
    if not options.get("kick", given.kick):
        raise InvalidArgument("densities at a frequency were asked for without a kick; give one, such as kick = 0.01.")
    first: list[np.ndarray] = []
    sums: list[np.ndarray] = []

    def watch(record: dict[str, Any], state: Any, steps: int) -> None:
        density = native.gather_density(ground.model, state)
        if density is None:
            return
        density = density.sum(axis=0)
        if not first:
            first.append(density)
            sums.extend(np.zeros(density.shape, dtype=complex) for _ in wanted)
            return
        place = record["step"] / steps
        weight = (1.0 - 3.0 * place**2 + 2.0 * place**3) * (0.5 if record["step"] == steps else 1.0)
        change = weight * (density - first[0])
        for total, energy in zip(sums, wanted, strict=True):
            total += np.exp(1j * energy * record["time"]) * change

    series = propagate(ground, reporter=reporter, watch=watch, **options)
    scale = series.time_step / float(np.linalg.norm(series.kick))
    values = scale * np.array(sums) if sums else None
    return ResponseDensities(ground.system, wanted, values, series)
