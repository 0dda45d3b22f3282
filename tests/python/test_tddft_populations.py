# SPDX-License-Identifier: Apache-2.0
"""Where electrons are under light: populations at k + A(t), ionisation through absorbing walls."""

import ase
import numpy as np
import pytest
from halocline.tddft.absorber import Layer, layer_of
from halocline.tddft.runfile_light import Absorber

import halocline as hc


def helium(periodic, spacing="0.3 angstrom"):
    """An atom in a cell so large that it does not matter whether the cell is repeated."""
    atoms = ase.Atoms("He", [[2.7, 2.7, 2.7]], cell=[5.4, 5.4, 5.4], pbc=periodic)
    shape = {} if periodic else {"box": [5.4, 5.4, 5.4]}
    system = hc.tddft.from_atoms(atoms, spacing=spacing, allow_coarse=True, **shape)
    return hc.tddft.ground_state(system, tolerance=1e-9).require_converged()


@pytest.fixture(scope="module")
def crystal():
    return helium(True)


@pytest.fixture(scope="module")
def atom():
    return helium(False)


def test_after_a_kick_the_electrons_of_a_crystal_are_counted_as_those_of_an_atom():
    crystal, atom = helium(True, "0.2 angstrom"), helium(False, "0.2 angstrom")
    counts = [
        hc.tddft.propagate(ground, kick=0.2, steps=4, time_step=0.02, excited_every=2, energy_every=0)
        for ground in (crystal, atom)
    ]
    for made in counts:
        assert made.excited_time.tolist() == pytest.approx([0.0, 0.04, 0.08])
    # Immediately after the kick: 2 (1 - |<0| exp(i kappa z) |0>|^2), and both electrons have the same orbital.
    density = atom.density()[0].sum(axis=(1, 2)) / atom.density()[0].sum()
    z = atom.system.spacing[2] * (np.arange(density.size) - (density.size - 1) / 2)
    assert counts[1].excited[0] == pytest.approx(2 * (1 - abs(density @ np.exp(0.2j * z)) ** 2), rel=1e-6)
    assert counts[0].excited == pytest.approx(counts[1].excited, rel=0.01)


def test_populations_add_up_and_bands_win_what_others_lose(crystal):
    pulse = {"amplitude": 0.05, "frequency": "20 eV", "duration": 6.0}
    lit = hc.tddft.propagate(crystal, pulses=[pulse], steps=120, time_step=0.05, excited_every=40, populations=12)
    assert lit.populations.shape == (4, 1, 12)
    assert lit.populations[0, 0, 0] == pytest.approx(2.0, abs=1e-9)
    assert np.all(lit.populations >= 0) and np.all(lit.populations.sum(axis=2) <= 2 + 1e-7)
    changes = lit.band_changes
    assert changes.shape == (4, 1, 12)
    assert -changes[:, 0, 0] == pytest.approx(lit.excited, abs=1e-9)
    assert lit.excited[-1] > 1e-3
    # Twelve states do not hold everything.
    assert 0.2 * lit.excited[-1] < changes[-1, 0, 1:].sum() < lit.excited[-1]


def test_the_gauge_does_not_matter_to_populations(atom):
    pulse = {"amplitude": 0.05, "frequency": "20 eV", "duration": 6.0}
    keys = {"pulses": [pulse], "steps": 200, "time_step": 0.02, "excited_every": 100, "populations": 8}
    length, velocity = (hc.tddft.propagate(atom, gauge=gauge, **keys) for gauge in ("length", "velocity"))
    assert np.abs(velocity.vector_potential).max() > 0.01
    assert velocity.populations == pytest.approx(length.populations, abs=2e-4)
    assert length.excited[-1] > 2e-3


def test_spins_are_counted_apart():
    atoms = ase.Atoms("H", [[0, 0, 0]])
    system = hc.tddft.from_atoms(atoms, spacing="0.3 angstrom", box=[5, 5, 5], spin=True, moment=1, fixed_moment=True)
    ground = hc.tddft.ground_state(system, tolerance=1e-6).require_converged()
    kicked = hc.tddft.propagate(ground, kick=0.1, steps=1, excited_every=1, populations=3)
    assert kicked.populations.shape == (2, 2, 3) and kicked.band_changes.shape == (2, 2, 3)
    assert kicked.band_changes[0, 0, 0] < -1e-3  # of the one electron, spin up
    assert np.abs(kicked.band_changes[:, 1]).max() == 0.0


