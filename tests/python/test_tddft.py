# SPDX-License-Identifier: Apache-2.0
"""hc.tddft from Python: laws of ground state, motion and spectrum on small systems, and the ASE calculator."""

import copy
import dataclasses

import ase
import numpy as np
import pytest
from halocline.reporter import Reporter
from halocline.tddft.ground import gap_line, summary

import halocline as hc
from halocline.tddft import results, runfile, spectra


class Hears(Reporter):
    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(text)


def molecule(length=0.74, **keys):
    atoms = ase.Atoms("H2", [[0, 0, -length / 2], [0, 0, length / 2]])
    return hc.tddft.from_atoms(atoms, **({"spacing": "0.3 angstrom", "box": [3.6, 3.6, 4.2]} | keys))


def jellium(**keys):
    """Two electrons on a soft ball in a small periodic cell: nothing but a local potential."""
    tables = {
        "system": {"jellium": {"radius": 2.0, "charge": 2}, "cell": 12, "unit": "bohr"},
        "grid": {"extent": [10, 10, 10]},
    }
    return hc.tddft.System(hc.tddft.Run.from_table(tables | keys))


@pytest.fixture(scope="module")
def ground():
    return hc.tddft.ground_state(molecule(), tolerance=1e-9).require_converged()


@pytest.fixture(scope="module")
def series(ground):
    return hc.tddft.propagate(ground, kick=0.01, steps=60)


def test_the_energy_is_the_sum_of_its_parts_and_the_density_that_of_two_electrons(ground):
    parts = [ground.energy[p] for p in results.PARTS]
    assert parts[0] == pytest.approx(sum(parts[1:]), abs=1e-10)
    density = ground.density()
    assert density.shape == (1, *ground.system.extent[::-1])
    assert density.sum() * np.prod(ground.system.spacing) == pytest.approx(2.0, abs=1e-9)
    # The molecule is symmetric about the middle of its box.
    assert density == pytest.approx(density[:, ::-1, ::-1, ::-1], abs=1e-8)


def test_every_iteration_is_heard(ground):
    hears = Hears()
    hc.tddft.ground_state(ground.system, max_iterations=3, reporter=hears)
    assert len(hears.lines) == 4  # the head of the table, and a line each


def test_what_did_not_converge_says_so_and_cannot_be_propagated(ground):
    unfinished = hc.tddft.ground_state(ground.system, max_iterations=2)
    assert not unfinished.converged
    with pytest.raises(hc.NotConverged, match="2 iterations"):
        unfinished.require_converged()
    with pytest.raises(hc.NotConverged):
        hc.tddft.propagate(unfinished, kick=0.01, steps=2)


def test_the_first_moments_of_a_kicked_molecule(ground, series):
    """dD/dt = -N kappa at t = 0, for the dipole counts the electrons' charge; the norm stays."""
    assert series.time.shape == (61,) and series.dipole.shape == (61, 3)
    slope = series.dipole[1, 2] / series.time_step
    assert slope == pytest.approx(-2 * 0.01, rel=0.02)
    assert np.abs(series.dipole[:, :2]).max() < 1e-6
    assert series.norm == pytest.approx(np.full(61, 2.0), abs=1e-6)
    assert np.ptp(series.energy["total"]) < 1e-5
    # The kick gives every electron kappa^2/2.
    gained = series.energy["total"][0] - ground.energy["total"]
    assert gained == pytest.approx(2 * 0.5 * 0.01**2, rel=0.02)


def test_a_callback_sees_every_step_and_may_end_the_run(ground):
    seen = []

    def stop_at_three(record):
        seen.append(record["step"])
        return record["step"] < 3

    short = hc.tddft.propagate(ground, kick=0.01, steps=50, callback=stop_at_three)
    assert seen == [1, 2, 3] and short.step.tolist() == [0, 1, 2, 3]


