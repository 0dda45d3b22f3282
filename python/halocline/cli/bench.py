# SPDX-License-Identifier: Apache-2.0
"""`halocline bench ...`: how fast the kernels are on this machine, as fractions of what it could do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from halocline.cli.common import Json
from halocline.cli.console import Console, write_json
from halocline.errors import Error, InvalidArgument

app = typer.Typer(no_args_is_help=True, help="Benchmarks, measured against the ceilings of the same run.")

Threads = Annotated[
    str, typer.Option("--threads", metavar="N[,N...]", help="OpenMP threads of each process, a case each.")
]
Seconds = Annotated[float, typer.Option(help="Seconds to measure each case and each ceiling.")]
LockTimeout = Annotated[
    float, typer.Option(help="Seconds to wait for another benchmark on this machine before giving up.")
]
Local = Annotated[
    list[str],
    typer.Option("--local", metavar="XxYxZxT", help="Sites of each process; several by commas or repetition."),
]


def split(texts: list[str] | str) -> list[str]:
    """The items of options that may be repeated, joined by commas, or both."""
    return [item for text in ([texts] if isinstance(texts, str) else texts) for item in text.split(",") if item]


def volumes(texts: list[str]) -> list[list[int]]:
    found = []
    for text in split(texts):
        numbers = text.lower().split("x")
        if len(numbers) != 4 or not all(n.isdigit() and int(n) > 0 for n in numbers):
            raise InvalidArgument(f"--local {text}: give four extents such as 8x8x8x16.")
        found.append([int(n) for n in numbers])
    return found


def thread_counts(text: str) -> list[int]:
    counts = split(text)
    if not counts or not all(n.isdigit() and int(n) > 0 for n in counts):
        raise InvalidArgument(f"--threads {text}: give positive numbers such as 1,2.")
    return [int(n) for n in counts]


def chosen(option: str, texts: list[str] | str, known: tuple[str, ...]) -> list[str]:
    """The named ones, or all of them."""
    names = split(texts)
    if names == ["all"]:
        return list(known)
    for name in names:
        if name not in known:
            raise InvalidArgument(f"{option} {name}: give all or some of {', '.join(known)}.")
    return names


@contextlib.contextmanager
def alone(timeout: float) -> Iterator[None]:
    """The lock of this machine, held by the first process for all."""
    from halocline.bench import lock
    from halocline.comm import on_root, world

    group = world()
    with contextlib.ExitStack() as held:
        on_root(group, lambda: held.enter_context(lock.exclusive(timeout)))
        yield
        group.barrier()


def measure(console: Console, cases: list[tuple[str, Callable[[], dict[str, Any]]]], timeout: float) -> list[Any]:
    """Runs the cases one after another, saying which."""
    results = []
    with alone(timeout), console.stage("benchmark", len(cases)) as advance:
        for i, (name, case) in enumerate(cases):
            advance(i, name)
            results.append(case())
        advance(len(cases), f"{len(cases)} cases")
    return results


def report(console: Console, results: list[Any], json: Any) -> None:
    from halocline.bench import table

    for line in table.render(results).splitlines():
        console.line(line)
    console.line(table.ceiling_text(results[-1]))
    load, cores = results[-1].get("load_average") or 0.0, os.cpu_count() or 1
    if load > cores:
        console.warning(
            f"the load is {load:.1f} on {cores} cores: other programs share them, and wall times say little; "
            "compare the fractions, or the CPU time on one thread."
        )
    write_json(json, results)


@app.command()
def dslash(
    local: Local = ["8x8x8x8", "16x16x16x16", "24x24x24x24"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    precision: Annotated[list[str], typer.Option(help="float or double; several by commas or repetition.")] = [  # noqa: B006
        "float",
        "double",
    ],
    form: Annotated[
        list[str], typer.Option(help="hopping, wilson, clover, schur or all; several by commas or repetition.")
    ] = ["hopping"],  # noqa: B006
    seconds: Seconds = 0.5,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
) -> None:
    """Wilson operators: the one-parity hopping term, D, D with clover, the Schur complement."""
    from halocline import bench

    cases = []
    for n in volumes(local):
        for f in chosen("--form", form, bench.FORMS):
            for p in chosen("--precision", precision, bench.PRECISIONS):
                for t in thread_counts(threads):
                    name = f"{f} {'x'.join(map(str, n))} {p} {t} threads"
                    cases.append((name, _case(bench.dslash, n, t, p, f, seconds=seconds)))
    console = Console()
    report(console, measure(console, cases, lock_timeout), json)


@app.command()
def solver(
    gauge: Annotated[
        str | None, typer.Option(metavar="FILE", help="Gauge file; weak random links when absent.")
    ] = None,
    size: Annotated[
        tuple[int, int, int, int], typer.Option("--size", metavar="X Y Z T", help="Lattice of the generated field.")
    ] = (8, 8, 8, 8),
    kappa: Annotated[float, typer.Option(help="Hopping parameter.")] = 0.1335,
    csw: Annotated[float, typer.Option(help="Clover coefficient.")] = 1.769,
    kind: Annotated[str, typer.Option(help="bicgstab, cg, gcr, fgmres, some by commas, or all.")] = "bicgstab,cg",
    precision: Annotated[str, typer.Option(help="mixed, double or both by a comma.")] = "mixed,double",
    tolerance: Annotated[float, typer.Option(help="On |b - D x| / |b|.")] = 1e-10,
    threads: Threads = "1",
    runs: Annotated[int, typer.Option(help="Solves of each case.")] = 3,
    seconds: Seconds = 0.3,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
) -> None:
    """Time to a tolerance: one column of a quark propagator, antiperiodic in time, for each method and precision."""
    from halocline import _halocline, bench
    from halocline.qcd import gauge as fields

    kinds = chosen("--kind", kind, bench.SOLVERS)
    precisions = chosen("--precision", precision, ("mixed", "double"))
    mass = _halocline.qcd.mass_from_kappa(kappa)
    console = Console()
    if gauge is None:
        u = fields.weak_links(size, 0.3, seed=1)
    else:
        u = fields.read_gauge(gauge, warn=False)
        for sentence in u.info["warnings"]:
            console.warning(f"{gauge}: {sentence}")
    name = "generated" if gauge is None else os.path.basename(gauge)
    cases = []
    for k in kinds:
        for p in precisions:
            for t in thread_counts(threads):
                case = _case(
                    bench.solver, u, name, mass=mass, csw=csw, kind=k, precision=p, tolerance=tolerance, threads=t,
                    runs=runs, seconds=seconds,
                )  # fmt: skip
                cases.append((f"{k} {p} {t} threads", case))
    results = measure(console, cases, lock_timeout)
    report(console, results, json)
    failed = [f"{r['case']['solver']} {r['case']['precision']}" for r in results if not r["result"]["converged"]]
    if failed:
        raise Error(f"these did not reach {tolerance:g}: {', '.join(failed)}.")


@app.command()
def heatbath(
    local: Local = ["16x16x16x16"],  # noqa: B006 - typer copies it
    threads: Threads = "1",
    beta: Annotated[float, typer.Option(help="Inverse coupling.")] = 6.0,
    overrelaxation: Annotated[int, typer.Option(help="Over-relaxation sweeps after each heatbath sweep.")] = 0,
    seconds: Seconds = 0.5,
    lock_timeout: LockTimeout = 600.0,
    json: Json = None,
) -> None:
    """Sweeps of the quenched heatbath."""
    from halocline import bench

    cases = []
    for n in volumes(local):
        for t in thread_counts(threads):
            name = f"heatbath {'x'.join(map(str, n))} {t} threads"
            cases.append((name, _case(bench.heatbath, n, t, beta, overrelaxation, seconds=seconds)))
    console = Console()
    report(console, measure(console, cases, lock_timeout), json)


def _case(function: Callable[..., dict[str, Any]], *arguments: Any, **options: Any) -> Callable[[], dict[str, Any]]:
    """A call for later."""
    return lambda: function(*arguments, **options)
