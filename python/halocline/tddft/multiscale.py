# SPDX-License-Identifier: Apache-2.0
"""Light that crosses a crystal cell by cell: `multiscale(ground, cells=..., step=..., pulses=...)`.

The field of the light lives on a grid whose step is a fraction of its wavelength, tens of nanometres. Each of its cells
inside the crystal is an electron calculation of its own, in the vector potential at its place, and its current is the
source of the field there (Yabana, Sugiyama, Shinohara, Otobe, Bertsch, Phys. Rev. B 85, 045134 (2012)). Light meets
the film along one axis of the crystal or at an angle to it. Layers of other crystals and of classical media may be
among the cells.

One step: the currents at its beginning give E half a step later by Yee's scheme (`halocline.maxwell`), E gives the
vector potential at its end, and every cell propagates with it. Cells do not see each other in any other way. All cells
of a crystal begin in one ground state, which is computed once.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import Communicator, communicator
from halocline.errors import FileError, Interrupted, InvalidArgument
from halocline.maxwell.media import Medium, medium
from halocline.reporter import Reporter
from halocline.schema import changed
from halocline.tddft.ground import GroundState
from halocline.tddft.multiscale_body import BodyLight
from halocline.tddft.multiscale_series import Multiscale
from halocline.tddft.propagation import check_light, field_of, library_options, steps_of
from halocline.tddft.runfile_light import Multiscale as Section
from halocline.tddft.runfile_light import Propagate, unit_vector
from halocline.tddft.system import System
from halocline.tddft.tilted import TiltedLight
from halocline.tddft.units import HARTREE_EV, SPEED_OF_LIGHT

native = _halocline.tddft
AXES = "xyz"
LAYER = 12
"""Cells of the absorbing layers at both ends of the field's grid."""
NO_ELECTRONS = "[multiscale] no layer has electrons; `halocline maxwell run` is for media alone."
MARGIN = 4
"""Cells between a layer and the first node of the total field."""


def _group_of(ground: GroundState, world: Communicator) -> tuple[int, int]:
    """The number of this process's group among the groups of the world that hold a ground state, and their number."""
    group = ground.model.communicator
    roots = [0.0] * world.size
    roots[world.rank] = float(group.rank == 0)
    roots = world.sum(roots)
    mine = sum(roots[: world.rank]) if group.rank == 0 else 0.0
    return round(group.sum([mine])[0]), round(sum(roots))


def shared_out(costs: list[float], groups: int) -> list[int]:
    """The group of each cell: cells in their order, so that the largest sum of costs is as small as can be. Cells of
    cost 0 belong to the group of the cell before them. Every group has a cell that costs something."""
    working = [i for i, cost in enumerate(costs) if cost > 0]

    def fill(limit: float) -> list[int] | None:
        found, group, load = [0] * len(costs), 0, 0.0
        for place, i in enumerate(working):
            left = len(working) - place
            if load > 0 and (load + costs[i] > limit or left <= groups - 1 - group):
                group, load = group + 1, 0.0
            load += costs[i]
            if group >= groups or load > limit:
                return None
            found[i] = group
        return found

    # The best limit is the sum of some cells; halving finds it to rounding.
    low, high = max(costs), sum(costs) * (1 + 1e-12)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fill(middle) is not None else (middle, high)
    found = fill(low) or fill(high)
    assert found is not None
    for i in range(1, len(costs)):
        if costs[i] == 0:
            found[i] = found[i - 1]
    return found


@dataclasses.dataclass(frozen=True)
class Filling:
    """What a cell is made of: electrons or a medium."""

    ground: GroundState | None
    medium: Medium | None


