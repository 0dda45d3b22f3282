# SPDX-License-Identifier: Apache-2.0
"""The geometry of lowest energy: `relax(system, ...)`, by the optimisers of ASE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument, NotConverged
from halocline.reporter import Reporter
from halocline.schema import changed
from halocline.tddft.ground import GroundState
from halocline.tddft.motion import GroundStates, frames, largest_force_ev, masses_of, required
from halocline.tddft.runfile_motion import Relax
from halocline.tddft.stress_tensor import COMPONENTS, stress
from halocline.tddft.system import System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

GPA_PER_EV_ANGSTROM3 = 160.21766
FORCE = HARTREE_EV / BOHR_ANGSTROM
"""One atomic unit of force [eV/angstrom]."""


COLUMNS = ("energy", "largest_force", "positions", "forces", "iterations")
CELL_COLUMNS = ("cells", "stress")
"""Further ones, where the cell changes."""


class Relaxation:
    """The geometries of a relaxation, from the first to the last. Arrays are in atomic units.

    energy, largest_force (on an atom that is not fixed): shape (n,); positions, forces: shape (n, atoms, 3), positions
    in the frame of the grid; converged; ground: the last ground state; system: of the last geometry. Where the cell
    changes: cells, stress, shape (n, 3, 3)
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.records: list[dict[str, Any]] = []
        self.converged = False
        self.ground: GroundState | None = None

    def __getattr__(self, name: str) -> np.ndarray:
        if name in COLUMNS or (name in CELL_COLUMNS and self.with_cell):
            return np.array([r[name] for r in self.records])
        raise AttributeError(name)

    @property
    def with_cell(self) -> bool:
        """Whether the cell changes."""
        return bool(self.records) and "cells" in self.records[0]

    def require_converged(self) -> Relaxation:
        """Returns itself if converged; otherwise raises NotConverged."""
        if not self.converged:
            raise NotConverged(
                f"the relaxation did not converge: the largest force is {self.largest_force[-1] * FORCE:.3g} "
                f"eV/angstrom after {len(self.records) - 1} steps; raise [relax] max_steps, or see whether the net "
                "force of the grid is in the way."
            )
        return self

    def frames(self) -> list[Any]:
        """ASE's atoms of every geometry, with energy and forces."""
        cells = {"cells": self.cells} if self.with_cell else {}
        return frames(self.system, self.positions, forces=self.forces, energy=self.energy, **cells)

    def data(self) -> dict[str, Any]:
        """The geometries in the form for results.write."""
        return {name: getattr(self, name) for name in (*COLUMNS, *(CELL_COLUMNS if self.with_cell else ()))}

    def restore(self, data: Mapping[str, Any]) -> None:
        """The inverse of data()."""
        names = [name for name in (*COLUMNS, *CELL_COLUMNS) if name in data]
        for n in range(len(data["energy"])):
            self.records.append({name: np.array(data[name][n]) for name in names})


def relax(
    system: System,
    *,
    comm: Any = None,
    reporter: Reporter | None = None,
    ions: Mapping[str, Any] | None = None,
    scf: Mapping[str, Any] | None = None,
    **options: Any,
) -> Relaxation:
    """Moves the atoms to where no force is left on them and, with cell = True, changes the cell until it has no stress.

    The grid's net force (GroundState.net_force) is distributed over the atoms that may move, in proportion to their
    masses, before the optimiser sees the forces; otherwise the whole molecule would wander over the grid. Records keep
    the forces as they are.
    ions: keys of [ions]: fixed, masses. scf: keys of [scf]
    options: keys of [relax]: optimizer, force_tolerance, max_steps, longest_step, cell
    Plain numbers are in atomic units. Returns the path, converged or not. Raises NotConverged if a ground state does
    not converge, InvalidArgument. Collective.

        relaxed = hc.tddft.relax(system, force_tolerance="0.01 eV/angstrom").require_converged()
    """
    run = system.run
    chosen = changed(run.relax, options)
    chosen_ions = changed(run.ions, ions or {})
    check_cell(system, chosen)
    states = GroundStates(system, comm=comm, **{**(scf or {}), "forces": True})
    path = Relaxation(system)
    reporter = reporter or Reporter()
    with reporter.stage("relaxing", chosen.max_steps) as advance:
        search(states, masses_of(system, chosen_ions), chosen, path, lambda record: advance(len(path.records) - 1, ""))
    return path


def check_cell(system: System, options: Relax) -> None:
    """Raises InvalidArgument for a cell that cannot change."""
    if options.cell and not system.periodic:
        raise InvalidArgument("[relax] cell = true is for crystals; isolated atoms have no cell.")