def test_a_pulse_brings_in_energy_and_excites_electrons(ground):
    pulse = {"amplitude": 0.05, "frequency": "12 eV", "duration": 8.0}
    lit = hc.tddft.propagate(ground, pulses=[pulse], total_time=8.0, energy_every=4, excited_every=4, kick=0.0)
    assert lit.energy["total"][-1] - lit.energy["total"][0] > 1e-4
    assert 0 <= lit.excited[0] < lit.excited[-1] < 2
    assert np.abs(lit.electric_field[:, 2]).max() == pytest.approx(0.05, rel=0.05)


def test_an_unstable_step_is_refused_with_the_limit(ground):
    with pytest.raises(hc.InvalidArgument, match="unstable"):
        hc.tddft.propagate(ground, kick=0.01, steps=2, time_step="1 fs")


def test_the_spectrum_obeys_the_sum_rule(series):
    """Most of the strength of two electrons lies below the highest energy that this run can tell."""
    s = hc.tddft.spectrum(series, to_energy=8.0, step=0.02)
    assert s.kind == "absorption" and s.warnings  # the run is too short for the resolution
    assert s.sum_rule == pytest.approx(2.0, rel=0.05)
    assert s.cross_section == pytest.approx(4 * np.pi * s.energy / 137.035999177 * s.response.imag, rel=1e-8)


def turned(series, axis):
    """The series as if it had been kicked along another axis of a molecule that is alike along both."""
    other = copy.copy(series)
    other.kick = tuple(0.01 if a == axis else 0.0 for a in range(3))
    other.records = [dict(r) for r in series.records]
    for record in other.records:
        dipole = [0.0, 0.0, 0.0]
        dipole[axis] = record["dipole"][2]
        record["dipole"] = dipole
    return other


def test_a_mean_over_directions_takes_kicks_at_right_angles(series):
    keys = {"to_energy": 8.0, "step": 0.02}
    one = hc.tddft.spectrum(series, **keys)
    three = hc.tddft.spectrum([turned(series, axis) for axis in range(3)], **keys)
    assert three.kicks == 3 and three.response == pytest.approx(one.response)
    assert any("third run" in w for w in hc.tddft.spectrum([turned(series, 0), series], **keys).warnings)
    with pytest.raises(hc.InvalidArgument, match="right angles"):
        hc.tddft.spectrum([series] * 3, **keys)


def test_a_run_driven_by_a_pulse_beside_the_kick_has_no_linear_spectrum(ground):
    pulse = {"amplitude": 0.01, "frequency": "12 eV", "duration": 8.0}
    both = hc.tddft.propagate(ground, kick=0.01, pulses=[pulse], steps=5)
    with pytest.raises(hc.InvalidArgument, match="pulses beside a kick"):
        hc.tddft.spectrum(both)


def test_a_spectrum_that_resolves_nothing_is_refused(series):
    with pytest.raises(hc.InvalidArgument, match="resolves .* eV, more than the .* eV") as error:
        hc.tddft.spectrum(series, to_energy="20 eV")
    assert "propagate for at least 0.207 fs" in str(error.value)  # h / 20 eV


def oscillator(constant, metal=False):
    """The current of electrons bound by springs, with a constant in it: epsilon(0) = 1 + 4 pi n / omega^2."""
    kick, density, omega, volume = 0.01, 0.03, 0.15, 1000.0
    time = 0.2 * np.arange(10001)
    values = kick * density * (np.cos(omega * time) + constant)
    electrons = density * volume * (1 + constant)
    axis = np.array([0.0, 0.0, 1.0])
    return spectra.Signal(
        time, values, kick, axis, True, electrons, volume, "X", metal
    ), 1 + 4 * np.pi * density / omega**2


