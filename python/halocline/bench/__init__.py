# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: times beside the ceilings that the same run measured. docs/benchmarks/README.md explains the numbers.

Every function returns one dictionary a case, the object that `halocline bench NAME --json FILE` writes. Collective.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from halocline import _halocline
from halocline.comm import communicator

FORMS = ("hopping", "wilson", "clover", "schur")
PRECISIONS = ("float", "double")
SOLVERS = ("bicgstab", "cg", "gcr", "fgmres")
SECONDS = 0.5
BLOCK_SECONDS = 0.0005


def dslash(
    local: Sequence[int],
    threads: int = 1,
    precision: str = "float",
    form: str = "hopping",
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One application of a Wilson operator.

    local: x, y, z, t, the sites of each process; form: one of FORMS; seconds: how long to measure
    Raises InvalidArgument for an unknown name or a lattice that does not fit.
    """
    group = communicator(comm)
    text = _halocline.bench.dslash(group, list(local), threads, precision, form, seconds, block_seconds)
    return json.loads(text)


def solver(
    u: Any,
    gauge: str = "given",
    mass: float = 0.0,
    csw: float = 0.0,
    boundary: Sequence[complex] = (1, 1, 1, -1),
    kind: str = "bicgstab",
    precision: str = "mixed",
    tolerance: float = 1e-10,
    even_odd: bool = True,
    threads: int = 1,
    runs: int = 3,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One solve of D x = b for a point source at the origin of the gauge field u.

    kind: one of SOLVERS; precision: "mixed" or "double"; gauge: what to call the field in the report
    The key `result` tells whether it converged, in how many iterations, and the residual of the full operator.
    """
    text = _halocline.bench.solver(
        u, gauge, mass, csw, [complex(p) for p in boundary], kind, precision, tolerance, even_odd, threads, runs,
        seconds, block_seconds,
    )  # fmt: skip
    return json.loads(text)


def heatbath(
    local: Sequence[int] = (16, 16, 16, 16),
    threads: int = 1,
    beta: float = 6.0,
    overrelaxation_steps: int = 0,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One sweep of the quenched heatbath over all links."""
    group = communicator(comm)
    text = _halocline.bench.heatbath(group, list(local), threads, beta, overrelaxation_steps, seconds, block_seconds)
    return json.loads(text)
