# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of one machine wait for each other."""

import os
import threading
import time

import pytest
from halocline.bench.lock import PATH, exclusive

from halocline import Error, FileError


def test_a_second_benchmark_is_refused_after_its_timeout(tmp_path):
    path = tmp_path / "lock"
    with exclusive(0, path):
        begun = time.monotonic()
        with pytest.raises(Error, match=f"process {os.getpid()}"), exclusive(0.2, path):
            raise AssertionError("two held the lock")
        assert time.monotonic() - begun >= 0.2
    with exclusive(0, path):
        pass


def test_a_second_benchmark_waits_for_the_first(tmp_path):
    path = tmp_path / "lock"
    holding, ended = threading.Event(), []

    def first() -> None:
        with exclusive(0, path):
            holding.set()
            time.sleep(0.2)
            ended.append(time.monotonic())

    thread = threading.Thread(target=first)
    thread.start()
    assert holding.wait(10)
    with exclusive(30, path):
        assert ended and time.monotonic() >= ended[0]
    thread.join()


def test_the_lock_is_freed_by_an_error(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), exclusive(0, path):
        raise ZeroDivisionError
    with exclusive(0, path):
        pass


def test_nothing_planted_in_its_place_is_written_to(tmp_path):
    """In a folder that everybody may write to: a link, a hard link and a pipe under the lock's name."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "link").symlink_to(precious)
    os.link(precious, tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "hard", "pipe"):
        with pytest.raises(FileError, match="lock of the benchmarks"), exclusive(0, tmp_path / name):
            pass
    assert precious.read_text() == "mine"


def test_each_user_has_a_lock():
    assert str(os.geteuid()) in PATH.name


def test_a_lock_that_cannot_be_opened_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="lock of the benchmarks"), exclusive(0, tmp_path / "absent" / "lock"):
        pass
