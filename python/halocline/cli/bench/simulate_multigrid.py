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
    "between": "levels between",
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
    steps: Annotated[int, typer.Option(help="Steps of the solver inside a domain.")] = 2,
    levels: Annotated[int, typer.Option(help="With the fine one; 0: as many as the lattice needs.")] = 0,
    coarse_aggregate: Annotated[str, typer.Option(metavar="XxYxZxT", help="Coarse sites of an aggregate.")] = "2x2x2x2",
    coarse_cycles: Annotated[int, typer.Option(help="Cycles of a solve on a level between.")] = 3,
    coarse_steps: Annotated[int, typer.Option(help="Steps of the smoother on a level between.")] = 2,
    coarse_iterations: Annotated[int, typer.Option(help="Iterations of a solve on the coarsest level.")] = 20,
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
    coarse = maps.lengths("--coarse-aggregate", coarse_aggregate, "2x2x2x2")
    cases = [
        simulator.Cycle(
            local=sites, aggregate=size, vectors=vectors, columns=columns, sweeps=sweeps, steps=steps,
            levels=levels, coarse_aggregate=coarse, coarse_cycles=coarse_cycles, coarse_steps=coarse_steps,
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
    """A block for each case: time and share of each part, and what each coarse level consists of."""
    from halocline.bench.simulate.multigrid import COARSE_PARTS
    from halocline.bench.table import time_text

    found = []
    for r in results:
        case, result = r["case"], r["result"]
        found.append(
            f"{case['network']} {'x'.join(map(str, case['shape']))}: {case['nodes']} nodes, {case['processes']} "
            f"processes {'x'.join(map(str, case['grid']))} of {'x'.join(map(str, case['local']))} sites, "
            f"{case['columns']} columns, {case['transport']}"
        )
        found.append(f"  {'a cycle':30s} {time_text(result['cycle']):>12s}")
        for part, name in NAMES.items():
            found.append(f"  {name:30s} {time_text(result['parts'][part]):>12s} {100 * result['shares'][part]:8.1f} %")
        for level in result["levels"]:
            inner = ", ".join(f"{part} {time_text(level[part])}" for part in COARSE_PARTS)
            found.append(
                f"  {'x'.join(map(str, level['sites']))} sites on {level['processes']} processes of "
                f"{level['sites_of_a_process']}: {time_text(level['seconds'])}; {inner}"
            )
    return found


def add_to(app: typer.Typer) -> None:
    app.command()(simulate_multigrid)
