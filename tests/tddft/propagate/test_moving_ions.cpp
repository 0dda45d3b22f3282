// SPDX-License-Identifier: Apache-2.0
// Atoms that move with the electrons: against laws of mechanics, the ground state's forces, and a fresh model.

#include "halocline/core/error.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "halocline/tddft/propagate/observables.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/runs.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

constexpr double unmoved = std::numeric_limits<double>::infinity();

/// Two soft ions with projectors and two electrons, off the grid points.
System molecule(double strength = 0.4, double apart = 1.7) {
  System system;
  system.grid = {{24, 23, 27}, {0.5, 0.5, 0.5}, Boundary::isolated};
  system.species = {std::make_shared<soft::SoftIon>(1.0, 0.9, strength)};
  system.atoms = {{0, {0.07, -0.11, -0.5 * apart}}, {0, {0.07, -0.11, 0.5 * apart}}};
  system.electrons = 2;
  system.states = 4;
  return system;
}

System crystal(int spins = 1) {
  return soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 4, 4, {2, 1, 1}, spins);
}

std::vector<Vec3> positions_of(const Model& model) {
  std::vector<Vec3> positions;
  for (const Atom& atom : model.system().atoms) positions.push_back(atom.position);
  return positions;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double largest_difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) largest = std::max(largest, std::abs(a[i][axis] - b[i][axis]));
  return largest;
}

PropagateOptions steps_of(double dt, const std::string& scheme = "midpoint") {
  PropagateOptions options;
  options.time_step = dt;
  options.scheme = scheme;
  options.energy_every = 1;
  if (scheme == "etrs") {
    options.exponential_tolerance = 1e-14;
    options.correction_tolerance = 1e-13;
    options.max_corrections = 30;
  }
  return options;
}

double total_of(const Record& record) { return record.energy.total + record.ions->kinetic; }

}  // namespace

TEST_CASE("model: one whose atoms were moved is the one that was made there") {
  for (const System& system : {molecule(), crystal(), crystal(2)}) {
    Model moved = soft::model_of(system);
    State state = system.grid.boundary == Boundary::periodic ? soft::waves(moved) : soft::oscillator(moved, 0.4);
    moved.hamiltonian().set_vector_potential({0.1, 0.0, -0.2});
    moved.sum_density(state);
    std::vector<double> v(state.density.size());
    moved.effective_potential(v, state.density);
    System there = system;
    there.atoms[0].position[0] += 0.31;
    there.atoms[1].position[2] -= 0.17;
    Model made = soft::model_of(there);
    made.hamiltonian().set_vector_potential({0.1, 0.0, -0.2});
    moved.move_atoms(positions_of(made));

    moved.potential_after_move(v, state.density);
    std::vector<double> w(v.size());
    made.effective_potential(w, state.density);
    CHECK(v == w);
    CHECK(moved.ion_ion_energy() == made.ion_ion_energy());
    CHECK(moved.energies(state).total == made.energies(state).total);
    CHECK(moved.energies(state).ion_nonlocal == made.energies(state).ion_nonlocal);
    CHECK(largest_difference(forces(moved, state), forces(made, state)) == 0);
  }
}

