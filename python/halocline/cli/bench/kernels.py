# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of computation: operators, solvers, multigrid, gauge updates."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
from typing import Annotated

import typer

from halocline.cli.bench import device as on_device
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
    real_numbers,
    split,
    thread_counts,
    volumes,
)
from halocline.errors import Error, InvalidArgument

CPU_KINDS = "schwarz,bicgstab,cg"


def dslash(
    bench: Bench,
    local: Local = ["8x8x8x8", "16x16x16x16", "24x24x24x24"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    precision: Annotated[
        list[str],
        typer.Option(help="float or double, on a device fixed16 or fixed8 as well; several by commas or repetition."),
    ] = [  # noqa: B006
        "float",
        "double",
    ],
    form: Annotated[
        list[str],
        typer.Option(
            help="hopping, wilson, clover, schur, schur-asymmetric, clover-inverse, inside or all; on a device "
            "hopping, hopping-clover, fused, schur, schur-asymmetric or all; several by commas or repetition."
        ),
    ] = ["hopping"],  # noqa: B006
    link_reals: LinkReals = "18",
    columns: ColumnCounts = "1",
    action: Annotated[
        str,
        typer.Option(
            help="wilson, twisted, doublet, domain-wall (of Shamir), mobius, one-link, asqtad, hisq, several by commas "
            "or all. With a fifth dimension, and of doublets, the forms are hopping, wilson, schur and "
            "schur-asymmetric; of staggered quarks hopping, wilson (which is D) and schur. A device has no doublet, "
            "and of all actions but wilson hopping, schur and schur-asymmetric."
        ),
    ] = "wilson",
    ls: Annotated[str, typer.Option(help="Points of the fifth dimension, even, 4 to 64; several by commas.")] = "8,16",
    device: on_device.Device = "cpu",
    emulate: on_device.Emulate = "1x1x1x1",
    policy: on_device.Policies = "default",
    stage: on_device.Stages = "whole",
    graph: on_device.Graph = "off",
) -> None:
    """Dirac operators: the one-parity hopping term, D, D with clover, the Schur complement, and their pieces.

    With --device the hopping term and Schur complements on a GPU, their bytes with and without reuse in the caches; of
    the hopping term of Wilson quarks also its stages and halos.
    """
    from halocline import bench as library

    if device != "cpu":
        on_device.dslash(
            bench, device, local, precision, form, link_reals, columns, action, ls, emulate, policy, stage, graph,
            threads=threads,
        )  # fmt: skip
        return
    on_device.only_on_devices(
        emulate=(emulate, "1x1x1x1"), policy=(policy, "default"), stage=(stage, "whole"), graph=(graph, "off")
    )

    cases = []
    for a, n, p, reals, c, t in itertools.product(
        chosen("--action", action, library.ACTIONS),
        volumes(local),
        chosen("--precision", precision, library.PRECISIONS),
        counts("--link-reals", link_reals, "18,12"),
        counts("--columns", columns, "1,12"),
        thread_counts(threads),
    ):
        walls = a in library.WALLS
        for f, s in itertools.product(
            chosen("--form", form, forms_of(a)),
            counts("--ls", ls, "8,16") if walls else [1],
        ):
            if f == "inside" and (p == "double" or a != "wilson"):  # it exists only so
                continue
            if a in library.STAGGERED and reals != 18 and link_reals != "12":  # fat links are not unitary
                continue
            size = f"{'x'.join(map(str, n))}{f' x {s}' if walls else ''}"
            name = f"{'' if a == 'wilson' else f'{a} '}{f} {size} {p} {reals} reals {c} columns {t} threads"
            cases.append((name, later(library.dslash, n, t, p, f, reals, c, a, s, seconds=bench.seconds)))
    bench.run(cases)


def forms_of(action: str) -> tuple[str, ...]:
    """The forms that `dslash` has for an action."""
    from halocline import bench as library

    if action in library.STAGGERED:
        return library.STAGGERED_FORMS
    return library.WALL_FORMS if action in (*library.WALLS, "doublet") else library.FORMS


def su3(
    bench: Bench,
    local: Local = ["8x8x8x8", "16x16x16x16", "24x24x24x24"],  # noqa: B006 - typer copies it
    precision: Annotated[str, typer.Option(help="float, double or both by a comma.")] = "float,double",
    layout: Annotated[
        str,
        typer.Option(help="Of complex numbers: apart (registers of real and of imaginary parts), interleaved, or all."),
    ] = "apart,interleaved",
    form: Annotated[
        str, typer.Option(help="product (matrix times matrix), vector (matrix times two colour vectors), or both.")
    ] = "product",
    threads: Threads = "1",
) -> None:
    """SU(3) x SU(3) at every site of a field, in two layouts of complex numbers."""
    from halocline import bench as library

    cases = []
    for n, p, how, f, t in itertools.product(
        volumes(local),
        chosen("--precision", precision, library.PRECISIONS),
        chosen("--layout", layout, library.LAYOUTS),
        chosen("--form", form, library.SU3_FORMS),
        thread_counts(threads),
    ):
        name = f"{f} {'x'.join(map(str, n))} {p} {how} {t} threads"
        cases.append((name, later(library.su3, n, t, p, how, f, seconds=bench.seconds)))
    bench.run(cases)


def reorder(
    bench: Bench,
    local: Local = ["32x16x16x32"],  # noqa: B006 - typer copies it
    order: Annotated[
        str, typer.Option(help="Names of orders by commas (docs/conventions.md), or all.", show_default="all")
    ] = "all",
    field: Annotated[
        str, typer.Option(help="gauge, spinor, canonical or propagator (not of milc), by commas.")
    ] = "gauge,spinor,canonical",
    direction: Annotated[str, typer.Option(help="load (into our field), store, or both by a comma.")] = "load,store",
    precision: Annotated[str, typer.Option(help="Of the array: float, double or both by a comma.")] = "float,double",
    basis: Annotated[str, typer.Option(help="Spin basis; that of the order when empty.")] = "",
    threads: Threads = "1",
) -> None:
    """Fields in and out of the memory orders of other codes, beside a copy of as many bytes."""
    from halocline import bench as library
    from halocline.qcd.orders import ORDERS

    cases = []
    for n, o, f, d, p, t in itertools.product(
        volumes(local),
        chosen("--order", order, ORDERS),
        chosen("--field", field, library.REORDERED),
        chosen("--direction", direction, library.REORDERINGS),
        chosen("--precision", precision, library.PRECISIONS),
        thread_counts(threads),
    ):
        name = f"{d} {f} {o} {p} {'x'.join(map(str, n))} {t} threads"
        cases.append((name, later(library.reorder, n, o, f, d, p, basis, t, seconds=bench.seconds)))
    bench.run(cases)


def coarse(
    bench: Bench,
    local: Local = ["8x8x8x8"],  # noqa: B006
    vectors: Annotated[int, typer.Option(help="Test vectors, a multiple of 8; a block has twice as many rows.")] = 24,
    columns: ColumnCounts = "1,12",
    storage: Annotated[str, typer.Option(help="half, float or both by a comma: of the blocks.")] = "half,float",
    form: Annotated[
        str, typer.Option(help="operator, schur (even-odd preconditioned) or both by a comma.")
    ] = "operator,schur",
    threads: Threads = "1",
) -> None:
    """The operator of a coarse level of multigrid, on random blocks; --local counts coarse sites."""
    from halocline import bench as library

    cases = []
    for n, f, s, c, t in itertools.product(
        volumes(local),
        chosen("--form", form, library.COARSE_FORMS),
        chosen("--storage", storage, library.STORAGES),
        counts("--columns", columns, "1,12"),
        thread_counts(threads),
    ):
        name = f"{f} {'x'.join(map(str, n))} {s} {c} columns {t} threads"
        cases.append((name, later(library.coarse, n, vectors, c, s, f, t, seconds=bench.seconds)))
    bench.run(cases)


def solver(
    bench: Bench,
    gauge: Annotated[
        str | None, typer.Option(metavar="FILE", help="Gauge file; weak random links when absent.")
    ] = None,
    size: Annotated[
        tuple[int, int, int, int], typer.Option("--size", metavar="X Y Z T", help="Lattice of the generated field.")
    ] = (8, 8, 8, 8),
    kappa: Annotated[float, typer.Option(help="Hopping parameter.")] = 0.1335,
    csw: Annotated[float, typer.Option(help="Clover coefficient.")] = 1.769,
    kind: Annotated[
        str,
        typer.Option(help="auto, schwarz, bicgstab, cg, gcr, fgmres, some by commas, or all; on a device no schwarz."),
    ] = CPU_KINDS,
    precision: Annotated[str, typer.Option(help="mixed, double or both by a comma.")] = "mixed,double",
    storage: Annotated[str, typer.Option(help="float, half or both by a comma: of the Schwarz preconditioner.")] = (
        "float"
    ),
    tolerance: Annotated[str, typer.Option(metavar="X[,X...]", help="On |b - D x| / |b|, a case each.")] = "1e-10",
    columns: ColumnCounts = "1",
    threads: Threads = "1",
    runs: Annotated[int, typer.Option(help="Solves of each case.")] = 3,
    action: Annotated[
        str,
        typer.Option(
            help="wilson, twisted, doublet, domain-wall (of Shamir), mobius, one-link, asqtad, hisq, several by commas "
            "or all."
        ),
    ] = "wilson",
    mass: Annotated[
        float | None, typer.Option(help="Quark mass of the other actions; 0.01 when absent. wilson has kappa.")
    ] = None,
    ls: Annotated[int, typer.Option(help="Points of the fifth dimension, even, 4 to 64.")] = 8,
    device: on_device.Device = "cpu",
    inner: Annotated[
        str, typer.Option(help="On a device: precision inside, double, float, fixed16, fixed8, some by commas, or all.")
    ] = "fixed16",
    link_reals: Annotated[
        str, typer.Option("--link-reals", metavar="N[,N]", help="On a device: 18, 12 or 8 reals kept of a link inside.")
    ] = "12",
    policy: on_device.Policies = "default",
) -> None:
    """Time to a tolerance: columns of a quark propagator, antiperiodic in time, for each method and precision.

    Domain walls and staggered quarks are solved by cg and block-cg alone.
    """
    from halocline import _halocline
    from halocline import bench as library
    from halocline.qcd import gauge as fields

    on_cpu = device == "cpu"
    kinds = chosen("--kind", kind, library.SOLVERS) if on_cpu else []
    precisions = chosen("--precision", precision, ("mixed", "double"))
    storages = chosen("--storage", storage, library.STORAGES)
    tolerances = real_numbers("--tolerance", tolerance, "1e-6,1e-10")
    actions = chosen("--action", action, library.ACTIONS)
    wilson_mass = _halocline.qcd.mass_from_kappa(kappa)
    if not on_cpu and action == "all":
        actions.remove("doublet")
    if on_cpu:
        on_device.only_on_devices(inner=(inner, "fixed16"), link_reals=(link_reals, "12"), policy=(policy, "default"))
    else:
        on_device.known(device)
    if gauge is None:
        u = fields.weak_links(size, 0.3, seed=1)
    else:
        u = fields.read_gauge(gauge, warn=False)
        for sentence in u.info["warnings"]:
            bench.console.warning(f"{gauge}: {sentence}")
    name = "generated" if gauge is None else os.path.basename(gauge)
    if not on_cpu:
        on_device.solver(
            bench, device, u, name, actions, 0.01 if mass is None else mass, wilson_mass, csw, ls,
            "bicgstab,cg" if kind == CPU_KINDS else kind, inner, link_reals, policy, tolerance, columns, runs,
            threads=threads,
        )  # fmt: skip
        return
    cases = []
    by_cg = (*library.WALLS, *library.STAGGERED, "doublet")
    for a, k, p, stored, limit, n, t in itertools.product(
        actions, kinds, precisions, storages, tolerances, counts("--columns", columns, "1,12"), thread_counts(threads)
    ):
        # Schwarz is single precision inside double; the other solvers have no preconditioner to store.
        if (k == "schwarz" and p == "double") or (k not in ("schwarz", "auto") and stored != storages[0]):
            continue
        if kind in (CPU_KINDS, "all") and a in by_cg and k not in ("cg", "block-cg"):
            continue
        m = wilson_mass if a in ("wilson", "twisted", "doublet") else 0.01 if mass is None else mass
        case = later(
            library.solver, u, name, mass=m, csw=csw, kind=k, precision=p, storage=stored, tolerance=limit,
            threads=t, columns=n, runs=runs, action=a, ls=ls, seconds=bench.seconds,
        )  # fmt: skip
        cases.append((f"{'' if a == 'wilson' else f'{a} '}{k} {p} {stored} {limit:g} {n} columns {t} threads", case))
    results = bench.run(cases)
    failed = [
        f"{r['case']['solver']} {r['case']['precision']} ({r['case']['tolerance']:g})"
        for r in results
        if not r["result"]["converged"]
    ]
    if failed:
        raise Error(f"these did not reach their tolerance: {', '.join(failed)}.")


def heatbath(
    bench: Bench,
    local: Local = ["16x16x16x16"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    beta: Annotated[float, typer.Option(help="Inverse coupling.")] = 6.0,
    overrelaxation: Annotated[int, typer.Option(help="Over-relaxation sweeps after each heatbath sweep.")] = 0,
) -> None:
    """Sweeps of the quenched heatbath."""
    from halocline import bench as library

    cases = []
    for n in volumes(local):
        for t in thread_counts(threads):
            name = f"heatbath {'x'.join(map(str, n))} {t} threads"
            cases.append((name, later(library.heatbath, n, t, beta, overrelaxation, seconds=bench.seconds)))
    bench.run(cases)


def multigrid(
    bench: Bench,
    gauge: Annotated[
        str | None, typer.Option(metavar="FILE", help="Gauge file; a generated field when absent.")
    ] = None,
    size: Annotated[
        tuple[int, int, int, int], typer.Option("--size", metavar="X Y Z T", help="Lattice of the generated field.")
    ] = (8, 8, 8, 8),
    smear: Annotated[int, typer.Option(help="Steps of stout smearing with rho = 0.1.")] = 3,
    mass: Annotated[str, typer.Option(metavar="M[,M...]", help="Bare masses m0, a case each.")] = "-0.05,-0.09",
    csw: Annotated[float, typer.Option(help="Clover coefficient.")] = 1.0,
    columns: ColumnCounts = "1",
    tolerance: Annotated[float, typer.Option(help="On |b - D x| / |b|.")] = 1e-10,
    vectors: Annotated[int, typer.Option(help="Test vectors, a multiple of 8.")] = 24,
    levels: Annotated[
        int | None, typer.Option(help="Levels; as many as the lattice needs when absent.", show_default=False)
    ] = None,
    runs: Annotated[int, typer.Option(help="Solves of each case by each method.")] = 3,
    from_file: Annotated[bool, typer.Option("--from-file", help="Also keep each set-up and take it again.")] = False,
) -> None:
    """Multigrid beside even-odd BiCGStab over quark masses: set-up, cycles, time of a solve.

    Random sources, antiperiodic in time. The number of threads is that of the process (OMP_NUM_THREADS).
    """
    import tempfile

    from halocline import bench as library
    from halocline.comm import on_root, world
    from halocline.qcd import gauge as fields

    group = world()
    masses = [float(m) for m in split(mass)] if _all_numbers(mass) else None
    if not masses:
        raise InvalidArgument(f"--mass {mass}: give masses such as -0.05,-0.09.")
    if gauge is None:
        u = fields.random_links(size, 1, group)
        fields.heatbath(u, 6.0, 20, 1, 1)
    else:
        u = fields.read_gauge(gauge, group, warn=False)
    if smear > 0:
        u = fields.smear_stout(u, 0.1, smear)
    name = "generated" if gauge is None else os.path.basename(gauge)
    with contextlib.ExitStack() as kept:
        folder = on_root(group, lambda: kept.enter_context(tempfile.TemporaryDirectory()))
        cases = []
        for m, n in itertools.product(masses, counts("--columns", columns, "1,12")):
            file = os.path.join(folder, f"{m}_{n}.h5") if from_file else None
            case = later(library.multigrid, u, name, m, csw, n, runs, tolerance, file, vectors=vectors, levels=levels)
            cases.append((f"m0 = {m:g}, {n} columns", case))
        bench.run(cases)


def _all_numbers(text: str) -> bool:
    try:
        return all(math.isfinite(float(item)) for item in split(text))
    except ValueError:
        return False


def add_to(app: typer.Typer) -> None:
    command(app, dslash, seconds=0.5)
    command(app, su3, seconds=0.5, plot=True)
    command(app, reorder, seconds=1.0)
    command(app, coarse, seconds=0.5)
    command(app, solver, seconds=0.3)
    command(app, multigrid, seconds=0.3, plot=True)
    command(app, heatbath, seconds=0.5)
