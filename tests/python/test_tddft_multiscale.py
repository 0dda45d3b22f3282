# SPDX-License-Identifier: Apache-2.0
"""Light that crosses a crystal cell by cell: against Fresnel's formulas with the crystal's own dielectric function,
against a film in a uniform field, its balance of energies, and on several groups of processes."""

import json

import ase.build
import ase.io
import numpy as np
import pytest
from halocline.cli.main import main
from halocline.schema import changed
from halocline.tddft.multiscale import Filling, FilmLight, Section, given_field, shared_out
from halocline.tddft.multiscale_job import series_of
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV, SPEED_OF_LIGHT
from scipy.interpolate import CubicSpline

import halocline as hc
from halocline import InvalidArgument

PULSE = {"amplitude": "1e10 W/cm^2", "frequency": "12 eV", "duration": "1.2 fs", "direction": "z"}
TIME = "5 fs"


@pytest.fixture(scope="module")
def crystal():
    """Helium on a simple cubic lattice: its dielectric function is a number."""
    atoms = ase.build.bulk("He", "sc", a=2.4)
    return hc.tddft.ground_state(hc.tddft.from_atoms(atoms, extent=[8, 8, 8], mesh=[2, 2, 2], allow_coarse=True))


def run(ground, **options):
    length = {} if "steps" in options else {"total_time": TIME}
    return hc.tddft.multiscale(ground, **({"pulses": [PULSE], "energy_every": 0} | length | options))


def laplace(times, values, z):
    """Sum of values exp(i z t) dt at complex frequencies: a window that ends the series and errs in nothing."""
    return (times[1] - times[0]) * np.exp(1j * z[:, None] * times) @ values


def test_weak_light_obeys_fresnel_with_the_dielectric_function_of_a_kick(crystal):
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    epsilon = dielectric(crystal, z)
    assert abs(epsilon[0] - 1) > 0.05 and abs(epsilon[2] - 1) > 0.3
    n, k = np.sqrt(epsilon), z / SPEED_OF_LIGHT
    r = (1 - n) / (1 + n)
    errors = []
    for cells, step in ((5, 80.0), (10, 40.0)):
        turn = np.exp(1j * n * k * cells * step)
        reflected = r * (1 - turn**2) / (1 - (r * turn) ** 2) * np.exp(3j * k * step)
        transmitted = (1 - r**2) * turn / (1 - (r * turn) ** 2) * np.exp(1j * k * step)
        found = run(crystal, cells=cells, step=step)
        incident = laplace(found.field_time, found.incident[:, 2], z)
        errors.append(
            [
                np.abs(laplace(found.field_time, found.reflected[:, 2], z) / incident / reflected - 1).max(),
                np.abs(laplace(found.field_time, found.transmitted[:, 2], z) / incident / transmitted - 1).max(),
            ]
        )
    assert max(errors[1]) < 0.01
    assert errors[1][1] < errors[0][1] / 3.3  # second order
    assert np.abs(found.reflected[:, :2]).max() < 1e-6 * np.abs(found.reflected).max()


def dielectric(ground, z):
    """epsilon at complex frequencies, by a kick."""
    kick = hc.tddft.propagate(ground, kick=0.003, direction="z", total_time=TIME, energy_every=0)
    current = kick.current[:, 2].copy()
    current[0] *= 0.5  # the kick is at the beginning of the first step
    return 1 + 4j * np.pi * laplace(kick.time, current, z) / 0.003 / z


def stack_of_films(films, z):
    """Amplitudes that a stack of films in empty space reflects and transmits: pairs of epsilon and thickness."""
    k = z / SPEED_OF_LIGHT
    whole = np.array([np.eye(2)] * len(z), dtype=complex)
    for epsilon, thickness in films:
        n = np.sqrt(epsilon)
        phase = n * k * thickness
        one = np.array([[np.cos(phase), -1j * np.sin(phase) / n], [-1j * n * np.sin(phase), np.cos(phase)]])
        whole = whole @ np.moveaxis(one, 2, 0)
    (a, b), (c, d) = np.moveaxis(whole, 0, 2)
    transmitted = 2 / (a + b + c + d)
    return (a + b - c - d) / (a + b + c + d), transmitted


