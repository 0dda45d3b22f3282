# SPDX-License-Identifier: Apache-2.0
"""Runs in groups of processes: the bits of a run without groups, failures redone by others, refusals."""

import json

import numpy as np
import pytest
from halocline.qcd.group_devices import device_number
from halocline.qcd.results import joined, read_spectrum
from halocline.qcd.runfile import example_run_file, parse_run_file
from halocline.qcd.spectrum import Job
from halocline.qcd.spectrum_groups import LARGEST_SHARE_OF_MEMORY, fitting_batch, order_for, pieces_of
from halocline.reporter import Reporter

import halocline as hc

POSITIONS = "[[0, 0, 0, 0], [1, 2, 3, 1], [2, 2, 2, 2]]"
RUN = """
[gauge]
FILES
[action]
mass = 0.1
csw = 1.0
[source]
positions = POSITIONS
[solver]
kind = "KIND"
[parallel]
groups = GROUPS
time_limit = 20
[output]
file = "NAME.h5"
plots = false
"""
CHAIN = "generate = { size = [4, 4, 4, 4], beta = 6.0, sweeps = 2, separation = 1, seed = 3, configurations = 3 }"


def write_run(folder, name, groups, kind="bicgstab", files=CHAIN):
    values = {"NAME": name, "FILES": files, "GROUPS": str(groups), "KIND": kind, "POSITIONS": POSITIONS}
    text = RUN
    for word, value in values.items():
        text = text.replace(word, value)
    (folder / f"{name}.toml").write_text(text)
    return parse_run_file(text, name)


