// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/quark_solver.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "qcd/multigrid/thermal_links.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 4, 6, 8};
constexpr std::int64_t volume = 4 * 4 * 6 * 8;

double true_residual(std::span<const std::complex<double>> links, const WilsonCloverAction& action,
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
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  const auto b = test::random_numbers(volume * 12, 2);
  for (const char* kind :
       {"auto", "bicgstab", "cg", "gcr", "fgmres", "gmres-dr", "s-step-gcr", "block-bicgstab", "block-cg"})
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

TEST_CASE("quark solver: schwarz and a batch reach what they report, whatever the domains") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  std::vector<std::vector<std::complex<double>>> b;
  for (unsigned seed = 2; seed < 7; ++seed) b.push_back(test::random_numbers(volume * 12, seed));
  b[1].assign(b[1].size(), 0.0);
  for (auto& z : b[3]) z *= 1e-40;
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  for (const char* kind : {"schwarz", "auto", "bicgstab", "cg"})
    for (const int batch : {1, 3, 5}) {
      CAPTURE(kind);
      CAPTURE(batch);
      SolverParameters parameters;
      parameters.kind = kind;
      parameters.tolerance = 1e-12;
      parameters.rhs_batch = batch;
      parameters.schwarz.blocks =
          batch == 3 ? lattice::Coordinates<4>{1, 2, 2, 1} : lattice::Coordinates<4>{2, 1, 1, 1};
      QuarkSolver solver(gauge, action, parameters);
      auto x = b;
      const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
      const auto reports = solver.solve(solutions, sources);
      REQUIRE(reports.size() == b.size());
      for (std::size_t c = 0; c < b.size(); ++c) {
        CAPTURE(c);
        CHECK(reports[c].converged);
        // Five in batches of at most three are three and two.
        CHECK(reports[c].columns == (batch == 3 && c > 2 ? 2 : batch));
        if (c == 1) {
          CHECK(x[c] == b[c]);
          CHECK(reports[c].residual == 0);
          continue;
        }
        CHECK(reports[c].residual <= 1e-12);
        CHECK(std::abs(true_residual(links, action, x[c], b[c]) - reports[c].residual) < 1e-14);
      }
    }
}

TEST_CASE("quark solver: schwarz that fails is named, and the next method finishes") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  // On so rough and light a field the iteration diverges, and its hundredth power overflows single precision.
  const WilsonCloverAction action{.mass = -2.3};
  const auto b = test::random_numbers(volume * 12, 2);
  SolverParameters parameters;
  parameters.kind = "schwarz";
  parameters.tolerance = 1e-8;
  parameters.schwarz.nsap = 100;
  parameters.schwarz.steps = 20;
  QuarkSolver solver(gauge, action, parameters);
  std::vector<std::complex<double>> x(b.size());
  const auto report = solver.solve(x, b);
  CHECK(report.converged);
  CHECK(true_residual(links, action, x, b) < 1.01e-8);
  REQUIRE(report.notes.size() >= 2);
  CHECK(report.notes[0].text.find("schwarz") == 0);
  CHECK(report.notes[0].text.find("starting again from the true residual") != std::string::npos);
  CHECK(report.notes[1].text.find("going on with even-odd bicgstab, double precision") != std::string::npos);
  CHECK(report.method.find("even-odd") == 0);
}

TEST_CASE("quark solver: auto says what it measured, and uses it from then on") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const auto b = test::random_numbers(volume * 12, 2);
  QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.3, .csw = 1.0});
  std::vector<std::complex<double>> x(b.size());
  const auto first = solver.solve(x, b), second = solver.solve(x, b);
  REQUIRE(first.notes.size() == 1);
  CHECK(first.notes[0].text.find("auto: even-odd bicgstab, mixed precision would take") == 0);
  CHECK(second.notes.empty());
  CHECK(second.method == first.method);
  CHECK(second.residual <= 1e-10);
}

TEST_CASE("quark solver: a recalled trial is taken, and said once") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  const auto b = test::random_numbers(volume * 12, 2);
  std::vector<std::complex<double>> x(b.size()), y(b.size());
  SolverParameters small;
  small.multigrid.vectors = 8;
  for (const char* chosen : {"multigrid", "bicgstab"}) {
    QuarkSolver solver(gauge, action, small);
    const Trial trial{.chosen = chosen, .columns = 1};
    solver.recall(std::span(&trial, 1));
    const auto first = solver.solve(x, b), second = solver.solve(x, b);
    REQUIRE(first.notes.size() == 1);
    CHECK(first.notes[0].text ==
          fmt::format("auto: {} is used, as an earlier trial on this lattice found (one right-hand side)", chosen));
    CHECK(second.notes.empty());
    CHECK(solver.trials().size() == 1);
    SolverParameters named = small;
    named.kind = chosen;
    QuarkSolver(gauge, action, named).solve(y, b);
    CHECK(x == y);
  }
  QuarkSolver solver(gauge, action);
  // Schwarz is a candidate on several processes only.
  const Trial elsewhere{.chosen = "schwarz", .columns = 1}, wrong{.chosen = "gcr"};
  solver.recall(std::span(&elsewhere, 1));
  CHECK(solver.trials().empty());
  CHECK(solver.solve(x, b).notes.at(0).text.find(" would take ") != std::string::npos);
  CHECK_THROWS_WITH_AS(solver.recall(std::span(&wrong, 1)), doctest::Contains("bicgstab"), core::InvalidArgument);
}

