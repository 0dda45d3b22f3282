# SPDX-License-Identifier: Apache-2.0
"""Gauge fields from Python: files against reference values, round trips, laws, refusals."""

import json
import os

import numpy as np
import pytest

import halocline as hc

SMALL = "4x4x4x4b6.0000id3n1"
FILES = [
    (f"{SMALL}.nersc", 1e-14),
    (f"{SMALL}.2row.f32.nersc", 1e-8),
    (f"{SMALL}.2row.f64le.nersc", 1e-14),
    (f"{SMALL}.ildg.lime", 1e-14),
    (f"{SMALL}.f32.ildg.lime", 1e-8),
]


@pytest.mark.parametrize(("name", "tolerance"), FILES)
def test_every_encoding_gives_the_reference_observables(data, gauge_reference, name, tolerance):
    u = hc.qcd.read_gauge(data / name)
    loose = 100 * tolerance  # charge and loops are sums of products of more links
    assert hc.qcd.plaquette(u) == pytest.approx(gauge_reference["plaquette"], abs=tolerance)
    planes = hc.qcd.plaquette_planes(u)
    assert planes == pytest.approx(gauge_reference["plaquette_planes"], abs=10 * tolerance)
    assert hc.qcd.rectangle(u) == pytest.approx(gauge_reference["rectangle_2x1"], abs=10 * tolerance)
    assert hc.qcd.link_trace(u) == pytest.approx(gauge_reference["link_trace"], abs=10 * tolerance)
    assert hc.qcd.topological_charge(u) == pytest.approx(gauge_reference["topological_charge_clover"], abs=loose)
    loops = [complex(*p) for p in gauge_reference["polyakov_xyzt"]]
    assert hc.qcd.polyakov(u) == pytest.approx(loops, abs=loose)


def test_links_go_to_numpy_and_back_unchanged(lime):
    u = hc.qcd.read_gauge(lime)
    links = u.array()
    assert links.shape == (4, 4, 4, 4, 4, 3, 3) and links.dtype == np.complex128
    again = hc.qcd.GaugeField.from_array(u.geometry, links)
    assert np.array_equal(again.array(), links)
    assert np.abs(np.einsum("...ab,...cb->...ac", links, links.conj()) - np.eye(3)).max() < 1e-14


def test_the_plaquette_is_what_numpy_makes_of_the_links(lime):
    """Axis order of the arrays: mu = x y z t is shift along array axis 3, 2, 1, 0."""
    u = hc.qcd.read_gauge(lime)
    links = u.array()
    for plane, value in hc.qcd.plaquette_planes(u).items():
        mu, nu = ("xyzt".index(a) for a in plane)
        u_mu, u_nu = links[..., mu, :, :], links[..., nu, :, :]
        loop = u_mu @ np.roll(u_nu, -1, axis=3 - mu)
        loop = loop @ np.conj(np.swapaxes(u_nu @ np.roll(u_mu, -1, axis=3 - nu), -1, -2))
        assert np.trace(loop, axis1=-2, axis2=-1).real.mean() / 3 == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("name", ["a.lime", "a.nersc", "a.npy", "a.h5", "a.openqcd"])
def test_write_and_read_give_the_same_links(tmp_path, name):
    u = hc.qcd.weak_links([4, 6, 8, 2], 0.3, seed=2)
    hc.qcd.write_gauge(tmp_path / name, u, metadata={})
    again = hc.qcd.read_gauge(tmp_path / name)
    assert list(again.geometry.extents) == [4, 6, 8, 2]
    assert np.abs(again.array() - u.array()).max() < 1e-15
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_observables_are_gauge_invariant():
    u = hc.qcd.weak_links([4, 4, 4, 6], 0.4, seed=2)
    g = hc.qcd.random_gauge(u, seed=9)
    assert np.abs(g.array() - u.array()).max() > 0.1
    assert hc.qcd.plaquette(g) == pytest.approx(hc.qcd.plaquette(u), abs=1e-14)
    assert hc.qcd.rectangle(g) == pytest.approx(hc.qcd.rectangle(u), abs=1e-14)
    assert hc.qcd.polyakov(g) == pytest.approx(hc.qcd.polyakov(u), abs=1e-14)


