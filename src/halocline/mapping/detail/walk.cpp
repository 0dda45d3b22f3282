// SPDX-License-Identifier: Apache-2.0
/// @file
/// Walks one process axis at a time. If its + and - messages take turns, it walks them separately, so that each link
/// and item can count the turn with more bytes.

#include "halocline/mapping/detail/walk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace halocline::mapping::detail {
namespace {

/// Node coordinates and strides; unlike Network's functions without checks.
class Roads {
public:
  explicit Roads(const Network& network) : network_(network), ndim_(network.axes.size()) {
    std::int64_t stride = 1;
    for (const Axis& axis : network.axes) {
      stride_.push_back(stride);
      stride *= axis.length;
    }
    coords_.reserve(static_cast<std::size_t>(stride) * ndim_);
    for (std::int64_t node = 0; node < stride; ++node) {
      for (std::size_t t = 0; t < ndim_; ++t) {
        coords_.push_back(static_cast<int>(node / stride_[t] % network.axes[t].length));
      }
    }
  }

  /// Walks from one node to another and calls visit(node, axis, down) for every link on the way, with the node from
  /// which the link starts.
  /// @return number of hops
  template <typename Visit>
  std::int64_t go(std::int64_t from, std::int64_t to, Visit&& visit) const {
    std::int64_t node = from, hops = 0;
    const int* const goal = &coords_[static_cast<std::size_t>(to) * ndim_];
    const int* const start = &coords_[static_cast<std::size_t>(from) * ndim_];
    for (std::size_t t = 0; t < ndim_; ++t) {
      const Axis& axis = network_.axes[t];
      int ahead = goal[t] - start[t];
      if (axis.wraps) {
        if (ahead < 0) ahead += axis.length;
        if (2 * ahead > axis.length) ahead -= axis.length;
      }
      const bool down = ahead < 0;
      int at = start[t];
      for (int hop = std::abs(ahead); hop > 0; --hop, ++hops) {
        visit(node, t, down);
        const int next = down ? (at == 0 ? axis.length - 1 : at - 1) : (at == axis.length - 1 ? 0 : at + 1);
        node += (next - at) * stride_[t];
        at = next;
      }
    }
    return hops;
  }

private:
  const Network& network_;
  std::size_t ndim_;
  std::vector<std::int64_t> stride_;
  std::vector<int> coords_;  // shape (nodes, axes)
};

/// Adds the messages of one direction of one process axis. @param up  true: to the next process; false: to the one
/// before
void send(const Network& network, const Roads& roads, const RankMap& map, std::size_t q, bool up, Bytes bytes,
          Count count, Traffic& traffic) {
  std::int64_t stride = 1;
  for (std::size_t p = 0; p < q; ++p) stride *= map.grid[p];
  const std::int64_t length = map.grid[q];
  const std::size_t ndim = network.axes.size(), side = up ? 0 : 1;
  for (std::int64_t rank = 0; rank < map.ranks(); ++rank) {
    const std::int64_t at = rank / stride % length;
    const std::int64_t next = up ? (at + 1 == length ? 0 : at + 1) : (at == 0 ? length - 1 : at - 1);
    const std::int64_t from = map.node[static_cast<std::size_t>(rank)];
    const std::int64_t to = map.node[static_cast<std::size_t>(rank + (next - at) * stride)];
    const auto home = static_cast<std::size_t>(from);
    if (from == to) {
      traffic.loopback[(home * map.grid.size() + q) * 2 + side] += bytes;
      continue;
    }
    std::int64_t hops = 1;
    std::size_t exit = q * 2 + side;
    if (!network.full_bisection) {
      bool first = true;
      hops = roads.go(from, to, [&](std::int64_t node, std::size_t axis, bool down) {
        const std::size_t link = axis * 2 + (down ? 1 : 0);
        if (first) exit = link;
        first = false;
        traffic.link[static_cast<std::size_t>(node) * ndim * 2 + link] += bytes;
      });
    }
    traffic.leaving[home * static_cast<std::size_t>(traffic.exits) * 2 + exit] +=
        count == Count::hops ? bytes * hops : bytes;
    traffic.hops += hops;
    traffic.longest_route = std::max(traffic.longest_route, hops);
  }
}

Traffic nothing(const Network& network, const RankMap& map) {
  Traffic traffic;
  traffic.exits = network.full_bisection ? static_cast<int>(map.grid.size()) : network.ndim();
  const auto nodes = static_cast<std::size_t>(network.nodes());
  traffic.link.assign(nodes * network.axes.size() * 2, 0);
  traffic.leaving.assign(nodes * static_cast<std::size_t>(traffic.exits) * 2, 0);
  traffic.loopback.assign(nodes * map.grid.size() * 2, 0);
  return traffic;
}

void add_larger(std::vector<Bytes>& sum, const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += std::max(a[i], b[i]);
}

}  // namespace

std::vector<std::optional<SendItem>> face_items(const Network& network, const RankMap& map, std::int64_t place) {
  std::vector<std::optional<SendItem>> items;
  const Roads roads(network);
  std::int64_t stride = 1;
  for (std::size_t q = 0; q < map.grid.size(); ++q) {
    const std::int64_t length = map.grid[q], at = place / stride % length;
    for (const int direction : {-1, 1}) {
      auto& item = items.emplace_back();
      if (length == 1) continue;
      const std::int64_t next = (at + direction + length) % length;
      const std::int64_t from = map.node[static_cast<std::size_t>(place)];
      const std::int64_t to = map.node[static_cast<std::size_t>(place + (next - at) * stride)];
      item = SendItem{static_cast<int>(q), direction, from == to, 0};
      if (from == to || network.full_bisection) continue;
      bool first = true;
      roads.go(from, to, [&](std::int64_t, std::size_t axis, bool down) {
        if (first) item = SendItem{static_cast<int>(axis), down ? -1 : 1, false, 0};
        first = false;
      });
    }
    stride *= length;
  }
  return items;
}

Traffic walk(const Network& network, const RankMap& map, const Messages& messages, Count count) {
  Traffic total = nothing(network, map);
  const Roads roads(network);
  for (std::size_t q = 0; q < map.grid.size(); ++q) {
    if (map.grid[q] == 1) continue;
    const Bytes bytes = messages.bytes[q];
    if (messages.directions[q] == 2) {
      send(network, roads, map, q, true, bytes, count, total);
      send(network, roads, map, q, false, bytes, count, total);
      continue;
    }
    Traffic up = nothing(network, map), down = up;
    send(network, roads, map, q, true, bytes, count, up);
    send(network, roads, map, q, false, bytes, count, down);
    add_larger(total.link, up.link, down.link);
    add_larger(total.leaving, up.leaving, down.leaving);
    add_larger(total.loopback, up.loopback, down.loopback);
    total.hops += up.hops;  // one turn; the other has as many, between the same pairs of nodes in reverse
    total.longest_route = std::max({total.longest_route, up.longest_route, down.longest_route});
  }
  return total;
}

}  // namespace halocline::mapping::detail
