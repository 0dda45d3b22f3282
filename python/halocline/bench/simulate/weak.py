# SPDX-License-Identifier: Apache-2.0
"""Iterations of a solver on a simulated machine, and what the network model says about the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.bench.simulate import platform, program
from halocline.errors import InvalidArgument

TRANSPORTS = ("mpi_persistent", "mpi_rma")
"""Those that reach the network by MPI calls alone; the others look at memory, which SimGrid cannot simulate."""


def weak(
    network: Any,
    map: Any,
    messages: Any,
    iteration: Any,
    *,
    transport: str = "mpi_persistent",
    iterations: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Runs iterations on a simulated machine, one process a rank of the map.

    network, map, messages: as halocline.mapping has them
    iteration: an Iteration: what is computed, posted, exchanged and summed
    transport: one of TRANSPORTS; iterations: how many, timed together
    progress: called while the program is compiled, with files done and their number
    Returns the object of a benchmark: `seconds` of an iteration, and in `result` seconds of its parts (`exchange` of
    one exchange, `sums` of all sums of an iteration) beside `model`, the same by the network model with links alone,
    and `absent_wraps`: whether SimGrid used links that the network lacks, so that the two are not comparable.
    Raises InvalidArgument where SimGrid is missing or the case cannot be simulated; Error when the simulation fails.
    Cost: 1728 processes take about 10 s to start and a second an exchange, and a gigabyte of memory.
    """
    check(iteration, transport, iterations)
    exchanges = iteration.exchanges
    built = program.build(progress)
    arguments = {
        "grid": joined(map.grid),
        "bytes": joined(messages.bytes),
        "directions": joined(messages.directions),
        "transport": transport,
        "iterations": str(iterations),
        "exchanges": str(exchanges),
        "computation": repr(max(0.0, iteration.computation / exchanges)),
        "posting": repr(iteration.posting),
        "latency": repr(network.latency),
        "sums": joined(iteration.sums),
    }
    hosts = [f"n{node}" for node in np.asarray(map.node).tolist()]
    found = program.run(built, platform.platform(network), hosts, platform.settings(network), arguments)
    return {
        "bench": "weak",
        "case": {
            "network": network.name,
            "shape": [axis.length for axis in network.axes],
            "grid": list(map.grid),
            "per_node": list(map.per_node),
            "bytes": list(messages.bytes),
            "directions": list(messages.directions),
            "processes": found["processes"],
            "nodes": nodes_of(map),
            "transport": transport,
            "iterations": iterations,
            "exchanges": exchanges,
            "sums": list(iteration.sums),
            "computation": iteration.computation,
            "posting": iteration.posting,
        },
        "seconds": {"median": found["iteration"], "min": found["iteration"], "max": found["iteration"], "runs": 1},
        "result": {
            "iteration": found["iteration"],
            "exchange": found["exchange"],
            "sums": found["sums"],
            "model": links_alone(network, map, messages, iteration),
            "absent_wraps": platform.uses_absent_wraps(network, map),
        },
    }


def check(iteration: Any, transport: str, iterations: int) -> None:
    """Raises InvalidArgument for what cannot be simulated anywhere."""
    check_transport(transport)
    if iterations < 1:
        raise InvalidArgument(f"{iterations} iterations given; give at least 1.")
    if iteration.exchanges < 1:
        raise InvalidArgument("an iteration without exchanges given; give at least one.")


def check_transport(transport: str) -> None:
    """Raises InvalidArgument for a transport that cannot be simulated."""
    if transport not in TRANSPORTS:
        raise InvalidArgument(f"transport {transport} cannot be simulated; give {' or '.join(TRANSPORTS)}.")


def links_alone(network: Any, map: Any, messages: Any, iteration: Any) -> dict[str, float]:
    """Seconds of an iteration, an exchange and all sums by the model, as if interfaces had no limits; sums in software,
    nobody late: what the simulator has. A fat tree, which has no links to count, is limited by what a node sends."""
    mapping = _halocline.mapping
    loads = mapping.evaluate(network, map, messages, "injected")
    time = mapping.exchange_time(network, loads)
    exchange = time.latency + (time.injection if network.full_bisection else time.links)
    sums = sum(mapping.reduction_seconds(network, nodes_of(map), n, False) for n in iteration.sums)
    return {
        "iteration": iteration.computation + iteration.exchanges * (iteration.posting + exchange) + sums,
        "exchange": exchange,
        "sums": sums,
    }


def nodes_of(map: Any) -> int:
    """Number of nodes with processes."""
    return len(np.unique(np.asarray(map.node)))


def joined(numbers: Sequence[int]) -> str:
    """A list as the simulated programs read it."""
    return ",".join(str(n) for n in numbers)
