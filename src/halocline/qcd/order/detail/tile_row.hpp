// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where the sites of a row of tiles are in an array of another order.

#include <array>
#include <cstdint>
#include <vector>

#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"

namespace halocline::qcd::order::detail {

using lattice::Coordinates;
using lattice::TileLayout;

/// Tiles of one part of a split layout, side by side along x: the same outer y z t.
class TileRow {
public:
  TileRow(const TileLayout& layout, const SiteIndex& sites)
      : layout_(&layout), sites_(&sites), parts_(lattice::product<4>(layout.parts())) {
    const std::int64_t length = layout.geometry().local()[0];
    for (int lane = 0; lane < layout.lanes(); ++lane) {
      const Coordinates<4> at = layout.lane_coordinates(lane);
      lane_[static_cast<std::size_t>(lane)] = at;
      // Lanes along x share the row that the first of them fills.
      begin_[static_cast<std::size_t>(lane)] =
          layout.lane_index({0, at[1], at[2], at[3]}) * length + layout.outer()[0] * at[0];
    }
    indices_.resize(static_cast<std::size_t>(layout.lanes() * length));
  }

  /// Fills in the places of all sites of the row. @param first  outer coordinates of its first tile
  void move_to(const Coordinates<4>& first) {
    first_x_ = first[0];
    parity_ = layout_->parity_of(first);
    tile_ = layout_->tile_index(first);
    const auto& extent = layout_->outer();
    const std::int64_t length = layout_->geometry().local()[0];
    for (int lane = 0; lane < layout_->lanes(); ++lane) {
      const Coordinates<4>& at = lane_[static_cast<std::size_t>(lane)];
      if (at[0] == 0)
        sites_->fill_row(indices_.data() + lane * length, first[1] + extent[1] * at[1], first[2] + extent[2] * at[2],
                         first[3] + extent[3] * at[3]);
    }
  }

  /// Where the site of a lane and a tile is in the array; x counts from the first tile.
  std::int64_t index(int lane, std::int64_t x) const {
    return indices_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(lane)] + first_x_ + x)];
  }

  int parity(std::int64_t x) const { return static_cast<int>((parity_ + x) & 1); }
  /// The tiles of the other parts lie between.
  std::int64_t tile(std::int64_t x) const { return tile_ + x / 2 * parts_; }

private:
  const TileLayout* layout_;
  const SiteIndex* sites_;
  std::array<Coordinates<4>, TileLayout::max_lanes> lane_{};
  std::array<std::int64_t, TileLayout::max_lanes> begin_{};  ///< of the lane in indices_
  std::vector<std::int64_t> indices_;                        ///< [lane][x]
  std::int64_t first_x_ = 0, tile_ = 0, parts_ = 1;
  int parity_ = 0;
};

}  // namespace halocline::qcd::order::detail
