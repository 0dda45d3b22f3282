// SPDX-License-Identifier: Apache-2.0
//
// QuarkSolver on a device against itself on the processor. Whatever the storage inside, the tolerance is reached, and
// graphs, links in fewer reals and the place of the solutions change nothing but speed and memory.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/device/host_parameters.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

struct Lattice {
  explicit Lattice(const lattice::Coordinates<4>& extents, unsigned seed = 1)
      : volume(lattice::product<4>(extents)),
        gauge(GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, seed))) {
    gauge.exchange_ghosts();
  }
  Numbers source(unsigned seed) const { return test::random_numbers(volume * 12, seed); }

  std::int64_t volume;
  GaugeField gauge;
};

Numbers reference(const Lattice& where, const WilsonCloverAction& action, const Numbers& b) {
  SolverParameters p;
  p.kind = "bicgstab";
  p.tolerance = 1e-13;
  QuarkSolver solver(where.gauge, action, p);
  Numbers x(b.size());
  const auto report = solver.solve(x, b);
  REQUIRE(report.residual < 1e-12);
  return x;
}

constexpr WilsonCloverAction heavy{.mass = 0.3, .csw = 1.0};
constexpr WilsonCloverAction light{.mass = -1.0};

}  // namespace

TEST_CASE("device solver: D and its adjoint are those of the processor") {
  for (const auto& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, lattice::Coordinates<4>{8, 4, 6, 2}}) {
    const Lattice where(extents);
    const WilsonCloverAction action{.mass = 0.2, .csw = 1.3, .xi0 = 2.0, .nu = 1.1, .csw_t = 0.8};
    QuarkSolver here(where.gauge, action), there(where.gauge, action, test::on_host_executor("auto", "float"));
    const auto in = where.source(3);
    Numbers a(in.size()), b(in.size());
    for (const bool dagger : {false, true}) {
      here.apply(a, in, dagger);
      there.apply(b, in, dagger);
      CHECK(test::relative_distance(b, a) < 1e-14);
    }
  }
}

TEST_CASE("device solver: every storage and method reaches the tolerance that is asked") {
  const Lattice where({4, 4, 4, 4});
  const auto b = where.source(2);
  for (const auto& action : {heavy, light}) {
    const auto exact = reference(where, action, b);
    for (const char* inner : {"double", "float", "fixed16", "fixed8"})
      for (const char* kind : {"auto", "bicgstab", "cg", "gcr"})
        for (const double tolerance : {1e-6, 1e-10}) {
          if (tolerance > 1e-8 && std::string(inner) == "double") continue;
          CAPTURE(action.mass);
          CAPTURE(inner);
          CAPTURE(kind);
          CAPTURE(tolerance);
          auto parameters = test::on_host_executor(kind, inner);
          parameters.tolerance = tolerance;
          QuarkSolver solver(where.gauge, action, parameters);
          Numbers x(b.size());
          const auto report = solver.solve(x, b);
          CAPTURE(report.iterations);
          CAPTURE(report.reason);
          CHECK(report.converged);
          CHECK(report.residual <= tolerance);
          // |x - exact| / |exact| is at most the condition of D times the residual.
          CHECK(test::relative_distance(x, exact) < 100 * tolerance);
          CHECK(report.device == "host executor");
          CHECK(report.method.find(inner) != std::string::npos);
        }
  }
}

TEST_CASE("device solver: conjugate gradients take in any storage the iterations of double") {
  const Lattice where({8, 4, 4, 4});
  const auto b = where.source(2);
  const auto iterations = [&](const char* inner) {
    QuarkSolver solver(where.gauge, light, test::on_host_executor("cg", inner));
    Numbers x(b.size());
    const auto report = solver.solve(x, b);
    CHECK(report.residual <= 1e-10);
    return report.iterations;
  };
  const int exact = iterations("double");
  for (const char* inner : {"float", "fixed16", "fixed8"}) {
    CAPTURE(inner);
    CHECK(iterations(inner) <= exact + 2);
  }
}

