// SPDX-License-Identifier: Apache-2.0
// Forces on a grid that pushes: what of it is taken off, whatever the functional.

#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/ions/core_systems.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

/// Two ions, sharp for the grid, shifted by a part of its spacing.
System pair(double shift, int spins) {
  System system = soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.55, 0.3), 4, 4, {1, 1, 1}, spins);
  system.grid = {{10, 9, 11}, {0.75, 0.75, 0.75}, Boundary::periodic};
  for (Atom& atom : system.atoms)
    for (std::size_t axis = 0; axis < 3; ++axis)
      atom.position[axis] += shift * system.grid.spacing[axis] * (1 - 0.3 * static_cast<double>(axis));
  system.atoms[1].position = system.atoms[0].position;
  system.atoms[1].position[2] += 2.3;
  system.atoms[1].position[0] += 0.9;
  return system;
}

AtomForces forces_of(const System& system, const std::string& functional) {
  ModelOptions options = soft::no_trial;
  options.xc = functional;
  Model model = soft::model_of(system, options);
  State state = model.empty_state();
  ScfOptions tight;
  tight.tolerance = 1e-10;
  tight.energy_tolerance = 1e-11;
  tight.eigen_tolerance = 1e-8;
  tight.max_iterations = 300;
  REQUIRE(solve_ground_state(model, state, tight).converged);
  return atom_forces(model, state);
}

double length(const Vec3& v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

TEST_CASE("forces: their sum is zero on every grid, for every functional, and what was taken off is not") {
  for (const char* functional : {"pz", "pbe"})
    for (const int spins : {1, 2}) {
      CAPTURE(functional);
      CAPTURE(spins);
      const AtomForces found = forces_of(pair(0.3, spins), functional);
      Vec3 sum{};
      for (const Vec3& force : found.on_atoms)
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += force[axis];
      CHECK(length(sum) < 1e-7);
      CHECK(length(found.of_grid[0]) > 3e-4);
    }
  System oblique = pair(0.3, 1);
  oblique.grid.axes = tddft::test::axes_of(tddft::test::Lattice::face_centred);
  for (const char* functional : {"pz", "pbe"}) {
    const AtomForces found = forces_of(oblique, functional);
    Vec3 sum{};
    for (const Vec3& force : found.on_atoms)
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += force[axis];
    CHECK(length(sum) < 1e-7);
  }
}

TEST_CASE("forces: with core densities their sum is zero, too") {
  for (const char* functional : {"pz", "pbe"})
    for (const int spins : {1, 2}) {
      CAPTURE(functional);
      CAPTURE(spins);
      System system = pair(0.3, spins);
      // The core of a test atom, about a soft ion.
      class Cored final : public soft::SoftIon {
      public:
        Cored() : SoftIon(2.0, 0.55, 0.3) {}
        double core_density(double r) const override { return core_.core_density(r); }
        double core_slope(double r) const override { return core_.core_slope(r); }
        double core_radius() const override { return core_.core_radius(); }

      private:
        tddft::test::WithCore core_{"C", 0.4, 0.7};
      };
      system.species = {std::make_shared<Cored>()};
      const AtomForces found = forces_of(system, functional);
      Vec3 sum{};
      for (const Vec3& force : found.on_atoms)
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += force[axis];
      CHECK(length(sum) < 1e-7);
      CHECK(length(found.of_grid[0]) > 1e-4);
    }
}

TEST_CASE("forces: they depend on the place between grid points much less than what was taken off") {
  for (const char* functional : {"pz", "pbe"}) {
    CAPTURE(functional);
    std::vector<AtomForces> all;
    for (const double shift : {0.0, 0.25, 0.5, 0.75}) all.push_back(forces_of(pair(shift, 1), functional));
    double spread = 0, taken = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto range = [&](auto&& value) {
        const auto [low, high] = std::ranges::minmax_element(all, {}, [&](const AtomForces& f) { return value(f); });
        return value(*high) - value(*low);
      };
      spread = std::max(spread, range([&](const AtomForces& f) { return f.on_atoms[0][axis]; }));
      taken = std::max(taken, range([&](const AtomForces& f) { return f.of_grid[0][axis]; }));
    }
    CAPTURE(spread);
    CAPTURE(taken);
    CHECK(spread < 0.3 * taken);
  }
}
