# SPDX-License-Identifier: Apache-2.0
"""The three commands on a hydrogen molecule in a small box: files, numbers, exit status, stop and restart."""

import functools
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from halocline.cli.main import main

RUN = """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [3.6, 3.6, 4.2]
[grid]
spacing = "0.3 angstrom"
[propagate]
kick = 0.01
{propagate}
[output]
file = "h2.h5"
{output}
[spectrum]
resolution = "20 eV"
to_energy = 8.0
"""
PARTS = {"total", "kinetic", "hartree", "ion_local", "ion_nonlocal", "xc", "ion_ion"}


def write_run(folder, propagate="steps = 40", more="", output="plots = false\ncube = false"):
    (folder / "run.toml").write_text(RUN.format(propagate=propagate, output=output) + more)


def numbers(folder, name):
    return json.loads((folder / name).read_text())


def refused(done, *words, status=2):
    """Ended with the status and one sentence that has the words; nothing of Python shows."""
    assert done.returncode == status, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("halocline: ")]
    assert len(sentences) == 1
    for word in words:
        assert word in sentences[0], sentences[0]


@pytest.fixture(scope="module")
def ground(tmp_path_factory, command):
    """A folder with a finished ground state."""
    folder = tmp_path_factory.mktemp("ground")
    write_run(folder)
    done = command(folder, "tddft", "ground-state", "run.toml", "--json", "gs.json")
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout)
    return folder


@pytest.fixture
def halocline(tmp_path, command):
    """halocline("tddft", "propagate", ...): the command, run in tmp_path."""
    return functools.partial(command, tmp_path)


@pytest.fixture
def folder(ground, tmp_path):
    """tmp_path, where the `halocline` fixture runs, with the finished ground state in it."""
    for name in ("h2_gs.h5", "h2_gs.orbitals", "run.toml"):
        (tmp_path / name).write_bytes((ground / name).read_bytes())
    return tmp_path


def test_a_ground_state_has_its_numbers_with_units(ground):
    found = numbers(ground, "gs.json")
    assert set(found["energy"]) == PARTS
    parts = sum(v for name, v in found["energy"].items() if name != "total")
    assert found["energy"]["total"] == pytest.approx(parts, abs=1e-10)
    assert found["units"]["energy"] == "hartree" and found["units"]["eigenvalues"] == "hartree"
    assert found["converged"] is True and found["eigenvalues"][0][0] < 0
    assert np.abs(np.sum(found["forces"], axis=0)).max() < 1e-4
    assert found["net_force"] == pytest.approx(np.sum(found["forces"], axis=0), abs=1e-12)
    assert found["units"]["net_force"] == "hartree/bohr"
    assert "net force" in (ground / "said").read_text()


def test_the_result_file_reproduces_the_run(ground):
    from halocline.tddft import Run, read_run_file

    with h5py.File(ground / "h2_gs.h5") as file:
        assert Run.from_table(json.loads(file.attrs["parameters"])) == read_run_file(ground / "run.toml")
        density = file["density"][()]
        assert file["density"].attrs["unit"] == "1/bohr^3"
        spacing = np.array([3.6, 3.6, 4.2]) / 0.529177210544 / density.shape[:0:-1]
    assert density.sum() * spacing.prod() == pytest.approx(2.0, abs=1e-9)


def test_every_parameter_is_echoed(ground):
    said = (ground / "said").read_text()
    for word in (
        "[scf] mixing_weight = 0.3",
        "processes     k 1",
        "hartree ",
        "functional    pade",
        "spacing",
        "states",
    ):
        assert word in said
    log = (ground / "h2_gs.log").read_text()
    assert set(log.splitlines()) <= set(said.splitlines()) and "converged in" in log


