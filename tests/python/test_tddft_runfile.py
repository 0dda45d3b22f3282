# SPDX-License-Identifier: Apache-2.0
"""Run files of `halocline tddft`: units, defaults, the example, and what is refused with which advice."""

import json
import pickle

import pytest
from halocline.schema import Unfit
from halocline.tddft.runfile import example_run_file, parse_run_file

import halocline as hc
from halocline.tddft import units

SYSTEM = '[system]\natoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]\nbox = 5\n'
GRID = '[grid]\nspacing = "0.25 angstrom"\n'


def parsed(more="", system=SYSTEM, grid=GRID):
    return parse_run_file(system + grid + more, "run.toml")


def refused(said, *arguments, **named):
    with pytest.raises(hc.InvalidArgument, match="run.toml") as error:
        parsed(*arguments, **named)
    assert said in str(error.value), str(error.value)
    return str(error.value)


def test_the_example_is_accepted_and_its_comments_speak_of_every_key():
    text = example_run_file()
    run = parse_run_file(text, "example")
    assert run.propagate.kick == 0.01
    for section in ("system", "grid", "kpoints", "pseudopotential", "xc", "scf", "propagate", "output", "parallel"):
        assert f"[{section}]" in text
    for word in ("jellium", "mesh", "checkpoint_every", "egg_box", "orbitals"):
        assert word in text


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (2, "length", 2.0),
        ("1 angstrom", "length", 1 / 0.529177210544),
        ("1 Å", "length", 1 / 0.529177210544),
        ("0.1 nm", "length", 1 / 0.529177210544),
        ("13.605693122990 eV", "energy", 0.5),
        ("1 Ry", "energy", 0.5),
        ("24.188843265864 as", "time", 1.0),
        ("1.5e1 fs", "time", 15 / 0.024188843265864),
        ("3.50944506e16 W/cm^2", "field", 1.0),
        ("1.5 h", "wall time", 5400.0),
        ("0.5 pi", "angle", 1.5707963267948966),
    ],
)
def test_units_are_converted(value, kind, expected):
    assert units.converted(value, kind) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "value", ["1 furlong", "angstrom", "1e400 bohr", "", True, None, [1], float("nan"), "-1 W/cm^2"]
)
def test_what_is_no_quantity_is_refused(value):
    with pytest.raises(Unfit):
        units.converted(value, "field" if isinstance(value, str) and "W" in value else "length")


def test_the_same_run_in_other_units_is_the_same_run():
    there = parsed('[propagate]\ntime_step = "2.4188843265864 as"\n[scf]\ntemperature = "27.211386245981 meV"\n')
    here = parsed("[propagate]\ntime_step = 0.1\n[scf]\ntemperature = 0.001\n")
    assert there.propagate.time_step == pytest.approx(here.propagate.time_step, rel=1e-14)
    assert there.scf.temperature == pytest.approx(here.scf.temperature, rel=1e-14)


def test_every_parameter_comes_back_as_it_went_in():
    text = '[pseudopotential]\nH = { file = "H_rps.dat", local = 0, largest = 0 }\n[propagate]\nkick = 0.01\nsteps = 5'
    run = parsed(text)
    again = hc.tddft.Run.from_table(run.as_toml_values())
    assert again == run and again.physics_hash() == run.physics_hash()
    assert run.pseudopotential.elements["H"].largest == 0


