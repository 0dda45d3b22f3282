// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/observables.hpp"

#include "halocline/qcd/gauge/detail/site_sum.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halocline::qcd::gauge {

using detail::LinksAround;
using detail::Sites;

std::array<double, 6> plaquette_planes(const GaugeField& gauge) {
  const auto& field = gauge.field();
  // 6 x 432 flops and 16 links (2304 bytes, most of them from the first-level cache) a site.
  auto sums = detail::sum_over_sites<6>(gauge, [&](const LinksAround& links) {
    std::array<Sites, 6> planes;
    int plane = 0;
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu)
        planes[plane++] =
            real_trace_times_adjoint(links(mu) * links(nu, field.stride(mu)), links(nu) * links(mu, field.stride(nu)));
    return planes;
  });
  for (double& sum : sums) sum /= 3.0 * static_cast<double>(gauge.geometry().global_volume());
  return sums;
}

double plaquette(const GaugeField& gauge) {
  double sum = 0;
  for (const double plane : plaquette_planes(gauge)) sum += plane;
  return sum / 6;
}

double link_trace(const GaugeField& gauge) {
  const auto sum = detail::sum_over_sites<1>(gauge, [](const LinksAround& links) {
    return std::array{trace(links(0)).re + trace(links(1)).re + trace(links(2)).re + trace(links(3)).re};
  });
  return sum[0] / (12.0 * static_cast<double>(gauge.geometry().global_volume()));
}

double rectangle(const GaugeField& gauge) {
  const auto& field = gauge.field();
  // 12 x 828 flops a site. The loop begins one step before x, so that one layer of ghosts is enough.
  const auto sum = detail::sum_over_sites<1>(gauge, [&](const LinksAround& links) {
    Sites sites(0.0);
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = 0; nu < 4; ++nu) {
        if (mu == nu) continue;
        const std::int64_t along = field.stride(mu), across = field.stride(nu);
        sites += real_trace_times_adjoint(links(mu, -along) * links(mu) * links(nu, along),
                                          links(nu, -along) * links(mu, across - along) * links(mu, across));
      }
    return std::array{sites};
  });
  return sum[0] / (36.0 * static_cast<double>(gauge.geometry().global_volume()));
}

std::array<std::complex<double>, 4> polyakov(const GaugeField& gauge) {
  const auto& geometry = gauge.geometry();
  const auto& grid = geometry.grid();
  std::array<double, 8> sums{};
  for (int mu = 0; mu < 4; ++mu) {
    lattice::Coordinates<4> across = geometry.local();
    across[mu] = 1;
    const std::int64_t lines = lattice::product<4>(across);
    // The product so far of every line passes from process to process along the axis, so the order of the factors,
    // and with it the rounding of each loop, is that of a single process.
    std::vector<Su3<double>> loop(static_cast<std::size_t>(lines), Su3<double>::unit());
    const int coordinate = grid.coords()[static_cast<std::size_t>(mu)];
    const bool last = coordinate + 1 == grid.dims()[static_cast<std::size_t>(mu)];
    if (coordinate > 0)
      geometry.communicator().receive(std::as_writable_bytes(std::span(loop)), grid.neighbour({mu, -1}), mu);
#pragma omp parallel for schedule(static)
    for (std::int64_t line = 0; line < lines; ++line) {
      lattice::Coordinates<4> x = lattice::coordinates_of<4>(line, across);
      Su3<double> product = loop[static_cast<std::size_t>(line)];
      for (x[mu] = 0; x[mu] < geometry.local()[mu]; ++x[mu]) product = product * gauge.link(x, mu);
      loop[static_cast<std::size_t>(line)] = product;
    }
    if (!last) {
      geometry.communicator().send(std::as_bytes(std::span(std::as_const(loop))), grid.neighbour({mu, 1}), mu);
      continue;
    }
    for (const Su3<double>& closed : loop) {
      const Complex<double> t = trace(closed);
      sums[static_cast<std::size_t>(2 * mu)] += t.re;
      sums[static_cast<std::size_t>(2 * mu + 1)] += t.im;
    }
  }
  geometry.communicator().sum(sums);
  std::array<std::complex<double>, 4> loops;
  for (int mu = 0; mu < 4; ++mu) {
    const auto axis = static_cast<std::size_t>(mu);
    const double count = 3.0 * static_cast<double>(geometry.global_volume() / geometry.global()[mu]);
    loops[axis] = {sums[2 * axis] / count, sums[2 * axis + 1] / count};
  }
  return loops;
}

}  // namespace halocline::qcd::gauge
