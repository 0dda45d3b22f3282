# SPDX-License-Identifier: Apache-2.0
"""`halocline maxwell`: light on a grid, from a run file; halocline/maxwell/job.py does the work."""

from __future__ import annotations

from typing import Annotated

import typer

from halocline.cli.common import Json, Overwrite, command_group
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument

app = command_group("Light on a grid: Maxwell's equations in the time domain.")


@app.callback()
def _group() -> None:
    pass


@app.command()
def run(
    run_file: Annotated[str | None, typer.Argument(metavar="RUN.toml", help="Run file; --example prints one.")] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a commented run file and stop.")] = False,
    overwrite: Overwrite = False,
    json: Json = None,
) -> None:
    """A pulse, the matter that it meets, and the energy that passes planes and boxes.

    Fluxes, probes and fields go to the `[output]` file, with a table, a picture and a log. A run that was stopped, by a
    signal or its wall_limit, goes on when the same command is given.
    """
    from halocline.maxwell.runfile import Run

    if example:
        if speaks():
            print(Run.example(), end="")
        return
    if run_file is None:
        raise InvalidArgument("a run file is missing; `halocline maxwell run --example` prints one to start from.")
    given = Run.read(run_file)
    from halocline.comm import communicator
    from halocline.maxwell.job import RunJob, as_json

    console = Console()
    with console.hears_signals():
        console.keep_log(given.output.path(".log"))
        try:
            path = RunJob(given, communicator(), console, overwrite).run()
            if json is not None and speaks():
                write_json(json, as_json(path))
        finally:
            console.close()
