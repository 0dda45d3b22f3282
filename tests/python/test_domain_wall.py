# SPDX-License-Identifier: Apache-2.0
"""Domain-wall quarks: chiral symmetry, the residual mass, and what a run file says of them."""

import functools

import h5py
import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.qcd.runfile import parse_run_file
from halocline.qcd.runfile_action import Action
from halocline.qcd.solve import solve_run
from halocline.reporter import Reporter

import halocline as hc
from halocline.qcd.quark import MIDPOINT

GENERATED = "[gauge]\ngenerate = { size = [4, 4, 4, 8], beta = 5.7, sweeps = 5, seed = 2 }\n"


@pytest.fixture(scope="module")
def u():
    field = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(field, beta=6.0, sweeps=20, seed=2)
    return field


def test_shamir_is_moebius_with_b_one(u):
    walls = {"mass": 0.1, "M5": 1.6, "Ls": 6}
    source = hc.qcd.point_source(u.geometry, [0, 1, 2, 3], spin=1, colour=2)
    shamir = hc.qcd.DomainWall(u, **walls)
    same = hc.qcd.DomainWall(u, **walls, b=[1.0] * 6, c=[0.0] * 6)
    assert shamir.action.kind == "domain-wall" and same.action.kind == "mobius"
    assert np.array_equal(shamir.solve(source), same.solve(source))
    assert shamir.solver.report["method"].startswith("even-odd cg")


def test_the_residual_mass_falls_with_ls_and_moebius_halves_the_points(u):
    """With b - c = 1 and b + c = 2 the kernel of Moebius is twice that of Shamir: Ls points act as 2 Ls."""

    def found(**walls):
        D = hc.qcd.DomainWall(u, mass=0.1, M5=1.4, tolerance=1e-9, **walls)
        return hc.qcd.residual_mass(hc.qcd.propagator(D, [0, 0, 0, 0]))[3:6].mean()

    few, more, most = (found(Ls=ls) for ls in (4, 8, 16))
    moebius = found(Ls=8, b=1.5, c=0.5)
    assert 0 < most < 0.1 * more < 0.1 * few
    assert 0.3 * most < moebius < 3 * most


def test_the_residual_mass_is_that_of_the_files(u, tmp_path):
    S = hc.qcd.propagator(hc.qcd.DomainWall(u, mass=0.1, M5=1.4, Ls=4), [0, 0, 0, 0], tolerance=1e-6)
    for name in ("s", "middle"):
        hc.qcd.write_propagator(tmp_path / f"{name}.h5", S if name == "s" else S.midpoint)
    again, middle = (hc.qcd.read_propagator(tmp_path / f"{name}.h5") for name in ("s", "middle"))
    assert middle.record["quark"].startswith("in the middle") and middle.record["action"] == S.record["action"]
    again.midpoint = middle
    assert np.array_equal(hc.qcd.residual_mass(again), hc.qcd.residual_mass(S))
    # The sink of the middle is never smeared, and its record says so.
    smeared = hc.qcd.propagator(hc.qcd.DomainWall(u, mass=0.1, M5=1.4, Ls=4), [0, 0, 0, 0], sink="gaussian", width=1.0)
    assert smeared.record["source"]["sink"] == "gaussian"
    source = hc.qcd.Source(**smeared.midpoint.record["source"])
    assert source.sink == "point" and source.width is None


def test_solve_does_not_keep_the_middle_for_the_walls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GENERATED + '[action]\nkind = "domain-wall"\nmass = 0.1\nLs = 4\n[solver]\ntolerance = 1e-4\n'
    solve = functools.partial(solve_run, parse_run_file(text, "run.toml"), hc.comm.communicator(None), Reporter())
    solve("s.h5")
    s = hc.qcd.read_propagator("s.h5")
    assert solve("s.h5", resume=True)["configurations"][0]["sources"][0]["kept"] == "s.h5"
    s.record["quark"] = MIDPOINT
    hc.qcd.write_propagator("s.h5", s)
    with pytest.raises(InvalidArgument, match="it has the quark in the middle.*this run has no quark"):
        solve("s.h5", resume=True)


def test_actions_of_one_kernel_converge_to_one_overlap_operator(u):
    """b - c = 1 gives the kernel gamma5 D_W / (2 + D_W); b + c only scales it, and the sign function forgets scales."""
    source = hc.qcd.point_source(u.geometry, [0, 0, 0, 0], spin=1, colour=0)

    def quark(ls, b, c):
        return hc.qcd.DomainWall(u, mass=0.1, M5=1.6, Ls=ls, b=b, c=c, tolerance=1e-11).solve(source)

    best = quark(48, 1.0, 0.0)
    for b, c in ((1.0, 0.0), (1.5, 0.5)):
        few, more, most = (np.linalg.norm(quark(ls, b, c) - best) / np.linalg.norm(best) for ls in (4, 8, 24))
        assert more < 0.2 * few and most < 0.02 * more, (few, more, most)


