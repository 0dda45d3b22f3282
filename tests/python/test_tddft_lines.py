# SPDX-License-Identifier: Apache-2.0
"""Lines of spectra with their errors, and circular dichroism."""

import ase
import numpy as np
import pytest
from halocline.tddft.spectra import Signal, of_signals
from halocline.tddft.units import HARTREE_EV

import halocline as hc
from halocline.tddft import runfile


def signal(lines, axis=(0, 0, 1), steps=6000, dt=0.2, noise=0.0, turning=None, seed=1):
    """The motion after a kick of 0.01: (energy, oscillator strength, width) of each line."""
    time = dt * np.arange(steps + 1)
    values = sum(0.01 * f / e * np.sin(e * time) * np.exp(-0.5 * w * time) for e, f, w in lines)
    values = values + noise * np.random.default_rng(seed).normal(size=time.size)
    return Signal(time, values, 0.01, np.array(axis, float), False, 2.0, 1.0, "X", turning=turning)


def options(**keys):
    return runfile.Spectrum(**({"to_energy": 0.8} | keys))


@pytest.mark.parametrize(
    "window", [{}, {"window": "exponential", "width": 0.01}, {"window": "gaussian", "width": 0.01}]
)
def test_lines_that_stand_alone_are_found_with_their_strengths(window):
    made = of_signals([signal([(0.3, 0.5, 0.0), (0.52, 0.2, 0.0)])], options(**window))
    assert len(made.lines) == 2
    for line, (energy, strength) in zip(made.lines, [(0.3, 0.5), (0.52, 0.2)], strict=True):
        assert line.energy == pytest.approx(energy, abs=2e-5)
        assert line.strength == pytest.approx(strength, rel=0.01)
        assert line.width < 3e-4
        assert abs(line.energy - energy) < 5 * line.energy_error + 1e-6


def test_two_lines_that_overlap_are_told_apart():
    resolution = 2 * np.pi / 1200
    apart = 2.2 * resolution
    made = of_signals([signal([(0.4, 0.5, 0.0), (0.4 + apart, 0.25, 0.0)])], options())
    assert [line.energy for line in made.lines] == pytest.approx([0.4, 0.4 + apart], abs=0.03 * resolution)
    assert [line.strength for line in made.lines] == pytest.approx([0.5, 0.25], rel=0.05)


def test_the_width_of_a_line_is_found_beside_that_of_the_window():
    made = of_signals([signal([(0.4, 0.5, 0.012)])], options())
    assert made.lines[0].width == pytest.approx(0.012, rel=0.03)
    assert made.lines[0].strength == pytest.approx(0.5, rel=0.03)
    assert "width" in made.lines[0].text()


def test_a_short_run_asked_beyond_its_energies_still_gives_its_line():
    """A fit reaches no further than the highest energy that the steps of a run can tell."""
    made = of_signals([signal([(0.4, 0.5, 0.0)], steps=40, dt=0.5)], options(to_energy=2.0, resolution=1.0))
    few = of_signals([signal([(1.0, 0.5, 0.0)], steps=12, dt=1.0)], options(to_energy=2.5, resolution=1.0))
    for lines, energy in ((made.lines, 0.4), (few.lines, 1.0)):
        assert len(lines) == 1
        assert abs(lines[0].energy - energy) < 3 * lines[0].energy_error


def test_errors_grow_with_noise_and_hold_the_truth():
    (clean,) = of_signals([signal([(0.4, 0.3, 0.0)])], options()).lines
    off = []
    for seed in range(12):
        lines = of_signals([signal([(0.4, 0.3, 0.0)], noise=1e-3, seed=seed)], options()).lines
        line = min(lines, key=lambda one: abs(one.energy - 0.4))
        assert line.energy_error > 3 * clean.energy_error
        off.append([(line.energy - 0.4) / line.energy_error, (line.strength - 0.3) / line.strength_error])
    # A width cannot be negative, which pulls the strength up a little.
    assert np.all(np.median(np.abs(off), axis=0) < 1.5)
    assert np.all(np.median(np.abs(off), axis=0) > 0.1)


