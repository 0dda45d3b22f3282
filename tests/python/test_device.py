# SPDX-License-Identifier: Apache-2.0
"""Devices: the same numbers as on the CPU, run files that name one, refusals, and arrays that other libraries take.

All of it on the host executor, which runs the kernels of a GPU as loops; what needs a GPU is skipped without one.
"""

import gc
import json
import re
import types

import numpy as np
import pytest
from halocline.device import DEVICES, DeviceArray
from halocline.qcd.runfile import Run, Solver, parse_run_file
from halocline.reporter import Reporter

import halocline as hc
from halocline import _halocline

UNAVAILABLE = hc.gpu.unavailable_reason()
HOST = "host-executor"
TIGHT = Solver(kind="bicgstab", tolerance=1e-12)
RUN = """
[gauge]
files = ["{lime}"]
[action]
mass = -0.3
csw = 1.0
[solver]
tolerance = 1e-12
{solver}
[parallel]
{parallel}
[output]
file = "{output}"
plots = false
"""


@pytest.fixture(scope="module")
def u():
    return hc.qcd.weak_links([4, 4, 4, 4], 0.4, seed=3)


@pytest.fixture(scope="module")
def b():
    generator = np.random.default_rng(5)
    shape = (4, 4, 4, 4, 4, 3)
    return generator.normal(size=shape) + 1j * generator.normal(size=shape)


@pytest.fixture(scope="module")
def D(u):
    return hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, solver=TIGHT, device=HOST)


@pytest.fixture(scope="module")
def x(D, b):
    return D.solver.solve_on_device([b, 1j * b])


def test_d_on_a_device_is_d(u, D, b):
    on_cpu = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    assert (D.solver.device, on_cpu.solver.device) == ("host executor", "cpu")
    largest = np.abs(b).max() * 8
    assert D(b) == pytest.approx(on_cpu(b), abs=1e-14 * largest)
    assert D.dagger(b) == pytest.approx(on_cpu.dagger(b), abs=1e-14 * largest)


@pytest.mark.parametrize("kind", ["auto", "cg", "gcr"])
def test_solvers_reach_the_tolerance_on_a_device(u, b, kind):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, device=HOST)
    x = D.solve(b, kind=kind, tolerance=1e-11)
    on_cpu = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    residual = np.linalg.norm(b - on_cpu(x)) / np.linalg.norm(b)
    assert residual < 1e-11
    assert D.solver.report["residual"] == pytest.approx(residual, rel=0.1)
    assert D.solver.report["device"] == "host executor" and D.solver.report["predicted_bytes"] > 0
    assert (D.solver.report["reliable_updates"] > 0) == (kind != "gcr")  # GCR uses defect correction
    assert "fixed16" in D.solver.report["method"]


@pytest.mark.parametrize(
    "words",
    [
        {"inner_precision": "float", "link_reals": 18},
        {"inner_precision": "fixed16", "link_reals": 8},
        {"inner_precision": "fixed8", "link_reals": 12},
        {"precision": "double", "even_odd": False},
    ],
    ids=lambda words: "-".join(map(str, words.values())),
)
def test_every_mix_of_precisions_gives_the_solution_asked_for(u, b, words):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, device=HOST)
    x = D.solve(b, kind="bicgstab", tolerance=1e-10, **words)
    on_cpu = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0)
    assert np.linalg.norm(b - on_cpu(x)) <= 1.01e-10 * np.linalg.norm(b)


def test_two_processes_with_a_halo_between_their_devices_give_the_correlators_of_one(
    halocline, lime, tmp_path, monkeypatch
):
    more = f'device = "{HOST}"\nhalo_policy = "remote-write"'
    (tmp_path / "run.toml").write_text(RUN.format(lime=lime, solver="", parallel=more, output="two.h5"))
    done = halocline("qcd", "spectrum", "run.toml", "--json", "two.json", ranks=2)
    assert done.returncode == 0, done.stderr
    (two,) = json.loads((tmp_path / "two.json").read_text())["configurations"]
    assert two["device"] == HOST and two["ranks"] == 2 and np.max(two["residuals"]) <= 1e-12
    monkeypatch.chdir(tmp_path)
    text = RUN.format(lime=lime, solver='kind = "bicgstab"', parallel="", output="one.h5")
    _, (one,) = hc.qcd.spectrum(parse_run_file(text, "run.toml"))
    assert one.attributes["device"] == "cpu"
    for channel in ("pion", "rho"):
        assert two["mesons"][channel] == pytest.approx(one.mesons[channel][0, 0].real, rel=1e-9)


