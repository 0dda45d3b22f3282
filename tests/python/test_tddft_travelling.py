# SPDX-License-Identifier: Apache-2.0
"""Light that crosses a cell or a box, and that the current density at each point answers: Python, run files, stop and
restart."""

import json

import ase.build
import h5py
import numpy as np
import pytest
from halocline.schema import changed
from halocline.tddft.travelling import advice_on_box
from halocline.tddft.units import HARTREE_EV, SPEED_OF_LIGHT

import halocline as hc

PULSE = {"amplitude": "1e12 W/cm^2", "frequency": "12 eV", "duration": "1 fs", "direction": "x"}


@pytest.fixture(scope="module")
def crystal():
    """Solid helium on few points."""
    system = hc.tddft.from_atoms(ase.build.bulk("He", "sc", a=2.4), extent=[8, 8, 8], mesh=[2, 2, 2], allow_coarse=True)
    return hc.tddft.ground_state(system)


@pytest.fixture(scope="module")
def atom():
    return hc.tddft.ground_state(
        hc.tddft.from_atoms(ase.Atoms("He"), extent=[14, 14, 14], box=[4, 4, 4], allow_coarse=True)
    )


def test_light_on_a_cell_is_reflected_transmitted_or_absorbed(crystal):
    run = hc.tddft.propagate(crystal, pulses=[PULSE], total_time="1.1 fs", energy_every=1, travels="z")
    light, balance = run.light, run.film_balance()
    incident, behind = light.field("incident"), light.field("transmitted")
    assert incident[:, 1:] == pytest.approx(0.0) and np.abs(incident[:, 0]).max() > 4e-3
    # One cell is a thousandth of a wavelength: nearly all passes, a time of flight later.
    assert np.abs(incident - behind).max() < 0.05 * np.abs(incident).max()
    assert balance.transmitted == pytest.approx(1.0, abs=1e-2)
    # What the electrons win is what is missing in the light.
    alone = light.balance(crystal.system.native.volume / (2.4 / 0.529177210544), None, np.inf)
    assert balance.absorbed == pytest.approx(alone.absorbed, abs=0.1 * abs(balance.absorbed) + 1e-7)
    thin = hc.tddft.propagate(
        crystal, pulses=[PULSE], total_time="1.1 fs", response="film", film={"thickness": "2.4 angstrom"}
    )
    assert np.abs(light.reflected - thin.induced_potential).max() < 0.05 * np.abs(light.reflected).max()


def test_a_film_of_many_cells_obeys_fresnel_with_the_dielectric_function_of_a_kick():
    """Six cells of helium, a twentieth of a wavelength, with atoms in the middle of each cell. Amplitudes at complex
    frequencies, where sums over the run have no error of a window."""
    atoms = ase.build.bulk("He", "sc", a=2.4)
    atoms.positions[:, 2] += 3.5 / 8 * 2.4
    system = hc.tddft.from_atoms(atoms.repeat((1, 1, 6)), extent=[8, 8, 48], mesh=[2, 2, 1], allow_coarse=True)
    ground = hc.tddft.ground_state(system)
    z = np.array([30.0, 40.0, 50.0]) / HARTREE_EV + 3.0j / HARTREE_EV
    pulse = {"amplitude": "1e10 W/cm^2", "frequency": "40 eV", "duration": "0.4 fs", "direction": "x"}

    def laplace(times, values):
        return (times[1] - times[0]) * np.exp(1j * z[:, None] * times) @ values

    errors = []
    for time_step in (0.08, 0.04):
        options = {"total_time": "2 fs", "time_step": time_step, "energy_every": 0}
        kick = hc.tddft.propagate(ground, kick=0.003, direction="x", **options)
        current = kick.current[:, 0].copy()
        current[0] *= 0.5  # the kick is at the beginning of the first step
        n = np.sqrt(1 + 4j * np.pi * laplace(kick.time, current) / 0.003 / z)
        light = hc.tddft.propagate(ground, travels="z", pulses=[pulse], **options).light
        k, h = z / SPEED_OF_LIGHT, system.spacing[2]
        turn, r = np.exp(1j * n * k * 48 * h), (1 - n) / (1 + n)
        # The film begins and ends half a plane beside its outermost planes.
        reflected = r * (1 - turn**2) / (1 - (r * turn) ** 2) * np.exp(-1j * k * h)
        transmitted = (1 - r**2) * turn / (1 - (r * turn) ** 2) * np.exp(-1j * k * h)
        incident = laplace(light.time, light.incident[:, 0])
        errors.append(
            [
                np.abs(laplace(light.time, light.reflected[:, 0]) / incident / reflected - 1).max(),
                np.abs(laplace(light.time, light.transmitted[:, 0]) / incident / transmitted - 1).max(),
            ]
        )
    assert np.abs(reflected).min() > 0.01
    assert errors[1][0] < 4e-3 and errors[1][1] < 2e-4
    assert errors[1][0] < errors[0][0] / 3 and errors[1][1] < errors[0][1] / 3  # second order


