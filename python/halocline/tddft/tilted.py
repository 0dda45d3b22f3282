# SPDX-License-Identifier: Apache-2.0
"""Light that meets a film at an angle, polarised in the plane of incidence (p).

All fields depend on the place x along the plane and the time t through t - x sin(angle) / c. With lengths for times
(c = 1) and s = sin(angle), what is left along the normal z is

    d D_x / dt = -dH/dz,   D_z = -s H,   d (H + s E_z) / dt = -dE_x/dz,

where H lies between the nodes of E, and D = epsilon E + P holds the polarisation P of the electrons, dP/dt = J. The
normal field follows from H and P where it is, with no equation of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halocline.maxwell.media import Medium
from halocline.tddft.units import HARTREE_EV, SPEED_OF_LIGHT


class PolesOfCells:
    """The currents of media with poles in some cells, worked out beside the light as those of electrons: told E in the
    middle of a step, they give J at its end. Each pole is P'' + damping P' + resonance^2 P = strength E / 4 pi, by a
    leapfrog of second order, stable for steps below 2 / resonance."""

    def __init__(self, media: list[Medium | None], time_step: float) -> None:
        """media: of each cell; None for one with electrons. Time steps [a.u.]"""
        poles = [(cell, pole) for cell, m in enumerate(media) if m is not None for pole in m.poles]
        self.count, self.dt = len(media), time_step
        self.cell = np.array([cell for cell, _ in poles], dtype=np.int64)
        self.square = np.array([(p.resonance / HARTREE_EV) ** 2 for _, p in poles])[:, None]
        self.friction = np.array([0.5 * time_step * p.damping / HARTREE_EV for _, p in poles])[:, None]
        self.strength = np.array([p.strength / HARTREE_EV**2 / (4 * math.pi) for _, p in poles])[:, None]
        self.current, self.polarisation = np.zeros((2, len(poles), 3))

    def add_to(self, currents: np.ndarray) -> np.ndarray:
        """Currents of electrons with those of the poles, as particles of charge -1, shape (cells, 3)."""
        total = currents.copy()
        np.subtract.at(total, self.cell, self.current)
        return total

    def advance(self, field: np.ndarray) -> None:
        """Takes E in the middle of the step, shape (cells, 3)."""
        self.polarisation += self.dt * self.current
        force = self.strength * field[self.cell] - self.square * self.polarisation
        self.current = ((1 - self.friction) * self.current + self.dt * force) / (1 + self.friction)


class TiltedLight:
    """The fields on a line through the film, on this process alone. E is that of half a step before the potentials that
    it gives. Empty space on both sides is so deep that light does not come back from its ends."""

    def __init__(
        self,
        media: list[Medium | None],
        behind: float,
        step: float,
        time_step: float,
        angle: float,
        tangent: np.ndarray,
        normal: np.ndarray,
        wave: Any,
    ) -> None:
        """media: of the cells, without conductivity; None for electrons; behind: permittivity of the medium behind them
        tangent, normal: unit vectors of the crystal; wave: incident E at times 0, dt, 2 dt, ... at a place in front"""
        self.step, self.dt, self.cells = step, SPEED_OF_LIGHT * time_step, len(media)
        self.poles = PolesOfCells(media, time_step)
        permittivities = [1.0 if m is None else m.permittivity for m in media]
        self.sine, self.cosine = math.sin(angle), math.cos(angle)
        self.tangent, self.normal, self.wave = tangent, normal, np.asarray(wave)
        reach = math.ceil(len(self.wave) * self.dt / self.cosine / step) + 4
        self.entry = reach + 4
        self.first = self.entry + 2
        count = self.first + self.cells + 4 + reach
        epsilon = np.ones(count)
        epsilon[self.first : self.first + self.cells] = permittivities
        epsilon[self.first + self.cells :] = behind
        self.epsilon = epsilon
        self.inverse = 1 / epsilon
        self.factor = 1 / (1 - self.sine**2 * 0.5 * (self.inverse[1:] + self.inverse[:-1]))
        self.tangential, self.polarisation = np.zeros(count), np.zeros(count)
        self.conserved = np.zeros(count - 1)  # H + s E_z
        self.magnetic = np.zeros(count - 1)
        # The incident light on a line of its own, in empty space.
        self.alone, self.alone_conserved = np.zeros(count), np.zeros(count - 1)
        self.normal_field = np.zeros(count)
        self.done = 0

    def advance(self, currents: np.ndarray) -> np.ndarray:
        """Takes J of the cells at the beginning of a step; returns E half a step later, shape (cells, 3)."""
        dt, h, s = self.dt, self.step, self.sine
        inside = slice(self.first, self.first + self.cells)
        charge = -4 * math.pi / SPEED_OF_LIGHT * self.poles.add_to(currents)  # J counts particles of charge -1
        along, across = np.zeros_like(self.tangential), np.zeros_like(self.tangential)
        along[inside], across[inside] = charge @ self.tangent, charge @ self.normal

        alone_h = self.alone_conserved / self.cosine**2
        middle = self.polarisation + 0.5 * dt * across
        self.polarisation = self.polarisation + dt * across
        self.magnetic = self._magnetic(self.conserved, middle)
        self.tangential[1:-1] -= dt * self.inverse[1:-1] * ((self.magnetic[1:] - self.magnetic[:-1]) / h + along[1:-1])
        # In front of the entry there is reflected light alone.
        self.tangential[self.entry] += dt / h * alone_h[self.entry - 1]
        self.alone[1:-1] -= dt * (alone_h[1:] - alone_h[:-1]) / h
        self.alone[self.entry - 1] = self.cosine * self.wave[min(self.done + 1, len(self.wave) - 1)]

        before = self.conserved.copy()
        self.conserved -= dt * (self.tangential[1:] - self.tangential[:-1]) / h
        self.conserved[self.entry - 1] += dt * self.alone[self.entry] / h
        self.alone_conserved -= dt * (self.alone[1:] - self.alone[:-1]) / h
        now = self._magnetic(0.5 * (before + self.conserved), self.polarisation)
        mean = 0.5 * (now[1:] + now[:-1])
        self.normal_field[1:-1] = (-s * mean - self.polarisation[1:-1]) * self.inverse[1:-1]
        self.done += 1
        field = self._vector(self.tangential[inside], self.normal_field[inside])
        self.poles.advance(field)
        return field

    def _magnetic(self, conserved: np.ndarray, polarisation: np.ndarray) -> np.ndarray:
        normal = polarisation * self.inverse
        return (conserved + self.sine * 0.5 * (normal[1:] + normal[:-1])) * self.factor

    def _vector(self, tangential: np.ndarray, normal: np.ndarray) -> np.ndarray:
        return tangential[..., None] * self.tangent + normal[..., None] * self.normal

    def at_ends(self) -> tuple[np.ndarray, ...]:
        """E incident at the first cell without a film, reflected in front of it and transmitted behind it."""
        slope = self.sine / self.cosine
        incident = self.alone[self.first]
        reflected, transmitted = self.entry - 2, self.first + self.cells + 1
        return (
            self._vector(incident, -slope * incident),
            self._vector(self.tangential[reflected], slope * self.tangential[reflected]),
            self._vector(self.tangential[transmitted], self.normal_field[transmitted]),
        )
