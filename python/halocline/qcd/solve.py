# SPDX-License-Identifier: Apache-2.0
"""The job of `halocline qcd solve`: solutions only, with the full report of the solver.

Without shifts these are propagators. With [solver] shifts they are the solutions of (S^dagger S + shift) x = b, in
files of the same kind, one for each shift.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halocline.comm import on_root
from halocline.errors import Interrupted, InvalidArgument
from halocline.files import output_names, refuse_existing
from halocline.qcd import gauge
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
from halocline.reporter import Reporter

PROPAGATOR_BYTES = 12 * 12 * 16
"""Of a propagator [bytes a site]."""


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
    if resume and (output is None or overwrite):
        raise InvalidArgument("--resume keeps the files of --output; give --output, and not --overwrite.")
    if output is not None:
        check_format(output, format_of(output), LAYOUTS[propagator_class(run.action)])
    job = Job(run, group, reporter)
    shifts = run.solver.shifts or ()
    if len(shifts) > 1:
        gauge.require_memory(job.extents, group, len(shifts) * PROPAGATOR_BYTES, f"{len(shifts)} shifts on ")
    if output is not None and not resume:
        refuse_existing(group, output_names(output, propagators_of(run)), overwrite)
    with job.work:
        return _Solves(job, output, resume).run_all()


class _Solves:
    """The solves of a job, and their files."""

    def __init__(self, job: Job, output: str | None, resume: bool) -> None:
        self.job, self.resume = job, resume
        self.shifts: Sequence[float | None] = job.run.solver.shifts or (None,)
        count = propagators_of(job.run)
        self.paths = iter(output_names(output, count) if output is not None else [None] * count)

    def run_all(self) -> dict[str, Any]:
        job = self.job
        run = job.run
        job.log_parameters()
        configurations = []
        for name, identity, links in job.configurations():
            u = job.prepared(links)
            D = None
            sources = []
            for position in run.source.positions:
                paths = [next(self.paths) for _ in self.shifts]
                kept = self._kept(paths, position, gauge_record(u)["checksum"]) if self.resume else set()
                solved: Sequence[AnyPropagator | None] = [None] * len(paths)
                if len(kept) < len(paths):
                    D = D or job.operator(u)
                    shifted = run.solver.shifts is not None
                    solved = self._shifted(D, position) if shifted else [job.propagator(D, position)]
                for path, shift, s in zip(paths, self.shifts, solved, strict=True):
                    which = {"position": list(position)} | ({} if shift is None else {"shift": shift})
                    if path in kept:
                        job.reporter.line(f"kept          {path}")
                        sources.append(which | {"kept": path})
                        continue
                    sources.append(which | self._report(name, shift, s.reports))
                    if path is not None:
                        s.record["gauge"] |= {"name": name, "identity": identity}
                        with job.work.paused():
                            write_propagator(path, s, format_of(path))
                        job.reporter.line(f"propagator    {path}")
            configurations.append(
                {"name": name, "checksum": identity, "plaquette": gauge.plaquette(u), "sources": sources}
            )
        return {
            "parameters": run.as_toml_values(),
            "process_grid": list(job.geometry.grid),
            "solver_choice": job.choice,
            "configurations": configurations,
        }

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
                raise Interrupted(
                    "stopped; the files that were written are complete, and the same command with --resume goes on "
                    "from there."
                ) from None

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