class Cells:
    """The cells of this process's group, and the light between all of them."""

    def __init__(
        self, fillings: list[Filling], step: float, section: Section, options: Propagate, world: Communicator
    ) -> None:
        """Refuses what multiscale() refuses, on every rank. Collective over world."""
        self.section, self.world, self.step, self.fillings = section, world, step, fillings
        options = dataclasses.replace(options, energy_every=0)  # only currents are kept
        self.cells = len(fillings)
        self.grounds = list({id(f.ground): f.ground for f in fillings if f.ground is not None}.values())
        if not self.grounds:
            raise InvalidArgument(NO_ELECTRONS)
        along = AXES.index(section.axis)
        for ground in self.grounds:
            ground.require_converged()
            check(ground.system, section, options)
        _refuse_media(fillings, step, options)
        group, self.groups = _group_of(self.grounds[0], world)
        electrons = sum(f.ground is not None for f in fillings)
        if electrons < self.groups:
            raise InvalidArgument(
                f"[multiscale] cells = {electrons} for {self.groups} groups of processes; give each group at least one."
            )
        field = given_field(options)
        # Limits are found by iterations whose last bits depend on a group's division.
        trials = [(-step, -limit) for step, limit in self._trials(field, options)]
        steps, limits = ([float(v) for v in some] for some in zip(*trials, strict=True))
        self.time_step, self.step_limit = -max(world.max(steps)), -max(world.max(limits))
        self.costs = self._costs(field, options)
        owners = shared_out([self.costs.get(id(f.ground), 0.0) for f in fillings], self.groups)
        self.mine = [i for i, f in enumerate(fillings) if f.ground is not None and owners[i] == group]
        self.states, self.propagators = [], []
        given = library_options(options, self.time_step)
        self.sum = native.CellCurrents(world, self.cells, len(self.mine))
        for cell in self.mine:
            ground = self.ground_of(cell)
            self.states.append(ground.state.copy())
            self.propagators.append(native.Propagator(ground.model, self.states[-1], field, given))
            self.propagators[-1].give_current_to(self.sum, cell)
        self.total = steps_of(options, self.time_step)
        self.inside = inside_of(section)
        if self.inside is not None:
            self.light: Any = BodyLight(field, self.inside, self.step, along, self.time_step, self.total)
        else:
            make = _tilted if section.angle and section.polarisation == "p" else FilmLight
            self.light = make(field, fillings, self.step, along, section, self.time_step, self.total)
        self.found = self.empty_series()
        self.potentials = np.zeros((self.cells, 3))
        self.found.first_current = self.now = self._currents()

    def empty_series(self) -> Multiscale:
        """A series of this run without rows."""
        section, along = self.section, AXES.index(self.section.axis)
        behind, angle = section.index_behind, section.angle
        return Multiscale(self.cells, self.step, self.time_step, along, behind, angle, self.inside)

    def ground_of(self, cell: int) -> GroundState:
        """Of a cell with electrons."""
        ground = self.fillings[cell].ground
        assert ground is not None
        return ground

    def _trials(self, field: dict[str, Any], options: Propagate) -> list[tuple[float, float]]:
        """Time step and its limit of each crystal."""
        found = []
        for ground in self.grounds:
            given = library_options(options, options.time_step)
            one = native.Propagator(ground.model, ground.state.copy(), field, given)
            found.append((float(one.time_step), float(one.step_limit)))
        return found

    def _costs(self, field: dict[str, Any], options: Propagate) -> dict[int, float]:
        """Seconds of a step of each crystal, by its identity; 1 if all cells have the same. Collective over world."""
        if len(self.grounds) == 1 or self.groups == 1:
            return {id(ground): 1.0 for ground in self.grounds}
        found = {}
        for ground in self.grounds:
            given = library_options(options, self.time_step)
            one = native.Propagator(ground.model, ground.state.copy(), field, given)
            for _ in range(2):  # the first step warms up
                begun = time.monotonic()
                one.set_next_potential([0.0, 0.0, 0.0])
                one.step()
            found[id(ground)] = self.world.max([time.monotonic() - begun])[0]
        return found

    def _currents(self) -> np.ndarray:
        """J of all cells before the first step, shape (cells, 3). Collective over world."""
        values = np.zeros((self.cells, 3))
        if self.grounds[0].model.communicator.rank == 0:
            for cell, propagator in zip(self.mine, self.propagators, strict=True):
                values[cell] = propagator.driving_current
        return np.array(self.world.sum(values.ravel().tolist())).reshape(self.cells, 3)

    def advance(self) -> None:
        """One step. Collective over world."""
        self.potentials = self.potentials - self.time_step * self.light.advance(self.now)
        for cell, propagator in zip(self.mine, self.propagators, strict=True):
            propagator.set_next_potential(self.potentials[cell].tolist())
            propagator.step()
        self.now = self.sum.wait()
        self.found.add(self.potentials, self.now, *self.light.at_ends())

    def resume(self, earlier: Multiscale, steps: int) -> None:
        """Goes on from a step, whose orbitals `states` hold. The light of the earlier steps is computed again from
        their currents, with the same bits. Raises FileError if the series does not agree with them."""
        self.now = self.found.first_current = earlier.first_current
        for a, j, *_ in earlier.rows[:steps]:
            self.potentials = self.potentials - self.time_step * self.light.advance(self.now)
            if not np.array_equal(self.potentials, a):
                raise FileError("the vector potentials of this series are not those of its currents; begin anew.")
            self.now = j
            self.found.add(self.potentials, j, *self.light.at_ends())
        before = earlier.rows[steps - 2] if steps > 1 else (np.zeros((self.cells, 3)), earlier.first_current)
        for cell, propagator in zip(self.mine, self.propagators, strict=True):
            induced = tuple(row[cell].tolist() for row in (self.potentials, self.now, before[0], before[1]))
            propagator.resume(steps, induced=induced)


