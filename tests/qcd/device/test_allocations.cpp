// SPDX-License-Identifier: Apache-2.0
//
// Allocations of solves on a device: the first solve allocates, and a repetition allocates nothing and has the same
// bits.

#include <doctest/doctest.h>

#include <vector>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/device/host_parameters.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 4, 4, 4};
constexpr std::int64_t numbers = 256 * 12;

GaugeField links() {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(256, 1));
  gauge.exchange_ghosts();
  return gauge;
}

std::int64_t allocations(const QuarkSolver& solver) { return solver.backend()->memory().allocations; }

}  // namespace

TEST_CASE("device allocations: a second solve makes none, with the same bits") {
  const GaugeField gauge = links();
  const auto b = test::random_numbers(numbers, 2);
  // With emulated axes a halo exchange runs in every hop, on streams of its own.
  for (const auto& [halo, emulated] : {std::pair<const char*, unsigned>{"", 0u},
                                       {"staged", 0b1010u},
                                       {"copy-engine", 0b1010u},
                                       {"remote-write", 0b1010u}})
    for (const char* kind : {"bicgstab", "cg", "gcr"})
      for (const char* inner : {"double", "float", "fixed16"}) {
        CAPTURE(halo);
        CAPTURE(kind);
        CAPTURE(inner);
        auto parameters = test::on_host_executor(kind, inner);
        parameters.device_halo = halo;
        parameters.device_emulated = emulated;
        QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.3, .csw = 1.0}, parameters);
        Numbers x(b.size()), y(b.size());
        const auto opened = allocations(solver);
        CHECK(solver.solve(x, b).converged);
        const auto first = allocations(solver);
        CHECK(solver.solve(y, b).converged);
        CHECK(first > opened);
        CHECK(allocations(solver) == first);
        CHECK(y == x);
      }
}

TEST_CASE("device allocations: nor do a second application of D and a second multi-shift solve") {
  const GaugeField gauge = links();
  const auto b = test::random_numbers(numbers, 2);
  for (const bool even_odd : {true, false}) {
    auto parameters = test::on_host_executor("bicgstab", "double");
    parameters.even_odd = even_odd;
    QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.3, .csw = 1.0}, parameters);
    const std::vector<double> shifts{0.5, 2.0};
    const auto run = [&] {
      std::vector<Numbers> x(3, Numbers(b.size()));
      const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.begin() + 2);
      for (const auto& result : solver.backend()->multishift(solutions, shifts, b, {.tolerance = 1e-9}))
        CHECK(result.converged());
      solver.apply(x[2], b);
      return x;
    };
    const auto x = run();
    const auto first = allocations(solver);
    CHECK(run() == x);
    CHECK(allocations(solver) == first);
  }
}

TEST_CASE("device allocations: another number of columns gives back the vectors of the former one") {
  const GaugeField gauge = links();
  const auto b = test::random_numbers(numbers, 2);
  auto parameters = test::on_host_executor("bicgstab", "fixed16");
  parameters.rhs_batch = 4;
  QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.3, .csw = 1.0}, parameters);
  const auto solve = [&](std::size_t columns) {
    std::vector<Numbers> x(columns, Numbers(b.size()));
    const std::vector<std::span<const std::complex<double>>> sources(columns, b);
    solver.solve(std::vector<std::span<std::complex<double>>>(x.begin(), x.end()), sources);
    return solver.backend()->memory().ours;
  };
  const auto one = solve(1), four = solve(4);
  CHECK(four > one);
  CHECK(solve(1) == one);
  CHECK(solve(4) == four);
}

}  // namespace halocline::qcd
