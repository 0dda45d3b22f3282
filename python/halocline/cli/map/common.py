# SPDX-License-Identifier: Apache-2.0
"""Common parts of the map commands: the options that define a problem, and the files that define a map."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.bench.common import split
from halocline.cli.console import Console, json_ready, speaks
from halocline.errors import InvalidArgument
from halocline.texts import whole_number

NetworkName = Annotated[
    str, typer.Option("--network", metavar="NAME|FILE.toml", help="A known network, or a table of one; see the docs.")
]
Shape = Annotated[
    str | None,
    typer.Option(metavar="NxNx...", help="Nodes along each axis; tofu-d: X, Y, Z, A, B, C or the products AX, BY, CZ."),
]
Wrap = Annotated[
    list[str], typer.Option("--wrap", metavar="AXIS[,AXIS]", help="Axes that are closed to rings beside those known.")
]
ProcessGrid = Annotated[str | None, typer.Option("--grid", metavar="NxNx...", help="Processes along each axis.")]
PerNode = Annotated[
    str | None, typer.Option(metavar="NxNx...", help="Processes of one node along each axis; one in all when absent.")
]
MessagesName = Annotated[
    str, typer.Option("--messages", metavar="qcd|wilson|tddft|FILE.toml", help="What an exchange sends; see the docs.")
]
LocalSites = Annotated[str | None, typer.Option("--local", metavar="NxNx...", help="Sites of a process on each axis.")]
RealBytes = Annotated[
    int,
    typer.Option("--bytes-per-real", min=0, max=64, help="Of a real number in messages; 0: 4, with tddft 8."),
]
Orbitals = Annotated[int, typer.Option(min=1, max=10**6, help="tddft: orbitals that travel in one exchange.")]
CountName = Annotated[
    str | None, typer.Option("--count", metavar="hops|injected", help="At interfaces: bytes times hops, or bytes once.")
]
Interfaces = Annotated[int, typer.Option(min=0, max=64, help="Network interfaces of a node; the network's own when 0.")]
Hosts = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Names of all nodes for --format, one a line in their order.")
]
Picture = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Write a picture; PNG or SVG by suffix.")]


def lengths(option: str, text: str, example: str = "4x6x18") -> list[int]:
    """Numbers joined by x. Raises InvalidArgument for anything else."""
    numbers = text.lower().split("x")
    found = [whole_number(n, 2**31 - 1) for n in numbers]
    if not all(found):
        raise InvalidArgument(f"{option} {text[:60]}: give positive numbers joined by x, such as {example}.")
    return found  # type: ignore[return-value]


def is_file(text: str) -> bool:
    """Whether the value of an option that accepts a name or a file is a file."""
    return text.endswith(".toml") or "/" in text


def network_of(name: str, shape: str | None, wrap: Sequence[str] = (), interfaces: int = 0) -> Any:
    """The network defined by the options. Raises InvalidArgument, FileError."""
    from halocline import mapping

    closed = split(list(wrap))
    if is_file(name):
        network = _reshaped(mapping.read_network(name), name, shape, closed)
    elif shape is None:
        raise InvalidArgument(f"--shape is missing: give the nodes along each axis of {name}, such as 4x6x18.")
    else:
        network = mapping.network_named(name, lengths("--shape", shape), closed)
    return mapping.with_interfaces(network, interfaces) if interfaces else network


def _reshaped(network: Any, name: str, shape: str | None, closed: list[str]) -> Any:
    """The network of a file with other lengths and more closed axes."""
    from halocline import mapping
    from halocline.mapping.networks import FIELDS

    found = [axis.length for axis in network.axes] if shape is None else lengths("--shape", shape)
    names = [axis.name for axis in network.axes]
    if len(found) != len(names):
        raise InvalidArgument(
            f"--shape {shape}: {name} has {len(names)} axes, {' '.join(names)}; give one length each."
        )
    for axis in closed:
        if axis not in names:
            raise InvalidArgument(f"--wrap {axis}: {name} has the axes {' '.join(names)}.")
    axes = [
        mapping.Axis(axis.name, length, axis.wraps or axis.name in closed, axis.bandwidth, axis.hop_latency)
        for axis, length in zip(network.axes, found, strict=True)
    ]
    return mapping.Network(network.name, axes, **{field: getattr(network, field) for field in FIELDS})


def grids_of(grid: str | None, per_node: str | None) -> tuple[list[int], list[int]]:
    """The process grid, and its part on one node. Raises InvalidArgument."""
    if grid is None:
        raise InvalidArgument("--grid is missing: give the processes along each axis, such as 6x12x6x4.")
    dims = lengths("--grid", grid, "6x12x6x4")
    inner = [1] * len(dims) if per_node is None else lengths("--per-node", per_node, "1x2x2x1")
    if len(inner) != len(dims):
        raise InvalidArgument(f"--per-node {per_node}: the grid {grid} has {len(dims)} axes; give one number each.")
    return dims, inner


def messages_of(name: str, local: str | None, bytes_per_real: int = 0, orbitals: int = 1) -> Any:
    """The messages defined by the options. Raises InvalidArgument, FileError."""
    from halocline import mapping

    if is_file(name):
        return mapping.read_messages(name)
    known = {"qcd": "32x6x4x3", "wilson": "32x6x4x3", "tddft": "16x16x16"}
    if name not in known:
        raise InvalidArgument(f"--messages {name}: give qcd, wilson, tddft, or a file such as messages.toml.")
    if local is None:
        raise InvalidArgument(f"--local is missing: give the sites of a process on each axis, such as {known[name]}.")
    sites = lengths("--local", local, known[name])
    if name == "tddft":
        return mapping.electron_halo(sites, orbitals, bytes_per_real=bytes_per_real or 8)
    make = mapping.qcd_domain_solver if name == "qcd" else mapping.wilson_operator
    return make(sites, bytes_per_real or 4)


def count_of(name: str | None) -> str:
    if name not in (None, "hops", "injected"):
        raise InvalidArgument(f"--count {name}: give hops or injected.")
    return name or "hops"


def host_names(hosts: Path | None, network: Any) -> list[str] | None:
    """The host names of --hosts. Raises FileError."""
    from halocline.mapping import formats
    from halocline.mapping.rank_order import read_text

    return None if hosts is None else formats.hosts_of(read_text(hosts), network, str(hosts))


def say(console: Console, text: str) -> None:
    for line in text.splitlines():
        console.line(line)


def write_numbers(path: Path | None, values: dict[str, Any], ranks: list[list[int]] | None = None) -> None:
    """Writes the numbers of a command as JSON, with one line for the node of each rank. Raises FileError."""
    from halocline.files import write_file

    if path is None or not speaks():
        return
    text = json.dumps(json_ready(values), indent=1, allow_nan=False)
    if ranks is not None:
        rows = ",\n  ".join(json.dumps(row, separators=(",", ":")) for row in ranks)
        text = f'{text[:-2]},\n "ranks": [\n  {rows}\n ]\n}}'
    write_file(path, text + "\n")
