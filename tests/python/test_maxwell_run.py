# SPDX-License-Identifier: Apache-2.0
"""`halocline maxwell run`: its example, a film against Fresnel's formula, stop and restart, refusals."""

import json

import h5py
import numpy as np
import pytest
import trimesh
from halocline.cli.main import main
from halocline.maxwell.bodies import _inside
from halocline.maxwell.job import read
from halocline.runs import digest_of_file

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
    for place in (410, 600):  # in a layer, and outside
        with open("wrong.toml", "w") as file:
            file.write((RUN % ("2.25", "", "wrong")).replace("place = 380", f"place = {place}"))
        assert main(["maxwell", "run", "wrong.toml"]) == 2
        assert "the grid without its layers lies between 0 and 400 nm" in capsys.readouterr().err
    assert main(["maxwell", "run"]) == 2


PLANE = """
[grid]
size = [%s, %s, 0]
step = %s
[matter]
bodies = [%s]
%s
[output]
file = "%s.h5"
movie = true
"""


def test_a_beam_with_snapshots_far_fields_and_monitors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    body = '{ shape = "cylinder", centre = [1200, 1800, 0], radius = 200, medium = 2.25 }'
    rest = """
[wave]
polarisation = "z"
from_energy = 1.3
to_energy = 1.5
points = 3
waist = 600
focus = [1200, 1800, 0]
[measure]
flux = [{ name = "behind", axis = "x", place = 1700 }]
fields = ["Ez"]
snapshots = [{ name = "light", component = "Ez", every = "4 fs" },
             { name = "line", component = "Ez", every = "3 fs", axis = "y", place = 1800 }]
monitors = [{ name = "focus", components = ["Ez", "Hy"], lower = [1200, 0, 0], upper = [1200, 3600, 0] }]
far = [{ name = "away", lower = [900, 1500, 0], upper = [1500, 2100, 0], directions = [[1, 0, 0], [0, 1, 0]] }]
[run]
fall = 1e-4
%s
"""
    text = PLANE % (1800, 3600, 40, body, rest, "%s")
    (tmp_path / "wrong.toml").write_text((text % ("", "wrong")).replace("[[1, 0, 0], [0, 1, 0]]", "[[0, 0, 1]]"))
    assert main(["maxwell", "run", "wrong.toml"]) == 2
    assert "zero along flat axes" in capsys.readouterr().err and not list(tmp_path.glob("wrong.s*"))
    (tmp_path / "whole.toml").write_text(text % ("", "whole"))
    assert main(["maxwell", "run", "whole.toml"]) == 0
    said = capsys.readouterr().out
    for picture in ("whole.png", "whole_Ez.png", "whole_light.png", "whole_light.gif", "whole_line.png"):
        assert f"picture       {picture}" in said and (tmp_path / picture).stat().st_size > 1000
    attributes, data = read("whole.h5")
    assert 0.5 < data["flux/behind"].min() < data["flux/behind"].max() < 1
    assert data["monitor/focus/Ez"].shape == (3, 1, 91, 1) and np.abs(data["monitor/focus/Hy"]).max() > 1
    assert data["far/away"].shape == (3, 2) and np.all(data["far/away"] > 0)
    times = data["scale/light/time"]
    assert data["snapshot/light"].shape == (len(times), 1, 91, 46) and abs(times[0] - 4) < 0.1
    assert data["left_energy"].max() == 1
    with h5py.File("whole.h5") as file:
        assert [d.label for d in file["snapshot/light"].dims] == ["time", "z", "y", "x"]
        assert file["snapshot/light"].dims[3][0].shape == (46,)
    assert main(["report", "whole.h5", "--json", "numbers.json"]) == 0
    said = capsys.readouterr().out
    assert "snapshot/light" in said and "of the incident energy" in said
    assert json.loads((tmp_path / "numbers.json").read_text())["far"]["away"] == data["far/away"].tolist()

    (tmp_path / "parts.toml").write_text((text % ("wall_limit = 1e-9", "parts")).replace("movie = true", ""))
    for _ in range(4):
        assert main(["maxwell", "run", "parts.toml"]) == 130
    (tmp_path / "parts.toml").write_text((text % ("", "parts")).replace("movie = true", ""))
    assert main(["maxwell", "run", "parts.toml"]) == 0
    assert not (tmp_path / "parts.frames").exists()
    _, other = read("parts.h5")
    for name in ("snapshot/light", "snapshot/line", "left_energy", "far/away", "monitor/focus/Ez"):
        assert np.array_equal(other[name], data[name]), name


