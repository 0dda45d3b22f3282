# SPDX-License-Identifier: Apache-2.0
"""The base of result files: whose they are, when they may be replaced, and their values in JSON.

A result belongs to the run that began it. A later run with the same parameters continues it; a run with others is
refused, and the sentence names the first difference. A file is written whole beside the old one and renamed
(halocline/hdf5.py). A file that another program put there meanwhile is noticed by its stamp.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline import hdf5
from halocline.errors import InvalidArgument
from halocline.files import make_folder_of, stamp_of

DAMAGED = "it is damaged, or another program has changed it; compute it again"
OTHER_FILE = "name another [output] file, or replace it with --overwrite"


class ResultFile:
    """A result on disk. Used by one process alone, inside `files.claimed(path)`."""

    def __init__(self, path: str | Path) -> None:
        """Makes the folder of the file. Raises FileError if it cannot be made."""
        self.path = Path(path)
        make_folder_of(self.path)
        self.stamp = stamp_of(self.path)

    def replaced(self) -> bool:
        """Whether another program has put a file there since this one read or wrote it."""
        return stamp_of(self.path) not in (self.stamp, None)

    def put(self, fill: Callable[[h5py.File], None]) -> None:
        """Writes the file, whole or not at all. Raises FileError; the old file then stands."""
        hdf5.write(self.path, fill)
        self.stamp = stamp_of(self.path)


def first_difference(there: Any, here: Any, left_out: Container[str] = (), where: str = "") -> str | None:
    """'[grid] extent is [12, 12, 12] there and [14, 14, 14] here', for two nested tables; None if they agree.

    left_out: sections and keys that do not count
    """
    for name in sorted(set(there) | set(here), key=lambda n: (n not in there, n)):
        before, now = there.get(name), here.get(name)
        if before == now or name in left_out:
            continue
        inner = f"{where} {name}" if where else f"[{name}]"
        if not (isinstance(before, Mapping) and isinstance(now, Mapping)):
            return f"{inner} is {_short(before)} there and {_short(now)} here"
        difference = first_difference(before, now, left_out, inner)
        if difference is not None:
            return difference
    return None


def _short(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def refuse_other(path: str | Path, there: Any, here: Any, advice: str = OTHER_FILE) -> None:
    """Raises InvalidArgument if a file belongs to another system or run; the message ends with `advice`."""
    difference = first_difference(there, json.loads(json.dumps(here)))
    if difference is not None:
        raise other_run(path, difference, advice)


def other_run(path: str | Path, difference: str, advice: str = OTHER_FILE) -> InvalidArgument:
    return InvalidArgument(f"{path} belongs to another run ({difference}); {advice}.")


def plain_value(value: Any) -> Any:
    """An HDF5 attribute in a form that JSON can hold; a complex number as [real, imaginary]."""
    if isinstance(value, np.ndarray):
        return [plain_value(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value
