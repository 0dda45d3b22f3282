# SPDX-License-Identifier: Apache-2.0
"""Densities that move at a frequency: their dipole is the polarisability, their cube files have the grid."""

import ase
import ase.io.cube
import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.tddft.units import BOHR_ANGSTROM

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up")


@pytest.fixture(scope="module")
def ground():
    atoms = ase.Atoms("H2", [[0, 0, -0.38], [0, 0, 0.38]])
    system = hc.tddft.from_atoms(atoms, spacing="0.45 angstrom", box=[5, 5, 6], allow_coarse=True)
    return hc.tddft.ground_state(system, tolerance=1e-7).require_converged()


@pytest.fixture(scope="module")
def found(ground):
    return hc.tddft.response_densities(
        ground, ["12 eV", 0.5], kick=0.01, direction="z", total_time="40 au", time_step="0.16 au", energy_every=0
    )


def test_their_dipole_is_the_polarisability(ground, found):
    s = ground.system
    z = (np.arange(s.extent[2]) - 0.5 * (s.extent[2] - 1)) * s.spacing[2]
    moment = (found.values.sum(axis=(2, 3)) * z).sum(axis=1) * np.prod(s.spacing)
    spectrum = hc.tddft.spectrum(found.series, from_energy=0.0, to_energy=0.5, step=0.0001)
    expected = np.interp(found.energies, spectrum.energy, spectrum.response.real) + 1j * np.interp(
        found.energies, spectrum.energy, spectrum.response.imag
    )
    assert found.energies[0] == pytest.approx(12 / 27.211386245981)
    assert moment == pytest.approx(expected, rel=1e-4)
    # No charge comes or goes. The response to a kick along z is odd in z, but for what is of second order in the kick.
    assert np.abs(found.values.sum(axis=(1, 2, 3))).max() < 1e-6 * np.abs(found.values).sum()
    assert np.abs(found.values + found.values[:, ::-1]).max() < 0.05 * np.abs(found.values).max()


def test_cube_files_have_the_grid_and_the_atoms(ground, found, tmp_path):
    written = found.write_cubes(tmp_path / "h2")
    assert [p.name for p in written] == ["h2_12.000.cube", "h2_13.606.cube"]
    with open(written[0]) as file:
        cube = ase.io.cube.read_cube(file)
    assert cube["data"].transpose(2, 1, 0) == pytest.approx(found.values[0].imag, rel=1e-4, abs=1e-5)
    s = ground.system
    assert np.diag(cube["spacing"]) == pytest.approx(np.array(s.spacing) * BOHR_ANGSTROM, rel=1e-4)
    first = -0.5 * (np.array(s.extent) - 1) * np.array(s.spacing) * BOHR_ANGSTROM
    assert cube["origin"] == pytest.approx(first, abs=1e-4)
    assert cube["atoms"].positions == pytest.approx(s.structure.positions * BOHR_ANGSTROM, abs=1e-4)


def test_what_has_no_response_to_a_kick_is_refused(ground):
    with pytest.raises(InvalidArgument, match="no photon energy"):
        hc.tddft.response_densities(ground, [], kick=0.01, steps=2)
    with pytest.raises(InvalidArgument, match="parsec"):
        hc.tddft.response_densities(ground, ["9 parsec"], kick=0.01, steps=2)
    with pytest.raises(InvalidArgument, match="without a kick"):
        hc.tddft.response_densities(ground, [0.4], steps=2)
    pulse = {"amplitude": 0.05, "frequency": 0.15, "duration": 160}
    with pytest.raises(InvalidArgument, match="pulse"):
        hc.tddft.response_densities(ground, [0.4], kick=0.01, steps=2, pulses=[pulse])
