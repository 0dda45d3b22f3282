# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of electrons and of light on a grid."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from halocline.cli.bench.common import Bench, Threads, chosen, command, counts, extents, later, thread_counts
from halocline.errors import InvalidArgument

Precisions = Annotated[str, typer.Option(help="Of the orbitals: double, float or both by a comma.")]


def hartree(
    bench: Bench,
    points: Annotated[
        list[str],
        typer.Option("--points", metavar="XxYxZ", help="Points of the whole grid; several by commas or repetition."),
    ] = ["16x16x16", "32x32x32", "64x64x64", "128x128x128"],  # noqa: B006 - typer copies it
    boundary: Annotated[list[str], typer.Option(help="periodic, isolated or all; by commas or repetition.")] = ["all"],  # noqa: B006
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


def stencil(
    bench: Bench,
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="XxYxZ", help="Points of the whole grid; several by commas or repetition."),
    ] = ["16x16x16", "32x32x32", "64x64x64", "128x128x128"],  # noqa: B006 - typer copies it
    orbitals: Annotated[str, typer.Option(metavar="N[,N...]", help="Complex orbitals, a case each.")] = "1,16,128",
    form: Annotated[
        list[str],
        typer.Option(
            help="apply, taylor, taylor-current, current, density or all; several by commas or repetition.",
        ),
    ] = ["apply"],  # noqa: B006
    lattice: Annotated[
        list[str],
        typer.Option(help="orthogonal, hexagonal, face-centred or all: none, one and three diagonals beside the axes."),
    ] = ["orthogonal"],  # noqa: B006
    memory: Annotated[float, typer.Option(metavar="GIB", help="Cases that need more are skipped.")] = 8.0,
    precision: Precisions = "double",
    threads: Threads = "1",
) -> None:
    """The 25-point stencil of the Kohn-Sham Hamiltonian: 158 operations a point and orbital."""
    from halocline import bench as library

    cases = []
    for n, m, f, a, p, t in itertools.product(
        extents("--grid", grid, 3, "64x64x64"),
        counts("--orbitals", orbitals, "1,16"),
        chosen("--form", form, library.STENCILS),
        chosen("--lattice", lattice, library.LATTICES),
        chosen("--precision", precision, library.PRECISIONS),
        thread_counts(threads),
    ):
        name = f"stencil {f} {a} {'x'.join(map(str, n))} {m} orbitals {p} {t} threads"
        cases.append((name, later(library.stencil, n, m, f, a, p, t, memory, seconds=bench.seconds)))
    bench.run(cases)


def rt_step(
    bench: Bench,
    case: Annotated[list[str], typer.Option(help="silicon-8, silicon-64 or all.")] = ["all"],  # noqa: B006
    system: Annotated[
        Path | None,
        typer.Option("--system", metavar="RUN.toml", help="Instead: the system of a run file of halocline tddft."),
    ] = None,
    over: Annotated[
        list[str],
        typer.Option(help="What the processes divide: auto, k, orbitals or space; several by commas or repetition."),
    ] = ["auto"],  # noqa: B006
    scheme: Annotated[list[str], typer.Option(help="taylor4, midpoint, etrs or all.")] = ["taylor4"],  # noqa: B006
    energy_every: Annotated[
        int, typer.Option(min=0, help="Steps of a timed run, one of them with energies; 0: one step without.")
    ] = 10,
    ions: Annotated[
        str,
        typer.Option(metavar="N[,N...]", help="Steps of the electrons in one of the atoms, which move; 0: they rest."),
    ] = "0",
    light: Annotated[
        list[str], typer.Option(help="kick, uniform (a pulse), travelling (one that crosses the cell) or all.")
    ] = ["kick"],  # noqa: B006
    precision: Precisions = "double",
    threads: Threads = "1",
) -> None:
    """A step of real-time propagation: silicon, 16^3 points x 64 k x 16 orbitals and 32^3 points x 128 orbitals, or
    any system."""
    from halocline import bench as library

    cases = []
    for c, o, s, i, x, p, t in itertools.product(
        [str(system)] if system is not None else chosen("--case", case, library.SILICON),
        chosen("--over", over, ("auto", "k", "orbitals", "space")),
        chosen("--scheme", scheme, ("taylor4", "midpoint", "etrs")),
        counts("--ions", ions, "0,5,1", at_least=0),
        chosen("--light", light, library.LIGHTS),
        chosen("--precision", precision, library.PRECISIONS),
        thread_counts(threads),
    ):
        name = f"rt-step {c} over {o} {s} {p} {t} threads" + (f" atoms every {i}" if i else "")
        name += f" {x} light" if x != "kick" else ""
        work = later(library.rt_step, c, o, s, p, energy_every, t, seconds=bench.seconds, ions_every=i, light=x)
        cases.append((name, work))
    bench.run(cases)


