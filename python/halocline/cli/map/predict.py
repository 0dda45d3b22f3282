# SPDX-License-Identifier: Apache-2.0
"""`halocline map predict`: the time of a solver iteration on machines of growing size."""

from __future__ import annotations

import json as json_module
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.bench.common import counts, split
from halocline.cli.common import Json
from halocline.cli.console import Console, speaks
from halocline.cli.map import common
from halocline.errors import FileError, Interrupted, InvalidArgument


def add_to(group: typer.Typer) -> None:
    group.command()(predict)


def predict(
    network: common.NetworkName = "tofu-d",
    job: Annotated[
        str,
        typer.Option(metavar="solver|multiscale", help="An iteration of a solver; or a step of light across a film."),
    ] = "solver",
    shape: Annotated[
        list[str], typer.Option(metavar="NxNx...[,...]", help="Shapes of the machines, growing; Fugaku's when absent.")
    ] = [],  # noqa: B006 - typer reads the default
    grid: Annotated[list[str], typer.Option(metavar="NxNx...[,...]", help="Process grids, one a shape.")] = [],  # noqa: B006 - typer reads the default
    wrap: common.Wrap = [],  # noqa: B006 - typer reads the default
    per_node: common.PerNode = None,
    interfaces: common.Interfaces = 0,
    messages: common.MessagesName = "qcd",
    local: common.LocalSites = None,
    lattice: Annotated[
        str | None, typer.Option(metavar="NxNx...", help="Strong scaling: sites of one lattice for all machines.")
    ] = None,
    bytes_per_real: common.RealBytes = 0,
    orbitals: common.Orbitals = 1,
    computation: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS|FILE", help="Of an iteration; or a table: TOML, or --json of `halocline bench qcdjdd`."
        ),
    ] = None,
    exchanges: Annotated[int | None, typer.Option(min=0, max=10**6, help="Halo exchanges an iteration.")] = None,
    sums: Annotated[str | None, typer.Option(metavar="N[,N...]", help="Numbers in each sum of an iteration.")] = None,
    posting: Annotated[float | None, typer.Option(help="Seconds to post and complete an exchange.")] = None,
    overlapped: Annotated[float, typer.Option(help="Seconds of computation beside each exchange.")] = 0.0,
    jitter: Annotated[float | None, typer.Option(help="Mean seconds by which a process comes late to a sum.")] = None,
    measured: Annotated[
        float | None, typer.Option(help="Seconds of an iteration on the first machine: fits the jitter to them.")
    ] = None,
    software: Annotated[bool, typer.Option(help="Sums by a tree in software beside those by hardware.")] = True,
    natural: Annotated[bool, typer.Option("--natural", help="The natural order of ranks as well.")] = False,
    group: Annotated[int, typer.Option(min=1, help="multiscale: processes of a group.")] = 1,
    cells: Annotated[int, typer.Option(min=1, max=10**6, help="multiscale: cells of a group.")] = 1,
    light: Annotated[float | None, typer.Option(help="multiscale: seconds of the light for one cell.")] = None,
    plot: common.Picture = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    json: Json = None,
) -> None:
    """Predict time and efficiency of a solver iteration on machines of growing size, up to the whole of Fugaku.

    Without options: the domain solver of lattice QCD at 32x6x4x3 sites a process on 432 to 147456 nodes of Fugaku.
    `--job multiscale` predicts a step of `halocline tddft multiscale`; --computation is then that of one cell.
    """
    if job not in ("solver", "multiscale"):
        raise InvalidArgument(f"--job {job}: give solver or multiscale.")
    if job == "multiscale":
        return _multiscale(network, shape, per_node, interfaces, computation, group, cells, light, markdown, json)
    from halocline import _halocline
    from halocline.mapping import curves, predict

    console = Console()
    networks, grids, inner = _machines(network, shape, grid, wrap, per_node, interfaces)
    known = _halocline.mapping.published_iteration() if messages == "qcd" and network == "tofu-d" else None
    if lattice is not None and local is not None:
        raise InvalidArgument("--lattice and --local: give one of them; the first is for strong scaling.")
    if lattice is not None:
        parts = predict.strong_locals(common.lengths("--lattice", lattice, "192x192x192x192"), grids)
    else:
        chosen = local or ("32x6x4x3" if messages in ("qcd", "wilson") else None)
        parts = [tuple(common.lengths("--local", chosen, "32x6x4x3")) if chosen else (1,) * len(grids[0])] * len(grids)
    if common.is_file(messages) and lattice is not None:
        raise InvalidArgument("--lattice: messages of a file do not change with it; give --messages by name.")
    solver = _solver(known, exchanges, sums, posting, overlapped)
    seconds = _computation(computation, known is not None)

    def sent(sites: Any) -> Any:
        text = "x".join(map(str, sites)) if not common.is_file(messages) else None
        return common.messages_of(messages, text, bytes_per_real, orbitals)

    drawn, numbers = [], []
    with console.hears_signals():
        for order in [False, True] if natural else [False]:
            curve = _curve(console, networks, grids, inner, parts, sent, order)
            if console.stop_requested():
                raise Interrupted("stopped before the curve was complete; nothing was written.")
            for hardware in _ways(curve[0].network, solver, software):
                late = _jitter(jitter, measured, known, curve[0], seconds, hardware, solver)
                points = predict.points(curve, seconds, hardware, jitter=late, **solver)
                name = _name(order, hardware, solver)
                drawn.append((name, points))
                numbers.append(curves.numbers_of(name, curve, points) | {"jitter": late, "hardware": hardware})
                console.line(f"{name}, jitter {1e6 * late:.3g} us")
                common.say(console, curves.table(curve, points, markdown))
    title = f"{network}, {'strong' if lattice else 'weak'} scaling, {messages}"
    if plot is not None and speaks():
        curves.draw(plot, title, drawn, lattice is not None)
        console.line(f"written     {plot}")
    common.write_numbers(json, {"network": network, "messages": messages, "curves": numbers})


