# SPDX-License-Identifier: Apache-2.0
"""Atoms that move: relaxation, molecular dynamics, Ehrenfest dynamics, from Python and by the commands."""

import json

import ase
import ase.io
import h5py
import numpy as np
import pytest
from halocline.errors import Interrupted, InvalidArgument, NotConverged
from halocline.reporter import Reporter
from halocline.tddft.molecular_dynamics import Integrator
from halocline.tddft.motion import GroundStates, first_velocities, kinetic_energy, masses_of

import halocline as hc

pytestmark = pytest.mark.filterwarnings("ignore:a spacing of")

FORCE = 51.4220675
"""One atomic unit of force [eV/angstrom]."""
RUN = """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [3.6, 3.6, 4.2]
[grid]
spacing = "0.3 angstrom"
[scf]
tolerance = 1e-7
[output]
file = "h2.h5"
plots = false
cube = false
"""


def molecule(length=0.74, **keys):
    atoms = ase.Atoms("H2", [[0, 0, -length / 2], [0, 0, length / 2]])
    return hc.tddft.from_atoms(atoms, **({"spacing": "0.2 angstrom", "box": [4.0, 4.0, 4.5]} | keys))


def stops_after(monkeypatch, count):
    """The command's console asks to stop after `count` questions."""
    from halocline.cli.console import Console

    asked = []

    def stop_requested(self):
        asked.append(None)
        return len(asked) > count

    monkeypatch.setattr(Console, "stop_requested", stop_requested)


# ---- masses and velocities ---------------------------------------------------------------------------------------


def test_first_velocities_have_the_temperature_and_no_momentum():
    system = molecule()
    ions = hc.tddft.runfile.Ions(temperature="300 K", masses={"H": 2.0})
    masses, velocities = masses_of(system, ions), first_velocities(system, ions)
    assert masses == pytest.approx([2.0 * 1822.888486] * 2)
    assert masses @ velocities == pytest.approx(np.zeros(3), abs=1e-12)
    # Three of the six degrees of freedom are the motion of the whole.
    assert kinetic_energy(masses, velocities) == pytest.approx(1.5 * 300 * 3.1668115634564e-6)
    assert velocities == pytest.approx(first_velocities(system, ions), abs=0)
    other = hc.tddft.runfile.Ions(temperature="300 K", masses={"H": 2.0}, seed=2)
    assert np.abs(first_velocities(system, other) - velocities).max() > 1e-5


def test_velocities_of_ase_atoms_are_taken_and_fixed_atoms_stay():
    atoms = ase.Atoms("H2", [[0, 0, -0.37], [0, 0, 0.37]])
    atoms.set_velocities([[0, 0, 0.01], [0, 0.02, 0]])
    system = hc.tddft.from_atoms(atoms, spacing="0.25 angstrom", box=[4.0, 4.0, 4.5])
    found = first_velocities(system, hc.tddft.runfile.Ions(fixed=[1]))
    fs = ase.units.fs
    assert found[0, 2] == pytest.approx(0.01 * fs / 0.529177210544 * 0.024188843265864)
    assert not found[1].any()
    assert np.isinf(masses_of(system, hc.tddft.runfile.Ions(fixed=[1]))[1])


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"masses": {"C": 12.0}}, "masses has C.*only H atoms"),
        ({"fixed": [2]}, "atom 2.*from 0 to 1"),
        ({"velocities": [[0, 0, 1]]}, "1 velocities for 2 atoms"),
        ({"temperature": "300 K", "velocities": [[0, 0, 1], [0, 0, 1]]}, "both 'velocities' and 'temperature'"),
        ({"temperature": "300 K", "fixed": [0, 1]}, "all atoms are fixed"),
    ],
)
def test_motion_that_cannot_be_is_refused(keys, words):
    with pytest.raises(InvalidArgument, match=words):
        first_velocities(molecule(), hc.tddft.runfile.Ions(**keys))