TEST_CASE("quark solver: a limit, a cancellation and NaN are named, and never called converged") {
  const auto links = test::random_links(volume, 3);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  auto b = test::random_numbers(volume * 12, 4);
  std::vector<std::complex<double>> x(b.size());
  {
    SolverParameters parameters;
    parameters.kind = "bicgstab";  // Schwarz, which "auto" may choose, needs no more than these on links this rough
    parameters.max_iterations = 3;
    QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.1}, parameters);
    const auto report = solver.solve(x, b);
    CHECK_FALSE(report.converged);
    CHECK(report.reason == "iteration_limit");
    CHECK(report.residual > 1e-10);
  }
  {
    SolverParameters parameters;
    parameters.kind = "bicgstab";
    QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.1}, parameters);
    const auto report = solver.solve(x, b, [](int iterations, double) { return iterations < 2; });
    CHECK(report.reason == "cancelled");
    CHECK_FALSE(report.converged);
  }
  {
    QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.1});
    b[17] = {std::numeric_limits<double>::quiet_NaN(), 0};
    const auto report = solver.solve(x, b);
    CHECK(report.reason == "not_finite");
    CHECK_FALSE(report.converged);
  }
}

TEST_CASE("quark solver: a zero source gives zero") {
  const GaugeField gauge(test::one_process(extents));
  QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.5});
  const std::vector<std::complex<double>> zero(volume * 12);
  std::vector<std::complex<double>> x(zero.size(), 1.0);
  const auto report = solver.solve(x, zero);
  CHECK(report.converged);
  CHECK(report.residual == 0);
  CHECK(x == zero);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].text == "the source is zero, and so is the solution");
}

TEST_CASE("quark solver: a source of any size has its solution, alone and beside others of very different size") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  const auto plain = test::random_numbers(volume * 12, 2);
  // Powers of two, so that every number of a solution is that of the plain source, scaled.
  const std::vector<int> exponents{-565, 0, 565, -900, 900};  // 1e-170, 1, 1e170, 1e-271, 1e271
  std::vector<std::vector<std::complex<double>>> b;
  for (const int exponent : exponents) {
    b.push_back(plain);
    for (auto& z : b.back()) z *= std::ldexp(1.0, exponent);
  }
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  for (const char* device : {"cpu", "host-executor"})
    for (const char* kind : {"schwarz", "auto", "bicgstab", "cg", "gcr", "fgmres"})
      for (const int batch : {1, 5}) {
        CAPTURE(device);
        CAPTURE(kind);
        CAPTURE(batch);
        SolverParameters parameters;
        parameters.kind = kind;
        parameters.device = device;
        parameters.rhs_batch = batch;
        if (parameters.on_device() && (std::string(kind) == "schwarz" || std::string(kind) == "fgmres")) continue;
        QuarkSolver solver(gauge, action, parameters);
        auto x = b;
        const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
        const auto reports = solver.solve(solutions, sources);
        for (std::size_t c = 0; c < b.size(); ++c) {
          CAPTURE(exponents[c]);
          CHECK(reports[c].converged);
          CHECK(reports[c].iterations > 0);
          CHECK(reports[c].residual > 0);
          CHECK(reports[c].residual <= parameters.tolerance);
          for (auto& z : x[c]) z *= std::ldexp(1.0, -exponents[c]);
          CHECK(x[c] == x[1]);
          CHECK(std::abs(true_residual(links, action, x[c], plain) - reports[c].residual) < 1e-14);
        }
      }
}

TEST_CASE("quark solver: a source whose solution double does not hold is given up with a reason") {
  const GaugeField gauge(test::one_process(extents));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double size : {1e-300, 1e-320, 1e300, infinity, std::numeric_limits<double>::quiet_NaN()})
    for (const char* device : {"cpu", "host-executor"}) {
      CAPTURE(size);
      CAPTURE(device);
      SolverParameters parameters;
      parameters.device = device;
      QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.5}, parameters);
      std::vector<std::vector<std::complex<double>>> b(2, test::random_numbers(volume * 12, 2));
      b[0].assign(b[0].size(), 0.0);
      b[0][100] = size;
      auto x = b;
      const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
      const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
      const auto reports = solver.solve(solutions, sources);
      CHECK_FALSE(reports[0].converged);
      CHECK(reports[0].reason == "not_finite");
      REQUIRE_FALSE(reports[0].notes.empty());
      CHECK(reports[0].notes.back().text.find(std::isfinite(size) ? "below 1e-289 or above 1e289"
                                                                  : "NaN or infinite") != std::string::npos);
      CHECK(reports[1].converged);
    }
}