def test_the_drift_of_a_crystals_current_is_subtracted_or_warned_about():
    options = runfile.Spectrum(from_energy=0.001, to_energy=0.4, drift="keep")
    drifting, exact = oscillator(0.02)
    kept = spectra.of_signals([drifting], options)
    assert abs(kept.response.real[0] - exact) > exact  # what a user took for silicon's
    assert any("Kramers-Kronig" in w for w in kept.warnings)
    made = spectra.of_signals([drifting], dataclasses.replace(options, drift="auto"))
    assert made.drift_subtracted and made.drift == pytest.approx(0.02 / 1.02, rel=0.01)
    assert made.response.real[0] == pytest.approx(exact, rel=0.02)
    assert made.static == pytest.approx(exact, rel=0.02) == kept.static
    assert not any("Kramers" in w or "f-sum" in w for w in made.warnings)
    # The absorption above the line's width is the same.
    high = made.energy > 0.1
    assert made.response.imag[high] == pytest.approx(kept.response.imag[high], abs=0.02 * made.response.imag.max())


def test_a_metal_keeps_its_constant_current_and_the_f_sum_rule_is_watched():
    options = runfile.Spectrum(from_energy=0.001, to_energy=0.4)
    metal, _ = oscillator(0.5, metal=True)
    made = spectra.of_signals([metal], options)
    assert not made.drift_subtracted and not made.warnings
    assert any(
        "metal" in w for w in spectra.of_signals([metal], dataclasses.replace(options, drift="subtract")).warnings
    )
    lost = dataclasses.replace(oscillator(0.0)[0], electrons=40.0)
    assert any("f-sum" in w for w in spectra.of_signals([lost], options).warnings)


def test_a_new_system_from_old_orbitals_has_its_own_energy_in_fewer_iterations(ground):
    stretched = molecule(0.80)
    anew = hc.tddft.ground_state(stretched, tolerance=1e-8).require_converged()
    occupied = ground.eigenvalues.copy()
    continued = hc.tddft.ground_state(stretched, start=ground, tolerance=1e-8).require_converged()
    assert continued.energy["total"] == pytest.approx(anew.energy["total"], abs=1e-9)
    assert abs(continued.energy["total"] - ground.energy["total"]) > 1e-3
    assert continued.forces == pytest.approx(anew.forces, abs=1e-6)
    assert len(continued.history) < len(anew.history)
    assert (ground.eigenvalues == occupied).all()  # the old one stays as it is
    with pytest.raises(hc.InvalidArgument, match="grid points"):
        hc.tddft.ground_state(molecule(0.80, spacing="0.25 angstrom"), start=ground)
    with pytest.raises(hc.InvalidArgument, match="states"):
        hc.tddft.ground_state(molecule(0.80, states=5), start=ground)


def test_damping_long_waves_changes_the_way_and_not_the_ground_state(ground):
    plain = hc.tddft.ground_state(jellium()).require_converged()
    damped = hc.tddft.ground_state(jellium(scf={"mixing_screening": "1 1/angstrom"})).require_converged()
    assert damped.options.mixing_screening == pytest.approx(0.529177210544)
    assert damped.energy["total"] == pytest.approx(plain.energy["total"], abs=1e-8)
    assert damped.history[2]["density_residual"] != plain.history[2]["density_residual"]
    with pytest.raises(hc.InvalidArgument, match="periodic"):
        hc.tddft.ground_state(ground.system, mixing_screening=0.5)


def test_no_gap_is_said_where_no_state_is_empty(ground):
    assert ground.gap > 0 and "eV" in gap_line(ground.gap)
    full = hc.tddft.ground_state(molecule(states=1))
    assert full.gap is None and "unknown" in gap_line(full.gap)
    assert not any("-27.2" in line for line in summary(full))


def test_what_is_missing_to_convergence_is_named(ground):
    unfinished = hc.tddft.ground_state(ground.system, max_iterations=3, tolerance=1e-12, energy_tolerance=1.0)
    with pytest.raises(hc.NotConverged, match="density residual is .* where 1.0e-12 is asked for") as error:
        unfinished.require_converged()
    assert "the energy changes" not in str(error.value)


def test_isolated_atoms_and_molecules_converge_in_few_iterations():
    """The default degree of the filter follows the spectrum: a fixed one of 8 took 33 iterations for the atom."""
    keys = {"spacing": "0.25 angstrom", "box": [6, 6, 6]}
    atom = hc.tddft.ground_state(hc.tddft.from_atoms(ase.Atoms("H"), spin=True, **keys)).require_converged()
    assert len(atom.history) <= 16


