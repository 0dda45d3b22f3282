# SPDX-License-Identifier: Apache-2.0
"""How long work says where it is, without printing: drivers talk to a `Reporter`, the command line hears it.

The base class is silent, which is what Python callers get.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

Advance = Callable[[float, str], None]
"""Called with the amount done so far and a few words; cheap enough for every iteration."""


class Reporter:
    """Hears nothing and stops nothing."""

    def line(self, text: str) -> None:
        """One line of the log."""

    def warning(self, text: str) -> None:
        """One sentence about something odd that does not stop the work."""

    @contextlib.contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Advance]:
        """A piece of work that takes a while; total is what the amount done will be at its end."""
        yield lambda done, words: None

    def stop_requested(self) -> bool:
        """True when this process was asked to stop; long work then ends at the next safe point."""
        return False
