// SPDX-License-Identifier: Apache-2.0
//
// Smearing, flow and gauge fixing on a process grid give the links that one process gives.

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/gauge/field_strength.hpp"
#include "halocline/qcd/gauge/fix.hpp"
#include "halocline/qcd/gauge/flow.hpp"
#include "halocline/qcd/gauge/smear.hpp"
#include "halocline/qcd/gauge/topological_charge.hpp"
#include "qcd/gauge/sample_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace halocline;
using lattice::Coordinates;
using qcd::GaugeField;
namespace gauge = qcd::gauge;

namespace {

const Coordinates<4> extents{4, 6, 8, 4};

/// Two grids of all processes: the least surface, and one that splits x where there is one.
std::vector<std::vector<int>> some_grids(int ranks) {
  const std::int64_t any[4] = {1, 1, 1, 1};
  std::vector<std::vector<int>> grids;
  for (const auto& grid : comm::possible_grids(extents, ranks, any)) {
    const bool fits = [&] {
      for (std::size_t axis = 0; axis < 4; ++axis)
        if (extents[axis] / grid[axis] < (axis == 0 ? 2 : 1)) return false;
      return true;
    }();
    if (fits) grids.push_back(grid);
  }
  std::vector<std::vector<int>> chosen{grids.front()};
  for (const auto& grid : grids)
    if (grid[0] > 1 && grid != chosen.back()) {
      chosen.push_back(grid);
      break;
    }
  return chosen;
}

/// The largest distance of a link of this process to that of the whole field, ghosts of depth one and corners included.
double distance_to_whole(const GaugeField& part, const GaugeField& whole) {
  double largest = 0;
  const auto& geometry = part.geometry();
  Coordinates<4> wide = geometry.local();
  for (auto& extent : wide) extent += 2;
  for (std::int64_t site = 0; site < lattice::product<4>(wide); ++site) {
    Coordinates<4> here = lattice::coordinates_of<4>(site, wide), there{};
    for (int axis = 0; axis < 4; ++axis) {
      here[axis] -= 1;
      there[axis] = (here[axis] + geometry.offset()[axis] + extents[axis]) % extents[axis];
    }
    for (int mu = 0; mu < 4; ++mu) {
      const double d = sample::distance(part.link(here, mu), whole.link(there, mu));
      if (!(d <= largest)) largest = d;
    }
  }
  return largest;
}

/// Runs `action` on the field of one process and on every grid, and compares links and what it returns.
void same_on_every_grid(double width, double links_tolerance, double number_tolerance,
                        const std::function<std::vector<double>(GaugeField&)>& action) {
  const auto world = comm::world();
  GaugeField whole = sample::field(sample::geometry(extents), width);
  const auto expected = action(whole);
  for (const auto& grid : some_grids(world.size())) {
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    GaugeField part = sample::field(geometry, width);
    const auto found = action(part);
    CAPTURE(grid[0]);
    CAPTURE(grid[1]);
    CAPTURE(grid[2]);
    CAPTURE(grid[3]);
    CHECK(distance_to_whole(part, whole) <= links_tolerance);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(std::abs(found[k] - expected[k]) <= number_tolerance);
  }
}

}  // namespace

TEST_CASE("field strength and charge: the same on every process grid") {
  same_on_every_grid(0.4, 0, 1e-12, [](GaugeField& u) {
    const auto sums = gauge::clover_observables(u);
    return std::vector{sums.plaquette, sums.energy_plaquette, sums.energy_clover, sums.topological_charge};
  });
  const auto world = comm::world();
  const auto whole = sample::field(sample::geometry(extents), 0.4);
  const auto expected = gauge::field_strength(whole);
  for (const auto& grid : some_grids(world.size())) {
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    const auto f = gauge::field_strength(sample::field(geometry, 0.4));
    double largest = 0;
    sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
      const auto here = static_cast<std::size_t>(6 * lattice::linear_index<4>(x, geometry->local()));
      const auto there = static_cast<std::size_t>(6 * geometry->global_index(x));
      for (std::size_t plane = 0; plane < 6; ++plane)
        largest = std::max(largest, sample::distance(f[here + plane], expected[there + plane]));
    });
    CHECK(largest < 10e-16);
  }
}

TEST_CASE("smearing: the same on every process grid") {
  for (auto axes : {gauge::SmearedAxes::all, gauge::SmearedAxes::spatial}) {
    same_on_every_grid(0.5, 1e-13, 0, [&](GaugeField& u) {
      gauge::smear_stout(u, {.rho = 0.1, .steps = 2, .axes = axes});
      return std::vector<double>{};
    });
    same_on_every_grid(0.5, 1e-13, 0, [&](GaugeField& u) {
      gauge::smear_ape(u, {.alpha = 0.5, .steps = 2, .axes = axes});
      return std::vector<double>{};
    });
  }
}

TEST_CASE("flow: the same on every process grid, with fixed and adaptive steps") {
  for (bool adaptive : {false, true})
    same_on_every_grid(0.5, 1e-12, 1e-11, [&](GaugeField& u) {
      const auto report = gauge::wilson_flow(u, {.t_max = 0.1, .step = 0.05, .adaptive = adaptive, .tolerance = 1e-4});
      return std::vector{static_cast<double>(report.steps), report.points.back().energy_clover,
                         report.points.back().topological_charge};
    });
}

TEST_CASE("gauge fixing: the same on every process grid") {
  for (bool landau : {true, false})
    same_on_every_grid(0.5, 1e-11, 1e-11, [&](GaugeField& u) {  // 20 iterations amplify rounding a little
      const gauge::FixParameters parameters{.tolerance = 1e-30, .max_iterations = 20};
      const auto report = landau ? gauge::fix_landau(u, parameters) : gauge::fix_coulomb(u, parameters);
      return std::vector{static_cast<double>(report.iterations), report.theta, report.functional,
                         landau ? gauge::landau_theta(u) : gauge::coulomb_theta(u)};
    });
}

TEST_CASE("flow and gauge fixing: one process that says stop stops all") {
  const auto world = comm::world();
  const auto geometry =
      std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, some_grids(world.size()).front()));
  auto u = sample::field(geometry, 0.5);
  const bool mine = world.rank() == world.size() - 1;
  const auto flow = gauge::wilson_flow(u, {.t_max = 1, .step = 0.1},
                                       [&](const gauge::FlowPoint& p) { return !(mine && p.t > 0.15); });
  CHECK(flow.reason == "cancelled");
  CHECK(flow.steps == 2);
  const auto fix = gauge::fix_landau(u, {.tolerance = 1e-30, .check_every = 5},
                                     [&](const gauge::FixPoint& p) { return !(mine && p.iterations >= 5); });
  CHECK(fix.reason == "cancelled");
  CHECK(fix.iterations == 5);
}
