# SPDX-License-Identifier: Apache-2.0
"""Light that answers the current of a crystal: Python, run files, stop and restart."""

import json

import ase.build
import numpy as np
import pytest
from halocline.tddft.induced import FilmBalance, advice_on_film

import halocline as hc

FILM = {"response": "film", "film": {"thickness": "20 nm", "behind": 1.5}}
PULSE = {"amplitude": "1e12 W/cm^2", "frequency": "12 eV", "duration": "1 fs", "direction": "z"}


@pytest.fixture(scope="module")
def crystal():
    """Solid helium on few points."""
    system = hc.tddft.from_atoms(
        ase.build.bulk("He", "fcc", a=3.6), extent=[8, 8, 8], mesh=[2, 2, 2], allow_coarse=True
    )
    return hc.tddft.ground_state(system)


def test_light_on_a_film_is_reflected_transmitted_or_absorbed(crystal):
    run = hc.tddft.propagate(crystal, kick=0.0, pulses=[PULSE], total_time="1.6 fs", energy_every=1, **FILM)
    balance = run.film_balance()
    assert balance.reflected + balance.transmitted + balance.absorbed == pytest.approx(1.0, abs=1e-3)
    assert balance.reflected > 0.03 and balance.incident > 0
    gain = (run.energy["total"][-1] - run.energy["total"][0]) * run.options.film.thickness
    volume = crystal.system.native.volume
    assert balance.absorbed == pytest.approx(gain / volume / balance.incident, abs=2e-3)
    assert "% reflected" in balance.sentence()


def test_without_a_current_a_film_is_the_surface_of_the_glass_behind_it(crystal):
    thin = {"response": "film", "film": {"thickness": 1e-9, "behind": 1.5}}
    run = hc.tddft.propagate(crystal, kick=0.0, pulses=[PULSE], steps=40, **thin)
    assert run.electric_field == pytest.approx(2 / (1 + 1.5) * run.applied_field, abs=1e-12)
    assert np.abs(run.applied_field).max() > 1e-4


def test_a_longitudinal_kick_has_the_dielectric_function_of_a_transverse_one(crystal):
    found = {}
    for response in ("transverse", "longitudinal"):
        run = hc.tddft.propagate(
            crystal, kick=0.005, direction="z", total_time="2.5 fs", energy_every=0, response=response
        )
        found[response] = hc.tddft.spectrum(run, to_energy="45 eV", window="exponential", width="3 eV")
    high = found["transverse"].energy_ev > 12
    one, other = (found[r].response[high] for r in ("transverse", "longitudinal"))
    # The window smooths epsilon in one of them and 1 / epsilon in the other; test_induced_field.cpp has the exact law.
    assert np.abs(one - other).max() < 0.25 * np.abs(one - 1).max()


def test_electrons_and_the_field_between_the_surfaces_keep_their_energy(crystal):
    run = hc.tddft.propagate(
        crystal, kick=0.005, total_time="0.6 fs", time_step=0.03, energy_every=1, response="longitudinal"
    )
    # What is left falls with the square of the step, and is as large without the induced field.
    assert np.ptp(run.energy["total"] + run.field_energy) < 0.01 * run.field_energy.max()
    assert np.ptp(run.energy["total"]) > 0.9 * run.field_energy.max()


def test_spectra_of_films_and_of_mixed_runs_are_refused(crystal):
    film = hc.tddft.propagate(crystal, kick=0.005, steps=8, **FILM)
    with pytest.raises(hc.InvalidArgument, match="a film reflects in part"):
        hc.tddft.spectrum(film, to_energy="300 eV")


def test_molecules_have_no_induced_field():
    helium = hc.tddft.from_atoms(ase.Atoms("He"), extent=[12, 12, 12], box=[3, 3, 3], allow_coarse=True)
    ground = hc.tddft.ground_state(helium)
    with pytest.raises(hc.InvalidArgument, match="is for crystals"):
        hc.tddft.propagate(ground, kick=0.01, steps=2, response="longitudinal")


def test_a_film_that_gives_off_energy_is_called_so():
    assert advice_on_film(None) is None
    assert advice_on_film(FilmBalance(1.0, 0.1, 0.9, 0.0)) is None
    assert "finer [kpoints] mesh" in advice_on_film(FilmBalance(1.0, 0.6, 0.7, -0.3))


RUN = """
[system]
atoms = [["He", 0, 0, 0]]
cell = [[0, 1.8, 1.8], [1.8, 0, 1.8], [1.8, 1.8, 0]]
[grid]
extent = [8, 8, 8]
allow_coarse = true
[kpoints]
mesh = [2, 2, 2]
[propagate]
steps = STEPS
pulses = [{ amplitude = "1e12 W/cm^2", frequency = "12 eV", duration = "0.1 fs" }]
response = "film"
film = { thickness = "20 nm", behind = 1.5 }
[output]
file = "he.h5"
plots = false
cube = false
"""


def test_a_film_goes_on_bit_for_bit_after_a_stop(command, tmp_path):
    def run(steps, *more):
        (tmp_path / "run.toml").write_text(RUN.replace("STEPS", str(steps)))
        done = command(tmp_path, "tddft", "propagate", "run.toml", *more)
        assert done.returncode == 0, done.stderr
        return done

    whole = run(12, "--json", "whole.json")
    assert "response      film" in whole.stdout and "% reflected" in whole.stdout
    (tmp_path / "he_rt.h5").unlink()
    run(5)
    assert "from step 5" in run(12, "--restart", "--json", "parts.json").stdout
    whole, parts = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "parts"))
    for name in ("current", "vector_potential", "electric_field"):
        assert parts[name] == whole[name]
    (tmp_path / "run.toml").write_text(RUN.replace("STEPS", "14").replace("20 nm", "30 nm"))
    done = command(tmp_path, "tddft", "propagate", "run.toml", "--restart")
    assert done.returncode == 2 and "response" in done.stderr
