# SPDX-License-Identifier: Apache-2.0
"""`halocline bench qcdjdd`: the Schwarz-preconditioned solver at the local volumes of the paper on Fugaku."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from halocline.cli.bench.common import (
    ColumnCounts,
    LinkReals,
    Local,
    LockTimeout,
    Markdown,
    Seconds,
    Threads,
    chosen,
    counts,
    later,
    measure,
    report,
    thread_counts,
    volumes,
)
from halocline.cli.common import Json
from halocline.cli.console import Console

VOLUMES = ["32x6x4x3", "32x6x4x6", "32x6x8x6", "32x6x8x12", "32x12x8x12"]


def qcdjdd(
    local: Local = VOLUMES,  # noqa: B006 - typer copies it
    threads: Threads = "1",
    columns: ColumnCounts = "1",
    storage: Annotated[str, typer.Option(help="float, half or both by a comma: numbers of the preconditioner.")] = (
        "float"
    ),
    link_reals: LinkReals = "18",
    iterations: Annotated[int, typer.Option(help="Iterations to time.")] = 500,
    regions: Annotated[bool, typer.Option("--regions", help="Where the time of an iteration goes.")] = False,
    seconds: Seconds = 0.5,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
    markdown: Markdown = False,
) -> None:
    """Iterations of single-precision BiCGStab with the Schwarz preconditioner, and its in-domain operator alone."""
    from halocline import bench
    from halocline.bench import table

    cases = []
    for n in volumes(local, example="32x6x4x3"):
        for stored in chosen("--storage", storage, bench.STORAGES):
            for reals in counts("--link-reals", link_reals, "18,12"):
                for c in counts("--columns", columns, "1,12"):
                    for t in thread_counts(threads):
                        name = f"{'x'.join(map(str, n))} {stored} {reals} reals {c} columns {t} threads"
                        cases.append((name, later(bench.qcdjdd, n, t, c, stored, reals, iterations, seconds=seconds)))
    console = Console()
    results: list[Any] = measure(console, cases, lock_timeout)
    report(console, results, json, markdown)
    if regions:
        for result in results:
            for line in table.regions(result, markdown).splitlines():
                console.line(line)


def add_to(app: typer.Typer) -> None:
    app.command()(qcdjdd)
