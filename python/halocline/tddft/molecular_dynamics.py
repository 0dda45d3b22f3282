# SPDX-License-Identifier: Apache-2.0
"""Molecular dynamics on the ground state's energy surface (Born-Oppenheimer): `dynamics(system, ...)`.

    nve          velocity Verlet
    langevin     the splitting BAOAB (Leimkuhler and Matthews, Appl. Math. Res. Express 2013, 34)
    nose-hoover  a chain of three thermostats (Martyna, Klein and Tuckerman, J. Chem. Phys. 97, 2635, 1992), integrated
                 symmetrically in time (Martyna, Tuckerman, Tobias and Klein, Mol. Phys. 87, 1117, 1996)

Each has a conserved energy: the total energy; with a thermostat, plus what the thermostat has taken out. Its drift
measures the step and the convergence of the ground states.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from halocline.errors import Interrupted, InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import changed
from halocline.tddft.ground import GroundState
from halocline.tddft.motion import (
    GroundStates,
    degrees_of_freedom,
    first_velocities,
    frames,
    kinetic_energy,
    masses_of,
    motion_of_the_whole,
    required,
    temperature_kelvin,
)
from halocline.tddft.runfile_motion import Dynamics, Ions
from halocline.tddft.system import System

CHAIN = 3
"""Thermostats of the Nose-Hoover chain."""

ARRAYS = ("positions", "velocities", "forces")
NUMBERS = ("time", "potential", "kinetic", "conserved", "temperature", "iterations")
BATH = ("bath_taken", "bath_places", "bath_speeds")


@dataclasses.dataclass
class Bath:
    """The state of a thermostat."""

    taken: float = 0.0
    """Energy that the Langevin forces took out [hartree]."""
    places: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(CHAIN))
    speeds: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(CHAIN))
    """Of the Nose-Hoover chain."""


class Trajectory:
    """What molecular dynamics gave; row 0 is the start. Arrays are in atomic units.

    time, potential, kinetic, conserved, temperature [K], iterations: shape (n,); positions, velocities, forces: shape
    (n, atoms, 3), positions in the frame of the grid and not wrapped into a cell
    """

    def __init__(self, system: System, options: Dynamics) -> None:
        self.system, self.options = system, options
        self.records: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> np.ndarray:
        if name in ARRAYS or name in NUMBERS:
            return np.array([r[name] for r in self.records])
        raise AttributeError(name)

    def cut(self, steps: int) -> None:
        """Discards everything after a step."""
        self.records = self.records[: steps + 1]

    def frames(self) -> list[Any]:
        """ASE's atoms at every time, with energy, forces and velocities."""
        return frames(
            self.system, self.positions, velocities=self.velocities, forces=self.forces, energy=self.potential,
            time=self.time,
        )  # fmt: skip

    def data(self) -> dict[str, Any]:
        """The trajectory in the form for results.write."""
        units = {"bath_taken": "hartree", "bath_places": "1", "bath_speeds": "hartree/hbar"}
        bath = {name: (np.array([r[name] for r in self.records]), units[name]) for name in BATH}
        return {name: getattr(self, name) for name in (*NUMBERS, *ARRAYS)} | bath

    def restore(self, data: Mapping[str, Any]) -> None:
        """The inverse of data()."""
        for n in range(len(data["time"])):
            record: dict[str, Any] = {name: float(data[name][n]) for name in NUMBERS}
            self.records.append(record | {name: np.array(data[name][n]) for name in (*ARRAYS, *BATH)})


