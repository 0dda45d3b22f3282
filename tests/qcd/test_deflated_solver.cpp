// SPDX-License-Identifier: Apache-2.0
//
// Solvers that low modes deflate: the solution of BiCGStab in fewer iterations, alone and in batches.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/eigenvalues.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;
constexpr std::int64_t volume = 8 * 8 * 8 * 8;

/// A light quark: the lowest |eigenvalue| of gamma5 D is 0.005, the twelfth 0.07 or so.
struct Light {
  GaugeField u = test::thermal_links();
  WilsonCloverAction action{.mass = -0.11, .csw = 1.0};
  SolverParameters parameters;
  LowModes modes;

  /// The links and modes are made once.
  static const Light& made() {
    static const Light one = [] {
      Light light;
      light.parameters.multigrid.vectors = 8;
      light.parameters.deflation.vectors = 12;
      light.modes = low_modes(light.u, light.action, light.parameters.deflation, light.parameters.multigrid);
      return light;
    }();
    return one;
  }
  SolveReport solve(const char* kind, Numbers& x, const Numbers& b, bool even_odd = true) {
    parameters.kind = kind;
    parameters.even_odd = even_odd;
    return QuarkSolver(u, action, parameters, {.modes = modes}).solve(x, b);
  }
};

}  // namespace

TEST_CASE("eigenvalues: those through the coarse level are those of lanczos") {
  const Light& light = Light::made();
  EigenvalueParameters parameters{.count = 4, .tolerance = 1e-7};
  parameters.multigrid.vectors = 8;
  const auto expected = low_eigenvalues(light.u, light.action, parameters);
  parameters.method = "multigrid";
  parameters.vectors = true;
  const auto found = low_eigenvalues(light.u, light.action, parameters);
  REQUIRE(expected.converged);
  REQUIRE(found.converged);
  CHECK(found.cycles > 0);
  CHECK(found.setup_seconds > 0);
  CHECK(2 * found.applications < expected.applications);
  QuarkSolver d(light.u, light.action);
  for (std::size_t i = 0; i < 4; ++i) {
    // An eigenvalue is at most the residual away, which is 1e-7 of |gamma5 D| < 9.
    CHECK(std::abs(found.values[i] - expected.values[i]) < 1e-6);
    CHECK(found.residuals[i] < 1e-6);
    Numbers image(found.vectors[i].size());
    d.apply(image, found.vectors[i]);
    double residual2 = 0;
    for (std::size_t k = 0; k < image.size(); ++k)
      residual2 += std::norm((k % 12 >= 6 ? -image[k] : image[k]) - found.values[i] * found.vectors[i][k]);
    CHECK(std::sqrt(residual2) == doctest::Approx(found.residuals[i]).epsilon(0.01));
  }
  parameters.method = "power";
  CHECK_THROWS_WITH_AS(low_eigenvalues(light.u, light.action, parameters), doctest::Contains("lanczos, multigrid"),
                       core::InvalidArgument);
}

TEST_CASE("deflated solvers: the solution of bicgstab in fewer iterations") {
  Light light = Light::made();
  const Numbers b = test::random_numbers(12 * volume, 5);
  Numbers x(b.size()), y(b.size());
  for (const bool even_odd : {true, false}) {
    CAPTURE(even_odd);
    for (const char* kind : {"bicgstab", "cg"}) {
      CAPTURE(kind);
      const auto plain = light.solve(kind, y, b, even_odd);
      const auto deflated = light.solve((std::string("deflated-") + kind).c_str(), x, b, even_odd);
      REQUIRE(plain.converged);
      REQUIRE(deflated.converged);
      CHECK(deflated.residual <= 1e-10);
      CHECK(deflated.method.find("(12 vectors), mixed precision") != std::string::npos);
      // Twelve modes reach from |eigenvalue| 0.005 to 0.07, a factor of more than ten in the condition number.
      CHECK(3 * deflated.iterations < plain.iterations);
      // Two solutions of residual 1e-10 differ by that times the condition number, a few thousand.
      CHECK(test::relative_distance(x, y) < 1e-6);
      Numbers image(b.size());
      QuarkSolver(light.u, light.action).apply(image, x);
      CHECK(test::relative_distance(image, b) == doctest::Approx(deflated.residual).epsilon(1e-3));
    }
  }
}

