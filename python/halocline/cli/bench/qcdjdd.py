# SPDX-License-Identifier: Apache-2.0
"""`halocline bench qcdjdd`: the Schwarz-preconditioned solver at the local volumes of the paper on Fugaku."""

from __future__ import annotations

from typing import Annotated

import typer

from halocline.cli.bench.common import (
    Bench,
    ColumnCounts,
    LinkReals,
    Local,
    Threads,
    chosen,
    command,
    counts,
    later,
    thread_counts,
    volumes,
)

VOLUMES = ["32x6x4x3", "32x6x4x6", "32x6x8x6", "32x6x8x12", "32x12x8x12"]


def qcdjdd(
    bench: Bench,
    local: Local = VOLUMES,  # noqa: B006 - typer copies it
    threads: Threads = "1",
    columns: ColumnCounts = "1",
    storage: Annotated[str, typer.Option(help="float, half or both by a comma: numbers of the preconditioner.")] = (
        "float"
    ),
    link_reals: LinkReals = "18",
    iterations: Annotated[int, typer.Option(help="Iterations to time.")] = 500,
    regions: Annotated[bool, typer.Option("--regions", help="Where the time of an iteration goes.")] = False,
) -> None:
    """Iterations of single-precision BiCGStab with the Schwarz preconditioner, and its in-domain operator alone."""
    from halocline import bench as library
    from halocline.bench import table

    cases = []
    for n in volumes(local, example="32x6x4x3"):
        for stored in chosen("--storage", storage, library.STORAGES):
            for reals in counts("--link-reals", link_reals, "18,12"):
                for c in counts("--columns", columns, "1,12"):
                    for t in thread_counts(threads):
                        name = f"{'x'.join(map(str, n))} {stored} {reals} reals {c} columns {t} threads"
                        cases.append(
                            (name, later(library.qcdjdd, n, t, c, stored, reals, iterations, seconds=bench.seconds))
                        )
    results = bench.run(cases)
    if regions:
        for result in results:
            for line in table.regions(result, bench.markdown).splitlines():
                bench.console.line(line)


def add_to(app: typer.Typer) -> None:
    command(app, qcdjdd, seconds=0.5)
