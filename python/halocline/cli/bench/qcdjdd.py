# SPDX-License-Identifier: Apache-2.0
"""`halocline bench qcdjdd`: the Schwarz-preconditioned solver at the local volumes of the paper on Fugaku."""

from __future__ import annotations

from typing import Annotated, Any

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
from halocline.errors import InvalidArgument

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
    transport: Annotated[
        str, typer.Option(help="Transports, some by commas, or all that serve here; empty: the usual one.")
    ] = "",
    buffers: Annotated[str, typer.Option(metavar="N[,N]", help="1, 2 or both by a comma.")] = "2",
    posting: Annotated[str, typer.Option(help="thread, all (every thread, where the transport allows it) or both.")] = (
        "thread"
    ),
    sums: Annotated[str, typer.Option(help="ordered, mpi, mpi-split, auto, or some by commas.")] = "ordered",
    barrier: Annotated[
        bool, typer.Option("--barrier", help="A barrier before every sum, which tells waiting from adding.")
    ] = False,
    map_file: Annotated[
        str | None, typer.Option("--map", metavar="FILE", help="rank-order.txt of a search: where ranks stand.")
    ] = None,
    nodes: Annotated[str, typer.Option(help="--map: fujitsu, slurm, launch, a file of hosts, or auto.")] = "auto",
    interfaces: Annotated[
        str | None,
        typer.Option(metavar="FILE|N", help="interfaces.txt of the search, or N: faces in turn over N interfaces."),
    ] = None,
    configurations: Annotated[
        bool, typer.Option("--configurations", help="The ten of papers/001 Table 4, beside print and model.")
    ] = False,
    regions: Annotated[bool, typer.Option("--regions", help="Where the time of an iteration goes.")] = False,
) -> None:
    """Iterations of single-precision BiCGStab with the Schwarz preconditioner, and its in-domain operator alone."""
    from halocline import bench as library
    from halocline.bench import configurations as ten
    from halocline.bench import table
    from halocline.parallel import SUMS

    place = _placement(map_file, nodes, interfaces)
    if configurations:
        if (transport, buffers, posting) != ("", "2", "thread"):
            raise InvalidArgument(
                "--configurations names transport, buffers and posting itself; leave those options out."
            )
        local = ["32x6x4x3"] if local == VOLUMES else local
        travelling = [({"configuration": c}, c.name) for c in ten.CONFIGURATIONS]
    else:
        travelling = [
            ({"transport": t, "buffers": b, "posting": p}, f"{t or 'usual transport'} {b} buffers, {p} posts")
            for t in _transports(transport)
            for b in counts("--buffers", buffers, "1,2")
            for p in chosen("--posting", posting, ("thread", "all"))
        ]
    ways = [
        (how | {"sums": s, "barrier": barrier, "placement": place}, f"{name}, {s} sums")
        for how, name in travelling
        for s in chosen("--sums", sums, SUMS)
    ]
    cases = []
    for n in volumes(local, example="32x6x4x3"):
        for stored in chosen("--storage", storage, library.STORAGES):
            for reals in counts("--link-reals", link_reals, "18,12"):
                for c in counts("--columns", columns, "1,12"):
                    for t in thread_counts(threads):
                        name = f"{'x'.join(map(str, n))} {stored} {reals} reals {c} columns {t} threads"
                        for how, said in ways:
                            case = later(
                                library.qcdjdd, n, t, c, stored, reals, iterations, seconds=bench.seconds, **how
                            )
                            cases.append((f"{name}, {said}", case))
    results = bench.run(cases)
    if configurations:
        for n in volumes(local, example="32x6x4x3"):
            for line in ten.table([r for r in results if r["case"]["local"] == n], bench.markdown).splitlines():
                bench.console.line(line)
    if regions:
        for result in table.measured(results):
            for line in table.regions(result, bench.markdown).splitlines():
                bench.console.line(line)


def _transports(text: str) -> list[str]:
    """The named transports; all that serve the processes at hand for `all`."""
    from halocline.comm import world
    from halocline.parallel import transport_problem, transports

    if text != "all":
        return [name.strip() for name in text.split(",")]
    return [name for name in transports() if not transport_problem(name, world())]


def _placement(map_file: str | None, nodes: str, interfaces: str | None) -> Any:
    """The placement of --map and --interfaces; None without them. Collective."""
    from halocline.bench.configurations import spread_interfaces
    from halocline.comm import world
    from halocline.mapping.placement import Placement, placement
    from halocline.texts import whole_number

    if map_file is None and nodes != "auto":
        raise InvalidArgument("--nodes applies to a map; give --map FILE too.")
    count = None if interfaces is None else whole_number(interfaces)
    if count == 0:
        raise InvalidArgument("--interfaces 0: give a number of interfaces, at least 1, or a file.")
    if map_file is None:
        if interfaces is not None and count is None:
            raise InvalidArgument(
                "--interfaces FILE applies to a map; give --map FILE of the same search, or a number."
            )
        if count is None:
            return None
        from halocline import _halocline

        grid = tuple(_halocline.bench.spread_processes(world().size))
        return Placement(grid, tuple(range(world().size)), tuple(spread_interfaces(count)))
    found = placement(world(), map_file, nodes, interfaces if count is None else None)
    if count is not None:
        found = Placement(found.grid, found.ranks, tuple(spread_interfaces(count, 2 * len(found.grid))))
    return found


def add_to(app: typer.Typer) -> None:
    command(app, qcdjdd, seconds=0.5, plot=True)
