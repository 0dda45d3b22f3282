# SPDX-License-Identifier: Apache-2.0
"""Run files: what is accepted, and the sentence of every refusal."""

import math
import tomllib

import pytest
from halocline.qcd.runfile import Action, Run, Solver, Source, example_run_file, parse_run_file, read_run_file

from halocline import FileError, InvalidArgument

GOOD = """
[gauge]
files = ["cfg.lime"]
[action]
mass = -0.5
csw = 1.0
"""


def refusal(text: str) -> str:
    with pytest.raises(InvalidArgument) as caught:
        parse_run_file(text, "run.toml")
    sentence = str(caught.value)
    assert sentence.startswith("run.toml: ") and "\n" not in sentence
    return sentence


def test_defaults_fill_what_is_left_out():
    run = parse_run_file(GOOD, "run.toml")
    assert run.action.boundary == (1, 1, 1, -1)
    assert run.solver.kind == "auto" and run.solver.tolerance == 1e-10
    assert run.source.positions == ((0, 0, 0, 0),)
    assert run.measure.mesons == ("pion", "rho") and run.measure.nucleon
    assert run.parallel.grid is None and run.output.file == "spectrum.h5"


def test_the_example_is_a_valid_run_file_and_mentions_every_key():
    text = example_run_file()
    parse_run_file(text, "example")
    import dataclasses

    for name, cls in Run.sections.items():
        assert f"[{name}]" in text
        for field in dataclasses.fields(cls):
            assert f"\n{field.name} = " in text or f"\n# {field.name} = " in text


def test_the_example_names_only_defaults():
    """Uncommented keys that have a default show just that default."""
    tables = tomllib.loads(example_run_file())
    shortened = {"gauge": {"files": tables["gauge"]["files"]}, "action": {"mass": -0.5, "csw": 1.0}}
    from halocline.qcd.runfile import Run

    assert Run.from_table(tables) == Run.from_table(shortened)


def test_kappa_and_mass_are_the_same_statement():
    run = parse_run_file(GOOD.replace("mass = -0.5", "kappa = 0.14285714285714285"), "run.toml")
    assert run.action.m0 == pytest.approx(-0.5, abs=1e-14)


@pytest.mark.parametrize(
    ("value", "factor"),
    [("1", 1), ("-1.0", -1), ("{ phase = 1 }", -1), ("{ phase = 0.5 }", 1j), ("{ phase = -0.5 }", -1j)],
)
def test_boundary_factors(value, factor):
    run = parse_run_file(GOOD + f"boundary = [1, 1, 1, {value}]", "run.toml")
    assert run.action.boundary[3] == pytest.approx(factor, abs=1e-15)


def test_boundary_phases_survive_the_way_to_plain_values_and_back():
    action = Action(mass=0.0, csw=0.0, boundary=[1, {"phase": 0.3}, {"phase": -0.3}, -1])
    again = Action(**action.as_toml_values())
    assert again.boundary == pytest.approx(action.boundary, abs=1e-15)


