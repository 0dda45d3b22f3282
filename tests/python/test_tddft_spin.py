# SPDX-License-Identifier: Apache-2.0
"""Spin in time: kicks that move the spins apart, the moment, files, restarts, refusals."""

import ase
import ase.build
import h5py
import numpy as np
import pytest
from halocline.errors import InvalidArgument

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up")

LIGHT = {"kick": 0.01, "direction": "z", "total_time": "25 au", "energy_every": 0}
RUN = """
[system]
atoms = [["He", 0, 0, 0]]
box = [5, 5, 5]
spin = true
[grid]
spacing = "0.4 angstrom"
allow_coarse = true
[propagate]
kick = 0.01
direction = "z"
steps = {steps}
time_step = "0.1 au"
spin_kick = true
[spectrum]
to_energy = "40 eV"
[output]
file = "he.h5"
"""


@pytest.fixture(scope="module")
def helium():
    system = hc.tddft.from_atoms(
        ase.Atoms("He"), spacing="0.35 angstrom", box=[5, 5, 5], spin=True, functional="pw", allow_coarse=True
    )
    return hc.tddft.ground_state(system, tolerance=1e-7).require_converged()


def test_the_spin_of_a_closed_shell_answers_more_slowly_than_its_charge(helium):
    """Exchange holds parallel spins together, and the charge is held by repulsion: triplets lie below singlets."""
    charge, spin = (hc.tddft.propagate(helium, spin_kick=kick, **LIGHT) for kick in (False, True))
    moved, apart = charge.dipole[0, 2] - charge.dipole[:, 2], spin.spin_dipole[:, 2]
    # At first all electrons move freely, with the momentum of the kick.
    assert apart[2] == pytest.approx(2 * 0.01 * spin.time[2], rel=0.05)
    assert apart[2] == pytest.approx(moved[2], rel=0.01)
    assert spin.time[np.argmax(apart)] > charge.time[np.argmax(moved)]
    assert apart.max() > 1.05 * moved.max()
    assert np.abs(spin.dipole[:, 2] - spin.dipole[0, 2]).max() < 1e-5
    assert np.abs(charge.spin_dipole).max() < 1e-9
    assert np.abs(spin.moment).max() < 1e-9
    of_spin = hc.tddft.spectrum(spin, to_energy="40 eV")
    of_charge = hc.tddft.spectrum(charge, to_energy="40 eV")
    assert (of_spin.kind, of_charge.kind) == ("spin", "absorption")
    assert of_spin.peaks[0][0] < of_charge.peaks[0][0]
    with pytest.raises(InvalidArgument, match="spin kick"):
        hc.tddft.spectrum([spin, charge])


def test_a_magnet_keeps_its_moment_in_time():
    atom = hc.tddft.from_atoms(
        ase.Atoms("H"), spacing="0.4 angstrom", box=[5, 5, 5], spin=True, moment=1, fixed_moment=True, allow_coarse=True
    )
    ground = hc.tddft.ground_state(atom).require_converged()
    series = hc.tddft.propagate(ground, kick=0.01, direction="x", steps=20, time_step="0.1 au")
    assert series.moment == pytest.approx(np.ones(21), abs=1e-6)
    # One electron with spin up: the dipole of its spin is that of its number.
    assert series.spin_dipole == pytest.approx(-series.dipole, abs=1e-9)


def test_files_and_restarts_keep_the_spin(tmp_path, command):
    (tmp_path / "he.toml").write_text(RUN.format(steps=30))
    assert command(tmp_path, "tddft", "propagate", "he.toml").returncode == 0
    (tmp_path / "he.toml").write_text(RUN.format(steps=60))
    assert command(tmp_path, "tddft", "propagate", "he.toml").returncode == 0
    with h5py.File(tmp_path / "he_rt.h5") as file:
        apart, moment = file["spin_dipole"][:], file["moment"][:]
        assert file["spin_dipole"].attrs["unit"] == "bohr"
    assert apart.shape == (61, 3) and moment.shape == (61,)
    assert np.all(np.diff(apart[:10, 2]) > 0)
    said = command(tmp_path, "tddft", "spectrum", "he.toml")
    assert said.returncode == 0, said.stderr
    assert "strength of the spin's answer" in (tmp_path / "he_spectrum.txt").read_text()
    with h5py.File(tmp_path / "he_spectrum.h5") as file:
        assert file.attrs["spectrum"] == "spin"


def test_the_gauge_does_not_matter_to_the_spin(helium):
    keys = LIGHT | {"spin_kick": True, "total_time": None, "steps": 40, "time_step": 0.02}
    keys.pop("total_time")
    length, velocity = (hc.tddft.propagate(helium, gauge=gauge, **keys) for gauge in ("length", "velocity"))
    largest = np.abs(length.spin_dipole).max()
    assert velocity.spin_dipole == pytest.approx(length.spin_dipole, abs=2e-3 * largest)
    assert np.abs(velocity.current).max() < 1e-3 * np.abs(velocity.spin_current).max()
    # The dipole of the spin moves by its current.
    volume = helium.system.native.volume
    moved = volume * np.trapezoid(velocity.spin_current, velocity.time, axis=0)
    assert moved == pytest.approx(velocity.spin_dipole[-1] - velocity.spin_dipole[0], abs=0.03 * largest)


def test_the_spin_of_a_crystal_answers_below_its_charge():
    atoms = ase.Atoms("He", [[2.5, 2.5, 2.5]], cell=[5, 5, 5], pbc=True)
    system = hc.tddft.from_atoms(atoms, spacing="0.36 angstrom", spin=True, allow_coarse=True)
    ground = hc.tddft.ground_state(system, tolerance=1e-7).require_converged()
    light = {"kick": 0.01, "total_time": 300.0, "energy_every": 0}
    charge, spin = (hc.tddft.propagate(ground, spin_kick=kick, **light) for kick in (False, True))
    assert spin.spin_current[0, 2] == pytest.approx(charge.current[0, 2], rel=1e-6)
    assert np.abs(spin.current).max() < 1e-6 * np.abs(charge.current).max()
    spectra = [hc.tddft.spectrum(run, to_energy="30 eV", from_energy="10 eV") for run in (charge, spin)]
    assert spectra[1].spin and not spectra[0].spin
    assert spectra[1].peaks[0][0] < spectra[0].peaks[0][0] - 0.002
    assert "of the spin" in spectra[1].summary()[0]
    # The ground state's operators are without the kick again.
    again = hc.tddft.propagate(ground, kick=0.0, steps=1, pulses=[{"amplitude": 1e-9, "frequency": 1, "duration": 1}])
    assert np.abs(again.spin_current).max() < 1e-9


def test_spin_kicks_that_cannot_be_are_refused(helium):
    without = hc.tddft.from_atoms(ase.Atoms("He"), spacing="0.5 angstrom", box=[5, 5, 5], allow_coarse=True)
    ground = hc.tddft.ground_state(without)
    with pytest.raises(InvalidArgument, match="spin = true"):
        hc.tddft.propagate(ground, spin_kick=True, **LIGHT)
