// SPDX-License-Identifier: Apache-2.0
//
// Start fields: the measure of random links by its characters, weak fields by perturbation theory.

#include "halocline/qcd/gauge/start.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "halocline/qcd/gauge/observables.hpp"
#include "qcd/gauge/some_links.hpp"

using namespace halocline;

TEST_CASE("random links: traces have the moments of the Haar measure of SU(3)") {
  const auto gauge = qcd::gauge::random_links(test::geometry_alone({10, 8, 8, 12}), 42);
  CHECK(gauge.unitarity_violation() < 1e-14);
  const auto links = gauge.to_canonical();
  const double count = static_cast<double>(links.size()) / 9;  // 30720 links
  std::complex<double> first = 0, second = 0, third = 0, elements = 0;
  double square = 0, fourth = 0, corner = 0;
  for (std::size_t link = 0; link < links.size(); link += 9) {
    const auto t = links[link] + links[link + 4] + links[link + 8];
    first += t / count;
    second += t * t / count;
    third += t * t * t / count;
    square += std::norm(t) / count;
    fourth += std::norm(t) * std::norm(t) / count;
    elements += links[link + 1] * std::conj(links[link + 5]) / count;
    corner += std::norm(links[link + 6]) / count;
  }
  // 3 x 3 x 3 and 3 x 3bar hold the trivial representation once, (3 x 3bar)^2 twice, and the errors follow from
  // <|tr|^2n> = 1, 2, 6 for n = 1, 2, 3 and 23 for n = 4.
  const double error = 4.5 / std::sqrt(count);
  CHECK(std::abs(first) < error);
  CHECK(std::abs(second) < error * std::sqrt(2.0));
  CHECK(std::abs(third - 1.0) < error * std::sqrt(5.0));
  CHECK(std::abs(square - 1) < error);
  CHECK(std::abs(fourth - 2) < error * std::sqrt(19.0));
  CHECK(std::abs(elements) < error / 3);
  CHECK(std::abs(corner - 1.0 / 3) < error / 3);
  CHECK(std::abs(qcd::gauge::plaquette(gauge)) < error / std::sqrt(18 * 1.5));
}

TEST_CASE("random links: seeds differ, links differ, a seed repeats itself") {
  const auto geometry = test::geometry_alone({4, 2, 2, 2});
  const auto links = qcd::gauge::random_links(geometry, 1).to_canonical();
  CHECK(qcd::gauge::random_links(geometry, 1, 2).to_canonical() == links);
  CHECK(qcd::gauge::random_links(geometry, 2).to_canonical() != links);
  for (std::size_t link = 9; link < links.size(); link += 9) CHECK(links[link] != links[0]);
}

TEST_CASE("weak links: the plaquette is 1 - 8 epsilon^2 / 3, none is the unit field") {
  const auto geometry = test::geometry_alone({8, 8, 8, 8});
  for (const double epsilon : {1e-3, 0.03}) {
    const auto gauge = qcd::gauge::weak_links(geometry, epsilon, 9);
    CHECK(gauge.unitarity_violation() < 1e-14);
    // 24576 plaquettes of 8 components each, neighbours correlated: 0.5 %; the next order is epsilon^2 of this one.
    CHECK((1 - qcd::gauge::plaquette(gauge)) / (epsilon * epsilon) == doctest::Approx(8.0 / 3).epsilon(0.015));
  }
  CHECK(qcd::gauge::weak_links(geometry, 0, 9).to_canonical() == qcd::gauge::unit_links(geometry).to_canonical());
  CHECK(qcd::gauge::weak_links(geometry, 50, 9).unitarity_violation() < 1e-12);
  CHECK_THROWS_AS(qcd::gauge::weak_links(geometry, std::numeric_limits<double>::infinity(), 9), core::InvalidArgument);
}
