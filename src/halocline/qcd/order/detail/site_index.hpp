// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The place of a site among the local sites, from tables for each axis.
///
/// Every order of order.hpp has the form index = floor(sum halved[axis][x] / 2) + sum added[axis][x] + parity V/2. Only
/// openQCD's order needs the first part: in its blocks the sites of one parity are every second one. offset.hpp has the
/// formulas; a test compares both.

#include <array>
#include <cstdint>
#include <vector>

#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// Where the first number of a site is in an array whose sites have `numbers` numbers, `side_by_side` sites side by
/// side. The other numbers follow at this distance.
inline std::int64_t place_of(std::int64_t site, std::int64_t numbers, std::int64_t side_by_side) noexcept {
  const bool power_of_two = (side_by_side & (side_by_side - 1)) == 0;  // always, but for orders made by hand
  const std::int64_t lane = power_of_two ? site & (side_by_side - 1) : site % side_by_side;
  return (site - lane) * numbers + lane;
}

/// Sites of a block of openQCD along x, y or z, of a local extent.
std::int64_t cache_block_extent(std::int64_t local);

class SiteIndex {
public:
  SiteIndex(const SiteOrder& order, const lattice::Geometry4& geometry);

  std::int64_t operator()(const lattice::Coordinates<4>& x) const noexcept {
    std::int64_t halves = 0, index = parity_of(x) * half_;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      halves += halved_[axis][static_cast<std::size_t>(x[axis])];
      index += added_[axis][static_cast<std::size_t>(x[axis])];
    }
    return index + (halves >> 1);
  }

  /// The indices of a row of x: of the sites (0 ... X-1, y, z, t).
  void fill_row(std::int64_t* indices, std::int64_t y, std::int64_t z, std::int64_t t) const noexcept {
    std::int64_t halves = 0, base = 0;
    const std::array<std::int64_t, 3> rest{y, z, t};
    for (std::size_t axis = 1; axis < 4; ++axis) {
      halves += halved_[axis][static_cast<std::size_t>(rest[axis - 1])];
      base += added_[axis][static_cast<std::size_t>(rest[axis - 1])];
    }
    const std::int64_t even_x = base + parity_of({0, y, z, t}) * half_, odd_x = base + parity_of({1, y, z, t}) * half_;
    const std::int64_t *halved = halved_[0].data(), *added = added_[0].data();
    const auto length = static_cast<std::int64_t>(added_[0].size());
    for (std::int64_t x = 0; x < length; ++x)
      indices[x] = ((x & 1) == 0 ? even_x : odd_x) + added[x] + ((halves + halved[x]) >> 1);
  }

  std::int64_t half() const noexcept { return half_volume_; }

private:
  std::int64_t parity_of(const lattice::Coordinates<4>& x) const noexcept {
    return (x[0] + x[1] + x[2] + x[3] + origin_) & 1;
  }

  std::array<std::vector<std::int64_t>, 4> halved_, added_;
  std::int64_t half_volume_ = 0;
  std::int64_t half_ = 0;  ///< distance of the odd sites from the even ones; 0 for orders without parities
  std::int64_t origin_ = 0;
};

}  // namespace halocline::qcd::order::detail