def test_rotatory_strengths_are_read_off_the_angular_momentum():
    """A state of rotatory strength R turns the electrons by 4 kappa R cos(omega t), shared by the kicks."""
    time = 0.2 * np.arange(6001)
    shares = (0.5, -0.2, 0.7)
    signals = [
        signal([(0.35, 0.4, 0.0)], axis=axis, turning=4 * 0.01 * 0.03 * share * np.cos(0.35 * time))
        for share, axis in zip(shares, np.eye(3), strict=True)
    ]
    made = of_signals(signals, options())
    assert np.trapezoid(made.rotatory, made.energy) == pytest.approx(0.03, rel=0.01)
    assert made.energy[np.argmax(made.rotatory)] == pytest.approx(0.35, abs=1e-3)
    assert np.trapezoid(made.rotatory_cgs, made.energy_ev) == pytest.approx(0.03 * 471.44, rel=0.01)
    logarithm = np.trapezoid(made.circular_dichroism[1:] / made.energy_ev[1:], made.energy_ev[1:])
    assert logarithm == pytest.approx(0.03 * 471.44 / 22.97, rel=0.01)
    # Two kicks do not tell the mean over directions.
    assert of_signals(signals[:2], options()).rotatory is None


def peroxide(sign, **keys):
    """Hydrogen peroxide, a small chiral molecule, and its mirror image."""
    half = 0.5 * sign * np.radians(111.5)
    oh, angle = 0.967, np.radians(99.4)
    across, along = oh * np.sin(angle), -oh * np.cos(angle)
    positions = [
        [0, 0, 0.726],
        [0, 0, -0.726],
        [across * np.cos(half), across * np.sin(half), 0.726 + along],
        [across * np.cos(half), -across * np.sin(half), -0.726 - along],
    ]
    atoms = ase.Atoms("O2H2", positions)
    return hc.tddft.from_atoms(atoms, **({"spacing": "0.3 angstrom", "box": [6, 6, 6.6], "allow_coarse": True} | keys))


@pytest.mark.slow
def test_mirror_images_turn_light_the_opposite_way():
    spectra = []
    for sign in (1, -1):
        ground = hc.tddft.ground_state(peroxide(sign), tolerance=1e-7).require_converged()
        kicks = [
            hc.tddft.propagate(ground, kick=0.01, direction=d, angular_momentum=True, total_time=60.0, energy_every=0)
            for d in "xyz"
        ]
        spectra.append(hc.tddft.spectrum(kicks, to_energy="40 eV", resolution="3 eV"))
    one, other = spectra
    scale = np.abs(one.rotatory).max()
    assert scale > 1e-3
    assert other.rotatory == pytest.approx(-one.rotatory, abs=0.02 * scale)
    assert other.cross_section == pytest.approx(one.cross_section, abs=0.01 * one.cross_section.max())


def test_the_angular_momentum_belongs_to_the_series(tmp_path):
    ground = hc.tddft.ground_state(peroxide(1, spacing="0.4 angstrom"), tolerance=1e-5).require_converged()
    kicked = hc.tddft.propagate(ground, kick=0.01, direction="z", angular_momentum=True, steps=4)
    assert kicked.angular_momentum.shape == (5, 3)
    assert np.abs(kicked.angular_momentum[-1]).max() > 1e-8
    assert kicked.data()["angular_momentum"] is not None
    plain = hc.tddft.propagate(ground, kick=0.01, direction="z", steps=1)
    assert not plain.angular_momentum.any() and "angular_momentum" not in plain.data()


def test_line_energies_are_given_in_the_log():
    made = of_signals([signal([(0.3, 0.5, 0.0)])], options())
    (said,) = [line for line in made.summary() if line.startswith("line")]
    assert f"{0.3 * HARTREE_EV:8.4f}" in said


def test_light_that_turns_turns_the_electrons():
    helium = hc.tddft.from_atoms(ase.Atoms("He"), extent=[16, 16, 16], box=[4, 4, 4], allow_coarse=True)
    ground = hc.tddft.ground_state(helium)
    light = {"amplitude": 0.1, "frequency": "25 eV", "duration": "0.4 fs", "direction": "x", "around": "z"}
    turned, moved = {}, {}
    for ellipticity in (1.0, -1.0, 0.0):
        run = hc.tddft.propagate(
            ground,
            pulses=[light | {"ellipticity": ellipticity}],
            total_time="0.5 fs",
            angular_momentum=True,
            energy_every=0,
        )
        turned[ellipticity], moved[ellipticity] = run.angular_momentum[-1], run.dipole[-1]
    assert turned[1.0][2] > 0.05
    assert turned[-1.0][2] == pytest.approx(-turned[1.0][2], rel=1e-8)
    assert np.abs(turned[0.0]).max() < 1e-8
    assert np.abs([turned[1.0][:2], turned[-1.0][:2]]).max() < 1e-8
    assert moved[-1.0] == pytest.approx(moved[1.0] * [1, -1, 1], abs=1e-7)
