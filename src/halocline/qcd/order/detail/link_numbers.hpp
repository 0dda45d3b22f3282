// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The numbers of a link in an order and in the field, and the factors between them.

#include <algorithm>
#include <array>
#include <cstdint>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"
#include "halocline/qcd/order/offset.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// Where the blocks of `side` of `count` numbers begin: the last one overlaps the one before.
template <int count>
inline constexpr auto block_begins = [] {
  std::array<int, (count + side - 1) / side> begins{};
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = std::min(static_cast<int>(i) * side, count - side);
  return begins;
}();

/// The component of the field that an order has as number `number` of four links.
using LinkComponents = std::array<int, gauge_reals>;
constexpr LinkComponents link_components(bool transposed) {
  LinkComponents components{};
  for (int number = 0; number < gauge_reals; ++number) {
    const int mu = number / link_reals, element = number % link_reals / 2;
    const int at = transposed ? 3 * (element % 3) + element / 3 : element;
    components[static_cast<std::size_t>(number)] = link_reals * mu + 2 * at + number % 2;
  }
  return components;
}

/// Links of the order are those of the field.
inline bool has_no_factors(const GaugeOrder& order) {
  const auto one = [](double factor) { return factor == 1; };
  return std::ranges::all_of(order.scale, one) && std::ranges::all_of(order.boundary, one) && !order.staggered_phases;
}

/// The factors of the links in direction mu of a row. @param divide  their inverses
inline void fill_link_factors(double* factors, const GaugeOrder& order, const lattice::Geometry4& geometry,
                              const lattice::Coordinates<4>& row, int mu, bool divide) {
  const std::int64_t length = geometry.local()[0];
  const auto at = [&](std::int64_t x) {
    const double factor = link_factor(order, geometry, {x, row[1], row[2], row[3]}, mu);
    return divide ? 1 / factor : factor;
  };
  const std::array<double, 2> two{at(0), at(1)};  // signs alternate along x
  for (std::int64_t x = 0; x < length; ++x) factors[x] = two[static_cast<std::size_t>(x & 1)];
  factors[length - 1] = at(length - 1);
}

}  // namespace halocline::qcd::order::detail
