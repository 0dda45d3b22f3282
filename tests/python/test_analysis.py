# SPDX-License-Identifier: Apache-2.0
"""Laws of fold, effective_mass and jackknife on correlators whose masses are known."""

import numpy as np
import pytest

from halocline import InvalidArgument
from halocline.qcd import analysis

T = 24
t = np.arange(T)


def cosh_correlator(mass: float, amplitude: float = 3.0) -> np.ndarray:
    return amplitude * (np.exp(-mass * t) + np.exp(-mass * (T - t)))


def test_fold_of_a_symmetric_correlator_changes_nothing():
    c = cosh_correlator(0.4)
    assert analysis.fold(c) == pytest.approx(c[: T // 2 + 1], rel=1e-14)


def test_fold_removes_the_part_of_the_other_symmetry():
    even = cosh_correlator(0.4)
    odd = np.exp(-0.3 * t) - np.exp(-0.3 * (T - t))
    odd[0] = 0.0  # an antisymmetric periodic function vanishes at t = 0
    assert analysis.fold(even + odd) == pytest.approx(even[: T // 2 + 1], rel=1e-13)


def test_fold_averages_along_the_last_axis_only():
    c = np.arange(2 * 6, dtype=float).reshape(2, 6)
    assert np.array_equal(analysis.fold(c), [[0, 3, 3, 3], [6, 9, 9, 9]])


def test_fold_refuses_an_odd_extent_and_a_wrong_sign():
    with pytest.raises(InvalidArgument, match="5 time slices"):
        analysis.fold(np.ones(5))
    with pytest.raises(InvalidArgument, match="sign = 0"):
        analysis.fold(np.ones(4), sign=0)


@pytest.mark.parametrize("mass", [0.01, 0.3, 2.5])
def test_log_mass_of_an_exponential_is_its_mass(mass):
    assert analysis.effective_mass(np.exp(-mass * t)) == pytest.approx(np.full(T - 1, mass), rel=1e-11)


@pytest.mark.parametrize("mass", [0.05, 0.4, 1.7])
def test_cosh_mass_is_flat_through_the_middle_and_behind_it(mass):
    m = analysis.effective_mass(cosh_correlator(mass), "cosh")
    assert m == pytest.approx(np.full(T - 1, mass), rel=1e-6)


def test_cosh_mass_of_a_folded_correlator_needs_the_extent():
    m = analysis.effective_mass(analysis.fold(cosh_correlator(0.4)), "cosh", extent=T)
    assert m == pytest.approx(np.full(T // 2, 0.4), rel=1e-6)


def test_no_mass_where_the_correlator_changes_sign_or_grows():
    assert np.isnan(analysis.effective_mass([1.0, -0.5, -0.25])[0])
    assert np.isnan(analysis.effective_mass([1.0, 2.0, 1.0, 1.0], "cosh", extent=20)[0])


def test_jackknife_of_the_mean_is_the_standard_error():
    samples = np.random.default_rng(7).normal(2.0, 0.5, (40, 3))
    value, error = analysis.jackknife(samples)
    assert value == pytest.approx(samples.mean(axis=0), rel=1e-14)
    assert error == pytest.approx(samples.std(axis=0, ddof=1) / np.sqrt(40), rel=1e-12)


def test_jackknife_covers_the_true_mass_of_noisy_correlators():
    """Over 200 ensembles the true mass lies within one error about 68 % of the time."""
    generator = np.random.default_rng(11)
    truth, inside = 0.4, 0
    for _ in range(200):
        noise = 1.0 + 0.05 * generator.normal(size=(50, T))
        mass, error = analysis.jackknife(np.exp(-truth * t) * noise, analysis.effective_mass)
        inside += abs(mass[5] - truth) < error[5]
    assert 0.58 < inside / 200 < 0.78  # three standard deviations of a binomial with p = 0.68


def test_bins_enlarge_the_error_of_correlated_samples():
    generator = np.random.default_rng(3)
    series = np.repeat(generator.normal(size=50), 4)[:, None]  # every sample four times
    _, naive = analysis.jackknife(series)
    _, binned = analysis.jackknife(series, bin=4)
    assert binned == pytest.approx(2.0 * naive, rel=0.05)


def test_bin_samples_leaves_out_the_rest_at_the_front():
    assert np.array_equal(analysis.bin_samples(np.array([[9.0], [1.0], [3.0]]), 2), [[2.0]])
    with pytest.raises(InvalidArgument, match="do not fill one bin"):
        analysis.bin_samples(np.ones((3, 2)), 4)


def test_one_bin_has_no_error():
    value, error = analysis.jackknife(np.ones((1, 4)))
    assert np.array_equal(value, np.ones(4)) and np.isnan(error).all()


def noisy_correlators(count=60, extent=24, seed=3):
    """Two states, 0.4 and 1.2, with noise that is correlated along t and grows with it."""
    t = np.arange(extent)
    generator = np.random.default_rng(seed)
    noise = generator.normal(size=(count, extent)).cumsum(axis=1)
    return (np.exp(-0.4 * t) + np.exp(-1.2 * t)) * (1 + 3e-4 * noise)


def test_a_plateau_begins_behind_the_excited_states_and_covers_the_mass():
    covered = 0
    for seed in range(40):
        fit = analysis.plateau(noisy_correlators(seed=seed))
        # At t = 5.5 the second state still adds 0.005, a hundred times the error of a point.
        assert fit.first >= 6 and fit.last > fit.first
        covered += abs(fit.value - 0.4) < 3 * fit.error + 2e-5  # and a little of the second state
    assert covered >= 34  # of 40; three errors of a fit that chose its range


def test_the_error_of_a_plateau_is_the_spread_of_many():
    fits = [analysis.plateau(noisy_correlators(seed=seed), first=15, last=21) for seed in range(60)]
    spread = np.std([f.value for f in fits])
    # The spread of 60 is known to 9 %, an error from 60 configurations to about as much.
    assert np.mean([f.error for f in fits]) == pytest.approx(spread, rel=0.3)
    assert {(f.first, f.last, f.dof) for f in fits} == {(15, 21, 6)}


def test_no_plateau_is_made_of_too_little():
    assert analysis.plateau(noisy_correlators(count=3)) is None
    assert analysis.plateau(noisy_correlators(count=8), bin=4) is None
    assert analysis.plateau(np.random.default_rng(1).normal(size=(10, 12))) is None


def test_a_slope_is_no_plateau():
    generator = np.random.default_rng(2)
    slope = np.exp(-0.02 * np.arange(12) ** 2) * (1 + 1e-5 * generator.normal(size=(20, 12)))
    assert analysis.plateau(slope) is None
    assert analysis.plateau(slope, first=2, last=6).chi2 > 1000
