# SPDX-License-Identifier: Apache-2.0
"""The interface table: for every node, the interface that sends each item.

    #halocline interfaces 1
    #X Y Z A B C +X -X +Z -Z +B ... loop+x loop-x ...
    0 0 0 0 0 0 0 0 1 1 2 ... - -

There is one line for each node in use. It has the node's coordinates, then for each item the number of the interface
that owns it, or `-` if the node sends no such item. An item is everything that leaves by one direction of one network
axis (`+X`), or everything that loops back to the node itself for one direction of one process axis (`loop+x`). Behind a
fat tree `+x` is everything that leaves for one direction of process axis x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline.errors import FileError
from halocline.mapping.rank_order import coordinates_text
from halocline.texts import whole_number

FIRST_LINE = "#halocline interfaces 1"


def item_name(item: Any, network: Any, process_axes: list[str]) -> str:
    """The name of an item: "+X" for a link, "loop-x" for messages inside the node."""
    sign = "+" if item.direction > 0 else "-"
    if item.loopback:
        return f"loop{sign}{process_axes[item.axis]}"
    return f"{sign}{process_axes[item.axis] if network.full_bisection else network.axes[item.axis].name}"


def columns(loads: Any, network: Any, process_axes: list[str]) -> list[str]:
    """All items that any node sends: links first, in the order of the axes, + before -."""
    items = {
        (item.loopback, item.axis, -item.direction): item_name(item, network, process_axes)
        for kind in loads.node_types
        for item in kind.items
    }
    return [items[place] for place in sorted(items)]


def interface_table_text(loads: Any, network: Any, process_axes: list[str]) -> str:
    """The table as text. Cost: one line for each node."""
    names = columns(loads, network, process_axes)
    tails = []
    for kind in loads.node_types:
        owner = {item_name(item, network, process_axes): o for item, o in zip(kind.items, kind.owner, strict=True)}
        tails.append(" ".join(str(owner.get(name, "-")) for name in names))
    where = coordinates_text(network)
    lines = [f"{where[node]} {tails[kind]}" for node, kind in enumerate(loads.node_type.tolist()) if kind >= 0]
    head = " ".join([*(axis.name for axis in network.axes), *names])
    return "\n".join([FIRST_LINE, f"#{head}", *lines]) + "\n"


def parse_interface_table(text: str, axes: int, where: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the items; coordinates of the nodes, shape (nodes, axes); owners, shape (nodes, items), -1 for none.

    axes: number of network axes. Raises FileError, which names the faulty line.
    """
    lines = text.splitlines()
    if len(lines) < 2 or lines[0].rstrip() != FIRST_LINE or not lines[1].startswith("#"):
        raise FileError(f"{where}: its first line is not '{FIRST_LINE}', so it is no table of interfaces.")
    names = lines[1][1:].split()
    rows = []
    for number, line in enumerate(lines[2:], 3):
        words = line.split()
        values = [-1 if w == "-" and n >= axes else whole_number(w) for n, w in enumerate(words)]
        if len(words) != len(names) or None in values:
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected {axes} coordinates and an owner an item.")
        rows.append(values)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(names))
    return names[axes:], table[:, :axes], table[:, axes:]