def _multiscale(
    network: str,
    shape: list[str],
    per_node: str | None,
    interfaces: int,
    computation: str | None,
    group: int,
    cells: int,
    light: float | None,
    markdown: bool,
    json: Json,
) -> None:
    """A step of light across a film on each machine."""
    from halocline.mapping import multiscale, predict

    shapes = split(shape)
    if not shapes and network == "tofu-d":
        shapes = ["x".join(map(str, s)) for s, _ in predict.FUGAKU]
    if not shapes:
        raise InvalidArgument("--shape is missing: give the shapes of the machines.")
    networks = [common.network_of(network, s, [], interfaces) for s in shapes]
    on_node = 1 if per_node is None else math.prod(common.lengths("--per-node", per_node, "4"))
    seconds = _computation(computation, False)(1.0)
    of_light = multiscale.LIGHT_OF_A_CELL if light is None else light
    steps = [multiscale.step_of(n, n.nodes, on_node, group, cells, seconds, of_light) for n in networks]
    common.say(Console(), multiscale.table(networks, steps, markdown))
    common.write_numbers(
        json, {"network": network, "job": "multiscale", "points": multiscale.numbers_of(networks, steps)}
    )


def _machines(
    network: str, shape: list[str], grid: list[str], wrap: list[str], per_node: str | None, interfaces: int
) -> tuple[list[Any], list[list[int]], list[int]]:
    """Networks, process grids, and the part of the grid on a node."""
    from halocline.mapping import predict

    shapes, grids = split(shape), split(grid)
    if not shapes and not grids and network == "tofu-d":
        shapes = ["x".join(map(str, s)) for s, _ in predict.FUGAKU]
        grids = ["x".join(map(str, g)) for _, g in predict.FUGAKU]
        per_node = per_node or "x".join(map(str, predict.PER_NODE))
    if not shapes or len(shapes) != len(grids):
        raise InvalidArgument(f"--shape names {len(shapes)} machines, --grid {len(grids)}; give one grid a shape.")
    pairs = [common.grids_of(g, per_node) for g in grids]
    networks = [common.network_of(network, s, wrap, interfaces) for s in shapes]
    return networks, [dims for dims, _ in pairs], pairs[0][1]


