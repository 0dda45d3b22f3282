// SPDX-License-Identifier: Apache-2.0
//
// What the ions do does not depend on how space is divided.

#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/ions/ions.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace halocline::tddft {
namespace {

using namespace test;

}  // namespace

TEST_CASE("ions: potential, start density and forces are the same however space is divided") {
  const comm::Communicator world = comm::world();
  for (const System& each : all_ion_systems({16, 9, 12})) {
    const System system = divided(each);
    const auto whole = alone(system);
    const auto potential = ion_potential(system, whole), start = start_density(system, whole);
    const auto forces = local_forces(system, whole, some_gradient(system.grid, whole.box()));
    for (const ProcessCounts& counts : divisions(world.size(), system.grid)) {
      const std::string text = counts.text();
      CAPTURE(text);
      const Decomposition decomposition(world, system, counts);
      const Box& box = decomposition.box();
      CHECK(largest_difference(ion_potential(system, decomposition), part_of_grid(system.grid, box, potential)) <
            1e-12 * 20);
      CHECK(largest_difference(start_density(system, decomposition), part_of_grid(system.grid, box, start)) < 1e-13);
      auto shared = local_forces(system, decomposition, some_gradient(system.grid, box));
      decomposition.space().sum(std::span(shared.front().data(), 3 * shared.size()));
      for (std::size_t a = 0; a < forces.size(); ++a)
        for (std::size_t axis = 0; axis < 3; ++axis) CHECK(std::abs(shared[a][axis] - forces[a][axis]) < 1e-11);
    }
  }
}

TEST_CASE("ions: jellium is the same however space is divided") {
  const comm::Communicator world = comm::world();
  System system = divided(jellium_system(Boundary::periodic));
  system.grid.extent = {16, 10, 12};
  const auto whole = alone(system);
  const auto density = jellium_density(system, whole), potential = ion_potential(system, whole);
  const double energy = ion_ion_energy(system, whole);
  for (const ProcessCounts& counts : divisions(world.size(), system.grid)) {
    const std::string text = counts.text();
    CAPTURE(text);
    const Decomposition decomposition(world, system, counts);
    const Box& box = decomposition.box();
    CHECK(largest_difference(jellium_density(system, decomposition), part_of_grid(system.grid, box, density)) < 1e-14);
    CHECK(largest_difference(ion_potential(system, decomposition), part_of_grid(system.grid, box, potential)) < 1e-12);
    CHECK(ion_ion_energy(system, decomposition) == doctest::Approx(energy).epsilon(1e-12));
  }
}

}  // namespace halocline::tddft
