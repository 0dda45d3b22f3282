// SPDX-License-Identifier: Apache-2.0
//
// Orbitals in float: the same motion as in double within rounding, on restart the same bits.

#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/populations.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/propagate/runs.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace soft;

namespace {

System crystal(int spins = 1, int states = 6) {
  return periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, states, {2, 1, 1}, spins);
}

System molecule() {
  System box = isolated(16, 0.7, std::make_shared<SoftIon>(1.0, 1.0, 0.3), 2, 4);
  box.atoms = {{0, {0.2, -0.1, 0.9}}, {0, {-0.3, 0.4, -1.2}}};
  return box;
}

Field kicked(Gauge gauge) {
  Field field;
  field.gauge = gauge;
  field.kick = {0.01, 0.02, -0.03};
  return field;
}

std::vector<Record> run(Model& model, State state, const Field& field, PropagateOptions options,
                        const std::string& precision, int steps, const std::optional<IonOptions>& ions = {}) {
  options.precision = precision;
  Propagator propagator(model, state, field, options, ions);
  std::vector<Record> records;
  for (int i = 0; i < steps; ++i) records.push_back(propagator.step());
  return records;
}

/// Largest component of the difference of a vector of the records, and of the vector itself in the first.
template <class Member>
std::pair<double, double> compared(const std::vector<Record>& a, const std::vector<Record>& b, Member member) {
  REQUIRE(a.size() == b.size());
  double apart = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      apart = std::max(apart, std::abs((a[i].*member)[axis] - (b[i].*member)[axis]));
      most = std::max(most, std::abs((a[i].*member)[axis]));
    }
  return {apart, most};
}

}  // namespace

TEST_CASE("orbitals in float: currents of a kicked crystal within 1e-5, on orthogonal and oblique axes") {
  System oblique = crystal();
  oblique.grid = tddft::test::skew_grid(tddft::test::Lattice::triclinic, {8, 9, 10}, {0.9, 0.8, 0.75});
  oblique.channels = monkhorst_pack(oblique.grid, {2, 1, 1});
  for (const System& system : {crystal(), crystal(2), oblique}) {
    CAPTURE(system.grid.skew());
    CAPTURE(system.spins);
    Model model(system, comm::Communicator::self(), {}, no_trial);
    const State ground = converged_state(model);
    for (const std::string scheme : {"midpoint", "etrs"}) {
      CAPTURE(scheme);
      const PropagateOptions options{.time_step = 0.05, .scheme = scheme, .energy_every = 10};
      const auto exact = run(model, ground, kicked(Gauge::velocity), options, "double", 200);
      const auto found = run(model, ground, kicked(Gauge::velocity), options, "float", 200);
      const auto [apart, most] = compared(exact, found, &Record::current);
      CHECK(apart < 1e-5 * most);
      CHECK(apart > 0);
      // The orbitals are rounded three times in each step of etrs, 6e-8 each: a walk of 600 steps with 8 electrons.
      CHECK(std::abs(found.back().norm - exact.back().norm) < 8 * 6e-8 * std::sqrt(600.0));
      REQUIRE(found.back().has_energy);
      CHECK(std::abs(found.back().energy.total - exact.back().energy.total) < 1e-6);
      CHECK(std::abs(found.back().energy.ion_nonlocal - exact.back().energy.ion_nonlocal) < 1e-5);
    }
  }
}

