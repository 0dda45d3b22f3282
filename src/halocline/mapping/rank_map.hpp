// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The node on which each process of a grid runs.
///
/// Ranks run lexicographically over the process grid, axis 0 fastest, as ProcessGrid numbers them. In the maps of the
/// search, the ranks of a node form a block of `per_node` processes of the grid: node coordinate = process coordinate
/// div per_node, axis by axis. Any other placement is a RankMap too, as long as no node holds more than its share.

#include <cstdint>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

struct RankMap {
  std::vector<int> grid;           ///< number of processes along each axis
  std::vector<int> per_node;       ///< number of processes of one node along each axis; divides grid
  std::vector<std::int64_t> node;  ///< shape (product of grid,): the node of every rank, as Network numbers nodes

  std::int64_t ranks() const noexcept { return static_cast<std::int64_t>(node.size()); }
  int ranks_per_node() const noexcept;
};

/// The number of processes of a grid.
/// @throws InvalidArgument  no axis or more than 8, a length below 1, more than 2^31 - 1 processes, or a split that
///                          does not divide the grid (gives the nearest numbers that do)
std::int64_t checked_ranks(const std::vector<int>& grid, const std::vector<int>& per_node);

/// The default order of a batch system: consecutive ranks on each node, as many as the product of per_node, and nodes
/// in order with the first axis fastest.
/// @throws InvalidArgument  the network has too few nodes
RankMap natural_order(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node);

/// @throws InvalidArgument  a rank outside the network, a node with more than its share of ranks, or a split that does
///                          not divide the grid; names the first faulty rank or axis
void check(const RankMap& map, const Network& network);

}  // namespace halocline::mapping