class Hears(Reporter):
    """Keeps lines and warnings."""

    def __init__(self):
        self.lines, self.warnings = [], []

    def line(self, text):
        self.lines.append(text)

    def warning(self, text):
        self.warnings.append(text)


def test_correlators_on_a_device_are_those_of_the_cpu(lime, tmp_path, monkeypatch):
    """The same run file but for [parallel] device: every correlator to 1e-9 of the largest at its time."""
    monkeypatch.chdir(tmp_path)
    found, hears = {}, Hears()
    for device in ("cpu", HOST):
        text = RUN.format(lime=lime, solver="", parallel=f'device = "{device}"', output=f"{device}.h5")
        _, (found[device],) = hc.qcd.spectrum(parse_run_file(text, "run.toml"), reporter=hears)
    assert found[HOST].residuals.max() <= 1e-12
    scale = np.abs(found["cpu"].mesons["pion"])
    for channel, on_cpu in found["cpu"].mesons.items():
        assert np.all(np.abs(found[HOST].mesons[channel] - on_cpu) <= 1e-9 * scale), channel
    assert found[HOST].nucleon == pytest.approx(found["cpu"].nucleon, rel=1e-9)
    said = [line for line in hears.lines if line.startswith("device host executor: ")]
    assert len(said) == 1 and re.fullmatch(
        r"device host executor: predicted [\d.e-]+ GB of [\d.]+ GB free; fixed16, 12 reals a link", said[0]
    )
    assert hears.warnings == []


def test_a_run_file_says_what_a_device_does(u):
    more = 'device = "cuda:1"\nhalo_policy = "remote-write"'
    text = RUN.format(
        lime="a", solver='kind = "bicgstab"\ninner_precision = "fixed8"\nlink_reals = 8', parallel=more, output="o.h5"
    )
    run = parse_run_file(text, "run.toml")
    assert (run.parallel.device, run.parallel.halo_policy) == ("cuda:1", "remote-write")
    assert (run.solver.inner_precision, run.solver.link_reals) == ("fixed8", 8)
    on_cpu = parse_run_file(RUN.format(lime="a", solver="", parallel="", output="o.h5"), "run.toml")
    assert on_cpu.parallel.device == "cpu"
    assert on_cpu.on_device("cuda").physics_hash() == on_cpu.physics_hash()
    assert on_cpu.on_device(None) is on_cpu
    assert isinstance(on_cpu.on_device("cuda"), Run)


@pytest.mark.parametrize(
    ("solver", "parallel", "said"),
    [
        ("", 'device = "cdua"', '[parallel] device = "cdua": expected "cpu", "cuda"'),
        ("", 'device = "cdua"', 'did you mean "cuda"?'),
        ("", 'device = "cuda:one"', 'device = "cuda:one": expected'),
        ("", "device = 1", "device = 1: expected"),
        ("", 'devise = "cuda"', "[parallel] has no key 'devise'; did you mean 'device'"),
        ('device = "cuda"', "", "[solver] has no key 'device'; 'device' belongs in [parallel]"),
        ("", 'device = "cuda"\nhalo_policy = "remote"', 'did you mean "remote-write"?'),
        ("", 'halo_policy = "staged"', "[parallel] halo_policy applies to devices only"),
        ('inner_precision = "fixed16"', "", '[solver] inner_precision = "fixed16" applies to devices only'),
        ('inner_precision = "fixed-16"', 'device = "cuda"', 'did you mean "fixed16"?'),
        ("link_reals = 8", "", "[solver] link_reals applies to devices only"),
        ("link_reals = 10", 'device = "cuda"', "link_reals = 10: expected 18 or 12 or 8"),
        ('kind = "schwarz"', 'device = "cuda"', 'kind = "schwarz" does not run on device = "cuda"'),
        ("schwarz = { nsap = 4 }", 'device = "cuda"', 'device = "cuda" has no Schwarz preconditioner'),
        ('schwarz = "fugaku"', 'device = "cuda"', '[solver] schwarz is set, but device = "cuda"'),
        ('precision = "double"\ninner_precision = "fixed16"', 'device = "cuda"', 'needs precision = "mixed"'),
    ],
)
def test_what_a_device_does_not_do_is_refused_up_front(solver, parallel, said):
    with pytest.raises(hc.InvalidArgument) as caught:
        parse_run_file(RUN.format(lime="a", solver=solver, parallel=parallel, output="o.h5"), "run.toml")
    sentence = str(caught.value)
    assert said in sentence and "\n" not in sentence


