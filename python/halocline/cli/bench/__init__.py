# SPDX-License-Identifier: Apache-2.0
"""`halocline bench ...`: the speed of the kernels on this machine, as fractions of its limits."""

from __future__ import annotations

from halocline.cli.bench import communication, electrons, kernels, qcdjdd, simulate_multigrid, simulate_rt_step, weak
from halocline.cli.common import command_group

app = command_group("Benchmarks, measured against the ceilings of the same run.")
kernels.add_to(app)
qcdjdd.add_to(app)
electrons.add_to(app)
communication.add_to(app)
weak.add_to(app)
simulate_multigrid.add_to(app)
simulate_rt_step.add_to(app)
