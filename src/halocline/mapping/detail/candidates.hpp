// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// All rings that one process axis can run along, with the load of each on links and interfaces.
///
/// A map of rings is a product: a node is one vertex of every ring. The load of one ring's vertices, computed
/// separately for each ring, therefore gives the loads of every map that contains the ring (detail/objective.hpp):
///
/// - its *kinds* of vertices: the exits (axis and direction) by which the two neighbours are reached, and the bytes
///   that count at the interface. Two rings can share a network axis, one with a fast and one with a slow piece; their
///   bytes then leave by the same exits;
/// - its *lines*: for each of its pieces, at fixed other coordinates, the points that belong to the ring and the bytes
///   that each sends up and down. Equal lines are kept once.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/ring.hpp"

namespace halocline::mapping::detail {

/// The messages of one process axis, off a node and inside it.
struct Flow {
  int nodes = 1;             ///< number of nodes of its ring: grid / per_node
  int directions = 2;        ///< 1: + and - take turns
  Bytes off_node = 0;        ///< bytes to the next node, one direction
  Bytes loopback = 0;        ///< bytes inside a node, one direction
  std::int64_t senders = 0;  ///< number of messages off a node, one direction
};

std::vector<Flow> flows_of(const std::vector<int>& grid, const std::vector<int>& per_node, const Messages& messages);

/// Bytes that leave by one exit, 2 axis + (0 up, 1 down).
struct Leaving {
  int exit = 0;
  Bytes bytes = 0;
  auto operator<=>(const Leaving&) const = default;
};
using Kind = std::vector<Leaving>;

/// A point of a line. `bytes` has shape [direction of the process axis, + and -][up, down].
struct Point {
  bool used = false;
  std::array<std::array<Bytes, 2>, 2> bytes{};
  bool operator==(const Point&) const = default;
  bool operator<(const Point& other) const { return std::pair(used, bytes) < std::pair(other.used, other.bytes); }
};
using Line = std::vector<Point>;

struct Candidate {
  int id = 0;        ///< number among the candidates of all process axes
  int axis = 0;      ///< the process axis
  int sequence = 0;  ///< rank among the axis's candidates, ordered by their nodes compared along the ring
  std::vector<Piece> pieces;
  std::vector<Kind> kinds;                 ///< without repetitions
  std::vector<std::vector<Line>> lines;    ///< shape (pieces,): without repetitions
  std::vector<std::array<Bytes, 2>> lone;  ///< shape (pieces,): busiest link up and down, with no other ring there
  std::int64_t hops = 0;                   ///< sum over the vertices of the hops of one message to the next vertex
  std::vector<std::int64_t> offsets;       ///< shape (nodes,): node number minus that of the first node
};

/// @param others  number of nodes that the other rings need together; omits candidates that leave them fewer
std::vector<Candidate> candidates_of(const Network& network, const Flow& flow, Count count, std::int64_t others);

/// Whether two rings may use these pieces of one axis.
inline bool can_share(const Piece& a, const Piece& b) {
  const Piece& fast = a.stride < b.stride ? a : b;
  const Piece& slow = a.stride < b.stride ? b : a;
  return fast.stride == 1 && slow.stride == fast.length;
}

/// Whether a ring of `nodes` nodes may run through these pieces and use all of them, judging by parity and size.
bool ring_possible(std::span<const Piece> pieces, int nodes);

/// Visits every choice of at most one piece of each axis.
/// @param visit  called with the pieces (std::vector<Piece>&) and the number of nodes left for other rings
///               (std::int64_t), the product over the axes
template <typename Visit>
void every_choice(const Network& network, std::int64_t least_left, Visit&& visit) {
  std::vector<std::vector<Piece>> by_axis(network.axes.size());
  std::int64_t nodes = 1;
  for (const Piece& piece : pieces_of(network)) by_axis[static_cast<std::size_t>(piece.axis)].push_back(piece);
  for (const Axis& axis : network.axes) nodes *= axis.length;
  std::vector<Piece> chosen;
  const auto choose = [&](auto&& self, std::size_t axis, std::int64_t left) -> void {
    if (left < least_left) return;
    if (axis == by_axis.size()) {
      visit(chosen, left);
      return;
    }
    self(self, axis + 1, left);
    for (const Piece& piece : by_axis[axis]) {
      chosen.push_back(piece);
      self(self, axis + 1, left / piece.length);
      chosen.pop_back();
    }
  };
  choose(choose, 0, nodes);
}

}  // namespace halocline::mapping::detail
