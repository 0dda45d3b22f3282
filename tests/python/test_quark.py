# SPDX-License-Identifier: Apache-2.0
"""The Wilson-clover operator, its inverse and its spectrum, through NumPy arrays."""

import json

import numpy as np
import pytest
from halocline.qcd.runfile import Solver

import halocline as hc
from halocline import _halocline

GAMMA5 = np.array([1, 1, -1, -1])[:, None]


@pytest.fixture(scope="module")
def u():
    return hc.qcd.weak_links([4, 4, 6, 8], 0.4, seed=3)


@pytest.fixture
def spinor(u):
    generator = np.random.default_rng(5)
    shape = (8, 6, 4, 4, 4, 3)
    return generator.normal(size=shape) + 1j * generator.normal(size=shape)


def test_d_is_gamma5_hermitian(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.2, csw=1.3)
    assert D.dagger(spinor) == pytest.approx(GAMMA5 * D(GAMMA5 * spinor), abs=1e-13 * np.abs(spinor).max() * 10)


def test_a_constant_spinor_on_unit_links_has_the_mass_as_eigenvalue():
    D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 4]), mass=0.25, csw=1.0, boundary=(1, 1, 1, 1))
    ones = np.ones((4, 4, 4, 4, 4, 3), dtype=complex)
    assert D(ones) == pytest.approx(0.25 * ones, abs=1e-14)


def test_mass_and_kappa_are_the_same_operator(u, spinor):
    kappa = hc.qcd.kappa_from_mass(0.2)
    assert np.array_equal(hc.qcd.WilsonClover(u, mass=0.2)(spinor), hc.qcd.WilsonClover(u, kappa=kappa)(spinor))


@pytest.mark.parametrize("kind", _halocline.qcd.SOLVER_KINDS)
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_every_solver_solves(u, spinor, kind, precision):
    if (kind in ("schwarz", "multigrid") or kind.startswith("deflated-")) and precision == "double":
        with pytest.raises(hc.InvalidArgument, match="mixed"):
            hc.qcd.WilsonClover(u, mass=0.3, csw=1.0).solve(spinor, kind=kind, precision=precision)
        return
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    x = D.solve(spinor, kind=kind, precision=precision, tolerance=1e-11)
    residual = np.linalg.norm(spinor - D(x)) / np.linalg.norm(spinor)
    assert residual < 1e-11
    assert D.solver.report["residual"] == pytest.approx(residual, rel=0.1)


@pytest.mark.parametrize(
    "schwarz",
    [
        "fugaku",
        {"nsap": 1, "steps": 3, "domains": [1, 2, 1, 2]},
        {"inner": "minres", "outer": "gcr"},
        {"storage": "half", "link_reals": 12, "outer": "defect_correction"},
        {"storage": "half", "arithmetic": "half"},
    ],
)
def test_schwarz_has_a_preset_and_parameters(u, spinor, schwarz):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    x = D.solve(spinor, kind="schwarz", schwarz=schwarz, tolerance=1e-13)
    assert np.linalg.norm(spinor - D(x)) < 1.05e-13 * np.linalg.norm(spinor)
    assert "schwarz" in D.solver.report["method"] and D.solver.report["notes"] == []
    if "arithmetic" in schwarz:
        assert "half computed in half" in D.solver.report["method"]


def test_a_second_solver_of_an_operator_has_settings_of_its_own(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, kind="bicgstab", tolerance=1e-6)
    cg = hc.qcd.QuarkSolver(D, "cg", tolerance=1e-11)
    x, y = D.solve(spinor), cg.solve(spinor)
    assert "bicgstab" in D.solver.report["method"] and 1e-11 < D.solver.report["residual"] <= 1e-6
    assert "cg" in cg.report["method"] and cg.report["residual"] <= 1e-11
    assert np.linalg.norm(x - y) < 1e-5 * np.linalg.norm(y)
    with pytest.raises(hc.InvalidArgument, match="QuarkSolver.*tolerence.*did you mean"):
        hc.qcd.QuarkSolver(D, tolerence=1e-9)
    with pytest.raises(hc.InvalidArgument, match="D is a GaugeField; give an operator"):
        hc.qcd.QuarkSolver(u, "cg")


def test_auto_says_what_it_chose_and_chooses_once(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    D.solve(spinor)
    (note,) = D.solver.report["notes"]
    assert D.solver.report["note_kinds"] == ["choice"]
    assert note.startswith("auto: even-odd bicgstab, ") and "schwarz" not in note  # there is one process
    assert D.solver.trial(1)["chosen"] in note and D.solver.trial(2) is None
    chosen = D.solver.report["method"]
    D.solve(spinor)
    assert D.solver.report["notes"] == [] and D.solver.report["method"] == chosen
    trial = D.solver.choose([spinor])
    assert trial["chosen"] in chosen and trial["columns"] == 1
    assert trial["bicgstab_seconds"] > 0 and f"{trial['bicgstab_seconds']:.3g} s (one right-hand side" in note
    assert hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, solver=hc.qcd.Solver(kind="cg")).solver.choose([spinor]) is None


