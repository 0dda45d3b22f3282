// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The place of a site of the local lattice in memory: parity, tile, lane.
///
/// A tile is a group of V sites that move through one SIMD pack. Its shape is a parameter: T_mu lanes along axis mu,
/// with product V. The lanes of an axis are far apart: site x_mu = o_mu + O_mu l_mu has outer coordinate o_mu and lane
/// coordinate l_mu, with O_mu = L_mu / T_mu. A step along mu then leaves the lanes unchanged, except at the outer edge,
/// where they rotate by one along mu. So the bulk of a stencil needs no shuffle in any direction. A lane is numbered x
/// fastest, and by the bits of l_mu in reverse on each axis.
///
/// Sites are ordered even-odd by their *global* parity: all tiles of parity 0, then all of parity 1, each
/// `[t][z][y][x/2]` over outer coordinates. All lanes of a tile have one parity. This requires an even O_mu on x and on
/// every axis with more than one lane. An odd local extent of y, z or t is possible with one lane along this axis.
///
/// A layout can be split: each tile of V lanes becomes several tiles of fewer lanes, one after another. These are a
/// layout of the same form, with a smaller T_mu, in another order of tiles. A tile in double is as wide as a register,
/// and two of them hold the sites of one tile in float, in the same order. So a change of precision reads and writes
/// memory in order (docs/design/0003).

#include <array>
#include <cstdint>
#include <memory>

#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

/// The place of one site.
struct TileSite {
  int parity;
  std::int64_t tile;  ///< within its parity
  int lane;
};

class TileLayout {
public:
  static constexpr int max_lanes = 16;

  /// @param geometry  the local box; all global extents even, local x even
  /// @param tile      lanes along x, y, z, t: powers of two with a product of at most 16
  /// @throws InvalidArgument  names the axis and a choice that fits
  TileLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& tile);

  /// The layout with the most lanes that fit; among these, the one whose steps rotate lanes least often. Axes split
  /// between processes are avoided: their rotations count four times.
  /// @param reach  longest step of the stencil: an axis with several lanes has at least so many tiles, so that a step
  ///               rotates lanes by one at most
  /// @throws InvalidArgument  as above; the same on every rank
  static std::shared_ptr<const TileLayout> best(std::shared_ptr<const Geometry4> geometry, int lanes = max_lanes,
                                                int reach = 1);

  /// The layout in which each tile of `whole` is several tiles of at most `lanes` lanes, one after another: tile k of
  /// `parts` tiles holds lanes k V / parts to (k + 1) V / parts - 1 of the whole one. `whole` itself if it has no more
  /// lanes.
  /// @param whole  a layout that is not split itself;  @param lanes  a power of two
  static std::shared_ptr<const TileLayout> split(const std::shared_ptr<const TileLayout>& whole, int lanes);
  /// True if all sites have the same places in both.
  friend bool operator==(const TileLayout& a, const TileLayout& b) noexcept {
    return &a == &b || (a.geometry_->local() == b.geometry_->local() && a.origin_parity_ == b.origin_parity_ &&
                        a.tile_ == b.tile_ && a.parts_ == b.parts_);
  }
  /// True if both are splits of one layout. The sites of their fields then have the same order, tile by tile.
  static bool same_order(const TileLayout& a, const TileLayout& b) noexcept { return a.whole() == b.whole(); }

  const Geometry4& geometry() const noexcept { return *geometry_; }
  const std::shared_ptr<const Geometry4>& geometry_ptr() const noexcept { return geometry_; }
  const Coordinates<4>& tile() const noexcept { return tile_; }    ///< lanes along each axis
  const Coordinates<4>& outer() const noexcept { return outer_; }  ///< tiles along each axis, both parities
  int lanes() const noexcept { return lanes_; }
  /// Tiles along each axis into which a tile of the whole layout is split; 1 if it is not.
  const Coordinates<4>& parts() const noexcept { return parts_; }
  std::int64_t tiles() const noexcept { return tiles_; }  ///< number of tiles of each parity

  TileSite locate(const Coordinates<4>& local) const noexcept;
  Coordinates<4> coordinates(const TileSite& site) const noexcept;

  /// Outer coordinates of a tile, and the inverse (the parity of the tile is parity_of(outer)).
  Coordinates<4> outer_coordinates(int parity, std::int64_t tile) const noexcept;
  std::int64_t tile_index(const Coordinates<4>& outer) const noexcept;
  /// Parity of the site with these outer coordinates, the same for all lanes.
  int parity_of(const Coordinates<4>& outer) const noexcept {
    return static_cast<int>((outer[0] + outer[1] + outer[2] + outer[3] + origin_parity_) & 1);
  }

  Coordinates<4> lane_coordinates(int lane) const noexcept;
  int lane_index(const Coordinates<4>& lane) const noexcept;

private:
  const TileLayout& whole() const noexcept { return whole_ ? *whole_ : *this; }

  std::shared_ptr<const Geometry4> geometry_;
  Coordinates<4> tile_;
  Coordinates<4> outer_{};
  int lanes_ = 1;
  int origin_parity_ = 0;
  std::int64_t tiles_ = 0;
  std::shared_ptr<const TileLayout> whole_;  ///< the layout that this one splits; or null
  Coordinates<4> parts_{1, 1, 1, 1};         ///< of a tile of the whole layout, along each axis
};

}  // namespace halocline::lattice
