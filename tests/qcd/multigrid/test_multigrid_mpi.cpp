// SPDX-License-Identifier: Apache-2.0
//
// The multigrid solver on process grids of the ranks: the solution and the number of cycles of one process.

#include <doctest/doctest.h>

#include <span>
#include <utility>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/multigrid/multigrid_solver.hpp"
#include "halocline/qcd/multigrid/schur_solver.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/first_rank.hpp"
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

Solved solve(const std::shared_ptr<const lattice::Geometry4>& geometry, const Levels& levels, double mu = 0) {
  const test::RoughLattice rough(extents);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = levels.aggregate;
  parameters.multigrid.levels = levels.levels;
  parameters.multigrid.coarse_aggregate = levels.coarse_aggregate;
  parameters.multigrid.setup_iterations = 1;
  QuarkSolver solver(rough.gauge(geometry), TwistedCloverAction{{.mass = 0.4, .csw = 1.0}, mu}, parameters);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  Solved out{Numbers(b.size()), {}};
  out.report = solver.solve(out.x, b);
  return out;
}

/// Solutions of D^dagger x = b, and of the Schur complement on the even sites with zeros on the odd ones.
std::array<std::vector<std::complex<double>>, 2>
other_systems(const std::shared_ptr<const lattice::Geometry4>& geometry) {
  const test::RoughLattice rough(extents);
  const auto gauge = rough.gauge(geometry);
  const TwistedCloverAction action{{.mass = 0.4, .csw = 1.0}, 0.3};
  Parameters p;
  p.vectors = 8;
  p.aggregate = {2, 4, 2, 4};
  p.setup_iterations = 0;
  const Setup setup(gauge, action, p);
  const auto operators = dirac_setup(gauge, action);
  const auto d = operators->in_double();
  const auto single = operators->in_float();
  const auto numbers = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  std::array<std::vector<std::complex<double>>, 2> out;
  for (const auto subset : {lattice::Subset::full, lattice::Subset::even}) {
    auto b = spinor_field<double>(d->layout(), subset), x = b;
    from_canonical<double>(b, numbers);
    const auto result = subset == lattice::Subset::full ? MultigridSolver(*d, setup, 1).solve_adjoint(x, b, {})
                                                        : SchurSolver(*d, *single, setup, 1).solve(x, b, {});
    CHECK(result.converged());
    auto& to = out[subset == lattice::Subset::full ? 0 : 1];
    to.resize(numbers.size());
    to_canonical<double>(to, x);
  }
  return out;
}

}  // namespace

TEST_CASE("multigrid on ranks: the same cycles and solution as on one process") {
  const auto world = comm::world();
  for (const auto& [levels, mu] : {std::pair{Levels{2, {2, 4, 2, 4}, {1, 1, 1, 1}}, 0.0},
                                   {Levels{2, {2, 2, 2, 2}, {1, 1, 1, 1}}, -0.3},
                                   {Levels{3, {2, 2, 2, 2}, {2, 2, 1, 2}}, -0.3}}) {
    CAPTURE(mu);
    CAPTURE(levels.levels);
    int cycles = 0;
    const Numbers expected = test::of_first_rank(world, [&] {
      auto alone = solve(test::one_process(extents), levels, mu);
      CHECK(alone.report.converged);
      cycles = alone.report.iterations;
      return std::move(alone.x);
    });
    world.broadcast(std::as_writable_bytes(std::span(&cycles, 1)), 0);
    lattice::Coordinates<4> size{};
    for (int axis = 0; axis < 4; ++axis) size[axis] = levels.aggregate[axis] * levels.coarse_aggregate[axis];
    const auto grids = comm::possible_grids(extents, world.size(), size);
    REQUIRE(!grids.empty());
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
    const auto part = solve(geometry, levels, mu);
    CHECK(part.report.converged);
    CHECK(part.report.method.find("multigrid") == 0);
    CHECK(std::abs(part.report.iterations - cycles) <= 1);
    CHECK(test::relative_distance(part.x, test::local_part(*geometry, expected, 12)) < 1e-8);
    if (levels.levels == 3) CHECK(solve(geometry, levels, mu).x == part.x);
  }
}

TEST_CASE("multigrid on ranks: adjoint and Schur systems have the solutions of one process") {
  const auto world = comm::world();
  const auto grids = comm::possible_grids(extents, world.size(), lattice::Coordinates<4>{2, 4, 2, 4});
  REQUIRE(!grids.empty());
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids.back()));
  const auto both = test::of_first_rank(world, [&] {
    auto [adjoint, schur] = other_systems(test::one_process(extents));
    adjoint.insert(adjoint.end(), schur.begin(), schur.end());
    return std::move(adjoint);
  });
  const auto part = other_systems(geometry);
  // Both are solved to 1e-10, and the operator is well conditioned.
  for (std::size_t i = 0; i < 2; ++i) {
    const auto expected = std::span(both).subspan(i * both.size() / 2, both.size() / 2);
    CHECK(test::relative_distance(part[i], test::local_part(*geometry, expected, 12)) < 1e-8);
  }
}

}  // namespace halocline::qcd::multigrid
