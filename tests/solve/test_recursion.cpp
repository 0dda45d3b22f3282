// SPDX-License-Identifier: Apache-2.0
//
// The scalars of a recursion: arithmetic against more digits, and the steps as a device would run them.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "halocline/solve/detail/monitor.hpp"
#include "halocline/solve/recursion.hpp"

using namespace halocline::solve;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The memory of a recursion of two columns, as on a device.
struct Memory {
  Memory() {
    for (auto& c : column) {
      c.track.goal2 = 1e-12;
      c.track.window = 1000;
      c.track.most_iterations = 100;
      c.track.begin_cycle(1.0);
      c.scalars.begin(1.0);
    }
  }
  /// Runs a step for all columns, with these two dot products.
  void step(StepKind kind, std::complex<double> first, std::complex<double> second = 0.0) {
    RecursionStep step;
    step.kind = kind;
    step.memory = {column.data(), stored.data(), 2, stop.data(), report.data()};
    step.place[0] = {.re = 0, .im = 1};
    step.place[1] = {.re = 3, .im = 2, .sign = -1.0};
    const double sums[4] = {first.real(), first.imag(), -second.imag(), second.real()};
    for (int c = 0; c < 2; ++c) step.run(c, sums, [](double* place, double value) { *place = value; });
  }
  void iterate(double r2) {
    step(StepKind::bicgstab_v_first, {0.5, 0.25});
    step(StepKind::bicgstab_s, 0.5);
    step(StepKind::bicgstab_t, {0.3, -0.1}, 0.4);
    step(StepKind::bicgstab_r_last, r2, {0.2, 0.05});
  }
  std::complex<double> coefficient(StoredCoefficient which, int c = 0) const {
    return scalar(stored[static_cast<std::size_t>(2 * static_cast<int>(which) + c)]);
  }

  std::array<RecursionColumn, 2> column{};
  std::array<Number, 2 * stored_coefficients> stored{};
  std::array<unsigned, 2> stop{};
  std::array<double, 4> report{};
};

}  // namespace

TEST_CASE("recursion: quotients and products of complex numbers, against more digits") {
  using Long = std::complex<long double>;
  std::vector<double> parts{0.0, 1.0, -3.5, 1e-7, 2e9, -4e150, 1e-200};
  for (const double a : parts)
    for (const double b : parts)
      for (const double c : parts)
        for (const double d : parts) {
          if (c == 0.0 && d == 0.0) continue;
          const Long exact = Long(a, b) / Long(c, d);
          const auto size = static_cast<double>(std::abs(exact));
          if (size > 1e300 || (size < 1e-290 && size > 0)) continue;
          const Number got = divide({a, b}, {c, d});
          CHECK(static_cast<double>(std::abs(Long(got.re, got.im) - exact)) <= 1e-15 * size);
        }
  const Number square = product({1.0, 0x1p-30}, {1.0, -0x1p-30});
  CHECK(square.re == 1.0 + 0x1p-60);
  CHECK(square.im == 0.0);
}

TEST_CASE("recursion: a quotient that cannot be pauses its column, and then is zero") {
  ColumnTrack track;
  CHECK(quotient(track, {1.0, 0.0}, {2.0, 0.0}).re == 0.5);
  CHECK(quotient(track, {1.0, 0.0}, {0.0, 0.0}).re == 0.0);
  CHECK_FALSE(track.active);
  CHECK(track.cause == Reason::breakdown);
  CHECK(quotient(track, {1.0, 0.0}, {2.0, 0.0}).re == 0.0);
  for (const Number& wrong : {Number{std::nan(""), 0.0}, Number{0.0, infinity}}) {
    ColumnTrack other;
    CHECK(quotient(other, {1.0, 0.0}, wrong).re == 0.0);
    CHECK(other.cause == Reason::not_finite);
  }
}

