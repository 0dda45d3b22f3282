// SPDX-License-Identifier: Apache-2.0
//
// Quarks of domain walls from the solver of a device, against those of the processor.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/device/host_parameters.hpp"
#include "qcd/device/quark_oracle_definition.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 4, 4, 4};
constexpr std::int64_t volume = 256;
constexpr std::size_t length = 12 * volume;

}  // namespace

TEST_CASE("device walls: quarks and midpoints of every precision are those of the processor") {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  gauge.exchange_ghosts();
  const std::vector<Numbers> eta{test::random_numbers(length, 2), test::random_numbers(length, 3)};
  const std::vector<std::span<const std::complex<double>>> sources(eta.begin(), eta.end());
  const auto solve = [&](QuarkSolver& solver, std::vector<Numbers>& x, std::vector<Numbers>& mid) {
    x.assign(2, Numbers(length));
    mid = x;
    return solver.solve(std::vector<std::span<std::complex<double>>>(x.begin(), x.end()), sources, {},
                        std::vector<std::span<std::complex<double>>>(mid.begin(), mid.end()));
  };
  for (const DomainWallAction& action : {DomainWallAction{.mass = 0.3, .m5 = 1.2, .ls = 4},
                                         DomainWallAction{.mass = 0.3, .m5 = 1.4, .ls = 6, .b = {1.5}, .c = {0.5}}}) {
    SolverParameters on_cpu;
    on_cpu.kind = "cg";
    on_cpu.precision = "double";
    on_cpu.tolerance = 1e-12;
    QuarkSolver here(gauge, action, on_cpu);
    std::vector<Numbers> x, mid, y, mid_there;
    solve(here, x, mid);
    for (const char* inner : {"double", "float", "fixed16"}) {
      CAPTURE(inner);
      SolverParameters parameters = test::on_host_executor("auto", inner);
      parameters.tolerance = 1e-10;
      QuarkSolver there(gauge, action, parameters);
      for (const auto& report : solve(there, y, mid_there)) {
        CHECK(report.converged);
        CHECK(report.residual <= 1e-10);
        CHECK(report.predicted_bytes >= there.backend()->memory().most_ours);
      }
      for (std::size_t c = 0; c < 2; ++c) {
        CHECK(test::relative_distance(y[c], x[c]) < 1e-8);
        CHECK(test::relative_distance(mid_there[c], mid[c]) < 1e-8);
      }
      // Solutions that stay on the device, which is host memory here, are the quarks in four dimensions.
      const auto [kept, reports] = there.solve_on_device(sources, {});
      CHECK(kept.shape == std::vector<std::int64_t>{2, 4, 4, 4, 4, 4, 3});
      const auto* numbers = static_cast<const std::complex<double>*>(kept.data);
      for (std::size_t c = 0; c < 2; ++c)
        CHECK(test::relative_distance(Numbers(numbers + c * length, numbers + (c + 1) * length), y[c]) < 1e-12);
    }
  }
}

TEST_CASE("device walls: shifted systems are those of the processor") {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  gauge.exchange_ghosts();
  for (const DomainWallAction& action : {DomainWallAction{.mass = 0.3, .m5 = 1.2, .ls = 4},
                                         DomainWallAction{.mass = 0.3, .m5 = 1.4, .ls = 6, .b = {1.5}, .c = {0.5}}}) {
    const std::size_t all = length * static_cast<std::size_t>(action.ls);
    const Numbers b = test::random_numbers(all, 4);
    const std::array<double, 2> shifts{0.02, 0.5};
    for (const bool even_odd : {true, false}) {
      CAPTURE(action.ls);
      CAPTURE(even_odd);
      std::array<std::vector<Numbers>, 2> x;
      for (const bool device : {false, true}) {
        SolverParameters parameters;
        if (device) parameters = test::on_host_executor("auto", "double");
        parameters.kind = "cg";
        parameters.precision = "double";
        parameters.even_odd = even_odd;
        parameters.tolerance = 1e-12;
        x[device] = std::vector<Numbers>(2, Numbers(all));
        QuarkSolver solver(gauge, action, parameters);
        const std::vector<std::span<std::complex<double>>> solutions(x[device].begin(), x[device].end());
        for (const auto& report : solver.solve_shifted(solutions, shifts, b, even_odd)) CHECK(report.converged);
      }
      for (std::size_t i = 0; i < shifts.size(); ++i) CHECK(test::relative_distance(x[1][i], x[0][i]) < 1e-10);
    }
    SolverParameters symmetric = test::on_host_executor("auto", "double");
    symmetric.schur = "symmetric";
    Numbers one(all);
    const std::array<std::span<std::complex<double>>, 1> solution{one};
    CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, symmetric).solve_shifted(solution, std::array{0.1}, b, true),
                         doctest::Contains("leave schur out"), core::InvalidArgument);
  }
}

TEST_CASE("device walls: actions and methods that a device does not know are refused") {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  gauge.exchange_ghosts();
  const auto open = [&](const Action& action, const char* kind) {
    return QuarkSolver(gauge, action, test::on_host_executor(kind, "fixed16"));
  };
  CHECK_THROWS_WITH_AS(open(TwistedDoubletAction{{.mass = 0.1}, 0.2, 0.1}, "cg"),
                       doctest::Contains("doublets of twisted quarks do not run"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(open(DomainWallAction{.ls = 4}, "bicgstab"), doctest::Contains("domain-wall"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(open(DomainWallAction{.ls = 4}, "block-cg"), doctest::Contains("runs on the processor"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