TEST_CASE("model: atoms that cannot stand there are refused, and stay") {
  Model model = soft::model_of(molecule());
  const std::vector<Vec3> before = positions_of(model);
  std::vector<Vec3> outside = before, close = before;
  outside[1][2] = 7.0;
  close[1] = close[0];
  CHECK_THROWS_WITH_AS(model.move_atoms(outside), doctest::Contains("outside the isolated box"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(model.move_atoms(close), doctest::Contains("apart"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(model.move_atoms(std::vector<Vec3>(3)), doctest::Contains("3 positions"), core::InvalidArgument);
  CHECK(positions_of(model) == before);
}

TEST_CASE("moving ions: without electrons' fields a neutral molecule flies straight on") {
  // The whole molecule moves with its electrons: Galilean invariance, up to the error of the grid.
  Model model = soft::model_of(molecule(0.0, 1.45));
  State state = soft::converged_state(model);
  const Vec3 velocity{0.02, 0.0, 0.01};
  boost(state.orbitals, model.decomposition(), velocity);
  Propagator propagator(model, state, {}, steps_of(0.06), IonOptions{{1836.0, 1836.0}, {velocity, velocity}, 1});
  const Record first = propagator.observe();
  Record last = first;
  for (int i = 0; i < 80; ++i) last = propagator.step();
  const Vec3 middle_before{0.07, -0.11, 0.0};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double middle = 0.5 * (last.ions->positions[0][axis] + last.ions->positions[1][axis]);
    CHECK(middle == doctest::Approx(middle_before[axis] + velocity[axis] * last.time).epsilon(1e-4).scale(1));
    // The walls of the box push the electrons a little towards its middle.
    CHECK(last.dipole[axis] / last.norm == doctest::Approx(middle).epsilon(1e-2).scale(1));
  }
  CHECK(total_of(last) == doctest::Approx(total_of(first)).epsilon(2e-6));
}

TEST_CASE("moving ions: energy is kept to second order in the step, with projectors, in every scheme") {
  Model model = soft::model_of(molecule(0.4, 2.2));
  const State start = soft::converged_state(model);
  const std::vector<Vec3> rest = positions_of(model);
  for (const char* scheme : {"midpoint", "etrs"})
    for (const int every : {1, 4}) {
      CAPTURE(scheme);
      CAPTURE(every);
      std::vector<double> change;
      for (const double dt : {0.06, 0.03}) {
        model.move_atoms(rest);
        State state = start;
        // Light ions make the electrons follow fast enough for the error of the step to be seen.
        Propagator propagator(model, state, {}, steps_of(dt, scheme),
                              IonOptions{{20.0, 30.0}, {{0, 0, 0.05}, {0, 0, -0.03}}, every});
        const double first = total_of(propagator.observe());
        double largest = 0;
        const int steps = static_cast<int>(std::lround(4.8 / dt));
        for (int i = 1; i <= steps; ++i) {
          const Record record = propagator.step();
          if (i % every == 0) largest = std::max(largest, std::abs(total_of(record) - first));
        }
        change.push_back(largest);
      }
      CAPTURE(change[0]);
      CAPTURE(change[1]);
      if (every == 1) {
        // Both are the grid's: the forces are not the exact slopes of its energy (model/forces.cpp).
        CHECK(change[0] < 1e-6);
        CHECK(change[1] < 1e-6);
      } else {
        CHECK(change[1] < 5e-6);
        CHECK(change[0] > 3 * change[1]);
        CHECK(change[0] < 10 * change[1]);
      }
    }
}

TEST_CASE("moving ions: time reversal leads back to the start") {
  Model model = soft::model_of(molecule(0.4, 2.2));
  const State start = soft::converged_state(model);
  const std::vector<Vec3> rest = positions_of(model);
  State state = start;
  const IonOptions light{{200.0, 300.0}, {{0, 0.01, 0.02}, {0.01, 0, -0.02}}, 2};
  constexpr int steps = 12;
  IonRecord turned;
  {
    Propagator there(model, state, {}, steps_of(0.06, "etrs"), light);
    Record last;
    for (int i = 0; i < steps; ++i) last = there.step();
    turned = *last.ions;
  }
  CHECK(largest_difference(turned.positions, rest) > 0.01);
  // psi -> conj(psi), v -> -v is the same motion backwards.
  for (std::size_t i = 1; i < state.orbitals.values().size(); i += 2) state.orbitals.values()[i] *= -1;
  IonOptions back = light;
  back.velocities = turned.velocities;
  for (Vec3& v : back.velocities)
    for (double& x : v) x = -x;
  Propagator propagator(model, state, {}, steps_of(0.06, "etrs"), back);
  Record last;
  for (int i = 0; i < steps; ++i) last = propagator.step();
  CHECK(largest_difference(last.ions->positions, rest) < 1e-9);
  State compared = start;
  model.sum_density(compared);
  CHECK(largest_difference(state.density, compared.density) < 1e-9);
}

TEST_CASE("moving ions: heavy ones follow the ground state's force, a field pulls them by their charge") {
  Model model = soft::model_of(molecule(0.4, 2.2));
  State state = soft::converged_state(model);
  const std::vector<Vec3> pull = forces(model, state);
  CHECK(std::abs(pull[0][2]) > 0.01);
  const double mass = 1e6, dt = 0.06;
  Propagator propagator(model, state, {}, steps_of(dt), IonOptions{{mass, mass}, std::vector<Vec3>(2), 1});
  Record record;
  for (int i = 0; i < 20; ++i) record = propagator.step();
  for (std::size_t atom = 0; atom < 2; ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis)
      CHECK(record.ions->velocities[atom][axis] * mass / record.time ==
            doctest::Approx(pull[atom][axis]).epsilon(1e-4).scale(0.05));

  // In a field, the ions' total momentum and that of the electrons cancel: the molecule is neutral.
  Field field;
  field.gauge = Gauge::length;
  field.table_times = {0.0, 100.0};
  field.table_fields = {{0, 0.01, 0}, {0, 0.01, 0}};
  Model plain = soft::model_of(molecule(0.0, 1.45));
  State electrons = soft::converged_state(plain);
  Propagator driven(plain, electrons, field, steps_of(dt), IonOptions{{1836.0, 1836.0}, std::vector<Vec3>(2), 1});
  for (int i = 0; i < 40; ++i) record = driven.step();
  const double of_ions = 1836.0 * (record.ions->velocities[0][1] + record.ions->velocities[1][1]),
               of_electrons = record.current[1] * plain.system().grid.volume();
  CHECK(std::abs(of_electrons) > 0.005);
  CHECK(of_ions == doctest::Approx(-of_electrons).epsilon(2e-2));
}

TEST_CASE("moving ions: a kick pushes them against the electrons") {
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    Model model = soft::model_of(molecule(0.0, 1.45));
    State state = soft::converged_state(model);
    Field field;
    field.gauge = gauge;
    field.kick = {0, 0.02, 0};
    Propagator propagator(model, state, field, steps_of(0.06), IonOptions{{1836.0, unmoved}, std::vector<Vec3>(2), 1});
    propagator.kick();
    const Record record = propagator.observe();
    CHECK(record.ions->velocities[0][1] == doctest::Approx(-0.02 / 1836.0).epsilon(1e-14));
    CHECK(record.ions->velocities[1][1] == 0);
    CHECK(record.current[1] * model.system().grid.volume() == doctest::Approx(2 * 0.02).epsilon(1e-3));
  }
}

TEST_CASE("moving ions: atoms of infinite mass stay, and all at rest are a run without ions") {
  Model model = soft::model_of(molecule());
  const State start = soft::converged_state(model);
  Field field;
  field.gauge = Gauge::length;
  field.kick = {0, 0, 0.05};
  State moving = start, resting = start;
  Propagator with(model, moving, field, steps_of(0.06), IonOptions{{unmoved, unmoved}, {{1, 0, 0}, {}}, 1});
  Record a, b;
  for (int i = 0; i < 10; ++i) a = with.step();
  Propagator without(model, resting, field, steps_of(0.06));
  for (int i = 0; i < 10; ++i) b = without.step();
  CHECK(a.ions->positions == positions_of(model));
  CHECK(a.ions->kinetic == 0);
  CHECK_FALSE(b.ions.has_value());
  CHECK(a.dipole[2] == doctest::Approx(b.dipole[2]).epsilon(1e-12));
  CHECK(a.energy.total == doctest::Approx(b.energy.total).epsilon(1e-12));
}

TEST_CASE("moving ions: at the end of an ion step current and energy are those of its orbitals and atoms") {
  // Spins, k-points, projectors, fields that change: all of them enter the current.
  Field field;
  field.kick = {0.02, 0.01, 0.03};
  field.table_times = {0.0, 100.0};
  field.table_fields = {{0, 0.01, 0}, {0.02, 0.01, 0}};
  for (const char* scheme : {"midpoint", "etrs", "taylor4"})
    for (const System& system : {molecule(), crystal(), crystal(2)}) {
      CAPTURE(scheme);
      Model model = soft::model_of(system);
      State state = system.grid.boundary == Boundary::periodic ? soft::waves(model) : soft::oscillator(model, 0.4);
      PropagateOptions options = steps_of(0.05, scheme);
      options.angular_momentum = system.grid.boundary == Boundary::isolated;
      Propagator propagator(model, state, field, options, IonOptions{{20.0, 30.0}, {{0, 0, 0.05}, {0, 0.1, -0.03}}, 2});
      Record last;
      for (int i = 0; i < 4; ++i) last = propagator.step();
      REQUIRE(positions_of(model)[0] == last.ions->positions[0]);
      State same = state;
      Model fresh = soft::model_of(model.system());
      Propagator there(fresh, same, field, options, IonOptions{{20.0, 30.0}, std::vector<Vec3>(2), 2});
      there.resume(4, 0, &*last.ions);
      const Record expected = there.observe();
      const auto alike = [](const Vec3& found, const Vec3& wanted) {
        const Vec3 difference{found[0] - wanted[0], found[1] - wanted[1], found[2] - wanted[2]};
        return norm(difference) <= 1e-11 * norm(wanted);
      };
      CHECK(norm(expected.current) > 1e-5);
      CHECK(alike(last.current, expected.current));
      CHECK(alike(last.spin_current, expected.spin_current));
      CHECK(alike(last.angular_momentum, expected.angular_momentum));
      CHECK(last.energy.total == doctest::Approx(expected.energy.total).epsilon(1e-13));
      CHECK(largest_difference(last.ions->forces, forces(fresh, same)) < 1e-13);
    }
}

TEST_CASE("moving ions: a run that is continued has the same bits, inside of an ion step too") {
  Model model = soft::model_of(molecule(0.4, 2.2));
  const State start = soft::converged_state(model);
  const std::vector<Vec3> rest = positions_of(model);
  const IonOptions options{{20.0, 30.0}, {{0, 0, 0.05}, {0, 0, -0.03}}, 3};
  for (const int stop : {6, 7}) {
    CAPTURE(stop);
    model.move_atoms(rest);
    State whole = start;
    Record expected;
    State kept;
    IonRecord kept_ions;
    {
      Propagator propagator(model, whole, {}, steps_of(0.06), options);
      for (int i = 1; i <= 12; ++i) {
        expected = propagator.step();
        if (i == stop) {
          kept = whole;
          kept_ions = *expected.ions;
        }
      }
    }
    Model fresh = soft::model_of(molecule(0.4, 2.2));
    Propagator again(fresh, kept, {}, steps_of(0.06), options);
    again.resume(stop, 0, &kept_ions);
    Record found;
    for (int i = stop + 1; i <= 12; ++i) found = again.step();
    CHECK(found.ions->positions == expected.ions->positions);
    CHECK(found.ions->velocities == expected.ions->velocities);
    CHECK(found.dipole == expected.dipole);
    CHECK(found.energy.total == expected.energy.total);
  }
}

TEST_CASE("moving ions: numbers that do not fit are refused") {
  Model model = soft::model_of(molecule());
  State state = soft::oscillator(model, 0.4);
  const auto refused = [&](IonOptions options, const char* said) {
    CHECK_THROWS_WITH_AS(Propagator(model, state, {}, steps_of(0.06), options), doctest::Contains(said),
                         core::InvalidArgument);
  };
  refused({{1.0}, std::vector<Vec3>(2), 1}, "1 masses given for 2 atoms");
  refused({{1.0, 0.0}, std::vector<Vec3>(2), 1}, "a mass of 0 electron masses given for atom 1");
  refused({{1.0, 1.0}, std::vector<Vec3>(3), 1}, "3 velocities given for 2 atoms");
  refused({{1.0, 1.0}, {{}, {unmoved, 0, 0}}, 1}, "velocity of atom 1 is not finite");
  refused({{1.0, 1.0}, std::vector<Vec3>(2), 0}, "every = 0");
  Propagator resting(model, state, {}, steps_of(0.06));
  const IonRecord ions{std::vector<Vec3>(2), std::vector<Vec3>(2), {}, 0};
  CHECK_THROWS_WITH_AS(resting.resume(1, 0, &ions), doctest::Contains("the atoms do not move"), core::InvalidArgument);
}

TEST_CASE("moving ions: the momentum of ions and electrons is kept on every grid") {
  // Coarse enough for the grid to push. Without projectors the electrons' current is their momentum.
  System system = soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.45), 4, 4);
  Model model = soft::model_of(system);
  State state = soft::converged_state(model);
  const AtomForces at_rest = atom_forces(model, state);
  for (std::size_t axis = 0; axis < 3; ++axis)
    CHECK(std::abs(at_rest.on_atoms[0][axis] + at_rest.on_atoms[1][axis]) < 1e-7);
  const Vec3& of_grid = at_rest.of_grid[0];
  CHECK(std::hypot(of_grid[0], of_grid[1], of_grid[2]) > 1e-3);
  const IonOptions ions{{300.0, 500.0}, {{0.01, 0, 0.02}, {0, -0.01, 0}}, 1};
  Propagator propagator(model, state, {}, steps_of(0.05, "etrs"), ions);
  const auto momentum = [&](const Record& record, std::size_t axis) {
    return 300.0 * record.ions->velocities[0][axis] + 500.0 * record.ions->velocities[1][axis] +
           record.current[axis] * system.grid.volume();
  };
  const Record first = propagator.observe();
  Record last;
  for (int i = 0; i < 40; ++i) last = propagator.step();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CHECK(std::abs(last.ions->velocities[0][axis] - first.ions->velocities[0][axis]) > 1e-5);
    CHECK(momentum(last, axis) == doctest::Approx(momentum(first, axis)).epsilon(1e-6).scale(1));
  }
}
