# SPDX-License-Identifier: Apache-2.0
"""Deflated solvers through Python: modes kept in a file, refused for another quark, a candidate of "auto"."""

import h5py
import numpy as np
import pytest

import halocline as hc

QUARK = {"mass": 0.0, "csw": 1.0}
MULTIGRID = {"vectors": 8, "aggregate": [2, 2, 2, 2]}
DEFLATION = {"vectors": 8, "tolerance": 1e-3}


@pytest.fixture(scope="module")
def u():
    return hc.qcd.weak_links([4, 4, 4, 8], 0.4, seed=3)


@pytest.fixture(scope="module")
def b(u):
    return hc.qcd.point_source(u.geometry, [1, 2, 3, 4], spin=1, colour=2)


def operator(u, path, kind="deflated-cg", deflation=None, quark=None):
    keys = {"kind": kind, "deflation": DEFLATION | {"file": str(path)} | (deflation or {})}
    return hc.qcd.WilsonClover(u, **(QUARK | (quark or {})), solver=keys | {"multigrid": MULTIGRID})


@pytest.fixture(scope="module")
def made(u, b, tmp_path_factory):
    """Modes in a file, the solver that made them, and a solution."""
    path = tmp_path_factory.mktemp("modes") / "low_modes.h5"
    D = operator(u, path)
    return path, D, D.solver.solve(b)


def test_modes_in_a_file_are_taken_and_give_the_same_bits(u, b, made):
    path, D, x = made
    before = path.read_bytes()
    again = operator(u, path)
    assert again.solver.low_modes == D.solver.low_modes
    assert np.array_equal(again.solver.solve(b), x)
    assert path.read_bytes() == before
    with h5py.File(path) as file:
        assert file["vectors"].shape == (8, 4, 4, 4, 8, 3, 4, 2) and file["vectors"].dtype == np.float16
        assert list(file.attrs["values"]) == D.solver.low_modes["values"]
        assert np.mean(file["vectors"][...].astype(float) ** 2) == pytest.approx(1, rel=1e-2)
    fewer = operator(u, path, deflation={"vectors": 4})
    assert fewer.solver.low_modes["values"] == D.solver.low_modes["values"][:4]
    assert np.allclose(fewer.solver.solve(b), x, atol=1e-9)


@pytest.mark.parametrize("kind", ["deflated-cg", "deflated-bicgstab"])
def test_solutions_are_those_of_bicgstab_in_fewer_iterations(u, b, made, kind):
    plain = hc.qcd.WilsonClover(u, **QUARK, solver=kind.removeprefix("deflated-"))
    x = plain.solve(b)
    D = operator(u, made[0], kind)
    # Both have the residual 1e-10, and the condition number is a few hundred.
    assert np.allclose(D.solver.solve(b), x, atol=1e-8)
    assert D.solver.report["residual"] <= 1e-10
    assert "(8 vectors), mixed precision" in D.solver.report["method"]
    assert D.solver.report["iterations"] < plain.solver.report["iterations"]


def test_the_modes_are_eigenvectors(u, made):
    path, D, _ = made
    with h5py.File(path) as file:
        vectors, values = file["vectors"][...].astype(float), file.attrs["values"]
    for i, value in enumerate(values):
        v = np.swapaxes(vectors[..., i, :, :, 0] + 1j * vectors[..., i, :, :, 1], -1, -2)
        image = D(v)
        image[..., 2:, :] *= -1  # gamma5
        # 1e-3 |gamma5 D| of the search, and what rounding to fp16 adds.
        assert np.linalg.norm(image - value * v) < 0.02 * np.linalg.norm(v)


def test_modes_serve_both_signs_of_a_twisted_mass(u, b, made):
    for mu in (0.05, -0.05):
        keys = {"kind": "deflated-cg", "deflation": DEFLATION | {"file": str(made[0])}, "multigrid": MULTIGRID}
        twisted = hc.qcd.TwistedMass(u, mu=mu, **QUARK, solver=keys)
        x = twisted.solve(b)
        assert np.linalg.norm(twisted(x) - b) < 1e-9
        plain = hc.qcd.TwistedMass(u, mu=mu, **QUARK, solver="cg")
        plain.solve(b)
        assert twisted.solver.report["iterations"] < plain.solver.report["iterations"]


