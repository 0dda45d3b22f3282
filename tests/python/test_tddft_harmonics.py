# SPDX-License-Identifier: Apache-2.0
"""High harmonics: of a signal whose harmonics are known, of atoms with inversion, the command, refusals."""

import ase
import h5py
import numpy as np
import pytest
from halocline.errors import FileError, InvalidArgument
from halocline.tddft.emission import _of
from halocline.tddft.runfile_spectra import Harmonics

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of", "ignore:the grid added up")

RUN = """
[system]
atoms = [["H", 0, 0, -0.38], ["H", 0, 0, 0.38]]
box = [5, 5, 6]
[grid]
spacing = "0.45 angstrom"
allow_coarse = true
[propagate]
steps = {steps}
time_step = "0.16 au"
pulses = [{{ amplitude = 0.05, frequency = 0.15, duration = 80, direction = "z" }}]
[harmonics]
to_order = {order}
[output]
file = "h2.h5"
"""


def test_harmonics_of_a_known_signal():
    time = np.linspace(0, 2000, 20001)
    current = np.zeros((len(time), 3))
    # The window is wider than the resolution; a line of amplitude a at n times the fundamental has (n a)^2.
    current[:, 2] = np.sin(0.1 * time) + 0.01 * np.cos(0.3 * time)
    current[:, 0] = 0.001 * np.sin(0.2 * time)
    found = _of(time, current, [(0.01, 0.3), (0.05, 0.1)], "X", Harmonics(to_order=5), "test")
    heights = found.heights()
    assert found.fundamental == 0.1  # of the stronger pulse
    assert heights.shape == (4, 3)
    assert heights[2, 2] / heights[0, 2] == pytest.approx((3 * 0.01) ** 2, rel=1e-3)
    assert heights[1, 0] / heights[0, 2] == pytest.approx((2 * 0.001) ** 2, rel=1e-3)
    assert heights[3, 2] < 1e-9 * heights[0, 2]
    bare = _of(time, current, [(0.05, 0.1)], "X", Harmonics(to_order=5, window="none"), "test")
    assert bare.heights()[3, 2] > heights[3, 2]


def test_a_molecule_with_inversion_emits_odd_harmonics_only():
    atoms = ase.Atoms("H2", [[0, 0, -0.38], [0, 0, 0.38]])
    system = hc.tddft.from_atoms(atoms, spacing="0.45 angstrom", box=[5, 5, 6], allow_coarse=True)
    ground = hc.tddft.ground_state(system, tolerance=1e-7)
    pulse = {"amplitude": 0.05, "frequency": 0.15, "duration": 400, "direction": "z"}
    series = hc.tddft.propagate(ground, pulses=[pulse], total_time="400 au", time_step="0.16 au", energy_every=0)
    found = hc.tddft.harmonics(series, to_order=6)
    heights = found.heights()[:, 2]
    assert heights[1] < 1e-3 * min(heights[0], heights[2])
    assert heights[3] < 1e-3 * min(heights[2], heights[4])
    assert np.abs(found.intensity[:, :2]).max() < 1e-12 * heights[0]
    assert any("order" in line for line in found.summary())


def test_the_command_and_its_refusals(tmp_path, command):
    (tmp_path / "h2.toml").write_text(RUN.format(steps=500, order=9))
    missing = command(tmp_path, "tddft", "harmonics", "h2.toml")
    assert missing.returncode == 2 and "propagate" in missing.stderr
    assert command(tmp_path, "tddft", "propagate", "h2.toml").returncode == 0
    done = command(tmp_path, "tddft", "harmonics", "h2.toml")
    assert done.returncode == 0, done.stderr
    table = np.loadtxt(tmp_path / "h2_harmonics.txt")
    with h5py.File(tmp_path / "h2_harmonics.h5") as file:
        assert table[:, 2:] == pytest.approx(file["intensity"][:], rel=1e-6)
        assert file["order"][-1] == pytest.approx(9)
    assert (tmp_path / "h2_harmonics.png").stat().st_size > 10000
    assert "harmonics of" in command(tmp_path, "report", "h2_harmonics.h5").stdout
    (tmp_path / "h2.toml").write_text(RUN.format(steps=500, order=200))
    far = command(tmp_path, "tddft", "harmonics", "h2.toml")
    assert far.returncode == 2 and "resolves up to" in far.stderr
    (tmp_path / "h2.toml").write_text(RUN.format(steps=500, order=9).replace("0.38]", "0.40]"))
    other = command(tmp_path, "tddft", "harmonics", "h2.toml", "--overwrite")
    assert other.returncode == 2 and "own run file" in other.stderr


def test_runs_without_a_pulse_and_files_that_are_not_there_are_refused(tmp_path):
    time, current = np.linspace(0, 10, 101), np.zeros((101, 3))
    with pytest.raises(InvalidArgument, match="pulse"):
        _of(time, current, [], "X", Harmonics(), "this run")
    with pytest.raises(InvalidArgument, match="propagate longer"):
        _of(time, current, [(0.01, 0.1)], "X", Harmonics(), "this run")
    with pytest.raises(FileError):
        hc.tddft.harmonics(tmp_path / "none.h5")
