// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The search for a map, done without thought: every choice of splits, every way of giving pieces to process axes or
/// leaving them idle, every map walked hop by hop, every node's items packed in all ways. For networks of some 64
/// nodes.

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/ring.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace mapping_tests {

using namespace halocline::mapping;

/// The smallest largest load, over all ways to put the items in so many boxes; boxes are numbered as they are first
/// used.
inline Bytes packed_in_all_ways(const std::vector<Bytes>& items, int boxes, std::vector<Bytes> loads = {},
                                std::size_t next = 0) {
  if (next == items.size()) return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
  Bytes best = INT64_MAX;
  for (std::size_t box = 0; box <= loads.size() && box < static_cast<std::size_t>(boxes); ++box) {
    auto with = loads;
    if (box == loads.size()) with.push_back(0);
    with[box] += items[next];
    best = std::min(best, packed_in_all_ways(items, boxes, std::move(with), next + 1));
  }
  return best;
}

struct BruteForce {
  using Rank = std::tuple<Bytes, Bytes, std::int64_t, std::vector<std::int64_t>>;  ///< interface, links, hops, nodes

  const Network& network;
  std::vector<int> grid, per_node;
  const Messages& messages;
  Count count;
  std::optional<Rank> best = {};
  std::int64_t maps = 0;

  std::vector<std::vector<Piece>> taken = {};  ///< of every process axis
  std::map<std::vector<Bytes>, Bytes> packings = {};

  void run() {
    taken.assign(grid.size(), {});
    split(0, {});
  }

private:
  void split(int axis, std::vector<Piece> pieces) {
    if (axis == network.ndim()) {
      give(pieces, 0);
      return;
    }
    const Axis& a = network.axes[static_cast<std::size_t>(axis)];
    auto whole = pieces;
    whole.push_back({axis, a.length, a.wraps, 1});
    split(axis + 1, whole);
    for (int f = 2; f < a.length; ++f) {
      if (a.length % f != 0) continue;
      auto two = pieces;
      two.push_back({axis, f, false, 1});
      two.push_back({axis, a.length / f, a.wraps, f});
      split(axis + 1, two);
    }
  }

  void give(const std::vector<Piece>& pieces, std::size_t next) {
    if (next == pieces.size()) {
      look();
      return;
    }
    give(pieces, next + 1);  // idle
    if (pieces[next].length == 1) return;
    for (auto& ring : taken) {
      if (std::any_of(ring.begin(), ring.end(), [&](const Piece& p) { return p.axis == pieces[next].axis; })) continue;
      ring.push_back(pieces[next]);
      give(pieces, next + 1);
      ring.pop_back();
    }
  }

  void look() {
    std::vector<Ring> rings;
    for (std::size_t q = 0; q < grid.size(); ++q) {
      std::int64_t points = 1;
      for (const Piece& piece : taken[q]) points *= piece.length;
      if (points < grid[q] / per_node[q]) return;
      auto ring = ring_through(network, taken[q], grid[q] / per_node[q]);
      if (!ring) return;
      rings.push_back(*ring);
    }
    ++maps;
    const RankMap map = map_of_rings(network, grid, per_node, rings);
    const Loads loads = evaluate(network, map, messages, count);
    Bytes largest = 0;
    for (const NodeType& type : loads.node_types) {
      std::vector<Bytes> items;
      for (const SendItem& item : type.items) items.push_back(item.bytes);
      std::sort(items.begin(), items.end());
      const auto [entry, fresh] = packings.try_emplace(items, 0);
      if (fresh) entry->second = packed_in_all_ways(items, network.interfaces);
      largest = std::max(largest, entry->second);
    }
    Rank rank{largest, loads.link_bytes, loads.hops, map.node};
    if (!best || rank < *best) best = std::move(rank);
  }
};

}  // namespace mapping_tests
