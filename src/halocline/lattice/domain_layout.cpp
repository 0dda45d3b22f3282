// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/domain_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/lattice/neighbours.hpp"

namespace halocline::lattice {
namespace {

/// The reason, as a sentence, why these domains or this tile do not fit the local box; empty if they fit.
std::optional<std::string> objection(const Geometry4& geometry, const Coordinates<4>& blocks,
                                     const Coordinates<4>& tile, int most_lanes = DomainLayout::max_lanes) {
  const auto& local = geometry.local();
  for (int axis = 0; axis < 4; ++axis) {
    if (blocks[axis] < 1 || local[axis] % blocks[axis] != 0)
      return fmt::format(
          "{} domains along {} were asked for, but a process holds {} sites there; give a number that divides {}",
          blocks[axis], axis_name[axis], local[axis], local[axis]);
    if (!is_power_of_two(tile[axis]))
      return fmt::format("{} lanes along {} were asked for; give 1, 2, 4, 8 or 16", tile[axis], axis_name[axis]);
    const auto block = local[axis] / blocks[axis];
    if (block % tile[axis] != 0)
      return fmt::format("{} lanes along {} need domains whose extent they divide, but a domain has {} sites there; "
                         "give fewer lanes",
                         tile[axis], axis_name[axis], block);
  }
  if (product<4>(tile) > most_lanes)
    return fmt::format("a tile of {}x{}x{}x{} has {} lanes; give a product of at most {}", tile[0], tile[1], tile[2],
                       tile[3], product<4>(tile), most_lanes);
  if (geometry.local_volume() / product<4>(tile) > std::numeric_limits<std::int32_t>::max() / 8)
    return fmt::format("a process would hold {} sites, more tiles than 32-bit indices count; use more processes",
                       geometry.local_volume());
  return std::nullopt;
}

/// The cost per site of axes with several lanes. A step over the edge of such an axis is computed for all lanes,
/// although one lane layer leaves the domain, and its lanes must be moved. A direction costs about as much as seven
/// moves.
double lane_cost(const Geometry4& geometry, const Coordinates<4>& blocks, const Coordinates<4>& tile) {
  double cost = 0;
  for (int axis = 0; axis < 4; ++axis)
    if (tile[axis] > 1)
      cost += static_cast<double>(7 + tile[axis]) * static_cast<double>(blocks[axis]) /
              static_cast<double>(geometry.local()[axis]);
  return cost;
}

}  // namespace

DomainLayout::DomainLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& blocks,
                           const Coordinates<4>& tile)
    : DomainLayout(std::move(geometry), blocks, tile, max_lanes) {}

DomainLayout::DomainLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& blocks,
                           const Coordinates<4>& tile, int most_lanes)
    : geometry_(std::move(geometry)), blocks_(blocks), tile_(tile) {
  if (auto sentence = objection(*geometry_, blocks_, tile_, most_lanes)) throw core::InvalidArgument(*sentence);
  for (int axis = 0; axis < 4; ++axis) {
    block_[axis] = geometry_->local()[axis] / blocks_[axis];
    outer_[axis] = block_[axis] / tile_[axis];
  }
  lanes_ = static_cast<int>(product<4>(tile_));
  tiles_ = static_cast<std::int32_t>(product<4>(outer_));

  // Number the domains by colour.
  const auto& grid = geometry_->grid();
  const auto colour_of = [&](const Coordinates<4>& b) {
    std::int64_t sum = 0;
    for (int axis = 0; axis < 4; ++axis) sum += grid.coords()[axis] * blocks_[axis] + b[axis];
    return static_cast<int>(sum & 1);
  };
  domain_of_.resize(static_cast<std::size_t>(domains()));
  for (int colour = 0; colour < 2; ++colour) {
    first_domain_[colour] = static_cast<std::int32_t>(block_of_.size());
    for (std::int64_t i = 0; i < domains(); ++i) {
      const auto b = coordinates_of<4>(i, blocks_);
      if (colour_of(b) != colour) continue;
      domain_of_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(block_of_.size());
      block_of_.push_back(b);
    }
  }
  first_domain_[2] = domains();

  // Lanes and edges of a domain.
  table_.resize(static_cast<std::size_t>(8 * tiles_));
  for (int d = 0; d < 8; ++d) {
    const int mu = axis_of(d);
    const int step = step_of(d);
    const std::int64_t last_lane = step > 0 ? tile_[mu] - 1 : 0, first_lane = step > 0 ? 0 : tile_[mu] - 1;
    for (int lane = 0; lane < lanes_; ++lane) {
      auto from = coordinates_of<4>(lane, tile_);
      stays_inside_[d].push_back(from[mu] == last_lane ? 0 : 1);
      if (from[mu] == last_lane) looking_lanes_[d].push_back(lane);
      if (from[mu] == first_lane) seen_lanes_[d].push_back(lane);
      from[mu] = (from[mu] + step + tile_[mu]) % tile_[mu];
      moved_[d].push_back(static_cast<std::int32_t>(linear_index<4>(from, tile_)));
    }
    std::int32_t slots = 0;
    for (std::int32_t i = 0; i < tiles_; ++i) {
      auto there = coordinates_of<4>(i, outer_);
      if (there[mu] == (step > 0 ? 0 : outer_[mu] - 1)) seen_tiles_[d].push_back(i);
      there[mu] += step;
      const bool over = there[mu] < 0 || there[mu] >= outer_[mu];
      there[mu] = (there[mu] + outer_[mu]) % outer_[mu];
      table_[static_cast<std::size_t>(8 * i + d)] = {static_cast<std::int32_t>(linear_index<4>(there, outer_)),
                                                     over ? slots++ : DomainNeighbour::inside};
    }
  }

  // The link behind each face of each domain.
  links_.resize(static_cast<std::size_t>(8 * domains()));
  for (std::int64_t i = 0; i < domains(); ++i) {
    const auto here = coordinates_of<4>(i, blocks_);
    const auto domain = domain_of_[static_cast<std::size_t>(i)];
    for (int d = 0; d < 8; ++d) {
      const int mu = axis_of(d);
      const bool odd_ring = (blocks_[mu] * grid.dims()[mu]) % 2 != 0;
      auto there = here;
      there[mu] += step_of(d);
      const bool leaves = there[mu] < 0 || there[mu] >= blocks_[mu];
      there[mu] = (there[mu] + blocks_[mu]) % blocks_[mu];
      const auto first_or_last = step_of(d) > 0 ? grid.dims()[mu] - 1 : 0;
      const bool around = leaves && grid.coords()[mu] == first_or_last;
      DomainLink& link = links_[static_cast<std::size_t>(8 * domain + d)];
      link.same_colour = around && odd_ring;
      const bool remote = leaves && geometry_->is_split(mu);
      link.domain = remote ? -1 : domain_of_[static_cast<std::size_t>(linear_index<4>(there, blocks_))];
      if (!remote) continue;
      const int mine = colour(domain);
      arriving_[d][link.same_colour ? mine : 1 - mine].push_back(domain);
      // The process behind this face sees our domain in the opposite direction.
      leaving_[(d + 4) % 8][mine].push_back(domain);
    }
  }
}

