// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/tile_layout.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::lattice {
namespace {

/// The reason, as a sentence, why this tile does not fit the local box; empty if it fits.
std::optional<std::string> objection(const Geometry4& geometry, const Coordinates<4>& tile) {
  const auto& local = geometry.local();
  for (int axis = 0; axis < 4; ++axis) {
    if (geometry.global()[axis] % 2 != 0)
      return fmt::format(
          "the lattice has {} sites along {}; even-odd ordering needs an even number on every axis, choose {} or {}",
          geometry.global()[axis], axis_name[axis], geometry.global()[axis] - 1, geometry.global()[axis] + 1);
    if (!is_power_of_two(tile[axis]))
      return fmt::format("{} lanes along {} were asked for; give 1, 2, 4, 8 or 16", tile[axis], axis_name[axis]);
  }
  if (local[0] % 2 != 0)
    return fmt::format(
        "a process holds {} sites along x, which must be even; take a process grid that divides {} sites along x into "
        "even parts, for example 1 process along x",
        local[0], geometry.global()[0]);
  if (product<4>(tile) > TileLayout::max_lanes)
    return fmt::format("a tile of {}x{}x{}x{} has {} lanes; give a product of at most {}", tile[0], tile[1], tile[2],
                       tile[3], product<4>(tile), TileLayout::max_lanes);
  for (int axis = 0; axis < 4; ++axis) {
    const bool fits =
        local[axis] % tile[axis] == 0 && ((tile[axis] == 1 && axis != 0) || (local[axis] / tile[axis]) % 2 == 0);
    if (!fits)
      return fmt::format(
          "{} lanes along {} need a local extent divisible by {}, but a process holds {} sites there; give fewer lanes",
          tile[axis], axis_name[axis], 2 * tile[axis], local[axis]);
  }
  return std::nullopt;
}

/// The bits of a coordinate below the power of two `extent` in reverse order.
std::int64_t reversed(std::int64_t coordinate, std::int64_t extent) {
  std::int64_t out = 0;
  for (std::int64_t bit = 1; bit < extent; bit *= 2, coordinate /= 2) out = 2 * out + coordinate % 2;
  return out;
}
Coordinates<4> reversed(Coordinates<4> at, const Coordinates<4>& extents) {
  for (int axis = 0; axis < 4; ++axis) at[axis] = reversed(at[axis], extents[axis]);
  return at;
}

}  // namespace

TileLayout::TileLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& tile)
    : geometry_(std::move(geometry)), tile_(tile) {
  if (auto sentence = objection(*geometry_, tile)) throw core::InvalidArgument(*sentence);
  for (int axis = 0; axis < 4; ++axis) outer_[axis] = geometry_->local()[axis] / tile_[axis];
  lanes_ = static_cast<int>(product<4>(tile_));
  origin_parity_ = geometry_->parity({0, 0, 0, 0});
  // A row of x holds outer_[0] / 2 tiles of each parity for all y, z and t.
  tiles_ = product<4>(outer_) / 2;
}

std::shared_ptr<const TileLayout> TileLayout::best(std::shared_ptr<const Geometry4> geometry, int lanes, int reach) {
  if (!is_power_of_two(lanes) || lanes > max_lanes)
    throw core::InvalidArgument(fmt::format("{} lanes were asked for; give 1, 2, 4, 8 or 16", lanes));
  if (auto sentence = objection(*geometry, {1, 1, 1, 1})) throw core::InvalidArgument(*sentence);
  const auto too_short = [&](const Coordinates<4>& tile) {
    for (int axis = 0; axis < 4; ++axis)
      if (tile[axis] > 1 && geometry->local()[axis] / tile[axis] < reach) return true;
    return false;
  };
  // Most lanes first; then the smallest share of steps that rotate lanes, where a rotation that also merges a halo
  // counts four times; then lanes on the fast axes, which makes the slices between z and t neighbours small.
  std::optional<Coordinates<4>> chosen;
  double chosen_cost = 0;
  for (std::int64_t tx = lanes; tx >= 1; tx /= 2)
    for (std::int64_t ty = lanes / tx; ty >= 1; ty /= 2)
      for (std::int64_t tz = lanes / (tx * ty); tz >= 1; tz /= 2)
        for (std::int64_t tt = lanes / (tx * ty * tz); tt >= 1; tt /= 2) {
          const Coordinates<4> tile{tx, ty, tz, tt};
          if (objection(*geometry, tile) || too_short(tile)) continue;
          double cost = 0;
          for (int axis = 0; axis < 4; ++axis)
            if (tile[axis] > 1)
              cost += static_cast<double>(tile[axis]) / static_cast<double>(geometry->local()[axis]) *
                      (geometry->is_split(axis) ? 4 : 1);
          const auto more = chosen ? product<4>(tile) - product<4>(*chosen) : 1;
          if (more > 0 || (more == 0 && cost < chosen_cost)) {
            chosen = tile;
            chosen_cost = cost;
          }
        }
  return std::make_shared<const TileLayout>(std::move(geometry), *chosen);
}