def without_net_force(forces: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Forces whose sum is zero if no atom is fixed: the net force is taken off in proportion to the masses."""
    if not np.isfinite(masses).all():
        return forces
    return forces - np.outer(masses / masses.sum(), forces.sum(axis=0))


def search(
    states: GroundStates,
    masses: np.ndarray,
    options: Relax,
    path: Relaxation,
    on_geometry: Callable[[dict[str, Any]], None],
) -> None:
    """The work of relax(). A cell that changes is led by ASE's FrechetCellFilter.

    Geometries that `path` has already are not computed again: the optimiser is led through them, which restores all
    that it has learnt.
    on_geometry: called after each new geometry, with its record; may raise
    """
    import ase.optimize
    from ase import Atoms
    from ase.calculators.calculator import Calculator, all_changes
    from ase.constraints import FixAtoms
    from ase.filters import FrechetCellFilter

    known = list(path.records)
    path.records = []

    class Surface(Calculator):
        implemented_properties = ("energy", "forces", "stress")

        def calculate(self, atoms: Any = None, properties: Any = (), changes: Any = tuple(all_changes)) -> None:
            super().calculate(atoms, properties, changes)
            cell = np.array(self.atoms.cell[:]) / BOHR_ANGSTROM if options.cell else None
            record = self._record(self.atoms.get_positions() / BOHR_ANGSTROM, cell)
            forces = without_net_force(record["forces"], masses)
            self.results = {"energy": record["energy"] * HARTREE_EV, "forces": forces * FORCE}
            if options.cell:
                found = record["stress"] * (HARTREE_EV / BOHR_ANGSTROM**3)
                self.results["stress"] = np.array([found[a, b] for a, b in COMPONENTS])

        def _record(self, positions: np.ndarray, cell: np.ndarray | None) -> dict[str, Any]:
            number = len(path.records)
            if number < len(known) and self._same(known[number], positions, cell):
                path.records.append(known[number])
                return known[number]
            known.clear()
            ground = required(states.at(positions, cell), f"geometry {number}")
            path.ground, path.system = ground, ground.system
            seen = without_net_force(ground.forces, masses)[np.isfinite(masses)]
            record = {
                "energy": ground.energy["total"],
                "largest_force": float(np.linalg.norm(seen, axis=1).max(initial=0.0)),
                "positions": ground.system.structure.positions.copy(),
                "forces": ground.forces.copy(),
                "iterations": float(len(ground.history)),
            }
            if cell is not None:
                record |= {"cells": cell, "stress": stress(ground)}
            path.records.append(record)
            on_geometry(record)
            return record

        def _same(self, record: dict[str, Any], positions: np.ndarray, cell: np.ndarray | None) -> bool:
            moved = np.abs(record["positions"] - positions).max()
            return moved < 1e-9 and (cell is None or np.abs(record["cells"] - cell).max() < 1e-9)

    system = states.system
    frame = {"cell": system.structure.cell * BOHR_ANGSTROM, "pbc": True} if options.cell else {}
    atoms = Atoms(system.structure.symbols, system.structure.positions * BOHR_ANGSTROM, **frame)
    atoms.set_masses(np.where(np.isfinite(masses), masses, 1.0))
    atoms.set_constraint(FixAtoms(indices=np.flatnonzero(np.isinf(masses))))
    atoms.calc = Surface()
    kinds = {"bfgs": ase.optimize.BFGS, "lbfgs": ase.optimize.LBFGS, "fire": ase.optimize.FIRE}
    moving = FrechetCellFilter(atoms) if options.cell else atoms
    optimizer = kinds[options.optimizer](moving, logfile=None, maxstep=options.longest_step * BOHR_ANGSTROM)
    path.converged = bool(optimizer.run(fmax=options.force_tolerance * FORCE, steps=options.max_steps))
    if path.ground is None and path.records:  # everything was known
        last = path.records[-1]
        path.ground = required(states.at(last["positions"], last.get("cells")), f"geometry {len(path.records) - 1}")
        path.system = path.ground.system


def summary(path: Relaxation, masses: np.ndarray) -> list[str]:
    """The last lines of the log: energy, forces, and the distances of bonded atoms."""
    from ase.neighborlist import natural_cutoffs, neighbor_list

    atoms = path.frames()[-1]
    lines = [
        f"{'energy':<22}{path.energy[-1]:20.10f} hartree, {(path.energy[-1] - path.energy[0]) * HARTREE_EV:+.4f} eV",
        f"{'largest force':<22}{path.largest_force[-1] * FORCE:20.6f} eV/angstrom",
    ]
    if path.ground is not None:
        net = float(np.linalg.norm(path.ground.net_force)) * FORCE
        lines.append(f"{'net force':<22}{net:20.6f} eV/angstrom, of the walls")
        lines.append(f"{'with it':<22}{largest_force_ev(path.ground, masses):20.6f} eV/angstrom, largest force")
    if path.with_cell:
        pressure = -np.trace(path.stress[-1]) / 3 * (HARTREE_EV / BOHR_ANGSTROM**3) * GPA_PER_EV_ANGSTROM3
        edges, angles = (" ".join(f"{v:.5g}" for v in part) for part in np.split(atoms.cell.cellpar(), 2))
        lines += [
            f"{'pressure':<22}{pressure:20.4f} GPa",
            f"{'cell':<22}{edges} angstrom, {angles} degrees",
            f"{'volume':<22}{atoms.cell.volume:20.5f} angstrom^3",
        ]
    first, second, length = neighbor_list("ijd", atoms, natural_cutoffs(atoms, mult=1.5))
    symbols = atoms.get_chemical_symbols()
    for i, j, d in sorted(zip(first.tolist(), second.tolist(), length.tolist(), strict=True)):
        if i < j:
            lines.append(f"bond {symbols[i]}{i}-{symbols[j]}{j:<12}{d:20.5f} angstrom")
    return list(dict.fromkeys(lines))  # images of an atom at the same distance are one bond
