// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/model/grid_xc.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <doctest/doctest.h>

#include <string>

namespace halocline::tddft {

TEST_CASE("xc on the grid: potential and energy with gradients are the same however space is divided") {
  const comm::Communicator world = comm::world();
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated}) {
    const System system = test::divided(test::ion_system(boundary, {16, 9, 12}));
    const auto evaluate = [&](const Decomposition& decomposition, std::vector<double>& v) {
      const std::vector<double> n = test::some_density(system.grid, decomposition.box());
      Stencil stencil(decomposition);
      v.resize(n.size());
      double energy = GridExchangeCorrelation("pbe", 1).evaluate(v, n, stencil);
      decomposition.space().sum(std::span(&energy, 1));
      return energy;
    };
    std::vector<double> whole, part;
    const double expected = evaluate(test::alone(system), whole);
    for (const ProcessCounts& counts : test::divisions(world.size(), system.grid)) {
      const std::string text = counts.text();
      CAPTURE(text);
      const Decomposition decomposition(world, system, counts);
      CHECK(evaluate(decomposition, part) == doctest::Approx(expected).epsilon(1e-13));
      // Sums of a few products of order 0.1, in the same order but for the contraction of faces.
      CHECK(test::largest_difference(part, test::part_of_grid(system.grid, decomposition.box(), whole)) < 1e-13);
    }
  }
}

}  // namespace halocline::tddft