def test_the_hash_sees_physics_and_nothing_else():
    run = parsed()
    assert parsed("[output]\ncube = false\n[parallel]\nk = 1\n").physics_hash() == run.physics_hash()
    assert parsed("[kpoints]\ngamma = true\n").physics_hash() != run.physics_hash()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[propagat]\n", "did you mean [propagate]?"),
        ("[propagate]\nkik = 0.01\n", "did you mean 'kick'"),
        ("[scf]\nspacing = 0.2\n", "'spacing' belongs in [grid]"),
        ("[scf]\nmixing = 'puley'\n", 'did you mean "pulay"?'),
        ("[xc]\nfunctional = 'bpe'\n", 'did you mean "pbe"'),
        ("[xc]\nfunctional = 'hyb_gga_xc_b3lyp'\n", "is not available: choose another name"),
        ("[xc]\nfunctional = 'gga_x_bpe'\n", "is not known"),
        ("[xc]\nfunctional = 'pwldda'\n", 'did you mean "pw"'),
        ("[xc]\nfunctional = 'LDA'\n", 'mostly "pz" or "pw"'),
        ("[scf]\nmixing_screening = -1\n", "at least 0"),
        ("[propagate]\ntime_step = '1 angstrom'\n", "a time: a number (au), or a text with its unit: au, fs, as, ps"),
        ("[propagate]\ntime_step = 0\n", "a time above 0"),
        ("[propagate]\nsteps = 3\ntotal_time = 5\n", "both 'total_time' and 'steps'"),
        ("[propagate]\ndirection = [0, 0, 0]\n", "a direction that is not zero"),
        ("[propagate]\npulses = [{ amplitude = 0.1 }]\n", "frequency"),
        ("[propagate]\npulses = [{ amplitude = 0.1, frequency = 0, duration = 9 }]\n", "an energy above 0"),
        (
            "[propagate]\npulses = [{ amplitude = 0.1, frequency = 1, duration = 9, ellipticity = 1 }]\n",
            "an elliptic pulse needs the direction in which it travels",
        ),
        (
            "[propagate]\npulses = [{ amplitude = 0.1, frequency = 1, duration = 9, ellipticity = 1.5 }]\n",
            "at least -1 and at most 1",
        ),
        ("[propagate]\nresponse = 'film'\n", "belong together"),
        ("[propagate]\nfilm = { thickness = 100 }\n", "belong together"),
        ("[propagate]\nresponse = 'film'\nfilm = { thickness = '1 fs' }\n", "a length"),
        ("[propagate]\nresponse = 'film'\nfilm = { thickness = 9, behind = 0 }\n", "a number above 0"),
        ("[spectrum]\nwindow = 'gaussian'\n", "needs width"),
        ("[pseudopotential]\nH = { local = 1 }\n", "name it with 'file'"),
        ("[pseudopotential]\nH = { fil = 'a' }\n", "did you mean 'file'"),
        ("[pseudopotential]\ndefalt = 'goedecker'\n", "did you mean 'default'"),
        ("[kpoints]\nmesh = [2, 2]\n", "three integers"),
        ("[parallel]\nspace = 0\n", "at least 1"),
        ("[parallel]\ntime_limit = -1\n", "time_limit = -1: expected a number above 0"),
        ("[output]\nfile = 'a.txt'\n", 'ending in ".h5"'),
        ("[scf]\ntolerance = true\n", "a number"),
        ("kick = 1", "'kick'"),
    ],
)
def test_mistakes_are_one_sentence_with_advice(more, said):
    sentence = refused(said, more)
    assert sentence.count("\n") == 0


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("[system]\nbox = 5\n", "needs 'file'"),
        ('[system]\natoms = [["H", 0, 0, 0]]\n', "needs 'cell' (a crystal) or 'box'"),
        ('[system]\natoms = [["H", 0, 0]]\nbox = 5\n', '["C", x, y, z]'),
        ('[system]\natoms = [["H", 0, 0, 0]]\nbox = 5\ncell = 5\n', "both 'cell'"),
        ('[system]\natoms = [["H", 0, 0, 0]]\nbox = 5\nperiodic = true\n', "a crystal has a 'cell'"),
        ('[system]\natoms = [["H", 0, 0, 0]]\nfile = "a.xyz"\nbox = 5\n', "both 'file' and 'atoms'"),
        ("[system]\njellium = { radius = 1.0 }\nbox = 5\n", "charge"),
        ('[system]\natoms = [["H", 0, 0, 0]]\nbox = 5\nmoment = 1\n', "spin = false"),
    ],
)
def test_systems_that_say_too_little_or_too_much(system, said):
    refused(said, system=system)


def test_a_grid_may_have_spacing_or_extent_or_neither():
    refused("both 'spacing' and 'extent'", grid="[grid]\nspacing = 0.2\nextent = [9, 9, 9]\n")
    for text in (SYSTEM, SYSTEM + "[grid]\n"):
        run = parse_run_file(text, "run.toml")
        assert run.grid.spacing is None and run.grid.extent is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("PWLDA", "pw"),
        ("LDA-PW", "pw"),
        ("PW92", "pw"),
        ("lda_pz", "pz"),
        ("PZM", "pz-mod"),
        ("PZ", "pz"),
        ("PBE", "pbe"),
        ("GGA_X_PBE + GGA_C_LYP", "gga_x_pbe+gga_c_lyp"),
        ("gga_x_pbe+gga_c_pbe", "pbe"),
        ("auto", "auto"),
    ],
)
def test_functionals_have_the_names_of_the_field(given, meant):
    assert parsed(f"[xc]\nfunctional = '{given}'\n").xc.functional == meant


def test_every_functional_of_the_library_has_a_name_in_the_run_file():
    from halocline.tddft.runfile import FUNCTIONALS

    from halocline import _halocline

    assert set(FUNCTIONALS) == {"auto", *_halocline.tddft.functionals()}


def test_a_number_given_with_its_unit_is_echoed_as_given():
    from halocline.schema import given_texts, shown
    from halocline.tddft.plots import formula_label
    from halocline.tddft.units import quantity

    length = quantity("length")("0.25 angstrom")
    assert length == pytest.approx(0.4724315, rel=1e-6) and shown(length) == '"0.25 angstrom"'
    assert shown((length, 2.0)) == '["0.25 angstrom", 2.0]' and json.loads(json.dumps(length)) == float(length)
    assert pickle.loads(pickle.dumps(length)).text == "0.25 angstrom"
    parameters = {"grid": {"spacing": [length], "extent": 3}, "scf": {"tolerance": 1e-6}}
    assert given_texts(parameters) == {"grid": {"spacing": '["0.25 angstrom"]'}}
    assert formula_label("C2H2") == "C$_{2}$H$_{2}$"
