# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline tddft multiscale`: from a run file to the file of light and currents, with checkpoints.

A checkpoint is the series and the orbitals of every cell. The orbitals of a step are written under new names first,
then the series, which says their step; then the old ones go. So one whole checkpoint is there whenever a run is killed.
The field of the light is not stored: it follows from the currents of the series.
"""

from __future__ import annotations

import dataclasses
import glob
import time
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import CommonWork, on_root
from halocline.energy import Meter
from halocline.errors import FileError, Interrupted, InvalidArgument
from halocline.files import claimed_for
from halocline.maxwell.media import Medium
from halocline.maxwell.runfile import medium_of
from halocline.reporter import Reporter, agreement
from halocline.tddft import ground as ground_module
from halocline.tddft import plots, results
from halocline.tddft.jobs import SYSTEM_SECTIONS, division_lines, echo, ground_of, head_lines
from halocline.tddft.multiscale import NO_ELECTRONS, Cells, Filling, check
from halocline.tddft.multiscale_series import Multiscale
from halocline.tddft.propagation import duration
from halocline.tddft.runfile import Run, read_run_file
from halocline.tddft.system import System, digest
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM, SPEED_OF_LIGHT

native = _halocline.tddft
SECONDS_BETWEEN_AGREEMENTS = 0.5


class MultiscaleJob:
    """`halocline tddft multiscale`."""

    def __init__(self, run: Run, world: Any, reporter: Reporter, overwrite: bool = False) -> None:
        """Refuses an impossible run."""
        self.given, self.world, self.reporter, self.overwrite = run, world, reporter, overwrite
        layers, self.step = run.multiscale.required()
        if run.propagate.total_time is None and run.propagate.steps is None:
            raise InvalidArgument("[propagate] needs 'total_time' or 'steps'.")
        if run.ions.move:
            raise InvalidArgument("[multiscale] atoms rest; leave [ions] move = true out.")
        electrons = sum(layer.cells for layer in layers if layer.medium is None)
        if electrons == 0:
            raise InvalidArgument(NO_ELECTRONS)
        self.groups = run.multiscale.groups or min(electrons, world.size)
        if self.groups > world.size:
            raise InvalidArgument(
                f"[multiscale] groups = {self.groups} were asked for, of {world.size} processes; start more of them."
            )
        self.system = System(run)
        self.runs: dict[str | None, Run] = {None: run}
        self.systems: dict[str | None, System] = {None: self.system}
        for name in sorted({layer.run_file for layer in layers if layer.run_file is not None}):
            self.runs[name] = read_run_file(name)
            self.systems[name] = System(self.runs[name])
        files = [r.output.path("_gs.h5") for r in self.runs.values()]
        if len(set(files)) < len(files):
            raise InvalidArgument(
                "[multiscale] layers: two crystals have the same [output] file; give the other run_file another one."
            )
        self.kinds: list[tuple[str | None, Medium | None]] = []
        for layer in layers:
            of = None if layer.medium is None else medium_of(layer.medium)
            self.kinds += [(layer.run_file, of)] * layer.cells
        for system in self.systems.values():
            check(system, run.multiscale, run.propagate)
        self.path = run.output.path("_ms.h5")
        others = [system.identity() for name, system in self.systems.items() if name is not None]
        self.identity = self.system.identity() | {"multiscale": self._physics()}
        if others:
            self.identity |= {"other crystals": others}
        self.begun = self.saved = time.monotonic()
        self.saved_step = -1

    def _physics(self) -> dict[str, Any]:
        """The parameters that a continuation must share, besides the system."""
        light = self.given.propagate.as_toml_values()
        names = ("scheme", "pulses", "field_table", "time_step", "precision")
        table = self.given.propagate.field_table
        film = self.given.multiscale.as_toml_values()
        film.pop("groups", None)
        film["media"] = [repr((m.permittivity, m.conductivity, m.poles)) for _, m in self.kinds if m is not None]
        return {n: light.get(n) for n in names} | film | {"field_table content": table and digest(table)}

    def orbitals(self, cell: int, step: int) -> Path:
        """The file of a cell's orbitals at a step."""
        return self.path.with_name(f"{self.path.stem}.cell{cell:05d}.step{step}.orbitals")

    def run(self) -> Path:
        """Runs to the last step, from the ground state or a checkpoint. Returns the result file. Raises Interrupted if
        it was stopped; the progress is then on disk. Collective."""
        with claimed_for(self.world, self.path):
            return self._run()

    def _run(self) -> Path:
        say = self.reporter.line
        for line in head_lines(self.system, self.world) + echo(self.given, *SYSTEM_SECTIONS, "propagate", "multiscale"):
            say(line)
        for sentence in self.system.warnings:
            self.reporter.warning(sentence)
        there, step, time_step = on_root(self.world, self._look)
        used = {name for name, of in self.kinds if of is None}
        grounds = {}
        group = None
        for name in self.runs:
            if name not in used:
                continue
            run, system = self.runs[name], self.systems[name]
            grounds[name] = ground_of(run, self.world, self.reporter, system)
            if self.groups > 1:
                # All processes compute the ground state, where it is not there, and each group reads it.
                group = group or self.world.split(self.world.rank * self.groups // self.world.size)
                file = run.output.path("_gs.h5")
                grounds[name] = ground_module.load(file, system, comm=group, parallel=self.given.parallel)
        fillings = [Filling(grounds[name] if of is None else None, of) for name, of in self.kinds]
        options = self.given.propagate
        if there is not None:
            options = dataclasses.replace(options, time_step=time_step)  # of the part before, on any processes
        self.cells = Cells(fillings, self.step, self.given.multiscale, options, self.world)
        for line in division_lines(self.cells.grounds[0].model):
            say(line)
        self._say_parameters()
        if there is not None:
            self._resume(there, step)
        with CommonWork(self.world, self.given.parallel.time_limit) as work:
            self._go(work)
        return self.path

    def _look(self) -> tuple[dict[str, Any] | None, int, float]:
        """The series of an earlier part of this run, the step of its orbitals and its time step; None for a new run."""
        self.guarded = results.Guarded(self.path, "multiscale", self.identity, self.overwrite)
        if self.guarded.there is None:
            if self.given.propagate.restart == "always":
                raise InvalidArgument(
                    f'{self.path}: there is no checkpoint of this run, and restart = "always" asks for one; leave '
                    "restart out to begin anew."
                )
            return None, 0, 0.0
        if self.given.propagate.restart == "never":
            raise InvalidArgument(
                f'{self.path} holds {self.guarded.there["steps"]} steps of this run, and restart = "never" would '
                "replace them; name another [output] file, or begin anew with --overwrite."
            )
        there = self.guarded.there
        return results.read(self.path, "multiscale")[1], int(there["orbitals_step"]), float(there["time_step"])

    def _say_parameters(self) -> None:
        cells, say = self.cells, self.reporter.line
        fs = ATOMIC_TIME_FS
        nm = 0.1 * BOHR_ANGSTROM
        thickness = cells.cells * cells.step * nm
        if cells.inside is None:
            say(f"film          {cells.cells} cells of {cells.step * nm:.4g} nm, {thickness:.4g} nm in all")
        else:
            box = " x ".join(str(n) for n in reversed(cells.inside.shape))
            say(f"body          {cells.cells} cells of {cells.step * nm:.4g} nm in a box of {box}")
        media = sum(f.ground is None for f in cells.fillings)
        if media:
            say(f"media         in {media} of the cells, electrons in {cells.cells - media}")
        say(f"groups        {cells.groups} of processes, {len(cells.mine)} cells in this one")
        if len(set(cells.costs.values())) > 1:
            seconds = ", ".join(f"{1e3 * s:.4g}" for s in cells.costs.values())
            say(f"cost          {seconds} ms a step of the crystals, by which the cells are shared out")
        say(
            f"time step     {cells.time_step:.8g} a.u. = {1e3 * cells.time_step * fs:.6g} as; the limit of stability "
            f"is {cells.step_limit:.6g} a.u., and light crosses a cell in {cells.step / SPEED_OF_LIGHT:.4g}"
        )
        say(f"steps         {cells.total}, {cells.total * cells.time_step * fs:.6g} fs")

    def _resume(self, there: dict[str, Any], step: int) -> None:
        cells = self.cells
        earlier = cells.empty_series()
        earlier.restore(there)
        for cell, state in zip(cells.mine, cells.states, strict=True):
            native.read_orbitals(str(self.orbitals(cell, step)), cells.ground_of(cell).model, state)
        cells.resume(earlier, step)
        self.saved_step = step
        self.reporter.line(f"restart       from step {step} of {self.path}")

    def _go(self, work: CommonWork) -> None:
        cells, reporter = self.cells, self.reporter
        first = len(cells.found.rows)
        if first >= cells.total:
            reporter.line(f"finished before: {self.path} has all {cells.total} steps")
            return
        agree_every, seconds = 1, 0.0
        meter = Meter(self.world)
        with reporter.stage("propagating", cells.total) as advance:
            begun = time.monotonic()
            for done in range(first + 1, cells.total + 1):
                cells.advance()
                seconds = (time.monotonic() - begun) / (done - first)
                left = duration((cells.total - done) * seconds)
                now = done * cells.time_step * ATOMIC_TIME_FS
                advance(done, f"step {done} of {cells.total}, {now:.4g} fs, {left} left")
                if done == first + 5:
                    slowest = self.world.max([seconds])[0]
                    agree_every = max(1, min(1000, int(SECONDS_BETWEEN_AGREEMENTS / max(slowest, 1e-6))))
                every = self.given.propagate.checkpoint_every
                if every and done % every == 0 and done < cells.total:
                    self._keep(False)
                if done % agree_every == 0 and done < cells.total:
                    self._agree(done)
        self._keep(True)
        reporter.line(
            f"{cells.total - first} steps in {duration(time.monotonic() - begun)}, {1e3 * seconds:.4g} ms a step"
        )
        reporter.line(meter.close().sentence(cells.total - first, "step"))
        reporter.line(f"light         {cells.found.sentence()}")
        if (advice := cells.found.advice()) is not None:
            reporter.warning(advice)
        reporter.line(f"results       {self.path}")
        if self.given.output.plots:
            with work.paused():
                reporter.line(f"picture       {on_root(self.world, lambda: plots.multiscale(self.path))}")

    def _agree(self, done: int) -> None:
        """All processes agree whether to write a checkpoint, or to stop."""
        options = self.given.propagate
        due = not options.checkpoint_every and time.monotonic() - self.saved > options.checkpoint_interval
        keep, why = agreement(self.world, self.reporter, options.wall_limit, self.begun, due)
        if keep:
            self._keep(False)
        if why is not None:
            raise Interrupted(f"{why} at step {done} of {self.cells.total}; the same command goes on from there.")

    def _keep(self, finished: bool) -> None:
        """Writes a checkpoint. Collective."""
        cells = self.cells
        step, before = len(cells.found.rows), self.saved_step
        if step == before:
            return
        for cell, state in zip(cells.mine, cells.states, strict=True):
            native.write_orbitals(
                str(self.orbitals(cell, step)),
                cells.ground_of(cell).model,
                state,
                step=step,
                time=step * cells.time_step,
                time_step=cells.time_step,
                kicked=False,
            )
        self.world.barrier()

        def write() -> None:
            self.guarded.write("multiscale", self._attributes(step, finished), cells.found.data())
            for cell in range(cells.cells):
                if before >= 0:
                    self.orbitals(cell, before).unlink(missing_ok=True)
            if before < 0:  # of a run that --overwrite replaces
                kept = {self.orbitals(cell, step) for cell in range(cells.cells)}
                for old in self.path.parent.glob(f"{glob.escape(self.path.stem)}.cell*.step*.orbitals"):
                    if old not in kept:
                        old.unlink()

        on_root(self.world, write)
        self.saved, self.saved_step = time.monotonic(), step

    def _attributes(self, step: int, finished: bool) -> dict[str, Any]:
        cells = self.cells
        light: dict[str, Any] = {}
        if not finished or not cells.found.has_light():
            pass
        elif cells.inside is None:
            light = {f"share_{name}": value for name, value in vars(cells.found.shares()).items()}
        else:
            light = {"absorption": cells.found.absorption()}
        return light | {
            "parameters": self.given.as_toml_values(),
            "identity": self.identity,
            "chosen": ground_module.chosen(cells.grounds[0].model)
            | {"time_step": cells.time_step, "groups": cells.groups},
            "time_step": cells.time_step,
            "steps": step,
            "orbitals_step": step,
            "finished": finished,
            "cells": cells.cells,
            "cell_step": cells.step,
            "axis": cells.found.axis,
            "index_behind": cells.found.index_behind,
            "angle": cells.found.angle,
            "formula": self.system.structure.formula(),
        }


def series_of(path: str | Path) -> Multiscale:
    """The series of a file of `halocline tddft multiscale`. Raises FileError. Collective: no."""
    attributes, data = results.read(path, "multiscale")
    if not attributes["steps"]:
        raise FileError(f"{path}: holds no steps yet.")
    found = Multiscale(
        int(attributes["cells"]),
        float(attributes["cell_step"]),
        float(attributes["time_step"]),
        int(attributes["axis"]),
        float(attributes["index_behind"]),
        float(attributes.get("angle", 0.0)),
        np.asarray(data["inside"], dtype=bool) if "inside" in data else None,
    )
    found.restore(data)
    return found
