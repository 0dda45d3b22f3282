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


def mie_sections(index, size, angles):
    """Of a ball in units of 1/k^2: differential cross-sections across the plane of scattering and in it, where E of the
    light lies (Bohren and Huffman, chapter 4)."""
    last = int(size + 4 * size ** (1 / 3) + 10)
    n, mu = np.arange(1, last + 1), np.cos(angles)
    outside = spherical_jn(n, size) + 1j * spherical_yn(n, size)
    slope = spherical_jn(n, size, derivative=True) + 1j * spherical_yn(n, size, derivative=True)
    p, q, x = size * spherical_jn(n, size), index * size * spherical_jn(n, index * size), size * outside
    dp = spherical_jn(n, size) + size * spherical_jn(n, size, derivative=True)
    dq = spherical_jn(n, index * size) + index * size * spherical_jn(n, index * size, derivative=True)
    dx = outside + size * slope
    a = (index * q * dp - p * dq) / (index * q * dx - x * dq)
    b = (q * dp - index * p * dq) / (q * dx - index * x * dq)
    pi = np.zeros((last + 1, len(mu)))
    pi[1] = 1.0
    for i in range(2, last + 1):
        pi[i] = (2 * i - 1) / (i - 1) * mu * pi[i - 1] - i / (i - 1) * pi[i - 2]
    tau = np.array([i * mu * pi[i] - (i + 1) * pi[i - 1] for i in n])
    weights = ((2 * n + 1) / (n * (n + 1)))[:, None]
    first, second = (weights * (u[:, None] * pi[1:] + v[:, None] * tau) for u, v in ((a, b), (b, a)))
    return np.abs(first.sum(axis=0)) ** 2, np.abs(second.sum(axis=0)) ** 2


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


def test_far_fields_are_those_of_a_dipole_and_a_wire():
    pulse = mx.Waveform.gaussian(2.1 / HBAR_C_EV_NM, 700.0, 4200.0)
    times = np.arange(0, pulse.end, 0.5)
    energies = [2.0, 2.2]
    sim = mx.Simulation((400, 400, 400), 20, layer=10)
    sim.add_current("Ez", (200, 200, 200), pulse)
    far = sim.add_far_field((100, 100, 100), (300, 300, 300), energies)
    sim.run_until_quiet(1e-8, longest=100)
    towards = np.array([(0, 0, 1), (1, 0, 0), (1, 1, 1), (-1, 2, 0.5)], dtype=float)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    found = far.amplitudes(towards)
    along = np.array([0, 0, 1.0])
    for e, amplitudes in zip(energies, found, strict=True):
        k = e / HBAR_C_EV_NM
        moment = 0.5 * np.sum([pulse(t) * np.exp(1j * k * t) for t in times])
        late = np.exp(-1j * k * towards[:, 2:3] * 10)  # E_z lies half a step above its node
        exact = 1j * k / (4 * np.pi) * moment * (along - towards * towards[:, 2:3]) * late
        assert np.abs(amplitudes - exact).max() < 4e-3 * np.abs(exact).max()

    sim = mx.Simulation((600, 600, 0), 20)
    sim.add_current("Ex", (300, 300, 0), pulse)
    box = (150, 200, 0), (450, 420, 0)
    far, flux = sim.add_far_field(*box, energies), sim.add_flux_box(*box, energies)
    sim.run_until_quiet(1e-8, longest=120)
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    found = far.intensities(np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1))
    assert np.abs(found.sum(axis=1) * 2 * np.pi / 72 / flux.values() - 1).max() < 3e-3
    assert np.abs(found / found.max(axis=1, keepdims=True) - np.sin(angles) ** 2).max() < 5e-3
    with pytest.raises(InvalidArgument, match="zero along flat axes"):
        far.amplitudes((0, 0, 1))
    with pytest.raises(InvalidArgument, match="two or three dimensions"):
        mx.Simulation((600, 0, 0), 20).add_far_field((100, 0, 0), (500, 0, 0), 2.0)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_beam_has_its_waist_and_its_power_and_goes_one_way(direction):
    energies, waist, step = [1.5, 1.7, 1.9], 500.0, 25.0
    sim = mx.Simulation((1500, 3000, 0), step)
    beam = sim.add_beam("x", "z", waist=waist, focus=(750, 1500, 0), energies=energies, direction=direction)
    ahead, behind = (1400, 50) if direction > 0 else (100, 1450)
    ahead, behind = sim.add_flux("x", ahead, energies), sim.add_flux("x", behind, energies)
    focus = sim.add_monitor(["Ez"], (750, 0, 0), (750, 3000, 0), energies)
    sim.run_until_quiet(1e-7, longest=200)
    assert np.abs(direction * ahead.values() / beam.flux() - 1).max() < 1e-3
    back = np.abs(behind.values() / beam.flux())
    assert back[1] < 1e-5 and back.max() < 1e-3  # the profile is that of the middle of the pulse
    profile = np.abs(focus.values("Ez")[1, 0, :, 0])
    across = np.linspace(-1500, 1500, profile.size)
    assert np.abs(profile / profile.max() - np.exp(-(across**2) / waist**2)).max() < 0.01
    with pytest.raises(InvalidArgument, match="this monitor has no Ex"):
        focus.values("Ex")
    with pytest.raises(InvalidArgument, match="at most 2 % may be cut off"):
        sim.add_beam("x", "z", waist=250.0, focus=(750, 1500, 0), energies=energies)


