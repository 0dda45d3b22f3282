# SPDX-License-Identifier: Apache-2.0
"""Propagation in time: `propagate(ground, ...)` makes a `Series` of the observables after each step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import FileError, Interrupted, InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import changed
from halocline.tddft import results
from halocline.tddft.absorber import Layer, check_absorber, layer_of
from halocline.tddft.ground import GroundState
from halocline.tddft.induced import (
    FilmBalance,
    advice_on_film,
    balance_on_film,
    check_response,
    driving,
    response_of,
)
from halocline.tddft.motion import frames, ion_options
from halocline.tddft.populations import ElectronCount, changes_of_bands
from halocline.tddft.runfile_light import Propagate, unit_vector
from halocline.tddft.runfile_motion import Ions
from halocline.tddft.system import System
from halocline.tddft.travelling import (
    TravellingLight,
    add_profile,
    advice_on_box,
    check_travelling,
    restore_light,
    way_of,
)
from halocline.tddft.units import ATOMIC_TIME_FS

native = _halocline.tddft

VECTORS = ("vector_potential", "electric_field", "current", "dipole")


class Series:
    """The observables of a propagation; grows during the run. Arrays are in atomic units, row 0 is t = 0 (after the
    kick).

    step, time, norm: shape (n,); vector_potential, electric_field, current, dipole: shape (n, 3)
    energy: part -> shape (m,), at the times energy_time
    excited: electrons outside the ground state, shape (m,), and populations, shape (m, channels, states), at the times
    excited_time. angular_momentum: shape (n, 3), if asked for.
    current is the mean particle current density of the electrons. dipole is that of ions and electrons [e bohr], for
    isolated systems only. norm is the number of electrons.
    positions, velocities, forces: shape (m, atoms, 3), and ion_kinetic: shape (m,), at the times ion_time, if the atoms
    move. The kinetic energy of the atoms is not part of energy["total"]; the sum of both is conserved without light.
    Of light that depends on the place (travels), light: a TravellingLight; vector_potential and electric_field are
    means over the cell, the latter half a step earlier.
    If the light answers the current, induced_potential and driving_current: shape (n, 3), and field_energy: shape (n,);
    vector_potential and electric_field contain the induced field.
    """

    def __init__(
        self,
        system: System,
        options: Propagate,
        gauge: str,
        kick: tuple[float, float, float],
        gap: float | None = None,
        ions: Ions | None = None,
        occupations: np.ndarray | None = None,
    ) -> None:
        """gap: of the ground state [hartree], 0 for a metal, None if unknown. ions: if the atoms move. occupations: of
        the ground state, shape (channels, states), for populations."""
        self.system, self.options, self.gauge, self.kick, self.gap = system, options, gauge, kick, gap
        self.occupations = occupations
        self.ions = ions if ions is not None and ions.move else None
        self.time_step = 0.0
        self.records: list[dict[str, Any]] = []

    def add(self, record: dict[str, Any]) -> None:
        """Appends a record of the propagator. Of moving atoms it keeps those of whole ion steps, and the latest."""
        if self.ions is not None and "ions" in record:
            record["ion_dipole"] = self._ion_dipole(record["step"], record["ions"])
            if self.records and self.records[-1]["step"] % self.ions.every != 0:
                self.records[-1].pop("ions", None)
        self.records.append(record)

    def _ion_dipole(self, step: int, ions: dict[str, Any]) -> list[float]:
        """Of the ions at the time of a step [e bohr]. Within an ion step they are given in the middle of their way."""
        every, positions = self.ions.every, np.array(ions["positions"])
        if inside := step % every:
            positions = positions + (inside / every - 0.5) * every * self.time_step * np.array(ions["velocities"])
        return self.system.dipole_of_ions(positions).tolist()

    def _of_ions(self, name: str) -> np.ndarray:
        every = 1 if self.ions is None else self.ions.every
        return np.array([r["ions"][name] for r in self.records if "ions" in r and r["step"] % every == 0])

    @property
    def ion_time(self) -> np.ndarray:
        """[a.u.]"""
        every = 1 if self.ions is None else self.ions.every
        return np.array([r["time"] for r in self.records if "ions" in r and r["step"] % every == 0])

    @property
    def positions(self) -> np.ndarray:
        """Shape (m, atoms, 3) [bohr], in the frame of the grid, not wrapped into a cell; at ion_time."""
        return self._of_ions("positions")

    @property
    def velocities(self) -> np.ndarray:
        """Shape (m, atoms, 3) [bohr hartree / hbar]; at ion_time."""
        return self._of_ions("velocities")

    @property
    def forces(self) -> np.ndarray:
        """Shape (m, atoms, 3) [hartree/bohr], without that of the light; at ion_time."""
        return self._of_ions("forces")

    @property
    def ion_kinetic(self) -> np.ndarray:
        """Shape (m,): kinetic energy of the atoms [hartree]; at ion_time."""
        return self._of_ions("kinetic")

    def cut(self, steps: int) -> None:
        """Discards everything after a step."""
        self.records = [r for r in self.records if r["step"] <= steps]

    def _column(self, name: str) -> np.ndarray:
        return np.array([r[name] for r in self.records], dtype=float)

    @property
    def step(self) -> np.ndarray:
        """Step numbers, from 0."""
        return np.array([r["step"] for r in self.records], dtype=np.int64)

    @property
    def time(self) -> np.ndarray:
        """[a.u.]"""
        return self._column("time")

    @property
    def norm(self) -> np.ndarray:
        """Number of electrons."""
        return self._column("norm")

    @property
    def current(self) -> np.ndarray:
        """Shape (n, 3): particle current density of the electrons, mean over the cell [a.u.]."""
        return self._column("current").reshape(-1, 3)

    @property
    def dipole(self) -> np.ndarray:
        """Shape (n, 3): dipole of ions and electrons [e bohr]; isolated systems only."""
        electrons = self._column("dipole").reshape(-1, 3)
        if self.system.periodic:
            return electrons
        of_ions = self.system.ion_dipole if self.ions is None else self._column("ion_dipole").reshape(-1, 3)
        return of_ions - electrons

    @property
    def moment(self) -> np.ndarray:
        """Shape (n,): electrons up minus electrons down; zero without spin."""
        return self._column("moment")

    @property
    def spin_dipole(self) -> np.ndarray:
        """Shape (n, 3): integral of (n_up - n_down) r [bohr]; zero without spin, isolated systems only."""
        return self._column("spin_dipole").reshape(-1, 3)

    @property
    def spin_current(self) -> np.ndarray:
        """Shape (n, 3): current of spin up minus that of spin down, as `current` [a.u.]; zero without spin."""
        return self._column("spin_current").reshape(-1, 3)

    @property
    def vector_potential(self) -> np.ndarray:
        """Shape (n, 3) [a.u.]; zero in the length gauge."""
        return self._column("vector_potential").reshape(-1, 3)

    @property
    def electric_field(self) -> np.ndarray:
        """Shape (n, 3) [a.u.], without the kick."""
        return self._column("electric_field").reshape(-1, 3)

    @property
    def induced_potential(self) -> np.ndarray:
        """Shape (n, 3): the part of the vector potential that the current makes [a.u.]; if the light answers it."""
        return np.array([r["induced"]["potential"] for r in self.records], dtype=float).reshape(-1, 3)

    @property
    def driving_current(self) -> np.ndarray:
        """Shape (n, 3): particle current density less that of the ions' charges [a.u.]; if the light answers it."""
        return np.array([r["induced"]["current"] for r in self.records], dtype=float).reshape(-1, 3)

    @property
    def field_energy(self) -> np.ndarray:
        """Shape (n,): energy of a longitudinal induced field in the cell [hartree], which is not part of `energy`."""
        return self._column("field_energy")

    @property
    def applied_field(self) -> np.ndarray:
        """Shape (n, 3): E of pulses and table alone [a.u.]."""
        field = field_of(self.options, self.gauge, self.kick)
        return native.field_of(field, [float(t) for t in self.time])[:, 0]

    @property
    def light(self) -> TravellingLight | None:
        """Of light that depends on the place; None for light that is the same everywhere."""
        return None if self.options.travels is None else TravellingLight.of_records(self.records)

    def film_balance(self) -> FilmBalance | None:
        """Reflected, transmitted and absorbed parts of the light on a film; None without a film or without a pulse."""
        if self.options.travels is not None and self.system.periodic:
            energy = self.energy["total"]
            axis, _ = way_of(self.options)
            area = self.system.native.volume / float(self.system.structure.edges[axis])
            if energy.size < 2:
                return self.light.balance(area, None, math.inf)
            return self.light.balance(area, float(energy[-1] - energy[0]), float(self.energy_time[-1]))
        if self.options.film is None:
            return None
        return balance_on_film(self.options, self.time, self.applied_field, self.electric_field, self.driving_current)

    @property
    def energy(self) -> dict[str, np.ndarray]:
        """Part -> shape (m,) [hartree], at energy_time."""
        with_energy = [r["energy"] for r in self.records if "energy" in r]
        return {part: np.array([e[part] for e in with_energy]) for part in results.PARTS}

    @property
    def energy_time(self) -> np.ndarray:
        """[a.u.]"""
        return np.array([r["time"] for r in self.records if "energy" in r])

    @property
    def ionised(self) -> np.ndarray:
        """Shape (n,): electrons that the absorber has taken; zero up to rounding without one."""
        return self.norm[0] - self.norm if len(self.records) else self.norm

    @property
    def angular_momentum(self) -> np.ndarray:
        """Shape (n, 3): of the electrons about the middle of the box [hbar]; zero if it was not asked for."""
        return self._column("angular_momentum").reshape(-1, 3)

    @property
    def excited(self) -> np.ndarray:
        """Electrons missing from the states that the ground state filled, at excited_time. In a crystal these are the
        states at k + A(t). Electrons that an absorber took are missing, too."""
        return np.array([r["excited"] for r in self.records if "excited" in r])

    @property
    def excited_time(self) -> np.ndarray:
        """[a.u.]"""
        return np.array([r["time"] for r in self.records if "excited" in r])

    @property
    def populations(self) -> np.ndarray:
        """Shape (m, channels, states): electrons in the lowest states of each channel, without the k-point's weight, at
        excited_time; if [propagate] populations asked for them."""
        return np.array([r["populations"] for r in self.records if "populations" in r])

    @property
    def band_changes(self) -> np.ndarray:
        """Shape (m, spins, states): electrons that each band has won (positive) or lost (negative: holes) since the
        ground state, summed over k; at excited_time."""
        return changes_of_bands(self.system, self.occupations, self.populations)

    def atoms_at(self, step: int) -> tuple[list, list] | None:
        """Positions and velocities of the atoms after a step, to go on from; None if they rest. Raises FileError if
        they are not known."""
        if self.ions is None:
            return None
        found = [r["ions"] for r in self.records if r["step"] == step and "ions" in r]
        if not found:
            raise FileError(f"the series does not have the atoms of step {step}, where its orbitals are from.")
        return found[0]["positions"], found[0]["velocities"]

    def induced_at(self, step: int) -> tuple[list[float], ...] | None:
        """The induced field after a step, to go on from; None if the light does not answer. Raises FileError."""
        return driving(self.records, step)

    def frames(self) -> list[Any]:
        """ASE's atoms at ion_time, with velocities and forces; empty if they rest."""
        if self.ions is None:
            return []
        return frames(self.system, self.positions, velocities=self.velocities, forces=self.forces, time=self.ion_time)

    def data(self) -> dict[str, Any]:
        """The series in the form for results.write."""
        found: dict[str, Any] = {"step": self.step, "time": self.time, "norm": self.norm, "current": self.current}
        if not self.system.periodic:
            found["dipole"] = self.dipole
        if self.system.spins == 2:
            found |= {"moment": self.moment, "spin_current": self.spin_current}
            if not self.system.periodic:
                found["spin_dipole"] = self.spin_dipole
        found |= {"vector_potential": self.vector_potential, "electric_field": self.electric_field}
        if self.energy_time.size:
            found |= {f"energy/{part}": values for part, values in self.energy.items()}
            found["energy_time"] = (self.energy_time, results.UNITS["time"])
        if self.excited_time.size:
            found |= {"excited": self.excited, "excited_time": (self.excited_time, results.UNITS["time"])}
            if self.populations.size:
                found |= {"populations": self.populations, "band_changes": self.band_changes}
        if self.options.angular_momentum:
            found["angular_momentum"] = self.angular_momentum
        if self.options.response != "transverse":
            found |= {
                "induced/potential": (self.induced_potential, results.UNITS["vector_potential"]),
                "induced/current": (self.driving_current, "electrons hartree/(hbar bohr^2), without the ions' charges"),
                "induced/energy": self.field_energy,
                "applied_field": (self.applied_field, results.UNITS["electric_field"]),
            }
        if self.options.travels is not None:
            found |= self.light.data()
        if self.ions is not None:
            names = ("positions", "velocities", "forces")
            found |= {f"ions/{name}": getattr(self, name) for name in names}
            found |= {"ions/kinetic": self.ion_kinetic, "ions/time": self.ion_time}
            latest = self.records[-1]["ions"]
            found |= {f"ions/now/{name}": latest[name] for name in names}
            if not self.system.periodic:
                found["ions/dipole"] = self._column("ion_dipole").reshape(-1, 3)
        return found

    def restore(self, data: dict[str, Any]) -> None:
        """The inverse of data()."""
        at = {float(t): n for n, t in enumerate(data.get("energy_time", ()))}
        counted = {float(t): n for n, t in enumerate(data.get("excited_time", ()))}
        of_ions = data.get("ions/dipole", self.system.ion_dipole)
        electrons = np.zeros((len(data["time"]), 3)) if self.system.periodic else of_ions - data["dipole"]
        moved = {float(t): n for n, t in enumerate(data.get("ions/time", ()))}
        for n, time in enumerate(map(float, data["time"])):
            record = {"step": int(data["step"][n]), "time": time, "norm": float(data["norm"][n])}
            record |= {name: data[name][n].tolist() for name in ("current", "vector_potential", "electric_field")}
            record["dipole"] = electrons[n].tolist()
            record["moment"] = float(data["moment"][n]) if "moment" in data else 0.0
            for name in ("spin_dipole", "spin_current"):
                record[name] = data[name][n].tolist() if name in data else [0.0] * 3
            if time in at:
                record["energy"] = {part: float(data[f"energy/{part}"][at[time]]) for part in results.PARTS}
            none = [0.0] * 3
            record["angular_momentum"] = data["angular_momentum"][n].tolist() if "angular_momentum" in data else none
            if time in counted:
                record["excited"] = float(data["excited"][counted[time]])
                if "populations" in data:
                    record["populations"] = data["populations"][counted[time]].tolist()
            if "induced/potential" in data:
                record["induced"] = {name: data[f"induced/{name}"][n].tolist() for name in ("potential", "current")}
                record["field_energy"] = float(data["induced/energy"][n])
            if "ions/dipole" in data:
                record["ion_dipole"] = data["ions/dipole"][n].tolist()
            if time in moved:
                at_time = moved[time]
                record["ions"] = {"kinetic": float(data["ions/kinetic"][at_time])} | {
                    name: data[f"ions/{name}"][at_time].tolist() for name in ("positions", "velocities", "forces")
                }
            self.records.append(record)
        restore_light(self.records, data)
        if "ions/now/positions" in data and "ions" not in self.records[-1]:
            names = ("positions", "velocities", "forces")
            self.records[-1]["ions"] = {name: data[f"ions/now/{name}"].tolist() for name in names}