TEST_CASE("device solver: twelve columns share their reliable updates, and each keeps its bits") {
  const Lattice where({8, 4, 4, 4});
  std::vector<Numbers> b, x;
  for (std::size_t c = 0; c < 12; ++c) {
    b.emplace_back(static_cast<std::size_t>(where.volume) * 12);
    b.back()[c] = 1.0;
    x.emplace_back(b.back().size());
  }
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
  struct Case {
    std::string kind, inner;
    int interval;  ///< iterations to an update, at least
  };
  // BiCGStab gains three digits in five iterations here, so that in fixed16 columns often do not wait for the eighth.
  for (const Case& c : {Case{"cg", "float", 8}, Case{"cg", "fixed16", 8}, Case{"cg", "fixed8", 4},
                        Case{"bicgstab", "float", 8}, Case{"bicgstab", "fixed16", 2}}) {
    CAPTURE(c.kind);
    CAPTURE(c.inner);
    QuarkSolver solver(where.gauge, light, test::on_host_executor(c.kind.c_str(), c.inner.c_str()));
    const auto reports = solver.solve(solutions, sources);
    int most = 0;
    for (const auto& report : reports) {
      CHECK(report.converged);
      CHECK(report.reliable_updates == reports[0].reliable_updates);  // of all columns together
      most = std::max(most, report.iterations);
    }
    CHECK(reports[0].reliable_updates > 0);
    CHECK(reports[0].reliable_updates <= most / c.interval + 1);
    Numbers alone(b[5].size());
    solver.solve(alone, b[5]);
    CHECK(alone == x[5]);
  }
}

TEST_CASE("device solver: forms of the Schur complement, none, and links in fewer reals agree") {
  const Lattice where({8, 4, 4, 4});
  const auto b = where.source(2);
  const auto exact = reference(where, heavy, b);
  struct Case {
    const char *schur, *inner;
    int reals;
    unsigned emulated;
  };
  for (const Case& c :
       {Case{"symmetric", "fixed16", 12, 0}, Case{"asymmetric", "fixed16", 8, 0}, Case{"none", "fixed16", 18, 0},
        Case{"asymmetric", "double", 12, 0}, Case{"none", "double", 8, 0}, Case{"symmetric", "fixed16", 12, 0b1010},
        Case{"none", "float", 12, 0b0101}}) {
    CAPTURE(c.schur);
    CAPTURE(c.inner);
    CAPTURE(c.reals);
    CAPTURE(c.emulated);
    auto parameters = test::on_host_executor("bicgstab", c.inner);
    parameters.even_odd = std::string(c.schur) != "none";
    if (parameters.even_odd) parameters.schur = c.schur;
    parameters.device_links = c.reals;
    parameters.device_emulated = c.emulated;
    QuarkSolver solver(where.gauge, heavy, parameters);
    Numbers x(b.size());
    const auto report = solver.solve(x, b);
    CHECK(report.residual <= 1e-10);
    CHECK(test::relative_distance(x, exact) < 1e-9);
  }
}

TEST_CASE("device solver: a batch with zeros, tiny numbers and what is not finite") {
  const Lattice where({4, 4, 2, 4});
  std::vector<Numbers> b;
  for (unsigned seed = 2; seed < 6; ++seed) b.push_back(where.source(seed));
  std::ranges::fill(b[1], 0.0);
  for (auto& z : b[2]) z *= 1e-40;
  b[3][17] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  for (const char* inner : {"double", "fixed16"}) {
    CAPTURE(inner);
    QuarkSolver solver(where.gauge, heavy, test::on_host_executor("auto", inner));
    auto x = b;
    const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
    const auto reports = solver.solve(solutions, sources);
    REQUIRE(reports.size() == 4);
    CHECK(reports[0].converged);
    CHECK(reports[1].converged);
    CHECK(x[1] == b[1]);
    CHECK(reports[2].converged);
    CHECK(reports[3].reason == "not_finite");
    Numbers dx(b[2].size());
    solver.apply(dx, x[2]);
    CHECK(test::relative_distance(dx, b[2]) <= 1.01e-10);
  }
}

TEST_CASE("device solver: graphs change no bit, nor does a column's neighbour") {
  const Lattice where({4, 4, 4, 4});
  const auto b = where.source(2), other = where.source(3);
  for (const char* kind : {"bicgstab", "cg"}) {
    CAPTURE(kind);
    auto with = test::on_host_executor(kind, "fixed16"), without = with;
    without.device_graphs = false;
    QuarkSolver replayed(where.gauge, heavy, with), launched(where.gauge, heavy, without);
    Numbers x(b.size()), y(b.size()), z(b.size()), rest(b.size());
    replayed.solve(x, b);
    launched.solve(y, b);
    CHECK(x == y);
    // Graphs of the first solve serve the second, or are made anew.
    replayed.solve(z, b);
    CHECK(z == x);
    const std::vector<std::span<const std::complex<double>>> sources{other, b};
    const std::vector<std::span<std::complex<double>>> solutions{rest, z};
    replayed.solve(solutions, sources);
    CHECK(z == x);
  }
}

