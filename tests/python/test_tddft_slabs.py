# SPDX-License-Identifier: Apache-2.0
"""Slabs and wires: no images across the vacuum, work functions, and what is refused."""

import ase
import ase.build
import numpy as np
import pytest
from halocline.errors import InvalidArgument

import halocline as hc

pytestmark = pytest.mark.filterwarnings(
    "ignore:a spacing of", "ignore:the grid added up", "ignore:the atoms reach over"
)

KEYS = {"spacing": "0.3 angstrom", "allow_coarse": True, "pseudopotential": {"Li": {"valence": 1}}}


def hydride(pbc, cell, shift=(0, 0, 0), turn=1):
    """Molecules of lithium hydride, which are polar, side by side or in line."""
    atoms = ase.Atoms("LiH", [[0, 0, 0], [0, 0, 1.6 * turn]], cell=cell, pbc=pbc)
    atoms.positions += 0.5 * np.array(cell) + np.array(shift) - [0, 0, 0.75 * turn]
    return hc.tddft.from_atoms(atoms, **KEYS)


def solved(system):
    return hc.tddft.ground_state(system, tolerance=1e-8).require_converged()


@pytest.fixture(scope="module")
def slab():
    return solved(hydride((1, 1, 0), [6, 6, 15]))


def test_a_polar_slab_has_the_same_energy_for_any_vacuum(slab):
    longer = solved(hydride((1, 1, 0), [6, 6, 18]))
    assert longer.energy["total"] == pytest.approx(slab.energy["total"], abs=2e-5)
    assert longer.eigenvalues[0, 0] == pytest.approx(slab.eigenvalues[0, 0], abs=2e-4)
    # A crystal of such slabs has a field between them instead.
    crystals = [solved(hydride((1, 1, 1), [6, 6, length])).energy["total"] for length in (15, 18)]
    assert abs(crystals[1] - crystals[0]) > 1e-3
    assert np.abs(slab.net_force).max() < 1e-6


def test_a_wire_has_the_same_energy_for_any_vacuum_and_any_axis():
    first, second = (solved(hydride((0, 0, 1), [a, a, 6])) for a in (12, 15))
    assert second.energy["total"] == pytest.approx(first.energy["total"], abs=1e-4)
    turned = ase.Atoms("LiH", [[0, 0, 0], [1.6, 0, 0]], cell=[6, 12, 12], pbc=(1, 0, 0))
    turned.positions += [3 - 0.75, 6, 6]
    assert solved(hc.tddft.from_atoms(turned, **KEYS)).energy["total"] == pytest.approx(first.energy["total"], abs=1e-8)


def test_the_two_sides_of_a_polar_slab_have_vacua_of_their_own(slab):
    found = hc.tddft.vacuum(slab)
    # Hydrogen, the negative end, is above: it costs more to bring an electron there.
    assert found.dipole < -0.3
    assert found.above == -found.below == pytest.approx(-2 * np.pi * found.dipole / (6 / 0.529177) ** 2, rel=1e-6)
    below, above = found.work_functions
    assert above - below == pytest.approx(2 * found.above) and below > 0
    # Over the border of the cell, and upside down.
    moved = hc.tddft.vacuum(solved(hydride((1, 1, 0), [6, 6, 15], shift=(0, 0, 7.5))))
    assert moved.dipole == pytest.approx(found.dipole, abs=1e-6)
    turned = hc.tddft.vacuum(solved(hydride((1, 1, 0), [6, 6, 15], turn=-1)))
    assert turned.dipole == pytest.approx(-found.dipole, rel=0.02)


def test_a_hexagonal_slab_has_forces_that_are_slopes_and_no_work_function_difference():
    def graphene(up=0.0):
        atoms = ase.build.graphene(a=2.46, vacuum=4.0)
        atoms.positions[0, 2] += up
        atoms.pbc = (True, True, False)
        return hc.tddft.from_atoms(atoms, spacing="0.17 angstrom", mesh=(3, 3, 1), gamma=True)

    scf = {"tolerance": 1e-8, "temperature": "0.05 eV", "mixing_weight": 0.3}
    energies = [hc.tddft.ground_state(graphene(u), **scf).require_converged() for u in (0.09, 0.1, 0.11)]
    slope = (energies[2].energy["total"] - energies[0].energy["total"]) / (0.02 / 0.529177210544)
    assert energies[1].forces[0, 2] == pytest.approx(-slope, rel=0.12)  # the grid's own error
    flat = hc.tddft.vacuum(hc.tddft.ground_state(graphene(), **scf))
    assert abs(flat.dipole) < 1e-4
    assert flat.work_functions[0] == pytest.approx(flat.work_functions[1], abs=1e-5)


