# SPDX-License-Identifier: Apache-2.0
"""Results as a table: what was measured beside what the machine could do.

Each benchmark has columns of its own. A case that was skipped has none: it is named below the table with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]

HIDDEN = (
    "mass", "csw", "even_odd", "tile", "gauge", "measured", "touched", "message_bytes", "face_bytes", "blocks",
    "device_name", "interfaces",
)  # fmt: skip
"""Parameters of a case that the table leaves to the JSON."""


def time_text(seconds: float | None) -> str:
    """Seconds with a unit that leaves one to three digits before the point."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def number_text(value: float | None, scale: float = 1.0, unit: str = "") -> str:
    return "-" if value is None else f"{value * scale:.3g}{unit}"


def case_text(value: Any) -> str:
    return "x".join(str(n) for n in value) if isinstance(value, list) else str(value)


Columns = tuple[tuple[str, Callable[[Result], str]], ...]

TIMES: Columns = (
    ("median", lambda r: time_text(r["seconds"]["median"])),
    ("min", lambda r: time_text(r["seconds"]["min"])),
    ("max", lambda r: time_text(r["seconds"]["max"])),
    ("runs", lambda r: str(r["seconds"]["runs"])),
)
KERNEL: Columns = (
    *TIMES,
    ("Gflop/s", lambda r: number_text(r["gflops"])),
    ("of peak", lambda r: number_text(r["fraction_of_fma_peak"], 100, " %")),
    ("GB/s", lambda r: number_text(r["gbytes_per_s"])),
    ("of triad", lambda r: number_text(r["fraction_of_stream"], 100, " %")),
    ("of read", lambda r: number_text(r["fraction_of_read"], 100, " %")),
    ("CPU", lambda r: time_text(r["cpu"]["seconds"])),
)

DEVICE: Columns = (
    *TIMES,
    ("Tflop/s", lambda r: number_text(r["gflops"], 1e-3)),
    ("GB/s", lambda r: number_text(r["gbytes_per_s"])),
    ("of copy", lambda r: number_text(r["fraction_of_copy"], 100, " %")),
    ("with reuse", lambda r: number_text(r["gbytes_per_s_with_reuse"])),
    ("of copy", lambda r: number_text(r["fraction_of_copy_with_reuse"], 100, " %")),
    ("memory", lambda r: number_text(r["memory_bytes"], 1e-9, " GB")),
)


def _found(key: str, text: Callable[[Any], str] = time_text, name: str = "") -> tuple[str, Callable[[Result], str]]:
    """A column of what a case found, under its own name."""
    return name or key.replace("_", " "), lambda r: text(r["result"][key])


def _ratio(value: float | None) -> str:
    return number_text(value, 1, " x")


def _percent(value: float | None) -> str:
    return number_text(value, 100, " %")


def _of_others(who: str, key: str, text: Callable[[Any], str], name: str) -> tuple[str, Callable[[Result], str]]:
    """A column of what others have published for the case; a dash where they have not."""
    return name, lambda r: text(r["result"][who][key]) if r["result"][who] else "-"


