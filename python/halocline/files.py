# SPDX-License-Identifier: Apache-2.0
"""Writes files whole or not at all, and locks output files so that one run at a time writes them.

A new file is written under the name `PATH.<8 hex digits>.partial` in the folder of PATH. Every write is checked, the
bytes are synced to disk, and only then does the file take the name PATH. A full disk or a killed process therefore
leaves the previous content of PATH. The name is random and the file is created exclusively, without following links, so
a file that another user placed there is never written to. A killed process leaves its partial file behind. The next
process that writes PATH removes it if it is ten minutes old and no process has locked it.

A run that writes one file over minutes or days holds `claimed(PATH)`, a lock that the operating system frees when the
process ends for any reason. The C++ writers follow the same rules: `halocline/core/new_file.hpp`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from halocline.comm import on_root
from halocline.errors import FileError, InvalidArgument

SECONDS_UNTIL_ABANDONED = 600.0
MOST_OF_A_NAME = 200
"""Number of bytes of the file's name that its partial file shares: names end at 255 bytes."""
NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
NOTHING_TO_SYNC = (errno.EINVAL, errno.EROFS)


def write_file(path: str | Path, content: str | bytes) -> None:
    """Writes a file whole or not at all; text is encoded as UTF-8. Raises FileError. Collective: no."""
    data = content.encode() if isinstance(content, str) else content
    with NewFile(path) as file:
        file.write(0, data)


class NewFile:
    """A file that takes its name if the `with` block ends without an error, and is removed otherwise."""

    def __init__(self, path: str | Path) -> None:
        """Creates the partial file. Raises FileError if PATH is not a regular file, or its folder is not writable."""
        self.path = Path(path)
        self.number = -1
        self.named = False
        try:
            if self.path.parent.resolve() == Path("/dev") or (self.path.exists() and not self.path.is_file()):
                raise FileError(f"{path}: exists and is not a regular file; name another.")
            _remove_abandoned(self.path)
            self._create()
        except FileError:
            raise
        except OSError as error:
            raise cannot_write(path, error) from None

    def _create(self) -> None:
        while True:
            self.beside = self.path.with_name(f"{_shared_name(self.path)}.{secrets.token_hex(4)}.partial")
            with contextlib.suppress(FileExistsError):
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self.number = os.open(self.beside, flags, 0o666)
                break
        take(self.number)

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Writes bytes at an offset. Raises OSError, which becomes a FileError at the end of the block."""
        rest = memoryview(data).cast("B")
        while rest:
            put = os.pwrite(self.number, rest, offset)
            if put <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest, offset = rest[put:], offset + put

    def read(self, offset: int, count: int) -> bytes:
        """Reads bytes that were written; fewer at the end of the file."""
        return os.pread(self.number, count, offset)

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._publish()
        except OSError as failure:
            error = failure
        finally:
            self._discard()
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise cannot_write(self.path, error) from None

    def _publish(self) -> None:
        _sync(self.number)
        number, self.number = self.number, -1
        os.close(number)  # some file systems report only here that the disk is full
        os.rename(self.beside, self.path)
        self.named = True
        with contextlib.suppress(OSError):  # sync the folder if possible, so that the name survives a power cut
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _discard(self) -> None:
        number, self.number = self.number, -1
        if number >= 0:
            with contextlib.suppress(OSError):
                os.close(number)
        if not self.named:
            with contextlib.suppress(OSError):
                self.beside.unlink()


def output_names(path: str, count: int) -> list[str]:
    """The names of `count` output files: `path` itself, or out_0000.lime, out_0001.lime, ... for several."""
    p = Path(path)
    return [str(p.with_name(f"{p.stem}_{i:04d}{p.suffix}")) for i in range(count)] if count > 1 else [path]


def refuse_existing(group: Any, paths: Iterable[str | Path], overwrite: bool) -> None:
    """Refuses existing files unless they may be replaced. Call before the work, so that none is lost.

    Raises InvalidArgument on every rank. Collective over group.
    """

    def look() -> None:
        for path in paths:
            if not overwrite and Path(path).exists():
                raise InvalidArgument(f"{path} is already there; name another file, or replace it with --overwrite.")

    on_root(group, look)


def cannot_write(path: str | Path, error: BaseException) -> FileError:
    """The error for a file that could not be written; its previous content is unchanged."""
    reason = getattr(error, "strerror", None) or str(error).strip().split("\n")[0]
    with contextlib.suppress(OSError):
        reason += f" ({shutil.disk_usage(Path(path).parent).free} bytes are free there)"
    kept = "; what it held before is kept" if os.path.lexists(path) else ""
    return FileError(f"{path}: cannot be written: {reason}{kept}.")


def make_folder_of(path: str | Path) -> None:
    """Creates the folder of an output file. Raises FileError. Collective: no."""
    folder = Path(path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made a folder: {error.strerror}.") from None


def _sync(number: int) -> None:
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in NOTHING_TO_SYNC:
            raise


def _shared_name(path: Path) -> str:
    return os.fsdecode(os.fsencode(path.name)[:MOST_OF_A_NAME])


def _remove_abandoned(path: Path) -> None:
    """Removes partial files of PATH whose process is gone: owned by this user, old, and not locked."""
    pattern = re.compile(re.escape(_shared_name(path)) + r"\.[0-9a-f]{8}\.partial")
    with contextlib.suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(path.parent)):
            with contextlib.suppress(OSError):
                _remove_if_abandoned(path.with_name(name))


def _remove_if_abandoned(beside: Path) -> None:
    number = os.open(beside, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(number)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if ours and time.time() - status.st_mtime > SECONDS_UNTIL_ABANDONED and take(number):
            beside.unlink()
    finally:
        os.close(number)


def take(number: int) -> bool:
    """Locks an open file. False if another process holds the lock; True also if the file system has no locks."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS_HERE:
            raise
    return True


