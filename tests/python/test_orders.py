# SPDX-License-Identifier: Apache-2.0
"""Arrays in the orders of other codes, by name."""

import itertools

import numpy as np
import pytest
from halocline.errors import InvalidArgument

import halocline as hc
from halocline.qcd import orders

LATTICE = [32, 2, 4, 2]


@pytest.fixture(scope="module")
def u():
    return hc.qcd.random_links(LATTICE, seed=3)


def parities(canonical):
    """[2][t][z][y][x/2]... of [t][z][y][x]..., by a loop over sites as PyQUDA's evenodd() does it."""
    t, z, y, x = canonical.shape[:4]
    out = np.empty((2, t, z, y, x // 2, *canonical.shape[4:]), canonical.dtype)
    for at in itertools.product(range(t), range(z), range(y), range(x)):
        out[(sum(at) % 2, *at[:3], at[3] // 2)] = canonical[at]
    return out


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("order", orders.ORDERS)
def test_links_come_back_from_every_order(u, order, bits):
    array = hc.qcd.gauge_to_array(u, order, bits=bits)
    assert array.ctypes.data % 64 == 0
    back = hc.qcd.gauge_from_array(array, u, order)
    assert np.array_equal(back.array(), u.array().astype(f"complex{2 * bits}"))
    assert hc.qcd.plaquette(back) == pytest.approx(hc.qcd.plaquette(u), abs=1e-15 if bits == 64 else 1e-7)
    assert np.array_equal(hc.qcd.gauge_from_array(array.reshape(-1), u, order).array(), back.array())


def test_links_in_the_memory_of_pyquda_milc_and_qdp(u):
    ours = u.array()
    by_parity = parities(ours)
    assert np.array_equal(hc.qcd.gauge_to_array(u), ours)
    assert np.array_equal(hc.qcd.gauge_to_array(u, "milc"), by_parity)
    for order in ("pyquda", "quda", "qdp++", "Chroma"):
        assert np.array_equal(hc.qcd.gauge_to_array(u, order), np.moveaxis(by_parity, 5, 0))


def test_links_in_the_memory_of_qws(u):
    ours = u.array()  # t z y x mu row column
    halves = np.stack([ours[:, :, :, :16], ours[:, :, :, 16:]])
    expected = halves.reshape(2, 2, 4, 2, 2, 8, 4, 3, 3)  # half t z y vector lane mu row column
    expected = np.stack([expected.real, expected.imag], -1).transpose(0, 6, 1, 2, 3, 4, 8, 7, 9, 5)
    array = hc.qcd.gauge_to_array(u, "qws")
    assert array.shape == (2, 4, 2, 4, 2, 2, 3, 3, 2, 8)
    assert np.array_equal(array, expected)
    assert hc.qcd.gauge_to_array(u, "qws", bits=32).shape == (2, 4, 2, 4, 2, 1, 3, 3, 2, 16)
    assert hc.qcd.gauge_to_array(u, "qws", lanes=4).shape == (2, 4, 2, 4, 2, 4, 3, 3, 2, 4)


def test_boundary_and_scale_are_factors_of_the_array(u):
    plain, ours = hc.qcd.gauge_to_array(u, "pyquda"), np.ones((4, 2, 2, 4, 2, 16, 1, 1))
    ours[:3] = 0.5
    ours[3, :, -1] = -1
    array = hc.qcd.gauge_to_array(u, "pyquda", scale=(0.5, 0.5, 0.5, 1), boundary=(1, 1, 1, -1))
    assert np.array_equal(array, ours * plain)


@pytest.mark.parametrize("basis", ["DeGrand-Rossi", "Dirac-Pauli", "UKQCD", "openQCD", "chiral"])
@pytest.mark.parametrize("order", orders.ORDERS)
def test_spinors_come_back_from_every_order_and_basis(u, order, basis):
    rng = np.random.default_rng(1)
    psi = rng.normal(size=(2, 4, 2, 32, 4, 3)) + 1j * rng.normal(size=(2, 4, 2, 32, 4, 3))
    array = hc.qcd.spinor_to_array(psi, u, order, basis=basis)
    np.testing.assert_allclose(hc.qcd.spinor_from_array(array, u, order, basis=basis), psi, rtol=0, atol=2e-15)
    assert np.linalg.norm(array) == pytest.approx(np.linalg.norm(psi), rel=1e-14)


def test_a_spinor_of_staggered_quarks_has_one_spin(u):
    psi = np.arange(2 * 4 * 2 * 32 * 3).reshape(2, 4, 2, 32, 3) + 0.5j
    array = hc.qcd.spinor_to_array(psi, u, "milc")
    assert np.array_equal(array, parities(psi))
    assert np.array_equal(hc.qcd.spinor_from_array(array, u, "milc", staggered=True), psi)


def matrices(basis):
    """gamma_x, gamma_y, gamma_z, gamma_t as docs/conventions.md has them, by blocks of Pauli matrices."""
    s = [np.array(m, complex) for m in ([[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]])]
    one, zero = np.eye(2), np.zeros((2, 2))
    if basis == "DeGrand-Rossi":
        f = [1j * s[0], -1j * s[1], 1j * s[2], one]
        return [np.block([[zero, a], [a.conj().T, zero]]) for a in f]
    sign = 1j if basis == "UKQCD" else -1j
    space = [np.block([[zero, sign * a], [-sign * a, zero]]) for a in s]
    time = np.block([[zero, -one], [-one, zero]]) if basis == "openQCD" else np.diag([1, 1, -1, -1])
    return [*space, time]


@pytest.mark.parametrize("basis", ["DeGrand-Rossi", "Dirac-Pauli", "UKQCD", "openQCD"])
def test_the_operator_in_another_basis_is_that_of_its_gamma_matrices(basis):
    """D psi, rotated, is the hopping term of the basis's own matrices on the rotated psi."""
    u = hc.qcd.random_links([4, 4, 4, 4], seed=5)
    links, mass, periodic = u.array(), 0.3, (1, 1, 1, 1)
    D = hc.qcd.WilsonClover(u, mass=mass, boundary=periodic)
    rng = np.random.default_rng(2)
    psi = rng.normal(size=(4, 4, 4, 4, 4, 3)) + 1j * rng.normal(size=(4, 4, 4, 4, 4, 3))
    rotated = hc.qcd.spinor_to_array(psi, u, basis=basis)
    expected = (4 + mass) * rotated
    for mu, gamma in enumerate(matrices(basis)):
        axis, link = 3 - mu, links[..., mu, :, :]
        ahead = np.einsum("...ab,...sb->...sa", link, np.roll(rotated, -1, axis))
        behind = np.roll(np.einsum("...ba,...sb->...sa", link.conj(), rotated), 1, axis)
        expected -= 0.5 * np.einsum("st,...ta->...sa", np.eye(4) - gamma, ahead)
        expected -= 0.5 * np.einsum("st,...ta->...sa", np.eye(4) + gamma, behind)
    found = hc.qcd.spinor_to_array(D(psi), u, basis=basis)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_propagators_in_the_memory_of_other_codes(u):
    rng = np.random.default_rng(4)
    s = hc.qcd.Propagator(u.geometry, [0, 0, 0, 1])
    for spin, colour in itertools.product(range(4), range(3)):
        s.column(spin, colour)[...] = rng.normal(size=(2, 4, 2, 32, 4, 3, 2)) @ [1, 1j]
    ours = s.array()
    assert np.array_equal(hc.qcd.propagator_to_array(s, "pyquda"), parities(ours.swapaxes(5, 6)))
    assert np.array_equal(hc.qcd.propagator_to_array(s, "quda")[2, 1], parities(s.column(2, 1)))
    for order, basis in itertools.product(("qdp++", "quda", "qws", "openqcd", "lexicographic"), (None, "Dirac-Pauli")):
        array = hc.qcd.propagator_to_array(s, order, basis=basis)
        back = hc.qcd.propagator_from_array(array, u, order, basis=basis, source=[0, 0, 0, 1])
        np.testing.assert_allclose(back.array(), ours, rtol=0, atol=4e-15)
    # gamma5 of the basis: of the sum of |S|^2 only the basis changes, and the pion sees none of it
    turned = hc.qcd.propagator_to_array(s, basis="UKQCD")
    assert np.linalg.norm(turned) == pytest.approx(np.linalg.norm(ours), rel=1e-14)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda u: hc.qcd.gauge_to_array(u, "grid"),
            'the order "grid" is unknown; give one of lexicographic, even-odd',
        ),
        (lambda u: hc.qcd.gauge_from_array(np.zeros(7, complex), u, "quda"), "has the shape"),
        (lambda u: hc.qcd.gauge_from_array(np.zeros((4, 2), int), u, "quda"), "int64; expected float32"),
        (lambda u: hc.qcd.gauge_from_array(u.array(), u, "quda"), r"this process's part in the order \"quda\""),
        (lambda u: hc.qcd.gauge_to_array(u, "quda", bits=16), "bits = 16: expected 32 or 64"),
        (lambda u: hc.qcd.gauge_to_array(u, "quda", lanes=8), "only QWS's orders keep sites side by side"),
        (lambda u: hc.qcd.gauge_to_array(u, "qws", lanes=5), "multiple of 10, or fewer lanes"),
        (lambda u: hc.qcd.gauge_to_array(u, "quda", scale=(0, 1, 1, 1)), "give finite numbers other than 0"),
        (lambda u: hc.qcd.spinor_to_array(np.zeros(5), u, "quda"), "expected .* of staggered quarks"),
        (lambda u: hc.qcd.spinor_to_array(np.zeros((2, 4, 2, 32, 4, 3)), u, basis="Weyl"), 'basis "Weyl" is unknown'),
        (lambda u: hc.qcd.propagator_to_array(hc.qcd.Propagator(u.geometry, [0] * 4), "milc"), "MILC's propagators"),
    ],
)
def test_what_cannot_be_meant_is_refused(u, call, sentence):
    with pytest.raises(InvalidArgument, match=sentence.replace(r"\"", '"')) as refused:
        call(u)
    assert "\n" not in str(refused.value)


def test_every_process_has_its_part_and_all_refuse_together(python, tmp_path):
    script = tmp_path / "parts.py"
    script.write_text(
        """
import numpy as np, halocline as hc
from halocline.errors import InvalidArgument
for grid in ([1, 2, 1, 1], [1, 1, 1, 2]):  # the first divides 6 sites into boxes of 3
    u = hc.qcd.random_links([16, 6, 4, 4], seed=3, grid=grid)
    for order in ("even-odd", "qdp++", "milc", "quda", "openqcd", "qws"):
        refused = ""
        try:
            a = hc.qcd.gauge_to_array(u, order)
            assert hc.qcd.plaquette(hc.qcd.gauge_from_array(a, u, order)) == hc.qcd.plaquette(u)
        except InvalidArgument as error:
            refused = str(error)
        odd = grid[1] == 2 and order in ("quda", "openqcd")
        assert bool(refused) == odd, (order, refused)
    short = np.zeros(5 if u.geometry.communicator.rank == 1 else 72 * 192, np.complex128)
    try:
        hc.qcd.gauge_from_array(short, u, "milc")
    except InvalidArgument as error:
        print("refused:", str(error)[:40])
"""
    )
    done = python(script, ranks=2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused: gauge_from_array: the array has the shap") == 4


def test_bytes_of_another_machine_are_turned(u):
    array = hc.qcd.gauge_to_array(u, "milc")
    assert np.array_equal(hc.qcd.gauge_from_array(array.astype(">c16"), u, "milc").array(), u.array())
    spinor = np.random.default_rng(1).random((*u.geometry.local[::-1], 4, 3)) + 0j
    back = hc.qcd.spinor_from_array(spinor.astype(">c8"), u)
    assert np.array_equal(back, spinor.astype("c8"))


def test_one_lane_of_qws_is_an_array_of_complex_numbers(u):
    array = hc.qcd.gauge_to_array(u, "qws", lanes=1)
    assert np.iscomplexobj(array)
    assert np.array_equal(hc.qcd.gauge_from_array(array, u, "qws", lanes=1).array(), u.array())
