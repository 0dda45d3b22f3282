// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark_solver.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 4, 6, 8};
constexpr std::int64_t volume = 4 * 4 * 6 * 8;

double true_residual(std::span<const std::complex<double>> links, const ActionParameters& action,
                     const std::vector<std::complex<double>>& x, const std::vector<std::complex<double>>& b) {
  test::ReferenceParameters reference;
  reference.mass = action.mass;
  reference.csw = action.csw;
  return test::relative_distance(test::ReferenceOperator(extents, links, reference).apply(x), b);
}

}  // namespace

TEST_CASE("quark solver: every method and precision reaches the residual it reports") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const ActionParameters action{.mass = 0.3, .csw = 1.0};
  const auto b = test::random_numbers(volume * 12, 2);
  for (const char* kind : {"auto", "bicgstab", "cg", "gcr", "fgmres"})
    for (const char* precision : {"mixed", "double"})
      for (const char* schur : {"symmetric", "asymmetric", "none"}) {
        CAPTURE(kind);
        CAPTURE(precision);
        CAPTURE(schur);
        SolverParameters parameters;
        parameters.kind = kind;
        parameters.precision = precision;
        parameters.even_odd = std::string(schur) != "none";
        if (parameters.even_odd) parameters.schur = schur;
        parameters.tolerance = 1e-11;
        QuarkSolver solver(gauge, action, parameters);
        std::vector<std::complex<double>> x(b.size());
        const SolveReport report = solver.solve(x, b);
        CHECK(report.converged);
        CHECK(report.reason == "converged");
        CHECK(report.residual <= 1e-11);
        CHECK(report.iterations > 0);
        // The plain operator sees the same residual, to the rounding of b - D x.
        CHECK(std::abs(true_residual(links, action, x, b) - report.residual) < 1e-14);
      }
}

TEST_CASE("quark solver: a limit, a cancellation and NaN are named, and never called converged") {
  const auto links = test::random_links(volume, 3);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  auto b = test::random_numbers(volume * 12, 4);
  std::vector<std::complex<double>> x(b.size());
  {
    SolverParameters parameters;
    parameters.max_iterations = 3;
    QuarkSolver solver(gauge, {.mass = 0.1}, parameters);
    const auto report = solver.solve(x, b);
    CHECK_FALSE(report.converged);
    CHECK(report.reason == "iteration_limit");
    CHECK(report.residual > 1e-10);
  }
  {
    QuarkSolver solver(gauge, {.mass = 0.1});
    const auto report = solver.solve(x, b, [](int iterations, double) { return iterations < 2; });
    CHECK(report.reason == "cancelled");
    CHECK_FALSE(report.converged);
  }
  {
    QuarkSolver solver(gauge, {.mass = 0.1});
    b[17] = {std::numeric_limits<double>::quiet_NaN(), 0};
    const auto report = solver.solve(x, b);
    CHECK(report.reason == "not_finite");
    CHECK_FALSE(report.converged);
  }
}

TEST_CASE("quark solver: a zero source gives zero") {
  const GaugeField gauge(test::one_process(extents));
  QuarkSolver solver(gauge, {.mass = 0.5});
  const std::vector<std::complex<double>> zero(volume * 12);
  std::vector<std::complex<double>> x(zero.size(), 1.0);
  const auto report = solver.solve(x, zero);
  CHECK(report.converged);
  CHECK(report.residual == 0);
  CHECK(x == zero);
}

TEST_CASE("quark solver: unknown names and impossible numbers are refused") {
  const GaugeField gauge(test::one_process(extents));
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.kind = "bicg"}), doctest::Contains("bicgstab"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.tolerance = 0}), doctest::Contains("tolerance"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.precision = "half"}), doctest::Contains("mixed"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
