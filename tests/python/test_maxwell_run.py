# SPDX-License-Identifier: Apache-2.0
"""`halocline maxwell run`: its example, a film against Fresnel's formula, stop and restart, refusals."""

import json

import h5py
import numpy as np
from halocline.cli.main import main
from halocline.maxwell.job import read

import halocline as hc

RUN = """
[grid]
size = ["400 nm", 0, 0]
step = "2 nm"
[matter]
bodies = [{ lower = [200, "open", "open"], upper = ["0.23 um", "open", "open"], medium = %s }]
[wave]
from_energy = "1.5 eV"
to_energy = 3.0
points = 4
[measure]
flux = [{ name = "before", axis = "x", place = 6 }, { name = "behind", axis = "x", place = 380 }]
probes = [{ name = "middle", component = "Ey", place = [215, 0, 0] }]
fields = ["Ey"]
[run]
%s
[output]
file = "%s.h5"
"""


def write(name, medium='"silver"', run=""):
    with open(f"{name}.toml", "w") as file:
        file.write(RUN % (medium, run, name))


def test_a_film_of_silver(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("film")
    assert main(["maxwell", "run", "film.toml", "--json", "film.json"]) == 0
    said = capsys.readouterr().out
    assert "behind" in said and "picture       film.png" in said
    attributes, data = read("film.h5")
    k = data["energy"] / 197.3269804
    n = np.array([complex(hc.maxwell.TABLE["silver"].index(e)) for e in data["energy"]])
    r = (1 - n) / (1 + n)
    turn = np.exp(1j * n * k * 30)
    reflected = abs(r * (1 - turn**2) / (1 - r**2 * turn**2)) ** 2
    transmitted = abs((1 - r**2) * turn / (1 - r**2 * turn**2)) ** 2
    assert np.abs(-data["flux/before"] - reflected).max() < 5e-3
    assert np.abs(data["flux/behind"] - transmitted).max() < 5e-3
    assert data["probe/middle"].shape == data["probe_time"].shape == (attributes["steps"],)
    assert data["field/Ey"].shape == (1, 1, 225)
    numbers = json.loads((tmp_path / "film.json").read_text())
    assert numbers["flux"]["behind"] == data["flux/behind"].tolist() and numbers["steps"] == attributes["steps"]
    table = np.loadtxt("film.txt")
    assert np.abs(table[:, 1] - data["flux/before"]).max() < 1e-8
    assert main(["maxwell", "run", "film.toml"]) == 0
    assert "finished before" in capsys.readouterr().out
    write("film", "2.25")
    assert main(["maxwell", "run", "film.toml"]) == 2
    assert "belongs to another run" in capsys.readouterr().err


def test_a_stopped_run_goes_on_with_the_same_bits(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("whole")
    assert main(["maxwell", "run", "whole.toml"]) == 0
    write("parts", run="wall_limit = 1e-9")
    for _ in range(3):
        assert main(["maxwell", "run", "parts.toml"]) == 130
        assert "goes on from parts.state" in capsys.readouterr().err
    write("parts")
    assert main(["maxwell", "run", "parts.toml"]) == 0
    assert "restart" in capsys.readouterr().out
    assert not (tmp_path / "parts.state").exists()
    with h5py.File("whole.h5") as one, h5py.File("parts.h5") as other:
        for name in ("probe/middle", "flux/before", "flux/behind", "field/Ey"):
            assert np.array_equal(one[name], other[name])
    write("parts", run="wall_limit = 1e-9")
    assert main(["maxwell", "run", "parts.toml", "--overwrite"]) == 130
    whole = (tmp_path / "parts.state").read_bytes()
    write("parts")
    for length, sentence in ((70, "ends in its head"), (len(whole) - 100, "cannot be read")):
        (tmp_path / "parts.state").write_bytes(whole[:length])
        (tmp_path / "parts.h5").unlink(missing_ok=True)
        assert main(["maxwell", "run", "parts.toml"]) == 2
        assert sentence in capsys.readouterr().err
    (tmp_path / "other.state").write_bytes(b"0" * 200)
    write("other")
    assert main(["maxwell", "run", "other.toml"]) == 2
    assert "other.state belongs to another run" in capsys.readouterr().err


def test_processes_change_no_bit(halocline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("one")
    assert halocline("maxwell", "run", "one.toml").returncode == 0
    write("two", run="wall_limit = 1e-9")
    done = halocline("maxwell", "run", "two.toml", ranks=2)
    assert done.returncode == 130 and done.stderr.count("goes on from two.state") == 1
    write("two")
    done = halocline("maxwell", "run", "two.toml")
    assert done.returncode == 2 and "a checkpoint of 2 processes, and 1 were started" in done.stderr
    done = halocline("maxwell", "run", "two.toml", ranks=2)
    assert done.returncode == 0 and done.stdout.count("restart") == 1, done.stderr
    with h5py.File("one.h5") as one, h5py.File("two.h5") as two:
        assert np.array_equal(one["flux/behind"], two["flux/behind"])
        assert np.array_equal(one["probe/middle"], two["probe/middle"])


def test_the_example_is_a_run_file_and_slips_are_sentences(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["maxwell", "run", "--example"]) == 0
    text = capsys.readouterr().out
    assert hc.maxwell.runfile.Run.parse(text, "example").grid.step == 2.0
    for medium, sentence in (
        ('"silvr"', "did you mean 'silver'"),
        ("-1", "number above 0"),
        ("{ permitivity = 2 }", "no keyword 'permitivity'"),
    ):
        write("wrong", medium)
        assert main(["maxwell", "run", "wrong.toml"]) == 2
        assert sentence in capsys.readouterr().err
    write("wrong")
    for before, after, sentence in (
        ("step = ", "stepp = ", "did you mean 'step'"),
        ('axis = "x", place = 6', "place = 6", "give axis and place"),
        ('upper = ["0.23 um", "open", "open"], ', "", "a cuboid needs lower and upper"),
        ('"2 nm"', '"2 m"', "a text with its unit: nm, um"),
        ('"2 nm"', '"50 nm"', "unstable in matter"),
    ):
        with open("wrong.toml", "w") as file:
            file.write((RUN % ('"silver"', "", "wrong")).replace(before, after, 1))
        assert main(["maxwell", "run", "wrong.toml"]) == 2
        assert sentence in capsys.readouterr().err
    with open("wrong.toml", "w") as file:
        file.write((RUN % ("2.25", "", "wrong")).replace("place = 380", "place = 600"))
    assert main(["maxwell", "run", "wrong.toml"]) == 2
    assert "the grid lies between -24 and 424 nm" in capsys.readouterr().err
    assert main(["maxwell", "run"]) == 2
