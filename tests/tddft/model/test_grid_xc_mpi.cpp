// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/model/grid_xc.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
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
      const Box& box = decomposition.box();
      double worst = 0;
      for (std::int64_t z = 0; z < box.extent[2]; ++z)
        for (std::int64_t y = 0; y < box.extent[1]; ++y)
          for (std::int64_t x = 0; x < box.extent[0]; ++x) {
            const std::int64_t global =
                box.offset[0] + x +
                system.grid.extent[0] * (box.offset[1] + y + system.grid.extent[1] * (box.offset[2] + z));
            worst = std::max(worst, std::abs(part[static_cast<std::size_t>(box.index(x, y, z))] -
                                             whole[static_cast<std::size_t>(global)]));
          }
      CHECK(worst < 1e-13);
    }
  }
}

}  // namespace halocline::tddft
