# SPDX-License-Identifier: Apache-2.0
"""Twisted-mass quarks: their laws, their mesons, and what a run file says of them."""

import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.qcd.runfile import parse_run_file

import halocline as hc

GAMMA5 = np.array([1, 1, -1, -1])[:, None]
GENERATED = "[gauge]\ngenerate = { size = [4, 4, 4, 8], beta = 5.7, sweeps = 5, seed = 2 }\n"


@pytest.fixture(scope="module")
def u():
    field = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(field, beta=5.7, sweeps=5, seed=2)
    return field


@pytest.fixture(scope="module")
def spinor(u):
    numbers = np.random.default_rng(3)
    shape = (8, 4, 4, 4, 4, 3)
    return numbers.normal(size=shape) + 1j * numbers.normal(size=shape)


@pytest.mark.parametrize("csw", [0.0, 1.1])
def test_the_operator_is_d_plus_i_mu_gamma5(u, spinor, csw):
    D = hc.qcd.WilsonClover(u, mass=-0.2, csw=csw)
    up = hc.qcd.TwistedMass(u, mu=0.3, mass=-0.2, csw=csw, tolerance=1e-7)
    down = up.opposite()
    assert down.action.mu == -0.3 and down.solver.settings == up.solver.settings
    assert np.allclose(up(spinor), D(spinor) + 0.3j * GAMMA5 * spinor, rtol=0, atol=1e-13)
    assert np.allclose(up.dagger(spinor), GAMMA5 * down(GAMMA5 * spinor), rtol=0, atol=1e-13)


@pytest.mark.parametrize("device", ["cpu", "host-executor"])
@pytest.mark.parametrize("kind", ["auto", "cg", "gcr"])
def test_solvers_solve(u, spinor, kind, device):
    D = hc.qcd.TwistedMass(u, mu=0.1, kappa=0.15, csw=1.0, solver=kind, tolerance=1e-11, device=device)
    x = D.solve(spinor)
    assert D.solver.report["residual"] < 1e-11
    if kind == "auto" and device != "cpu":
        assert "cg, double" in D.solver.report["method"] and "bicgstab" not in D.solver.report["method"]
    assert np.linalg.norm(D(x) - spinor) < 1.01e-11 * np.linalg.norm(spinor)


MULTIGRID = {"kind": "multigrid", "multigrid": {"vectors": 8, "aggregate": [2, 2, 2, 2]}}


@pytest.mark.parametrize("mu", [0.05, -0.2])
def test_multigrid_solves_and_keeps_mu_in_its_file(u, spinor, tmp_path, mu):
    kept = MULTIGRID | {"multigrid": MULTIGRID["multigrid"] | {"setup_file": str(tmp_path / "setup.h5")}}
    quark = {"kappa": 0.14, "csw": 1.0}
    D = hc.qcd.TwistedMass(u, mu=mu, **quark, solver=kept)
    x = D.solve(spinor)
    assert D.solver.report["method"].startswith("multigrid") and D.solver.report["residual"] < 1e-10
    assert np.linalg.norm(D(x) - spinor) < 1.01e-10 * np.linalg.norm(spinor)
    again = hc.qcd.TwistedMass(u, mu=mu, **quark, solver=kept)
    assert again.solver.setup["rounds"] == 0
    assert np.array_equal(again.solve(spinor), x)
    for other in (-mu, 0.0):
        with pytest.raises(InvalidArgument, match=rf"'mu': {mu}}}, and this is {{'mu': {other}}}"):
            hc.qcd.TwistedMass(u, mu=other, **quark, solver=kept)
    moved = hc.qcd.unit_links([4, 4, 4, 8])
    hc.qcd.heatbath(moved, beta=5.7, sweeps=5, seed=4)
    D.solver.refresh(moved)
    fresh = hc.qcd.TwistedMass(moved, mu=mu, **quark)
    assert np.linalg.norm(fresh(D.solve(spinor)) - spinor) < 1.01e-10 * np.linalg.norm(spinor)