def test_a_propagation_and_its_spectrum(halocline, folder):
    write_run(folder, output="json = true")
    done = halocline("tddft", "propagate", "run.toml", "--json", "rt.json")
    assert done.returncode == 0, done.stderr
    assert "limit of stability" in done.stdout
    rt = numbers(folder, "rt.json")
    assert len(rt["time"]) == 41 and np.shape(rt["current"]) == (41, 3) and np.shape(rt["dipole"]) == (41, 3)
    assert rt["norm"] == pytest.approx([2.0] * 41, abs=1e-6)
    assert set(rt["energy"]) == PARTS and rt["units"]["time"] == "hbar/hartree"
    # Two electrons at the momentum of the kick: the dipole, which counts their charge, falls with slope -2 kappa.
    assert rt["dipole"][1][2] == pytest.approx(-2 * 0.01 * rt["time"][1], rel=0.05)
    done = halocline("tddft", "spectrum", "run.toml", "--json", "s.json")
    assert done.returncode == 0, done.stderr
    assert "warning: the run of" in done.stdout
    s = numbers(folder, "s.json")
    assert len(s["cross_section"]) == len(s["photon_energy_ev"]) and s["units"]["energy"] if "energy" in s else True
    for name in ("h2_rt.json", "h2_rt_dipole.png", "h2_spectrum.png", "h2_spectrum.txt"):
        assert (folder / name).stat().st_size > 100


def test_a_finished_part_goes_on_bit_for_bit(halocline, folder):
    write_run(folder, "steps = 12")
    assert halocline("tddft", "propagate", "run.toml", "--json", "whole.json").returncode == 0
    (folder / "h2_rt.h5").unlink()
    write_run(folder, "steps = 5")
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    write_run(folder, "steps = 12")
    done = halocline("tddft", "propagate", "run.toml", "--restart", "--json", "parts.json")
    assert done.returncode == 0 and "from step 5" in done.stdout, done.stderr
    whole, parts = numbers(folder, "whole.json"), numbers(folder, "parts.json")
    assert (
        parts["dipole"] == whole["dipole"] and parts["current"] == whole["current"] and parts["time"] == whole["time"]
    )


def test_counts_and_walls_go_on_after_a_stop(halocline, folder):
    more = """
excited_every = 3
populations = 5
angular_momentum = true
absorber = { width = "1 angstrom" }
"""
    kept = ("time", "norm", "angular_momentum", "excited_time", "excited", "populations", "band_changes")
    write_run(folder, "steps = 12" + more)
    done = halocline("tddft", "propagate", "run.toml", "--json", "whole.json")
    assert done.returncode == 0, done.stderr
    assert "it takes 99 % of the electrons" in done.stdout and "ionised" in done.stdout
    (folder / "h2_rt.h5").unlink()
    write_run(folder, "steps = 7" + more)
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    write_run(folder, "steps = 12" + more, output="cube = false")
    done = halocline("tddft", "propagate", "run.toml", "--restart", "--json", "parts.json")
    assert done.returncode == 0 and "from step 7" in done.stdout, done.stderr
    whole, parts = numbers(folder, "whole.json"), numbers(folder, "parts.json")
    assert len(whole["excited"]) == 5 and whole["norm"][-1] < whole["norm"][0]
    for name in kept:
        assert np.array(parts[name]) == pytest.approx(np.array(whole[name]), abs=1e-9), name
    assert parts["angular_momentum"] == whole["angular_momentum"] and parts["norm"] == whole["norm"]
    assert (folder / "h2_rt_populations.png").stat().st_size > 100
    # Other walls or other states are another run.
    write_run(folder, "steps = 14" + more.replace("1 angstrom", "0.9 angstrom"))
    refused(halocline("tddft", "propagate", "run.toml"), "absorber")
    write_run(folder, "steps = 14" + more.replace("populations = 5", "populations = 4"))
    refused(halocline("tddft", "propagate", "run.toml"), "populations")


def test_orbitals_in_float_go_on_after_a_stop_and_not_in_double(halocline, folder):
    more = '\nprecision = "float"'
    write_run(folder, "steps = 12")
    assert halocline("tddft", "propagate", "run.toml", "--json", "double.json").returncode == 0
    write_run(folder, "steps = 12" + more)
    refused(halocline("tddft", "propagate", "run.toml"), "precision")
    done = halocline("tddft", "propagate", "run.toml", "--overwrite", "--json", "whole.json")
    assert done.returncode == 0, done.stderr
    (folder / "h2_rt.h5").unlink()
    write_run(folder, "steps = 7" + more)
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    write_run(folder, "steps = 12" + more)
    done = halocline("tddft", "propagate", "run.toml", "--restart", "--json", "parts.json")
    assert done.returncode == 0 and "from step 7" in done.stdout, done.stderr
    double, whole, parts = (numbers(folder, f"{name}.json") for name in ("double", "whole", "parts"))
    assert parts["dipole"] == whole["dipole"] != double["dipole"]
    moved = np.array(double["dipole"]) - double["dipole"][0]
    assert np.abs(np.array(whole["dipole"]) - np.array(double["dipole"])).max() < 1e-4 * np.abs(moved).max()


