// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/xc/xc.hpp"

#include "halocline/core/error.hpp"

#include <omp.h>

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

constexpr double pi = std::numbers::pi;

double density_of(double rs) { return 3 / (4 * pi * rs * rs * rs); }

struct Point {
  double energy;  ///< of an electron
  double v;
};

std::vector<std::string> local_names() {
  auto names = ExchangeCorrelation::names();
  std::erase_if(names, [](const std::string& name) { return ExchangeCorrelation(name, 1).has_gradients(); });
  return names;
}

/// One point of a functional without spin.
Point at(const std::string& name, double n) {
  Point point;
  point.energy = ExchangeCorrelation(name, 1).evaluate({&point.v, 1}, {&n, 1}) / n;
  return point;
}

struct SpinPoint {
  double energy;  ///< of the volume
  std::array<double, 2> v;
};

SpinPoint at(const std::string& name, const std::array<double, 2>& n) {
  SpinPoint point;
  point.energy = ExchangeCorrelation(name, 2).evaluate(point.v, n);
  return point;
}

/// v = eps + n d eps/dn of an energy of rs, by rs eps'(rs) = -3 n d eps/dn.
Point with_potential(double energy, double slope_rs, double rs) { return {energy, energy - rs * slope_rs / 3}; }

Point exchange(double rs) {
  const double energy = -0.75 * std::cbrt(3 / pi * density_of(rs));
  return {energy, 4 * energy / 3};
}

/// Perdew and Zunger, Phys. Rev. B 23, 5048 (1981), appendix C, unpolarised.
Point perdew_zunger(double rs) {
  if (rs < 1) {
    const double a = 0.0311, b = -0.048, c = 0.0020, d = -0.0116;
    return with_potential(a * std::log(rs) + b + c * rs * std::log(rs) + d * rs, a / rs + c * std::log(rs) + c + d, rs);
  }
  const double gamma = -0.1423, beta1 = 1.0529, beta2 = 0.3334, root = std::sqrt(rs);
  const double below = 1 + beta1 * root + beta2 * rs;
  return with_potential(gamma / below, -gamma / (below * below) * (beta1 / (2 * root) + beta2), rs);
}

/// Perdew and Wang, Phys. Rev. B 45, 13244 (1992), equation 10, with A = (1 - ln 2)/pi^2 in all its digits.
double perdew_wang(double rs) {
  const double a = 0.0310907, root = std::sqrt(rs);
  const double below = 2 * a * (7.5957 * root + 3.5876 * rs + 1.6382 * rs * root + 0.49294 * rs * rs);
  return -2 * a * (1 + 0.21370 * rs) * std::log1p(1 / below);
}

/// Goedecker, Teter and Hutter, Phys. Rev. B 54, 1703 (1996), the appendix.
double pade(double rs) {
  const double over =
      0.4581652932831429 + rs * (2.217058676663745 + rs * (0.7405551735357053 + rs * 0.01968227878617998));
  const double below = rs * (1 + rs * (4.504130959426697 + rs * (1.110667363742916 + rs * 0.02359291751427506)));
  return -over / below;
}

const std::array<double, 9> radii{0.01, 0.1, 0.5, 0.999, 1.001, 2, 5, 20, 500};

}  // namespace

TEST_CASE("xc: exchange is that of the uniform gas") {
  for (const double rs : radii) {
    const Point point = at("x", density_of(rs)), expected = exchange(rs);
    CHECK(point.energy == doctest::Approx(expected.energy).epsilon(1e-14));
    CHECK(point.v == doctest::Approx(expected.v).epsilon(1e-14));
  }
}

TEST_CASE("xc: pz is the formula of Perdew and Zunger at high and at low density") {
  for (const double rs : radii) {
    const Point point = at("pz", density_of(rs)), x = exchange(rs), c = perdew_zunger(rs);
    CHECK(point.energy == doctest::Approx(x.energy + c.energy).epsilon(1e-13));
    CHECK(point.v == doctest::Approx(x.v + c.v).epsilon(1e-13));
  }
}

