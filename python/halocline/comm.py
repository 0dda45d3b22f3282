# SPDX-License-Identifier: Apache-2.0
"""The processes of a computation.

A parameter `comm=` takes an mpi4py communicator, a `Communicator` of this module, or None. None means all processes if
the program was started by an MPI launcher, and otherwise this process alone. A plain Python session therefore never
starts MPI.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

from halocline import _halocline, errors
from halocline.errors import Error, InvalidArgument

Communicator = _halocline.comm.Communicator
least_surface_grid = _halocline.comm.least_surface_grid
gave_up_waiting = _halocline.comm.gave_up_waiting

LAUNCHER_RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "MPI_LOCALRANKID")
"""Environment variables that MPI launchers set for each process."""


def launched_rank() -> int | None:
    """The rank that an MPI launcher gave this process; None without a launcher. Does not start MPI."""
    for name in LAUNCHER_RANKS:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def check_machine() -> None:
    """Raises InvalidArgument where this machine lacks the instructions of the build, or has registers of another
    length. Under a launcher the processes compare the lengths together, when MPI starts. Not collective."""
    if launched_rank() is None:
        _halocline.core.check_cpu()
    else:
        _halocline.core.check_instructions()


def self_alone() -> Communicator:
    """The group of this single process."""
    return Communicator.self()


def world() -> Communicator:
    """All processes of the run, or this one alone without a launcher. Collective on the first call."""
    mpi = sys.modules.get("mpi4py.MPI")
    if launched_rank() is not None or (mpi is not None and mpi.Is_initialized() and mpi.COMM_WORLD.size > 1):
        return _halocline.comm.world()
    return Communicator.self()


def communicator(comm: Any = None) -> Communicator:
    """The group for an argument `comm`, as described for the module. Collective for an mpi4py communicator, which is
    duplicated.

    Raises InvalidArgument for any other type.
    """
    if comm is None:
        return world()
    if isinstance(comm, Communicator):
        return comm
    if hasattr(comm, "py2f"):
        return _halocline.comm.from_fortran_handle(comm.py2f())
    raise InvalidArgument(
        f"comm is a {type(comm).__name__}; give an mpi4py communicator, a halocline.comm.Communicator or None."
    )


def on_root(group: Communicator, action: Callable[[], Any]) -> Any:
    """Runs action() only on the first process; all processes get its result or its error. Collective.

    The result must be small and picklable. An error of another library becomes an Error.
    """
    outcome: tuple[str, Any] = ("", None)
    if group.rank == 0:
        try:
            outcome = ("", action())
        except Error as error:
            outcome = (type(error).__name__, str(error))
            if group.size == 1:
                raise
        except Exception as error:
            if group.size == 1:
                raise
            outcome = ("Error", f"{type(error).__name__} on the first rank: {error}")
    failure, value = pickle.loads(group.broadcast(pickle.dumps(outcome) if group.rank == 0 else b"", 0))
    if failure:
        raise getattr(errors, failure)(value)
    return value


def raise_together(group: Communicator, sentence: str, error: type[Error] = Error) -> None:
    """If any process has a sentence, raises on every process with the sentence of the first one. Collective."""
    said = group.gather(sentence.encode() + b"\0", 0)
    first = next((s for s in said.split(b"\0") if s), b"")
    agreed = group.broadcast(first, 0).decode()
    if agreed:
        raise error(agreed)


class CommonWork:
    """Collective work with a time limit on waiting for another process.

    If the limit is exceeded or a process has ended, the waiting processes raise an Error that names their rank, and the
    group can no longer be used. The limit applies to all collective operations: exchanges of links, sums, agreements,
    and broadcasts from the first process. With one process it has no effect.

        with CommonWork(group, 60.0) as work:
            ...
            with work.paused():  # one process may read a large file for as long as it takes
                ...
    """

    def __init__(self, group: Communicator, seconds: float | None = None) -> None:
        """seconds: the limit, positive; it also applies to later solves on this group. None keeps the present limit,
        which is 300 at first. Collective if a number is given."""
        if seconds is not None:
            _halocline.comm.set_solve_time_limit(group, seconds)
        self._group, self._held = group, None

    def __enter__(self) -> CommonWork:
        """Waits for all processes, without a limit. Collective."""
        self._held = _halocline.comm.SolveUnderWay(self._group)
        return self

    def __exit__(self, *_: object) -> None:
        self._held = None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Suspends the limit, if one is active, during the block. The end of the block waits for all processes.
        Collective."""
        held, self._held = self._held is not None, None
        yield
        if held:
            self._held = _halocline.comm.SolveUnderWay(self._group)
