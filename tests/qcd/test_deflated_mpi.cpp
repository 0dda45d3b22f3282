// SPDX-License-Identifier: Apache-2.0
//
// Low modes and deflated solves on process grids of the ranks: the modes, iterations and solution of one process.

#include <doctest/doctest.h>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{8, 8, 12, 8};

struct Solved {
  std::vector<std::complex<double>> x;
  std::vector<double> values;
  SolveReport report;
};

Solved solve(const std::shared_ptr<const lattice::Geometry4>& geometry, const char* kind) {
  const test::RoughLattice rough(extents);
  SolverParameters parameters;
  parameters.kind = kind;
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = {2, 4, 2, 4};
  parameters.multigrid.setup_iterations = 1;
  parameters.deflation.vectors = 4;
  parameters.deflation.tolerance = 1e-3;
  QuarkSolver solver(rough.gauge(geometry), WilsonCloverAction{.mass = 0.4, .csw = 1.0}, parameters);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  Solved out{std::vector<std::complex<double>>(b.size()), solver.low_modes()->values, {}};
  out.report = solver.solve(out.x, b);
  return out;
}

}  // namespace

TEST_CASE("deflation on ranks: the same modes, iterations and solution as on one process") {
  const auto world = comm::world();
  const auto grids = comm::possible_grids(extents, world.size(), lattice::Coordinates<4>{2, 4, 2, 4});
  REQUIRE(!grids.empty());
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
  for (const char* kind : {"deflated-cg", "deflated-bicgstab"}) {
    CAPTURE(kind);
    const auto expected = solve(test::one_process(extents), kind), part = solve(geometry, kind);
    CHECK(expected.report.converged);
    CHECK(part.report.converged);
    // Modes to 1e-3: their values are known to about the square of that, relative to |gamma5 D|, which is ten or so.
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(part.values[i] - expected.values[i]) < 1e-3);
    CHECK(std::abs(part.report.iterations - expected.report.iterations) <= 3);
    CHECK(test::relative_distance(part.x, test::local_part(*geometry, expected.x, 12)) < 1e-8);
  }
}

}  // namespace halocline::qcd
