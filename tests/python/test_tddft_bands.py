# SPDX-License-Identifier: Apache-2.0
"""Bands along a path: of free electrons, at the k-points of a ground state, by the command."""

import json

import ase
import ase.build
import numpy as np
import pytest
from halocline.errors import InvalidArgument, NotConverged

import halocline as hc
from halocline.tddft import bands

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of")

RUN = """
[system]
atoms = [["He", 0.1, 0.2, 0.3]]
cell = [2.6, 2.6, 3.1]
[grid]
extent = [10, 10, 12]
allow_coarse = true
[kpoints]
mesh = [2, 2, 1]
gamma = true
[bands]
path = "{path}"
points = 9
bands = {bands}
[output]
file = "he.h5"
"""


@pytest.fixture(scope="module")
def ground():
    atoms = ase.Atoms("He", [[0.1, 0.2, 0.3]], cell=[2.6, 2.6, 3.1], pbc=True)
    system = hc.tddft.from_atoms(atoms, extent=[10, 10, 12], mesh=[2, 2, 1], gamma=True, allow_coarse=True)
    return hc.tddft.ground_state(system, tolerance=1e-8, eigen_tolerance=1e-7).require_converged()


def test_a_primitive_cell_has_the_bands_of_the_cube(tmp_path):
    """At Gamma the cube has the states of Gamma and of X of the primitive cell."""
    keys = {"functional": "pade", "allow_coarse": True, "temperature": 0.3}
    tight = {"tolerance": 1e-7, "eigen_tolerance": 1e-6}
    # Their meshes of k-points are different ones, so that the densities are alike but not the same.
    primitive = hc.tddft.from_atoms(
        ase.build.bulk("Na", "bcc", a=4.2), extent=[12] * 3, mesh=[2, 2, 2], gamma=True, **keys
    )
    atoms = ase.build.bulk("Na", "bcc", a=4.2, cubic=True)
    cube = hc.tddft.from_atoms(atoms, extent=[14] * 3, mesh=[2, 2, 2], gamma=True, **keys)
    small = hc.tddft.ground_state(primitive, **tight).require_converged()
    large = hc.tddft.ground_state(cube, **tight).require_converged()
    assert small.energy["total"] < 0
    bands = hc.tddft.band_structure(small, path="GHNG", points=7, bands=2)
    assert bands.path.cell.get_bravais_lattice().name == "BCC"
    lowest = np.sort(large.eigenvalues[0])[:2] - large.eigenvalues[0].min()
    at_h = [n for n, k in enumerate(bands.path.kpts) if np.allclose(np.abs(k), 0.5)]
    assert bands.energies[0, at_h[0], 0] - bands.energies[0, 0, 0] == pytest.approx(lowest[1], abs=2e-3)


def test_bands_at_the_k_points_of_the_ground_state_are_its_eigenvalues(ground):
    found = hc.tddft.band_structure(ground, path="GXM", points=9, bands=5)
    assert found.energies.shape == (1, 9, 5)
    assert found.filled == 1
    checked = 0
    for channel, (k, _, _) in enumerate(ground.system.native.channels):
        for n, frac in enumerate(found.path.kpts):
            if np.allclose(frac * 2 * np.pi / ground.system.structure.edges, k, atol=1e-9):
                assert found.energies[0, n, :2] == pytest.approx(ground.eigenvalues[channel][:2], abs=2e-6)
                checked += 1
    assert checked >= 2
    assert found.gap > 0
    assert found.direct_gap >= found.gap - 1e-12
    drawn = found.ase()
    assert drawn.energies.shape == (1, 9, 5)
    assert drawn.reference == pytest.approx(found.valence_top * 27.211386245981)


