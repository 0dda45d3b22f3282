// SPDX-License-Identifier: Apache-2.0
//
// Functionals of the kinetic energy density on the grid: the Hamiltonian is the derivative of the energy, flowing or
// at rest, and ground states follow from it.

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/bands.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "halocline/tddft/model/kinetic_sum.hpp"
#include "halocline/tddft/propagate/observables.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace soft;

namespace {

Model meta_model(System system, const std::string& xc = "r2scan") {
  ModelOptions options = no_trial;
  options.xc = xc;
  options.odd_allowed = true;
  return Model(std::move(system), comm::Communicator::self(), {}, options);
}

/// Sets density and kinetic energy density of the orbitals, and with `flowing` their velocity.
void sum_up(Model& model, State& state, bool flowing) {
  model.sum_density(state);
  if (!flowing) return model.sum_kinetic(state);
  KineticSum sum(model.decomposition(), model.system());
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    sum.add(model.hamiltonian(), state.orbitals.block(channel, 0), state.orbitals.blocks(),
            model.weights(state, channel));
    sum.finish_channel(model.hamiltonian().spin(channel), model.system().channels[static_cast<std::size_t>(channel)].k);
  }
  sum.finish(state.kinetic, true);
}

System small(int spins, bool skew) {
  System system = periodic(std::make_shared<SoftIon>(3.0, 0.8, 0.4), 6, 4, {1, 1, 2}, spins);
  if (skew) {
    system.grid = test::skew_grid(test::Lattice::hexagonal, system.grid.extent, system.grid.spacing);
    system.channels = monkhorst_pack(system.grid, {1, 1, 2}, {}, false, spins);
  }
  return system;
}

/// The primitive cell of silicon on a coarse grid, four k-points.
System coarse_silicon() {
  System system;
  const double edge = 10.26 / std::numbers::sqrt2;
  system.grid = test::skew_grid(test::Lattice::face_centred, {14, 14, 14}, {edge / 14, edge / 14, edge / 14});
  system.species = {goedecker("Si", 4, "pbe")};
  system.atoms = {{0, {0, 0, 0}}, {0, {2.565, 2.565, 2.565}}};
  system.channels = monkhorst_pack(system.grid, {2, 2, 1});
  system.electrons = 8;
  system.states = 6;
  return system;
}

}  // namespace

TEST_CASE("meta-GGA: the Hamiltonian is the derivative of the energy with respect to the orbitals, flowing or not") {
  for (const bool skew : {false, true})
    for (const int spins : {1, 2})
      for (const bool flowing : {false, true}) {
        CAPTURE(skew);
        CAPTURE(spins);
        CAPTURE(flowing);
        Model model = meta_model(small(spins, skew));
        State state = waves(model);
        sum_up(model, state, flowing);
        std::vector<double> v(model.potential_numbers(flowing));
        model.effective_potential(v, state);
        model.hamiltonian().set_potential(v);
        const std::int64_t channel = state.orbitals.channels() - 1, doubles = state.orbitals.block_doubles();
        core::AlignedArray<double> out(doubles), direction(doubles);
        model.hamiltonian().apply(channel, out.data(), state.orbitals.block(channel, 0), 1);
        for (std::int64_t i = 0; i < doubles; ++i) direction[i] = std::sin(0.37 * static_cast<double>(i * i % 1009));
        const std::vector<double> weights = model.weights(state, channel);
        double expected = 0;
        for (std::int64_t i = 0; i < doubles; ++i)
          expected += 2 * weights[static_cast<std::size_t>(i % doubles_per_point / 2)] * direction[i] * out[i] *
                      model.system().grid.point_volume();
        const auto energy = [&](double step) {
          State moved = state;
          double* psi = moved.orbitals.block(channel, 0);
          for (std::int64_t i = 0; i < doubles; ++i) psi[i] += step * direction[i];
          sum_up(model, moved, flowing);
          return model.energies(moved).total;
        };
        const double step = 2e-5;
        CHECK((energy(step) - energy(-step)) / (2 * step) == doctest::Approx(expected).epsilon(2e-6));
      }
}

