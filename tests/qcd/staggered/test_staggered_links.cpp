// SPDX-License-Identifier: Apache-2.0
//
// Fat and long links against sums over explicit paths, and the projection to U(3).

#include <doctest/doctest.h>

#include <complex>
#include <limits>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/detail/nearest_unitary.hpp"
#include "halocline/qcd/gauge/staggered_links.hpp"
#include "halocline/qcd/gauge/transform.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/staggered/slow_links.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 6, 4, 8};
constexpr std::int64_t volume = 4 * 6 * 4 * 8;
constexpr test::SlowCoefficients fat7{1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0};

GaugeField rough_links() {
  return GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 7));
}

GaugeField unit_links() { return GaugeField(test::one_process(extents)); }

double distance_from_unit(const GaugeField& links, double factor) {
  const auto unit = unit_links().to_canonical();
  auto expected = unit;
  for (auto& z : expected) z *= factor;
  return test::relative_distance(links.to_canonical(), expected);
}

}  // namespace

TEST_CASE("staggered links: fat links are the sum over their paths") {
  const GaugeField u = rough_links();
  test::SlowLinks slow(extents, u.to_canonical());
  // Five numbers without a relation, so that no kind of path can stand for another one.
  const GaugeField fat = gauge::fat_links(u, {0.31, -0.17, 0.053, 0.0171, -0.113});
  CHECK(test::relative_distance(fat.to_canonical(), slow.fat({0.31, -0.17, 0.053, 0.0171, -0.113})) < 1e-14);
}

TEST_CASE("staggered links: asqtad with tadpole factors") {
  const GaugeField u = rough_links();
  const double u0 = 0.87;
  test::SlowLinks slow(extents, u.to_canonical());
  const auto links = gauge::staggered_links(u, {.mass = 0.1, .kind = StaggeredKind::asqtad, .u0 = u0});
  const double u2 = u0 * u0, u4 = u2 * u2, u6 = u4 * u2;
  CHECK(test::relative_distance(links.fat.to_canonical(),
                                slow.fat({5.0 / 8, 1 / 16. / u2, 1 / 64. / u4, 1 / 384. / u6, -1 / 16. / u4})) < 1e-14);
  CHECK(test::relative_distance(links.naik->to_canonical(), slow.naik(-1 / 24. / u2)) < 1e-14);
}

TEST_CASE("staggered links: HISQ against a slow construction") {
  const GaugeField u = rough_links();
  const double epsilon = -0.12;
  test::SlowLinks first(extents, u.to_canonical());
  test::SlowLinks projected(extents, first.fat(fat7));
  projected.make_unitary();
  const auto links = gauge::staggered_links(u, {.mass = 0.1, .epsilon = epsilon});
  CHECK(test::relative_distance(links.fat.to_canonical(),
                                projected.fat({1 + epsilon / 8, 1 / 16., 1 / 64., 1 / 384., -1 / 8.})) < 1e-12);
  CHECK(test::relative_distance(links.naik->to_canonical(), projected.naik(-(1 + epsilon) / 24)) < 1e-12);
}

TEST_CASE("staggered links: unit links stay unit links, up to the weight that long links take") {
  const GaugeField u = unit_links();
  CHECK(distance_from_unit(gauge::fat_links(u, gauge::fat7_coefficients()), 1) < 1e-14);
  for (const auto kind : {StaggeredKind::asqtad, StaggeredKind::hisq}) {
    const auto links = gauge::staggered_links(u, {.mass = 0.1, .kind = kind});
    CHECK(distance_from_unit(links.fat, 9.0 / 8) < 1e-14);
    CHECK(distance_from_unit(*links.naik, -1.0 / 24) < 1e-14);
  }
}

TEST_CASE("staggered links: smearing commutes with gauge transformations") {
  const auto geometry = test::one_process(extents);
  const auto rotations = test::random_links(volume, 11);
  std::vector<std::complex<double>> g;
  for (std::int64_t site = 0; site < volume; ++site)
    g.insert(g.end(), rotations.begin() + 36 * site, rotations.begin() + 36 * site + 9);
  // U_mu(x) -> g(x) U_mu(x) g(x + mu)^dagger, in the canonical order
  const auto transformed = [&](const std::vector<std::complex<double>>& links) {
    auto out = links;
    for (std::int64_t site = 0; site < volume; ++site)
      for (int mu = 0; mu < 4; ++mu) {
        auto next = lattice::coordinates_of<4>(site, extents);
        next[static_cast<std::size_t>(mu)] =
            (next[static_cast<std::size_t>(mu)] + 1) % extents[static_cast<std::size_t>(mu)];
        const auto end = lattice::linear_index<4>(next, extents);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            std::complex<double> sum = 0;
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b)
                sum += g[static_cast<std::size_t>(9 * site + 3 * i + a)] *
                       links[static_cast<std::size_t>(36 * site + 9 * mu + 3 * a + b)] *
                       std::conj(g[static_cast<std::size_t>(9 * end + 3 * j + b)]);
            out[static_cast<std::size_t>(36 * site + 9 * mu + 3 * i + j)] = sum;
          }
      }
    return out;
  };
  const auto links = rough_links().to_canonical();
  const StaggeredAction action{.mass = 0.1};
  const auto of_transformed =
      gauge::staggered_links(GaugeField::from_canonical(geometry, transformed(links)), action).fat.to_canonical();
  const auto smeared = gauge::staggered_links(GaugeField::from_canonical(geometry, links), action).fat.to_canonical();
  CHECK(test::relative_distance(of_transformed, transformed(smeared)) < 1e-12);
}

