# SPDX-License-Identifier: Apache-2.0
"""Runs in groups whose processes are killed, stopped or stalled."""

import os
import signal

import numpy as np
from faulty_runs import JOBS, write_run

GROUPS = "groups = 2\n"
JOB = JOBS["spectrum"]


def finished(folder, amount, started, parallel=GROUPS):
    """The results of a run of `amount` that goes on from what is in the folder."""
    write_run(JOB, folder, amount, parallel=parallel)
    run = started(JOB, folder, ranks=2)
    assert run.status() == 0, run.text()
    return JOB.results(folder)


def test_a_run_in_groups_that_is_killed_goes_on_with_the_same_result(started, tmp_path, tmp_path_factory):
    write_run(JOB, tmp_path, parallel=GROUPS)
    run = started(JOB, tmp_path, ranks=2)
    run.until_under_way()
    for process in run.processes():
        os.kill(process, signal.SIGKILL)
    run.status()
    kept = JOB.results(tmp_path)
    left = list((tmp_path / "out.h5.groups").glob("*/*.result"))
    assert kept and len(left) >= len(kept)
    amount = len(left) + 2  # so that every piece that is left is of this run
    found = finished(tmp_path, amount, started)
    whole = tmp_path_factory.mktemp("whole")
    write_run(JOB, whole, amount)
    alone = started(JOB, whole, ranks=0)
    assert alone.status() == 0
    expected = JOB.results(whole)
    assert set(expected) <= set(found)
    assert all(np.array_equal(found[name], values) for name, values in expected.items())
    assert not (tmp_path / "out.h5.groups").exists()


def test_a_group_that_stalls_is_lost_and_its_work_is_done_by_another(started, tmp_path):
    amount = 60
    write_run(JOB, tmp_path, amount, parallel=GROUPS + "time_limit = 3\n")
    run = started(JOB, tmp_path, ranks=2)
    pool = tmp_path / "out.h5.groups"
    run.until(lambda: any(pool.glob("*/*.result")))  # results are collected later, when little work may be left
    os.kill(run.rank(1), signal.SIGSTOP)
    assert run.status() == 1
    sentences = run.sentences()
    assert len(sentences) == 1 and "a group of processes was lost: group 1 has shown no sign of life for 3 s" in (
        sentences[0].replace("group 1: ", "")
    ), run.text()
    assert len(JOB.results(tmp_path)) == amount


def test_a_run_in_groups_stops_when_one_process_is_asked_to(started, tmp_path):
    write_run(JOB, tmp_path, parallel=GROUPS)
    run = started(JOB, tmp_path, ranks=2)
    run.until_under_way()
    os.kill(run.rank(1), signal.SIGTERM)
    assert run.status() == 130, run.text()
    assert len(run.sentences()) == 1 and "the same command goes on from there" in run.sentences()[0]
    assert JOB.results(tmp_path) and not (tmp_path / "out.h5.groups").exists()
