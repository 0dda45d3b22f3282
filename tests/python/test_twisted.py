# SPDX-License-Identifier: Apache-2.0
"""Twisted-mass quarks: their laws, their mesons, and what a run file says of them."""

import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.qcd.runfile import parse_run_file
from halocline.qcd.solve import solve_run
from halocline.reporter import Reporter

import halocline as hc
from halocline.comm import communicator

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


@pytest.mark.parametrize("even_odd", [False, True])
def test_shifted_systems_of_the_doublet(u, pair, even_odd):
    """Against the operator; with even_odd by the law of resolvents, x1 - x2 = (s2 - s1) G1 x2."""
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, kappa=0.14, csw=1.0, tolerance=1e-11)
    near, far = D.solver.solve_shifted(pair, [0.1, 2.0], even_odd)
    assert near.shape == pair.shape
    if not even_odd:
        for x, shift in ((near, 0.1), (far, 2.0)):
            assert np.linalg.norm(D.dagger(D(x)) + shift * x - pair) < 1e-10 * np.linalg.norm(pair)
        return
    assert not near[0, 0, 0, 1].any()  # an odd site
    (again,) = D.solver.solve_shifted(far, [0.1], even_odd)
    assert np.linalg.norm(near - far - 1.9 * again) < 1e-9 * np.linalg.norm(near)


def test_several_sources_are_solved_together(u, pair):
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, kappa=0.14, csw=1.0, rhs_batch=2, tolerance=1e-11)
    sources = [pair, 1j * np.roll(pair, 1, axis=0), pair[::-1]]
    for b, x in zip(sources, D.solver.solve_many(sources), strict=True):
        assert np.linalg.norm(D(x) - b) < 1.01e-11 * np.linalg.norm(b)
    assert sorted(report["columns"] for report in D.solver.reports) == [1, 2, 2]


def test_without_a_splitting_the_flavours_are_those_of_two_masses(u):
    """With epsilon = 0 the fields (psi, +-psi) have masses +-mu, so the blocks are sums and differences of these."""
    quark = {"kappa": 0.14, "csw": 1.2, "tolerance": 1e-12}
    S = hc.qcd.propagator(hc.qcd.TwistedDoublet(u, mu=0.2, epsilon=0.0, **quark), [1, 0, 2, 3])
    up, down = (hc.qcd.propagator(hc.qcd.TwistedMass(u, mu=mu, **quark), [1, 0, 2, 3]).array() for mu in (0.2, -0.2))
    assert len(S.reports) == 24 and S.record["action"]["kind"] == "twisted-doublet"
    for sink, source in np.ndindex(2, 2):
        expected = 0.5 * (up + down if sink == source else up - down)
        assert np.abs(S.block(sink, source).array() - expected).max() < 1e-11
        assert np.array_equal(S.array()[..., sink, :, :, source, :, :], S.block(sink, source).array())


def test_a_smeared_sink_of_the_doublet(u):
    D = hc.qcd.TwistedDoublet(u, mu=0.2, epsilon=0.1, kappa=0.14, csw=1.2)
    smearing = {"kind": "gaussian", "width": 1.0, "steps": 8}
    point = hc.qcd.propagator(D, [0, 0, 0, 0], **smearing)
    smeared = hc.qcd.propagator(D, [0, 0, 0, 0], sink="gaussian", **smearing)
    column = np.ascontiguousarray(point.column(1, 2, 0)[..., 0, :, :])
    assert np.array_equal(smeared.column(1, 2, 0)[..., 0, :, :], hc.qcd.smear_gaussian(column, u, 1.0, 8))


def test_the_way_back_of_the_doublet(u):
    """S(x, y) = gamma5 tau3 S(y, x)^dagger gamma5 tau3"""
    here, there = (0, 0, 0, 0), (1, 2, 0, 3)
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, kappa=0.14, csw=1.2, tolerance=1e-12)

    def block(source, sink):
        s = hc.qcd.propagator(D, source)
        x, y, z, t = sink
        return s.array()[t, z, y, x].reshape(24, 24)

    signs = np.kron([1, -1], np.kron([1, 1, -1, -1], [1, 1, 1]))
    expected = signs[:, None] * block(there, here).conj().T * signs
    assert np.abs(block(here, there) - expected).max() < 1e-11