REFUSED = {
    "unknown key, near one": (GOOD + "[solver]\ntolerence = 1e-8", "no key 'tolerence'; did you mean 'tolerance'"),
    "key of another section": (GOOD + "tolerance = 1e-8", "[action] has no key 'tolerance'; 'tolerance' belongs in"),
    "near a key of another section": (GOOD + "precison = 'mixed'", "did you mean 'precision' in [solver]"),
    "unknown key, near none": (GOOD + "[parallel]\nxyzzy = 1", "[parallel] has no key 'xyzzy'; it has grid"),
    "key outside": ("mass = 1\n" + GOOD, "'mass' stands outside every section; it belongs in [action]"),
    "unknown section": (GOOD + "[sovler]\n", "no section [sovler]; did you mean [solver]?"),
    "unknown inline key": (
        GOOD.replace('files = ["cfg.lime"]', "generate = { size = [4,4,4,4], betta = 6.0 }"),
        "[gauge] generate: has no key 'betta'; did you mean 'beta'",
    ),
    "missing section": ("[gauge]\nfiles = ['a']", "section [action] is missing"),
    "no mass": ("[gauge]\nfiles = ['a']\n[action]\ncsw = 1.0", "[action] needs 'mass' or 'kappa'"),
    "mass and kappa": (GOOD + "kappa = 0.125", "mass = -0.5 and kappa = 0.125; keep one"),
    "negative kappa": (
        GOOD.replace("mass = -0.5", "kappa = -0.13"),
        "[action] kappa = -0.13: expected a number above 0",
    ),
    "zero kappa": (GOOD.replace("mass = -0.5", "kappa = 0"), "kappa = 0: expected a number above 0"),
    "NaN mass": (GOOD.replace("-0.5", "nan"), "mass = nan: expected a number"),
    "infinite csw": (GOOD.replace("csw = 1.0", "csw = inf"), "csw = inf: expected a number"),
    "text for a number": (GOOD.replace("-0.5", "'heavy'"), '[action] mass = "heavy": expected a number'),
    "true for a number": (GOOD.replace("-0.5", "true"), "[action] mass = true: expected a number"),
    "no csw": (GOOD.replace("csw = 1.0", ""), 'kind = "wilson-clover" needs csw'),
    "csw without clover": (GOOD + 'kind = "wilson"', 'kind = "wilson" has no clover term'),
    "boundary of modulus two": (GOOD + "boundary = [1, 1, 1, 2]", "boundary = [1, 1, 1, 2]: expected four boundary"),
    "three boundaries": (GOOD + "boundary = [1, 1, 1]", "expected four boundary factors"),
    "links twice": (
        GOOD.replace("csw", "csw").replace('"]', '"]\ngenerate = { size = [4,4,4,4], beta = 6.0 }'),
        "both",
    ),
    "no links": ("[gauge]\n[action]\nmass = 0.0\ncsw = 0.0", "[gauge] needs 'files'"),
    "empty list of files": (GOOD.replace('["cfg.lime"]', "[]"), "[gauge] files = []: expected a list of file names"),
    "one file not in a list": (GOOD.replace('["cfg.lime"]', '"cfg.lime"'), 'files = "cfg.lime": expected a list'),
    "stout without rho": (GOOD.replace('"]', '"]\nsmear = { kind = "stout" }'), 'kind = "stout" needs rho'),
    "stout with alpha": (GOOD.replace('"]', '"]\nsmear = { kind = "stout", alpha = 0.5 }'), "takes rho, not alpha"),
    "near word": (GOOD + '[solver]\nkind = "bicgstb"', 'did you mean "bicgstab"?'),
    "tolerance of one": (GOOD + "[solver]\ntolerance = 1.0", "tolerance = 1.0: expected a number above 0 and below 1"),
    "tolerance out of reach": (GOOD + "[solver]\ntolerance = 1e-16", "below double precision"),
    "schwarz in double": (
        GOOD + '[solver]\nkind = "schwarz"\nprecision = "double"',
        'kind = "schwarz" iterates in single precision',
    ),
    "schwarz parameters in double": (
        GOOD + '[solver]\nprecision = "double"\nschwarz = { nsap = 4 }',
        'precision = "double" has no Schwarz preconditioner',
    ),
    "multigrid in double": (
        GOOD + '[solver]\nkind = "multigrid"\nprecision = "double"',
        'kind = "multigrid" iterates in single precision',
    ),
    "a set-up file of another kind": (
        GOOD + '[solver]\nmultigrid = { setup_file = "setup.lime" }',
        "setup_file",
    ),
    "fewer vectors made than kept": (
        GOOD + '[solver]\nkind = "multigrid"\nmultigrid = { vectors = 16, setup_vectors = 8 }',
        "setup_vectors = 8 is less than vectors = 16",
    ),
    "more coarse vectors than vectors": (
        GOOD + '[solver]\nkind = "multigrid"\nmultigrid = { vectors = 16, coarse_vectors = 24 }',
        "coarse_vectors = 24 is more than vectors = 16",
    ),
    "an unknown cycle": (
        GOOD + '[solver]\nkind = "multigrid"\nmultigrid = { cycle = "W" }',
        '"K"',
    ),
    "one level": (
        GOOD + '[solver]\nkind = "multigrid"\nmultigrid = { levels = 1 }',
        "levels",
    ),
    "multigrid parameters without multigrid": (
        GOOD + '[solver]\nkind = "cg"\nmultigrid = { vectors = 16 }',
        'multigrid is set but kind = "cg"',
    ),
    "test vectors that no register takes": (
        GOOD + '[solver]\nkind = "multigrid"\nmultigrid = { vectors = 20 }',
        "a multiple of 8, from 8 to 64",
    ),
    "schwarz parameters without schwarz": (
        GOOD + '[solver]\nkind = "cg"\nschwarz = { nsap = 4 }',
        'kind = "cg" has no Schwarz preconditioner',
    ),
    "unknown schwarz key": (GOOD + "[solver]\nschwarz = { nspa = 4 }", "no key 'nspa'; did you mean 'nsap'"),
    "unknown preset": (GOOD + '[solver]\nschwarz = "fugacu"', 'did you mean "fugaku"?'),
    "too many powers": (
        GOOD + "[solver]\nschwarz = { nsap = 101 }",
        "[solver] schwarz: nsap = 101: expected an integer",
    ),
    "three domains": (GOOD + "[solver]\nschwarz = { domains = [2, 1, 1] }", 'four integers x, y, z, t, or "auto"'),
    "links of ten reals": (GOOD + "[solver]\nschwarz = { link_reals = 10 }", "link_reals = 10: expected 18 or 12"),
    "quarter precision": (GOOD + '[solver]\nschwarz = { storage = "quarter" }', 'expected "float" or "half"'),
    "eighth precision": (
        GOOD + '[solver]\nschwarz = { arithmetic = "quarter" }',
        'expected "auto", "float" or "half"',
    ),
    "shifts that are none": (GOOD + "[solver]\nshifts = []", "shifts = []: expected a list of numbers"),
    "a shift twice": (GOOD + "[solver]\nshifts = [0.1, 0.2, 0.1]", "each shift once"),
    "shifts of another solver": (
        GOOD + '[solver]\nkind = "bicgstab"\nshifts = [0.1]',
        'set kind = "cg", or leave kind out',
    ),
    "shifts with multigrid": (GOOD + "[solver]\nshifts = [0.1]\nmultigrid = { vectors = 16 }", "leave multigrid out"),
    "shifts with schwarz": (GOOD + '[solver]\nshifts = [0.1]\nschwarz = "fugaku"', "leave schwarz out"),
    "operator of no shifts": (GOOD + '[solver]\nshift_operator = "full"', "shift_operator is set without shifts"),
    "unknown operator": (GOOD + '[solver]\nshifts = [0.1]\nshift_operator = "odd"', 'expected "full" or "even-odd"'),
    "batch of none": (GOOD + "[solver]\nrhs_batch = 0", "rhs_batch = 0: expected an integer of at least 1"),
    "batch of thirteen": (GOOD + "[solver]\nrhs_batch = 13", "at most 12"),
    "unknown precision": (GOOD + '[solver]\nprecision = "half"', 'expected "mixed" or "double"'),
    "no iterations": (GOOD + "[solver]\nmax_iterations = 0", "expected an integer of at least 1"),
    "fraction for an integer": (GOOD + "[solver]\nmax_iterations = 10.5", "expected an integer"),
    "number for a switch": (GOOD + "[solver]\neven_odd = 1", "even_odd = 1: expected true or false"),
    "negative position": (GOOD + "[source]\npositions = [[0, 0, 0, -1]]", "integer of at least 0"),
    "position of three": (GOOD + "[source]\npositions = [[0, 0, 0]]", "four integers x, y, z, t"),
    "position twice": (GOOD + "[source]\npositions = [[0,0,0,0],[0,0,0,0]]", "same site twice"),
    "gaussian without width": (GOOD + '[source]\nkind = "gaussian"', "needs width"),
    "width without gaussian": (GOOD + "[source]\nwidth = 2.0", "neither kind"),
    "unknown channel": (GOOD + '[measure]\nmesons = ["pino"]', 'did you mean "pion"?'),
    "nothing to measure": (GOOD + "[measure]\nmesons = []\nnucleon = false", "asks for nothing"),
    "grid of three": (GOOD + "[parallel]\ngrid = [1, 1, 2]", "[parallel] grid = [1, 1, 2]: expected four integers"),
    "solver that is a word": (
        'solver = "cg"\n' + GOOD,
        '[solver] = "cg": expected a table of keys, such as kind = "cg"',
    ),
    "no time": (GOOD + "[parallel]\ntime_limit = 0", "[parallel] time_limit = 0: expected a number above 0"),
    "time without end": (GOOD + "[parallel]\ntime_limit = inf", "time_limit = inf: expected a number above 0"),
    "grid with a zero": (GOOD + "[parallel]\ngrid = [1, 1, 1, 0]", "at least 1"),
    "results that are no HDF5": (GOOD + '[output]\nfile = "out.txt"', 'ending in ".h5"'),
    "not TOML": ("[gauge\nfiles = 1", "not a TOML file"),
    "section as a value": ("gauge = 3\n[action]\nmass = 0.0", "[gauge] = 3: expected a table"),
}


