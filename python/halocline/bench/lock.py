# SPDX-License-Identifier: Apache-2.0
"""One benchmark of a user at a time on a machine: an exclusive lock on a file that all of them know."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from halocline.errors import Error, FileError
from halocline.files import open_lock, take

PATH = Path(tempfile.gettempdir()) / f"halocline-bench-{os.geteuid()}.lock"


@contextlib.contextmanager
def exclusive(timeout: float, path: Path = PATH) -> Iterator[None]:
    """Holds the lock inside the block, after waiting for it at most `timeout` seconds.

    The operating system frees it when the holder ends, however it ends. Raises Error, naming the holder, when the time
    is over, and FileError when the file cannot be opened, or is not this user's own.
    """
    try:
        file = open_lock(path)
    except FileError as error:
        raise FileError(f"the lock of the benchmarks: {error}") from None
    try:
        deadline = time.monotonic() + timeout
        while not take(file):
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
