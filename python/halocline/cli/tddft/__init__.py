# SPDX-License-Identifier: Apache-2.0
"""`halocline tddft`: molecule or crystal in, ground state, motion in time and absorption spectrum out."""

from __future__ import annotations

import typer

from halocline.cli.tddft import commands

app = typer.Typer(no_args_is_help=True, help="Electrons in real time: ground state, propagation, absorption spectrum.")
commands.add_to(app)

__all__ = ["app"]
