# SPDX-License-Identifier: Apache-2.0
"""Wall-clock times of work that Python starts, milliseconds long or longer."""

from __future__ import annotations

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


def summary(seconds: Sequence[float]) -> dict[str, Any]:
    return {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds), "runs": len(seconds)}
