// SPDX-License-Identifier: Apache-2.0
//
// QuarkSolver on a device, split between processes, against the processor's on the same process grid.

#include <doctest/doctest.h>

#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 2, 6, 8};
constexpr std::int64_t volume = 4 * 2 * 6 * 8;

std::shared_ptr<const lattice::Geometry4> split_lattice() {
  const auto world = comm::world();
  const int z = world.size() % 3 == 0 ? 3 : 1;
  const int t = world.size() / z > 4 ? 4 : world.size() / z;
  const int x = world.size() / (z * t);
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, {x, 1, z, t}));
}

}  // namespace

TEST_CASE("device solver: processes agree with the processor on what they share") {
  const auto geometry = split_lattice();
  auto gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, test::random_links(volume, 1), 36));
  gauge.exchange_ghosts();
  WilsonCloverAction action;
  action.mass = 0.2;
  action.csw = 1.0;
  action.boundary = {1.0, std::polar(1.0, 0.4), 1.0, -1.0};
  SolverParameters parameters;
  parameters.kind = "bicgstab";
  parameters.tolerance = 1e-12;
  QuarkSolver here(gauge, action, parameters);
  std::vector<Numbers> b, x(2, Numbers(static_cast<std::size_t>(geometry->local_volume() * 12))), y = x;
  for (const unsigned seed : {2u, 3u})
    b.push_back(test::local_part(*geometry, test::random_numbers(volume * 12, seed), 12));
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  here.solve(std::vector<std::span<std::complex<double>>>(x.begin(), x.end()), sources);
  parameters.device = "host-executor";
  parameters.tolerance = 1e-10;
  for (const char* inner : {"fixed16", "double"}) {
    CAPTURE(inner);
    parameters.precision = std::string(inner) == "double" ? "double" : "mixed";
    parameters.inner_precision = "auto";
    QuarkSolver there(gauge, action, parameters);
    const auto reports = there.solve(std::vector<std::span<std::complex<double>>>(y.begin(), y.end()), sources);
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(reports[c].converged);
      CHECK(reports[c].residual <= 1e-10);
      CHECK(test::relative_distance(y[c], x[c]) < 1e-9);
    }
    Numbers dx(b[0].size()), dy = dx;
    here.apply(dx, b[0], true);
    there.apply(dy, b[0], true);
    CHECK(test::relative_distance(dy, dx) < 1e-14);
  }
}

TEST_CASE("device solver: processes agree with the processor on quarks of domain walls") {
  const auto geometry = split_lattice();
  auto gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, test::random_links(volume, 1), 36));
  gauge.exchange_ghosts();
  DomainWallAction action{.mass = 0.3, .m5 = 1.4, .ls = 4, .b = {1.5}, .c = {0.5}};
  action.boundary = {1.0, std::polar(1.0, 0.4), 1.0, -1.0};
  SolverParameters parameters;
  parameters.kind = "cg";
  parameters.tolerance = 1e-10;
  const auto b = test::local_part(*geometry, test::random_numbers(volume * 12, 2), 12);
  Numbers x(b.size()), y(b.size());
  QuarkSolver here(gauge, action, parameters);
  here.solve(x, b);
  parameters.device = "host-executor";
  for (const char* inner : {"fixed16", "float"}) {
    CAPTURE(inner);
    parameters.inner_precision = inner;
    QuarkSolver there(gauge, action, parameters);
    CHECK(there.solve(y, b).converged);
    CHECK(test::relative_distance(y, x) < 1e-8);
  }
}

TEST_CASE("device solver: every policy of the halo gives the same solution, again without allocating") {
  const auto geometry = split_lattice();
  auto gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, test::random_links(volume, 1), 36));
  gauge.exchange_ghosts();
  WilsonCloverAction action;
  action.mass = 0.4;
  SolverParameters parameters;
  parameters.kind = "bicgstab";
  parameters.device = "host-executor";
  const auto b = test::local_part(*geometry, test::random_numbers(volume * 12, 2), 12);
  Numbers first;
  for (const char* policy : {"staged", "zero-copy", "remote-write", "merged-pack", "auto"}) {
    CAPTURE(policy);
    parameters.device_halo = policy;
    QuarkSolver solver(gauge, action, parameters);
    Numbers x(b.size());
    CHECK(solver.solve(x, b).converged);
    if (first.empty()) first = x;
    CHECK(x == first);
    // A second solve allocates nothing, and its vectors lie where those of the first lay.
    const auto allocations = solver.backend()->memory().allocations;
    CHECK(solver.solve(x, b).converged);
    CHECK(x == first);
    CHECK(solver.backend()->memory().allocations == allocations);
  }
}

TEST_CASE("device solver: a device that one process cannot have is refused on all") {
  const auto geometry = split_lattice();
  const GaugeField gauge(geometry);
  SolverParameters parameters;
  parameters.device = "cuda:97";
  CHECK_THROWS_AS(QuarkSolver(gauge, WilsonCloverAction{}, parameters), core::InvalidArgument);
}

}  // namespace halocline::qcd