def test_a_trial_is_remembered_on_its_lattice_and_for_its_quark_and_nowhere_else(u, spinor):
    first = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    first.solve(spinor)
    other = hc.qcd.WilsonClover(hc.qcd.weak_links([4, 4, 6, 8], 0.3, seed=4), mass=0.3, csw=1.0)
    assert other.solver.choose([spinor]) == first.solver.choose([spinor])
    other.solve(spinor)
    (note,) = other.solver.report["notes"]
    assert note.startswith("auto: ") and "as an earlier trial on this lattice found" in note
    other.solve(spinor)
    assert other.solver.report["notes"] == []
    for another in (
        hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, even_odd=False),
        hc.qcd.WilsonClover(u, mass=0.2, csw=1.0),
        hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.3, csw=1.0),
    ):
        another.solve(hc.qcd.point_source(another.geometry, [0, 0, 0, 0], 0, 0))
        assert "would take" in another.solver.report["notes"][0]


def test_shifted_systems_are_solved_together(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, tolerance=1e-11)
    shifts = [0.5, 0.0, 0.02]
    solutions = D.solver.solve_shifted(spinor, shifts)
    for x, shift in zip(solutions, shifts, strict=True):
        assert np.linalg.norm(D.dagger(D(x)) + shift * x - spinor) < 1.1e-11 * np.linalg.norm(spinor)
    assert D.solver.reports[0]["iterations"] <= D.solver.reports[1]["iterations"]
    assert D.solver.reports[1]["method"] == "multi-shift cg, double precision"
    even = D.solver.solve_shifted(spinor, shifts, even_odd=True)
    assert not even[0][0, 0, 0, 1].any() and even[0][0, 0, 0, 0].any()
    with pytest.raises(hc.InvalidArgument, match="one or more finite shifts"):
        D.solver.solve_shifted(spinor, [])
    with pytest.raises(hc.Interrupted):
        D.solver.solve_shifted(spinor, shifts, progress=lambda iterations, residual: iterations < 3)


def test_solver_keys_are_taken_by_the_operator_and_the_propagator(u):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, tolerance=1e-6, kind="bicgstab")
    loose = hc.qcd.propagator(D)
    assert loose.record["solver"]["tolerance"] == 1e-6 and loose.record["solver"]["kind"] == "bicgstab"
    tight = hc.qcd.propagator(D, tolerance=1e-12)
    assert all(1e-12 < r["residual"] <= 1e-6 for r in loose.reports)
    assert all(r["residual"] <= 1e-12 for r in tight.reports)
    given = hc.qcd.WilsonClover(u, mass=0.3, solver=hc.qcd.Solver(kind="cg", tolerance=1e-7), tolerance=1e-8)
    report = given.solve(hc.qcd.point_source(u, [0, 0, 0, 0], 0, 0)) is not None and given.solver.report
    assert "cg" in report["method"] and report["residual"] <= 1e-8


def test_a_source_may_be_given_as_one(u):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, kind="bicgstab")
    how = hc.qcd.Source(kind="gaussian", positions=[[1, 2, 3, 4]], width=1.5, steps=5)
    by_words = hc.qcd.propagator(D, np.array([1, 2, 3, 4]), "gaussian", width=1.5, steps=5)
    assert np.array_equal(hc.qcd.propagator(D, how).array(), by_words.array())
    with pytest.raises(hc.InvalidArgument, match="one position"):
        hc.qcd.propagator(D, how, width=2.0)


@pytest.mark.parametrize("size", [1e-170, 1e170])
@pytest.mark.parametrize("device", ["cpu", "host-executor"])
def test_sources_whose_square_leaves_the_range_of_double_are_solved(u, spinor, size, device):
    exponent = np.exp2(np.round(np.log2(size)))
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, kind="bicgstab", device=device)
    x = D.solve(spinor * exponent)
    assert D.solver.report["iterations"] > 3 and 0 < D.solver.report["residual"] <= 1e-10
    assert np.array_equal(x / exponent, D.solve(spinor))


