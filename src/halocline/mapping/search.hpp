// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The search for the map of a process grid onto a torus network, after papers: arXiv 2109.10687, section 4.1, with the
/// printed algorithm's errors mended (docs/mapping.md lists them).
///
/// Axes of the network are split into pieces, pieces are given to process axes, and each process axis becomes a ring of
/// nodes through the grid of its pieces (ring.hpp). The best map has the smallest load on its busiest interface; then
/// the smallest sum of link bytes, hops and unused nodes; then the first rank order: the map whose first rank that
/// differs sits on the lower node.

#include <cstdint>
#include <functional>
#include <vector>

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"
#include "halocline/mapping/ring.hpp"

namespace halocline::mapping {

struct SearchOptions {
  Count count = Count::hops;
  std::int64_t steps = 0;  ///< stop after so many steps of the search, with the best map so far and its gap; 0: never
  /// Called before the rings of each process axis are drawn, every few thousand steps, and with every better map, with
  /// the steps so far and the largest interface load of the best map (0 before there is one); false stops the search.
  /// The library knows no clock: a limit in seconds, a progress line and an interrupt all live here.
  std::function<bool(std::int64_t steps, Bytes best)> progress;
};

struct SearchResult {
  RankMap map;
  std::vector<Ring> rings;   ///< shape (process axes,); without pieces behind a fat tree
  Loads loads;               ///< as evaluate() finds them
  Bytes lower_bound = 0;     ///< proven: no map of this kind has a smaller busiest interface
  Bytes floor = 0;           ///< what follows from the messages of a node alone, each at one hop, before any search
  double gap = 0;            ///< (busiest interface - lower_bound) / lower_bound
  bool proven = false;       ///< every assignment was visited or excluded: no map of this kind is better in any respect
  std::int64_t steps = 0;    ///< partial and complete assignments looked at
  std::int64_t visited = 0;  ///< complete ones
};

/// A search that is stopped goes on until it has a map.
/// @param grid      processes along each axis
/// @param per_node  processes of a node along each axis; divides grid
/// @throws InvalidArgument  where the network cannot hold the grid: more processes than slots, a length of prime
///                          factors that no pieces give, an odd ring through open axes; with the nearest grid that fits
/// Cost: docs/mapping.md has figures; the full machine of 158,976 nodes takes seconds, most of them in evaluate().
SearchResult search(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                    const Messages& messages, const SearchOptions& options = {});

}  // namespace halocline::mapping