def test_a_doublet_in_files(u, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GENERATED + '[action]\nkind = "twisted-doublet"\nkappa = 0.14\ncsw = 1.2\nmu = 0.2\nepsilon = 0.1\n'
    text += "[source]\npositions = [[1, 0, 2, 3]]\n[solver]\ntolerance = 1e-11\n"
    run = parse_run_file(text, "run.toml")
    report = solve_run(run, communicator(None), Reporter(), "s.h5")
    assert len(report["configurations"][0]["sources"][0]["iterations"]) == 24
    S = hc.qcd.read_propagator("s.h5")
    D = hc.qcd.TwistedDoublet(u, mu=0.2, epsilon=0.1, kappa=0.14, csw=1.2, tolerance=1e-11)
    own = hc.qcd.propagator(D, [1, 0, 2, 3])
    assert isinstance(S, hc.qcd.DoubletPropagator) and np.array_equal(S.array(), own.array())
    assert S.record["action"] == run.action.as_toml_values()
    block = S.block(1, 0)
    hc.qcd.write_propagator("block.lime", block)
    hc.qcd.write_propagator("block.h5", block)
    again = hc.qcd.read_propagator("block.lime")
    assert again.record["flavours"] == [1, 0] and np.array_equal(again.array(), block.array())
    light = hc.qcd.propagator(hc.qcd.TwistedMass(u, mu=0.1, kappa=0.14, csw=1.2), [1, 0, 2, 3])
    assert hc.qcd.mesons(again, light)["pion"].shape == (8,)
    kept = solve_run(run, communicator(None), Reporter(), "s.h5", resume=True)
    assert kept["configurations"][0]["sources"][0]["kept"] == "s.h5"
    with pytest.raises(InvalidArgument, match="the flavours"):
        solve_run(run, communicator(None), Reporter(), "block.h5", resume=True)
    with pytest.raises(InvalidArgument, match="doublets are kept as HDF5"):
        hc.qcd.write_propagator("s.lime", S)
    with pytest.raises(InvalidArgument, match="doublets are kept as HDF5"):
        solve_run(run, communicator(None), Reporter(), "s.lime")
    with pytest.raises(InvalidArgument, match="light quark of another action"):
        hc.qcd.spectrum(parse_run_file(text + "[measure]\nnucleon = false\n", "run.toml"))


def test_a_doublet_does_not_depend_on_the_number_of_processes(u, python, tmp_path):
    quark = "mu=0.2, epsilon=0.1, kappa=0.14, csw=1.2, tolerance=1e-11"
    S = hc.qcd.propagator(eval(f"hc.qcd.TwistedDoublet(u, {quark})", {"hc": hc, "u": u}), [1, 0, 2, 3])
    hc.qcd.write_propagator(tmp_path / "one.h5", S)
    script = tmp_path / "two.py"
    script.write_text(
        "import halocline as hc\n"
        "u = hc.qcd.unit_links([4, 4, 4, 8])\n"
        "hc.qcd.heatbath(u, beta=5.7, sweeps=5, seed=2)\n"
        f"S = hc.qcd.propagator(hc.qcd.TwistedDoublet(u, {quark}), [1, 0, 2, 3])\n"
        f"hc.qcd.write_propagator({str(tmp_path / 'two.h5')!r}, S)\n"
        f"again = hc.qcd.read_propagator({str(tmp_path / 'one.h5')!r})\n"
        f"hc.qcd.write_propagator({str(tmp_path / 'copy.h5')!r}, again)\n"
    )
    done = python(script, ranks=2)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy.h5").read_bytes() == (tmp_path / "one.h5").read_bytes()
    assert np.abs(hc.qcd.read_propagator(tmp_path / "two.h5").array() - S.array()).max() < 1e-10


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("mu = 0.1", "needs mu, the twisted mass, and epsilon"),
        ("mu = 0.1\nepsilon = 0.1\nM5 = 1.8", "no fifth dimension"),
        ('mu = 0.1\nepsilon = 0.1\n[solver]\nkind = "bicgstab"', "does not solve twisted doublets"),
        ('mu = 0.1\nepsilon = 0.1\n[parallel]\ndevice = "cuda"', "solved on the processor"),
        ("mu = 0.1\nepsilon = 0.1\n[solver]\nshifts = [0.1]", "run files have none of twisted doublets"),
    ],
)
def test_a_doublet_that_cannot_work_is_refused(more, said):
    with pytest.raises(InvalidArgument, match=said):
        parse_run_file(f'{GENERATED}[action]\nkind = "twisted-doublet"\nmass = 0.1\n{more}\n', "run.toml")
    with pytest.raises(InvalidArgument, match="does not have it"):
        parse_run_file(f"{GENERATED}[action]\nmass = 0.1\ncsw = 1.0\nepsilon = 0.1\n", "run.toml")


def test_the_doublet_refuses_what_it_does_not_know(u, pair):
    D = hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, mass=0.1)
    with pytest.raises(InvalidArgument, match="block"):
        hc.qcd.mesons(hc.qcd.DoubletPropagator(D.geometry))
    with pytest.raises(InvalidArgument, match="outside"):
        hc.qcd.DoubletPropagator(D.geometry, [0, 0, 0, 8])
    with pytest.raises(InvalidArgument, match="2x4x3|2, 4, 3|flavour|shape"):
        D(pair[..., 0, :, :].copy())
    with pytest.raises(InvalidArgument, match="doublets"):
        D.low_eigenvalues(count=2)
    with pytest.raises(InvalidArgument, match="bicgstab"):
        hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, mass=0.1, solver="bicgstab")
    with pytest.raises(InvalidArgument, match="epsilon"):
        hc.qcd.TwistedDoublet(u, mu=0.15, epsilon="small", mass=0.1)