# ---- relaxation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["bfgs", "lbfgs", "fire"])
def test_hydrogen_relaxes_to_its_bond_length(optimizer):
    path = hc.tddft.relax(molecule(0.9), optimizer=optimizer, longest_step="0.1 angstrom").require_converged()
    length = np.linalg.norm(path.positions[-1][1] - path.positions[-1][0]) * 0.529177210544
    # 0.766 on a fine grid in a large box, as published for the LDA (1.446 bohr).
    assert length == pytest.approx(0.766, abs=0.01)
    assert path.largest_force[-1] * FORCE < 0.01
    assert path.energy[-1] < path.energy[0]
    assert path.ground.forces == pytest.approx(path.forces[-1])
    assert path.system.structure.positions == pytest.approx(path.positions[-1])


def test_a_fixed_atom_stays_and_a_relaxation_too_short_is_not_converged():
    path = hc.tddft.relax(molecule(0.9), ions={"fixed": [0]}, max_steps=2)
    assert path.positions[-1][0] == pytest.approx(path.positions[0][0], abs=1e-12)
    assert abs(path.positions[-1][1][2] - path.positions[0][1][2]) > 0.01
    assert len(path.energy) == 3
    with pytest.raises(NotConverged, match="largest force is .* after 2 steps"):
        path.require_converged()


def test_forces_are_computed_where_atoms_move_whatever_the_ground_state_was_asked_for():
    quick = {"forces": False, "tolerance": 1e-4, "energy_tolerance": 1e-3, "eigen_tolerance": 1e-2}
    assert hc.tddft.relax(molecule(0.8), max_steps=1, scf=quick).forces.shape[1:] == (2, 3)
    assert hc.tddft.dynamics(molecule(0.8), steps=1, scf=quick).forces.shape == (2, 2, 3)


