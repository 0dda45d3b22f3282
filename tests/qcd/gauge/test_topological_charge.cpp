// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/topological_charge.hpp"
#include "qcd/gauge/sample_fields.hpp"
#include "qcd/shared_data.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace halocline;
using lattice::Coordinates;
using qcd::GaugeField;
using qcd::Su3;
namespace gauge = qcd::gauge;

namespace {

/// t -> -t: links in t turn round.
GaugeField reflected_in_time(const GaugeField& u) {
  GaugeField v = u;
  const std::int64_t extent = u.geometry().local()[3];
  sample::for_each_site(u.geometry(), [&](const Coordinates<4>& x) {
    Coordinates<4> image = x;
    image[3] = (extent - x[3]) % extent;
    for (int mu = 0; mu < 3; ++mu) v.set_link(x, mu, u.link(image, mu));
    image[3] = (2 * extent - x[3] - 1) % extent;
    v.set_link(x, 3, adjoint(u.link(image, 3)));
  });
  v.exchange_ghosts();
  return v;
}

/// Constant flux 2 pi n / (extent a * extent b) in each plaquette of plane (a, b), in the colours diag(1, -1, 0).
void add_flux(GaugeField& u, int a, int b, int n) {
  const auto& extents = u.geometry().local();
  const double flux = 2 * std::numbers::pi * n / static_cast<double>(extents[a] * extents[b]);
  auto turn = [&](const Coordinates<4>& x, int mu, double angle) {
    Su3<double> phase = Su3<double>::unit();
    phase.e[0][0] = {std::cos(angle), std::sin(angle)};
    phase.e[1][1] = core::conj(phase.e[0][0]);
    u.set_link(x, mu, phase * u.link(x, mu));
  };
  sample::for_each_site(u.geometry(), [&](const Coordinates<4>& x) {
    turn(x, b, flux * static_cast<double>(x[a]));
    if (x[a] == extents[a] - 1) turn(x, a, -flux * static_cast<double>(extents[a] * x[b]));
  });
  u.exchange_ghosts();
}

}  // namespace

TEST_CASE("topological charge: of the sample configuration is what another project found") {
  HALOCLINE_NEEDS_SHARED(test::sample_name + ".nersc");
  const auto values = test::sample_values();
  const auto u = GaugeField::from_canonical(sample::geometry({4, 4, 4, 4}), test::sample_links());
  const auto found = gauge::clover_observables(u);
  // sums of 1536 terms of size 1
  CHECK(std::abs(found.topological_charge - values.at("topological_charge_clover").get<double>()) < 1e-14);
  CHECK(std::abs(found.plaquette - values.at("plaquette").get<double>()) < 1e-14);
  CHECK(std::abs(found.energy_plaquette - 36 * (1 - values.at("plaquette").get<double>())) < 1e-12);
}

TEST_CASE("topological charge: two crossed abelian fluxes carry 2 n1 n2, in every pair of planes with its sign") {
  const int planes[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  const double signs[3] = {1, -1, 1};  // of epsilon_abcd
  const auto geometry = sample::geometry({6, 4, 8, 10});
  const auto& extents = geometry->local();
  for (int k = 0; k < 3; ++k) {
    const auto [a, b, c, d] = planes[k];
    GaugeField u(geometry);
    add_flux(u, a, b, 1);
    add_flux(u, c, d, 2);
    const double first = 2 * std::numbers::pi / static_cast<double>(extents[a] * extents[b]);
    const double second = 4 * std::numbers::pi / static_cast<double>(extents[c] * extents[d]);
    // F is i sin(flux) on the lattice; with the flux itself the sum would be 2 * 1 * 2
    const double lattice_factor = std::sin(first) * std::sin(second) / (first * second);
    const auto found = gauge::clover_observables(u);
    CAPTURE(k);
    CHECK(std::abs(found.topological_charge - signs[k] * 4 * lattice_factor) < 1e-12);
    CHECK(std::abs(found.energy_clover - 2 * (std::pow(std::sin(first), 2) + std::pow(std::sin(second), 2))) < 1e-12);
  }
}

TEST_CASE("topological charge: a reflection turns its sign and keeps the energy") {
  const auto u = sample::field(sample::geometry({6, 4, 2, 8}), 0.5);
  const auto before = gauge::clover_observables(u), after = gauge::clover_observables(reflected_in_time(u));
  CHECK(std::abs(before.topological_charge) > 1e-3);
  CHECK(std::abs(before.topological_charge + after.topological_charge) < 1e-13);
  CHECK(std::abs(before.energy_clover - after.energy_clover) < 1e-12);
}

TEST_CASE("topological charge and energy: gauge invariant, zero for pure gauge") {
  const auto geometry = sample::geometry({4, 6, 2, 4});
  const auto u = sample::field(geometry, 0.5);
  const auto before = gauge::clover_observables(u), after = gauge::clover_observables(sample::transformed(u, 9));
  CHECK(std::abs(before.topological_charge - after.topological_charge) < 1e-13);
  CHECK(std::abs(before.energy_clover - after.energy_clover) < 1e-12);
  const auto nothing = gauge::clover_observables(sample::transformed(GaugeField(geometry), 9));
  CHECK(std::abs(nothing.topological_charge) < 1e-25);
  CHECK(std::abs(nothing.energy_clover) < 1e-25);
  CHECK(std::abs(nothing.energy_plaquette) < 1e-12);
}

TEST_CASE("energy: clover and plaquette differ on a smooth field by the lattice spacing squared") {
  double difference[2];
  for (int k = 0; k < 2; ++k) {
    const std::int64_t extent = 6 << k;  // plane waves of momentum 2 pi / extent
    const auto u = sample::smooth_field(sample::geometry({extent, extent, extent, extent}), 0.01);
    const auto found = gauge::clover_observables(u);
    difference[k] = std::abs(found.energy_clover / found.energy_plaquette - 1);
  }
  CHECK(difference[0] < 0.5);
  CHECK(difference[0] / difference[1] > 3.5);
  CHECK(difference[0] / difference[1] < 4.5);
}
