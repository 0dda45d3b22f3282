# SPDX-License-Identifier: Apache-2.0
"""`halocline bench simulate-rt-step`: a step of real-time propagation on processes that this machine does not have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.bench import machines
from halocline.cli.bench.common import split
from halocline.cli.common import Json
from halocline.cli.console import Console, write_json
from halocline.cli.map import common as maps
from halocline.errors import InvalidArgument

NAMES = {
    "hamiltonian": "four applications of H",
    "current": "current",
    "density": "rest of the density's sum",
    "hartree": "Hartree potential",
    "xc": "exchange and correlation",
    "sums": "small sum",
}


def simulate_rt_step(
    network: maps.NetworkName = "tofu-d",
    shape: Annotated[
        list[str], typer.Option(metavar="NxNx...[,...]", help="Nodes along each axis, a machine each.")
    ] = ["4x3x6"],  # noqa: B006 - typer copies it
    wrap: maps.Wrap = [],  # noqa: B006 - typer copies it
    per_node: Annotated[
        str, typer.Option(metavar="XxYxZxORBITALS", help="Part of the processes on a node.")
    ] = "1x2x1x2",
    natural: machines.Natural = False,
    points: Annotated[list[str], typer.Option(metavar="XxYxZ[,...]", help="Of the grid, a case each.")] = ["128x64x81"],  # noqa: B006
    states: Annotated[list[str], typer.Option(metavar="N[,...]", help="Orbitals, a case each.")] = ["648"],  # noqa: B006
    division: Annotated[
        list[str], typer.Option(metavar="XxYxZxORBITALS[,...]", help="Processes over space and orbitals, a case each.")
    ] = ["1x2x3x48"],  # noqa: B006
    atoms: Annotated[list[str], typer.Option(metavar="N[,...]", help="Of the cell, a case each.")] = ["246"],  # noqa: B006
    hartree: Annotated[str, typer.Option(help="redundant or shared, as [parallel] hartree.")] = "redundant",
    measured: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Shares of the computation: of `bench rt-step --json`.")
    ] = None,
    gflops: Annotated[float | None, typer.Option(help="Of the stencil on a process; 80.7 as on Fugaku.")] = None,
    posting: machines.Posting = None,
    transport: Annotated[str, typer.Option("--transport", help="mpi_persistent or mpi_rma.")] = "mpi_persistent",
    steps: Annotated[int, typer.Option(help="Steps to simulate.")] = 1,
    json: Json = None,
) -> None:
    """Steps of real-time propagation on a simulated network, by the library's own division, exchanges and sums.

    Without options: the smallest size of the report on SALMON for Fugaku, 648 orbitals on 72 nodes. Several sizes make
    a curve of weak scaling. Needs SimGrid. Computation is slept. 1152 processes take a minute and a half, 4608
    more than an hour and a half and 9 GiB.
    """
    from halocline import mapping
    from halocline.bench import simulate as simulator
    from halocline.bench.simulate.electrons import shares_of

    if hartree not in ("redundant", "shared"):
        raise InvalidArgument(f"--hartree {hartree}: give redundant or shared.")
    shapes = split(shape)
    given = {
        "--points": split(points),
        "--states": split(states),
        "--division": split(division),
        "--atoms": split(atoms),
    }
    for option, values in given.items():
        if len(values) != len(shapes):
            raise InvalidArgument(f"--shape names {len(shapes)} machines, {option} {len(values)}; give one a machine.")
    machines.require_simulator()
    more: dict[str, Any] = {} if gflops is None else {"gflops": gflops}
    if measured is not None:
        more["shares"] = shares_of(measured)
    cases = []
    for at, extent, orbitals, parts, number in zip(shapes, *given.values(), strict=True):
        dims, inner = maps.grids_of(parts, per_node)
        if len(dims) != 4:
            raise InvalidArgument(f"--division {parts}: give processes along x, y, z and the orbitals, as 1x2x3x48.")
        step = simulator.ElectronStep(
            extent=maps.lengths("--points", extent, "128x64x81"),
            states=_count("--states", orbitals),
            space=dims[:3],
            orbitals=dims[3],
            atoms=_count("--atoms", number),
            shared=hartree == "shared",
            **more,
        )
        step.check()
        machine = maps.network_of(network, at, wrap)
        order = mapping.natural_order if natural else mapping.search
        found = order(machine, dims, inner) if natural else order(machine, dims, inner, step.messages()).map
        cases.append((machine, found, step))
    console = Console()
    machines.compile_programs(console)
    results = []
    for machine, placed, step in cases:
        with console.stage(f"simulating {step.processes} processes") as advance:
            results.append(
                simulator.electrons(machine, placed, step, posting=posting, transport=transport, steps=steps)
            )
            advance(1, "done")
    for line in lines(results):
        console.line(line)
    for result in results:
        machines.warn_of_absent_wraps(console, [result])
    write_json(json, results)


def _count(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgument(f"{option} {text}: give a whole number.") from None


def lines(results: list[dict[str, Any]]) -> list[str]:
    """A block for each machine: the parts of a step; and weak efficiencies where there are several."""
    from halocline.bench.table import time_text

    found = []
    for r in results:
        case, result = r["case"], r["result"]
        found.append(
            f"{case['network']} {'x'.join(map(str, case['shape']))}: {case['nodes']} nodes, {case['processes']} "
            f"processes, {'x'.join(map(str, case['extent']))} points, {case['states']} orbitals, space "
            f"{'x'.join(map(str, case['space']))}, orbitals {case['orbitals']}"
        )
        found.append(f"  {'a step':30s} {time_text(result['step']):>12s}")
        found.append(f"  {'its computation alone':30s} {time_text(result['computation']):>12s}")
        found += [f"  {name:30s} {time_text(result['parts'][part]):>12s}" for part, name in NAMES.items()]
        found.append(f"  {'waiting for halos':30s} {time_text(result['halo_wait']):>12s}")
        if r is not results[0]:
            found.append(f"  {'weak efficiency':30s} {weak_efficiency(results[0], r):12.3f}")
    return found


def weak_efficiency(first: dict[str, Any], later: dict[str, Any]) -> float:
    """Points times orbitals a second and process, relative to the first machine."""

    def rate(r: dict[str, Any]) -> float:
        case = r["case"]
        return math.prod(case["extent"]) * case["states"] / case["processes"] / r["result"]["step"]

    return rate(later) / rate(first)


def add_to(app: typer.Typer) -> None:
    app.command()(simulate_rt_step)
