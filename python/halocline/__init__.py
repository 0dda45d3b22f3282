# SPDX-License-Identifier: Apache-2.0
"""Halocline: stencil physics at the strong-scaling limit.

    import halocline as hc
    u = hc.qcd.read_gauge("cfg.lime")
    print(hc.qcd.plaquette(u))

`hc.qcd` is lattice QCD, `hc.comm` the processes it runs on. Arrays are NumPy arrays in canonical order,
`[t][z][y][x]...`, the part that this process holds. The rooms are loaded when first named.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from halocline.errors import Error, FileError, Interrupted, InvalidArgument

if TYPE_CHECKING:
    from halocline import comm, qcd

# libgomp reads this once, when the extension is loaded. Its default lets a thread that waits spin for milliseconds:
# where anything else runs on the machine, two threads then take longer than one. About 30 microseconds bridge the gap
# between two kernels.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

__all__ = ["Error", "FileError", "Interrupted", "InvalidArgument", "comm", "qcd"]


def __getattr__(name: str) -> Any:
    if name in ("comm", "qcd"):
        return importlib.import_module(f"halocline.{name}")
    if name == "__version__":
        return importlib.import_module("halocline._halocline").core.version
    raise AttributeError(f"module 'halocline' has no attribute '{name}'")
