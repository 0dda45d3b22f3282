# SPDX-License-Identifier: Apache-2.0
"""The lattice of a run on its processes, as [parallel] places them."""

from __future__ import annotations

from typing import Any

from halocline.errors import InvalidArgument
from halocline.mapping.placement import placement
from halocline.parallel import set_communication
from halocline.qcd import gauge
from halocline.qcd.runfile import Parallel


def placed_geometry(extents: list[int], group: Any, parallel: Parallel) -> tuple[Any, tuple[int, ...]]:
    """The lattice cut among the processes, and the rank at each place of the grid, which is that of the map of
    [parallel] if there is one, else empty. Sets how the solvers of the group communicate.

    Raises InvalidArgument and FileError on every process. Collective.
    """
    grid, ranks, interfaces = parallel.grid, (), ()
    if parallel.map is not None:
        found = placement(group, parallel.map, parallel.nodes, parallel.interfaces)
        if len(found.grid) != 4 or (grid is not None and tuple(grid) != found.grid):
            raise InvalidArgument(
                f"[parallel] map = {parallel.map}: its grid is {list(found.grid)}, and "
                + (f"grid is {list(grid)}; leave grid out." if grid is not None else "a lattice has four axes.")
            )
        grid, ranks, interfaces = found.grid, found.ranks, found.interfaces
    geometry = gauge.geometry(extents, group, grid, ranks)
    interface_grid = geometry.grid if interfaces else ()
    set_communication(
        group, parallel.transport or "", parallel.buffers, parallel.posting, parallel.sums, interfaces, interface_grid
    )
    return geometry, ranks
