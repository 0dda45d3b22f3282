# SPDX-License-Identifier: Apache-2.0
"""Runs without room: full disks, folders where nothing can be written, a small /dev/shm, and two runs on one output."""

import os
import resource
import shutil
import time

import pytest
from faulty_runs import JOBS, write_run

NAMES = ("spectrum", "solve", "ground-state", "propagate")

IN_A_MOUNT = """
mkdir -p room kept && mount {mount} room && cp -r seed/. room/ && {then} && "$@"
status=$?
cp -r room/. kept/
exit $status
"""
"""Runs a command where the folder `room` is a mount of its own, and keeps what it leaves there in `kept`."""


def wrapped(mount, then="true"):
    return ("unshare", "-m", "bash", "-c", IN_A_MOUNT.format(mount=mount, then=then), "-")


def seeded(job, prepared, folder):
    """The folder `seed` with what the command begins from; its size in KiB, in whole pages."""
    (folder / "seed").mkdir()
    prepared(job, folder / "seed")
    return sum(4 * (path.stat().st_size // 4096 + 1) for path in (folder / "seed").iterdir())


def assert_refused_and_nothing_lost(run, folder, path):
    """Exit status 2 with a sentence; what was there is there, what is new can be read, and nothing is half-written."""
    assert run.status() == 2, run.text()
    sentences = run.sentences()
    assert len(sentences) == 1 and path in sentences[0], run.text()
    assert any(words in sentences[0] for words in ("written", "do not fit", "did not reach the disk")), run.text()
    kept = {path.name: path.read_bytes() for path in (folder / "kept").iterdir()}
    for path in (folder / "seed").iterdir():
        assert kept[path.name] == path.read_bytes()
    assert not [name for name in kept if not name.endswith((".h5", ".orbitals", ".lime", ".log"))]
    run.job.results(folder / "kept")


@pytest.mark.parametrize(
    ("name", "ranks", "more"),
    [*((name, 0, kib) for name in NAMES for kib in (8, 24)), ("spectrum", 2, 8), ("propagate", 2, 8)],
)
def test_a_full_disk_is_said_in_a_sentence_and_costs_no_file(name, ranks, more, mounts, prepared, started, tmp_path):
    """With room for nothing, and for the results of the first configuration; more: KiB beyond what is there."""
    job = JOBS[name]
    room = seeded(job, prepared, tmp_path) + more
    write_run(job, tmp_path, 3, into="room/")
    run = started(job, tmp_path, ranks, wrapped(f"-t tmpfs -o size={room}k none"), "room/")
    assert_refused_and_nothing_lost(run, tmp_path, "room/out")


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_on_the_size_of_files_is_said_in_a_sentence(name, prepared, started, tmp_path, monkeypatch):
    """Without root: files may have as many bytes as the ones to begin from, and no more than 4 KiB otherwise."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # it would be cut off
    job = JOBS[name]
    seeded(job, prepared, tmp_path)
    shutil.copytree(tmp_path / "seed", tmp_path / "kept")
    most = 4096 if name != "propagate" else 6000
    write_run(job, tmp_path, 3, into="kept/")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limit[1]))
    try:
        run = started(job, tmp_path, into="kept/")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert_refused_and_nothing_lost(run, tmp_path, "kept/out")


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_that_takes_no_file_is_refused_before_any_work(name, mounts, prepared, started, tmp_path):
    job = JOBS[name]
    seeded(job, prepared, tmp_path)
    write_run(job, tmp_path, into="room/")
    begun = time.monotonic()
    run = started(job, tmp_path, 2, wrapped("-t tmpfs none", "mount -o remount,ro room"), "room/")
    assert_refused_and_nothing_lost(run, tmp_path, "room/out")
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("kib", [0, 256])
@pytest.mark.parametrize("name", ["spectrum", "propagate"])
def test_a_small_shared_memory_changes_no_result(name, kib, mounts, prepared, started, tmp_path_factory):
    """MPI keeps its own memory in a folder: here only what Halocline shares between processes has no room.

    The run has the same result, or says in a sentence that /dev/shm is small.
    """
    job, found = JOBS[name], []
    small = f"mount -t tmpfs -o size={max(kib, 4)}k none /dev/shm" + (" && echo > /dev/shm/full" if kib == 0 else "")
    for wrap in (("bash", "-c", '"$@"', "-"), ("unshare", "-m", "bash", "-c", f'{small}; "$@"', "-")):
        folder = tmp_path_factory.mktemp("shm")
        prepared(job, folder)
        write_run(job, folder, 3)
        run = started(job, folder, 2, (*wrap, "env", "OMPI_MCA_btl_vader_backing_directory=/tmp"))
        if run.status() != 0 and found:
            sentences = run.sentences()
            assert len(sentences) == 1 and "/dev/shm" in sentences[0], run.text()
            return
        assert not run.sentences(), run.text()
        found.append(job.results(folder))
    assert found[0]
    for result, expected in found[1].items():
        assert expected == pytest.approx(found[0][result], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("transport", ["shared_memory", "hybrid", "mpi_rma"])
def test_a_transport_without_room_in_shared_memory_is_refused_in_a_sentence(transport, mounts, started, tmp_path):
    job = JOBS["ground-state"]
    write_run(job, tmp_path, 3, parallel=f'transport = "{transport}"')
    small = "mount -t tmpfs -o size=4k none /dev/shm && echo > /dev/shm/full"
    wrapped = ("unshare", "-m", "bash", "-c", f'{small}; "$@"', "-", "env", "OMPI_MCA_btl_vader_backing_directory=/tmp")
    run = started(job, tmp_path, 2, wrapped)
    assert run.status() == 2, run.text()
    (sentence,) = run.sentences()
    assert f"transport {transport} " in sentence and "/dev/shm" in sentence, run.text()
    assert sentence.count("rank ") <= 1, run.text()


@pytest.mark.parametrize("name", ["spectrum", "ground-state", "propagate"])
def test_the_second_of_two_runs_on_one_output_is_refused(name, prepared, started, tmp_path):
    job = JOBS[name]
    prepared(job, tmp_path)
    write_run(job, tmp_path)
    first = started(job, tmp_path)
    first.until_under_way()
    second = started(job, tmp_path)
    assert second.status() == 2, second.text()
    sentences = second.sentences()
    assert len(sentences) == 1 and "out" in sentences[0], second.text()
    assert first.process.poll() is None, first.text()
    os.kill(first.process.pid, 15)
    assert first.status() == 130
    job.results(tmp_path)