def test_a_spectrum_needs_a_kick(ground):
    still = hc.tddft.propagate(ground, kick=0.0, steps=5)
    with pytest.raises(hc.InvalidArgument, match="kick"):
        hc.tddft.spectrum(still)


def test_the_current_of_a_kicked_crystal_begins_at_density_times_kick():
    """Where the potential is local, J(0+) = n A; and the dielectric function follows."""
    ground = hc.tddft.ground_state(jellium()).require_converged()
    series = hc.tddft.propagate(ground, kick=0.01, steps=30)
    assert series.gauge == "velocity"
    assert series.current[0, 2] == pytest.approx(2 / 12**3 * 0.01, rel=1e-6)
    s = hc.tddft.spectrum(series, step=0.05)
    assert s.kind == "dielectric" and s.energy[0] > 0 and np.isfinite(s.response).all()


def test_a_rigid_move_by_one_grid_step_changes_nothing():
    system = jellium()
    tables = system.run.as_toml_values()
    tables["system"]["jellium"]["centre"] = [6.0 + 1.2, 6.0, 6.0]
    moved = hc.tddft.System(hc.tddft.Run.from_table(tables))
    energies = [hc.tddft.ground_state(s).require_converged().energy["total"] for s in (system, moved)]
    assert energies[0] == pytest.approx(energies[1], abs=1e-8)


def test_the_calculator_gives_ase_units_and_forces_that_are_slopes():
    atoms = ase.Atoms("H2", [[0, 0, -0.4], [0.05, 0, 0.4]])
    keys = {"spacing": "0.125 angstrom", "box": [3.5, 3.5, 4.25], "scf": {"tolerance": 1e-9}}
    atoms.calc = hc.tddft.Halocline(**keys)
    force = atoms.get_forces()[1, 2]
    assert atoms.get_potential_energy() == pytest.approx(atoms.calc.ground.energy["total"] * 27.211386, rel=1e-7)
    energies = []
    for step in (-0.005, 0.005):
        moved = atoms.copy()
        moved.positions[1, 2] += step
        moved.calc = hc.tddft.Halocline(**keys)
        energies.append(moved.get_potential_energy())
    # The slope of the energy has the egg-box error of this grid, 0.07 eV/angstrom; the force has not.
    assert force == pytest.approx(-(energies[1] - energies[0]) / 0.01, abs=0.1)


def test_forces_on_a_coarse_grid_are_doubted_and_not_handed_to_ase():
    from ase.calculators.calculator import CalculationFailed

    # Water on twice the spacing that oxygen needs.
    atoms = ase.Atoms("OHH", [[0.013, -0.027, 0.158], [0.013, 0.75, -0.43], [0.013, -0.784, -0.428]])
    keys = {"spacing": "0.2 angstrom", "box": [4.2, 4.2, 4.2], "scf": {"tolerance": 1e-5}}
    atoms.calc = hc.tddft.Halocline(**keys)
    with pytest.warns(UserWarning, match="the grid added up to .* eV/angstrom"):
        energy = atoms.get_potential_energy()
    ground = atoms.calc.ground
    assert any("the grid added up to" in sentence for sentence in atoms.calc.warnings)
    assert ground.net_force == pytest.approx(ground.forces.sum(axis=0))
    taken = np.linalg.norm(ground.grid_forces.sum(axis=0)) * 51.422
    assert taken > 0.7
    # What is left is the force of the walls.
    assert np.linalg.norm(ground.net_force) * 51.422 < 0.4 * taken
    with pytest.raises(CalculationFailed, match="0.1 is the limit.*force_error_limit"):
        atoms.get_forces()
    assert atoms.calc.ground is ground  # nothing was computed again
    assert atoms.get_potential_energy() == energy
    atoms.calc.force_error_limit = None
    assert atoms.get_forces() == pytest.approx(ground.forces * 51.4220675, rel=1e-6)
    assert atoms.calc.ground is ground


