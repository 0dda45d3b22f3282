# SPDX-License-Identifier: Apache-2.0
"""One benchmark at a time on a machine: an exclusive lock on a file that all of them know."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from halocline.errors import Error, FileError

PATH = Path(tempfile.gettempdir()) / "halocline-bench.lock"


@contextlib.contextmanager
def exclusive(timeout: float, path: Path = PATH) -> Iterator[None]:
    """Holds the lock inside the block, after waiting for it at most `timeout` seconds.

    The operating system frees it when the holder ends, however it ends. Raises Error, naming the holder, when the time
    is over, and FileError when the file cannot be opened.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(f"{path}: the lock of the benchmarks cannot be opened: {error.strerror}.") from None
    try:
        deadline = time.monotonic() + timeout
        while not _taken(file):
            if time.monotonic() >= deadline:
                holder = os.pread(file, 64, 0).decode(errors="replace").strip() or "unknown"
                raise Error(
                    f"another benchmark (process {holder}) has run for the {timeout:g} s that this one would wait; "
                    f"wait for it, or give a longer --lock-timeout."
                )
            time.sleep(min(0.1, max(0.0, deadline - time.monotonic())))
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