def test_a_continuation_shares_the_hartree_potential_as_before(halocline, folder):
    write_run(folder, "steps = 2", '[parallel]\nhartree = "shared"\n')
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    write_run(folder, "steps = 3")  # "auto", which would be measured anew
    done = halocline("tddft", "propagate", "run.toml")
    assert "from step 2" in done.stdout and "hartree       shared" in done.stdout, done.stdout


def test_a_killed_run_goes_on_from_its_checkpoint(halocline, folder):
    write_run(folder, "steps = 100000\ncheckpoint_every = 10")
    words = [sys.executable, "-m", "halocline.cli.main", "tddft", "propagate", "run.toml"]
    run = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while not (folder / "h2_rt.orbitals").is_file() and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait(timeout=60)
    write_run(folder, "steps = 100000\ncheckpoint_every = 10\nwall_limit = 0.1")
    done = halocline("tddft", "propagate", "run.toml")
    refused(done, "wall_limit is reached", status=130)
    with h5py.File(folder / "h2_rt.h5") as file:
        steps = file["step"][()]
        assert steps.size > 10 and np.array_equal(steps, np.arange(steps.size))


def test_a_signal_ends_a_run_with_a_checkpoint(folder):
    write_run(folder, "steps = 100000\ncheckpoint_every = 20")
    words = [sys.executable, "-m", "halocline.cli.main", "tddft", "propagate", "run.toml"]
    run = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 100
    while not (folder / "h2_rt.orbitals").is_file() and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGTERM)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "the same command goes on" in err and "Traceback" not in err
    stopped = int(re.search(r"at step (\d+)", err)[1])
    with h5py.File(folder / "h2_rt.h5") as file:
        assert file["step"][-1] == stopped == file.attrs["steps"] and not file.attrs["finished"]


def test_a_restart_of_another_system_or_run_is_refused(halocline, folder):
    write_run(folder, "steps = 2")
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    text = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text(text.replace("kick = 0.01", "kick = 0.02"))
    refused(halocline("tddft", "propagate", "run.toml"), "h2_rt.h5 belongs to another run", "kick")
    (folder / "run.toml").write_text(text.replace("0.37]]", "0.40]]"))
    refused(halocline("tddft", "propagate", "run.toml"), "belongs to another run", "positions")
    (folder / "run.toml").write_text(
        text.replace("steps = 2", 'steps = 2\nrestart = "never"\nkick = 0.02').replace("kick = 0.01\n", "")
    )
    refused(halocline("tddft", "propagate", "run.toml"), "belongs to another run", "kick", "--overwrite")
    assert halocline("tddft", "propagate", "run.toml", "--overwrite").returncode == 0


def test_a_damaged_orbital_file_is_refused(halocline, folder):
    raw = bytearray((folder / "h2_gs.orbitals").read_bytes())
    raw[-100] ^= 0x40
    (folder / "h2_gs.orbitals").write_bytes(raw)
    refused(halocline("tddft", "propagate", "run.toml"), "h2_gs.orbitals")
    (folder / "h2_gs.orbitals").write_bytes(raw[: len(raw) // 2])
    refused(halocline("tddft", "propagate", "run.toml"), "h2_gs.orbitals")


def test_an_unstable_time_step_is_refused_with_the_limit(halocline, folder):
    write_run(folder, 'steps = 5\ntime_step = "1 fs"')
    refused(halocline("tddft", "propagate", "run.toml"), "time step", "unstable", "at most 0.0")
    assert not (folder / "h2_rt.h5").exists()


def test_a_ground_state_that_does_not_converge_is_status_3_and_marked(halocline, tmp_path):
    write_run(tmp_path, more="[scf]\nmax_iterations = 2\n")
    refused(halocline("tddft", "ground-state", "run.toml"), "did not converge", status=3)
    with h5py.File(tmp_path / "h2_gs.h5") as file:
        assert not file.attrs["converged"]
    refused(halocline("tddft", "propagate", "run.toml"), "did not converge", status=3)
    write_run(tmp_path)
    done = halocline("tddft", "ground-state", "run.toml")
    assert done.returncode == 0 and "start         from the orbitals" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("propagat",), "propagat"),
        (("propagate",), "a run file is missing"),
        (("spectrum", "absent.toml"), "absent.toml: cannot be read"),
        (("spectrum", "run.toml"), "run `halocline tddft propagate`"),
        (("propagate", "run.toml", "--restart"), "no checkpoint"),
    ],
)
def test_wrong_words_are_refused(halocline, folder, words, said):
    refused(halocline("tddft", *words), said)


