# SPDX-License-Identifier: Apache-2.0
"""Cycles of the multigrid solver on a simulated machine (bench/simulated/multigrid.cpp), part by part.

The exchanges, sums and gatherings of the coarse levels are the library's own code. Computation is slept: flops by
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
from halocline.bench.simulate.weak import check_transport, joined, nodes_of
from halocline.errors import InvalidArgument

PARTS = ("smoother", "fine_operator", "transfer", "outer", "between", "coarsest")
"""Parts of a cycle: Schwarz sweeps; D; restriction and prolongation; vectors and sums of the outer FGMRES; coarse
levels but the coarsest; the coarsest level. Coarse levels with gathering and waiting, and without the levels below."""
COARSE_PARTS = ("gathering", "computing", "exchanging", "summing")
"""Parts of the time of a coarse level; of the coarsest one in `coarse_parts`."""
RESTART = 30
"""Restart length of the coarse GMRES, as in qcd/multigrid/detail/coarse_solver.cpp."""
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
    steps: int = 2
    levels: int = 0
    """With the fine one; 0: as many as the lattice needs."""
    coarse_aggregate: Sequence[int] = (2, 2, 2, 2)
    coarse_cycles: int = 3
    """Of a solve on a level between: measured on 16^4 and 24^4 sites (docs/multigrid.md)."""
    coarse_steps: int = 2
    coarse_iterations: int = 20
    """Of a solve on the coarsest level, where it has no dense inverse."""
    gather_below: int = 16
    """Coarse sites of a process below which they are gathered on fewer processes; 1: never."""
    gflops: float = GFLOPS

    def check_grid(self, grid: Sequence[int]) -> None:
        """Raises InvalidArgument for a process grid on which this cannot be simulated."""
        if len(grid) != 4:
            raise InvalidArgument(f"a process grid of {len(grid)} axes given; multigrid needs four: x, y, z and t.")

    def check(self) -> None:
        """Raises InvalidArgument for what cannot be simulated anywhere."""
        if not len(self.local) == len(self.aggregate) == len(self.coarse_aggregate) == 4:
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
            "cycles of a coarse solve": self.coarse_cycles, "steps of the coarse smoother": self.coarse_steps,
            "coarse iterations": self.coarse_iterations, "least coarse sites of a process": self.gather_below,
        }  # fmt: skip
        for name, number in counts.items():
            if number < 1:
                raise InvalidArgument(f"{number} {name} given; give at least 1.")
        if self.levels != 0 and not 2 <= self.levels <= 8:
            raise InvalidArgument(f"{self.levels} levels given; give 2 to 8, or 0 for as many as the lattice needs.")
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

        smoother, D as in bench/schwarz_cost.hpp; an even-odd solver inside a domain takes a hop from one parity to the
        other before and after its steps, and two in each. transfer as in qcd/multigrid/transfer.hpp, of a coarse level
        as in coarse_transfer.hpp; the coarse operator as in coarse_schur.cpp, whose two half hops multiply by nine
        blocks a site. A projection is products with 2 N directions and their removal, on half the sites.
        Orthogonalisation is against `outer_steps` / 2 vectors in the mean for the outer solver, and for each vector of
        the basis on half the sites for the coarse one. dense_row: an entry of a dense inverse.
        """
        sites, rows = math.prod(self.local), self.rows
        crossings = sum(2 / size for size in self.aggregate)
        edge = 1 - math.prod(max(size - 2, 0) / size for size in self.aggregate)
        inside = 1848 - 168 * crossings
        sweeps = self.sweeps * ((self.steps + 1) * inside + 24) + (self.sweeps - 1) * 1872
        return {
            "smoother": sites * (sweeps + (168 * crossings + 504 * edge) / 2),
            "fine_operator": sites * 1848.0,
            "transfer": sites * (2 * rows * 48 + 504.0),
            "outer": sites * (4.5 * 192 + 4 * 48.0),
            "coarse_operator": 72.0 * rows**2,
            "coarse_projection": 8.0 * rows**2,
            "coarse_vectors": 8.0 * rows,
            "coarse_transfer": 4.0 * rows**2,
            "dense_row": 8.0,
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
    Returns the object of a benchmark: `seconds` of a cycle, and in `result` seconds and shares of PARTS, of
    COARSE_PARTS within the coarsest level, and of each coarse level (`levels`: `sites` of the lattice, `processes`
    that hold it, `sites_of_a_process`, `seconds`, COARSE_PARTS). Times are means over the processes that hold the
    coarsest level, which take part in everything.
    Raises InvalidArgument where SimGrid is missing or the case cannot be simulated; Error when the simulation fails.
    Cost: on 1728 processes some minutes of one core a cycle, and a gigabyte of memory.
    """
    cycle.check()
    cycle.check_grid(map.grid)
    check_transport(transport)
    if cycles < 1:
        raise InvalidArgument(f"{cycles} cycles given; give at least 1.")
    if posting is None:
        posting = _halocline.mapping.published_iteration().posting
    built = program.build(progress, "multigrid")
    rate = cycle.gflops * 1e9 / cycle.columns
    seconds = {part: flops / rate for part, flops in cycle.flops().items()}
    arguments = {
        "grid": joined(map.grid),
        "local": joined(cycle.local),
        "aggregate": joined(cycle.aggregate),
        "coarse_aggregate": joined(cycle.coarse_aggregate),
        "levels": str(cycle.levels),
        "fine_bytes": joined(cycle.fine_bytes()),
        "rows": str(cycle.rows),
        "columns": str(cycle.columns),
        "cycles": str(cycles),
        "sweeps": str(cycle.sweeps),
        "coarse_cycles": str(cycle.coarse_cycles),
        "coarse_steps": str(cycle.coarse_steps),
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
        **{name: repr(seconds[name]) for name in seconds if name.startswith(("coarse_", "dense_"))},
    }
    hosts = [f"n{node}" for node in np.asarray(map.node).tolist()]
    found = program.run(built, platform.platform(network), hosts, platform.settings(network), arguments)
    levels = found["levels"]
    found["between"] = sum(level["seconds"] for level in levels[:-1])
    found["coarsest"] = levels[-1]["seconds"]
    total = sum(found[part] for part in PARTS)
    return {
        "bench": "simulate-multigrid",
        "case": {
            "network": network.name,
            "shape": [axis.length for axis in network.axes],
            "grid": list(map.grid),
            "per_node": list(map.per_node),
            "processes": found["processes"],
            "nodes": nodes_of(map),
            "transport": transport,
            "cycles": cycles,
            "posting": posting,
            **{k: list(v) if isinstance(v, (list, tuple)) else v for k, v in dataclasses.asdict(cycle).items()},
        },
        "seconds": {"median": found["cycle"], "min": found["cycle"], "max": found["cycle"], "runs": 1},
        "result": {
            "cycle": found["cycle"],
            "levels": levels,
            "parts": {part: found[part] for part in PARTS},
            "shares": {part: found[part] / total for part in PARTS},
            "coarse_parts": {part: levels[-1][part] for part in COARSE_PARTS},
            "absent_wraps": platform.uses_absent_wraps(network, map),
        },
    }