TEST_CASE("device solver: solutions stay on the device, and memory is as predicted") {
  const Lattice where({4, 4, 4, 6});
  const auto b = where.source(2), other = where.source(3);
  const std::vector<std::span<const std::complex<double>>> sources{b, other};
  auto parameters = test::on_host_executor("bicgstab", "fixed16");
  parameters.rhs_batch = 2;
  QuarkSolver solver(where.gauge, heavy, parameters);
  std::vector<Numbers> x(2, Numbers(b.size()));
  const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
  const auto reports = solver.solve(solutions, sources);
  // The host executor counts what it holds: the prediction is no less, and little more.
  const auto held_most = solver.backend()->memory().most_ours;
  CHECK(held_most <= reports[0].predicted_bytes);
  CHECK(held_most > 0.99 * static_cast<double>(reports[0].predicted_bytes));
  CHECK(solver.predicted_bytes() == reports[0].predicted_bytes);
  const auto [held, again] = solver.solve_on_device(sources);
  CHECK(held.shape == std::vector<std::int64_t>{2, 6, 4, 4, 4, 4, 3});
  CHECK(held.bytes == static_cast<std::int64_t>(2 * b.size() * sizeof(std::complex<double>)));
  CHECK_FALSE(held.on_gpu);
  // Memory of the host executor is host memory.
  const auto* numbers = static_cast<const std::complex<double>*>(held.data);
  for (std::size_t c = 0; c < 2; ++c) CHECK(std::equal(x[c].begin(), x[c].end(), numbers + c * b.size()));
  CHECK(again[0].residual == reports[0].residual);
  CHECK(reports[0].predicted_bytes > 0);
  REQUIRE_FALSE(reports[0].notes.empty());
  CHECK(reports[0].notes[0].text.find("uses") == 0);
}

TEST_CASE("device solver: the progress can end a solve") {
  const Lattice where({4, 4, 4, 4});
  const auto b = where.source(2);
  QuarkSolver solver(where.gauge, heavy, test::on_host_executor("bicgstab", "float"));
  Numbers x(b.size());
  const auto report = solver.solve(x, b, [](int iterations, double) { return iterations < 3; });
  CHECK(report.reason == "cancelled");
  CHECK(report.iterations == 3);
}

TEST_CASE("device solver: shifted systems of the normal operator") {
  const Lattice where({4, 4, 4, 4});
  auto parameters = test::on_host_executor("bicgstab", "double");
  parameters.even_odd = false;
  QuarkSolver solver(where.gauge, heavy, parameters);
  const auto b = where.source(2);
  const std::vector<double> shifts{0.5, 0.0, 2.0};
  std::vector<Numbers> x(3, Numbers(b.size()));
  const std::vector<std::span<std::complex<double>>> solutions(x.begin(), x.end());
  solve::SolveOptions options;
  options.tolerance = 1e-9;
  const auto results = solver.backend()->multishift(solutions, shifts, b, options);
  Numbers dx(b.size()), ddx(b.size());
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(results[i].converged());
    solver.apply(dx, x[i]);
    solver.apply(ddx, dx, true);
    for (std::size_t n = 0; n < ddx.size(); ++n) ddx[n] += shifts[i] * x[i][n];
    CHECK(test::relative_distance(ddx, b) < 1.01e-9);
  }
}

TEST_CASE("device solver: what a device has not is refused with what to do") {
  const Lattice where({4, 4, 4, 4});
  const auto refusal = [&](const SolverParameters& p) -> std::string {
    try {
      QuarkSolver solver(where.gauge, heavy, p);
    } catch (const core::InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  for (const char* kind : {"schwarz", "fgmres"})
    CHECK(refusal(test::on_host_executor(kind, "float")).find("give \"auto\"") != std::string::npos);
  CHECK(refusal(test::on_host_executor("auto", "tiny")).find("auto, fixed16, fixed8, float") != std::string::npos);
  SolverParameters here;
  here.inner_precision = "fixed16";
  CHECK(refusal(here).find("name a device") != std::string::npos);
  auto reals = test::on_host_executor("auto", "fixed16");
  reals.device_links = 10;
  CHECK(refusal(reals).find("18, 12 or 8") != std::string::npos);
  auto unknown = test::on_host_executor("auto", "fixed16");
  unknown.device = "abacus";
  CHECK(refusal(unknown).find("abacus") != std::string::npos);
  // Links that are not unitary refuse compression.
  auto scaled = test::random_links(where.volume, 4);
  for (auto& z : scaled) z *= 1.01;
  auto gauge = GaugeField::from_canonical(test::one_process({4, 4, 4, 4}), scaled);
  gauge.exchange_ghosts();
  auto twelve = test::on_host_executor("auto", "float");
  twelve.device_links = 12;
  CHECK_THROWS_AS(QuarkSolver(gauge, heavy, twelve), core::InvalidArgument);
  CHECK_NOTHROW(QuarkSolver(gauge, heavy, test::on_host_executor("auto", "float")));
}

}  // namespace halocline::qcd
