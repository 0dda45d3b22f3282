# SPDX-License-Identifier: Apache-2.0
"""The self-consistent ground state: `ground_state(system)` computes a `GroundState`.

A GroundState holds the orbitals of this process and the numbers common to all processes. It can be written to an HDF5
file of numbers with an orbital file beside it, and read again on any number of processes.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import communicator, on_root
from halocline.errors import InvalidArgument, NotConverged
from halocline.parallel import set_communication
from halocline.reporter import Reporter
from halocline.schema import changed, shown
from halocline.tddft import results
from halocline.tddft.runfile import Parallel, Scf
from halocline.tddft.system import LANES, System
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

native = _halocline.tddft

DOUBTFUL_NET_FORCE = 0.1
"""[eV/angstrom] Limit for the sum of the forces on all atoms, above which they are called doubtful: twice the largest
force at which a structure usually counts as relaxed."""

FORCE_ERROR = 0.25
"""Error of single forces over the square of what the grid had added to them [angstrom/eV]: measured for H2O and N2."""

DOUBTFUL_FORCE = 0.02
"""[eV/angstrom] Expected error of single forces above which they are called doubtful: less than half of the largest
force at which a structure usually counts as relaxed."""

TABLE_HEAD = "  it   total energy [hartree]      change   density     eigen   gap [eV]   time [s]"


@dataclasses.dataclass
class GroundState:
    """The result of a self-consistent calculation. Arrays are in atomic units and the same on every process unless
    noted."""

    system: System
    held_model: Any
    """The system on its processes (an object of the library), wherever its atoms are now; see `model`."""
    state: Any
    """Orbitals of this process, occupations, eigenvalues and density (an object of the library)."""
    converged: bool
    reason: str
    energy: dict[str, float]
    """total, kinetic, hartree, ion_local, ion_nonlocal, xc, ion_ion, and entropy: temperature times entropy."""
    fermi_level: float
    gap: float | None
    """Lowest empty minus highest occupied eigenvalue [hartree]; 0 for a metal, None if no state is empty."""
    history: list[dict[str, float]]
    forces: np.ndarray | None = None
    """Shape (atoms, 3) [hartree/bohr]; None if they were not requested."""
    grid_forces: np.ndarray | None = None
    """Shape (atoms, 3) [hartree/bohr]: what the grid had added to the forces, and was taken off. What is left in a
    force is smaller, by the square. None without forces."""
    options: Scf | None = None
    """Keys of [scf] used for the calculation; None if it was read from a file."""
    egg_box: float | None = None
    """Spread of the energy as one atom moves between grid points [hartree], if it was measured."""

    @property
    def model(self) -> Any:
        """The system on its processes (an object of the library). Ground states along a path share one; if its atoms
        have moved on since, they are put back. Collective then."""
        there = self.system.structure.positions
        if len(there) and not np.array_equal(self.held_model.positions, there):
            self.held_model.move_atoms(there.tolist())
        return self.held_model

    @property
    def eigenvalues(self) -> np.ndarray:
        """Shape (channels, states) [hartree]; channels are k-points, first all of spin up, then all of spin down."""
        return self.state.eigenvalues.reshape(-1, self.system.states)

    @property
    def occupations(self) -> np.ndarray:
        """Shape (channels, states): electrons in each state, without the k-point's weight."""
        return self.state.occupations.reshape(-1, self.system.states)

    @property
    def net_force(self) -> np.ndarray | None:
        """Shape (3,) [hartree/bohr]: the sum of the forces. In a crystal it is zero up to the convergence; in an
        isolated box it is the force of its walls. None without forces."""
        return None if self.forces is None else self.forces.sum(axis=0)

    @property
    def moment(self) -> float:
        """Electrons up minus electrons down; 0 without spin."""
        if self.system.spins == 1:
            return 0.0
        weights = np.array([c[1] * (1 - 2 * c[2]) for c in self.system.native.channels])
        return float(weights @ self.occupations.sum(axis=1))

    def dipole(self) -> np.ndarray:
        """Shape (3,): dipole of ions and electrons [e bohr]. Raises InvalidArgument in a crystal, where it is
        undefined. Collective."""
        if self.system.periodic:
            raise InvalidArgument("the dipole of a crystal was asked for; only isolated systems have one.")
        return self.system.ion_dipole - np.array(native.electron_dipole(self.model, self.state))

    def density(self) -> np.ndarray | None:
        """Shape (spins, z, y, x) [1/bohr^3] on the first process, None on the others. Collective."""
        return native.gather_density(self.model, self.state)

    def require_converged(self) -> GroundState:
        """Returns itself if converged; otherwise raises NotConverged."""
        if not self.converged:
            raise NotConverged(not_converged(self))
        return self


