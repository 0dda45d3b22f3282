// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/offset.hpp"

namespace halocline::qcd::order {
namespace {

using lattice::Coordinates;
using lattice::Geometry4;

/// (x + y + z + t) mod 2 as the code counts it.
int parity(const SiteOrder& order, const Geometry4& geometry, const Coordinates<4>& x) {
  return order.local_parity ? static_cast<int>((x[0] + x[1] + x[2] + x[3]) & 1) : geometry.parity(x);
}

/// openQCD's block of sites along an axis of space.
std::int64_t block_extent(std::int64_t local) {
  return local % 4 == 0 ? 4 : local % 3 == 0 ? 3 : local % 2 == 0 ? 2 : 1;
}

/// openQCD: blocks of the whole time extent and of up to 4 sites along x y z. Blocks lie one after another, z fastest;
/// inside a block the sites of one parity do, z fastest, then y, x, t.
std::int64_t cache_block_index(const SiteOrder& order, const Geometry4& geometry, const Coordinates<4>& x) {
  const auto& local = geometry.local();
  Coordinates<4> extent{}, inside{}, block{};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    extent[axis] = axis == 3 ? local[3] : block_extent(local[axis]);
    inside[axis] = x[axis] % extent[axis];
    block[axis] = x[axis] / extent[axis];
  }
  const std::int64_t in_block = ((inside[3] * extent[0] + inside[0]) * extent[1] + inside[1]) * extent[2] + inside[2];
  // Of two neighbours 2 n and 2 n + 1 in a block one is even and one is odd, so n sites of either parity come earlier.
  const std::int64_t before = in_block / 2;
  const std::int64_t number = (block[0] * (local[1] / extent[1]) + block[1]) * (local[2] / extent[2]) + block[2];
  return before + number * lattice::product<4>(extent) / 2 + parity(order, geometry, x) * geometry.local_volume() / 2;
}

/// [vector][number][lane] instead of [site][number].
std::int64_t place(std::int64_t site, std::int64_t number, std::int64_t numbers, std::int64_t lanes) {
  return ((site / lanes) * numbers + number) * lanes + site % lanes;
}

}  // namespace

std::int64_t site_index(const SiteOrder& order, const Geometry4& geometry, const Coordinates<4>& x) {
  const auto& local = geometry.local();
  const std::int64_t half = geometry.local_volume() / 2;
  const Coordinates<4> half_box{local[0] / 2, local[1], local[2], local[3]};
  switch (order.sites) {
  case Sites::lexicographic:
    return lattice::linear_index<4>(x, local);
  case Sites::even_odd:
    return parity(order, geometry, x) * half + lattice::linear_index<4>({x[0] / 2, x[1], x[2], x[3]}, half_box);
  case Sites::halves_of_x:
    return x[0] / half_box[0] * half + lattice::linear_index<4>({x[0] % half_box[0], x[1], x[2], x[3]}, half_box);
  case Sites::cache_blocks:
    return cache_block_index(order, geometry, x);
  }
  return -1;
}

std::int64_t spinor_offset(const SpinorOrder& order, const Geometry4& geometry, const Coordinates<4>& x, int spin,
                           int colour, int part, std::size_t number_bytes, int spins) {
  const int component = order.inside == Inside::spin_colour ? 3 * spin + colour : spins * colour + spin;
  return place(site_index(order.sites, geometry, x), 2 * component + part, 6 * spins, lanes(order.sites, number_bytes));
}

std::int64_t gauge_offset(const GaugeOrder& order, const Geometry4& geometry, const Coordinates<4>& x, int mu, int row,
                          int column, int part, std::size_t number_bytes) {
  const std::int64_t volume = geometry.local_volume(), half = volume / 2;
  const std::int64_t number = 2 * (order.transposed ? 3 * column + row : 3 * row + column) + part;
  const int side_by_side = lanes(order.sites, number_bytes);
  if (order.directions == Directions::around_odd_sites) {
    // The odd site whose array has the link: x itself, or the one above; it may be of another process.
    const bool forward = parity(order.sites, geometry, x) == 1;
    Coordinates<4> odd = x;
    if (!forward) ++odd[static_cast<std::size_t>(mu)];
    const auto extent = geometry.local()[static_cast<std::size_t>(mu)];
    auto& along = odd[static_cast<std::size_t>(mu)];
    if ((along < 0 || along == extent) && geometry.is_split(mu)) return -1;
    along = (along + extent) % extent;
    const std::int64_t slot = 2 * ((mu + 1) % 4) + (forward ? 0 : 1);
    return ((site_index(order.sites, geometry, odd) - half) * 8 + slot) * 18 + number;
  }
  const std::int64_t site = site_index(order.sites, geometry, x);
  switch (order.directions) {
  case Directions::inside:
    return place(site, 18 * mu + number, gauge_reals, side_by_side);
  case Directions::outside:
    return place(mu * volume + site, number, 18, side_by_side);
  default:  // in_each_half
    return place((4 * (site / half) + mu) * half + site % half, number, 18, side_by_side);
  }
}

std::int64_t propagator_offset(const PropagatorOrder& order, const Geometry4& geometry, const Coordinates<4>& x,
                               int sink_spin, int sink_colour, int source_spin, int source_colour, int part,
                               std::size_t number_bytes) {
  if (order.indices == PropagatorIndices::source_outside)
    return (3 * source_spin + source_colour) * 24 * geometry.local_volume() +
           spinor_offset({order.sites, order.inside, order.basis}, geometry, x, sink_spin, sink_colour, part,
                         number_bytes);
  const int component = order.indices == PropagatorIndices::sink_source
                            ? ((3 * sink_spin + sink_colour) * 4 + source_spin) * 3 + source_colour
                            : ((4 * sink_spin + source_spin) * 3 + sink_colour) * 3 + source_colour;
  return place(site_index(order.sites, geometry, x), 2 * component + part, propagator_reals,
               lanes(order.sites, number_bytes));
}

double link_factor(const GaugeOrder& order, const Geometry4& geometry, const Coordinates<4>& x, int mu) {
  const auto axis = static_cast<std::size_t>(mu);
  double factor = order.scale[axis];
  const std::int64_t extent = geometry.global()[axis];
  if ((x[axis] + geometry.offset()[axis] + extent) % extent == extent - 1) factor *= order.boundary[axis];
  if (order.staggered_phases && mu < 3) {
    std::int64_t sum = x[3] + geometry.offset()[3];
    for (std::size_t below = 0; below < axis; ++below) sum += x[below] + geometry.offset()[below];
    if ((sum & 1) != 0) factor = -factor;
  }
  return factor;
}

}  // namespace halocline::qcd::order
