# SPDX-License-Identifier: Apache-2.0
"""The pool of work in a folder, its groups played by threads and by hand."""

import threading
import time

import pytest
from halocline.work_pool import Ending, Failure, WorkPool, begin, end, remove, results, wait_for_the_end

import halocline as hc


@pytest.fixture
def pools(tmp_path):
    """pools(groups, items): a pool for each group; all hearts stop at the end."""
    made = []

    def make(groups, items, limit=60.0):
        folder = tmp_path / "run.groups"
        begin(folder)
        made.extend(WorkPool(folder, g, groups, limit, list(range(items))) for g in range(groups))
        return made

    yield make
    for pool in made:
        pool.close()


def never():
    return False


def test_every_item_is_taken_by_one_group(pools):
    made = pools(4, 200)
    taken = [[] for _ in made]

    def work(pool, mine):
        while (item := pool.next(never)) is not None:
            mine.append(item)
            pool.result(item).write_text(str(pool.group))

    threads = [threading.Thread(target=work, args=pair) for pair in zip(made, taken, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(sum(taken, [])) == list(range(200))
    assert sorted(results(made[0].folder)) == list(range(200))


def test_an_item_that_fails_goes_to_another_group_and_is_final_the_second_time(pools):
    a, b = pools(2, 1)
    assert a.next(never) == 0
    a.failed(0, Failure(0, 0, "Error", "planted"))
    assert b.next(never) == 0
    b.failed(0, Failure(1, 3, "FileError", "planted again"))
    assert a.next(never) is None and b.next(never) is None
    assert [(f.group, f.rank, f.reason) for f in a.failures(0)] == [(0, 0, "planted"), (1, 3, "planted again")]


def test_the_last_group_repeats_its_own_failures(pools):
    a, b = pools(2, 1)
    assert a.next(never) == 0
    a.failed(0, Failure(0, 0, "Error", "planted"))
    b.leave("lost for this test")
    assert a.next(never) == 0
    assert a.lost() == {1: "lost for this test"}


def test_a_group_without_a_sign_of_life_is_lost_and_its_item_is_redone(pools):
    a, b = pools(2, 1, limit=0.4)
    assert b.next(never) == 0
    b.close()
    begun = time.monotonic()
    assert a.next(never) == 0
    assert time.monotonic() - begun > 0.4
    assert "no sign of life for 0.4 s" in a.lost()[1] and a.failures(0)[0].group == 1


def test_a_stop_ends_every_group(pools):
    a, b = pools(2, 3)
    assert a.next(never) == 0
    assert b.next(lambda: True) is None
    assert a.stop_is_asked() and a.next(never) is None


def test_a_folder_with_other_files_is_not_emptied(tmp_path):
    folder = tmp_path / "run.groups"
    begin(folder)
    for name in ("000003.claim2", "000003.result.0123abcd.partial", "group0001.log", "choice.turn"):
        (folder / name).touch()
    begin(folder)
    assert list(folder.iterdir()) == []
    (folder / "thesis.tex").touch()
    (folder / "stop").touch()
    with pytest.raises(hc.FileError, match="holds thesis.tex, which is of no run in groups"):
        begin(folder)
    assert len(list(folder.iterdir())) == 2
    remove(folder)
    assert folder.exists()
    (folder / "thesis.tex").unlink()
    remove(folder)
    assert not folder.exists()


def test_processes_wait_for_the_end_only_while_the_first_one_lives(pools):
    a, _ = pools(2, 1, limit=0.3)
    end(a.folder, Ending("Error", "planted", True))
    assert wait_for_the_end(a.folder, 0.3) == Ending("Error", "planted", True)
    (a.folder / "finished").unlink()
    a.close()
    with pytest.raises(hc.Error, match="rank 0 has shown no sign of life"):
        wait_for_the_end(a.folder, 0.3)