def make_model(system: System, group: Any, parallel: Parallel, more: int = 0) -> Any:
    """Constructs the system on the processes of `group`, after checking their memory for its ground state.

    more: sets of orbitals that will be kept besides those of the ground state
    Collective. Raises InvalidArgument on every rank.
    """
    counts = None
    if any(v is not None for v in (parallel.k, parallel.orbitals, parallel.space)):
        counts = (parallel.k or 1, parallel.orbitals or 1, *(parallel.space or (1, 1, 1)))
    over_space = parallel.space is not None or (parallel.k is None and parallel.orbitals is None)
    system.require_memory(group, split=not over_space, more=more)
    odd = system.run.scf.temperature > 0
    _halocline.comm.set_solve_time_limit(group, parallel.time_limit)
    set_communication(group, "", parallel.buffers, parallel.posting, parallel.sums)
    return native.Model(system.native, group, counts, system.functional, parallel.hartree, parallel.transport, odd)


def divided_as(model: Any, parallel: Parallel) -> Parallel:
    """[parallel] for a further model on the same division of processes, with the same way to the Hartree potential."""
    counts = model.counts
    return dataclasses.replace(
        parallel,
        k=counts["k"],
        orbitals=counts["orbitals"],
        space=tuple(counts["space"]),
        hartree=model.hartree["share"],
    )


def scf_options(system: System, scf: Scf) -> dict[str, Any]:
    """The arguments of the library's ScfOptions."""
    values = {f.name: getattr(scf, f.name) for f in dataclasses.fields(scf) if f.name != "forces"}
    chosen = system.run.system
    return values | {"fixed_spin": chosen.fixed_moment, "spin_moment": chosen.moment}


def ground_state(
    system: System,
    *,
    comm: Any = None,
    reporter: Reporter | None = None,
    start: GroundState | None = None,
    on_step: Callable[[list[dict[str, float]]], None] | None = None,
    parallel: Parallel | None = None,
    **scf: Any,
) -> GroundState:
    """Solves the Kohn-Sham equations to self-consistency.

    comm: see halocline.comm; all processes of the run by default
    start: a ground state of a system with the same grid points, k-points, spins and states, on the same processes. Its
        orbitals, and its density moved with the atoms, are the start. It is not changed
    on_step: called after each iteration with the history so far
    parallel: counts of processes, as in [parallel]; automatic by default
    scf: keys of [scf], instead of those of the system
    Doubtful results (a coarse spacing, forces whose sum is not zero) are reported by the reporter or, without one, by
    warnings.warn on the first process.
    Returns the result, converged or not: see GroundState.converged and require_converged(). If the reporter asks to
    stop, the reason is "stopped". Raises InvalidArgument. Collective.

        ground = hc.tddft.ground_state(system, tolerance=1e-9).require_converged()
    """
    group = communicator(comm)
    doubt = warner(reporter, group)
    for sentence in system.warnings if reporter is None else ():  # a command has reported them before it started
        doubt(sentence)
    reporter = reporter or Reporter()
    options = changed(system.run.scf, scf)
    if start is not None and start.system is system:
        return solve(system, start.model, start.state.copy(), options, reporter, on_step, doubt)
    if start is not None and (difference := unlike(system, start.system)):
        raise InvalidArgument(f"the orbitals to start from do not fit: {difference}; leave `start` away.")
    model = make_model(system, group, parallel or system.run.parallel)
    state = native.start_from(model, start.model, start.state) if start else model.empty_state()
    return solve(system, model, state, options, reporter, on_step, doubt)


def unlike(system: System, other: System) -> str:
    """The reason, in words, why the orbitals of one system cannot be the start for the other; empty if they can."""
    for what, here, there in (
        ("grid points", system.extent, other.extent),
        ("boundaries", *("periodic" if s.periodic else "isolated" for s in (system, other))),
        ("spins", system.spins, other.spins),
        ("k-points and spins", len(system.native.channels), len(other.native.channels)),
        ("states", system.states, other.states),
    ):
        if here != there:
            return f"they have {what} {shown(there)}, and this system has {shown(here)}"
    return ""