def _layer_of(layer: Any) -> tuple[Any, int]:
    """A pair of what fills cells and their number. Raises InvalidArgument for anything else."""
    pair = tuple(layer) if isinstance(layer, list | tuple) else ()
    if len(pair) != 2 or isinstance(pair[1], bool) or not isinstance(pair[1], int | np.integer) or pair[1] < 1:
        raise InvalidArgument(
            f"multiscale: the layer {layer!r}: expected a pair, such as (ground, 8) or ('silica', 4)."
        )
    return pair[0], int(pair[1])


def given_field(options: Propagate) -> dict[str, Any]:
    """The light of the pulses, for propagators that are given the vector potential."""
    field = field_of(options, "velocity", (0.0, 0.0, 0.0))
    field["response"] = {"geometry": "given", "thickness": 0.0, "front": 1.0, "behind": 1.0}
    return field


def inside_of(section: Section) -> np.ndarray | None:
    """Which cells of the box around a body are inside, shape (z, y, x); None for a film."""
    return None if section.body is None else section.body.inside(section.required()[1])


def check(system: System, section: Section, options: Propagate) -> None:
    """Raises InvalidArgument for what multiscale() cannot do."""
    if not system.periodic:
        raise InvalidArgument("[multiscale] light crosses a crystal; these atoms are isolated.")
    if options.scheme == "etrs":
        raise InvalidArgument(
            '[propagate] scheme = "etrs": expected "midpoint" or "taylor4" for [multiscale], whose cells share a model.'
        )
    if options.response != "transverse" or options.kick or options.travels is not None:
        raise InvalidArgument(
            "[multiscale] takes the light of pulses, which answers by itself; leave [propagate] kick, response and"
            " travels out."
        )
    unused = [n for n in ("excited_every", "profile_every", "spin_kick") if getattr(options, n)]
    if unused:
        raise InvalidArgument(f"[propagate] {', '.join(unused)}: not for [multiscale]; leave it out.")
    if options.gauge == "length":
        raise InvalidArgument('[propagate] gauge = "length" was given; expected "velocity" for [multiscale].')
    if not options.pulses and options.field_table is None:
        raise InvalidArgument("[multiscale] there is no light; give [propagate] pulses or a field_table.")
    check_light(system, options)
    if system.reduction is not None and (section.body is not None or (section.angle and section.polarisation == "p")):
        raise InvalidArgument(
            "[kpoints] symmetry: light around a body, or in the plane of incidence, also has fields across its "
            "polarisation, which break symmetries; set symmetry = false, for the ground state, too."
        )
    if section.step is not None:
        _refuse_light(options, section, section.step)