std::shared_ptr<const TileLayout> TileLayout::split(const std::shared_ptr<const TileLayout>& whole, int lanes) {
  if (whole->whole_) throw core::InvalidArgument("a layout was to be split that is split itself; give the whole one");
  if (!is_power_of_two(lanes))
    throw core::InvalidArgument(fmt::format("tiles of {} lanes were asked for; give 1, 2, 4, 8 or 16", lanes));
  if (whole->lanes() <= lanes) return whole;
  // The slowest lanes first: they are the upper bits of the number of a lane.
  Coordinates<4> tile = whole->tile(), parts{1, 1, 1, 1};
  for (int axis = 3; axis >= 0; --axis)
    while (tile[axis] > 1 && product<4>(tile) > lanes) {
      tile[axis] /= 2;
      parts[axis] *= 2;
    }
  TileLayout out(whole->geometry_, tile);
  out.whole_ = whole;
  out.parts_ = parts;
  return std::make_shared<const TileLayout>(std::move(out));
}

std::int64_t TileLayout::tile_index(const Coordinates<4>& outer) const noexcept {
  if (!whole_) return outer[0] / 2 + (outer_[0] / 2) * (outer[1] + outer_[1] * (outer[2] + outer_[2] * outer[3]));
  Coordinates<4> of_whole{}, part{};
  for (int axis = 0; axis < 4; ++axis) {
    of_whole[axis] = outer[axis] % whole_->outer_[axis];
    part[axis] = outer[axis] / whole_->outer_[axis];
  }
  return whole_->tile_index(of_whole) * product<4>(parts_) + linear_index<4>(reversed(part, parts_), parts_);
}

Coordinates<4> TileLayout::outer_coordinates(int parity, std::int64_t tile) const noexcept {
  if (!whole_) {
    Coordinates<4> outer = coordinates_of<4>(tile, {outer_[0] / 2, outer_[1], outer_[2], outer_[3]});
    outer[0] = 2 * outer[0] + ((parity + outer[1] + outer[2] + outer[3] + origin_parity_) & 1);
    return outer;
  }
  const std::int64_t parts = product<4>(parts_);
  // An axis with several lanes has an even number of tiles, so all parts of a tile have its parity.
  Coordinates<4> outer = whole_->outer_coordinates(parity, tile / parts);
  const Coordinates<4> part = reversed(coordinates_of<4>(tile % parts, parts_), parts_);
  for (int axis = 0; axis < 4; ++axis) outer[axis] += whole_->outer_[axis] * part[axis];
  return outer;
}

Coordinates<4> TileLayout::lane_coordinates(int lane) const noexcept {
  return reversed(coordinates_of<4>(lane, tile_), tile_);
}

int TileLayout::lane_index(const Coordinates<4>& lane) const noexcept {
  return static_cast<int>(linear_index<4>(reversed(lane, tile_), tile_));
}

TileSite TileLayout::locate(const Coordinates<4>& local) const noexcept {
  Coordinates<4> outer{};
  Coordinates<4> lane{};
  for (int axis = 0; axis < 4; ++axis) {
    outer[axis] = local[axis] % outer_[axis];
    lane[axis] = local[axis] / outer_[axis];
  }
  return {parity_of(outer), tile_index(outer), lane_index(lane)};
}

Coordinates<4> TileLayout::coordinates(const TileSite& site) const noexcept {
  Coordinates<4> x = outer_coordinates(site.parity, site.tile);
  const Coordinates<4> lane = lane_coordinates(site.lane);
  for (int axis = 0; axis < 4; ++axis) x[axis] += outer_[axis] * lane[axis];
  return x;
}

}  // namespace halocline::lattice
