# SPDX-License-Identifier: Apache-2.0
"""Runs as arrays of jobs: shares, what is done, the joined result, scripts, refusals."""

import json

import numpy as np
import pytest
from halocline.qcd.job_array import Plan, numbers_text, ranges_of
from halocline.qcd.results import read_spectrum
from halocline.qcd.runfile import parse_run_file
from halocline.reporter import Reporter

import halocline as hc
from halocline.qcd import job_array

RUN = """
[gauge]
files = ["a.lime", "b.lime"]
[action]
mass = 0.1
csw = 1.0
[source]
positions = [[0, 0, 0, 0], [1, 2, 3, 1], [2, 2, 2, 2]]
[solver]
kind = "bicgstab"
[output]
file = "NAME.h5"
plots = false
"""


@pytest.fixture
def folder(tmp_path, lime):
    """Two configurations and run files of an array and of a run without one."""
    for name in ("a.lime", "b.lime"):
        (tmp_path / name).write_bytes(lime.read_bytes())
    for name in ("array", "whole"):
        (tmp_path / f"{name}.toml").write_text(RUN.replace("NAME", name))
    return tmp_path


def status(command, folder):
    done = command(folder, "qcd", "jobs", "status", "array.toml", "--json", "status.json")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "status.json").read_text()), done.stdout


def test_tasks_in_any_order_give_the_file_of_one_run(command, folder):
    assert command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 4).returncode == 0
    assert command(folder, "qcd", "spectrum", "whole.toml").returncode == 0
    for task in (3, 0):
        words = ("--share", f"{task}/4", "--json", "task.json")
        assert command(folder, "qcd", "spectrum", "array.toml", *words).returncode == 0
    told = json.loads((folder / "task.json").read_text())
    assert (told["done"], told["items"]) == (1, 1) and "joules_an_iteration" in told["energy"]
    found, said = status(command, folder)
    assert (found["done"], found["items"], found["unfinished_tasks"]) == (3, 6, [1, 2])
    assert "work left in 1-2" in said and "if 2 tasks run at once" in said
    merged = command(folder, "qcd", "jobs", "merge", "array.toml")
    assert "0 of 2 configurations" in merged.stdout and not (folder / "array.h5").exists()
    before = (folder / "array.h5.jobs/task000000.h5").stat().st_mtime_ns
    for task in range(4):
        assert command(folder, "qcd", "spectrum", "array.toml", "--share", f"{task}/4").returncode == 0
    assert (folder / "array.h5.jobs/task000000.h5").stat().st_mtime_ns == before  # nothing was missing
    assert status(command, folder)[0]["unfinished_tasks"] == []
    assert "2 of 2 configurations" in command(folder, "qcd", "jobs", "merge", "array.toml").stdout
    (root, ours), (root_of_one, theirs) = (read_spectrum(folder / f"{name}.h5") for name in ("array", "whole"))
    assert set(root) == set(root_of_one) and root["physics_hash"] == root_of_one["physics_hash"]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.name == other.name and np.array_equal(mine.positions, other.positions)
        assert np.array_equal(mine.mesons["pion"], other.mesons["pion"])
        assert np.array_equal(mine.nucleon, other.nucleon)
        assert set(mine.attributes) == set(other.attributes)
    done = command(folder, "qcd", "spectrum", "array.toml")  # the joined file is the result of the run
    assert done.stdout.count("finished before, skipped") == 2
    assert "all 6 items are done" in command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 4).stdout


class StopsAfter(Reporter):
    """Asks to stop once a source is finished."""

    def __init__(self):
        self.lines = 0

    def line(self, text):
        self.lines += "largest residual" in text

    def stop_requested(self):
        return self.lines > 1


def test_a_task_that_is_stopped_keeps_its_items(folder, monkeypatch):
    monkeypatch.chdir(folder)
    run = parse_run_file(RUN.replace("NAME", "array"), "array.toml")
    with pytest.raises(hc.Interrupted, match=r"items of task 0 are in array.h5.jobs.task000000.h5"):
        job_array.TaskJob(run, 0, 2, hc.comm.self_alone(), StopsAfter()).run_all()
    found = job_array.status_of(run, job_array.read_plan(run))
    assert found.done == 2 and found.unfinished == [0, 1]
    (folder / "array.h5.jobs/task000000.done").unlink()  # killed before it was written: the task looks at its results
    assert job_array.status_of(run, job_array.read_plan(run)).done == 0
    heard = StopsAfter()
    assert job_array.TaskJob(run, 0, 2, hc.comm.self_alone(), heard).run_all() == (3, 3)
    (folder / "array.h5.jobs/task000000.done").unlink()
    assert job_array.TaskJob(run, 0, 2, hc.comm.self_alone(), StopsAfter()).run_all() == (3, 3)  # which mends it
    assert heard.lines == 1
    assert job_array.status_of(run, job_array.read_plan(run)).unfinished == [1]