def gauge_of(system: System, options: Propagate) -> str:
    """The gauge, with "auto" resolved: length for an isolated system, velocity for a crystal."""
    if options.gauge != "auto":
        return options.gauge
    return "velocity" if system.periodic or options.travels is not None else "length"


def field_of(options: Propagate, gauge: str, kick: tuple[float, float, float]) -> dict[str, Any]:
    """The external field in the library's form. Raises FileError for an unreadable table."""
    times, fields = ([], []) if options.field_table is None else read_table(options.field_table)
    pulses = []
    for p in options.pulses:
        names = ("shape", "amplitude", "frequency", "duration", "phase", "chirp", "ellipticity")
        values = {name: getattr(p, name) for name in names}
        # Three durations from its centre the envelope of a Gaussian is 4e-6 of its peak.
        begin = 0.5 * p.duration if p.shape == "cos2" else 3.0 * p.duration
        values["centre"] = begin if p.centre is None else p.centre
        around = (0.0, 0.0, 0.0) if p.around is None else unit_vector(p.around)
        pulses.append(values | {"direction": unit_vector(p.direction), "around": around})
    light = {"gauge": gauge, "kick": list(kick), "spin_kick": options.spin_kick, "response": response_of(options)}
    light["way"] = way_of(options)
    return light | {"pulses": pulses, "table_times": times, "table_fields": fields}


