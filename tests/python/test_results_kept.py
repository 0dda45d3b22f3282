# SPDX-License-Identifier: Apache-2.0
"""No result is lost without a word: one run at a time writes a file, and only what is its own is replaced."""

import contextlib
import io
import signal
import subprocess
import sys
import time

import h5py
import pytest
from halocline.cli.main import main
from halocline.qcd.runfile import parse_run_file
from halocline.results import first_difference

import halocline as hc
from halocline import files
from halocline.qcd import results

MOLECULE = """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [3.6, 3.6, 4.2]
[grid]
spacing = "0.35 angstrom"
[propagate]
kick = 0.01
steps = 4
[output]
file = "h2.h5"
plots = false
cube = false
[spectrum]
resolution = "20 eV"
to_energy = "500 eV"
step = "1 eV"
"""
QUENCHED = """
[gauge]
generate = { size = [2, 2, 2, 4], beta = 6.0, sweeps = 1, configurations = 3, separation = 1 }
[action]
mass = 0.5
csw = 1.0
[solver]
kind = "bicgstab"
[output]
file = "out.h5"
plots = false
"""


def command(folder, *words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(w) for w in words])
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def refused(done, *words, status=2):
    assert done.returncode == status, (done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".h5", ".orbitals", ".txt")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    (folder / "run.toml").write_text(MOLECULE)
    for name in ("ground-state", "propagate", "spectrum"):
        done = command(folder, "tddft", name, "run.toml")
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A folder with a ground state, a finished propagation and its spectrum."""
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def run(folder):
    """run("propagate", ..., mass="..."): a command on the run file, with words of it replaced."""

    def go(name, *words, replace=("", "")):
        (folder / "run.toml").write_text(MOLECULE.replace(*replace))
        return command(folder, "tddft", name, "run.toml", *words)

    return go


OTHER_SYSTEM = ("0, 0, 0.37]]", "0, 0, 0.45]]")


def test_a_ground_state_of_another_system_is_replaced_on_demand_alone(folder, run):
    before = contents(folder)
    refused(run("ground-state", replace=OTHER_SYSTEM), "belongs to another run", "positions", "--overwrite")
    assert contents(folder) == before
    assert run("ground-state", "--overwrite", replace=OTHER_SYSTEM).returncode == 0
    assert contents(folder)["h2_gs.h5"] != before["h2_gs.h5"]
    refused(run("ground-state"), "belongs to another run")


@pytest.mark.parametrize("damage", [b"something else", None])
def test_a_ground_state_that_cannot_be_read_is_replaced_on_demand_alone(folder, run, damage):
    path = folder / "h2_gs.h5"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw if damage is None else damage)
    before = contents(folder)
    refused(run("ground-state"), "h2_gs.h5", "--overwrite")
    assert contents(folder) == before
    assert run("ground-state", "--overwrite").returncode == 0


def test_an_unconverged_ground_state_does_not_replace_a_converged_one(folder, run):
    (folder / "h2_gs.orbitals").unlink()
    before = contents(folder)
    done = run("ground-state", replace=("[output]", "[scf]\nmax_iterations = 2\n[output]"))
    assert done.returncode == 3 and "keeps the converged ground state" in done.stdout
    assert contents(folder) == before


def test_a_picture_that_cannot_be_written_does_not_stop_a_ground_state(folder, monkeypatch):
    """One process draws while the others compute: its error would leave them waiting."""
    from halocline.tddft import jobs

    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_PLOTS", 0.0)
    (folder / "h2_convergence.png").mkdir()
    (folder / "run.toml").write_text(MOLECULE.replace("plots = false", "plots = true"))
    done = command(folder, "tddft", "ground-state", "run.toml")
    assert "warning: h2_convergence.png: exists and is not a regular file" in done.stdout
    refused(done, "h2_convergence.png: exists and is not a regular file")


def test_report_draws_the_picture_that_the_command_draws(folder):
    done = command(folder, "report", "h2_gs.h5", "--plots")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.glob("*.png")] == ["h2_convergence.png"]


def test_a_series_whose_orbitals_are_gone_is_kept(folder, run):
    (folder / "h2_rt.orbitals").unlink()
    before = contents(folder)
    done = run("propagate")
    assert done.returncode == 0 and "finished before: h2_rt.h5 has all 4 steps" in done.stdout
    more = ("steps = 4", "steps = 6")
    refused(run("propagate", replace=more), "h2_rt.orbitals: is gone, so the 4 steps in h2_rt.h5", "--overwrite")
    refused(run("propagate", replace=("kick = 0.01", "kick = 0.02")), "belongs to another run", "kick")
    assert contents(folder) == before
    assert run("propagate", "--overwrite", replace=more).returncode == 0
    with h5py.File(folder / "h2_rt.h5") as file:
        assert file.attrs["steps"] == 6


def test_never_restarting_does_not_mean_replacing(folder, run):
    before = contents(folder)
    never = ("steps = 4", 'steps = 2\nrestart = "never"')
    refused(run("propagate", replace=never), "h2_rt.h5 holds 4 steps of this run", "--overwrite")
    assert contents(folder) == before
    assert run("propagate", "--overwrite", replace=never).returncode == 0


def test_going_on_and_beginning_anew_exclude_each_other(run):
    refused(run("propagate", "--overwrite", "--restart"), "give one of them")


def test_a_spectrum_is_of_the_system_in_the_run_file(folder, run):
    before = contents(folder)
    refused(run("spectrum", replace=OTHER_SYSTEM), "h2_rt.h5 belongs to another run", "positions")
    assert contents(folder) == before
    for name in ("ground-state", "propagate"):
        assert run(name, "--overwrite", replace=OTHER_SYSTEM).returncode == 0
    refused(run("spectrum", replace=OTHER_SYSTEM), "h2_spectrum.h5 belongs to another run", "--overwrite")
    assert contents(folder)["h2_spectrum.h5"] == before["h2_spectrum.h5"]
    assert run("spectrum", "--overwrite", replace=OTHER_SYSTEM).returncode == 0


def test_a_file_that_another_program_replaces_during_a_run_is_left_alone(folder):
    from halocline.tddft.results import Guarded, attributes_of

    path = folder / "h2_rt.h5"
    guarded = Guarded(path, "propagation", attributes_of(path, "propagation")["identity"], False)
    files.write_file(path, "of somebody else")
    with pytest.raises(hc.FileError, match="another program replaced it"):
        guarded.write("propagation", {}, {})
    assert path.read_text() == "of somebody else"


@pytest.mark.parametrize("name", ["ground-state", "propagate", "spectrum"])
def test_a_file_that_another_run_is_writing_is_left_alone(folder, run, name):
    before = contents(folder)
    suffix = {"ground-state": "gs", "propagate": "rt", "spectrum": "spectrum"}[name]
    with files.claimed(folder / f"h2_{suffix}.h5"):
        refused(run(name, "--overwrite"), f"h2_{suffix}.h5 is being written by another run (process ", " on ")
    assert contents(folder) == before and not list(folder.glob("*.lock"))
    assert run(name, "--overwrite").returncode == 0


def test_two_runs_with_one_output_file_do_not_mix(folder):
    """The second is refused while the first works; when the first is killed, its lock is gone and nothing else."""
    (folder / "h2_rt.h5").unlink()
    (folder / "h2_rt.orbitals").unlink()
    words = [sys.executable, "-m", "halocline.cli.main", "tddft", "propagate", "run.toml"]
    (folder / "run.toml").write_text(MOLECULE.replace("steps = 4", "steps = 1000000\ncheckpoint_every = 10"))
    first = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while not (folder / "h2_rt.orbitals").is_file() and time.monotonic() < deadline:
        time.sleep(0.02)
    refused(command(folder, *words[3:]), f"being written by another run (process {first.pid} on ")
    first.send_signal(signal.SIGKILL)
    first.wait(timeout=60)
    (folder / "run.toml").write_text(MOLECULE.replace("steps = 4", "steps = 1000000\nwall_limit = 0.1"))
    done = command(folder, *words[3:])
    refused(done, "wall_limit is reached", status=130)
    assert "restart       from step" in done.stdout
    assert not list(folder.glob("*.lock"))


def test_every_process_learns_that_a_file_is_taken(halocline, tmp_path):
    (tmp_path / "run.toml").write_text(QUENCHED)
    with files.claimed(tmp_path / "out.h5"):
        done = halocline("qcd", "spectrum", "run.toml", ranks=2)
    assert done.returncode == 2 and done.stderr.count("is being written by another run") == 1, done.stderr
    assert not (tmp_path / "out.h5").exists()


def test_correlators_that_are_there_are_replaced_on_demand_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hc.qcd.spectrum(parse_run_file(QUENCHED, "a"))
    before = contents(tmp_path)
    other = parse_run_file(QUENCHED.replace("mass = 0.5", "mass = 0.6"), "b")
    with pytest.raises(hc.InvalidArgument, match="mass is 0.5 there and 0.6 here.*--overwrite"):
        hc.qcd.spectrum(other)
    assert contents(tmp_path) == before
    hc.qcd.spectrum(other, overwrite=True)
    assert len(results.read_spectrum("out.h5")[1]) == 3 and contents(tmp_path) != before
    (tmp_path / "out.h5").write_text("my thesis")
    with pytest.raises(hc.FileError, match="out.h5: not a readable HDF5 file"):
        hc.qcd.spectrum(other)
    hc.qcd.spectrum(other, overwrite=True)


def test_configurations_that_another_program_added_are_kept(tmp_path, monkeypatch):
    """Without locks, as on some network file systems, two runs of the same physics still add to one file."""
    monkeypatch.chdir(tmp_path)
    run = parse_run_file(QUENCHED, "a")
    _, (one, two, three) = hc.qcd.spectrum(run)
    (tmp_path / "out.h5").unlink()
    first, second = (results.SpectrumFile("out.h5", run, {}) for _ in range(2))
    first.add(one)
    second.add(two)
    first.add(three)
    assert {m.name for m in results.read_spectrum("out.h5")[1]} == {one.name, two.name, three.name}
    alien = results.SpectrumFile("alien.h5", parse_run_file(QUENCHED.replace("0.5", "0.7"), "b"), {})
    alien.add(one)
    (tmp_path / "alien.h5").rename(tmp_path / "out.h5")
    with pytest.raises(hc.InvalidArgument, match="another run"):
        second.add(one)


def test_the_first_difference_that_counts_is_named():
    left_out = ("files", "parallel")
    there = {"gauge": {"files": ["a"]}, "parallel": {"device": "cpu"}, "action": {"kappa": 0.12, "csw": 1.0}}
    here = {"gauge": {"files": ["b"]}, "parallel": {"device": "cuda"}, "action": {"kappa": 0.13, "csw": 1.0}}
    assert first_difference(there, here, left_out) == "[action] kappa is 0.12 there and 0.13 here"
    assert first_difference(there, there | {"gauge": {"files": []}}, left_out) is None


def test_gauge_files_and_propagators_are_not_replaced_unasked(tmp_path):
    words = ("qcd", "gauge", "generate", "u.lime", "--size", 2, 2, 2, 4, "--beta", 6, "--sweeps", 1)
    assert command(tmp_path, *words).returncode == 0
    made = (tmp_path / "u.lime").read_bytes()
    other = (*words, "--seed", 2)
    refused(command(tmp_path, *other), "u.lime is already there", "--overwrite")
    for name, *rest in (("convert", "u.lime"), ("smear", "u.lime"), ("fix", "u.lime"), ("flow", "u.lime")):
        refused(command(tmp_path, "qcd", "gauge", name, "u.lime", *rest), "u.lime is already there")
    assert (tmp_path / "u.lime").read_bytes() == made
    assert command(tmp_path, *other, "--overwrite").returncode == 0
    assert (tmp_path / "u.lime").read_bytes() != made

    # Names of several, any of which may be there.
    (tmp_path / "v_0001.lime").write_text("kept")
    several = ("qcd", "gauge", "generate", "v.lime", *words[4:], "--configurations", 2)
    refused(command(tmp_path, *several), "v_0001.lime is already there")
    assert not (tmp_path / "v_0000.lime").exists() and (tmp_path / "v_0001.lime").read_text() == "kept"

    (tmp_path / "run.toml").write_text(QUENCHED.replace("configurations = 3", "configurations = 1"))
    solve = ("qcd", "solve", "run.toml", "--output", "s.lime")
    assert command(tmp_path, *solve).returncode == 0
    solved = (tmp_path / "s.lime").read_bytes()
    refused(command(tmp_path, *solve), "s.lime is already there", "--overwrite")
    assert (tmp_path / "s.lime").read_bytes() == solved
    assert command(tmp_path, *solve, "--overwrite").returncode == 0
