# SPDX-License-Identifier: Apache-2.0
"""The job of `halocline qcd solve`: solutions only, with the full report of the solver.

Without shifts these are propagators. With [solver] shifts they are the solutions of (S^dagger S + shift) x = b, in
files of the same kind, one for each shift.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from halocline.comm import on_root
from halocline.errors import Interrupted, InvalidArgument
from halocline.files import claimed_for, output_names, refuse_existing, write_file
from halocline.groups import Groups, raise_ending
from halocline.parallel import kept_communication
from halocline.qcd import gauge
from halocline.qcd.group_choice import SharedChoice
from halocline.qcd.group_devices import on_own_devices
from halocline.qcd.propagators import (
    LAYOUTS,
    AnyPropagator,
    Propagator,
    check_format,
    format_of,
    gauge_record,
    propagator_class,
    record_of,
    write_propagator,
)
from halocline.qcd.quark import DiracOperator, shifted_propagators_from
from halocline.qcd.runfile import Run
from halocline.qcd.spectrum import ITERATIONS_BETWEEN_AGREEMENTS, Job
from halocline.qcd.spectrum_groups import order_for, pieces_of, share_memory
from halocline.reporter import Reporter

PROPAGATOR_BYTES = 12 * 12 * 16
"""Of a propagator [bytes a site]."""
STOPPED = "stopped; the files that were written are complete, and the same command with --resume goes on from there."


def solve_run(
    run: Run, group: Any, reporter: Reporter, output: str | None, overwrite: bool = False, resume: bool = False
) -> dict[str, Any]:
    """Solves twelve columns for every configuration, source and shift of a run file.

    output: file for the solutions, HDF5 (.h5) or SciDAC (any other name, not for staggered quarks and doublets);
    numbered when there are several, shift by shift, then source by source; with None none is written
    overwrite: replace existing files of these names
    resume: keep existing files that this run would write, and make those that are missing
    Returns the numbers for --json: configurations[i].sources[k] with position, method, notes, note_kinds, and one entry
    for each column in converged, reason, residuals, iterations, seconds, history and columns (how many were solved
    together); with shifts an entry for each, which has `shift` too; for a file that was kept `position`, `shift` and
    `kept`, its name; solver_choice: the choice of kind = "auto" for all of them, or None.
    Raises as `spectrum`, and InvalidArgument for a file to be kept that is of another run. Collective.
    """
    with kept_communication(group):
        return _solve_run(run, group, reporter, output, overwrite, resume)


def _solve_run(
    run: Run, group: Any, reporter: Reporter, output: str | None, overwrite: bool, resume: bool
) -> dict[str, Any]:
    if resume and (output is None or overwrite):
        raise InvalidArgument("--resume keeps the files of --output; give --output, and not --overwrite.")
    if output is not None:
        check_format(output, format_of(output), LAYOUTS[propagator_class(run.action)])
    groups = None
    if run.parallel.groups == 1:
        job = Job(run, group, reporter)
    else:
        folder = Path(f"{output if output is not None else run.output.file}.solve.groups")
        groups = Groups(group, run.parallel.groups, folder, run.parallel.time_limit, reporter)
        job = Job(on_own_devices(run, group), groups.mine, reporter)
        share_memory(job, group, run.parallel.groups)
    shifts = run.solver.shifts or ()
    if len(shifts) > 1:
        gauge.require_memory(job.extents, group, len(shifts) * PROPAGATOR_BYTES, f"{len(shifts)} shifts on ")
    if output is not None and not resume:
        refuse_existing(group, output_names(output, propagators_of(run)), overwrite)
    return _Solves(job, output, resume, groups).run_all()


class _Solves:
    """The solves of a job, and their files."""

    def __init__(self, job: Job, output: str | None, resume: bool, groups: Groups | None) -> None:
        self.job, self.resume, self.groups = job, resume, groups
        self.shifts: Sequence[float | None] = job.run.solver.shifts or (None,)
        count = propagators_of(job.run)
        self.paths = output_names(output, count) if output is not None else [None] * count
        self._present: tuple[int, Any] | None = None

    def run_all(self) -> dict[str, Any]:
        job = self.job
        job.log_parameters()
        every = range(len(job.run.source.positions))
        if self.groups is None:
            with job.work:
                configurations = [self._solve(index, every) for index in range(job.configuration_count())]
        else:
            configurations = self._in_groups(self.groups)
        return {
            "parameters": job.run.as_toml_values(),
            "process_grid": list(job.geometry.grid),
            "solver_choice": job.choice,
            "configurations": configurations,
        }

    def _in_groups(self, groups: Groups) -> list[dict[str, Any]]:
        """The configurations of the report, solved in groups of processes (spectrum_groups.py)."""
        job, positions = self.job, self.job.run.source.positions
        pieces = pieces_of({i: list(range(len(positions))) for i in range(job.configuration_count())}, groups.count)
        choice = SharedChoice(job, groups)
        found: dict[int, dict[str, Any]] = {}

        def work(number: int) -> Callable[[Path], None]:
            with choice.shared(), job.work:
                solved = self._solve(pieces[number].index, pieces[number].sources) | {"choice": job.choice}
            return lambda path: write_file(path, json.dumps(solved))

        def collect(paths: dict[int, Path]) -> None:
            found.update({number: json.loads(path.read_text()) for number, path in paths.items()})

        def name(number: int) -> str:
            piece = pieces[number]
            sources = "" if len(piece.sources) > 1 else f", source {list(positions[piece.sources[0]])}"
            return f"{job.names()[piece.index]}{sources}"

        reporter, job.reporter = job.reporter, groups.reporter
        order = order_for(groups.number, groups.count, pieces)
        with claimed_for(groups.world, groups.folder):
            ending = groups.run(len(pieces), order, work, collect, name, STOPPED)
        raise_ending(ending)
        job.reporter = reporter

        def joined() -> tuple[list[dict[str, Any]], Any]:
            whole: dict[int, dict[str, Any]] = {}
            choices = [one.pop("choice") for one in found.values()]
            for number, one in sorted(found.items()):
                if pieces[number].index in whole:
                    whole[pieces[number].index]["sources"] += one["sources"]
                else:
                    whole[pieces[number].index] = one
            return [whole[index] for index in sorted(whole)], next((c for c in choices if c), None)

        configurations, job.choice = on_root(groups.world, joined)
        return configurations

    def _solve(self, index: int, sources: Sequence[int]) -> dict[str, Any]:
        """Solves for some sources of a configuration. Returns its entry in the report. Collective."""
        job = self.job
        run, name = job.run, job.names()[index]
        if self._present is None or self._present[0] != index:
            self._present = None
            job.configuration = index
            identity, links = job.identity(index), job.links(index)
            self._present = (index, identity, job.prepared(links), {})
        _, identity, u, operators = self._present
        entries = []
        for source in sources:
            position = run.source.positions[source]
            first = (index * len(run.source.positions) + source) * len(self.shifts)
            paths = self.paths[first : first + len(self.shifts)]
            kept = self._kept(paths, position, gauge_record(u)["checksum"]) if self.resume else set()
            solved: Sequence[AnyPropagator | None] = [None] * len(paths)
            if len(kept) < len(paths):
                job.wait_for_choice()
                D = operators.get("D") or operators.setdefault("D", job.operator(u))
                shifted = run.solver.shifts is not None
                solved = self._shifted(D, position) if shifted else [job.propagator(D, position)]
            for path, shift, s in zip(paths, self.shifts, solved, strict=True):
                which = {"position": list(position)} | ({} if shift is None else {"shift": shift})
                if path in kept:
                    job.reporter.line(f"kept          {path}")
                    entries.append(which | {"kept": path})
                    continue
                entries.append(which | self._report(name, shift, s.reports))
                if path is not None:
                    s.record["gauge"] |= {"name": name, "identity": identity}
                    with job.work.paused():
                        write_propagator(path, s, format_of(path))
                    job.reporter.line(f"propagator    {path}")
        return {"name": name, "checksum": identity, "plaquette": gauge.plaquette(u), "sources": entries}

    def _kept(self, paths: Sequence[str], position: Any, links: str) -> set[str]:
        """Those of `paths` that exist. Raises InvalidArgument if one holds something else. Collective."""
        run = self.job.run
        source = dataclasses.replace(run.source, positions=(position,)).as_toml_values()
        kept = set()
        for path, shift in zip(paths, self.shifts, strict=True):
            if not on_root(self.job.group, Path(path).exists):
                continue
            record = record_of(path, self.job.group)
            wanted = {
                "action": run.action.as_toml_values(),
                "source": source,
                "tolerance": run.solver.tolerance,
                "links": links,
                "quark": None,
                "flavours": None,
                "shift": shift,
                "shift_operator": None if shift is None else run.solver.shift_operator or "full",
            }
            found = {name: record.get(name) for name in wanted} | {
                "tolerance": record.get("solver", {}).get("tolerance"),
                "links": record.get("gauge", {}).get("checksum"),
            }
            for name, value in wanted.items():
                if found[name] != value:
                    raise InvalidArgument(
                        f"{path} is of another run: it has {_said(name, found[name])}, and this run has "
                        f"{_said(name, value)}; name other files, or replace them with --overwrite."
                    )
            kept.add(path)
        return kept

    def _shifted(self, D: DiracOperator, position: Any) -> list[Propagator]:
        """The solutions for all shifts from one source; reports progress, and stops when asked to."""
        job, solver = self.job, self.job.run.solver
        source = dataclasses.replace(job.run.source, positions=(position,))
        with job.reporter.stage(f"source {list(position)}", 12) as advance:

            def column(number: int, reports: list[dict[str, Any]]) -> None:
                advance(number, f"{number} of 12 columns, residual {max(r['residual'] for r in reports):.1e}")

            def iteration(first: int, iterations: int, residual: float) -> bool:
                share = min(1.0, max(0.0, math.log(max(residual, 1e-300)) / math.log(solver.tolerance)))
                advance(first + share, f"column {first + 1}: iteration {iterations}, residual {residual:.1e}")
                if job.group.size > 1 and iterations % ITERATIONS_BETWEEN_AGREEMENTS:
                    return True
                return not job.group.any(job.reporter.stop_requested())

            try:
                return shifted_propagators_from(D, source, solver, column, iteration)
            except Interrupted:
                raise Interrupted(STOPPED) from None

    def _report(self, name: str, shift: float | None, reports: list[dict[str, Any]]) -> dict[str, Any]:
        """Logs the reports of the columns and returns them for --json."""
        # A note on a batch is in the reports of all its columns. It is kept once, with its kind.
        notes = dict.fromkeys(pair for r in reports for pair in zip(r["notes"], r["note_kinds"], strict=True))
        title = name if shift is None else f"{name}, shift {shift:g}"
        self.job.reporter.line(
            f"{title}: {reports[0]['method']}, iterations {min(r['iterations'] for r in reports)} to "
            f"{max(r['iterations'] for r in reports)}, largest residual {max(r['residual'] for r in reports):.2e}, "
            f"{sum(r['seconds'] for r in reports):.2f} s in the solver"
        )
        return {
            "method": reports[0]["method"],
            "converged": [r["converged"] for r in reports],
            "reason": [r["reason"] for r in reports],
            "residuals": [r["residual"] for r in reports],
            "iterations": [r["iterations"] for r in reports],
            "seconds": [r["seconds"] for r in reports],
            "history": [r["history"] for r in reports],
            "columns": [r["columns"] for r in reports],
            "notes": [note for note, _ in notes],
            "note_kinds": [kind for _, kind in notes],
        }


def _said(name: str, value: Any) -> str:
    """An entry of a record, for a sentence."""
    name = name.replace("_", " ")
    return f"no {name}" if value is None else f"the {name} {value}"


def propagators_of(run: Run) -> int:
    """The number of solutions: one for each configuration, source and shift."""
    configurations = len(run.gauge.files or ()) or run.gauge.generate.configurations
    return len(run.source.positions) * configurations * len(run.solver.shifts or (None,))


def iterations_of(report: dict[str, Any]) -> int:
    """Iterations of the solver in the report of `solve_run`, of all columns together; shifts share their iterations."""
    found = 0
    for configuration in report["configurations"]:
        at: dict[tuple, int] = {}
        for source in configuration["sources"]:
            position = tuple(source["position"])
            at[position] = max(at.get(position, 0), sum(source.get("iterations", ())))
        found += sum(at.values())
    return found