def test_sources_that_are_zero_or_no_numbers_get_a_sentence(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3, kind="bicgstab")
    assert not D.solve(0 * spinor).any()
    assert D.solver.report["notes"] == ["the source is zero, and so is the solution"]
    assert D.solver.report["note_kinds"] == ["source"]
    with pytest.raises(hc.InvalidArgument, match="the source holds NaN or infinite numbers"):
        D.solve(np.where(np.arange(3) == 1, np.nan, spinor))
    with pytest.raises(hc.InvalidArgument, match="below 1e-289 or above 1e289.*scale it"):
        D.solve(spinor * 1e-300)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda u, D, s: hc.qcd.WilsonClover(u, kapa=0.1), "no key 'kapa'; did you mean 'kappa'"),
        (lambda u, D, s: hc.qcd.WilsonClover(u, mass=0.1, tolerence=1e-9), "no key 'tolerence'; did you mean 'tol"),
        (lambda u, D, s: hc.qcd.WilsonClover(u.array(), mass=0.1), "u = an array.*expected a GaugeField"),
        (lambda u, D, s: hc.qcd.WilsonClover(u, mass="light"), 'mass = "light": expected a number'),
        (lambda u, D, s: hc.qcd.WilsonClover(u, mass=0.1, boundary=-1), "boundary = -1: expected four"),
        (lambda u, D, s: hc.qcd.propagator(D, widht=2.0), "propagator has no key 'widht'; did you mean 'width'"),
        (lambda u, D, s: hc.qcd.propagator(D, source=3), "positions = .3.: expected a list of positions"),
        (lambda u, D, s: hc.qcd.propagator(u), "D = a GaugeField: expected a WilsonClover"),
        (lambda u, D, s: hc.qcd.mesons(s, chanels="all"), "mesons has no key 'chanels'; did you mean 'channels'"),
        (lambda u, D, s: hc.qcd.mesons(s.array()), "quark = an array.*expected a Propagator"),
        (lambda u, D, s: hc.qcd.nucleon(s, parity=0), "parity = 0: expected 1 or -1"),
        (lambda u, D, s: hc.qcd.point_source(u, [0, 0, 0], 0, 0), "position = .0, 0, 0.: expected a position"),
        (lambda u, D, s: hc.qcd.point_source(u, [0, 0, 0, 0], spin=4, colour=0), "spin = 4: expected .* at most 3"),
        (lambda u, D, s: D.solve("a spinor"), 'a spinor was given as "a spinor"'),
        (lambda u, D, s: D.low_eigenvalues(0), "count = 0: expected an integer of at least 1"),
        (lambda u, D, s: hc.qcd.smear_gaussian(D.solve, u, width=1.0), "a spinor was given as a method"),
    ],
)
def test_a_slip_in_any_word_gets_the_sentence_of_the_run_file(u, call, said):
    D = hc.qcd.WilsonClover(u, mass=0.3)
    s = hc.qcd.Propagator(u.geometry, [0, 0, 0, 0])
    with pytest.raises(hc.InvalidArgument, match=said):
        call(u, D, s)


def test_few_steps_of_a_gaussian_are_a_warning(u):
    b = hc.qcd.point_source(u, [0, 0, 0, 0], 0, 0)
    with pytest.warns(UserWarning, match=r"more than 3/2 width\^2 = 13.5 steps"):
        hc.qcd.smear_gaussian(b, u, width=3.0, steps=5)
    D = hc.qcd.WilsonClover(u, mass=0.3, kind="bicgstab", tolerance=1e-5)
    with pytest.warns(UserWarning, match="width 3 in 5 steps"):
        hc.qcd.propagator(D, kind="gaussian", width=3.0, steps=5)


@pytest.mark.parametrize("kind", ["auto", "schwarz", "bicgstab", "cg", "gcr"])
@pytest.mark.parametrize("rhs_batch", [12, 5, 1])
def test_columns_together_are_the_columns_alone(u, kind, rhs_batch):
    """Twelve in batches of twelve, of four (three equal ones where five are allowed), and one by one."""
    solver = hc.qcd.Solver(kind=kind, tolerance=1e-12, rhs_batch=rhs_batch)
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, solver=solver)
    s = hc.qcd.propagator(D, [1, 2, 3, 4])
    assert [r["columns"] for r in s.reports] == {12: [12] * 12, 5: [4] * 12, 1: [1] * 12}[rhs_batch]
    plain = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    for spin, colour in ((0, 0), (3, 1)):
        b = hc.qcd.point_source(u.geometry, [1, 2, 3, 4], spin, colour)
        x = s.column(spin, colour)
        assert np.linalg.norm(D(x) - b) <= 1.01e-12
        alone = plain.solve(b, kind="bicgstab", tolerance=1e-13)
        # The norm of D^-1 is below 1 / 0.3 on such smooth links.
        assert np.linalg.norm(x - alone) < 4e-12
        assert s.reports[3 * spin + colour]["residual"] <= 1e-12


