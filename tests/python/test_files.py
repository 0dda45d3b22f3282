# SPDX-License-Identifier: Apache-2.0
"""Files appear whole or not at all: full disks, planted names, partial files of killed processes."""

import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import halocline as hc
from halocline import files, hdf5

WRITERS = """
import json, resource, sys
from pathlib import Path
import ase
import numpy as np
import halocline as hc
from halocline import files, hdf5, picture
from halocline.cli.console import write_json
from halocline.tddft import results, spectra

folder, limit = Path(sys.argv[1]), sys.argv[2]
u = hc.qcd.random_links([4, 4, 4, 4], 3)
atoms = ase.Atoms("H2", [(0, 0, 0), (0, 0, 0.74)])
system = hc.tddft.from_atoms(atoms, extent=[12, 12, 12], box=[3.0, 3.0, 3.0], allow_coarse=True)
from halocline import _halocline
from halocline.tddft.ground import make_model
model = make_model(system, hc.comm.self_alone(), system.run.parallel)
state = model.empty_state()
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot(np.random.default_rng(1).random(3000))
noise = np.random.default_rng(1).random(20000)
made = {"kind": "dielectric", "energy_ev": noise, "response": noise + 1j, "loss": noise}
spectrum = type("Spectrum", (), made)

propagator = hc.qcd.propagator(hc.qcd.WilsonClover(u, mass=2.0, csw=0.0), source=[0, 0, 0, 0])

def gauge(name):
    return lambda: hc.qcd.write_gauge(folder / name, u)

writers = {
    "a.lime": gauge("a.lime"), "a.nersc": gauge("a.nersc"), "a.npy": gauge("a.npy"), "a.h5": gauge("a.h5"),
    "a.openqcd": gauge("a.openqcd"), "a.milc": gauge("a.milc"),
    "s.lime": lambda: _halocline.qcd.write_propagator(str(folder / "s.lime"), propagator, 64, "<a/>"),
    "r.h5": lambda: results.write(folder / "r.h5", "spectrum", {}, {"energy": noise}),
    "r.txt": lambda: spectra.write_table(folder / "r.txt", spectrum),
    "n.json": lambda: write_json(folder / "n.json", list(noise)),
    "p.png": lambda: picture.save(figure, folder / "p.png"),
    "p.pdf": lambda: picture.save(figure, folder / "p.pdf"),
    "g.orbitals": lambda: _halocline.tddft.write_orbitals(str(folder / "g.orbitals"), model, state),
    "g.cube": lambda: _halocline.tddft.write_density_cube(str(folder / "g.cube"), model, state, "x"),
}
if limit != "none":
    sys.dont_write_bytecode = True  # it would be cut off
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
said = {}
for name, write in writers.items():
    try:
        write()
        said[name] = ""
    except hc.FileError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


def write_everything(folder, limit="none", words=()):
    """File -> the sentence of the FileError, or "" where it was written. Fails where the process crashed."""
    done = subprocess.run(
        [*words, sys.executable, "-c", WRITERS, folder, str(limit)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return json.loads(done.stdout)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.slow
def test_every_writer_survives_a_full_disk_and_keeps_what_was_there(tmp_path):
    """With a limit on the size of a file the system refuses writes as a full disk does."""
    assert not any(write_everything(tmp_path).values())
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for limit in (0, 5000):
        for name, sentence in write_everything(tmp_path, limit).items():
            assert sentence.startswith(f"{tmp_path / name}: "), (name, sentence)
            assert "cannot be written" in sentence or "did not reach the disk" in sentence or "do not fit" in sentence
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("kilobytes", [8, 16, 64])
def test_every_writer_survives_a_tiny_file_system(tmp_path, kilobytes):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("mounting a file system takes root and unshare")
    mount = f'mount -t tmpfs -o size={kilobytes}k none "$0" && exec "$@"'
    words = ["unshare", "-m", "bash", "-c"]
    if subprocess.run([*words, mount, tmp_path, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let root mount a file system of its own")
    ended = 'rest=$(ls -A "$1"); [ -z "$(echo "$rest" | grep partial)" ] || { echo "$rest" >&2; exit 9; }'
    script = f'mount -t tmpfs -o size={kilobytes}k none "$1" && "${{@:2}}" && {ended}'
    said = write_everything(tmp_path, words=[*words, script, "bash", tmp_path])
    assert any(said.values())


SMALL_RUNS = {
    ("tddft", "ground-state"): (
        '[system]\natoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]\nbox = [3.6, 3.6, 4.2]\n'
        '[grid]\nspacing = "0.35 angstrom"\n[output]\nfile = "out.h5"\nplots = false\ncube = false\n'
    ),
    ("qcd", "spectrum"): (
        "[gauge]\ngenerate = { size = [2, 2, 2, 4], beta = 6.0, sweeps = 1 }\n[action]\nmass = 0.5\ncsw = 1.0\n"
        '[solver]\nkind = "bicgstab"\n[output]\nfile = "out.h5"\nplots = false\n'
    ),
}


@pytest.mark.parametrize("command", SMALL_RUNS)
def test_a_full_disk_ends_a_command_with_one_sentence(tmp_path, command):
    (tmp_path / "run.toml").write_text(SMALL_RUNS[command])
    script = (
        "import resource, sys; sys.dont_write_bytecode = True  # it would be cut off\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "from halocline.cli.main import main\n"
        f"sys.exit(main({[*command, 'run.toml']!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stderr.startswith("halocline: out") and done.stderr.count("\n") == 1
    assert not [name for name in names(tmp_path) if not name.endswith((".toml", ".log"))]


@pytest.mark.parametrize("words", [("qcd", "spectrum", "--example"), ("--version",)])
def test_a_full_disk_below_the_standard_output_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "halocline.cli.main", *words],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert (
        done.stderr == "halocline: the output of this command cannot be written: No space left on device; make room.\n"
    )


def test_nothing_planted_beside_a_file_is_followed(tmp_path):
    """Old names of partial files, and every lock, as links to something precious and as pipes."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("a.json.partial", ".partial-a.json", "a.npy.partial"):
        (tmp_path / name).symlink_to(precious)
    os.mkfifo(tmp_path / "b.json.partial")
    for name in ("a.json", "b.json"):
        files.write_file(tmp_path / name, "{}")
    hc.qcd.write_gauge(tmp_path / "a.npy", hc.qcd.unit_links([2, 2, 2, 2]))
    lock = tmp_path / f"a.json.{os.geteuid()}.lock"
    lock.symlink_to(precious)
    with pytest.raises(hc.FileError, match="is a link"), files.claimed(tmp_path / "a.json"):
        pass
    lock.unlink()
    os.link(precious, lock)
    with pytest.raises(hc.FileError, match="no lock file of yours"), files.claimed(tmp_path / "a.json"):
        pass
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(hc.FileError, match="no lock file of yours"), files.claimed(tmp_path / "a.json"):
        pass
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("write", ["python", "library"])
def test_partial_files_of_killed_processes_are_removed_later(tmp_path, write):
    old, young, other, long = (
        tmp_path / name
        for name in ("a.npy.0123abcd.partial", "a.npy.0123abce.partial", "b.npy.0123abcd.partial", "a.npy.xyz.partial")
    )
    for path in (old, young, other, long):
        path.write_text("half")
    for path in (old, other, long):
        os.utime(path, (1e9, 1e9))
    if write == "python":
        files.write_file(tmp_path / "a.npy", b"whole")
    else:
        hc.qcd.write_gauge(tmp_path / "a.npy", hc.qcd.unit_links([2, 2, 2, 2]))
    assert not old.exists() and young.exists() and other.exists() and long.exists()


