# SPDX-License-Identifier: Apache-2.0
"""Runs in groups of processes: the bits of a run without groups, failures redone by others, refusals."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from halocline.groups import Groups, raise_ending
from halocline.qcd.group_choice import SharedChoice
from halocline.qcd.group_devices import device_number
from halocline.qcd.results import SpectrumFile, joined, read_spectrum
from halocline.qcd.runfile import example_run_file, parse_run_file
from halocline.qcd.spectrum import Job
from halocline.qcd.spectrum_groups import (
    LARGEST_SHARE_OF_MEMORY,
    GroupedJob,
    Piece,
    fitting_batch,
    order_for,
    pieces_of,
)
from halocline.reporter import Reporter
from halocline.work_pool import Failure, Logs

import halocline as hc
from halocline.qcd import group_choice, spectrum_groups

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
    assert not (tmp_path / "many.h5.groups").exists()


FAULTY = """
import sys
from halocline.comm import launched_rank
from halocline.errors import Error
from halocline.qcd.spectrum import Job
measure = Job.measure
def first():
    try:
        return not open("planted", "x").close()
    except FileExistsError:
        return False
def faulty(self, index, *rest):
    if WHEN:
        raise Error("planted in the second configuration")
    return measure(self, index, *rest)
Job.measure = faulty
from halocline.cli.main import main
sys.exit(main(["qcd", "spectrum", "many.toml"]))
"""


def test_work_that_fails_once_is_done_by_another_group(python, tmp_path, alone):
    write_run(tmp_path, "many", 3)
    (tmp_path / "faulty.py").write_text(FAULTY.replace("WHEN", "index == 1 and first()"))
    done = python("faulty.py", ranks=3)
    assert done.returncode == 0, done.stderr
    assert_same_bits(read_spectrum(tmp_path / "many.h5")[1], alone)
    assert done.stdout.count("planted in the second configuration; the work goes back") == 1


def test_a_rank_that_fails_alone_costs_its_group_and_no_work(python, tmp_path):
    """The other rank of the group waits in vain for it, within the time limit."""
    write_run(tmp_path, "many", 2)
    run = (tmp_path / "many.toml").read_text().replace("time_limit = 20", "time_limit = 2")
    (tmp_path / "many.toml").write_text(run)
    (tmp_path / "faulty.py").write_text(FAULTY.replace("WHEN", "launched_rank() == 3"))
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


# ---- one group in this process, whose sources are pieces of their own


ONE = CHAIN.replace("configurations = 3", "configurations = 1")


class StopsAfter(Reporter):
    """Asks to stop once so many sources are finished."""

    def __init__(self, sources):
        self.left, self.warnings = sources, []

    def line(self, text):
        self.left -= "largest residual" in text

    def warning(self, text):
        self.warnings.append(text)

    def stop_requested(self):
        return self.left <= 0


@pytest.fixture
def by_sources(monkeypatch, tmp_path):
    """by_sources(sources, mass=0.1, overwrite=False): runs until so many sources are measured; their positions, the
    error of the run, and its reporter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        spectrum_groups, "pieces_of", lambda missing, _: [Piece(i, (k,)) for i, found in missing.items() for k in found]
    )
    measured = []
    measure = Job.measure

    def measure_and_tell(job, index, positions, count):
        found = measure(job, index, positions, count)
        measured.append(positions)
        return found

    monkeypatch.setattr(Job, "measure", measure_and_tell)

    def run(sources=99, mass="0.1", overwrite=False):
        measured.clear()
        text = write_run(tmp_path, "many", 1, files=ONE) and (tmp_path / "many.toml").read_text()
        reporter, error = StopsAfter(sources), None
        try:
            asked = parse_run_file(text.replace("mass = 0.1", f"mass = {mass}"), "many")
            GroupedJob(asked, hc.comm.self_alone(), reporter, overwrite).run_all()
        except (hc.Error, KeyboardInterrupt) as found:
            error = found
        return [list(map(list, p)) for p in measured], error, reporter

    return run


