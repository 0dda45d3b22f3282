// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/face_links.hpp"

#include <span>
#include <vector>

#include "halocline/qcd/order/offset.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Coordinates;

/// Calls visit(site) for the sites of the layer x_mu = `at` with this parity.
template <class Visit>
void for_each_of_layer(const lattice::Geometry4& geometry, std::size_t mu, std::int64_t at, int parity,
                       const Visit& visit) {
  Coordinates<4> layer = geometry.local();
  layer[mu] = 1;
  for (std::int64_t i = 0; i < lattice::product<4>(layer); ++i) {
    Coordinates<4> x = lattice::coordinates_of<4>(i, layer);
    x[mu] = at;
    if (geometry.parity(x) == parity) visit(x);
  }
}

}  // namespace

template <class Real>
void return_links(GaugeField& u, const Real* links, const GaugeOrder& order) {
  const lattice::Geometry4& geometry = u.geometry();
  for (int mu = 0; mu < 4; ++mu) {
    if (!geometry.is_split(mu)) continue;
    const auto axis = static_cast<std::size_t>(mu);
    std::vector<double> outgoing, incoming;
    for_each_of_layer(geometry, axis, 0, 1, [&](Coordinates<4> x) {
      --x[axis];
      const double factor = 1 / link_factor(order, geometry, x, mu);
      for (int number = 0; number < link_reals; ++number) {
        const int row = number / 6, column = number % 6 / 2;
        outgoing.push_back(factor * links[gauge_offset(order, geometry, x, mu, row, column, number % 2, sizeof(Real))]);
      }
    });
    incoming.resize(outgoing.size());
    const comm::ProcessGrid& grid = geometry.grid();
    const int below = grid.neighbour({mu, -1}), above = grid.neighbour({mu, +1});
    // Even processes send first, so that blocking messages cannot wait for each other (lattice/ghost_field.hpp).
    const bool sends_first = grid.coords()[axis] % 2 == 0;
    for (const bool sending : {sends_first, !sends_first}) {
      if (sending && below >= 0)
        geometry.communicator().send(std::as_bytes(std::span(outgoing)), below, mu);
      else if (!sending && above >= 0)
        geometry.communicator().receive(std::as_writable_bytes(std::span(incoming)), above, mu);
    }
    if (above < 0) continue;
    const double* next = incoming.data();
    for_each_of_layer(geometry, axis, geometry.local()[axis] - 1, 0, [&](const Coordinates<4>& x) {
      u.set_link(x, mu, load_link<double>(next, 1));
      next += link_reals;
    });
  }
}

template void return_links(GaugeField&, const float*, const GaugeOrder&);
template void return_links(GaugeField&, const double*, const GaugeOrder&);

}  // namespace halocline::qcd::order::detail
