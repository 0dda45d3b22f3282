# SPDX-License-Identifier: Apache-2.0
"""Light that enters a grid: plane waves and Gaussian beams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.maxwell.units import frequency_of

if TYPE_CHECKING:
    from halocline.maxwell.simulation import Simulation

AXES = "xyz"
FAINT = 2e-2
"""Amplitude of a beam, over its largest one, that may be cut off at the ends of its plane."""


class PlaneWave:
    """A plane wave that enters a box of total field."""

    def __init__(self, simulation: Simulation, number: int, energies: list[float], end: float) -> None:
        self._simulation, self._number = simulation, number
        self.energies = np.array(energies)
        self.end = end
        """When the pulse has entered [fs]."""

    def flux(self) -> np.ndarray:
        """Energy a unit of area at each of its energies, of the wave on the grid. Collective."""
        return np.array(self._simulation.native.incident_flux(self._number))


class Beam:
    """A Gaussian beam that enters through a plane."""

    def __init__(self, power: float, waveform: Any, time_step: float, energies: list[float], end: float) -> None:
        self._power, self._waveform, self._time_step = power, waveform, time_step
        self.energies = np.array(energies)
        self.end = end
        """When the pulse has entered [fs]."""

    def flux(self) -> np.ndarray:
        """Energy of the whole beam at each of its energies: an area (nm^2; nm in two dimensions) times what
        `PlaneWave.flux` counts. Collective: no."""
        times = self._time_step * np.arange(math.ceil(self._waveform.end / self._time_step) + 1)
        values = np.array([self._waveform(t) for t in times])
        omega = np.array([frequency_of(float(e)) for e in self.energies])
        return self._power * np.abs(self._time_step * np.exp(1j * omega[:, None] * times) @ values) ** 2


def pulse(energies: list[float], span: list[float] | None) -> tuple[float, float]:
    """Frequency and width [1/nm, nm] of a Gaussian pulse with a tenth of its amplitude at both ends of a span."""
    lowest, highest = min(span or energies), max(span or energies)
    middle, half = (lowest + highest) / 2, max((highest - lowest) / 2, 0.05 * highest)
    return frequency_of(middle), math.sqrt(2 * math.log(10.0)) / frequency_of(half)


class Profiles:
    """A Gaussian beam on the grid at one frequency: a sum of plane waves, each of which obeys the scheme.

    The scheme's waves have sin(k h / 2) / (h / 2) in the place of a wave number, so that the light that the plane sends
    backwards is due to the pulse's other frequencies alone.
    """

    def __init__(
        self, simulation: Simulation, axis: int, direction: int, node: int, omega: float, polarisation: int
    ) -> None:
        self.grid, self.axis, self.node = simulation.grid, axis, node
        self.others = [(axis + 1) % 3, (axis + 2) % 3]
        step, dt = simulation.step, self.grid.time_step
        first, last = simulation.inner()
        self.lower, self.upper = list(first), [n + (0 if self.grid.periodic(a) else 1) for a, n in enumerate(last)]
        self.lower[axis], self.upper[axis] = node, node + 1
        # A lattice four times as wide as the plane, so that a beam does not meet its images.
        self.counts = [1 if self.grid.flat(a) else 4 * (self.upper[a] - self.lower[a]) for a in self.others]
        ks = [2 * math.pi * np.fft.fftfreq(n, step) for n in self.counts]
        self.across = np.meshgrid(*ks, indexing="ij")
        sines = [2 / step * np.sin(k * step / 2) for k in self.across]
        self.rate = 2 / dt * math.sin(omega * dt / 2)
        square = simulation.background_permittivity * self.rate**2 - sines[0] ** 2 - sines[1] ** 2
        self.travels = square > 0
        along = np.sqrt(np.where(self.travels, square, 1.0))
        self.along = direction * 2 / step * np.arcsin(np.clip(along * step / 2, 0.0, 1.0))
        vector = [np.zeros_like(along)] * 3
        vector[axis], vector[self.others[0]], vector[self.others[1]] = direction * along, sines[0], sines[1]
        zero = np.zeros_like(along)
        electric = [zero, zero, zero]
        electric[polarisation] = np.ones_like(along)
        electric[axis] = -vector[polarisation] / vector[axis]
        self.electric = electric
        self.magnetic = [
            (vector[(a + 1) % 3] * electric[(a + 2) % 3] - vector[(a + 2) % 3] * electric[(a + 1) % 3]) / self.rate
            for a in range(3)
        ]
        self.step, self.direction = step, direction

    def make(self, waist: float, focus: list[float]) -> tuple[list[np.ndarray], float]:
        """E along both other axes and H along them, complex, shape of the plane [z][y][x]; and the beam's power for a
        field of amplitude 1 in the spectrum. focus: in steps from the first node."""
        widths = [0.0 if self.grid.flat(a) else waist for a in self.others]
        spectrum = np.where(self.travels, 1.0, 0.0).astype(complex)
        for k, width, count in zip(self.across, widths, self.counts, strict=True):
            if count > 1:
                spectrum *= math.sqrt(math.pi) * width / (count * self.step) * np.exp(-(width**2) * k**2 / 4)
        spectrum *= np.exp(1j * self.along * (self.node - focus[self.axis]) * self.step)
        for k, a, count in zip(self.across, self.others, self.counts, strict=True):
            if count > 1:
                spectrum *= np.exp(1j * k * (self.lower[a] - focus[a]) * self.step)
        found = []
        for fields, magnetic in ((self.electric, 1), (self.magnetic, -1)):
            for component in self.others:
                wave = spectrum * fields[component]
                if magnetic < 0:  # half a step behind the plane
                    wave = wave * np.exp(-0.5j * self.direction * self.along * self.step)
                for k, a, count in zip(self.across, self.others, self.counts, strict=True):
                    if count > 1 and (a == component) == (magnetic > 0):  # between the nodes
                        wave = wave * np.exp(0.5j * k * self.step)
                values = np.fft.ifft2(wave) * math.prod(self.counts)
                values = values[tuple(slice(0, self.upper[a] - self.lower[a]) for a in self.others)]
                order = sorted(range(2), key=lambda i: -self.others[i])  # [z][y][x] without the axis
                plane = np.expand_dims(values.transpose(order), 2 - self.axis)
                found.append(np.ascontiguousarray(plane))
        b, c = self.others
        passing = self.electric[b] * self.magnetic[c] - self.electric[c] * self.magnetic[b]
        passing = 0.5 * np.abs(spectrum) ** 2 * passing * np.cos(self.along * self.step / 2)
        area = math.prod(count * self.step for count in self.counts if count > 1)
        return found, self.direction * area * float(np.sum(passing))


def check_profile(profiles: list[np.ndarray], axis: int, flat: list[int]) -> None:
    """Raises InvalidArgument for a beam that the plane cuts off."""
    strength = np.sqrt(sum(np.abs(p) ** 2 for p in profiles[:2]))
    worst = 0.0
    for a in range(3):
        if a == axis or a in flat:
            continue
        ends = np.moveaxis(strength, 2 - a, 0)
        worst = max(worst, float(ends[0].max()), float(ends[-1].max()))
    if worst > FAINT * float(strength.max()):
        raise InvalidArgument(
            f"add_beam: at the ends of the plane the beam has {100 * worst / float(strength.max()):.2g} % of its "
            f"largest amplitude there; at most {100 * FAINT:g} % may be cut off: give the grid a larger size at right "
            f"angles to axis {AXES[axis]}, the beam another waist, or move the plane towards the focus."
        )


def waveforms(omega: float, width: float) -> tuple[Any, Any]:
    """Cosine and sine of a Gaussian pulse that begins at t = 0."""
    make = _halocline.maxwell.Waveform.gaussian
    return make(omega, width, 6 * width), make(omega, width, 6 * width, -math.pi / 2)