TEST_CASE("meta-GGA: electrons that flow as a whole have the kinetic energy density of electrons at rest") {
  Model model = meta_model(small(1, false));
  State state = waves(model), boosted = state;
  // A wave that fits the cell, so that the boost is no more than another phase at each point.
  const Vec3 p{2 * std::numbers::pi / model.system().grid.length(0), 0, 0};
  boost(boosted.orbitals, model.decomposition(), p);
  sum_up(model, state, true);
  sum_up(model, boosted, true);
  double worst = 0, most = 0, slowest = 1e300;
  const std::size_t points = state.density.size();
  for (std::size_t i = 0; i < points; ++i) {
    worst = std::max(worst, std::abs(boosted.kinetic.density[i] - state.kinetic.density[i]));
    most = std::max(most, state.kinetic.density[i]);
    slowest = std::min(slowest, boosted.kinetic.velocity[i] - state.kinetic.velocity[i]);
  }
  CHECK(worst < 0.05 * most);  // the stencil's error for waves of eight points
  CHECK(slowest == doctest::Approx(p[0]).epsilon(0.1));
  State at_rest = boosted;
  sum_up(model, at_rest, false);
  double without = 0;
  for (std::size_t i = 0; i < points; ++i)
    without = std::max(without, std::abs(at_rest.kinetic.density[i] - state.kinetic.density[i]));
  CHECK(without > 5 * worst);
}

TEST_CASE("meta-GGA: a ground state's energies are those of its orbitals, and its bands those of its density") {
  for (const std::string xc : {"r2scan", "tb-mbj"}) {
    CAPTURE(xc);
    Model model = meta_model(coarse_silicon(), xc);
    State state = model.empty_state();
    const ScfOptions options{.tolerance = 1e-6, .eigen_tolerance = 1e-7, .temperature = 0.01};
    const GroundState ground = solve_ground_state(model, state, options);
    REQUIRE(ground.converged);
    const Energies again = model.energies(state);
    CHECK(std::abs(ground.energy.kinetic - again.kinetic) < 1e-9);
    CHECK(std::abs(ground.energy.xc - again.xc) < 1e-9);
    CHECK(std::abs(ground.energy.total - again.total + again.entropy + ground.energy.entropy) < 1e-9);
    State bands = model.empty_state();
    REQUIRE(solve_bands(model, bands, state, 4, {.eigen_tolerance = 1e-6}).converged);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(bands.eigenvalues[i] - state.eigenvalues[i]) < 1e-6);
    // A second ground state begins with the orbitals of the first, and has nothing left to do.
    const GroundState second = solve_ground_state(model, state, options);
    CHECK(second.converged);
    CHECK(second.history.size() < ground.history.size());
    CHECK(std::abs(second.energy.total - ground.energy.total) < 1e-7);
  }
}

TEST_CASE("meta-GGA: a uniform density of electrons at rest has no kinetic energy density, and a uniform potential") {
  Model model = meta_model(periodic(std::make_shared<Nothing>("Nothing", 1.0), 2, 4));
  State state = state_of(model, [&](std::int64_t, int number, double, double, double) {
    return number == 0 ? Complex(1 / std::sqrt(model.system().grid.volume())) : Complex(0);
  });
  sum_up(model, state, false);
  for (const double tau : state.kinetic.density) CHECK(std::abs(tau) < 1e-15);
  std::vector<double> v(model.potential_numbers(false));
  model.effective_potential(v, state);
  const std::size_t numbers = state.density.size();
  for (std::size_t i = 1; i < numbers; ++i) {
    CHECK(std::abs(v[i] - v[0]) < 1e-10);
    CHECK(std::abs(v[numbers + i] - v[numbers]) < 1e-10);
    CHECK(std::abs(v[2 * numbers + i]) < 1e-10);  // no gradient, no flux
  }
}

TEST_CASE("meta-GGA: what cannot be had is refused in a sentence") {
  Model model = meta_model(coarse_silicon());
  State state = model.empty_state();
  std::vector<double> v(model.potential_numbers(false));
  CHECK_THROWS_WITH_AS(model.effective_potential(v, std::span<const double>(state.density)),
                       doctest::Contains("0 kinetic energy densities"), core::InvalidArgument);
  Model potential = meta_model(coarse_silicon(), "tb-mbj");
  CHECK_THROWS_WITH_AS(forces(potential, state), doctest::Contains("no energy belongs"), core::InvalidArgument);
  System box = isolated(9, 0.8, std::make_shared<SoftIon>(2.0, 0.8), 2, 1);
  CHECK_THROWS_WITH_AS(meta_model(box, "tb-mbj"), doctest::Contains("vacuum"), core::InvalidArgument);
  CHECK_NOTHROW(meta_model(box));
}
