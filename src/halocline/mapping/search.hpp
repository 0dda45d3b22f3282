// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Searches for the map of a process grid onto a torus network (paper: arXiv 2109.10687, section 4.1; errors of the
/// printed algorithm are corrected, docs/mapping.md lists them).
///
/// Axes of the network are split into pieces, pieces are given to process axes, and each process axis becomes a ring of
/// nodes through the grid of its pieces (ring.hpp). The best map has the smallest load on its busiest interface; then
/// the smallest sum of link bytes; then the fewest hops; then the first rank order: of two maps, the one whose first
/// differing rank is on the lower node.

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
  std::int64_t steps = 0;  ///< stop after this many steps of the search, with the best map so far and its gap; 0: never
  /// Called before the rings of each process axis are listed, every few thousand steps, and with every better map. Its
  /// arguments are the steps so far and the largest interface load of the best map (0 if there is none yet). Returning
  /// false stops the search. The library has no clock: the caller implements a time limit, a progress line or an
  /// interrupt here.
  std::function<bool(std::int64_t steps, Bytes best)> progress;
};

struct SearchResult {
  RankMap map;
  std::vector<Ring> rings;   ///< shape (process axes,); without pieces behind a fat tree
  Loads loads;               ///< from evaluate()
  Bytes lower_bound = 0;     ///< proven: no map of this kind has a smaller load on its busiest interface
  Bytes floor = 0;           ///< bound known before any search: the messages of one node, each at one hop
  double gap = 0;            ///< (busiest interface - lower_bound) / lower_bound
  bool proven = false;       ///< every assignment was visited or excluded: no map of this kind is better in any respect
  std::int64_t steps = 0;    ///< number of partial and complete assignments examined
  std::int64_t visited = 0;  ///< number of complete assignments examined
};

/// Runs the search. If it is stopped, it goes on until it has a map.
/// @param grid      number of processes along each axis
/// @param per_node  number of processes of a node along each axis; divides grid
/// @throws InvalidArgument  the network cannot hold the grid: more processes than slots, a length whose prime factors
///                          no pieces give, an odd ring through open axes; gives the nearest grid that fits
/// Cost: docs/mapping.md has figures; the full machine of 158,976 nodes takes seconds, most of them in evaluate().
SearchResult search(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                    const Messages& messages, const SearchOptions& options = {});

}  // namespace halocline::mapping
