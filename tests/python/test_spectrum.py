# SPDX-License-Identifier: Apache-2.0
"""The main job against reference correlators, its files, its resumption and its refusals."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from halocline.qcd.runfile import CLIFFORD, MESONS, parse_run_file
from halocline.reporter import Reporter

import halocline as hc
from halocline import files
from halocline.qcd import plots, results

TIGHT = "\n[solver]\ntolerance = 1e-12\n"


def run_text(files, mass=-0.5, csw=1.0, boundary="[1, 1, 1, -1]", output="out.h5", more="") -> str:
    names = json.dumps([str(f) for f in files])
    return (
        f"[gauge]\nfiles = {names}\n[action]\nmass = {mass}\ncsw = {csw}\nboundary = {boundary}\n"
        f'[output]\nfile = "{output}"\nplots = false\n{more}'
    )


@pytest.fixture(scope="session")
def cases(data):
    return json.loads((data / "ref_4x4x4x4.json").read_text())["cases"]


def test_channel_names_are_those_of_the_library():
    from halocline import _halocline

    assert list(MESONS) == _halocline.qcd.named_channels()
    assert sorted(CLIFFORD) == sorted(_halocline.qcd.sixteen_channels())


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize(("encoding", "tolerance"), [("ildg.lime", 1e-8), ("2row.f32.nersc", 1e-6)])
def test_mesons_agree_with_the_reference(data, cases, tmp_path, monkeypatch, index, encoding, tolerance):
    monkeypatch.chdir(tmp_path)
    case = cases[index]
    boundary = "[1, 1, 1, -1]" if case["bc_time"] == "antiperiodic" else "[1, 1, 1, 1]"
    text = run_text(
        [data / f"4x4x4x4b6.0000id3n1.{encoding}"], case["m0"], case["csw"], boundary,
        more=TIGHT + f"[measure]\nmesons = {json.dumps(MESONS)}\n",
    )  # fmt: skip
    _, (measured,) = hc.qcd.spectrum(parse_run_file(text, "run.toml"))
    assert measured.residuals.max() < 1e-12
    reference = case["correlators"]
    assert set(measured.mesons) == set(reference)
    for channel, values in reference.items():
        scale = np.abs(reference["pion"])
        ours = measured.mesons[channel][0, 0].real
        assert np.all(np.abs(ours - values) <= tolerance * scale), channel


class Hears(Reporter):
    """Keeps lines, warnings and what the stages say."""

    def __init__(self):
        self.lines, self.warnings, self.words = [], [], []

    def line(self, text):
        self.lines.append(text)

    def warning(self, text):
        self.warnings.append(text)

    @contextlib.contextmanager
    def stage(self, name, total=None):
        yield lambda done, words: self.words.append((done, words))


@pytest.mark.parametrize("index", [0, 5])
def test_correlators_do_not_depend_on_the_solver(data, cases, tmp_path, monkeypatch, index):
    monkeypatch.chdir(tmp_path)
    case = cases[index]
    boundary = "[1, 1, 1, -1]" if case["bc_time"] == "antiperiodic" else "[1, 1, 1, 1]"
    lime = data / "4x4x4x4b6.0000id3n1.ildg.lime"
    found = {}
    for name, solver in {
        "plain": 'kind = "bicgstab"\nprecision = "double"\nrhs_batch = 1',
        "schwarz": 'kind = "schwarz"',
        "fugaku": 'kind = "schwarz"\nschwarz = "fugaku"\nrhs_batch = 4',
        "half": 'kind = "schwarz"\nschwarz = { storage = "half", domains = [2, 2, 1, 1] }',
        "multigrid": 'kind = "multigrid"\nmultigrid = { vectors = 16, aggregate = [2, 2, 2, 2] }',
        "auto": 'kind = "auto"',
    }.items():
        more = f"[solver]\ntolerance = 1e-12\n{solver}\n"
        text = run_text([lime], case["m0"], case["csw"], boundary, output=f"{name}.h5", more=more)
        hears = Hears()
        _, (found[name],) = hc.qcd.spectrum(parse_run_file(text, "run.toml"), reporter=hears)
        assert found[name].residuals.max() < 1e-12
        assert not hears.warnings
        assert any(line.startswith("auto: ") for line in hears.lines) == (name == "auto")
        last, together = hears.words[-1][1], {"plain": "column 12:", "fugaku": "columns 9 to 12:"}
        assert last.startswith("12 of 12 columns")
        assert any(words.startswith(together.get(name, "columns 1 to 12:")) for _, words in hears.words)
    reference = np.abs(case["correlators"]["pion"])
    for name, measured in found.items():
        assert np.all(np.abs(measured.mesons["pion"][0, 0].real - case["correlators"]["pion"]) <= 1e-8 * reference)
        for channel, c in found["plain"].mesons.items():
            assert np.all(np.abs(measured.mesons[channel] - c) <= 1e-9 * np.abs(reference)), (name, channel)
        assert measured.nucleon == pytest.approx(found["plain"].nucleon, abs=1e-9 * np.abs(measured.nucleon).max())


def test_a_solver_that_fails_is_a_warning_and_another_finishes(lime, tmp_path, monkeypatch):
    """A hundredth power of a diverging iteration overflows single precision."""
    monkeypatch.chdir(tmp_path)
    hears = Hears()
    solver = (
        '[solver]\nkind = "schwarz"\ntolerance = 1e-8\nschwarz = { nsap = 100, steps = 20, domains = [1, 1, 1, 1] }\n'
    )
    _, (measured,) = hc.qcd.spectrum(parse_run_file(run_text([lime], mass=-2.5, more=solver), "a"), reporter=hears)
    assert measured.residuals.max() < 1e-8
    assert any("going on with even-odd bicgstab" in warning for warning in hears.warnings)
    assert list(measured.attributes["warnings"]) == hears.warnings


class Stops(Reporter):
    """Asks to stop when a second configuration begins."""

    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(text)

    def stop_requested(self):
        return any(line.startswith("[2/") for line in self.lines)


class StopsOnceChosen(Reporter):
    """Asks to stop as soon as there is a result file: the solver is chosen, and no configuration is finished."""

    def stop_requested(self):
        return Path("out.h5").exists()


THREE = (
    "[gauge]\ngenerate = { size = [4, 4, 4, 4], beta = 6.0, sweeps = 4, separation = 2, configurations = 3 }\n"
    '[action]\nmass = 0.1\ncsw = 1.0\n[output]\nfile = "OUT"\n[solver]\nkind = "KIND"\n'
)


def three(output: str, kind: str = "auto"):
    return parse_run_file(THREE.replace("OUT", output).replace("KIND", kind), output)


def assert_same_bits(ours, theirs):
    assert [m.name for m in ours] == [m.name for m in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert np.array_equal(mine.mesons["pion"], other.mesons["pion"])
        assert np.array_equal(mine.nucleon, other.nucleon)
        assert np.array_equal(mine.iterations, other.iterations)


def cut_after(whole: str, parts: str, configurations: int) -> None:
    """The file that a run leaves which was stopped after so many configurations."""
    shutil.copy(whole, parts)
    with h5py.File(parts, "a") as file:
        for index in range(configurations, 3):
            del file[f"configurations/{index:04d}"]


def test_a_stopped_run_goes_on_with_the_same_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, expected = hc.qcd.spectrum(three("whole.h5", "bicgstab"))
    parts = three("parts.h5", "bicgstab")
    with pytest.raises(hc.Interrupted, match="the same command goes on"):
        hc.qcd.spectrum(parts, reporter=Stops())
    assert len(results.read_spectrum("parts.h5")[1]) == 1
    _, measured = hc.qcd.spectrum(parts)
    assert_same_bits(measured, expected)
    assert results.choice_of(results.read_spectrum("parts.h5")[0]) is None


def test_auto_chooses_once_and_a_stopped_run_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    """Whatever the trial finds: the record is that of the run which is resumed, and no other trial is made."""
    monkeypatch.chdir(tmp_path)
    hears = Hears()
    root, expected = hc.qcd.spectrum(three("whole.h5"), reporter=hears)
    assert sum(line.startswith("auto: even-odd bicgstab, ") for line in hears.lines) == 1
    choice = results.choice_of(results.read_spectrum("whole.h5")[0])
    assert choice == results.choice_of(root) == results.as_json(root, expected)["solver_choice"]
    assert choice["columns"] == 12 and choice["ranks"] == 1
    faster = "bicgstab"
    assert choice["chosen"] == faster and choice["schwarz_seconds"] == 0  # there is one process
    assert all(choice["chosen"] in m.attributes["method"] for m in expected)
    # Stopped before the first configuration was finished, or later.
    for configurations in range(3):
        cut_after("whole.h5", f"{configurations}.h5", configurations)
        hears = Hears()
        _, measured = hc.qcd.spectrum(three(f"{configurations}.h5"), reporter=hears)
        said = [line for line in hears.lines if line.startswith("auto: ")]
        assert said == [f"auto: {faster}, as chosen when this run began"]
        assert_same_bits(measured, expected)
    _, by_name = hc.qcd.spectrum(three("named.h5", faster))
    assert_same_bits(by_name, expected)


@pytest.mark.parametrize("chosen", ["schwarz", "bicgstab"])
def test_a_recorded_choice_is_taken(tmp_path, monkeypatch, chosen):
    monkeypatch.chdir(tmp_path)
    run = three("out.h5")
    with pytest.raises(hc.Interrupted):
        hc.qcd.spectrum(run, reporter=StopsOnceChosen())
    file = results.SpectrumFile("out.h5", run, {})
    assert file.choice is not None and not file.measured
    file.keep_choice(file.choice | {"chosen": chosen})
    _, measured = hc.qcd.spectrum(run)
    _, by_name = hc.qcd.spectrum(three("named.h5", chosen))
    assert_same_bits(measured, by_name)


def test_report_of_a_file_that_lacks_something_is_a_sentence(lime, write_without, tmp_path, monkeypatch, capsys):
    from halocline.cli.main import main

    monkeypatch.chdir(tmp_path)
    hc.qcd.spectrum(parse_run_file(run_text([lime], mass=0.1), "a"))
    result = next(tmp_path.glob("*.h5"))
    path = tmp_path / "part.hdf5"
    with h5py.File(result) as whole:
        names = [(None, name) for name in whole.attrs]
        names += [("configurations/0000", name) for name in whole["configurations/0000"].attrs]
    for group, name in names:
        with h5py.File(result) as whole:
            write_without(path, whole, name, group or "/")
        status = main(["report", str(path)])
        said = capsys.readouterr().err
        assert status in (0, 2), (name, said)
        assert status == 0 or str(path) in said, (name, said)
        if name in ("parameters", "momenta", "version", "plaquette", "name"):
            assert status == 2 and name in said, (name, said)


def test_results_of_other_physics_are_not_mixed(lime, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hc.qcd.spectrum(parse_run_file(run_text([lime], mass=0.1), "a"))
    with pytest.raises(hc.InvalidArgument, match=r"\[action\] mass is 0.1 there and 0.2 here"):
        hc.qcd.spectrum(parse_run_file(run_text([lime], mass=0.2), "b"))


def test_the_result_file_reproduces_the_run(lime, gauge_reference, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = parse_run_file(run_text([lime], mass=0.1), "a")
    hc.qcd.spectrum(run)
    with h5py.File("out.h5") as file:
        assert hc.qcd.Run.from_table(json.loads(file.attrs["parameters"])) == run
        group = file["configurations/0000"]
        assert group.attrs["checksum"] == " ".join(
            gauge_reference["files"]["4x4x4x4b6.0000id3n1.ildg.lime"]["scidac_checksum"]
        )
        assert file.attrs["version"] == hc.__version__ and file.attrs["basis"] == "DeGrand-Rossi"
        assert group["mesons/pion"].shape == (1, 1, 4) and group["residuals"].shape == (1, 12)


def test_translated_sources_give_the_same_on_unit_links(tmp_path, monkeypatch):
    """Free field: every source position, shifted to t = 0, is the same correlator, the nucleon's signs included."""
    monkeypatch.chdir(tmp_path)
    hc.qcd.write_gauge("unit.lime", hc.qcd.unit_links([4, 4, 4, 8]))
    text = run_text(["unit.lime"], mass=0.4, csw=0.0, more="[source]\npositions = [[0, 0, 0, 0], [1, 2, 3, 5]]" + TIGHT)
    _, (m,) = hc.qcd.spectrum(parse_run_file(text, "a"))
    for c in (m.mesons["pion"], m.mesons["rho"], m.nucleon):
        assert c[1] == pytest.approx(c[0], rel=1e-9)


