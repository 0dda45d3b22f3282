# SPDX-License-Identifier: Apache-2.0
"""The common style of all plots, and saving them to disk. Independent of the data."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from halocline.errors import FileError
from halocline.files import write_file

STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.92",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "halocline",  # the same plot gives the same file
}
COLOURS = ("#0b5fa5", "#c8500a", "#2b8a3e", "#8e3b9e", "#a07800", "#b8305f", "#4a6572", "#3a3a3a")


def save(figure: Any, path: Path) -> Path:
    """Draws in memory and writes the picture whole or not at all; the suffix selects the format. Raises FileError.

    figure: of matplotlib. Returns the path.
    """
    drawn = io.BytesIO()
    # Without a date, the same plot gives the same file.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    try:
        figure.savefig(drawn, dpi=160, format=path.suffix[1:] or "png", metadata=metadata)
    except ValueError as error:  # a format that matplotlib does not know
        raise FileError(f"{path}: the picture cannot be drawn: {error}.") from None
    write_file(path, drawn.getvalue())
    return path