def test_a_propagation_needs_light(halocline, folder):
    text = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text(text.replace("kick = 0.01", ""))
    refused(halocline("tddft", "propagate", "run.toml"), "no light")


def test_example_prints_a_run_file(halocline):
    from halocline.reporter import Reporter
    from halocline.tddft.multiscale_job import MultiscaleJob

    from halocline.comm import world
    from halocline.tddft import System, parse_run_file

    for name in ("ground-state", "propagate", "spectrum", "relax", "dynamics", "bands", "multiscale"):
        done = halocline("tddft", name, "--example")
        assert done.returncode == 0
        run = parse_run_file(done.stdout, "example")
        # Nothing of it is refused, and only the atoms decide whether it is a crystal.
        assert System(run).periodic == (name in ("bands", "multiscale"))
    job = MultiscaleJob(run, world(), Reporter())
    assert len(job.kinds) == 4 and not job.system.warnings


def test_report_knows_the_files(halocline, ground, tmp_path):
    done = halocline("report", ground / "h2_gs.h5", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    assert "energy total" in done.stdout and set(numbers(tmp_path, "r.json")["energy"]) == PARTS


def test_report_of_a_file_that_lacks_something_is_a_sentence(ground, write_without, tmp_path, capsys):
    path = tmp_path / "part.h5"
    with h5py.File(ground / "h2_gs.h5") as whole:
        names = list(whole.attrs)
        parts: list[str] = []
        whole.visititems(lambda name, item: parts.append(name) if isinstance(item, h5py.Dataset) else None)
    named = {"version", "revision", "parameters", "converged", "energy/total", "eigenvalues", "occupations", "k"}
    for name in [*names, *parts]:
        with h5py.File(ground / "h2_gs.h5") as whole:
            write_without(path, whole, name)
        status = main(["report", str(path)])
        said = capsys.readouterr().err
        assert status in (0, 2), (name, said)
        assert status == 0 or str(path) in said, (name, said)
        if name in named:
            assert status == 2 and name in said, (name, said)


def test_report_of_a_file_with_damaged_parameters_is_a_sentence(ground, tmp_path, capsys):
    path = tmp_path / "part.h5"
    for text in ("{not JSON", "{}x", "3"):
        shutil.copy(ground / "h2_gs.h5", path)
        with h5py.File(path, "r+") as file:
            file.attrs["parameters"] = text
        assert main(["report", str(path)]) == 2
        assert str(path) in capsys.readouterr().err


def test_a_crystals_drift_is_subtracted_on_request_or_by_its_gap(halocline, tmp_path):
    (tmp_path / "run.toml").write_text(
        """
[system]
jellium = { radius = 2.0, charge = 2 }
cell = 12
unit = "bohr"
[grid]
extent = [10, 10, 10]
[propagate]
kick = 0.01
steps = 40
[output]
file = "ball.h5"
plots = false
cube = false
[spectrum]
resolution = "20 eV"
to_energy = 4.0
step = 0.01
"""
    )
    assert halocline("tddft", "propagate", "run.toml").returncode == 0
    epsilon = {}
    for drift in ("auto", "subtract", "keep"):
        done = halocline("tddft", "spectrum", "run.toml", "--drift", drift, "--json", "s.json")
        assert done.returncode == 0, done.stderr
        found = numbers(tmp_path, "s.json")
        assert found["parameters"]["spectrum"]["drift"] == drift
        assert ("of the kicked current is constant, kept" in done.stdout) == (drift == "keep")
        epsilon[drift] = np.array(found["epsilon_re"])
    with h5py.File(tmp_path / "ball_rt.h5") as file:
        assert file.attrs["gap"] > 0
    assert (epsilon["auto"] == epsilon["subtract"]).all()
    assert abs(epsilon["keep"][0] - epsilon["subtract"][0]) > 0.1
    refused(halocline("tddft", "spectrum", "run.toml", "--drift", "subtrac"), "subtract")