def test_what_is_doubtful_is_a_warning_without_a_reporter_and_the_reporters_with_one():
    import warnings

    class Heard(Reporter):
        said = ()

        def warning(self, text):
            self.said += (text,)

    system = molecule()
    assert any("is coarse for H" in sentence for sentence in system.warnings)
    with pytest.warns(UserWarning, match="is coarse for H"):
        hc.tddft.ground_state(system, max_iterations=2)
    heard = Heard()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hc.tddft.ground_state(system, max_iterations=2, reporter=heard)
    assert not heard.said  # a command has said it already


def test_a_step_of_the_calculator_begins_from_the_last_orbitals():
    keys = {"spacing": "0.3 angstrom", "box": [3.6, 3.6, 4.2], "scf": {"energy_tolerance": 1e-7}}
    atoms = ase.Atoms("H2", [[0, 0, -0.37], [0, 0, 0.37]])
    atoms.calc = hc.tddft.Halocline(**keys)
    atoms.get_potential_energy()
    first = len(atoms.calc.ground.history)
    assert atoms.calc.ground.options.energy_tolerance == pytest.approx(1e-7 / 27.211386245981)
    atoms.positions[1, 2] += 0.01
    energy = atoms.get_potential_energy()
    assert len(atoms.calc.ground.history) < first
    fresh = atoms.copy()
    fresh.calc = hc.tddft.Halocline(**keys)
    assert energy == pytest.approx(fresh.get_potential_energy(), abs=1e-6)


def test_the_calculator_refuses_what_does_not_converge():
    from ase.calculators.calculator import SCFError

    atoms = ase.Atoms("H2", [[0, 0, -0.37], [0, 0, 0.37]])
    atoms.calc = hc.tddft.Halocline(spacing="0.3 angstrom", box=[3.6, 3.6, 4.2], scf={"max_iterations": 2})
    with pytest.raises(SCFError, match="did not converge"):
        atoms.get_potential_energy()


def test_the_egg_box_error_is_measured_and_falls_with_the_spacing():
    from halocline.tddft.ground import egg_box

    found = [
        egg_box(hc.tddft.ground_state(molecule(spacing=h, allow_coarse=True)).require_converged(), steps=2)
        for h in ("0.36 angstrom", "0.24 angstrom")
    ]
    for e in found:
        assert e["spread"] == pytest.approx(max(e["energies"]) - min(e["energies"])) and e["largest_force"] > 0
    assert found[1]["spread"] < 0.5 * found[0]["spread"]


def test_every_public_name_exists_and_is_documented():
    for name in hc.tddft.__all__:
        assert getattr(hc.tddft, name).__doc__


def test_a_slip_in_a_keyword_gives_the_sentence_of_the_run_file(ground, series):
    system = ground.system
    for call, words in (
        (lambda: hc.tddft.from_atoms(ase.Atoms("H2"), spacng=0.3), "did you mean 'spacing' in"),
        (
            lambda: hc.tddft.ground_state(system, tolernce=1e-4),
            "has no key 'tolernce'; did you mean 'tolerance'",
        ),
        (lambda: hc.tddft.propagate(ground, kik=0.01), r"\[propagate\] has no key 'kik'; did you mean 'kick'"),
        (lambda: hc.tddft.spectrum(series, widow="none"), r"\[spectrum\] has no key 'widow'; did you mean 'window'"),
        (lambda: hc.tddft.relax(system, optimzer="bfgs"), r"\[relax\] has no key 'optimzer'; did you mean 'optimizer'"),
        (lambda: hc.tddft.relax(system, optimizer="bfs"), 'did you mean "bfgs"'),
        (lambda: hc.tddft.dynamics(system, step=3), r"\[dynamics\] has no key 'step'; did you mean 'steps'"),
        (lambda: hc.tddft.band_structure(ground, pth="GX"), r"\[bands\] has no key 'pth'; did you mean 'path'"),
        (lambda: hc.tddft.relax(system, scf={"tolernce": 1.0}), r"\[scf\] has no key 'tolernce'"),
    ):
        with pytest.raises(hc.InvalidArgument, match=words):
            call()
