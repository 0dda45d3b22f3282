# SPDX-License-Identifier: Apache-2.0
"""Shifts and covariant derivatives of arrays, on one process and on several."""

import numpy as np
import pytest

import halocline as hc

EXTENTS = [4, 6, 8, 12]
TAILS = {"spinor": (4, 3), "links": (4, 3, 3), "propagator": (4, 3, 4, 3), "scalar": ()}


def numbers(tail, seed=1):
    generator = np.random.default_rng(seed)
    shape = (*EXTENTS[::-1], *tail)
    return generator.normal(size=shape) + 1j * generator.normal(size=shape)


@pytest.mark.parametrize("kind", TAILS)
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.float64])
def test_a_shift_is_a_roll_on_one_process(kind, dtype):
    g = hc.qcd.geometry(EXTENTS)
    field = numbers(TAILS[kind]).real.astype(dtype)
    for mu, name in enumerate("xyzt"):
        for steps in (1, -1, 5, -13):
            moved = hc.qcd.shift(field, g, name, steps)
            assert moved.dtype == dtype and np.array_equal(moved, np.roll(field, -steps, axis=3 - mu))


def test_a_shift_carries_the_boundary_phase_once_for_each_time_around():
    g = hc.qcd.geometry(EXTENTS)
    field = numbers((4, 3))
    expected = np.roll(field, -2, axis=0)
    expected[-2:] *= -1
    assert np.array_equal(hc.qcd.shift(field, g, "t", 2, boundary=(1, 1, 1, -1)), expected)
    turn = np.exp(0.3j * np.pi)
    around = hc.qcd.shift(field, g, "x", -2 * EXTENTS[0], boundary=(turn, 1, 1, 1))
    assert around == pytest.approx(field * turn.conjugate() ** 2, abs=1e-15 * 40)


def test_the_covariant_derivative_is_the_difference_of_its_definition():
    u = hc.qcd.weak_links(EXTENTS, 0.3, seed=2)
    boundary = (1, -1, 1, -1)
    psi = numbers((4, 3, 4, 3))
    for mu in range(4):
        link = u.array()[..., mu, :, :]
        ahead = np.einsum("...ab,...sbSB->...saSB", link, hc.qcd.shift(psi, u, mu, 1, boundary))
        carried = np.einsum("...ba,...sbSB->...saSB", link.conj(), psi)
        behind = hc.qcd.shift(carried, u, mu, -1, boundary)
        expected = {"forward": ahead - psi, "backward": psi - behind, "symmetric": 0.5 * (ahead - behind)}
        for difference, value in expected.items():
            found = hc.qcd.covariant_derivative(psi, u, mu, boundary, difference)
            assert np.linalg.norm(found - value) < 1e-15 * np.linalg.norm(psi) * 4  # sums of three products


def test_wilson_without_its_laplacian_is_made_of_covariant_derivatives():
    """D = 4 + m + sum_mu gamma_mu nabla_mu - 1/2 sum_mu (forward + backward transport), docs/conventions.md."""
    u = hc.qcd.weak_links([4, 4, 4, 8], 0.3, seed=2)
    generator = np.random.default_rng(3)
    psi = generator.normal(size=(8, 4, 4, 4, 4, 3)) + 0j
    one, off = np.eye(2), np.zeros((2, 2))
    f = (1j * np.array([[0, 1], [1, 0]]), -1j * np.array([[0, -1j], [1j, 0]]), 1j * np.diag([1, -1]), one)
    expected = 0.25 * psi
    for mu in range(4):
        gamma = np.block([[off, f[mu]], [np.conj(f[mu]).T, off]])
        slope = hc.qcd.covariant_derivative(psi, u, mu)
        forward = hc.qcd.covariant_derivative(psi, u, mu, difference="forward")
        backward = hc.qcd.covariant_derivative(psi, u, mu, difference="backward")
        expected += np.einsum("st,...tc->...sc", gamma, slope) - 0.5 * (forward - backward)
    D = hc.qcd.WilsonClover(u, mass=0.25)
    assert np.linalg.norm(D(psi) - expected) < 1e-15 * 10 * np.linalg.norm(psi)


def test_fields_that_do_not_fit_are_refused():
    u = hc.qcd.unit_links([4, 4, 4, 4])
    with pytest.raises(hc.InvalidArgument, match="begins with"):
        hc.qcd.shift(np.zeros((4, 4, 4)), u, 0)
    with pytest.raises(hc.InvalidArgument, match='axis = "w": expected an axis'):
        hc.qcd.shift(np.zeros((4, 4, 4, 4)), u, "w")
    with pytest.raises(hc.InvalidArgument, match="list; expected a NumPy array"):
        hc.qcd.shift([1, 2], u, 0)
    with pytest.raises(hc.InvalidArgument, match="at a site; expected"):
        hc.qcd.covariant_derivative(np.zeros((4, 4, 4, 4, 7)), u, 0)


@pytest.mark.parametrize("ranks", [2, 3])
def test_shifts_and_derivatives_do_not_depend_on_the_number_of_processes(python, tmp_path, ranks):
    script = tmp_path / "shifts.py"
    script.write_text(
        "import numpy as np\n"
        "import halocline as hc\n"
        f"extents = {EXTENTS}\n"
        "whole = np.random.default_rng(1).normal(size=(*extents[::-1], 4, 3)) + 0j\n"
        "alone = hc.comm.self_alone()\n"
        "u, u1 = hc.qcd.weak_links(extents, 0.3, seed=2), hc.qcd.weak_links(extents, 0.3, seed=2, comm=alone)\n"
        "assert u.geometry.communicator.size > 1\n"
        "mine = hc.qcd.local_part(whole, u)\n"
        "for mu in range(4):\n"
        "    for steps in (1, -1, 7):\n"
        "        moved = hc.qcd.shift(mine, u, mu, steps)\n"
        "        assert np.array_equal(moved, hc.qcd.local_part(np.roll(whole, -steps, axis=3 - mu), u))\n"
        "        turned = hc.qcd.shift(mine, u, mu, steps, boundary=(-1, 1, 1j, -1))\n"
        "        alone_turned = hc.qcd.shift(whole, u1, mu, steps, boundary=(-1, 1, 1j, -1))\n"
        "        assert np.array_equal(turned, hc.qcd.local_part(alone_turned, u))\n"
        "    slope = hc.qcd.covariant_derivative(mine, u, mu)\n"
        "    assert np.array_equal(slope, hc.qcd.local_part(hc.qcd.covariant_derivative(whole, u1, mu), u))\n"
        "try:\n"
        "    hc.qcd.shift(mine[:1] if u.geometry.communicator.rank == 1 else mine, u, 0)\n"
        "    raise SystemExit('not refused')\n"
        "except hc.InvalidArgument as error:\n"
        "    assert 'begins with' in str(error)\n"
    )
    done = python(script, ranks=ranks)
    assert done.returncode == 0, done.stderr
