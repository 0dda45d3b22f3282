# SPDX-License-Identifier: Apache-2.0
"""`halocline tddft`: molecule or crystal in, ground state, motion in time and absorption spectrum out."""

from __future__ import annotations

from halocline.cli.common import command_group
from halocline.cli.tddft import commands

app = command_group("Electrons in real time: ground state, propagation, absorption spectrum.")
commands.add_to(app)

__all__ = ["app"]