def test_a_film_on_its_own_grid_is_that_of_macroscopic_cells():
    """Nine cells of helium: all electrons on one grid, and three cells of `multiscale` with electrons of one cell."""
    atoms = ase.build.bulk("He", "sc", a=2.4)
    atoms.positions[:, 2] += 3.5 / 8 * 2.4
    one, nine = (
        hc.tddft.ground_state(
            hc.tddft.from_atoms(atoms.repeat((1, 1, n)), extent=[8, 8, 8 * n], mesh=[2, 2, 9 // n], allow_coarse=True)
        )
        for n in (1, 9)
    )
    thickness = float(nine.system.structure.edges[2])
    pulse = {"amplitude": "3e14 W/cm^2", "frequency": "40 eV", "duration": "0.4 fs", "direction": "x"}
    given = {"pulses": [pulse], "total_time": "0.9 fs", "time_step": 0.08}
    together = hc.tddft.propagate(nine, travels="z", energy_every=5, **given).film_balance()
    apart = hc.tddft.multiscale(one, cells=3, step=thickness / 3, axis="z", energy_every=0, **given).shares()
    assert together.transmitted == pytest.approx(apart.transmitted, abs=3e-4)
    assert together.reflected == pytest.approx(apart.reflected, rel=0.05)
    assert together.absorbed == pytest.approx(apart.absorbed, rel=0.03)
    assert together.absorbed > 0.03


def test_a_slab_in_vacuum_takes_what_light_loses():
    atoms = ase.Atoms("He2", positions=[[0, 0, 4.8], [0, 0, 7.2]], cell=[2.4, 2.4, 12.0], pbc=[True, True, False])
    slab = hc.tddft.ground_state(hc.tddft.from_atoms(atoms, extent=[8, 8, 40], mesh=[2, 2, 1], allow_coarse=True))
    pulse = {"amplitude": "1e13 W/cm^2", "frequency": "22 eV", "duration": "0.5 fs", "direction": "x"}
    run = hc.tddft.propagate(slab, pulses=[pulse], travels="z", total_time="0.7 fs", time_step=0.08, energy_every=1)
    system = slab.system
    light = run.light.balance(system.native.volume / system.structure.edges[2], None, np.inf)
    assert run.film_balance().absorbed == pytest.approx(light.absorbed, rel=5e-3)
    assert light.absorbed > 0.01 and light.reflected > 1e-4
    with pytest.raises(hc.InvalidArgument, match="let it travel along the open axis"):
        hc.tddft.propagate(slab, pulses=[pulse | {"direction": "y"}], travels="x", steps=2)


def test_light_reaches_the_middle_of_a_box_after_its_time_of_flight(atom):
    run = hc.tddft.propagate(atom, pulses=[PULSE], steps=40, travels="-y", profile_every=20, time_step=0.05)
    light = run.light
    assert run.gauge == "velocity"
    assert light.profile_time == pytest.approx([0.0, 1.0, 2.0])
    assert light.potential.shape == light.current.shape == (3, 14, 3)
    assert np.abs(light.reflected).max() == 0
    delay = 13 * atom.system.spacing[1] / SPEED_OF_LIGHT
    earlier = np.interp(1.0 - delay, light.time, light.incident[:, 0])
    assert light.transmitted[20, 0] == pytest.approx(earlier, rel=2e-3)
    assert light.transmitted[20, 0] != pytest.approx(light.incident[20, 0], rel=5e-2)
    # It comes from large y; its profile ends with that at the other face.
    assert light.potential[1, -1, 0] == pytest.approx(light.incident[20, 0], rel=1e-3)
    assert light.potential[1, 0, 0] == pytest.approx(light.transmitted[20, 0], rel=1e-3)


def test_a_box_in_which_the_near_field_is_late_is_called_so(atom):
    def advice(frequency):
        given = {"travels": "z", "pulses": [PULSE | {"frequency": frequency}]}
        return advice_on_box(atom.system, changed(atom.system.run.propagate, given))

    assert advice("12 eV") is None
    assert "errs by some 16 % of itself" in advice("200 eV")


def test_fields_are_given_on_the_whole_grid(crystal):
    seen = []
    run = hc.tddft.propagate(
        crystal, pulses=[PULSE], steps=3, travels="z", fields=lambda record, a, j: seen.append((record["step"], a, j))
    )
    assert [step for step, _, _ in seen] == [0, 1, 2, 3]
    _, a, j = seen[-1]
    assert a.shape == j.shape == (3, 8, 8, 8)
    assert a.mean(axis=(1, 2, 3)) == pytest.approx(run.vector_potential[-1], rel=1e-12)
    assert j.mean(axis=(1, 2, 3)) == pytest.approx(run.current[-1], rel=1e-9, abs=1e-15)
    with pytest.raises(hc.InvalidArgument, match="the light is the same everywhere"):
        hc.tddft.propagate(crystal, pulses=[PULSE], steps=1, fields=lambda *_: None)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kick": 0.01}, "give a pulse"),
        ({"response": "longitudinal"}, "answers by itself"),
        ({"precision": "float"}, "take double"),
        ({"gauge": "length"}, "leave gauge out"),
        ({"excited_every": 1}, "uniform field"),
        ({"pulses": [PULSE | {"direction": "z"}]}, "at right angles to the way"),
        ({"pulses": [PULSE | {"ellipticity": 1.0, "around": "y"}]}, "at right angles to the way"),
        ({"travels": "up"}, "travels"),
        ({"travels": "-z", "pulses": [PULSE | {"ellipticity": 1.0, "around": "z"}]}, "would turn its sense"),
    ],
)
def test_what_travelling_light_does_not_go_with_is_refused(crystal, options, sentence):
    with pytest.raises(hc.InvalidArgument, match=sentence):
        hc.tddft.propagate(crystal, **({"pulses": [PULSE], "steps": 1, "travels": "z"} | options))


