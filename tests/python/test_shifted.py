# SPDX-License-Identifier: Apache-2.0
"""Shifted systems in run files: solutions, files, resumed runs, refusals."""

import json

import h5py
import numpy as np
import pytest
from halocline.qcd.runfile import SOLVERS, example_run_file, parse_run_file
from halocline.qcd.solve import solve_run
from halocline.reporter import Reporter

import halocline as hc
from halocline import _halocline

RUN = """
[gauge]
generate = { size = [4, 4, 4, 4], beta = 5.8, sweeps = 3, seed = 2, configurations = 2, separation = 1 }
[action]
mass = 0.2
csw = 1.0
[source]
positions = [[0, 1, 2, 3]]
[solver]
shifts = [0.5, 0.0]
tolerance = 1e-11
"""


def run(text, output, **keys):
    return solve_run(parse_run_file(text, "run.toml"), hc.comm.communicator(None), Reporter(), str(output), **keys)


def links(sweeps):
    u = hc.qcd.unit_links([4, 4, 4, 4])
    hc.qcd.heatbath(u, beta=5.8, sweeps=sweeps, seed=2)
    return u


@pytest.mark.parametrize("operator", ["full", "even-odd"])
def test_a_run_solves_the_shifted_systems(tmp_path, operator):
    text = RUN + f'shift_operator = "{operator}"\n'
    done = run(text, tmp_path / "s.h5")
    assert len(list(tmp_path.iterdir())) == 4
    D = hc.qcd.WilsonClover(links(3), mass=0.2, csw=1.0)
    b = hc.qcd.point_source(D.geometry, [0, 1, 2, 3], 1, 2)
    wanted = D.solver.solve_shifted(b, [0.5, 0.0], even_odd=operator == "even-odd")
    for index, (shift, x) in enumerate(zip([0.5, 0.0], wanted, strict=True)):
        path = tmp_path / f"s_000{index}.h5"
        s = hc.qcd.read_propagator(path)
        # Both solve to 1e-11, and the condition number of D^dagger D is below 1e3.
        assert np.abs(s.column(1, 2) - x).max() < 1e-8
        if operator == "full":
            assert np.linalg.norm(D.dagger(D(x)) + shift * x - b) < 1e-9
        assert s.record["shift"] == shift and s.record["shift_operator"] == operator
        with h5py.File(path) as file:
            assert file.attrs["shift"] == shift and file.attrs["shift_operator"] == operator
        numbers = done["configurations"][0]["sources"][index]
        assert numbers["shift"] == shift and max(numbers["residuals"]) < 1e-11
        assert numbers["converged"] == [True] * 12 and "multi-shift cg" in numbers["method"]


def test_a_stopped_run_goes_on_and_keeps_its_files(tmp_path):
    run(RUN, tmp_path / "s.lime")
    files = sorted(tmp_path.iterdir())
    before = [f.read_bytes() for f in files]
    with pytest.raises(hc.InvalidArgument, match="already there"):
        run(RUN, tmp_path / "s.lime")
    files[1].unlink()
    times = [f.stat().st_mtime_ns for f in files if f.exists()]
    done = run(RUN, tmp_path / "s.lime", resume=True)
    assert [f.read_bytes() for f in files] == before  # the same bits
    assert [f.stat().st_mtime_ns for f in files if f != files[1]] == times
    sources = [s for c in done["configurations"] for s in c["sources"]]
    assert [s.get("kept") for s in sources] == [str(files[0]), None, str(files[2]), str(files[3])]
    # Without shifts too.
    plain = RUN.replace("shifts = [0.5, 0.0]", 'kind = "bicgstab"')
    run(plain, tmp_path / "p.h5")
    again = run(plain, tmp_path / "p.h5", resume=True)
    assert all("kept" in s for c in again["configurations"] for s in c["sources"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("shifts = [0.5, 0.0]", "shifts = [0.5, 0.1]"), "it has the shift 0.0, and this run has the shift 0.1"),
        (("mass = 0.2", "mass = 0.3"), "it has the action"),
        (("sweeps = 3", "sweeps = 4"), "it has the links"),
        (
            ("tolerance = 1e-11", "tolerance = 1e-12"),
            "it has the tolerance 1e-11, and this run has the tolerance 1e-12",
        ),
        (("[0, 1, 2, 3]", "[0, 1, 2, 2]"), "it has the source"),
    ],
)
def test_a_file_of_another_run_is_not_kept(tmp_path, change, said):
    one = RUN.replace("configurations = 2, ", "")
    run(one, tmp_path / "s.h5")
    with pytest.raises(hc.InvalidArgument, match=said):
        run(one.replace(*change), tmp_path / "s.h5", resume=True)


def test_refusals(tmp_path):
    with pytest.raises(hc.InvalidArgument, match="--resume keeps the files of --output"):
        run(RUN, tmp_path / "s.h5", resume=True, overwrite=True)
    with pytest.raises(hc.InvalidArgument, match="solve the shifted systems by `halocline qcd solve`"):
        hc.qcd.spectrum(parse_run_file(RUN + f'[output]\nfile = "{tmp_path}/out.h5"\n', "run.toml"))
    assert not list(tmp_path.iterdir())
    u = links(0)
    with pytest.raises(hc.InvalidArgument, match="solve_shifted"):
        hc.qcd.WilsonClover(u, mass=0.1, solver={"shifts": [0.1]})
    with pytest.raises(hc.InvalidArgument, match="shifts"):
        hc.qcd.WilsonClover(u, mass=0.1, shifts=[0.1])
    # Every solver but these two is refused.
    for kind in SOLVERS:
        if kind not in ("auto", "cg"):
            with pytest.raises(hc.InvalidArgument, match=r"\[solver\] shifts is set but kind"):
                parse_run_file(RUN + f'kind = "{kind}"\n', "run.toml")


def test_the_command_writes_and_resumes(halocline, tmp_path):
    (tmp_path / "run.toml").write_text(RUN.replace("configurations = 2, ", ""))
    first = halocline("qcd", "solve", "run.toml", "--output", "s.h5", "--json", "a.json")
    assert first.returncode == 0, first.stderr
    (tmp_path / "s_0000.h5").unlink()
    second = halocline("qcd", "solve", "run.toml", "--output", "s.h5", "--resume", "--json", "b.json")
    assert second.returncode == 0, second.stderr
    a, b = (json.loads((tmp_path / name).read_text())["configurations"][0]["sources"] for name in ("a.json", "b.json"))
    assert a[0]["residuals"] == b[0]["residuals"] and b[1]["kept"] == "s_0001.h5"


def test_the_example_explains_the_keys_and_the_library_names_what_devices_run():
    text = example_run_file()
    assert "# shifts = [0.0, 0.01]" in text and '# shift_operator = "full"' in text
    assert _halocline.qcd.DEVICE_SOLVER_KINDS == ("auto", "bicgstab", "cg", "gcr")
