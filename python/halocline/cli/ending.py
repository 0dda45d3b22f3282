# SPDX-License-Identifier: Apache-2.0
"""How a command ends with an error under an MPI launcher: one sentence, and no rank left.

A launcher may end the whole job as soon as one rank exits with an error. So no rank exits before the first rank has
printed the sentence. MPI is started for this where the error came before its start, for example from a run file.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator

from halocline.comm import launched_rank

STOPPED = 130
"""Exit status of a command that Ctrl-C or SIGTERM has stopped. Its ranks do not wait for each other."""
SECONDS_TO_AGREE = 10.0
SECONDS_TO_SPEAK = 2.0
"""For the other ranks to print their sentences, where one is lost and the ranks cannot agree."""


def finish(status: int, sentence: str) -> int:
    """Prints the sentence once. Ends this rank if all ranks agree, otherwise aborts the whole job."""
    rank = launched_rank()
    if rank is None:
        if sentence:
            print_error(sentence)
        return status
    if not _mpi_runs():
        if not sentence:
            return status
        line = _with_rank(rank, sentence)
        if status == STOPPED:  # the signal was for all ranks
            if rank == 0:
                print_error(sentence)
            return status
        if not _could_start_mpi(status, line):
            print_error(line)  # each rank for itself, as they cannot agree
            return status
    if _all_ranks_are_here():
        if sentence and rank == 0:
            print_error(sentence)
        return status
    from halocline import _halocline

    print_error(_with_rank(rank, sentence))
    _halocline.comm.abort_all(status)
    return status


def print_error(sentence: str) -> None:
    print(f"halocline: {sentence}", file=sys.stderr, flush=True)


def _with_rank(rank: int, sentence: str) -> str:
    head = f"rank {rank}"
    return f"{head} stopped." if not sentence else sentence if sentence.startswith(head) else f"{head}: {sentence}"


def _all_ranks_are_here() -> bool:
    """Whether every rank of the job reaches this point within a short time. Needs mpi4py; False without it."""
    try:
        from mpi4py import MPI
    except Exception:  # without a working mpi4py the ranks cannot agree
        return False
    from halocline import _halocline

    request = MPI.COMM_WORLD.Ibarrier()
    deadline = time.monotonic() + (SECONDS_TO_SPEAK if _halocline.comm.gave_up_waiting() else SECONDS_TO_AGREE)
    while not request.Test():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def _mpi_runs() -> bool:
    """Whether MPI has started and not ended. Needs mpi4py; True without it, as this cannot be known."""
    try:
        from mpi4py import rc

        rc.initialize = False  # only query; MPI is started by halocline.comm
        from mpi4py import MPI

        return MPI.Is_initialized() and not MPI.Is_finalized()
    except Exception:
        return True


def _could_start_mpi(status: int, line: str) -> bool:
    """Starts MPI, which waits for all ranks. If they do not come in time, or the launcher ends this rank, prints the
    line and exits. False if MPI cannot be started, or this build has none."""
    from halocline import _halocline

    try:
        with _speaks_if_ended(status, line):
            _halocline.comm.world()
        return _mpi_runs()
    except Exception:
        return False


@contextlib.contextmanager
def _speaks_if_ended(status: int, line: str) -> Iterator[None]:
    """During the block, SIGTERM or SECONDS_TO_AGREE print the line and end the process. The main thread may wait
    outside of Python, where it runs no handler; so a second thread reads what the signal wrote."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    begun = signal.signal(signal.SIGTERM, lambda *_: None)
    wakeup = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    passed = threading.Event()

    def watch() -> None:
        select.select([heard], [], [], SECONDS_TO_AGREE)
        if not passed.is_set():
            print_error(line)
            os._exit(status)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        passed.set()
        os.write(told, b"\0")
        watcher.join()
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGTERM, begun)
        os.close(heard)
        os.close(told)
