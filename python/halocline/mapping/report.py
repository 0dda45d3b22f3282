# SPDX-License-Identifier: Apache-2.0
"""The results of a search or an evaluation, as numbers for programs and as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halocline.bench.table import text_table
from halocline.mapping import walks
from halocline.mapping.interface_table import item_name
from halocline.mapping.networks import node_coordinates, shape_text
from halocline.mapping.rank_order import RankOrder


def extents(numbers: Sequence[int]) -> str:
    return "x".join(str(n) for n in numbers)


def ring_text(ring: Any, network: Any) -> str:
    """The pieces of a ring: "A Z%3"; "in the node" if there are none; "any" behind a fat tree, where all nodes are
    equal."""
    if network.full_bisection:
        return "any"
    return " ".join(piece.name(network) for piece in ring.pieces) or "in the node"


def axes_of(order: RankOrder, rings: Sequence[Any] | None) -> list[dict[str, Any]]:
    """For each process axis: its lengths, the mean hops of its messages, and its pieces if a search made the map.

    hops: network axis -> mean hops of a message that leaves its node; unused axes are left out
    """
    hops = walks.mean_hops(order.network, order.map)
    found = []
    for q, name in enumerate(walks.process_axes(order.map)):
        split, ranks = order.map.per_node[q], order.map.grid[q]
        row = {"axis": name, "processes": ranks, "per_node": split, "nodes": ranks // split}
        row["message_bytes"], row["directions"] = order.messages.bytes[q], order.messages.directions[q]
        row["hops"] = {
            axis.name: float(value) for axis, value in zip(order.network.axes, hops[q], strict=True) if value > 0
        }
        if rings is not None:
            row["pieces"] = [piece.name(order.network) for piece in rings[q].pieces]
        found.append(row)
    return found


def loads_of(loads: Any, network: Any) -> dict[str, Any]:
    """The numbers of one map's loads."""
    return {
        "bottleneck_link_bytes": loads.busiest_link,
        "busiest_interface_bytes": loads.busiest_interface,
        "interface_bytes": list(loads.interface_bytes),
        "axis_bytes": {axis.name: b for axis, b in zip(network.axes, loads.axis_bytes, strict=True)},
        "link_bytes": loads.link_bytes,
        "hops": loads.hops,
        "longest_route": loads.longest_route,
        "unused_nodes": loads.unused_nodes,
    }


def problem_of(order: RankOrder) -> dict[str, Any]:
    """The problem: network, process grid and messages."""
    network, messages = order.network, order.messages
    return {
        "network": network.name,
        "shape": [axis.length for axis in network.axes],
        "wraps": [axis.name for axis in network.axes if axis.wraps],
        "nodes": network.nodes,
        "interfaces": network.interfaces,
        "grid": list(order.map.grid),
        "per_node": list(order.map.per_node),
        "messages": {"name": messages.name, "bytes": list(messages.bytes), "directions": list(messages.directions)},
        "count": order.count,
    }


def ranks_of(order: RankOrder) -> list[list[int]]:
    """Coordinates of the node of every rank."""
    return node_coordinates(order.network, order.map.node).tolist()


def problem_lines(order: RankOrder) -> list[str]:
    network, messages = order.network, order.messages
    closed = " ".join(axis.name for axis in network.axes if axis.wraps) or "no axis"
    sent = ", ".join(
        f"{name} {size} B{'' if ways == 2 else ' one way at a time'}"
        for name, size, ways in zip(walks.process_axes(order.map), messages.bytes, messages.directions, strict=True)
    )
    return [
        f"network     {network.name}, {shape_text(network)} = {network.nodes} nodes, closed: {closed}, "
        f"{network.interfaces} interfaces a node",
        f"processes   {extents(order.map.grid)} = {order.map.ranks}, {extents(order.map.per_node)} a node",
        f"messages    {messages.name}: {sent}",
    ]


