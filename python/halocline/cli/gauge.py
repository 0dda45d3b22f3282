# SPDX-License-Identifier: Apache-2.0
"""`halocline qcd gauge ...`: gauge files, and operations on links alone."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from halocline.cli.common import (
    Bits,
    Format,
    GaugeIn,
    GaugeOut,
    Grid,
    Json,
    Replace,
    Strict,
    command_group,
    counted,
)
from halocline.cli.console import Console, write_json
from halocline.errors import Error, Interrupted, InvalidArgument
from halocline.files import output_names, refuse_existing

app = command_group("Gauge configurations: make, look at, convert, smear, flow, fix.")


def read(console: Console, path: str, grid: Any, strict: bool) -> Any:
    """Reads the links of a file and prints its warnings."""
    from halocline.qcd import gauge

    u = gauge.read_gauge(path, grid=grid, strict=strict, warn=False)
    for sentence in u.info["warnings"]:
        console.warning(f"{path}: {sentence}")
    return u


def extents(numbers: Any) -> str:
    return " x ".join(str(n) for n in numbers)


def check_output(path: str, format: str | None, overwrite: bool, configurations: int = 1) -> None:
    """Refuses an unusable output name, or an existing file without --overwrite, before the work starts. Collective."""
    from halocline.comm import communicator
    from halocline.qcd import gauge

    chosen = gauge.format_of(path) if format is None else format
    if chosen not in gauge.FORMATS:
        raise InvalidArgument(f"--format {chosen}: gauge files are written as {', '.join(gauge.FORMATS)}.")
    refuse_existing(communicator(), output_names(path, configurations), overwrite)


def numbers_of(u: Any) -> dict[str, Any]:
    """The measurements of `info`, with the same keys in --json and on the screen."""
    from halocline.qcd import gauge

    return {
        "plaquette": gauge.plaquette(u),
        "plaquette_planes": gauge.plaquette_planes(u),
        "rectangle": gauge.rectangle(u),
        "link_trace": gauge.link_trace(u),
        "polyakov": [[p.real, p.imag] for p in gauge.polyakov(u).tolist()],
        "topological_charge": gauge.topological_charge(u),
        "unitarity_violation": u.unitarity_violation(),
    }


@app.command()
def info(
    files: Annotated[list[str], typer.Argument(metavar="GAUGE...", help="Gauge files of any known format.")],
    strict: Strict = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Verify gauge files and print what they hold."""
    console = Console()
    found = []
    for path in files:
        u = read(console, path, grid, strict)
        header = u.info
        values = {"file": path, "lattice": list(header["lattice"])} | numbers_of(u)
        values |= {k: header[k] for k in ("checksum", "format", "bits", "rows", "endian")}
        values |= {"header_plaquette": header["header_plaquette"], "header_link_trace": header["header_link_trace"]}
        values["warnings"] = header["warnings"]
        found.append(values)
        console.line(
            f"{path}: {header['format']}, {extents(header['lattice'])}, {header['bits']} bit, "
            f"{header['endian']}-endian, {header['rows']} rows a link"
        )
        claim = f"  (header {header['header_plaquette']:.10f})" if header["header_plaquette"] is not None else ""
        console.line(f"  plaquette           {values['plaquette']:.16f}{claim}")
        planes = "  ".join(f"{name} {value:.6f}" for name, value in values["plaquette_planes"].items())
        console.line(f"  planes              {planes}")
        console.line(f"  rectangle           {values['rectangle']:.16f}")
        claim = f"  (header {header['header_link_trace']:.10f})" if header["header_link_trace"] is not None else ""
        console.line(f"  link trace          {values['link_trace']:.16f}{claim}")
        loops = "  ".join(f"{a} {p[0]:+.6f}{p[1]:+.6f}i" for a, p in zip("xyzt", values["polyakov"], strict=True))
        console.line(f"  Polyakov loops      {loops}")
        console.line(f"  topological charge  {values['topological_charge']:+.12f}")
        console.line(f"  |U U^+ - 1|         {values['unitarity_violation']:.3g}")
        console.line(f"  checksum            {header['checksum'] or 'none in the file'}")
    write_json(json, found[0] if len(found) == 1 else {"files": found})


