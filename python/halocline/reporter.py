# SPDX-License-Identifier: Apache-2.0
"""Progress reports of long work without printing: drivers call a `Reporter`, which the command line implements.

The base class is silent, which is what Python callers get.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

Advance = Callable[[float, str], None]
"""Called with the amount done so far and a short text; cheap enough to call in every iteration."""


class Reporter:
    """Ignores all reports and never stops the work."""

    def line(self, text: str) -> None:
        """One line of the log."""

    def warning(self, text: str) -> None:
        """One sentence about something doubtful that does not stop the work."""

    @contextlib.contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Advance]:
        """A piece of work that takes a while; total is the final value of the amount done."""
        yield lambda done, words: None

    def stop_requested(self) -> bool:
        """Whether this process was asked to stop; long work then ends at the next safe point."""
        return False


def agreement(
    group: Any, reporter: Reporter, wall_limit: float | None, begun: float, due: bool
) -> tuple[bool, str | None]:
    """Whether all processes write a checkpoint now, and why they stop after it; None if the work goes on.

    wall_limit: seconds after which it stops; begun: when it began, by time.monotonic(); due: a checkpoint is due here
    Collective.
    """
    late = wall_limit is not None and time.monotonic() - begun > wall_limit
    stop, late_anywhere, due_anywhere = group.max([float(reporter.stop_requested()), float(late), float(due)])
    why = "stopped" if stop else "the wall_limit is reached: stopped" if late_anywhere else None
    return bool(stop or late_anywhere or due_anywhere), why
