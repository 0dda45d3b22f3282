# SPDX-License-Identifier: Apache-2.0
"""Curves of the network model: iteration time and efficiency of a solver over machines of growing size.

A curve is a list of machines, each with a process grid. Every machine gets a map, by the search or in natural order;
the map gives the loads, the loads the time of an exchange, and the model (mapping/model.hpp) the time of an iteration.
With equal sites a process the curve is a weak one; with one lattice for all it is a strong one, and messages and
computation shrink with the part of a process.
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
"""Shapes of Fugaku with the process grids of the domain solver, four processes a node: those of IPSJ 2020-HPC-177,
table 5, and the whole machine, of which 147,456 of the 158,976 nodes get processes [arXiv 2109.10687]."""

PER_NODE = (1, 2, 2, 1)
"""Of the solver's four processes a node."""


SOFTWARE_SECONDS = 1.111e-3
"""Of an iteration on the first of them without the hardware barrier [IPSJ 2020-HPC-177, table 5]."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """One machine of a curve, and where its processes sit."""

    network: Any
    grid: tuple[int, ...]
    per_node: tuple[int, ...]
    local: tuple[int, ...]
    """Sites of a process."""
    loads: Any
    lower_bound: int | None
    """Proven for the busiest interface; None for the natural order."""

    @property
    def processes(self) -> int:
        return math.prod(self.grid)

    @property
    def nodes(self) -> int:
        """Those that have processes."""
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

    networks, grids, locals: one of each a machine; messages: from sites of a process to what an exchange sends
    natural: ranks in natural order instead of the best map
    advance: called before each machine with its number; False ends the curve there
    Raises InvalidArgument as `search` does.
    Cost: a search and an evaluation each, seconds for the whole of Fugaku.
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
    """Sites of a process on each grid when the lattice is the same for all.

    Raises InvalidArgument where a grid does not divide it.
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
    """Seconds of computation of an iteration for any number of sites of a process, between and beyond measured ones."""
    return _mapping.ComputationTable(list(sites), list(seconds))


def fugaku_computation() -> Callable[[float], float]:
    """Seconds of computation of the domain solver on Fugaku for sites of a process.

    The 0.400 ms of 32x6x4x3 sites [arXiv 2109.10687, table 7], at other sizes in proportion to the times of two
    processes of one node [table 4], which contain their exchanges.
    """
    table, known = _mapping.published_computation(), _mapping.published_iteration().computation
    return lambda sites: known * table.at(sites) / table.at(2304.0)


def fugaku_jitter(hardware: bool) -> float:
    """The jitter of the domain solver on Fugaku [s], as docs/benchmarks/mapping.md has it.

    With the barrier: from the printed sums [IPSJ 2020-HPC-177, table 4]. Without: fitted to 1.111 ms, the printed
    iteration on 432 nodes [table 5], which costs one search.
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
    """The curve: a ScalingPoint a machine.

    computation: seconds of an iteration for sites of a process; the rest as in `Iteration`
    hardware: sums by the network's barrier, else by a tree in software
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
    """The jitter with which an iteration on this machine takes the measured seconds; 0 where none does."""
    seconds = computation(float(math.prod(machine.local)))
    iteration = _mapping.Iteration(seconds, overlapped, exchanges, posting, list(sums))
    return _mapping.fitted_jitter(
        machine.network, machine.loads, machine.nodes, machine.processes, iteration, hardware, measured
    )