TEST_CASE("staggered links: projected matrices are unitary, and the hermitian factor is positive") {
  GaugeField v = gauge::fat_links(rough_links(), gauge::fat7_coefficients());
  const GaugeField before = v;
  gauge::unitarise(v);
  double off = 0, least = 1;
  for (std::int64_t site = 0; site < volume; ++site)
    for (int mu = 0; mu < 4; ++mu) {
      const auto x = lattice::coordinates_of<4>(site, extents);
      const Su3<double> w = v.link(x, mu), one = adjoint_times(w, w), h = adjoint_times(w, before.link(x, mu));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          off = std::max({off, std::abs(one.e[i][j].re - (i == j)), std::abs(one.e[i][j].im)});
          off = std::max({off, std::abs(h.e[i][j].re - h.e[j][i].re), std::abs(h.e[i][j].im + h.e[j][i].im)});
        }
      // Positive: the leading minors are.
      least = std::min({least, h.e[0][0].re, (h.e[0][0] * h.e[1][1] - h.e[0][1] * h.e[1][0]).re, determinant(h).re});
    }
  CHECK(off < 1e-12);
  CHECK(least > 0);
}

TEST_CASE("staggered links: a nearly singular matrix is projected by its singular values") {
  // diag(1, 1, s) between two unitary matrices
  const GaugeField pair = GaugeField::from_canonical(test::one_process({2, 2, 2, 2}), test::random_links(16, 5));
  const Su3<double> left = pair.link({0, 0, 0, 0}, 0), right = pair.link({1, 0, 0, 0}, 1);
  for (const double small : {1e-1, 1e-3, 1e-6, 1e-10}) {
    Su3<double> middle = Su3<double>::unit();
    middle.e[2][2].re = small;
    GaugeField v(test::one_process({2, 2, 2, 2}));
    v.set_link({1, 0, 1, 0}, 2, left * middle * right);
    gauge::unitarise(v);
    const Su3<double> w = v.link({1, 0, 1, 0}, 2), expected = left * right;
    double off = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        off =
            std::max({off, std::abs(w.e[i][j].re - expected.e[i][j].re), std::abs(w.e[i][j].im - expected.e[i][j].im)});
    INFO(small);
    CHECK(off < 1e-15 / small + 1e-13);
    CHECK(off < 1e-5);
  }
}

TEST_CASE("staggered links: a matrix without a nearest unitary one is named by its site") {
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    GaugeField v(test::one_process(extents));
    v.set_link({3, 5, 1, 7}, 1, Su3<double>::diagonal(bad));
    CHECK_THROWS_WITH_AS(gauge::unitarise(v), doctest::Contains("direction y of site (3, 5, 1, 7)"), core::Error);
  }
}

TEST_CASE("staggered links: refusals name the rule") {
  const GaugeField u = rough_links();
  const auto fails = [&](const StaggeredAction& action, const char* words) {
    CHECK_THROWS_WITH_AS(gauge::staggered_links(u, action), doctest::Contains(words), core::InvalidArgument);
  };
  fails({.mass = 0}, "positive mass");
  fails({.mass = -0.1}, "positive mass");
  fails({.mass = 0.1, .kind = StaggeredKind::asqtad, .epsilon = 0.1}, "only \"hisq\"");
  fails({.mass = 0.1, .u0 = 0.9}, "only \"asqtad\"");
  fails({.mass = 0.1, .kind = StaggeredKind::asqtad, .u0 = 1.5}, "between 0 and 1");
  fails({.mass = 0.1, .boundary = {1., 1., 1., 2.}}, "modulus one");
  const GaugeField flat = GaugeField(test::one_process({4, 2, 4, 4}));
  CHECK_THROWS_WITH_AS(gauge::staggered_links(flat, {.mass = 0.1}), doctest::Contains("holds 2 sites along y"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(staggered_kind("p4"), doctest::Contains("\"p4\" is not known"), core::InvalidArgument);
}

}  // namespace halocline::qcd