@pytest.mark.parametrize("case", REFUSED, ids=[name.replace(" ", "-") for name in REFUSED])
def test_refused_with_a_sentence(case):
    text, said = REFUSED[case]
    assert said in refusal(text)


@pytest.mark.parametrize("odd", ['[action]\n"ma\\nss" = 1', '[action]\nmass = "a\\nb"', '["\\u0007\\n"]\na = 1'])
def test_line_breaks_of_a_run_file_do_not_break_the_sentence(odd):
    from halocline.errors import FileError
    from halocline.mapping.tables import MessagesTable, section_of

    from halocline.tddft import parse_run_file as parse_electrons

    for parse in (parse_run_file, parse_electrons):
        with pytest.raises(InvalidArgument) as refused:
            parse(odd, "run.toml")
        assert str(refused.value).isprintable()
    with pytest.raises(FileError) as refused:
        section_of({"messages": {"na\nme": 1}}, "messages", MessagesTable, "m.toml")
    assert str(refused.value).isprintable()


def test_a_section_made_in_python_is_checked_alike():
    with pytest.raises(InvalidArgument, match=r"\[solver\] tolerance = -1: expected a number above 0"):
        Solver(tolerance=-1)


def test_a_preset_is_the_table_that_it_stands_for():
    named = parse_run_file(GOOD + '[solver]\nkind = "schwarz"\nschwarz = "fugaku"', "a")
    spelt = parse_run_file(
        GOOD + '[solver]\nkind = "schwarz"\nschwarz = { nsap = 4, steps = 2, domains = [2, 1, 1, 1] }', "b"
    )
    assert named == spelt and named.physics_hash() == spelt.physics_hash()
    assert Solver(**named.solver.as_toml_values()) == named.solver