def multiscale(
    ground: GroundState,
    *,
    step: Any,
    cells: int | None = None,
    layers: Sequence[tuple[Any, int]] | None = None,
    body: Mapping[str, Any] | None = None,
    axis: str = "x",
    angle: Any = 0.0,
    polarisation: str = "s",
    index_behind: float = 1.0,
    comm: Any = None,
    reporter: Reporter | None = None,
    callback: Callable[[int, np.ndarray, np.ndarray], bool | None] | None = None,
    **options: Any,
) -> Multiscale:
    """Propagates light through a film of a crystal, or around a body.

    cells: of the film, along the way of the light; step: of the field's grid, the thickness of a cell [bohr]
    layers: instead of cells, pairs of what fills them and their number, in the order in which light meets them: a
        ground state, or a medium of `halocline.maxwell` or its name
    body: instead of cells, keys of a body in two or three dimensions, in empty space: shape ("cuboid", "cylinder",
        "sphere"), size (three lengths, "open" along axes on which nothing changes), radius, axis
    axis: of the crystal, along which the light travels, or which is the normal of the film
    angle: of incidence in empty space; polarisation: at an angle, "s" across the plane of incidence, or "p" in it.
        The direction of the pulses is that of E along the film. The current of the crystal must lie in the same plane
    index_behind: refractive index of a medium that fills the space behind the film
    comm: all processes of the run; each group of them that holds the ground states does its part of the cells, by the
        measured cost of a step of each crystal. Those of the ground state when absent
    options: keys of [propagate]: pulses (the incident light in empty space), total_time or steps, time_step, scheme
        ("midpoint" or "taylor4")
    callback: gets the step, the vector potentials and the currents, shape (cells, 3); returning False, on all
        processes, ends the run
    Raises NotConverged, and InvalidArgument for isolated atoms, light along its own direction, a step of the field's
    grid that light crosses in a time step, fewer than ten of them a wavelength, layers without electrons. Collective
    over comm.

    Cost: a step of the ground state's propagation for each cell of this group, and a sum of 3 numbers a cell over all
    processes, under way while the last cell solves its potential. Memory: the orbitals of each cell of this group.
    """
    reporter = reporter or Reporter()
    if sum(given is not None for given in (cells, layers, body)) != 1:
        raise InvalidArgument("multiscale: give one of cells, layers and body.")
    keys = {
        "angle": angle,
        "polarisation": polarisation,
        "step": step,
        "axis": axis,
        "index_behind": index_behind,
    }
    if body is not None and not isinstance(body, Mapping):
        raise InvalidArgument(
            f"multiscale: body = {body!r}: expected keys, such as dict(shape='sphere', radius='5 nm')."
        )
    of_layers = [_layer_of(layer) for layer in layers or ()]
    keys |= {"body": dict(body)} if body is not None else {"cells": cells or sum(n for _, n in of_layers)}
    given = {"kick": 0.0, "gauge": "velocity"} | options
    if "steps" in given:
        given.setdefault("total_time", None)
    chosen: Propagate = changed(ground.system.run.propagate, given)
    world = ground.model.communicator if comm is None else communicator(comm)
    section = changed(Section(), keys)
    fillings = []
    if body is not None:
        cells = section.required()[0][0].cells
    for filling, count in of_layers or [(ground, int(cells or 0))]:
        of = Filling(filling, None) if isinstance(filling, GroundState) else Filling(None, medium(filling))
        fillings += [of] * count
    run = Cells(fillings, section.required()[1], section, chosen, world)
    with reporter.stage("propagating", run.total) as advance:
        for done in range(1, run.total + 1):
            run.advance()
            advance(done, f"step {done} of {run.total}")
            if callback is not None and callback(done, run.potentials, run.now) is False:
                break
            if world.any(reporter.stop_requested()):
                raise Interrupted(f"stopped after {done} steps.")
    if (advice := run.found.advice()) is not None:
        reporter.warning(advice)
    return run.found


