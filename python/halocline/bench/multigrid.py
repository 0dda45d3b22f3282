# SPDX-License-Identifier: Apache-2.0
"""Multigrid beside even-odd BiCGStab over quark masses: set-up, cycles, and the time of a solve."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.bench.clock import counted, energy, summary
from halocline.qcd import quark


def multigrid(
    u: Any,
    gauge: str = "given",
    mass: float = 0.0,
    csw: float = 1.0,
    columns: int = 1,
    runs: int = 3,
    tolerance: float = 1e-10,
    setup_file: str | Path | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """Solves of D x = b for random sources on the gauge field u, antiperiodic in time, by both methods.

    columns: right-hand sides solved together; runs: solves by each method, after one that is not counted
    setup_file: keeps the set-up there; it must not exist. The time of a second set-up from it is measured too.
    keys: of [solver] multigrid, such as vectors=16
    `seconds` are of a solve by multigrid. `result` has the set-up (seconds, levels, rounds, contraction, bytes a site),
    the cycles, the iterations and seconds of BiCGStab, and the columns from which on set-up and solves take less time.
    Raises Error if a solve does not converge. Collective.
    """
    settings = {"tolerance": tolerance, "rhs_batch": columns, "right_hand_sides": columns}
    kept = {"setup_file": str(setup_file)} if setup_file is not None else {}

    def solver(kind: str) -> Any:
        table = {"multigrid": keys | kept} if kind == "multigrid" else {}
        return quark.WilsonClover(u, mass=mass, csw=csw, solver={"kind": kind, **settings, **table}).solver

    sources = _sources(u.geometry, columns)
    made = solver("multigrid")
    setup = made.setup
    solves, cycles = _solves(made, u.geometry, sources, runs)
    seconds = [of_one for of_one, _ in solves]
    again = None
    if setup_file is not None:
        again = solver("multigrid").setup["seconds"]
    other_solves, iterations = _solves(solver("bicgstab"), u.geometry, sources, runs)
    other = [of_one for of_one, _ in other_solves]
    saved = (statistics.median(other) - statistics.median(seconds)) / columns
    return {
        "bench": "multigrid",
        "case": {
            "gauge": gauge,
            "m0": mass,
            "csw": csw,
            "columns": columns,
            "threads": _halocline.core.threads(),
            "processes": u.geometry.communicator.size,
        },
        "seconds": summary(seconds),
        "energy": energy(solves),
        "result": {
            "setup_seconds": setup["seconds"],
            "setup_from_file": again,
            "levels": setup["levels"],
            "rounds": setup["rounds"],
            "contraction": setup["contraction"],
            "bytes_a_site": setup["bytes"] / int(np.prod(u.geometry.local)),
            "cycles": cycles,
            "bicgstab_iterations": iterations,
            "bicgstab_seconds": summary(other),
            "speedup": statistics.median(other) / statistics.median(seconds),
            "pays_from": setup["seconds"] / saved if saved > 0 else None,
        },
    }


def _sources(geometry: Any, columns: int) -> list[np.ndarray]:
    """Normal random numbers, each process its own."""
    generator = np.random.default_rng([7, geometry.communicator.rank])
    shape = (*geometry.local[::-1], 4, 3)
    return [generator.normal(size=shape) + 1j * generator.normal(size=shape) for _ in range(columns)]


def _solves(solver: Any, geometry: Any, sources: list[np.ndarray], runs: int) -> tuple[list[tuple[float, float]], int]:
    """Seconds (wall-clock, of the slowest process) and joules of solves, and the iterations of the slowest column."""

    def solve() -> int:
        s = _halocline.qcd.Propagator(geometry, [0, 0, 0, 0])
        return max(report["iterations"] for report in solver.solve_columns(s, 0, sources))

    iterations = solve()
    return [counted(geometry.communicator, solve) for _ in range(runs)], iterations