def test_relax_goes_on_with_what_the_optimiser_has_learnt(tmp_path, monkeypatch, command):
    text = RUN.replace("0.37", "0.45")
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(text)
    done = command(tmp_path / "whole", "tddft", "relax", "run.toml", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    assert "converged in" in done.stdout
    assert "bond H0-H1" in done.stdout
    with monkeypatch.context() as patch:
        stops_after(patch, 2)
        stopped = command(tmp_path / "parts", "tddft", "relax", "run.toml")
    assert stopped.returncode == 130, stopped.stderr
    assert "stopped after 3 geometries" in stopped.stderr
    again = command(tmp_path / "parts", "tddft", "relax", "run.toml")
    assert again.returncode == 0, again.stderr
    assert "after 3 geometries" in again.stdout
    with h5py.File(tmp_path / "whole/h2_relax.h5") as one, h5py.File(tmp_path / "parts/h2_relax.h5") as other:
        assert other["positions"][:] == pytest.approx(one["positions"][:], abs=1e-4)
        assert len(other["energy"]) == len(one["energy"])
        assert bool(other.attrs["converged"])
    relaxed = ase.io.read(tmp_path / "whole/h2_relaxed.xyz")
    assert 0.75 < relaxed.get_distance(0, 1) < 0.9  # the grid is coarse
    assert len(ase.io.read(tmp_path / "whole/h2_relax.xyz", ":")) == len(json.loads(
        (tmp_path / "whole/r.json").read_text())["energy"])  # fmt: skip
    # Given once more, it has nothing to compute but the last ground state.
    said = command(tmp_path / "whole", "tddft", "relax", "run.toml")
    assert said.returncode == 0, said.stderr
    assert "converged in" in said.stdout
    said = command(tmp_path / "whole", "report", "h2_relax.h5", "--plots")
    assert said.returncode == 0, said.stderr
    assert "geometries, converged (force tolerance 0.01 eV/angstrom)" in said.stdout
    assert (tmp_path / "whole/h2_relax.png").is_file()
    # The last geometry is a system of its own.
    (tmp_path / "whole/next.toml").write_text(
        '[system]\nfile = "h2_relaxed.xyz"\n[grid]\nspacing = "0.3 angstrom"\n'
        '[output]\nfile = "next.h5"\nplots = false\n'
    )
    done = command(tmp_path / "whole", "tddft", "ground-state", "next.toml", "--json", "gs.json")
    assert done.returncode == 0, done.stderr
    forces = np.array(json.loads((tmp_path / "whole/gs.json").read_text())["forces"])
    assert np.abs(forces).max() * FORCE < 0.02


def test_relax_without_enough_steps_has_status_3_and_keeps_its_geometries(tmp_path, command):
    (tmp_path / "run.toml").write_text(RUN.replace("0.37", "0.45") + "[relax]\nmax_steps = 1\n")
    done = command(tmp_path, "tddft", "relax", "run.toml")
    assert done.returncode == 3
    assert "did not converge" in done.stderr
    with h5py.File(tmp_path / "h2_relax.h5") as file:
        assert len(file["energy"]) == 2
        assert not bool(file.attrs["converged"])


# ---- molecular dynamics --------------------------------------------------------------------------------------------


def conserved_change(path):
    return np.abs(path.conserved - path.conserved[0]).max()


def test_nve_keeps_energy_and_momentum_and_is_reversible():
    system = molecule(0.80)
    keys = {"scf": {"tolerance": 1e-9}, "ions": {"velocities": [[0, 0.0004, 0.0002], [0, -0.0004, -0.0002]]}}
    path = hc.tddft.dynamics(system, steps=12, time_step="0.4 fs", **keys)
    assert path.time[-1] == pytest.approx(12 * 0.4 / 0.024188843265864)
    assert np.abs(path.kinetic - path.kinetic[0]).max() > 4e-4
    # Most of it is the egg box of the energy, which the forces leave out.
    assert conserved_change(path) < 5e-4
    half = hc.tddft.dynamics(system, steps=24, time_step="0.2 fs", **keys)
    assert half.positions[-1] == pytest.approx(path.positions[-1], abs=2e-3)
    momentum = path.velocities.sum(axis=1)
    assert np.abs(momentum - momentum[0]).max() < 2e-6

    states = GroundStates(system, tolerance=1e-9)
    options = hc.tddft.runfile.Dynamics(time_step="0.4 fs", steps=12)
    back = Integrator(states, hc.tddft.runfile.Ions(velocities=(-path.velocities[-1]).tolist()), options)
    back.positions = path.positions[-1].copy()
    back.start()
    for _ in range(12):
        last = back.advance()
    assert last["positions"] == pytest.approx(path.positions[0], abs=1e-5)


@pytest.mark.parametrize("ensemble", ["langevin", "nose-hoover"])
def test_a_thermostat_changes_the_energy_and_knows_by_how_much(ensemble):
    keys = {"ensemble": ensemble, "temperature": "2000 K", "relaxation": "2 fs", "time_step": "0.4 fs", "steps": 10}
    # Along the bond alone, and with little way to go, so that the egg box of the energy does not count.
    ions = {"masses": {"H": 400.0}, "temperature": "200 K"}
    path = hc.tddft.dynamics(molecule(0.77), ions=ions, **keys)
    assert path.temperature[0] == pytest.approx(200, rel=1e-6)
    assert path.temperature.max() > 400
    exchanged = np.abs(path.potential + path.kinetic - path.potential[0] - path.kinetic[0]).max()
    assert exchanged > 1e-3
    assert conserved_change(path) < 0.3 * exchanged
    again = hc.tddft.dynamics(molecule(0.77), ions=ions, **keys)
    assert again.positions == pytest.approx(path.positions, abs=1e-9)


def test_langevin_holds_its_temperature():
    """Of a free particle in a thermostat: the integrator without ground states."""

    class Free(Integrator):
        def _forces(self):
            self.forces = np.zeros_like(self.positions)

        def record(self):
            return {"kinetic": kinetic_energy(self.masses, self.velocities)}

    class Nothing:
        system = molecule()
        last = None

    options = hc.tddft.runfile.Dynamics(
        steps=1, ensemble="langevin", temperature="300 K", relaxation="2 fs", time_step="0.5 fs"
    )
    free = Free(Nothing(), hc.tddft.runfile.Ions(), options)
    free.start()
    kinetic = np.mean([free.advance()["kinetic"] for _ in range(8000)])
    # Six degrees of freedom; 8000 steps are some 1000 independent samples of a mean with a spread of 58 %.
    assert kinetic / (3.0 * 300 * 3.1668115634564e-6) == pytest.approx(1.0, abs=0.08)


def test_nose_hoover_keeps_its_energy_in_a_harmonic_well():
    class Well(Integrator):
        def _forces(self):
            self.forces = -0.4 * self.positions

        def record(self):
            potential = 0.2 * float((self.positions**2).sum())
            kinetic = kinetic_energy(self.masses, self.velocities)
            return {"conserved": self.conserved(potential, kinetic), "energy": potential + kinetic}

    class Nothing:
        system = molecule()
        last = None

    changes = []
    for time_step in (8.0, 4.0):
        options = hc.tddft.runfile.Dynamics(
            steps=1, ensemble="nose-hoover", temperature="3000 K", relaxation="5 fs", time_step=time_step
        )
        well = Well(Nothing(), hc.tddft.runfile.Ions(temperature="300 K"), options)
        first = well.start()
        records = [well.advance() for _ in range(int(1600 / time_step))]
        assert max(abs(r["energy"] - first["energy"]) for r in records) > 1e-3
        changes.append(max(abs(r["conserved"] - first["conserved"]) for r in records))
    assert changes[1] < 0.35 * changes[0]  # second order
    assert changes[0] < 0.02


def test_the_chain_of_thermostats_follows_its_equations_of_motion():
    """Of free particles, against a general integrator: the thermostat acts in the time that it is given."""
    from scipy.integrate import solve_ivp

    class Nothing:
        system = molecule()
        last = None

    options = hc.tddft.runfile.Dynamics(steps=1, ensemble="nose-hoover", temperature="300 K", relaxation="5 fs")
    velocities = [[0.0004, 0.0003, 0.0], [0.0, -0.0002, 0.0005]]
    free = Integrator(Nothing(), hc.tddft.runfile.Ions(velocities=velocities), options)
    free.bath.speeds[:] = [0.002, -0.001, 0.003]
    masses, chain, target = free.masses, free._chain_masses(), options.temperature
    whole = masses @ free.velocities / masses.sum()

    def slopes(_, y):
        relative, (a, b, c) = y[:6].reshape(2, 3), y[6:9]
        twice = float(masses @ (relative**2).sum(axis=1))
        pulls = ((twice - 3 * target) / chain[0], (chain[0] * a * a - target) / chain[1],
                 (chain[1] * b * b - target) / chain[2])  # fmt: skip
        return np.concatenate([(-a * relative).ravel(), [pulls[0] - a * b, pulls[1] - b * c, pulls[2]], [a, b, c]])

    start = np.concatenate([(free.velocities - whole).ravel(), free.bath.speeds, free.bath.places])
    wanted = solve_ivp(slopes, (0.0, 200.0), start, rtol=1e-11, atol=1e-14).y[:, -1]
    for _ in range(200):
        free._chain(1.0)
    assert free.velocities - whole == pytest.approx(wanted[:6].reshape(2, 3), rel=1e-6, abs=1e-12)
    assert free.bath.speeds == pytest.approx(wanted[6:9], rel=1e-6)
    assert free.bath.places == pytest.approx(wanted[9:], rel=1e-6)
    assert masses @ free.velocities / masses.sum() == pytest.approx(whole, abs=1e-15)


def test_dynamics_is_stopped_and_goes_on_bit_for_bit(tmp_path, monkeypatch, command):
    text = RUN + '[ions]\ntemperature = "500 K"\n[dynamics]\nsteps = 9\n{}'
    text = text.format('ensemble = "langevin"\ntemperature = "500 K"\n')
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(text)
    done = command(tmp_path / "whole", "tddft", "dynamics", "run.toml")
    assert done.returncode == 0, done.stderr
    assert "conserved energy has changed by" in done.stdout
    with monkeypatch.context() as patch:
        stops_after(patch, 4)
        stopped = command(tmp_path / "parts", "tddft", "dynamics", "run.toml")
    assert stopped.returncode == 130
    assert "stopped at step 5 of 9" in stopped.stderr
    again = command(tmp_path / "parts", "tddft", "dynamics", "run.toml", "--json", "md.json")
    assert again.returncode == 0, again.stderr
    assert "from step 5" in again.stdout
    with h5py.File(tmp_path / "whole/h2_md.h5") as one, h5py.File(tmp_path / "parts/h2_md.h5") as other:
        for name in ("positions", "velocities", "forces", "potential", "conserved", "iterations"):
            assert np.array_equal(one[name][:], other[name][:]), name
        assert bool(other.attrs["finished"])
    frames = ase.io.read(tmp_path / "parts/h2_md.xyz", ":")
    assert len(frames) == 10
    assert frames[3].get_potential_energy() == pytest.approx(
        json.loads((tmp_path / "parts/md.json").read_text())["potential"][3] * 27.211386245981
    )
    said = command(tmp_path / "parts", "report", "h2_md.h5", "--plots")
    assert said.returncode == 0, said.stderr
    assert "9 steps" in said.stdout and "langevin, finished" in said.stdout and "mean temperature" in said.stdout
    assert (tmp_path / "parts/h2_md.png").is_file()
    # More steps go on; another temperature is another run.
    (tmp_path / "parts/run.toml").write_text(text.replace("steps = 9", "steps = 10"))
    assert "from step 9" in command(tmp_path / "parts", "tddft", "dynamics", "run.toml").stdout
    (tmp_path / "parts/run.toml").write_text(text.replace("500 K", "600 K"))
    refused = command(tmp_path / "parts", "tddft", "dynamics", "run.toml")
    assert refused.returncode == 2
    assert "belongs to another run" in refused.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("", "[dynamics] needs 'total_time' or 'steps'"),
        ('steps = 3\ntemperature = "300 K"\n', 'that of a thermostat, and "nve" has none'),
        ('steps = 3\nensemble = "langevin"\n', "needs a temperature"),
        ('steps = 3\ntotal_time = "3 fs"\n', "both 'total_time' and 'steps'"),
    ],
)
def test_dynamics_that_cannot_be_is_refused(tmp_path, more, words, command):
    (tmp_path / "run.toml").write_text(RUN + f"[dynamics]\n{more}")
    done = command(tmp_path, "tddft", "dynamics", "run.toml")
    assert done.returncode == 2
    assert words in done.stderr