def test_the_propagator_anticommutes_with_gamma5_but_for_its_masses(u):
    """The relation of Ginsparg and Wilson without its contact term: gamma5 S + S gamma5 = 0 at mass 0, as Ls grows."""
    upper = np.arange(4) < 2

    def broken(ls):
        D = hc.qcd.DomainWall(u, mass=0.0, M5=1.4, Ls=ls, tolerance=1e-11)
        unlike, like = 0.0, 0.0
        for spin in (0, 3):
            x = D.solve(hc.qcd.point_source(u.geometry, [0, 0, 0, 0], spin=spin, colour=0))
            same = upper == upper[spin]  # gamma5 S + S gamma5 is twice the part of equal chirality
            like += np.linalg.norm(x[..., same, :]) ** 2
            unlike += np.linalg.norm(x[..., ~same, :]) ** 2
        return np.sqrt(like / unlike)

    few, more = broken(4), broken(16)
    assert more < 0.02 and more < 0.1 * few


def test_complex_coefficients_travel_through_a_run_file():
    action = Action(kind="mobius", mass=0.1, Ls=4, b=[1.4 + 0.2j, 1.1, 1.6, 1.3], c=0.5)
    again = Action(**action.as_toml_values())
    assert again == action
    assert again.walls["b"][0] == 1.4 + 0.2j and again.walls["c"] == [0.5] and again.walls["M5"] == 1.8


