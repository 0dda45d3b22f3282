# SPDX-License-Identifier: Apache-2.0
"""The functions of the compiled mapping module with Python conveniences: sequences, arrays and docstrings."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument

_mapping = _halocline.mapping


def network_named(name: str, shape: Sequence[int], wraps: Sequence[str] = ()) -> Any:
    """A network of a known kind: tofu-d, torus-3d, torus-4d, torus-5d or fat-tree.

    shape: nodes along each axis; for tofu-d six lengths X, Y, Z, A, B, C, or the three products AX, BY, CZ
    wraps: tofu-d: names of the closed axes among X, Y, Z; an axis as long as Fugaku's (24, 23, 24) is always closed
    Raises InvalidArgument: an unknown name (gives the nearest), or a shape that does not fit the network.

    >>> [axis.length for axis in network_named("tofu-d", (4, 6, 18)).axes]
    [2, 2, 9, 2, 3, 2]
    """
    return _mapping.network_named(name, list(shape), list(wraps))


def qcd_domain_solver(local: Sequence[int], bytes_per_real: int = 4) -> Any:
    """Messages of the two-domain Schwarz solver for `local` sites x, y, z, t of a process [arXiv 2109.10687].

    Half spinors of the faces of one domain; the two directions of x are sent one after the other.

    >>> qcd_domain_solver((32, 6, 4, 3)).bytes
    [3456, 9216, 13824, 18432]
    """
    return _mapping.qcd_domain_solver(list(local), bytes_per_real)


def wilson_operator(local: Sequence[int], bytes_per_real: int = 4) -> Any:
    """Messages of the Wilson operator for `local` sites x, y, z, t: half spinors of every face, both directions."""
    return _mapping.wilson_operator(list(local), bytes_per_real)


def electron_halo(local: Sequence[int], orbitals: int, depth: int = 4, bytes_per_real: int = 8) -> Any:
    """Messages of the 25-point stencil of electron dynamics: `depth` layers of `orbitals` complex orbitals, both
    directions.

    local: grid points x, y, z of a process
    """
    return _mapping.electron_halo(list(local), orbitals, depth, bytes_per_real)


def natural_order(network: Any, grid: Sequence[int], per_node: Sequence[int]) -> Any:
    """The default order: consecutive ranks on each node, as many as the product of `per_node`, and nodes in order.

    Raises InvalidArgument if the network has too few nodes.
    """
    return _mapping.natural_order(network, list(grid), list(per_node))


def rank_map(network: Any, grid: Sequence[int], per_node: Sequence[int], node: Any) -> Any:
    """A user-defined map. node: shape (ranks,), the node of every rank; ranks with grid axis 0 fastest.

    Raises InvalidArgument: a rank outside the network, a node with more than its share of ranks, another number of
    ranks.
    """
    made = _mapping.RankMap(list(grid), list(per_node), np.ascontiguousarray(node, dtype=np.int64))
    _mapping.check(made, network)
    return made


def evaluate(network: Any, map: Any, messages: Any, count: str = "hops") -> Any:
    """The load of every link and interface in one halo exchange, found by walking every message hop by hop.

    count: "hops": at an interface a message counts its bytes times its hops [arXiv 2109.10687]; "injected": its bytes
    Raises InvalidArgument: a map that does not fit the network, or messages with another number of axes.
    Cost: all hops of all messages; seconds for the 158,976 nodes of Fugaku.
    """
    return _mapping.evaluate(network, map, messages, count)


def link_loads(network: Any, map: Any, messages: Any) -> np.ndarray:
    """Bytes on every link in one halo exchange; zeros for a fat tree.

    Returns shape (nodes, axes, 2): load of the link that leaves a node upwards (0) or downwards (1) along an axis.
    Raises InvalidArgument as evaluate().
    """
    return _mapping.link_loads(network, map, messages)


def search(
    network: Any,
    grid: Sequence[int],
    per_node: Sequence[int],
    messages: Any,
    count: str = "hops",
    *,
    seconds: float = 0.0,
    steps: int = 0,
    progress: Callable[[int, int], bool] | None = None,
) -> Any:
    """Finds the map with the least load on its busiest interface [arXiv 2109.10687, section 4.1; docs/mapping.md].

    grid: processes along each axis; per_node: processes of one node along each axis, which divide the grid
    seconds, steps: stop after this time, or this many steps of the search, with the best map so far; 0: search to the
        end
    progress: called regularly with the steps and the best busiest interface (0: none yet); returning False stops the
        search
    Returns a SearchResult: map, rings, loads, lower_bound, gap, proven.
    Raises InvalidArgument if no map exists; gives the nearest choice that has one.
    """
    end = time.monotonic() + seconds if seconds > 0 else math.inf

    def go_on(done: int, best: int) -> bool:
        return (progress is None or bool(progress(done, best))) and time.monotonic() < end

    return _mapping.search(network, list(grid), list(per_node), messages, count, steps, go_on)


def rings_of(text: str, network: Any, grid: Sequence[int], per_node: Sequence[int]) -> list[Any]:
    """Rings from the pieces of each process axis: "A,Z%3 ; C,Z/3 ; B ; X,Y"; an axis inside a node has no pieces.

    A piece is a whole axis (`Z`), its fast part (`Z%3`, the coordinate mod 3) or its slow part (`Z/3`, div 3).
    Raises InvalidArgument: another number of rings than axes, an unknown piece, or no ring of this length through them.
    """
    parts = text.split(";")
    if len(parts) != len(grid) or len(grid) != len(per_node):
        raise InvalidArgument(f"'{text}' names {len(parts)} rings for {len(grid)} process axes; divide them by ';'.")
    found = []
    for part, processes, split in zip(parts, grid, per_node, strict=True):
        if split < 1 or processes % split:
            raise InvalidArgument(f"{split} of {processes} processes on a node: give a number that divides them.")
        pieces = [_mapping.piece_named(network, name.strip()) for name in part.split(",") if name.strip()]
        found.append(_mapping.required_ring(network, pieces, processes // split))
    return found


def map_of_rings(network: Any, grid: Sequence[int], per_node: Sequence[int], rings: Sequence[Any]) -> Any:
    """The map of given rings, one for each process axis, e.g. from a paper.

    Raises InvalidArgument for pieces that share nodes, or rings that visit a node twice or do not close.
    """
    return _mapping.map_of_rings(network, list(grid), list(per_node), list(rings))
