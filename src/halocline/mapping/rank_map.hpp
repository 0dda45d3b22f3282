// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Which node every process of a grid sits on.
///
/// Ranks run lexicographically over the process grid, axis 0 fastest, as ProcessGrid numbers them. The ranks of a node
/// are a block of the grid, `per_node` long: node coordinate = process coordinate div per_node, axis by axis, where the
/// map is one of the search's. Any other placement is a RankMap too, as long as no node holds more than its share.

#include <cstdint>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

struct RankMap {
  std::vector<int> grid;           ///< processes along each axis
  std::vector<int> per_node;       ///< processes of one node along each axis; divides grid
  std::vector<std::int64_t> node;  ///< shape (product of grid,): the node of every rank, as Network numbers nodes

  std::int64_t ranks() const noexcept { return static_cast<std::int64_t>(node.size()); }
  int ranks_per_node() const noexcept;
};

/// Processes of a grid.
/// @throws InvalidArgument  for no axis or more than 8, a length below 1, more than 2^31 - 1 processes, or a split that
///                          does not divide the grid (with the nearest numbers that do)
std::int64_t checked_ranks(const std::vector<int>& grid, const std::vector<int>& per_node);

/// Ranks in order, as many consecutive ones a node as per_node multiplies to, nodes in order with the first axis
/// fastest: what a batch system does when nobody asks.
/// @throws InvalidArgument  where the network has too few nodes
RankMap natural_order(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node);

/// @throws InvalidArgument  for a rank off the network, a node with more than its share of ranks, or a split that does
///                          not divide the grid; names the first rank or axis at fault
void check(const RankMap& map, const Network& network);

}  // namespace halocline::mapping
