// SPDX-License-Identifier: Apache-2.0
//
// Operators and solutions on every process grid of the ranks against the same on one process.

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "halocline/comm/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/quark_solver.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 6, 8, 12};
constexpr std::int64_t volume = 4 * 6 * 8 * 12;

/// Every grid of this many ranks that leaves x even and divides the lattice.
std::vector<std::vector<int>> grids(int ranks) {
  std::vector<std::vector<int>> all;
  for (int x = 1; x <= 2; ++x)
    for (int y = 1; y <= 6; ++y)
      for (int z = 1; z <= 8; ++z)
        for (int t = 1; t <= 12; ++t)
          if (x * y * z * t == ranks && 6 % y == 0 && 8 % z == 0 && 12 % t == 0) all.push_back({x, y, z, t});
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("wilson: D does not depend on the process grid", T, float, double) {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 1);
  const auto psi = test::random_numbers(volume * 12, 2);
  ActionParameters action{.mass = 0.1, .csw = 1.2};
  action.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, bool dagger, int lanes) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    const DiracSetup setup(gauge, action, lanes);
    const WilsonClover<T> d(setup);
    auto in = spinor_field<T>(d.layout(), lattice::Subset::full);
    auto out = spinor_field<T>(d.layout(), lattice::Subset::full);
    from_canonical<T>(in, test::local_part(*geometry, psi, 12));
    // Three times, so that both buffer pairs of the exchange have been used again.
    for (int i = 0; i < 3; ++i) {
      if (dagger)
        d.apply_dagger(out, in);
      else
        d.apply(out, in);
    }
    std::vector<std::complex<double>> result(geometry->local_volume() * 12);
    to_canonical<T>(result, out);
    return result;
  };
  for (bool dagger : {false, true}) {
    const auto whole = run(test::one_process(extents), dagger, 16);
    for (const auto& grid : grids(world.size()))
      for (int lanes : {1, 4, 16}) {
        const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
        CAPTURE(grid[0]);
        CAPTURE(grid[1]);
        CAPTURE(grid[2]);
        CAPTURE(grid[3]);
        CAPTURE(lanes);
        // A site does the same arithmetic everywhere; only the contraction of a pack and a scalar may differ.
        CHECK(test::relative_distance(run(geometry, dagger, lanes), test::local_part(*geometry, whole, 12)) <
              4 * std::numeric_limits<T>::epsilon());
      }
  }
}

TEST_CASE("quark solver: the solution does not depend on the process grid") {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 3);
  const auto b = test::random_numbers(volume * 12, 4);
  const ActionParameters action{.mass = 0.3, .csw = 1.0};
  const double tolerance = 1e-12;
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    QuarkSolver solver(gauge, action, {.tolerance = tolerance});
    std::vector<std::complex<double>> x(geometry->local_volume() * 12);
    const auto report = solver.solve(x, test::local_part(*geometry, b, 12));
    CHECK(report.converged);
    CHECK(report.residual <= tolerance);
    return x;
  };
  const auto whole = run(test::one_process(extents));
  const auto all = grids(world.size());
  for (const auto& grid : {all.front(), all.back()}) {
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    // D of a rough field at this mass has a condition number below 20.
    CHECK(test::relative_distance(run(geometry), test::local_part(*geometry, whole, 12)) < 20 * 2 * tolerance);
  }
}

}  // namespace halocline::qcd
