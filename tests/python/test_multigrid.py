# SPDX-License-Identifier: Apache-2.0
"""The set-up of multigrid through Python: kept in a file, refused for another quark, refreshed for other links."""

import h5py
import numpy as np
import pytest

import halocline as hc

QUARK = {"mass": 0.05, "csw": 1.0}
MULTIGRID = {"vectors": 8, "aggregate": [2, 2, 2, 2]}


@pytest.fixture(scope="module")
def u():
    return hc.qcd.weak_links([4, 4, 4, 8], 0.4, seed=3)


@pytest.fixture(scope="module")
def b(u):
    return hc.qcd.point_source(u.geometry, [1, 2, 3, 4], spin=1, colour=2)


def operator(u, path, **changes):
    multigrid = MULTIGRID | {"setup_file": str(path)} | changes.pop("multigrid", {})
    return hc.qcd.WilsonClover(u, **(QUARK | changes), solver={"kind": "multigrid", "multigrid": multigrid})


@pytest.fixture(scope="module")
def made(u, b, tmp_path_factory):
    """A set-up in a file, the solver that made it, and a solution."""
    path = tmp_path_factory.mktemp("setup") / "setup.h5"
    D = operator(u, path)
    return path, D, D.solver.solve(b)


def test_a_set_up_in_a_file_is_taken_and_gives_the_same_bits(u, b, made):
    path, D, x = made
    assert D.solver.setup["rounds"] == 2
    assert 0 < D.solver.setup["contraction"] < 0.7
    before = path.read_bytes()
    again = operator(u, path)
    assert again.solver.setup["rounds"] == 0
    assert again.solver.setup["contraction"] == D.solver.setup["contraction"]
    assert np.array_equal(again.solver.solve(b), x)
    assert path.read_bytes() == before
    with h5py.File(path) as file:
        assert file["vectors"].shape == (8, 4, 4, 4, 8, 3, 4, 2) and file["vectors"].dtype == np.float16
        assert list(file.attrs["aggregate"]) == [2, 2, 2, 2]
        assert file.attrs["contraction"] == D.solver.setup["contraction"]
        assert np.mean(file["vectors"][...].astype(float) ** 2) * 2 == pytest.approx(2, rel=1e-2)


def test_more_levels_give_the_same_solution(u, b, made):
    path, D, x = made
    assert D.solver.setup["levels"] == 2
    levels = {"levels": 3, "coarse_aggregate": [1, 2, 2, 2], "cycle": "V", "coarse_smoother_steps": 2}
    deeper = operator(u, path, multigrid=levels)  # from the same vectors
    y = deeper.solver.solve(b)
    assert deeper.solver.setup["levels"] == 3 and "3 levels" in deeper.solver.report["method"]
    assert np.linalg.norm(x - y) < 1e-8 * np.linalg.norm(x)
    # A process that holds one coarse site has no third level.
    few = operator(u, "none.h5", multigrid={"levels": 8, "aggregate": [4, 4, 4, 8], "setup_file": None})
    assert few.solver.setup["levels"] == 2


def test_more_vectors_are_made_than_kept_and_a_file_holds_all(u, b, made, tmp_path):
    path = tmp_path / "many.h5"
    keys = {"setup_vectors": 16, "coarse_eigenvectors": 8}
    D = operator(u, path, multigrid=keys)
    x = D.solver.solve(b)
    assert D.solver.setup["vectors"] == 8
    assert np.linalg.norm(x - made[2]) < 1e-8 * np.linalg.norm(x)
    with h5py.File(path) as file:
        assert file["vectors"].shape == (8, 4, 4, 4, 16, 3, 4, 2)
    assert np.array_equal(operator(u, path, multigrid=keys).solver.solve(b), x)
    assert "16 test vectors, and this is 8" in refusal(u, path)


def test_auto_keeps_the_set_up_that_it_made(u, b, tmp_path):
    path = tmp_path / "setup.h5"
    keys = {"multigrid": MULTIGRID | {"setup_file": str(path)}, "right_hand_sides": 10_000_000}
    D = hc.qcd.WilsonClover(u, **QUARK, solver=keys)
    assert D.solver.setup is None and not path.exists()
    trial = D.solver.choose([b])
    assert trial["right_hand_sides"] == 10_000_000
    made = trial["multigrid_seconds"] != 0  # a set-up that would not pay is given up
    assert path.exists() == made == (D.solver.setup is not None)
    if made:
        assert operator(u, path).solver.setup["rounds"] == 0