def solve(
    system: System,
    model: Any,
    state: Any,
    options: Scf,
    reporter: Reporter,
    on_step: Callable[[list[dict[str, float]]], None] | None = None,
    doubt: Callable[[str], None] | None = None,
) -> GroundState:
    """The work of ground_state(), in a state of the library that becomes part of the result. Collective.

    doubt: called with a sentence about doubtful forces; the reporter's warning by default
    """
    group = model.communicator
    history: list[dict[str, float]] = []
    with reporter.stage("ground state", 1.0) as advance:

        def progress(step: dict[str, float]) -> bool:
            history.append(step)
            if len(history) == 1:
                reporter.line(TABLE_HEAD)
            reporter.line(table_line(step))
            advance(share_done(step, options), f"iteration {step['iteration']}, {remaining(history, options)}")
            if on_step is not None:
                on_step(history)
            return not group.any(reporter.stop_requested())

        found = native.solve_ground_state(model, state, scf_options(system, options), progress)
    result = GroundState(
        system, model, state, found["converged"], found["reason"], found["energy"], found["fermi_level"],
        known_gap(found["gap"]), found["history"], options=options,
    )  # fmt: skip
    if result.converged and options.forces and system.structure.symbols and system.functional_kind != "potential":
        forces, of_grid = native.forces(model, state)
        result.forces, result.grid_forces = np.array(forces).reshape(-1, 3), np.array(of_grid).reshape(-1, 3)
        if sentence := force_warning(result):
            (doubt or reporter.warning)(sentence)
    return result


def warner(reporter: Reporter | None, group: Any) -> Callable[[str], None]:
    """The function for sentences about doubtful results: the reporter's, or Python's warnings on the first process."""
    if reporter is not None:
        return reporter.warning
    if group.rank != 0:
        return lambda sentence: None
    return lambda sentence: warnings.warn(sentence, UserWarning, stacklevel=3)


def net_force_ev(ground: GroundState) -> float:
    """|sum of the forces| [eV/angstrom] of a ground state that has forces."""
    return float(np.linalg.norm(ground.net_force)) * HARTREE_EV / BOHR_ANGSTROM


def grid_force_ev(ground: GroundState) -> float:
    """The largest force of the grid on an atom, which was taken off [eV/angstrom]; 0 where it is not known."""
    if ground.grid_forces is None:
        return 0.0
    return float(np.linalg.norm(ground.grid_forces, axis=1).max(initial=0.0)) * HARTREE_EV / BOHR_ANGSTROM


def expected_force_error(grid_force: float) -> float:
    """The error of single forces to be expected [eV/angstrom] where the grid had added this to one [eV/angstrom]; see
    docs/tddft-accuracy.md."""
    return FORCE_ERROR * grid_force**2


def force_warning(ground: GroundState) -> str | None:
    """A warning about doubtful forces; None if there is none."""
    net, grid = net_force_ev(ground), grid_force_ev(ground)
    if expected_force_error(grid) > DOUBTFUL_FORCE:
        return (
            f"the grid added up to {grid:.3g} eV/angstrom to the forces. It was taken off, but errors of some "
            f"{expected_force_error(grid):.1g} eV/angstrom are to be expected in single forces: the spacing of "
            f"{spacing_text(ground.system)} is too coarse for them."
        )
    if net <= DOUBTFUL_NET_FORCE:
        return None
    cause = "the ground state is not converged well enough" if ground.system.periodic else "the box is too small"
    return (
        f"the forces add up to {net:.3g} eV/angstrom, more than {DOUBTFUL_NET_FORCE:g}, where the sum should be zero: "
        f"{cause}; expect an error of that size in a single force."
    )


def spacing_text(system: System) -> str:
    """'0.378 bohr (0.2 angstrom)'."""
    coarse = max(system.spacing)
    return f"{coarse:.3g} bohr ({coarse * BOHR_ANGSTROM:.3g} angstrom)"


def egg_box(ground: GroundState, steps: int = 3, direction: Any = (1.0, 1.0, 1.0), **scf: Any) -> dict[str, Any]:
    """The egg-box error: the dependence of the energy on the position of the atoms between grid points.

    All atoms move together through a cell of the grid, by i/steps of `direction` (in spacings), i = 0 ... steps - 1;
    each position has a ground state of its own. In free space the energy would not change.
    Returns shifts [bohr], energies [hartree], spread [hartree] and largest_force, the largest spurious force between
    neighbouring positions [hartree/bohr]. Raises Error if a position does not converge. Collective.
    """
    system = ground.system
    options = changed(system.run.scf, scf)
    odd = system.run.scf.temperature > 0
    transport = system.run.parallel.transport
    return native.egg_box(ground.model, transport, odd, scf_options(system, options), steps, list(direction))


