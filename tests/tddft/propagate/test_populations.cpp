// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/populations.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/bands.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

using namespace soft;

namespace {

/// Eigenstates in the potential of the ions alone, at a vector potential.
State states_of_ions(Model& model, int states, const Vec3& a = {}) {
  State found = model.empty_state();
  ScfOptions options;
  options.eigen_tolerance = 1e-8;
  options.max_iterations = 60;
  const std::vector<double> none(found.density.size(), 0.0);
  REQUIRE(solve_bands(model, found, none, states, options, {}, a).converged);
  return found;
}

/// The lowest states filled with the electrons of the system.
State filled(const Model& model, State state) {
  const auto states = static_cast<std::size_t>(model.system().states);
  double left = model.system().electrons / model.system().spins;
  for (std::size_t i = 0; i < states; ++i) {
    const double f = std::min(left, model.system().full());
    left -= f;
    for (std::size_t first = 0; first < state.occupations.size(); first += states) state.occupations[first + i] = f;
  }
  model.sum_density(state);
  return state;
}

}  // namespace

TEST_CASE("populations: a kicked oscillator is in its coherent state") {
  const double omega = 0.25, p = 0.3, lambda = p * p / (2 * omega);
  const System system = isolated(16, 1.0, std::make_shared<Trap>(omega, 2), 2, 6);
  Model model = model_of(system, {.xc = "none"});
  const State ground = filled(model, states_of_ions(model, 5));
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    State moving = ground;
    Field field;
    field.kick = {0, p, 0};
    field.gauge = gauge;
    Propagator run(model, moving, field, {.energy_every = 0});
    CHECK(populations(model, moving, model, ground.orbitals, 1)[0] == doctest::Approx(2).epsilon(1e-9));
    run.kick();
    const Vec3 a = model.hamiltonian().vector_potential();
    const std::vector<double> found = populations(model, moving, model, ground.orbitals, 4, a);
    CHECK(found[0] == doctest::Approx(2 * std::exp(-lambda)).epsilon(1e-4));
    // The first excited level has three states; a kick reaches one mixture of them.
    CHECK(found[1] + found[2] + found[3] == doctest::Approx(2 * lambda * std::exp(-lambda)).epsilon(1e-3));
  }
}

TEST_CASE("populations: under a vector potential a crystal is compared with its states at k + A") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 4, {2, 1, 1});
  const Vec3 a{0.05, -0.03, 0.02};
  Model model = model_of(system, {.xc = "none"});
  const State ground = filled(model, states_of_ions(model, 3));
  // Eigenstates at k + A are those of a mesh that was moved by A.
  System moved = system;
  for (Channel& channel : moved.channels)
    for (std::size_t axis = 0; axis < 3; ++axis) channel.k[axis] += a[axis];
  Model at_moved = model_of(moved, {.xc = "none"});
  const State there = states_of_ions(at_moved, 3);
  const State here = states_of_ions(model, 3, a);
  for (std::size_t c = 0; c < system.channels.size(); ++c)
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(here.eigenvalues[4 * c + i] == doctest::Approx(there.eigenvalues[4 * c + i]).epsilon(1e-9));
  const std::vector<double> one = populations(model, ground, model, here.orbitals, 3),
                            other = populations(model, ground, at_moved, there.orbitals, 3);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(std::abs(one[i] - other[i]) < 1e-7);
  // A kick leaves the periodic parts as they are: most electrons are still in the lowest two bands, not all.
  CHECK(one[0] + one[1] < 4 - 1e-5);
  CHECK(one[0] + one[1] > 3.9);
}

TEST_CASE("populations: the electrons follow a field that comes and goes slowly") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 4, {2, 1, 1});
  Model model = model_of(system);
  State state = model.empty_state();
  ScfOptions options;
  options.eigen_tolerance = 1e-8;
  REQUIRE(solve_ground_state(model, state, options).converged);
  const State ground = state;
  Field field;
  field.table_times = {0, 40, 80};
  field.table_fields = {{0, 0, 0}, {0, 0, 0.00225}, {0, 0, 0}};
  Propagator run(model, state, field, {.time_step = 0.05, .energy_every = 0});
  for (int i = 0; i < 1600; ++i) run.step();
  const Vec3 a = model.hamiltonian().vector_potential();
  Model holder = model_of(system);
  State here = holder.empty_state();
  REQUIRE(solve_bands(holder, here, ground.density, 3, options, {}, a).converged);
  const auto missing = [&](const State& reference) {
    const std::vector<double> found = populations(model, state, holder, reference.orbitals, 2);
    double electrons = 0;
    for (std::size_t i = 0; i < found.size(); i += 2) electrons += 0.5 * (found[i] + found[i + 1]);
    return 4 - electrons;
  };
  CAPTURE(missing(ground));
  CAPTURE(missing(here));
  CHECK(std::abs(a[2]) > 0.08);
  CHECK(missing(ground) > 1e-3);  // the states of k look as if electrons had been excited
  CHECK(missing(here) < 0.05 * missing(ground));
}

TEST_CASE("populations: states that do not fit are refused") {
  const System system = isolated(12, 1.0, std::make_shared<Trap>(0.3, 2), 2, 2);
  const System other = isolated(13, 1.0, std::make_shared<Trap>(0.3, 2), 2, 2);
  Model model = model_of(system), larger = model_of(other);
  const State state = model.empty_state();
  const State there = larger.empty_state();
  CHECK_THROWS_AS(static_cast<void>(populations(model, state, larger, there.orbitals, 1)), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(populations(model, state, model, state.orbitals, 3)), core::InvalidArgument);
}