def read_table(path: str) -> tuple[list[float], list[list[float]]]:
    """Columns t, Ex, Ey, Ez of a text file; lines starting with # are comments. Raises FileError."""
    if not Path(path).is_file():
        raise FileError(f"{path}: no such table of the field (paths are relative to the folder of the command).")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # for an empty file, which is refused below
            table = np.loadtxt(path, dtype=float, ndmin=2)
    except (ValueError, OSError) as error:
        raise FileError(f"{path}: not a table of numbers ({str(error).split(chr(10))[0]}).") from None
    if table.shape[1] != 4 or table.shape[0] < 2:
        raise FileError(f"{path}: has {table.shape[0]} rows of {table.shape[1]} columns; t, Ex, Ey, Ez were expected.")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        raise FileError(f"{path}: row {wrong[0] + 1} of the table holds NaN or an infinite number; correct it.")
    return table[:, 0].tolist(), table[:, 1:].tolist()


def library_options(options: Propagate, time_step: float | None) -> dict[str, Any]:
    """The arguments of the library's PropagateOptions; without a time step the library chooses."""
    names = ("scheme", "energy_every", "exponential_tolerance", "correction_tolerance", "angular_momentum", "precision")
    layer = layer_of(options.absorber) or Layer(0.0, 0.0)
    return {name: getattr(options, name) for name in names} | {
        "time_step": time_step or 0.0,
        "absorber_width": layer.width,
        "absorber_strength": layer.strength,
    }


