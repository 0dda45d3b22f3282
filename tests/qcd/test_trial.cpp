// SPDX-License-Identifier: Apache-2.0
/// The trial of "auto": its prediction, and that it leaves nothing behind but its choice.
#include <doctest/doctest.h>

#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/trial.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/thermal_links.hpp"

using namespace halocline;
using namespace halocline::qcd;
using Numbers = std::vector<std::complex<double>>;

namespace {

constexpr lattice::Coordinates<4> extents{8, 4, 4, 4};
constexpr std::int64_t volume = 8 * 4 * 4 * 4;
const WilsonCloverAction action{.mass = 0.1, .csw = 1.2};

/// Residuals that fall by 10^-fast an iteration down to 10^-early, and by 10^-slow from there on.
std::vector<double> falling(int iterations, double fast, double early, double slow) {
  std::vector<double> history;
  for (int i = 0; i <= iterations; ++i) {
    const double digits = i * fast <= early ? i * fast : early + (i - early / fast) * slow;
    history.push_back(std::pow(10.0, -digits));
  }
  return history;
}

std::vector<double> every(double seconds, int count) {
  std::vector<double> ends;
  for (int i = 1; i <= count; ++i) ends.push_back(i * seconds);
  return ends;
}

struct Columns {
  explicit Columns(int count) : x(static_cast<std::size_t>(count), Numbers(12 * volume)) {
    for (int c = 0; c < count; ++c) b.push_back(test::random_numbers(12 * volume, static_cast<unsigned>(40 + c)));
    for (std::size_t c = 0; c < x.size(); ++c) {
      sources.emplace_back(b[c]);
      solutions.emplace_back(x[c]);
    }
  }
  std::vector<Numbers> b, x;
  std::vector<std::span<const std::complex<double>>> sources;
  std::vector<std::span<std::complex<double>>> solutions;
};

}  // namespace

TEST_CASE("trial: a steady pace predicts the whole solve, of the slowest column") {
  const std::vector<std::vector<double>> histories{falling(30, 0.1, 9, 0.1), falling(30, 0.2, 9, 0.2)};
  const auto whole = forecast(histories, every(0.25, 30), 10.0);
  CHECK(whole.iterations == doctest::Approx(100).epsilon(1e-12));
  CHECK(whole.seconds == doctest::Approx(25).epsilon(1e-12));
}

TEST_CASE("trial: first digits that come easily promise nothing") {
  // One and a half digits in 3 iterations, all the others at 12 iterations each.
  const std::vector<std::vector<double>> histories{falling(21, 0.5, 1.5, 1.0 / 12)};
  CHECK(forecast(histories, every(1, 21), 10.0).iterations == doctest::Approx(3 + 8.5 * 12).epsilon(1e-9));
  // What was reached within the trial is what is asked for.
  CHECK(forecast(histories, every(1, 21), 2.0).iterations == doctest::Approx(3 + 0.5 * 12).epsilon(1e-9));
}

TEST_CASE("trial: neither the first iteration nor a disturbance changes the seconds") {
  const std::vector<std::vector<double>> histories{falling(8, 0.5, 9, 0.5)};
  auto ends = every(0.5, 8);
  for (auto& end : ends) end += 100;
  for (std::size_t i = 5; i < ends.size(); ++i) ends[i] += 30;
  CHECK(forecast(histories, ends, 5.0).seconds == doctest::Approx(5).epsilon(1e-9));
}

TEST_CASE("trial: a method that gains nothing takes for ever, and a column of zeros nothing") {
  const std::vector<std::vector<double>> stuck{{1.0, 1.2, 1.0, 0.99}}, with_zeros{{0.0}, falling(4, 1, 9, 1)};
  CHECK(std::isinf(forecast(stuck, every(1, 3), 10.0).seconds));
  CHECK(forecast(with_zeros, every(1, 4), 4.0).iterations == doctest::Approx(4));
}