def test_a_set_up_without_a_twisted_mass_is_one_of_mu_zero(u, spinor, tmp_path):
    kept = MULTIGRID | {"multigrid": MULTIGRID["multigrid"] | {"setup_file": str(tmp_path / "setup.h5")}}
    D = hc.qcd.WilsonClover(u, kappa=0.14, csw=1.0, solver=kept)
    same = hc.qcd.TwistedMass(u, mu=0.0, kappa=0.14, csw=1.0, solver=kept)
    assert same.solver.setup["rounds"] == 0
    assert np.array_equal(same.solve(spinor), D.solve(spinor))


def test_mu_zero_is_wilson_clover_to_the_bit(u, spinor):
    D, same = hc.qcd.WilsonClover(u, mass=0.1, csw=1.0), hc.qcd.TwistedMass(u, mu=0.0, mass=0.1, csw=1.0)
    assert np.array_equal(D(spinor), same(spinor))
    assert np.array_equal(D.solve(spinor, kind="bicgstab"), same.solve(spinor, kind="bicgstab"))


def test_the_other_flavour_is_the_way_back(u):
    """S_down(x, y) = gamma5 S_up(y, x)^dagger gamma5, between two sites and for all spins and colours."""
    here, there = (0, 0, 0, 0), (1, 2, 0, 3)
    up, down = (hc.qcd.TwistedMass(u, mu=mu, kappa=0.14, csw=1.2, tolerance=1e-12) for mu in (0.2, -0.2))

    def block(D, source, sink):
        s = hc.qcd.propagator(D, source)
        x, y, z, t = sink
        return np.array([[s.column(b, c)[t, z, y, x] for c in range(3)] for b in range(4)])  # [b][c][a][d]

    forward, back = block(down, here, there), block(up, there, here)
    expected = GAMMA5[:, :, None, None] * back.conj().transpose(2, 3, 0, 1) * np.array([1, 1, -1, -1])[:, None]
    assert np.abs(forward.transpose(2, 3, 0, 1) - expected.transpose(2, 3, 0, 1)).max() < 1e-11


def test_charged_and_neutral_mesons(u):
    up, down = (
        hc.qcd.propagator(hc.qcd.TwistedMass(u, mu=mu, kappa=0.14, csw=1.2, tolerance=1e-12), (0, 0, 0, 0))
        for mu in (0.2, -0.2)
    )
    charged, neutral = hc.qcd.mesons(up)["pion"], hc.qcd.mesons(up, down)["pion"]
    assert np.allclose(charged, (np.abs(up.array()) ** 2).reshape(8, -1).sum(axis=1), rtol=1e-12)
    assert np.abs(charged / neutral - 1).max() > 1e-3
    with pytest.raises(InvalidArgument, match="nucleon of these is not available"):
        hc.qcd.nucleon(up, down)


def test_a_run_file_takes_multigrid():
    text = (
        GENERATED + '[action]\nkind = "twisted-clover"\nkappa = 0.14\ncsw = 1.2\nmu = 0.2\n[measure]\nnucleon = false\n'
    )
    assert parse_run_file(text + '[solver]\nkind = "multigrid"\n', "run.toml").solver.kind == "multigrid"


def test_a_run_file_measures_charged_mesons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GENERATED + '[action]\nkind = "twisted-clover"\nkappa = 0.14\ncsw = 1.2\nmu = 0.2\n'
    text += '[solver]\ntolerance = 1e-12\n[measure]\nnucleon = false\n[output]\nfile = "out.h5"\nplots = false\n'
    run = parse_run_file(text, "run.toml")
    attributes, (measured,) = hc.qcd.spectrum(run)
    assert attributes["mu"] == 0.2
    assert measured.residuals.max() < 1e-12
    other = parse_run_file(text.replace("mu = 0.2", "mu = 0.1"), "run.toml")
    assert other.physics_hash() != run.physics_hash()


