# SPDX-License-Identifier: Apache-2.0
"""The pool of work in a folder, its groups played by threads and by hand."""

import threading
import time

import pytest
from halocline.work_pool import (
    Ending,
    Failure,
    Logs,
    WorkPool,
    begin,
    create_whole,
    earlier_results,
    end,
    remove,
    results,
    wait_for_the_end,
)

import halocline as hc
from halocline import work_pool


@pytest.fixture
def pools(tmp_path):
    """pools(groups, items): a pool for each group; all hearts stop at the end."""
    made = []

    def make(groups, items, limit=60.0):
        folder = begin(tmp_path / "run.groups")
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


def test_an_error_while_a_lost_group_is_noticed_leaves_its_items_to_the_next_look(pools, monkeypatch):
    a, b = pools(2, 1, limit=0.05)
    assert b.next(never) == 0
    b.close()
    monkeypatch.setattr(work_pool, "write_file", lambda path, text: 1 / 0)  # such as a full disk
    with pytest.raises(ZeroDivisionError):
        while True:
            a.notice_lost(a._names())
    monkeypatch.undo()
    assert a.lost() == {}
    assert a.next(never) == 0
    assert a.lost().keys() == {1} and a.gone_groups() == {1}


def test_a_group_that_was_lost_and_wakes_up_takes_no_more_and_holds_nothing(pools):
    a, b = pools(2, 2)
    assert b._claimed(set()) == 0
    a._fail_items_of(1, a._names(), "planted")
    (a.folder / "group0001.lost").write_text("planted")
    assert b._claimed(a._names()) == 1  # between its look and its claim it was declared lost
    assert b.next(never) is None
    assert sorted((a.next(never), a.next(never))) == [0, 1]
    assert [f.reason for f in a.failures(1)] == ["group 1 is lost"]


def test_a_failure_that_cannot_be_read_yet_is_left_alone(pools):
    a, b = pools(2, 1)
    assert a.next(never) == 0
    (a.folder / "000000.failed").touch()
    assert b._claimed(b._names()) is None
    a.failed(0, Failure(0, 0, "Error", "planted"))
    assert b._claimed(b._names()) == 0


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_created_whole_by_one_alone(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(work_pool.os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links")))
    assert create_whole(tmp_path / "one", "7") and not create_whole(tmp_path / "one", "8")
    assert [p.name for p in tmp_path.iterdir()] == ["one"] and (tmp_path / "one").read_text() == "7"


def test_lines_that_a_full_disk_cut_off_are_left_out(tmp_path):
    (tmp_path / "group0001.log").write_bytes(b'{"line": "a"}\n{"li{"line": "b"}\n[1]\n\xff\n{"warning": "c"}\n{"line"')
    assert Logs(tmp_path, [1]).new_lines() == [{"line": "a"}, {"warning": "c"}]


def test_a_folder_with_other_files_is_not_emptied(tmp_path):
    folder = tmp_path / "run.groups"
    place = begin(folder)
    for name in ("000003.claim2", "000003.result.0123abcd.partial", "group0001.log", "choice.turn1", "000007.result"):
        (place / name).touch()
    (folder / ".nfs00000000deadbeef").touch()
    assert results(place).keys() == {7} and earlier_results(folder) == [place / "000007.result"]
    second = begin(folder, keep=True)
    assert [p.name for p in place.iterdir()] == ["000007.result"] and second != place
    third = begin(folder)
    assert {p.name for p in folder.iterdir()} == {third.name, ".nfs00000000deadbeef"}
    (folder / ".nfs00000000deadbeef").unlink()
    for where in (folder, third):
        (where / "thesis.tex").touch()
        (third / "stop").touch()
        with pytest.raises(hc.FileError, match="holds thesis.tex, which is of no run in groups"):
            begin(folder)
        remove(folder)
        assert (third / "stop").exists()
        (where / "thesis.tex").unlink()
    remove(folder)
    assert not folder.exists() and earlier_results(folder) == []


def test_a_folder_that_cannot_be_read_has_not_no_results(tmp_path):
    with pytest.raises(hc.FileError, match="cannot be read"):
        results(tmp_path / "absent")


def test_processes_wait_for_the_end_only_while_the_first_one_lives(pools):
    a, _ = pools(2, 1, limit=0.3)
    end(a.folder, Ending("Error", "planted", True))
    assert wait_for_the_end(a.folder, 0.3) == Ending("Error", "planted", True)
    (a.folder / "finished").unlink()
    a.close()
    with pytest.raises(hc.Error, match="rank 0 has shown no sign of life"):
        wait_for_the_end(a.folder, 0.3)