def test_populations_without_a_schedule_are_refused(atom):
    with pytest.raises(hc.InvalidArgument, match="populations is set but excited_every = 0"):
        hc.tddft.propagate(atom, kick=0.01, steps=1, populations=3)


def test_a_layer_reflects_slow_waves_and_lets_fast_ones_through():
    layer = Layer(width=20.0, strength=0.3)
    low, high = layer.absorbs()
    assert layer.reflected([0.5 * (low + high)])[0] < 0.01
    assert layer.reflected([low / 20])[0] > 0.1 and layer.reflected([high * 3])[0] > 0.05
    # Fast electrons: exp(-2 strength width / k) comes back.
    energy = np.array([40.0, 80.0])
    assert layer.reflected(energy) == pytest.approx(np.exp(-2 * 0.3 * 20 / np.sqrt(2 * energy)), rel=0.02)
    # As strong as asked for: 99 % up to this energy.
    made = layer_of(Absorber(width=20.0, up_to=4.0))
    assert made.absorbs()[1] == pytest.approx(4.0, rel=0.05)
    assert layer_of(Absorber(width=20.0, strength=0.7)) == Layer(20.0, 0.7)
    assert layer_of(None) is None


def test_a_layer_gives_back_what_its_reflection_says():
    """A packet of one momentum against the wall, in one dimension, by plain matrices."""
    layer, h, n = Layer(width=12.0, strength=0.15), 0.25, 720
    x = h * np.arange(1, n + 1)
    wall = h * (n + 1)
    depth = np.clip((x - (wall - layer.width)) / layer.width, 0, 1)
    energies, waves = np.linalg.eigh((np.eye(n) - 0.5 * (np.eye(n, k=1) + np.eye(n, k=-1))) / h**2)
    k = 0.9
    psi = np.exp(-((x - 90) ** 2) / 400 + 1j * k * x)
    psi /= np.linalg.norm(psi)
    loss = np.exp(-layer.strength * np.sin(0.5 * np.pi * depth) ** 2 * 0.1)
    step = (waves * np.exp(-0.1j * energies)) @ waves.T
    for _ in range(1700):
        psi = loss * (step @ psi)
    expected = layer.reflected([0.5 * k**2])[0]
    assert 0.001 < expected < 0.1
    assert np.linalg.norm(psi) ** 2 == pytest.approx(expected, rel=0.25)


def test_electrons_leave_through_absorbing_walls_and_stay_without(atom):
    pulse = {"amplitude": 0.3, "frequency": "30 eV", "duration": 20.0}
    keys = {"pulses": [pulse], "time_step": 0.04, "steps": 800, "energy_every": 0}
    kept = hc.tddft.propagate(atom, **keys)
    lit = hc.tddft.propagate(atom, absorber={"width": "1.8 angstrom", "up_to": "10 eV"}, **keys)
    assert np.abs(kept.ionised).max() < 1e-3
    assert lit.ionised[0] == 0.0 and lit.ionised[-1] > 0.05
    assert np.diff(lit.ionised).min() > -1e-6


def test_walls_that_reach_atoms_and_walls_of_crystals_are_refused(atom, crystal):
    with pytest.raises(hc.InvalidArgument, match="reaches the atoms, which are 2.7 angstrom from the nearest wall"):
        hc.tddft.propagate(atom, kick=0.01, steps=1, absorber={"width": "2.8 angstrom"})
    with pytest.raises(hc.InvalidArgument, match="a crystal has no walls"):
        hc.tddft.propagate(crystal, kick=0.01, steps=1, absorber={"width": "1 angstrom"})
    with pytest.raises(hc.InvalidArgument, match="in a crystal the position has no meaning"):
        hc.tddft.propagate(crystal, kick=0.01, steps=1, angular_momentum=True)