def test_an_unreadable_run_file_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="absent.toml: cannot be read: No such file"):
        read_run_file(tmp_path / "absent.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidArgument, match="not text"):
        read_run_file(binary)


def test_the_hash_knows_physics_from_bookkeeping():
    base = parse_run_file(GOOD, "a").physics_hash()
    moved = GOOD + '[output]\nfile = "other.h5"\n[parallel]\ngrid = [1, 1, 1, 2]\n[measure]\nbin = 2'
    assert parse_run_file(moved, "b").physics_hash() == base
    assert parse_run_file(GOOD.replace("cfg", "cfg2"), "c").physics_hash() == base
    assert parse_run_file(GOOD.replace("-0.5", "-0.4"), "d").physics_hash() != base
    assert parse_run_file(GOOD + "[solver]\ntolerance = 1e-9", "e").physics_hash() != base
    assert parse_run_file(GOOD + "[solver]\nrhs_batch = 3", "f").physics_hash() == base
    assert math.isfinite(int(base, 16))


def test_the_example_lists_every_gauge_format():
    from halocline.qcd.gauge import FORMATS

    words = example_run_file().lower()
    assert all(name in words for name in FORMATS)


@pytest.mark.parametrize(("width", "steps", "doubts"), [(2.0, 7, 0), (2.0, 6, 1), (2.0, 1, 1), (0.5, 1, 0)])
def test_a_gaussian_of_few_steps_is_doubted_and_not_refused(width, steps, doubts):
    assert len(Source(kind="gaussian", width=width, steps=steps).doubts()) == doubts
