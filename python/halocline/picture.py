# SPDX-License-Identifier: Apache-2.0
"""How every picture of Halocline looks. Knows no data."""

STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.92",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "halocline",  # the same picture is the same file
}
COLOURS = ("#0b5fa5", "#c8500a", "#2b8a3e", "#8e3b9e", "#a07800", "#b8305f", "#4a6572", "#3a3a3a")
