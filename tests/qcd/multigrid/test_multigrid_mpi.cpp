// SPDX-License-Identifier: Apache-2.0
//
// The multigrid solver on process grids of the ranks: the solution and the number of cycles of one process.

#include <doctest/doctest.h>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr lattice::Coordinates<4> extents{8, 8, 12, 8};

struct Solved {
  std::vector<std::complex<double>> x;
  SolveReport report;
};

Solved solve(const std::shared_ptr<const lattice::Geometry4>& geometry, double mu) {
  const test::RoughLattice rough(extents);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = {2, 4, 2, 4};
  parameters.multigrid.setup_iterations = 1;
  QuarkSolver solver(rough.gauge(geometry), TwistedCloverAction{{.mass = 0.4, .csw = 1.0}, mu}, parameters);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  Solved out{std::vector<std::complex<double>>(b.size()), {}};
  out.report = solver.solve(out.x, b);
  return out;
}

}  // namespace

TEST_CASE("multigrid on ranks: the same cycles and solution as on one process") {
  const auto world = comm::world();
  const auto grids = comm::possible_grids(extents, world.size(), lattice::Coordinates<4>{2, 4, 2, 4});
  REQUIRE(!grids.empty());
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
  for (const double mu : {0.0, -0.3}) {
    CAPTURE(mu);
    const auto expected = solve(test::one_process(extents), mu);
    CHECK(expected.report.converged);
    const auto part = solve(geometry, mu);
    CHECK(part.report.converged);
    CHECK(part.report.method.find("multigrid") == 0);
    CHECK(std::abs(part.report.iterations - expected.report.iterations) <= 1);
    CHECK(test::relative_distance(part.x, test::local_part(*geometry, expected.x, 12)) < 1e-8);
    const auto again = solve(geometry, mu);
    CHECK(again.x == part.x);
  }
}

}  // namespace halocline::qcd::multigrid