def test_layers_of_crystals_and_media_obey_fresnel(crystal):
    other = hc.tddft.ground_state(
        hc.tddft.from_atoms(ase.build.bulk("He", "sc", a=2.8), extent=[9, 9, 9], mesh=[2, 2, 2], allow_coarse=True)
    )
    glass = hc.maxwell.medium(permittivity=1.5, poles=[(20.0, 0.5, 120.0)])
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    epsilon = [dielectric(crystal, z), dielectric(other, z)]
    assert np.abs(epsilon[0] / epsilon[1] - 1).min() > 0.02
    of_glass = 1.5 + 120 / (400 - (z * HARTREE_EV) ** 2 - 0.5j * z * HARTREE_EV)
    step, counts = 30.0, (5, 3, 4, 4)
    kinds = [(epsilon[0], crystal), (of_glass, glass), (1.0 + 0 * z, 1.0), (epsilon[1], other)]
    films = [(e, n * step) for (e, _), n in zip(kinds, counts, strict=True)]
    reflected, transmitted = stack_of_films(films, z)
    k = z / SPEED_OF_LIGHT
    layers = [(what, n) for (_, what), n in zip(kinds, counts, strict=True)]
    found = run(crystal, layers=layers, step=step)
    assert found.cells == 16 and np.abs(found.current[:, 5:12]).max() == 0
    incident = laplace(found.field_time, found.incident[:, 2], z)
    # Reflected light is seen three cells and a half before the film's front, transmitted light one and a half behind.
    r = laplace(found.field_time, found.reflected[:, 2], z) / incident / (reflected * np.exp(3j * k * step))
    t = laplace(found.field_time, found.transmitted[:, 2], z) / incident
    assert np.abs(r - 1).max() < 0.01
    assert np.abs(t / (transmitted * np.exp(1j * k * step)) - 1).max() < 0.005


def test_oblique_light_obeys_fresnel(crystal):
    """At 60 degrees, polarised at right angles to the plane of incidence, into a medium of index 1.4."""
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    sine, cosine = np.sin(np.pi / 3), np.cos(np.pi / 3)
    behind = np.sqrt(1.4**2 - sine**2)
    n, k = np.sqrt(dielectric(crystal, z) - sine**2), z / SPEED_OF_LIGHT
    cells, step = 10, 40.0
    turn = np.exp(1j * n * k * cells * step)
    front, back = (cosine - n) / (cosine + n), (n - behind) / (n + behind)
    reflected = (front + back * turn**2) / (1 + front * back * turn**2) * np.exp(3j * k * cosine * step)
    transmitted = (1 + front) * (1 + back) * turn / (1 + front * back * turn**2)
    found = run(crystal, cells=cells, step=step, angle="60 deg", index_behind=1.4)
    incident = laplace(found.field_time, found.incident[:, 2], z)
    r = laplace(found.field_time, found.reflected[:, 2], z) / incident
    t = laplace(found.field_time, found.transmitted[:, 2], z) / incident
    # Incident light is that of the first cell's middle, half a step behind the front of the film; the transmitted light
    # is seen one and a half steps behind its back.
    assert np.abs(r / reflected - 1).max() < 0.01
    late = np.exp(1.5j * k * behind * step - 0.5j * k * cosine * step)
    assert np.abs(t / (transmitted * late) - 1).max() < 0.005
    shares = run(crystal, cells=3, step=40.0, angle=1.0, index_behind=1.4).shares()
    assert shares.reflected + shares.transmitted + shares.absorbed == pytest.approx(1, abs=5e-3)
    with pytest.raises(InvalidArgument, match="reflects all light of this angle"):
        run(crystal, cells=3, step=40.0, angle=1.2, index_behind=0.9)
    with pytest.raises(InvalidArgument, match="same direction and no ellipticity"):
        run(crystal, cells=3, step=40.0, angle=1.0, pulses=[PULSE, PULSE | {"direction": "y"}])
    with pytest.raises(InvalidArgument, match="below 90 degrees"):
        run(crystal, cells=3, step=40.0, angle="90 deg")


