# SPDX-License-Identifier: Apache-2.0
"""`halocline map search`: finds the map with the least load on its busiest interface, and writes files for
launchers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.bench.common import split
from halocline.cli.common import Json
from halocline.cli.console import Console, speaks
from halocline.cli.map import common
from halocline.errors import FileError, Interrupted, InvalidArgument


def add_to(group: typer.Typer) -> None:
    group.command()(search)


def search(
    network: common.NetworkName = "tofu-d",
    shape: common.Shape = None,
    wrap: common.Wrap = [],  # noqa: B006 - typer reads the default
    grid: common.ProcessGrid = None,
    per_node: common.PerNode = None,
    messages: common.MessagesName = "qcd",
    local: common.LocalSites = None,
    bytes_per_real: common.RealBytes = 0,
    orbitals: common.Orbitals = 1,
    count: common.CountName = None,
    interfaces: common.Interfaces = 0,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="Stop after so long with the best so far; 0: prove it.")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write rank order, interfaces, report and pictures here.")
    ] = None,
    format: Annotated[
        list[str],
        typer.Option(
            metavar="NAME[,NAME]", help="Launchers' files too: openmpi, slurm, fujitsu, simgrid; with --output."
        ),
    ] = [],  # noqa: B006 - typer reads the default
    hosts: common.Hosts = None,
    cores_per_rank: Annotated[
        int, typer.Option(min=1, max=4096, help="openmpi and scripts: cores that bind a process.")
    ] = 1,
    script: Annotated[
        list[str],
        typer.Option(metavar="NAME[,NAME]", help="Batch scripts too: slurm, pjm (Fugaku); with --output."),
    ] = [],  # noqa: B006 - typer reads the default
    command: Annotated[
        str | None,
        typer.Option(help="What a script runs; the measurement of bench weak when absent."),
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, max=100000, help="Time limit of a script.")] = 10,
    plots: Annotated[bool, typer.Option(help="Draw the pictures of --output.")] = True,
    json: Json = None,
) -> None:
    """Search the map whose busiest network interface carries least, and prove how good it is.

    halocline map search --network tofu-d --shape 4x6x18 --grid 6x12x6x4 --per-node 1x2x2x1 --local 32x6x4x3
    """
    from halocline import mapping
    from halocline.mapping import formats, job_script, report

    console = Console()
    machine = common.network_of(network, shape, wrap, interfaces)
    dims, inner = common.grids_of(grid, per_node)
    sent = common.messages_of(messages, local, bytes_per_real, orbitals)
    counted = common.count_of(count)
    wanted = split(format)
    for name in wanted:
        formats.format_named(name)
    if wanted and output is None:
        raise InvalidArgument(f"--format {','.join(wanted)}: give the folder to write to by --output.")
    names = common.host_names(hosts, machine)
    scripts = _scripts(split(script), output, machine, command)
    _make_folder(output)

    result = _searched(console, machine, dims, inner, sent, counted, seconds)
    order = mapping.RankOrder(machine, sent, result.map, counted)
    natural = mapping.natural_order(machine, dims, inner)
    natural_loads = mapping.evaluate(machine, natural, sent, counted)
    _say(console, order, result, natural_loads)
    values = report.problem_of(order) | report.loads_of(result.loads, machine)
    values |= {k: getattr(result, k) for k in ("lower_bound", "floor", "gap", "proven", "steps", "visited")}
    values["axes"] = report.axes_of(order, result.rings)
    values["natural_order"] = report.loads_of(natural_loads, machine)
    if output is not None and speaks():
        nodes = len(set(order.map.node.tolist()))
        jobs = {
            job_script.FILES[system]: job_script.job_script(
                order,
                system,
                command or job_script.weak_command(system, nodes, local or "32x6x4x3"),
                cores_per_rank,
                minutes,
            )
            for system in scripts
        }
        values["files"] = _write(
            output, order, result, natural, natural_loads, wanted, names, cores_per_rank, plots, jobs
        )
        for name in values["files"]:
            console.line(f"written     {output / name}")
    common.write_numbers(json, values, report.ranks_of(order) if json is not None else None)
    if console.stop_requested():
        kept = f"is in {output}" if output is not None else "is above; --output keeps it"
        raise Interrupted(f"stopped at a gap of {100 * result.gap:.3g} %; the best map so far {kept}.")


def _scripts(systems: list[str], output: Path | None, machine: Any, command: str | None) -> list[str]:
    """The batch systems of --script, after the checks that need no map. Raises InvalidArgument."""
    from halocline.mapping import job_script

    for system in systems:
        if system not in job_script.SCRIPTS:
            raise InvalidArgument(f"--script {system}: give some of {', '.join(job_script.SCRIPTS)}.")
        if system == "pjm":
            job_script.job_shape(machine)
    if systems and output is None:
        raise InvalidArgument(f"--script {','.join(systems)}: give the folder to write to by --output.")
    if command is not None:
        if not systems:
            raise InvalidArgument("--command is what a batch script runs; give --script too.")
        job_script.check_command(command)
    return systems


def _make_folder(output: Path | None) -> None:
    """Creates the folder before the search, whose result would otherwise be lost. Raises FileError."""
    if output is None or not speaks():
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{output}: no such folder, and it cannot be made: {error.strerror}.") from None


def _searched(
    console: Console, machine: Any, dims: list[int], inner: list[int], sent: Any, counted: str, seconds: float
) -> Any:
    from halocline import mapping

    begun = time.monotonic()
    with console.hears_signals(), console.stage("search", seconds or None) as advance:

        def progress(steps: int, best: int) -> bool:
            advance(time.monotonic() - begun, f"{steps} steps" + (f", best {best} bytes" if best else ""))
            return not console.stop_requested()

        return mapping.search(machine, dims, inner, sent, counted, seconds=seconds, progress=progress)


def _say(console: Console, order: Any, result: Any, natural_loads: Any) -> None:
    from halocline.mapping import report, walks

    for line in report.problem_lines(order):
        console.line(line)
    common.say(console, report.axes_table(order, result.rings))
    common.say(console, report.loads_table(result.loads, natural_loads, order.network))
    common.say(console, report.interfaces_table(result.loads, order.network, walks.process_axes(order.map)))
    console.line(report.bound_line(result))


def _write(
    folder: Path, order: Any, result: Any, natural: Any, natural_loads: Any, wanted: list[str],
    names: list[str] | None, cores: int, plots: bool, jobs: dict[str, str],
) -> list[str]:  # fmt: skip
    """Writes the files of --output; returns their names."""
    from halocline.files import write_file
    from halocline.mapping import formats, interface_table, report, walks
    from halocline.mapping.rank_order import rank_order_text

    texts = {"rank-order.txt": rank_order_text(order)}
    axes = walks.process_axes(order.map)
    texts["interfaces.txt"] = interface_table.interface_table_text(result.loads, order.network, axes)
    for name in wanted:
        texts[formats.FORMATS[name].file] = formats.write_map(order.map, order.network, name, names, cores)
    texts |= jobs
    for name, text in texts.items():
        write_file(folder / name, text)
    pictures = []
    if plots:
        from halocline.mapping.plots import draw

        drawn = draw(folder, order, result.rings, result.loads, natural, natural_loads)
        pictures = [path.name for path in drawn]
    files = [*texts, *pictures, "report.md"]
    write_file(folder / "report.md", report.markdown_report(order, result, natural_loads, files[:-1]))
    return files
