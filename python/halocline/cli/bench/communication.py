# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of communication: the halo exchange, in a sweep and by itself, and small sums."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from halocline.cli.bench.common import (
    Bench,
    Threads,
    alone,
    chosen,
    command,
    counts,
    later,
    split,
    thread_counts,
    volumes,
)
from halocline.errors import InvalidArgument

Transports = Annotated[
    list[str],
    typer.Option(
        "--transport", metavar="NAME[,NAME...]", help="Transports, mpi for plain MPI written by hand, or all."
    ),
]
Buffers = Annotated[str, typer.Option(metavar="N[,N]", help="1, 2 or both by a comma.")]

POWERS = ",".join(str(2**n) for n in range(14))
SIZES = ",".join(str(2**n) for n in range(6, 17))


def carriers(transports: list[str], buffers: str) -> list[tuple[str, int]]:
    """The requested carriers, in the order of Halocline's list; a name with a colon is used unchanged."""
    from halocline import bench as library

    every = library.carriers()
    known = tuple(dict.fromkeys(name for name, _ in every))
    depths = counts("--buffers", buffers, "1,2")
    asked = split(transports)
    plain = [name for name in asked if ":" not in name]
    names = chosen("--transport", plain, known) if plain else []
    found = [(name, depth) for name, depth in every if name in names and (depth in depths or name == "mpi")]
    return found + [(name, depth) for name in asked if ":" in name for depth in depths]


def jacobi2d(
    bench: Bench,
    local: Annotated[str, typer.Option("--local", metavar="XxY", help="Sites of each process.")] = "60x60",
    grid: Annotated[
        tuple[int, int] | None, typer.Option("--grid", metavar="X Y", help="Processes; least surface when absent.")
    ] = None,
    inflation: Annotated[
        str, typer.Option(metavar="S[,S...]", help="Messages are so many times as long as needed, a case each.")
    ] = POWERS,
    untouched: Annotated[
        bool, typer.Option("--untouched", help="Neither write nor read the part that is not needed.")
    ] = False,
    mass_squared: Annotated[float, typer.Option(help="m^2 of the operator.")] = 1.0,
    interfaces: Annotated[
        str, typer.Option(metavar="N,N,N,N", help="utofu: network interface of the faces -x, +x, -y, +y.")
    ] = "",
    transport: Transports = ["all"],  # noqa: B006 - typer copies it
    buffers: Buffers = "1,2",
) -> None:
    """A sweep of a 2-d Jacobi solver with longer and longer messages, the same kernel over every transport."""
    from halocline import bench as library

    (sites,) = volumes([local], 2, "60x60")
    ways = carriers(transport, buffers)
    taken = counts("--interfaces", interfaces, "0,1,2,3", at_least=0) if interfaces else []
    if len(taken) not in (0, 4):
        raise InvalidArgument(f"--interfaces {interfaces}: give four numbers, for the faces -x, +x, -y, +y.")
    cases = []
    for s in counts("--inflation", inflation, "1,16,256"):
        case = later(
            library.jacobi2d, sites, grid or (), s, not untouched, mass_squared, ways, taken, seconds=bench.seconds
        )  # fmt: skip
        cases.append((f"inflation {s}", case))
    bench.run(cases)


