// SPDX-License-Identifier: Apache-2.0
//
// Gauge transformations: closed loops do not notice, bilinears along open paths neither.

#include "halocline/qcd/gauge/transform.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "halocline/qcd/gauge/observables.hpp"
#include "qcd/gauge/some_links.hpp"

using namespace halocline;
using qcd::gauge::GaugeTransformation;

namespace {

/// sum over sites and spins of psi(x)^dagger U_mu(x) psi(x + mu).
std::complex<double> hop(const qcd::GaugeField& gauge, const std::vector<std::complex<double>>& psi, int mu) {
  const auto& extents = gauge.geometry().local();
  std::complex<double> sum = 0;
  for (std::int64_t site = 0; site < gauge.geometry().local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, extents);
    auto next = x;
    const auto axis = static_cast<std::size_t>(mu);
    next[axis] = (next[axis] + 1) % extents[axis];
    const auto* here = psi.data() + 12 * site;
    const auto* there = psi.data() + 12 * lattice::linear_index<4>(next, extents);
    const auto u = gauge.link(x, mu);
    for (int spin = 0; spin < 4; ++spin)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          sum += std::conj(here[3 * spin + i]) * std::complex<double>(u.e[i][j].re, u.e[i][j].im) * there[3 * spin + j];
  }
  return sum;
}

}  // namespace

TEST_CASE("gauge transformation: loops are invariant, links are not") {
  auto gauge = test::some_links(test::geometry_alone({4, 6, 8, 10}), 0.4);
  const auto planes = qcd::gauge::plaquette_planes(gauge);
  const double rectangle = qcd::gauge::rectangle(gauge), trace = qcd::gauge::link_trace(gauge);
  const auto loops = qcd::gauge::polyakov(gauge);
  GaugeTransformation::random(gauge.geometry_ptr(), 5).apply(gauge);
  constexpr double rounding = 1e-14;
  const auto new_planes = qcd::gauge::plaquette_planes(gauge);
  for (std::size_t plane = 0; plane < 6; ++plane) CHECK(std::abs(new_planes[plane] - planes[plane]) < rounding);
  CHECK(std::abs(qcd::gauge::rectangle(gauge) - rectangle) < rounding);
  const auto new_loops = qcd::gauge::polyakov(gauge);
  for (std::size_t mu = 0; mu < 4; ++mu) CHECK(std::abs(new_loops[mu] - loops[mu]) < rounding);
  CHECK(std::abs(qcd::gauge::link_trace(gauge) - trace) > 0.1);
  CHECK(gauge.unitarity_violation() < 1e-13);
}

TEST_CASE("gauge transformation: quark bilinears along links are invariant") {
  auto gauge = test::some_links(test::geometry_alone({4, 2, 6, 4}));
  std::vector<std::complex<double>> psi(static_cast<std::size_t>(12 * gauge.geometry().local_volume()));
  for (std::size_t i = 0; i < psi.size(); ++i) psi[i] = {test::mixed(i, 0), test::mixed(i, 1)};
  std::array<std::complex<double>, 4> before;
  for (int mu = 0; mu < 4; ++mu) before[static_cast<std::size_t>(mu)] = hop(gauge, psi, mu);
  const auto g = GaugeTransformation::random(gauge.geometry_ptr(), 6);
  const auto old_psi = psi;
  g.apply(gauge);
  g.apply(psi);
  CHECK(psi != old_psi);
  for (int mu = 0; mu < 4; ++mu)  // sums of 6912 terms of order one
    CHECK(std::abs(hop(gauge, psi, mu) - before[static_cast<std::size_t>(mu)]) < 1e-11);
}

TEST_CASE("gauge transformation: the unit changes nothing, a wrong shape is refused") {
  auto gauge = test::some_links(test::geometry_alone({4, 4, 4, 4}));
  const auto links = gauge.to_canonical();
  const GaugeTransformation unit(gauge.geometry_ptr());
  unit.apply(gauge);
  CHECK(gauge.to_canonical() == links);
  qcd::GaugeField other(test::geometry_alone({4, 4, 4, 6}));
  CHECK_THROWS_AS(unit.apply(other), core::InvalidArgument);
  std::vector<std::complex<double>> psi(7);
  CHECK_THROWS_AS(unit.apply(psi), core::InvalidArgument);
}
