// SPDX-License-Identifier: Apache-2.0
/// @file
/// The dense eigenproblem among processes. Without a ScaLAPACK that stands on this MPI only LAPACK's way is tested.

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/dense_problem.hpp"
#include "tddft/ground_state/matrices.hpp"

#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

using namespace tests;

bool on_scalapack(const comm::Communicator& world) { return world.all(find_scalapack().problem.empty()); }

std::vector<std::string> methods_here(const comm::Communicator& world) {
  return on_scalapack(world) ? std::vector<std::string>{"lapack", "scalapack"} : std::vector<std::string>{"lapack"};
}

System system_of() {
  System system;
  system.grid = {{8, 8, 32}, {0.5, 0.5, 0.5}, Boundary::periodic};
  system.jellium = JelliumSphere{1.0, 2.0, {}};
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  system.electrons = 2;
  system.states = 40;
  return system;
}

std::vector<ProcessCounts> divisions(int ranks) {
  std::vector<ProcessCounts> all{{1, ranks, {1, 1, 1}}, {1, 1, {1, 1, ranks}}};
  if (ranks % 2 == 0) all.push_back({2, ranks / 2, {1, 1, 1}});
  if (ranks % 4 == 0) all.push_back({1, ranks / 4, {1, 2, 2}});
  return all;
}

/// Sets a matrix as Rayleigh-Ritz does: columns of a part, and the rows from its first one on.
void set(DenseProblem& problem, DenseProblem::Which which, const Matrix& whole) {
  constexpr int parts = 3;
  const int n = whole.rows();
  for (int part = 0; part < parts; ++part) {
    const int first = n * part / parts, last = n * (part + 1) / parts;
    std::vector<int> rows(static_cast<std::size_t>(n - first)), columns(static_cast<std::size_t>(last - first));
    std::iota(rows.begin(), rows.end(), first);
    std::iota(columns.begin(), columns.end(), first);
    problem.set(which, rows, columns, whole.part(first, first, n - first, last - first));
  }
}

bool alike(const comm::Communicator& world, const Eigenpairs& pairs) {
  std::vector<double> first(2 * pairs.vectors.size());
  std::memcpy(first.data(), pairs.vectors.data(), first.size() * sizeof(double));
  first.insert(first.end(), pairs.values.begin(), pairs.values.end());
  const std::vector<double> mine = first;
  world.broadcast(std::as_writable_bytes(std::span(first)), 0);
  return world.all(first == mine);
}

}  // namespace

TEST_CASE("dense problem: pairs of both ways solve the equation, with the same bits on all processes of a channel") {
  const comm::Communicator world = comm::world();
  if (!on_scalapack(world)) MESSAGE("this program " << find_scalapack().problem << ": LAPACK alone is tested");
  const System system = system_of();
  for (const ProcessCounts& counts : divisions(world.size())) {
    const std::string text = counts.text();
    CAPTURE(text);
    const Decomposition decomposition(world, system, counts);
    const auto channel = static_cast<std::uint32_t>(decomposition.channels().begin);
    const comm::Communicator team = world.split(static_cast<int>(channel), world.rank());
    for (const int n : {1, 7, 61, 96}) {
      CAPTURE(n);
      const Matrix h = hermitian(n, 3 + channel), a = random_matrix(3 * n, n, 5), s = inner(a, a);
      const Eigenpairs expected = generalised_eigenpairs(h, s, n);
      REQUIRE(expected.found);
      for (const std::string& method : methods_here(world)) {
        CAPTURE(method);
        DenseProblem problem(decomposition, n, method, 8);
        CHECK(problem.distributed() == (method == "scalapack" && team.size() > 1));
        for (int round = 0; round < 2; ++round) {
          problem.begin();
          set(problem, DenseProblem::Which::s, s);
          set(problem, DenseProblem::Which::h, h);
          const Eigenpairs pairs = problem.solve();
          REQUIRE(pairs.found);
          CHECK(alike(team, pairs));
          const auto [equation, unit] = defects(h, s, pairs);
          CHECK(equation < 1e-11 * n);
          CHECK(unit < 1e-11);
          for (std::size_t i = 0; i < expected.values.size(); ++i)
            CHECK(std::abs(pairs.values[i] - expected.values[i]) < 1e-11);
        }
      }
    }
  }
}

TEST_CASE("dense problem: overlaps near the rounding, zero vectors and infinities end as with LAPACK") {
  const comm::Communicator world = comm::world();
  const System system = system_of();
  const Decomposition decomposition(world, system, {1, world.size(), {1, 1, 1}});
  const int n = 40;
  const Matrix h = hermitian(n, 1);
  Matrix a = random_matrix(2 * n, n, 2);
  for (int i = 0; i < 2 * n; ++i) a(i, 1) = a(i, 0) + 1e-6 * a(i, 1);  // a pivot of 1e-6
  const Matrix nearly_dependent = inner(a, a);
  for (int i = 0; i < 2 * n; ++i) a(i, 1) = 0;
  const Matrix dependent = inner(a, a);
  Matrix infinite = h;
  infinite(n - 1, 2) = std::numeric_limits<double>::infinity();
  for (const std::string& method : methods_here(world)) {
    CAPTURE(method);
    DenseProblem problem(decomposition, n, method, 8);
    const auto solved = [&](const Matrix& of_h, const Matrix& of_s) {
      problem.begin();
      set(problem, DenseProblem::Which::s, of_s);
      set(problem, DenseProblem::Which::h, of_h);
      return problem.solve();
    };
    const Eigenpairs pairs = solved(h, nearly_dependent), expected = generalised_eigenpairs(h, nearly_dependent, n);
    REQUIRE(pairs.found == expected.found);
    CHECK(pairs.values == expected.values);  // the way of LAPACK
    CHECK(!solved(h, dependent).found);
    CHECK(!solved(infinite, nearly_dependent).found);
  }
}

TEST_CASE("dense problem: what there is not is refused on every rank") {
  const comm::Communicator world = comm::world();
  const System system = system_of();
  const Decomposition decomposition(world, system, {1, 1, {1, 1, world.size()}});
  CHECK_THROWS_WITH_AS(DenseProblem(decomposition, 5, "magma"),
                       doctest::Contains("solved by \"magma\"; give auto, lapack, scalapack"), core::InvalidArgument);
  if (world.size() > 1 && !on_scalapack(world))
    CHECK_THROWS_WITH_AS(DenseProblem(decomposition, 5, "scalapack"), doctest::Contains("or give \"auto\""),
                         core::InvalidArgument);
  CHECK(!DenseProblem(decomposition, DenseProblem::large - 1, "auto").distributed());
}

}  // namespace halocline::tddft