def test_a_kick_and_bodies_and_media_from_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    medium = hc.maxwell.medium(poles=[(3.0, 1.5, 20.0)])
    energies = np.linspace(0.5, 6.0, 40)
    index = np.array([complex(n) for n in medium.index(energies)])
    np.savetxt("matter.txt", np.column_stack([2 * np.pi * 197.3269804 / energies, index.real, index.imag]))
    # A rod of cubes of 0.5 nm in a file of lattice points, in bohr, with its axis along z.
    x = np.arange(-12, 13) * 0.5
    inside = np.hypot(*np.meshgrid(x, x, indexing="ij")) < 4
    lines = ["made here", "1 is inside", "0 0 0 0"] + [
        f"{n} " + " ".join(f"{0.5 / 0.0529177210903 * (a == b):.9f}" for b in range(3))
        for a, n in enumerate((25, 25, 1))
    ]
    lines += [" ".join(f"{float(v):.1f}" for v in row) for row in inside]
    (tmp_path / "rod.cube").write_text("\n".join(lines) + "\n")
    trimesh.creation.cylinder(radius=40, height=5, sections=64).export("rod.stl")
    matter = 'medium = { index = "matter.txt", unit = "nm", permittivity = 1 } }'
    rest = '[kick]\ndirection = "x"\nfrom_energy = 1\nto_energy = 5\npoints = 9\n[run]\nfall = 1e-6\nlongest = 40'
    shapes = {
        "cube": '{ shape = "cube", file = "rod.cube", value = 1, centre = [8, 8, 0], ' + matter,
        "mesh": '{ shape = "mesh", file = "rod.stl", step = 0.25, unit = "1 angstrom", centre = [8, 8, 0], ' + matter,
        "rod": '{ shape = "cylinder", radius = 4, centre = [8, 8, 0], ' + matter,
    }
    found = {}
    for name, body in shapes.items():
        (tmp_path / f"{name}.toml").write_text(PLANE % (16, 16, 0.5, body, rest, name))
        assert main(["maxwell", "run", f"{name}.toml"]) == 0, capsys.readouterr().err
        found[name] = read(f"{name}.h5")[1]["extinction"]
        assert "poles fitted to matter.txt" in capsys.readouterr().out
    epsilon = medium.epsilon(np.linspace(1, 5, 9))
    exact = np.linspace(1, 5, 9) / 197.3269804 * (2 * np.pi * 16 * (epsilon - 1) / (epsilon + 1)).imag
    assert np.abs(found["rod"] - exact).max() < 0.12 * exact.max()
    for name in ("cube", "mesh"):
        assert np.abs(found[name] - found["rod"]).max() < 0.15 * exact.max()
    (tmp_path / "bad.toml").write_text(
        PLANE % (16, 16, 0.5, "", rest + '\n[measure]\nflux = [{ name = "a", axis = "x", place = 3 }]', "bad")
    )
    assert main(["maxwell", "run", "bad.toml"]) == 2
    assert "a kick has no incident wave" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text(PLANE % (160, 160, 5, "", "", "bad"))
    assert main(["maxwell", "run", "bad.toml"]) == 2
    assert "nothing is measured" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text(
        PLANE % (16, 16, 0.5, shapes["cube"].replace("value = 1", "value = 3"), rest, "b")
    )
    assert main(["maxwell", "run", "bad.toml"]) == 2
    assert "no point of the number 3" in capsys.readouterr().err


def volume_of(shape, upper=(20, 12, 12), step=0.25):
    """By points of a lattice from the origin on."""
    places = (step * (np.arange(n / step) + 0.5) for n in upper)
    points = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, 3)
    return step**3 * sum(shape.contains(p) for p in points.tolist())


