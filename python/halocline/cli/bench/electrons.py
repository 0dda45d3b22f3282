# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of electrons on a grid."""

from __future__ import annotations

import itertools
from typing import Annotated

import typer

from halocline.cli.bench.common import Bench, Threads, chosen, command, extents, later, thread_counts


def hartree(
    bench: Bench,
    points: Annotated[
        list[str],
        typer.Option("--points", metavar="XxYxZ", help="Points of the whole grid; several by commas or repetition."),
    ] = ["16x16x16", "32x32x32", "64x64x64", "128x128x128"],  # noqa: B006 - typer copies it
    boundary: Annotated[list[str], typer.Option(help="periodic, isolated or all; several by commas or repetition.")] = [
        "all"
    ],  # noqa: B006
    over: Annotated[
        list[str],
        typer.Option(help="What the processes divide: orbitals, space or all; several by commas or repetition."),
    ] = ["orbitals"],  # noqa: B006
    threads: Threads = "1",
) -> None:
    """Hartree potential by Fourier transforms: each space group by itself, all processes together, and the choice."""
    from halocline import bench as library

    cases = []
    for b, n, o, t in itertools.product(
        chosen("--boundary", boundary, library.BOUNDARIES),
        extents("--points", points, 3, "64x64x64"),
        chosen("--over", over, library.DIVISIONS),
        thread_counts(threads),
    ):
        name = f"hartree {b} {'x'.join(map(str, n))} over {o} {t} threads"
        cases.append((name, later(library.hartree, n, b, o, t, seconds=bench.seconds)))
    bench.run(cases)


def add_to(app: typer.Typer) -> None:
    command(app, hartree, seconds=0.5)