def test_oblique_light_in_the_plane_of_incidence_obeys_fresnel(crystal):
    """At 60 degrees into a medium of index 1.4. For E along the film r = (Z2 - Z1) / (Z2 + Z1), Z = k_z / epsilon."""
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    sine, cosine = np.sin(np.pi / 3), np.cos(np.pi / 3)
    epsilon = dielectric(crystal, z)
    n, after, k = np.sqrt(epsilon - sine**2), np.sqrt(1.4**2 - sine**2), z / SPEED_OF_LIGHT
    z1, z2, z3 = cosine, n / epsilon, after / 1.4**2
    front, back = (z2 - z1) / (z2 + z1), (z3 - z2) / (z3 + z2)
    errors = []
    for cells, step in ((5, 80.0), (10, 40.0)):
        turn = np.exp(1j * n * k * cells * step)
        reflected = (front + back * turn**2) / (1 + front * back * turn**2) * np.exp(3j * k * cosine * step)
        transmitted = (1 + front) * (1 + back) * turn / (1 + front * back * turn**2)
        found = run(crystal, cells=cells, step=step, angle="60 deg", polarisation="p", index_behind=1.4)
        incident = laplace(found.field_time, found.incident[:, 2], z)
        r = laplace(found.field_time, found.reflected[:, 2], z) / incident
        t = laplace(found.field_time, found.transmitted[:, 2], z) / incident
        late = np.exp(1.5j * k * after * step - 0.5j * k * cosine * step)
        errors.append([np.abs(r / reflected - 1).max(), np.abs(t / (transmitted * late) - 1).max()])
    assert max(errors[1]) < 0.02 and errors[1][1] < errors[0][1] / 2.5
    assert np.abs(found.vector_potential[:, :, 0]).max() > 0.1 * np.abs(found.vector_potential[:, :, 2]).max()
    assert np.abs(found.vector_potential[:, :, 1]).max() == 0
    shares = run(crystal, cells=3, step=40.0, angle=1.0, polarisation="p", index_behind=1.4).shares()
    assert shares.reflected + shares.transmitted + shares.absorbed == pytest.approx(1, abs=5e-3)
    small = run(crystal, cells=3, step=40.0, angle=1e-9, polarisation="p", total_time="1 fs")
    straight = run(crystal, cells=3, step=40.0, total_time="1 fs")
    assert np.abs(small.current - straight.current).max() < 1e-4 * np.abs(straight.current).max()
    ohmic = hc.maxwell.medium(conductivity=1.0)
    with pytest.raises(InvalidArgument, match="has a conductivity"):
        run(crystal, layers=[(crystal, 2), (ohmic, 2)], step=40.0, angle=1.0, polarisation="p")
    quick = hc.maxwell.medium(poles=[(500.0, 0.0, 1e4)])
    with pytest.raises(InvalidArgument, match="whose period is too short"):
        run(crystal, layers=[(crystal, 2), (quick, 2)], step=40.0, angle=1.0, polarisation="p")


def test_oblique_light_on_layers_of_crystal_and_media_with_poles(crystal):
    """At 45 degrees in the plane of incidence, by the transfer matrix of E and H along the film."""
    metal = hc.maxwell.medium(permittivity=1.2, poles=[(0.0, 0.4, 30.0), (20.0, 0.5, 100.0)])
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    ev, k, sine = z * HARTREE_EV, z / SPEED_OF_LIGHT, np.sin(np.pi / 4)
    of_metal = 1.2 - 30 / (ev**2 + 0.4j * ev) + 100 / (400 - ev**2 - 0.5j * ev)
    errors = []
    for cells, step in ((3, 60.0), (6, 30.0)):
        whole = np.array([np.eye(2)] * 3, dtype=complex)
        for epsilon in (dielectric(crystal, z), of_metal):
            n = np.sqrt(epsilon - sine**2)
            phase, ratio = n * k * cells * step, n / epsilon
            one = np.array([[np.cos(phase), -1j * ratio * np.sin(phase)], [-1j * np.sin(phase) / ratio, np.cos(phase)]])
            whole = whole @ np.moveaxis(one, 2, 0)
        (a, b), (c, d) = np.moveaxis(whole, 0, 2)
        cosine = np.cos(np.pi / 4)
        transmitted = 2 / (a + b / cosine + cosine * c + d)
        reflected = (a + b / cosine) * transmitted - 1
        layers = [(crystal, cells), (metal, cells)]
        found = run(crystal, layers=layers, step=step, angle="45 deg", polarisation="p")
        incident = laplace(found.field_time, found.incident[:, 2], z)
        r = laplace(found.field_time, found.reflected[:, 2], z) / incident
        t = laplace(found.field_time, found.transmitted[:, 2], z) / incident
        late = np.exp(1j * k * cosine * step)
        early = np.exp(3j * k * cosine * step)
        errors.append([np.abs(r / (reflected * early) - 1).max(), np.abs(t / (transmitted * late) - 1).max()])
    assert errors[1][0] < 0.02 and errors[1][1] < 0.01
    assert errors[1][1] < errors[0][1] / 2.5
    assert np.abs(found.current[:, 6:]).max() == 0


