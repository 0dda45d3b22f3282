// SPDX-License-Identifier: Apache-2.0
//
// The SU(2) heatbath against numerical integrals of its density.

#include "halocline/qcd/gauge/detail/su2_heatbath.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace detail = halocline::qcd::gauge::detail;

namespace {

constexpr int lanes = halocline::core::native_lanes<double>;
using P = halocline::core::Pack<double, lanes>;

detail::LinkStream<lanes> stream_of(std::uint64_t block) {
  detail::LinkStream<lanes> stream{1234, {}, 5};
  for (int lane = 0; lane < lanes; ++lane) stream.link[lane] = block * lanes + static_cast<std::uint64_t>(lane);
  return stream;
}

/// Mean of (1 - a0)^n with density sqrt(1 - a0^2) exp(alpha a0): midpoint rule in the angle, a0 = cos(theta).
double exact_moment(double alpha, int n) {
  constexpr int points = 200000;
  double weight = 0, sum = 0;
  for (int i = 0; i < points; ++i) {
    const double theta = 3.141592653589793 * (i + 0.5) / points;
    const double x = 1 - std::cos(theta);
    const double w = std::sin(theta) * std::sin(theta) * std::exp(-alpha * x);
    weight += w;
    sum += w * std::pow(x, n);
  }
  return sum / weight;
}

}  // namespace

TEST_CASE("SU(2) heatbath: the moments of a0 are those of its density, at weak, medium and strong peaks") {
  constexpr int blocks = 12000;
  constexpr double count = static_cast<double>(blocks) * lanes;
  for (const double alpha : {0.0, 0.1, 0.84, 0.86, 3.0, 14.0, 300.0}) {
    CAPTURE(alpha);
    double moment[4] = {}, direction[3] = {}, square[3] = {}, worst = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const auto a = detail::su2_heatbath<lanes>(P(alpha), stream_of(block), 0, 3);
      for (int lane = 0; lane < lanes; ++lane) {
        for (int n = 1; n <= 3; ++n) moment[n] += std::pow(1 - a.a0[lane], n) / count;
        const double radius = std::sqrt(1 - a.a0[lane] * a.a0[lane]);
        const double vector[3] = {a.a1[lane] / radius, a.a2[lane] / radius, a.a3[lane] / radius};
        for (int i = 0; i < 3; ++i) {
          direction[i] += vector[i] / count;
          square[i] += vector[i] * vector[i] / count;
        }
        worst = std::max(worst, std::abs(a.norm()[lane] - 1));
      }
    }
    CHECK(worst < 4e-15);
    for (int n = 1; n <= 3; ++n) {
      const double exact = exact_moment(alpha, n);
      const double deviation = std::sqrt((exact_moment(alpha, 2 * n) - exact * exact) / count);
      CHECK_MESSAGE(std::abs(moment[n] - exact) < 4.5 * deviation, "moment ", n, ": ", moment[n], " not ", exact);
    }
    for (int i = 0; i < 3; ++i) {
      CHECK(std::abs(direction[i]) < 4.5 / std::sqrt(3 * count));
      CHECK(std::abs(square[i] - 1.0 / 3) < 4.5 * std::sqrt(4.0 / 45 / count));
    }
  }
}

TEST_CASE("SU(2) heatbath: a lane's matrix does not depend on the lanes beside it") {
  auto stream = stream_of(3);
  const auto alone = detail::su2_heatbath<lanes>(P(2.0), stream, 1, 3);
  for (int kept = 0; kept < lanes; ++kept) {
    P alpha(2.0);
    auto other = stream_of(99);
    for (int lane = 0; lane < lanes; ++lane)
      if (lane != kept) alpha.set(lane, 0.3 * lane);
    other.link[kept] = stream.link[kept];
    const auto mixed = detail::su2_heatbath<lanes>(alpha, other, 1, 3);
    CHECK(mixed.a0[kept] == alone.a0[kept]);
    CHECK(mixed.a3[kept] == alone.a3[kept]);
  }
}

TEST_CASE("SU(2) heatbath: a NaN or infinite weight gives NaN at once") {
  P alpha(1.0);
  alpha.set(0, std::numeric_limits<double>::quiet_NaN());
  alpha.set(1, std::numeric_limits<double>::infinity());
  const auto a = detail::su2_heatbath<lanes>(alpha, stream_of(0), 0, 3);
  CHECK(std::isnan(a.a0[0]));
  CHECK(std::isnan(a.a0[1]));
  for (int lane = 2; lane < lanes; ++lane) CHECK(std::abs(a.a0[lane]) <= 1);
}
