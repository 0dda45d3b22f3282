// SPDX-License-Identifier: Apache-2.0
//
// Operators and solutions on every process grid of the ranks against the same on one process.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/staggered/staggered.hpp"
#include "halocline/qcd/twisted/twisted_doublet.hpp"
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
  WilsonCloverAction action{.mass = 0.1, .csw = 1.2};
  action.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, bool dagger, int lanes) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    const WilsonSetup setup(gauge, action, lanes);
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
  const auto all = grids(world.size());
  std::size_t turn = 0;
  for (bool dagger : {false, true}) {
    const auto whole = run(test::one_process(extents), dagger, 16);
    for (const auto& grid : all)
      for (int lanes : {1, 4, 16}) {
        if (all.size() > 4 && turn++ % 4 != 0) continue;  // of many grids each takes some of the lanes
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

TEST_CASE("doublet: D does not depend on the process grid") {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 1);
  const auto psi = test::random_numbers(volume * 24, 2);
  const TwistedDoubletAction action{{.mass = 0.1, .csw = 1.2}, 0.3, 0.4};
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, int lanes) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    const TwistedDoublet<double> d(TwistedDoubletSetup(gauge, action, lanes));
    auto in = d.field(lattice::Subset::full), out = in;
    const auto source = test::local_part(*geometry, psi, 24);
    d.load_sources(in, std::array{std::span<const std::complex<double>>(source)});
    d.apply(out, in);
    d.apply_dagger(in, out);
    std::vector<std::complex<double>> result(source.size());
    d.unload_quark(result, in, 0);
    return result;
  };
  const auto whole = run(test::one_process(extents), 16);
  std::size_t turn = 0;
  const auto all = grids(world.size());
  for (const auto& grid : all) {
    if (all.size() > 4 && turn++ % 4 != 0) continue;
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    CHECK(test::relative_distance(run(geometry, turn % 2 == 0 ? 16 : 4), test::local_part(*geometry, whole, 24)) <
          1e-14);
  }
}

TEST_CASE("domain wall: D, its adjoint and the quark of a source do not depend on the process grid") {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 1);
  const auto psi = test::random_numbers(volume * 12, 2);
  DomainWallAction action{.mass = 0.1, .m5 = 1.6, .ls = 4};
  action.b = {{1.4, 0.2}, 1.1, {1.6, -0.2}, 1.3};
  action.c = {{0.4, 0.2}, 0.1, {0.6, -0.2}, 0.3};
  action.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, int lanes) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    const DomainWallSetup setup(gauge, action, lanes);
    const DomainWall<double> d(setup, 8);
    auto in = spinor_field<double>(d.layout(), lattice::Subset::full, 8);
    auto out = in;
    const auto source = test::local_part(*geometry, psi, 12);
    const std::vector<std::span<const std::complex<double>>> sources{source, source};
    d.load_sources(in, sources);
    d.apply_full(out, in, true);
    d.apply_full(in, out);
    d.apply(out, in);
    std::vector<std::complex<double>> result(geometry->local_volume() * 12);
    d.unload_quark(result, out, 1);
    return result;
  };
  const auto whole = run(test::one_process(extents), 16);
  std::size_t turn = 0;
  const auto all = grids(world.size());
  for (const auto& grid : all) {
    if (all.size() > 4 && turn++ % 4 != 0) continue;
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    CHECK(test::relative_distance(run(geometry, turn % 2 == 0 ? 16 : 4), test::local_part(*geometry, whole, 12)) <
          1e-14);
  }
}

