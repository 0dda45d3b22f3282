# SPDX-License-Identifier: Apache-2.0
"""A pool of work for groups of processes, kept in a folder that all of them see.

Each item of the work has a number. A free group claims an item by creating a file, which the file system lets exactly
one of them do. The result of an item is a file too, written whole. So no group waits for a process that computes, no
process has to answer messages, and what was finished before a kill is on disk. The first process of a group without
work looks at the folder a few times a second and sleeps between (docs/design/0029-groups.md).

Every run has a folder of its own, with a random name, in the folder of the result. So a process of an earlier run that
wakes up late cannot put anything into the pool of this one. Files of a run:

    000012.claim    the number of the group that took the item; 000012.claim2 of the one that repeats it
    000012.failed   JSON: group, rank, kind, reason of the first failure; 000012.failed2 of the second, which is final
    000012.result   the result
    group0003.life  touched by the group's first process as long as it is alive
    group0003.left  the group came to its end in order; group0003.lost: its processes cannot work together any more
    group0003.log   lines that the first process of the run prints for it
    choice, choice.turn1, choice.back1  of kind = "auto" (qcd/group_choice.py)
    stop            the run was asked to stop
    finished        JSON: how the run ended; no process looks at the folder after it has read this

An item that failed goes back once, to another group where there is one. A group that shows no sign of life for the time
limit counts as lost, and its item as failed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from halocline.errors import Error, FileError
from halocline.files import cannot_write, write_file

SHORTEST_SLEEP, LONGEST_SLEEP = 0.02, 0.5
BEATS_A_LIMIT = 8
SLOWEST_BEAT = 10.0
ATTEMPTS = ("", "2")
"""What follows "claim" and "failed" in the names of the first and the second attempt."""
NO_LINKS_HERE = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EMLINK, errno.EXDEV)


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why an item failed."""

    group: int
    rank: int
    kind: str
    """The name of a class of halocline.errors."""
    reason: str


@dataclasses.dataclass(frozen=True)
class Ending:
    """How the run ended, for all of its processes."""

    kind: str
    """The name of a class of halocline.errors, or empty."""
    sentence: str
    lost: bool
    """Whether some processes cannot take part in anything collective any more."""


def create_whole(path: Path, text: str) -> bool:
    """Creates a file with this text; False if there is one already. No process ever sees a part of the text.

    The file is written beside and linked, because a link is made by exactly one process, also on NFS and Lustre. Where
    the file system has no links, the file is created by O_EXCL and then written. Raises FileError. Collective: no.
    """
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        try:
            beside.write_text(text)
            os.link(beside, path)
            return True
        except FileExistsError:
            return os.stat(beside).st_nlink == 2  # NFS repeats a request whose answer was lost
        except OSError as error:
            if error.errno not in NO_LINKS_HERE:
                raise
        finally:
            beside.unlink(missing_ok=True)
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            return False
        try:
            with open(number, "w") as file:
                file.write(text)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return True
    except OSError as error:
        raise cannot_write(path, error) from None


class Heart:
    """Touches a file in a thread of its own, so that others see that this process is alive."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path, self._seconds, self._end = path, seconds, threading.Event()
        path.touch()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._end.wait(self._seconds):
            with contextlib.suppress(OSError):
                os.utime(self._path)

    def stop(self) -> None:
        self._end.set()
        self._thread.join()


def beat_of(path: Path) -> int:
    """When a sign of life was touched last, by the clock of the file system; -1 where there is none yet.

    The file is opened, because NFS answers a mere `stat` from a cache that may be a minute old.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.fstat(number).st_mtime_ns
        finally:
            os.close(number)
    except OSError:
        return -1


