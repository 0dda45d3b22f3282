# SPDX-License-Identifier: Apache-2.0
"""`halocline qcd jobs`: a run as an array of jobs of the batch system."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from halocline.cli.common import Json, command_group, counted
from halocline.cli.console import Console, write_json
from halocline.errors import InvalidArgument

app = command_group("A run of `halocline qcd spectrum` as an array of jobs: script, status, merge.")

RunFile = Annotated[str, typer.Argument(metavar="RUN.toml", help="Run file of `halocline qcd spectrum`.")]


@app.command()
def script(
    run_file: RunFile,
    tasks: Annotated[int, typer.Option(help="Tasks of the array; each has a share of the solves.")],
    system: Annotated[str, typer.Option(help="slurm or pjm.")] = "slurm",
    processes: Annotated[int, typer.Option(help="MPI processes of a task.")] = 1,
    time: Annotated[str, typer.Option(metavar="HH:MM:SS", help="Longest time of a task.")] = "01:00:00",
    at_once: Annotated[
        int | None, typer.Option("--at-once", help="Tasks that may run at the same time (slurm).")
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="The script; printed when absent.", show_default=False)
    ] = None,
    json: Json = None,
) -> None:
    """Write a script that starts the tasks which have work left, and the plan of the array.

    Every task writes a result file of its own in the folder `<result file>.jobs`. Call it again with the same number of
    tasks for a script of what is left.
    """
    from halocline.files import write_file
    from halocline.qcd import job_array
    from halocline.qcd.runfile import read_run_file

    if system not in job_array.SYSTEMS:
        raise InvalidArgument(f"--system {system}: give {' or '.join(job_array.SYSTEMS)}.")
    if not re.fullmatch(r"\d{1,4}:[0-5]\d:[0-5]\d", time):
        raise InvalidArgument(f"--time {time}: give hours, minutes and seconds as HH:MM:SS.")
    for name, value in (("--processes", processes), ("--at-once", at_once)):
        if value is not None and value < 1:
            raise InvalidArgument(f"{name} {value}: give 1 or more.")
    if at_once is not None and system != "slurm":
        raise InvalidArgument(f"--at-once {at_once}: {system} has no such limit for an array; leave it out.")
    run = read_run_file(run_file)
    plan = job_array.plan_of(run, tasks)
    job_array.write_plan(run, plan)
    status = job_array.status_of(run, plan)
    console = Console()
    write_json(json, status.as_json())
    if not status.unfinished:
        console.line(f"all {plan.items} items are done; `halocline qcd jobs merge {run_file}` joins them.")
        return
    text = job_array.script(system, shlex.quote(run_file), plan, status.unfinished, processes, time, at_once)
    if output is None:
        print(text, end="")
        return
    write_file(output, text)
    console.line(f"script        {output}: {counted(len(status.unfinished), 'task')} with work left, of {plan.tasks}")


@app.command()
def status(run_file: RunFile, json: Json = None) -> None:
    """Say how much of an array is done, how long the rest takes, and which tasks have work left."""
    from halocline.qcd import job_array
    from halocline.qcd.runfile import read_run_file

    run = read_run_file(run_file)
    found = job_array.status_of(run, job_array.read_plan(run))
    plan, console = found.plan, Console()
    write_json(json, found.as_json())
    console.line(
        f"items         {found.done} of {plan.items} done ({100 * found.done / plan.items:.3g} %): "
        f"{counted(plan.configurations, 'configuration')} of {counted(plan.sources, 'source')}"
    )
    if not found.unfinished:
        console.line(f"tasks         all {plan.tasks} are finished; `halocline qcd jobs merge {run_file}` joins them")
        return
    listed = job_array.numbers_text(found.unfinished)
    listed = listed if len(listed) < 80 else f"{listed[:76].rpartition(',')[0]},..."
    console.line(f"tasks         {plan.tasks - len(found.unfinished)} of {plan.tasks} finished; work left in {listed}")
    if found.seconds_left is not None:
        left, tasks = found.seconds_left, len(found.unfinished)
        console.line(
            f"time          {_duration(found.seconds_an_item)} an item; {_duration(left)} of one task are left, "
            f"{_duration(left / tasks)} if {counted(tasks, 'task')} run at once"
        )


@app.command()
def merge(run_file: RunFile, json: Json = None) -> None:
    """Join the results of the tasks into the result file of the run.

    Configurations that lack sources are left out; merge again when their tasks are done. The files of the tasks stay.
    """
    from halocline.qcd import job_array
    from halocline.qcd.runfile import read_run_file

    run = read_run_file(run_file)
    plan = job_array.read_plan(run)
    complete, total = job_array.merge(run, plan)
    write_json(json, {"complete": complete, "configurations": total, "file": run.output.file})
    console = Console()
    console.line(f"results       {Path(run.output.file)}: {complete} of {counted(total, 'configuration')}")
    if complete < total:
        console.warning(f"{total - complete} of {total} configurations lack sources; merge again when they are done.")


def _duration(seconds: float) -> str:
    """'3.2 s', '12 min', '5.1 h', '3.4 days'."""
    for size, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {name}" if seconds / size < 10 else f"{math.ceil(seconds / size)} {name}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
