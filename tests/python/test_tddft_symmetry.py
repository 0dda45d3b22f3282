# SPDX-License-Identifier: Apache-2.0
"""K-points reduced by symmetry: the results are those of all k-points."""

import ase
import ase.build
import numpy as np
import pytest
from halocline.errors import InvalidArgument
from halocline.tddft.motion import GroundStates
from halocline.tddft.symmetry import crystal_symmetries, on_grid

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up", "ignore:.*cores overlap")

TIGHT = {"tolerance": 1e-9, "eigen_tolerance": 1e-8}


def silicon(**keys):
    given = {"extent": [8] * 3, "mesh": (3, 3, 3), "functional": "pade", "allow_coarse": True} | keys
    return hc.tddft.from_atoms(ase.build.bulk("Si", a=5.43), **given)


@pytest.fixture(scope="module")
def whole():
    return hc.tddft.ground_state(silicon(), **TIGHT).require_converged()


def test_four_of_27_k_points_give_the_energy_of_all(whole):
    system = silicon(symmetry=True)
    assert len(whole.system.native.channels) == 27 and len(system.native.channels) == 4
    assert sum(weight for _, weight, _ in system.native.channels) == pytest.approx(1)
    assert "4 of 27 k-points, by 48 of 48 symmetries; 48 are symmetries of the grid" in "\n".join(system.describe())
    reduced = hc.tddft.ground_state(system, **TIGHT).require_converged()
    for part, value in whole.energy.items():
        assert reduced.energy[part] == pytest.approx(value, abs=1e-7), part
    assert reduced.energy["total"] == pytest.approx(whole.energy["total"], abs=1e-10)
    assert reduced.gap == pytest.approx(whole.gap, abs=1e-6)
    assert np.abs(reduced.forces).max() < 1e-12
    path = hc.tddft.band_structure(reduced, path="GX", points=3, bands=5)
    other = hc.tddft.band_structure(whole, path="GX", points=3, bands=5)
    assert path.energies == pytest.approx(other.energies, abs=1e-5)


def test_forces_spin_and_gradients_of_a_hexagonal_crystal():
    atoms = ase.build.bulk("BN", "wurtzite", a=2.55, c=4.2, u=0.37)
    keys = {"extent": [10, 10, 16], "mesh": (3, 3, 1), "functional": "pbe", "allow_coarse": True, "spin": True}
    found = {}
    for symmetry in (False, True):
        system = hc.tddft.from_atoms(atoms, symmetry=symmetry, **keys)
        found[symmetry] = hc.tddft.ground_state(system, tolerance=1e-8, eigen_tolerance=1e-7).require_converged()
    assert len(found[True].system.native.channels) < len(found[False].system.native.channels) / 2
    assert found[True].energy["total"] == pytest.approx(found[False].energy["total"], abs=1e-6)
    assert np.abs(found[False].forces).max() > 1e-3
    # A k-point stands on a corner of the zone, where all k-points miss the symmetry by the stencil's error.
    assert found[True].forces == pytest.approx(found[False].forces, abs=2e-4)
    assert found[True].forces[:, :2] == pytest.approx(np.zeros((4, 2)), abs=1e-12)


def test_symmetries_that_the_grid_does_not_have_are_left_out(whole):
    rotations, translations = crystal_symmetries(whole.system.structure)
    assert len(rotations) == 48
    assert len(on_grid(rotations, translations, np.array([8, 8, 8]))[0]) == 48
    # The translation by a quarter of the edges needs a multiple of four points.
    assert len(on_grid(rotations, translations, np.array([14, 14, 14]))[0]) == 24
    assert len(on_grid(rotations, translations, np.array([8, 8, 12]))[0]) < 48
    by_grid = silicon(extent=[14] * 3, symmetry=True)
    energies = [
        hc.tddft.ground_state(system, **TIGHT).require_converged().energy["total"]
        for system in (by_grid, silicon(extent=[14] * 3))
    ]
    assert energies[0] == pytest.approx(energies[1], abs=1e-10)
    # Without an extent one is chosen that has all symmetries.
    chosen = hc.tddft.from_atoms(
        ase.build.bulk("Si", a=5.43), spacing="0.8 bohr", allow_coarse=True, symmetry=True, mesh=(2, 2, 2)
    )
    assert chosen.extent == (12, 12, 12) and chosen.reduction.of_grid == 48