TEST_CASE("deflated solvers: a batch of twelve has the bits of its columns alone") {
  Light light = Light::made();
  light.parameters.kind = "deflated-cg";
  light.parameters.tolerance = 1e-6;
  std::vector<Numbers> b, x(12, Numbers(12 * volume));
  for (unsigned c = 0; c < 12; ++c) b.push_back(test::random_numbers(12 * volume, c));
  b[4].assign(b[4].size(), 0.0);  // a zero source
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  QuarkSolver solver(light.u, light.action, light.parameters, {.modes = light.modes});
  const auto reports = solver.solve(std::vector<std::span<std::complex<double>>>(x.begin(), x.end()), sources);
  Numbers alone(12 * volume);
  for (const std::size_t c : {0, 4, 11}) {
    CHECK(reports[c].converged);
    const auto report = solver.solve(alone, b[c]);
    CHECK(report.iterations == reports[c].iterations);
    CHECK(alone == x[c]);
  }
}

TEST_CASE("deflated solvers: modes are computed where none are given, and other links keep them") {
  Light light = Light::made();
  light.parameters.kind = "deflated-bicgstab";
  light.parameters.deflation.vectors = 4;
  QuarkSolver solver(light.u, light.action, light.parameters);
  REQUIRE(solver.low_modes() != nullptr);
  CHECK(solver.low_modes()->vectors() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(solver.low_modes()->values[i] == doctest::Approx(light.modes.values[i]).epsilon(1e-3));
  const GaugeField moved = test::thermal_links(11);
  const WilsonCloverAction heavier{.mass = -0.05, .csw = 1.0};
  solver.refresh(moved, heavier);
  REQUIRE(solver.low_modes() != nullptr);
  const Numbers b = test::random_numbers(12 * volume, 5);
  Numbers x(b.size()), y(b.size());
  CHECK(solver.solve(x, b).converged);
  QuarkSolver(moved, heavier).solve(y, b);
  CHECK(test::relative_distance(x, y) < 1e-8);
  CHECK(QuarkSolver(light.u, light.action).low_modes() == nullptr);
}

TEST_CASE("deflated solvers: auto tries deflated-cg where modes are given, and takes it if it is the fastest") {
  Light light = Light::made();
  light.parameters.kind = "auto";
  light.parameters.choice = "";
  const Numbers b = test::random_numbers(12 * volume, 5);
  const std::array<std::span<const std::complex<double>>, 1> sources{b};
  QuarkSolver solver(light.u, light.action, light.parameters, {.modes = light.modes});
  const auto trial = solver.choose(sources);
  REQUIRE(trial);
  CHECK(trial->deflated_seconds > 0);
  if (trial->chosen == "deflated-cg") CHECK(trial->deflated_seconds < trial->bicgstab_seconds);
  Numbers x(b.size()), named(b.size());
  const auto report = solver.solve(x, b);
  CHECK(report.converged);
  CHECK(report.notes.front().text.find(", deflated-cg ") != std::string::npos);
  // The choice given again, without a trial.
  light.parameters.choice = "deflated-cg";
  QuarkSolver given(light.u, light.action, light.parameters, {.modes = light.modes});
  CHECK_FALSE(given.choose(sources));
  CHECK(given.solve(x, b).method.find("deflated-cg") != std::string::npos);
  light.parameters.choice = "";
  CHECK(light.solve("deflated-cg", named, b).converged);
  CHECK(x == named);
}

TEST_CASE("deflated solvers: what cannot be is refused with a sentence") {
  const GaugeField u(test::one_process({4, 4, 4, 4}));
  const auto refused = [&](auto change) {
    SolverParameters parameters;
    parameters.kind = "deflated-cg";
    change(parameters);
    try {
      QuarkSolver(u, WilsonCloverAction{.mass = 0.1}, parameters, {.modes = LowModes{{0.1}, {}}});
    } catch (const core::InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refused([](auto& p) { p.precision = "double"; }).find("mixed") != std::string::npos);
  CHECK(refused([](auto& p) { p.deflation.vectors = 0; }).find("give 1 to 1024") != std::string::npos);
  CHECK(refused([](auto& p) { p.deflation.method = "power"; }).find("lanczos, multigrid") != std::string::npos);
  CHECK(refused([](auto& p) { p.device = "host-executor"; }).find("runs on the processor alone") != std::string::npos);
  CHECK(refused([](auto&) {}).find("0 numbers of 1 low modes were given for the box of a process; give 6144") !=
        std::string::npos);
}

}  // namespace halocline::qcd
