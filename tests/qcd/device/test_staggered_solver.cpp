// SPDX-License-Identifier: Apache-2.0
//
// Staggered quarks from the solver of a device, against those of the processor.

#include <doctest/doctest.h>

#include <array>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/device/host_parameters.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 4, 4, 8};
constexpr std::int64_t volume = 512;
constexpr std::size_t length = 3 * volume;

GaugeField links() {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  gauge.exchange_ghosts();
  return gauge;
}

}  // namespace

TEST_CASE("device staggered: solutions of every action and precision are those of the processor") {
  const GaugeField gauge = links();
  std::vector<Numbers> b, x(3, Numbers(length)), y = x;
  for (const unsigned seed : {2u, 3u, 4u}) b.push_back(test::random_numbers(length, seed));
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  const auto spans = [](std::vector<Numbers>& of) {
    return std::vector<std::span<std::complex<double>>>(of.begin(), of.end());
  };
  for (const auto kind : {StaggeredKind::one_link, StaggeredKind::asqtad, StaggeredKind::hisq}) {
    const StaggeredAction action{.mass = 0.2, .kind = kind};
    SolverParameters on_cpu;
    on_cpu.kind = "cg";
    on_cpu.precision = "double";
    on_cpu.tolerance = 1e-12;
    QuarkSolver here(gauge, action, on_cpu);
    const auto expected = here.solve(spans(x), sources);
    for (const char* inner : {"double", "float", "auto"})
      for (const bool even_odd : {true, false}) {
        CAPTURE(inner);
        CAPTURE(even_odd);
        SolverParameters parameters = test::on_host_executor("auto", inner);
        parameters.tolerance = 1e-10;
        parameters.even_odd = even_odd;
        QuarkSolver there(gauge, action, parameters);
        for (const auto& report : there.solve(spans(y), sources)) {
          CHECK(report.converged);
          CHECK(report.residual <= 1e-10);
          CHECK(report.predicted_bytes >= there.backend()->memory().most_ours);
          // The Schur complement is hermitian, and needs no normal equations.
          if (even_odd) CHECK(report.iterations <= 1.1 * expected[0].iterations);
        }
        for (std::size_t c = 0; c < 3; ++c) CHECK(test::relative_distance(y[c], x[c]) < 1e-9);
        Numbers dx(length), dx_here(length);
        here.apply(dx_here, b[0], true);
        there.apply(dx, b[0], true);
        CHECK(test::relative_distance(dx, dx_here) < 1e-14);
        const auto [kept, reports] = there.solve_on_device(sources, {});
        CHECK(kept.shape == std::vector<std::int64_t>{3, 8, 4, 4, 4, 3});
        const auto* numbers = static_cast<const std::complex<double>*>(kept.data);
        for (std::size_t c = 0; c < 3; ++c)
          CHECK(test::relative_distance(Numbers(numbers + c * length, numbers + (c + 1) * length), y[c]) < 1e-12);
      }
  }
}

TEST_CASE("device staggered: shifted systems are those of the processor") {
  const GaugeField gauge = links();
  const StaggeredAction action{.mass = 0.2, .kind = StaggeredKind::hisq};
  const std::array shifts{0.0, 0.05, 0.5};
  for (const bool even_odd : {true, false}) {
    SolverParameters parameters;
    parameters.kind = "cg";
    parameters.tolerance = 1e-11;
    QuarkSolver here(gauge, action, parameters);
    parameters.device = "host-executor";
    parameters.even_odd = even_odd;
    QuarkSolver there(gauge, action, parameters);
    const Numbers b = test::random_numbers(length, 7);
    std::vector<Numbers> x(3, Numbers(length)), y = x;
    const auto spans = [](std::vector<Numbers>& of) {
      return std::vector<std::span<std::complex<double>>>(of.begin(), of.end());
    };
    here.solve_shifted(spans(x), shifts, b, even_odd);
    for (const auto& report : there.solve_shifted(spans(y), shifts, b, even_odd)) CHECK(report.converged);
    for (std::size_t i = 0; i < 3; ++i) CHECK(test::relative_distance(y[i], x[i]) < 1e-9);
  }
}

TEST_CASE("device staggered: storages and links that do not hold fat links are refused") {
  const GaugeField gauge = links();
  const StaggeredAction action{.mass = 0.2};
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, test::on_host_executor("cg", "fixed16")),
                       doctest::Contains("does not hold the fat links"), core::InvalidArgument);
  auto parameters = test::on_host_executor("cg", "float");
  parameters.device_links = 12;
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, parameters), doctest::Contains("need all 18"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, test::on_host_executor("gcr", "float")),
                       doctest::Contains("does not solve staggered"), core::InvalidArgument);
}

}  // namespace halocline::qcd
