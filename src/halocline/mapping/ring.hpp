// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Rings of nodes: what one process axis runs along.
///
/// An axis of the network is used whole, or split in two pieces: of an axis of f * g nodes the *fast* piece is the
/// coordinate mod f, an open line of f nodes one hop apart, and the *slow* piece the coordinate div f, g nodes f hops
/// apart, closed where the axis is. A process axis of N nodes is given some pieces, no two of one axis, and becomes a
/// ring: N different points of the grid of the pieces, where neighbours differ in one piece, by one.
///
/// Rings of one piece are the closed piece itself, or two neighbours, which meet on one link. Through several pieces
/// every even N from 4 up to the points of the grid goes. Odd N needs a closed piece of odd length to wind around: in a
/// grid of open lines every step changes the parity of the sum of the coordinates, so that closed ways are even.
///
/// How a ring is made. All pieces but one are strung together to one line, back and forth; what remains is a ladder of
/// two dimensions, rows along the one piece and columns along the line. Even N: the first two rows, there and back;
/// then pairs of columns are let down to deeper rows, each row two nodes more; with an odd number of columns
/// the last one is filled by bulges from the column beside it. Odd N: the same with rows along the line, columns along
/// the closed piece, and the closed first row instead of the two. Pieces of short strides come first, so that most
/// steps go along them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"

namespace halocline::mapping {

/// A network axis, or one of the two factors of its length.
struct Piece {
  int axis = 0;
  int length = 1;
  bool wraps = false;
  int stride = 1;  ///< nodes of the axis between neighbours: hops of one step

  std::string name(const Network& network) const;  ///< "Z" (whole), "Z%3" (fast), "Z/3" (slow)
  bool operator==(const Piece&) const = default;
};

/// All pieces of all axes with at least two nodes: axis by axis the whole, then fast and slow of every factor.
std::vector<Piece> pieces_of(const Network& network);

/// @param name  as Piece::name writes it
/// @throws InvalidArgument  for an unknown axis, or a factor that does not divide it properly (with those that do)
Piece piece_named(const Network& network, const std::string& name);

/// The nodes that one process axis runs through.
struct Ring {
  std::vector<Piece> pieces;            ///< in the order of the network's axes; empty: the axis lies inside a node
  std::vector<std::vector<int>> steps;  ///< shape (nodes of the ring, pieces): coordinates, the first all zero
};

/// The ring of so many nodes that uses every one of the pieces; nothing where there is none, or where some piece would
/// not be used. Of the two ways round, the one that first steps to the lower node.
/// @throws InvalidArgument  for two pieces of one axis
/// Cost: nodes of the ring.
std::optional<Ring> ring_through(const Network& network, std::span<const Piece> pieces, int nodes);

/// The same, where its absence is the caller's mistake.
/// @throws InvalidArgument  where there is no ring; says what would be one
Ring required_ring(const Network& network, std::span<const Piece> pieces, int nodes);

/// The map of given rings: a placement from a paper or a file.
/// @param rings  shape (process axes,); of grid / per_node nodes each
/// @throws InvalidArgument  for pieces that overlap, rings of another length, that visit a node twice, do not close, or
///                          take steps that are none
RankMap map_of_rings(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                     const std::vector<Ring>& rings);

}  // namespace halocline::mapping
