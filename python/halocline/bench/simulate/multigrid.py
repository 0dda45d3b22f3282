# SPDX-License-Identifier: Apache-2.0
"""Cycles of the multigrid solver on a simulated machine (bench/simulated/multigrid.cpp), part by part.

The exchanges, sums and the gathering of the coarse lattice are the library's own code. Computation is slept: flops by
the counts below, at a stated rate a process.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.bench.simulate import platform, program
from halocline.bench.simulate.weak import TRANSPORTS
from halocline.errors import InvalidArgument

PARTS = ("smoother", "fine_operator", "transfer", "outer", "coarsest")
"""Parts of a cycle: Schwarz sweeps; D; restriction and prolongation; vectors and sums of the outer FGMRES; the coarse
solve, with gathering and waiting."""
COARSE_PARTS = ("gathering", "computing", "exchanging", "summing")
"""Parts of the coarse solve, on the processes that take part in it."""
RESTART = 30
"""Restart length of the coarse GMRES, as in qcd/multigrid/multigrid.cpp."""
GFLOPS = 346.0
"""Of a process of the solver on Fugaku: 138.5 Mflop in 0.400 ms of computation (docs/benchmarks/mapping.md)."""


@dataclasses.dataclass(frozen=True)
class Cycle:
    """What a cycle does; the defaults are those of the solver."""

    local: Sequence[int] = (8, 8, 8, 8)
    """Sites of a process along x, y, z, t."""
    aggregate: Sequence[int] = (4, 4, 4, 4)
    vectors: int = 24
    columns: int = 1
    sweeps: int = 4
    steps: int = 4
    coarse_iterations: int = 20
    gather_below: int = 16
    """Coarse sites of a process below which they are gathered on fewer processes; 1: never."""
    gflops: float = GFLOPS

    def check_grid(self, grid: Sequence[int]) -> None:
        """Raises InvalidArgument for a process grid on which this cannot be simulated."""
        if len(grid) != 4:
            raise InvalidArgument(f"a process grid of {len(grid)} axes given; multigrid needs four: x, y, z and t.")
        for axis, sites, processes in zip("xyzt", self.coarse, grid, strict=True):
            if sites * processes % 2:
                raise InvalidArgument(
                    f"the coarse lattice would have {sites * processes} sites along {axis}, and its solves are "
                    "simulated on one parity; give extents that make it even."
                )

    def check(self) -> None:
        """Raises InvalidArgument for what cannot be simulated anywhere."""
        if len(self.local) != 4 or len(self.aggregate) != 4:
            raise InvalidArgument("give four extents for the sites of a process and four for an aggregate.")
        for axis, sites, size in zip("xyzt", self.local, self.aggregate, strict=True):
            if size < 1 or sites < 1 or sites % size:
                raise InvalidArgument(
                    f"aggregates of {size} sites along {axis} given, and a process has {sites} sites there; give a "
                    "divisor."
                )
        if self.vectors < 8 or self.vectors % 8:
            raise InvalidArgument(f"{self.vectors} test vectors given; give a multiple of 8.")
        counts = {
            "columns": self.columns, "sweeps": self.sweeps, "steps": self.steps,
            "coarse iterations": self.coarse_iterations, "least coarse sites of a process": self.gather_below,
        }  # fmt: skip
        for name, number in counts.items():
            if number < 1:
                raise InvalidArgument(f"{number} {name} given; give at least 1.")
        if not 0 < self.gflops < math.inf:
            raise InvalidArgument(f"a rate of {self.gflops} Gflop/s given; give a positive number.")

    @property
    def rows(self) -> int:
        return 2 * self.vectors

    @property
    def coarse(self) -> list[int]:
        """Coarse sites of a process along each axis, before any gathering."""
        return [sites // size for sites, size in zip(self.local, self.aggregate, strict=True)]

    def fine_bytes(self) -> list[int]:
        """Of one face in a half-sweep: half spinors in float, of the domains of one colour."""
        domain, domains = math.prod(self.aggregate), math.prod(self.coarse)
        return [
            12 * 4 * self.columns * ((domains // blocks + 1) // 2) * (domain // size)
            for blocks, size in zip(self.coarse, self.aggregate, strict=True)
        ]

    def flops(self) -> dict[str, float]:
        """Of a process and column: parts of a cycle; and for each coarse site of its part of the coarse solve.

        smoother, D as in bench/schwarz_cost.hpp; transfer as in qcd/multigrid/transfer.hpp; the coarse operator as in
        coarse_schur.cpp, whose two half hops multiply by nine blocks a site. A projection is products with 2 N
        directions and their removal, on half the sites. Orthogonalisation is against `outer_steps` / 2 vectors in the
        mean for the outer solver, and for each vector of the basis for the coarse one.
        """
        sites, rows = math.prod(self.local), self.rows
        crossings = sum(2 / size for size in self.aggregate)
        edge = 1 - math.prod(max(size - 2, 0) / size for size in self.aggregate)
        inside = 1848 - 168 * crossings
        sweeps = self.sweeps * (self.steps * inside + 24) + (self.sweeps - 1) * 1872
        return {
            "smoother": sites * (sweeps + (168 * crossings + 504 * edge) / 2),
            "fine_operator": sites * 1848.0,
            "transfer": sites * (2 * rows * 48 + 504.0),
            "outer": sites * (4.5 * 192 + 4 * 48.0),
            "coarse_operator": 72.0 * rows**2,
            "coarse_projection": 8.0 * rows**2,
            "coarse_vectors": 8.0 * rows,
        }


def smoother_messages(cycle: Cycle) -> Any:
    """The messages of a half-sweep, for the search of a map."""
    return _halocline.mapping.Messages("multigrid-smoother", cycle.fine_bytes(), [2, 2, 2, 2])


def multigrid(
    network: Any,
    map: Any,
    cycle: Cycle,
    *,
    posting: float | None = None,
    transport: str = "mpi_persistent",
    cycles: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Runs cycles on a simulated machine, one process a rank of the map.

    network, map: as halocline.mapping has them
    posting: seconds to post and complete an exchange; Fugaku's where absent
    cycles: how many, timed together; progress: called while the program is compiled
    Returns the object of a benchmark: `seconds` of a cycle, and in `result` seconds and shares of PARTS, and
    of COARSE_PARTS within the coarse solve, on the `keepers` processes that hold coarse sites.
    Raises InvalidArgument where SimGrid is missing or the case cannot be simulated; Error when the simulation fails.
    Cost: on 1728 processes some minutes of one core a cycle, and a gigabyte of memory.
    """
    cycle.check()
    cycle.check_grid(map.grid)
    if transport not in TRANSPORTS:
        raise InvalidArgument(f"transport {transport} cannot be simulated; give {' or '.join(TRANSPORTS)}.")
    if cycles < 1:
        raise InvalidArgument(f"{cycles} cycles given; give at least 1.")
    if posting is None:
        posting = _halocline.mapping.published_iteration().posting
    built = program.build(progress, "multigrid")
    rate = cycle.gflops * 1e9 / cycle.columns
    seconds = {part: flops / rate for part, flops in cycle.flops().items()}
    arguments = {
        "grid": _joined(map.grid),
        "coarse": _joined(cycle.coarse),
        "fine_bytes": _joined(cycle.fine_bytes()),
        "rows": str(cycle.rows),
        "columns": str(cycle.columns),
        "cycles": str(cycles),
        "sweeps": str(cycle.sweeps),
        "coarse_iterations": str(cycle.coarse_iterations),
        "restart": str(RESTART),
        "gather_below": str(cycle.gather_below),
        "transport": transport,
        "posting": repr(posting),
        "latency": repr(network.latency),
        "half_sweep": repr(seconds["smoother"] / (2 * cycle.sweeps)),
        "fine_operator": repr(seconds["fine_operator"]),
        "transfer": repr(seconds["transfer"]),
        "outer_vectors": repr(seconds["outer"]),
        **{name: repr(seconds[name]) for name in ("coarse_operator", "coarse_projection", "coarse_vectors")},
    }
    hosts = [f"n{node}" for node in np.asarray(map.node).tolist()]
    found = program.run(built, platform.platform(network), hosts, platform.settings(network), arguments)
    total = sum(found[part] for part in PARTS)
    return {
        "bench": "simulate-multigrid",
        "case": {
            "network": network.name,
            "shape": [axis.length for axis in network.axes],
            "grid": list(map.grid),
            "per_node": list(map.per_node),
            "processes": found["processes"],
            "nodes": len(np.unique(np.asarray(map.node))),
            "transport": transport,
            "cycles": cycles,
            "posting": posting,
            **{k: list(v) if isinstance(v, (list, tuple)) else v for k, v in dataclasses.asdict(cycle).items()},
        },
        "seconds": {"median": found["cycle"], "min": found["cycle"], "max": found["cycle"], "runs": 1},
        "result": {
            "cycle": found["cycle"],
            "keepers": found["keepers"],
            "coarse_sites": found["coarse_sites"],
            "parts": {part: found[part] for part in PARTS},
            "shares": {part: found[part] / total for part in PARTS},
            "coarse_parts": {part: found[part] for part in COARSE_PARTS},
            "absent_wraps": platform.uses_absent_wraps(network, map),
        },
    }


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(str(n) for n in numbers)