def test_a_beam_in_three_dimensions():
    energies = [1.6, 1.7, 1.8]
    sim = mx.Simulation((1000, 2600, 2600), 50, precision="float", layer=8)
    beam = sim.add_beam("x", "y", waist=600, focus=(500, 1300, 1300), energies=energies)
    ahead, behind = sim.add_flux("x", 900, energies), sim.add_flux("x", 100, energies)
    sim.run_until_quiet(1e-6, longest=200)
    assert np.abs(ahead.values() / beam.flux() - 1).max() < 0.02
    assert np.abs(behind.values() / beam.flux()).max() < 3e-3


def test_a_kick_gives_the_polarisability_of_a_thin_rod():
    """Across a rod: 2 (epsilon - 1) / (epsilon + 1) of its area, to first order in the step."""
    medium = mx.medium(poles=[(6.0, 0.8, 36.0)])
    energies = np.array([1.0, 3.0, 5.0])
    errors = []
    for step in (0.5, 0.25):
        sim = mx.Simulation((20, 20, 0), step, bodies=[(mx.cylinder((10, 10, 0), "z", 5), medium)])
        dipole = sim.add_dipole(8.0)
        sim.kick((1, 1, 0))
        sim.run_until_quiet(1e-7, longest=30)
        epsilon = medium.epsilon(energies)
        exact = 2 * np.pi * 25 * (epsilon - 1) / (epsilon + 1)
        found = dipole.polarisability(energies) @ [0.5**0.5, 0.5**0.5, 0]
        errors.append(np.abs(found / exact - 1))
        omega = energies / HBAR_C_EV_NM
        assert dipole.extinction(energies) == pytest.approx(omega * exact.imag, rel=0.2)
    assert errors[1].max() < 0.04 and np.all(errors[1] < 0.8 * errors[0])
    with pytest.raises(InvalidArgument, match="has begun"):
        sim.kick("x")
    with pytest.raises(InvalidArgument, match="answer it at once"):
        mx.Simulation((20, 20, 0), 0.5, background=2.25).kick("x")
    with pytest.raises(InvalidArgument, match="needs a kick"):
        mx.Simulation((20, 20, 0), 0.5).add_dipole(8.0).polarisability(1.0)


