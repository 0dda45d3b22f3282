# SPDX-License-Identifier: Apache-2.0
"""`halocline report`: what a result file holds, as tables, and its pictures anew."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from halocline.cli.common import Json
from halocline.cli.console import Console, speaks, write_json


def add_to(group: typer.Typer) -> None:
    group.command()(report)


def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE.h5", help="Result file of `halocline qcd spectrum` or `halocline tddft`.")
    ],
    bin: Annotated[int, typer.Option(help="Configurations a jackknife bin.")] = 1,
    plots: Annotated[bool, typer.Option("--plots", help="Draw the pictures anew.")] = False,
    json: Json = None,
) -> None:
    """Print what a result file holds: parameters and numbers of a spectrum run or of electrons."""
    from halocline.tddft.results import is_result

    if is_result(file):
        return report_electrons(file, plots, json)
    from halocline.qcd import plots as pictures
    from halocline.qcd.results import as_json, read_spectrum

    console = Console()
    attributes, measured = read_spectrum(file)
    parameters = json_module.loads(attributes["parameters"])
    console.line(
        f"{file}: {len(measured)} configurations by halocline {attributes['version']} ({attributes['revision']})"
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
    """Of a result of `halocline tddft`."""
    from halocline.tddft import report as electrons
    from halocline.tddft.results import as_json

    console = Console()
    for line in electrons.lines(file):
        console.line(line)
    if plots and speaks():
        for picture in electrons.pictures(file):
            console.line(f"picture {picture}")
    write_json(json, as_json(file))
