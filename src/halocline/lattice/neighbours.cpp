// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "halocline/core/cpu.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"

namespace halocline::lattice {
namespace {

/// The outer coordinates `length` steps from `here` in direction d, and whether an edge of the box was crossed.
std::pair<Coordinates<4>, bool> step(const Coordinates<4>& outer, Coordinates<4> here, int d, int length) {
  auto& x = here[axis_of(d)];
  const std::int64_t extent = outer[axis_of(d)];
  x += step_of(d) * length;
  const bool over_edge = x < 0 || x >= extent;
  x = (x + std::abs(length) * extent) % extent;
  return {here, over_edge};
}

}  // namespace

Neighbours::Neighbours(std::shared_ptr<const TileLayout> layout, int reach)
    : layout_(std::move(layout)), reach_(reach) {
  const auto& outer = layout_->outer();
  const auto& tile = layout_->tile();
  for (int axis = 0; axis < 4; ++axis)
    if ((layout_->geometry().is_split(axis) || tile[axis] > 1) && outer[axis] < reach)
      throw core::InvalidArgument(fmt::format(
          "a stencil with steps of {} sites was asked for, but a process holds {} sites along {} in {} lanes; give it "
          "at least {} sites there: fewer processes along this axis, or fewer lanes",
          reach, layout_->geometry().local()[axis], axis_name[axis], tile[axis], reach * tile[axis]));
  if (layout_->tiles() > std::numeric_limits<std::int32_t>::max())
    throw core::InvalidArgument(
        fmt::format("a process would hold {} tiles of each parity, more than 32-bit indices count; use more processes",
                    layout_->tiles()));

  for (int d = 0; d < 8; ++d) {
    const int mu = axis_of(d);
    for (int lane = 0; lane < layout_->lanes(); ++lane) {
      auto from = layout_->lane_coordinates(lane);
      const std::int64_t last = step_of(d) > 0 ? tile[mu] - 1 : 0;   // lane coordinate that looks over the edge
      const std::int64_t first = step_of(d) > 0 ? 0 : tile[mu] - 1;  // lane coordinate that is seen across the edge
      if (from[mu] == last) received_lanes_[d].push_back(lane);
      if (from[mu] == first) sent_lanes_[d].push_back(lane);
      from[mu] = (from[mu] + step_of(d) + tile[mu]) % tile[mu];
      rotation_[d].push_back(layout_->lane_index(from));
    }
  }

  for (int parity = 0; parity < 2; ++parity) {
    std::array<std::int32_t, 8> slots{};
    table_[parity].resize(static_cast<std::size_t>(8 * layout_->tiles()));
    for (std::int64_t i = 0; i < layout_->tiles(); ++i) {
      const auto here = layout_->outer_coordinates(parity, i);
      bool needs_halo = false;
      for (int d = 0; d < 8; ++d) {
        const int mu = axis_of(d);
        const bool split = layout_->geometry().is_split(mu);
        const auto [there, over_edge] = step(outer, here, d, reach_);
        Neighbour& n = table_[parity][static_cast<std::size_t>(8 * i + d)];
        n.tile = static_cast<std::int32_t>(layout_->tile_index(there));
        n.slot = Neighbour::local;
        if (over_edge && split) {
          n.slot = slots[d]++;
          needs_halo = true;
        } else if (over_edge && tile[mu] > 1) {
          n.slot = Neighbour::rotated;
        }
        // The tiles at the edge that direction d looks at are sent to the process behind that edge.
        if (split && (step_of(d) > 0 ? here[mu] < reach_ : here[mu] >= outer[mu] - reach_))
          sent_[parity][d].push_back(static_cast<std::int32_t>(i));
      }
      (needs_halo ? boundary_ : interior_)[parity].push_back(static_cast<std::int32_t>(i));
    }
  }
  if (reach_ > 1) find_near();
}

/// A tile that is one step over an edge is also `reach` steps from the tile whose long step ends there, and that tile
/// gives its slot.
void Neighbours::find_near() {
  const auto& outer = layout_->outer();
  for (int parity = 0; parity < 2; ++parity) {
    near_[parity].resize(static_cast<std::size_t>(8 * layout_->tiles()));
    for (std::int64_t i = 0; i < layout_->tiles(); ++i)
      for (int d = 0; d < 8; ++d) {
        const int mu = axis_of(d);
        const auto [there, over_edge] = step(outer, layout_->outer_coordinates(parity, i), d, 1);
        Neighbour& n = near_[parity][static_cast<std::size_t>(8 * i + d)];
        n.tile = static_cast<std::int32_t>(layout_->tile_index(there));
        n.slot = Neighbour::local;
        if (over_edge && layout_->geometry().is_split(mu)) {
          const auto same_end = step(outer, there, d, -reach_).first;
          n.slot = of(parity, layout_->tile_index(same_end))[d].slot;
        } else if (over_edge && layout_->tile()[mu] > 1) {
          n.slot = Neighbour::rotated;
        }
      }
  }
}

int lanes_of_tiles(int register_lanes, std::int64_t bytes, bool halves, std::int64_t cache) noexcept {
  return halves && bytes > cache ? register_lanes / 2 : register_lanes;
}

NeighboursByPrecision::NeighboursByPrecision(const std::shared_ptr<const TileLayout>& whole, int reach,
                                             int reals_a_site) {
  const Geometry4& geometry = whole->geometry();
  const bool halves = core::register_bytes == 64 && core::halves_wide_registers();
  const std::int64_t cache = core::last_level_cache_bytes();
  const auto lanes = [&](int of_register, std::size_t bytes_a_real) {
    const auto bytes = geometry.local_volume() * reals_a_site * static_cast<std::int64_t>(bytes_a_real);
    return static_cast<double>(lanes_of_tiles(of_register, bytes, halves, cache));
  };
  std::array<double, 2> chosen{lanes(core::native_lanes<float>, sizeof(float)),
                               lanes(core::native_lanes<double>, sizeof(double))};
  geometry.communicator().min(chosen);
  const auto single = TileLayout::split(whole, static_cast<int>(chosen[0]));
  const auto precise = TileLayout::split(whole, static_cast<int>(chosen[1]));
  single_ = std::make_shared<const Neighbours>(single, reach);
  precise_ = precise == single ? single_ : std::make_shared<const Neighbours>(precise, reach);
}

std::int64_t Neighbours::face_sites(int axis) const noexcept {
  std::size_t most = 0;
  for (int parity = 0; parity < 2; ++parity)
    for (int d : {axis, 4 + axis}) most = std::max(most, sent_[parity][d].size() * sent_lanes_[d].size());
  return static_cast<std::int64_t>(most);
}

}  // namespace halocline::lattice