OTHERS: Columns = (
    ("own count", lambda r: number_text(r["result"]["own_gflops"])),
    ("of peak", lambda r: _percent(r["result"]["own_fraction_of_fma_peak"])),
    _of_others("fugaku", "elapsed", time_text, "Fugaku, 500"),
    _of_others("fugaku", "tflops_of_a_node", number_text, "Tflop/s"),
    _of_others("fugaku", "fraction_of_peak", _percent, "of peak"),
    _of_others("original", "fraction_of_fma_peak", _percent, "original"),
)
ENERGY: Columns = (
    ("J a run", lambda r: number_text(r["energy"]["joules_a_run"])),
    ("W", lambda r: number_text(r["energy"]["watts"])),
    ("Gflop/s/W", lambda r: number_text(r["energy"]["gflops_per_watt"])),
)
"""Where a counter of energy can be read."""
FINDINGS: dict[str, Columns] = {
    "qcdjdd iteration": (
        _found("iterations", str), _found("elapsed"),
        ("halo GB/s", lambda r: number_text(r["result"].get("halo_gbytes_per_s"))), *OTHERS,
    ),
    "qcdjdd inside": OTHERS,
    "solver": (
        _found("iterations", str), _found("residual", number_text), _found("seconds_a_column", name="a column"),
    ),
    "multigrid": (
        _found("setup_seconds", name="set-up"), _found("setup_from_file", name="from file"), _found("levels", str),
        _found("rounds", str),
        _found("contraction", number_text), _found("cycles", str),
        _found("bicgstab_iterations", str, "BiCGStab iterations"),
        ("BiCGStab", lambda r: time_text(r["result"]["bicgstab_seconds"]["median"])),
        _found("speedup", _ratio), _found("pays_from", number_text, "pays from"),
    ),
    "dslash device": (_found("policy", str, "by policy"),),
    "solver device": (
        _found("iterations", str), _found("residual", number_text), _found("seconds_a_column", name="a column"),
        ("hop, Tflop/s", lambda r: number_text(r["result"]["hop_gflops"], 1e-3)),
        _found("fraction_of_hop", _percent, "of hop"),
    ),
    "reorder": (
        ("GB/s", lambda r: number_text(r["gbytes_per_s"])), _found("copy_gbytes_per_s", number_text, "copy"),
        _found("fraction_of_copy", _percent, "of copy"), _found("fraction_of_copy_by_cpu", _percent, "by CPU time"),
    ),
    "hartree": (
        _found("chosen", str), _found("trial_redundant"), _found("trial_shared"), _found("over_better", _ratio),
    ),
    "stencil": (_found("seconds_a_point_orbital", name="a point and orbital"),),
    "rt-step": (_found("seconds_for_4m", name="for 4.19 million"),),
    "multiscale": (
        ("one cell", lambda r: time_text(r["result"]["one_cell"]["median"])), _found("over_one", _ratio, "over one"),
        _found("line", str), ("its light", lambda r: time_text(r["result"]["light"]["median"])),
        _found("light_share", _percent, "of one cell"),
    ),
    "fdtd": (("million cells a second", lambda r: number_text(r["result"]["cells_a_second"], 1e-6)),),
    "jacobi2d": (
        _found("packing"), _found("posting"), _found("interior"), _found("waiting"), _found("boundary"),
        _found("send_completion"), _found("halo_gbytes_per_s", number_text, "halo GB/s"),
        _found("overlap"), _found("non_overlap", name="non-overlap"),
        _found("error", number_text),
    ),
    "halo face": (
        _found("floor"), _found("over_floor", _ratio), _found("copy"), _found("cache_line"),
        _found("over_parts", _ratio, "over their sum"),
    ),
    "halo operator": (_found("exchange"), ("GB/s", lambda r: number_text(r["gbytes_per_s"]))),
    "halo stress": (
        _found("messages", str), _found("bytes", str), _found("reductions", str), _found("wrong", str),
    ),
    "allreduce": (
        _found("by", str), _found("min", name="least"), _found("average"), _found("max", name="most"),
        _found("mpi_median", name="MPI median"), _found("mpi_min", name="least"),
        _found("mpi_average", name="average"), _found("mpi_max", name="most"), _found("speedup", _ratio),
        _found("exact", str), _found("fugaku_barrier", name="Fugaku, barrier"),
        _found("fugaku_software", name="software"),
    ),
}  # fmt: skip
"""What the table shows of `result`, by kind."""
WITHOUT_CEILINGS = ("multigrid", "multiscale", "reorder")
"""Kinds of whole solves and runs, which no single ceiling bounds, and a kind with a ceiling of its own."""
COMMUNICATION = ("jacobi2d", "halo face", "halo operator", "halo stress", "allreduce")


DEVICE_NAMES = ("local", "precision", "form", "policy", "stage")
"""Parameters that name a skipped case of a device."""


def kind(result: Result) -> str:
    """The benchmark, and which of its measurements where it has several."""
    return " ".join([result["bench"], *([result["case"]["measured"]] if "measured" in result["case"] else [])])


def measured(results: Sequence[Result]) -> list[Result]:
    return [r for r in results if "skipped" not in r]


def skipped(results: Sequence[Result]) -> list[str]:
    """A sentence for each thing that could not be measured, said once."""
    found: dict[str, None] = {}
    for r in results:
        if "skipped" in r:
            case = r["case"]
            name = case.get("transport", case.get("method", r["bench"]))
            if "device" in case:
                name = ", ".join([r["bench"], *(case_text(case[k]) for k in DEVICE_NAMES if k in case)])
            depth = f", {case['buffers']} buffer{'s' if case['buffers'] > 1 else ''}" if "buffers" in case else ""
            found[f"skipped: {name}{depth}: {r['skipped']}"] = None
    return list(found)


