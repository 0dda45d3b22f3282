# SPDX-License-Identifier: Apache-2.0
"""Halocline: stencil physics at the strong-scaling limit.

    import halocline as hc
    u = hc.qcd.read_gauge("cfg.lime")
    print(hc.qcd.plaquette(u))

`hc.qcd` is lattice QCD, `hc.tddft` electrons in molecules and crystals and their motion in time, `hc.comm` the
processes they run on, `hc.gpu` the GPUs, `hc.mapping` where to put processes on a torus network. Fields are NumPy
arrays in canonical order, `[t][z][y][x]...`, the part that this process holds. The rooms are loaded when first
named.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from halocline.errors import Error, FileError, Interrupted, InvalidArgument, NotConverged

if TYPE_CHECKING:
    from halocline import comm, gpu, mapping, qcd, tddft


def _prepare_threads() -> None:
    """Sets what libgomp reads once, when the extension is loaded; what the user has set stays."""
    environment = os.environ
    # By default a thread that waits spins for milliseconds: where anything else runs on the machine, two threads then
    # take longer than one. About 30 microseconds bridge the gap between two kernels.
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", "10000")
    # Ranks that a launcher has not bound to cores share them.
    if "OMP_NUM_THREADS" not in environment and hasattr(os, "sched_getaffinity"):
        ranks = next((int(environment[name]) for name in _local_ranks if environment.get(name, "").isdigit()), 1)
        cores = len(os.sched_getaffinity(0))
        if ranks > 1 and cores == os.cpu_count():
            environment["OMP_NUM_THREADS"] = str(max(1, cores // ranks))


def _name_tune_defaults() -> None:
    """Tells the tuner of GPU kernels where the file of this package is that it reads and never writes."""
    os.environ.setdefault(
        "HALOCLINE_TUNE_DEFAULTS", os.path.join(os.path.dirname(__file__), "data", "tune-defaults.json")
    )


# How Open MPI and the MPICH family tell a process the number of ranks on its machine.
_local_ranks = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
_prepare_threads()
_name_tune_defaults()

_rooms = ("comm", "gpu", "mapping", "qcd", "tddft")
__all__ = [
    "Error",
    "FileError",
    "Interrupted",
    "InvalidArgument",
    "NotConverged",
    "comm",
    "gpu",
    "mapping",
    "qcd",
    "tddft",
]


def __getattr__(name: str) -> Any:
    if name in _rooms:
        return importlib.import_module(f"halocline.{name}")
    if name == "__version__":
        return importlib.import_module("halocline._halocline").core.version
    raise AttributeError(f"module 'halocline' has no attribute '{name}'")