TEST_CASE("orbitals in float: dipoles, angular momenta, absorbed electrons and moving atoms as in double") {
  Model model(molecule(), comm::Communicator::self(), {}, no_trial);
  const State ground = converged_state(model);
  const PropagateOptions options{
      .time_step = 0.05, .energy_every = 10, .absorber = {.width = 3, .strength = 0.5}, .angular_momentum = true};
  const auto exact = run(model, ground, kicked(Gauge::length), options, "double", 100),
             found = run(model, ground, kicked(Gauge::length), options, "float", 100);
  const auto [apart, most] = compared(exact, found, &Record::dipole);
  CHECK(apart < 1e-5);
  CHECK(most > 1e-2);
  const auto [turned, turning] = compared(exact, found, &Record::angular_momentum);
  CHECK(turned < 1e-5);
  CHECK(turning > 1e-3);
  CHECK(exact.back().norm < exact.front().norm - 1e-5);
  CHECK(found.back().norm == doctest::Approx(exact.back().norm).epsilon(1e-6));

  const IonOptions ions{{50.0, 90.0}, {{6e-2, -2e-2, 7e-2}, {1e-2, 3e-2, -6e-2}}, 5};
  const auto start = model.system().atoms;
  const PropagateOptions plain{.time_step = 0.05, .energy_every = 10};
  const auto moved = run(model, ground, kicked(Gauge::length), plain, "double", 40, ions);
  std::vector<Vec3> back;
  for (const Atom& atom : start) back.push_back(atom.position);
  model.move_atoms(back);
  const auto in_float = run(model, ground, kicked(Gauge::length), plain, "float", 40, ions);
  for (std::size_t atom = 0; atom < 2; ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(std::abs(moved.back().ions->forces[atom][axis] - in_float.back().ions->forces[atom][axis]) < 2e-5);
      CHECK(std::abs(moved.back().ions->positions[atom][axis] - in_float.back().ions->positions[atom][axis]) < 1e-6);
    }
  model.move_atoms(back);
}

TEST_CASE("orbitals in float: the state is in float during the run, and in double after it") {
  Model model(crystal(), comm::Communicator::self(), {}, no_trial);
  State state = waves(model);
  const State start = state;
  {
    Propagator propagator(model, state, kicked(Gauge::velocity), {.time_step = 0.05, .precision = "float"});
    propagator.step();
    CHECK(state.orbitals.precision() == Precision::float32);
    CHECK_THROWS_AS(static_cast<void>(state.orbitals.values()), core::Error);
    // What reads orbitals reads these.
    const std::vector<double> before = state.density;
    model.sum_density(state);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(std::abs(before[i] - state.density[i]) < 1e-12);
    const Vec3 a = model.hamiltonian().vector_potential();
    const std::vector<double> in_float = populations(model, state, model, start.orbitals, 6, a);
    State widened = state;
    widened.orbitals.convert(Precision::float64);
    CHECK(populations(model, widened, model, start.orbitals, 6, a) == in_float);
    CHECK(populations(model, start, model, start.orbitals, 6, a) != in_float);
  }
  CHECK(state.orbitals.precision() == Precision::float64);
  CHECK(std::ranges::any_of(state.orbitals.values(), [](double x) { return x != 0; }));
}

TEST_CASE("orbitals in float: a run that goes on from a file has the same bits") {
  const auto make_model = [] { return model_of(crystal()); };
  check_restart(make_model, waves(make_model()), kicked(Gauge::velocity),
                {.time_step = 0.05, .energy_every = 4, .precision = "float"});
}

TEST_CASE("orbitals in float: an unknown precision and functionals of the kinetic energy density are refused") {
  Model model(crystal(), comm::Communicator::self(), {}, no_trial);
  State state = waves(model);
  CHECK_THROWS_WITH_AS(Propagator(model, state, {}, {.time_step = 0.05, .precision = "half"}),
                       doctest::Contains("'double' or 'float' expected"), core::InvalidArgument);
  const auto before = std::vector<double>(state.orbitals.values().begin(), state.orbitals.values().end());
  CHECK_THROWS_WITH_AS(Propagator(model, state, {}, {.time_step = 5, .precision = "float"}),
                       doctest::Contains("unstable"), core::InvalidArgument);
  REQUIRE(state.orbitals.precision() == Precision::float64);
  for (std::size_t i = 0; i < before.size(); i += 97) CHECK(std::abs(state.orbitals.values()[i] - before[i]) < 1e-6);
  ModelOptions options = no_trial;
  options.xc = "tb-mbj";
  Model meta(crystal(), comm::Communicator::self(), {}, options);
  State other = waves(meta);
  CHECK_THROWS_WITH_AS(Propagator(meta, other, {}, {.time_step = 0.05, .precision = "float"}),
                       doctest::Contains("leave precision at double"), core::InvalidArgument);
  CHECK(other.orbitals.precision() == Precision::float64);
}