def test_a_ball_on_the_axis_of_a_cylindrical_grid():
    """A kick along the axis (m = 0) and across it (m = 1) give the ball's 3 V (epsilon - 1) / (epsilon + 2)."""
    medium = mx.medium(poles=[(6.0, 1.5, 36.0)])
    energies = np.array([1.0, 3.0, 5.0])
    epsilon = medium.epsilon(energies)
    exact = 4 * np.pi * 5**3 * (epsilon - 1) / (epsilon + 2)
    found = []
    for m, along in ((0, "z"), (1, "x")):
        sim = mx.Simulation((12, 0, 24), 0.5, bodies=[(mx.sphere((0, 0, 12), 5), medium)], azimuthal=m)
        dipole = sim.add_dipole(8.0)
        sim.kick(along)
        sim.run_until_quiet(1e-7, longest=20)
        found.append(dipole.polarisability(energies)[:, 2 if along == "z" else 0])
        assert np.abs(found[-1] / exact - 1).max() < 0.06
    assert np.abs(found[0] / found[1] - 1).max() < 0.03
    with pytest.raises(InvalidArgument, match="give z with m = 0, or x with m = 1"):
        mx.Simulation((12, 0, 24), 0.5, azimuthal=0).kick("x")
    with pytest.raises(InvalidArgument, match="a cylindrical grid has a size along x"):
        mx.Simulation((12, 5, 24), 0.5, azimuthal=0)
    with pytest.raises(InvalidArgument, match="along z with E along x, has m = 1"):
        mx.Simulation((1000, 0, 1000), 20, azimuthal=0).add_plane_wave("z", "x", energies=2.0)
    with pytest.raises(InvalidArgument, match="along z with E along x, has m = 1"):
        mx.Simulation((1000, 0, 1000), 20, azimuthal=1).add_plane_wave("z", "y", energies=2.0)
    with pytest.raises(InvalidArgument, match="a cylindrical grid takes plane waves, currents and kicks"):
        mx.Simulation((1000, 0, 1000), 20, azimuthal=1).add_beam("z", "x", waist=300, focus=(0, 0, 500), energies=2.0)


def test_a_plane_wave_meets_a_ball_on_the_axis():
    """Nothing is outside of the wave's can while it is empty, and a ball of glass in it scatters what Mie says."""
    index, radius = 1.5, 150.0
    energies = [mx.energy_of(wavelength) for wavelength in (500.0, 650.0)]
    step = 500.0 / index / 20
    half = radius + 4 * step
    size = half + 16 * step

    def run(bodies):
        sim = mx.Simulation((size, 0, 2 * size), step, bodies=bodies, layer=12, azimuthal=1)
        box = ([0, 0, size - half - 2 * step], [half + 2 * step, 0, size + half + 2 * step])
        wave = sim.add_plane_wave("z", "x", energies=energies, box=box)
        ends = (0, 0, size - half - 6 * step), (half + 6 * step, 0, size + half + 6 * step)
        return sim, wave, sim.add_flux_box(*ends, energies), sim.add_far_field(*ends, energies)

    sim, *_ = run([])
    sim.run(31)
    inside, outside = 0.0, 0.0
    for component in ("Ex", "Ez", "Hy"):
        field = np.abs(sim.field(component)[:, 0])
        rows, columns = round((size + half) / step) + 15, round(half / step) + 4
        inside = max(inside, field.max())
        outside = max(outside, field[rows + 2 :].max(), field[:, columns:].max())
    assert inside > 0.5 and outside < 1e-13 * inside
    sim, wave, out, far = run([(mx.sphere((0, 0, size), radius), index**2)])
    sim.run_until_quiet(fall=1e-6)
    theta, phi = np.linspace(0, np.pi, 7), 0.7
    away = np.column_stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    for e, found in zip(energies, far.intensities(away) / wave.flux()[:, None], strict=True):
        k = e / HBAR_C_EV_NM
        across, along = mie_sections(index, k * radius, theta)
        exact = (along * np.cos(phi) ** 2 + across * np.sin(phi) ** 2) / k**2
        assert np.abs(found - exact).max() < 0.025 * exact.max()
    for e, found in zip(energies, out.values() / wave.flux() / (math.pi * radius**2), strict=True):
        exact, _ = mie(index, e / HBAR_C_EV_NM * radius)
        assert found == pytest.approx(exact, rel=0.01)


