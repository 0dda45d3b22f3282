# SPDX-License-Identifier: Apache-2.0
"""Curves of the network model: iteration time and efficiency of a solver on machines of growing size.

A curve is a list of machines, each with a process grid. Every machine gets a map, from the search or in natural order.
The map determines the loads, the loads the time of an exchange, and the model (mapping/model.hpp) the time of an
iteration. With equal sites on each process it is a weak scaling curve. With the same lattice on all machines it is a
strong scaling curve, and messages and computation shrink with the process's part.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.mapping import problem

_mapping = _halocline.mapping

FUGAKU = (
    ((4, 6, 18), (6, 12, 6, 4)),
    ((4, 6, 24), (6, 16, 6, 4)),
    ((4, 6, 36), (6, 24, 6, 4)),
    ((4, 6, 48), (6, 32, 6, 4)),
    ((4, 12, 48), (6, 32, 6, 8)),
    ((16, 12, 48), (6, 32, 6, 32)),
    ((24, 12, 48), (6, 32, 6, 48)),
    ((24, 24, 48), (6, 32, 6, 96)),
    ((48, 69, 48), (6, 32, 48, 64)),
)
"""Shapes of Fugaku with the process grids of the domain solver, four processes on each node: those of IPSJ
2020-HPC-177, table 5, and the whole machine, of which 147,456 of the 158,976 nodes have processes [arXiv
2109.10687]."""

PER_NODE = (1, 2, 2, 1)
"""Division of the solver's four processes on a node."""


SOFTWARE_SECONDS = 1.111e-3
"""Measured iteration time on the first of these shapes without the hardware barrier [IPSJ 2020-HPC-177, table 5]."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """One machine of a curve, and the placement of its processes."""

    network: Any
    grid: tuple[int, ...]
    per_node: tuple[int, ...]
    local: tuple[int, ...]
    """Number of sites of a process along each axis."""
    loads: Any
    lower_bound: int | None
    """Proven lower bound of the load of the busiest interface; None for the natural order."""

    @property
    def processes(self) -> int:
        return math.prod(self.grid)

    @property
    def nodes(self) -> int:
        """Number of nodes with processes."""
        return self.processes // math.prod(self.per_node)


def machines(
    networks: Sequence[Any],
    grids: Sequence[Sequence[int]],
    per_node: Sequence[int],
    locals: Sequence[Sequence[int]],
    messages: Callable[[Sequence[int]], Any],
    count: str = "hops",
    natural: bool = False,
    advance: Callable[[int], bool] = lambda done: True,
) -> list[Machine]:
    """The machines of a curve with their maps.

    networks, grids, locals: one for each machine; messages: function from sites of a process to the messages of an
        exchange
    natural: use the natural order of ranks instead of the best map
    advance: called before each machine with its number; returning False ends the curve there
    Raises InvalidArgument as `search` does.
    Cost: a search and an evaluation for each machine, seconds for the whole of Fugaku.
    """
    made = []
    for number, (network, grid, local) in enumerate(zip(networks, grids, locals, strict=True)):
        if not advance(number):
            break
        sent, bound = messages(local), None
        if natural:
            loads = problem.evaluate(network, problem.natural_order(network, grid, per_node), sent, count)
        else:
            found = problem.search(network, grid, per_node, sent, count)
            loads, bound = found.loads, found.lower_bound
        made.append(Machine(network, tuple(grid), tuple(per_node), tuple(local), loads, bound))
    return made


def strong_locals(lattice: Sequence[int], grids: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Sites of a process on each grid, with the same lattice for all grids.

    Raises InvalidArgument if a grid does not divide the lattice.
    """
    found = []
    for grid in grids:
        if len(grid) != len(lattice) or any(n % p for n, p in zip(lattice, grid, strict=True)):
            raise InvalidArgument(
                f"the lattice {'x'.join(map(str, lattice))} does not divide by the grid {'x'.join(map(str, grid))}; "
                "give a lattice whose axes are multiples of every grid's."
            )
        found.append(tuple(n // p for n, p in zip(lattice, grid, strict=True)))
    return found


def computation_table(sites: Sequence[float], seconds: Sequence[float]) -> Any:
    """Seconds of computation in an iteration for any number of sites, interpolated and extrapolated from
    measurements."""
    return _mapping.ComputationTable(list(sites), list(seconds))


def fugaku_computation() -> Callable[[float], float]:
    """Seconds of computation of the domain solver on Fugaku as a function of the sites of a process.

    The time for 32x6x4x3 sites is 0.400 ms [arXiv 2109.10687, table 7]. Other sizes scale with the times of two
    processes on one node [table 4], which include their exchanges.
    """
    table, known = _mapping.published_computation(), _mapping.published_iteration().computation
    return lambda sites: known * table.at(sites) / table.at(2304.0)


def fugaku_jitter(hardware: bool) -> float:
    """The jitter of the domain solver on Fugaku [s], as in docs/benchmarks/mapping.md.

    With the barrier: from the published times of sums [IPSJ 2020-HPC-177, table 4]. Without: fitted to 1.111 ms, the
    published iteration time on 432 nodes [table 5], which costs one search.
    """
    known = _mapping.published_iteration()
    if hardware:
        return known.jitter
    shape, grid = FUGAKU[0]
    local = (32, 6, 4, 3)
    network = problem.network_named("tofu-d", shape)
    (machine,) = machines([network], [grid], PER_NODE, [local], problem.qcd_domain_solver)
    spent = {"exchanges": known.exchanges, "sums": known.sums, "posting": known.posting}
    return fitted_jitter(machine, fugaku_computation(), False, SOFTWARE_SECONDS, **spent)


def points(
    curve: Sequence[Machine],
    computation: Callable[[float], float],
    hardware: bool,
    *,
    exchanges: int,
    sums: Sequence[int],
    posting: float = 0.0,
    overlapped: float = 0.0,
    jitter: float = 0.0,
) -> list[Any]:
    """The scaling curve: a ScalingPoint for each machine.

    computation: function from sites of a process to seconds of an iteration; other arguments as in `Iteration`
    hardware: True: sums by the network's barrier; False: by a tree in software
    Raises InvalidArgument: sums by a barrier that the network does not have, negative times.
    """
    cases = []
    for machine in curve:
        sites = math.prod(machine.local)
        iteration = _mapping.Iteration(computation(float(sites)), overlapped, exchanges, posting, list(sums), jitter)
        whole = float(sites) * machine.processes
        cases.append(
            _mapping.ScalingCase(machine.network, machine.loads, machine.nodes, machine.processes, whole, iteration)
        )
    return _mapping.scaling(cases, hardware)


def fitted_jitter(
    machine: Machine,
    computation: Callable[[float], float],
    hardware: bool,
    measured: float,
    *,
    exchanges: int,
    sums: Sequence[int],
    posting: float = 0.0,
    overlapped: float = 0.0,
) -> float:
    """The jitter for which an iteration on this machine takes the measured time; 0 if no jitter does."""
    seconds = computation(float(math.prod(machine.local)))
    iteration = _mapping.Iteration(seconds, overlapped, exchanges, posting, list(sums))
    return _mapping.fitted_jitter(
        machine.network, machine.loads, machine.nodes, machine.processes, iteration, hardware, measured
    )
