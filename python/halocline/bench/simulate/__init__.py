# SPDX-License-Identifier: Apache-2.0
"""The communication code of `comm` on machines that exist in SimGrid's simulator only, beside the network model.

`weak` runs iterations of a solver (bench/simulated/weak.cpp) on a simulated network, with the processes where a rank
map puts them. `multigrid` runs cycles of the multigrid solver and gives the share of each part; `electrons` does so
for steps of real-time propagation.
docs/benchmarks/mapping.md says what the simulator knows of a network and what it does not.
"""

from __future__ import annotations

from halocline import _halocline
from halocline.bench.simulate.electrons import ElectronStep, electrons
from halocline.bench.simulate.multigrid import Cycle, multigrid, smoother_messages
from halocline.bench.simulate.program import build, unavailable_reason
from halocline.bench.simulate.weak import TRANSPORTS, check, weak

Iteration = _halocline.mapping.Iteration
"""What a process does in an iteration; `halocline.mapping` predicts with the same."""

__all__ = [
    "TRANSPORTS",
    "Cycle",
    "ElectronStep",
    "Iteration",
    "build",
    "check",
    "electrons",
    "multigrid",
    "smoother_messages",
    "unavailable_reason",
    "weak",
]
