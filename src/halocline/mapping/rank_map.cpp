// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks maps, and makes the default map.

#include "halocline/mapping/rank_map.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>

namespace halocline::mapping {

int RankMap::ranks_per_node() const noexcept {
  int product = 1;
  for (const int p : per_node) product *= p;
  return product;
}

std::int64_t checked_ranks(const std::vector<int>& grid, const std::vector<int>& per_node) {
  const std::string given =
      fmt::format("process grid {} with {} a node", detail::joined(grid, "x"), detail::joined(per_node, "x"));
  if (grid.empty() || grid.size() > 8) {
    throw core::InvalidArgument(fmt::format("{}: {} axes given, expected one to eight", given, grid.size()));
  }
  if (per_node.size() != grid.size()) {
    throw core::InvalidArgument(
        fmt::format("{}: {} numbers a node given for {} axes, expected one each", given, per_node.size(), grid.size()));
  }
  std::int64_t product = 1;
  for (std::size_t q = 0; q < grid.size(); ++q) {
    if (grid[q] < 1 || per_node[q] < 1) {
      throw core::InvalidArgument(given + ": every axis needs at least one process, of the grid and of a node");
    }
    if (grid[q] % per_node[q] != 0) {
      const int below = grid[q] / per_node[q] * per_node[q];
      throw core::InvalidArgument(fmt::format("{}: {} processes a node do not divide the {} of axis {}; the nearest "
                                              "grids have {} or {} there",
                                              given, per_node[q], grid[q], q, below > 0 ? below : per_node[q],
                                              below + per_node[q]));
    }
    product *= grid[q];
    if (product > std::numeric_limits<std::int32_t>::max()) {
      throw core::InvalidArgument(given + ": more than 2^31 - 1 processes");
    }
  }
  return product;
}

RankMap natural_order(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node) {
  network.validate();
  const std::int64_t ranks = checked_ranks(grid, per_node);
  RankMap map{grid, per_node, {}};
  const std::int64_t share = map.ranks_per_node();
  if (ranks > network.nodes() * share) {
    throw core::InvalidArgument(fmt::format(
        "process grid {} has {} processes, more than the {} slots of {} {} at {} a node; give at least {} nodes",
        detail::joined(grid, "x"), ranks, network.nodes() * share, network.name, network.shape(), share,
        ranks / share));
  }
  map.node.resize(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank) map.node[static_cast<std::size_t>(rank)] = rank / share;
  return map;
}

void check(const RankMap& map, const Network& network) {
  network.validate();
  const std::int64_t ranks = checked_ranks(map.grid, map.per_node);
  if (map.ranks() != ranks) {
    throw core::InvalidArgument(fmt::format("{} places of ranks given for process grid {}, which has {} processes",
                                            map.ranks(), detail::joined(map.grid, "x"), ranks));
  }
  const int share = map.ranks_per_node();
  std::vector<int> held(static_cast<std::size_t>(network.nodes()), 0);
  for (std::size_t rank = 0; rank < map.node.size(); ++rank) {
    const std::int64_t node = map.node[rank];
    if (node < 0 || node >= network.nodes()) {
      throw core::InvalidArgument(fmt::format("rank {} sits on node {}; network {} of shape {} has nodes 0 to {}", rank,
                                              node, network.name, network.shape(), network.nodes() - 1));
    }
    if (++held[static_cast<std::size_t>(node)] > share) {
      throw core::InvalidArgument(fmt::format("rank {} sits on node {} ({}) as number {} there; {} a node leave room "
                                              "for {}: place it elsewhere, or give more a node",
                                              rank, node, detail::joined(network.coords_of(node), ","),
                                              held[static_cast<std::size_t>(node)], detail::joined(map.per_node, "x"),
                                              share));
    }
  }
}

}  // namespace halocline::mapping
