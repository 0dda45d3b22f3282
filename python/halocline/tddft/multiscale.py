# SPDX-License-Identifier: Apache-2.0
"""Light that crosses a crystal cell by cell: `multiscale(ground, cells=..., step=..., pulses=...)`.

The field of the light lives on a grid whose step is a fraction of its wavelength, tens of nanometres. Each of its cells
inside the crystal is an electron calculation of its own, in the vector potential at its place, and its current is the
source of the field there (Yabana, Sugiyama, Shinohara, Otobe, Bertsch, Phys. Rev. B 85, 045134 (2012)). Light travels
along one axis of the crystal and meets it at right angles.

One step: the currents at its beginning give E half a step later by Yee's scheme (`halocline.maxwell`), E gives the
vector potential at its end, and every cell propagates with it. Cells do not see each other in any other way. All cells
begin in one ground state, which is computed once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import Communicator, communicator
from halocline.errors import Interrupted, InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import Unfit, changed, shown
from halocline.tddft.ground import GroundState
from halocline.tddft.propagation import check_light, field_of, library_options, steps_of, time_line
from halocline.tddft.runfile_light import Propagate, unit_vector
from halocline.tddft.units import SPEED_OF_LIGHT, quantity

native = _halocline.tddft
AXES = "xyz"
LAYER = 12
"""Cells of the absorbing layers at both ends of the field's grid."""
MARGIN = 4
"""Cells between a layer and the first node of the total field."""


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
    field_time: half a step before; incident, reflected, transmitted: E there, shape (n, 3) [a.u.], reflected just in
    front of the film and transmitted just behind it, incident at the place of its front without a film.
    """

    def __init__(self, cells: int, step: float, time_step: float, axis: int, behind: float) -> None:
        self.cells, self.step, self.time_step, self.axis = cells, step, time_step, axis
        self.index_behind = behind
        self._rows: list[tuple[np.ndarray, ...]] = []

    def add(self, *row: np.ndarray) -> None:
        """A step: A, J, and E incident, reflected, transmitted."""
        self._rows.append(row)

    def _column(self, number: int) -> np.ndarray:
        return np.array([row[number] for row in self._rows])

    @property
    def time(self) -> np.ndarray:
        """[a.u.]"""
        return self.time_step * np.arange(1, len(self._rows) + 1)

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

    def shares(self) -> Shares:
        """Where the energy of the light has gone. They add up to 1 once all light has left the film."""
        # Poynting's vector of a travelling wave is n c E^2 / 4 pi.
        flux = SPEED_OF_LIGHT / (4 * math.pi) * self.time_step
        incident, reflected, transmitted = (flux * float(np.sum(e**2)) for e in map(self._column, (2, 3, 4)))
        field = -np.diff(self.vector_potential, axis=0, prepend=np.zeros((1, self.cells, 3))) / self.time_step
        middle = 0.5 * (self.current + np.concatenate([np.zeros((1, self.cells, 3)), self.current[:-1]]))
        work = -self.step * self.time_step * float(np.sum(field * middle))
        if incident == 0:
            raise InvalidArgument("this run had no incident light; give pulses.")
        return Shares(incident, reflected / incident, self.index_behind * transmitted / incident, work / incident)

    def spectrum(self, energies: Any, which: str) -> np.ndarray:
        """Sum of E exp(i omega t) dt at photon energies [hartree], shape (m, 3).

        which: "incident", "reflected" or "transmitted". Raises InvalidArgument for any other.
        """
        if which not in ("incident", "reflected", "transmitted"):
            raise InvalidArgument(f'spectrum of "{which}": expected "incident", "reflected" or "transmitted".')
        omega = np.atleast_1d(np.asarray(energies, dtype=float))
        phases = np.exp(1j * omega[:, None] * self.field_time[None, :])
        return self.time_step * phases @ getattr(self, which)


def _group_of(ground: GroundState, world: Communicator) -> tuple[int, int]:
    """The number of this process's group among the groups of the world that hold a ground state, and their number."""
    group = ground.model.communicator
    roots = [0.0] * world.size
    roots[world.rank] = float(group.rank == 0)
    roots = world.sum(roots)
    mine = sum(roots[: world.rank]) if group.rank == 0 else 0.0
    return round(group.sum([mine])[0]), round(sum(roots))


def _checked(name: str, value: Any, check: Any) -> Any:
    try:
        return check(value)
    except Unfit as unfit:
        raise InvalidArgument(f"multiscale: {name} = {shown(value)}: expected {unfit}.") from None


