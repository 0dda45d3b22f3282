# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline tddft relax` and `halocline tddft dynamics`: from a run file to result files and log lines.

Both save their progress on disk, and continue from there when the same command is given again. Methods are collective;
only the first process writes files and log lines.
"""

from __future__ import annotations

import abc
import time
from pathlib import Path
from typing import Any

from halocline.comm import CommonWork, on_root
from halocline.errors import FileError, Interrupted
from halocline.files import claimed_for
from halocline.reporter import Reporter
from halocline.tddft import molecular_dynamics as md
from halocline.tddft import plots, relaxation, results
from halocline.tddft.ground import chosen, expected_force_error, grid_force_ev
from halocline.tddft.jobs import SYSTEM_SECTIONS, division_lines, echo, head_lines
from halocline.tddft.motion import GroundStates, masses_of, path_of, write_frames
from halocline.tddft.propagation import duration
from halocline.tddft.runfile import Run
from halocline.tddft.system import System
from halocline.tddft.units import ATOMIC_TIME_FS


class Quiet(Reporter):
    """Passes warnings on, and leaves out the tables of single ground states."""

    def __init__(self, reporter: Reporter) -> None:
        self.warning = reporter.warning  # type: ignore[method-assign]


class MotionJob(abc.ABC):
    """What both commands have in common."""

    kind, suffix, section = "", "", ""
    resumable = False
    """Whether the orbitals are part of a checkpoint."""

    def __init__(self, run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> None:
        """overwrite: replace a result of another run, and do not go on from it. Raises InvalidArgument."""
        self.given, self.group, self.reporter, self.overwrite = run, group, reporter, overwrite
        self.system = System(run)
        self.masses = masses_of(self.system, run.ions)
        self.path = run.output.path(f"{self.suffix}.h5")
        self.begun = self.saved = time.monotonic()

    @abc.abstractmethod
    def physics(self) -> dict[str, Any]:
        """The parameters that a continuation must share, besides the system."""

    def run(self) -> Path:
        """Computes, and returns the result file. Raises Interrupted if it was stopped; its progress is then on disk."""
        sections = (*SYSTEM_SECTIONS, "scf", "ions", self.section)
        for line in head_lines(self.system, self.group) + echo(self.given, *sections):
            self.reporter.line(line)
        for sentence in self.system.warnings:
            self.reporter.warning(sentence)
        with claimed_for(self.group, self.path):
            data = on_root(self.group, self._look)
            states = GroundStates(
                self.system,
                comm=self.group,
                reporter=Quiet(self.reporter),
                warn=False,
                resumable=self.resumable,
                forces=True,
            )
            for line in division_lines(states.model):
                self.reporter.line(line)
            with CommonWork(self.group, self.given.parallel.time_limit):
                self._work(states, data)
        return self.path

    def _look(self) -> dict[str, Any] | None:
        """The data of an earlier part of this run. Raises InvalidArgument for a file of another run."""
        identity = self.system.identity() | {self.section: self.physics()}
        self.guarded = results.Guarded(self.path, self.kind, identity, self.overwrite)
        self.identity = identity
        return None if self.guarded.there is None else results.read(self.path, self.kind)[1]

    @abc.abstractmethod
    def _work(self, states: GroundStates, data: dict[str, Any] | None) -> None:
        """Computes, from the data of an earlier part of the run if there are some."""

    def _write(self, states: GroundStates, attributes: dict[str, Any], found: dict[str, Any]) -> None:
        s = self.system.structure
        common = {
            "parameters": self.given.as_toml_values(),
            "chosen": chosen(states.model),
            "formula": s.formula(),
            "periodic": s.periodic,
        }

        def put() -> None:
            data = found | {"symbols": list(s.symbols), "edges": (s.edges if s.orthogonal else s.cell, "bohr")}
            self.guarded.write(self.kind, attributes | common | {"identity": self.identity}, data)

        on_root(self.group, put)

    def _finish(self, frames: list[Any], draw: Any) -> None:
        """The geometries as XYZ, and the picture."""
        xyz = self.path.with_suffix(".xyz")
        on_root(self.group, lambda: write_frames(xyz, frames))
        self.reporter.line(f"results       {self.path}, geometries {xyz}")
        if self.given.output.plots:
            self.reporter.line(f"picture       {on_root(self.group, lambda: draw(self.path))}")

    def _stop_asked(self) -> bool:
        return self.group.any(self.reporter.stop_requested())


class RelaxJob(MotionJob):
    """`halocline tddft relax`."""

    kind, suffix, section = "relaxation", "_relax", "relax"

    def physics(self) -> dict[str, Any]:
        values = self.given.relax.as_toml_values()
        cell = {"cell": True} if self.given.relax.cell else {}
        return {n: values[n] for n in ("optimizer", "longest_step")} | {"masses": self.masses.tolist()} | cell

    def _work(self, states: GroundStates, data: dict[str, Any] | None) -> None:
        relaxation.check_cell(self.system, self.given.relax)
        path = relaxation.Relaxation(self.system)
        if data is not None:
            path.restore(data)
            self.reporter.line(f"restart       after {len(path.records)} geometries of {self.path}")
        options, say = self.given.relax, self.reporter.line
        say("geometry     energy [hartree]   largest force [eV/angstrom]   iterations   time [s]")
        with self.reporter.stage("relaxing", options.max_steps) as advance:

            def keep(record: dict[str, Any]) -> None:
                number, force = len(path.records) - 1, float(record["largest_force"]) * relaxation.FORCE
                energy, iterations = float(record["energy"]), int(record["iterations"])
                say(f"{number:8d} {energy:20.10f}{force:30.5f}{iterations:13d}{time.monotonic() - self.begun:11.1f}")
                advance(number, f"geometry {number}, largest force {force:.4f} eV/angstrom")
                self._keep(states, path)
                if self._stop_asked():
                    raise Interrupted(
                        f"stopped after {len(path.records)} geometries; the same command goes on from there."
                    )

            relaxation.search(states, self.masses, options, path, keep)
        self._keep(states, path)
        for line in relaxation.summary(path, self.masses):
            say(line)
        grid = grid_force_ev(path.ground)
        say(
            f"{'grid, taken off':<22}{grid:20.6f} eV/angstrom; an error of {expected_force_error(grid):.1g} in single "
            "forces is to be expected"
        )
        last = self.given.output.path("_relaxed.xyz")
        frames = path.frames()
        on_root(self.group, lambda: write_frames(last, frames[-1:]))
        say(f"geometry      {last}")
        self._finish(frames, plots.relaxation)
        if path.converged:
            say(f"converged in {len(path.records) - 1} steps")
        path.require_converged()

    def _keep(self, states: GroundStates, path: relaxation.Relaxation) -> None:
        attributes = {"converged": path.converged, "force_tolerance": float(self.given.relax.force_tolerance)}
        self._write(states, attributes, path.data())


class DynamicsJob(MotionJob):
    """`halocline tddft dynamics`."""

    kind, suffix, section = "dynamics", "_md", "dynamics"
    resumable = True

    def __init__(self, run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> None:
        self.total = md.steps_of(run.dynamics)
        super().__init__(run, group, reporter, overwrite)

    def physics(self) -> dict[str, Any]:
        values = self.given.dynamics.as_toml_values()
        names = ("time_step", "ensemble", "temperature", "relaxation")
        velocities = md.first_velocities(self.system, self.given.ions).tolist()
        first = {"masses": self.masses.tolist(), "first velocities": velocities, "seed": self.given.ions.seed}
        return {n: values.get(n) for n in names} | first

    def _work(self, states: GroundStates, data: dict[str, Any] | None) -> None:
        say, options = self.reporter.line, self.given.dynamics
        path = md.Trajectory(self.system, options)
        integrator = md.Integrator(states, self.given.ions, options)
        if data is None:
            path.records.append(integrator.start())
        else:
            path.restore(data)
            self._go_on(states, path, integrator)
        step = options.time_step * ATOMIC_TIME_FS
        say(f"steps         {self.total} of {step:.6g} fs, {self.total * step:.6g} fs")
        say("    step   time [fs]   temperature [K]   potential energy [hartree]   conserved, change   iterations")
        self._say(path, integrator.step)
        with self.reporter.stage("dynamics", self.total) as advance:
            begun, first = time.monotonic(), integrator.step
            for done in range(first + 1, self.total + 1):
                path.records.append(integrator.advance())
                self._say(path, done)
                a_step = (time.monotonic() - begun) / (done - first)
                advance(done, f"step {done} of {self.total}, {duration((self.total - done) * a_step)} left")
                if done < self.total:
                    self._agree(states, path, done)
        self._keep(states, path, True)
        drift = path.conserved[-1] - path.conserved[0]
        say(f"conserved energy has changed by {drift:.3g} hartree in {path.time[-1] * ATOMIC_TIME_FS:.4g} fs")
        self._finish(path.frames(), plots.dynamics)

    def _go_on(self, states: GroundStates, path: md.Trajectory, integrator: md.Integrator) -> None:
        orbitals = path_of(self.path, 0)
        if not on_root(self.group, orbitals.is_file):
            raise FileError(
                f"{orbitals}: is gone, so {self.path} cannot go on; name another [output] file, or begin anew with "
                "--overwrite."
            )
        step, whole = states.restore(self.path, lambda n: path.records[n]["positions"])
        path.cut(step)
        integrator.resume(step, path.records[-1])
        self.reporter.line(f"restart       from step {step} of {orbitals}")
        if not whole:
            self.reporter.warning(
                "the orbitals of the steps before are not there; the run goes on correctly, but not bit for bit."
            )

    def _say(self, path: md.Trajectory, step: int) -> None:
        r, first = path.records[step], path.records[0]
        self.reporter.line(
            f"{step:8d}{r['time'] * ATOMIC_TIME_FS:12.4f}{r['temperature']:18.2f}{r['potential']:29.10f}"
            f"{r['conserved'] - first['conserved']:20.2e}{int(r['iterations']):13d}"
        )

    def _agree(self, states: GroundStates, path: md.Trajectory, done: int) -> None:
        """All processes agree whether to write a checkpoint, or to stop."""
        options, now = self.given.dynamics, time.monotonic()
        stop = self.reporter.stop_requested()
        late = options.wall_limit is not None and now - self.begun > options.wall_limit
        every = options.checkpoint_every
        due = done % every == 0 if every else now - self.saved > options.checkpoint_interval
        asked = self.group.max([float(stop), float(late), float(due)])
        if any(asked):
            self._keep(states, path, False)
        if asked[0] or asked[1]:
            why = "stopped" if asked[0] else "the wall_limit is reached: stopped"
            raise Interrupted(f"{why} at step {done} of {self.total}; the same command goes on from there.")

    def _keep(self, states: GroundStates, path: md.Trajectory, finished: bool) -> None:
        """Writes the trajectory, then the orbitals: a continued run cuts a trajectory that is ahead of its orbitals."""
        step = len(path.records) - 1
        attributes = {"steps": step, "finished": finished, "ensemble": self.given.dynamics.ensemble}
        self._write(states, attributes, path.data())
        states.write(self.path, step)
        self.saved = time.monotonic()
