# SPDX-License-Identifier: Apache-2.0
"""`halocline bench weak` on the processes of a job: one point of a weak scaling, and several points as a table."""

from __future__ import annotations

import dataclasses
import json as json_text
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halocline.cli.bench.common import volumes
from halocline.cli.console import Console, write_json
from halocline.errors import FileError, InvalidArgument


@dataclasses.dataclass(frozen=True)
class Asked:
    """The options of a measurement."""

    map_file: Path | None
    nodes: str
    interfaces: str | None
    local: str
    transport: str
    iterations: int


def measure(console: Console, asked: Asked, json: Path | None) -> None:
    """Measures an iteration at these sites of a process on all processes of the job, and shows it beside the printed
    times of the paper on uTofu. Collective."""
    from halocline import _halocline, bench
    from halocline.comm import world
    from halocline.mapping.placement import placement

    group = world()
    if group.size == 1:
        raise InvalidArgument(
            "bench weak measures the processes of a job, and this is one process; start it by mpirun, srun or mpiexec, "
            "or give --simulate."
        )
    if asked.map_file is None and asked.interfaces is not None:
        raise InvalidArgument("--interfaces applies to a map; give its rank-order.txt by --map.")
    if asked.map_file is None and asked.nodes != "auto":
        raise InvalidArgument("--nodes applies to a map; give its rank-order.txt by --map.")
    place = None
    if asked.map_file is not None:
        place = placement(group, str(asked.map_file), asked.nodes, asked.interfaces)
    (sites,) = volumes([asked.local], example="32x6x4x3")
    transport = asked.transport or ("hybrid:utofu" if asked.interfaces is not None else "")
    with console.stage(f"an iteration on {group.size} processes") as advance:
        found = bench.qcdjdd(
            sites,
            _halocline.core.threads(),
            iterations=asked.iterations,
            transport=transport,
            placement=place,
            comm=group,
        )
        advance(1, "done")
    found = [r for r in found if r["case"]["measured"] == "iteration"]
    for result in found:
        if "skipped" in result:
            raise InvalidArgument(f"transport {result['case']['transport']}: it {result['skipped']}.")
        result["bench"] = "weak"
    write_json(json, found)
    for line in lines(found):
        console.line(line)


def collect(console: Console, files: Sequence[Path], json: Path | None) -> None:
    """Shows measurements of several jobs as one table, and writes them as one file. Raises FileError for a file of
    something else."""
    found = []
    for path in files:
        try:
            read = json_text.loads(path.read_text())
            rows = [r for r in read if r["bench"] == "weak" and r["case"]["measured"] == "iteration"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileError(f"{path}: is no file that bench weak --json measured: {error}.") from None
        if not rows:
            raise FileError(f"{path}: has no measured iteration; write it by bench weak --json in a job.")
        found += rows
    found.sort(key=lambda r: int(r["case"]["processes"]))
    write_json(json, found)
    for line in lines(found):
        console.line(line)


def lines(results: Sequence[Any]) -> list[str]:
    """A line for each number of processes: the time of an iteration, its efficiency relative to the first line, its
    halo, and the printed times for as many nodes of four processes."""
    from halocline.bench.published import TABLE_5
    from halocline.bench.table import number_text, text_table, time_text

    header = [
        "processes",
        "threads",
        "sites",
        "transport",
        "iteration",
        "efficiency",
        "halo GB/s",
        "Fugaku",
        "no barrier",
    ]
    first = results[0]["seconds"]["median"]
    cells = []
    for r in results:
        case, seconds = r["case"], r["seconds"]["median"]
        printed = TABLE_5.get(case["processes"] // 4)
        cells.append(
            [
                str(case["processes"]), str(case["threads"]), "x".join(map(str, case["local"])), case["transport"],
                time_text(seconds), number_text(first / seconds, 100, " %"),
                number_text(r["result"]["halo_gbytes_per_s"]),
                "-" if printed is None else time_text(1e-3 * printed[2]),
                "-" if printed is None else time_text(1e-3 * printed[1]),
            ]
        )  # fmt: skip
    return text_table(header, cells, False).splitlines()