def test_a_partial_file_that_somebody_is_writing_stays(tmp_path):
    with files.NewFile(tmp_path / "a.json") as first:
        first.write(0, b"first")
        os.utime(first.beside, (1e9, 1e9))
        files.write_file(tmp_path / "a.json", b"second")
        assert first.beside.exists()
    assert (tmp_path / "a.json").read_bytes() == b"first" and names(tmp_path) == ["a.json"]


def test_an_error_in_the_block_keeps_the_old_file(tmp_path):
    files.write_file(tmp_path / "a", "old")
    with pytest.raises(RuntimeError), files.NewFile(tmp_path / "a") as new:
        new.write(0, b"new")
        raise RuntimeError
    assert (tmp_path / "a").read_text() == "old" and names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["/dev/null", "pipe", "folder"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(hc.FileError, match=r"^[^:]*: exists and is not a regular file; name another\.$"):
        files.write_file(tmp_path / name, "x")


def test_a_name_as_long_as_names_can_be_is_written(tmp_path):
    name = "é" * 127
    files.write_file(tmp_path / name, "x")
    with files.claimed(tmp_path / name):
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == [name]


def test_a_stored_file_reads_back_what_the_disk_did_not_take(tmp_path):
    """The HDF5 library never learns of a failure: it reads what it wrote."""

    class Full(files.NewFile):
        def write(self, offset, data):
            if offset + len(data) > 8:
                raise OSError(28, "No space left on device")
            super().write(offset, data)

    rng = np.random.default_rng(2)
    expected = bytearray(200)
    with Full(tmp_path / "a") as file:
        stored = hdf5.Stored(file)
        stored.seek(0)
        stored.write(b"01234567")
        expected[:8] = b"01234567"
        for _ in range(300):
            offset, data = int(rng.integers(0, 150)), rng.bytes(int(rng.integers(1, 50)))
            stored.seek(offset)
            stored.write(data)
            expected[offset : offset + len(data)] = data
        assert stored.failure is not None
        stored.seek(0)
        assert stored.read(stored.size) == bytes(expected[: stored.size])


def test_the_seal_is_invisible_to_other_programs(tmp_path):
    hdf5.write(tmp_path / "a.h5", lambda file: file.create_dataset("x", data=np.arange(100.0)))
    assert b"halocline seal 1" in (tmp_path / "a.h5").read_bytes()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["x"][99] == 99.0
