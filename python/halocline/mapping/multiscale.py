# SPDX-License-Identifier: Apache-2.0
"""The time of a step of `halocline tddft multiscale` on machines of growing size.

Groups of processes compute the cells of a film. After a step every process needs the currents of all cells: one sum of
three numbers a cell over all processes. Then each process computes the light of the whole film by itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from halocline.bench.table import text_table, time_text
from halocline.errors import InvalidArgument
from halocline.mapping.networks import shape_text

BYTES_OF_A_CELL = 24
LIGHT_OF_A_CELL = 2.5e-8
"""Seconds of the light for one cell of a line, measured on one core of an EPYC (docs/tddft-accuracy.md)."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of one machine [s]."""

    nodes: int
    processes: int
    cells: int
    computation: float
    """Of the cells of a group, with the communication inside of the group."""
    light: float
    sum: float
    """Of the currents over all processes."""

    @property
    def total(self) -> float:
        return self.computation + self.light + self.sum

    @property
    def share(self) -> float:
        """Of light and sum in the step."""
        return (self.light + self.sum) / self.total


def step_of(
    network: Any, nodes: int, per_node: int, group: int, cells: int, seconds: float, light: float = LIGHT_OF_A_CELL
) -> Step:
    """The step of a machine with groups of `group` processes, each with `cells` cells.

    seconds: of a step of one cell on its group; light: of the light for one cell
    The sum goes up and down a tree in software; its numbers pass an interface twice.
    Raises InvalidArgument for processes that the groups do not divide, and for negative times.
    """
    processes = nodes * per_node
    if group < 1 or cells < 1 or processes % group:
        raise InvalidArgument(
            f"groups of {group} processes with {cells} cells were given for {processes} processes; groups must divide "
            "the processes, and have at least one cell."
        )
    if min(seconds, light) < 0:
        raise InvalidArgument(f"a step of {seconds} s and light of {light} s a cell were given; give positive times.")
    whole = processes // group * cells
    depth = math.ceil(math.log2(nodes)) if nodes > 1 else 0
    moved = 2 * BYTES_OF_A_CELL * whole / network.interface_bandwidth if nodes > 1 else 0.0
    return Step(nodes, processes, whole, cells * seconds, light * whole, depth * network.reduction_latency + moved)


def table(networks: Sequence[Any], steps: Sequence[Step], markdown: bool = False) -> str:
    """One line for each machine. The efficiency is the first step over this one, with equal cells a group."""
    header = [
        "nodes",
        "shape",
        "processes",
        "cells",
        "computation",
        "light",
        "sum",
        "total",
        "light + sum",
        "efficiency",
    ]
    rows = [
        [
            str(s.nodes),
            shape_text(network),
            str(s.processes),
            str(s.cells),
            *(time_text(t) for t in (s.computation, s.light, s.sum, s.total)),
            f"{100 * s.share:.2f} %",
            f"{100 * steps[0].total / s.total:.1f} %",
        ]
        for network, s in zip(networks, steps, strict=True)
    ]
    return text_table(header, rows, markdown)


def numbers_of(networks: Sequence[Any], steps: Sequence[Step]) -> list[dict[str, Any]]:
    """For --json."""
    return [
        {"shape": [axis.length for axis in network.axes]} | dataclasses.asdict(s) | {"total": s.total, "share": s.share}
        for network, s in zip(networks, steps, strict=True)
    ]