class WorkPool:
    """The pool as the first process of one group uses it. Nothing here is collective."""

    def __init__(self, folder: str | Path, group: int, groups: int, limit: float, order: Sequence[int]) -> None:
        """group: the number of this one, of `groups`; limit: seconds without a sign of life until a group is lost
        order: the items in the order in which this group prefers them; of the same items for all groups
        """
        self.folder, self.group, self.groups, self.limit = Path(folder), group, groups, limit
        self.order = list(order)
        self._at = 0
        self._attempts: dict[int, str] = {}
        self._seen: dict[int, tuple[int, float]] = {}
        self._heart = Heart(self._of_group(group, "life"), min(limit / BEATS_A_LIMIT, SLOWEST_BEAT))

    def _of_item(self, item: int, what: str) -> Path:
        return self.folder / f"{item:06d}.{what}"

    def _of_group(self, group: int, what: str) -> Path:
        return self.folder / f"group{group:04d}.{what}"

    def _names(self) -> set[str]:
        try:
            return set(os.listdir(self.folder))
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be read: {error.strerror}.") from None

    # ---- claims

    def next(self, stopping: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> int | None:
        """An item for this group, or None when all items are settled or the run is to stop. Waits for items that other
        groups may yet fail to finish.

        stopping: whether this process was asked to stop; meanwhile: called between two looks at the folder
        """
        sleep = SHORTEST_SLEEP
        while True:
            if stopping():
                self.ask_to_stop()
            names = self._names()
            if "stop" in names or f"group{self.group:04d}.lost" in names:  # it slept too long, others do its work
                return None
            item = self._claimed(names)
            if item is not None:
                return item
            if all(self._settled(item, names) for item in self.order):
                return None
            self.notice_lost(names)
            meanwhile()
            time.sleep(sleep)
            sleep = min(1.2 * sleep, LONGEST_SLEEP)

    def _claimed(self, names: set[str]) -> int | None:
        while self._at < len(self.order):
            item = self.order[self._at]
            self._at += 1
            if f"{item:06d}.claim" not in names and create_whole(self._of_item(item, "claim"), str(self.group)):
                self._attempts[item] = ATTEMPTS[0]
                return item
        others = any(not self._gone(g, names) for g in range(self.groups) if g != self.group)
        for item in self.order:
            name = f"{item:06d}"
            if f"{name}.failed" not in names or f"{name}.claim2" in names:
                continue
            found = self.failures(item)
            if not found or (found[0].group == self.group and others):  # not readable yet, or better done by another
                continue
            if not create_whole(self._of_item(item, "claim2"), str(self.group)):
                continue
            self._attempts[item] = ATTEMPTS[1]
            return item
        return None

    @staticmethod
    def _settled(item: int, names: set[str]) -> bool:
        return f"{item:06d}.result" in names or f"{item:06d}.failed2" in names

    def _gone(self, group: int, names: set[str]) -> bool:
        return f"group{group:04d}.lost" in names or f"group{group:04d}.left" in names

    # ---- ends of an item

    def result(self, item: int) -> Path:
        """Where the result of an item is put, by writing the file whole."""
        return self._of_item(item, "result")

    def failed(self, item: int, failure: Failure) -> None:
        """Gives an item of this group back, with the reason."""
        self._fail(item, self._attempts[item], failure)

    def _fail(self, item: int, attempt: str, failure: Failure) -> None:
        write_file(self._of_item(item, f"failed{attempt}"), json.dumps(dataclasses.asdict(failure)))

    def failures(self, item: int) -> list[Failure]:
        """Why an item failed: nothing, once or twice."""
        found = []
        for attempt in ATTEMPTS:
            with contextlib.suppress(OSError, ValueError, TypeError):
                found.append(Failure(**json.loads(self._of_item(item, f"failed{attempt}").read_text())))
        return found

    # ---- groups

    def leave(self, reason: str | None = None) -> None:
        """This group takes no more items; reason: why its processes cannot work together any more, if so."""
        write_file(self._of_group(self.group, "left" if reason is None else "lost"), reason or "")

    def lost(self) -> dict[int, str]:
        """The groups that are lost, with the reasons."""
        paths = ((g, self._of_group(g, "lost")) for g in range(self.groups))
        return {g: path.read_text(errors="replace") for g, path in paths if path.exists()}

    def gone_groups(self) -> set[int]:
        """The other groups that have left or are lost; notices lost ones."""
        names = self._names()
        self.notice_lost(names)
        return {g for g in range(self.groups) if g != self.group and self._gone(g, names)}

    def others_are_gone(self) -> bool:
        """Whether every other group has left or is lost."""
        return len(self.gone_groups()) == self.groups - 1

    def notice_lost(self, names: set[str]) -> None:
        """Declares the items failed of groups whose sign of life is older than the limit, and then these groups lost.

        A lost group may wake up and hold an item once more before it sees that it is lost, so this looks at lost groups
        again.
        """
        now = time.monotonic()
        for group in range(self.groups):
            if group == self.group:
                continue
            if self._gone(group, names):
                if f"group{group:04d}.lost" in names:
                    self._fail_items_of(group, names, f"group {group} is lost")
                continue
            beat = beat_of(self._of_group(group, "life"))
            before, since = self._seen.get(group, (None, now))
            if beat != before:
                self._seen[group] = (beat, now)
            elif now - since > self.limit:
                reason = f"group {group} has shown no sign of life for {self.limit:g} s"
                self._fail_items_of(group, names, reason)
                write_file(self._of_group(group, "lost"), reason)

    def _fail_items_of(self, group: int, names: set[str], reason: str) -> None:
        for item, attempt in self._held_by(group, names):
            self._fail(item, attempt, Failure(group, -1, "Error", reason))

    def _held_by(self, group: int, names: set[str]) -> list[tuple[int, str]]:
        """The items, and the attempts at them, that a group has claimed and not finished."""
        held = []
        for item in self.order:
            name = f"{item:06d}"
            if f"{name}.claim" not in names or self._settled(item, names):
                continue
            attempt = ATTEMPTS[1 if f"{name}.claim2" in names else 0]
            if f"{name}.failed{attempt}" in names:
                continue
            with contextlib.suppress(OSError):  # not readable yet: the next look tries again
                # Empty: this group, perhaps, died before it could write its number, where there are no links.
                if self._of_item(item, f"claim{attempt}").read_text() in (str(group), ""):
                    held.append((item, attempt))
        return held

    # ---- the run

    def close(self) -> None:
        """This process gives no more signs of life."""
        self._heart.stop()

    def ask_to_stop(self) -> None:
        """Lets every group end at its next safe point. Raises FileError."""
        try:
            (self.folder / "stop").touch()
        except OSError as error:
            raise cannot_write(self.folder / "stop", error) from None

    def stop_is_asked(self) -> bool:
        return (self.folder / "stop").exists()


RUN = re.compile(r"run-[0-9a-f]{16}")
"""The name of the folder of a run."""
OURS = re.compile(
    r"(\d+\.(claim2?|failed2?|result)|group\d+\.(life|left|lost|log)|stop|finished|choice(\.(turn|back)\d+)?)"
    r"(\.[0-9a-f]{8}\.partial)?"
)
"""The names of a pool's files, and of those that a killed process was writing."""
LEFT_BY_NFS = re.compile(r"\.nfs[0-9a-f]+")
"""A file that was removed while a process had it open; NFS removes it when that process ends."""


def begin(folder: str | Path, keep: bool = False) -> Path:
    """Makes a folder for a new pool in `folder`, and returns it; what earlier runs left there is removed.

    keep: the results of earlier runs stay
    Raises FileError, also for a folder that holds other files. For one process, before any group looks.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder, keep)
        place = folder / f"run-{secrets.token_hex(8)}"
        place.mkdir()
        return place
    except FileError:
        raise
    except OSError as error:
        raise cannot_write(folder, error) from None


def _files_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not LEFT_BY_NFS.fullmatch(path.name)]


def _clear(folder: Path, keep: bool) -> None:
    """Removes the folders of all runs, but not results if `keep`. Raises FileError before anything is removed if there
    is something else."""
    runs = _files_in(folder)
    files = [file for run in runs if RUN.fullmatch(run.name) and run.is_dir() for file in _files_in(run)]
    others = [p.name for p in runs if not (RUN.fullmatch(p.name) and p.is_dir())]
    others += [file.name for file in files if not OURS.fullmatch(file.name)]
    if others:
        raise FileError(f"{folder}: holds {others[0]}, which is of no run in groups; move it elsewhere.")
    for file in files:
        if not (keep and file.suffix == ".result"):
            file.unlink(missing_ok=True)
    for run in runs:
        with contextlib.suppress(OSError):  # results are kept in it
            run.rmdir()


def remove(folder: str | Path, keep: bool = False) -> None:
    """Removes the folder of the pools of a result. For one process, when no other one looks at it.

    keep: results stay, and the folders that hold them
    """
    with contextlib.suppress(OSError, Error):
        _clear(Path(folder), keep)
        Path(folder).rmdir()


def results(place: str | Path) -> dict[int, Path]:
    """The results that are in the folder of a run, by item. Raises FileError."""
    try:
        found = sorted(name for name in os.listdir(place) if name.endswith(".result") and name[:-7].isdigit())
    except OSError as error:
        raise FileError(f"{place}: cannot be read: {error.strerror}.") from None
    return {int(name[:-7]): Path(place) / name for name in found}


def earlier_results(folder: str | Path) -> list[Path]:
    """The results that earlier runs have left. Raises FileError."""
    folder = Path(folder)
    if not folder.exists():
        return []
    try:
        runs = sorted(path for path in folder.iterdir() if RUN.fullmatch(path.name))
    except OSError as error:
        raise FileError(f"{folder}: cannot be read: {error.strerror}.") from None
    return [path for run in runs for path in results(run).values()]


def end(folder: str | Path, ending: Ending) -> None:
    """Tells all processes how the run ended. For one process."""
    write_file(Path(folder) / "finished", json.dumps(dataclasses.asdict(ending)))


def wait_for_the_end(folder: str | Path, limit: float) -> Ending:
    """How the run ended, once its first process has said so. Raises Error if that process shows no sign of life for
    `limit` seconds."""
    folder, sleep, seen, since = Path(folder), SHORTEST_SLEEP, 0, time.monotonic()
    while True:
        with contextlib.suppress(OSError, ValueError):  # it is not there, or cannot be read yet
            return Ending(**json.loads((folder / "finished").read_text()))
        beat = beat_of(folder / "group0000.life")
        if beat != seen:
            seen, since = beat, time.monotonic()
        elif time.monotonic() - since > limit:
            raise Error(f"rank 0 has shown no sign of life for {limit:g} s; what is finished is in {folder}.")
        time.sleep(sleep)
        sleep = min(1.2 * sleep, LONGEST_SLEEP)


class Logs:
    """The lines of all groups but the first, as the first process reads them."""

    def __init__(self, folder: str | Path, groups: Iterable[int]) -> None:
        self._at = {Path(folder) / f"group{group:04d}.log": 0 for group in groups}

    def new_lines(self) -> list[dict[str, Any]]:
        """What was written since the last call: {"line": ...} or {"warning": ...} each. A line that a full disk cut off
        is left out."""
        found = []
        for path, at in self._at.items():
            try:
                with open(path, "rb") as file:
                    file.seek(at)
                    whole = file.read().rpartition(b"\n")[0]
            except OSError:
                continue
            self._at[path] = at + len(whole) + 1 if whole else at
            for line in whole.splitlines():
                with contextlib.suppress(ValueError):
                    said = json.loads(line)
                    if isinstance(said, dict):
                        found.append({kind: said[kind] for kind in ("line", "warning") if kind in said})
        return found