@app.command()
def convert(
    source: GaugeIn,
    target: GaugeOut,
    format: Format = None,
    bits: Bits = 0,
    overwrite: Replace = False,
    rows: Annotated[int, typer.Option(help="2 leaves the third row of each link out (NERSC).")] = 3,
    endian: Annotated[str, typer.Option(help="big or little; what the format prefers when absent.")] = "",
    strict: Strict = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Read a gauge file, verify it, and write it in another format."""
    from halocline.qcd import gauge

    console = Console()
    check_output(target, format, overwrite)
    u = read(console, source, grid, strict)
    gauge.write_gauge(target, u, format, bits, rows, endian, u.info["header"])
    written = gauge.inspect_gauge(target)
    console.line(f"{source} ({u.info['format']}) -> {target} ({written['format']}, {written['bits']} bit)")
    values = {k: written[k] for k in ("format", "lattice", "bits", "rows", "endian", "checksum")}
    write_json(json, {"file": target, "plaquette": u.info["plaquette"]} | values)


@app.command()
def smear(
    source: GaugeIn,
    target: GaugeOut,
    kind: Annotated[str, typer.Option(help="stout or ape.")] = "stout",
    rho: Annotated[float | None, typer.Option(help="Stout: weight of the staples [default: 0.1].")] = None,
    alpha: Annotated[float | None, typer.Option(help="APE: weight of the staples [default: 0.5].")] = None,
    steps: Annotated[int, typer.Option(help="How often.")] = 1,
    spatial: Annotated[bool, typer.Option("--spatial", help="Smear the links along x, y and z only.")] = False,
    format: Format = None,
    bits: Bits = 0,
    overwrite: Replace = False,
    strict: Strict = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Smear the links (APE or stout)."""
    from halocline.qcd import gauge
    from halocline.qcd.runfile_gauge import Smear

    console = Console()
    check_output(target, format, overwrite)
    given = {"rho": rho} if kind == "stout" else {"alpha": alpha}
    if (alpha if kind == "stout" else rho) is not None:
        raise InvalidArgument(f"--kind {kind} takes {'--rho' if kind == 'stout' else '--alpha'} alone.")
    default = 0.1 if kind == "stout" else 0.5
    axes = "spatial" if spatial else "all"
    chosen = Smear(kind=kind, steps=steps, axes=axes, **{k: default if v is None else v for k, v in given.items()})
    u = read(console, source, grid, strict)
    before = gauge.plaquette(u)
    smeared = gauge.smeared(u, chosen)
    after = gauge.plaquette(smeared)
    gauge.write_gauge(target, smeared, format, bits)
    console.line(f"plaquette {before:.12f} -> {after:.12f}, written to {target}")
    write_json(json, {"file": target, "plaquette_before": before} | numbers_of(smeared))


@app.command()
def flow(
    source: GaugeIn,
    target: Annotated[str | None, typer.Argument(metavar="[OUT]", help="Gauge file for the flowed links.")] = None,
    time: Annotated[float, typer.Option(help="Flow time at the end [a^2].")] = 1.0,
    step: Annotated[float, typer.Option(help="Step of the integration [a^2].")] = 0.02,
    adaptive: Annotated[bool, typer.Option("--adaptive", help="Choose steps by --tolerance.")] = False,
    tolerance: Annotated[float, typer.Option(help="Largest error of a link a step, with --adaptive.")] = 1e-6,
    every: Annotated[int, typer.Option(help="Steps between measurements.")] = 5,
    format: Format = None,
    bits: Bits = 0,
    overwrite: Replace = False,
    strict: Strict = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Integrate the Wilson flow; print t^2 E(t), the charge, and t0 and w0 when they are reached."""
    from halocline.qcd import gauge

    console = Console()
    if target is not None:
        check_output(target, format, overwrite)
    u = read(console, source, grid, strict)
    console.line(f"{'t':>8} {'plaquette':>14} {'t^2 E plaq':>14} {'t^2 E clover':>14} {'charge':>12}")

    def point(p: dict[str, float]) -> bool:
        console.line(
            f"{p['t']:8.4f} {p['plaquette']:14.10f} {p['t2_energy_plaquette']:14.10f} "
            f"{p['t2_energy_clover']:14.10f} {p['topological_charge']:12.6f}"
        )
        return not console.stop_requested()

    with console.hears_signals():
        flowed, report = gauge.wilson_flow(u, time, step, adaptive, tolerance, every, point)
    if report["reason"] == "cancelled":
        raise Interrupted(f"stopped at flow time {report['points'][-1]['t']:g}; nothing was written.")
    for name in ("t0", "w0"):
        console.line(f"{name} = {report[name]:.8f}" if report[name] is not None else f"{name} not reached")
    if target is not None:
        gauge.write_gauge(target, flowed, format, bits)
        console.line(f"flowed links written to {target}")
    write_json(json, report)


@app.command()
def fix(
    source: GaugeIn,
    target: GaugeOut,
    kind: Annotated[str, typer.Option(help="coulomb or landau.")] = "coulomb",
    tolerance: Annotated[float, typer.Option(help="On the mean squared divergence.")] = 1e-12,
    max_iterations: Annotated[int, typer.Option(help="Give up after so many.")] = 10000,
    format: Format = None,
    bits: Bits = 0,
    overwrite: Replace = False,
    strict: Strict = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Transform the links to Coulomb or Landau gauge."""
    from halocline.qcd import gauge
    from halocline.qcd.runfile_gauge import Fix

    console = Console()
    check_output(target, format, overwrite)
    chosen = Fix(kind=kind, tolerance=tolerance, max_iterations=max_iterations)
    u = read(console, source, grid, strict)
    with console.hears_signals(), console.stage(f"{kind} gauge") as advance:

        def progress(iterations: int, theta: float) -> bool:
            advance(iterations, f"{iterations} iterations, theta {theta:.2e}")
            return not console.stop_requested()

        fixed, report = gauge.fix_gauge(u, chosen.kind, chosen.tolerance, chosen.max_iterations, progress=progress)
    if report["reason"] == "cancelled":
        raise Interrupted(f"stopped after {report['iterations']} iterations; nothing was written.")
    if not report["converged"]:
        raise Error(
            f"gauge fixing: {report['reason']} after {report['iterations']} iterations with theta = "
            f"{report['theta']:.3g}, asked for {tolerance:g}; raise --max-iterations or --tolerance."
        )
    gauge.write_gauge(target, fixed, format, bits)
    console.line(f"written to {target}")
    write_json(json, {"file": target} | report)


@app.command()
def generate(
    target: GaugeOut,
    size: Annotated[tuple[int, int, int, int], typer.Option(metavar="X Y Z T", help="Extents of the lattice.")],
    beta: Annotated[float, typer.Option(help="Wilson coupling 6/g^2.")],
    sweeps: Annotated[int, typer.Option(help="Heatbath sweeps before the first configuration.")] = 200,
    separation: Annotated[int, typer.Option(help="Heatbath sweeps between configurations.")] = 20,
    configurations: Annotated[int, typer.Option(help="How many; OUT is numbered when more than one.")] = 1,
    overrelaxation: Annotated[int, typer.Option(help="Over-relaxation sweeps after each heatbath sweep.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 1,
    start: Annotated[str, typer.Option(help="cold (unit links) or hot (random links).")] = "cold",
    format: Format = None,
    bits: Bits = 0,
    overwrite: Replace = False,
    grid: Grid = None,
    json: Json = None,
) -> None:
    """Make quenched configurations by heatbath and over-relaxation; the same links on any process grid."""
    from halocline.qcd import gauge
    from halocline.qcd.runfile_gauge import Generate

    console = Console()
    chosen = Generate(
        size=size, beta=beta, sweeps=sweeps, separation=separation, configurations=configurations,
        overrelaxation=overrelaxation, seed=seed, start=start,
    )  # fmt: skip
    check_output(target, format, overwrite, configurations)
    paths = output_names(target, configurations)
    u = gauge.random_links(size, seed, grid=grid) if chosen.start == "hot" else gauge.unit_links(size, grid=grid)
    group, made, sweep, history = u.geometry.communicator, [], 0, []
    with console.hears_signals():
        for index in range(configurations):
            end = sweeps + index * separation
            with console.stage(f"sweeps {sweep} to {end}", max(end - sweep, 1)) as advance:
                begin = sweep
                while sweep < end:
                    gauge.heatbath(u, beta, 1, seed, overrelaxation, sweep)
                    sweep += 1
                    history.append(gauge.plaquette(u))
                    advance(sweep - begin, f"plaquette {history[-1]:.6f}")
                    if group.any(console.stop_requested()):
                        raise Interrupted(
                            f"stopped after {counted(sweep, 'sweep')}, {counted(len(made), 'configuration')} written."
                        )
            path = paths[index]
            texts = {"ENSEMBLE_ID": f"quenched beta {beta:g} seed {seed}", "SEQUENCE_NUMBER": str(sweep)}
            gauge.write_gauge(path, u, format, bits, metadata=texts)
            made.append({"file": path, "sweep": sweep} | numbers_of(u))
            console.line(f"{path}: plaquette {made[-1]['plaquette']:.12f}")
    last = made[-1] | {"lattice": list(size), "beta": beta, "seed": seed, "plaquette_history": history}
    write_json(json, last | {"configurations": made})
