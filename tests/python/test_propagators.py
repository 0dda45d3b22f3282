# SPDX-License-Identifier: Apache-2.0
"""Propagators in files: what is written is read back with what reproduces it, and damage never goes unnoticed."""

import json
import random

import h5py
import numpy as np
import pytest

import halocline as hc

EXTENTS = [4, 4, 2, 6]


@pytest.fixture(scope="module")
def u(tmp_path_factory):
    path = tmp_path_factory.mktemp("links") / "u.lime"
    hc.qcd.write_gauge(path, hc.qcd.weak_links(EXTENTS, 0.3, seed=2))
    return hc.qcd.read_gauge(path)


@pytest.fixture(scope="module")
def s(u):
    D = hc.qcd.WilsonClover(u, mass=0.4, csw=1.0, kind="bicgstab", tolerance=1e-9)
    return hc.qcd.propagator(D, [1, 2, 0, 3], kind="gaussian", width=1.0, steps=4)


@pytest.mark.parametrize("name", ["s.h5", "s.lime"])
@pytest.mark.parametrize("bits", [64, 32])
def test_a_propagator_comes_back_with_what_reproduces_it(s, u, tmp_path, name, bits):
    hc.qcd.write_propagator(tmp_path / name, s, bits=bits)
    again = hc.qcd.read_propagator(tmp_path / name)
    expected = s.array() if bits == 64 else s.array().astype(np.complex64).astype(np.complex128)
    assert np.array_equal(again.array(), expected)
    assert list(again.source) == [1, 2, 0, 3] and again.info["bits"] == bits and again.info["warnings"] == []
    record = again.record
    assert record["gauge"]["file_checksum"] == u.info["checksum"] and record["gauge"]["file"] == u.info["path"]
    assert record["program"].startswith("halocline ") and record["basis"] == "DeGrand-Rossi"
    # The record says how to make it again, to the bit.
    action = record["action"]
    D = hc.qcd.WilsonClover(
        hc.qcd.read_gauge(record["gauge"]["file"]),
        **{k: v for k, v in action.items() if k not in ("kind", "boundary")},
        boundary=action["boundary"],
        solver=hc.qcd.Solver(**record["solver"]),
    )
    remade = hc.qcd.propagator(D, hc.qcd.Source(**record["source"]))
    assert np.array_equal(remade.array(), s.array())
    assert remade.record["gauge"]["checksum"] == record["gauge"]["checksum"]


def test_the_hdf5_file_is_plain_hdf5(s, tmp_path):
    hc.qcd.write_propagator(tmp_path / "s.h5", s)
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["propagator"][...], s.array())
        assert file.attrs["order"].startswith("t, z, y, x, sink spin") and list(file.attrs["lattice"]) == EXTENTS
        assert json.loads(file.attrs["record"])["action"]["csw"] == 1.0


@pytest.mark.parametrize("name", ["s.h5", "s.lime"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_bytes_do_not_depend_on_the_number_of_processes(s, python, tmp_path, name, ranks):
    hc.qcd.write_propagator(tmp_path / name, s)
    script = tmp_path / "copies.py"
    script.write_text(
        "import halocline as hc\n"
        f"s = hc.qcd.read_propagator({str(tmp_path / name)!r})\n"
        "assert s.geometry.communicator.size > 1\n"
        f"hc.qcd.write_propagator({str(tmp_path / ('copy_' + name))!r}, s)\n"
    )
    done = python(script, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes() == (tmp_path / f"copy_{name}").read_bytes()


def test_damage_anywhere_in_an_hdf5_propagator_is_named(s, tmp_path):
    path = tmp_path / "s.h5"
    hc.qcd.write_propagator(path, s)
    sound = path.read_bytes()
    dice = random.Random(7)
    places = [dice.randrange(len(sound)) for _ in range(60)] + list(range(0, 3000, 97)) + list(range(-60, 0))
    for place in places:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(hc.FileError, match="s.h5"):
            hc.qcd.read_propagator(path)
    for length in (0, 100, len(sound) // 2, len(sound) - 1):
        path.write_bytes(sound[:length])
        with pytest.raises(hc.FileError, match="s.h5"):
            hc.qcd.read_propagator(path)


def test_damage_is_named_on_every_process(s, python, tmp_path):
    hc.qcd.write_propagator(tmp_path / "s.h5", s)
    damaged = bytearray((tmp_path / "s.h5").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "s.h5").write_bytes(damaged)
    script = tmp_path / "reads.py"
    script.write_text(
        "import halocline as hc\n"
        "for name in ('s.h5', 'none.h5'):\n"
        "    try:\n"
        "        hc.qcd.read_propagator(name)\n"
        "        raise SystemExit('the damage went unnoticed')\n"
        "    except hc.FileError as error:\n"
        "        assert name in str(error)\n"
    )
    done = python(script, ranks=2)
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_written_or_read_is_refused(s, tmp_path):
    with pytest.raises(hc.InvalidArgument, match="names no format of propagators"):
        hc.qcd.write_propagator(tmp_path / "s.dat", s)
    with pytest.raises(hc.InvalidArgument, match="bits = 16"):
        hc.qcd.write_propagator(tmp_path / "s.h5", s, bits=16)
    with pytest.raises(hc.FileError):
        hc.qcd.write_propagator(tmp_path / "no folder" / "s.h5", s)
    broken = hc.qcd.Propagator(s.geometry, [0, 0, 0, 0])
    broken.column(0, 0)[...] = np.nan
    with pytest.raises(hc.InvalidArgument, match="NaN or infinite"):
        hc.qcd.write_propagator(tmp_path / "s.h5", broken)
    assert list(tmp_path.iterdir()) == []
    h5py.File(tmp_path / "other.h5", "w").close()
    with pytest.raises(hc.FileError, match="no propagator of Halocline"):
        hc.qcd.read_propagator(tmp_path / "other.h5")


def test_a_propagator_of_another_code_needs_its_source(s, tmp_path):
    from halocline import _halocline

    _halocline.qcd.write_propagator(str(tmp_path / "s.lime"), s, 64, "<Propagator></Propagator>")
    with pytest.raises(hc.InvalidArgument, match="give source"):
        hc.qcd.read_propagator(tmp_path / "s.lime")
    again = hc.qcd.read_propagator(tmp_path / "s.lime", source=[1, 2, 0, 3])
    assert np.array_equal(again.array(), s.array())