std::shared_ptr<const DomainLayout> DomainLayout::best(std::shared_ptr<const Geometry4> geometry,
                                                       const Coordinates<4>& blocks, int lanes, bool one_parity) {
  if (!is_power_of_two(lanes) || lanes > max_lanes)
    throw core::InvalidArgument(fmt::format("{} lanes were asked for; give 1, 2, 4, 8 or 16", lanes));
  if (auto sentence = objection(*geometry, blocks, {1, 1, 1, 1})) throw core::InvalidArgument(*sentence);
  // Most lanes first, then the least cost.
  std::optional<Coordinates<4>> chosen;
  double chosen_cost = 0;
  for (std::int64_t tx = lanes; tx >= 1; tx /= 2)
    for (std::int64_t ty = lanes / tx; ty >= 1; ty /= 2)
      for (std::int64_t tz = lanes / (tx * ty); tz >= 1; tz /= 2)
        for (std::int64_t tt = lanes / (tx * ty * tz); tt >= 1; tt /= 2) {
          const Coordinates<4> tile{tx, ty, tz, tt};
          if (objection(*geometry, blocks, tile)) continue;
          Coordinates<4> outer{};
          for (int axis = 0; axis < 4; ++axis) outer[axis] = geometry->local()[axis] / blocks[axis] / tile[axis];
          if (one_parity && !have_one_parity(tile, outer)) continue;
          const double cost = lane_cost(*geometry, blocks, tile);
          const auto more = chosen ? product<4>(tile) - product<4>(*chosen) : 1;
          if (more > 0 || (more == 0 && cost < chosen_cost)) {
            chosen = tile;
            chosen_cost = cost;
          }
        }
  return std::make_shared<const DomainLayout>(std::move(geometry), blocks, *chosen);
}

std::shared_ptr<const DomainLayout> DomainLayout::doubled(bool one_parity) const {
  std::optional<Coordinates<4>> chosen;
  for (int axis = 0; axis < 4; ++axis) {
    if (outer_[axis] % 2 != 0 || (axis == 3 && chosen)) continue;
    Coordinates<4> tile = tile_;
    tile[axis] *= 2;
    Coordinates<4> outer = outer_;
    outer[axis] /= 2;
    if (one_parity && !have_one_parity(tile, outer)) continue;
    if (!chosen || lane_cost(*geometry_, blocks_, tile) < lane_cost(*geometry_, blocks_, *chosen)) chosen = tile;
  }
  if (!chosen || lanes_ > max_lanes) return nullptr;
  return std::shared_ptr<const DomainLayout>(new DomainLayout(geometry_, blocks_, *chosen, 2 * max_lanes));
}

bool DomainLayout::have_one_parity(const Coordinates<4>& tile, const Coordinates<4>& outer) noexcept {
  for (int axis = 0; axis < 4; ++axis)
    if (tile[axis] > 1 && outer[axis] % 2 != 0) return false;
  return true;
}

int DomainLayout::parity(std::int32_t tile) const noexcept {
  const auto o = coordinates_of<4>(tile, outer_);
  return static_cast<int>((o[0] + o[1] + o[2] + o[3]) & 1);
}

DomainSite DomainLayout::locate(const Coordinates<4>& local) const noexcept {
  Coordinates<4> block{}, outer{}, lane{};
  for (int axis = 0; axis < 4; ++axis) {
    block[axis] = local[axis] / block_[axis];
    const auto within = local[axis] % block_[axis];
    outer[axis] = within % outer_[axis];
    lane[axis] = within / outer_[axis];
  }
  return {domain_of_[static_cast<std::size_t>(linear_index<4>(block, blocks_))],
          static_cast<std::int32_t>(linear_index<4>(outer, outer_)), static_cast<int>(linear_index<4>(lane, tile_))};
}

Coordinates<4> DomainLayout::coordinates(const DomainSite& site) const noexcept {
  Coordinates<4> x = coordinates_of<4>(site.tile, outer_);
  const auto lane = coordinates_of<4>(site.lane, tile_);
  const auto& block = block_of_[static_cast<std::size_t>(site.domain)];
  for (int axis = 0; axis < 4; ++axis) x[axis] += outer_[axis] * lane[axis] + block_[axis] * block[axis];
  return x;
}

}  // namespace halocline::lattice
