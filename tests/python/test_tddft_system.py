# SPDX-License-Identifier: Apache-2.0
"""From atoms to a system: ASE, units, placement, k-points, states; and every system that cannot be computed."""

import ase
import ase.build
import numpy as np
import pytest
from halocline.tddft.runfile import Run
from halocline.tddft.units import BOHR_ANGSTROM

import halocline as hc

PEN = 0.74 / 2


def hydrogen(**keys):
    atoms = ase.Atoms("H2", [[0, 0, -PEN], [0, 0, PEN]])
    return hc.tddft.from_atoms(atoms, **({"spacing": "0.6 bohr", "box": [5, 5, 6]} | keys))


def refused(said, **keys):
    with pytest.raises(hc.InvalidArgument) as error:
        hydrogen(**keys)
    assert said in str(error.value), str(error.value)


def test_a_molecule_stands_in_the_middle_of_its_box():
    away = ase.Atoms("H2", [[3, 4, 5 - PEN], [3, 4, 5 + PEN]])
    system = hc.tddft.from_atoms(away, spacing="0.3 angstrom", box=[5, 5, 6])
    expected = np.array([[0, 0, -PEN], [0, 0, PEN]]) / BOHR_ANGSTROM
    assert system.structure.positions == pytest.approx(expected, abs=1e-12)
    assert not system.periodic and system.extent == (17, 17, 20)
    assert np.array(system.spacing) * system.extent == pytest.approx(np.array([5, 5, 6]) / BOHR_ANGSTROM)


def test_without_a_spacing_the_recommended_one_of_the_hardest_element_is_taken():
    atoms = ase.Atoms("CO", [[0, 0, 0], [0, 0, 1.13]])
    system = hc.tddft.from_atoms(atoms, box=[5, 5, 6])
    expected = 0.8 * min(p.coarsest_spacing for p in system.species.values())
    assert system.recommended_spacing == pytest.approx(expected)
    assert system.species["O"].coarsest_spacing < system.species["C"].coarsest_spacing
    assert 0.9 * expected < max(system.spacing) <= expected and not system.warnings
    assert any("is recommended" in line for line in system.describe())
    coarse = hc.tddft.from_atoms(atoms, spacing="0.25 bohr", box=[5, 5, 6])
    assert coarse.recommended_spacing == pytest.approx(expected) and max(coarse.spacing) > expected
    with pytest.raises(hc.InvalidArgument, match="both 'spacing' and 'extent'"):
        hc.tddft.from_atoms(atoms, spacing="0.2 bohr", extent=(40, 40, 40), box=[5, 5, 6])


def test_a_section_given_as_a_key_is_answered_with_its_keys():
    with pytest.raises(hc.InvalidArgument, match=r"no key 'xc'; the section \[xc\] has functional\."):
        hc.tddft.from_atoms(ase.Atoms("H"), box=[5, 5, 5], xc="pbe")


def test_hydrogen_is_recommended_a_finer_spacing_than_its_error_asks_for():
    system = hc.tddft.from_atoms(ase.Atoms("H2", [[0, 0, 0], [0, 0, 0.74]]), box=[5, 5, 6])
    assert system.species["H"].largest_l < 0
    assert system.recommended_spacing == pytest.approx(0.5 * system.species["H"].coarsest_spacing)


def test_jellium_has_no_recommended_spacing():
    table = {"system": {"jellium": {"radius": 1.0, "charge": 10}, "box": [10, 10, 10]}}
    with pytest.raises(hc.InvalidArgument, match="without pseudopotentials none is recommended"):
        hc.tddft.System(hc.tddft.Run.from_table(table))


def test_the_cell_of_a_molecule_is_its_box():
    atoms = ase.build.molecule("H2", vacuum=3.0)
    system = hc.tddft.from_atoms(atoms, spacing="0.6 bohr")
    assert not system.periodic
    assert system.structure.edges == pytest.approx(np.diag(atoms.cell) / BOHR_ANGSTROM)
    assert np.abs(system.structure.positions.sum(axis=0)).max() < 1e-12


def test_a_crystal_from_ase_has_its_k_points_and_its_electrons():
    system = hc.tddft.from_atoms(ase.build.bulk("Si", cubic=True), spacing="0.65 bohr", mesh=[2, 2, 2])
    assert system.periodic and len(system.native.channels) == 8 and system.electrons == 32
    k = np.array([c[0] for c in system.native.channels])
    assert np.abs(k) == pytest.approx(np.full((8, 3), np.pi / 2 / system.structure.edges[0]))
    assert sum(c[1] for c in system.native.channels) == pytest.approx(1.0)
    assert system.states >= 18 and system.states % 4 == 0
    assert system.functional == "pade" and system.structure.formula() == "Si8"


