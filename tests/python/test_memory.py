# SPDX-License-Identifier: Apache-2.0
"""What does not fit into memory is refused before anything is allocated."""

import resource
import subprocess
import sys

import ase
import pytest
from halocline.cli.main import main

import halocline as hc
from halocline import memory

HYDROGEN = ase.Atoms("H2", [(0, 0, 0), (0, 0, 0.74)])
ELECTRONS = """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [BOX, 5, 5]
[grid]
GRID
[output]
file = "h2.h5"
"""
QUARKS = """
[gauge]
generate = { size = [SIZE, 8, 8, 8], beta = 6.0 }
[action]
mass = 0.5
csw = 1.0
"""


@pytest.fixture(autouse=True)
def little_memory():
    """If nothing refuses, the test fails quickly: the system gives no more than 40 GiB of addresses more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = 1024 * memory._fields("/proc/self/status").get("VmSize", 0)
    resource.setrlimit(resource.RLIMIT_AS, (taken + (40 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def refused(capfd, *words):
    status = main([str(w) for w in words])
    said = capfd.readouterr().err
    assert status == 2 and said.count("\n") == 1, (status, said)
    return said


@pytest.mark.parametrize(
    ("box", "grid"),
    [
        ("5", "extent = [100000, 100000, 100000]\nallow_coarse = true"),
        ("5", "extent = [3000, 3000, 3000]\nallow_coarse = true"),
        ("5", "extent = [40, 40, 999999999999999999]\nallow_coarse = true"),
        ("1e6", "spacing = 0.3"),
        ("1e300", "spacing = 0.3"),
        ("1.7e308", "spacing = 0.3"),
        ("5", "extent = [40, 40, 40]\n[kpoints]\nmesh = [100000, 100000, 100000]"),
    ],
)
@pytest.mark.parametrize("command", ["ground-state", "propagate"])
def test_an_impossible_grid_is_refused_at_once(tmp_path, monkeypatch, capfd, box, grid, command):
    monkeypatch.chdir(tmp_path)
    text = ELECTRONS.replace("BOX", box).replace("GRID", grid) + "[propagate]\nkick = 0.01\nsteps = 1\n"
    if "mesh" in grid:
        text = text.replace("box =", "cell =")
    (tmp_path / "run.toml").write_text(text)
    said = refused(capfd, "tddft", command, "run.toml")
    assert any(words in said for words in ("larger than any machine", "GiB of memory", "longer than numbers")), said


@pytest.mark.parametrize("size", [10**6, 10**9, 10**25])
@pytest.mark.parametrize("command", ["spectrum", "solve", "generate"])
def test_an_impossible_lattice_is_refused_at_once(tmp_path, monkeypatch, capfd, size, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(QUARKS.replace("SIZE", str(size)))
    words = ("qcd", command, "run.toml")
    if command == "generate":
        words = ("qcd", "gauge", "generate", "a.lime", "--size", size, 8, 8, 1000, "--beta", 6)
    said = refused(capfd, *words)
    assert any(words in said for words in ("larger than any machine", "GiB of memory", "63 bits", "64 bits")), said


@pytest.mark.parametrize("keys", [{"box": [1e300, 5, 5]}, {"box": [5, 5, 5], "states": 10**12}])
def test_impossible_systems_are_refused_from_python(keys):
    with pytest.raises(hc.InvalidArgument, match="larger than any machine"):
        hc.tddft.from_atoms(HYDROGEN, spacing=0.3, **keys)


@pytest.mark.parametrize("extents", [[8, 8, 8], [8, 8, 8, 8.5], [8, 8, 8, None], [2**40, 8, 8, 8]])
def test_what_is_no_lattice_is_refused_from_python(extents):
    with pytest.raises(hc.InvalidArgument, match=r"four integers|larger than any machine"):
        hc.qcd.unit_links(extents)


def test_the_sentence_says_how_much_and_what_to_do(monkeypatch):
    monkeypatch.setenv("HALOCLINE_MEMORY", "100 MiB")
    with pytest.raises(hc.InvalidArgument) as refusal:
        hc.qcd.unit_links([24, 24, 24, 24])
    assert str(refusal.value) == (
        "the links of the lattice 24 x 24 x 24 x 24 needs about 0.178 GiB of memory on this machine, which has "
        "0.0977 GiB available; take a smaller lattice or more machines, or set HALOCLINE_MEMORY to the memory that a "
        "machine has, such as 64GiB, or to none."
    )
    monkeypatch.setenv("HALOCLINE_MEMORY", "0.3GiB")
    assert hc.qcd.unit_links([24, 24, 24, 24]).geometry.extents[0] == 24
    monkeypatch.setenv("HALOCLINE_MEMORY", "a lot")
    with pytest.raises(hc.InvalidArgument, match='HALOCLINE_MEMORY = "a lot": expected an amount'):
        hc.qcd.unit_links([24, 24, 24, 24])


def test_the_check_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("HALOCLINE_MEMORY", "none")
    memory.require(hc.comm.self_alone(), 1e30, "this", "do that")
    memory.require_here(1e30, "this", "do that")


def test_processes_of_one_machine_share_its_memory(halocline, tmp_path, monkeypatch):
    """Each of two would fit."""
    monkeypatch.setenv("HALOCLINE_MEMORY", "150MiB")
    words = ("qcd", "gauge", "generate", "a.lime", "--size", 24, 24, 24, 24, "--beta", 6, "--sweeps", 0)
    done = halocline(*words, ranks=2)
    assert done.returncode == 2 and done.stderr.count("for its 2 processes on this machine") == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_what_control_groups_leave(tmp_path):
    def put(folder, **files):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)

    own = tmp_path / "own"
    own.write_text("0::/outer/inner\n")
    two = tmp_path / "two"
    put(two / "outer", memory__max="1000\n", memory__current="700\n", memory__stat="anon 9\ninactive_file 50\n")
    put(two / "outer/inner", memory__max="max\n", memory__current="600\n")
    assert memory._of_control_groups(two, own) == 350
    put(two / "outer/inner", memory__max="800\n")
    assert memory._of_control_groups(two, own) == 200
    own.write_text("5:cpu:/\n3:memory:/job\n")
    one = tmp_path / "one"
    assert memory._of_control_groups(one, own) == float("inf")
    put(one / "memory/job", **{"memory__limit_in_bytes": "500", "memory__usage_in_bytes": "450"})
    assert memory._of_control_groups(one, own) == 50
    assert memory._of_control_groups(one, tmp_path / "absent") == float("inf")


MEASURE = """
import ase
import halocline as hc
from halocline import memory
told = []
memory.require = lambda group, needed, what, advice: told.append(needed)
peak = lambda: 1024 * memory._fields("/proc/self/status")["VmHWM"]
{prepare}
base = peak()
{work}
print(max(told), peak() - base)
"""
CASES = {
    "box": (
        'atoms = ase.Atoms("H2", [(0, 0, 0), (0, 0, 0.74)])',
        "hc.tddft.ground_state(hc.tddft.from_atoms(atoms, extent=[40] * 3, box=[8.0] * 3), max_iterations=2)",
    ),
    "crystal": (
        'atoms = ase.Atoms("H2", [(0, 0, 0), (0, 0, 0.74)], cell=[8.0] * 3, pbc=True)',
        "hc.tddft.ground_state(hc.tddft.from_atoms(atoms, extent=[40] * 3, mesh=[2, 1, 1]), max_iterations=2)",
    ),
    "quarks": (
        "from halocline.qcd.runfile import parse_run_file\n"
        "text = '[gauge]\\ngenerate = { size = [8, 8, 8, 16], beta = 6.0, sweeps = 0 }\\n[action]\\nmass = 1.0\\n"
        'csw = 1.0\\n[solver]\\nkind = "bicgstab"\\ntolerance = 1e-3\\nrhs_batch = 4\\n[output]\\nplots = false\\n\'',
        "hc.qcd.spectrum(parse_run_file(text, 'a'))",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_estimate_is_of_the_order_of_what_is_held(tmp_path, case):
    """Below it, so that nothing is refused which would fit, and above a third of it."""
    prepare, work = CASES[case]
    script = MEASURE.format(prepare=prepare, work=work)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    needed, held = map(float, done.stdout.split())
    assert needed < 1.1 * held and held < 3 * needed, (needed, held)
