# SPDX-License-Identifier: Apache-2.0
"""Options common to many commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command_group(help: str) -> typer.Typer:
    """A group of commands. Help texts are Markdown: paragraphs are wrapped, and [solver] is not read as a colour."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help=help)


def counted(number: int, noun: str) -> str:
    """'1 configuration', '2 configurations'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the numbers to FILE as JSON.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Begin anew, and replace the results in the output file, whosever they are.")
]
Replace = Annotated[bool, typer.Option("--overwrite", help="Replace files of these names.")]
Grid = Annotated[
    tuple[int, int, int, int] | None,
    typer.Option("--grid", metavar="X Y Z T", help="Processes along each axis; least surface when absent."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse links that are not in SU(3) instead of warning.")]
Format = Annotated[
    str | None,
    typer.Option(help="ildg, nersc, openqcd, milc, npy or hdf5; from the suffix of the output file when absent."),
]
Bits = Annotated[int, typer.Option(help="32 or 64 bits a number in the output file; 0 for what the format prefers.")]
GaugeIn = Annotated[str, typer.Argument(metavar="GAUGE", help="Gauge file: NERSC, ILDG, openQCD, MILC, NPY or HDF5.")]
GaugeOut = Annotated[str, typer.Argument(metavar="OUT", help="Gauge file to write.")]
