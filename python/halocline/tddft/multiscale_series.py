# SPDX-License-Identifier: Apache-2.0
"""Light and currents of halocline.tddft.multiscale in time, and where the energy of the light has gone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.tddft import results
from halocline.tddft.induced import gives_off
from halocline.tddft.units import BOHR_ANGSTROM, SPEED_OF_LIGHT

NO_LIGHT = "no light has arrived in this run; give it more time, or pulses with an earlier centre."


@dataclasses.dataclass(frozen=True)
class Shares:
    """Parts of the incident energy."""

    incident: float
    """Energy a unit of area [hartree/bohr^2]."""
    reflected: float
    transmitted: float
    absorbed: float
    """Work of the field on the electrons of all cells."""


class Multiscale:
    """Light and currents in time. Rows are steps; columns are cells and Cartesian components of the crystal.

    time: shape (n,) [a.u.], the times of vector_potential and current: shape (n, cells, 3)
    Of a body, reflected is the scattered light on the axis before it, and transmitted all light on the axis behind it.
    field_time: half a step before; incident, reflected, transmitted: E there, shape (n, 3) [a.u.], reflected just in
    front of the film and transmitted just behind it, incident at the place of its front without a film.
    """

    def __init__(
        self,
        cells: int,
        step: float,
        time_step: float,
        axis: int,
        behind: float,
        angle: float = 0.0,
        inside: np.ndarray | None = None,
    ) -> None:
        """inside: of a body, shape (z, y, x), true for its cells, in the order of the columns; None for a film."""
        self.inside = inside
        self.cells, self.step, self.time_step, self.axis = cells, step, time_step, axis
        self.index_behind, self.angle = behind, angle
        self.first_current = np.zeros((cells, 3))
        """At time 0 [a.u.]"""
        self.rows: list[tuple[np.ndarray, ...]] = []

    def add(self, *row: np.ndarray) -> None:
        """A step: A, J, and E incident, reflected, transmitted."""
        self.rows.append(row)

    def _column(self, number: int) -> np.ndarray:
        return np.array([row[number] for row in self.rows])

    @property
    def time(self) -> np.ndarray:
        """[a.u.]"""
        return self.time_step * np.arange(1, len(self.rows) + 1)

    @property
    def field_time(self) -> np.ndarray:
        """[a.u.]"""
        return self.time - 0.5 * self.time_step

    @property
    def vector_potential(self) -> np.ndarray:
        """Shape (n, cells, 3) [a.u.]"""
        return self._column(0)

    @property
    def current(self) -> np.ndarray:
        """Shape (n, cells, 3): particle current density [a.u.]"""
        return self._column(1)

    @property
    def incident(self) -> np.ndarray:
        """Shape (n, 3): E [a.u.]"""
        return self._column(2)

    @property
    def reflected(self) -> np.ndarray:
        """Shape (n, 3): E [a.u.]"""
        return self._column(3)

    @property
    def transmitted(self) -> np.ndarray:
        """Shape (n, 3): E [a.u.]"""
        return self._column(4)

    def data(self) -> dict[str, Any]:
        """The series in the form for results.write."""
        names = ("vector_potential", "current", "incident", "reflected", "transmitted", "time")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("incident", "reflected", "transmitted"):
            found[name] = (found[name], results.UNITS["electric_field"])
        found["field_time"] = (self.field_time, results.UNITS["time"])
        found["first_current"] = (self.first_current, results.UNITS["current"])
        if self.inside is not None:
            found["inside"] = (self.inside.astype(np.uint8), "1")
        return found

    def restore(self, data: Mapping[str, Any]) -> None:
        """The inverse of data()."""
        names = ("vector_potential", "current", "incident", "reflected", "transmitted")
        self.first_current = np.asarray(data["first_current"])
        self.rows = list(zip(*(np.asarray(data[name]) for name in names), strict=True))

    def shares(self) -> Shares:
        """Where the energy of the light has gone. They add up to 1 once all light has left the film. Raises
        InvalidArgument for a body: absorption()."""
        if self.inside is not None:
            raise InvalidArgument("a body in a plane wave has no shares of its energy; ask for absorption().")
        # Poynting's vector of a travelling wave is n c E^2 / 4 pi, and its part along the axis has the cosine of the
        # angle in the medium: together sqrt(n^2 - sin^2).
        flux = SPEED_OF_LIGHT / (4 * math.pi) * self.time_step * math.cos(self.angle)
        behind = math.sqrt(self.index_behind**2 - math.sin(self.angle) ** 2) / math.cos(self.angle)
        incident, reflected, transmitted = (flux * float(np.sum(e**2)) for e in map(self._column, (2, 3, 4)))
        if incident == 0:
            raise InvalidArgument(NO_LIGHT)
        work = self.step * float(self.work().sum())
        return Shares(incident, reflected / incident, behind * transmitted / incident, work / incident)

    def work(self) -> np.ndarray:
        """Work of the field on the electrons of each cell, a unit of volume [hartree/bohr^3], shape (cells,)."""
        field = -np.diff(self.vector_potential, axis=0, prepend=np.zeros((1, self.cells, 3))) / self.time_step
        middle = 0.5 * (self.current + np.concatenate([self.first_current[None], self.current[:-1]]))
        return -self.time_step * np.sum(field * middle, axis=(0, 2))

    def has_light(self) -> bool:
        """Whether light has arrived."""
        return bool(np.any(self.incident))

    def advice(self) -> str | None:
        """A warning about cells that have given off energy, which no ground state can; None if all is well."""
        if not self.has_light():
            return None
        if self.inside is None:
            given = -self.shares().absorbed
        else:  # of the light that meets the box around the body
            across = [n for a, n in enumerate(reversed(self.inside.shape)) if a != self.axis]
            given = -self.absorption() / math.prod(n * self.step for n in across if n > 1)
        # Light that is still in the film has done work that it takes back.
        at_the_end = np.abs(self.incident[-1]).max() > 1e-3 * np.abs(self.incident).max()
        if at_the_end or given < 0.01:
            return None
        return gives_off("cells have", given)

    def sentence(self) -> str:
        """Where the light has gone, for the log."""
        if not self.has_light():
            return "has not arrived; give the run more time, or the pulses an earlier centre"
        if self.inside is None:
            shares = self.shares()
            names = ("reflected", "transmitted", "absorbed")
            return ", ".join(f"{100 * getattr(shares, name):.4g} % {name}" for name in names)
        nm, dimensions = 0.1 * BOHR_ANGSTROM, sum(n > 1 for n in self.inside.shape)
        unit, what = {1: ("", "a part of"), 2: (" nm", "a width of"), 3: (" nm^2", "a cross-section of")}[dimensions]
        return f"absorbed as by {what} {self.absorption() * nm ** (dimensions - 1):.4g}{unit}"

    def absorption(self) -> float:
        """Energy that a body takes over that of the light through a unit of area: a cross-section [bohr^2] of a body in
        three dimensions, a width [bohr] in two. Raises InvalidArgument for a film: shares()."""
        if self.inside is None:
            raise InvalidArgument("a film takes a part of the light; ask for shares().")
        incident = SPEED_OF_LIGHT / (4 * math.pi) * self.time_step * float(np.sum(self.incident**2))
        if incident == 0:
            raise InvalidArgument(NO_LIGHT)
        dimensions = sum(n > 1 for n in self.inside.shape)
        return self.step**dimensions * float(self.work().sum()) / incident

    def spectrum(self, energies: Any, which: str) -> np.ndarray:
        """Sum of E exp(i omega t) dt at photon energies [hartree], shape (m, 3).

        which: "incident", "reflected" or "transmitted". Raises InvalidArgument for any other.
        """
        if which not in ("incident", "reflected", "transmitted"):
            raise InvalidArgument(f'spectrum of "{which}": expected "incident", "reflected" or "transmitted".')
        omega = np.atleast_1d(np.asarray(energies, dtype=float))
        phases = np.exp(1j * omega[:, None] * self.field_time[None, :])
        return self.time_step * phases @ getattr(self, which)