TEST_CASE("trial: a pause of the residual is not its end") {
  // Two digits in 20 iterations, and none in 60 more.
  std::vector<double> paused = falling(20, 0.1, 9, 0.1);
  paused.resize(81, paused.back());
  CHECK(forecast(std::span(&paused, 1), every(1, 80), 10.0).iterations == doctest::Approx(80 + 8 * 8 * 40.0));
}

TEST_CASE("trial: what auto chose gives the bits of the same method by name, and so does the choice given again") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 7));
  for (const int columns : {1, 3}) {
    CAPTURE(columns);
    Columns trying(columns), at_once(columns), named(columns), again(columns);
    SolverParameters parameters;
    QuarkSolver solver(gauge, action, parameters);
    const auto trial = solver.choose(trying.sources);
    REQUIRE(trial);
    CHECK(trial->chosen == "bicgstab");
    CHECK(trial->right_hand_sides == columns);
    CHECK(trial->setup_seconds == 0);
    CHECK(trial->schwarz_seconds == 0);  // a candidate on several processes
    CHECK(trial->columns == columns);
    const auto reports = solver.solve(trying.solutions, trying.sources);
    // The trial of a solve begins it.
    QuarkSolver other(gauge, action, parameters);
    const auto of_one_go = other.solve(at_once.solutions, at_once.sources);
    CHECK(other.trials().size() == 1);
    parameters.kind = trial->chosen;
    const auto by_name = QuarkSolver(gauge, action, parameters).solve(named.solutions, named.sources);
    CHECK(trying.x == named.x);
    CHECK(at_once.x == named.x);
    for (std::size_t c = 0; c < reports.size(); ++c)
      for (const auto& report : {reports[c], of_one_go[c]}) {
        CHECK(report.converged);
        CHECK(report.iterations == by_name[c].iterations);
        CHECK(report.history == by_name[c].history);
        REQUIRE(report.notes.size() == 1);
        CHECK(report.notes[0].text.find("auto: even-odd bicgstab, mixed precision would take") == 0);
        CHECK(report.notes[0].text.find(trial->chosen + " is used") != std::string::npos);
      }

    for (const char* choice : {"schwarz", "bicgstab"}) {
      parameters.kind = "auto";
      parameters.choice = choice;
      QuarkSolver given(gauge, action, parameters);
      CHECK_FALSE(given.choose(again.sources));
      const auto report = given.solve(again.solutions, again.sources).front();
      CHECK(report.notes.empty());
      parameters.kind = choice;
      parameters.choice = "";
      QuarkSolver(gauge, action, parameters).solve(named.solutions, named.sources);
      CHECK(again.x == named.x);
    }
  }
}

TEST_CASE("trial: multigrid that is at hand is taken where BiCGStab is slow, and begins the solve") {
  const GaugeField gauge = test::thermal_links();
  const WilsonCloverAction light{.mass = -0.13, .csw = 1.0};
  const auto sites = gauge.geometry().local_volume();
  const Numbers b = test::random_numbers(12 * sites, 5);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  Numbers x(b.size()), named(b.size());
  QuarkSolver made(gauge, light, parameters);
  const auto by_name = made.solve(named, b);
  parameters.kind = "auto";
  QuarkSolver solver(gauge, light, parameters, {.earlier = &made});
  const auto report = solver.solve(x, b);
  REQUIRE(solver.trials().size() == 1);
  const Trial trial = solver.trials()[0];
  CHECK(report.converged);
  if (trial.multigrid_seconds > 0) CHECK(trial.setup_seconds > 0);
  if (trial.chosen == "multigrid") {
    CHECK(x == named);
    CHECK(report.iterations == by_name.iterations);
    CHECK(report.history == by_name.history);
  } else {
    CHECK(test::relative_distance(x, named) < 1e-7);
  }
}