def rows(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Header and cells of results of one kind; the parameters first, then times, then what a case found."""
    shown = measured(results)
    if not shown:
        return [], []
    name = kind(shown[0])
    times = DEVICE if name.endswith(" device") else TIMES if name in (*COMMUNICATION, *WITHOUT_CEILINGS) else KERNEL
    columns = times + FINDINGS.get(name, ())
    if any((r.get("energy") or {}).get("joules_a_run") is not None for r in shown):
        columns += ENERGY
    hidden = HIDDEN if name in COMMUNICATION else (*HIDDEN, "grid")
    parameters = [key for key in shown[0]["case"] if key not in hidden]
    header = parameters + [title for title, _ in columns]
    cells = [
        [case_text(r["case"].get(key, "-")) for key in parameters] + [text(r) for _, text in columns] for r in shown
    ]
    return header, cells


def markdown(results: Sequence[Result]) -> str:
    """The same table for a page of the documentation."""
    header, cells = rows(results)
    return text_table(header, cells, True) if header else ""


def text_table(header: list[str], cells: list[list[str]], as_markdown: bool, names: int = 0) -> str:
    """A table; its first columns are names, which begin alike, the others numbers, which end alike."""
    if not as_markdown:
        return _aligned(header, cells, names)
    lines = [header, ["---"] * len(header), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def regions(result: Result, as_markdown: bool = False) -> str:
    """Where an iteration of `qcdjdd` spends its time, in our regions and under the names of the paper's Table 7.

    Empty for a result without regions over threads and processes.
    """
    from halocline.bench import published

    found = result["regions"]
    if published.TOTAL not in found or "min_seconds" not in found[published.TOTAL]:
        return ""
    whole = found[published.TOTAL]["mean_seconds"]
    header = ["region", "calls", "threads", "min", "mean", "max", "share"]
    lines = [
        [
            "  " * path.count(" > ") + path.rsplit(" > ", 1)[-1], number_text(r["calls"]), str(r["threads"]),
            time_text(r["min_seconds"]), time_text(r["mean_seconds"]), time_text(r["seconds"]),
            _percent(r["mean_seconds"] / whole),
        ]
        for path, r in found.items()
    ]  # fmt: skip
    papers = [
        [
            name, "", "", time_text(r["min"]), time_text(r["mean"]), time_text(r["max"]), _percent(r["mean"] / whole),
            time_text(1e-3 * published.TABLE_7[name]), _percent(published.TABLE_7[name] / published.TABLE_7["total"]),
        ]
        for name, r in published.paper_regions(found).items()
    ]  # fmt: skip
    k_computer = [
        [name, time_text(ours), _percent(ours / whole), time_text(theirs),
         _percent(theirs / (1e-3 * published.TABLE_3["total"]))]
        for name, (ours, theirs) in published.k_regions(found).items()
    ]  # fmt: skip
    processes = result["case"]["processes"]
    case = f"{case_text(result['case']['local'])}, {processes} process{'es' if processes > 1 else ''}"
    theirs = [case, "", "", "min", "mean", "max", "share", "Fugaku", "share"]
    return "\n".join(
        text_table(title, some, as_markdown, names=1)
        for title, some in (
            (header, lines),
            (theirs, papers),
            (["computation", "mean", "share", "K computer", "share"], k_computer),
        )
    )


def ceiling_text(result: Result) -> str:
    """One line on the machine, as this case found it; empty where it looked at the cache line or at nothing."""
    c = result.get("ceiling")
    if c is None:
        return ""
    if "copy_gbytes_per_s" in c:
        return (
            f"{result['case']['device_name']}: a copy of {number_text(c['copy_bytes'], 2**-20)} MiB runs at "
            f"{number_text(c['copy_gbytes_per_s'])} GB/s, read and written"
        )
    w = c["working_set"]
    if not c["fma_gflops"]:
        return ""
    line = (
        f"ceilings: FMA {number_text(c['fma_gflops'])} Gflop/s; memory triad {number_text(c['stream_gbytes_per_s'])}, "
        f"read {number_text(c['read_gbytes_per_s'])} GB/s; {w['bytes'] / 2**20:.3g} MiB triad "
        f"{number_text(w['stream_gbytes_per_s'])}, read {number_text(w['read_gbytes_per_s'])} GB/s; "
        f"cache line {number_text(c['cache_line_ns'])} ns"
    )
    load = result.get("load_average")
    return line if load is None else f"{line}; load {load:.2f}"


def render(results: Sequence[Result]) -> str:
    """The table as text, as wide as it needs to be."""
    return _aligned(*rows(results))


def _aligned(header: list[str], cells: list[list[str]], names: int = 0) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place < names else "right", no_wrap=True)
    for line in cells:
        table.add_row(*line)
    console = Console(width=400, color_system=None, force_terminal=False)
    with console.capture() as text:
        console.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines() if line.strip())