def test_a_batch_stops_when_progress_says_so(u):
    D = hc.qcd.WilsonClover(u, mass=0.3)
    with pytest.raises(hc.Interrupted):
        hc.qcd.propagator(D, inner=lambda first, together, iterations, residual: iterations < 3)


def test_a_solve_that_does_not_converge_says_why(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3)
    with pytest.raises(hc.Error, match="without reaching the tolerance"):
        D.solve(spinor, max_iterations=2)
    assert D.solver.report["converged"] is False


def test_a_solve_stops_when_progress_says_so(u, spinor):
    D = hc.qcd.WilsonClover(u, mass=0.3)
    with pytest.raises(hc.Interrupted):
        D.solve(spinor, progress=lambda iterations, residual: iterations < 3)


def test_an_exception_in_progress_comes_out(u, spinor):
    def fails(iterations, residual):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hc.qcd.WilsonClover(u, mass=0.3).solve(spinor, progress=fails)


def test_wrong_words_are_refused(u, spinor):
    with pytest.raises(hc.InvalidArgument, match="mass' or 'kappa"):
        hc.qcd.WilsonClover(u)
    with pytest.raises(hc.InvalidArgument, match="kappa = -0.1"):
        hc.qcd.WilsonClover(u, kappa=-0.1)
    D = hc.qcd.WilsonClover(u, mass=0.3)
    with pytest.raises(hc.InvalidArgument, match="solve has no key 'tolerence'; did you mean 'tolerance'"):
        D.solve(spinor, tolerence=1e-8)
    with pytest.raises(hc.InvalidArgument, match="shape"):
        D(spinor[:2])
    with pytest.raises(hc.InvalidArgument):
        hc.qcd.propagator(D, source=[0, 0, 0, 99])
    with pytest.raises(hc.InvalidArgument, match="pino"):
        hc.qcd.mesons(hc.qcd.Propagator(u.geometry, [0, 0, 0, 0]), channels=["pino"])


def test_columns_are_views_and_the_array_is_a_copy(u):
    s = hc.qcd.Propagator(u.geometry, [0, 0, 0, 0])
    s.column(2, 1)[1, 2, 3, 0, 3, 2] = 5.0
    whole = s.array()
    assert whole[1, 2, 3, 0, 3, 2, 2, 1] == 5.0 and np.count_nonzero(whole) == 1


def test_the_pion_through_a_sequential_source_is_the_pion(u):
    """A source through the sink at t closes at the origin to the two-point function at t."""
    D = hc.qcd.WilsonClover(u, mass=0.4, csw=1.0)
    s = hc.qcd.propagator(D)
    pion = hc.qcd.mesons(s, channels=["pion"])["pion"]
    time = 3
    closed = 0.0
    for index, source in enumerate(hc.qcd.sequential_sources(s, time)):
        sigma = D.solve(source, tolerance=1e-11)
        spin, colour = divmod(index, 3)
        closed += (GAMMA5[spin, 0] * sigma[0, 0, 0, 0, spin, colour]).real
    assert closed == pytest.approx(pion[time], rel=1e-8)


@pytest.mark.parametrize("index", range(6))
def test_low_eigenvalues_agree_with_the_reference(data, index):
    case = json.loads((data / "ref_4x4x4x4.json").read_text())["cases"][index]
    boundary = (1, 1, 1, -1 if case["bc_time"] == "antiperiodic" else 1)
    u = hc.qcd.read_gauge(data / "4x4x4x4b6.0000id3n1.nersc")
    D = hc.qcd.WilsonClover(u, mass=case["m0"], csw=case["csw"], boundary=boundary)
    expected = case["eigenvalues_gamma5D_smallest_12"]
    assert D.low_eigenvalues(12) == pytest.approx(expected, abs=1e-8)


def test_solver_is_a_kind_a_dictionary_or_a_section():
    u = hc.qcd.weak_links([4, 4, 4, 4], 0.2, seed=1)
    b = hc.qcd.point_source(u.geometry, [0, 0, 0, 0], spin=0, colour=0)
    found = []
    for solver in ("cg", {"kind": "cg"}, Solver(kind="cg")):
        d = hc.qcd.WilsonClover(u, mass=0.1, solver=solver)
        found.append(d.solve(b))
        assert "cg" in d.solver.report["method"]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    with pytest.raises(hc.InvalidArgument, match='kind = "cgg": expected .*did you mean "cg"'):
        hc.qcd.WilsonClover(u, mass=0.1, solver="cgg")
    with pytest.raises(hc.InvalidArgument, match="no key 'knd'; did you mean 'kind'"):
        hc.qcd.WilsonClover(u, mass=0.1, solver={"knd": "cg"})
    with pytest.raises(hc.InvalidArgument, match="solver is a int; give a kind"):
        hc.qcd.WilsonClover(u, mass=0.1, solver=3)
