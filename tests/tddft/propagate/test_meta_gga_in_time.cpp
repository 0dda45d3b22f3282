// SPDX-License-Identifier: Apache-2.0
//
// Functionals of the kinetic energy density in time.

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/runs.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <string>

using namespace soft;

namespace {

Model meta_model(System system, const std::string& xc = "r2scan") {
  ModelOptions options = no_trial;
  options.xc = xc;
  return Model(std::move(system), comm::Communicator::self(), {}, options);
}

State ground_of(Model& model) {
  State state = model.empty_state();
  REQUIRE(solve_ground_state(model, state, {.tolerance = 1e-8, .energy_tolerance = 1e-9, .eigen_tolerance = 1e-7})
              .converged);
  return state;
}

Field kick(const Vec3& momentum, Gauge gauge) {
  Field field;
  field.kick = momentum;
  field.gauge = gauge;
  return field;
}

System soft_box() { return isolated(13, 0.65, std::make_shared<SoftIon>(2.0, 0.7), 2, 1); }
System soft_crystal() { return periodic(std::make_shared<SoftIon>(3.0, 0.8, 0.4), 6, 3, {1, 1, 2}); }

}  // namespace

TEST_CASE("meta-GGA in time: the energy is conserved after a kick, and electrons at rest stay at rest") {
  for (const bool crystal : {false, true}) {
    CAPTURE(crystal);
    Model model = meta_model(crystal ? soft_crystal() : soft_box());
    const State ground = ground_of(model);
    State state = ground;
    Propagator rest(model, state, {}, {.time_step = 0.04, .energy_every = 20});
    Record record;
    for (int i = 0; i < 20; ++i) record = rest.step();
    CHECK(std::abs(record.current[0]) + std::abs(record.current[1]) + std::abs(record.current[2]) < 1e-8);
    CHECK(record.energy.total == doctest::Approx(model.energies(ground).total).epsilon(1e-9));

    double drift = 0, step = 0.04;
    std::array<double, 2> drifts{};
    for (double& found : drifts) {
      state = ground;
      Propagator run(model, state, kick({0.1, 0, 0.05}, Gauge::velocity),
                     {.time_step = step, .scheme = "etrs", .energy_every = 1, .correction_tolerance = 1e-10});
      run.kick();
      const double start = run.observe().energy.total;
      drift = 0;
      for (int i = 0; i < static_cast<int>(std::lround(1.2 / step)); ++i)
        drift = std::max(drift, std::abs(run.step().energy.total - start));
      found = drift;
      step /= 2;
    }
    const double given = 0.5 * (0.01 + 0.0025) * model.system().electrons;
    CHECK(drifts[0] < 2e-3 * given);
    CHECK(drifts[1] < 0.35 * drifts[0] + 1e-9);  // of second order
  }
}

TEST_CASE("meta-GGA in time: a kick is the same in both gauges, and leaves exchange and correlation at its value") {
  Model model = meta_model(soft_box());
  const State ground = ground_of(model);
  const double xc = model.energies(ground).xc;
  std::array<Vec3, 2> dipoles{};
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    State state = ground;
    Propagator run(model, state, kick({0.02, 0.01, -0.03}, gauge), {.time_step = 0.04, .energy_every = 1});
    run.kick();
    CHECK(run.observe().energy.xc == doctest::Approx(xc).epsilon(gauge == Gauge::velocity ? 1e-9 : 1e-6));
    Record record;
    for (int i = 0; i < 25; ++i) record = run.step();
    dipoles[gauge == Gauge::length ? 0 : 1] = record.dipole;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CHECK(std::abs(dipoles[0][axis]) > 0.01);
    CHECK(dipoles[0][axis] == doctest::Approx(dipoles[1][axis]).epsilon(2e-3));
  }
}

TEST_CASE("meta-GGA in time: a potential without an energy propagates too; symmetries and moving atoms are refused") {
  // From the ground state of another functional: in the thin density between two soft ions that of this one swings.
  Model model = meta_model(soft_crystal(), "tb-mbj"), other = meta_model(soft_crystal());
  State state = ground_of(other);
  const double electrons = model.system().electrons;
  Propagator run(model, state, kick({0, 0, 0.02}, Gauge::velocity), {.time_step = 0.04, .energy_every = 0});
  Record record;
  for (int i = 0; i < 20; ++i) record = run.step();
  CHECK(record.norm == doctest::Approx(electrons).epsilon(1e-9));
  CHECK(std::abs(record.current[2]) > 1e-6);
  CHECK_THROWS_WITH_AS(Propagator(model, state, {}, {.time_step = 0.04}, IonOptions{}), doctest::Contains("no energy"),
                       core::InvalidArgument);
}

TEST_CASE("meta-GGA in time: a run that goes on from a file has the same bits") {
  const auto make_model = [] { return meta_model(soft_crystal()); };
  check_restart(make_model, waves(make_model()), kick({0.02, 0.01, -0.03}, Gauge::velocity),
                {.time_step = 0.04, .energy_every = 4});
}