# ---- with the electrons in time ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ground():
    return hc.tddft.ground_state(molecule(0.80), tolerance=1e-9).require_converged()


def test_electrons_and_atoms_in_time_keep_their_energy_and_follow_molecular_dynamics(ground):
    velocities = [[0, 0, 0.0004], [0, 0, -0.0004]]
    series = hc.tddft.propagate(ground, ions={"velocities": velocities}, total_time="1.6 fs", energy_every=10)
    assert series.positions.shape == (len(series.ion_time), 2, 3)
    assert series.ion_time[-1] == series.time[-1]
    total = series.energy["total"] + np.interp(series.energy_time, series.ion_time, series.ion_kinetic)
    assert np.abs(series.ion_kinetic - series.ion_kinetic[0]).max() > 4e-4
    assert np.abs(total - total[0]).max() < 2e-4
    # Hydrogen moves slowly for electrons: they stay near their ground state, and the atoms' path is that of both.
    path = hc.tddft.dynamics(
        ground.system, ions={"velocities": velocities}, time_step=series.time[-1] / 4, steps=4, scf={"tolerance": 1e-8}
    )
    assert series.positions[-1] == pytest.approx(path.positions[-1], abs=3e-3)
    # The molecule has no dipole, of whichever atoms; each has its own.
    assert series.dipole == pytest.approx(np.zeros((len(series.time), 3)), abs=1e-6)
    assert len(series.frames()) == len(series.ion_time)