def test_profiles_need_a_way(crystal):
    with pytest.raises(hc.InvalidArgument, match="say its way"):
        hc.tddft.propagate(crystal, pulses=[PULSE], steps=1, profile_every=1)


def test_oblique_cells_are_refused():
    system = hc.tddft.from_atoms(ase.build.bulk("He", "fcc", a=3.6), extent=[8, 8, 8], allow_coarse=True)
    with pytest.raises(hc.InvalidArgument, match="orthogonal cell"):
        hc.tddft.propagate(hc.tddft.ground_state(system), pulses=[PULSE], steps=1, travels="z")


RUN = """
[system]
atoms = [["He", 0, 0, 0]]
cell = [2.4, 2.4, 2.4]
[grid]
extent = [8, 8, 8]
allow_coarse = true
[kpoints]
mesh = [2, 2, 2]
[propagate]
steps = STEPS
travels = "z"
profile_every = 3
energy_every = 2
pulses = [{ amplitude = "1e12 W/cm^2", frequency = "12 eV", duration = "0.1 fs", direction = "x" }]
[output]
file = "he.h5"
cube = false
"""


def test_a_run_goes_on_bit_for_bit_after_a_stop_on_another_number_of_processes(halocline, tmp_path):
    def run(steps, *more, ranks=0):
        (tmp_path / "run.toml").write_text(RUN.replace("STEPS", str(steps)))
        done = halocline("tddft", "propagate", "run.toml", *more, ranks=ranks)
        assert done.returncode == 0, done.stderr
        return done

    whole = run(12, "--json", "whole.json")
    assert "travels       along z" in whole.stdout and "% reflected" in whole.stdout
    assert (tmp_path / "he_rt_light.png").is_file()
    with h5py.File(tmp_path / "he_rt.h5") as file:
        assert file["light/potential"].shape == (5, 8, 3)
        assert file["light/incident"].attrs["unit"] == "hbar/(e bohr)"
    (tmp_path / "he_rt.h5").unlink()
    run(5)
    assert "from step 5" in run(12, "--restart", "--json", "parts.json").stdout
    whole, parts = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "parts"))
    names = (
        ("current",),
        ("vector_potential",),
        ("light", "reflected"),
        ("light", "potential"),
        ("light", "near_field"),
    )

    def column(of, name):
        return of[name[0]] if len(name) == 1 else of[name[0]][name[1]]

    for name in names:
        assert column(parts, name) == column(whole, name)
    (tmp_path / "he_rt.h5").unlink()
    run(5)
    run(12, "--restart", "--json", "two.json", ranks=2)
    two = json.loads((tmp_path / "two.json").read_text())
    for name in names:
        assert np.allclose(column(two, name), column(whole, name), rtol=1e-9, atol=1e-14)
