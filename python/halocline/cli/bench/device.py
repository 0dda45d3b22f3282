# SPDX-License-Identifier: Apache-2.0
"""`halocline bench dslash` and `solver` with --device: the cases, and the options of devices alone."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import typer

from halocline.cli.bench.common import Bench, chosen, counts, extents, later, real_numbers, volumes
from halocline.errors import Error, InvalidArgument

Device = Annotated[str, typer.Option(metavar="NAME", help="cpu, cuda or cuda:N.")]
Emulate = Annotated[
    str,
    typer.Option(metavar="XxYxZxT", help="On a device: a process grid whose halos one process exchanges with itself."),
]
Policies = Annotated[
    str, typer.Option("--policy", help="On a device: how faces travel, some by commas, or all; see docs/gpu.md.")
]
Stages = Annotated[
    str,
    typer.Option(
        "--stage",
        help="On a device: whole, no-halo, halo, messages, separate, split-sites, some by commas, or all are timed.",
    ),
]
Graph = Annotated[
    str, typer.Option(metavar="on|off|both", help="On a device: launches recorded in a graph, or one by one.")
]


def known(device: str, threads: str = "1") -> None:
    """Refuses a missing device, and a number of threads, which a device does not have."""
    from halocline.device import refuse_absent

    refuse_absent(device)
    if threads != "1":
        raise InvalidArgument(f"--threads {threads} applies to the CPU only; leave it out with --device {device}.")


def only_on_devices(**given: Any) -> None:
    """Refuses options of devices when the benchmark runs on the CPU. given: option name -> (value, default)."""
    for name, (value, default) in given.items():
        if value != default:
            raise InvalidArgument(f"--{name.replace('_', '-')} applies to devices only; add --device cuda.")


def switches(graph: str) -> list[bool]:
    ways = {"off": [False], "on": [True], "both": [False, True]}
    if graph not in ways:
        raise InvalidArgument(f"--graph {graph}: give on, off or both.")
    return ways[graph]


def say_host_executor(bench: Bench, device: str) -> None:
    if device == "host-executor":
        bench.console.warning("the host executor runs kernels as loops on the CPU: its times say nothing about a GPU.")


def dslash(
    bench: Bench, device: str, local: list[str], precision: list[str], form: list[str], link_reals: str, columns: str,
    action: str, ls: str, emulate: str, policy: str, stage: str, graph: str, threads: str,
) -> None:  # fmt: skip
    """Runs all requested cases of the one-parity hop and of operators."""
    from halocline.bench import STAGGERED, WALLS
    from halocline.bench import device as library

    known(device, threads)
    bench.device = device
    all_reals = counts("--link-reals", link_reals, "18,12,8")
    precisions = chosen("--precision", precision, library.PRECISIONS)
    grid = extents("--emulate", [emulate], 4, "1x2x2x2")[0]
    alone = {"default": [""], "auto": ["auto"]}
    policies = alone.get(policy) or chosen("--policy", policy, library.POLICIES[:-1])
    stages = chosen("--stage", stage, library.STAGES)
    cases = []
    for a, n, p, reals, c, how, s, recorded in itertools.product(
        chosen("--action", action, library.ACTIONS),
        volumes(local),
        precisions,
        all_reals,
        counts("--columns", columns, "1,4,12,16"),
        policies,
        stages,
        switches(graph),
    ):
        forms = chosen("--form", form, library.FORMS if a == "wilson" else library.OPERATOR_FORMS)
        for f, points in itertools.product(forms, counts("--ls", ls, "8,16") if a in WALLS else [1]):
            # Without a halo there is no policy, and the plain hop has no fused operations to separate.
            if (s == "no-halo" and how != policies[0]) or (s == "separate" and f == "hopping" and "whole" in stages):
                continue
            # Of several stages, forms and storages an operator takes those that it has; halos are the plain hop's.
            if a != "wilson" or f.startswith("schur"):
                own = ("whole", "separate") if a in WALLS else ("whole",)
                if how != policies[0] or (len(stages) > 1 and s not in own) or (len(forms) > 1 and max(grid) > 1):
                    continue
            if a in STAGGERED and (reals != all_reals[0] or (len(precisions) > 1 and p.startswith("fixed"))):
                continue
            size = f"{'x'.join(map(str, n))}{f' x {points}' if a in WALLS else ''}"
            quarks = "" if a == "wilson" else f"{a} "
            name = f"{quarks}{f} {size} {p} {reals} reals {c} columns {how} {s}{' graph' if recorded else ''}"
            case = later(
                library.dslash, n, device, p, f, reals, c, grid, how, s, recorded, a, points, seconds=bench.seconds
            )
            cases.append((name, case))
    bench.run(cases)
    say_host_executor(bench, device)


def solver(
    bench: Bench, device: str, u: Any, gauge: str, actions: list[str], mass: float, wilson_mass: float, csw: float,
    ls: int, kind: str, inner: str, link_reals: str, policy: str, tolerance: str, columns: str, runs: int, threads: str,
) -> None:  # fmt: skip
    """Runs all requested solves. Raises Error if one did not reach its tolerance."""
    from halocline.bench import STAGGERED
    from halocline.bench import device as library

    known(device, threads)
    bench.device = device
    cases = []
    kinds = chosen("--kind", kind, library.SOLVERS)
    inners = chosen("--inner", inner, library.PRECISIONS)
    for a, k, p, reals, limit, n in itertools.product(
        actions,
        kinds,
        inners,
        counts("--link-reals", link_reals, "18,12,8"),
        real_numbers("--tolerance", tolerance, "1e-6,1e-10"),
        counts("--columns", columns, "1,12"),
    ):
        # Of several methods and storages an action takes those that it has.
        if len(kinds) > 1 and a != "wilson" and k != "cg":
            continue
        if len(inners) > 1 and a in STAGGERED and p.startswith("fixed"):
            continue
        m = wilson_mass if a in ("wilson", "twisted") else mass
        case = later(
            library.solver, u, gauge, mass=m, csw=csw, device=device, kind=k, inner=p, link_reals=reals,
            policy="" if policy == "default" else policy, tolerance=limit, columns=n, runs=runs, action=a, ls=ls,
            seconds=bench.seconds,
        )  # fmt: skip
        quarks = "" if a == "wilson" else f"{a} "
        cases.append((f"{quarks}{k} {p} {reals} reals {limit:g} {n} columns on {device}", case))
    results = bench.run(cases)
    say_host_executor(bench, device)
    failed = [
        f"{r['case']['solver']} {r['case']['inner']} ({r['case']['tolerance']:g})"
        for r in results
        if "skipped" not in r and not r["result"]["converged"]
    ]
    if failed:
        raise Error(f"these did not reach their tolerance: {', '.join(failed)}.")
