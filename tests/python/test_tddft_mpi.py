# SPDX-License-Identifier: Apache-2.0
"""Electrons under mpirun: the same numbers whatever the division, one rank speaks, errors end every rank."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

RUN = """
[system]
jellium = {{ radius = 1.5, charge = 10 }}
cell = 12
unit = "bohr"
states = 8
[grid]
extent = [10, 10, 10]
[kpoints]
mesh = [1, 1, 2]
[scf]
tolerance = 1e-10
[propagate]
kick = 0.01
steps = 5
time_step = 0.1
{propagate}
[output]
file = "{file}.h5"
plots = false
cube = false
[parallel]
{parallel}
"""


def write_run(folder, file, parallel="", propagate=""):
    (folder / "run.toml").write_text(RUN.format(file=file, parallel=parallel, propagate=propagate))


def numbers(folder, name):
    return json.loads((folder / name).read_text())


def test_no_division_changes_the_current(halocline, tmp_path):
    write_run(tmp_path, "one")
    assert halocline("tddft", "propagate", "run.toml", "--json", "one.json").returncode == 0
    one = numbers(tmp_path, "one.json")
    for ranks, parallel in ((2, ""), (4, "orbitals = 2\nspace = [1, 1, 2]")):
        write_run(tmp_path, "many", parallel, 'restart = "never"')
        done = halocline("tddft", "propagate", "run.toml", "--json", "many.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("limit of stability") == 1  # one rank speaks
        many = numbers(tmp_path, "many.json")
        assert np.abs(np.subtract(many["current"], one["current"])).max() < 1e-9 * np.abs(one["current"]).max() + 1e-13
        assert many["energy"]["total"] == pytest.approx(one["energy"]["total"], abs=1e-9)
        for name in tmp_path.glob("many_*"):
            name.unlink()


def test_no_division_changes_the_populations(halocline, tmp_path):
    counted = "excited_every = 5\npopulations = 7"
    write_run(tmp_path, "one", "", counted)
    assert halocline("tddft", "propagate", "run.toml", "--json", "one.json").returncode == 0
    one = numbers(tmp_path, "one.json")
    assert np.shape(one["populations"]) == (2, 2, 7) and one["excited"][1] > 1e-6
    write_run(tmp_path, "many", "orbitals = 2", counted)
    done = halocline("tddft", "propagate", "run.toml", "--json", "many.json", ranks=2)
    assert done.returncode == 0, done.stderr
    many = numbers(tmp_path, "many.json")
    assert many["excited"] == pytest.approx(one["excited"], abs=1e-9)
    # States of one energy may mix, so the sums of shells are compared: one s, three p, the rest.
    for first, last in ((0, 1), (1, 4)):
        sums = [np.array(n["populations"])[:, :, first:last].sum(axis=2) for n in (one, many)]
        assert sums[1] == pytest.approx(sums[0], abs=1e-6)


def test_a_checkpoint_of_two_ranks_goes_on_with_one(halocline, tmp_path):
    write_run(tmp_path, "run", "orbitals = 2")
    assert halocline("tddft", "propagate", "run.toml", ranks=2).returncode == 0
    (tmp_path / "run.toml").write_text(
        (tmp_path / "run.toml").read_text().replace("steps = 5", "steps = 8").replace("orbitals = 2", "")
    )
    done = halocline("tddft", "propagate", "run.toml", "--json", "run.json")
    assert done.returncode == 0 and "from step 5" in done.stdout, done.stderr
    assert len(numbers(tmp_path, "run.json")["time"]) == 9


def test_an_impossible_division_ends_every_rank_with_one_sentence(halocline, tmp_path):
    write_run(tmp_path, "run", "space = [1, 1, 3]")
    done = halocline("tddft", "ground-state", "run.toml", ranks=2)
    assert done.returncode == 2
    assert done.stderr.count("halocline: ") == 1 and "Traceback" not in done.stderr


def test_a_signal_ends_every_rank_with_a_checkpoint(tmp_path, parallel_environment):
    """Also where a transport that was tried has put its own handlers in place of ours."""
    write_run(tmp_path, "run", propagate="checkpoint_every = 20")
    text = (tmp_path / "run.toml").read_text()
    (tmp_path / "run.toml").write_text(text.replace("steps = 5", "steps = 100000"))
    words = ["mpirun", "-n", "2", sys.executable, "-m", "halocline.cli.main", "tddft", "propagate", "run.toml"]
    said = open(tmp_path / "said", "w")  # noqa: SIM115 - a pipe would be held open by a rank that stays
    run = subprocess.Popen(words, cwd=tmp_path, env=parallel_environment, stdout=said, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 200
    while not (tmp_path / "run_rt.orbitals").is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    status = run.wait(timeout=60)
    text = (tmp_path / "said").read_text()
    # MPICH's launcher, which got the signal, ends with status 0 though the ranks end with 130.
    assert status != 0 or "the same command goes on from run_rt.orbitals" in text, text
    assert "Traceback" not in text, text
    # That of Open MPI 5 prints nothing of the ranks once it has the signal, and kills them half a second later.
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout
    assert "stopping at the next safe point" in text or re.search(r"Open MPI\D+([5-9]|\d\d)\.", version), text


ATOMS = """
[system]
atoms = [["H", 0, 0, -0.42], ["H", 0, 0.03, 0.42]]
box = [3.6, 3.6, 4.2]
[grid]
spacing = "0.3 angstrom"
[scf]
tolerance = 1e-9
[ions]
move = true
every = 2
temperature = "500 K"
[propagate]
steps = 10
energy_every = 2
kick = 0.01
[dynamics]
steps = 3
ensemble = "langevin"
temperature = "500 K"
[output]
file = "{file}.h5"
plots = false
cube = false
"""


@pytest.mark.parametrize(
    ("command", "suffix", "names"),
    [
        ("relax", "_relax", ("positions", "forces", "energy")),
        ("dynamics", "_md", ("positions", "velocities", "conserved")),
        ("propagate", "_rt", ("dipole",)),
    ],
)
def test_no_division_changes_where_atoms_go(halocline, tmp_path, command, suffix, names):
    found = []
    for ranks, file, more in ((1, "one", ""), (2, "two", "[parallel]\nspace = [1, 1, 2]\n"), (3, "three", "")):
        (tmp_path / "run.toml").write_text(ATOMS.format(file=file) + more)
        done = halocline("tddft", command, "run.toml", "--json", f"{file}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        found.append(numbers(tmp_path, f"{file}.json"))
        assert (tmp_path / f"{file}{suffix}.xyz").is_file()
    for other in found[1:]:
        for name in names:
            assert np.array(other[name]) == pytest.approx(np.array(found[0][name]), abs=2e-6), name
        if command == "propagate":
            positions = [np.array(f["ions"]["positions"]) for f in (found[0], other)]
            assert positions[1] == pytest.approx(positions[0], abs=1e-8)


CRYSTAL = """
[system]
atoms = [["He", 0.1, 0.2, 0.3]]
cell = [2.6, 2.6, 3.1]
[grid]
extent = [10, 10, 12]
allow_coarse = true
[kpoints]
mesh = [2, 1, 1]
[scf]
tolerance = 1e-9
[bands]
path = "GXM"
points = 11
bands = 3
[output]
file = "{file}.h5"
plots = false
cube = false
"""


def test_no_division_changes_the_bands(halocline, tmp_path):
    found = []
    for ranks, file, more in ((1, "one", ""), (2, "two", "[parallel]\nk = 2\n"), (4, "four", "")):
        (tmp_path / "run.toml").write_text(CRYSTAL.format(file=file) + more)
        done = halocline("tddft", "bands", "run.toml", "--json", f"{file}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        found.append(np.array(numbers(tmp_path, f"{file}.json")["energies"]))
    assert found[0].shape == (1, 11, 3)
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=1e-7)
