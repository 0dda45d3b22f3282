# SPDX-License-Identifier: Apache-2.0
"""Helpers for networks: coordinates of nodes, another number of interfaces, and a map as a permutation of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument

FIELDS = (
    "interfaces", "interface_bandwidth", "injection_bandwidth", "latency", "reduction_latency", "barrier_latency",
    "barrier_elements", "full_bisection",
)  # fmt: skip
"""Properties of a network besides its name and axes, in the order of the constructor."""
AXIS_FIELDS = ("name", "length", "wraps", "bandwidth", "hop_latency")


def node_coordinates(network: Any, node: Any = None) -> np.ndarray:
    """Coordinates of nodes on the axes of the network, shape (nodes, axes).

    node: numbers of nodes, in any order; None for all of them
    """
    rest = np.arange(network.nodes) if node is None else np.asarray(node, dtype=np.int64)
    columns = []
    for axis in network.axes:
        columns.append(rest % axis.length)
        rest = rest // axis.length
    return np.stack(columns, axis=-1)


def with_interfaces(network: Any, interfaces: int) -> Any:
    """The same network with another number of interfaces in every node; the bandwidths are unchanged.

    Raises InvalidArgument for a number below 1.
    """
    values = {name: getattr(network, name) for name in FIELDS} | {"interfaces": interfaces}
    return _halocline.mapping.Network(network.name, network.axes, **values)


def shape_text(network: Any) -> str:
    """Lengths of the axes: "2x2x9x2x3x2"."""
    return "x".join(str(axis.length) for axis in network.axes)


def permutation(map: Any, launched: Any) -> np.ndarray:
    """The order of ranks by which a job launched with another placement becomes this map.

    map: nodes of the grid positions, as from `search`
    launched: shape (ranks,), the node of each rank of the running job
    Returns shape (ranks,), dtype int32: the rank for each position of the process grid. A process grid (C++, C,
    Fortran, `Geometry`) takes it as its order of ranks.
    Raises InvalidArgument if the job's ranks do not fill the nodes as the map does; names the first such node.
    """
    wanted, given = np.asarray(map.node), np.asarray(launched, dtype=np.int64)
    if wanted.shape != given.shape:
        raise InvalidArgument(f"{given.size} ranks launched, but the map places {wanted.size}; give one node a rank.")
    places, ranks = np.argsort(wanted, kind="stable"), np.argsort(given, kind="stable")
    wrong = np.nonzero(wanted[places] != given[ranks])[0]
    if wrong.size:
        node = int(min(wanted[places][wrong[0]], given[ranks][wrong[0]]))
        raise InvalidArgument(
            f"node {node} has {np.count_nonzero(given == node)} launched ranks, but {np.count_nonzero(wanted == node)} "
            "in the map; launch the job on the map's nodes, as many ranks on each."
        )
    order = np.empty(wanted.size, dtype=np.int32)
    order[places] = ranks
    return order
