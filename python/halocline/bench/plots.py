# SPDX-License-Identifier: Apache-2.0
"""Pictures of benchmarks: a line for every way of communicating, or for every solver.

jacobi2d: time of a sweep against the length of a message. halo: time of a message against its length, with the floor.
qcdjdd: bars of the parts of an iteration, stacked, and waiting, posting and computation with received data relative to
the first case, as Figures 4 and 5 of the paper on uTofu have them, with its printed values.
allreduce: median time of a sum against its length, with the band from the least time to the average over processes.
multigrid: iterations and time of a solve against the quark mass, with even-odd BiCGStab.
su3: rate against the volume for each layout of complex numbers, with the rate that the triad's bandwidth allows.
stencil, rt-step: a roofline, that is rate against operations a byte, below what arithmetic and memory allow.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from halocline.bench.table import Result, kind, measured
from halocline.errors import InvalidArgument
from halocline.picture import COLOURS, STYLE, save

Line = tuple[list[float], list[float]]


def lines(results: Sequence[Result], x: Callable[[Result], float]) -> dict[tuple[str, int], Line]:
    """Lengths and median seconds, ascending, by transport and buffers in the order of first appearance."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for r in measured(results):
        key = (r["case"]["transport"], r["case"]["buffers"])
        found.setdefault(key, []).append((x(r), r["seconds"]["median"]))
    return {key: ([a for a, _ in sorted(pairs)], [b for _, b in sorted(pairs)]) for key, pairs in found.items()}


def draw(path: Path, results: Sequence[Result]) -> None:
    """Writes the picture of results of one kind; the suffix of the path says in which format.

    Raises InvalidArgument when there is nothing to draw, FileError when the file cannot be written. Collective: no.
    """
    painters = {
        "jacobi2d": _jacobi2d,
        "halo face": _halo,
        "allreduce": _allreduce,
        "qcdjdd iteration": _qcdjdd,
        "multigrid": _multigrid,
        "su3": _su3,
        "stencil": _roofline,
        "rt-step": _roofline,
    }
    shown = measured(results)
    paint = painters.get(kind(shown[0])) if shown else None
    if paint is None:
        raise InvalidArgument(
            "--plot: there is no picture of this; jacobi2d, allreduce, qcdjdd, multigrid, su3, stencil, rt-step and "
            "one face by itself have one."
        )
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        figure = paint(plt, shown)
        try:
            save(figure, path)
        finally:
            plt.close(figure)