def _photon_energy_of(times: np.ndarray, fields: np.ndarray) -> float:
    """Of the light of a table: the root of the mean square of its frequencies [hartree]."""
    slopes = np.diff(fields, axis=0) / np.diff(times)[:, None]
    middle = 0.5 * (fields[1:] + fields[:-1])
    weights = np.diff(times)[:, None]
    return math.sqrt(float(np.sum(weights * slopes**2)) / max(float(np.sum(weights * middle**2)), 1e-300))


def _refuse_light(options: Propagate, section: Section, step: float) -> None:
    """Raises InvalidArgument for light that does not travel along an axis, for a step that does not resolve it, and
    for oblique light with more than one polarisation."""
    along = AXES.index(section.axis)
    light = field_of(options, "velocity", (0.0, 0.0, 0.0))
    times, table = np.asarray(light["table_times"]), np.reshape(light["table_fields"], (-1, 3))
    largest = np.abs(table).max(initial=0.0)
    if np.abs(table[:, along]).max(initial=0.0) > 1e-9 * largest:
        raise InvalidArgument(
            f"[multiscale] light along {AXES[along]} was given with a field_table that has a field along its way; give "
            "it other columns, or another axis."
        )
    frequencies = [pulse.frequency for pulse in options.pulses]
    if largest > 0:
        frequencies.append(_photon_energy_of(times, table))
    if section.angle:
        vectors = [np.abs(unit_vector(pulse.direction)) for pulse in options.pulses]
        if largest > 0:
            strongest = table[np.argmax(np.linalg.norm(table, axis=1))]
            vectors.append(np.abs(strongest) / np.linalg.norm(strongest))
            if np.linalg.norm(np.cross(table, strongest), axis=1).max() > 1e-9 * float(strongest @ strongest):
                vectors.append(np.zeros(3))  # of no single direction
        if any(p.ellipticity for p in options.pulses) or any(np.abs(v - vectors[0]).max() > 1e-12 for v in vectors):
            raise InvalidArgument(
                "[multiscale] angle: oblique light has one polarisation; give all pulses, and the field_table, the "
                "same direction and no ellipticity."
            )
        if section.polarisation == "p" and np.count_nonzero(vectors[0] > 1e-12) > 1:
            raise InvalidArgument(
                '[multiscale] polarisation = "p": the plane of incidence holds two axes of the crystal; give pulses '
                "the direction of an axis along the film."
            )
    for pulse in options.pulses:
        if abs(unit_vector(pulse.direction)[along]) > 1e-12 or (
            pulse.ellipticity and unit_vector(pulse.around)[along] < 1 - 1e-12
        ):
            raise InvalidArgument(
                f"[multiscale] light along {AXES[along]} was given with a polarisation that is not at right angles to "
                f"it, or that turns around another way; give the pulse another direction, around = "
                f'"{AXES[along]}" if it is elliptic, or another axis.'
            )
    for frequency in frequencies:
        wavelength = 2 * math.pi * SPEED_OF_LIGHT / frequency
        if wavelength < 10 * step:
            raise InvalidArgument(
                f"[multiscale] there are {wavelength / step:.3g} steps of {step:g} bohr in the wavelength of "
                f"{wavelength:.4g} bohr; at least ten are needed in empty space, and more in a crystal."
            )
        if wavelength < 10 * step * section.index_behind:
            raise InvalidArgument(
                f"[multiscale] there are {wavelength / section.index_behind / step:.3g} steps of {step:g} bohr in the "
                f"wavelength behind the film, where the index is {section.index_behind:g}; at least ten are needed."
            )


def _in_bohr(m: Medium, less: float) -> Any:
    """A medium with its frequencies in 1/bohr (c = 1), and less of a permittivity."""
    unit = HARTREE_EV * SPEED_OF_LIGHT
    poles = [_halocline.maxwell.Pole(p.resonance / unit, p.damping / unit, p.strength / unit**2) for p in m.poles]
    return _halocline.maxwell.Medium(m.permittivity - less, m.conductivity / unit, poles)