def test_a_device_that_is_none_ends_with_status_2(halocline, lime, tmp_path):
    (tmp_path / "run.toml").write_text(RUN.format(lime=lime, solver="", parallel="", output="o.h5"))
    for words, said in (
        (("qcd", "solve", "run.toml", "--device", "gpu"), '"cpu", "cuda" or "cuda:N"'),
        (("bench", "dslash", "--device", "cudda"), 'did you mean "cuda"?'),
        (("bench", "dslash", "--graph", "on"), "--graph applies to devices only"),
    ):
        done = halocline(*words)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


@pytest.mark.skipif(not UNAVAILABLE, reason="there is a GPU here")
def test_a_machine_without_a_gpu_says_so_in_one_sentence(halocline, lime, tmp_path, u):
    with pytest.raises(hc.InvalidArgument) as caught:
        hc.qcd.WilsonClover(u, mass=0.3, device="cuda")
    assert UNAVAILABLE.rstrip(".") in str(caught.value) and "\n" not in str(caught.value)
    (tmp_path / "run.toml").write_text(RUN.format(lime=lime, solver="", parallel='device = "cuda"', output="o.h5"))
    done = halocline("qcd", "spectrum", "run.toml")
    assert done.returncode == 2
    assert UNAVAILABLE.rstrip(".") in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "o.h5").exists()


@pytest.mark.skipif(bool(UNAVAILABLE), reason=UNAVAILABLE)
def test_a_gpu_gives_the_correlators_of_the_cpu(lime, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {}
    for device in ("cpu", "cuda"):
        text = RUN.format(lime=lime, solver="", parallel=f'device = "{device}"', output=f"{device}.h5")
        _, (found[device],) = hc.qcd.spectrum(parse_run_file(text, "run.toml"))
    for channel, on_cpu in found["cpu"].mesons.items():
        assert np.all(np.abs(found["cuda"].mesons[channel] - on_cpu) <= 1e-9 * np.abs(found["cpu"].mesons["pion"]))


@pytest.mark.skipif(bool(UNAVAILABLE), reason=UNAVAILABLE)
def test_a_gpu_array_says_where_it_is(u, b):
    x = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, device="cuda").solver.solve_on_device([b])
    interface = x.__cuda_array_interface__
    assert interface["version"] == 3 and interface["typestr"] == "<c16" and interface["shape"] == x.shape
    assert x.__dlpack_device__() == (2, int(x.device.removeprefix("cuda:")))
    assert np.array_equal(np.from_dlpack(x, device="cpu"), x.numpy())


def test_solutions_stay_on_the_device_until_they_are_asked_for(D, b, x):
    assert isinstance(x, DeviceArray)
    assert x.shape == (2, *b.shape) and x.ndim == 7 and len(x) == 2
    assert x.dtype == np.complex128 and x.nbytes == 2 * b.nbytes and x.device == HOST
    assert "2 x 4 x 4" in repr(x) and HOST in repr(x)
    copy = x.numpy()
    assert np.linalg.norm(b - D(copy[0])) <= 1.01e-12 * np.linalg.norm(b)
    assert copy[1] == pytest.approx(1j * copy[0], abs=1e-11 * np.abs(copy).max())
    assert all(report["converged"] for report in D.solver.reports)
    assert np.array_equal(np.asarray(x), copy)
    # A copy is the caller's own.
    copy[:] = 0
    assert not np.array_equal(x.numpy(), copy)


