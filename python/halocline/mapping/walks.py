# SPDX-License-Identifier: Apache-2.0
"""Distances on the network between neighbours along a process axis, for any map; used by reports and plots.

Distances are along each axis of the network by the shorter way, as messages travel. In a fat tree every node is one hop
from every other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline.mapping.networks import node_coordinates


def process_axes(map: Any) -> list[str]:
    """Names of the axes of the process grid: x, y, z, t, or numbers beyond four."""
    ndim = len(map.grid)
    return list("xyzt"[:ndim]) if ndim <= 4 else [f"axis {q}" for q in range(ndim)]


def distances(network: Any, coordinates: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Hops along each axis between pairs of nodes, shape (..., network axes)."""
    if network.full_bisection:
        apart = np.zeros(np.broadcast_shapes(coordinates.shape, others.shape), dtype=np.int64)
        apart[..., 0] = (coordinates != others).any(axis=-1)
        return apart
    lengths = np.array([axis.length for axis in network.axes])
    wraps = np.array([axis.wraps for axis in network.axes])
    apart = np.abs(coordinates - others)
    return np.where(wraps, np.minimum(apart, lengths - apart), apart)


def mean_hops(network: Any, map: Any) -> np.ndarray:
    """Mean hops of a message to the upper neighbour, shape (process axes, network axes).

    The mean is over messages that leave their node; zero for a process axis whose messages all stay. The grid is
    periodic.
    Cost: a few array operations over the ranks.
    """
    found = np.zeros((len(map.grid), len(network.axes)))
    node = map.node.reshape(map.grid[::-1])  # the first axis of the grid runs fastest
    coordinates = node_coordinates(network, node)
    for q in range(len(map.grid)):
        axis = len(map.grid) - 1 - q
        leaves = node != np.roll(node, -1, axis)
        if leaves.any():
            hops = distances(network, coordinates, np.roll(coordinates, -1, axis))
            found[q] = hops[leaves].mean(axis=0)
    return found


def line(network: Any, map: Any, q: int) -> np.ndarray:
    """Coordinates of the nodes along process axis q starting at rank 0, shape (nodes on it, network axes).

    Every node appears once, in the order in which the axis reaches it first.
    """
    stride = int(np.prod(map.grid[:q], dtype=np.int64))
    nodes = map.node[np.arange(map.grid[q]) * stride]
    return node_coordinates(network, np.array(list(dict.fromkeys(nodes.tolist())), dtype=np.int64))