TEST_CASE("quark solver: unknown names and impossible numbers are refused") {
  const GaugeField gauge(test::one_process(extents));
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.kind = "bicg"}), doctest::Contains("bicgstab"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.tolerance = 0}), doctest::Contains("tolerance"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, {.precision = "half"}), doctest::Contains("mixed"),
                       core::InvalidArgument);
  SolverParameters parameters;
  parameters.kind = "schwarz";
  parameters.precision = "double";
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, parameters), doctest::Contains("mixed"), core::InvalidArgument);
  parameters = {};
  parameters.outer = "richardson";
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, parameters), doctest::Contains("gcr"), core::InvalidArgument);
  parameters = {};
  parameters.rhs_batch = -1;
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, parameters), doctest::Contains("rhs_batch"), core::InvalidArgument);
  parameters = {};
  parameters.schwarz.inner = "lu";
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, {}, parameters), doctest::Contains("minres"), core::InvalidArgument);
  QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.5});
  std::vector<std::complex<double>> x(12 * volume);
  const std::vector<std::span<std::complex<double>>> solutions{x};
  CHECK_THROWS_WITH_AS(solver.solve(solutions, std::vector<std::span<const std::complex<double>>>{x, x}),
                       doctest::Contains("2 sources"), core::InvalidArgument);
}

TEST_CASE("quark solver: block methods need fewer iterations than their columns alone") {
  const GaugeField gauge = test::thermal_links();
  const WilsonCloverAction action{.mass = -0.08, .csw = 1.0};
  const auto numbers = 12 * gauge.geometry().local_volume();
  constexpr std::size_t columns = 6;
  std::vector<std::vector<std::complex<double>>> b, x(columns), y(columns);
  for (unsigned seed = 0; seed < columns; ++seed) b.push_back(test::random_numbers(numbers, 10 + seed));
  b[3] = b[1];  // a column that depends on another one
  for (std::size_t c = 0; c < columns; ++c) x[c].resize(b[c].size()), y[c].resize(b[c].size());
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  const auto solve = [&](const char* kind, auto& into) {
    SolverParameters parameters;
    parameters.kind = kind;
    parameters.precision = "double";
    const std::vector<std::span<std::complex<double>>> solutions(into.begin(), into.end());
    return QuarkSolver(gauge, action, parameters).solve(solutions, sources);
  };
  for (const auto& [block, alone] : {std::pair{"block-cg", "cg"}, std::pair{"block-bicgstab", "bicgstab"}}) {
    CAPTURE(block);
    const auto together = solve(block, x), single = solve(alone, y);
    int most = 0, most_alone = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      CHECK(together[c].converged);
      CHECK(test::relative_distance(x[c], y[c]) < 1e-8);
      most = std::max(most, together[c].iterations);
      most_alone = std::max(most_alone, single[c].iterations);
    }
    CHECK(most < 0.9 * most_alone);
  }
}

TEST_CASE("quark solver: shifted systems of D^dagger D and of the Schur complement") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.0};
  SolverParameters parameters;
  parameters.tolerance = 1e-11;
  QuarkSolver solver(gauge, action, parameters);
  const auto b = test::random_numbers(volume * 12, 2);
  const std::vector<double> shifts{0.7, 0.0, 0.1};
  std::vector<std::vector<std::complex<double>>> x(3, std::vector<std::complex<double>>(b.size()));
  const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
  const auto reports = solver.solve_shifted(solutions, shifts, b);
  std::vector<std::complex<double>> dx(b.size()), ddx(b.size());
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(reports[i].converged);
    CHECK(reports[i].iterations <= reports[1].iterations);
    solver.apply(dx, x[i]);
    solver.apply(ddx, dx, true);
    for (std::size_t n = 0; n < ddx.size(); ++n) ddx[n] += shifts[i] * x[i][n];
    CHECK(test::relative_distance(ddx, b) < 1.01e-11);
  }
  // On the even sites alone. The odd ones of the source and of the solutions play no part.
  auto other = b;
  const auto odd = [&](std::size_t n) {
    const auto at = lattice::coordinates_of<4>(static_cast<std::int64_t>(n / 12), extents);
    return (at[0] + at[1] + at[2] + at[3]) % 2 != 0;
  };
  for (std::size_t n = 0; n < b.size(); ++n)
    if (odd(n)) other[n] = 0.5;
  auto y = x;
  const std::vector<std::span<std::complex<double>>> others(y.begin(), y.end());
  for (auto& v : x) std::ranges::fill(v, 7.0);
  for (auto& v : y) std::ranges::fill(v, 7.0);
  for (const auto& report : solver.solve_shifted(solutions, shifts, b, true)) {
    CHECK(report.converged);
    CHECK(report.method.find("even-odd multi-shift cg") == 0);
  }
  solver.solve_shifted(others, shifts, other, true);
  CHECK(x == y);
  CHECK(std::abs(x[0][0]) != 7.0);
  for (std::size_t n = 0; n < b.size(); ++n)
    if (odd(n)) REQUIRE(x[1][n] == 7.0);
  CHECK_THROWS_AS(solver.solve_shifted(std::span(solutions).first(2), shifts, b), core::InvalidArgument);
}

}  // namespace halocline::qcd
