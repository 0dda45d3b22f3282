# SPDX-License-Identifier: Apache-2.0
"""`halocline bench weak`: iterations of the domain solver as one point of a weak scaling, measured on the processes of
the job, or with --simulate at sizes that this machine does not have."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.bench import machines, weak_measured
from halocline.cli.bench.common import chosen, counts
from halocline.cli.common import Json
from halocline.cli.console import Console, write_json
from halocline.cli.map import common as maps
from halocline.errors import FileError, InvalidArgument


def weak(
    simulate: Annotated[bool, typer.Option("--simulate", help="On a machine that exists in SimGrid only.")] = False,
    file: machines.MapFile = None,
    network: maps.NetworkName = "tofu-d",
    shape: maps.Shape = None,
    wrap: maps.Wrap = [],  # noqa: B006 - typer copies it
    grid: maps.ProcessGrid = None,
    per_node: maps.PerNode = None,
    rings: machines.Rings = None,
    natural: machines.Natural = False,
    messages: maps.MessagesName = "qcd",
    local: maps.LocalSites = "32x6x4x3",
    orbitals: maps.Orbitals = 1,
    transport: Annotated[
        str | None,
        typer.Option(
            "--transport",
            help="Measured: a name; the usual one when absent. Simulated: mpi_persistent, mpi_rma, or both by a comma.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Iterations; 500 measured or 1 simulated when absent.")
    ] = None,
    exchanges: Annotated[int | None, typer.Option(help="Exchanges an iteration; 20 as the domain solver has.")] = None,
    sums: Annotated[
        str | None, typer.Option(metavar="N[,N...]|none", help="Doubles of each sum of an iteration; 1,2,3,3.")
    ] = None,
    computation: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS|FILE.json", help="Of an iteration: 0.0004 as on Fugaku, or what bench qcdjdd measured."
        ),
    ] = None,
    posting: machines.Posting = None,
    nodes: Annotated[
        str, typer.Option(help="Measured: where processes stand: fujitsu, slurm, launch, a file of hosts, or auto.")
    ] = "auto",
    interfaces: Annotated[str | None, typer.Option(metavar="FILE", help="Measured: interfaces.txt of the map.")] = None,
    collect: Annotated[
        list[Path],
        typer.Option("--collect", metavar="FILE.json", help="Files of earlier measurements, as one table."),
    ] = [],  # noqa: B006 - typer copies it
    json: Json = None,
) -> None:
    """Iterations of the domain solver, one point of a weak scaling: measured on the processes of this job, or with
    --simulate on a simulated network, the exchanges and sums by the library's own code."""
    from halocline.bench import simulate as simulator

    if not simulate:
        of_simulation = {
            "--shape": shape, "--wrap": wrap, "--grid": grid, "--per-node": per_node, "--rings": rings,
            "--natural": natural, "--exchanges": exchanges, "--sums": sums, "--computation": computation,
            "--posting": posting,
        }  # fmt: skip
        given = [name for name, value in of_simulation.items() if value not in (None, False, [])]
        given += [] if network == "tofu-d" else ["--network"]
        given += [] if messages == "qcd" else ["--messages"]
        if given:
            raise InvalidArgument(f"{given[0]} describes a simulation; leave it out, or give --simulate.")
        if collect:
            return weak_measured.collect(Console(), collect, json)
        asked = weak_measured.Asked(
            file, nodes, interfaces, local or "32x6x4x3", transport or "", 500 if iterations is None else iterations
        )
        return weak_measured.measure(Console(), asked, json)
    if nodes != "auto" or interfaces is not None or collect:
        raise InvalidArgument(
            "--nodes, --interfaces and --collect belong to measurements; leave them out, or leave --simulate out."
        )
    machines.require_simulator()
    iterations = 1 if iterations is None else iterations
    transports = chosen("--transport", transport or "mpi_persistent", simulator.TRANSPORTS)
    sent = None if file is not None else maps.messages_of(messages, local, orbitals=orbitals)
    machine, sent, placed = machines.problem(file, network, shape, wrap, grid, per_node, rings, natural, sent)
    iteration = _iteration(exchanges, sums, computation, posting, local)
    for name in transports:
        simulator.check(iteration, name, iterations)
    console = Console()
    machines.compile_programs(console)
    results = []
    for name in transports:
        ranks = len(placed.node)
        with console.stage(f"simulating {ranks} processes, {name}") as advance:
            results.append(simulator.weak(machine, placed, sent, iteration, transport=name, iterations=iterations))
            advance(1, "done")
    for line in lines(results):
        console.line(line)
    machines.warn_of_absent_wraps(console, results, ": the model has longer routes, and the two are not comparable")
    write_json(json, results)


def _iteration(
    exchanges: int | None, sums: str | None, computation: str | None, posting: float | None, local: str | None
) -> Any:
    """The domain solver on Fugaku, as modified by the options. Raises InvalidArgument, FileError."""
    from halocline import _halocline

    known = _halocline.mapping.published_iteration()
    return _halocline.mapping.Iteration(
        known.computation if computation is None else _computation(computation, local),
        exchanges=known.exchanges if exchanges is None else exchanges,
        posting=known.posting if posting is None else posting,
        sums=known.sums if sums is None else [] if sums == "none" else counts("--sums", sums, "1,2,3,3"),
    )


def _computation(text: str, local: str | None) -> float:
    """Seconds as given, or the median of the case with these sites in a file of `bench qcdjdd --json`."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = _measured(Path(text), maps.lengths("--local", local or "32x6x4x3", "32x6x4x3"))
    if not 0 <= seconds < 1e6:
        raise InvalidArgument(f"--computation {text}: give seconds of an iteration, such as 0.0004.")
    return seconds


def _measured(path: Path, local: list[int]) -> float:
    try:
        found = json_text.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: not a time in seconds, and no JSON file that can be read: {error}.") from None
    for result in found if isinstance(found, list) else [found]:
        try:
            case = result["case"]
            if (result["bench"], case["measured"], case["local"]) == ("qcdjdd", "iteration", local):
                return float(result["seconds"]["median"])
        except (KeyError, TypeError, ValueError):  # another benchmark, or a file of another program
            continue
    raise FileError(
        f"{path}: has no iteration of {'x'.join(map(str, local))} sites; measure it by halocline bench qcdjdd --local "
        f"{'x'.join(map(str, local))} --json {path}."
    )


def lines(results: list[dict[str, Any]]) -> list[str]:
    """Simulated times beside the model's times, in a block for each case."""
    from halocline.bench.table import time_text

    found = []
    for r in results:
        case, times = r["case"], r["result"]
        found.append(
            f"{case['network']} {'x'.join(map(str, case['shape']))}: {case['nodes']} nodes, {case['processes']} "
            f"processes {'x'.join(map(str, case['grid']))}, {case['transport']}"
        )
        found.append(f"  {'':12s} {'simulated':>12s} {'model':>12s} {'ratio':>8s}")
        names = {"iteration": "an iteration", "exchange": "an exchange", "sums": "its sums"}
        for key, name in names.items():
            model = times["model"][key]
            ratio = f"{times[key] / model:8.3f}" if model > 0 else f"{'-':>8s}"
            found.append(f"  {name:12s} {time_text(times[key]):>12s} {time_text(model):>12s} {ratio}")
    return found


def add_to(app: typer.Typer) -> None:
    app.command()(weak)
