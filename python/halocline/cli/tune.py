# SPDX-License-Identifier: Apache-2.0
"""`halocline tune ...`: the measurements of the GPU back end's autotuner (docs/tuning.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from halocline.cli.common import Json, command_group
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument

if TYPE_CHECKING:
    from halocline.gpu import TuneEntry

app = command_group("Launch parameters that were measured on GPUs: look, clear, export.")

File = Annotated[
    str,
    typer.Option("--file", metavar="FILE", help="Tune cache; as HALOCLINE_TUNE_CACHE says when absent."),
]
Kernel = Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="Only this kernel.")]
OnDevice = Annotated[
    str | None, typer.Option("--device", metavar="WORDS", help="Only devices that have this in their name.")
]

COLUMNS = ("kernel", "problem", "block", "launch", "time", "Tflop/s", "GB/s", "gain", "measured")


@app.command()
def show(
    file: File = "",
    kernel: Kernel = None,
    device: OnDevice = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only entries of other device code than this build's.")
    ] = False,
    json: Json = None,
) -> None:
    """Print what was measured: kernel, problem, launch parameters, time, Tflop/s and GB/s, by device."""
    from halocline import gpu

    entries = gpu.tune_entries(file, kernel=kernel, device=device, stale=True if stale else None)
    console = Console()
    place, mode = file or gpu.tune_file(), gpu.tune_mode()
    console.line(f"tune cache {place or '(no place: neither HOME nor HALOCLINE_TUNE_CACHE is set)'}, {mode}")
    console.line(f"device code of this build: {gpu.kernel_hash()}")
    for line in table(entries):
        console.line(line)
    many = sum(e.stale for e in entries)
    console.line(f"{len(entries)} entries" + (f", {many} of them of other device code (marked *)" if many else ""))
    found = {"file": place, "mode": mode, "kernel_hash": gpu.kernel_hash(), "entries": [e.as_dict() for e in entries]}
    write_json(json, found)


@app.command()
def clear(
    file: File = "",
    kernel: Kernel = None,
    device: OnDevice = None,
    stale: Annotated[bool, typer.Option("--stale", help="Entries of other device code than this build's.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="The whole file, even a damaged one; needs --yes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --all: do it.")] = False,
    json: Json = None,
) -> None:
    """Remove entries; they are measured anew when they are needed. Several options together remove what meets all."""
    from halocline import gpu

    place = file or gpu.tune_file()
    if not (kernel or device or stale or everything):
        raise InvalidArgument("nothing is named to be cleared; give --kernel, --device, --stale, or --all --yes.")
    if everything and (kernel or device or stale):
        raise InvalidArgument("--all clears everything; leave it out, or leave out --kernel, --device and --stale.")
    if everything and not yes:
        raise InvalidArgument(f"--all removes {place} with the entries of every device; add --yes to do it.")
    if not speaks():
        return
    removed = gpu.clear_tuning(file, kernel=kernel, device=device, stale=stale, everything=everything)
    Console().line(f"{place}: {removed} entries removed")
    write_json(json, {"file": place, "removed": removed})


@app.command()
def export(
    out: Annotated[str, typer.Argument(metavar="OUT.json", help="File to write.")],
    file: File = "",
    kernel: Kernel = None,
    device: OnDevice = None,
    stale: Annotated[bool, typer.Option("--stale", help="Entries of other device code too.")] = False,
    json: Json = None,
) -> None:
    """Write the entries of this build's device code to a file that HALOCLINE_TUNE_DEFAULTS can name."""
    from halocline import gpu

    if not speaks():
        return
    written = gpu.export_tuning(out, file, kernel=kernel, device=device, stale=None if stale else False)
    Console().line(f"{out}: {written} entries written")
    write_json(json, {"file": out, "written": written})


def table(entries: list[TuneEntry]) -> list[str]:
    """Lines of text: a heading for each device and driver, and one line for each entry."""
    lines: list[str] = []
    groups: dict[tuple[str, str], list[TuneEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.device, entry.driver), []).append(entry)
    for (device, driver), group in groups.items():
        lines += ["", f"{device}, driver {driver}"]
        lines += aligned([COLUMNS, *(row(entry) for entry in group)])
    return [*lines, ""] if lines else lines


def row(entry: TuneEntry) -> tuple[str, ...]:
    from halocline.bench.table import number_text, time_text

    return (
        ("*" if entry.stale else "") + entry.kernel,
        entry.problem,
        "x".join(str(n) for n in entry.block),
        launch(entry),
        time_text(entry.seconds),
        number_text(entry.flops_per_second, 1e-12),
        number_text(entry.bytes_per_second, 1e-9),
        number_text(entry.gain),
        entry.when[:10],
    )


def launch(entry: TuneEntry) -> str:
    """The launch parameters besides the block, without those at their neutral values."""
    words: list[Any] = []
    if entry.policy:
        words.append(entry.policy)
    if entry.sites_per_thread != 1:
        words.append(f"{entry.sites_per_thread} sites")
    if entry.columns_per_thread != 1:
        words.append(f"{entry.columns_per_thread} columns")
    if entry.carveout >= 0:
        words.append(f"{entry.carveout} % shared")
    if entry.prefetch:
        words.append(f"prefetch {entry.prefetch}")
    if entry.evict_first:
        words.append("evict first")
    if entry.no_allocate:
        words.append("no allocate")
    if entry.streaming_stores:
        words.append("streaming stores")
    return ", ".join(words) or "-"


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