def test_a_dipole_on_the_axis_radiates_what_a_dipole_does():
    pulse = mx.Waveform.gaussian(2.1 / HBAR_C_EV_NM, 700.0, 4200.0)
    times = np.arange(0, pulse.end, 0.5)
    energies = [2.0, 2.2]
    sim = mx.Simulation((300, 0, 600), 15, azimuthal=0)
    sim.add_current("Ez", (0, 0, 300), pulse)
    flux = sim.add_flux_box((0, 0, 150), (200, 0, 450), energies)
    far = sim.add_far_field((0, 0, 150), (200, 0, 450), energies)
    towards = np.array([(0, 0, 1), (1, 0, 0), (1, 1, 1), (-1, 2, 0.5)], dtype=float)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    snapshots = sim.add_snapshots("Hy", 5)
    sim.run_until_quiet(1e-8, longest=120)
    for e, energy, amplitudes in zip(energies, flux.values(), far.amplitudes(towards), strict=True):
        k = e / HBAR_C_EV_NM
        moment = 0.5 * np.sum([pulse(t) * np.exp(1j * k * t) for t in times])
        assert energy == pytest.approx(k**2 * abs(moment) ** 2 / (12 * np.pi), rel=0.01)
        late = np.exp(-1j * k * towards[:, 2:3] * 7.5)  # E_z lies half a step above its node
        exact = 1j * k / (4 * np.pi) * moment * (np.array([0, 0, 1.0]) - towards * towards[:, 2:3]) * late
        assert np.abs(amplitudes - exact).max() < 4e-3 * np.abs(exact).max()
    with pytest.raises(InvalidArgument, match="expected a can around the axis"):
        sim.add_far_field((50, 0, 150), (200, 0, 450), energies)
    # H about a current falls towards the axis with its distance: H_y is proportional to r there.
    frame = max(snapshots.frames, key=lambda f: np.abs(f).max())[10, 0]
    assert frame[0] / frame[1] == pytest.approx(1 / 3, abs=0.05)


def test_media_are_fitted_to_tables(tmp_path):
    energies = np.linspace(1.0, 4.0, 60)
    index = np.array([complex(n) for n in mx.TABLE["gold"].index(energies)])
    micrometres = 2e-3 * np.pi * HBAR_C_EV_NM / energies
    path = tmp_path / "gold.csv"
    blocks = ["wl,n"] + [f"{w:.8f},{n.real:.8f}" for w, n in zip(micrometres, index, strict=True)]
    blocks += ["", "wl,k"] + [f"{w:.8f},{n.imag:.8f}" for w, n in zip(micrometres, index, strict=True)]
    path.write_text("\n".join(blocks))
    table = mx.read_index(path)
    assert np.abs(table.index - index).max() < 1e-6
    medium = mx.fit(table)
    assert mx.error_of(medium, table).max() < 5e-3
    assert "poles fitted to gold.csv, 1 to 4 eV" in medium.source
    assert all(p.strength > 0 and p.damping >= 0 for p in medium.poles)
    columns = tmp_path / "gold.txt"
    np.savetxt(columns, np.column_stack([1e3 * micrometres, index.real, index.imag]), header="nm n k")
    assert np.array_equal(mx.read_index(columns, "nm").energy, np.sort(mx.read_index(columns, "nm").energy))
    assert mx.fit(mx.read_index(columns, "nm"), highest=2.0).source.endswith("to 1.966 eV")
    fixed = mx.fit(table, permittivity=1.0)
    assert fixed.permittivity == 1 and mx.error_of(fixed, table).max() < 1e-2
    with pytest.raises(InvalidArgument, match="at least 5 are needed"):
        mx.fit(table, highest=1.05)
    path.write_text("a table of words\n")
    with pytest.raises(hc.FileError, match="is no table of a refractive index"):
        mx.read_index(path)
    path.write_text("0.5 1.5 -0.1\n0.6 1.4 0.1\n")
    with pytest.raises(hc.FileError, match="below zero"):
        mx.read_index(path)


def test_snapshots_are_the_field_at_their_times():
    def make():
        sim = mx.Simulation((400, 300, 0), 10, ends=["absorbing", "periodic", "periodic"], layer=8)
        sim.add_plane_wave("x", "z", energies=2.0)
        return sim

    sim = make()
    whole, plane = sim.add_snapshots("Ez", "2 fs"), sim.add_snapshots("Hy", "3 fs", axis="x", place=200)
    sim.run(50)
    assert len(whole.frames) == len(whole.times) > 20 and whole.frames[0].shape == whole.shape == (1, 30, 41)
    assert plane.frames[3].shape == (1, 30, 1) and plane.coordinates[0] == pytest.approx([205])
    other = make()
    other.advance(whole.every * 22)
    assert np.array_equal(whole.frames[21], other.field("Ez")[:, :, 8:49].astype(np.float32))
    assert np.abs(whole.frames[21]).max() > 1e-3
    with pytest.raises(InvalidArgument, match="before the first step"):
        sim.add_snapshots("Ez", 1)
    with pytest.raises(InvalidArgument, match="needs an axis and a place"):
        make().add_snapshots("Ez", 1, axis="x")


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
