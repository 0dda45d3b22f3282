# SPDX-License-Identifier: Apache-2.0
"""A run whose processes are divided into groups, which take items of work as they become free.

Each group has a communicator of its own, and its first process takes items from a pool in a folder (work_pool.py). The
first process of the run also collects the results, whenever its own work reports progress, and prints for all groups.

After each item the processes of a group agree on how it went, over a communicator that the work does not use, so that
no half-finished operation can disturb it. If they cannot agree within the time limit, the group is lost: it takes no
more items, and its processes wait for the end of the run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from halocline import _halocline, errors, work_pool
from halocline.comm import gave_up_waiting, on_root, self_alone
from halocline.errors import Error, Interrupted, InvalidArgument
from halocline.reporter import Advance, Reporter
from halocline.work_pool import Ending, Failure, Logs, WorkPool

SECONDS_BETWEEN_LOOKS = 1.0
LARGEST_SHARE_OF_COLLECTING = 0.1
"""Of the time of the first process. Results that are not collected yet are on disk nevertheless."""


def check_groups(world: Any, groups: int) -> None:
    """Raises InvalidArgument unless the processes can be divided into so many groups of equal size. Not collective."""
    n = world.size
    if n % groups == 0:
        return
    fitting = [d for d in range(1, n + 1) if n % d == 0]
    near = sorted(sorted(fitting, key=lambda d: abs(d - groups))[:3])
    raise InvalidArgument(
        f"[parallel] groups = {groups} does not divide the {n} process{'es' if n > 1 else ''} of this run into groups "
        f"of equal size; give {' or '.join(map(str, near))}, or start a multiple of {groups} processes."
    )


class GroupReporter(Reporter):
    """Passes lines of the first group on, and keeps those of others for the first process in a file of the pool."""

    def __init__(self, inner: Reporter, group: int, speaks: bool) -> None:
        """inner: the reporter of the run; speaks: whether this process is the first of its group"""
        self.inner, self.group, self.speaks = inner, group, speaks
        self.folder: Path | None = None
        self.tick: Callable[[], None] = lambda: None
        self.is_quiet = False
        self._looked = 0.0
        self._stop = False

    def line(self, text: str) -> None:
        self._say("line", text)

    def warning(self, text: str) -> None:
        self._say("warning", text)

    def _say(self, kind: str, text: str) -> None:
        if self.is_quiet or not self.speaks:
            return
        if self.group == 0:
            getattr(self.inner, kind)(f"group 0: {text}")
        elif self.folder is not None:
            with contextlib.suppress(OSError), open(self.folder / f"group{self.group:04d}.log", "a") as file:
                file.write(json.dumps({kind: f"group {self.group}: {text}"}) + "\n")

    @contextlib.contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Advance]:
        if self.group == 0:
            with self.inner.stage(f"group 0: {name}", total) as inner:

                def advance(done: float, words: str) -> None:
                    inner(done, words)
                    self.tick()

                yield advance
            return
        begun, said = time.monotonic(), ""

        def remember(done: float, words: str) -> None:
            nonlocal said
            said = words

        yield remember
        self.line(f"{name}: {said + ', ' if said else ''}{time.monotonic() - begun:.1f} s")

    def stop_requested(self) -> bool:
        now = time.monotonic()
        if self.folder is not None and self.speaks and now - self._looked > SECONDS_BETWEEN_LOOKS:
            self._looked = now
            self._stop = self._stop or (self.folder / "stop").exists()
        return self._stop or self.inner.stop_requested()


class Groups:
    """The groups of a run, from the division of the processes to the end of their work.

    `mine` is the group of this process, `number` its number, `reporter` what its work reports to. Collective over
    `world`, as all methods.
    """

    def __init__(self, world: Any, groups: int, folder: str | Path, limit: float, reporter: Reporter) -> None:
        """folder: of the pools of this result; limit: [parallel] time_limit in seconds. Raises InvalidArgument if the
        groups are no equal parts of the processes."""
        check_groups(world, groups)
        self.world, self.count, self.folder, self.limit = world, groups, Path(folder), limit
        self.inner = reporter
        self.size = world.size // groups
        self.number = world.rank // self.size
        parts = [world.split(self.number) if self.size > 1 else self_alone() for _ in range(3)]
        self.mine, self._dealing, self._agreeing = parts
        _halocline.comm.set_time_limit(self._agreeing, limit)  # the others may wait for an item as long as it takes
        self.reporter = GroupReporter(reporter, self.number, self.mine.rank == 0)
        self._collect: Callable[[dict[int, Path]], None] = lambda _: None
        self._collected: set[int] = set()
        self._looked = self._took = 0.0
        self._pool: WorkPool | None = None
        self._collecting = False
        self._trouble: Error | None = None

    def earlier_results(self) -> list[Path]:
        """The results that earlier runs have left in the folder. For one process."""
        return work_pool.earlier_results(self.folder)

    def run(
        self,
        items: int,
        order: Sequence[int],
        work: Callable[[int], Callable[[Path], None]],
        collect: Callable[[dict[int, Path]], None],
        names: Callable[[int], str],
        stopped: str,
        spare: Callable[[], Iterable[Path]] | None = None,
    ) -> Ending:
        """Does all items, each by one group.

        items: how many there are; order: their numbers as this group prefers them
        work: does an item with the processes of this group; returns a function that writes the result whole, which the
        group's first process calls
        collect: takes results, by item, on the first process of the run; called several times
        names: what an item is called in sentences; stopped: the sentence of a run that was asked to stop
        spare: the files of results, of earlier runs too, that no run needs any more; the others are kept. None if no
        other run can use them
        Returns how the run ended. Only if nobody is lost may anything collective over `world` follow. Raises FileError.
        """
        self.place = Path(on_root(self.world, lambda: str(work_pool.begin(self.folder, spare is not None))))
        self._collect = collect
        self._logs = Logs(self.place, range(1, self.count))
        self.reporter.folder = self.place
        leads, first = self.mine.rank == 0, self.world.rank == 0
        if first:
            self.reporter.tick = self._tick
        self._pool = pool = WorkPool(self.place, self.number, self.count, self.limit, order) if leads else None
        self.world.barrier()
        try:
            reason = self._work_until_the_end(pool, work)
            if pool is not None:
                pool.leave(reason)
            if first:
                while not pool.others_are_gone():
                    self._tick()
                    time.sleep(work_pool.SHORTEST_SLEEP)
                work_pool.end(self.place, self._ending(items, names, stopped))
            ending = work_pool.wait_for_the_end(self.place, self.limit)
        finally:  # after an error of this process the others must not take it for alive
            if pool is not None:
                pool.close()
            self.reporter.folder = None
        if not ending.lost:
            self.world.barrier()
            if first:
                self.remove_folder(spare)
        return ending

    def remove_folder(self, spare: Callable[[], Iterable[Path]] | None = None) -> None:
        """Removes the folder of the pools; with `spare` those results stay that are none of these. For the first
        process, when no other one looks at it."""
        if spare is not None:
            for path in spare():
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
        work_pool.remove(self.folder, keep=spare is not None)

    def notice_lost(self) -> set[int]:
        """The other groups that are lost or have left. For the first process of a group, while items are done."""
        assert self._pool is not None
        return self._pool.gone_groups()

    def _work_until_the_end(self, pool: WorkPool | None, work: Callable[[int], Callable[[Path], None]]) -> str | None:
        """Does items until there are none; the reason if the processes of this group cannot work together any more."""
        while True:
            item, trouble = -1, ""
            if pool is not None:
                try:
                    found = pool.next(self.reporter.stop_requested, self.reporter.tick)
                    item = -1 if found is None else found
                except Exception as error:
                    trouble = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            item, trouble = json.loads(self._dealing.broadcast(json.dumps([item, trouble]).encode(), 0))
            if item < 0:
                return trouble or None
            agreed = self._agreed(self._attempt(item, work))
            if agreed is None:
                continue
            if agreed.kind == "Interrupted":
                if pool is not None:
                    pool.ask_to_stop()
                continue
            lost = agreed.kind == "lost"
            if pool is not None:
                pool.failed(item, dataclasses.replace(agreed, kind="Error") if lost else agreed)
                self.reporter.warning(f"{self._said(agreed)}; the work goes back to the pool")
            if lost:
                return agreed.reason

    def _attempt(self, item: int, work: Callable[[int], Callable[[Path], None]]) -> Failure | None:
        try:
            self._agreeing.barrier()  # within the time limit; the work may begin by waiting without one
            write = work(item)
            if self._pool is not None:
                write(self._pool.result(item))
        except Exception as error:
            named = type(error).__name__
            known = isinstance(error, Error) and hasattr(errors, named)
            reason = str(error) if known else f"{named}: {error}"
            return Failure(self.number, self.world.rank, named if known else "Error", reason)
        return None

    def _agreed(self, mine: Failure | None) -> Failure | None:
        """What the processes of the group agree on: the failure of the first one that failed, or None."""
        if gave_up_waiting():
            return dataclasses.replace(
                mine or Failure(self.number, self.world.rank, "", "gave up waiting"), kind="lost"
            )
        try:
            said = self._agreeing.gather((json.dumps(mine and dataclasses.asdict(mine)) + "\n").encode(), 0)
            first = next((one for one in map(json.loads, said.splitlines()) if one), None)
            agreed = json.loads(self._agreeing.broadcast(json.dumps(first).encode(), 0))
        except Error as error:
            return Failure(self.number, self.world.rank, "lost", mine.reason if mine else str(error))
        return Failure(**agreed) if agreed else None

    def _said(self, failure: Failure) -> str:
        where = f"rank {failure.rank}: " if failure.rank >= 0 and not failure.reason.startswith("rank ") else ""
        return f"{where}{failure.reason.rstrip('.')}"

    # ---- on the first process

    def _tick(self) -> None:
        """Called often; collects now and then."""
        now = time.monotonic()
        if now - self._looked > max(SECONDS_BETWEEN_LOOKS, self._took / LARGEST_SHARE_OF_COLLECTING):
            self._look()

    def _look(self) -> None:
        if self._collecting:
            return
        self._collecting = True
        begun = time.monotonic()
        try:
            for found in self._logs.new_lines():
                for kind, text in found.items():
                    getattr(self.inner, kind)(text)
            there = work_pool.results(self.place)
            new = {item: path for item, path in there.items() if item not in self._collected}
            if new:
                self._collect(new)
                self._collected |= new.keys()
            self._trouble = None
        except Exception as error:  # such as a full disk; the next look tries again
            known = isinstance(error, Error) and hasattr(errors, type(error).__name__)
            self._trouble = (
                error if known else Error(f"rank 0 cannot collect results: {type(error).__name__}: {error}.")
            )
        finally:
            self._looked = time.monotonic()
            self._took = self._looked - begun
            self._collecting = False

    def _ending(self, items: int, names: Callable[[int], str], stopped: str) -> Ending:
        """The end of the run, on the first process. It is without an error only if all results are collected."""
        self._look()
        pool = self._pool
        lost = pool.lost()
        if self._trouble is not None:
            return Ending(type(self._trouble).__name__, str(self._trouble), bool(lost))
        left = [item for item in range(items) if item not in self._collected]
        gone = "; ".join(f"group {g}{self._ranks_of(g)}: {why.rstrip('.')}" for g, why in lost.items())
        if not left:
            sentence = f"all {items} pieces of work are finished, but a group of processes was lost: {gone}."
            return Ending("Error", sentence, True) if lost else Ending("", "", False)
        failed = {item: pool.failures(item) for item in left}
        twice = {item: found for item, found in failed.items() if len(found) > 1}
        kinds = {found[1].kind for found in twice.values()}
        rest = len(left) - len(twice)
        told = self._told(twice, items, names, rest)
        if pool.stop_is_asked() and rest:
            return Ending("Interrupted", f"{stopped} Besides, {told}." if twice else stopped, bool(lost))
        if twice:
            more = f"; and a group of processes was lost: {gone}" if lost else ""
            return Ending(kinds.pop() if len(kinds) == 1 else "Error", f"{told}{more}.", bool(lost))
        of = f"{len(left)} of {items} pieces of work are left, which the same command does"
        why = f", but a group of processes was lost: {gone}" if lost else "; nothing says why"
        return Ending("Error", f"{of}{why}.", bool(lost))

    def _told(self, twice: dict[int, list[Failure]], items: int, names: Callable[[int], str], rest: int) -> str:
        """What failed twice and why; rest: how many others have no result."""
        told = "; ".join(
            f"{names(i)}: group {found[1].group}, {self._said(found[1])} (and before, in group {found[0].group}: "
            f"{'the same' if found[0].reason == found[1].reason else self._said(found[0])})"
            for i, found in list(twice.items())[:5]
        )
        more = f"; and {len(twice) - 5} more" if len(twice) > 5 else ""
        others = "the others are finished"
        if rest:
            others = f"{rest} other{'s are' if rest > 1 else ' is'} left, which the same command does"
        return f"{len(twice)} of {items} pieces of work failed twice, {others}: {told}{more}"

    def _ranks_of(self, group: int) -> str:
        """' (ranks 4 to 7 of the run)'; a group of one has no other numbers."""
        first = group * self.size
        return f" (ranks {first} to {first + self.size - 1} of the run)" if self.size > 1 else ""


def raise_ending(ending: Ending) -> None:
    """Raises the error with which a run ended, if it did."""
    if ending.kind == "Interrupted":
        raise Interrupted(ending.sentence)
    if ending.kind:
        raise getattr(errors, ending.kind)(ending.sentence)