def test_gamma_is_in_the_mesh_when_it_is_asked_for():
    system = hc.tddft.from_atoms(ase.build.bulk("Si", cubic=True), spacing="0.65 bohr", mesh=[2, 1, 1], gamma=True)
    assert min(np.linalg.norm(c[0]) for c in system.native.channels) == 0.0


def test_jellium_needs_no_atoms():
    run = hc.tddft.Run.from_table(
        {
            "system": {"jellium": {"radius": 1.0, "charge": 10}, "cell": 16},
            "grid": {"extent": [16, 16, 16]},
            "kpoints": {"mesh": [1, 1, 2]},
        }
    )
    system = hc.tddft.System(run)
    assert system.electrons == 10 and system.functional == "pz"
    assert system.structure.jellium[2] == pytest.approx([8 / BOHR_ANGSTROM] * 3)


def test_charge_and_spin_change_the_electrons():
    assert hydrogen(charge=1, spin=True, moment=1).electrons == 1
    assert hydrogen(spin=True).native.spins == 2


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"functional": "scam"}, 'did you mean "scan"'),
        ({"charge": 1}, "cannot be paired"),
        ({"charge": -6, "states": 2}, "do not fit 2 states"),
        ({"charge": 2}, "leaves 0 of the 2 electrons"),
        ({"box": [0.5, 5, 5], "centre": False}, "points along x"),
        ({"spacing": "2 angstrom", "box": [24, 24, 24]}, "hartree an atom is to be expected"),
        ({"mesh": [1, 1, 2]}, "only periodic cells"),
        ({"pseudopotential": {"He": {"valence": 2}}}, "there are only H atoms"),
        ({"pseudopotential": {"H": {"valence": 7}}}, "7"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_what_cannot_be_computed_is_said(keys, said):
    refused(said, **keys)


def test_an_unknown_element_is_answered_with_those_that_exist():
    with pytest.raises(hc.InvalidArgument, match=r"Np.*H, He, Li"):
        hc.tddft.from_atoms(ase.Atoms("Np"), spacing="0.3 bohr", box=[4, 4, 4])


def test_overlapping_atoms_and_atoms_outside_are_refused():
    with pytest.raises(hc.InvalidArgument, match="apart"):
        hc.tddft.from_atoms(ase.Atoms("H2", [[0, 0, 0], [0, 0, 0.1]]), spacing="0.6 bohr", box=[5, 5, 5])
    with pytest.raises(hc.InvalidArgument, match="outside"):
        hc.tddft.from_atoms(ase.Atoms("H2", [[0, 0, 0], [0, 0, 9]]), spacing="0.6 bohr", box=[5, 5, 5])


def test_atoms_whose_cores_overlap_are_warned_about():
    keys = {"extent": (8, 8, 8), "allow_coarse": True, "box": [5, 5, 6]}
    close = hc.tddft.from_atoms(ase.Atoms("Si2", [[0, 0, 0], [0, 0, 1.0]]), **keys)
    assert [w for w in close.warnings if "atoms 0 (Si) and 1 (Si)" in w and "cores overlap" in w]
    across = ase.Atoms("Si2", [[0, 0, 0.2], [0, 0, 5.5]], cell=[6, 6, 6], pbc=True)
    wrapped = hc.tddft.from_atoms(across, extent=(8, 8, 8), allow_coarse=True)
    assert [w for w in wrapped.warnings if "cores overlap" in w]
    for molecule in (ase.build.molecule("H2O"), ase.build.molecule("C2H2"), ase.Atoms("N2", [[0, 0, 0], [0, 0, 1.1]])):
        assert not [w for w in hc.tddft.from_atoms(molecule, **keys).warnings if "cores overlap" in w]


def test_a_cell_of_oblique_edges_keeps_its_edges_and_its_atoms():
    atoms = ase.build.bulk("Si", a=5.43)
    atoms.positions[1] += atoms.cell[0] - 2 * atoms.cell[2]  # another image
    system = hc.tddft.from_atoms(atoms, spacing="0.5 bohr", mesh=[2, 2, 2], allow_coarse=True)
    s = system.structure
    assert s.cell == pytest.approx(np.array(atoms.cell) / BOHR_ANGSTROM)
    assert s.edges == pytest.approx(np.full(3, 5.43 / np.sqrt(2) / BOHR_ANGSTROM))
    assert s.reciprocal @ s.cell.T == pytest.approx(2 * np.pi * np.eye(3))
    inside = s.positions @ np.linalg.inv(s.cell)
    assert inside[1] == pytest.approx([0.25, 0.25, 0.25])
    assert system.extent == (15, 15, 15)
    assert system.native.volume == pytest.approx(np.abs(np.linalg.det(s.cell)))
    assert "angles 60 60 60 degrees" in "\n".join(system.describe())
    k = np.array([c[0] for c in system.native.channels]) @ s.cell.T / (2 * np.pi)
    assert np.abs(k) == pytest.approx(np.full((8, 3), 0.25))
    bond = s.positions[1] - s.positions[0] + 3 * s.cell[1] - s.cell[2]
    nearest = bond + s.to_nearest(bond[None])[0]
    assert np.linalg.norm(nearest) == pytest.approx(5.43 * np.sqrt(3) / 4 / BOHR_ANGSTROM)


def test_oblique_edges_of_a_run_file():
    half = 2.715
    run = {
        "system": {
            "atoms": [["Si", 0, 0, 0], ["Si", half / 2, half / 2, half / 2]],
            "cell": [[0, half, half], ["2.715 angstrom", 0, half], [half, half, 0]],
        },
        "grid": {"extent": [8, 8, 8], "allow_coarse": True},
    }
    by_file = hc.tddft.System(Run.from_table(run))
    atoms = ase.build.bulk("Si", a=5.43)
    by_atoms = hc.tddft.from_atoms(atoms, extent=(8, 8, 8), allow_coarse=True)
    assert by_file.structure.cell == pytest.approx(by_atoms.structure.cell)
    assert by_file.structure.positions == pytest.approx(by_atoms.structure.positions)
    for cell in ([[0, 1, 1], [1, 0, 1]], [[0, 1, 1], [1, 0, 1], [1, 1]], [[0, 1, 1], 1, 1]):
        with pytest.raises(hc.InvalidArgument, match="three vectors"):
            Run.from_table(run | {"system": run["system"] | {"cell": cell}})


def test_cells_that_cannot_be_are_refused():
    with pytest.raises(hc.InvalidArgument, match="in one plane"):
        flat = ase.Atoms("He", cell=[[3, 0, 0], [0, 3, 0], [2, 2, 0.001]], pbc=True)
        hc.tddft.from_atoms(flat, spacing="0.6 bohr")
    with pytest.raises(hc.InvalidArgument, match="niggli_reduce"):
        oblique = ase.Atoms("He", cell=[[3, 0, 0], [9, 3, 0], [0, 0, 3]], pbc=True)
        hc.tddft.from_atoms(oblique, extent=[5, 5, 5], allow_coarse=True)
    with pytest.raises(hc.InvalidArgument, match="in 'box'"):
        hc.tddft.from_atoms(ase.Atoms("He", cell=[[5, 0, 0], [1, 5, 0], [0, 0, 5]]), spacing="0.6 bohr")
    with pytest.raises(hc.InvalidArgument, match="no cell"):
        hc.tddft.from_atoms(ase.Atoms("H"), spacing="0.6 bohr")


def test_a_functional_that_does_not_fit_is_warned_about():
    assert hydrogen(functional="pade").warnings == hydrogen().warnings
    assert any("pade" in w.lower() for w in hydrogen(functional="x", spacing="0.25 bohr").warnings)


def test_a_coarse_spacing_is_warned_about_with_its_error():
    fine = hydrogen(spacing=f"{0.9 * hydrogen().species['H'].coarsest_spacing} bohr")
    coarse = hydrogen(spacing=f"{1.2 * hydrogen().species['H'].coarsest_spacing} bohr")
    assert fine.warnings == []
    assert len(coarse.warnings) == 1 and "hartree an atom" in coarse.warnings[0]


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF" + bytes(200), b"100 0.1 2 4\n0 1 1 1\n0.0 nonsense\n", b"<UPF version='2.0.1'>"]
)
@pytest.mark.parametrize("name", ["H.upf", "H_rps.dat"])
def test_damaged_pseudopotentials_are_refused_with_their_name(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(hc.FileError, match=name):
        hydrogen(pseudopotential={"H": {"file": str(path)}})
    with pytest.raises(hc.FileError, match="no such pseudopotential"):
        hydrogen(pseudopotential={"H": str(tmp_path / "absent.upf")})


def test_files_of_atoms_are_read_and_others_refused(tmp_path):
    from halocline.tddft.structure import read_atoms

    ase.build.molecule("H2").write(tmp_path / "h2.xyz")
    assert len(read_atoms(str(tmp_path / "h2.xyz"))) == 2
    (tmp_path / "bad.xyz").write_text("nonsense\n")
    with pytest.raises(hc.FileError, match="bad.xyz"):
        read_atoms(str(tmp_path / "bad.xyz"))
    with pytest.raises(hc.FileError, match="no such file"):
        read_atoms(str(tmp_path / "absent.xyz"))


@pytest.mark.parametrize(
    ("rows", "said"), [("0 0 0 0\n1 0 nan 0\n", "row 2"), ("inf 0 0 0\n1 0 0 0\n", "row 1"), ("", "0 rows")]
)
def test_a_table_of_a_field_has_finite_numbers(tmp_path, recwarn, rows, said):
    from halocline.tddft.propagation import read_table

    (tmp_path / "field.txt").write_text("# t Ex Ey Ez\n" + rows)
    with pytest.raises(hc.FileError, match=said):
        read_table(str(tmp_path / "field.txt"))
    assert not recwarn.list


def test_plain_numbers_beside_ase_atoms_are_in_its_units():
    plain = hydrogen(spacing=0.3, box=[5, 5, 6], temperature=0.1)
    said = hydrogen(spacing="0.3 angstrom", box=["5 angstrom", "5 angstrom", "6 angstrom"], temperature="0.1 eV")
    assert plain.identity() == said.identity() and plain.run.scf == said.run.scf
    assert max(plain.spacing) * BOHR_ANGSTROM <= 0.3
    in_bohr = hydrogen(spacing=0.5, box=[10, 10, 11], unit="bohr")
    assert in_bohr.extent == (20, 20, 22) and in_bohr.spacing == pytest.approx((0.5, 0.5, 0.5))


def test_an_atomic_number_that_no_element_has_is_refused(tmp_path):
    from halocline.tddft.structure import read_atoms

    cube = "d\n\n 1 0 0 0\n 1 1 0 0\n 1 0 1 0\n 1 0 0 1\n NUMBER 1.0 0 0 0.1\n 0.5\n"
    for number in (1, 999):
        (tmp_path / f"{number}.cube").write_text(cube.replace("NUMBER", str(number)))
    assert read_atoms(str(tmp_path / "1.cube")).get_chemical_symbols() == ["H"]
    with pytest.raises(hc.FileError, match="ASE cannot read atoms"):
        read_atoms(str(tmp_path / "999.cube"))


@pytest.mark.parametrize("shape", ["gaussian", "cos2"])
def test_a_pulse_begins_where_its_envelope_is_small(shape):
    from halocline.tddft.propagation import field_of
    from halocline.tddft.runfile_light import Propagate, Pulse

    pulse = Pulse(shape=shape, amplitude=0.01, frequency=0.2, duration=100.0, direction=(0.0, 0.0, 1.0))
    (found,) = field_of(Propagate(pulses=(pulse,)), "velocity", (0.0, 0.0, 0.0))["pulses"]
    # Of the field: a Gaussian whose intensity has the duration as its width at half maximum, and cos^2.
    t = found["centre"] / found["duration"]
    assert (2.0 ** (-2 * t**2) if shape == "gaussian" else np.cos(np.pi * t) ** 2) < 1e-5


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"charge": 2}, "charge = 2 leaves 0 of the 2 electrons that the atoms would have"),
        ({"charge": 5}, "charge = 5 leaves -3 of the 2 electrons"),
        ({"spin": True, "moment": 1, "fixed_moment": True}, "fixed moment of 1 would have 1.5 of 2 electrons"),
        ({"spin": True, "moment": 4, "fixed_moment": True}, "fixed moment of 4 would have 3 of 2 electrons"),
    ],
)
def test_electrons_and_spins_that_cannot_be_are_refused(keys, words):
    atoms = ase.Atoms("H2", [[0, 0, 0], [0, 0, 0.74]])
    with pytest.raises(hc.InvalidArgument, match=words):
        hc.tddft.from_atoms(atoms, spacing=0.3, box=[3, 3, 3.5], **keys)
    # A start, and occupations that are not whole, may be anything.
    if keys.get("moment") == 1:
        hc.tddft.from_atoms(atoms, spacing=0.3, box=[3, 3, 3.5], temperature=0.1, **keys)
        hc.tddft.from_atoms(atoms, spacing=0.3, box=[3, 3, 3.5], spin=True, moment=1)
