# SPDX-License-Identifier: Apache-2.0
"""Simulated machines on the command line: the options and steps that `bench weak` and `simulate-multigrid` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.console import Console
from halocline.cli.map import common as maps
from halocline.errors import InvalidArgument

PER_NODE = "1x2x2x1"
"""Processes of a node for the domain solver on tofu-d, as in IPSJ 2020-HPC-177, section 3.3."""

MapFile = Annotated[
    Path | None, typer.Option("--map", metavar="FILE", help="Rank-order file: network, messages and map at once.")
]
Rings = Annotated[
    str | None, typer.Option(metavar="PIECES;PIECES;...", help="The map by its rings, as in `map evaluate`.")
]
Natural = Annotated[bool, typer.Option("--natural", help="Ranks in order instead of a map.")]
Posting = Annotated[float | None, typer.Option(help="Seconds to post and complete an exchange; Fugaku's.")]


def require_simulator() -> None:
    """Raises InvalidArgument, with what to install, where nothing can be simulated."""
    from halocline.bench import simulate

    if why := simulate.unavailable_reason():
        raise InvalidArgument(why + ".")


def compile_programs(console: Console) -> None:
    """The simulated programs, if they are not there yet; raises Error with the compiler's words."""
    from halocline.bench import simulate

    with console.stage("compiling for SimGrid") as advance:
        simulate.build(lambda done, files: advance(done, f"{done} of {files} files"))


def warn_of_absent_wraps(console: Console, results: list[dict[str, Any]], consequence: str = "") -> None:
    """Where the map of these cases uses rings that exist in the simulator alone."""
    if results[0]["result"]["absent_wraps"]:
        console.warning(
            "SimGrid closes every axis to a ring, and this map sends over rings that the network does not have"
            f"{consequence}."
        )


def problem(
    file: Path | None, network: str, shape: str | None, wrap: list[str], grid: str | None, per_node: str | None,
    rings: str | None, natural: bool, sent: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Network, messages and map; all three of the file where one is given. Raises InvalidArgument, FileError.

    sent: the messages for which a map is searched where none is given
    """
    from halocline import mapping

    if file is not None:
        given = [("--shape", shape), ("--grid", grid), ("--rings", rings), ("--natural", natural or None)]
        for option, value in given:
            if value is not None:
                raise InvalidArgument(f"--map and {option} were both given; the file says all of it.")
        order = mapping.read_rank_order(file)
        return order.network, order.messages, order.map
    if rings is not None and natural:
        raise InvalidArgument("--rings and --natural were both given; give one of them.")
    machine = maps.network_of(network, shape, wrap)
    if grid is None and rings is None and not natural:
        grid, rings = _printed(machine)
        per_node = per_node or PER_NODE
    dims, inner = maps.grids_of(grid, per_node)
    if natural:
        return machine, sent, mapping.natural_order(machine, dims, inner)
    if rings is not None:
        found = mapping.rings_of(rings, machine, dims, inner)
        return machine, sent, mapping.map_of_rings(machine, dims, inner, found)
    return machine, sent, mapping.search(machine, dims, inner, sent).map


def _printed(machine: Any) -> tuple[str, str]:
    """The process grid that fills a tofu-d, and its rings as in the report: x along A and Z mod 3, y along C and Z div
    3, z along B, t along X and Y; a node has two by two processes of y and z."""
    length = {axis.name: axis.length for axis in machine.axes}
    z = length.get("Z", 0)
    if machine.name != "tofu-d" or z % 3 or length["X"] < 2 or length["Y"] < 2:
        raise InvalidArgument(
            f"--grid is missing: it is known only for a tofu-d of at least 2 x 2 in X and Y and a Z that 3 divides; "
            f"give the processes along each axis of {machine.name}, such as 6x12x6x4."
        )
    grid = f"{3 * length['A']}x{2 * length['C'] * z // 3}x{2 * length['B']}x{length['X'] * length['Y']}"
    return grid, "A,Z;C;B;X,Y" if z == 3 else "A,Z%3;C,Z/3;B;X,Y"
