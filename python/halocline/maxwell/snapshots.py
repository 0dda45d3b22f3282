# SPDX-License-Identifier: Apache-2.0
"""Pictures of a field while it travels: a component every so often, on the whole grid or on a plane of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from halocline.maxwell.simulation import Simulation

Sink = Callable[[np.ndarray], None]


class Snapshots:
    """A component every so many steps."""

    def __init__(self, simulation: Simulation, component: int, every: int, lower: list[int], upper: list[int]) -> None:
        """lower, upper: box of points. Made by Simulation.add_snapshots."""
        self._simulation, self._component = simulation, component
        self.every, self._lower, self._upper = every, lower, upper
        self.frames: list[np.ndarray] = []
        """Single precision, shape (z, y, x); empty if a sink takes them."""
        self.sink: Sink | None = None
        """Gets each frame instead of `frames`, on every rank."""

    @property
    def time_between(self) -> float:
        """[fs]"""
        return self.every * self._simulation.time_step

    @property
    def times(self) -> np.ndarray:
        """Of the frames so far [fs]."""
        return self.time_between * np.arange(1, self._simulation.native.steps // self.every + 1)

    @property
    def coordinates(self) -> list[np.ndarray]:
        """Of the points along x, y and z [nm], from the inner end of the lower layer."""
        sim = self._simulation
        between = [(a == self._component % 3) == (self._component < 3) for a in range(3)]
        return [
            (np.arange(self._lower[a], self._upper[a]) + 0.5 * between[a] * (not sim.grid.flat(a))) * sim.step
            - sim.origin[a]
            for a in range(3)
        ]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a frame."""
        z, y, x = (self._upper[a] - self._lower[a] for a in (2, 1, 0))
        return z, y, x

    def take(self) -> None:
        """Keeps the present field. Collective."""
        found = self._simulation.native.field_in(self._component, 0, self._lower, self._upper)
        field = self._simulation.unscaled(self._component, found, self._lower[0]).astype(np.float32)
        if self.sink is None:
            self.frames.append(field)
        else:
            self.sink(field)
