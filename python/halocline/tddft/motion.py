# SPDX-License-Identifier: Apache-2.0
"""What moving atoms need, however they move: masses, first velocities, ground states along a path."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ase.data import atomic_masses, atomic_numbers

from halocline import _halocline
from halocline.comm import communicator, on_root
from halocline.errors import InvalidArgument, NotConverged
from halocline.files import write_file
from halocline.reporter import Reporter
from halocline.schema import changed
from halocline.tddft.ground import GroundState, make_model, not_converged, solve, warner
from halocline.tddft.runfile import Parallel, Scf
from halocline.tddft.runfile_motion import Ions
from halocline.tddft.system import System
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM, ELECTRON_MASSES_PER_U, HARTREE_EV, KELVIN_HARTREE

native = _halocline.tddft


def masses_of(system: System, ions: Ions) -> np.ndarray:
    """Shape (atoms,): masses [electron masses], infinite for fixed atoms. Raises InvalidArgument."""
    symbols = system.structure.symbols
    if not symbols:
        raise InvalidArgument("[ions] atoms were to move, but there is only jellium.")
    for symbol in ions.masses:
        if symbol not in symbols:
            present = ", ".join(dict.fromkeys(symbols))
            raise InvalidArgument(f"[ions] masses has {symbol}, but there are only {present} atoms.")
    masses = np.array([ions.masses.get(s, float(atomic_masses[atomic_numbers[s]])) for s in symbols])
    masses *= ELECTRON_MASSES_PER_U
    for number in ions.fixed:
        if number >= len(symbols):
            raise InvalidArgument(f"[ions] fixed has atom {number}, but they are counted from 0 to {len(symbols) - 1}.")
        masses[number] = np.inf
    return masses


def first_velocities(system: System, ions: Ions) -> np.ndarray:
    """Shape (atoms, 3): the velocities at the start [a.u.]; zero for fixed atoms.

    Random ones have exactly the temperature, and no total momentum unless atoms are fixed. Raises InvalidArgument.
    """
    masses = masses_of(system, ions)
    moving = np.isfinite(masses)
    if ions.velocities is not None:
        velocities = np.array(ions.velocities, dtype=float)
        if len(velocities) != len(masses):
            raise InvalidArgument(f"[ions] has {len(velocities)} velocities for {len(masses)} atoms; give one of each.")
    elif ions.temperature > 0:
        if not moving.any():
            raise InvalidArgument("[ions] a temperature was given, but all atoms are fixed.")
        random = np.random.Generator(np.random.Philox(key=ions.seed))
        velocities = random.standard_normal((len(masses), 3)) / np.sqrt(np.where(moving, masses, 1.0))[:, None]
        velocities[~moving] = 0.0
        velocities[moving] -= motion_of_the_whole(masses, velocities)
        wanted = 0.5 * degrees_of_freedom(masses) * ions.temperature
        velocities *= np.sqrt(wanted / kinetic_energy(masses, velocities))
    elif system.structure.velocities is not None:
        velocities = system.structure.velocities.copy()
    else:
        velocities = np.zeros((len(masses), 3))
    velocities[~moving] = 0.0
    return velocities


def degrees_of_freedom(masses: np.ndarray) -> int:
    """Of the moving atoms, without the motion of the whole if none is fixed."""
    moving = int(np.isfinite(masses).sum())
    whole = 3 if moving == len(masses) and moving > 1 else 0
    return 3 * moving - whole


def kinetic_energy(masses: np.ndarray, velocities: np.ndarray) -> float:
    """[hartree]; atoms of infinite mass have none."""
    moving = np.isfinite(masses)
    return 0.5 * float(masses[moving] @ (velocities[moving] ** 2).sum(axis=1))


def motion_of_the_whole(masses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """Shape (3,): velocity of the centre of mass [a.u.]; zero where atoms are fixed, or for a single atom."""
    if len(masses) < 2 or not np.isfinite(masses).all():
        return np.zeros(3)
    return masses @ velocities / masses.sum()


def temperature_kelvin(masses: np.ndarray, velocities: np.ndarray) -> float:
    """The temperature of the motion of atoms relative to each other, or to fixed ones."""
    kinetic = kinetic_energy(masses, velocities - motion_of_the_whole(masses, velocities))
    return 2.0 * kinetic / max(1, degrees_of_freedom(masses)) / KELVIN_HARTREE


def ion_options(system: System, ions: Ions) -> dict[str, Any] | None:
    """The arguments of the library's IonOptions; None if the atoms rest. Raises InvalidArgument."""
    if not ions.move:
        return None
    return {
        "masses": masses_of(system, ions).tolist(),
        "velocities": first_velocities(system, ions).tolist(),
        "every": ions.every,
    }


