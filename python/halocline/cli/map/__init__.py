# SPDX-License-Identifier: Apache-2.0
"""`halocline map ...`: where to put each process, and what that costs."""

from __future__ import annotations

import typer

from halocline.cli.map import evaluate, predict, search

app = typer.Typer(no_args_is_help=True, help="Maps of processes onto the nodes of a torus network.")
search.add_to(app)
evaluate.add_to(app)
predict.add_to(app)
