# SPDX-License-Identifier: Apache-2.0
"""Results as a table: what was measured beside what the machine could do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]

HIDDEN = ("mass", "csw", "tolerance", "even_odd", "grid", "tile", "gauge")
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


COLUMNS: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("median", lambda r: time_text(r["seconds"]["median"])),
    ("min", lambda r: time_text(r["seconds"]["min"])),
    ("max", lambda r: time_text(r["seconds"]["max"])),
    ("runs", lambda r: str(r["seconds"]["runs"])),
    ("Gflop/s", lambda r: number_text(r["gflops"])),
    ("of peak", lambda r: number_text(r["fraction_of_fma_peak"], 100, " %")),
    ("GB/s", lambda r: number_text(r["gbytes_per_s"])),
    ("of triad", lambda r: number_text(r["fraction_of_stream"], 100, " %")),
    ("of read", lambda r: number_text(r["fraction_of_read"], 100, " %")),
    ("CPU", lambda r: time_text(r["cpu"]["seconds"])),
)


def rows(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Header and cells; the parameters first, then the columns above, then what a case found."""
    if not results:
        return [], []
    parameters = [key for key in results[0]["case"] if key not in HIDDEN]
    found = [key for key in results[0].get("result", {}) if key in ("iterations", "residual")]
    header = parameters + [name for name, _ in COLUMNS] + found
    cells = [
        [case_text(r["case"].get(key, "-")) for key in parameters]
        + [text(r) for _, text in COLUMNS]
        + [number_text(r["result"][key]) if key == "residual" else str(r["result"][key]) for key in found]
        for r in results
    ]
    return header, cells


def ceiling_text(result: Result) -> str:
    """One line on the machine, as this case found it."""
    c = result["ceiling"]
    w = c["working_set"]
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
    from rich import box
    from rich.console import Console
    from rich.table import Table

    header, cells = rows(results)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in header:
        table.add_column(name, justify="right", no_wrap=True)
    for line in cells:
        table.add_row(*line)
    console = Console(width=400, color_system=None, force_terminal=False)
    with console.capture() as text:
        console.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines() if line.strip())
