# SPDX-License-Identifier: Apache-2.0
"""Light around a body of cells in two and three dimensions, for halocline.tddft.multiscale.

The light's grid has the axes of the crystal. Along axes on which the body has one cell, nothing changes. The body
stands in empty space, in a plane wave that begins two cells around it; outside of that there is scattered light alone.

On Yee's grid the components of E have places of their own, half a step apart. A cell of electrons lies between them:
its field is the mean of the values around its middle, and its current goes back to the same places by the transpose of
this mean. So the work of the field on the currents is that of the cells on their electrons, and both err by the square
of the step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import Communicator
from halocline.errors import InvalidArgument
from halocline.tddft.units import SPEED_OF_LIGHT

native = _halocline.tddft
LAYER = 12
"""Cells of the absorbing layers at all open ends."""
MARGIN = 4
"""Cells between a layer and the plane wave."""
AROUND = 2
"""Cells of the plane wave around the body."""


class BodyLight:
    """Maxwell's equations around a body, on this process alone. E of step n + 1 is that of time (n + 1/2) dt."""

    def __init__(
        self, field: dict[str, Any], inside: np.ndarray, step: float, along: int, time_step: float, total: int
    ) -> None:
        """inside: shape (z, y, x), cells of the body. Raises InvalidArgument for light along an axis on which the body
        has one cell, and for a time step in which light crosses too much of a cell."""
        self._inside = inside
        self._counts = inside.shape[::-1]
        self._open = [n > 1 for n in self._counts]
        if not self._open[along]:
            raise InvalidArgument(
                f"[multiscale] light along {'xyz'[along]} was asked for, an axis on which the body has one cell; give "
                "it more of them, or another axis."
            )
        dimensions = sum(self._open)
        limit = step / SPEED_OF_LIGHT / math.sqrt(dimensions)
        if time_step >= limit:
            raise InvalidArgument(
                f"[multiscale] the time step of {time_step:.4g} a.u. is beyond {limit:.4g}, the limit of light in "
                f"{dimensions} dimensions on cells of {step:.4g} bohr; take larger cells or a shorter time_step."
            )
        maxwell = _halocline.maxwell
        start = [LAYER + MARGIN if o else 0 for o in self._open]
        first = [s + AROUND if o else 0 for s, o in zip(start, self._open, strict=True)]
        nodes = [n + 1 if o else 1 for n, o in zip(self._counts, self._open, strict=True)]
        after = [f + n for f, n in zip(first, nodes, strict=True)]
        last = [a + AROUND if o else 1 for a, o in zip(after, self._open, strict=True)]
        size = [e + MARGIN + LAYER if o else 1 for e, o in zip(last, self._open, strict=True)]
        ends = [["absorbing"] * 2 if o else ["periodic"] * 2 for o in self._open]
        grid = maxwell.Grid(size, [step] * 3, ends, [0.0] * 3, LAYER, time_step / limit)
        matter = maxwell.Matter(maxwell.Medium(1.0, 0.0, []))
        self._space = maxwell.SimulationDouble(grid, matter, Communicator.self(), [], 1, "auto", True)
        values = np.asarray(native.field_of(field, [n * time_step for n in range(total + 1)]))[:, 0]
        self._waves: list[tuple[int, int]] = []
        for g in range(3):
            if g == along or not np.any(values[:, g]):
                continue
            shape = maxwell.Waveform.sampled(values[:, g].tolist(), grid.time_step)
            vector = [float(a == g) for a in range(3)]
            self._waves.append((g, self._space.add_plane_wave(along, 1, vector, start, last, shape, [])))
        self._space.add_cells(first, after)
        self._shape = (*reversed(nodes), 3)
        self._first = first[along]
        middle = [(f + a) // 2 for f, a in zip(first, after, strict=True)]
        self._probes = []
        for place in (start[along] - 2, after[along] + 1):
            point = [place if a == along else middle[a] for a in range(3)]
            self._probes.append([self._space.add_probe(c, point) for c in range(3)])

    def _pieces(self, nodes: np.ndarray, component: int, axis: int) -> tuple[tuple[Any, ...], ...]:
        """Slices of an array (z, y, x) whose mean along an axis is the component in the middle of the cells."""
        if not self._open[axis]:
            return ((slice(None),) * 3,)
        ends = (slice(None, -1),) if axis == component else (slice(None, -1), slice(1, None))
        return tuple(tuple(end if 2 - axis == n else slice(None) for n in range(3)) for end in ends)

    def _to_cells(self, nodes: np.ndarray) -> np.ndarray:
        """Fields in the middle of the cells, shape (z, y, x, 3), from those at their places."""
        found = np.empty((*self._inside.shape, 3))
        for component in range(3):
            values = nodes[..., component]
            for axis in range(3):
                pieces = self._pieces(values, component, axis)
                values = sum(values[piece] for piece in pieces) / len(pieces)
            found[..., component] = values
        return found

    def _to_nodes(self, cells: np.ndarray) -> np.ndarray:
        """The transpose of _to_cells()."""
        found = np.zeros(self._shape)
        for component in range(3):
            values = cells[..., component]
            for axis in range(3):
                longer = list(values.shape)
                longer[2 - axis] = self._shape[2 - axis]
                spread = np.zeros(longer)
                pieces = self._pieces(spread, component, axis)
                for piece in pieces:
                    spread[piece] += values / len(pieces)
                values = spread
            found[..., component] = values
        return found

    def advance(self, currents: np.ndarray) -> np.ndarray:
        """Takes J of the cells at the beginning of a step; returns E half a step later, shape (cells, 3)."""
        whole = np.zeros((*self._inside.shape, 3))
        whole[self._inside] = currents
        # J counts particles of charge -1.
        nodes = np.ascontiguousarray(-4 * math.pi / SPEED_OF_LIGHT * self._to_nodes(whole))
        self._space.set_currents(nodes.reshape(-1, 3))
        self._space.run(1)
        return self._to_cells(self._space.cell_fields(False).reshape(self._shape))[self._inside]

    def at_ends(self) -> tuple[np.ndarray, ...]:
        """E incident at the front of the body, scattered on the axis before it, and of all light on the axis behind
        it, after the last step."""
        incident, scattered, behind = np.zeros((3, 3))
        for component, wave in self._waves:
            incident[component] = self._space.incident_field(wave, self._first)
        for row, numbers in zip((scattered, behind), self._probes, strict=True):
            row[:] = [self._space.probe_now(number) for number in numbers]
        return incident, scattered, behind