def assert_same_bits(ours, theirs):
    assert [m.name for m in ours] == [m.name for m in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert np.array_equal(mine.positions, other.positions)
        assert all(np.array_equal(mine.mesons[c], other.mesons[c]) for c in other.mesons)
        assert np.array_equal(mine.nucleon, other.nucleon)
        assert np.array_equal(mine.iterations, other.iterations)
        assert mine.attributes["plaquette"] == other.attributes["plaquette"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The configurations of a run on one process."""
    folder = tmp_path_factory.mktemp("alone")
    run = write_run(folder, str(folder / "alone"), 1)
    return hc.qcd.spectrum(run)[1]


@pytest.mark.parametrize(("ranks", "groups", "kind"), [(2, 2, "auto"), (4, 2, "bicgstab")])
def test_groups_give_the_bits_of_a_run_without_groups(halocline, tmp_path, alone, ranks, groups, kind):
    expected, chain = alone, CHAIN
    if ranks // groups > 1:
        chain = CHAIN.replace("configurations = 3", "configurations = 1")  # its sources are dealt out
        write_run(tmp_path, "alone", 1, files=chain)
        assert halocline("qcd", "spectrum", "alone.toml", ranks=ranks // groups).returncode == 0
        expected = read_spectrum(tmp_path / "alone.h5")[1]
    write_run(tmp_path, "many", groups, kind, files=chain)
    done = halocline("qcd", "spectrum", "many.toml", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("boundary") == 1
    assert f"groups        {groups} of {ranks // groups} process" in done.stdout
    assert all(f"group {g}: " in done.stdout for g in range(groups))
    assert done.stdout.count("auto: ") == (kind == "auto")  # one trial, of one group
    assert_same_bits(read_spectrum(tmp_path / "many.h5")[1], expected)
    assert not (tmp_path / "many.groups").exists()


FAULTY = """
import sys
from halocline.comm import launched_rank
from halocline.errors import Error
from halocline.qcd.spectrum import Job
measure, raised = Job.measure, []
def faulty(self, index, *rest):
    if WHEN and launched_rank() in RANKS:
        raised.append(index)
        raise Error("planted in the second configuration")
    return measure(self, index, *rest)
Job.measure = faulty
from halocline.cli.main import main
sys.exit(main(["qcd", "spectrum", "many.toml"]))
"""


def test_work_that_fails_once_is_done_by_another_group(python, tmp_path, alone):
    write_run(tmp_path, "many", 3)
    (tmp_path / "faulty.py").write_text(FAULTY.replace("WHEN", "index == 1 and not raised").replace("RANKS", "[1]"))
    done = python("faulty.py", ranks=3)
    assert done.returncode == 0, done.stderr
    assert_same_bits(read_spectrum(tmp_path / "many.h5")[1], alone)
    if "planted" in done.stdout:  # the second group may never have come to that configuration
        assert "group 1: rank 1: planted in the second configuration; the work goes back" in done.stdout


def test_a_rank_that_fails_alone_costs_its_group_and_no_work(python, tmp_path):
    """The other rank of the group waits in vain for it, within the time limit."""
    write_run(tmp_path, "many", 2)
    run = (tmp_path / "many.toml").read_text().replace("time_limit = 20", "time_limit = 2")
    (tmp_path / "many.toml").write_text(run)
    (tmp_path / "faulty.py").write_text(FAULTY.replace("WHEN", "True").replace("RANKS", "[3]"))
    done = python("faulty.py", ranks=4)
    assert done.returncode == 1, done.stdout
    assert (
        "all 5 pieces of work are finished, but a group of processes was lost: group 1 (ranks 2 to 3 of the run):"
        in done.stderr
    )
    assert len(read_spectrum(tmp_path / "many.h5")[1]) == 3


def test_what_fails_twice_is_told_when_the_rest_is_finished(halocline, command, data, tmp_path):
    whole = (data / "4x4x4x4b6.0000id3n1.nersc").read_bytes()
    for name in "abcd":
        (tmp_path / f"{name}.nersc").write_bytes(whole if name != "b" else whole[:-1000] + bytes(1000))
    write_run(tmp_path, "many", 2, files='files = ["a.nersc", "b.nersc", "c.nersc", "d.nersc"]')
    done = halocline("qcd", "spectrum", "many.toml", ranks=2)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("halocline: ") == 1 and "Traceback" not in done.stderr
    assert "1 of 4 pieces of work failed twice, the others are finished: b.nersc: group " in done.stderr
    assert "CHECKSUM" in done.stderr
    assert [m.name for m in read_spectrum(tmp_path / "many.h5")[1]] == ["a.nersc", "c.nersc", "d.nersc"]
    (tmp_path / "b.nersc").write_bytes(whole)  # the next start, with or without groups, does what is missing
    write_run(tmp_path, "many", 1, files='files = ["a.nersc", "b.nersc", "c.nersc", "d.nersc"]')
    done = command(tmp_path, "qcd", "spectrum", "many.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("finished before, skipped") == 3
    assert [m.name[0] for m in read_spectrum(tmp_path / "many.h5")[1]] == ["a", "b", "c", "d"]


def test_solve_in_groups_writes_the_files_of_a_solve_without(halocline, command, tmp_path):
    for name, groups in (("one", 1), ("two", 2)):
        write_run(tmp_path, name, groups)
        words = ("qcd", "solve", f"{name}.toml", "--output", f"{name}.h5", "--json", f"{name}.json")
        done = command(tmp_path, *words) if groups == 1 else halocline(*words, ranks=2)
        assert done.returncode == 0, done.stderr
    one, two = (json.loads((tmp_path / f"{name}.json").read_text())["configurations"] for name in ("one", "two"))
    for mine, other in zip(two, one, strict=True):
        assert (mine["name"], mine["plaquette"]) == (other["name"], other["plaquette"])
        assert [s["residuals"] for s in mine["sources"]] == [s["residuals"] for s in other["sources"]]
    for k in range(9):
        s, t = (hc.qcd.read_propagator(tmp_path / f"{name}_{k:04d}.h5") for name in ("one", "two"))
        assert np.array_equal(s.array(), t.array()), k
    (tmp_path / "two_0004.h5").unlink()
    write_run(tmp_path, "two", 1)
    done = command(tmp_path, "qcd", "solve", "two.toml", "--output", "two.h5", "--resume")  # with or without groups
    assert done.returncode == 0 and done.stdout.count("kept  ") == 8, done.stdout


def test_unequal_groups_are_refused_with_numbers_that_would_do(halocline, command, tmp_path):
    write_run(tmp_path, "many", 3)
    done = halocline("qcd", "spectrum", "many.toml", ranks=2)
    assert done.returncode == 2 and done.stderr.count("halocline: ") == 1
    assert "groups = 3 does not divide the 2 processes" in done.stderr and "give 1 or 2" in done.stderr
    done = command(tmp_path, "qcd", "solve", "many.toml")
    assert done.returncode == 2 and "does not divide the 1 process " in done.stderr


def test_the_example_has_groups():
    assert "\ngroups = 1\n" in example_run_file()


def test_whole_configurations_are_shared_out_first():
    pieces = pieces_of({i: [0, 1, 2] for i in range(5)}, 2)
    assert [p.sources for p in pieces] == [(0, 1, 2)] * 4 + [(0,), (1,), (2,)]
    assert pieces_of({7: [1, 2]}, 3) == [(7, (1,)), (7, (2,))]
    pieces = pieces_of({i: [0, 1] for i in range(2)}, 3)
    starts = [pieces[order_for(g, 3, pieces)[0]].index for g in range(3)]
    assert starts == [0, 0, 1]
    assert all(sorted(order_for(g, 3, pieces)) == list(range(4)) for g in range(3))


def test_joined_puts_sources_in_order_and_refuses_other_links(alone):
    import dataclasses

    m = alone[0]

    def part(rows, **changes):
        return dataclasses.replace(
            m, positions=m.positions[rows], mesons={c: a[rows] for c, a in m.mesons.items()}, nucleon=m.nucleon[rows],
            residuals=m.residuals[rows], iterations=m.iterations[rows], attributes=m.attributes | changes,
        )  # fmt: skip

    found = joined([part([2]), part([1, 0])], m.positions.tolist())
    assert_same_bits([found], [m])
    assert found.attributes["seconds"] == pytest.approx(2 * m.attributes["seconds"])
    with pytest.raises(hc.InvalidArgument, match="has changed between the measurements"):
        joined([part([0]), part([1], checksum="other")])


def test_groups_with_little_memory_solve_fewer_columns_together(tmp_path):
    job = Job(write_run(tmp_path, "one", 1), hc.comm.self_alone(), Reporter())
    column = job.column_bytes * 4**4 / LARGEST_SHARE_OF_MEMORY
    rooms = (20 * column, 12 * column, 11.9 * column, 2 * column, 0.1 * column)
    assert [fitting_batch(job, room) for room in rooms] == [12, 12, 6, 2, 1]


def test_each_process_takes_a_gpu_of_its_own():
    two = [["a", ["u", "v"]], ["a", ["u", "v"]], ["b", ["w", "x"]], ["b", ["w", "x"]]]
    assert [device_number("cuda", two, r)[0] for r in range(4)] == [0, 1, 0, 1]
    assert device_number("cuda", [["a", ["u"]], ["a", ["v"]]], 1)[0] == 0  # the launcher shows each process one
    assert device_number("cuda", [["a", ["u"]], ["a", ["u"]]], 1)[0] is None
    assert device_number("cuda:1", two, 0)[0] is None