def test_a_field_along_z_keeps_the_current_of_all_k_points(whole):
    light = {"steps": 40, "time_step": "0.2 au", "kick": 0.005, "direction": "z", "energy_every": 10}
    system = silicon(symmetry="z")
    assert 4 < len(system.native.channels) < 27
    reduced = hc.tddft.ground_state(system, **TIGHT).require_converged()
    assert reduced.energy["total"] == pytest.approx(whole.energy["total"], abs=1e-10)
    expected, found = hc.tddft.propagate(whole, **light), hc.tddft.propagate(reduced, **light)
    assert np.abs(expected.current).max() > 1e-5
    assert found.current == pytest.approx(expected.current, abs=1e-10)
    with pytest.raises(InvalidArgument, match="symmetries that the field breaks"):
        hc.tddft.propagate(reduced, **(light | {"direction": "x"}))
    with pytest.raises(InvalidArgument, match="breaks symmetries"):
        hc.tddft.propagate(reduced, **light, ions=True)


def test_what_symmetry_cannot_be_used_for_is_refused(whole):
    reduced = hc.tddft.ground_state(silicon(symmetry=True), **TIGHT).require_converged()
    with pytest.raises(InvalidArgument, match='symmetry = "z"'):
        hc.tddft.propagate(reduced, steps=2, time_step="0.2 au", kick=0.005, direction="z")
    with pytest.raises(InvalidArgument, match="crystals of atoms"):
        hc.tddft.from_atoms(ase.build.molecule("H2"), box=[5, 5, 5], spacing="0.6 bohr", symmetry=True)
    for wrong in ("a", [0, 0, 0], [1, 2], 1):
        with pytest.raises(InvalidArgument, match="symmetry"):
            silicon(symmetry=wrong)
    with pytest.raises(InvalidArgument, match="symmetries of the grid"):
        hc.tddft.ground.egg_box(reduced)


def test_a_run_file_with_a_direction_goes_on_from_its_ground_state(tmp_path, command):
    run = """
        [system]
        atoms = [["Si", 0, 0, 0], ["Si", 1.3575, 1.3575, 1.3575]]
        cell = [[0, 2.715, 2.715], [2.715, 0, 2.715], [2.715, 2.715, 0]]
        [grid]
        extent = [8, 8, 8]
        allow_coarse = true
        [kpoints]
        mesh = [3, 3, 3]
        symmetry = SYMMETRY
        [propagate]
        kick = 0.005
        direction = [0, 0, 1]
        steps = 4
        time_step = "0.2 au"
        [output]
        file = "si.h5"
    """
    (tmp_path / "si.toml").write_text(run.replace("SYMMETRY", "[0, 0, 2.0]"))
    assert command(tmp_path, "tddft", "ground-state", "si.toml").returncode == 0
    done = command(tmp_path, "tddft", "propagate", "si.toml")
    assert done.returncode == 0 and "computing it" not in done.stdout, done.stderr
    again = command(tmp_path, "tddft", "propagate", "si.toml")
    assert again.returncode == 0 and "finished before" in again.stdout
    (tmp_path / "si.toml").write_text(run.replace("SYMMETRY", "true"))
    refused = command(tmp_path, "tddft", "propagate", "si.toml")
    assert refused.returncode == 2 and 'symmetry = "z"' in refused.stderr


def test_atoms_on_their_way_have_all_k_points():
    system = silicon(mesh=(2, 1, 1), symmetry=True)
    states = GroundStates(system)
    assert len(states.system.native.channels) == 2