def test_cubes_inside_a_surface(tmp_path):
    step = 0.25
    ring = trimesh.creation.torus(4.0, 1.5, major_sections=96, minor_sections=48)
    corners = np.asarray(ring.triangles)
    lower = corners.min(axis=(0, 1)) + 0.5 * step
    counts = np.ceil(np.ptp(corners, axis=(0, 1)) / step).astype(int)
    inside = _inside(corners, lower, step, counts)
    assert np.array_equal(inside, _inside(corners[:, ::-1], lower, step, counts))  # all triangles face inwards
    x, y, z = (lower[a] + step * np.arange(counts[a]) for a in range(3))
    depth = 1.5 - np.hypot(np.hypot(*np.meshgrid(y, x, indexing="ij")) - 4.0, z[:, None, None])
    sure = np.abs(depth) > 0.02  # the surface is one of flat triangles
    assert sure.mean() > 0.97 and inside.any()
    assert np.array_equal(inside[sure], depth[sure] > 0)
    assert inside.sum() * step**3 == pytest.approx(ring.volume, rel=1e-2)
    # Faces, edges and corners on lattice points.
    block = np.asarray(trimesh.creation.box(extents=(4, 4, 4)).triangles)
    assert _inside(block, np.array([-2.5, -2.5, -2.5]), 1.0, np.array([6, 6, 6])).sum() == 64
    ball = trimesh.creation.icosphere(subdivisions=4, radius=5.0)
    for name in ("ball.stl", "ball.obj", "ball.ply", "ball.off"):
        ball.export(tmp_path / name)
        assert hc.maxwell.voxels_of_mesh(str(tmp_path / name), "0.5 nm") is not None
    box = trimesh.creation.box(extents=(10, 4, 3))
    box.export(tmp_path / "box.stl")
    # Bytes of these differ that are no characters.
    (tmp_path / "one.stl").write_bytes(b"\xe0\xff")
    (tmp_path / "other.stl").write_bytes(b"\xe0\xfe")
    assert digest_of_file(tmp_path / "one.stl") != digest_of_file(tmp_path / "other.stl")
    assert volume_of(hc.maxwell.voxels_of_mesh(str(tmp_path / "box.stl"), 0.25, centre=(6, 6, 6))) == 120
    other = ball.copy()
    other.apply_translation((5, 0, 0))
    hollow = trimesh.creation.icosphere(subdivisions=4, radius=3.0)
    hollow.invert()
    lens = 2 * np.pi / 3 * 2.5**2 * (15 - 2.5)  # two caps of height 2.5
    whole = 4 / 3 * np.pi * 125
    for name, parts, size in (("two", [ball, other], 2 * whole - lens), ("shell", [ball, hollow], whole * 98 / 125)):
        trimesh.util.concatenate(parts).export(tmp_path / f"{name}.ply")
        found = hc.maxwell.voxels_of_mesh(str(tmp_path / f"{name}.ply"), 0.25, centre=(8, 6, 6))
        assert volume_of(found) == pytest.approx(size, rel=0.01)
    turned = ball.copy()
    turned.faces = np.vstack([turned.faces[0, ::-1], turned.faces[1:]])
    turned.export(tmp_path / "turned.ply")
    with pytest.raises(hc.InvalidArgument, match="face inwards"):
        hc.maxwell.voxels_of_mesh(str(tmp_path / "turned.ply"), 0.5)
    with pytest.raises(hc.InvalidArgument, match="centre"):
        hc.maxwell.voxels_of_mesh(str(tmp_path / "ball.stl"), 0.5, centre=(0, 0))
    ball.faces = ball.faces[1:]
    ball.export(tmp_path / "holes.stl")
    with pytest.raises(hc.InvalidArgument, match="the surface has holes"):
        hc.maxwell.voxels_of_mesh(str(tmp_path / "holes.stl"), 0.5)
    with pytest.raises(hc.InvalidArgument, match="take a larger step"):
        hc.maxwell.voxels_of_mesh(str(tmp_path / "ball.stl"), 0.5, unit="1 mm")
    with pytest.raises(hc.InvalidArgument, match="take a smaller step"):
        hc.maxwell.voxels_of_mesh(str(tmp_path / "ball.stl"), 0.5, unit=1e-9, centre=(0.1, 0.1, 0.1))
    (tmp_path / "text.stl").write_text("no surface\n")
    for name in ("text.stl", "absent.stl"):
        with pytest.raises(hc.FileError, match=name):
            hc.maxwell.voxels_of_mesh(str(tmp_path / name), 0.5)


def test_a_cylindrical_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PLANE % (
        12,
        0.0,
        1.0,
        '{ shape = "sphere", centre = [0, 0, 12], radius = 5, medium = { permittivity = 1, poles = [[6, 2, 36]] } }',
        '[kick]\ndirection = "x"\nfrom_energy = 1\nto_energy = 5\npoints = 5\n[measure]\nfields = ["Ex"]\n'
        "[run]\nfall = 1e-5\nlongest = 10",
        "ball",
    )
    text = text.replace("size = [12, 0.0, 0]", "size = [12, 0, 24]\nazimuthal = 1")
    (tmp_path / "ball.toml").write_text(text)
    assert main(["maxwell", "run", "ball.toml"]) == 0, capsys.readouterr().err
    data = read("ball.h5")[1]
    medium = hc.maxwell.medium(poles=[(6.0, 2.0, 36.0)])
    epsilon = medium.epsilon(data["energy"])
    exact = data["energy"] / 197.3269804 * (4 * np.pi * 125 * (epsilon - 1) / (epsilon + 2)).imag
    assert np.abs(data["extinction"] - exact).max() < 0.15 * exact.max()
    (tmp_path / "ball.toml").write_text(text.replace("size = [12, 0, 24]", "size = [12, 3, 24]"))
    assert main(["maxwell", "run", "ball.toml"]) == 2
    assert "a cylindrical grid has a size along x" in capsys.readouterr().err
