// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/gauge_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace halocline::qcd {

namespace {

/// Calls action(local coordinates, index of the site in canonical order).
template <class Action>
void for_each_site(const lattice::Geometry4& geometry, Action&& action) {
  const auto& local = geometry.local();
  std::int64_t site = 0;
  for (std::int64_t t = 0; t < local[3]; ++t)
    for (std::int64_t z = 0; z < local[2]; ++z)
      for (std::int64_t y = 0; y < local[1]; ++y)
        for (std::int64_t x = 0; x < local[0]; ++x, ++site) action(lattice::Coordinates<4>{x, y, z, t}, site);
}

/// Like std::max, but a NaN on either side stays.
double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double violation(const Su3<double>& u) {
  double worst = 0;
  const Su3<double> product = times_adjoint(u, u);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      worst = larger_or_nan(worst, std::hypot(product.e[i][j].re - (i == j ? 1.0 : 0.0), product.e[i][j].im));
  const Complex<double> det = determinant(u);
  return larger_or_nan(worst, std::hypot(det.re - 1.0, det.im));
}

}  // namespace

GaugeField::GaugeField(std::shared_ptr<const lattice::Geometry4> geometry, int depth)
    : field_(std::move(geometry), 4 * link_reals, depth) {
  const auto& local = field_.geometry().local();
  for (std::int64_t t = -depth; t < local[3] + depth; ++t)
    for (std::int64_t z = -depth; z < local[2] + depth; ++z)
      for (std::int64_t y = -depth; y < local[1] + depth; ++y)
        for (int mu = 0; mu < 4; ++mu)
          for (int i = 0; i < 3; ++i) {
            double* row = field_.data() + link_offset({-depth, y, z, t}, mu) + 8 * i * field_.component_stride();
            std::fill(row, row + local[0] + 2 * depth, 1.0);
          }
}

GaugeField GaugeField::from_canonical(std::shared_ptr<const lattice::Geometry4> geometry,
                                      std::span<const std::complex<double>> links, int depth) {
  const auto expected = static_cast<std::size_t>(36 * geometry->local_volume());
  comm::on_every_rank(geometry->communicator(), [&] {
    if (links.size() != expected)
      throw core::InvalidArgument("a gauge field of " + std::to_string(links.size()) +
                                  " complex numbers was given where the local box needs " + std::to_string(expected) +
                                  "; give links in the shape [t][z][y][x][4][3][3]");
  });
  GaugeField gauge(std::move(geometry), depth);
  for_each_site(gauge.geometry(), [&](const lattice::Coordinates<4>& x, std::int64_t site) {
    const std::complex<double>* from = links.data() + 36 * site;
    for (int mu = 0; mu < 4; ++mu) {
      Su3<double> u;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j, ++from) u.e[i][j] = {from->real(), from->imag()};
      gauge.set_link(x, mu, u);
    }
  });
  gauge.exchange_ghosts();
  return gauge;
}

std::vector<std::complex<double>> GaugeField::to_canonical() const {
  std::vector<std::complex<double>> links(static_cast<std::size_t>(36 * geometry().local_volume()));
  for_each_site(geometry(), [&](const lattice::Coordinates<4>& x, std::int64_t site) {
    std::complex<double>* to = links.data() + 36 * site;
    for (int mu = 0; mu < 4; ++mu) {
      const Su3<double> u = link(x, mu);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j, ++to) *to = {u.e[i][j].re, u.e[i][j].im};
    }
  });
  return links;
}

double GaugeField::unitarity_violation() const {
  double worst = 0;
  for_each_site(geometry(), [&](const lattice::Coordinates<4>& x, std::int64_t) {
    for (int mu = 0; mu < 4; ++mu) worst = larger_or_nan(worst, violation(link(x, mu)));
  });
  geometry().communicator().max(std::span(&worst, 1));
  return worst;
}

}  // namespace halocline::qcd
