# SPDX-License-Identifier: Apache-2.0
"""Pseudopotentials of other codes: what is found, what is refused and why, and energies and forces that they computed.

The files are those of Debian's packages quantum-espresso-data, abinit-data and cp2k-data, installed or unpacked by
tools/fetch_potentials; without them these tests skip. The reference values are our own runs of abinit 9.6.2 and of pw.x
6.7 (Quantum ESPRESSO) on eight silicon atoms in the cubic cell of 10.26 bohr at Gamma, with the cutoffs named below.
"""

import collections
import contextlib
import io
import json
import os
import shutil
from pathlib import Path

import ase
import numpy as np
import pytest
from halocline.cli.main import main
from halocline.tddft.units import BOHR_ANGSTROM

import halocline as hc
from halocline.tddft import potentials

SHARE = Path("/usr/share")
FETCHED = Path(__file__).parents[2] / "build/potentials"
DIAMOND = [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
SILICON = np.array(DIAMOND + [[x + 0.25, (y + 0.25) % 1, (z + 0.25) % 1] for x, y, z in DIAMOND])

LIBRARY = """
# two entries
Si GTH-PADE-q4 GTH-LDA-q4 GTH-PADE
    2    2
     0.44000000    1    -7.33610297
    2
     0.42273813    2     5.90692831    -1.26189397
                                        3.25819622
     0.48427842    1     2.72701346
C GTH-PBE-q4 GTH-PBE
 2 2
 0.33847124 2 -8.80367398 1.33921085
 2
 0.30257575 1 9.62248665
 0.29150694 0
"""


def folder_of(part):
    for root in (Path(os.environ.get("HALOCLINE_TEST_POTENTIALS", FETCHED)), SHARE):
        if (root / part).is_dir():
            return root / part
    pytest.skip(f"no {part} in /usr/share or build/potentials; tools/fetch_potentials unpacks it")


def silicon(file=None, functional="auto", points=32, positions=SILICON, **keys):
    edge = 10.26 * BOHR_ANGSTROM
    atoms = ase.Atoms("Si8", scaled_positions=positions, cell=[edge] * 3, pbc=True)
    return hc.tddft.from_atoms(
        atoms,
        extent=(points,) * 3,
        gamma=True,
        pseudopotential={"Si": {"file": str(file)}} if file else {},
        functional=functional,
        centre=False,
        **keys,
    )


REFERENCES = [
    # folder, file, hartree, code and plane-wave cutoff [hartree]
    ("abinit/psp", "14si.pspnc", -35.117921, "abinit, 25; core correction"),
    ("abinit/psp", "14si.fhi", -31.392612, "abinit, 25"),
    ("abinit/psp", "14si.pspgth", -31.311006, "abinit, 25"),
    ("abinit/psp", "14si.4.hgh", -31.345226, "abinit, 25"),
    ("abinit/psp", "14Si_pade-q4", -31.345208, "abinit, 25"),
    ("abinit/psp", "Pseudodojo_nc_sr_04_pbe_standard_psp8/Si.psp8", -33.473376, "abinit, 45; core correction, PBE"),
    ("abinit/psp", "14-Si.nlcc.UPF", -43.240549, "pw.x, 25; UPF 1, core correction"),
    ("espresso/pseudo", "Si.pbe-rrkj.UPF", -31.111001, "pw.x, 20; UPF 2, PBE"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "name", "energy", "source"), REFERENCES, ids=[r[1] for r in REFERENCES])
def test_total_energies_are_those_of_the_code_that_a_format_comes_from(folder, name, energy, source):
    # At 0.32 bohr; the grid is off by up to 0.3 millihartree an atom, plane waves by 0.1.
    ground = hc.tddft.ground_state(silicon(folder_of(folder) / name, allow_coarse=True), tolerance=1e-7)
    assert ground.converged
    assert abs(ground.energy["total"] - energy) / 8 < 4e-4, source


def test_forces_with_core_corrections_are_those_of_abinit():
    positions = SILICON.copy()
    positions[0] = [0.013, 0.02, -0.01]
    expected = [
        [-0.00290176, -0.00827191, 0.00013106],
        [-0.00720487, -0.00410112, 0.00133476],
        [-0.00219944, -0.01013175, 0.00132148],
        [-0.00218948, -0.00409726, 0.00619487],
        [0.01175363, 0.01142786, 0.01491407],
        [0.00234407, -0.00606949, -0.00253480],
    ]  # hartree/bohr, abinit at 25 hartree
    ground = hc.tddft.ground_state(
        silicon(folder_of("abinit/psp") / "14si.pspnc", positions=positions, allow_coarse=True), tolerance=1e-8
    )
    assert np.abs(ground.forces[:6] - expected).max() < 2e-4


def test_every_file_of_other_codes_is_read_or_refused_for_a_reason():
    reasons = collections.Counter()
    read = 0
    for part in ("espresso/pseudo", "abinit/psp"):
        for path in potentials.candidates(folder_of(part)):
            for found in potentials.read(path):
                read += not found.refused
                if not found.refused:
                    assert found.valence > 0 and 0.01 < found.spacing < 1.6, found
                else:
                    reasons[reason_of(found.refused)] += 1
    assert read > 200
    assert reasons["other"] < 12, reasons
    assert reasons["PAW"] > 20 and reasons["ultrasoft"] > 5 and reasons["relativistic"] > 3


def reason_of(sentence):
    known = ("PAW", "ultrasoft", "relativistic", "PSML", "pspcod", "Coulomb", "no known format", "not -Z/r")
    return next((word for word in known if word in sentence), "other")


def test_the_whole_library_of_cp2k_is_read():
    entries = list(potentials.read(folder_of("cp2k") / "GTH_POTENTIALS"))
    assert len(entries) > 350 and not [e for e in entries if e.refused]
    assert {"pade", "pbe", "blyp"} < {e.functional for e in entries}
    # The built-in tables are these numbers.
    for table, symbol in (("pade", "Ga"), ("pbe", "Pt"), ("pbe", "U")):
        own = hc._halocline.tddft.goedecker(symbol, 0, table)
        path, name = str(folder_of("cp2k") / "GTH_POTENTIALS"), f"GTH-{table.upper()}-q{own.valence:g}"
        theirs = hc._halocline.tddft.read_potential_file(path, symbol=symbol, name=name)
        for r in (0.1, 0.7, 2.0):
            assert theirs.local(r) == pytest.approx(own.local(r), rel=1e-12)
            assert theirs.projector(0, 0, r) == pytest.approx(own.projector(0, 0, r), rel=1e-12)


@pytest.fixture
def own_folder(tmp_path):
    (tmp_path / "GTH_POTENTIALS").write_text(LIBRARY)
    (tmp_path / "Al.GGA-PBE-paw.xml").write_text('<?xml version="1.0"?>\n<paw_setup version="0.6">\n</paw_setup>\n')
    (tmp_path / "notes.txt").write_text("not a pseudopotential\n")
    return tmp_path


def test_folders_are_those_given_those_of_the_environment_and_the_usual_ones(own_folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    environment = {"ESPRESSO_PSEUDO": f"{other}{os.pathsep}/no/such/folder"}
    assert potentials.folders([own_folder], environment)[:2] == [own_folder.resolve(), other.resolve()]
    with pytest.raises(hc.FileError, match="no such folder"):
        potentials.folders(["/no/such/folder"])


def test_a_folder_is_listed_with_what_can_be_used_and_what_not(own_folder):
    found = potentials.find("Si", more=[own_folder])
    here = [f for f in found if f.path.startswith(str(own_folder))]
    assert [(f.symbol, f.name, f.functional, f.valence) for f in here if not f.refused] == [
        ("Si", "GTH-PADE-q4", "pade", 4)
    ]
    assert [("PAW" in f.refused) for f in here if f.refused] == [True]
    built_in = [f for f in found if not f.path]
    assert [f.family for f in built_in] == ["GTH (pade)", "GTH (pbe)"]
    assert built_in[0].spacing == pytest.approx(0.388, abs=0.01)
    assert built_in[0].cutoff == pytest.approx(0.5 * (np.pi / built_in[0].spacing) ** 2)
    assert {f.functional for f in potentials.find(functional="PBE", more=[own_folder]) if not f.refused} == {"pbe"}
    with pytest.raises(hc.InvalidArgument, match="did you mean"):
        potentials.find(functional="bpe")
    with pytest.raises(hc.InvalidArgument, match="no chemical symbol"):
        potentials.find("Zz")


def test_the_command_lists_and_writes_json(own_folder):
    numbers = own_folder / "found.json"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        words = ["tddft", "potentials", "C", "--folder", str(own_folder), "--refused", "--json", str(numbers)]
        assert main(words) == 0
    said = out.getvalue()
    assert "GTH-PBE-q4" in said and "(built in)" in said and "PAW" in said
    listed = json.loads(numbers.read_text())
    assert {"C"} == {f["symbol"] for f in listed if not f["refused"]}


def test_an_entry_of_a_library_is_chosen_by_its_name(own_folder):
    library = str(own_folder / "GTH_POTENTIALS")
    keys = {"extent": (8, 8, 8), "allow_coarse": True, "box": [4, 4, 4]}
    system = hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential={"C": {"file": library}}, **keys)
    assert system.functional == "pbe" and system.species["C"].valence == 4
    with pytest.raises(hc.FileError, match="GTH-PBE-q4"):
        hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential={"C": {"file": library, "name": "GTH-PBE-q6"}}, **keys)
    upf = str(own_folder / "C.upf")
    Path(upf).write_text("<UPF")
    for choice in ({"valence": 4}, {"name": "GTH-PBE-q4"}, {"local": 1}, {"largest": 1}):
        with pytest.raises(hc.InvalidArgument, match="leave it away"):
            hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential={"C": {"file": upf, **choice}}, **keys)
    with pytest.raises(hc.InvalidArgument, match="name it with 'file'"):
        hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential={"C": {"name": "GTH-PBE-q4"}}, **keys)