TEST_CASE("recursion: steps compute the coefficients of BiCGStab") {
  Memory memory;
  memory.iterate(0.1);
  const std::complex<double> alpha = 1.0 / std::complex(0.5, 0.25), omega = std::complex(0.3, -0.1) / 0.4,
                             beta = std::complex(0.2, 0.05) * alpha / omega;
  for (const int c : {0, 1}) {
    CHECK(std::abs(memory.coefficient(StoredCoefficient::alpha, c) - alpha) < 1e-15);
    CHECK(memory.coefficient(StoredCoefficient::minus_alpha, c) == -memory.coefficient(StoredCoefficient::alpha, c));
    CHECK(std::abs(memory.coefficient(StoredCoefficient::omega, c) - omega) < 1e-15);
    CHECK(std::abs(memory.coefficient(StoredCoefficient::beta, c) - beta) < 1e-15);
    CHECK(std::abs(memory.coefficient(StoredCoefficient::minus_beta_omega, c) + beta * omega) < 1e-15);
    CHECK(memory.report[static_cast<std::size_t>(2 + c)] == 0.1);  // turn 1
  }
  CHECK(memory.stop == std::array{0u, 0u});
}

TEST_CASE("recursion: after a stop, iterations that are on their way change nothing") {
  Memory memory;
  memory.iterate(0.1);
  memory.column[1].track.goal2 = 0.06;
  memory.iterate(0.05);  // column 1 has converged
  CHECK(memory.stop == std::array{1u, 0u});
  CHECK(memory.report[0] == 0.05);
  CHECK(memory.report[1] == -0.05);
  const auto stored = memory.stored;
  const auto column = memory.column;
  memory.iterate(0.01);
  CHECK(memory.stop == std::array{1u, 1u});
  CHECK(memory.report[2] == 0.1);  // of turn 1
  for (std::size_t i = 0; i < stored.size(); ++i) CHECK(scalar(memory.stored[i]) == scalar(stored[i]));
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(memory.column[c].turn == column[c].turn);
    CHECK(memory.column[c].track.iterations == column[c].track.iterations);
    CHECK(scalar(memory.column[c].scalars.rho) == scalar(column[c].scalars.rho));
  }
}

TEST_CASE("recursion: a breakdown within an iteration leaves the column as it was, and stops") {
  Memory memory;
  memory.step(StepKind::bicgstab_v_first, 0.0);
  memory.step(StepKind::bicgstab_s, 1.0);
  memory.step(StepKind::bicgstab_t, {0.3, -0.1}, 0.4);
  memory.step(StepKind::bicgstab_r_last, 1.0, {0.2, 0.05});
  for (int c = 0; c < 2; ++c) {
    const ColumnTrack& track = memory.column[static_cast<std::size_t>(c)].track;
    CHECK(track.cause == Reason::breakdown);
    CHECK_FALSE(track.active);
    CHECK(track.in_cycle == 0);  // the host sees by this that the iteration does not count
    CHECK(memory.coefficient(StoredCoefficient::alpha, c) == 0.0);
    CHECK(memory.coefficient(StoredCoefficient::omega, c) == 0.0);
    CHECK(std::signbit(memory.report[static_cast<std::size_t>(2 + c)]));
  }
  CHECK(memory.stop[0] == 1);
}

TEST_CASE("recursion: a zero residual stops, and idle columns report nothing") {
  Memory memory;
  memory.column[1].idle = true;
  memory.column[1].track.active = false;
  memory.column[1].scalars = {};
  memory.iterate(0.0);
  CHECK(std::signbit(memory.report[2]));
  CHECK_FALSE(std::signbit(memory.report[3]));
  CHECK(memory.coefficient(StoredCoefficient::alpha, 1) == 0.0);
  CHECK(memory.coefficient(StoredCoefficient::beta, 1) == 0.0);
}

TEST_CASE("recursion: a column wants its residual replaced where the monitor says so") {
  SolveOptions options;
  options.replacement = 0.1;
  options.replacement_interval = 4;
  const std::vector<double> source{1.0};
  detail::Monitor monitor(options, source);
  REQUIRE(monitor.begin_cycle(source));
  ColumnTrack track = monitor.track(0);
  double norm2 = 1.0;
  int wanted = 0;
  for (int i = 1; i <= 40 && track.active; ++i) {
    norm2 *= i == 13 ? 1e-7 : 0.3;  // then it does not wait for the fourth
    track.record(norm2);
    const std::vector<Scalar> sums{norm2};
    monitor.step(sums);
    CHECK(track.active == monitor.active(0));
    CHECK(track.wants_replacement() == monitor.wants_replacement());
    if (!track.wants_replacement()) continue;
    ++wanted;
    CHECK((i % 4 == 0 || i == 13));
    const std::vector<Scalar> mask{1.0};
    const std::vector<double> exact{norm2};
    monitor.replaced(mask, exact);
    track = monitor.track(0);
  }
  CHECK(wanted > 3);
}
