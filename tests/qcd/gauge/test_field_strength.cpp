// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/field_strength.hpp"
#include "qcd/gauge/sample_fields.hpp"

using namespace halocline;
using lattice::Coordinates;
using qcd::Su3;
namespace gauge = qcd::gauge;

namespace {

/// Product of the links along a closed path of signed steps (+1 = x forwards, -1 = x backwards, ..., 4 = t), site by
/// site with periodic wrapping: no ghosts, no packs.
Su3<double> path(const qcd::GaugeField& u, Coordinates<4> x, std::initializer_list<int> steps) {
  Su3<double> product = Su3<double>::unit();
  const auto& extents = u.geometry().local();
  for (int step : steps) {
    const int axis = std::abs(step) - 1;
    if (step > 0) {
      product = product * u.link(x, axis);
      x[axis] = (x[axis] + 1) % extents[axis];
    } else {
      x[axis] = (x[axis] + extents[axis] - 1) % extents[axis];
      product = times_adjoint(product, u.link(x, axis));
    }
  }
  return product;
}

}  // namespace

TEST_CASE("field strength: equals the four leaves walked link by link, in every plane") {
  const auto geometry = sample::geometry({10, 4, 6, 2});
  const auto u = sample::field(geometry, 0);
  const auto f = gauge::field_strength(u);
  double largest = 0, largest_of_one = 0;
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    for (int plane = 0; plane < 6; ++plane) {
      const auto [mu, nu] = gauge::field_strength_plane[plane];
      const int a = mu + 1, b = nu + 1;
      Su3<double> q = path(u, x, {a, b, -a, -b});
      q += path(u, x, {b, -a, -b, a});
      q += path(u, x, {-a, -b, a, b});
      q += path(u, x, {-b, a, b, -a});
      const Su3<double> expected = 0.125 * (q - adjoint(q));
      const auto site = static_cast<std::size_t>(lattice::linear_index<4>(x, geometry->local()));
      largest = std::max(largest, sample::distance(f[6 * site + static_cast<std::size_t>(plane)], expected));
      largest_of_one = std::max(largest_of_one, sample::distance(gauge::field_strength(u, x, mu, nu), expected));
    }
  });
  CHECK(largest < 20e-16);  // eight products of unit matrices
  CHECK(largest_of_one < 20e-16);
}

TEST_CASE("field strength: anti-hermitian, antisymmetric in the plane, zero on the diagonal and for unit links") {
  const auto geometry = sample::geometry({4, 2, 2, 4});
  const auto u = sample::field(geometry, 0, 5);
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = 0; nu < 4; ++nu) {
        const auto f = gauge::field_strength(u, x, mu, nu);
        REQUIRE(sample::distance(f, -1.0 * adjoint(f)) == 0);
        REQUIRE(sample::distance(f, -1.0 * gauge::field_strength(u, x, nu, mu)) < 10e-16);
        if (mu == nu) REQUIRE(sample::distance(f, Su3<double>::zero()) == 0);
      }
  });
  for (const auto& f : gauge::field_strength(qcd::GaugeField(geometry)))
    REQUIRE(sample::distance(f, Su3<double>::zero()) == 0);
}

TEST_CASE("field strength: F(x) turns into g(x) F(x) g(x)^dagger") {
  const auto geometry = sample::geometry({6, 4, 2, 4});
  const auto u = sample::field(geometry, 0.4);
  const auto v = sample::transformed(u, 3);
  const auto f = gauge::field_strength(u), f_of_v = gauge::field_strength(v);
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    const auto g = sample::transformation(*geometry, x, 3, 0);
    const auto site = static_cast<std::size_t>(lattice::linear_index<4>(x, geometry->local()));
    for (std::size_t plane = 0; plane < 6; ++plane)
      REQUIRE(sample::distance(times_adjoint(g * f[6 * site + plane], g), f_of_v[6 * site + plane]) < 40e-16);
  });
}

TEST_CASE("field strength: of a constant abelian field it is i sin(flux) in that colour") {
  // U_y(x) = exp(i b x), b = 2 pi / L: every xy plaquette is exp(i b) in colour 0, exp(-i b) in colour 1.
  const auto geometry = sample::geometry({12, 2, 2, 2});
  const double b = 2 * 3.14159265358979323846 / 12;
  qcd::GaugeField u(geometry);
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    Su3<double> link = Su3<double>::unit();
    link.e[0][0] = {std::cos(b * static_cast<double>(x[0])), std::sin(b * static_cast<double>(x[0]))};
    link.e[1][1] = core::conj(link.e[0][0]);
    u.set_link(x, 1, link);
  });
  u.exchange_ghosts();
  Su3<double> expected = Su3<double>::zero();
  expected.e[0][0].im = std::sin(b);
  expected.e[1][1].im = -std::sin(b);
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    REQUIRE(sample::distance(gauge::field_strength(u, x, 0, 1), expected) < 20e-16);
    REQUIRE(sample::distance(gauge::field_strength(u, x, 2, 3), Su3<double>::zero()) < 20e-16);
  });
}

TEST_CASE("field strength: a site or an axis that is not there is refused") {
  const qcd::GaugeField u(sample::geometry({4, 4, 4, 4}));
  CHECK_THROWS_AS(gauge::field_strength(u, {0, 0, 0, 4}, 0, 1), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::field_strength(u, {-1, 0, 0, 0}, 0, 1), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::field_strength(u, {0, 0, 0, 0}, 0, 4), core::InvalidArgument);
}
