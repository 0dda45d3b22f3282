# SPDX-License-Identifier: Apache-2.0
"""Staggered quarks: the Ward identity of the pion, masses of free quarks, and what a run file says of them."""

import functools

import h5py
import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.qcd.runfile import parse_run_file
from halocline.qcd.solve import solve_run
from halocline.reporter import Reporter

import halocline as hc

GENERATED = "[gauge]\ngenerate = { size = [4, 4, 4, 8], beta = 5.7, sweeps = 5, seed = 2 }\n"
MEASURE = "[measure]\nnucleon = false\n"
KINDS = ("one-link", "asqtad", "hisq")


@pytest.fixture(scope="module")
def u():
    field = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(field, beta=6.0, sweeps=20, seed=2)
    return field


@pytest.mark.parametrize("kind", KINDS)
def test_the_pion_sums_to_the_condensate(u, kind):
    """m sum_x |S(x, x0)|^2 = Re tr S(x0, x0), from D + D^dagger = 2 m."""
    mass = 0.05
    S = hc.qcd.propagator(hc.qcd.Staggered(u, mass, kind), [1, 2, 3, 4], tolerance=1e-12)
    assert S.array().shape == (8, 4, 4, 4, 3, 3)
    condensate = np.trace(S.array()[4, 3, 2, 1]).real
    assert mass * hc.qcd.mesons(S)["pion"].sum() == pytest.approx(condensate, rel=1e-10)


