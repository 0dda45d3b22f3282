// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sends every message of one exchange hop by hop over a network.

#include <cstdint>
#include <optional>
#include <vector>

#include "halocline/mapping/loads.hpp"

namespace halocline::mapping::detail {

/// The counts of a walk. The exits of a node are the axes of the network; behind a fat tree, those of the process grid.
struct Traffic {
  int exits = 0;                ///< number of axes that items leave by
  std::vector<Bytes> link;      ///< shape (nodes, axes, 2)
  std::vector<Bytes> leaving;   ///< shape (nodes, exits, 2): items that leave by an axis, up and down
  std::vector<Bytes> loopback;  ///< shape (nodes, process axes, 2)
  std::int64_t hops = 0;
  std::int64_t longest_route = 0;
};

/// @param map  must pass check(); the messages must have the same axes
Traffic walk(const Network& network, const RankMap& map, const Messages& messages, Count count);

/// See mapping::face_items. @param map  must pass check()
std::vector<std::optional<SendItem>> face_items(const Network& network, const RankMap& map, std::int64_t place);

}  // namespace halocline::mapping::detail
