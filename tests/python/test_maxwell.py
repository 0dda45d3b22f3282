# SPDX-License-Identifier: Apache-2.0
"""Light on a grid: films against Fresnel's formulas, a ball against Mie's series, and what is refused."""

import math

import numpy as np
import pytest
from halocline.maxwell.units import HBAR_C_EV_NM
from scipy.special import spherical_jn, spherical_yn

import halocline as hc
from halocline import InvalidArgument

mx = hc.maxwell


def film_shares(index, thickness, energy):
    """Reflected and transmitted shares of a film between empty spaces (Airy)."""
    k = energy / HBAR_C_EV_NM
    r = (1 - index) / (1 + index)
    turn = np.exp(1j * index * k * thickness)
    denominator = 1 - r**2 * turn**2
    return abs(r * (1 - turn**2) / denominator) ** 2, abs((1 - r**2) * turn / denominator) ** 2


def run_film(medium, thickness, step, energies, precision="double"):
    size = 600.0
    film = mx.cuboid((300, ..., ...), (300 + thickness, ..., ...))
    sim = mx.Simulation(size=(size, 0, 0), step=step, bodies=[(film, medium)], precision=precision)
    wave = sim.add_plane_wave("x", "y", energies=energies)
    before, behind = sim.add_flux("x", 3 * step, energies), sim.add_flux("x", size - 8 * step, energies)
    left = sim.run_until_quiet(fall=1e-8)
    assert left <= 1e-8
    return -before.values() / wave.flux(), behind.values() / wave.flux()


@pytest.mark.parametrize(("name", "bar"), [("gold", 2e-3), ("silver", 2e-3), ("silica", 1e-3)])
def test_films_reflect_and_transmit_what_fresnel_says(name, bar):
    energies = np.linspace(1.5, 3.0, 7)
    reflected, transmitted = run_film(name, 30.0, 1.0, energies)
    exact = np.array([film_shares(complex(mx.TABLE[name].index(e)), 30.0, e) for e in energies])
    assert np.abs(reflected - exact[:, 0]).max() < bar
    assert np.abs(transmitted - exact[:, 1]).max() < bar
    absorbed = 1 - reflected - transmitted
    assert absorbed.min() > -1e-4
    assert (absorbed.max() > 0.01) == (name != "silica")


def test_errors_of_a_film_fall_with_the_square_of_the_step():
    energies = [1.8, 2.4]
    exact = np.array([film_shares(1.5, 101.0, e) for e in energies])
    errors = []
    for step in (10.0, 5.0):
        found = np.transpose(run_film(2.25, 101.0, step, energies))
        errors.append(np.abs(found - exact).max())
    assert errors[1] < errors[0] / 3.3
    single = np.transpose(run_film(2.25, 101.0, 5.0, energies, "float"))
    assert np.abs(single - found).max() < 1e-4


def mie(index, size):
    """Scattering and extinction efficiencies of a ball (Bohren and Huffman, chapter 4). size: k a"""
    last = int(size + 4 * size ** (1 / 3) + 10)
    n = np.arange(1, last + 1)

    def psi(z):
        return z * spherical_jn(n, z), spherical_jn(n, z) + z * spherical_jn(n, z, derivative=True)

    def xi(z):
        h = spherical_jn(n, z) + 1j * spherical_yn(n, z)
        slope = spherical_jn(n, z, derivative=True) + 1j * spherical_yn(n, z, derivative=True)
        return z * h, h + z * slope

    (p, dp), (q, dq), (x, dx) = psi(size), psi(index * size), xi(size)
    a = (index * q * dp - p * dq) / (index * q * dx - x * dq)
    b = (q * dp - index * p * dq) / (q * dx - index * x * dq)
    scattered = 2 / size**2 * np.sum((2 * n + 1) * (abs(a) ** 2 + abs(b) ** 2))
    return scattered, 2 / size**2 * np.sum((2 * n + 1) * (a + b).real)


