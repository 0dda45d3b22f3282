// SPDX-License-Identifier: Apache-2.0
//
// The built-in pseudopotentials: closed forms against integrals and differences, the table against what follows from
// it.

#include "halocline/tddft/pseudopotential/goedecker.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/gth_library.hpp"
#include "halocline/tddft/pseudopotential/detail/radial.hpp"
#include "tddft/pseudopotential/radial_integral.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft {
namespace {

using test::derivative;
using test::integral;

constexpr double pi = std::numbers::pi;

template <class Action>
void for_all(Action&& action) {
  static const auto made = [] {
    std::vector<std::shared_ptr<const Pseudopotential>> all;
    for (const auto& entry : detail::gth_library("pade"))
      all.push_back(goedecker(entry.symbol, static_cast<int>(entry.valence)));
    return all;
  }();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const detail::GaussianParameters& entry = detail::gth_library("pade")[i];
    CAPTURE(entry.symbol);
    CAPTURE(entry.valence);
    action(entry, *made[i]);
  }
}

std::string message_of(std::string_view symbol, int valence = 0) {
  try {
    goedecker(symbol, valence);
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("goedecker: hydrogen to radon exist, and ions and electrons agree") {
  CHECK(goedecker_symbols().size() == 86);
  for_all([](const detail::GaussianParameters& entry, const Pseudopotential& p) {
    CHECK(p.symbol() == entry.symbol);
    CHECK(p.valence() == entry.valence);
    CHECK(p.functional() == "pade");
    const double charge = integral([&](double r) { return 4 * pi * r * r * p.start_density(r); }, 0, 30);
    CHECK(charge == doctest::Approx(p.valence()).epsilon(1e-9));
  });
}

TEST_CASE("goedecker: projectors are normalised, their overlaps are those of the Gaussians") {
  for_all([](const detail::GaussianParameters&, const Pseudopotential& p) {
    for (int l = 0; l <= p.largest_l(); ++l)
      for (int i = 0; i < p.projectors(l); ++i)
        for (int j = 0; j <= i; ++j) {
          const double overlap = integral([&](double r) { return r * r * p.projector(l, i, r) * p.projector(l, j, r); },
                                          0, p.projector_radius(l));
          const double expected = std::exp(std::lgamma(l + i + j + 1.5) -
                                           0.5 * (std::lgamma(l + 2 * i + 1.5) + std::lgamma(l + 2 * j + 1.5)));
          CHECK(overlap == doctest::Approx(expected).epsilon(1e-10));
        }
  });
}

TEST_CASE("goedecker: couplings between projectors are those that other codes print") {
  // The rule of Phys. Rev. B 58, 3641 for h_ij, from the six digits of h_ii printed there, gives these too.
  const double digits = 1e-6;
  const auto close = [&](double a, double b) { return std::abs(a - b) < digits; };
  const auto si = goedecker("Si"), cu = goedecker("Cu"), ag = goedecker("Ag"), au = goedecker("Au", 1);
  CHECK(close(si->coupling(0, 0, 1), -1.26189397));
  CHECK(close(cu->coupling(0, 0, 1), -1.26901549));
  CHECK(close(cu->coupling(0, 0, 2), 0.55872509));
  CHECK(close(cu->coupling(0, 1, 2), -1.44262198));
  CHECK(close(cu->coupling(1, 0, 1), -0.15844220));
  CHECK(close(ag->coupling(2, 0, 1), 0.44975502));
  CHECK(close(au->coupling(1, 0, 1), 0.21024829));
  CHECK(close(au->coupling(1, 0, 2), -0.06235978));
  CHECK(close(au->coupling(1, 1, 2), 0.14757016));
  for_all([](const detail::GaussianParameters&, const Pseudopotential& p) {
    for (int l = 0; l <= 2; ++l)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) CHECK(p.coupling(l, i, j) == p.coupling(l, j, i));
  });
}

TEST_CASE("goedecker: projectors have the power r^l at the origin and have fallen to 1e-6 at their radius") {
  for_all([](const detail::GaussianParameters&, const Pseudopotential& p) {
    CHECK(p.projector_radius(p.largest_l() + 1) == 0);
    CHECK(p.projectors(p.largest_l() + 1) == 0);
    for (int l = 0; l <= p.largest_l(); ++l) {
      const double radius = p.projector_radius(l);
      for (int i = 0; i < p.projectors(l); ++i) {
        double largest = 0;
        for (double r = 0; r < radius; r += 0.01) {
          largest = std::max(largest, std::abs(p.projector(l, i, r)));
          if (r > 0.005 && r < radius - 0.005) {
            const double slope = derivative([&](double x) { return p.projector(l, i, x); }, r);
            CHECK(std::abs(p.projector_slope(l, i, r) - slope) < 1e-7 * largest / radius + 1e-7);
          }
        }
        CHECK(std::abs(p.projector(l, i, radius * (1 - 1e-12))) <= 1.01e-6 * largest);
        CHECK(p.projector(l, i, radius) == 0);
        const double small = 1e-4;
        CHECK(p.projector(l, i, 2 * small) / p.projector(l, i, small) ==
              doctest::Approx(std::pow(2.0, l + 2 * i)).epsilon(1e-5));
      }
    }
  });
}

TEST_CASE("goedecker: the local potential is finite at the ion, smooth, and -Z/r outside") {
  for_all([](const detail::GaussianParameters& entry, const Pseudopotential& p) {
    const double rl = entry.local_radius;
    CHECK(std::isfinite(p.local(0)));
    CHECK(p.local_slope(0) == 0);
    CHECK(p.local(1e-9) == doctest::Approx(p.local(0)).epsilon(1e-12));
    for (const double x : {0.05, 0.0999, 0.1001, 0.5, 1.0, 2.0, 4.0, 8.9, 9.1, 20.0}) {
      CAPTURE(x);
      const double slope = derivative([&](double r) { return p.local(r); }, x * rl, 0.003 * rl);
      CHECK(p.local_slope(x * rl) == doctest::Approx(slope).epsilon(1e-8));
    }
    CHECK(p.local(10 * rl) == doctest::Approx(-p.valence() / (10 * rl)).epsilon(1e-14));
    CHECK(p.local(9.999 * rl) == doctest::Approx(-p.valence() / (9.999 * rl)).epsilon(1e-14));
  });
}

TEST_CASE("goedecker: the local potential in reciprocal space is the integral of the one in real space") {
  for_all([](const detail::GaussianParameters& entry, const Pseudopotential& p) {
    for (const double g : {0.0, 1e-4, 0.3, 1.7, 6.0}) {
      CAPTURE(g);
      const double sum = integral(
          [&](double r) {
            return 4 * pi * (g > 0 ? std::sin(g * r) / g : r) * (r * p.local(r) + (r > 0 ? p.valence() : 0.0));
          },
          1e-12, 10 * entry.local_radius);
      CHECK(std::abs(p.local_fourier(g) - sum) < 1e-9 * (1 + std::abs(p.local_fourier(0))));
    }
  });
}

TEST_CASE("goedecker: the Bessel transform of a projector keeps its norm") {
  const auto si = goedecker("Si");
  for (int l = 0; l <= 1; ++l) {
    const detail::RadialFunction p([&](double r) { return si->projector(l, 0, r); }, si->projector_radius(l));
    CHECK(p.norm2() == doctest::Approx(1).epsilon(1e-10));
    const double norm = integral([&](double q) { return std::pow(q * p.bessel_transform(l, q), 2); }, 0, 20, 400);
    CHECK(norm == doctest::Approx(1).epsilon(1e-9));
  }
}

TEST_CASE("goedecker: spherical Bessel functions satisfy their recursion where series and closed form meet") {
  for (int l = 1; l <= 2; ++l)
    for (const double x : {0.3, 0.49, 0.51, 0.9, 1.1, 1.4, 1.6, 1.9, 2.1, 5.0}) {
      const double left = detail::spherical_bessel(l - 1, x) + detail::spherical_bessel(l + 1, x);
      CHECK(left == doctest::Approx((2 * l + 1) / x * detail::spherical_bessel(l, x)).epsilon(1e-12));
    }
}

TEST_CASE("goedecker: finer potentials ask for finer grids") {
  CHECK(goedecker("F")->coarsest_spacing() < goedecker("C")->coarsest_spacing());
  CHECK(goedecker("C")->coarsest_spacing() < goedecker("Si")->coarsest_spacing());
  CHECK(goedecker("Na", 9)->coarsest_spacing() < goedecker("Na", 1)->coarsest_spacing());
  for_all([](const detail::GaussianParameters&, const Pseudopotential& p) {
    CHECK(p.coarsest_spacing() > 0.08);
    CHECK(p.coarsest_spacing() < 1.5);
  });
}

TEST_CASE("goedecker: symbols in any case; what does not exist is refused with a list of what does") {
  CHECK(goedecker("si")->symbol() == "Si");
  CHECK(goedecker("CU")->valence() == 11);
  CHECK(goedecker("Na")->valence() == 1);
  CHECK(goedecker("Na", 9)->valence() == 9);
  CHECK(message_of("U").find("H, He, Li, Be, B, C, N, O, F, Ne, Na") != std::string::npos);
  CHECK(message_of("").find("no built-in") != std::string::npos);
  CHECK(message_of("Cu", 7).find("11 and 1 and 19") != std::string::npos);
}

TEST_CASE("pseudopotential: a functional that does not fit is warned about") {
  const auto c = goedecker("C");
  CHECK_FALSE(functional_warning(*c, "pade").has_value());
  const auto near = functional_warning(*c, "pz"), far = functional_warning(*c, "none");
  REQUIRE(near.has_value());
  REQUIRE(far.has_value());
  CHECK(near->find("same electron gas") != std::string::npos);
  CHECK(far->find("same electron gas") == std::string::npos);
}

}  // namespace halocline::tddft
