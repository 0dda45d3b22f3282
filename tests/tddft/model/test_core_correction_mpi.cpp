// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "tddft/ions/core_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace halocline::tddft {

TEST_CASE("core correction: density and forces are the same however space and orbitals are divided") {
  const comm::Communicator world = comm::world();
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated}) {
    const System system = test::divided(test::core_system(boundary, {16, 9, 12}));
    const auto alone = test::alone(system);
    const std::vector<double> whole = core_density(system, alone);
    // Orbitals of zero leave the ions among themselves and the cores in the potential of a density.
    const auto forces_of = [&](const comm::Communicator& on, const ProcessCounts& counts) {
      Model model(system, on, counts, {.xc = "pbe"});
      State state = model.empty_state();
      state.density = test::some_density(system.grid, model.decomposition().box());
      return forces(model, state);
    };
    const auto expected = forces_of(comm::Communicator::self(), ProcessCounts{});
    for (const ProcessCounts& counts : test::divisions(world.size(), system.grid)) {
      const std::string text = counts.text();
      CAPTURE(text);
      const Decomposition decomposition(world, system, counts);
      CHECK(test::largest_difference(core_density(system, decomposition),
                                     test::part_of_grid(system.grid, decomposition.box(), whole)) < 1e-15);
      const auto found = forces_of(world, counts);
      for (std::size_t atom = 0; atom < found.size(); ++atom)
        for (std::size_t axis = 0; axis < 3; ++axis) CHECK(std::abs(found[atom][axis] - expected[atom][axis]) < 1e-12);
    }
  }
}

}  // namespace halocline::tddft
