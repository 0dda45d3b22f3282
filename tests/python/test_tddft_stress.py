# SPDX-License-Identifier: Apache-2.0
"""The stress: the slope of the energy with the lattice constant, symmetry, turned crystals, the cell by ASE."""

import json

import ase
import ase.build
import numpy as np
import pytest
from ase.filters import FrechetCellFilter
from ase.optimize import BFGS
from halocline.errors import InvalidArgument
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up")

KEYS = {"extent": [12] * 3, "mesh": (2, 2, 2), "gamma": True, "functional": "pade", "allow_coarse": True}
TIGHT = {"tolerance": 1e-8, "eigen_tolerance": 1e-7}


def ground_at(a, **keys):
    system = hc.tddft.from_atoms(ase.build.bulk("Si", a=a), **(KEYS | keys))
    return hc.tddft.ground_state(system, **TIGHT).require_converged()


def test_the_pressure_is_the_slope_of_the_energy_with_the_volume():
    mesh = {"mesh": (3, 3, 3), "gamma": False}
    found = hc.tddft.stress(ground_at(5.5, **mesh))
    volumes, energies = [], []
    for a in (5.4945, 5.5055):
        ground = ground_at(a, **mesh)
        volumes.append(ground.system.native.volume)
        energies.append(ground.energy["total"])
    slope = (energies[1] - energies[0]) / (volumes[1] - volumes[0])
    assert abs(slope) > 1e-5
    assert np.trace(found) / 3 == pytest.approx(slope, rel=2e-3)
    # A cubic crystal is under pressure from all sides alike, and is not sheared.
    assert np.diag(found) == pytest.approx(np.full(3, slope), rel=2e-3)
    assert np.abs(found - np.diag(np.diag(found))).max() < 1e-3 * abs(slope)


def test_the_stress_of_a_reduced_mesh_is_that_of_the_whole_one():
    mesh = {"mesh": (3, 3, 3), "gamma": False, "extent": [8] * 3}
    whole = hc.tddft.stress(ground_at(5.5, **mesh))
    reduced = hc.tddft.stress(ground_at(5.5, symmetry=True, **mesh))
    assert reduced == pytest.approx(whole, abs=1e-8)


def test_ase_finds_the_lattice_constant_of_lowest_energy():
    atoms = ase.build.bulk("Si", a=5.5)
    atoms.calc = hc.tddft.Halocline(**KEYS, scf={"tolerance": 1e-7})
    optimiser = BFGS(FrechetCellFilter(atoms, hydrostatic_strain=True), logfile=None)
    assert optimiser.run(fmax=0.02, steps=12)
    a = (4 * atoms.get_volume()) ** (1 / 3)
    # A parabola through three energies on the same number of points.
    lattice = np.array([5.38, 5.42, 5.46])
    energies = [ground_at(x).energy["total"] for x in lattice]
    square, slope, _ = np.polyfit(lattice - 5.42, energies, 2)
    assert a == pytest.approx(5.42 - slope / (2 * square), abs=0.01)
    stress = atoms.get_stress()
    ground = atoms.calc.ground
    assert stress.shape == (6,)
    assert stress[0] == pytest.approx(hc.tddft.stress(ground)[0, 0] * HARTREE_EV / BOHR_ANGSTROM**3, abs=1e-6)


def stretched():
    atoms = ase.build.bulk("Si", a=5.5)
    atoms.set_cell(atoms.cell[:] @ np.diag([1, 1, 1.01]), scale_atoms=True)
    return hc.tddft.from_atoms(atoms, **KEYS)


def test_a_relaxation_finds_the_cell_and_goes_on_where_it_stopped(tmp_path):
    keys = {"cell": True, "force_tolerance": "0.01 eV/angstrom", "scf": {"tolerance": 1e-7}}
    whole = hc.tddft.relax(stretched(), **keys).require_converged()
    assert np.all(np.diff(whole.energy) < 1e-6) and whole.cells.shape == (len(whole.energy), 3, 3)
    last = whole.frames()[-1]
    # The cube is found again: three equal edges at 60 degrees.
    assert last.cell.cellpar()[:3] == pytest.approx(np.full(3, last.cell.cellpar()[0]), rel=1e-3)
    assert last.cell.cellpar()[3:] == pytest.approx(np.full(3, 60.0), abs=0.05)
    pressure = -np.trace(whole.stress[-1]) / 3 * HARTREE_EV / BOHR_ANGSTROM**3
    assert abs(pressure) < 0.01 * 2 / last.get_volume()
    assert abs(np.trace(whole.stress[0])) > 5 * abs(np.trace(whole.stress[-1]))


def test_the_command_relaxes_a_cell_in_parts(halocline, tmp_path):
    import ase.io

    ase.io.write(tmp_path / "si.xyz", ase.build.bulk("Si", a=5.6))
    run = """
[system]
file = "si.xyz"
[grid]
extent = [12, 12, 12]
allow_coarse = true
[kpoints]
mesh = [2, 2, 2]
gamma = true
[relax]
cell = true
force_tolerance = "0.01 eV/angstrom"
max_steps = {steps}
[output]
file = "si.h5"
plots = false
"""
    (tmp_path / "run.toml").write_text(run.format(steps=1))
    assert halocline("tddft", "relax", "run.toml").returncode == 3
    (tmp_path / "run.toml").write_text(run.format(steps=30))
    done = halocline("tddft", "relax", "run.toml", "--json", "si.json")
    assert done.returncode == 0, done.stderr
    assert "restart       after 2 geometries" in done.stdout and "GPa" in done.stdout
    relaxed = ase.io.read(tmp_path / "si_relaxed.xyz")
    found = json.loads((tmp_path / "si.json").read_text())
    assert np.array(found["cells"])[-1] * BOHR_ANGSTROM == pytest.approx(relaxed.cell[:], abs=1e-6)
    assert relaxed.get_volume() < ase.io.read(tmp_path / "si.xyz").get_volume() * 0.98


def test_isolated_atoms_and_impossible_strains_are_refused():
    box = hc.tddft.from_atoms(ase.Atoms("He"), spacing="0.5 angstrom", box=[5, 5, 5], allow_coarse=True)
    with pytest.raises(InvalidArgument, match="only crystals"):
        hc.tddft.stress(hc.tddft.ground_state(box))
    with pytest.raises(InvalidArgument, match="isolated atoms have no cell"):
        hc.tddft.relax(box, cell=True)
    crystal = ground_at(5.43, extent=[8] * 3, mesh=(1, 1, 1))
    for strain in (0, -1e-3, 0.5):
        with pytest.raises(InvalidArgument, match="strain"):
            hc.tddft.stress(crystal, strain=strain)