def halo(
    bench: Bench,
    bytes: Annotated[str, typer.Option("--bytes", metavar="N[,N...]", help="Lengths of the message.")] = SIZES,
    traffic: Annotated[
        str | None, typer.Option(help="ping-pong, both-ways or all; all where there are two processes.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="The exchanges of one application of the Wilson operator instead.")
    ] = False,
    local: Annotated[
        list[str], typer.Option("--local", metavar="XxYxZxT", help="--operator: sites of each process.")
    ] = ["32x6x4x3"],  # noqa: B006 - typer copies it
    face: Annotated[str, typer.Option(help="--operator: all (together), x, y, z, t, some by commas, or each.")] = (
        "each"
    ),
    threads: Threads = "1",
    posting: Annotated[
        str, typer.Option(help="--operator: first (one thread posts), all (every thread), or both by a comma.")
    ] = "first,all",
    stress: Annotated[
        int | None, typer.Option(metavar="N", help="N random exchanges instead, every byte verified.")
    ] = None,
    seed: Annotated[int, typer.Option(help="--stress: what everything random follows from.")] = 1,
    longest: Annotated[int, typer.Option(help="--stress: bytes of a message at most.")] = 4096,
    ranks: Annotated[int, typer.Option(help="--stress, simulated: ranks at most.")] = 4,
    damage: Annotated[float, typer.Option(help="--stress, simulated: how likely a message is damaged.")] = 0.0,
    time_limit: Annotated[float, typer.Option(help="--stress: seconds that a rank waits for a face.")] = 60.0,
    transport: Transports = ["all"],  # noqa: B006 - typer copies it
    buffers: Buffers = "1,2",
) -> None:
    """The halo exchange by itself: one face beside the floor, an operator's exchanges, or a stress run."""
    from halocline import bench as library
    from halocline.comm import world

    if operator and stress is not None:
        raise InvalidArgument("--operator and --stress were both given; give one of them.")
    ways = carriers(transport, buffers)
    if stress is not None:
        options = {
            "exchanges": stress, "seed": seed, "longest": longest, "ranks": ranks, "damage": damage,
            "time_limit": time_limit,
        }  # fmt: skip
        results = _stress(bench, ways, options)
        if split(transport) != ["all"]:
            for result in results:
                if "skipped" in result:
                    raise InvalidArgument(f"transport {result['case']['transport']}: {result['skipped']}.")
        bench.report(results)
        return
    cases = []
    if operator:
        faces = ["all"] if face == "all" else chosen("--face", "all" if face == "each" else face, library.FACES)
        for sites in volumes(local):
            for f in faces:
                for t in thread_counts(threads):
                    for p in chosen("--posting", posting, ("first", "all")) if t > 1 else ["first"]:
                        name = f"{'x'.join(map(str, sites))} face {f} {t} threads, {p} posting"
                        case = later(library.halo_operator, sites, f, t, p == "all", ways, seconds=bench.seconds)
                        cases.append((name, case))
    else:
        alone_here = world().size == 1
        kinds = ("both-ways",) if alone_here else library.TRAFFICS
        for kind in kinds if traffic is None else chosen("--traffic", traffic, library.TRAFFICS):
            for n in counts("--bytes", bytes, "64,4096"):
                cases.append((f"{kind} {n} bytes", later(library.halo_face, n, kind, ways, seconds=bench.seconds)))
    bench.run(cases)


def _stress(bench: Bench, ways: list[tuple[str, int]], options: dict[str, Any]) -> list[Any]:
    from halocline import bench as library

    results = []
    with alone(bench.lock_timeout):
        for transport, buffers in ways:
            name = f"{transport}, {buffers} buffer{'s' if buffers > 1 else ''}"
            with bench.console.stage(name, options["exchanges"]) as advance:
                results.append(library.halo_stress(transport, buffers, **options, progress=advance))
                found = results[-1].get("result")
                advance(options["exchanges"], f"{found['messages']} messages verified" if found else "skipped")
    return results


def allreduce(
    bench: Bench,
    elements: Annotated[str, typer.Option(metavar="N[,N...]", help="Numbers in a sum, 0 to 32.")] = (
        "0,1,2,3,4,8,15,16,32"
    ),
    method: Annotated[
        str,
        typer.Option(help="shared_memory, messages (the fast path off), mpi, mpi-split, auto, some by commas, or all."),
    ] = "all",
    precision: Annotated[str, typer.Option(help="double, float or both by a comma.")] = "double",
    barrier: Annotated[str, typer.Option(help="A barrier before every sum: no, yes or both by a comma.")] = "no",
) -> None:
    """Sums of a few numbers over all processes, beside MPI_Allreduce."""
    from halocline import bench as library

    methods = chosen("--method", method, library.REDUCTIONS)

    def case(n: int, m: str, p: str, b: str) -> dict[str, Any]:
        try:
            return library.allreduce(n, m, p, b == "yes", seconds=bench.seconds)
        except InvalidArgument as refused:  # on every rank
            if method != "all" or not m.startswith("mpi"):
                raise
            return {"bench": "allreduce", "case": {"elements": n, "method": m}, "skipped": str(refused)}

    cases = [
        (f"{n} numbers in {p}, {m}, {'a' if b == 'yes' else 'no'} barrier", later(case, n, m, p, b))
        for p in chosen("--precision", precision, library.PRECISIONS)
        for b in chosen("--barrier", barrier, ("no", "yes"))
        for n in counts("--elements", elements, "1,3", at_least=0)
        for m in methods
    ]
    bench.run(cases)


def add_to(app: typer.Typer) -> None:
    for function in (jacobi2d, halo, allreduce):
        command(app, function, seconds=1.0, plot=True)