def table_line(step: dict[str, float]) -> str:
    """A line of the convergence table."""
    gap = known_gap(step["gap"])
    said = "-" if gap is None else f"{gap * HARTREE_EV:.4f}"
    return (
        f"{step['iteration']:4d} {step['energy']['total']:24.12f}  {step['energy_change']:10.2e}"
        f"{step['density_residual']:10.2e}{step['eigen_residual']:10.2e}{said:>11}"
        f"{step['seconds']:11.2f}"
    )


def known_gap(gap: float) -> float | None:
    """The library's gap; None if it is negative, which means that no state is empty and the gap is unknown."""
    return None if gap < 0 else gap


def share_done(step: dict[str, float], options: Scf) -> float:
    """The completed fraction of the convergence, from 0 to 1, on a logarithmic scale of the residuals."""
    parts = []
    for value, goal in (
        (step["density_residual"], options.tolerance),
        (abs(step["energy_change"]), options.energy_tolerance),
        (step["eigen_residual"], options.eigen_tolerance),
    ):
        if value > 0 and goal < 1:
            parts.append(min(1.0, max(0.0, math.log(min(value, 1.0)) / math.log(goal))))
    return min(parts, default=0.0)


def remaining(history: list[dict[str, float]], options: Scf) -> str:
    """An estimate of the time left, assuming the average progress so far."""
    done, spent = share_done(history[-1], options), history[-1]["seconds"]
    if len(history) < 3 or done <= 0.05:
        return f"{spent:.0f} s so far"
    left = spent * (1 - done) / done
    return "nearly done" if left < 0.5 else f"about {left:.0f} s left"


def not_converged(ground: GroundState) -> str:
    """The message of NotConverged: the criteria not yet met, and advice."""
    options = ground.options or ground.system.run.scf
    where = ""
    if ground.history:
        last = ground.history[-1]
        too_large = [
            f"{name} {abs(value):.1e}{unit} where {goal:.1e} is asked for"
            for name, value, goal, unit in (
                ("the density residual is", last["density_residual"], options.tolerance, ""),
                ("the energy changes by", last["energy_change"], options.energy_tolerance, " hartree"),
                ("the eigen residual is", last["eigen_residual"], options.eigen_tolerance, " hartree"),
            )
            if abs(value) > goal
        ]
        where = f" ({', '.join(too_large)})" if too_large else ""
    return (
        f"the ground state did not converge: {ground.reason} after {len(ground.history)} iterations{where}; raise "
        "max_iterations, take more states, a smaller mixing_weight or a temperature."
    )


def summary(ground: GroundState) -> list[str]:
    """The summary lines of a ground state. Collective."""
    e = ground.energy
    lines = [f"{'energy ' + part:<22}{e[part]:20.10f} hartree" for part in results.PARTS]
    if e["entropy"]:
        lines.append(f"{'temperature x entropy':<22}{e['entropy']:20.10f} hartree, part of the total with a minus")
    lines.append(f"{'Fermi level':<22}{ground.fermi_level * HARTREE_EV:20.6f} eV")
    lines.append(gap_line(ground.gap))
    if ground.system.structure.boundaries == "slab":
        from halocline.tddft.surfaces import vacuum

        found = vacuum(ground)
        below, above = (f"{w * HARTREE_EV:.4f}" for w in found.work_functions)
        lines.append(f"{'work functions':<22}{below:>13}, {above} eV, below and above")
        lines.append(f"{'dipole of the slab':<22}{found.dipole:20.6f} e bohr a cell")
    if ground.egg_box is not None:
        lines.append(f"{'egg-box error':<22}{ground.egg_box:20.2e} hartree, as an atom moves between grid points")
    if ground.forces is not None:
        unit = HARTREE_EV / BOHR_ANGSTROM
        for symbol, f in zip(ground.system.structure.symbols, ground.forces * unit, strict=True):
            lines.append(f"force on {symbol:<13}" + "".join(f"{v:12.6f}" for v in f) + " eV/angstrom")
        grid = grid_force_ev(ground)
        lines.append(f"{'net force':<22}{net_force_ev(ground):12.6f} eV/angstrom")
        lines.append(
            f"{'grid, taken off':<22}{grid:12.6f} eV/angstrom; an error of {expected_force_error(grid):.1g} in single "
            "forces is to be expected"
        )
    return lines


def gap_line(gap: float | None) -> str:
    """A line of the summary; the negative gap in old files also means unknown."""
    if gap is None or gap < 0:
        return f"{'gap':<22}{'unknown':>20} (no state is empty; ask for more [system] states)"
    return f"{'gap':<22}{gap * HARTREE_EV:20.6f} eV"


