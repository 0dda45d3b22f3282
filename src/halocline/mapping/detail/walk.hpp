// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Every message of one exchange, sent hop by hop over a network.

#include <cstdint>
#include <vector>

#include "halocline/mapping/loads.hpp"

namespace halocline::mapping::detail {

/// What the walk counts. Axes that items leave by are those of the network, or of the process grid behind a fat tree.
struct Traffic {
  int exits = 0;                ///< axes that items leave by
  std::vector<Bytes> link;      ///< shape (nodes, axes, 2)
  std::vector<Bytes> leaving;   ///< shape (nodes, exits, 2): items that leave by an axis, up and down
  std::vector<Bytes> loopback;  ///< shape (nodes, process axes, 2)
  std::int64_t hops = 0;
  std::int64_t longest_route = 0;
};

/// @param map  one that check() accepts; messages of its axes
Traffic walk(const Network& network, const RankMap& map, const Messages& messages, Count count);

}  // namespace halocline::mapping::detail