def test_dlpack_shares_the_memory_of_the_array(x):
    assert x.__dlpack_device__() == (1, 0)
    one, two = np.from_dlpack(x), np.from_dlpack(x)
    assert one.__array_interface__["data"][0] == two.__array_interface__["data"][0] == x._held.address
    assert one.shape == x.shape and one.dtype == np.complex128 and one.flags.c_contiguous
    assert np.array_equal(one, x.numpy())
    other = np.from_dlpack(x, copy=True)
    assert not np.shares_memory(other, one) and np.array_equal(other, one)
    with pytest.raises(BufferError, match=r"\(1, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    assert not hasattr(x, "__cuda_array_interface__")


def test_an_array_of_a_gpu_tells_libraries_where_it_is():
    """Only what is told, so no GPU is needed: nothing reads the address."""
    held = types.SimpleNamespace(shape=[2, 3], bytes=96, on_gpu=True, ordinal=1, address=4096)
    x = DeviceArray(held)
    assert x.__dlpack_device__() == (2, 1) and x.device == "cuda:1"
    assert x.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<c16", "data": (4096, False), "strides": None, "stream": None, "version": 3,
    }  # fmt: skip
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(1, 0), copy=False)


def test_an_exported_array_outlives_what_made_it(u, b):
    D = hc.qcd.WilsonClover(u, mass=0.3, csw=1.0, solver=TIGHT, device=HOST)
    x = D.solver.solve_on_device([b])
    kept, expected = np.from_dlpack(x), x.numpy()
    del D, x
    gc.collect()
    churn = [np.full(expected.shape, 7j) for _ in range(50)]
    assert np.array_equal(kept, expected) and len(churn) == 50


def test_a_second_solve_leaves_the_first_solution_alone(D, b, x):
    before = x.numpy()
    D.solver.solve_on_device([2 * b, b])
    assert np.array_equal(x.numpy(), before)


def test_the_memory_of_a_device_is_predicted(u, D):
    memory = D.solver.memory
    assert set(memory) == {"predicted", "free", "total", "ours", "most_ours"}
    # Links in double alone are 8 matrices of 18 reals for each of 256 sites.
    assert memory["predicted"] > 256 * 8 * 18 * 8
    # A fixed staging area for copies from and to the host comes on top.
    assert 0 < memory["ours"] <= memory["most_ours"] <= memory["predicted"] + 2**24
    assert memory["free"] <= memory["total"]
    assert hc.qcd.WilsonClover(u, mass=0.3).solver.memory is None


def test_wrong_words_are_refused(u, b, D):
    with pytest.raises(hc.InvalidArgument, match='did you mean "cuda"'):
        hc.qcd.WilsonClover(u, mass=0.3, device="Cuda")
    with pytest.raises(hc.InvalidArgument, match="on the CPU"):
        hc.qcd.WilsonClover(u, mass=0.3).solver.solve_on_device([b])
    with pytest.raises(hc.InvalidArgument, match="schwarz"):
        hc.qcd.WilsonClover(u, mass=0.3, device=HOST, solver=Solver(kind="schwarz"))
    with pytest.raises(hc.InvalidArgument, match="no Schwarz preconditioner"):
        hc.qcd.WilsonClover(u, mass=0.3, device=HOST, solver={"schwarz": "fugaku"})
    with pytest.raises(hc.InvalidArgument, match="shape"):
        D.solver.solve_on_device([b[:2]])
    with pytest.raises(hc.InvalidArgument):
        _halocline.qcd.open_device("cuda:x")
    assert DEVICES[0] == "cpu" and _halocline.qcd.open_device(HOST) == "host executor"


def test_the_command_solves_on_a_device(halocline, lime, tmp_path):
    (tmp_path / "run.toml").write_text(RUN.format(lime=lime, solver="", parallel="", output="o.h5"))
    done = halocline("qcd", "solve", "run.toml", "--device", HOST, "--json", "s.json")
    assert done.returncode == 0, done.stderr
    assert "device host executor: predicted" in done.stdout
    (source,) = json.loads((tmp_path / "s.json").read_text())["configurations"][0]["sources"]
    assert max(source["residuals"]) <= 1e-12 and "fixed16" in source["method"]
    kinds = dict(zip(source["notes"], source["note_kinds"], strict=True))
    assert sum(kind == "memory" and note.startswith("uses ") for note, kind in kinds.items()) == 1
