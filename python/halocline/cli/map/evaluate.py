# SPDX-License-Identifier: Apache-2.0
"""`halocline map evaluate`: the loads of links and interfaces under any map, by walking every message."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.common import Json
from halocline.cli.console import Console, speaks
from halocline.cli.map import common
from halocline.errors import FileError, InvalidArgument


def add_to(group: typer.Typer) -> None:
    group.command()(evaluate)


def evaluate(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Rank-order file; with --format a launcher's file.")
    ] = None,
    rings: Annotated[
        str | None,
        typer.Option(
            metavar="PIECES;PIECES;...", help="Instead of FILE: pieces of each process axis, 'A,Z%3;C,Z/3;B;X,Y'."
        ),
    ] = None,
    count: common.CountName = None,
    interfaces: common.Interfaces = 0,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="openmpi, slurm, fujitsu or simgrid; needs the options below.")
    ] = None,
    hosts: common.Hosts = None,
    network: common.NetworkName = "tofu-d",
    shape: common.Shape = None,
    wrap: common.Wrap = [],  # noqa: B006 - typer reads the default
    grid: common.ProcessGrid = None,
    per_node: common.PerNode = None,
    messages: common.MessagesName = "qcd",
    local: common.LocalSites = None,
    bytes_per_real: common.RealBytes = 0,
    orbitals: common.Orbitals = 1,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write rank order, interfaces and pictures of this map here.")
    ] = None,
    json: Json = None,
) -> None:
    """Recompute every load of a map by walking its messages hop by hop, and compare with the natural order.

    A rank-order file of `map search` says all that is needed. Other files, and --rings, take the network, the grid and
    the messages from options.
    """
    from halocline import mapping
    from halocline.mapping import report, walks

    console = Console()
    if (file is None) == (rings is None):
        raise InvalidArgument("give a rank-order file or --rings: one of them.")
    if count is not None:
        common.count_of(count)
    if file is not None and format is None:
        order = _own(file, count, interfaces)
    else:
        machine = common.network_of(network, shape, wrap, interfaces)
        dims, inner = common.grids_of(grid, per_node)
        sent = common.messages_of(messages, local, bytes_per_real, orbitals)
        if rings is not None:
            map = mapping.map_of_rings(machine, dims, inner, mapping.rings_of(rings, machine, dims, inner))
        else:
            map = _foreign(file, format, machine, dims, inner, hosts)
        order = mapping.RankOrder(machine, sent, map, common.count_of(count))
    loads = mapping.evaluate(order.network, order.map, order.messages, order.count)
    natural = mapping.natural_order(order.network, list(order.map.grid), list(order.map.per_node))
    natural_loads = mapping.evaluate(order.network, natural, order.messages, order.count)
    for line in report.problem_lines(order):
        console.line(line)
    names = walks.process_axes(order.map)
    common.say(console, report.axes_table(order, None))
    common.say(console, report.loads_table(loads, natural_loads, order.network))
    common.say(console, report.interfaces_table(loads, order.network, names))
    if output is not None and speaks():
        _write(console, output, order, loads, natural, natural_loads)
    values = report.problem_of(order) | report.loads_of(loads, order.network) | {"axes": report.axes_of(order, None)}
    common.write_numbers(json, values | {"natural_order": report.loads_of(natural_loads, order.network)})


def _own(file: Path, count: str | None, interfaces: int) -> Any:
    """A rank-order file, with its count and interfaces replaced if the options give them."""
    import dataclasses

    from halocline import mapping
    from halocline.mapping import formats, rank_order

    text = rank_order.read_text(file)
    if not rank_order.is_rank_order(text):
        looks = formats.format_of(text)
        kind = (
            f"it looks like one of --format {looks}"
            if looks
            else f"--format names another, {', '.join(formats.FORMATS)}"
        )
        raise FileError(f"{file}: no rank-order file of `halocline map search`; {kind}.")
    order = rank_order.parse_rank_order(text, str(file))
    if count is not None:
        order = dataclasses.replace(order, count=count)
    if interfaces:
        order = dataclasses.replace(order, network=mapping.with_interfaces(order.network, interfaces))
    return order


def _foreign(file: Path, format: str, machine: Any, dims: list[int], inner: list[int], hosts: Path | None) -> Any:
    from halocline import mapping
    from halocline.mapping import formats
    from halocline.mapping.rank_order import read_text

    names = common.host_names(hosts, machine)
    node = formats.read_map(read_text(file), machine, format, str(file), names)
    return mapping.rank_map(machine, dims, inner, node)


def _write(console: Console, folder: Path, order: Any, loads: Any, natural: Any, natural_loads: Any) -> None:
    from halocline.files import write_file
    from halocline.mapping import interface_table, plots, walks
    from halocline.mapping.rank_order import rank_order_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: no such folder, and it cannot be made: {error.strerror}.") from None
    write_file(folder / "rank-order.txt", rank_order_text(order))
    table = interface_table.interface_table_text(loads, order.network, walks.process_axes(order.map))
    write_file(folder / "interfaces.txt", table)
    plots.draw(folder, order, None, loads, natural, natural_loads)
    console.line(f"written     {folder}: rank-order.txt, interfaces.txt, axes and loads as .png and .svg")