def test_a_spectrum_run_keeps_the_residual_mass(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GENERATED + '[action]\nkind = "mobius"\nmass = 0.1\nM5 = 1.4\nLs = 4\nb = 1.5\nc = 0.5\n'
    (tmp_path / "run.toml").write_text(text + "[measure]\nnucleon = true\n")
    run = hc.qcd.read_run_file("run.toml")
    hc.qcd.spectrum(run)
    with h5py.File("spectrum.h5") as file:
        one = file["configurations/0000"]
        kept = one.attrs["residual_mass"]
        assert kept.shape == (1, 8)
        assert file.attrs["Ls"] == 4 and np.array_equal(file.attrs["b"], [1.5])
        pion = one["mesons/pion"][0, 0].real
    u = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(u, beta=5.7, sweeps=5, seed=2)
    s = hc.qcd.propagator(hc.qcd.DomainWall(u, mass=0.1, M5=1.4, Ls=4, b=1.5, c=0.5), [0, 0, 0, 0])
    assert np.allclose(hc.qcd.residual_mass(s), kept[0], rtol=1e-6)
    assert np.allclose(hc.qcd.mesons(s)["pion"], pion, rtol=1e-6)


@pytest.mark.parametrize("inner", ["fixed16", "float"])
def test_a_device_has_the_quarks_and_the_residual_mass_of_the_cpu(u, inner):
    walls = {"mass": 0.1, "M5": 1.4, "Ls": 6, "b": 1.5, "c": 0.5, "tolerance": 1e-11}
    here = hc.qcd.propagator(hc.qcd.DomainWall(u, **walls), [0, 0, 0, 0])
    D = hc.qcd.DomainWall(u, **walls, device="host-executor", inner_precision=inner)
    there = hc.qcd.propagator(D, [0, 0, 0, 0])
    assert D.solver.device == "host executor" and "even-odd cg" in there.reports[0]["method"]
    scale = abs(here.array()).max()
    assert np.abs(there.array() - here.array()).max() < 1e-9 * scale
    assert np.allclose(hc.qcd.residual_mass(there), hc.qcd.residual_mass(here), rtol=1e-8)
    kept = D.solver.solve_on_device([hc.qcd.point_source(u.geometry, [0, 0, 0, 0], spin=0, colour=0)])
    assert kept.shape == (1, 8, 4, 4, 4, 4, 3)
    assert np.abs(kept.numpy()[0] - here.array()[..., 0, 0]).max() < 1e-9 * scale


def test_run_files_name_the_action(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = parse_run_file(GENERATED + '[action]\nkind = "mobius"\nmass = 0.1\nLs = 4\nb = 1.5\nc = 0.5\n', "run.toml")
    assert run.action.points == 4 and run.action.m0 == -1.8


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ('kind = "mobius"\nmass = 0.1', "needs b and c"),
        ('kind = "domain-wall"\nmass = 0.1\nb = 1.5', 'use "mobius"'),
        ('kind = "domain-wall"\nkappa = 0.1', "kappa is set"),
        ('kind = "domain-wall"', "needs mass"),
        ('kind = "domain-wall"\nmass = 0.1\nLs = 7', "expected an even number"),
        ('kind = "domain-wall"\nmass = 0.1\nLs = 1', "at least 4"),
        ('kind = "domain-wall"\nmass = 0.1\nM5 = 2.5', "below 2"),
        ('kind = "domain-wall"\nmass = 0.1\ncsw = 1.0', "csw is set"),
        ('kind = "mobius"\nmass = 0.1\nb = [1, 2]\nc = 1', "2 numbers for Ls = 8"),
        ('kind = "mobius"\nmass = 0.1\nb = "x"\nc = 1', "a list of Ls numbers"),
        ('kind = "wilson"\nmass = 0.1\nLs = 8', "no fifth dimension"),
        ('kind = "domain-wall"\nmass = 0.1\n[solver]\nkind = "multigrid"', 'give "auto", "cg" or "block-cg"'),
        (
            'kind = "mobius"\nmass = 0.1\nb = 1\nc = 1\n[solver]\nkind = "block-cg"\n[parallel]\ndevice = "cuda"',
            "does not run on device",
        ),
    ],
)
def test_run_files_are_refused_with_the_rule(keys, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        parse_run_file(GENERATED + f"[action]\n{keys}\n", "run.toml")


def test_shifted_systems_have_five_dimensions(u):
    D = hc.qcd.DomainWall(u, mass=0.3, Ls=4, b=1.5, c=0.5, tolerance=1e-9)
    numbers = np.random.default_rng(5)
    b = numbers.normal(size=(4, 8, 4, 4, 4, 4, 3)) + 0j
    for even_odd in (False, True):
        near, far = D.solver.solve_shifted(b, [0.1, 10.0], even_odd)
        assert near.shape == b.shape and np.linalg.norm(far) < np.linalg.norm(near)
        assert all(report["residual"] < 1e-9 for report in D.solver.reports)
    with pytest.raises(InvalidArgument, match=r"give \[s\]\[t\]"):
        D.solver.solve_shifted(b[0], [0.1])


@pytest.mark.parametrize("parameters", [{}, {"b": 1.5, "c": 0.5}, {"b": [1, 1.2, 1.3, 1 + 0.2j], "c": 0.1j}])
def test_the_operator_of_five_dimensions_is_its_definition(u, parameters):
    ls, mass, height = 4, 0.3, 1.6
    D = hc.qcd.DomainWall(u, mass=mass, M5=height, Ls=ls, tolerance=1e-11, **parameters)
    wilson = hc.qcd.WilsonClover(u, mass=-height, csw=0.0)
    numbers = np.random.default_rng(6)
    psi = numbers.normal(size=(ls, 8, 4, 4, 4, 4, 3)) + 1j * numbers.normal(size=(ls, 8, 4, 4, 4, 4, 3))
    upper = np.array([1, 1, 0, 0])[:, None]

    def expected(m):
        b, c = (np.broadcast_to(parameters.get(name, value), ls) for name, value in (("b", 1), ("c", 0)))
        up = np.concatenate((psi[1:], -m * psi[:1]))
        down = np.concatenate((-m * psi[-1:], psi[:-1]))
        neighbours = (1 - upper) * up + upper * down
        return np.stack(
            [b[s] * wilson(psi[s]) + psi[s] + c[s] * wilson(neighbours[s]) - neighbours[s] for s in range(ls)]
        )

    villars = D.pauli_villars()
    assert villars.action.kind == D.action.kind and villars.action.mass == 1.0
    for one, m in ((D, mass), (villars, 1.0)):
        assert np.allclose(one(psi), expected(m), rtol=0, atol=1e-12)
        other = np.roll(psi, 1, axis=1)
        assert np.isclose(np.vdot(other, one(psi)), np.vdot(one.dagger(other), psi), rtol=1e-12)
        (solution,) = one.solver.solve_shifted(one.dagger(psi), [0.0])
        assert np.linalg.norm(one(solution) - psi) < 1e-8 * np.linalg.norm(psi)


def test_the_five_dimensions_of_a_device_are_refused(u):
    D = hc.qcd.DomainWall(u, mass=0.1, Ls=4, device="host-executor")
    with pytest.raises(InvalidArgument, match="on the processor alone"):
        D(np.zeros((4, 8, 4, 4, 4, 4, 3), dtype=complex))


def test_what_there_is_not_is_refused(u):
    D = hc.qcd.DomainWall(u, mass=0.1, Ls=4)
    psi = np.zeros((8, 4, 4, 4, 4, 3), dtype=complex)
    for use in (
        lambda: D(psi),
        lambda: D.low_eigenvalues(),
        lambda: D.kappa,
        lambda: D.solver.solve_shifted(psi, [0.1]),
        lambda: hc.qcd.DomainWall(u, mass=0.1, b=0.0, c=0.0),
        lambda: hc.qcd.DomainWall(u, mass=0.1, solver="bicgstab"),
        lambda: hc.qcd.residual_mass(hc.qcd.propagator(hc.qcd.WilsonClover(u, mass=0.5), [0, 0, 0, 0])),
    ):
        with pytest.raises(InvalidArgument):
            use()