def test_channels_are_signed_sums_of_the_propagator(u):
    source = [1, 2, 3, 4]
    S = hc.qcd.propagator(hc.qcd.Staggered(u, 0.1), source)
    square = np.roll((abs(S.array()) ** 2).sum(axis=(-1, -2)), -source[3], axis=0)
    z, y, x = (np.arange(4) - source[axis] for axis in (2, 1, 0))
    sx, sy, sz = (-1.0) ** x, ((-1.0) ** y)[:, None], ((-1.0) ** z)[:, None, None]
    signs = {
        "pion": np.ones((4, 4, 4)),
        "pion_sc": sx * sy * sz,
        "rho": (sx + sy + sz) / 3,
        "rho_pv": (sx * sy + sy * sz + sz * sx) / 3,
    }
    found = hc.qcd.mesons(S)
    for name, sign in signs.items():
        assert np.allclose(found[name], (square * sign).sum(axis=(1, 2, 3)), rtol=1e-12)
    moving = hc.qcd.mesons(S, channels=["pion"], momenta=[[1, 0, 0]])["pion"][0]
    phase = np.exp(-0.5j * np.pi * x)
    assert np.allclose(moving, (square * phase).sum(axis=(1, 2, 3)), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_free_quarks_have_the_mass_of_their_dispersion_relation(kind):
    """m = sinh E for one-link quarks at rest, and m = 9/8 sinh E - 1/24 sinh 3E with long links."""
    mass, extent = 0.4, 128
    D = hc.qcd.Staggered(hc.qcd.unit_links([4, 4, 4, extent]), mass, kind, boundary=(1, 1, 1, 1))
    # A source on a whole slice has momentum 0.
    wall = np.zeros((extent, 4, 4, 4, 3), complex)
    wall[0, ..., 0] = 1
    x = D.solve(wall, tolerance=1e-13)[..., 0].sum(axis=(1, 2, 3))
    energy = np.log(abs(x[24] / x[26])) / 2
    found = np.sinh(energy) if kind == "one-link" else 9 / 8 * np.sinh(energy) - np.sinh(3 * energy) / 24
    assert found == pytest.approx(mass, rel=1e-7)


def test_several_masses_come_from_one_solve(u):
    D = hc.qcd.Staggered(u, 0.1)
    b = hc.qcd.staggered_point_source(u, [0, 0, 0, 0], colour=1)
    masses = (0.1, 0.3)
    for m, x in zip(masses, D.solver.solve_shifted(b, [m * m - 0.01 for m in masses]), strict=True):
        other = hc.qcd.Staggered(u, m)
        assert abs(other.dagger(other(x)) - b).max() < 1e-9
        assert np.allclose(other.dagger(x), other.solve(b), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_has_the_quarks_of_the_cpu(u, kind):
    here = hc.qcd.propagator(hc.qcd.Staggered(u, 0.1, kind), [0, 0, 0, 0], tolerance=1e-11)
    D = hc.qcd.Staggered(u, 0.1, kind, device="host-executor", tolerance=1e-11)
    there = hc.qcd.propagator(D, [0, 0, 0, 0])
    assert D.solver.device == "host executor" and "even-odd cg, double and float" in there.reports[0]["method"]
    assert np.abs(there.array() - here.array()).max() < 1e-9 * abs(here.array()).max()
    b = hc.qcd.staggered_point_source(u, [0, 0, 0, 0], colour=1)
    assert np.abs(D(b) - hc.qcd.Staggered(u, 0.1, kind)(b)).max() < 1e-14
    kept = D.solver.solve_on_device([b])
    assert kept.shape == (1, 8, 4, 4, 4, 3)
    assert np.abs(kept.numpy()[0] - here.array()[..., 1]).max() < 1e-9 * abs(here.array()).max()


def test_a_spectrum_run_keeps_its_channels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GENERATED + '[action]\nkind = "hisq"\nmass = 0.1\nnaik_epsilon = -0.05\n'
    (tmp_path / "run.toml").write_text(text + MEASURE + 'mesons = "all"\n')
    hc.qcd.spectrum(hc.qcd.read_run_file("run.toml"))
    with h5py.File("spectrum.h5") as file:
        one = file["configurations/0000"]
        assert sorted(one["mesons"]) == ["pion", "pion_sc", "rho", "rho_pv"]
        assert one["residuals"].shape == (1, 3) and one["residuals"][()].max() < 1e-10
        assert file.attrs["naik_epsilon"] == -0.05 and file.attrs["basis"] == "one spin, phases of MILC"
        pion = one["mesons/pion"][0, 0].real
    u = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(u, beta=5.7, sweeps=5, seed=2)
    s = hc.qcd.propagator(hc.qcd.Staggered(u, 0.1, naik_epsilon=-0.05), [0, 0, 0, 0])
    assert np.allclose(hc.qcd.mesons(s)["pion"], pion, rtol=1e-7)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ('kind = "hisq"', "needs mass"),
        ('kind = "hisq"\nmass = 0.0', "needs a positive mass"),
        ('kind = "hisq"\nmass = 0.1\nu0 = 0.9', 'use "asqtad"'),
        ('kind = "asqtad"\nmass = 0.1\nnaik_epsilon = 0.1', 'use "hisq"'),
        ('kind = "asqtad"\nmass = 0.1\nu0 = 1.2', "at most 1"),
        ('kind = "hisq"\nkappa = 0.1', "kappa is set"),
        ('kind = "one-link"\nmass = 0.1\nanisotropy = 2.0', "isotropic"),
        ('kind = "hisq"\nmass = 0.1\n[solver]\nkind = "bicgstab"', 'give "auto", "cg" or "block-cg"'),
        ('kind = "hisq"\nmass = 0.1\n[solver]\nshifts = [0.1]', "solve_shifted"),
        ('kind = "hisq"\nmass = 0.1\n[solver]\ninner_precision = "fixed16"\n[parallel]\ndevice = "cuda"', "fat links"),
        ('kind = "hisq"\nmass = 0.1\n[solver]\nlink_reals = 12\n[parallel]\ndevice = "cuda"', "need 18"),
        ('kind = "hisq"\nmass = 0.1\n[parallel]\ndevice = "cuda"\nhalo_policy = "staged"', "without a halo"),
        ('kind = "hisq"\nmass = 0.1\n[source]\nkind = "z2"', "point sources, corner walls"),
        ('kind = "hisq"\nmass = 0.1\n[measure]\nnucleon = false\nmesons = ["a1"]', 'no channel "a1"'),
        ('kind = "wilson"\nmass = 0.1\n[measure]\nnucleon = false\nmesons = ["pion_sc"]', 'no channel "pion_sc"'),
    ],
)
def test_run_files_are_refused_with_the_rule(keys, sentence):
    nucleon = "" if "[measure]" in keys else MEASURE
    with pytest.raises(InvalidArgument, match=sentence):
        parse_run_file(GENERATED + f"[action]\n{keys}\n{nucleon}", "run.toml")


def test_the_nucleon_is_refused():
    with pytest.raises(InvalidArgument, match="set nucleon = false"):
        parse_run_file(GENERATED + '[action]\nkind = "hisq"\nmass = 0.1\n', "run.toml")