def fdtd(
    bench: Bench,
    cells: Annotated[
        list[str],
        typer.Option("--cells", metavar="XxYxZ", help="Of the whole grid; several by commas or repetition."),
    ] = ["200x200x200"],  # noqa: B006
    ends: Annotated[
        list[str],
        typer.Option(help="Of all axes: electric, magnetic, periodic, absorbing or all; by commas or repetition."),
    ] = ["electric"],  # noqa: B006
    matter: Annotated[
        list[str], typer.Option(help="A ball of it: empty, glass, silver or all; by commas or repetition.")
    ] = ["empty"],  # noqa: B006
    depth: Annotated[
        str, typer.Option(metavar="N[,N...]", help="Steps of a sweep through the grid; 0: what the library takes.")
    ] = "1,0",
    precision: Precisions = "double",
    threads: Threads = "1",
) -> None:
    """A step of Maxwell's equations on Yee's grid: 36 operations and 18 numbers a cell."""
    from halocline import bench as library

    cases = []
    for n, e, m, p, d, t in itertools.product(
        extents("--cells", cells, 3, "200x200x200"),
        chosen("--ends", ends, library.ENDS),
        chosen("--matter", matter, library.MATTER),
        chosen("--precision", precision, library.PRECISIONS),
        counts("--depth", depth, "1,0", at_least=0),
        thread_counts(threads),
    ):
        name = f"fdtd {'x'.join(map(str, n))} {e} {m} {p} depth {d} {t} threads"
        cases.append((name, later(library.fdtd, n, e, m, p, d, t, seconds=bench.seconds)))
    bench.run(cases)


def multiscale(
    bench: Bench,
    cells: Annotated[str, typer.Option(metavar="N[,N...]", help="Of the film, a case each.")] = "1,4",
    groups: Annotated[int, typer.Option(min=0, help="Of processes; 0: as many as there are cells or processes.")] = 0,
    points: Annotated[
        list[str], typer.Option("--points", metavar="XxYxZ", help="Of a crystal; several by commas or repetition.")
    ] = ["16x16x16"],  # noqa: B006
    k_points: Annotated[str, typer.Option("--k-points", metavar="XxYxZ", help="Of a crystal.")] = "2x2x2",
    line: Annotated[int, typer.Option(min=1, help="Cells of the film whose light alone is timed.")] = 1000,
    scheme: Annotated[list[str], typer.Option(help="taylor4, midpoint or all.")] = ["taylor4"],  # noqa: B006
) -> None:
    """A step of light across a film of silicon cells, beside a step of one cell.

    The number of threads is that of the process (OMP_NUM_THREADS).
    """
    from halocline import bench as library

    meshes = extents("--k-points", [k_points], 3, "2x2x2")
    if len(meshes) != 1:
        raise InvalidArgument(f"--k-points {k_points}: give one mesh such as 2x2x2.")
    cases = []
    for n, c, s in itertools.product(
        extents("--points", points, 3, "16x16x16"),
        counts("--cells", cells, "1,4"),
        chosen("--scheme", scheme, library.CELL_SCHEMES),
    ):
        name = f"multiscale {c} cells {'x'.join(map(str, n))} {s}"
        cases.append((name, later(library.multiscale, c, groups, n, meshes[0], line, s, seconds=bench.seconds)))
    bench.run(cases)


def add_to(app: typer.Typer) -> None:
    command(app, hartree, seconds=0.5)
    command(app, stencil, seconds=0.5, plot=True)
    command(app, rt_step, seconds=2.0, plot=True)
    command(app, fdtd, seconds=2.0)
    command(app, multiscale, seconds=2.0)