def axes_table(order: RankOrder, rings: Sequence[Any] | None, markdown: bool = False) -> str:
    """A table of the process axes and the network axes along which they run."""
    header = [
        "axis",
        "processes",
        "in a node",
        "nodes",
        *(["pieces"] if rings is not None else []),
        "hops of a message",
    ]
    rows = []
    for q, axis in enumerate(axes_of(order, rings)):
        hops = ", ".join(f"{name} {value:.3g}" for name, value in axis["hops"].items()) or "none"
        pieces = [ring_text(rings[q], order.network)] if rings is not None else []
        rows.append([axis["axis"], str(axis["processes"]), str(axis["per_node"]), str(axis["nodes"]), *pieces, hops])
    return text_table(header, rows, markdown, names=1)


def loads_table(found: Any, natural: Any | None, network: Any, markdown: bool = False) -> str:
    """A table of the loads of links and interfaces, beside the natural order."""
    both = [natural] if natural is not None else []
    header = ["bytes", "this map", *(["natural order", "ratio"] if both else [])]

    def row(name: str, mine: float, theirs: float | None) -> list[str]:
        if theirs is None:
            return [name, str(mine)]
        return [name, str(mine), str(theirs), f"{mine / theirs:.3f}" if theirs else "-"]

    rows = [
        row(f"busiest link {axis.name}", found.axis_bytes[t], natural.axis_bytes[t] if both else None)
        for t, axis in enumerate(network.axes)
    ]
    rows.append(row("busiest link", found.busiest_link, natural.busiest_link if both else None))
    rows += [
        row(f"interface {k + 1}", load, natural.interface_bytes[k] if both else None)
        for k, load in enumerate(found.interface_bytes)
    ]
    rows.append(row("busiest interface", found.busiest_interface, natural.busiest_interface if both else None))
    rows.append(row("hops of all messages", found.hops, natural.hops if both else None))
    rows.append(row("longest route", found.longest_route, natural.longest_route if both else None))
    return text_table(header, rows, markdown, names=1)


def interfaces_table(loads: Any, network: Any, process_axes: list[str], markdown: bool = False) -> str:
    """A table of the items that each interface sends, for the kind of node with the largest load."""
    kind = loads.node_types[0]
    rows = []
    for k, load in enumerate(kind.interface):
        owned = [item for item, owner in zip(kind.items, kind.owner, strict=True) if owner == k]
        sends = ", ".join(f"{item_name(item, network, process_axes)} {item.bytes}" for item in owned)
        rows.append([str(k), sends or "nothing", str(load)])
    return text_table(["interface", "sends [bytes]", "load"], rows, markdown, names=2)


def bound_line(result: Any) -> str:
    """The line about the proven bound."""
    proof = "proven best" if result.proven else "stopped before the proof"
    return (
        f"bound       no map of this kind is below {result.lower_bound} bytes; gap {100 * result.gap:.3g} %, {proof}, "
        f"{result.visited} complete assignments of {result.steps} steps"
    )


def markdown_report(order: RankOrder, result: Any, natural: Any | None, files: Sequence[str]) -> str:
    """The report of a search as a Markdown page; a search that ran to its end always gives the same bytes."""
    names = walks.process_axes(order.map)
    parts = ["# Map of processes onto nodes", ""]
    parts += [f"- {line}" for line in problem_lines(order)]
    parts += ["- counted     bytes times hops at an interface" if order.count == "hops" else "- counted     bytes once"]
    parts += [f"- {bound_line(result)}", f"- unused      {result.loads.unused_nodes} nodes", ""]
    parts += ["## Axes", "", axes_table(order, result.rings, True), ""]
    parts += ["## Loads", "", loads_table(result.loads, natural, order.network, True), ""]
    kinds = len(result.loads.node_types)
    kind = result.loads.node_types[0]
    parts += [
        "## Interfaces",
        "",
        f"Of the kind of node that sends most items ({kind.nodes} of them; {kinds} kinds).",
        "",
    ]
    parts += [interfaces_table(result.loads, order.network, names, True), ""]
    parts += ["## Files", "", *(f"- {name}" for name in files), ""]
    return "\n".join(parts)