def test_smearing_and_flow_make_links_smoother_and_leave_the_input_alone():
    u = hc.qcd.weak_links([4, 4, 4, 4], 0.4, seed=2)
    before = u.array()
    plaquette = hc.qcd.plaquette(u)
    assert hc.qcd.plaquette(hc.qcd.smear_stout(u, 0.1, 2)) > plaquette
    assert hc.qcd.plaquette(hc.qcd.smear_ape(u, 0.5, 1)) > plaquette
    flowed, report = hc.qcd.wilson_flow(u, 0.2, step=0.02)
    assert [p["plaquette"] for p in report["points"]] == sorted(p["plaquette"] for p in report["points"])
    assert hc.qcd.plaquette(flowed) == pytest.approx(report["points"][-1]["plaquette"], abs=1e-14)
    assert np.array_equal(u.array(), before)


def test_the_flow_stops_when_progress_says_so():
    u = hc.qcd.weak_links([4, 4, 4, 4], 0.4, seed=2)
    _, report = hc.qcd.wilson_flow(u, 1.0, progress=lambda point: point["t"] < 0.05)
    assert report["reason"] == "cancelled" and report["points"][-1]["t"] < 0.1


def test_coulomb_gauge_is_reached_and_keeps_the_plaquette():
    u = hc.qcd.weak_links([4, 4, 4, 4], 0.3, seed=4)
    fixed, report = hc.qcd.fix_gauge(u, "coulomb", tolerance=1e-14)
    assert report["converged"] and report["theta"] <= 1e-14
    assert hc.qcd.plaquette(fixed) == pytest.approx(hc.qcd.plaquette(u), abs=1e-14)


def test_gather_and_local_part_are_inverse_on_one_process():
    g = hc.qcd.geometry([2, 4, 6, 8])
    whole = np.random.default_rng(1).normal(size=(8, 6, 4, 2, 3))
    assert np.array_equal(hc.qcd.gather(hc.qcd.local_part(whole, g), g), whole)
    with pytest.raises(hc.InvalidArgument, match="the lattice begins with"):
        hc.qcd.local_part(whole.T, g)


def test_an_array_of_another_shape_is_refused_with_both_shapes():
    g = hc.qcd.geometry([4, 4, 4, 8])
    with pytest.raises(hc.InvalidArgument, match=r"\(4, 4, 4, 8, 4, 3, 3\).*\(8, 4, 4, 4, 4, 3, 3\)"):
        hc.qcd.GaugeField.from_array(g, np.zeros((4, 4, 4, 8, 4, 3, 3), dtype=complex))


def test_errors_are_python_errors_too(tmp_path):
    with pytest.raises(OSError, match="absent.lime"):
        hc.qcd.read_gauge(tmp_path / "absent.lime")
    with pytest.raises(ValueError, match="names no gauge format"):
        hc.qcd.write_gauge(tmp_path / "a.xyz", hc.qcd.unit_links([2, 2, 2, 2]))
    with pytest.raises(hc.Error):
        hc.qcd.geometry([4, 4, 4, 4], grid=[1, 1, 1, 3])


def test_damaged_hdf5_links_are_refused(tmp_path):
    path = tmp_path / "u.h5"
    hc.qcd.write_gauge(path, hc.qcd.weak_links([4, 4, 4, 4], 0.2, seed=1))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0x10
    path.write_bytes(raw)
    with pytest.raises(hc.FileError, match="u.h5"):
        hc.qcd.read_gauge(path)
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(hc.FileError, match="u.h5"):
        hc.qcd.read_gauge(path)