TEST_CASE("trial: with enough right-hand sides multigrid is set up and tried, and chosen if it is the fastest") {
  const GaugeField gauge = test::thermal_links();
  const WilsonCloverAction light{.mass = -0.13, .csw = 1.0};
  const auto sites = gauge.geometry().local_volume();
  const Numbers b = test::random_numbers(12 * sites, 5);
  const std::array<std::span<const std::complex<double>>, 1> sources{b};
  SolverParameters parameters;
  parameters.multigrid.vectors = 8;
  parameters.right_hand_sides = 1000000;
  QuarkSolver solver(gauge, light, parameters);
  CHECK(solver.setup() == nullptr);
  const auto trial = solver.choose(sources);
  REQUIRE(trial);
  CHECK(trial->right_hand_sides == 1000000);
  CHECK(trial->setup_seconds > 0);
  // Other work on this machine may make a set-up look too long; then it is given up.
  const bool made = solver.setup() != nullptr;
  CHECK((trial->multigrid_seconds > 0) == made);
  CHECK((trial->chosen == "multigrid") == (made && trial->multigrid_seconds < trial->bicgstab_seconds));
  Numbers x(b.size()), named(b.size());
  const auto report = solver.solve(x, b);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].text.find(made ? "s of set-up; " : "for 1000000 right-hand sides; ") != std::string::npos);
  CHECK(report.notes[0].text.find(trial->chosen + " is used") != std::string::npos);
  parameters.kind = trial->chosen;
  QuarkSolver(gauge, light, parameters).solve(named, b);
  CHECK(x == named);
  // The choice given again, without a trial.
  parameters.kind = "auto";
  parameters.choice = "multigrid";
  QuarkSolver given(gauge, light, parameters);
  CHECK_FALSE(given.choose(sources));
  const auto again = given.solve(x, b);
  CHECK(again.method.find("multigrid") == 0);
  parameters.kind = "multigrid";
  parameters.choice = "";
  QuarkSolver(gauge, light, parameters).solve(named, b);
  CHECK(x == named);
  // One right-hand side of a heavy quark pays for no set-up; many of them, in the end, are reason to look again.
  SolverParameters one;
  one.multigrid.vectors = 8;
  QuarkSolver alone(gauge, action, one);
  CHECK(alone.choose(sources)->setup_seconds == 0);
}

TEST_CASE("trial: a solver follows links that move") {
  const GaugeField gauge = test::thermal_links(), moved = test::thermal_links(11);
  const WilsonCloverAction light{.mass = -0.05, .csw = 1.0};
  const Numbers b = test::random_numbers(12 * gauge.geometry().local_volume(), 5);
  for (const char* kind : {"multigrid", "bicgstab", "auto"}) {
    CAPTURE(kind);
    SolverParameters parameters;
    parameters.kind = kind;
    parameters.multigrid.vectors = 8;
    QuarkSolver solver(gauge, light, parameters);
    Numbers x(b.size()), fresh(b.size());
    solver.solve(x, b);
    solver.refresh(moved, light);
    CHECK(solver.solve(x, b).converged);
    QuarkSolver(moved, light, parameters).solve(fresh, b);
    CHECK(test::relative_distance(x, fresh) < 1e-8);
  }
}

TEST_CASE("trial: there is none where nothing is to be chosen, and one that was stopped is forgotten") {
  const GaugeField gauge(test::one_process(extents));
  Columns columns(1);
  SolverParameters parameters;
  parameters.kind = "schwarz";
  CHECK_FALSE(QuarkSolver(gauge, action, parameters).choose(columns.sources));
  parameters.kind = "auto";
  parameters.precision = "double";
  CHECK_FALSE(QuarkSolver(gauge, action, parameters).choose(columns.sources));
  parameters.precision = "mixed";
  QuarkSolver solver(gauge, action, parameters);
  CHECK_FALSE(solver.choose(columns.sources, [](int, double) { return false; }));
  const Numbers zero(12 * volume);
  const std::array<std::span<const std::complex<double>>, 1> nothing{zero};
  CHECK_FALSE(solver.choose(nothing));
  CHECK(solver.choose(columns.sources).has_value());
  parameters.choice = "cg";
  CHECK_THROWS_AS(QuarkSolver(gauge, action, parameters), core::InvalidArgument);
}