def test_a_ground_state_puts_its_atoms_back(ground):
    before = ground.density()
    hc.tddft.propagate(ground, ions={"velocities": [[0, 0, 0.01], [0, 0, -0.01]]}, steps=10)
    assert np.abs(ground.held_model.positions - ground.system.structure.positions).max() > 1e-3
    again = hc.tddft.ground_state(ground.system, start=ground)
    assert again.energy["total"] == pytest.approx(ground.energy["total"], abs=1e-8)
    assert ground.model.positions == pytest.approx(ground.system.structure.positions, abs=0)
    assert ground.density() == pytest.approx(before, abs=0)


def test_a_pulse_with_moving_atoms_is_stopped_and_goes_on_bit_for_bit(tmp_path, monkeypatch, command):
    text = RUN + (
        "[ions]\nmove = true\nevery = 4\nmasses = { H = 0.2 }\nvelocities = [[0, 0, 0.01], [0, 0, -0.01]]\n"
        "[propagate]\nkick = 0.01\nsteps = 40\nenergy_every = 8\ncheckpoint_every = 12\n"
    )
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(text)
    done = command(tmp_path / "whole", "tddft", "propagate", "run.toml")
    assert done.returncode == 0, done.stderr
    assert "atoms         move every 4 steps" in done.stdout
    with monkeypatch.context() as patch:
        calls = []

        def step(self, *a, original=hc.tddft.propagation.native.Propagator.step):
            calls.append(None)
            if len(calls) > 30:
                raise Interrupted("the power is gone")
            return original(self, *a)

        patch.setattr(hc.tddft.propagation.native.Propagator, "step", step)
        assert command(tmp_path / "parts", "tddft", "propagate", "run.toml").returncode == 130
    again = command(tmp_path / "parts", "tddft", "propagate", "run.toml")
    assert again.returncode == 0, again.stderr
    assert "from step 24" in again.stdout
    with h5py.File(tmp_path / "whole/h2_rt.h5") as one, h5py.File(tmp_path / "parts/h2_rt.h5") as other:
        assert one["ions/positions"].shape == (11, 2, 3)
        for name in ("ions/positions", "ions/velocities", "ions/forces", "ions/kinetic", "current", "energy/total"):
            assert np.array_equal(one[name][:], other[name][:]), name
        assert other["dipole"][:] == pytest.approx(one["dipole"][:], abs=1e-12)
    assert len(ase.io.read(tmp_path / "parts/h2_rt.xyz", ":")) == 11
    # Stopped inside of an ion step.
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/run.toml").write_text(text)
    assert command(tmp_path / "inside", "tddft", "ground-state", "run.toml").returncode == 0
    with monkeypatch.context() as patch:
        stops_after(patch, 5)
        stopped = command(tmp_path / "inside", "tddft", "propagate", "run.toml")
    assert "stopped at step 6 of 40" in stopped.stderr
    again = command(tmp_path / "inside", "tddft", "propagate", "run.toml")
    assert again.returncode == 0, again.stderr
    with h5py.File(tmp_path / "whole/h2_rt.h5") as one, h5py.File(tmp_path / "inside/h2_rt.h5") as other:
        for name in ("ions/positions", "ions/velocities", "ions/kinetic", "energy/total"):
            assert np.array_equal(one[name][:], other[name][:]), name
        assert other["dipole"][:] == pytest.approx(one["dipole"][:], abs=1e-12)
    assert "atoms moved by up to" in command(tmp_path / "parts", "report", "h2_rt.h5", "--plots").stdout


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"excited_every": 10}, "excited_every counts electrons outside the ground state of atoms at rest"),
        ({"energy_every": 7}, "energy_every = 7 is no multiple of"),
        ({"steps": 13}, "steps = 13 is no multiple of"),
        ({"ions": {"evry": 3}}, r"\[ions\] has no key 'evry'; did you mean 'every'"),
    ],
)
def test_what_does_not_go_with_moving_atoms_is_refused(ground, keys, words):
    with pytest.raises(InvalidArgument, match=words):
        hc.tddft.propagate(ground, **({"ions": True, "steps": 20} | keys))


