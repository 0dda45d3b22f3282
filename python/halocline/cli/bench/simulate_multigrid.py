# SPDX-License-Identifier: Apache-2.0
"""`halocline bench simulate-multigrid`: the parts of multigrid's time on processes that this machine does not have."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from halocline.cli.bench import machines
from halocline.cli.bench.common import counts
from halocline.cli.common import Json
from halocline.cli.console import Console, write_json
from halocline.cli.map import common as maps

NAMES = {
    "smoother": "smoother",
    "fine_operator": "fine operator",
    "transfer": "restriction and prolongation",
    "outer": "outer solver",
    "coarsest": "coarsest level",
}


def simulate_multigrid(
    file: machines.MapFile = None,
    network: maps.NetworkName = "tofu-d",
    shape: maps.Shape = None,
    wrap: maps.Wrap = [],  # noqa: B006 - typer copies it
    grid: maps.ProcessGrid = None,
    per_node: maps.PerNode = None,
    rings: machines.Rings = None,
    natural: machines.Natural = False,
    local: Annotated[str, typer.Option("--local", metavar="XxYxZxT", help="Sites of a process.")] = "8x8x8x8",
    aggregate: Annotated[str, typer.Option(metavar="XxYxZxT", help="Sites of an aggregate.")] = "4x4x4x4",
    vectors: Annotated[int, typer.Option(help="Test vectors, a multiple of 8.")] = 24,
    columns: Annotated[int, typer.Option(help="Right-hand sides solved together.")] = 1,
    sweeps: Annotated[int, typer.Option(help="Sweeps of the smoother.")] = 4,
    steps: Annotated[int, typer.Option(help="Steps of the solver inside a domain.")] = 4,
    coarse_iterations: Annotated[int, typer.Option(help="Iterations of a coarse solve.")] = 20,
    gather_below: Annotated[
        str,
        typer.Option(metavar="N[,N...]", help="Gather fewer coarse sites a process than these, a case each; 1: never."),
    ] = "16",
    gflops: Annotated[float | None, typer.Option(help="Rate of a process [Gflop/s]; 346 as on Fugaku.")] = None,
    posting: machines.Posting = None,
    transport: Annotated[str, typer.Option("--transport", help="mpi_persistent or mpi_rma.")] = "mpi_persistent",
    cycles: Annotated[int, typer.Option(help="Cycles to simulate.")] = 1,
    json: Json = None,
) -> None:
    """Cycles of multigrid on a simulated network: the share of each part, by the library's own exchanges and sums.

    Needs SimGrid. Computation is slept, by the count of flops and --gflops. 1728 processes take minutes.
    """
    from halocline.bench import simulate as simulator

    machines.require_simulator()
    sites, size = maps.lengths("--local", local, "8x8x8x8"), maps.lengths("--aggregate", aggregate, "4x4x4x4")
    cases = [
        simulator.Cycle(
            local=sites, aggregate=size, vectors=vectors, columns=columns, sweeps=sweeps, steps=steps,
            coarse_iterations=coarse_iterations, gather_below=least,
            **({} if gflops is None else {"gflops": gflops}),
        )
        for least in counts("--gather-below", gather_below, "1,16")
    ]  # fmt: skip
    for case in cases:
        case.check()
    machine, _, placed = machines.problem(
        file, network, shape, wrap, grid, per_node, rings, natural, simulator.smoother_messages(cases[0])
    )
    for case in cases:
        case.check_grid(placed.grid)
    console = Console()
    machines.compile_programs(console)
    results = []
    for case in cases:
        with console.stage(f"simulating {len(placed.node)} processes, gathering below {case.gather_below}") as advance:
            results.append(
                simulator.multigrid(machine, placed, case, posting=posting, transport=transport, cycles=cycles)
            )
            advance(1, "done")
    for line in lines(results):
        console.line(line)
    machines.warn_of_absent_wraps(console, results)
    write_json(json, results)


def lines(results: list[dict[str, Any]]) -> list[str]:
    """A block for each case: time and share of each part, and what the coarsest level consists of."""
    from halocline.bench.table import time_text

    found = []
    for r in results:
        case, result = r["case"], r["result"]
        found.append(
            f"{case['network']} {'x'.join(map(str, case['shape']))}: {case['nodes']} nodes, {case['processes']} "
            f"processes {'x'.join(map(str, case['grid']))} of {'x'.join(map(str, case['local']))} sites, "
            f"{case['columns']} columns, {case['transport']}"
        )
        found.append(f"  coarse lattice on {result['keepers']} processes of {result['coarse_sites']} sites")
        found.append(f"  {'a cycle':30s} {time_text(result['cycle']):>12s}")
        for part, name in NAMES.items():
            found.append(f"  {name:30s} {time_text(result['parts'][part]):>12s} {100 * result['shares'][part]:8.1f} %")
        inner = ", ".join(f"{part} {time_text(seconds)}" for part, seconds in result["coarse_parts"].items())
        found.append(f"  in the coarsest level: {inner}")
    return found


def add_to(app: typer.Typer) -> None:
    app.command()(simulate_multigrid)