def test_other_settings_keep_the_set_up_while_it_serves(b, tmp_path):
    u = hc.qcd.weak_links([4, 4, 4, 8], 0.4, seed=3)
    for solver in (MULTIGRID, MULTIGRID | {"setup_file": str(tmp_path / "setup.h5")}):
        D = hc.qcd.WilsonClover(u, **QUARK, solver={"kind": "multigrid", "multigrid": solver})
        made = D.solver.setup
        for changes in ({"tolerance": 1e-8}, {"max_iterations": 500}, {"rhs_batch": 1}, {"kind": "auto"}):
            x = D.solve(b, **changes)
            # The time of a set-up that was made again, or read again, would be another one.
            assert D.solver.setup == made
            assert np.linalg.norm(D(x) - b) < 1e-7
    x = D.solve(b, kind="multigrid", tolerance=1e-10)
    assert np.array_equal(
        x, hc.qcd.WilsonClover(u, **QUARK, solver={"kind": "multigrid", "multigrid": MULTIGRID}).solve(b)
    )
    D.solve(b, multigrid=MULTIGRID | {"seed": 2})
    assert D.solver.setup["seconds"] != made["seconds"]
    made = D.solver.setup
    hc.qcd.heatbath(u, beta=6.0, sweeps=1, seed=1)  # the same field, other links
    x = D.solve(b, tolerance=1e-9)
    assert D.solver.setup["seconds"] != made["seconds"]
    assert np.linalg.norm(hc.qcd.WilsonClover(u, **QUARK)(x) - b) < 1e-8


def refusal(u, path, **changes):
    with pytest.raises(hc.InvalidArgument) as error:
        operator(u, path, **changes)
    return str(error.value)


def test_a_file_of_another_quark_is_refused(u, made):
    """What else is refused is told in test_vector_file.py."""
    said = refusal(u, made[0], mass=0.07)
    assert "{'m0': 0.05}" in said and "{'m0': 0.07}" in said and "name another setup_file" in said
    assert "8 test vectors, and this is 16" in refusal(u, made[0], multigrid={"vectors": 16})


def test_a_solver_follows_other_links(u, b, tmp_path):
    D = operator(u, tmp_path / "setup.h5")
    moved = hc.qcd.weak_links([4, 4, 4, 8], 0.4, seed=4)
    D.solver.refresh(moved)
    x = D.solver.solve(b)
    fresh = hc.qcd.WilsonClover(moved, **QUARK)
    assert np.linalg.norm(fresh(x) - b) < 1e-9
    assert np.allclose(D(x), fresh(x), atol=1e-12)
    # The file of the old links does not stand in the way of later changes, and is not replaced.
    before = (tmp_path / "setup.h5").read_bytes()
    assert np.linalg.norm(fresh(D.solver.solve(b, tolerance=1e-8)) - b) < 1e-7
    assert (tmp_path / "setup.h5").read_bytes() == before
    with pytest.raises(hc.InvalidArgument, match="make a new set-up"):
        D.solver.refresh(hc.qcd.weak_links([4, 4, 8, 8], 0.4, seed=4))


def test_cycles_that_stagnate_are_followed_by_other_methods_and_each_is_a_note(u, b):
    weak = MULTIGRID | {"setup_iterations": 0, "smoother": "jacobi", "smoother_sweeps": 1, "smoother_steps": 1}
    D = hc.qcd.WilsonClover(u, mass=-1.0, csw=1.0, solver={"kind": "multigrid", "multigrid": weak})
    x = D.solve(b)
    report = D.solver.report
    assert report["residual"] <= 1e-10
    assert np.linalg.norm(D(x) - b) == pytest.approx(report["residual"], rel=1e-3)
    assert report["method"].startswith("even-odd cg") and report["note_kinds"] == ["failure"] * 3
    for note, words in zip(
        report["notes"], ("the true residual", "one more round of inverse iteration", "going on with"), strict=True
    ):
        assert note.startswith("multigrid (2 levels") and "stagnation at" in note and words in note
    assert D.solver.setup["rounds"] == 1