# ---- the calculator ------------------------------------------------------------------------------------------------


def test_the_calculator_goes_on_from_what_it_knows_and_has_ases_properties():
    atoms = ase.Atoms("H2", [[0, 0, -0.38], [0, 0, 0.38]])
    atoms.calc = hc.tddft.Halocline(spacing=0.25, box=[4.0, 4.0, 4.5], spin=True, scf={"tolerance": 1e-6})
    iterations = []
    for step in range(4):
        atoms.positions[1, 2] += 0.002
        atoms.get_forces()
        iterations.append(len(atoms.calc.ground.history))
        assert atoms.calc.ground.converged, step
    assert iterations[-1] <= 0.5 * iterations[0]
    fresh = ase.Atoms("H2", atoms.positions)
    fresh.calc = hc.tddft.Halocline(spacing=0.25, box=[4.0, 4.0, 4.5], spin=True)
    assert atoms.get_potential_energy() == pytest.approx(fresh.get_potential_energy(), abs=1e-5)
    assert atoms.get_forces() == pytest.approx(fresh.get_forces(), abs=1e-3)
    assert atoms.get_dipole_moment() == pytest.approx(np.zeros(3), abs=0.02)
    assert atoms.get_magnetic_moment() == pytest.approx(0.0, abs=1e-6)
    calc = atoms.calc
    assert calc.parameters["spacing"] == 0.25
    assert calc.get_number_of_spins() == 2
    assert calc.get_spin_polarized()
    assert calc.get_k_point_weights() == pytest.approx([1.0])
    assert calc.get_bz_k_points() == pytest.approx(np.zeros((1, 3)))
    assert calc.get_eigenvalues(0, 1) == pytest.approx(calc.ground.eigenvalues[1] * 27.211386245981)
    assert calc.get_occupation_numbers(0, 0).sum() == pytest.approx(1.0)
    highest, lowest = calc.get_homo_lumo()
    assert highest < calc.get_fermi_level() < lowest
    with pytest.raises(InvalidArgument, match="k-point 1 of spin 0"):
        calc.get_eigenvalues(1)


def test_a_polar_molecules_dipole_points_from_its_negative_end():
    atoms = ase.Atoms("LiH", [[0, 0, -0.8], [0, 0, 0.8]])
    atoms.calc = hc.tddft.Halocline(spacing=0.2, box=[6.0, 6.0, 7.0], scf={"tolerance": 1e-5})
    dipole = atoms.get_dipole_moment()
    # Experiment: 5.88 debye, 1.22 e angstrom; the lithium, at -z, is the positive end.
    assert dipole[2] == pytest.approx(-1.22, abs=0.12)
    assert dipole[:2] == pytest.approx(np.zeros(2), abs=1e-4)


class Heard(Reporter):
    def __init__(self):
        self.said = []

    def warning(self, text):
        self.said.append(text)


def test_doubtful_forces_along_a_path_are_said_once():
    heard = Heard()
    states = GroundStates(molecule(), reporter=heard)
    states._doubt("one")
    states._doubt("two")
    assert "one" in heard.said
    assert "two" not in heard.said
