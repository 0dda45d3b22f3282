// SPDX-License-Identifier: Apache-2.0
//
// Low modes and deflated solves on process grids of the ranks: the modes, iterations and solution of one process.

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <utility>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/first_rank.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 4, 6, 8}, aggregate{2, 2, 2, 2};

struct Solved {
  std::vector<double> values;
  std::vector<std::vector<std::complex<double>>> x;
  std::vector<SolveReport> reports;
};

/// Low modes, and a solve by either method.
Solved solve(const std::shared_ptr<const lattice::Geometry4>& geometry) {
  const GaugeField u = gauge::weak_links(geometry, 0.4, 3);
  const WilsonCloverAction action{.mass = 0.0, .csw = 1.0};
  SolverParameters parameters;
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = aggregate;
  parameters.deflation.vectors = 4;
  parameters.deflation.tolerance = 1e-3;
  const LowModes modes = low_modes(u, action, parameters.deflation, parameters.multigrid);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  Solved out{modes.values, {}, {}};
  for (const char* kind : {"deflated-cg", "deflated-bicgstab"}) {
    parameters.kind = kind;
    QuarkSolver solver(u, action, parameters, {.modes = modes});
    out.reports.push_back(solver.solve(out.x.emplace_back(b.size()), b));
  }
  return out;
}

}  // namespace

TEST_CASE("deflation on ranks: the same modes, iterations and solutions as on one process") {
  const auto world = comm::world();
  const auto grids = comm::possible_grids(extents, world.size(), aggregate);
  REQUIRE(!grids.empty());
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
  std::array<int, 2> iterations{};
  std::vector<double> values(4);
  const auto solutions = test::of_first_rank(world, [&] {
    auto alone = solve(test::one_process(extents));
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(alone.reports[k].converged);
      iterations[k] = alone.reports[k].iterations;
    }
    values = alone.values;
    alone.x[0].insert(alone.x[0].end(), alone.x[1].begin(), alone.x[1].end());
    return std::move(alone.x[0]);
  });
  world.broadcast(std::as_writable_bytes(std::span(iterations)), 0);
  world.broadcast(std::as_writable_bytes(std::span(values)), 0);
  const auto part = solve(geometry);
  // A residual of 1e-3 |gamma5 D|, which is ten or so, leaves an eigenvalue open by this much at most.
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(part.values[i] - values[i]) < 0.01);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(part.reports[k].converged);
    CHECK(std::abs(part.reports[k].iterations - iterations[k]) <= 3);
    const auto expected = std::span(solutions).subspan(k * solutions.size() / 2, solutions.size() / 2);
    CHECK(test::relative_distance(part.x[k], test::local_part(*geometry, expected, 12)) < 1e-8);
  }
}

}  // namespace halocline::qcd