def _solver(
    known: Any, exchanges: int | None, sums: str | None, posting: float | None, overlapped: float
) -> dict[str, Any]:
    """The parts of an iteration besides the computation; values without an option come from the papers."""
    return {
        "exchanges": exchanges if exchanges is not None else known.exchanges if known else 1,
        "sums": _sums(sums, known),
        "posting": posting if posting is not None else known.posting if known else 0.0,
        "overlapped": overlapped,
    }


def _sums(text: str | None, known: Any) -> list[int]:
    """The number of elements of each sum in an iteration."""
    if text is None:
        return list(known.sums) if known is not None else []
    sums = counts("--sums", text, "1,2,3,3")
    if max(sums) > 10**6:
        raise InvalidArgument(f"--sums {text}: give numbers of at most a million.")
    return sums


def _ways(network: Any, solver: dict[str, Any], software: bool) -> list[bool]:
    """For each curve, whether its sums use hardware."""
    if not solver["sums"] or network.barrier_latency <= 0:
        return [False]
    return [True, False] if software else [True]


def _name(natural: bool, hardware: bool, solver: dict[str, Any]) -> str:
    placed = "natural order" if natural else "best map"
    if not solver["sums"]:
        return placed
    return f"{placed}, sums by {'hardware' if hardware else 'software'}"


def _jitter(
    given: float | None, measured: float | None, known: Any, first: Any, seconds: Callable[[float], float],
    hardware: bool, solver: dict[str, Any],
) -> float:  # fmt: skip
    from halocline.mapping import predict

    if given is not None:
        return given
    if measured is not None:
        return predict.fitted_jitter(first, seconds, hardware, measured, **solver)
    return predict.fugaku_jitter(hardware) if known is not None else 0.0


def _curve(
    console: Console, networks: Any, grids: Any, inner: Any, parts: Any, sent: Callable[[Any], Any], natural: bool
) -> list[Any]:
    from halocline.mapping import predict

    with console.stage("natural order" if natural else "maps", len(networks)) as advance:

        def go_on(done: int) -> bool:
            advance(done, f"{networks[done].nodes} nodes")
            return not console.stop_requested()

        return predict.machines(networks, grids, inner, parts, sent, natural=natural, advance=go_on)


def _computation(text: str | None, known: bool) -> Callable[[float], float]:
    """A function from sites of a process to seconds of computation. Raises InvalidArgument, FileError."""
    from halocline.mapping import predict

    if text is None:
        if not known:
            raise InvalidArgument("--computation is missing: give the seconds of an iteration, or a file of them.")
        return predict.fugaku_computation()
    try:
        seconds = float(text)
    except ValueError:
        table = _table(Path(text))
        return lambda sites: table.at(sites)
    if not 0 <= seconds < math.inf:
        raise InvalidArgument(f"--computation {text}: give seconds of an iteration, such as 0.4e-3.")
    return lambda sites: seconds


def _table(path: Path) -> Any:
    """A computation table from a TOML file, [computation] with sites and seconds, or from JSON of `bench qcdjdd`."""
    from halocline.mapping import predict
    from halocline.mapping.rank_order import read_text
    from halocline.mapping.tables import tables_of

    document = read_text(path)
    try:
        if path.suffix == ".json":
            results = json_module.loads(document)
            timed = [r for r in results if r.get("seconds") and r["case"].get("measured") == "iteration"]
            found = {float(math.prod(r["case"]["local"])): r["seconds"]["median"] for r in timed}
            sites, seconds = zip(*sorted(found.items()), strict=True)
        else:
            rows = tables_of(document, str(path))["computation"]
            sites, seconds = [float(n) for n in rows["sites"]], [float(t) for t in rows["seconds"]]
        return predict.computation_table(sites, seconds)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FileError(
            f"{path}: no table of computation; give TOML with sites and seconds in [computation], or the JSON of "
            "`halocline bench qcdjdd`."
        ) from None