def _transports(axes: Any, found: dict[tuple[str, int], Line]) -> None:
    """A colour a transport; dashed and open for one buffer, solid and filled for two."""
    colours: dict[str, str] = {}
    for (transport, buffers), (x, y) in found.items():
        colour = colours.setdefault(transport, COLOURS[len(colours) % len(COLOURS)])
        alone = transport == "mpi"
        axes.plot(
            x, [1e6 * t for t in y], color=colour, linewidth=1.4, markersize=4,
            linestyle=":" if alone else "--" if buffers == 1 else "-",
            marker="x" if alone else "o", markerfacecolor="white" if buffers == 1 else colour,
            label="plain MPI" if alone else f"{transport}, {buffers} buffer{'s' if buffers > 1 else ''}",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")


def _jacobi2d(plt: Any, results: Sequence[Result]) -> Any:
    figure, axes = plt.subplots(figsize=(6.8, 4.6))
    _transports(axes, lines(results, lambda r: max(r["case"]["message_bytes"])))
    interior = [r["result"]["overlap"] for r in results if r["result"]["overlap"]]
    if interior:
        typical = 1e6 * sorted(interior)[len(interior) // 2]
        axes.axhline(typical, color="0.5", linewidth=1, linestyle="-.", label="inner sites alone")
    case = results[0]["case"]
    axes.set_title(
        f"{case['processes']} processes as {case['grid'][0]} x {case['grid'][1]}, "
        f"{case['local'][0]} x {case['local'][1]} sites each",
        fontsize=9, color="0.35", loc="left",
    )  # fmt: skip
    axes.set_xlabel("message [bytes]")
    axes.set_ylabel("time of a sweep [us]")
    axes.legend(fontsize=8)
    return figure


def _halo(plt: Any, results: Sequence[Result]) -> Any:
    traffics = list(dict.fromkeys(r["case"]["traffic"] for r in results))
    figure, panels = plt.subplots(1, len(traffics), figsize=(1 + 5.2 * len(traffics), 4.4), squeeze=False, sharey=True)
    for axes, traffic in zip(panels[0], traffics, strict=True):
        some = [r for r in results if r["case"]["traffic"] == traffic]
        _transports(axes, lines(some, lambda r: r["case"]["bytes"]))
        floor = sorted({(r["case"]["bytes"], r["result"]["floor"]) for r in some if r["result"]["floor"]})
        if floor:
            axes.plot([n for n, _ in floor], [1e6 * t for _, t in floor], color="black", linewidth=2, label="floor")
        axes.set_title(traffic, fontsize=9, color="0.35", loc="left")
        axes.set_xlabel("message [bytes]")
    panels[0][0].set_ylabel("time of a message [us]")
    panels[0][0].legend(fontsize=8)
    return figure


STACK = ("compute", "received", "wait", "post", "sent", "sums", "barrier")
"""Parts of an iteration, from the bottom of a bar upwards."""


def _qcdjdd(plt: Any, results: Sequence[Result]) -> Any:
    from halocline.bench import published
    from halocline.bench.configurations import parts

    shown = [(_case_name(r), parts(r)) for r in results if kind(r) == "qcdjdd iteration" and parts(r)]
    names = [name for name, _ in shown]
    figure, (stacked, relative) = plt.subplots(1, 2, figsize=(max(7.0, 2.6 + 1.1 * len(shown)), 4.6))
    places = list(range(len(shown)))
    bottom = [0.0] * len(shown)
    for colour, part in zip(COLOURS * 2, STACK, strict=False):
        heights = [1e3 * times[part] for _, times in shown]
        if not any(heights):
            continue
        stacked.bar(places, heights, 0.6, bottom=bottom, color=colour, label=part)
        bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    stacked.set_ylabel("an iteration, slowest thread [ms]")
    stacked.legend(fontsize=8)
    base = shown[0][1]
    for n, part in enumerate(("wait", "post", "received")):
        if not base[part]:
            continue
        at = [p + 0.25 * (n - 1) for p in places]
        relative.bar(at, [times[part] / base[part] for _, times in shown], 0.22, color=COLOURS[n], label=part)
        first = published.TABLE_4.get(names[0])
        column = published.TABLE_4_KEYS.index(part)
        if first is None or not first[column]:
            continue
        printed = [published.TABLE_4[name][column] / first[column] for name in names]  # type: ignore[operator]
        relative.plot(at, printed, linestyle="none", marker="_", markersize=9, color="0.2")
    relative.axhline(1, color="0.6", linewidth=0.8)
    relative.set_ylabel(f"relative to {names[0]}")
    relative.legend(fontsize=8)
    for axes in (stacked, relative):
        axes.set_xticks(places, names, rotation=35, ha="right", fontsize=7)
    return figure


def _case_name(result: Result) -> str:
    """What tells a case of qcdjdd from the others."""
    case = result["case"]
    if "configuration" in case:
        return str(case["configuration"])
    local = "x".join(map(str, case["local"]))
    if "transport" not in case:
        return local
    return f"{local} {case['transport']} {case['buffers']} buf, {case['posting']}"


def _allreduce(plt: Any, results: Sequence[Result]) -> Any:
    figure, axes = plt.subplots(figsize=(6.4, 4.3))
    first = results[0]["case"]
    alike = [r for r in results if all(r["case"][k] == first[k] for k in ("precision", "barrier"))]
    results = [r for r in alike if r["case"]["elements"] > 0]
    methods = list(dict.fromkeys(r["case"]["method"] for r in results))
    for colour, method in zip(COLOURS, methods, strict=False):
        some = sorted((r for r in results if r["case"]["method"] == method), key=lambda r: r["case"]["elements"])
        x = [r["case"]["elements"] for r in some]
        found = [r["result"] for r in some]
        name = {"mpi": "MPI_Allreduce", "messages": "messages", "shared_memory": "shared memory"}.get(method, method)
        axes.plot(x, [1e6 * f["median"] for f in found], color=colour, marker="o", markersize=4, label=name)
        axes.fill_between(
            x,
            [1e6 * f["min"] for f in found],
            [1e6 * f["average"] for f in found],
            color=colour,
            alpha=0.12,
            linewidth=0,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(f"{results[0]['case']['processes']} processes", fontsize=9, color="0.35", loc="left")
    axes.set_xlabel("doubles in a sum")
    axes.set_ylabel("time of a sum [us]")
    axes.legend(fontsize=8)
    return figure


def _su3(plt: Any, results: Sequence[Result]) -> Any:
    panels = list(dict.fromkeys((r["case"]["form"], r["case"]["precision"]) for r in results))
    figure, row = plt.subplots(1, len(panels), figsize=(1 + 4.2 * len(panels), 4.2), squeeze=False)
    titles = {"product": "matrix times matrix", "vector": "matrix times two vectors"}
    for axes, (form, precision) in zip(row[0], panels, strict=True):
        some = [r for r in results if (r["case"]["form"], r["case"]["precision"]) == (form, precision)]
        for colour, layout in zip(COLOURS, dict.fromkeys(r["case"]["layout"] for r in some), strict=False):
            shown = sorted(
                (math.prod(r["case"]["local"]) ** 0.25, r["gflops"]) for r in some if r["case"]["layout"] == layout
            )
            label = "real and imaginary parts apart" if layout == "apart" else "interleaved"
            axes.plot(*zip(*shown, strict=True), color=colour, marker="o", markersize=4, label=label)
        triad = [r["gflops"] / r["fraction_of_stream"] for r in some]
        axes.axhline(
            sorted(triad)[len(triad) // 2], color="0.5", linestyle="-.", linewidth=1, label="triad from memory"
        )
        axes.set_ylim(bottom=0)
        axes.set_title(f"{titles[form]}, {precision}", fontsize=9, color="0.35", loc="left")
        axes.set_xlabel("sites along an axis")
    row[0][0].set_ylabel("Gflop/s")
    row[0][0].legend(fontsize=8)
    return figure


MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def rooflines(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """For each precision the medians of the ceilings that were measured with its cases: `fma` in Gflop/s, `triad` in
    GB/s."""
    found = {}
    for precision in dict.fromkeys(r["case"]["precision"] for r in results):
        ceilings = [r["ceiling"] for r in results if r["case"]["precision"] == precision]
        found[precision] = {
            "fma": statistics.median(c["fma_gflops"] for c in ceilings),
            "triad": statistics.median(c["stream_gbytes_per_s"] for c in ceilings),
        }
    return found


def own_ceiling(result: Result) -> float:
    """Gflop/s: what arithmetic and the triad on as many bytes as the case moves allow."""
    ceiling = result["ceiling"]
    return min(ceiling["fma_gflops"], result["flops"] / result["bytes"] * ceiling["working_set"]["stream_gbytes_per_s"])


def _roofline(plt: Any, results: Sequence[Result]) -> Any:
    """Beside the points, a short line at the ceiling of each case: its arrays may stand in a cache."""
    figure, axes = plt.subplots(figsize=(8.4, 4.4))
    names = ("system", "form", "lattice", "scheme", "precision")
    varied = [n for n in names if len({r["case"][n] for r in results if n in r["case"]}) > 1]

    def label(case: Result) -> str:
        kept = [n for n in names if n in case and (n in varied or n in ("form", "system"))]
        return ", ".join(Path(case[n]).stem if n == "system" else case[n] for n in kept)

    intensities = [r["flops"] / r["bytes"] for r in results]
    roofs = rooflines(results)
    ridges = [roof["fma"] / roof["triad"] for roof in roofs.values()]
    low, high = min(intensities + ridges) / 2, max(intensities + ridges) * 2
    for style, (precision, roof) in zip(("-", "--"), roofs.items(), strict=False):
        x = [low, roof["fma"] / roof["triad"], high]
        y = [min(roof["fma"], roof["triad"] * i) for i in x]
        of = f", {precision}" if len(roofs) > 1 else ""
        axes.plot(x, y, color="0.3", linewidth=1.4, linestyle=style, label=f"triad from memory and FMA{of}")
    groups = list(dict.fromkeys(label(r["case"]) for r in results))
    for number, name in enumerate(groups):
        some = [(i, r) for i, r in zip(intensities, results, strict=True) if label(r["case"]) == name]
        colour = COLOURS[number % len(COLOURS)]
        for i, r in some:
            own = own_ceiling(r)
            axes.plot([i, i], [r["gflops"], own], color=colour, linewidth=0.8, alpha=0.6)
            axes.plot([i / 1.06, i * 1.06], [own, own], color=colour, linewidth=1.4)
        axes.plot(
            [i for i, _ in some], [r["gflops"] for _, r in some], linestyle="none", color=colour,
            marker=MARKERS[number % len(MARKERS)], markersize=5, label=name,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(mpl.ticker.FormatStrFormatter("%g"))
        axis.set_minor_formatter(mpl.ticker.NullFormatter())
    workers = sorted({r["case"]["processes"] * r["case"]["threads"] for r in results})
    axes.set_title(
        f"{results[0]['bench']} on {' and '.join(map(str, workers))} {'core' if workers == [1] else 'cores'}; bars: "
        "the ceiling of each case, whose arrays may stand in a cache",
        fontsize=9, color="0.35", loc="left",
    )  # fmt: skip
    axes.set_xlabel("operations a byte of memory traffic [flop/byte]")
    axes.set_ylabel("rate [Gflop/s]")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _multigrid(plt: Any, results: Sequence[Result]) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2))
    for columns, line in zip(dict.fromkeys(r["case"]["columns"] for r in results), ("-", "--", ":"), strict=False):
        some = sorted((r for r in results if r["case"]["columns"] == columns), key=lambda r: r["case"]["m0"])
        masses = [r["case"]["m0"] for r in some]
        found = [r["result"] for r in some]
        label = "one column" if columns == 1 else f"{columns} columns"
        both = (
            ("multigrid", COLOURS[0], "cycles", [r["seconds"]["median"] for r in some]),
            ("BiCGStab", COLOURS[1], "bicgstab_iterations", [f["bicgstab_seconds"]["median"] for f in found]),
        )
        for name, colour, iterations, seconds in both:
            style = {"color": colour, "linestyle": line, "marker": "o", "markersize": 4}
            left.plot(masses, [f[iterations] for f in found], label=f"{name}, {label}", **style)
            right.plot(masses, [t / columns for t in seconds], label=f"{name}, {label}", **style)
        whole = [(f["setup_seconds"] + r["seconds"]["median"]) / columns for f, r in zip(found, some, strict=True)]
        right.plot(masses, whole, color="0.5", linestyle=line, label=f"multigrid with set-up, {label}")
    for axes, title in ((left, "iterations"), (right, "time of a solve, a column [s]")):
        axes.set_yscale("log")
        axes.set_xlabel("bare mass m0")
        axes.set_ylabel(title)
        axes.legend(fontsize=8)
    case = results[0]["case"]
    left.set_title(
        f"{case['gauge']}, csw {case['csw']:g}, {case['threads']} threads", fontsize=9, color="0.35", loc="left"
    )
    return figure