TEST_CASE_TEMPLATE("staggered: links, D and its adjoint do not depend on the process grid", T, float, double) {
  const auto world = comm::world();
  // Rough links, of which some are nearly singular when they are smeared.
  const auto links = test::random_links(volume, 1);
  const auto psi = test::random_numbers(volume * 3, 2);
  for (const auto kind : {StaggeredKind::one_link, StaggeredKind::hisq}) {
    StaggeredAction action{.mass = 0.1, .kind = kind};
    action.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
    const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, int lanes) {
      const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
      const StaggeredSetup setup(gauge, action, lanes);
      const Staggered<T> d(setup, 2);
      auto in = d.field(lattice::Subset::full), out = d.field(lattice::Subset::full);
      from_canonical<T>(in, 1, test::local_part(*geometry, psi, 3));
      // So often that all buffers of the exchange have been used again.
      for (int i = 0; i < 2; ++i) {
        d.apply_dagger(out, in);
        d.apply(in, out);
      }
      std::vector<std::complex<double>> result(geometry->local_volume() * 3);
      to_canonical<T>(result, in, 1);
      return result;
    };
    const auto whole = run(test::one_process(extents), 16);
    for (const auto& grid : grids(world.size())) {
      const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
      const auto& local = geometry->local();
      if (kind != StaggeredKind::one_link && std::ranges::any_of(local, [](auto extent) { return extent < 3; }))
        continue;
      for (const int lanes : {16, 2})
        CHECK(test::relative_distance(run(geometry, lanes), test::local_part(*geometry, whole, 3)) <
              8 * std::numeric_limits<T>::epsilon());
    }
  }
}

TEST_CASE("quark solver: the solution does not depend on the process grid") {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 3);
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  const double tolerance = 1e-12;
  std::vector<std::vector<std::complex<double>>> b;
  for (unsigned seed = 4; seed < 7; ++seed) b.push_back(test::random_numbers(volume * 12, seed));
  const auto run = [&](std::shared_ptr<const lattice::Geometry4> geometry, const SolverParameters& parameters) {
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    QuarkSolver solver(gauge, action, parameters);
    std::vector<std::vector<std::complex<double>>> x, local;
    for (const auto& source : b) local.push_back(test::local_part(*geometry, source, 12));
    x = local;
    const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
    const std::vector<std::span<const std::complex<double>>> sources(local.begin(), local.end());
    for (const auto& report : solver.solve(solutions, sources)) {
      CHECK(report.converged);
      CHECK(report.residual <= tolerance);
    }
    return x;
  };
  SolverParameters plain;
  plain.kind = "bicgstab";
  plain.tolerance = tolerance;
  const auto whole = run(test::one_process(extents), plain);
  const auto all = grids(world.size());
  std::vector<SolverParameters> many(1, plain);
  for (const lattice::Coordinates<4>& blocks : {lattice::Coordinates<4>{2, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}}) {
    auto& parameters = many.emplace_back(plain);
    parameters.kind = "schwarz";
    parameters.schwarz.blocks = blocks;
    parameters.rhs_batch = blocks[0] == 1 ? 1 : 3;
  }
  many.back().schwarz.storage = "half";
  many.emplace_back(plain).kind = "auto";
  for (const auto& grid : {all.front(), all[all.size() / 2], all.back()}) {
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
    for (const auto& parameters : many) {
      const auto x = run(geometry, parameters);
      CAPTURE(parameters.kind);
      CAPTURE(parameters.schwarz.blocks[0]);
      for (std::size_t c = 0; c < b.size(); ++c) {
        CAPTURE(c);
        // D of a rough field at this mass has a condition number below 20.
        CHECK(test::relative_distance(x[c], test::local_part(*geometry, whole[c], 12)) < 20 * 2 * tolerance);
      }
    }
  }
}

TEST_CASE("quark solver: the same ranks give the same bits") {
  const auto world = comm::world();
  const auto links = test::random_links(volume, 3);
  const auto b = test::random_numbers(volume * 12, 4);
  const auto grid = grids(world.size()).front();
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grid));
  const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
  const auto source = test::local_part(*geometry, b, 12);
  for (const char* kind : {"schwarz", "bicgstab"}) {
    std::vector<std::vector<std::complex<double>>> x(2, source);
    for (auto& solution : x) {
      QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.3, .csw = 1.0}, {.kind = kind});
      CHECK(solver.solve(solution, source).converged);
    }
    CHECK(x[0] == x[1]);
  }
}

}  // namespace halocline::qcd