TEST_CASE("xc: pz-mod is pz at low density, close to it at high, and continuous where they meet") {
  for (const double rs : {1.001, 2.0, 20.0}) {
    CHECK(at("pz-mod", density_of(rs)).energy == doctest::Approx(at("pz", density_of(rs)).energy).epsilon(1e-14));
    CHECK(at("pz-mod", density_of(rs)).v == doctest::Approx(at("pz", density_of(rs)).v).epsilon(1e-14));
  }
  for (const double rs : {0.2, 0.7}) {
    const double difference = at("pz-mod", density_of(rs)).energy - at("pz", density_of(rs)).energy;
    CHECK(std::abs(difference) < 5e-5);
    CHECK(std::abs(difference) > 1e-6);
  }
  const auto jump = [](const std::string& name) {
    return std::abs(at(name, density_of(1 + 1e-10)).v - at(name, density_of(1 - 1e-10)).v);
  };
  CHECK(jump("pz-mod") < 1e-9);
  CHECK(jump("pz") > 1e-5);
}

TEST_CASE("xc: pw and pade are the formulas of their papers") {
  for (const double rs : radii) {
    CHECK(at("pw", density_of(rs)).energy == doctest::Approx(exchange(rs).energy + perdew_wang(rs)).epsilon(1e-6));
    CHECK(at("pade", density_of(rs)).energy == doctest::Approx(pade(rs)).epsilon(1e-12));
  }
  // and they describe the same gas: Ceperley and Alder's, to a thousandth of a hartree
  for (const double rs : {0.5, 1.0, 2.0, 5.0, 20.0}) {
    CHECK(std::abs(at("pw", density_of(rs)).energy - at("pz", density_of(rs)).energy) < 1e-3);
    CHECK(std::abs(at("pade", density_of(rs)).energy - at("pw", density_of(rs)).energy) < 1e-3);
  }
}

TEST_CASE("xc: none is nothing") {
  const Point point = at("none", 0.3);
  CHECK(point.energy == 0);
  CHECK(point.v == 0);
}

TEST_CASE("xc: the potential is the slope of the energy in each spin") {
  for (const std::string& name : local_names()) {
    CAPTURE(name);
    for (const std::array<double, 2> n : {std::array{0.02, 0.01}, {0.3, 0.7}, {0.1, 1e-3}, {1e-5, 2e-5}}) {
      for (std::size_t spin = 0; spin < 2; ++spin) {
        const double step = 1e-4 * n[spin];
        std::array<double, 2> more = n, less = n;
        more[spin] += step;
        less[spin] -= step;
        const double slope = (at(name, more).energy - at(name, less).energy) / (2 * step);
        CHECK(at(name, n).v[spin] == doctest::Approx(slope).epsilon(1e-7));
      }
    }
    for (const double n : {0.02, 0.7, 1e-5}) {
      const double step = 1e-4 * n;
      const double slope =
          ((n + step) * at(name, n + step).energy - (n - step) * at(name, n - step).energy) / (2 * step);
      CHECK(at(name, n).v == doctest::Approx(slope).epsilon(1e-7));
    }
  }
}

TEST_CASE("xc: two equal spins are none, and spins may change places") {
  for (const std::string& name : local_names()) {
    CAPTURE(name);
    for (const double n : {0.01, 0.5}) {
      const SpinPoint equal = at(name, std::array{n / 2, n / 2});
      CHECK(equal.energy == doctest::Approx(n * at(name, n).energy).epsilon(1e-12));
      CHECK(equal.v[0] == doctest::Approx(at(name, n).v).epsilon(1e-12));
      CHECK(equal.v[1] == doctest::Approx(equal.v[0]).epsilon(1e-12));
      const SpinPoint one = at(name, std::array{n, 0.2 * n}), other = at(name, std::array{0.2 * n, n});
      CHECK(one.energy == doctest::Approx(other.energy).epsilon(1e-14));
      CHECK(one.v[0] == doctest::Approx(other.v[1]).epsilon(1e-14));
      CHECK(one.v[1] == doctest::Approx(other.v[0]).epsilon(1e-14));
    }
  }
}

TEST_CASE("xc: exchange of two spins is half that of twice each") {
  for (const std::array<double, 2> n : {std::array{0.02, 0.01}, {0.3, 0.0}, {1.5, 0.2}}) {
    const auto twice = [](double one) { return one == 0 ? 0.0 : 2 * one * at("x", 2 * one).energy; };
    CHECK(at("x", n).energy == doctest::Approx(0.5 * (twice(n[0]) + twice(n[1]))).epsilon(1e-13));
  }
}