def _refuse_media(fillings: list[Filling], step: float, options: Propagate) -> None:
    """Raises InvalidArgument for media in which the light has too few steps a wavelength."""
    for m in {f.medium for f in fillings if f.medium is not None}:
        for pulse in options.pulses:
            index = abs(complex(m.index(pulse.frequency * HARTREE_EV)).real)
            wavelength = 2 * math.pi * SPEED_OF_LIGHT / pulse.frequency / max(index, 1e-6)
            if wavelength < 10 * step:
                raise InvalidArgument(
                    f"[multiscale] there are {wavelength / step:.3g} steps of {step:g} bohr in the wavelength of "
                    f"{wavelength:.4g} bohr in {m.name or 'a medium'} of index {index:.3g}; at least ten are needed."
                )


def _refuse_crossing(step: float, time_step: float, angle: float) -> None:
    """Raises InvalidArgument if light crosses a cell in a time step."""
    if SPEED_OF_LIGHT * time_step >= step * math.cos(angle):
        crossing = step / SPEED_OF_LIGHT * math.cos(angle)
        raise InvalidArgument(
            f"[multiscale] light crosses a cell of {step:.4g} bohr in {crossing:.3g} a.u., less than "
            f"the time step of {time_step:.4g} a.u.; take thicker cells or a shorter time_step."
        )


def _behind(section: Section) -> float:
    """Permittivity of the medium behind the film. Raises InvalidArgument if no light gets into it."""
    if section.index_behind <= math.sin(section.angle):
        raise InvalidArgument(
            f"[multiscale] index_behind = {section.index_behind:g} reflects all light of this angle of incidence; "
            "give a larger index or a smaller angle."
        )
    return section.index_behind**2


def _tilted(
    field: dict[str, Any],
    fillings: list[Filling],
    step: float,
    along: int,
    section: Section,
    time_step: float,
    total: int,
) -> TiltedLight:
    """Light at an angle, polarised in the plane of incidence."""
    _refuse_crossing(step, time_step, section.angle)
    least = min([_behind(section), *(f.medium.permittivity for f in fillings if f.medium is not None)])
    slow = least - math.sin(section.angle) ** 2
    if slow <= 0 or SPEED_OF_LIGHT * time_step >= step * math.sqrt(slow):
        raise InvalidArgument(
            f"[multiscale] a permittivity of {least:.4g} was given to light at {math.degrees(section.angle):.4g} "
            f"degrees, polarised in the plane of incidence; expected one above {math.sin(section.angle) ** 2:.4g}, and "
            f"a time_step shorter than light takes for a cell there, now {time_step:.4g} a.u."
        )
    for m in {f.medium for f in fillings if f.medium is not None}:
        if m.conductivity:
            raise InvalidArgument(
                f"[multiscale] {m.name or 'a medium'} has a conductivity; light polarised in the plane of incidence "
                "takes media of permittivity and poles. A pole without resonance conducts, too."
            )
        # Poles swing with their resonance and, across the film, with their plasma frequency.
        plasma = math.sqrt(max(0.0, sum(p.strength for p in m.poles)) / m.permittivity) / HARTREE_EV
        fastest = max([plasma, *(p.resonance / HARTREE_EV for p in m.poles)])
        if fastest * time_step > 1:
            raise InvalidArgument(
                f"[multiscale] {m.name or 'a medium'} swings at up to {fastest * HARTREE_EV:.4g} eV, whose period is "
                f"too short for the time step of {time_step:.4g} a.u.; take a step below {1 / fastest:.3g} a.u."
            )
    values = np.asarray(native.field_of(field, [n * time_step for n in range(total + 1)]))[:, 0]
    (direction,) = {tuple(np.eye(3)[i]) for i in np.flatnonzero(np.abs(values).max(axis=0))} or {(0.0, 0.0, 0.0)}
    tangent, normal = np.array(direction), np.eye(3)[along]
    return TiltedLight(
        [f.medium for f in fillings],
        _behind(section),
        step,
        time_step,
        section.angle,
        tangent,
        normal,
        values @ tangent,
    )


