// SPDX-License-Identifier: Apache-2.0
//
// Closed loops of links: known values of another project's configuration, and loops written out site by site.

#include "halocline/qcd/gauge/observables.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "qcd/gauge/some_links.hpp"
#include "qcd/shared_data.hpp"

using namespace halocline;
using lattice::Coordinates;
using qcd::Su3;

namespace {

/// The product of links along a path of signed steps (axis + 1, negative backwards), with periodic wrapping by hand.
Su3<double> path(const qcd::GaugeField& gauge, Coordinates<4> x, const std::vector<int>& steps) {
  const auto& extents = gauge.geometry().local();
  Su3<double> product = Su3<double>::unit();
  for (const int step : steps) {
    const int mu = std::abs(step) - 1;
    auto& place = x[static_cast<std::size_t>(mu)];
    const auto extent = extents[static_cast<std::size_t>(mu)];
    if (step > 0) {
      product = product * gauge.link(x, mu);
      place = (place + 1) % extent;
    } else {
      place = (place + extent - 1) % extent;
      product = times_adjoint(product, gauge.link(x, mu));
    }
  }
  return product;
}

/// Mean over all sites of tr / 3 of a closed path.
std::complex<double> mean_loop(const qcd::GaugeField& gauge, const std::vector<int>& steps) {
  const auto& extents = gauge.geometry().local();
  std::complex<double> sum = 0;
  for (std::int64_t site = 0; site < gauge.geometry().local_volume(); ++site) {
    const auto t = trace(path(gauge, lattice::coordinates_of<4>(site, extents), steps));
    sum += std::complex<double>(t.re, t.im);
  }
  return sum / (3.0 * static_cast<double>(gauge.geometry().local_volume()));
}

}  // namespace

TEST_CASE("gauge observables: the values known for another project's configuration") {
  HALOCLINE_NEEDS_SHARED("gauge.json");
  HALOCLINE_NEEDS_SHARED("4x4x4x4b6.0000id3n1.nersc");
  const auto known = test::sample_values();
  const auto gauge = qcd::GaugeField::from_canonical(test::geometry_alone({4, 4, 4, 4}), test::sample_links());
  constexpr double rounding = 1e-14;  // of means of 256 to 3072 numbers of order one
  CHECK(std::abs(qcd::gauge::plaquette(gauge) - known["plaquette"].get<double>()) < rounding);
  const auto planes = qcd::gauge::plaquette_planes(gauge);
  const char* names[6] = {"xy", "xz", "xt", "yz", "yt", "zt"};
  for (std::size_t plane = 0; plane < 6; ++plane)
    CHECK(std::abs(planes[plane] - known["plaquette_planes"][names[plane]].get<double>()) < rounding);
  CHECK(std::abs(qcd::gauge::link_trace(gauge) - known["link_trace"].get<double>()) < rounding);
  CHECK(std::abs(qcd::gauge::rectangle(gauge) - known["rectangle_2x1"].get<double>()) < rounding);
  const auto loops = qcd::gauge::polyakov(gauge);
  for (std::size_t mu = 0; mu < 4; ++mu) {
    CHECK(std::abs(loops[mu].real() - known["polyakov_xyzt"][mu][0].get<double>()) < rounding);
    CHECK(std::abs(loops[mu].imag() - known["polyakov_xyzt"][mu][1].get<double>()) < rounding);
  }
  CHECK(gauge.unitarity_violation() < 1e-14);
}

TEST_CASE("gauge observables: on unequal extents they equal loops written out link by link") {
  for (const Coordinates<4>& extents :
       {Coordinates<4>{4, 6, 8, 10}, Coordinates<4>{10, 2, 3, 4}, Coordinates<4>{2, 4, 6, 3}}) {
    CAPTURE(extents[0]);
    const auto gauge = test::some_links(test::geometry_alone(extents));
    constexpr double rounding = 1e-14;
    const auto planes = qcd::gauge::plaquette_planes(gauge);
    std::size_t plane = 0;
    double mean = 0, rectangles = 0;
    for (int mu = 1; mu <= 4; ++mu)
      for (int nu = mu + 1; nu <= 4; ++nu, ++plane) {
        const double expected = mean_loop(gauge, {mu, nu, -mu, -nu}).real();
        CHECK(std::abs(planes[plane] - expected) < rounding);
        mean += expected / 6;
        rectangles += mean_loop(gauge, {mu, mu, nu, -mu, -mu, -nu}).real() / 12;
        rectangles += mean_loop(gauge, {nu, nu, mu, -nu, -nu, -mu}).real() / 12;
      }
    CHECK(std::abs(qcd::gauge::plaquette(gauge) - mean) < rounding);
    CHECK(std::abs(qcd::gauge::rectangle(gauge) - rectangles) < rounding);
    const auto loops = qcd::gauge::polyakov(gauge);
    for (int mu = 1; mu <= 4; ++mu) {
      const std::vector<int> straight(static_cast<std::size_t>(extents[static_cast<std::size_t>(mu - 1)]), mu);
      CHECK(std::abs(loops[static_cast<std::size_t>(mu - 1)] - mean_loop(gauge, straight)) < rounding);
    }
  }
}

TEST_CASE("gauge observables: unit links give one, a NaN gives NaN") {
  qcd::GaugeField gauge(test::geometry_alone({4, 4, 6, 2}));
  CHECK(qcd::gauge::plaquette(gauge) == doctest::Approx(1).epsilon(1e-15));
  CHECK(qcd::gauge::rectangle(gauge) == doctest::Approx(1).epsilon(1e-15));
  CHECK(qcd::gauge::link_trace(gauge) == doctest::Approx(1).epsilon(1e-15));
  for (const auto& loop : qcd::gauge::polyakov(gauge)) CHECK(std::abs(loop - 1.0) < 1e-15);
  gauge.set_link({3, 0, 0, 0}, 1, std::numeric_limits<double>::quiet_NaN() * Su3<double>::unit());
  CHECK(std::isnan(qcd::gauge::plaquette(gauge)));
  CHECK(std::isnan(qcd::gauge::link_trace(gauge)));
}

TEST_CASE("gauge observables: links from the centre leave plaquettes and turn Polyakov loops") {
  // One time slice of t links times exp(2 pi i / 3): a symmetry of the gauge action that the Polyakov loop breaks.
  auto gauge = test::some_links(test::geometry_alone({4, 4, 4, 4}));
  const double before = qcd::gauge::plaquette(gauge);
  const auto loops = qcd::gauge::polyakov(gauge);
  const qcd::Complex<double> z{-0.5, std::sqrt(0.75)};
  for (std::int64_t site = 0; site < 64; ++site) {
    auto x = lattice::coordinates_of<4>(site, {4, 4, 4, 1});
    x[3] = 2;
    gauge.set_link(x, 3, z * gauge.link(x, 3));
  }
  gauge.exchange_ghosts();
  CHECK(qcd::gauge::plaquette(gauge) == doctest::Approx(before).epsilon(1e-14));
  const auto turned = qcd::gauge::polyakov(gauge);
  CHECK(std::abs(turned[2] - loops[2]) < 1e-15);
  CHECK(std::abs(turned[3] - std::complex<double>(z.re, z.im) * loops[3]) < 1e-14);
}