def test_a_stop_keeps_the_sources_of_a_configuration_that_is_not_finished(by_sources, tmp_path, alone):
    done, error, _ = by_sources(1)
    assert done == [[[0, 0, 0, 0]]] and isinstance(error, hc.Interrupted)
    done, error, _ = by_sources(1, mass="0.2")
    assert done == [] and isinstance(error, hc.InvalidArgument) and "belongs to another run" in str(error)
    done, error, _ = by_sources(1)
    assert done == [[[1, 2, 3, 1]]] and isinstance(error, hc.Interrupted)
    assert by_sources()[:2] == ([[[2, 2, 2, 2]]], None)
    assert_same_bits(read_spectrum("many.h5")[1], alone[:1])
    assert not (tmp_path / "many.h5.groups").exists()


def test_a_kill_after_the_start_loses_no_earlier_piece(by_sources, monkeypatch, tmp_path):
    by_sources(2)
    with monkeypatch.context() as patch:
        patch.setattr(GroupedJob, "_work", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert isinstance(by_sources()[1], KeyboardInterrupt)
    (damaged, _) = sorted((tmp_path / "many.h5.groups").glob("*/*.result"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    done, error, reporter = by_sources()
    assert len(done) == 2 and error is None
    assert len(reporter.warnings) == 1 and reporter.warnings[0].endswith("; this piece of work is done again.")


def test_results_that_cannot_be_written_are_kept_and_counted_once(by_sources, monkeypatch, tmp_path):
    add, raised = SpectrumFile.add_all, []

    def full(file, *rest):
        if file.path.name == "many.h5" and len(raised) < most:
            raised.append(1)
            raise hc.FileError("the disk is full")
        return add(file, *rest)

    monkeypatch.setattr(SpectrumFile, "add_all", full)
    most = 99
    done, error, _ = by_sources()
    assert len(done) == 3 and "the disk is full" in str(error)
    kept = [read_spectrum(path)[1][0] for path in (tmp_path / "many.h5.groups").glob("*/*.result")]
    raised.clear()
    most = 1
    done, error, _ = by_sources()
    assert done == [] and "the disk is full" in str(error)  # while the run took the pieces in
    most = 0
    assert by_sources()[:2] == ([], None)
    (m,) = read_spectrum("many.h5")[1]
    assert len(kept) == 3 and m.attributes["seconds"] == pytest.approx(sum(k.attributes["seconds"] for k in kept))


def test_a_write_that_is_tried_again_adds_each_source_once(by_sources, monkeypatch):
    look, add, raised = Groups._look, SpectrumFile.add_all, []

    def full_once(file, *rest):
        if file.path.name == "many.h5" and not raised:
            raised.append(1)
            raise hc.FileError("the disk is full")
        return add(file, *rest)

    def look_twice(groups):
        look(groups)
        look(groups)

    monkeypatch.setattr(SpectrumFile, "add_all", full_once)
    monkeypatch.setattr(Groups, "_tick", lambda groups: None)
    monkeypatch.setattr(Groups, "_look", look_twice)
    done, error, _ = by_sources()
    assert len(done) == 3 and error is None and raised
    (m,) = read_spectrum("many.h5")[1]
    assert m.positions.tolist() == [[0, 0, 0, 0], [1, 2, 3, 1], [2, 2, 2, 2]]


def ending_of(tmp_path, collect, work=lambda item: lambda path: path.write_text("x"), items=2):
    groups = Groups(hc.comm.self_alone(), 1, tmp_path / "out.groups", 20.0, Reporter())
    ending = groups.run(items, range(items), work, collect, str, "stopped.", list)
    return ending, len(list((tmp_path / "out.groups").glob("*/*.result")))


def test_a_run_whose_results_cannot_be_collected_does_not_claim_success(tmp_path):
    raised = []

    def fails(paths, most):
        if len(raised) < most:
            raised.append(1)
            raise ValueError("planted")

    ending, kept = ending_of(tmp_path, lambda paths: fails(paths, 9))
    assert (ending.kind, kept) == (
        "Error",
        2,
    ) and "rank 0 cannot collect results: ValueError: planted" in ending.sentence
    raised.clear()
    ending, _ = ending_of(tmp_path, lambda paths: None)
    assert ending.kind == ""


@pytest.mark.parametrize(("collected", "kind", "said"), [
    ({2}, "Interrupted", "stopped. Besides, 1 of 3 pieces of work failed twice, 1 other is left, which the same "
     "command does: 0: group 0, rank 0: planted (and before, in group 1: rank 2: another)."),
    ({1, 2}, "FileError", "1 of 3 pieces of work failed twice, the others are finished: 0: group 0, rank 0: planted ("),
    ({0, 1, 2}, "", ""),
])  # fmt: skip
def test_a_stop_is_told_if_work_is_left(tmp_path, collected, kind, said):
    groups = Groups(hc.comm.self_alone(), 1, tmp_path, 20.0, Reporter())
    failures = {0: [Failure(1, 2, "Error", "another"), Failure(0, 0, "FileError", "planted")]}
    groups.place, groups._logs, groups._collected = tmp_path, Logs(tmp_path, []), collected
    groups._pool = SimpleNamespace(lost=dict, failures=lambda item: failures.get(item, []), stop_is_asked=lambda: True)
    ending = groups._ending(3, str, "stopped.")
    assert ending.kind == kind and ending.sentence.startswith(said)


def test_a_result_that_vanishes_is_an_error(tmp_path):
    ending, _ = ending_of(tmp_path, lambda paths: None, lambda item: lambda path: path.with_suffix(".failed2").touch())
    assert ending.kind == "Error" and "2 of 2 pieces of work are left" in ending.sentence
    with pytest.raises(hc.Error, match="nothing says why"):
        raise_ending(ending)


# ---- the choice of "auto", played by hand


class Played:
    """A group of one process whose pool is a folder; `gone` are the groups that are lost."""

    def __init__(self, place, number, gone):
        self.place, self.number, self.gone = place, number, gone
        self.mine, self.reporter = hc.comm.self_alone(), self
        self.ticks = 0

    def notice_lost(self):
        return self.gone if self.ticks else set()

    def tick(self):
        self.ticks += 1

    def stop_requested(self):
        return self.ticks > 1


class Chooses:
    """A job that has to choose."""

    choice = None

    def forget(self):
        pass


@pytest.fixture
def choosers(tmp_path, monkeypatch):
    monkeypatch.setattr(group_choice, "SECONDS_BETWEEN_LOOKS", 0.0)
    gone = set()
    return [SharedChoice(Chooses(), Played(tmp_path, number, gone)) for number in range(2)], gone


def test_a_group_waits_for_the_choice_until_the_run_stops(choosers):
    (a, b), _ = choosers
    with a.shared():
        a._agree()
        with pytest.raises(hc.Interrupted), b.shared():
            b._agree()
        a._keep({"chosen": "schwarz"})
    b._agree()
    assert b.job.choice == {"chosen": "schwarz"} and b.turn is None


def test_the_turn_of_a_lost_group_is_free(choosers):
    (a, b), gone = choosers
    a._agree()
    gone.add(0)
    b._agree()
    assert b.turn == 2


def test_a_choice_that_cannot_be_written_gives_the_turn_back(choosers, monkeypatch):
    (a, b), _ = choosers
    write, raised = group_choice.write_file, []

    def full_once(path, text):
        if path.name == "choice" and not raised:
            raised.append(1)
            raise hc.FileError("the disk is full")
        write(path, text)

    monkeypatch.setattr(group_choice, "write_file", full_once)
    with pytest.raises(hc.FileError), a.shared():
        a._agree()
        a.job.choice = {"chosen": "bicgstab"}  # as Job does
        a._keep(a.job.choice)
    assert a.job.choice is None and a.turn is None
    b._agree()
    assert b.turn == 2


def test_only_work_with_solves_takes_the_turn(choosers):
    (a, b), _ = choosers
    with a.shared():
        pass
    with b.shared():
        b._agree()
        assert b.turn == 1
    a._agree()
    assert a.job.choice is None and a.turn is None  # there was nothing to choose from