def test_hdf5_links_that_contradict_the_header_are_refused_with_both_values(tmp_path):
    import h5py

    path = tmp_path / "u.h5"
    hc.qcd.write_gauge(path, hc.qcd.weak_links([4, 4, 4, 4], 0.2, seed=1))
    with h5py.File(path, "r+") as file:
        file.attrs["plaquette"] = 0.5
    with pytest.raises(hc.FileError, match=r"plaquette.*claims 0\.5 .*give 0\.89"):
        hc.qcd.read_gauge(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_hdf5_links_that_are_not_finite_or_huge_are_refused(tmp_path, value):
    import h5py

    path = tmp_path / "u.h5"
    hc.qcd.write_gauge(path, hc.qcd.unit_links([4, 4, 4, 4]))
    with h5py.File(path, "r+") as file:
        file["links"][1, 0, 0, 0, 0, 0, 0] = value
    with pytest.raises(hc.FileError, match="NaN, infinite or huge"):
        hc.qcd.read_gauge(path)


def test_hdf5_links_whose_attribute_is_no_number_are_refused_by_its_name(tmp_path):
    import h5py

    path = tmp_path / "u.h5"
    hc.qcd.write_gauge(path, hc.qcd.unit_links([4, 4, 4, 4]))
    with h5py.File(path, "r+") as file:
        file.attrs["plaquette"] = "one"
    with pytest.raises(hc.FileError, match=r"\(plaquette\).*no number"):
        hc.qcd.inspect_gauge(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "links")
    for read in (hc.qcd.inspect_gauge, hc.qcd.read_gauge):
        with pytest.raises(hc.FileError, match="not a regular file"):
            read(tmp_path / "links")


def test_a_file_name_that_is_no_utf8_gets_a_sentence(halocline, tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.lime")
    for use in (
        hc.qcd.inspect_gauge,
        hc.qcd.read_gauge,
        lambda path: hc.qcd.write_gauge(path, hc.qcd.unit_links([2] * 4)),
    ):
        with pytest.raises(hc.FileError, match="not UTF-8; rename it"):
            use(name)
    done = halocline("qcd", "gauge", "info", name)
    assert done.returncode == 2 and "not UTF-8" in done.stderr
    assert "Traceback" not in done.stderr


def test_links_outside_su3_warn_and_strict_refuses(tmp_path):
    u = hc.qcd.unit_links([4, 4, 4, 4])
    scaled = hc.qcd.GaugeField.from_array(u.geometry, 1.001 * u.array())
    path = tmp_path / "u.npy"
    hc.qcd.write_gauge(path, scaled)
    with pytest.warns(UserWarning):
        again = hc.qcd.read_gauge(path)
    assert again.info["unitarity_violation"] == pytest.approx(1.001**3 - 1, rel=1e-6)
    with pytest.raises(hc.FileError):
        hc.qcd.read_gauge(path, strict=True)
    with pytest.raises(hc.InvalidArgument):
        hc.qcd.write_gauge(tmp_path / "two_rows.nersc", scaled, rows=2)


def test_info_of_every_file_on_the_command_line(halocline, data, gauge_reference, tmp_path):
    files = [data / name for name, _ in FILES]
    done = halocline("qcd", "gauge", "info", *files, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())["files"]
    for entry, (name, tolerance) in zip(found, FILES, strict=True):
        assert entry["plaquette"] == pytest.approx(gauge_reference["plaquette"], abs=tolerance)
        facts = gauge_reference["files"][name]
        expected = facts.get("nersc_checksum") or " ".join(facts["scidac_checksum"])
        assert entry["checksum"] == expected


def test_info_json_has_the_keys_of_the_contract(halocline, lime, tmp_path):
    assert halocline("qcd", "gauge", "info", lime, "--json", "out.json").returncode == 0
    entry = json.loads((tmp_path / "out.json").read_text())
    contract = {"lattice", "plaquette", "plaquette_planes", "link_trace", "polyakov", "topological_charge", "checksum"}
    assert contract <= set(entry)
    assert entry["lattice"] == [4, 4, 4, 4] and len(entry["polyakov"]) == 4
    assert list(entry["plaquette_planes"]) == ["xy", "xz", "xt", "yz", "yt", "zt"]


def test_convert_smear_flow_fix_generate_on_the_command_line(halocline, lime, tmp_path):
    chain = [
        ("generate", "g.lime", "--size", 4, 4, 4, 8, "--beta", 6.0, "--sweeps", 5, "--seed", 3, "--json", "1.json"),
        ("convert", "g.lime", "g.nersc", "--rows", 2, "--json", "2.json"),
        ("smear", "g.nersc", "s.h5", "--kind", "stout", "--rho", 0.1, "--steps", 2, "--json", "3.json"),
        ("flow", "s.h5", "f.npy", "--time", 0.1, "--json", "4.json"),
        ("fix", "f.npy", "c.lime", "--tolerance", 1e-8, "--json", "5.json"),
    ]
    for words in chain:
        done = halocline("qcd", "gauge", *words)
        assert done.returncode == 0, done.stderr
    numbers = [json.loads((tmp_path / f"{i}.json").read_text()) for i in range(1, 6)]
    assert numbers[1]["plaquette"] == pytest.approx(numbers[0]["plaquette"], abs=1e-13)
    assert numbers[2]["plaquette"] > numbers[2]["plaquette_before"]
    assert numbers[3]["points"][-1]["t"] == pytest.approx(0.1)
    assert numbers[4]["converged"] is True


@pytest.fixture(scope="module")
def thermal():
    u = hc.qcd.unit_links([4, 4, 6, 4])
    hc.qcd.heatbath(u, beta=5.7, sweeps=3, seed=1)
    return u


@pytest.mark.parametrize("dtype", ["<c16", "<c8", ">c16"])
def test_links_in_pyquda_order_are_recognised_by_their_plaquette(thermal, tmp_path, dtype):
    """With four sites along x an array [mu][t][z][y][x] has a shape that ours may have too."""
    mu_first = np.moveaxis(thermal.array(), 4, 0).astype(dtype)
    assert mu_first.shape == (4, 4, 6, 4, 4, 3, 3)
    np.save(tmp_path / "theirs.npy", mu_first)
    with pytest.raises(hc.FileError, match=r"PyQUDA's order.*numpy.moveaxis\(numpy.load\(old\), 0, 4\)"):
        hc.qcd.read_gauge(tmp_path / "theirs.npy")
    # What the sentence says helps.
    np.save(tmp_path / "ours.npy", np.moveaxis(np.load(tmp_path / "theirs.npy"), 0, 4))
    again = hc.qcd.read_gauge(tmp_path / "ours.npy", warn=False)
    assert hc.qcd.plaquette(again) == pytest.approx(hc.qcd.plaquette(thermal), abs=1e-6)


def test_links_in_pyquda_order_are_recognised_by_their_shape(tmp_path):
    u = hc.qcd.unit_links([6, 4, 4, 8])
    np.save(tmp_path / "theirs.npy", np.moveaxis(u.array(), 4, 0))
    with pytest.raises(hc.FileError, match=r"PyQUDA's order \[mu\]\[t\]\[z\]\[y\]\[x\]"):
        hc.qcd.read_gauge(tmp_path / "theirs.npy")


@pytest.mark.parametrize(
    "make", [lambda: hc.qcd.unit_links([4, 4, 6, 4]), lambda: hc.qcd.random_links([4, 2, 6, 4], 3)]
)
def test_links_whose_order_no_plaquette_can_tell_are_taken_as_ours(tmp_path, make):
    u = make()
    hc.qcd.write_gauge(tmp_path / "u.npy", u)
    assert np.array_equal(hc.qcd.read_gauge(tmp_path / "u.npy", warn=False).array(), u.array())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda u: hc.qcd.smear_stout(u, rho=-1), "rho = -1: expected a number above 0"),
        (lambda u: hc.qcd.smear_stout(u, rho=float("nan")), "rho = nan"),
        (lambda u: hc.qcd.smear_stout(u, rho=0.1, steps=-1), "steps = -1: expected an integer of at least 0"),
        (lambda u: hc.qcd.smear_stout(u, rho=0.1, steps=1.5), "steps = 1.5: expected an integer"),
        (lambda u: hc.qcd.smear_stout(u, roh=0.1), "no key 'roh'; did you mean 'rho'"),
        (lambda u: hc.qcd.smear_stout(u), "rho"),
        (lambda u: hc.qcd.smear_ape(u, alpha=1.1), "alpha = 1.1: expected a number from 0 to 1"),
        (lambda u: hc.qcd.smear_ape(u, alpha=-0.1), "alpha = -0.1"),
        (lambda u: hc.qcd.wilson_flow(u, -1.0), "t_max = -1.0: expected a number above 0"),
        (lambda u: hc.qcd.wilson_flow(u, 1.0, step=0), "step = 0"),
        (lambda u: hc.qcd.wilson_flow(u, 1.0, measure_every=0), "measure_every = 0"),
        (lambda u: hc.qcd.heatbath(u, beta=-5.0, sweeps=1, seed=1), "beta = -5.0: expected a number of at least 0"),
        (lambda u: hc.qcd.heatbath(u, beta=6.0, sweeps=-1, seed=1), "sweeps = -1"),
        (lambda u: hc.qcd.heatbath(u, beta=6.0, sweeps=1, seed=-1), "seed = -1"),
        (lambda u: hc.qcd.heatbath(u, beta=6.0, sweeps=1, seed=1, xi0=0), "xi0 = 0"),
        (lambda u: hc.qcd.fix_gauge(u, omega=2.5), "omega = 2.5"),
        (lambda u: hc.qcd.fix_gauge(u, tolerance=-1), "tolerance = -1"),
        (lambda u: hc.qcd.fix_gauge(u, "coulom"), 'did you mean "coulomb"'),
        (lambda u: hc.qcd.weak_links([4, 4, 4, 4], epsilon=-0.1, seed=1), "epsilon = -0.1"),
        (lambda u: hc.qcd.unit_links([4, 4, 4]), "extents = .4, 4, 4.: expected four integers"),
        (lambda u: hc.qcd.unit_links(4), "extents = 4: expected four integers"),
        (lambda u: hc.qcd.plaquette(u.array()), "u = an array of the shape .*: expected a GaugeField"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_in_one_sentence(thermal, call, said):
    before = thermal.array()
    with pytest.raises(hc.InvalidArgument, match=said):
        call(thermal)
    assert np.array_equal(thermal.array(), before)
