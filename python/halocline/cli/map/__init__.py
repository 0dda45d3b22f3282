# SPDX-License-Identifier: Apache-2.0
"""`halocline map ...`: finds the node for each process, and the resulting communication cost."""

from __future__ import annotations

from halocline.cli.common import command_group
from halocline.cli.map import evaluate, predict, search

app = command_group("Maps of processes onto the nodes of a torus network.")
search.add_to(app)
evaluate.add_to(app)
predict.add_to(app)