class Integrator:
    """Positions and velocities of the atoms, from step to step. Methods are collective."""

    def __init__(self, states: GroundStates, ions: Ions, options: Dynamics) -> None:
        """Raises InvalidArgument."""
        self.states, self.ions, self.options = states, ions, options
        self.masses = masses_of(states.system, ions)
        self.moving = np.isfinite(self.masses)
        if not self.moving.any():
            raise InvalidArgument("[ions] all atoms are fixed; nothing can move.")
        self.velocities = first_velocities(states.system, ions)
        self.positions = states.system.structure.positions.copy()
        self.forces = np.zeros_like(self.positions)
        self.bath = Bath()
        self.step = 0
        self.ground: GroundState | None = None

    def start(self) -> dict[str, Any]:
        """The ground state of the first geometry. Raises NotConverged. Returns the record of step 0."""
        self._forces()
        return self.record()

    def advance(self) -> dict[str, Any]:
        """One step. Raises NotConverged, and InvalidArgument if atoms left the box or came too close."""
        dt, ensemble = self.options.time_step, self.options.ensemble
        if ensemble == "nose-hoover":
            self._chain(0.5 * dt)
        self._push(0.5 * dt)
        if ensemble == "langevin":
            self._drift(0.5 * dt)
            self._kick_at_random(dt)
            self._drift(0.5 * dt)
        else:
            self._drift(dt)
        self._forces()
        self._push(0.5 * dt)
        if ensemble == "nose-hoover":
            self._chain(0.5 * dt)
        self.step += 1
        return self.record()

    def _forces(self) -> None:
        ground = required(self.states.at(self.positions), f"step {self.step}")
        self.ground, self.forces = ground, ground.forces
        self.positions = ground.system.structure.positions.copy()

    def _push(self, time: float) -> None:
        self.velocities[self.moving] += time * self.forces[self.moving] / self.masses[self.moving, None]

    def _drift(self, time: float) -> None:
        self.positions = self.positions + time * self.velocities

    def _kick_at_random(self, time: float) -> None:
        # A generator for each step, so that a continued run draws the same numbers.
        key = [self.ions.seed, self.step + 1]
        random = np.random.Generator(np.random.Philox(key=np.array(key, dtype=np.uint64)))
        kept = math.exp(-time / self.options.relaxation)
        before = kinetic_energy(self.masses, self.velocities)
        noise = random.standard_normal(self.velocities.shape)[self.moving]
        width = np.sqrt((1.0 - kept**2) * self.options.temperature / self.masses[self.moving, None])
        self.velocities[self.moving] = kept * self.velocities[self.moving] + width * noise
        self.bath.taken += before - kinetic_energy(self.masses, self.velocities)

    def _chain_masses(self) -> np.ndarray:
        """Of the thermostats: they swing with the period 2 pi relaxation."""
        masses = np.full(CHAIN, self.options.temperature * self.options.relaxation**2)
        masses[0] *= degrees_of_freedom(self.masses)
        return masses

    def _chain(self, time: float) -> None:
        """exp(i L time) of the thermostats, as the second paper splits it, with the fourth-order weights of Suzuki and
        Yoshida."""
        weight = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
        for part in (weight, 1.0 - 2.0 * weight, weight):
            self._chain_part(part * time)

    def _chain_part(self, time: float) -> None:
        bath, masses, target = self.bath, self._chain_masses(), self.options.temperature
        freedom = degrees_of_freedom(self.masses)
        whole = motion_of_the_whole(self.masses, self.velocities)

        def pull(k: int) -> float:
            if k == 0:
                kinetic = kinetic_energy(self.masses, self.velocities - whole)
                return (2.0 * kinetic - freedom * target) / masses[0]
            return (masses[k - 1] * bath.speeds[k - 1] ** 2 - target) / masses[k]

        def speed_up(k: int) -> None:
            damping = math.exp(-0.25 * time * bath.speeds[k + 1]) if k + 1 < CHAIN else 1.0
            bath.speeds[k] = (bath.speeds[k] * damping + 0.5 * time * pull(k)) * damping

        for k in reversed(range(CHAIN)):
            speed_up(k)
        # The motion of the whole is none of the degrees of freedom that have the temperature.
        self.velocities = whole + (self.velocities - whole) * math.exp(-time * bath.speeds[0])
        bath.places += time * bath.speeds
        for k in range(CHAIN):
            speed_up(k)

    def conserved(self, potential: float, kinetic: float) -> float:
        """The conserved energy of the ensemble [hartree]."""
        energy, bath = potential + kinetic, self.bath
        if self.options.ensemble == "langevin":
            return energy + bath.taken
        if self.options.ensemble == "nose-hoover":
            target = self.options.temperature
            places = degrees_of_freedom(self.masses) * bath.places[0] + bath.places[1:].sum()
            return energy + 0.5 * float(self._chain_masses() @ bath.speeds**2) + target * float(places)
        return energy

    def record(self) -> dict[str, Any]:
        """The present step."""
        potential, kinetic = self.ground.energy["total"], kinetic_energy(self.masses, self.velocities)
        return {
            "time": self.step * self.options.time_step,
            "potential": potential,
            "kinetic": kinetic,
            "conserved": self.conserved(potential, kinetic),
            "temperature": temperature_kelvin(self.masses, self.velocities),
            "iterations": len(self.ground.history),
            "positions": self.positions.copy(),
            "velocities": self.velocities.copy(),
            "forces": self.forces.copy(),
            "bath_taken": self.bath.taken,
            "bath_places": self.bath.places.copy(),
            "bath_speeds": self.bath.speeds.copy(),
        }

    def resume(self, step: int, record: Mapping[str, Any]) -> None:
        """Continues after a step. The ground states must have been restored."""
        self.step = step
        self.bath = Bath(float(record["bath_taken"]), np.array(record["bath_places"]), np.array(record["bath_speeds"]))
        self.positions, self.velocities = record["positions"].copy(), record["velocities"].copy()
        self.forces, self.ground = record["forces"].copy(), self.states.last


