# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a run on disk, so that they need no memory and survive a stop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from halocline.comm import on_root
from halocline.errors import FileError
from halocline.maxwell.snapshots import Snapshots


class Frames:
    """A file of frames in the order in which they are taken, single precision, written by one process."""

    def __init__(self, path: Path, world: Any, snapshots: list[Snapshots]) -> None:
        self.path, self.world, self._snapshots = path, world, snapshots
        self._begun = False
        for s in snapshots:
            s.sink = self._append

    def _append(self, frame: np.ndarray) -> None:
        def write() -> None:
            with self.path.open("ab" if self._begun else "wb") as file:
                file.write(frame.tobytes())

        on_root(self.world, write)
        self._begun = True

    def flush(self) -> None:
        """Brings all frames to the disk. Collective."""

        def write() -> None:
            with self.path.open("r+b") as file:
                os.fsync(file.fileno())

        if self._begun:
            on_root(self.world, write)

    def _order(self, steps: int) -> list[int]:
        """Which of the snapshots each frame of the file belongs to."""
        taken = [(n * s.every, i) for i, s in enumerate(self._snapshots) for n in range(1, steps // s.every + 1)]
        return [i for _, i in sorted(taken)]

    def _bytes(self, i: int) -> int:
        return 4 * int(np.prod(self._snapshots[i].shape))

    def resume(self, steps: int) -> None:
        """Keeps the frames up to a step, and goes on behind them. Raises FileError for a file that has fewer.
        Collective."""
        size = sum(self._bytes(i) for i in self._order(steps))

        def cut() -> None:
            there = self.path.stat().st_size if self.path.exists() else 0
            if there < size:
                raise FileError(
                    f"{self.path}: has {there} bytes of snapshots, and the checkpoint has seen {size}; begin anew with "
                    "--overwrite."
                )
            with self.path.open("r+b") as file:
                file.truncate(size)

        if size > 0:
            on_root(self.world, cut)
            self._begun = True

    def all(self) -> list[np.ndarray]:
        """Of each of the snapshots: shape (times, z, y, x); empty on other processes than the first. Collective."""

        def read() -> list[np.ndarray]:
            found: list[list[np.ndarray]] = [[] for _ in self._snapshots]
            if self._begun:
                content = self.path.read_bytes()
                place = 0
                steps = self._snapshots[0]._simulation.native.steps
                for i in self._order(steps):
                    frame = np.frombuffer(content, np.float32, self._bytes(i) // 4, place)
                    found[i].append(frame.reshape(self._snapshots[i].shape))
                    place += self._bytes(i)
            return [
                np.array(f, dtype=np.float32).reshape(-1, *s.shape) for f, s in zip(found, self._snapshots, strict=True)
            ]

        if self.world.rank == 0:
            return read()
        return [np.zeros((0, *s.shape), dtype=np.float32) for s in self._snapshots]
