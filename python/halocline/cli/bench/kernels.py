# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of what computes: operators, solvers, gauge updates."""

from __future__ import annotations

import itertools
import os
from typing import Annotated

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
    real_numbers,
    report,
    thread_counts,
    volumes,
)
from halocline.cli.common import Json
from halocline.cli.console import Console
from halocline.errors import Error


def dslash(
    local: Local = ["8x8x8x8", "16x16x16x16", "24x24x24x24"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    precision: Annotated[list[str], typer.Option(help="float or double; several by commas or repetition.")] = [  # noqa: B006
        "float",
        "double",
    ],
    form: Annotated[
        list[str],
        typer.Option(
            help="hopping, wilson, clover, schur, clover-inverse, inside or all; several by commas or repetition."
        ),
    ] = ["hopping"],  # noqa: B006
    link_reals: LinkReals = "18",
    columns: ColumnCounts = "1",
    seconds: Seconds = 0.5,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
    markdown: Markdown = False,
) -> None:
    """Wilson operators: the one-parity hopping term, D, D with clover, the Schur complement, and their pieces."""
    from halocline import bench

    cases = []
    for n in volumes(local):
        for f in chosen("--form", form, bench.FORMS):
            for p in chosen("--precision", precision, bench.PRECISIONS):
                if f == "inside" and p == "double":  # it exists in single precision
                    continue
                for reals in counts("--link-reals", link_reals, "18,12"):
                    for c in counts("--columns", columns, "1,12"):
                        for t in thread_counts(threads):
                            name = f"{f} {'x'.join(map(str, n))} {p} {reals} reals {c} columns {t} threads"
                            cases.append((name, later(bench.dslash, n, t, p, f, reals, c, seconds=seconds)))
    console = Console()
    report(console, measure(console, cases, lock_timeout), json, markdown)


def solver(
    gauge: Annotated[
        str | None, typer.Option(metavar="FILE", help="Gauge file; weak random links when absent.")
    ] = None,
    size: Annotated[
        tuple[int, int, int, int], typer.Option("--size", metavar="X Y Z T", help="Lattice of the generated field.")
    ] = (8, 8, 8, 8),
    kappa: Annotated[float, typer.Option(help="Hopping parameter.")] = 0.1335,
    csw: Annotated[float, typer.Option(help="Clover coefficient.")] = 1.769,
    kind: Annotated[
        str, typer.Option(help="auto, schwarz, bicgstab, cg, gcr, fgmres, some by commas, or all.")
    ] = "schwarz,bicgstab,cg",
    precision: Annotated[str, typer.Option(help="mixed, double or both by a comma.")] = "mixed,double",
    storage: Annotated[str, typer.Option(help="float, half or both by a comma: of the Schwarz preconditioner.")] = (
        "float"
    ),
    tolerance: Annotated[str, typer.Option(metavar="X[,X...]", help="On |b - D x| / |b|, a case each.")] = "1e-10",
    columns: ColumnCounts = "1",
    threads: Threads = "1",
    runs: Annotated[int, typer.Option(help="Solves of each case.")] = 3,
    seconds: Seconds = 0.3,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
    markdown: Markdown = False,
) -> None:
    """Time to a tolerance: columns of a quark propagator, antiperiodic in time, for each method and precision."""
    from halocline import _halocline, bench
    from halocline.qcd import gauge as fields

    kinds = chosen("--kind", kind, bench.SOLVERS)
    precisions = chosen("--precision", precision, ("mixed", "double"))
    storages = chosen("--storage", storage, bench.STORAGES)
    tolerances = real_numbers("--tolerance", tolerance, "1e-6,1e-10")
    mass = _halocline.qcd.mass_from_kappa(kappa)
    console = Console()
    if gauge is None:
        u = fields.weak_links(size, 0.3, seed=1)
    else:
        u = fields.read_gauge(gauge, warn=False)
        for sentence in u.info["warnings"]:
            console.warning(f"{gauge}: {sentence}")
    name = "generated" if gauge is None else os.path.basename(gauge)
    cases = []
    for k, p, stored, limit, n, t in itertools.product(
        kinds, precisions, storages, tolerances, counts("--columns", columns, "1,12"), thread_counts(threads)
    ):
        # Schwarz is single precision inside double, and the others have no preconditioner to store.
        if (k == "schwarz" and p == "double") or (k not in ("schwarz", "auto") and stored != storages[0]):
            continue
        case = later(
            bench.solver, u, name, mass=mass, csw=csw, kind=k, precision=p, storage=stored, tolerance=limit, threads=t,
            columns=n, runs=runs, seconds=seconds,
        )  # fmt: skip
        cases.append((f"{k} {p} {stored} {limit:g} {n} columns {t} threads", case))
    results = measure(console, cases, lock_timeout)
    report(console, results, json, markdown)
    failed = [
        f"{r['case']['solver']} {r['case']['precision']} ({r['case']['tolerance']:g})"
        for r in results
        if not r["result"]["converged"]
    ]
    if failed:
        raise Error(f"these did not reach their tolerance: {', '.join(failed)}.")


def heatbath(
    local: Local = ["16x16x16x16"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    beta: Annotated[float, typer.Option(help="Inverse coupling.")] = 6.0,
    overrelaxation: Annotated[int, typer.Option(help="Over-relaxation sweeps after each heatbath sweep.")] = 0,
    seconds: Seconds = 0.5,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
    markdown: Markdown = False,
) -> None:
    """Sweeps of the quenched heatbath."""
    from halocline import bench

    cases = []
    for n in volumes(local):
        for t in thread_counts(threads):
            name = f"heatbath {'x'.join(map(str, n))} {t} threads"
            cases.append((name, later(bench.heatbath, n, t, beta, overrelaxation, seconds=seconds)))
    console = Console()
    report(console, measure(console, cases, lock_timeout), json, markdown)


def add_to(app: typer.Typer) -> None:
    for command in (dslash, solver, heatbath):
        app.command()(command)
