// SPDX-License-Identifier: Apache-2.0
//
// The multigrid solver: it reaches what it reports, agrees with BiCGStab, and its cycles do not multiply where the
// quark becomes light.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;
constexpr std::int64_t volume = 8 * 8 * 8 * 8;

}  // namespace

TEST_CASE("multigrid: solutions, residuals and reports") {
  const GaugeField u = test::thermal_links();
  const WilsonCloverAction action{.mass = -0.05, .csw = 1.0};
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.rhs_batch = 3;
  for (const char* storage : {"half", "float"}) {
    CAPTURE(storage);
    parameters.multigrid.storage = storage;
    QuarkSolver multigrid(u, action, parameters);
    parameters.kind = "bicgstab";
    QuarkSolver plain(u, action, parameters);
    parameters.kind = "multigrid";
    std::vector<Numbers> b, x(3, Numbers(12 * volume)), y = x;
    for (unsigned seed = 1; seed <= 3; ++seed) b.push_back(test::random_numbers(12 * volume, seed));
    b[1].assign(b[1].size(), 0.0);  // a zero source
    const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
    const auto reports = multigrid.solve(std::vector<std::span<std::complex<double>>>(x.begin(), x.end()), sources);
    plain.solve(std::vector<std::span<std::complex<double>>>(y.begin(), y.end()), sources);
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(reports[c].converged);
      CHECK(reports[c].residual <= 1e-10);
      CHECK(reports[c].method.find("multigrid") == 0);
      CHECK(reports[c].iterations < 40);
      if (c != 1) CHECK(test::relative_distance(x[c], y[c]) < 1e-8);
    }
    CHECK(reports[1].iterations == 0);
    Numbers image(12 * volume);
    multigrid.apply(image, x[0]);
    CHECK(test::relative_distance(image, b[0]) == doctest::Approx(reports[0].residual).epsilon(1e-3));
  }
}

TEST_CASE("multigrid: where cycles stagnate, a round is added once, and conjugate gradients finish") {
  const GaugeField u = gauge::weak_links(test::one_process({4, 4, 4, 8}), 0.4, 3);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = {2, 2, 2, 2};
  parameters.multigrid.setup_iterations = 0;
  parameters.multigrid.smoother = "jacobi";
  parameters.multigrid.smoother_sweeps = parameters.multigrid.smoother_steps = 1;  // far too little
  QuarkSolver solver(u, WilsonCloverAction{.mass = -1, .csw = 1.0}, parameters);
  const Numbers b = test::random_numbers(12 * 512, 1);
  Numbers x(b.size()), image(b.size());
  REQUIRE(solver.setup() != nullptr);
  CHECK(solver.setup()->rounds() == 0);
  const auto first = solver.solve(x, b);
  CHECK(first.converged);
  CHECK(first.method.find("even-odd cg") == 0);
  REQUIRE(first.notes.size() == 3);
  CHECK(first.notes[0].text.find("starting again from the true residual") != std::string::npos);
  CHECK(first.notes[1].text.find("starting again after one more round of inverse iteration") != std::string::npos);
  CHECK(first.notes[2].text.find("going on with even-odd cg") != std::string::npos);
  for (const SolveNote& note : first.notes) CHECK(note.kind == SolveNote::Kind::failure);
  CHECK(solver.setup()->rounds() == 1);
  solver.apply(image, x);
  CHECK(test::relative_distance(image, b) == doctest::Approx(first.residual).epsilon(1e-3));
  // Another number of columns takes the new set-up, and it is not renewed again.
  std::vector<Numbers> two{b, b}, y(2, Numbers(b.size()));
  const auto second = solver.solve(std::vector<std::span<std::complex<double>>>(y.begin(), y.end()),
                                   std::vector<std::span<const std::complex<double>>>(two.begin(), two.end()));
  CHECK(second[1].converged);
  CHECK(second[1].notes.size() == 2);
  CHECK(solver.setup()->rounds() == 1);
}

TEST_CASE("multigrid: an exact zero mode is named, and nothing is called solved") {
  const GaugeField u = gauge::unit_links(test::one_process({4, 4, 4, 4}));
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = {2, 2, 2, 2};
  parameters.max_iterations = 400;
  WilsonCloverAction action{.mass = 1e-9};
  action.boundary = {1, 1, 1, 1};
  QuarkSolver solver(u, action, parameters);
  Numbers b(12 * 256), x(b.size());
  b[7] = 1;
  const auto report = solver.solve(x, b);
  CHECK(!report.converged);
  CHECK(report.residual > 0.1);
  REQUIRE(!report.notes.empty());
  CHECK(report.notes.back().text.find("gamma5 D has an eigenvalue between -") != std::string::npos);
}

TEST_CASE("multigrid: what cannot be is refused with a sentence") {
  const GaugeField u(test::one_process({4, 4, 4, 4}));
  const auto refused = [&](const Action& action, auto change) {
    SolverParameters parameters;
    parameters.kind = "multigrid";
    change(parameters);
    try {
      QuarkSolver solver(u, action, parameters);
    } catch (const core::InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const WilsonCloverAction action{.mass = 0.1, .csw = 1.0};
  CHECK(refused(action, [](auto& p) { p.precision = "double"; }).find("single precision inside double") !=
        std::string::npos);
  CHECK(refused(action, [](auto& p) { p.multigrid.vectors = 12; }).find("multiple of 8") != std::string::npos);
  CHECK(refused(action, [](auto& p) { p.multigrid.storage = "double"; }).find("half, float") != std::string::npos);
  CHECK(refused(action, [](auto& p) { p.multigrid.coarse_tolerance = 1; }).find("between 0 and 1") !=
        std::string::npos);
}

}  // namespace halocline::qcd
