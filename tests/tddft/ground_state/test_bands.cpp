// SPDX-License-Identifier: Apache-2.0
// States in a given density: at the k-points of the ground state that has it, and at others against a denser mesh.

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/bands.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

System crystal(int spins) {
  return soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 4, 6, {2, 1, 1}, spins);
}

ScfOptions tight() {
  ScfOptions options;
  options.tolerance = 1e-10;
  options.eigen_tolerance = 1e-7;
  return options;
}

}  // namespace

TEST_CASE("bands: at its own k-points they are the ground state's eigenvalues, and more of them") {
  for (const int spins : {1, 2}) {
    CAPTURE(spins);
    Model model = soft::model_of(crystal(spins));
    State ground = model.empty_state();
    REQUIRE(solve_ground_state(model, ground, tight()).converged);
    // The k-points in another order, and one that the ground state does not have.
    System other = model.system();
    const std::size_t points = other.channels.size() / static_cast<std::size_t>(spins);
    const Vec3 first = other.channels[0].k, second = other.channels[1].k;
    other.channels.clear();
    for (int spin = 0; spin < spins; ++spin)
      for (const Vec3& k : {second, Vec3{0.1, 0.2, -0.1}, first}) other.channels.push_back({k, 1.0 / 3, spin});
    Model along = soft::model_of(other);
    State bands = along.empty_state();
    ScfOptions options = tight();
    const BandsFound found = solve_bands(along, bands, ground.density, 4, options);
    CHECK(found.converged);
    CHECK(found.residual <= options.eigen_tolerance);
    for (int spin = 0; spin < spins; ++spin)
      for (std::size_t i = 0; i < 2; ++i) {
        const auto at = [&](std::size_t channel) { return 6 * (3 * static_cast<std::size_t>(spin) + channel) + i; };
        const std::size_t of_ground = 6 * points * static_cast<std::size_t>(spin);
        CHECK(bands.eigenvalues[at(0)] == doctest::Approx(ground.eigenvalues[of_ground + 6 + i]).epsilon(1e-8));
        CHECK(bands.eigenvalues[at(2)] == doctest::Approx(ground.eigenvalues[of_ground + i]).epsilon(1e-8));
      }
    // From the eigenstates themselves nothing is left to do.
    CHECK(solve_bands(along, bands, ground.density, 4, options).passes <= 2);
  }
}

TEST_CASE("bands: numbers outside their range are refused") {
  Model model = soft::model_of(crystal(1));
  State state = model.empty_state();
  const std::vector<double> density(state.density.size(), 0.01);
  CHECK_THROWS_WITH_AS(solve_bands(model, state, density, 0, tight()), doctest::Contains("0 bands asked for"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(solve_bands(model, state, density, 7, tight()), doctest::Contains("from 1 to 6"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(solve_bands(model, state, std::span(density).first(5), 4, tight()),
                       doctest::Contains("a density of 5 numbers"), core::InvalidArgument);
  ScfOptions short_of = tight();
  short_of.max_iterations = 1;
  const BandsFound found = solve_bands(model, state, density, 4, short_of);
  CHECK_FALSE(found.converged);
  CHECK(found.residual > short_of.eigen_tolerance);
}
