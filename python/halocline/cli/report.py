# SPDX-License-Identifier: Apache-2.0
"""`halocline report`: shows the contents of a result file as tables, and redraws its pictures."""

from __future__ import annotations

import contextlib
import json as json_module
from collections.abc import Iterator
from typing import Annotated

import typer

from halocline.cli.common import Json, counted
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import Error, FileError


def add_to(group: typer.Typer) -> None:
    group.command()(report)


def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE.h5", help="Result file of `halocline qcd spectrum`, `tddft` or `maxwell`.")
    ],
    bin: Annotated[int, typer.Option(help="Configurations a jackknife bin.")] = 1,
    plots: Annotated[bool, typer.Option("--plots", help="Draw the pictures anew.")] = False,
    json: Json = None,
) -> None:
    """Print what a result file holds: parameters and numbers of a spectrum run, of electrons or of light."""
    from halocline.maxwell.job import is_result as is_light
    from halocline.tddft.results import is_result

    with whole(file):
        if is_result(file):
            report_electrons(file, plots, json)
        elif is_light(file):
            report_light(file, plots, json)
        else:
            report_quarks(file, bin, plots, json)


@contextlib.contextmanager
def whole(file: str) -> Iterator[None]:
    """Turns a missing part of a readable file into a FileError."""
    try:
        yield
    except Error:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        said = str(error).strip().split("\n")[0]
        raise FileError(
            f"{file}: lacks what every result file has, or has it changed ({type(error).__name__}: {said}): it is "
            "damaged, or another program has changed it; compute it again."
        ) from None


def report_quarks(file: str, bin: int, plots: bool, json: Json) -> None:
    """Reports a result of `halocline qcd spectrum`."""
    from halocline.qcd import plots as pictures
    from halocline.qcd.results import as_json, read_spectrum

    console = Console()
    attributes, measured = read_spectrum(file)
    parameters = json_module.loads(attributes["parameters"])
    console.line(
        f"{file}: {counted(len(measured), 'configuration')} by halocline {attributes['version']} "
        f"({attributes['revision']})"
    )
    for section, values in parameters.items():
        for name, value in values.items():
            console.line(f"  [{section}] {name} = {json_module.dumps(value)}")
    for m in measured:
        a = m.attributes
        console.line(
            f"{m.name}: plaquette {a['plaquette']:.12f}, checksum {a['checksum']}, {a['ranks']} ranks, "
            f"largest residual {m.residuals.max():.2e}, {a['seconds']:.1f} s"
        )
    for line in pictures.table(attributes, measured, bin):
        console.line(line)
    if plots and speaks():
        for picture in pictures.draw(file, attributes, measured, bin):
            console.line(f"picture {picture}")
    write_json(json, as_json(attributes, measured))


def report_electrons(file: str, plots: bool, json: Json) -> None:
    """Reports a result of `halocline tddft`."""
    from halocline.tddft import report as electrons
    from halocline.tddft.results import as_json

    console = Console()
    for line in electrons.lines(file):
        console.line(line)
    if plots and speaks():
        for picture in electrons.pictures(file):
            console.line(f"picture {picture}")
    write_json(json, as_json(file))


def report_light(file: str, plots: bool, json: Json) -> None:
    """Reports a result of `halocline maxwell run`."""
    from pathlib import Path

    from halocline.maxwell.job import as_json, report_lines
    from halocline.maxwell.plots import draw

    console = Console()
    for line in report_lines(file):
        console.line(line)
    if plots and speaks():
        for picture in draw(Path(file)):
            console.line(f"picture {picture}")
    write_json(json, as_json(file))
