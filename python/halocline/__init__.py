# SPDX-License-Identifier: Apache-2.0
"""Halocline: stencil physics at the strong-scaling limit.

    import halocline as hc
    u = hc.qcd.read_gauge("cfg.lime")
    print(hc.qcd.plaquette(u))

`hc.qcd` is lattice QCD, `hc.tddft` real-time electron dynamics of molecules and crystals, `hc.maxwell` light on a grid,
`hc.comm` the processes of a run, `hc.gpu` the GPUs, and `hc.mapping` places processes on a torus network. Fields are
NumPy arrays in canonical order, `[t][z][y][x]...`; each process has its own part. A subpackage is loaded when it is
first named.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import TYPE_CHECKING, Any

from halocline import threads
from halocline.errors import Error, FileError, Interrupted, InvalidArgument, NotConverged

if TYPE_CHECKING:
    from halocline import comm, gpu, mapping, maxwell, qcd, tddft


def _name_tune_defaults() -> None:
    """Sets the environment variable that names this package's file of tuning defaults, which is never written."""
    os.environ.setdefault(
        "HALOCLINE_TUNE_DEFAULTS", os.path.join(os.path.dirname(__file__), "data", "tune-defaults.json")
    )


thread_problem = threads.prepare(os.environ, threads.this_machine())
"""The reason why the requested number of threads was not used; empty if there is no problem."""
_name_tune_defaults()

_rooms = ("comm", "gpu", "mapping", "maxwell", "qcd", "tddft")
__all__ = [
    "Error",
    "FileError",
    "Interrupted",
    "InvalidArgument",
    "NotConverged",
    "comm",
    "gpu",
    "mapping",
    "maxwell",
    "qcd",
    "tddft",
]


def __getattr__(name: str) -> Any:
    if name in _rooms:
        if thread_problem:
            warnings.warn(f"{thread_problem} OpenMP's own number is taken.", stacklevel=2)
        return importlib.import_module(f"halocline.{name}")
    if name == "__version__":
        return importlib.import_module("halocline._halocline").core.version
    raise AttributeError(f"module 'halocline' has no attribute '{name}'")
