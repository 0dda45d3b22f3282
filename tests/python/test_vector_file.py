# SPDX-License-Identifier: Apache-2.0
"""Files of fine vectors, of either kind: they come back as written; what does not fit or is damaged is refused."""

import h5py
import numpy as np
import pytest
from halocline.qcd.low_modes_file import LOW_MODES
from halocline.qcd.runfile import Action
from halocline.qcd.setup_file import SETUP

import halocline as hc

KINDS = pytest.mark.parametrize(
    ("kind", "own"), [(SETUP, {"aggregate": [2, 2, 2, 2]}), (LOW_MODES, {"values": [0.1, -0.2, 0.3]})]
)
EXTENTS = [2, 4, 2, 4]
VECTORS = 3


def action(**changes):
    return Action(**({"mass": 0.05, "csw": 1.0} | changes))


@pytest.fixture(scope="module")
def u():
    return hc.qcd.weak_links(EXTENTS, 0.4, seed=3)


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(1).normal(size=(*EXTENTS[::-1], VECTORS, 3, 4, 2)).astype(np.float16)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.h5"


@KINDS
def test_what_is_written_comes_back(u, numbers, path, kind, own):
    kind.write(path, numbers, u, action(), own)
    found, attributes = kind.read(path, u, action(), VECTORS)
    assert np.array_equal(found, numbers) and attributes == own
    with h5py.File(path) as file:
        assert file.attrs["format"] == kind.format and file["vectors"].shape == numbers.shape


def test_the_first_modes_of_a_file_serve_alone(u, numbers, path):
    LOW_MODES.write(path, numbers, u, action(), {"values": [0.1, -0.2, 0.3]})
    found, attributes = LOW_MODES.read(path, u, action(), 2)
    assert np.array_equal(found, numbers[..., :2, :, :, :]) and attributes == {"values": [0.1, -0.2]}


@KINDS
def test_another_quark_is_refused_with_both_values(u, numbers, path, kind, own):
    kind.write(path, numbers, u, action(), own)

    def refusal(links, changed, vectors=VECTORS):
        with pytest.raises(hc.InvalidArgument) as error:
            kind.read(path, links, changed, vectors)
        assert f"{path}: {kind.made} for" in str(error.value) and f"name another {kind.key}" in str(error.value)
        return str(error.value)

    said = refusal(u, action(mass=0.07))
    assert "{'m0': 0.05}" in said and "{'m0': 0.07}" in said
    said = refusal(hc.qcd.weak_links(EXTENTS, 0.4, seed=4), action())
    assert said.count("checksum") == 1 and "links with the checksum" in said
    assert str(EXTENTS) in refusal(hc.qcd.weak_links([2, 2, 2, 4], 0.4, seed=3), action())
    assert f"{kind.vector.format(3)}, and this is 16" in refusal(u, action(), 16)


def test_a_twisted_mass_matters_to_a_set_up_and_not_to_modes(u, numbers, path):
    twisted = action(kind="twisted-clover", mu=0.2)
    SETUP.write(path, numbers, u, action(), {"aggregate": [2, 2, 2, 2]})
    with pytest.raises(hc.InvalidArgument, match="'mu': 0.0.*'mu': 0.2"):
        SETUP.read(path, u, twisted, VECTORS)
    path.unlink()
    LOW_MODES.write(path, numbers, u, action(), {"values": [0.1, -0.2, 0.3]})
    assert np.array_equal(LOW_MODES.read(path, u, twisted, VECTORS)[0], numbers)


@KINDS
def test_a_damaged_or_foreign_file_is_named(u, numbers, path, kind, own):
    kind.write(path, numbers, u, action(), own)
    sound = path.read_bytes()
    for place, says in ((len(sound) // 2, "the file is damaged"), (len(sound) - 8, "damaged"), (8, "damaged")):
        content = bytearray(sound)
        content[place] ^= 1
        path.write_bytes(content)
        with pytest.raises(hc.FileError, match=says):
            kind.read(path, u, action(), VECTORS)
    other = LOW_MODES if kind is SETUP else SETUP
    path.write_bytes(sound)
    with pytest.raises(hc.FileError, match=f"no {other.noun} of Halocline"):
        other.read(path, u, action(), VECTORS)
    path.write_text("no HDF5")
    with pytest.raises(hc.FileError, match=f"not an HDF5 file; expected a {kind.noun}"):
        kind.read(path, u, action(), VECTORS)


def test_values_that_are_not_one_a_vector_are_refused(u, numbers, path):
    LOW_MODES.write(path, numbers, u, action(), {"values": [0.1, -0.2]})
    with pytest.raises(hc.FileError, match="expected format"):
        LOW_MODES.read(path, u, action(), 2)