def test_light_moves_the_electrons_of_a_slab(slab):
    kicked = hc.tddft.propagate(slab, kick=0.01, direction="z", steps=30)
    whole = 0.01 * slab.system.electrons / slab.system.native.volume
    assert kicked.current[0, 2] == pytest.approx(whole, rel=0.05)
    assert kicked.current[-1, 2] < kicked.current[0, 2]
    assert np.ptp(kicked.energy["total"]) < 1e-6


def test_run_files_say_the_axes(halocline, tmp_path):
    run = """
[system]
atoms = [["He", 1.5, 1.5, 5]]
cell = [3, 3, 10]
periodic = "{periodic}"
[grid]
spacing = "0.35 angstrom"
allow_coarse = true
[output]
file = "he.h5"
plots = false
cube = false
"""
    (tmp_path / "run.toml").write_text(run.format(periodic="yx"))
    done = halocline("tddft", "ground-state", "run.toml")
    assert done.returncode == 0, done.stderr
    assert "work functions" in done.stdout
    # A crystal is another system.
    (tmp_path / "run.toml").write_text(run.format(periodic="xyz"))
    done = halocline("tddft", "ground-state", "run.toml")
    assert done.returncode == 2 and "open" in done.stderr
    (tmp_path / "run.toml").write_text(run.format(periodic="ab"))
    done = halocline("tddft", "ground-state", "run.toml")
    assert done.returncode == 2 and 'axes such as "xy" (a slab)' in done.stderr


def test_impossible_slabs_are_refused(slab):
    atoms = ase.Atoms("He", [[1.5, 1.5, 5]], cell=[3, 3, 10], pbc=(1, 1, 0))
    keys = {"spacing": "0.35 angstrom", "allow_coarse": True}
    with pytest.raises(InvalidArgument, match="a charged one depends on the length"):
        hc.tddft.from_atoms(atoms, charge=1, spin=True, **keys)
    with pytest.raises(InvalidArgument, match="mesh has 2 k-points along z"):
        hc.tddft.from_atoms(atoms, mesh=(1, 1, 2), **keys)
    tall = ase.Atoms("He2", [[1.5, 1.5, 1], [1.5, 1.5, 6]], cell=[3, 3, 10], pbc=(1, 1, 0))
    with pytest.raises(InvalidArgument, match="so that they do not see their images"):
        hc.tddft.ground_state(hc.tddft.from_atoms(tall, **keys))
    leaning = ase.Atoms("He", [[1.5, 1.5, 5]], cell=[[3, 0, 0], [0, 3, 0], [1, 0, 10]], pbc=(1, 1, 0))
    with pytest.raises(InvalidArgument, match="not at right angles"):
        hc.tddft.from_atoms(leaning, **keys)
    with pytest.raises(InvalidArgument, match="the vacuum of a crystal was asked for"):
        crystal = ase.Atoms("He", [[1.5, 1.5, 1.5]], cell=[3, 3, 3], pbc=True)
        hc.tddft.vacuum(hc.tddft.ground_state(hc.tddft.from_atoms(crystal, **keys)))


def test_symmetries_do_not_mix_the_vacuum_with_the_slab():
    """A cubic cell with one atom: 16 of the 48 symmetries keep the open axis."""
    atoms = ase.Atoms("He", [[0, 0, 0]], cell=[8, 8, 8], pbc=(1, 1, 0))
    system = hc.tddft.from_atoms(atoms, extent=[20] * 3, allow_coarse=True, mesh=(3, 3, 1), symmetry=True)
    assert system.reduction.found == 16
    assert len(system.reduction.points) == 3