@pytest.mark.parametrize("bits", [64, 32])
def test_a_propagator_comes_back_from_its_file_on_any_number_of_processes(u, python, tmp_path, bits):
    D = hc.qcd.Staggered(u, 0.1, naik_epsilon=-0.05, tolerance=1e-9)
    S = hc.qcd.propagator(D, [1, 2, 3, 4])
    hc.qcd.write_propagator(tmp_path / "s.h5", S, bits=bits)
    again = hc.qcd.read_propagator(tmp_path / "s.h5")
    assert isinstance(again, hc.qcd.StaggeredPropagator) and list(again.source) == [1, 2, 3, 4]
    assert np.array_equal(again.array(), S.array() if bits == 64 else S.array().astype(np.complex64))
    assert again.record["action"]["naik_epsilon"] == -0.05 and again.info["bits"] == bits
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["propagator"], again.array())
        assert file.attrs["order"] == "t, z, y, x, sink colour, source colour"
        assert file.attrs["basis"] == "one spin, phases of MILC"
    script = tmp_path / "copies.py"
    script.write_text(
        "import halocline as hc\n"
        f"s = hc.qcd.read_propagator({str(tmp_path / 's.h5')!r})\n"
        f"hc.qcd.write_propagator({str(tmp_path / 'copy.h5')!r}, s, bits={bits})\n"
    )
    done = python(script, ranks=2)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "s.h5").read_bytes() == (tmp_path / "copy.h5").read_bytes()


def test_solve_keeps_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    action = '[action]\nkind = "hisq"\nmass = 0.1\n'
    run = parse_run_file(
        GENERATED + action + MEASURE + "[source]\npositions = [[0, 0, 0, 0], [0, 0, 0, 4]]\n", "r.toml"
    )
    solve = functools.partial(solve_run, run, hc.comm.communicator(None), Reporter())
    with pytest.raises(InvalidArgument, match="kept as HDF5"):
        solve("s.lime")
    solve("s.h5")
    names = sorted(path.name for path in tmp_path.glob("*.h5"))
    assert len(names) == 2
    lost = (tmp_path / names[1]).read_bytes()
    (tmp_path / names[1]).unlink()
    sources = solve("s.h5", resume=True)["configurations"][0]["sources"]
    assert sources[0]["kept"] == names[0] and len(sources[1]["residuals"]) == 3
    assert (tmp_path / names[1]).read_bytes() == lost
    assert hc.qcd.read_propagator(names[1]).record["position"] == [0, 0, 0, 4]


def test_a_corner_wall_is_the_sum_of_its_points(u):
    D = hc.qcd.Staggered(u, 0.4, kind="one-link", tolerance=1e-12)
    position = [1, 0, 1, 2]
    wall = hc.qcd.propagator(D, position, kind="wall")
    assert wall.record["source"]["kind"] == "wall"
    corners = [[i, j, k, 2] for i in (1, 3) for j in (0, 2) for k in (1, 3)]
    expected = sum(hc.qcd.propagator(D, corner).array() for corner in corners)
    assert np.abs(wall.array() - expected).max() < 1e-10 * np.abs(expected).max()
    pion = hc.qcd.mesons(wall, channels=["pion"])["pion"]
    squares = (np.abs(wall.array()) ** 2).sum(axis=(1, 2, 3, 4, 5))
    assert np.allclose(pion, np.roll(squares, -2), rtol=1e-12)


def test_what_there_is_not_is_refused(u, tmp_path):
    D = hc.qcd.Staggered(u, 0.1)
    S = hc.qcd.propagator(D, [0, 0, 0, 0])
    with pytest.raises(InvalidArgument, match="kept as HDF5"):
        hc.qcd.write_propagator(tmp_path / "s.lime", S)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidArgument, match="two of a kind"):
        hc.qcd.mesons(S, hc.qcd.propagator(hc.qcd.WilsonClover(u, mass=0.5), [0, 0, 0, 0]))
    with pytest.raises(InvalidArgument, match='no channel "a0"'):
        hc.qcd.mesons(S, channels=["a0"])
    with pytest.raises(InvalidArgument, match="point sinks only"):
        hc.qcd.propagator(D, [0, 0, 0, 0], kind="gaussian", width=1.0)
    with pytest.raises(InvalidArgument, match="staggered quarks have none"):
        _ = D.kappa
    with pytest.raises(InvalidArgument, match="staggered quarks are not built"):
        D.low_eigenvalues()
    with pytest.raises(InvalidArgument, match="has the shape"):
        D.solve(hc.qcd.point_source(u, [0, 0, 0, 0], spin=0, colour=0))
    with pytest.raises(InvalidArgument, match="does not solve staggered quarks"):
        hc.qcd.Staggered(u, 0.1, solver="bicgstab")
