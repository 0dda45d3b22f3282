// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/transform.hpp"

#include "halocline/qcd/gauge/detail/random_links.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace halocline::qcd::gauge {

GaugeTransformation::GaugeTransformation(std::shared_ptr<const lattice::Geometry4> geometry)
    : field_(std::move(geometry), link_reals, 1) {
  const auto& local = field_.geometry().local();
  lattice::Coordinates<4> wide = local;
  for (auto& extent : wide) extent += 2;
  for (std::int64_t site = 0; site < lattice::product<4>(wide); ++site) {
    lattice::Coordinates<4> x = lattice::coordinates_of<4>(site, wide);
    for (auto& coordinate : x) --coordinate;
    set(x, Su3<double>::unit());
  }
}

GaugeTransformation GaugeTransformation::random(std::shared_ptr<const lattice::Geometry4> geometry,
                                                std::uint64_t seed) {
  GaugeTransformation g(std::move(geometry));
  detail::for_each_pack<detail::stream_lanes>(
      g.geometry(), [&](lattice::Coordinates<4> x, int count, const auto& site) {
        const auto matrices = detail::haar_matrix<detail::stream_lanes>(
            detail::LinkStream<detail::stream_lanes>{seed, site, 0}, detail::numbers_of_transformations);
        for (int lane = 0; lane < count; ++lane, ++x[0]) g.set(x, detail::lane_of(matrices, lane));
      });
  g.exchange_ghosts();
  return g;
}

void GaugeTransformation::apply(GaugeField& gauge) const {
  const auto& local = geometry().local();
  if (gauge.geometry().local() != local)
    throw core::InvalidArgument("a gauge transformation was applied to links on another local box; make both on the "
                                "same geometry");
  const std::int64_t sites = geometry().local_volume();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    const lattice::Coordinates<4> x = lattice::coordinates_of<4>(site, local);
    const Su3<double> here = at(x);
    for (int mu = 0; mu < 4; ++mu) {
      lattice::Coordinates<4> ahead = x;
      ++ahead[static_cast<std::size_t>(mu)];
      gauge.set_link(x, mu, times_adjoint(here * gauge.link(x, mu), at(ahead)));
    }
  }
  gauge.exchange_ghosts();
}

void GaugeTransformation::apply(std::span<std::complex<double>> spinor) const {
  const auto& local = geometry().local();
  const std::int64_t sites = geometry().local_volume();
  if (static_cast<std::int64_t>(spinor.size()) != 12 * sites)
    throw core::InvalidArgument("a quark field of " + std::to_string(spinor.size()) +
                                " complex numbers was given where the local box needs " + std::to_string(12 * sites) +
                                "; give it in the shape [t][z][y][x][4][3]");
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    const Su3<double> g = at(lattice::coordinates_of<4>(site, local));
    for (std::int64_t spin = 0; spin < 4; ++spin) {
      std::complex<double>* colours = spinor.data() + 12 * site + 3 * spin;
      ColourVector<double> v;
      for (int c = 0; c < 3; ++c) v.c[c] = {colours[c].real(), colours[c].imag()};
      v = g * v;
      for (int c = 0; c < 3; ++c) colours[c] = {v.c[c].re, v.c[c].im};
    }
  }
}

}  // namespace halocline::qcd::gauge