TEST_CASE("xc: a polarised gas correlates about half as much, in every functional alike") {
  for (const double rs : {1.0, 2.0, 5.0}) {
    const double n = density_of(rs), x = at("x", std::array{n, 0.0}).energy;
    const double pw = (at("pw", std::array{n, 0.0}).energy - x) / n, ratio = pw / perdew_wang(rs);
    CHECK(ratio > 0.45);
    CHECK(ratio < 0.6);
    for (const char* name : {"pz", "pade"})
      CHECK(std::abs((at(name, std::array{n, 0.0}).energy - x) / n - pw) < 1.5e-3);
  }
}

TEST_CASE("xc: no electrons, less than none, and very few are harmless; not a number stays one") {
  for (const std::string& name : local_names()) {
    CAPTURE(name);
    for (const int spins : {1, 2}) {
      const ExchangeCorrelation functional(name, spins);
      for (const double n : {0.0, -1e-3, 1e-300, 1e-28, 1e-20, 1e-12}) {
        const std::vector<double> density(static_cast<std::size_t>(spins), n);
        std::vector<double> v(density.size(), 7);
        const double energy = functional.evaluate(v, density);
        CHECK(std::isfinite(energy));
        CHECK(std::abs(v[0]) <= 3 * std::cbrt(std::max(n, 1e-27)));  // as exchange falls, and correlation faster
        CHECK(v.front() == v.back());
        if (n <= 0) CHECK(energy == 0);
      }
    }
  }
  double v = 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double energy = ExchangeCorrelation("pz", 1).evaluate({&v, 1}, {&nan, 1});
  CHECK((std::isnan(energy) || std::isnan(v)));
}

TEST_CASE("xc: many points are the points one by one, whatever the threads") {
  std::mt19937 random(4);
  const std::size_t points = 1003;
  std::vector<double> n(2 * points), v(n.size()), again(n.size());
  for (double& value : n) value = std::pow(10.0, -6.0 * static_cast<double>(random()) / 4294967296.0);
  const ExchangeCorrelation functional("pz", 2);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const double energy = functional.evaluate(v, n);
  omp_set_num_threads(3);
  CHECK(functional.evaluate(again, n) == energy);
  omp_set_num_threads(before);
  CHECK(again == v);
  double sum = 0;
  bool same = true;
  for (std::size_t i = 0; i < points; ++i) {
    const SpinPoint point = at("pz", std::array{n[i], n[points + i]});
    sum += point.energy;
    same = same && point.v[0] == v[i] && point.v[1] == v[points + i];
  }
  CHECK(same);
  CHECK(energy == doctest::Approx(sum).epsilon(1e-13));
}

TEST_CASE("xc: unknown functionals, numbers of spins and lengths are refused") {
  CHECK_THROWS_WITH_AS(ExchangeCorrelation("bpe", 1),
                       doctest::Contains("the functional \"bpe\" is not known; there are pz, "), core::InvalidArgument);
  for (const char* name : {"", "+", "gga_x_pbe+"}) CHECK_THROWS_AS(ExchangeCorrelation(name, 1), core::InvalidArgument);
  for (const char* name :
       {"mgga_x_br89", "hyb_gga_xc_pbeh", "gga_x_pbe+mgga_c_r2scanl", "lda_k_tf", "gga_x_lb", "lda_x_2d"})
    CHECK_THROWS_WITH_AS(ExchangeCorrelation(name, 1), doctest::Contains("not available: choose another"),
                         core::InvalidArgument);
  CHECK_THROWS_AS(ExchangeCorrelation("pz", 3), core::InvalidArgument);
  const ExchangeCorrelation functional("pz", 2);
  std::vector<double> three(3), four(4);
  CHECK_THROWS_AS(static_cast<void>(functional.evaluate(three, three)), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(functional.evaluate(four, three)), core::InvalidArgument);
  CHECK(functional.name() == "pz");
  CHECK(ExchangeCorrelation("gga_x_pbe+gga_c_pbe", 1).name() == "pbe");
  CHECK(ExchangeCorrelation("gga_x_pbe+gga_c_lyp", 1).name() == "gga_x_pbe+gga_c_lyp");
  const ExchangeCorrelation pbe("pbe", 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(pbe.evaluate(three, three)), doctest::Contains("depends on gradients"),
                       core::InvalidArgument);
  std::vector<double> nine(9);
  CHECK_THROWS_AS(static_cast<void>(pbe.evaluate(three, nine, three, four)), core::InvalidArgument);
}

}  // namespace halocline::tddft
