// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/ground_state/start.hpp"

#include "systems.hpp"

#include <doctest/doctest.h>
#include <numeric>

namespace halocline::tddft {
namespace {

System hydrogen(double length, double box = 9.6, int states = 4) {
  return tests::molecule({{"H", {0, 0, -length / 2}}, {"H", {0, 0, length / 2}}}, box, 0.6, states);
}

const comm::Communicator alone = comm::Communicator::self();

}  // namespace

TEST_CASE("start: a stretched molecule from the last one's orbitals has its own energy, in fewer iterations") {
  const ScfOptions options{.tolerance = 1e-7};
  Model before(hydrogen(1.4), alone, {}, {});
  State old = before.empty_state();
  const GroundState first = solve_ground_state(before, old, options);
  REQUIRE(first.converged);

  Model model(hydrogen(1.5), alone, {}, {});
  State fresh = model.empty_state(), going_on = start_from(model, before, old);
  const GroundState anew = solve_ground_state(model, fresh, options);
  const GroundState continued = solve_ground_state(model, going_on, options);
  REQUIRE(anew.converged);
  REQUIRE(continued.converged);
  CHECK(continued.energy.total == doctest::Approx(anew.energy.total).epsilon(1e-8));
  CHECK(std::abs(continued.energy.total - first.energy.total) > 1e-4);
  CHECK(continued.history.size() < anew.history.size());
}

TEST_CASE("start: the density moves with the atoms and keeps the electrons") {
  const System stays = hydrogen(1.4);
  System moved = stays;
  for (Atom& atom : moved.atoms) atom.position[2] += moved.grid.spacing[2];  // by a point of the grid
  Model before(stays, alone, {}, {}), model(moved, alone, {}, {});
  State old = before.empty_state();
  REQUIRE(solve_ground_state(before, old, {.tolerance = 1e-6}).converged);
  const State made = start_from(model, before, old);
  const double volume = stays.grid.point_volume();
  CHECK(std::accumulate(made.density.begin(), made.density.end(), 0.0) * volume == doctest::Approx(2).epsilon(1e-12));
  // Nearer to the old density moved by a point than the old density where it was.
  const std::int64_t plane = stays.grid.extent[0] * stays.grid.extent[1];
  double near = 0, far = 0;
  for (std::size_t i = static_cast<std::size_t>(plane); i < made.density.size(); ++i) {
    const double exact = old.density[i - static_cast<std::size_t>(plane)];
    near += std::abs(made.density[i] - exact) * volume;
    far += std::abs(old.density[i] - exact) * volume;
  }
  CHECK(near < 0.6 * far);
}

TEST_CASE("start: orbitals of another grid or of other states are refused") {
  Model model(hydrogen(1.4), alone, {}, {});
  const auto refused = [&](const System& other) {
    Model before(other, alone, {}, {});
    CHECK_THROWS_AS(start_from(model, before, before.empty_state()), core::InvalidArgument);
  };
  refused(hydrogen(1.4, 12.0));
  refused(hydrogen(1.4, 9.6, 5));
  System spins = tests::molecule({{"H", {0, 0, -0.7}}, {"H", {0, 0, 0.7}}}, 9.6, 0.6, 4, 2);
  refused(spins);
}

}  // namespace halocline::tddft