@pytest.mark.parametrize(
    ("configurations", "sources", "tasks"), [(7, 3, 4), (4, 5, 4), (3, 5, 4), (1, 9, 9), (2, 2, 1)]
)
def test_shares_are_all_items_once_and_of_even_size(configurations, sources, tasks):
    plan = Plan(configurations, sources, tasks)
    shares = [plan.share(task) for task in range(tasks)]
    assert [item for share in shares for item in share] == list(range(plan.items))
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= (sources if configurations >= tasks else 1)
    if configurations >= tasks:
        assert all(size % sources == 0 for size in sizes)


def test_numbers_are_written_as_ranges():
    assert ranges_of([]) == [] and ranges_of([5, 3, 4, 9]) == [[3, 5], [9, 9]]
    assert numbers_text([0, 1, 2, 7, 9, 10]) == "0-2,7,9-10"


def test_scripts_start_the_tasks_that_have_work_left(command, folder):
    slurm = command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 6, "--processes", 8, "--at-once", 2)
    assert "#SBATCH --array=0-5%2\n" in slurm.stdout and "#SBATCH --ntasks=8\n" in slurm.stdout
    assert '--share "$SLURM_ARRAY_TASK_ID/6"' in slurm.stdout
    assert command(folder, "qcd", "spectrum", "array.toml", "--share", "1/6").returncode == 0
    words = ("qcd", "jobs", "script", "array.toml", "--tasks", 6, "--system", "pjm", "--output", "job.sh")
    assert "5 tasks with work left, of 6" in command(folder, *words).stdout
    text = (folder / "job.sh").read_text()
    assert 'pjsub --bulk --sparam "0-4"' in text and "TASKS=(0 2 3 4 5)" in text


@pytest.mark.parametrize(
    ("words", "change", "said"),
    [
        (("jobs", "status", "array.toml"), {}, "there is no plan of an array"),
        (("jobs", "script", "array.toml", "--tasks", "7"), {}, "give 1 to 6 tasks"),
        (("jobs", "script", "array.toml", "--tasks", "2", "--system", "lsf"), {}, "give slurm or pjm"),
        (("jobs", "script", "array.toml", "--tasks", "2", "--time", "1h"), {}, "HH:MM:SS"),
        (("jobs", "script", "array.toml", "--tasks", "2", "--system", "pjm", "--at-once", "2"), {}, "no such limit"),
        (("jobs", "script", "array.toml", "--tasks", "2"), {'kind = "bicgstab"': ""}, "would choose for itself"),
        (("spectrum", "array.toml", "--share", "2/2"), {}, "the task, from 0"),
        (("spectrum", "array.toml", "--share", "0/2", "--overwrite"), {}, "leave --overwrite out"),
        (("spectrum", "array.toml", "--share", "0/2"),
         {"[output]": "[parallel]\ngroups = 2\n[output]"}, "groups out"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_work_are_refused(command, folder, words, change, said):
    text = RUN.replace("NAME", "array")
    for old, new in change.items():
        text = text.replace(old, new)
    (folder / "array.toml").write_text(text)
    done = command(folder, "qcd", *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_a_task_that_fails_saves_what_it_has(folder, monkeypatch):
    monkeypatch.chdir(folder)
    run = parse_run_file(RUN.replace("NAME", "array"), "array.toml")
    measure, raised = job_array.Job.measure, []

    def fails(job, index, positions, count):
        if positions == [(2, 2, 2, 2)]:
            raised.append(1)
            raise hc.Error("planted")
        return measure(job, index, positions, count)

    def collective(group, action, on_root=job_array.on_root):
        assert not raised, "other processes may not be here"
        return on_root(group, action)

    monkeypatch.setattr(job_array.Job, "measure", fails)
    monkeypatch.setattr(job_array, "on_root", collective)
    with pytest.raises(hc.Error, match="planted"):
        job_array.TaskJob(run, 0, 2, hc.comm.self_alone(), Reporter()).run_all()
    assert job_array.status_of(run, job_array.read_plan(run)).done == 2


def test_an_array_with_results_keeps_its_plan(command, folder):
    assert command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 3).returncode == 0
    assert command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 2).returncode == 0  # nothing is done yet
    assert command(folder, "qcd", "spectrum", "array.toml", "--share", "0/2").returncode == 0
    done = command(folder, "qcd", "jobs", "script", "array.toml", "--tasks", 3)
    assert done.returncode == 2 and "2 tasks, now 3" in done.stderr
    for there, here, said in (
        ("mass = 0.1", "mass = 0.2", "other physics"),
        ('"a.lime", "b.lime"', '"b.lime", "a.lime"', "other [gauge] files, or in another order"),
    ):
        (folder / "array.toml").write_text(RUN.replace("NAME", "array").replace(there, here))
        done = command(folder, "qcd", "jobs", "status", "array.toml")
        assert done.returncode == 2 and said in done.stderr