def check_ions(options: Propagate, ions: Ions) -> None:
    """Raises InvalidArgument for options that do not go with moving atoms."""
    if not ions.move:
        return
    if options.excited_every:
        raise InvalidArgument(
            "[propagate] excited_every counts electrons outside the ground state of atoms at rest; leave it out where "
            "[ions] move = true."
        )
    for name in ("energy_every", "steps", "checkpoint_every"):
        if (value := getattr(options, name)) and value % ions.every:
            raise InvalidArgument(
                f"[propagate] {name} = {value} is no multiple of [ions] every = {ions.every}; within an ion step the "
                "atoms have no energy of their own."
            )


def steps_of(options: Propagate, time_step: float, ions: Ions | None = None) -> int:
    """The number of steps of the run, whole ion steps if the atoms move. Raises InvalidArgument if the options do not
    determine it."""
    if options.steps is not None:
        return options.steps
    if options.total_time is None:
        raise InvalidArgument("[propagate] needs 'total_time' or 'steps'.")
    steps = max(1, math.ceil(options.total_time / time_step - 1e-9))
    whole = ions.every if ions is not None and ions.move else 1
    return -(-steps // whole) * whole


def ions_of(system: System, given: Mapping[str, Any] | bool | None) -> Ions:
    """The [ions] of a call: those of the system's run file, with move and other keys as given."""
    if given is None:
        return system.run.ions
    if isinstance(given, bool):
        return changed(system.run.ions, {"move": given})
    return changed(system.run.ions, {"move": True} | dict(given))


def time_line(done: int, total: int, record: dict[str, Any], seconds_a_step: float) -> str:
    """A short text about the progress."""
    left = (total - done) * seconds_a_step
    return f"step {done} of {total}, {record['time'] * ATOMIC_TIME_FS:.4g} fs, {duration(left)} left"


def duration(seconds: float) -> str:
    """'2 h 05 min', '3 min 20 s', '14 s'."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def check_light(system: System, options: Propagate, ions_move: bool = False) -> None:
    """Raises InvalidArgument for light that the system cannot have: fields that break the symmetries by which k-points
    are reduced, what does not go with light that depends on the place, spin kicks without spin, absorbers that reach
    the atoms, angular momenta of crystals, orbitals in float with a meta-GGA."""
    check_absorber(system, options)
    check_response(system, options)
    check_travelling(system, options, ions_move)
    if options.angular_momentum and system.periodic:
        raise InvalidArgument(
            "[propagate] angular_momentum = true is for isolated atoms; in a crystal the position has no meaning."
        )
    if system.reduction is not None and system.reduction.time_reversal:
        raise InvalidArgument(
            "[kpoints] symmetry = true was given; a field breaks symmetries: say its direction instead, such as "
            'symmetry = "z", for the ground state, too, or take all k-points with symmetry = false.'
        )
    if options.precision == "float" and native.functional_kind(system.functional) in ("mgga", "potential"):
        raise InvalidArgument(
            f'[propagate] precision = "float" was given with the functional {system.functional}, whose kinetic energy '
            'density needs orbitals in double; leave precision = "double", or take another functional.'
        )
    if options.spin_kick and system.spins == 1:
        raise InvalidArgument("[propagate] spin_kick = true needs electrons with spin: set [system] spin = true.")


def propagate(
    ground: GroundState,
    *,
    reporter: Reporter | None = None,
    callback: Callable[[dict[str, Any]], bool | None] | None = None,
    watch: Callable[[dict[str, Any], Any, int], None] | None = None,
    fields: Callable[[dict[str, Any], np.ndarray, np.ndarray], None] | None = None,
    direction: Any = None,
    ions: Mapping[str, Any] | bool | None = None,
    **options: Any,
) -> Series:
    """Propagates a copy of the ground state's orbitals in time.

    direction: of the kick, "x", "y", "z" or a vector
    ions: True, or keys of [ions] (every, temperature, velocities, masses, fixed): the atoms move in the mean field of
        the electrons. Their velocities at the start are those of the ASE atoms of the system, if they have some
    options: keys of [propagate] (time_step, total_time or steps, scheme, gauge, kick, pulses, ...), instead of those of
        the system's run file; the library writes no checkpoints, only the command line does
    callback: gets every record, a dictionary; returning False ends the run
    watch: gets every record from step 0 on, the orbitals and the density (an object of the library), and the number of
        steps of the run. Collective
    fields: with travels, gets every record from step 0 on, A(r) and the particle current density j(r) on the whole
        grid, each of shape (3, z, y, x) [a.u.]. Collective
    Raises NotConverged for an unconverged ground state, InvalidArgument for an unstable time step (gives the limit) and
    for impossible options, Interrupted if the reporter asks to stop. Collective.

        series = hc.tddft.propagate(ground, kick=0.01, direction="z", total_time="5 fs")
    """
    ground.require_converged()
    reporter = reporter or Reporter()
    system = ground.system
    given = dict(options) if direction is None else {**options, "direction": direction}
    if "steps" in given:
        given.setdefault("total_time", None)
    elif "total_time" in given:
        given["steps"] = None
    chosen = changed(system.run.propagate, given)
    if chosen.direction == "xyz":
        raise InvalidArgument('direction = "xyz" is for run files; here, make one run along each axis.')
    moving = ions_of(system, ions)
    check_light(system, chosen, moving.move)
    check_ions(chosen, moving)
    if (advice := advice_on_box(system, chosen)) is not None:
        reporter.warning(advice)
    gauge = gauge_of(system, chosen)
    kick = tuple(chosen.kick * v for v in unit_vector(chosen.direction))
    state = ground.state.copy()
    series = Series(system, chosen, gauge, kick, ground.gap, moving, ground.occupations)
    field = field_of(chosen, gauge, kick)
    propagator = native.Propagator(
        ground.model, state, field, library_options(chosen, chosen.time_step), ion_options(system, moving)
    )
    series.time_step = propagator.time_step
    total = steps_of(chosen, propagator.time_step, moving)
    group = ground.model.communicator
    counter = ElectronCount(ground, chosen)
    if chosen.kick:
        propagator.kick()
    series.add(propagator.observe())
    counter.add(series.records[-1], state)
    add_profile(series.records[-1], propagator, chosen)
    if fields is not None:
        fields(series.records[-1], *propagator.light_fields())
    if watch is not None:
        watch(series.records[-1], state, total)
    with reporter.stage("propagating", total) as advance:
        for done in range(1, total + 1):
            record = propagator.step()
            counter.add(record, state)
            add_profile(record, propagator, chosen)
            series.add(record)
            if fields is not None:
                fields(record, *propagator.light_fields())
            if watch is not None:
                watch(record, state, total)
            advance(done, "")
            if callback is not None and callback(record) is False:
                break
            if group.any(reporter.stop_requested()):
                raise Interrupted(f"stopped after {done} steps.")
    if (advice := advice_on_film(series.film_balance())) is not None:
        reporter.warning(advice)
    return series
