# SPDX-License-Identifier: Apache-2.0
"""Densities of states and effective masses: sum rules, symmetry, the bands they come from, the command."""

import ase
import ase.build
import h5py
import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.tddft.bands import energies_at

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up")

RUN = """
[system]
atoms = [["Si", 0, 0, 0], ["Si", 1.3575, 1.3575, 1.3575]]
cell = [[0, 2.715, 2.715], [2.715, 0, 2.715], [2.715, 2.715, 0]]
[grid]
extent = [8, 8, 8]
allow_coarse = true
[kpoints]
mesh = [3, 3, 3]
symmetry = true
[dos]
width = "0.3 eV"
to_energy = {to}
[output]
file = "si.h5"
"""


@pytest.fixture(scope="module")
def ground():
    system = hc.tddft.from_atoms(
        ase.build.bulk("Si", a=5.43),
        extent=[8] * 3,
        mesh=(3, 3, 3),
        functional="pade",
        allow_coarse=True,
        symmetry=True,
    )
    return hc.tddft.ground_state(system, tolerance=1e-8, eigen_tolerance=1e-7).require_converged()


def test_all_states_and_all_electrons_are_there(ground):
    dos = hc.tddft.density_of_states(ground, width="0.02 eV", step="0.002 eV")
    assert dos.density.shape == (1, len(dos.energy))
    assert dos.integral[0, -1] == pytest.approx(2 * ground.system.states, abs=1e-6)
    middle = dos.reference + 0.5 * ground.gap
    filled = np.interp(middle, dos.energy, dos.integral[0])
    assert filled == pytest.approx(ground.system.electrons, abs=1e-6)
    assert dos.of_reference == "highest filled state"
    assert dos.reference == pytest.approx(ground.eigenvalues[:, 3].max())
    assert dos.complete_to >= ground.eigenvalues[:, 3].max()


def test_symmetry_does_not_change_the_density_of_states(ground):
    whole = hc.tddft.ground_state(
        hc.tddft.from_atoms(
            ase.build.bulk("Si", a=5.43), extent=[8] * 3, mesh=(3, 3, 3), functional="pade", allow_coarse=True
        ),
        tolerance=1e-8,
        eigen_tolerance=1e-7,
    )
    keys = {"width": "0.3 eV", "from_energy": "-10 eV", "to_energy": "6 eV"}
    of_all, reduced = hc.tddft.density_of_states(whole, **keys), hc.tddft.density_of_states(ground, **keys)
    low = of_all.energy < of_all.complete_to - 0.05
    assert reduced.density[0, low] == pytest.approx(of_all.density[0, low], abs=1e-3 * of_all.density.max())


def test_a_wrong_range_is_refused(ground):
    with pytest.raises(InvalidArgument, match="empty"):
        hc.tddft.density_of_states(ground, from_energy=1.0, to_energy=0.5)
    with pytest.raises(InvalidArgument, match="width"):
        hc.tddft.density_of_states(ground, width=0)


def test_masses_are_the_curvature_of_the_bands(ground):
    mass = hc.tddft.effective_mass(ground, [0, 0, 0], 0)
    # The lowest band of a cubic crystal is isotropic at Gamma.
    assert mass.masses == pytest.approx(np.full(3, mass.masses[0]), rel=1e-5)
    assert np.abs(mass.slope).max() < 1e-6
    k = np.linspace(-0.03, 0.03, 7)
    direction = np.array([0.6, 0.0, 0.8])
    energies = energies_at(ground, k[:, None] * direction, 2, scf={"eigen_tolerance": 1e-7})[0, :, 0]
    curvature = 2 * np.polyfit(k, energies - energies[3], 4)[2]
    assert 1 / mass.masses[0] == pytest.approx(curvature, rel=1e-4)


def test_the_electrons_of_silicon_are_light_across_and_heavy_along(ground):
    """The edge lies on the way from Gamma to X, which Newton's steps find."""
    mass = hc.tddft.effective_mass(ground, [0.4, 0.0, 0.4], 4)
    assert mass.k[0] == pytest.approx(mass.k[2], abs=1e-6) and mass.k[1] == pytest.approx(0, abs=1e-6)
    assert 0.36 < mass.k[0] < 0.46
    along = np.array([0.0, 1.0, 0.0])
    heavy = int(np.argmax(mass.masses))
    assert abs(mass.axes[heavy] @ along) == pytest.approx(1, abs=1e-6)
    assert 0.7 < mass.masses[heavy] < 1.1
    light = np.delete(mass.masses, heavy)
    assert light[0] == pytest.approx(light[1], rel=1e-4) and 0.15 < light[0] < 0.23
    assert any("mass" in line for line in mass.summary())


