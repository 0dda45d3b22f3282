# SPDX-License-Identifier: Apache-2.0
"""Output of the commands: one rank writes, a terminal shows progress, a log gets plain lines.

`Console` is the Reporter of the command line. On a terminal, stages appear as progress bars (rich). Elsewhere a stage
writes one line every half minute and one at its end. The texts of `line` and `warning` can also be written to a file.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from halocline.comm import launched_rank
from halocline.errors import FileError
from halocline.files import write_file
from halocline.reporter import Advance, Reporter

SECONDS_BETWEEN_LINES = 30.0


def speaks() -> bool:
    """True on the one rank that writes: the first, or the only one."""
    return launched_rank() in (None, 0)


class Console(Reporter):
    """Rank 0 writes, the other ranks are silent; every rank receives signals."""

    def __init__(self, quiet: bool = False) -> None:
        self.speaking = speaks() and not quiet
        # A launcher may give each rank a terminal of its own whose output goes to a file: use plain lines.
        self.terminal = self.speaking and launched_rank() is None and sys.stdout.isatty()
        self.log: TextIO | None = None
        self.bars: Any = None
        self.signals = 0

    def keep_log(self, path: Path) -> None:
        """Also appends every further line to a file. Raises FileError."""
        if not speaks():
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opening a pipe without a reader must not hang; O_NONBLOCK does not affect regular files.
            number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
            if not stat.S_ISREG(os.fstat(number).st_mode):
                os.close(number)
                raise FileError(f"{path}: the log cannot be written: there is something that is no regular file.")
            self.log = open(number, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed by close()
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{path}: the log cannot be written: {error.strerror}.") from None

    def close(self) -> None:
        if self.log is not None:
            with contextlib.suppress(OSError):  # another message reports the full disk
                self.log.close()
            self.log = None

    def line(self, text: str) -> None:
        self._say(text, text)

    def warning(self, text: str) -> None:
        self._say(f"warning: {text}", f"[yellow]warning:[/yellow] {_escaped(text)}")

    def _say(self, text: str, marked: str) -> None:
        if self.log is not None:
            with contextlib.suppress(OSError):  # with a full disk, still write to the terminal
                self.log.write(text + "\n")
        if not self.speaking:
            return
        if self.bars is not None:
            self.bars.console.print(marked if marked != text else _escaped(text), highlight=False, soft_wrap=True)
        else:
            print(text, flush=True)

    @contextlib.contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Advance]:
        if self.terminal and self.bars is None:
            with self._bar(name, total) as advance:
                yield advance
            return
        begun = last = time.monotonic()
        said = ""

        def advance(done: float, words: str) -> None:
            nonlocal last, said
            said = words
            now = time.monotonic()
            if self.speaking and now - last > SECONDS_BETWEEN_LINES:
                last = now
                part = f" {100 * done / total:.0f} %" if total else ""
                self.line(f"{name}:{part} {words} ({now - begun:.0f} s)".rstrip())

        yield advance
        self.line(f"{name}: {said + ', ' if said else ''}{time.monotonic() - begun:.1f} s")

    @contextlib.contextmanager
    def _bar(self, name: str, total: float | None) -> Iterator[Advance]:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
        begun = time.monotonic()
        with Progress(*columns, TimeElapsedColumn(), transient=True) as self.bars:
            task = self.bars.add_task(name, total=total, words="")
            try:
                yield lambda done, words: self.bars.update(task, completed=done, words=words)
                words = self.bars.tasks[task].fields["words"]
            finally:
                self.bars, bars = None, self.bars
                bars.stop()
        self.line(f"{name}: {words + ', ' if words else ''}{time.monotonic() - begun:.1f} s")

    @contextlib.contextmanager
    def hears_signals(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM asks to stop at the next safe point; a second one stops at once."""

        def heard(number: int, frame: FrameType | None) -> None:
            self.signals += 1
            if self.signals > 1:
                raise KeyboardInterrupt
            if self.speaking:
                os.write(2, b"\nstopping at the next safe point; once more stops at once\n")

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop_requested(self) -> bool:
        return self.signals > 0


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")


def json_ready(value: Any) -> Any:
    """The value without NumPy types and tuples, and with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {str(k): json_ready(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(v) for v in value]
    if hasattr(value, "tolist"):
        return json_ready(value.tolist())
    if isinstance(value, complex):
        return [json_ready(value.real), json_ready(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(path: Path | None, value: Any) -> None:
    """Writes the numbers of a command, whole or not at all, on the rank that writes. Raises FileError."""
    if path is None or not speaks():
        return
    write_file(path, json.dumps(json_ready(value), indent=1, allow_nan=False) + "\n")
