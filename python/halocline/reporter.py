# SPDX-License-Identifier: Apache-2.0
"""Progress reports of long work without printing: drivers call a `Reporter`, which the command line implements.

The base class is silent, which is what Python callers get.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

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
