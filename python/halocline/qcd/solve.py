# SPDX-License-Identifier: Apache-2.0
"""The job of `halocline qcd solve`: propagators only, with the full report of the solver."""

from __future__ import annotations

from typing import Any

from halocline.files import output_names, refuse_existing
from halocline.qcd import gauge
from halocline.qcd.propagators import format_of, write_propagator
from halocline.qcd.runfile import Run
from halocline.qcd.spectrum import Job
from halocline.reporter import Reporter


def solve_run(run: Run, group: Any, reporter: Reporter, output: str | None, overwrite: bool = False) -> dict[str, Any]:
    """Solves twelve columns for every configuration and source of a run file.

    output: file for the propagators, HDF5 (.h5) or SciDAC (any other name), numbered when there are several; with None
    no propagator is written
    overwrite: replace existing files of these names
    Returns the numbers for --json: configurations[i].sources[k] with position, method, notes, note_kinds, and one entry
    for each column in converged, reason, residuals, iterations, seconds, history and columns (how many were solved
    together); solver_choice: the choice of kind = "auto" for all of them, or None.
    Raises as `spectrum`. Collective.
    """
    job = Job(run, group, reporter)
    if output is not None:
        refuse_existing(group, output_names(output, propagators_of(run)), overwrite)
    with job.work:
        return _solve_all(job, output)


def _solve_all(job: Job, output: str | None) -> dict[str, Any]:
    run, reporter = job.run, job.reporter
    job.log_parameters()
    paths = output_names(output, propagators_of(run)) if output is not None else []
    configurations, count = [], 0
    for name, identity, links in job.configurations():
        u = job.prepared(links)
        D = job.operator(u)
        sources = []
        for position in run.source.positions:
            s = job.propagator(D, position)
            reports = s.reports
            # A note on a batch is in the reports of all its columns. It is kept once, with its kind.
            notes = dict.fromkeys(pair for r in reports for pair in zip(r["notes"], r["note_kinds"], strict=True))
            reporter.line(
                f"{name}: {reports[0]['method']}, iterations {min(r['iterations'] for r in reports)} to "
                f"{max(r['iterations'] for r in reports)}, largest residual {max(r['residual'] for r in reports):.2e}, "
                f"{sum(r['seconds'] for r in reports):.2f} s in the solver"
            )
            if output is not None:
                path = paths[count]
                s.record["gauge"] |= {"name": name, "identity": identity}
                with job.work.paused():
                    write_propagator(path, s, format_of(path))
                reporter.line(f"propagator    {path}")
            count += 1
            sources.append(
                {
                    "position": list(position),
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
            )
        configurations.append({"name": name, "checksum": identity, "plaquette": gauge.plaquette(u), "sources": sources})
    parameters = run.as_toml_values()
    return {
        "parameters": parameters,
        "process_grid": list(job.geometry.grid),
        "solver_choice": job.choice,
        "configurations": configurations,
    }


def propagators_of(run: Run) -> int:
    """The number of propagators: one for each configuration and source."""
    return len(run.source.positions) * (len(run.gauge.files or ()) or run.gauge.generate.configurations)
