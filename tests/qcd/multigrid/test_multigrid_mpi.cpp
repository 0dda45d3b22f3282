// SPDX-License-Identifier: Apache-2.0
//
// The multigrid solver on process grids of the ranks: the solution and the number of cycles of one process.

#include <doctest/doctest.h>

#include <span>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr lattice::Coordinates<4> extents{4, 8, 12, 8};

using Numbers = std::vector<std::complex<double>>;

struct Solved {
  Numbers x;
  SolveReport report;
};

/// Two levels with a dense inverse or with deflation, or three. The aggregates divide the boxes of every grid.
struct Levels {
  int levels;
  lattice::Coordinates<4> aggregate, coarse_aggregate;
};

Solved solve(const std::shared_ptr<const lattice::Geometry4>& geometry, const Levels& levels) {
  const test::RoughLattice rough(extents);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = levels.aggregate;
  parameters.multigrid.levels = levels.levels;
  parameters.multigrid.coarse_aggregate = levels.coarse_aggregate;
  parameters.multigrid.setup_iterations = 1;
  QuarkSolver solver(rough.gauge(geometry), WilsonCloverAction{.mass = 0.4, .csw = 1.0}, parameters);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  Solved out{Numbers(b.size()), {}};
  out.report = solver.solve(out.x, b);
  return out;
}

}  // namespace

TEST_CASE("multigrid on ranks: the same cycles and solution as on one process") {
  const auto world = comm::world();
  for (const Levels& levels : {Levels{2, {2, 4, 2, 4}, {1, 1, 1, 1}}, Levels{2, {2, 2, 2, 2}, {1, 1, 1, 1}},
                               Levels{3, {2, 2, 2, 2}, {2, 2, 1, 2}}}) {
    CAPTURE(levels.levels);
    // One rank solves alone, for the others would take its core.
    Numbers expected(static_cast<std::size_t>(12 * lattice::product<4>(extents)));
    int cycles = 0;
    if (world.rank() == 0) {
      const auto alone = solve(test::one_process(extents), levels);
      CHECK(alone.report.converged);
      expected = alone.x;
      cycles = alone.report.iterations;
    }
    world.broadcast(std::as_writable_bytes(std::span(expected)), 0);
    world.broadcast(std::as_writable_bytes(std::span(&cycles, 1)), 0);
    lattice::Coordinates<4> size{};
    for (int axis = 0; axis < 4; ++axis) size[axis] = levels.aggregate[axis] * levels.coarse_aggregate[axis];
    const auto grids = comm::possible_grids(extents, world.size(), size);
    REQUIRE(!grids.empty());
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
    const auto part = solve(geometry, levels);
    CHECK(part.report.converged);
    CHECK(part.report.method.find("multigrid") == 0);
    CHECK(std::abs(part.report.iterations - cycles) <= 1);
    CHECK(test::relative_distance(part.x, test::local_part(*geometry, expected, 12)) < 1e-8);
    const auto again = solve(geometry, levels);
    CHECK(again.x == part.x);
  }
}

}  // namespace halocline::qcd::multigrid
