# SPDX-License-Identifier: Apache-2.0
"""`halocline qcd spectrum` and `halocline qcd solve`: the commands that take a run file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halocline.cli.common import Json, Overwrite, Replace
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument

if TYPE_CHECKING:
    from halocline.qcd.runfile import Run

RunFile = Annotated[str | None, typer.Argument(metavar="RUN.toml", help="Run file; --example prints one.")]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Instead of the run file's [parallel] device: cpu, cuda or cuda:N."),
]
Example = Annotated[bool, typer.Option("--example", help="Print a commented run file and stop.")]


def add_to(group: typer.Typer) -> None:
    group.command()(spectrum)
    group.command()(solve)


def asked(run_file: str | None, example: bool) -> str | None:
    """The run file to use; None if the example was requested, which is then printed."""
    from halocline.qcd.runfile import example_run_file

    if example:
        if speaks():
            print(example_run_file(), end="")
        return None
    if run_file is None:
        raise InvalidArgument("a run file is missing; `halocline qcd spectrum --example` prints one to start from.")
    return run_file


def spectrum(
    run_file: RunFile = None,
    example: Example = False,
    device: Device = None,
    overwrite: Overwrite = False,
    share: Annotated[
        str | None,
        typer.Option(metavar="T/N", help="Do the share of task T of an array of N only; see `halocline qcd jobs`."),
    ] = None,
    json: Json = None,
) -> None:
    """Gauge configurations in, hadron correlators out.

    Results go to the HDF5 file that the run file names, with a log and pictures beside it. A run that was
    stopped goes on where it was. Results of another run are never replaced without --overwrite.
    """
    from halocline.comm import communicator
    from halocline.energy import Meter
    from halocline.qcd import plots
    from halocline.qcd.results import as_json
    from halocline.qcd.runfile import read_run_file
    from halocline.qcd.spectrum import job_of

    path = asked(run_file, example)
    if path is None:
        return
    run = read_run_file(path).on_device(device)
    console = Console()
    if share is not None:
        return task_of_an_array(run, share, console, overwrite, json)
    with console.hears_signals():
        job = job_of(run, communicator(), console, overwrite)
        meter = Meter(communicator(), run.parallel.device)
        result = Path(run.output.file)
        console.keep_log(result.with_suffix(".log"))
        try:
            attributes, measured = job.run_all()
            used = meter.close()
            console.line(used.sentence(job.iterations))
            console.line(f"results       {result}")
            if run.output.plots and speaks():
                for picture in plots.draw(result, attributes, measured, run.measure.bin):
                    console.line(f"picture       {picture}")
                for line in plots.table(attributes, measured, run.measure.bin):
                    console.line(line)
            write_json(json, as_json(attributes, measured) | {"energy": used.as_json(job.iterations)})
        finally:
            console.close()


def task_of_an_array(run: Run, share: str, console: Console, overwrite: bool, json: Path | None) -> None:
    """Does the share of one task; its log lies beside its result file."""
    from halocline.comm import communicator
    from halocline.energy import Meter
    from halocline.qcd.job_array import TaskJob, parse_share

    if overwrite:
        raise InvalidArgument("--share goes on with what a task has done; leave --overwrite out, or remove its files.")
    task, tasks = parse_share(share)
    with console.hears_signals():
        job = TaskJob(run, task, tasks, communicator(), console)
        console.keep_log(job.path.with_suffix(".log"))
        try:
            meter = Meter(communicator(), run.parallel.device)
            done, items = job.run_all()
            used, iterations = meter.close(), job.job.iterations
            console.line(used.sentence(iterations))
            console.line(f"results       {job.path}: {done} of {items} items")
            found = {"task": task, "tasks": tasks, "items": items, "done": done, "file": str(job.path)}
            write_json(json, found | {"energy": used.as_json(iterations)})
        finally:
            console.close()


def solve(
    run_file: RunFile = None,
    example: Example = False,
    device: Device = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Keep the propagators: HDF5 (.h5) or SciDAC LIME, numbered when there are several."
        ),
    ] = None,
    overwrite: Replace = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the files of this run that are there, and make the missing ones.")
    ] = False,
    json: Json = None,
) -> None:
    """Solve for quark propagators and report iterations, residuals and times, without contractions."""
    from halocline.comm import communicator
    from halocline.energy import Meter
    from halocline.qcd.runfile import read_run_file
    from halocline.qcd.solve import iterations_of, solve_run

    path = asked(run_file, example)
    if path is None:
        return
    run = read_run_file(path).on_device(device)
    console = Console()
    with console.hears_signals():
        meter = Meter(communicator(), run.parallel.device)
        found = solve_run(run, communicator(), console, output, overwrite, resume)
        used, iterations = meter.close(), iterations_of(found)
        console.line(used.sentence(iterations))
        write_json(json, found | {"energy": used.as_json(iterations)})
