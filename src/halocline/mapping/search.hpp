// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The search for the map of a process grid onto a torus network, after papers: arXiv 2109.10687, section 4.1, with the
/// printed algorithm's errors mended (docs/mapping.md lists them).
///
/// Axes of the network are split into pieces, pieces are given to process axes, and each process axis becomes a ring of
/// nodes through the grid of its pieces. The best map has the smallest load on its busiest interface; then the smallest
/// sum of link bytes, hops and unused nodes; then the first rank order as text.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"

namespace halocline::mapping {

/// A part of a network axis: the whole axis, or one of the two factors of its length.
struct Piece {
  int axis = 0;
  int length = 1;
  bool wraps = false;
  int stride = 1;                                  ///< nodes between neighbours: hops of one step
  std::string name(const Network& network) const;  ///< "Z", "Z%3" (fast) or "Z/3" (slow)
};

/// The nodes that one process axis runs through.
struct Ring {
  std::vector<Piece> pieces;            ///< empty: the axis lies inside a node
  std::vector<std::vector<int>> steps;  ///< shape (node grid length, pieces): coordinates along the ring
};

struct SearchOptions {
  Count count = Count::hops;
  std::int64_t visits = 0;  ///< stop after so many steps of the search, with the best map so far and its gap; 0: never
  /// Called every few thousand steps, and with every better map, with the steps so far and the largest interface load
  /// of the best map (0 before there is one); false stops the search. The library knows no clock: a limit in seconds,
  /// a progress line and an interrupt all live here.
  std::function<bool(std::int64_t steps, Bytes best)> progress;
};

struct SearchResult {
  RankMap map;
  std::vector<Ring> rings;   ///< shape (process axes,)
  Loads loads;               ///< as evaluate() finds them
  Bytes lower_bound = 0;     ///< proven: no map of this kind has a smaller busiest interface
  double gap = 0;            ///< (busiest interface - lower_bound) / lower_bound
  bool proven = false;       ///< every assignment was visited or excluded
  std::int64_t visited = 0;  ///< assignments whose interfaces were packed
};

/// @param grid      processes along each axis
/// @param per_node  processes of a node along each axis; divides grid
/// @throws InvalidArgument  where the network cannot hold the grid: more processes than slots, a length of prime
///                          factors that no pieces give, an odd ring through meshes; with the nearest grid that fits
SearchResult search(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                    const Messages& messages, const SearchOptions& options = {});

/// The map of given rings, to evaluate a map from a paper or from a file.
/// @throws InvalidArgument  for pieces that share nodes, or rings that visit a node twice or do not close
RankMap map_of_rings(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                     const std::vector<Ring>& rings);

}  // namespace halocline::mapping