class GroundStates:
    """Ground states of one system along a path of its atoms.

    They share one set of operators, and each starts from an extrapolation of the last ones. `last` is the latest.
    Methods are collective.
    """

    def __init__(
        self,
        system: System,
        *,
        comm: Any = None,
        reporter: Reporter | None = None,
        parallel: Parallel | None = None,
        warn: bool = True,
        resumable: bool = False,
        said: list[str] | None = None,
        **scf: Any,
    ) -> None:
        """scf: keys of [scf] instead of those of the system. warn: report the system's doubtful choices.
        resumable: keep the orbitals of the last three, for write(). said: gets sentences about doubtful forces, too

        Raises InvalidArgument.
        """
        system.require_energy("atoms that move")
        group = communicator(comm)
        self.doubt = warner(reporter, group)
        for sentence in system.warnings if warn else ():
            self.doubt(sentence)
        self.reporter = reporter or Reporter()
        # Atoms on their way may break symmetries.
        system = system.without_symmetry()
        self.system = system
        self.options: Scf = changed(system.run.scf, scf)
        self.parallel = parallel or system.run.parallel
        # The extrapolation keeps three sets of orbitals, and a checkpoint two more.
        self.model = make_model(system, group, self.parallel, more=5 if resumable else 3)
        self.predictor = native.Predictor()
        self.last: GroundState | None = None
        self.past: list[GroundState] = []
        self.most_past = 3 if resumable else 0
        self.doubted = False
        self.said = said

    def at(self, positions: np.ndarray, cell: np.ndarray | None = None) -> GroundState:
        """The ground state with the atoms at these positions [bohr, in the frame of the grid], converged or not.

        cell: edges in rows [bohr], if they change; on as many grid points
        In a crystal images nearest to the last positions are taken. Raises InvalidArgument for positions outside an
        isolated box or too close to each other.
        """
        positions = np.array(positions, dtype=float)
        if cell is not None and not np.array_equal(cell, self.system.structure.cell):
            return self._in_cell(positions, cell)
        if self.last is not None and self.system.periodic:
            before = self.last.system.structure.positions
            positions += self.system.structure.to_nearest(positions - before)
        state = self.predictor.move(self.model, positions.tolist())
        system = self.system.with_positions(positions)
        ground = solve(system, self.model, state, self.options, self.reporter, doubt=self._doubt)
        if ground.converged:
            self._remember(ground)
        return ground

    def _in_cell(self, positions: np.ndarray, cell: np.ndarray) -> GroundState:
        """The ground state in another cell. It starts from the last orbitals, without an extrapolation."""
        group = self.model.communicator
        self.system = self.system.with_cell(cell, positions)
        self.model, before = make_model(self.system, group, self.parallel, more=3), self.model
        self.predictor = native.Predictor()
        state = (
            self.model.empty_state() if self.last is None else native.start_from(self.model, before, self.last.state)
        )
        ground = solve(self.system, self.model, state, self.options, self.reporter, doubt=self._doubt)
        if ground.converged:
            self._remember(ground)
        return ground

    def _doubt(self, sentence: str) -> None:
        """Reports doubtful forces once, not at every geometry."""
        if not self.doubted:
            self.doubt(sentence)
            if self.said is not None:
                self.said.append(sentence)
        self.doubted = True

    def _remember(self, ground: GroundState) -> None:
        self.predictor.remember(self.model, ground.state)
        self.last = ground
        self.past = [ground, *self.past][: self.most_past]

    def write(self, path: Path, step: int) -> None:
        """Writes the orbitals of the latest ground states, that of `step` first, for restore()."""
        # The file of a step has the atoms of that step; the latest last, which leaves the atoms where they were.
        for number, ground in reversed(list(enumerate(self.past))):
            native.write_orbitals(str(path_of(path, number)), ground.model, ground.state, step=step - number)

    def restore(self, path: Path, positions_of: Callable[[int], np.ndarray]) -> tuple[int, bool]:
        """Reads what write() wrote. positions_of: the positions after a step.

        Returns the step of the latest ground state, and whether the ones before it fit: if not, a crash came between
        them, and the next ground states start from less. Raises FileError.
        """
        group = self.model.communicator
        files: list[tuple[int, Path]] = []
        for number in range(self.most_past):
            file = path_of(path, number)
            if number > 0 and not on_root(group, file.is_file):
                break
            step = on_root(group, lambda file=file: native.orbital_file_step(str(file)))
            if files and step != files[0][0] - number:
                break
            files.append((step, file))
        for step, file in reversed(files):
            system, options = self.system.with_positions(positions_of(step)), self.options
            self.model.move_atoms(system.structure.positions.tolist())
            state = self.model.empty_state()
            native.read_orbitals(str(file), self.model, state)
            self._remember(GroundState(system, self.model, state, True, "read", {}, 0.0, None, [], options=options))
        return files[0][0], len(files) == min(self.most_past, files[0][0] + 1)