def test_cells_are_shared_out_by_their_cost():
    assert shared_out([1.0] * 7, 3) == [0, 0, 0, 1, 1, 1, 2]
    assert shared_out([3.0, 1.0, 1.0, 1.0], 2) == [0, 1, 1, 1]
    assert shared_out([1.0, 0.0, 0.0, 1.0], 2) == [0, 0, 0, 1]
    assert shared_out([5.0, 1.0, 1.0], 3) == [0, 1, 2]
    for costs, groups, best in (([1.0, 2.0, 3.0, 4.0, 5.0], 2, 9.0), ([4.0, 0.0, 4.0, 1.0, 1.0, 1.0], 3, 4.0)):
        owners = shared_out(costs, groups)
        loads = [sum(c for c, o in zip(costs, owners, strict=True) if o == g) for g in range(groups)]
        assert owners == sorted(owners) and max(loads) == best


def test_reflected_transmitted_and_absorbed_light_add_up(crystal):
    strong = PULSE | {"amplitude": "3e14 W/cm^2", "frequency": "20 eV"}
    found = run(crystal, cells=4, step=60.0, pulses=[strong], total_time="3 fs")
    shares = found.shares()
    # The work of the field is summed by trapezoids of steps, second order: 2.4e-3 here.
    assert shares.reflected + shares.transmitted + shares.absorbed == pytest.approx(1, abs=5e-3)
    assert shares.absorbed > 0.02 and shares.reflected > 0.01


def test_one_thin_cell_is_a_film_in_a_uniform_field(crystal):
    step = 12.0
    options = {"total_time": "2 fs"}
    found = run(crystal, cells=1, step=step, index_behind=1.5, **options)
    options |= {"pulses": [PULSE], "energy_every": 0, "response": "film", "film": {"thickness": step, "behind": 1.5}}
    film = hc.tddft.propagate(crystal, kick=0.0, **options)
    # The light reaches the film a few cells later, and the film of the uniform field has no thickness: a cell is 0.6 %
    # of the wavelength.
    a, b = found.vector_potential[:, 0, 2], film.vector_potential[1:, 2]
    times = found.time
    delays = np.linspace(-1.0, 1.0, 201)
    worst = min(np.abs(np.interp(times - d, times, b) - a)[5:-5].max() for d in delays)
    assert worst < 0.02 * np.abs(a).max()


def endless_line(currents, step, time_step):
    """Vector potential at a place where currents flow, on an endless line of steps without other matter: leapfrog of
    A'' = c^2 d^2 A / dx^2 + 4 pi J, with J of particles of charge -1."""
    middle = len(currents) + 1
    before, now = np.zeros((2, 2 * middle + 1))
    found = []
    for current in currents:
        bend = np.zeros_like(now)
        bend[1:-1] = now[2:] - 2 * now[1:-1] + now[:-2]
        bend[middle] -= 4 * np.pi * current * (step / SPEED_OF_LIGHT) ** 2
        before, now = now, 2 * now - before + (SPEED_OF_LIGHT * time_step / step) ** 2 * bend
        found.append(now[middle])
    return np.array(found)


def test_one_cell_sends_out_the_light_of_an_endless_line_and_of_a_film(crystal):
    step = 12.0
    found = run(crystal, cells=1, step=step, total_time="2 fs")
    time_step = found.time[1] - found.time[0]
    currents = np.concatenate([found.first_current[:, 2], found.current[:, 0, 2]])
    chosen = changed(crystal.system.run.propagate, {"pulses": [PULSE], "gauge": "velocity", "kick": 0.0})
    section = changed(Section(), {"cells": 1, "step": step, "axis": "x"})
    line = FilmLight(given_field(chosen), [Filling(crystal, None)], step, 0, section, time_step, len(found.time))
    without = -time_step * np.cumsum([line.advance(np.zeros((1, 3)))[0, 2] for _ in found.time])
    sent = found.vector_potential[:, 0, 2] - without
    size = np.abs(sent).max()
    assert size > 0.004 * np.abs(without).max()
    # The absorbing layers of the line send 3e-6 back.
    assert np.abs(sent - endless_line(currents[:-1], step, time_step)).max() < 1e-5 * size
    # A film of no thickness: A' = -2 pi d J / c. The step of the line is 0.6 % of the wavelength.
    film = -2 * np.pi * step / SPEED_OF_LIGHT * time_step * np.cumsum((currents[1:] + currents[:-1]) / 2)
    assert np.abs(sent - film).max() < 1e-3 * size


