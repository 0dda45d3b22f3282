# SPDX-License-Identifier: Apache-2.0
"""Damage to an HDF5 file is told in one sentence, before the HDF5 library can lose its way in it."""

import os
import random
import struct
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from halocline.cli.main import main

import halocline as hc
from halocline import hdf5
from halocline.tddft import results


def fill(file):
    file.attrs["format"] = "halocline tddft 1"
    file.attrs["kind"] = "spectrum"
    file.create_dataset("symbols", data=["H", "C"], dtype=h5py.string_dtype())
    for name in ("energy", "deep/er", "deep/est"):
        file[name] = np.arange(50.0)


def everything(path):
    with hdf5.opened(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item[()].tolist()}) if hasattr(item, "dtype") else None)
        return found | {"attributes": dict(file.attrs)}


def looping(image):
    """The file with a free list, that of the names in a group, which comes back to where it was."""
    heap = image.index(b"HEAP")
    head, data = struct.unpack_from("<QQ", image, heap + 16)
    return image[: data + head] + struct.pack("<Q", head) + image[data + head + 8 :]


@pytest.fixture
def sealed(tmp_path):
    hdf5.write(tmp_path / "a.h5", fill)
    return tmp_path / "a.h5"


def unsealed(path):
    """What another program leaves: the same file without a seal."""
    with h5py.File(path, "a"):
        pass
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_refused_or_what_it_was(sealed, seed):
    """Bytes changed, cut out, doubled and appended anywhere, the seal included."""
    rng, whole, expected = random.Random(seed), sealed.read_bytes(), everything(sealed)
    refused = 0
    for number in range(300):
        raw = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 5))):
            # Near the end, every other time: the seal is short.
            at = rng.randrange(len(raw)) if number % 2 else len(raw) - 1 - rng.randrange(min(len(raw), 250))
            kind = rng.randrange(5)
            if kind == 0:
                raw[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                raw[at : at + 8] = rng.randbytes(8)
            elif kind == 2:
                del raw[at : at + rng.randrange(1, 50)]
            elif kind == 3:
                raw[at:at] = raw[at : at + rng.randrange(1, 50)]
            else:
                raw += rng.randbytes(rng.randrange(1, 50))
        if raw == whole:
            continue
        sealed.write_bytes(raw)
        try:
            assert everything(sealed) == expected
        except hc.FileError as error:
            assert str(error).startswith(str(sealed)) and "\n" not in str(error)
            refused += 1
    assert refused > 290  # a blank more or less in the seal's line changes nothing


def test_every_truncated_file_is_refused_or_what_it_was(sealed):
    whole, expected = sealed.read_bytes(), everything(sealed)
    end = len(unsealed(sealed))
    for length in [*range(0, end, 97), *range(end + 1, len(whole))]:
        sealed.write_bytes(whole[:length])
        with pytest.raises(hc.FileError):
            everything(sealed)
    sealed.write_bytes(whole[:end])
    assert everything(sealed) == expected


@pytest.mark.parametrize(
    "line", [b'{"bytes": 1, "sha256": "", "left out": [[1e999, 1]]}', b"[" * 100_000], ids=["infinity", "nesting"]
)
def test_a_seal_of_impossible_numbers_is_refused(sealed, line):
    whole = sealed.read_bytes()
    sealed.write_bytes(whole[: len(unsealed(sealed))] + line + hdf5.FOOTER % len(line))
    with pytest.raises(hc.FileError, match=r"\(seal\): cannot be understood"):
        everything(sealed)


@pytest.mark.parametrize("at", [24, 40])
def test_a_damaged_superblock_does_not_take_the_seal_away(sealed, at):
    """The base address, of which HDF5 takes some wrong ones for 0, and the end of the file."""
    whole = bytearray(sealed.read_bytes())
    whole[at : at + 8] = b"\xff" * 8 if at == 24 else struct.pack("<Q", len(whole))
    sealed.write_bytes(whole)
    with h5py.File(sealed, "r") as file:  # the library takes it
        assert file.attrs["kind"] == "spectrum"
    with pytest.raises(hc.FileError, match="damaged"):
        everything(sealed)


def test_a_file_that_another_program_changed_is_read(sealed):
    with h5py.File(sealed, "a") as file:
        file["note"] = 5.0
        del file["deep"]
    assert set(everything(sealed)) == {"note", "symbols", "energy", "attributes"}


def test_a_sealed_file_whose_structure_loops_is_refused_at_once(sealed):
    begun = time.monotonic()
    sealed.write_bytes(looping(sealed.read_bytes()))
    with pytest.raises(hc.FileError, match=r"a\.h5 \(seal\): the file claims the checksum .* is damaged; take another"):
        results.read(sealed, "spectrum")
    assert time.monotonic() - begun < 10


def test_a_foreign_file_whose_structure_loops_is_refused_after_a_while(sealed, monkeypatch):
    """The HDF5 library itself never returns from this file, and hears no signal."""
    sealed.write_bytes(looping(unsealed(sealed)))
    monkeypatch.setattr(hdf5, "SECONDS_FOR_A_FOREIGN_FILE", 3.0)
    with pytest.raises(hc.FileError, match="did not come to an end within 4 s"):
        results.read(sealed, "spectrum")


def test_report_ends_with_one_sentence(sealed, capfd):
    sealed.write_bytes(looping(sealed.read_bytes()))
    assert main(["report", str(sealed)]) == 2
    _, said = capfd.readouterr()
    assert said.count("\n") == 1 and "is damaged" in said


def test_report_of_a_looping_file_hears_sigterm(sealed):
    sealed.write_bytes(looping(unsealed(sealed)))
    run = subprocess.Popen([sys.executable, "-m", "halocline.cli.main", "report", sealed], stderr=subprocess.DEVNULL)
    time.sleep(3)
    run.terminate()
    run.wait(timeout=20)


@pytest.mark.parametrize("kind", ["pipe", "folder", "absent", "text", "empty"])
def test_what_is_no_hdf5_file_is_refused(tmp_path, kind):
    path = tmp_path / "a.h5"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind != "absent":
        path.write_text("" if kind == "empty" else "[system]\n")
    for read in (lambda: results.read(path, "spectrum"), lambda: hc.qcd.results.read_spectrum(path)):
        with pytest.raises(hc.FileError, match=r"a\.h5: "):
            read()


def test_a_dataset_larger_than_its_file_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("energy", shape=(1 << 50,), dtype="f8", chunks=(1 << 20,))
    with pytest.raises(hc.FileError, match="claims more than the file can hold"):
        hdf5.check(tmp_path / "a.h5")


class TestGauge:
    """Links have checksums of HDF5's own; the seal is on the structure around them."""

    @pytest.fixture
    def path(self, tmp_path):
        hc.qcd.write_gauge(tmp_path / "u.h5", hc.qcd.random_links([4, 4, 4, 6], 3), metadata={"note": "x"})
        return tmp_path / "u.h5"

    def test_the_seal_leaves_out_the_links_alone(self, path):
        whole = path.read_bytes()
        with h5py.File(path) as file:
            id = file["links"].id
            chunks = [id.get_chunk_info(n) for n in range(id.get_num_chunks())]
            data = {b for c in chunks for b in range(c.byte_offset, c.byte_offset + c.size)}
        assert len(data) > 0.9 * len(whole)
        for at in set(range(0, len(whole), 7)) - data:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(hc.FileError):
                hdf5.check(path)
        for at in sorted(data)[:: len(data) // 5]:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            hdf5.check(path)
            with pytest.raises(hc.FileError, match="links"):
                hc.qcd.read_gauge(path)

    def test_a_looping_file_is_refused(self, path):
        path.write_bytes(looping(path.read_bytes()))
        for read in (hc.qcd.inspect_gauge, hc.qcd.read_gauge):
            with pytest.raises(hc.FileError, match="is damaged"):
                read(path)

    def test_many_processes_write_what_one_does(self, path, python, tmp_path):
        (tmp_path / "w.py").write_text(
            "import halocline as hc\n"
            "hc.qcd.write_gauge('v.h5', hc.qcd.random_links([4, 4, 4, 6], 3), metadata={'note': 'x'})\n"
        )
        done = python("w.py", ranks=2)
        assert done.returncode == 0, done.stderr
        one, two = hc.qcd.read_gauge(path), hc.qcd.read_gauge(tmp_path / "v.h5")
        assert np.array_equal(one.array(), two.array())

    def test_a_full_disk_is_told_on_every_process(self, python, tmp_path):
        (tmp_path / "w.py").write_text(
            "import resource, sys\nsys.dont_write_bytecode = True  # Python cuts modules off where the disk is full\n"
            "import halocline as hc\n"
            "links = hc.qcd.random_links([4, 4, 4, 6], 3)\n"  # MPI has made its files
            "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))\n"
            "try:\n    hc.qcd.write_gauge('v.h5', links)\n"
            "except hc.FileError as error:\n    sys.exit(0 if 'File too large' in str(error) else 1)\n"
            "sys.exit(2)\n"
        )
        done = python("w.py", ranks=2)
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert not list(tmp_path.glob("v.h5*"))