def steps_of(options: Dynamics) -> int:
    """The number of steps. Raises InvalidArgument if the options do not determine it."""
    if options.steps is not None:
        return options.steps
    if options.total_time is None:
        raise InvalidArgument("[dynamics] needs 'total_time' or 'steps'.")
    return max(1, math.ceil(options.total_time / options.time_step - 1e-9))


def dynamics(
    system: System,
    *,
    comm: Any = None,
    reporter: Reporter | None = None,
    callback: Callable[[dict[str, Any]], bool | None] | None = None,
    ions: Mapping[str, Any] | None = None,
    scf: Mapping[str, Any] | None = None,
    **options: Any,
) -> Trajectory:
    """Molecular dynamics with the electrons in their ground state at every step.

    ions: keys of [ions]: temperature, velocities, masses, fixed, seed. scf: keys of [scf]
    options: keys of [dynamics]: time_step, total_time or steps, ensemble, temperature, relaxation
    callback: gets every record, a dictionary; returning False ends the run
    Plain numbers are in atomic units, masses in u. Raises NotConverged, InvalidArgument for impossible options and for
    atoms that leave an isolated box, Interrupted if the reporter asks to stop. Collective.

        path = hc.tddft.dynamics(system, ions={"temperature": "300 K"}, time_step="0.5 fs", total_time="50 fs")
    """
    chosen_ions = changed(system.run.ions, ions or {})
    if "steps" in options:
        options.setdefault("total_time", None)
    elif "total_time" in options:
        options["steps"] = None
    chosen = changed(system.run.dynamics, options)
    total = steps_of(chosen)
    states = GroundStates(system, comm=comm, **{**(scf or {}), "forces": True})
    integrator = Integrator(states, chosen_ions, chosen)
    reporter = reporter or Reporter()
    path = Trajectory(system, chosen)
    path.records.append(integrator.start())
    group = states.model.communicator
    with reporter.stage("dynamics", total) as advance:
        for done in range(1, total + 1):
            path.records.append(integrator.advance())
            advance(done, "")
            if callback is not None and callback(path.records[-1]) is False:
                break
            if group.any(reporter.stop_requested()):
                raise Interrupted(f"stopped after {done} steps.")
    return path
