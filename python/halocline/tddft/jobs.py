# SPDX-License-Identifier: Apache-2.0
"""The work of the three commands: from a run file to result files and log lines.

A job prints every parameter first, saves its progress on disk, and continues from there when it is run again. Methods
are collective; only the first process writes files and log lines.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from halocline import _halocline
from halocline.comm import CommonWork, on_root
from halocline.energy import Meter
from halocline.errors import FileError, Interrupted, InvalidArgument, NotConverged
from halocline.files import claimed, claimed_for
from halocline.reporter import Reporter, agreement
from halocline.schema import shown
from halocline.tddft import ground as ground_module
from halocline.tddft import plots, results, spectra
from halocline.tddft.absorber import layer_of
from halocline.tddft.ground import GroundState, make_model, orbital_file
from halocline.tddft.induced import advice_on_film, response_of
from halocline.tddft.motion import ion_options, write_frames
from halocline.tddft.populations import ElectronCount
from halocline.tddft.propagation import (
    Series,
    check_ions,
    check_light,
    duration,
    field_of,
    gauge_of,
    library_options,
    steps_of,
    time_line,
)
from halocline.tddft.runfile import Run
from halocline.tddft.system import System, digest
from halocline.tddft.travelling import add_profile, advice_on_box
from halocline.tddft.units import ATOMIC_TIME_FS

native = _halocline.tddft

SYSTEM_SECTIONS = ("system", "grid", "kpoints", "pseudopotential", "xc", "parallel", "output")
SECONDS_BETWEEN_PLOTS = 20.0
SECONDS_BETWEEN_AGREEMENTS = 0.2


def head_lines(system: System, group: Any) -> list[str]:
    """The first lines of every log."""
    core = _halocline.core
    ranks, threads = counted(group.size, "process", "es"), counted(core.threads(), "thread")
    return [
        f"halocline {core.version} ({core.revision}, {core.isa}), {ranks}, {threads} each",
        *([f"warning: {narrower}"] if (narrower := core.narrower_than_cpu()) else []),
        *system.describe(),
    ]


def counted(number: int, noun: str, plural: str = "s") -> str:
    """'1 thread', '2 threads'."""
    return f"{number} {noun}{'' if number == 1 else plural}"


def division_lines(model: Any) -> list[str]:
    """Lines about the division over processes and the way to solve the Hartree potential, with the measured times."""
    hartree = model.hartree
    tried = (
        f" (redundant {1e3 * hartree['seconds_redundant']:.3g} ms, shared {1e3 * hartree['seconds_shared']:.3g} ms)"
        if hartree["seconds_redundant"] and hartree["seconds_shared"]
        else ""
    )
    return [f"processes     {model.counts['text']}", f"hartree       {hartree['share']}{tried}"]


def echo(run: Run, *sections: str) -> list[str]:
    """Every key of some sections in run-file form: numbers as given, or in atomic units if given without a unit."""
    values = run.as_toml_values()
    return [f"  [{s}] {name} = {shown(value)}" for s in sections for name, value in values[s].items()]


class GroundStateJob:
    """`halocline tddft ground-state`."""

    def __init__(
        self, run: Run, group: Any, reporter: Reporter, system: System | None = None, overwrite: bool = False
    ) -> None:
        """Refuses an impossible run. overwrite: replace a result of another system, and do not start from it."""
        self.given, self.group, self.reporter, self.overwrite = run, group, reporter, overwrite
        self.system = system or System(run)
        self.path = run.output.path("_gs.h5")
        self.guarded: results.Guarded | None = None
        self.drawn = time.monotonic()

    def run(self) -> GroundState:
        """Computes the ground state, or continues from an unconverged file, and writes it. Marks an unconverged result.

        Raises InvalidArgument if the file belongs to another system, or another run is writing it. An unconverged
        result never replaces a converged one.
        """
        with claimed_for(self.group, self.path):
            return self._run(on_root(self.group, self._look))

    def _look(self) -> bool:
        """Reads the file to be replaced. Returns True if it holds a converged ground state of this system."""
        self.guarded = results.Guarded(self.path, "ground_state", self.system.identity(), self.overwrite)
        return self.guarded.there is not None and bool(self.guarded.there["converged"])

    def _run(self, converged_before: bool) -> GroundState:
        say = self.reporter.line
        for line in head_lines(self.system, self.group) + echo(self.given, *SYSTEM_SECTIONS, "scf"):
            say(line)
        for sentence in self.system.warnings:
            self.reporter.warning(sentence)
        model = make_model(self.system, self.group, self.given.parallel)
        for line in division_lines(model):
            say(line)
        state = self._start(model)
        ground = ground_module.solve(
            self.system, model, state, self.system.run.scf, self.reporter, self._plot_now_and_then
        )
        if ground.converged and self.given.grid.egg_box and self.system.structure.symbols:
            with self.reporter.stage("egg-box error"):
                ground.egg_box = ground_module.egg_box(ground)["spread"]
        kept = converged_before and not ground.converged
        if not kept:
            ground_module.write(ground, self.path, self.guarded)
        for line in ground_module.summary(ground):
            say(line)
        if kept:
            self.reporter.warning(f"{self.path} keeps the converged ground state of an earlier run.")
        else:
            say(f"results       {self.path}, orbitals {orbital_file(self.path)}")
        if self.given.output.cube and not kept:
            cube = self.given.output.path("_density.cube")
            native.write_density_cube(
                str(cube), ground.model, ground.state, f"density of {self.system.structure.formula()}"
            )
            say(f"density       {cube}")
        if self.given.output.plots:
            on_root(self.group, lambda: self._plot(ground.history))
            say(f"picture       {self.given.output.path('_convergence.png')}")
        if ground.reason == "stopped":
            raise Interrupted(f"stopped after {len(ground.history)} iterations; the same command goes on from there.")
        if ground.converged:
            say(f"converged in {len(ground.history)} iterations")
        return ground

    def _start(self, model: Any) -> Any:
        """A state with the orbitals of an earlier attempt at the same system, or with none."""
        state = model.empty_state()

        def usable() -> bool:
            return self.guarded.there is not None and orbital_file(self.path).is_file()

        if on_root(self.group, usable):
            try:
                native.read_orbitals(str(orbital_file(self.path)), model, state)
                self.reporter.line(f"start         from the orbitals of {orbital_file(self.path)}")
            except FileError as error:
                self.reporter.warning(f"{error} Starting from random orbitals.")
                state = model.empty_state()
        return state

    def _plot_now_and_then(self, history: list[dict[str, Any]]) -> None:
        now = time.monotonic()
        if self.given.output.plots and self.group.rank == 0 and now - self.drawn > SECONDS_BETWEEN_PLOTS:
            try:
                self._plot(history)
            except FileError as error:  # the picture is drawn again at the end, so no process stops alone
                self.reporter.warning(str(error))
            self.drawn = time.monotonic()

    def _plot(self, history: list[dict[str, Any]]) -> None:
        plots.convergence(self.given.output.path("_convergence.png"), history, self.system.structure.formula())


def ground_of(run: Run, group: Any, reporter: Reporter, system: System) -> GroundState:
    """The ground state of a run from its file, or computed now. Raises NotConverged, FileError. Collective."""
    file = run.output.path("_gs.h5")
    if not on_root(group, file.is_file):
        reporter.line(f"ground state  {file} is not there: computing it")
        return GroundStateJob(run, group, reporter, system).run().require_converged()
    return ground_module.load(file, system, comm=group, parallel=run.parallel)


class PropagateJob:
    """`halocline tddft propagate`: one run, or one run along each axis."""

    def __init__(
        self, run: Run, group: Any, reporter: Reporter, must_restart: bool = False, overwrite: bool = False
    ) -> None:
        self.given, self.group, self.reporter, self.overwrite = run, group, reporter, overwrite
        p = run.propagate
        if p.total_time is None and p.steps is None:
            raise InvalidArgument("[propagate] needs 'total_time' or 'steps'.")
        if not p.kick and not p.pulses and p.field_table is None and not run.ions.move:
            raise InvalidArgument("[propagate] has no light: set kick (0.01 for a spectrum), pulses or field_table.")
        check_ions(p, run.ions)
        self.must_restart = must_restart or p.restart == "always"
        if overwrite and self.must_restart:
            raise InvalidArgument("--overwrite begins anew, and --restart goes on; give one of them.")
        self.system = System(run)
        check_light(self.system, p, run.ions.move)
        self.gauge = gauge_of(self.system, p)
        self.ions = ion_options(self.system, run.ions)
        self.begun = time.monotonic()

    def run(self) -> list[Path]:
        """Runs, and returns the result files. Raises Interrupted if it was stopped; the progress is then on disk."""
        for line in head_lines(self.system, self.group) + echo(self.given, *SYSTEM_SECTIONS, "propagate", "ions"):
            self.reporter.line(line)
        late = advice_on_box(self.system, self.given.propagate)
        for sentence in [*self.system.warnings, *([late] if late is not None else [])]:
            self.reporter.warning(sentence)
        written = []
        for suffix, direction in self.given.propagate.directions():
            if suffix:
                self.reporter.line(f"kick along {suffix[1:]}")
            kick = tuple(self.given.propagate.kick * v for v in direction)
            written.append(OneRun(self, self.given.output.path(f"_rt{suffix}.h5"), kick).run())
        return written

    def ground(self, hartree: str | None = None) -> GroundState:
        """The ground state from its file, or computed now. hartree: an earlier choice for [parallel] hartree =
        "auto"."""
        path = self.given.output.path("_gs.h5")
        if not on_root(self.group, path.is_file):
            self.reporter.line(f"ground state  {path} is not there: computing it")
            GroundStateJob(self.given, self.group, self.reporter, self.system).run().require_converged()
        try:
            parallel = self.given.parallel
            if hartree is not None and parallel.hartree == "auto":
                parallel = dataclasses.replace(parallel, hartree=hartree)
            return ground_module.load(path, self.system, comm=self.group, parallel=parallel, occupied_only=True)
        except NotConverged as error:
            raise NotConverged(f"{error} Run `halocline tddft ground-state` until it does.") from None


class OneRun:
    """One propagation and its files."""

    def __init__(self, job: PropagateJob, path: Path, kick: tuple[float, float, float]) -> None:
        self.job, self.path, self.kick = job, path, kick
        self.run_file, self.group, self.reporter = job.given, job.group, job.reporter
        self.options = job.given.propagate
        self.identity = job.system.identity() | {"propagate": self._physics()}
        self.work = CommonWork(self.group, job.given.parallel.time_limit)
        self.saved = time.monotonic()
        self.saved_step = -1

    def _physics(self) -> dict[str, Any]:
        """The parameters that a continuation must share, besides the system."""
        names = ("scheme", "exponential_tolerance", "correction_tolerance", "pulses", "field_table", "time_step")
        values = self.options.as_toml_values()
        table = None if self.options.field_table is None else digest(self.options.field_table)
        light = {"gauge": self.job.gauge, "kick": list(self.kick), "field_table content": table}
        if self.options.spin_kick:
            light["spin_kick"] = True
        if self.options.absorber is not None:
            light["absorber"] = dataclasses.asdict(layer_of(self.options.absorber))
        if self.options.response != "transverse":
            light["response"] = response_of(self.options)
        if self.options.travels is not None:
            light["travels"] = self.options.travels
        if self.options.precision != "double":
            light["precision"] = self.options.precision
        if self.options.angular_momentum:
            light["angular_momentum"] = True
        if self.options.populations:
            light["populations"] = self.options.populations
        moving = {} if self.job.ions is None else {"ions": self.job.ions}
        return {n: values.get(n) for n in names} | light | moving

    def run(self) -> Path:
        """Propagates from the ground state or the checkpoint to the last step. Returns the result file."""
        with claimed_for(self.group, self.path):
            return self._run()

    def _run(self) -> Path:
        there, share, finished = self._stored()
        if finished:
            self.reporter.line(f"finished before: {self.path} has all {finished} steps")
            return self.path
        ground = self.job.ground(share)
        self.model = ground.model
        self.state = ground.state.copy()
        ions = self.run_file.ions
        self.series = Series(
            self.job.system, self.options, self.job.gauge, self.kick, ground.gap, ions, ground.occupations
        )
        self.counter = ElectronCount(ground, self.options)
        if there is not None:
            self.series.restore(there)
            if self.job.ions is not None:
                step = on_root(self.group, lambda: native.orbital_file_step(str(orbital_file(self.path))))
                self.model.move_atoms(self.series.atoms_at(step)[0])
            point = native.read_orbitals(str(orbital_file(self.path)), self.model, self.state)
            self.series.cut(point["step"])
            self.series.time_step = point["time_step"]
        field = field_of(self.options, self.job.gauge, self.kick)
        step = self.series.time_step or self.options.time_step
        propagator = native.Propagator(
            self.model, self.state, field, library_options(self.options, step), self.job.ions
        )
        self.series.time_step = propagator.time_step
        total = steps_of(self.options, propagator.time_step, ions)
        self._say_parameters(propagator, total)
        if there is not None:
            propagator.resume(
                point["step"],
                first_norm=float(there["norm"][0]),
                atoms=self.series.atoms_at(point["step"]),
                induced=self.series.induced_at(point["step"]),
            )
            self.reporter.line(f"restart       from step {point['step']} of {orbital_file(self.path)}")
        else:
            if any(self.kick):
                propagator.kick()
            self.series.add(propagator.observe())
            self.counter.add(self.series.records[-1], self.state)
            add_profile(self.series.records[-1], propagator, self.options)
        with self.work:
            self._go(propagator, total)
        return self.path

    def _stored(self) -> tuple[dict[str, Any] | None, str | None, int]:
        """Three values: the series of an earlier part of this run, None for a new run; the way in which the Hartree
        potential was solved then; the number of steps if all are done and only the orbitals are missing, otherwise 0.

        The way to solve the Hartree potential is kept because a new trial might choose another one, which rounds
        differently. Refuses the series of another run.
        """

        def look() -> tuple[dict[str, Any] | None, str | None, int]:
            self.guarded = results.Guarded(self.path, "propagation", self.identity, self.job.overwrite)
            there, orbitals = self.guarded.there, orbital_file(self.path)
            if there is None:
                if self.job.must_restart:
                    raise FileError(f"{self.path}: no checkpoint to go on from.")
                return None, None, 0
            begin_anew = "name another [output] file, or begin anew with --overwrite"
            if self.options.restart == "never" and not self.job.must_restart:
                raise InvalidArgument(
                    f'{self.path} holds {there["steps"]} steps of this run, and restart = "never" would replace '
                    f"them; {begin_anew}."
                )
            if not orbitals.is_file():
                if there["finished"] and there["steps"] >= steps_of(
                    self.options, there["time_step"], self.run_file.ions
                ):
                    return None, None, int(there["steps"])
                raise FileError(
                    f"{orbitals}: is gone, so the {there['steps']} steps in {self.path} cannot go on; {begin_anew}."
                )
            return results.read(self.path, "propagation")[1], there["chosen"]["hartree"]["share"], 0

        return on_root(self.group, look)

    def _say_parameters(self, propagator: Any, total: int) -> None:
        fs = ATOMIC_TIME_FS
        say = self.reporter.line
        for line in division_lines(self.model):
            say(line)
        say(f"states        {self.model_states()} a channel are propagated")
        say(
            f"time step     {propagator.time_step:.8g} a.u. = {1e3 * propagator.time_step * fs:.6g} as; the limit of "
            f"stability is {propagator.step_limit:.6g} a.u."
        )
        say(f"steps         {total}, {total * propagator.time_step * fs:.6g} fs")
        if self.job.ions is not None:
            ions = self.run_file.ions
            say(f"atoms         move every {ions.every} steps, {1e3 * ions.every * propagator.time_step * fs:.6g} as")
        if (layer := layer_of(self.options.absorber)) is not None:
            say(f"absorber      {layer.sentence()}")
        if self.options.response != "transverse":
            say(f"response      {self.options.response}: the light answers the current")
        if self.options.travels is not None:
            say(f"travels       along {self.options.travels}: the current density at each point answers")
        say(f"light         {self.job.gauge} gauge, kick {' '.join(f'{k:g}' for k in self.kick)} 1/bohr")

    def model_states(self) -> int:
        """Number of propagated states in each channel."""
        return self.state.occupations.size // len(self.job.system.native.channels)

    def _go(self, propagator: Any, total: int) -> None:
        options, reporter = self.options, self.reporter
        first = propagator.steps_done
        if first >= total:
            self._keep(propagator, True)
            reporter.line(f"finished before: {self.path} has all {total} steps")
            return
        agree_every = 1
        with reporter.stage("propagating", total) as advance:
            meter = Meter(self.group)
            begun = time.monotonic()
            for done in range(first + 1, total + 1):
                record = propagator.step()
                self.counter.add(record, self.state)
                add_profile(record, propagator, self.options)
                self.series.add(record)
                seconds = (time.monotonic() - begun) / (done - first)
                advance(done, time_line(done, total, record, seconds))
                if done == first + 10:
                    slowest = self.group.max([seconds])[0]
                    agree_every = max(1, min(1000, int(SECONDS_BETWEEN_AGREEMENTS / max(slowest, 1e-6))))
                if options.checkpoint_every and done % options.checkpoint_every == 0:
                    self._keep(propagator, False)
                if done % agree_every == 0 and done < total:
                    self._agree(propagator, done, total)
        self._keep(propagator, True)
        reporter.line(f"{total - first} steps in {duration(time.monotonic() - begun)}, {1e3 * seconds:.4g} ms a step")
        reporter.line(meter.close().sentence(total - first, "step"))
        reporter.line(f"results       {self.path}")
        if self.options.absorber is not None:
            reporter.line(f"ionised       {self.series.ionised[-1]:.6g} electrons")
        if (balance := self.series.film_balance()) is not None:
            reporter.line(f"film          {balance.sentence()}")
            if (advice := advice_on_film(balance)) is not None:
                reporter.warning(advice)
        if self.job.ions is not None:
            frames_file = self.path.with_suffix(".xyz")
            on_root(self.group, lambda: write_frames(frames_file, self.series.frames()))
            reporter.line(f"geometries    {frames_file}")
        if self.run_file.output.plots:
            with self.work.paused():
                pictures = on_root(self.group, lambda: plots.series(self.path))
            for picture in pictures:
                reporter.line(f"picture       {picture}")

    def _agree(self, propagator: Any, done: int, total: int) -> None:
        """All processes agree whether to write a checkpoint, or to stop."""
        options = self.options
        due = not options.checkpoint_every and time.monotonic() - self.saved > options.checkpoint_interval
        keep, why = agreement(self.group, self.reporter, options.wall_limit, self.job.begun, due)
        if keep:
            self._keep(propagator, False)
        if why is not None:
            raise Interrupted(
                f"{why} at step {done} of {total}; the same command goes on from {orbital_file(self.path)}."
            )

    def _keep(self, propagator: Any, finished: bool) -> None:
        """Writes the series, then the orbitals: a continued run cuts a series that is ahead of its orbitals."""
        if propagator.steps_done == self.saved_step:
            return
        attributes = self._attributes(finished)
        on_root(self.group, lambda: self.guarded.write("propagation", attributes, self.series.data()))
        propagator.hold_light()
        native.write_orbitals(
            str(orbital_file(self.path)),
            self.model,
            self.state,
            step=propagator.steps_done,
            time=propagator.steps_done * propagator.time_step,
            time_step=propagator.time_step,
            kicked=any(self.kick),
        )
        self.saved, self.saved_step = time.monotonic(), propagator.steps_done

    def _attributes(self, finished: bool) -> dict[str, Any]:
        system = self.job.system
        gap = {} if self.series.gap is None else {"gap": self.series.gap}
        return gap | {
            "parameters": self.run_file.as_toml_values(),
            "identity": self.identity,
            "chosen": ground_module.chosen(self.model) | {"time_step": self.series.time_step, "gauge": self.job.gauge},
            "time_step": self.series.time_step,
            "steps": int(self.series.records[-1]["step"]),
            "finished": finished,
            "kick": list(self.kick),
            "gauge": self.job.gauge,
            "formula": system.structure.formula(),
            "periodic": system.periodic,
            "electrons": system.electrons,
            "volume": system.native.volume,
            "absorbing": self.options.absorber is not None,
        }


def refuse_other_runs(files: list[Path], identity: dict[str, Any]) -> None:
    """Raises InvalidArgument if a file of a propagation, where it is there, is of another system. For one process."""
    for file in filter(Path.is_file, files):
        there = results.attributes_of(file, "propagation")["identity"]
        there.pop("propagate", None)
        results.refuse_other(file, there, identity, "give its own run file, or name another [output] file")


def spectrum_job(run: Run, reporter: Reporter, overwrite: bool = False) -> Path:
    """`halocline tddft spectrum`: from the files of one propagation, or of one along each axis. For one process.

    overwrite: replace a spectrum of another system
    Raises FileError if the files are missing, InvalidArgument if they, or an existing spectrum, belong to another
    system. Returns the result file.
    """
    path = run.output.path("_spectrum.h5")
    files = [run.output.path(f"_rt{suffix}.h5") for suffix, _ in run.propagate.directions()]
    identity = System(run).identity()
    refuse_other_runs(files, identity)
    with claimed(path):
        guarded = results.Guarded(path, "spectrum", identity, overwrite)
        for line in echo(run, "spectrum"):
            reporter.line(line)
        made = spectra.of_files(files, run.spectrum)
        for sentence in made.warnings:
            reporter.warning(sentence)
        attributes = made.attributes() | {"parameters": run.as_toml_values(), "identity": identity}
        guarded.write("spectrum", attributes, made.data())
        table = path.with_suffix(".txt")
        spectra.write_table(table, made)
        for line in made.summary():
            reporter.line(line)
        reporter.line(f"results       {path}, table {table}")
        if run.output.plots:
            picture = path.with_suffix(".png")
            plots.spectrum(picture, made)
            reporter.line(f"picture       {picture}")
    return path