def multiscale(
    ground: GroundState,
    *,
    cells: int,
    step: Any,
    axis: str = "x",
    index_behind: float = 1.0,
    comm: Any = None,
    reporter: Reporter | None = None,
    callback: Callable[[int, np.ndarray, np.ndarray], bool | None] | None = None,
    **options: Any,
) -> Multiscale:
    """Propagates light through a film of a crystal.

    cells: of the film, along the way of the light; step: of the field's grid, the thickness of a cell [bohr]
    axis: of the crystal, along which the light travels
    index_behind: refractive index of a medium that fills the space behind the film
    comm: all processes of the run; each group of them that holds a ground state does its part of the cells. Those of
        the ground state when absent
    options: keys of [propagate]: pulses (the incident light in empty space), total_time or steps, time_step, scheme
        ("midpoint" or "taylor4")
    callback: gets the step, the vector potentials and the currents, shape (cells, 3); returning False ends the run
    Raises NotConverged, and InvalidArgument for isolated atoms, light along its own direction, a step of the field's
    grid that light crosses in a time step, fewer than ten of them a wavelength. Collective over comm.

    Cost: a step of the ground state's propagation for each cell of this group, and a sum of 3 numbers a cell over all
    processes. Memory: the orbitals of each cell of this group.
    """
    ground.require_converged()
    reporter = reporter or Reporter()
    system = ground.system
    if not system.periodic:
        raise InvalidArgument("multiscale: light crosses a crystal; the atoms of this ground state are isolated.")
    if axis not in AXES or len(axis) != 1:
        raise InvalidArgument(f'multiscale: axis = {shown(axis)}: expected "x", "y" or "z".')
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        raise InvalidArgument(f"multiscale: cells = {shown(cells)}: expected a whole number of at least 1.")
    if not index_behind > 0:
        raise InvalidArgument(f"multiscale: index_behind = {shown(index_behind)}: expected a positive number.")
    step = _checked("step", step, quantity("length", above=0.0))
    chosen: Propagate = changed(system.run.propagate, {"kick": 0.0, "gauge": "velocity"} | options)
    if chosen.scheme == "etrs":
        raise InvalidArgument(
            'multiscale: scheme = "etrs": expected "midpoint" or "taylor4", whose cells share a model.'
        )
    if chosen.response != "transverse" or chosen.kick:
        raise InvalidArgument(
            "multiscale: the light is that of pulses, and answers by itself; leave kick and response out."
        )
    check_light(system, chosen)
    along = AXES.index(axis)
    if not chosen.pulses:
        raise InvalidArgument("multiscale: there is no light; give pulses.")
    _refuse_light(chosen, along, step)

    world = ground.model.communicator if comm is None else communicator(comm)
    group, groups = _group_of(ground, world)
    mine = range(cells * group // groups, cells * (group + 1) // groups)
    field = field_of(chosen, "velocity", (0.0, 0.0, 0.0))
    field["response"] = {"geometry": "given", "thickness": 0.0, "front": 1.0, "behind": 1.0}
    states = [ground.state.copy() for _ in mine]
    if not states:
        raise InvalidArgument(f"multiscale: {cells} cells for {groups} groups of processes; give each at least one.")
    first = native.Propagator(ground.model, states[0], field, library_options(chosen, chosen.time_step))
    given = library_options(chosen, first.time_step)
    propagators = [first, *(native.Propagator(ground.model, state, field, given) for state in states[1:])]
    time_step = first.time_step
    total = steps_of(chosen, time_step)
    light = _Light(field, cells, step, along, index_behind, time_step, total)

    found = Multiscale(cells, step, time_step, along, index_behind)
    potentials = np.zeros((cells, 3))
    speaks = ground.model.communicator.rank == 0

    def currents() -> np.ndarray:
        values = np.zeros((cells, 3))
        if speaks:
            for cell, propagator in zip(mine, propagators, strict=True):
                values[cell] = propagator.driving_current
        return np.array(world.sum(values.ravel().tolist())).reshape(cells, 3)

    now = currents()
    with reporter.stage("propagating", total) as advance:
        for done in range(1, total + 1):
            potentials = potentials - time_step * light.advance(now)
            record: dict[str, Any] = {}
            for cell, propagator in zip(mine, propagators, strict=True):
                propagator.set_next_potential(potentials[cell].tolist())
                record = propagator.step()
            now = currents()
            found.add(potentials, now, *light.at_ends())
            advance(done, time_line(done, total, record, 0.0).rpartition(",")[0])
            if callback is not None and callback(done, potentials, now) is False:
                break
            if world.any(reporter.stop_requested()):
                raise Interrupted(f"stopped after {done} steps.")
    return found


def _refuse_light(options: Propagate, along: int, step: float) -> None:
    """Raises InvalidArgument for pulses that do not travel along an axis, and for a step that does not resolve them."""
    for pulse in options.pulses:
        if abs(unit_vector(pulse.direction)[along]) > 1e-12 or (
            pulse.around is not None and abs(abs(unit_vector(pulse.around)[along]) - 1) > 1e-12
        ):
            raise InvalidArgument(
                f"multiscale: light along {AXES[along]} was given with a polarisation that is not at right angles to "
                "it; give the pulse another direction, or another axis."
            )
        wavelength = 2 * math.pi * SPEED_OF_LIGHT / pulse.frequency
        if wavelength < 10 * step:
            raise InvalidArgument(
                f"multiscale: there are {wavelength / step:.3g} steps of {step:g} bohr in the wavelength of "
                f"{wavelength:.4g} bohr; at least ten are needed in empty space, and more in a crystal."
            )


class _Light:
    """Maxwell's equations on a line, on this process alone. Component g of the line is component (along + g) mod 3 of
    the crystal. E of the line at its step n + 1 is that of the time (n + 1/2) dt."""

    def __init__(
        self, field: dict[str, Any], cells: int, step: float, along: int, behind: float, time_step: float, total: int
    ) -> None:
        maxwell = _halocline.maxwell
        self._turn = [(along + g) % 3 for g in range(3)]
        front, after = 2, 2
        start = LAYER + MARGIN
        first = start + front
        last = first + cells + after + MARGIN
        size = last + LAYER
        courant = SPEED_OF_LIGHT * time_step / step
        if courant >= 1:
            raise InvalidArgument(
                f"multiscale: light crosses a cell of {step:.4g} bohr in {step / SPEED_OF_LIGHT:.3g} a.u., less than "
                f"the time step of {time_step:.4g} a.u.; take thicker cells or a shorter time_step."
            )
        ends = [["absorbing", "absorbing"], ["periodic", "periodic"], ["periodic", "periodic"]]
        grid = maxwell.Grid([size, 1, 1], [step] * 3, ends, [0.0] * 3, LAYER, courant)
        matter = maxwell.Matter(maxwell.Medium(1.0, 0.0, []))
        if behind != 1:
            # The film's last cell ends half a step behind its node.
            shape = maxwell.cuboid([(first + cells - 0.5) * step, -1e300, -1e300], [1e300] * 3)
            matter.add(shape, maxwell.Medium(behind**2, 0.0, []))

        def simulation() -> Any:
            return maxwell.SimulationDouble(
                grid, matter if self._with_film else empty, Communicator.self(), [], 1, "auto", True
            )

        empty = maxwell.Matter(maxwell.Medium(1.0, 0.0, []))
        # Times of the source's node; a delay of half a step does not matter.
        values = np.asarray(native.field_of(field, [n * time_step for n in range(total + 1)]))[:, 0]
        self._sims, self._probes = [], []
        for self._with_film in (True, False):
            sim = simulation()
            for g in (1, 2):
                wave = values[:, self._turn[g]]
                if not np.any(wave):
                    continue
                vector = [0.0] * 3
                vector[g] = 1.0
                shape = maxwell.Waveform.sampled(wave.tolist(), grid.time_step)
                sim.add_plane_wave(0, 1, vector, [start, 0, 0], [size, 0, 0], shape, [])
            self._sims.append(sim)
        self._film, self._free = self._sims
        self._film.add_cells([first, 0, 0], [first + cells, 1, 1])
        # Scattered light in front of the wave's box; total light behind the film; incident light at the film's front.
        self._places = (start - 2, first + cells + 1, first)
        self._numbers = [[self._film.add_probe(c, [place, 0, 0]) for c in range(3)] for place in self._places[:2]]
        self._incident = [self._free.add_probe(c, [self._places[2], 0, 0]) for c in range(3)]

    def advance(self, currents: np.ndarray) -> np.ndarray:
        """Takes J of the cells at the beginning of a step; returns E half a step later, shape (cells, 3)."""
        turned = np.ascontiguousarray(currents[:, self._turn])
        # J counts particles of charge -1.
        self._film.set_currents(-4 * math.pi / SPEED_OF_LIGHT * turned)
        self._film.run(1)
        self._free.run(1)
        fields = np.empty_like(turned)
        fields[:, self._turn] = self._film.cell_fields(False)
        return fields

    def at_ends(self) -> tuple[np.ndarray, ...]:
        """E incident, reflected and transmitted after the last step."""
        rows = []
        for sim, numbers in (
            (self._free, self._incident),
            (self._film, self._numbers[0]),
            (self._film, self._numbers[1]),
        ):
            row = np.zeros(3)
            for g in range(3):
                row[self._turn[g]] = sim.probe_now(numbers[g])
            rows.append(row)
        return tuple(rows)
