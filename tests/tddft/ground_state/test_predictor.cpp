// SPDX-License-Identifier: Apache-2.0
// Starts for atoms on their way: against the ground states that they should resemble.

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/ground_state/predictor.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

System molecule() {
  System system;
  system.grid = {{18, 17, 20}, {0.6, 0.6, 0.6}, Boundary::isolated};
  system.species = {std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4)};
  system.atoms = {{0, {0.1, 0.0, -1.2}}, {0, {0.0, 0.1, 1.2}}};
  system.electrons = 4;
  system.states = 4;
  return system;
}

System spins() {
  System system = soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 3, 4, {1, 1, 1}, 2);
  system.atoms.pop_back();
  system.atoms[0].position = {3.0, 3.0, 3.0};
  system.electrons = 2;
  return system;
}

ScfOptions tight() {
  ScfOptions options;
  options.tolerance = 1e-9;
  options.eigen_tolerance = 1e-7;
  return options;
}

/// Where the atoms are at a time of their path: smooth, and curved.
std::vector<Vec3> path(const System& system, double t) {
  std::vector<Vec3> positions;
  for (std::size_t i = 0; i < system.atoms.size(); ++i) {
    const Vec3& r = system.atoms[i].position;
    const double sign = i == 0 ? 1 : -1;
    positions.push_back({r[0] + 0.3 * std::sin(t), r[1] - 0.2 * t, r[2] + sign * 0.25 * std::cos(t)});
  }
  return positions;
}

/// First residual of the density of each geometry on the path.
std::vector<double> first_residuals(const System& system, int orbitals, double dt) {
  Model model = soft::model_of(system);
  Predictor predictor(orbitals);
  std::vector<double> first;
  for (int i = 0; i < 5; ++i) {
    State state = predictor.move(model, path(system, i * dt));
    const GroundState found = solve_ground_state(model, state, tight());
    REQUIRE(found.converged);
    first.push_back(found.history.front().density_residual);
    predictor.remember(model, state);
  }
  return first;
}

}  // namespace

TEST_CASE("predictor: on a smooth path the starts come closer with every geometry and with shorter steps") {
  for (const System& system : {molecule(), spins()}) {
    const std::vector<double> residuals = first_residuals(system, 2, 0.1), half = first_residuals(system, 2, 0.05);
    CAPTURE(residuals[0]);
    CAPTURE(residuals[1]);
    CAPTURE(residuals[2]);
    CAPTURE(residuals[4]);
    CAPTURE(half[4]);
    CHECK(residuals[1] < 0.2 * residuals[0]);
    CHECK(residuals[2] < 0.5 * residuals[1]);
    CHECK(residuals[4] < 0.5 * residuals[2]);
    CHECK(half[4] < 0.4 * residuals[4]);
  }
}

TEST_CASE("predictor: where nothing moves, the start is the ground state") {
  Model model = soft::model_of(molecule());
  Predictor predictor;
  const std::vector<Vec3> there = path(model.system(), 0.3);
  std::size_t iterations = 0;
  for (int i = 0; i < 4; ++i) {
    State state = predictor.move(model, there);
    const GroundState found = solve_ground_state(model, state, tight());
    if (i == 0) iterations = found.history.size();
    if (i > 0) CHECK(found.history.front().density_residual < 1e-8);
    predictor.remember(model, state);
  }
  CHECK(iterations > 5);
}

TEST_CASE("predictor: with fewer orbitals kept, the result is the same ground state") {
  std::vector<double> energies;
  for (const int orbitals : {0, 1, 2}) {
    Model model = soft::model_of(molecule());
    Predictor predictor(orbitals);
    double energy = 0;
    for (int i = 0; i < 4; ++i) {
      State state = predictor.move(model, path(molecule(), 0.1 * i));
      energy = solve_ground_state(model, state, tight()).energy.total;
      predictor.remember(model, state);
    }
    energies.push_back(energy);
  }
  CHECK(energies[1] == doctest::Approx(energies[0]).epsilon(1e-9));
  CHECK(energies[2] == doctest::Approx(energies[0]).epsilon(1e-9));
}

TEST_CASE("predictor: a step that is refused leaves the atoms and the memory as they were") {
  Model model = soft::model_of(molecule());
  Predictor predictor;
  State state = predictor.move(model, path(model.system(), 0.0));
  REQUIRE(solve_ground_state(model, state, tight()).converged);
  predictor.remember(model, state);
  std::vector<Vec3> outside = path(molecule(), 0.0);
  const Vec3 before = model.system().atoms[0].position;
  outside[0][2] = 100;
  CHECK_THROWS_AS(predictor.move(model, outside), core::InvalidArgument);
  CHECK(model.system().atoms[0].position == before);
  State again = predictor.move(model, path(molecule(), 0.0));
  CHECK(solve_ground_state(model, again, tight()).history.front().density_residual < 1e-8);
}
