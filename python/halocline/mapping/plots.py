# SPDX-License-Identifier: Apache-2.0
"""Plots of a map as PNG and SVG, beside the natural order.

`axes`: for each process axis, the line of nodes from rank 0 along that axis. A column is a node, in the order of the
line (the last node is the neighbour of the first). A row is an axis of the network, coloured blue by the coordinate if
the line moves along that axis. The hops from each node to the next are below. A good map changes one coordinate by one
in each step.

`loads`: the busiest link of every network axis and every interface of the busiest kind of node, in bytes. Below them
are the mean hops of a message, process axis against network axis.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from halocline.mapping import walks
from halocline.mapping.networks import shape_text
from halocline.mapping.rank_order import RankOrder
from halocline.picture import save

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "halocline",
}
FOUND, NATURAL = "#0b5fa5", "#c8500a"
COLUMNS_WITH_NUMBERS = 34
"""Longest line for which coordinates and hops are printed as numbers."""


def draw(folder: Path, order: RankOrder, rings: Any, loads: Any, natural: Any, natural_loads: Any) -> list[Path]:
    """Writes axes.png, axes.svg, loads.png and loads.svg into the folder; returns their paths.

    rings: from a search; None for a map from another source
    natural, natural_loads: the natural order and its loads; None if there is none
    Raises FileError. The same map gives the same bytes.
    """
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    written = []
    with mpl.rc_context(STYLE):
        for name, paint in (("axes", _paint_axes), ("loads", _paint_loads)):
            figure = paint(plt, order, rings, loads, natural, natural_loads)
            try:
                written += [save(figure, folder / f"{name}.{suffix}") for suffix in ("png", "svg")]
            finally:
                plt.close(figure)
    return written


def _caption(order: RankOrder) -> str:
    grid, split = ("x".join(map(str, n)) for n in (order.map.grid, order.map.per_node))
    return f"{order.network.name} {shape_text(order.network)}, processes {grid}, {split} a node"


def _paint_axes(plt: Any, order: RankOrder, rings: Any, loads: Any, natural: Any, natural_loads: Any) -> Any:
    names = walks.process_axes(order.map)
    maps = [("this map", order.map)] if natural is None else [("natural order", natural), ("this map", order.map)]
    tall = len(names) * (0.62 + 0.155 * (len(order.network.axes) + 1))
    figure, panels = plt.subplots(
        len(names), len(maps), figsize=(0.6 + 5.2 * len(maps), 0.5 + tall), squeeze=False
    )  # fmt: skip
    for q, name in enumerate(names):
        lines = [walks.line(order.network, map, q) for _, map in maps]
        width = max(len(line) for line in lines)
        for axes, line, (title, map) in zip(panels[q], lines, maps, strict=True):
            pieces = None
            if rings is not None and map is order.map:
                pieces = " ".join(piece.name(order.network) for piece in rings[q].pieces)
            _paint_line(axes, order.network, line, width, _heading(name, title, len(line), pieces))
    figure.suptitle(_caption(order), fontsize=9, color="0.35")
    return figure


def _heading(name: str, title: str, nodes: int, pieces: str | None) -> str:
    if nodes == 1:
        return f"{name}, {title}: inside a node"
    return f"{name}, {title}: {nodes} nodes" + (f" along {pieces}" if pieces else "")


def _paint_line(axes: Any, network: Any, line: np.ndarray, width: int, heading: str) -> None:
    """Draws the coordinates along one line of nodes, and the hops between them. width: number of cells to reserve."""
    lengths = np.array([axis.length for axis in network.axes])
    nodes, bottom = len(line), len(lengths)
    axes.set_title(heading, fontsize=9, loc="left")
    used = (line != line[0]).any(axis=0)
    shade = np.where(used, 0.12 + line / np.maximum(lengths - 1, 1), 0.0)
    axes.imshow(shade.T, cmap="Blues", vmin=0.0, vmax=1.9, aspect="auto", interpolation="nearest")
    hops = walks.distances(network, line, np.roll(line, -1, axis=0)).sum(axis=1)
    numbers = width <= COLUMNS_WITH_NUMBERS
    if numbers:
        for t in range(bottom):
            for k in range(nodes):
                colour = "0.1" if used[t] else "0.75"
                axes.text(k, t, str(line[k, t]), ha="center", va="center", fontsize=6.5, color=colour)
    if nodes > 1 and numbers:
        for k in range(nodes):
            colour = "0.35" if hops[k] <= 1 else NATURAL
            axes.text(k + 0.5, bottom, str(hops[k]), ha="center", va="center", fontsize=6.5, color=colour)
    elif nodes > 1:
        said = f"mean {hops.mean():.2f}, largest {hops.max()}"
        axes.text(0, bottom, said, ha="left", va="center", fontsize=7, color=NATURAL if hops.max() > 1 else "0.35")
    axes.set_ylim(bottom + 0.5, -0.5)
    axes.set_xlim(-0.5, width + 0.1)
    labels = [axis.name for axis in network.axes]
    axes.set_yticks(range(bottom + 1), [*labels, "hops" if nodes > 1 else ""], fontsize=7)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _bars(axes: Any, labels: list[str], series: list[tuple[str, str, list[float]]]) -> None:
    """Draws groups of bars with their values in kB above."""
    width = 0.8 / len(series)
    place = np.arange(len(labels))
    for k, (name, colour, values) in enumerate(series):
        at = place + (k - 0.5 * (len(series) - 1)) * width
        kilobytes = np.asarray(values) / 1e3
        bars = axes.bar(at, kilobytes, width=0.92 * width, color=colour, label=name)
        axes.bar_label(bars, [f"{v:.4g}" for v in kilobytes], fontsize=6 if len(series) > 1 else 7, padding=1)
    axes.set_xticks(place, labels)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color="0.92")
    spare = max(0.0, 0.5 * (4 - len(labels)))  # keeps a small number of bars narrow
    axes.set_xlim(-0.6 - spare, len(labels) - 0.4 + spare)
    highest = max(max(values) for _, _, values in series) / 1e3
    axes.set_ylim(0, 1.15 * highest if highest > 0 else 1.0)


def _paint_loads(plt: Any, order: RankOrder, rings: Any, loads: Any, natural: Any, natural_loads: Any) -> Any:
    network, names = order.network, walks.process_axes(order.map)
    figure, panels = plt.subplots(2, 2, figsize=(10.4, 6.0), height_ratios=(1.25, 1.0))
    both = natural is not None

    def series(of: Any) -> list[tuple[str, str, list[float]]]:
        beside = [("natural order", NATURAL, of(natural_loads))] if both else []
        return [*beside, ("this map", FOUND, of(loads))]

    _bars(panels[0][0], [axis.name for axis in network.axes], series(lambda found: found.axis_bytes))
    panels[0][0].set_title("busiest link of each axis of the network", fontsize=9, loc="left")
    panels[0][0].set_ylabel("kB in one exchange")
    labels = [str(k + 1) for k in range(network.interfaces)]
    _bars(panels[0][1], labels, series(lambda found: found.interface_bytes))
    counted = "bytes times hops" if order.count == "hops" else "bytes once"
    panels[0][1].set_title(f"interfaces of the busiest kind of node, {counted}", fontsize=9, loc="left")
    panels[0][1].set_xlabel("interface, largest load first")
    panels[0][0].legend(fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.2)

    maps = [("natural order", natural), ("this map", order.map)] if both else [("this map", order.map)]
    hops = [walks.mean_hops(network, map) for _, map in maps]
    largest = max(2.0, max(h.max() for h in hops))
    for axes, (title, _), values in zip(panels[1], maps, hops, strict=False):
        _heat(axes, values, largest, names, [axis.name for axis in network.axes])
        axes.set_title(f"mean hops of a message, {title}", fontsize=9, loc="left")
    for axes in panels[1][len(maps) :]:
        axes.set_visible(False)
    figure.suptitle(f"{_caption(order)}, {order.messages.name}", fontsize=9, color="0.35")
    return figure


def _heat(axes: Any, values: np.ndarray, largest: float, rows: list[str], columns: list[str]) -> None:
    shown = np.where(values > 0, values, np.nan)
    axes.imshow(shown, cmap="Oranges", vmin=0.0, vmax=1.3 * largest, aspect="auto", interpolation="nearest")
    for q, t in np.argwhere(values > 0):
        colour = "white" if values[q, t] > 0.8 * largest else "0.15"
        axes.text(t, q, f"{values[q, t]:.3g}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.9")
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_ylabel("process axis")
    axes.set_xlabel("axis of the network")