def test_auto_tries_deflated_cg_with_a_file(u, b, made, tmp_path):
    def auto(path):
        return hc.qcd.WilsonClover(u, **QUARK, solver={"deflation": DEFLATION | {"file": str(path)}})

    D = auto(made[0])
    trial = D.solver.choose([b])
    assert trial["deflated_seconds"] > 0
    x = D.solve(b)
    assert np.linalg.norm(D(x) - b) < 1e-9
    assert ", deflated-cg " in D.solver.report["notes"][0]
    with pytest.raises(hc.InvalidArgument, match='there is no file .*kind = "auto" computes no modes'):
        auto(tmp_path / "missing.h5")
    without = hc.qcd.WilsonClover(u, **QUARK)
    assert without.solver.choose([b])["deflated_seconds"] == 0


def test_other_links_keep_the_modes_and_leave_the_file(u, b, made):
    D = operator(u, made[0])
    before = made[0].read_bytes()
    moved = hc.qcd.weak_links([4, 4, 4, 8], 0.4, seed=4)
    D.solver.refresh(moved)
    fresh = hc.qcd.WilsonClover(moved, **QUARK)
    assert np.linalg.norm(fresh(D.solver.solve(b)) - b) < 1e-9
    assert made[0].read_bytes() == before
    assert D.solver.settings.deflation.file is None


def refusal(u, path, **changes):
    with pytest.raises(hc.InvalidArgument) as error:
        operator(u, path, **changes)
    return str(error.value)


def test_a_file_of_another_quark_is_refused(u, made):
    """What else is refused is told in test_vector_file.py."""
    said = refusal(u, made[0], quark={"mass": 0.07})
    assert "{'m0': 0.0}" in said and "{'m0': 0.07}" in said and "name another file of deflation" in said
    assert "8 vectors, and this is 16" in refusal(u, made[0], deflation={"vectors": 16})


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"kind": "cg", "deflation": {}}, 'deflation is set but kind = "cg"'),
        ({"kind": "auto", "deflation": {}}, 'deflation has no file, and kind = "auto" computes no modes'),
        ({"kind": "deflated-cg", "precision": "double"}, "iterates in single precision"),
        ({"kind": "auto", "precision": "double", "deflation": {"file": "a.h5"}}, 'precision = "double" has no deflat'),
        ({"kind": "deflated-cg", "deflation": {"vectors": 0}}, "vectors = 0: expected an integer of at least 1"),
        ({"kind": "deflated-cg", "deflation": {"tolerance": 1.0}}, "tolerance = 1.0: expected a number above 0"),
        ({"kind": "deflated-cg", "deflation": {"method": "power"}}, 'method = "power": expected'),
        ({"kind": "deflated-cg", "deflation": {"file": "modes.lime"}}, "file"),
        ({"kind": "deflated-cg", "deflation": {"vector": 8}}, "vector"),
        (
            {"kind": "deflated-cg", "deflation": {"method": "lanczos"}, "multigrid": {}},
            'deflation computes its modes by method = "lanczos"',
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(u, keys, said):
    with pytest.raises(hc.InvalidArgument, match=said):
        hc.qcd.WilsonClover(u, **QUARK, solver=keys)


def test_low_eigenvalues_by_both_methods(u):
    D = hc.qcd.WilsonClover(u, **QUARK, solver={"kind": "multigrid", "multigrid": MULTIGRID})
    expected = D.low_eigenvalues(4, tolerance=1e-8)
    found = D.low_eigenvalues(4, tolerance=1e-8, method="multigrid")
    assert D.report["cycles"] > 0 and D.report["setup_seconds"] == 0  # the set-up of the solver serves
    assert np.sort(found) == pytest.approx(np.sort(expected), abs=1e-6)
    with pytest.raises(hc.InvalidArgument, match='method = "power": expected'):
        D.low_eigenvalues(4, method="power")