def chosen(ground_or_model: Any) -> dict[str, Any]:
    """The settled values of automatic parameters."""
    model = getattr(ground_or_model, "model", ground_or_model)
    return {"processes": model.counts, "hartree": model.hartree}


def write(ground: GroundState, path: Path, guarded: results.Guarded | None = None) -> None:
    """Writes the numbers to `path`, and the orbitals to a file beside it (orbital_file()). Collective. Raises
    FileError.

    guarded: of `path`, on the first process, if an existing file must not be lost
    """
    group = communicator(ground.model.communicator)
    on_root(group, lambda: None if guarded is None else guarded.check())
    density = ground.density()
    native.write_orbitals(str(orbital_file(path)), ground.model, ground.state)
    system = ground.system
    channels = system.native.channels

    def put() -> None:
        attributes = {
            "converged": ground.converged,
            "reason": ground.reason,
            "fermi_level": ground.fermi_level,
            "functional": system.functional,
            "parameters": system.run.as_toml_values(),
            "identity": system.identity(),
            "chosen": chosen(ground),
        }
        if ground.gap is not None:
            attributes["gap"] = ground.gap
        data: dict[str, Any] = {f"energy/{part}": ground.energy[part] for part in results.PARTS}
        data |= {
            "entropy": ground.energy["entropy"],
            "eigenvalues": ground.eigenvalues,
            "occupations": ground.occupations,
            "k": np.array([c[0] for c in channels]),
            "weights": np.array([c[1] for c in channels]),
            "spins": np.array([c[2] for c in channels]),
            "density": density,
            "positions": system.structure.positions,
        }
        if system.structure.symbols:
            data["symbols"] = list(system.structure.symbols)
        if ground.forces is not None:
            data |= {"forces": ground.forces, "net_force": ground.net_force, "grid_forces": ground.grid_forces}
        if ground.egg_box is not None:
            data["egg_box"] = (ground.egg_box, "hartree")
        for name in ("density_residual", "energy_change", "eigen_residual", "seconds"):
            unit = {"seconds": "s", "density_residual": "1"}.get(name, "hartree")
            data[f"history/{name}"] = (np.array([h[name] for h in ground.history]), unit)
        data["history/total"] = (np.array([h["energy"]["total"] for h in ground.history]), "hartree")
        if guarded is not None:
            guarded.write("ground_state", attributes, data)
        else:
            results.write(path, "ground_state", attributes, data)

    on_root(group, put)


def orbital_file(path: Path) -> Path:
    """The path of the orbital file of a result file."""
    return path.with_suffix(".orbitals")


def load(
    path: Path, system: System, *, comm: Any = None, parallel: Parallel | None = None, occupied_only: bool = False
) -> GroundState:
    """Reads a ground state from files of write(), on the processes of `comm`.

    occupied_only: leave out the highest states if they hold no electrons at any k-point
    Raises FileError for a missing or damaged file, InvalidArgument for another system, NotConverged for a file marked
    as not converged. Collective.
    """
    group = communicator(comm)
    attributes, data = on_root(group, lambda: _numbers(path, system))
    if not attributes["converged"]:
        raise NotConverged(f"{path}: this ground state did not converge ({attributes['reason']}).")
    parallel = parallel or system.run.parallel
    if occupied_only:
        filled = int(np.flatnonzero(data["occupations"].any(axis=0))[-1]) + 1
        # Each process along the division over orbitals needs a group of lanes.
        system = system.with_states(min(system.states, max(filled, LANES * (parallel.orbitals or 1))))
    model = make_model(system, group, parallel)
    state = model.empty_state()
    native.read_orbitals(str(orbital_file(path)), model, state)
    energy = {part: float(data[f"energy/{part}"]) for part in results.PARTS} | {"entropy": float(data["entropy"])}
    return GroundState(
        system, model, state, True, attributes["reason"], energy, attributes["fermi_level"], attributes["gap"], [],
        data.get("forces"), data.get("grid_forces"),
    )  # fmt: skip


def _numbers(path: Path, system: System) -> tuple[dict[str, Any], dict[str, Any]]:
    attributes, data = results.read(path, "ground_state")
    advice = "compute the ground state anew (`halocline tddft ground-state --overwrite`), or name another [output] file"
    results.refuse_other(path, attributes["identity"], system.identity(), advice)
    known = {n: attributes[n] for n in ("converged", "reason", "fermi_level")}
    return known | {"gap": known_gap(attributes.get("gap", -1.0))}, {
        n: v for n, v in data.items() if n != "density" and not n.startswith("history/")
    }
