# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the quark solver on a device: times by its events, beside a copy kernel of the same run.

Every function returns one dictionary a case; docs/benchmarks/gpu.md says what its keys mean. With the device
"host-executor", for tests, `host_executor` is true and the times say nothing about a GPU. Collective.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from halocline import _halocline
from halocline.bench import BLOCK_SECONDS, SECONDS
from halocline.comm import communicator
from halocline.device import HALO_POLICIES

ACTIONS = ("wilson", "twisted", "domain-wall", "mobius", "one-link", "asqtad", "hisq")
OPERATOR_FORMS = ("hopping", "schur", "schur-asymmetric")
"""Of actions other than Wilson."""
FORMS = ("hopping", "hopping-clover", "fused", "schur", "schur-asymmetric")
PRECISIONS = ("double", "float", "fixed16", "fixed8")
LINK_REALS = (18, 12, 8)
STAGES = ("whole", "no-halo", "halo", "messages", "separate", "split-sites")
SOLVERS = ("auto", "bicgstab", "cg", "gcr")
POLICIES = HALO_POLICIES


def dslash(
    local: Sequence[int],
    device: str = "cuda",
    precision: str = "fixed16",
    form: str = "hopping",
    link_reals: int = 12,
    columns: int = 1,
    emulate: Sequence[int] = (1, 1, 1, 1),
    policy: str = "",
    stage: str = "whole",
    graph: bool = False,
    action: str = "wilson",
    ls: int = 8,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One application of the one-parity Wilson hop, or of an operator of another action.

    local: x, y, z, t, the sites of each process; precision, form, link_reals, stage: one of the lists above; columns:
    right-hand sides, 1 to 32; emulate: a process grid that is emulated: an axis with more than one is treated as split,
    and its neighbour is the process itself; policy: one of POLICIES, empty for the default; graph: recorded, and
    launched as a graph; action: one of ACTIONS; all but "wilson" have OPERATOR_FORMS, on one process and whole; ls:
    points of the fifth dimension, 4 to 64, for each of which a right-hand side has a column
    A case that cannot be run here has the key `skipped`, and no times.
    Raises InvalidArgument for an unknown name, a number out of range, and a device that is not there.
    """
    text = _halocline.bench.device_dslash(
        communicator(comm), device, list(local), precision, form, link_reals, columns, list(emulate), policy, stage,
        graph, action, ls, seconds, block_seconds,
    )  # fmt: skip
    return json.loads(text)


def solver(
    u: Any,
    gauge: str = "given",
    mass: float = 0.0,
    csw: float = 0.0,
    boundary: Sequence[complex] = (1, 1, 1, -1),
    device: str = "cuda",
    kind: str = "bicgstab",
    inner: str = "fixed16",
    link_reals: int = 0,
    policy: str = "",
    tolerance: float = 1e-10,
    even_odd: bool = True,
    columns: int = 1,
    runs: int = 3,
    action: str = "wilson",
    ls: int = 8,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One solve of D x = b on a device, for the first columns of a point source at the origin of the gauge field u.

    kind: one of SOLVERS; inner: precision inside the iteration, one of PRECISIONS; link_reals: kept of a link there, 0
    for what the solver takes; columns: right-hand sides solved together; action: one of ACTIONS; csw: of wilson and
    twisted
    `result` tells whether all converged, in how many iterations, the worst residual of the full operator in double, and
    `hop_gflops`, the rate of the hop in the same precision.
    """
    text = _halocline.bench.device_solver(
        u, gauge, action, mass, csw, ls, [complex(p) for p in boundary], device, kind, inner, link_reals, policy,
        tolerance, even_odd, columns, runs, seconds, block_seconds,
    )  # fmt: skip
    return json.loads(text)