def test_built_in_potentials_are_those_made_for_the_functional():
    keys = {"extent": (8, 8, 8), "allow_coarse": True, "box": [4, 4, 4]}
    assert hc.tddft.from_atoms(ase.Atoms("He"), **keys).species["He"].functional == "pade"
    pbe = hc.tddft.from_atoms(ase.Atoms("He"), functional="pbe", **keys)
    assert pbe.species["He"].functional == "pbe" and not [w for w in pbe.warnings if "functional" in w]
    solid = hc.tddft.from_atoms(ase.Atoms("He"), functional="pbesol", **keys)
    assert solid.species["He"].functional == "pbe" and [w for w in solid.warnings if "made for the functional pbe" in w]


def test_files_of_several_functionals_need_a_choice_and_one_decides_for_the_built_in_ones(own_folder):
    library = {"file": str(own_folder / "GTH_POTENTIALS")}
    keys = {"extent": (8, 8, 8), "allow_coarse": True, "box": [6, 6, 6]}
    atoms = ase.Atoms("CO", [[0, 0, 0], [0, 0, 1.1]])
    assert hc.tddft.from_atoms(atoms, pseudopotential={"C": library}, **keys).species["O"].functional == "pbe"
    both = {"C": library, "Si": library}
    with pytest.raises(hc.InvalidArgument, match="different functionals"):
        hc.tddft.from_atoms(ase.Atoms("CSi", [[0, 0, 0], [0, 0, 1.6]]), pseudopotential=both, **keys)


def test_a_file_for_a_functional_that_we_lack_is_refused_with_auto(own_folder):
    text = LIBRARY.replace("GTH-PBE-q4 GTH-PBE", "GTH-HSE-q4")
    (own_folder / "GTH_POTENTIALS").write_text(text)
    keys = {"extent": (8, 8, 8), "allow_coarse": True, "box": [4, 4, 4]}
    file = {"C": {"file": str(own_folder / "GTH_POTENTIALS")}}
    with pytest.raises(hc.InvalidArgument, match="hse"):
        hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential=file, **keys)
    assert hc.tddft.from_atoms(ase.Atoms("C"), pseudopotential=file, functional="pbe", **keys).functional == "pbe"


def test_a_file_of_another_element_is_refused(own_folder):
    shutil.copy(own_folder / "GTH_POTENTIALS", own_folder / "one")
    with pytest.raises(hc.FileError, match="no entry for O"):
        hc.tddft.from_atoms(
            ase.Atoms("O"), extent=(8, 8, 8), box=[4, 4, 4], pseudopotential={"O": str(own_folder / "one")}
        )