class FilmLight:
    """Maxwell's equations on a line, on this process alone. Component g of the line is component (along + g) mod 3 of
    the crystal. E of the line at its step n + 1 is that of the time (n + 1/2) dt."""

    def __init__(
        self,
        field: dict[str, Any],
        fillings: list[Filling],
        step: float,
        along: int,
        section: Section,
        time_step: float,
        total: int,
    ) -> None:
        maxwell = _halocline.maxwell
        cells = len(fillings)
        self._turn = [(along + g) % 3 for g in range(3)]
        front, after = 2, 2
        start = LAYER + MARGIN
        first = start + front
        last = first + cells + after + MARGIN
        size = last + LAYER
        courant = SPEED_OF_LIGHT * time_step / step
        # All fields depend on the place along the plane and time through t - x sin(angle) / c. What is left of the wave
        # equation along the line is that of permittivities less sin^2(angle).
        square = math.sin(section.angle) ** 2
        _refuse_crossing(step, time_step, section.angle)
        ends = [["absorbing", "absorbing"], ["periodic", "periodic"], ["periodic", "periodic"]]
        grid = maxwell.Grid([size, 1, 1], [step] * 3, ends, [0.0] * 3, LAYER, courant)
        matter = maxwell.Matter(maxwell.Medium(1.0 - square, 0.0, []))
        behind = _behind(section) - square
        if section.index_behind != 1:
            # The film's last cell ends half a step behind its node.
            shape = maxwell.cuboid([(first + cells - 0.5) * step, -1e300, -1e300], [1e300] * 3)
            matter.add(shape, maxwell.Medium(behind, 0.0, []))
        for cell, filling in enumerate(fillings):
            if filling.medium is not None:
                lower = [(first + cell - 0.5) * step, -1e300, -1e300]
                upper = [(first + cell + 0.5) * step, 1e300, 1e300]
                matter.add(maxwell.cuboid(lower, upper), _in_bohr(filling.medium, square))

        self._film = maxwell.SimulationDouble(grid, matter, Communicator.self(), [], 1, "auto", True)
        # Times of the source's node; a delay of half a step does not matter.
        values = np.asarray(native.field_of(field, [n * time_step for n in range(total + 1)]))[:, 0]
        self._waves: list[tuple[int, int]] = []
        for g in (1, 2):
            wave = values[:, self._turn[g]]
            if not np.any(wave):
                continue
            vector = [float(a == g) for a in range(3)]
            shape = maxwell.Waveform.sampled(wave.tolist(), grid.time_step)
            number = self._film.add_plane_wave(0, 1, vector, [start, 0, 0], [size, 0, 0], shape, [])
            self._waves.append((self._turn[g], number))
        self._film.add_cells([first, 0, 0], [first + cells, 1, 1])
        # Scattered light in front of the wave's box, and total light behind the film.
        self._first = first
        self._probes = [
            [self._film.add_probe(c, [place, 0, 0]) for c in range(3)] for place in (start - 2, first + cells + 1)
        ]

    def advance(self, currents: np.ndarray) -> np.ndarray:
        """Takes J of the cells at the beginning of a step; returns E half a step later, shape (cells, 3)."""
        turned = np.ascontiguousarray(currents[:, self._turn])
        # J counts particles of charge -1.
        self._film.set_currents(-4 * math.pi / SPEED_OF_LIGHT * turned)
        self._film.run(1)
        fields = np.empty_like(turned)
        fields[:, self._turn] = self._film.cell_fields(False)
        return fields

    def at_ends(self) -> tuple[np.ndarray, ...]:
        """E incident, reflected and transmitted after the last step."""
        incident, reflected, transmitted = np.zeros((3, 3))
        for component, wave in self._waves:
            incident[component] = self._film.incident_field(wave, self._first)
        for row, numbers in zip((reflected, transmitted), self._probes, strict=True):
            row[self._turn] = [self._film.probe_now(number) for number in numbers]
        return incident, reflected, transmitted
