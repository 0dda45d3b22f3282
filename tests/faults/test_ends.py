# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, stopped or stalled: they end, lose nothing, and go on with the same result."""

import os
import signal

import numpy as np
import pytest
from faulty_runs import JOBS, ground_state, write_run

NAMES = ("spectrum", "solve", "ground-state", "propagate")


def begun(name, prepared, started, folder, **options):
    """A run on two ranks that is under way."""
    job = JOBS[name]
    prepared(job, folder)
    write_run(job, folder, **options)
    run = started(job, folder, ranks=2)
    run.until_under_way()
    return run


def finished(job, folder, amount, started):
    """The results of a run of `amount` that goes on from what is in the folder."""
    write_run(job, folder, amount)
    run = started(job, folder, ranks=2)
    assert run.status() == 0, run.text()
    return job.results(folder)


def assert_goes_on_with_the_same_result(job, folder, prepared, started, tmp_path_factory):
    """What was finished before the fault is kept, and the rest is what a run without a fault finds."""
    kept = job.results(folder)
    if job.name == "ground-state":
        straight = finished(job, tmp_path_factory.mktemp("whole"), 3, started)["energy"]
        assert finished(job, folder, 3, started)["energy"] == pytest.approx(straight, abs=1e-8)
        return
    amount = len(kept) + 1 if job.name == "spectrum" else int(kept["step"][-1]) + 5
    whole = tmp_path_factory.mktemp("whole")
    prepared(job, whole)
    expected, found = finished(job, whole, amount, started), finished(job, folder, amount, started)
    assert list(found) == list(expected)
    for name, values in expected.items():
        if name in kept:
            assert np.array_equal(found[name][: len(kept[name])], kept[name]), name
        assert np.array_equal(found[name], values), name


def temporary_files(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith((".partial", ".writing"))]


@pytest.mark.parametrize("name", NAMES)
def test_a_rank_that_is_killed_ends_the_run_and_costs_no_file(name, prepared, started, tmp_path):
    run = begun(name, prepared, started, tmp_path)
    os.kill(run.rank(1), signal.SIGKILL)
    assert run.status() != 0
    assert len(run.sentences()) <= 2  # of the rank that is left, where the launcher lets it speak
    run.job.results(tmp_path)


@pytest.mark.parametrize("name", ["spectrum", "propagate"])
def test_a_run_that_is_killed_goes_on_with_the_same_result(name, prepared, started, tmp_path, tmp_path_factory):
    """The launcher is killed, and its ranks must end without it."""
    run = begun(name, prepared, started, tmp_path)
    run.process.kill()
    assert run.status() == -signal.SIGKILL
    assert_goes_on_with_the_same_result(run.job, tmp_path, prepared, started, tmp_path_factory)


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("spectrum", signal.SIGTERM),
        ("solve", signal.SIGINT),
        ("ground-state", signal.SIGTERM),
        ("propagate", signal.SIGINT),
    ],
)
def test_a_run_that_is_asked_to_stop_goes_on_with_the_same_result(
    name, request_, prepared, started, tmp_path, tmp_path_factory
):
    """Batch systems signal every process. (Open MPI's launcher passes a signal on too, and kills a second later.)"""
    run = begun(name, prepared, started, tmp_path)
    for pid, rank in run.processes().items():
        if rank:
            os.kill(pid, request_)
    assert run.status() != 0
    assert "stopping at the next safe point" in run.text()
    assert len(run.sentences()) == 1, run.text()
    assert not temporary_files(tmp_path)
    if name != "solve":  # which has nothing to go on with
        assert_goes_on_with_the_same_result(run.job, tmp_path, prepared, started, tmp_path_factory)


@pytest.mark.parametrize("name", ["spectrum", "propagate"])
def test_a_rank_that_stalls_ends_the_run_after_the_time_limit(name, prepared, started, tmp_path):
    run = begun(name, prepared, started, tmp_path, parallel="time_limit = 4")
    os.kill(run.rank(1), signal.SIGSTOP)
    assert run.status() != 0
    sentences = run.sentences()
    assert sentences and "rank 0" in sentences[0] and "within 4 s" in sentences[0], run.text()
    run.job.results(tmp_path)


def test_the_energy_of_the_small_molecule_is_the_same_on_two_ranks(ground, started, tmp_path):
    """So that the results above mean something."""
    assert finished(JOBS["ground-state"], tmp_path, 3, started)["energy"] == pytest.approx(
        ground_state(ground)["energy"], abs=1e-9
    )