def test_cells_that_share_a_model_do_not_see_each_other(crystal):
    native = hc._halocline.tddft
    options = hc.tddft.propagation.library_options(crystal.system.run.propagate, 0.08)
    nothing = {"geometry": "given", "thickness": 0.0, "front": 1.0, "behind": 1.0}
    light = {"gauge": "velocity", "kick": [0.0] * 3, "spin_kick": False, "response": nothing}
    light |= {"pulses": [], "table_times": [0.0, 1.0], "table_fields": [[0.0, 0.0, 0.01]] * 2}

    def currents(amplitudes, steps=12):
        states = [crystal.state.copy() for _ in amplitudes]
        cells = [native.Propagator(crystal.model, state, light, options) for state in states]
        found = []
        for n in range(1, steps + 1):
            for a, cell in zip(amplitudes, cells, strict=True):
                cell.set_next_potential([0.0, 0.0, a * np.sin(0.3 * n)])
                cell.step()
            found.append([cell.driving_current for cell in cells])
        return np.array(found)

    both = currents([0.004, -0.03])
    assert np.array_equal(both[:, :1], currents([0.004])) and np.array_equal(both[:, 1:], currents([-0.03]))
    assert np.abs(both[-1, :, 2]).min() > 1e-6
    cell = native.Propagator(crystal.model, crystal.state.copy(), light, options)
    with pytest.raises(InvalidArgument, match="give it before each step"):
        cell.step()
    with pytest.raises(InvalidArgument, match="not finite"):
        cell.set_next_potential([0.0, 0.0, float("nan")])


def test_silicon_in_light_is_that_of_another_code(data):
    """SALMON's test 151: two cells of 250 bohr, an 8-atom cell on 12^3 points with 2x2x2 k. Its regression test prints
    vector potential and current of step 144, at 23.04 a.u., with the front of the light in front of the first cell at
    the beginning. Here the light begins two cells further away."""
    potential = [-8.685961351858510e-3, -5.106616175050620e-3]
    current = [-6.892490891214069e-5, -5.287608904157870e-5]
    a = 10.26 * BOHR_ANGSTROM
    atoms = ase.build.bulk("Si", "diamond", a=a, cubic=True)
    file = {"file": str(data / "electrons" / "Si_rps.dat"), "format": "ky", "local": 2}
    system = hc.tddft.from_atoms(
        atoms, extent=[12] * 3, mesh=[2] * 3, functional="pz", allow_coarse=True, pseudopotential={"Si": file}
    )
    pulse = {"amplitude": 0.0533802, "frequency": 0.05696145187, "duration": 441.195136248, "direction": "z"}
    dt = 0.144
    found = hc.tddft.multiscale(
        hc.tddft.ground_state(system), cells=2, step=250.0, scheme="taylor4", time_step=dt, steps=190, pulses=[pulse],
        energy_every=0,
    )  # fmt: skip
    then = 144 * 0.16 + 2 * 250 / SPEED_OF_LIGHT - 0.5 * dt
    for name, printed, bar in (("vector_potential", potential, 5e-3), ("current", current, 3e-3)):
        values = CubicSpline(found.time, getattr(found, name)[:, :, 2])(then)
        assert np.abs(values / printed - 1).max() < bar, name


RUN = """
[system]
file = "he.xyz"
[grid]
extent = [8, 8, 8]
allow_coarse = true
[kpoints]
mesh = [1, 1, 2]
[propagate]
pulses = [{ amplitude = "1e13 W/cm^2", frequency = "12 eV", duration = "0.3 fs", direction = "z" }]
steps = 60
time_step = 0.08
energy_every = 0
[multiscale]
cells = 3
step = "3 nm"
index_behind = 1.5
[output]
file = "%s.h5"
"""


