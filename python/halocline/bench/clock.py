# SPDX-License-Identifier: Apache-2.0
"""Wall-clock times of work that Python starts, milliseconds long or longer."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def timed(group: Any, work: Callable[[], Any]) -> float:
    """Seconds between two barriers of the group, around the work. Collective."""
    group.barrier()
    begun = time.perf_counter()
    work()
    group.barrier()
    return time.perf_counter() - begun


energy_counter: Callable[[], float] | None = None
"""Joules of all nodes since some time, collective; set by the command line where a counter can be read."""


def counted(group: Any, work: Callable[[], Any]) -> tuple[float, float]:
    """As `timed`, and the joules meanwhile; NaN where nothing counts them. Collective."""
    before = energy_counter() if energy_counter is not None else math.nan
    seconds = timed(group, work)
    return seconds, (energy_counter() if energy_counter is not None else math.nan) - before


def energy(runs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The key `energy` of a result, from the seconds and joules of its runs; without operations no rate."""
    seconds, joules = (sum(run[k] for run in runs) for k in (0, 1))
    known = math.isfinite(joules) and seconds > 0
    return {
        "joules_a_run": joules / len(runs) if known else None,
        "watts": joules / seconds if known else None,
        "gflops_per_watt": None,
    }


def summary(seconds: Sequence[float]) -> dict[str, Any]:
    return {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds), "runs": len(seconds)}