def test_bands_of_free_electrons_are_parabolas():
    """Jellium that fills its whole cell has no potential: e = (k + G)^2 / 2, up to the stencil."""
    tables = {
        "system": {"jellium": {"radius": 2.0, "charge": 2}, "cell": 4.0, "unit": "bohr"},
        "grid": {"extent": [12, 12, 12]},
        "xc": {"functional": "none"},
        "scf": {"temperature": 0.05},
    }
    system = hc.tddft.System(hc.tddft.Run.from_table(tables))
    ground = hc.tddft.ground_state(system, tolerance=1e-6, max_iterations=300).require_converged()
    found = hc.tddft.band_structure(ground, path="GX", points=6, bands=3)
    assert found.filled is None
    assert found.gap is None
    step = 2 * np.pi / 4.0
    shift = found.energies[0, 0, 0]
    for n, frac in enumerate(found.path.kpts):
        k = frac * step
        squares = [
            0.5 * float(((k + step * np.array(g)) ** 2).sum()) for g in np.ndindex(3, 3, 3) for g in [np.array(g) - 1]
        ]
        # The ball of jellium does not fill the cell evenly; its potential is weak.
        assert found.energies[0, n, 0] - shift == pytest.approx(sorted(squares)[0], abs=0.05)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"path": "GQX"}, "special points of the .* cell, .*G.*as in"),
        ({"bands": 0}, "bands = 0"),
        ({"points": 1}, "points = 1"),
        ({"pth": "GX"}, "pth"),
    ],
)
def test_paths_that_are_none_are_refused(ground, keys, words):
    with pytest.raises((InvalidArgument, TypeError), match=words):
        hc.tddft.band_structure(ground, **keys)


def test_molecules_and_too_few_bands_are_refused(ground):
    molecule = hc.tddft.from_atoms(ase.Atoms("He"), spacing=0.4, box=[3, 3, 3], allow_coarse=True)
    with pytest.raises(InvalidArgument, match="isolated system.*those of a crystal"):
        bands.band_path(molecule, hc.tddft.runfile.BandPath())
    four = ase.Atoms("He4", np.eye(4, 3) * 1.5, cell=[4, 4, 4], pbc=True)
    system = hc.tddft.from_atoms(four, spacing=0.4, allow_coarse=True)
    with pytest.raises(InvalidArgument, match="bands = 2 given; at least 4"):
        bands.bands_wanted(system, hc.tddft.runfile.BandPath(bands=2))
    with pytest.raises(NotConverged, match="did not converge"):
        hc.tddft.band_structure(ground, path="GX", points=3, scf={"max_iterations": 1, "eigen_tolerance": 1e-12})


def test_the_command_writes_numbers_a_table_and_a_picture(tmp_path, command):
    (tmp_path / "run.toml").write_text(RUN.format(path="GXM", bands=4))
    done = command(tmp_path, "tddft", "bands", "run.toml", "--json", "b.json")
    assert done.returncode == 0, done.stderr
    assert "gap on the path" in done.stdout
    assert "he_gs.h5 is not there: computing it" in done.stdout
    numbers = json.loads((tmp_path / "b.json").read_text())
    energies = np.array(numbers["energies"])
    assert energies.shape == (1, 9, 4)
    table = np.loadtxt(tmp_path / "he_bands.txt")
    assert table[:, 4:] == pytest.approx(energies[0] * 27.211386245981, abs=1e-5)
    assert numbers["special_labels"] == ["G", "X", "M"]
    assert (tmp_path / "he_bands.png").is_file()
    said = command(tmp_path, "report", "he_bands.h5", "--plots").stdout
    assert "4 bands at 9 k-points along GXM" in said
    # The ground state is there now, and another path replaces the bands.
    (tmp_path / "run.toml").write_text(RUN.format(path="GZ", bands=4))
    done = command(tmp_path, "tddft", "bands", "run.toml")
    assert done.returncode == 0, done.stderr
    assert "computing it" not in done.stdout
    (tmp_path / "run.toml").write_text(RUN.format(path="GQ", bands=4))
    refused = command(tmp_path, "tddft", "bands", "run.toml")
    assert refused.returncode == 2
    assert "special points" in refused.stderr


def test_bands_are_stopped_when_that_is_asked_for(ground):
    from halocline.errors import Interrupted
    from halocline.reporter import Reporter

    class Stops(Reporter):
        def stop_requested(self):
            return True

    with pytest.raises(Interrupted, match="stopped after 0 of 9 k-points"):
        hc.tddft.band_structure(ground, path="GXM", points=9, reporter=Stops())