def open_lock(path: Path) -> int:
    """Opens a lock file of this user, and creates it if needed. Returns its descriptor. Raises FileError.

    Does not follow or write to anything that another user, or another program, has put in its place.
    """
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = "it is a link; remove it" if error.errno == errno.ELOOP else error.strerror
        raise FileError(f"{path}: this lock file cannot be opened ({reason}).") from None
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink > 1:
        os.close(number)
        raise FileError(f"{path}: is no lock file of yours, though it has its name; remove what is there.")
    return number


@contextlib.contextmanager
def claimed(path: str | Path) -> Iterator[None]:
    """During the block, no other run of this user that also claims `path` can write it.

    The lock is on the file `PATH.<user id>.lock`. The operating system frees it when the process ends; the end of the
    block removes the file. If the file system has no locks, the block runs without one. Raises InvalidArgument, which
    names the holder, if another run holds the lock; FileError if the lock file cannot be opened. For one process of a
    group.
    """
    path = Path(path)
    make_folder_of(path)
    lock = path.with_name(f"{_shared_name(path)}.{os.geteuid()}.lock")
    while True:
        number = open_lock(lock)
        try:
            if not take(number):
                holder = os.pread(number, 200, 0).decode(errors="replace").strip() or "an unknown process"
                raise InvalidArgument(
                    f"{path} is being written by another run ({holder}); wait for it, or name another [output] file."
                )
            if _is_still_there(number, lock):  # the previous holder may have removed it while we opened it
                with contextlib.suppress(OSError):  # a full disk stores no text, but the lock still works
                    os.ftruncate(number, 0)
                    os.pwrite(number, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
                break
        except BaseException as error:
            os.close(number)
            if isinstance(error, OSError) and not isinstance(error, FileError):
                raise cannot_write(lock, error) from None
            raise
        os.close(number)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(number)


@contextlib.contextmanager
def claimed_for(group: Any, path: str | Path) -> Iterator[None]:
    """The first process holds `claimed` for all of a group. Collective; raises on every process."""
    with contextlib.ExitStack() as held:
        on_root(group, lambda: held.enter_context(claimed(path)))
        yield


def _is_still_there(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False


Stamp = tuple[int, int, int, int]


def stamp_of(path: str | Path) -> Stamp | None:
    """Identifies the state of a file, to detect a change since it was read or written; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
