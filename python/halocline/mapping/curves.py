# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of the curves of predict.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from halocline.bench.table import text_table, time_text
from halocline.mapping.networks import shape_text
from halocline.mapping.plots import FOUND, NATURAL, STYLE
from halocline.mapping.predict import Machine
from halocline.picture import save

COLOURS = (FOUND, "#2b8a3e", NATURAL, "#8e3b9e")
PARTS = ("computation", "posting", "exchange", "reduction", "waiting", "total")


def numbers_of(name: str, curve: Sequence[Machine], points: Sequence[Any]) -> dict[str, Any]:
    """A curve for --json."""
    rows = []
    for machine, point in zip(curve, points, strict=True):
        row = {"shape": [axis.length for axis in machine.network.axes], "grid": list(machine.grid)}
        row |= {"per_node": list(machine.per_node), "local": list(machine.local), "nodes": point.nodes}
        row |= {"processes": point.processes, "sites": point.sites, "lower_bound": machine.lower_bound}
        row |= {"busiest_interface_bytes": machine.loads.busiest_interface}
        row |= {"bottleneck_link_bytes": machine.loads.busiest_link}
        row["seconds"] = {part: getattr(point.time, part) for part in PARTS}
        row |= {"sites_per_second": point.sites_per_second, "efficiency": point.efficiency}
        rows.append(row)
    return {"name": name, "points": rows}


def table(curve: Sequence[Machine], points: Sequence[Any], markdown: bool = False) -> str:
    """The curve as a table, one line for each machine."""
    header = ["nodes", "shape", "processes", "sites a process", "interface", *PARTS, "efficiency"]
    rows = []
    for machine, point in zip(curve, points, strict=True):
        grid, local = ("x".join(map(str, n)) for n in (machine.grid, machine.local))
        row = [str(point.nodes), shape_text(machine.network), grid, local, str(machine.loads.busiest_interface)]
        row += [time_text(getattr(point.time, part)) for part in PARTS]
        rows.append([*row, f"{100 * point.efficiency:.1f} %"])
    return text_table(header, rows, markdown)


def draw(path: Path, title: str, drawn: Sequence[tuple[str, Sequence[Any]]], strong: bool) -> None:
    """Plots iteration time, with its parts for the first curve, and speed of a node against the number of nodes.

    drawn: name and points of every curve; strong: all machines have the same lattice, so the ideal time decreases
    Raises FileError.
    """
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.3))
        best = drawn[0][1][0]
        unit = best.sites_per_second / best.nodes
        top = 0.0
        for colour, (name, points) in zip(COLOURS, drawn, strict=False):
            nodes = [point.nodes for point in points]
            total = [1e3 * point.time.total for point in points]
            left.plot(nodes, total, color=colour, marker="o", markersize=4, label=name)
            efficiency = [100 * point.sites_per_second / point.nodes / unit for point in points]
            top = max(top, *efficiency)
            right.plot(nodes, efficiency, color=colour, marker="o", markersize=4, label=name)
        name, points = drawn[0]
        nodes = [point.nodes for point in points]
        computation = [1e3 * point.time.computation for point in points]
        exchange = [1e3 * (p.time.computation + p.time.posting + p.time.exchange) for p in points]
        left.fill_between(nodes, 0, computation, color="0.85", linewidth=0, label=f"computation ({name})")
        left.fill_between(nodes, computation, exchange, color="#bcd3e6", linewidth=0, label=f"exchanges ({name})")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xlabel("nodes")
            axes.grid(color="0.92")
        if strong:
            first = points[0]
            ideal = [1e3 * first.time.total * first.nodes / n for n in nodes]
            left.plot(nodes, ideal, color="0.4", linestyle="--", linewidth=1, label="ideal")
            left.set_yscale("log")
        else:
            left.set_ylim(bottom=0)
        left.set_ylabel("time of an iteration [ms]")
        right.set_ylabel("sites a second and node [%]")
        right.set_title(f"100 %: {best.nodes} nodes, {drawn[0][0]}", fontsize=8, loc="left", color="0.35")
        right.set_ylim(0, max(105.0, 1.05 * top))
        right.legend(*left.get_legend_handles_labels(), fontsize=7)
        figure.suptitle(title, fontsize=9, color="0.35")
        try:
            save(figure, path)
        finally:
            plt.close(figure)