def test_a_stopped_command_goes_on_with_the_same_bits(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ase.io.write("he.xyz", ase.build.bulk("He", "sc", a=2.4))
    for name in ("whole", "parts"):
        (tmp_path / f"{name}.toml").write_text(RUN % name)
    assert main(["tddft", "multiscale", "whole.toml", "--json", "whole.json"]) == 0
    said = capsys.readouterr().out
    assert "film          3 cells of 3 nm, 9 nm in all" in said and "% reflected" in said
    assert (tmp_path / "whole_ms.png").stat().st_size > 10000
    text = RUN % "parts"
    (tmp_path / "parts.toml").write_text(text.replace("energy_every = 0", 'energy_every = 0\nwall_limit = "1e-9 s"'))
    stops = 0
    while main(["tddft", "multiscale", "parts.toml"]) == 130:
        stops += 1
        assert "goes on from there" in capsys.readouterr().err
        if stops == 2:
            (tmp_path / "parts.toml").write_text(text)
    assert stops == 2
    one, other = (series_of(f"{name}_ms.h5") for name in ("whole", "parts"))
    for name in ("vector_potential", "current", "reflected", "transmitted", "incident"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert len(list(tmp_path.glob("parts_ms.cell*.orbitals"))) == 3
    shares = json.loads((tmp_path / "whole.json").read_text())
    assert shares["share_reflected"] == pytest.approx(one.shares().reflected)
    capsys.readouterr()
    assert main(["report", "whole_ms.h5"]) == 0
    assert "% of the incident energy" in capsys.readouterr().out
    (tmp_path / "parts.toml").write_text(text.replace("cells = 3", "cells = 4"))
    assert main(["tddft", "multiscale", "parts.toml"]) == 2
    assert "belongs to another run" in capsys.readouterr().err
    (tmp_path / "parts.toml").write_text(text.replace("cells = 3\n", ""))
    assert main(["tddft", "multiscale", "parts.toml"]) == 2
    assert "[multiscale] needs cells" in capsys.readouterr().err


def test_layers_of_other_crystals_and_media_in_a_command(tmp_path, monkeypatch, capsys, halocline):
    monkeypatch.chdir(tmp_path)
    ase.io.write("he.xyz", ase.build.bulk("He", "sc", a=2.4))
    ase.io.write("wide.xyz", ase.build.bulk("He", "sc", a=2.8))
    layers = """layers = [{ cells = 2 }, { cells = 1, medium = { permittivity = 1.4, conductivity = 0.2 } },
                          { cells = 1, run_file = "wide.toml" }]"""
    text = (RUN % "one").replace("cells = 3", layers)
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "two.toml").write_text(text.replace("one.h5", "two.h5"))
    wide = RUN.split("[propagate]")[0].replace("he.xyz", "wide.xyz").replace("[8, 8, 8]", "[9, 9, 9]")
    (tmp_path / "wide.toml").write_text(wide + '[output]\nfile = "wide.h5"\n')
    assert main(["tddft", "multiscale", "one.toml"]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert "film          4 cells of 3 nm" in said and "media         in 1 of the cells, electrons in 3" in said
    done = halocline("tddft", "multiscale", "two.toml", ranks=2)
    assert done.returncode == 0, done.stderr
    assert "ms a step of the crystals, by which the cells are shared out" in done.stdout
    one, two = series_of("one_ms.h5"), series_of("two_ms.h5")
    assert np.abs(one.current[:, 3]).max() > 1e-9 and np.abs(one.current[:, 2]).max() == 0
    for name in ("vector_potential", "current", "transmitted"):
        a, b = getattr(one, name), getattr(two, name)
        assert np.abs(a - b).max() < 1e-8 * np.abs(a).max() + 1e-15
    assert len(list(tmp_path.glob("two_ms.cell*.orbitals"))) == 3
    (tmp_path / "wide.toml").write_text(wide + '[output]\nfile = "one.h5"\n')
    assert main(["tddft", "multiscale", "one.toml"]) == 2
    assert "two crystals have the same [output] file" in capsys.readouterr().err
    (tmp_path / "one.toml").write_text((RUN % "one").replace("cells = 3", 'layers = [{ cells = 3, medium = "gold" }]'))
    assert main(["tddft", "multiscale", "one.toml"]) == 2
    assert "no layer has electrons" in capsys.readouterr().err


SCRIPT = """
import sys
import ase.build, numpy as np
import halocline as hc

world = hc.comm.world()
groups = int(sys.argv[1])
group = world.split(world.rank * groups // world.size)
atoms = ase.build.bulk("He", "sc", a=2.4)
system = hc.tddft.from_atoms(atoms, extent=[8, 8, 8], mesh=[2, 2, 2], allow_coarse=True)
ground = hc.tddft.ground_state(system, comm=group)
pulse = {"amplitude": "1e12 W/cm^2", "frequency": "12 eV", "duration": "1 fs", "direction": "z"}
found = hc.tddft.multiscale(
    ground, cells=3, step=60.0, pulses=[pulse], steps=25, time_step=0.08, energy_every=0, comm=world
)
if world.rank == 0:
    np.savez(sys.argv[2], a=found.vector_potential, j=found.current, r=found.reflected)
"""


STEP = """
assert world.max([found.time_step])[0] == -world.max([-found.time_step])[0]
"""


@pytest.mark.filterwarnings("ignore")
def test_groups_of_processes_share_the_cells(python, tmp_path):
    (tmp_path / "cells.py").write_text(SCRIPT)
    done = python("cells.py", "1", "one.npz")
    assert done.returncode == 0, done.stderr
    one = np.load(tmp_path / "one.npz")
    assert np.abs(one["j"]).max() > 1e-8
    for ranks, groups in ((2, 2), (4, 2)):
        done = python("cells.py", str(groups), "many.npz", ranks=ranks)
        assert done.returncode == 0, done.stderr
        many = np.load(tmp_path / "many.npz")
        for name in ("a", "j", "r"):
            # Of reflected light only rounding is there so far.
            assert np.abs(many[name] - one[name]).max() < 1e-8 * np.abs(one[name]).max() + 1e-15


def test_groups_of_unequal_sizes_take_one_time_step(python, tmp_path):
    (tmp_path / "cells.py").write_text(SCRIPT.replace("time_step=0.08, ", "") + STEP)
    done = python("cells.py", "2", "many.npz", ranks=3)
    assert done.returncode == 0, done.stderr


def test_a_run_goes_on_with_other_processes(tmp_path, monkeypatch, capsys, python):
    """The limit of the time step is found by iterations whose last bits depend on the division."""
    monkeypatch.chdir(tmp_path)
    ase.io.write("he.xyz", ase.build.bulk("He", "sc", a=2.4))
    text = RUN.replace("time_step = 0.08\n", "").replace("steps = 60", "steps = %d")
    text = text.replace("[multiscale]", "[multiscale]\ngroups = 1")
    assert text.count("%d") == 1 and "time_step" not in text
    (tmp_path / "film.toml").write_text(text % (10, "film"))
    assert main(["tddft", "multiscale", "film.toml"]) == 0, capsys.readouterr().err
    (tmp_path / "film.toml").write_text(text % (20, "film"))
    done = python("-m", "halocline.cli.main", "tddft", "multiscale", "film.toml", ranks=2)
    assert done.returncode == 0 and "from step 10" in done.stdout, done.stderr
    (tmp_path / "whole.toml").write_text(text % (20, "whole"))
    assert main(["tddft", "multiscale", "whole.toml"]) == 0, capsys.readouterr().err
    one, other = (series_of(f"{name}_ms.h5") for name in ("whole", "film"))
    assert np.abs(one.current - other.current).max() < 1e-8 * np.abs(one.current).max() + 1e-15


def test_light_that_has_not_arrived_is_no_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ase.io.write("he.xyz", ase.build.bulk("He", "sc", a=2.4))
    (tmp_path / "early.toml").write_text(RUN.replace("steps = 60", "steps = 1") % "early")
    assert main(["tddft", "multiscale", "early.toml"]) == 0, capsys.readouterr().err
    assert "light         has not arrived" in capsys.readouterr().out
    assert main(["report", "early_ms.h5"]) == 0
    (tmp_path / "never.toml").write_text(RUN.replace("energy_every = 0", 'restart = "always"') % "never")
    assert main(["tddft", "multiscale", "never.toml"]) == 2
    assert "there is no checkpoint of this run" in capsys.readouterr().err


def test_a_table_is_light_from_outside(crystal, tmp_path):
    """The pulse of the other tests, from a file."""
    options = {"cells": 1, "step": 60.0, "time_step": 0.08, "steps": 400}
    whole = run(crystal, **options)
    times = 0.04 * np.arange(2000)
    chosen = changed(crystal.system.run.propagate, {"pulses": [PULSE], "gauge": "velocity", "kick": 0.0})
    fields = np.asarray(hc._halocline.tddft.field_of(given_field(chosen), times.tolist()))[:, 0, 2]
    table = tmp_path / "light.txt"
    np.savetxt(table, np.column_stack([times, 0 * times, 0 * times, fields]))
    found = run(crystal, pulses=[], field_table=str(table), **options)
    size = np.abs(whole.vector_potential).max()
    assert np.abs(found.vector_potential - whole.vector_potential).max() < 2e-3 * size
    np.savetxt(table, np.column_stack([times, fields, 0 * times, fields]))
    with pytest.raises(InvalidArgument, match="field_table that has a field along its way"):
        run(crystal, field_table=str(table), **options)
    np.savetxt(table, np.column_stack([times, 0 * times, fields, 0 * times]))
    with pytest.raises(InvalidArgument, match="oblique light has one polarisation"):
        run(crystal, field_table=str(table), angle=0.5, **options)
    with pytest.raises(InvalidArgument, match="at least ten are needed"):
        run(crystal, pulses=[], field_table=str(table), cells=1, step="15 nm", steps=1)


def test_a_film_that_gives_off_energy_is_named(crystal):
    found = run(crystal, cells=1, step=60.0)
    assert found.advice() is None
    assert abs(found.shares().absorbed) < 0.01
    # A current with the field, of particles of charge -1.
    field = -np.diff(found.vector_potential, axis=0, prepend=0.0) / found.time_step
    scale = 0.05 * found.shares().incident / (found.step * found.time_step * np.sum(field**2))
    found.rows = [(a, scale * e, *rest) for (a, _, *rest), e in zip(found.rows, field, strict=True)]
    assert found.shares().absorbed < -0.03
    assert "have given off" in found.advice() and "finer [kpoints] mesh" in found.advice()


def test_symmetries_that_the_light_breaks_are_refused():
    atoms = ase.build.bulk("He", "sc", a=2.4)
    system = hc.tddft.from_atoms(atoms, extent=[8, 8, 8], mesh=[2, 2, 2], symmetry="z", allow_coarse=True)
    ground = hc.tddft.ground_state(system)
    assert system.reduction is not None
    for options in (
        {"cells": 2, "angle": 0.5, "polarisation": "p"},
        {"body": {"shape": "cylinder", "radius": 200.0, "axis": "y"}},
    ):
        with pytest.raises(InvalidArgument, match="which break symmetries"):
            run(ground, step=80.0, steps=1, **options)
    assert run(ground, cells=2, step=80.0, angle=0.5, steps=1).cells == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"index_behind": 20.0}, "wavelength behind the film"),
        ({"polarisation": "p"}, "for light at an angle"),
        ({"excited_every": 10}, "not for"),
        ({"gauge": "length"}, 'expected "velocity"'),
        ({"angle": 0.9, "polarisation": "p", "cells": None, "layers": [("silica", 1), (None, 0)]}, "expected a pair"),
        ({"cells": None, "layers": [None]}, "expected a pair"),
        ({"cells": None, "body": "sphere"}, "expected keys"),
        ({"pulses": [PULSE | {"ellipticity": 1.0, "around": [-1, 0, 0]}]}, "turns around another way"),
    ],
)
def test_light_that_cannot_be_computed_is_refused(crystal, options, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        run(crystal, **({"cells": 2, "step": 60.0, "steps": 1} | options))


def test_thin_media_at_an_angle_are_refused(crystal):
    thin = hc.maxwell.Medium(0.2)
    with pytest.raises(InvalidArgument, match=r"expected one above 0\.6136"):
        run(crystal, layers=[(crystal, 1), (thin, 2)], step=60.0, steps=1, angle=0.9, polarisation="p")


def test_impossible_light_is_refused(crystal):
    with pytest.raises(InvalidArgument, match="not at right angles"):
        run(crystal, cells=2, step=60.0, axis="z")
    with pytest.raises(InvalidArgument, match="at least ten are needed"):
        run(crystal, cells=2, step="15 nm")
    with pytest.raises(InvalidArgument, match="light crosses a cell of 8 bohr"):
        run(crystal, cells=2, step=8.0)
    with pytest.raises(InvalidArgument, match="there is no light"):
        run(crystal, cells=2, step=60.0, pulses=[])
    with pytest.raises(InvalidArgument, match="scheme"):
        run(crystal, cells=2, step=60.0, scheme="etrs")
    with pytest.raises(InvalidArgument, match=r"leave \[propagate\] kick, response and travels out"):
        run(crystal, cells=2, step=60.0, response="longitudinal")
    helium = hc.tddft.from_atoms(ase.Atoms("He"), extent=[12, 12, 12], box=[3, 3, 3], allow_coarse=True)
    with pytest.raises(InvalidArgument, match="isolated"):
        run(hc.tddft.ground_state(helium), cells=2, step=60.0)
