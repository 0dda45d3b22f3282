// SPDX-License-Identifier: Apache-2.0
//
// The gauge field as a container: canonical order in and out, ghosts, unitarity.

#include "halocline/qcd/field/gauge_field.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

using namespace halocline;
using lattice::Coordinates;

namespace {

std::shared_ptr<const lattice::Geometry4> alone(const Coordinates<4>& extents) {
  return std::make_shared<lattice::Geometry4>(extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
}

}  // namespace

TEST_CASE("gauge field: new links are units, ghosts too") {
  const qcd::GaugeField gauge(alone({4, 2, 6, 4}), 2);
  CHECK(gauge.unitarity_violation() == 0);
  for (const Coordinates<4>& x :
       {Coordinates<4>{0, 0, 0, 0}, Coordinates<4>{-2, -2, -2, -2}, Coordinates<4>{5, 3, 7, 5}})
    for (int mu = 0; mu < 4; ++mu) {
      const auto u = gauge.link(x, mu);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          CHECK(u.e[i][j].re == (i == j ? 1 : 0));
          CHECK(u.e[i][j].im == 0);
        }
    }
}

TEST_CASE("gauge field: canonical links go in and come out unchanged, in the order t z y x mu row column") {
  const Coordinates<4> extents = {4, 3, 2, 5};
  const auto geometry = alone(extents);
  std::vector<std::complex<double>> links(static_cast<std::size_t>(36 * geometry->local_volume()));
  for (std::size_t i = 0; i < links.size(); ++i) links[i] = {static_cast<double>(i), -0.5 * static_cast<double>(i)};
  const auto gauge = qcd::GaugeField::from_canonical(geometry, links);
  CHECK(gauge.to_canonical() == links);
  const Coordinates<4> x = {3, 1, 0, 4};
  const auto first = ((((4 * 2 + 0) * 3 + 1) * 4 + 3) * 4 + 2) * 9;
  CHECK(gauge.link(x, 2).e[1][2].re == first + 5);
  CHECK(gauge.link(x, 2).e[1][2].im == -0.5 * (first + 5));
  CHECK(gauge.link({-1, 1, 2, -1}, 2).e[1][2].re == first + 5);  // from_canonical fills the ghosts
}

TEST_CASE("gauge field: links of the wrong number are refused") {
  const std::vector<std::complex<double>> few(35);
  CHECK_THROWS_AS(qcd::GaugeField::from_canonical(alone({2, 2, 2, 2}), few), core::InvalidArgument);
}

TEST_CASE("gauge field: the unitarity violation sees a length, a phase of the determinant and a NaN") {
  qcd::GaugeField gauge(alone({4, 4, 4, 4}));
  auto u = qcd::Su3<double>::unit();
  u.e[1][1].re = 1 + 1e-5;
  gauge.set_link({1, 2, 3, 3}, 3, u);
  CHECK(gauge.unitarity_violation() == doctest::Approx(2e-5).epsilon(1e-4));
  u.e[1][1] = {std::cos(0.1), std::sin(0.1)};  // unitary, determinant not one
  gauge.set_link({1, 2, 3, 3}, 3, u);
  CHECK(gauge.unitarity_violation() == doctest::Approx(2 * std::sin(0.05)).epsilon(1e-12));
  gauge.set_link({0, 0, 0, 0}, 0, std::numeric_limits<double>::quiet_NaN() * u);
  CHECK(std::isnan(gauge.unitarity_violation()));
}

TEST_CASE("gauge field: a copy is independent") {
  qcd::GaugeField gauge(alone({2, 2, 2, 2}));
  const qcd::GaugeField before = gauge;
  gauge.set_link({0, 0, 0, 0}, 0, 2.0 * qcd::Su3<double>::unit());
  CHECK(before.unitarity_violation() == 0);
  CHECK(gauge.unitarity_violation() == 7);
}