def ball(medium, radius, step, energies):
    """Efficiencies of scattering and absorption by fluxes through boxes outside and inside of the wave's box."""
    margin = 6
    half = radius + 4 * step
    size = 2 * (half + 2 * margin * step)
    middle = size / 2
    sim = mx.Simulation(size=(size,) * 3, step=step, bodies=[(mx.sphere((middle,) * 3, radius), medium)], layer=10)
    box = ([middle - half - 2 * step] * 3, [middle + half + 2 * step] * 3)
    wave = sim.add_plane_wave("z", "x", energies=energies, box=box)
    out = sim.add_flux_box([middle - half - 5 * step] * 3, [middle + half + 5 * step] * 3, energies)
    within = sim.add_flux_box([middle - half] * 3, [middle + half] * 3, energies)
    sim.run_until_quiet(fall=1e-6)
    section = math.pi * radius**2
    return out.values() / wave.flux() / section, -within.values() / wave.flux() / section


def test_a_ball_of_glass_scatters_what_mie_says():
    index = 1.5
    energies = [mx.energy_of(wavelength) for wavelength in (500.0, 650.0)]
    scattered, absorbed = ball(index**2, 150.0, 500.0 / index / 20, energies)
    for e, found in zip(energies, scattered, strict=True):
        exact, _ = mie(index, e / HBAR_C_EV_NM * 150.0)
        assert found == pytest.approx(exact, rel=0.01)
    assert np.abs(absorbed).max() < 2e-3


def test_light_that_the_grid_cannot_carry_is_refused():
    with pytest.raises(InvalidArgument, match=r"at least 10 are needed: take a step of"):
        mx.Simulation((1000, 0, 0), 50, background=2.25).add_plane_wave("x", "y", energies=3.0)
    with pytest.raises(InvalidArgument, match="the table of media has no 'golt'; did you mean 'gold'"):
        mx.medium("golt")
    with pytest.raises(InvalidArgument, match="inside the absorbing layer of 12 cells at the upper end of axis x"):
        mx.Simulation((200, 0, 0), 2, bodies=[(mx.cuboid((100, ..., ...), (210, ..., ...)), "gold")])
    with pytest.raises(InvalidArgument, match="at the lower end of axis y"):
        mx.Simulation((200, 200, 0), 5, bodies=[(mx.sphere((100, 30, 0), 50), 2.25)])
    mx.Simulation((200, 0, 0), 2, bodies=[(mx.cuboid((100, ..., ...), (..., ..., ...)), "gold")])
    with pytest.raises(InvalidArgument, match=r"size = \[1, 2\]: expected three lengths"):
        mx.Simulation((1, 2), 5)
    with pytest.raises(InvalidArgument, match=r'step = "5 m": expected a length: a number \(nm\)'):
        mx.Simulation((100, 0, 0), "5 m")
    with pytest.raises(InvalidArgument, match="has no key 'sizes'; did you mean 'size'"):
        mx.Simulation(sizes=(100, 0, 0), step=5)
    with pytest.raises(InvalidArgument, match="polarised at right angles"):
        mx.Simulation((1000, 0, 0), 5).add_plane_wave("x", "x", energies=2.0)
    with pytest.raises(InvalidArgument, match="courant|Courant"):
        mx.Simulation((1000, 0, 0), 5, courant=1.2)


def test_texts_carry_units_and_fields_are_arrays():
    sim = mx.Simulation(("0.2 um", "100 nm", 0), "10 nm", ends=["absorbing", "periodic", "periodic"], layer=8)
    assert sim.grid.cells == [36, 10, 1]
    wave = sim.add_plane_wave("x", "z", energies="2 eV")
    number = sim.add_probe("Ez", (100, 50, 0))
    sim.run("3 fs")
    assert sim.time == pytest.approx(3.0, rel=0.02)
    assert sim.field("Ez").shape == (1, 10, 37)
    assert len(sim.probe(number)) == sim.native.steps
    assert wave.end > 0
    # A wave along x is the same at all y.
    field = sim.field("Ez")[0]
    assert np.abs(field).max() > 0
    assert np.abs(field - field[0]).max() == 0
