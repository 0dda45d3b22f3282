// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/model/grid_xc.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halocline::tddft {

TEST_CASE("xc on the grid: potential and energy with gradients are the same however space is divided") {
  const comm::Communicator world = comm::world();
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated}) {
    const System system = test::divided(test::ion_system(boundary, {16, 9, 12}));
    const auto evaluate = [&](const Decomposition& decomposition, std::vector<double>& v) {
      const std::vector<double> n = test::some_density(system.grid, decomposition.box());
      Stencil stencil(decomposition);
      v.resize(n.size());
      double energy = GridExchangeCorrelation("pbe", 1).evaluate(v, n, stencil, comm::Communicator::self());
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

TEST_CASE("xc on the grid: processes with the same box share the points, and each has all potentials") {
  const comm::Communicator world = comm::world();
  const System system = test::ion_system(Boundary::periodic, {17, 16, 15});
  for (const auto& [name, spins] :
       std::vector<std::pair<std::string, int>>{{"pz", 1}, {"pz", 2}, {"pbe", 1}, {"pbe", 2}}) {
    CAPTURE(name);
    CAPTURE(spins);
    const Decomposition decomposition = test::alone(system);
    Stencil stencil(decomposition);
    std::vector<double> n = test::some_density(system.grid, decomposition.box());
    if (spins == 2) {
      const std::vector<double> up = n;
      for (const double value : up) n.push_back(0.7 * value + 0.01);
    }
    std::vector<double> expected(n.size()), shared(n.size());
    const double energy =
        GridExchangeCorrelation(name, spins).evaluate(expected, n, stencil, comm::Communicator::self());
    const double together = GridExchangeCorrelation(name, spins).evaluate(shared, n, stencil, world);
    CHECK(shared == expected);
    CHECK(together == doctest::Approx(energy).epsilon(1e-13));
    std::vector<double> first{together};
    world.broadcast(std::as_writable_bytes(std::span(first)), 0);
    CHECK(first[0] == together);
  }
}

}  // namespace halocline::tddft