def test_impossible_masses_are_refused(ground):
    with pytest.raises(InvalidArgument, match="meets band"):
        hc.tddft.effective_mass(ground, [0, 0, 0], 3)
    for wrong in ({"k": [0, 0]}, {"band": -1}, {"band": True}, {"spin": 1}, {"step": 0}):
        with pytest.raises(InvalidArgument):
            hc.tddft.effective_mass(ground, **({"k": [0, 0, 0], "band": 0} | wrong))


def test_the_command_writes_a_table_and_a_picture(tmp_path, command):
    (tmp_path / "si.toml").write_text(RUN.format(to='"8 eV"'))
    done = command(tmp_path, "tddft", "dos", "si.toml")
    assert done.returncode == 0, done.stderr
    assert "highest filled state" in done.stdout
    with h5py.File(tmp_path / "si_dos.h5") as file:
        energy, density = file["energy"][:], file["density"][:]
    table = np.loadtxt(tmp_path / "si_dos.txt")
    assert table[:, 0] == pytest.approx(energy * 27.211386245981, abs=1e-5)
    assert table[:, 1] == pytest.approx(density[0] / 27.211386245981, abs=1e-5)
    assert (tmp_path / "si_dos.png").stat().st_size > 10000
    said = command(tmp_path, "report", "si_dos.h5")
    assert said.returncode == 0 and "density of states from" in said.stdout
    (tmp_path / "si.toml").write_text(RUN.format(to='"-99 eV"'))
    wrong = command(tmp_path, "tddft", "dos", "si.toml", "--overwrite")
    assert wrong.returncode == 2 and "is empty" in wrong.stderr


def test_silicon_has_s_states_below_and_p_states_above():
    system = hc.tddft.from_atoms(
        ase.build.bulk("Si"), spacing="0.32 angstrom", mesh=(3, 3, 3), symmetry=True, allow_coarse=True
    )
    ground = hc.tddft.ground_state(system).require_converged()
    found = hc.tddft.density_of_states(ground, width="0.3 eV", projected=True)
    assert set(found.projected) == {"Si s", "Si p", "Si d", "Si f"}
    assert found.radii["Si"] * 0.529177 == pytest.approx(5.43 * 3**0.5 / 8, rel=1e-3)  # half of a bond
    total = sum(found.projected.values())
    assert np.all(total <= found.density * 1.02 + 1e-9) and total.max() > 0.4 * found.density.max()
    s, p = found.projected["Si s"][0], found.projected["Si p"][0]
    low = found.energy < found.energy[0] + 0.3
    top = np.abs(found.energy - found.reference) < 0.05
    assert s[low].sum() > 3 * p[low].sum() and p[top].sum() > 3 * s[top].sum()
    # All k-points give the same.
    whole = hc.tddft.ground_state(
        hc.tddft.from_atoms(ase.build.bulk("Si"), extent=system.extent, mesh=(3, 3, 3), allow_coarse=True)
    )
    other = hc.tddft.density_of_states(
        whole, width="0.3 eV", projected=True, from_energy=float(found.energy[0]), to_energy=float(found.energy[-1])
    )
    count = int((found.energy < min(found.complete_to, other.complete_to) - 0.05).sum())
    assert other.projected["Si p"][0][:count] == pytest.approx(p[:count], abs=0.02 * p.max())


def test_spheres_that_cannot_be_are_refused():
    system = hc.tddft.from_atoms(ase.build.bulk("Si"), extent=[8] * 3, allow_coarse=True)
    ground = hc.tddft.ground_state(system, tolerance=1e-3, energy_tolerance=1e-2, eigen_tolerance=1e-2)
    with pytest.raises(InvalidArgument, match="radii has Ge, but there are only Si atoms"):
        hc.tddft.density_of_states(ground, projected=True, radii={"Ge": 2.0})
    with pytest.raises(InvalidArgument, match="radii"):
        hc.tddft.density_of_states(ground, projected=True, radii={"Si": -1.0})