def test_a_full_disk_keeps_the_old_results_and_says_so(lime, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = parse_run_file(run_text([lime], mass=0.1), "a")
    _, (measured,) = hc.qcd.spectrum(run)
    before = (tmp_path / "out.h5").read_bytes()
    file = results.SpectrumFile("out.h5", run, {})

    def full(self, offset, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.NewFile, "write", full)
    with pytest.raises(hc.FileError, match="No space left on device"):
        file.add(measured)
    assert (tmp_path / "out.h5").read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["out.h5"]


@pytest.mark.slow
def test_pictures_and_log_lie_beside_the_results(halocline, lime, tmp_path):
    (tmp_path / "run.toml").write_text(run_text([lime], mass=0.1).replace("plots = false", "plots = true"))
    done = halocline("qcd", "spectrum", "run.toml", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    for kind in ("correlators", "effective_mass"):
        assert (tmp_path / f"out_{kind}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"out_{kind}.pdf").read_bytes().startswith(b"%PDF")
    log = (tmp_path / "out.log").read_text()
    for word in ("kappa", "m0", "csw", "boundary", "basis", "process grid", "precision", "residual"):
        assert word in log
    entry = json.loads((tmp_path / "out.json").read_text())["configurations"][0]
    assert len(entry["mesons"]["pion"]) == len(entry["mesons"]["rho"]) == 4
    assert entry["mesons"]["nucleon"] == entry["nucleon"] and len(entry["residuals"][0]) == 12
    reported = halocline("report", "out.h5")
    assert reported.returncode == 0 and "effective mass" in reported.stdout


def test_plots_of_few_configurations_have_error_bars_only_from_two(tmp_path):
    attributes = {"lattice": [4, 4, 4, 8], "kappa": 0.13, "csw": 1.0, "momenta": np.zeros((1, 3), int)}
    c = np.exp(-0.5 * np.minimum(np.arange(8), 8 - np.arange(8)))[None, None].astype(complex)
    m = results.Measured("a", np.zeros((1, 4)), {"pion": c}, None, np.zeros((1, 12)), np.zeros((1, 12)), {})
    one, two = plots.curves(attributes, [m], 1), plots.curves(attributes, [m, m], 1)
    assert np.isnan(one["pion"]["dc"]).all() and np.allclose(two["pion"]["dc"], 0.0)


def test_pictures_and_tables_show_the_plateau_with_its_error(tmp_path):
    """Of a pion whose noise is small: the band lies at its mass."""
    generator = np.random.default_rng(4)
    t = np.arange(16)
    clean = np.cosh(0.35 * (t - 8))
    measured = [
        results.Measured(
            str(n), np.zeros((1, 4)), {"pion": (clean * (1 + 1e-3 * generator.normal(size=16)))[None, None] + 0j},
            None, np.zeros((1, 12)), np.zeros((1, 12)), {},
        )
        for n in range(12)
    ]  # fmt: skip
    attributes = {"lattice": [4, 4, 4, 16], "kappa": 0.13, "csw": 1.0, "momenta": np.zeros((1, 3), int)}
    fit = plots.curves(attributes, measured, 1)["pion"]["plateau"]
    assert abs(fit.value - 0.35) < 4 * fit.error and 0 < fit.error < 1e-3
    lines = plots.table(attributes, measured)
    assert any(line.startswith("plateau") and f"{fit.value:.4f} +- {fit.error:.4f}" in line for line in lines)
    assert len(plots.draw(tmp_path / "s.h5", attributes, measured)) == 4
    few = plots.curves(attributes, measured[:3], 1)["pion"]
    assert few["plateau"] is None and not any(
        line.startswith("plateau") for line in plots.table(attributes, measured[:3])
    )
    assert plots.label("gxgygt") == r"$\gamma_x\gamma_y\gamma_t$" and plots.label("pion") == r"$\pi$"


def test_solve_writes_propagators_that_solve_the_equation(halocline, lime, tmp_path):
    (tmp_path / "run.toml").write_text(run_text([lime], mass=0.1, more=TIGHT))
    done = halocline("qcd", "solve", "run.toml", "--output", "s.lime", "--json", "s.json")
    assert done.returncode == 0, done.stderr
    from halocline import _halocline

    u = hc.qcd.read_gauge(lime)
    s = _halocline.qcd.read_propagator(str(tmp_path / "s.lime"), u.geometry, [0, 0, 0, 0])
    D = hc.qcd.WilsonClover(u, mass=0.1, csw=1.0)
    b = hc.qcd.point_source(u.geometry, [0, 0, 0, 0], 2, 1)
    assert np.linalg.norm(D(s.column(2, 1)) - b) < 1e-11
    numbers = json.loads((tmp_path / "s.json").read_text())["configurations"][0]["sources"][0]
    assert max(numbers["residuals"]) < 1e-12 and len(numbers["iterations"]) == 12
    assert numbers["converged"] == [True] * 12 and numbers["reason"] == ["converged"] * 12
    assert numbers["columns"] == [12] * 12 and "together" not in numbers
    kinds = dict(zip(numbers["notes"], numbers["note_kinds"], strict=True))
    assert sum(kind == "choice" and note.startswith("auto: ") for note, kind in kinds.items()) == 1


def test_ctrl_c_ends_with_130_and_the_run_resumes(tmp_path, finished_configurations):
    (tmp_path / "run.toml").write_text(
        "[gauge]\ngenerate = { size = [6, 6, 6, 8], beta = 6.0, sweeps = 3, separation = 2, configurations = 200 }\n"
        '[action]\nmass = 0.2\ncsw = 1.0\n[output]\nfile = "out.h5"\nplots = false\n'
    )
    command = [sys.executable, "-m", "halocline.cli.main", "qcd", "spectrum", "run.toml"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 200
    # The file is there as soon as the solver is chosen.
    while not finished_configurations(tmp_path / "out.h5") and time.monotonic() < deadline:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=200)
    assert run.returncode == 130, said
    assert "Traceback" not in said and "goes on from there" in said
    _, kept = results.read_spectrum(tmp_path / "out.h5")
    assert 1 <= len(kept) < 200
    shorter = (tmp_path / "run.toml").read_text().replace("= 200", f"= {len(kept) + 1}")
    (tmp_path / "run.toml").write_text(shorter)
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert again.returncode == 0 and again.stdout.count("finished before") == len(kept)
