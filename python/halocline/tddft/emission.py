# SPDX-License-Identifier: Apache-2.0
"""High harmonics: the light that electrons emit under a strong pulse, `harmonics(series, to_order=15)`.

The mean current J of the electrons radiates as its acceleration, so the spectrum is |omega J(omega)|^2 along each axis.
A window lets the signal begin and end at zero; without it the ends of the run make a background that hides weak
harmonics. Crystals and atoms with inversion emit no even harmonics.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.schema import changed
from halocline.tddft import results
from halocline.tddft.propagation import Series
from halocline.tddft.runfile import Run
from halocline.tddft.runfile_spectra import Harmonics as Options
from halocline.tddft.units import HARTREE_EV


@dataclasses.dataclass(frozen=True)
class Harmonics:
    """Emitted light at each photon energy."""

    energy: np.ndarray
    """Shape (n,) [hartree]."""
    intensity: np.ndarray
    """Shape (n, 3): |omega J(omega)|^2 along x, y and z, J the mean current density [a.u.]."""
    fundamental: float
    """Photon energy of the strongest pulse [hartree]."""
    resolution: float
    """2 pi over the length of the run [hartree]."""
    window: str
    formula: str

    @property
    def order(self) -> np.ndarray:
        """Photon energies in units of the fundamental."""
        return self.energy / self.fundamental

    def heights(self) -> np.ndarray:
        """Shape (orders, 3): the largest intensity within half an order of the first, second, ... harmonic."""
        last = int(self.order[-1] - 0.5 + 1e-9)
        near = np.abs(self.order[:, None] - np.arange(1, last + 1)) <= 0.5
        return np.array([self.intensity[near[:, n]].max(axis=0) for n in range(last)]).reshape(-1, 3)

    def summary(self) -> list[str]:
        """A line for each harmonic."""
        lines = [
            f"harmonics     of {self.fundamental * HARTREE_EV:.4g} eV, {self.window} window, resolution "
            f"{self.resolution * HARTREE_EV:.3g} eV",
            "order    energy [eV]   intensity along x, y, z [a.u.]",
        ]
        for n, height in enumerate(self.heights(), start=1):
            lines.append(f"{n:5d}{n * self.fundamental * HARTREE_EV:15.3f}   {' '.join(f'{h:12.4e}' for h in height)}")
        return lines


def harmonics(run: Any, **options: Any) -> Harmonics:
    """The harmonics of a propagation under a pulse.

    run: a Series, or the name of a file of `halocline tddft propagate`
    options: keys of [harmonics]: to_order, window, points
    Raises FileError, and InvalidArgument for a run without a pulse or one too short for an order. Collective: no.

        found = hc.tddft.harmonics(series, to_order=15)
        print(found.heights()[:, 2])
    """
    chosen = changed(Options(), options)
    if isinstance(run, Series):
        pulses = [(p.amplitude, p.frequency) for p in run.options.pulses]
        return _of(run.time, run.current, pulses, run.system.structure.formula(), chosen, "this run")
    attributes, data = results.read(run, "propagation")
    section = Run.from_table(attributes["parameters"]).propagate
    pulses = [(p.amplitude, p.frequency) for p in section.pulses]
    return _of(data["time"], data["current"], pulses, attributes["formula"], chosen, str(run))


def _of(
    time: np.ndarray, current: np.ndarray, pulses: list[tuple[float, float]], formula: str, chosen: Options, name: str
) -> Harmonics:
    if not pulses:
        raise InvalidArgument(f"{name}: was not driven by a pulse; harmonics are multiples of a pulse's frequency.")
    fundamental = max(pulses)[1]
    if len(time) < 4:
        raise InvalidArgument(f"{name}: has {len(time)} points in time; let it propagate first.")
    length, step = float(time[-1] - time[0]), float(time[1] - time[0])
    resolution = 2.0 * np.pi / length
    if resolution > fundamental:
        raise InvalidArgument(
            f"{name}: its length of {length:.4g} a.u. resolves {resolution * HARTREE_EV:.3g} eV, more than the "
            f"fundamental of {fundamental * HARTREE_EV:.3g} eV; propagate longer."
        )
    highest = chosen.to_order * fundamental
    if highest > np.pi / step:
        raise InvalidArgument(
            f"[harmonics] to_order = {chosen.to_order:g} is a photon energy of {highest * HARTREE_EV:.4g} eV; a time "
            f"step of {step:.4g} a.u. resolves up to {np.pi / step * HARTREE_EV:.4g} eV."
        )
    turn = (time - time[0]) / length
    window = np.sin(np.pi * turn) ** 2 if chosen.window == "cos2" else np.ones_like(turn)
    energy = fundamental / chosen.points * np.arange(1, int(chosen.to_order * chosen.points + 1e-9) + 1)
    weights = np.full(len(time), step)
    weights[[0, -1]] *= 0.5
    signal = current * (window * weights)[:, None]
    intensity = np.empty((len(energy), 3))
    for first in range(0, len(energy), 256):  # so that the table of phases stays small
        part = energy[first : first + 256]
        transformed = np.exp(1j * part[:, None] * time[None, :]) @ signal
        intensity[first : first + 256] = np.abs(part[:, None] * transformed) ** 2
    return Harmonics(energy, intensity, fundamental, resolution, chosen.window, formula)