def path_of(path: Path, number: int) -> Path:
    """The orbital file of a result file: "name.orbitals", and "name.orbitals.1" of the one before."""
    base = path.with_suffix(".orbitals")
    return base if number == 0 else base.with_name(f"{base.name}.{number}")


def required(ground: GroundState, what: str) -> GroundState:
    """The ground state if it is converged; otherwise raises NotConverged that says where."""
    if not ground.converged:
        raise NotConverged(f"{what}: {not_converged(ground)}")
    return ground


def largest_force_ev(ground: GroundState, masses: np.ndarray | None = None) -> float:
    """Largest force on an atom that is not fixed [eV/angstrom]."""
    forces = ground.forces if masses is None else ground.forces[np.isfinite(masses)]
    return float(np.linalg.norm(forces, axis=1).max(initial=0.0)) * HARTREE_EV / BOHR_ANGSTROM


def frames(system: System, positions: np.ndarray, **arrays: Any) -> list[Any]:
    """ASE's atoms of each geometry.

    positions: shape (n, atoms, 3) [bohr]; arrays: velocities (n, atoms, 3) [a.u.], forces (n, atoms, 3)
    [hartree/bohr], energy (n,) [hartree], time (n,) [a.u.], cells (n, 3, 3) [bohr] where they change
    """
    from ase import Atoms
    from ase.calculators.singlepoint import SinglePointCalculator
    from ase.units import fs

    s = system.structure
    shift = np.zeros(3) if s.periodic else 0.5 * s.edges
    made = []
    for n, r in enumerate(positions):
        cell = arrays["cells"][n] if "cells" in arrays else s.cell
        atoms = Atoms(s.symbols, (r + shift) * BOHR_ANGSTROM, cell=cell * BOHR_ANGSTROM, pbc=s.periodic)
        if "velocities" in arrays:
            atoms.set_velocities(arrays["velocities"][n] * (BOHR_ANGSTROM / ATOMIC_TIME_FS / fs))
        if "time" in arrays:
            atoms.info["time_fs"] = float(arrays["time"][n]) * ATOMIC_TIME_FS
        found = {}
        if "energy" in arrays:
            found["energy"] = float(arrays["energy"][n]) * HARTREE_EV
        if "forces" in arrays:
            found["forces"] = arrays["forces"][n] * (HARTREE_EV / BOHR_ANGSTROM)
        atoms.calc = SinglePointCalculator(atoms, **found)
        made.append(atoms)
    return made


def write_frames(path: Path, made: list[Any]) -> None:
    """Writes geometries as extended XYZ, whole or not at all. For one process."""
    import ase.io

    text = io.StringIO()
    ase.io.write(text, made, format="extxyz")
    write_file(path, text.getvalue())