@pytest.mark.parametrize(
    ("action", "more", "said"),
    [
        ('kind = "twisted-clover"\nmass = 0.1', "", "needs mu"),
        ('kind = "wilson-clover"\nmass = 0.1\ncsw = 1.0\nmu = 0.1', "", 'use "twisted-clover"'),
        ('kind = "twisted-clover"\nmass = 0.1\nmu = 0.1', "", "set nucleon = false"),
        ('kind = "twisted-clover"\nmass = 0.1\nmu = 0.1', '[solver]\nkind = "schwarz"\n', "for Wilson-clover quarks"),
        ('kind = "twisted-clover"\nmass = 0.1\nmu = "much"', "", "mu"),
    ],
)
def test_a_run_file_that_cannot_work_is_refused(action, more, said):
    with pytest.raises(InvalidArgument, match=said):
        parse_run_file(f"{GENERATED}[action]\n{action}\n{more}", "run.toml")


def test_slips_get_a_sentence(u):
    with pytest.raises(InvalidArgument, match="mu"):
        hc.qcd.TwistedMass(u, mu="much", mass=0.1)
    with pytest.raises(InvalidArgument, match="did you mean"):
        hc.qcd.TwistedMass(u, mu=0.1, mass=0.1, tolerence=1e-8)
    with pytest.raises(InvalidArgument, match="not hermitian with mu = 0.1"):
        hc.qcd.TwistedMass(u, mu=0.1, mass=0.1).low_eigenvalues(count=2)


@pytest.fixture(scope="module")
def pair(u):
    numbers = np.random.default_rng(5)
    shape = (8, 4, 4, 4, 2, 4, 3)
    return numbers.normal(size=shape) + 1j * numbers.normal(size=shape)


TAU1 = np.array([[0, 1], [1, 0]])
TAU3 = np.diag([1, -1])


def test_the_doublet_is_its_definition(u, pair):
    mu, epsilon = 0.15, 0.19
    one = hc.qcd.WilsonClover(u, mass=-0.2, csw=1.1)
    D = hc.qcd.TwistedDoublet(u, mu=mu, epsilon=epsilon, mass=-0.2, csw=1.1)
    wilson = np.stack([one(np.ascontiguousarray(pair[..., f, :, :])) for f in (0, 1)], axis=-3)
    flavours = 1j * mu * GAMMA5 * np.einsum("fg,...gsc->...fsc", TAU1, pair)
    flavours += epsilon * np.einsum("fg,...gsc->...fsc", TAU3, pair)
    assert np.allclose(D(pair), wilson + flavours, rtol=0, atol=1e-13)
    gamma5_tau3 = GAMMA5 * TAU3.diagonal()[:, None, None]
    assert np.allclose(D.dagger(pair), gamma5_tau3 * D(gamma5_tau3 * pair), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", ["auto", "cg", "block-cg"])
def test_the_doublet_is_solved(u, pair, kind):
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, kappa=0.15, csw=1.0, solver=kind, tolerance=1e-11)
    x = D.solve(pair)
    assert x.shape == pair.shape
    assert np.linalg.norm(D(x) - pair) < 1.01e-11 * np.linalg.norm(pair)


def test_the_doublet_refuses_what_it_does_not_know(u, pair):
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, mass=0.1)
    with pytest.raises(InvalidArgument, match="two flavours"):
        hc.qcd.propagator(D, (0, 0, 0, 0))
    with pytest.raises(InvalidArgument, match="2x4x3|2, 4, 3|flavour|shape"):
        D(pair[..., 0, :, :].copy())
    with pytest.raises(InvalidArgument, match="doublets"):
        D.low_eigenvalues(count=2)
    with pytest.raises(InvalidArgument, match="bicgstab"):
        hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, mass=0.1, solver="bicgstab")
    with pytest.raises(InvalidArgument, match="a twisted doublet"):
        D.solver.solve_shifted(pair, [0.1])
    with pytest.raises(InvalidArgument, match="epsilon"):
        hc.qcd.TwistedDoublet(u, mu=0.15, epsilon="small", mass=0.1)
