// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Rings of nodes along which the process axes run.
///
/// A process axis uses an axis of the network whole, or split in two pieces. In an axis of f * g nodes the *fast* piece
/// is the coordinate mod f: an open line of f nodes, one hop apart. The *slow* piece is the coordinate div f: g nodes,
/// f hops apart, closed if the axis is closed. A process axis of N nodes is given some pieces, no two of one axis, and
/// becomes a ring: N different points of the grid of the pieces, in which neighbours differ by one in one piece.
///
/// A ring of one piece is the closed piece itself, or two neighbours, which meet on one link. Through several pieces
/// every even N is possible from 4 up to the number of points of the grid. Odd N needs a closed piece of odd length to
/// wind around: in a grid of open lines every step changes the parity of the sum of the coordinates, so a closed path
/// has even length.
///
/// Construction. All pieces but one are joined to one line, back and forth. This leaves a two-dimensional grid, with
/// rows along the remaining piece and columns along the line. For even N the ring goes along the first two rows, there
/// and back. Then pairs of columns extend down to deeper rows, each row adding two nodes. If the number of columns is
/// odd, bulges from the neighbouring column fill the last one. For odd N the construction is the same, but with rows
/// along the line, columns along the closed piece, and the closed first row in place of the two rows. Pieces of short
/// strides come first, so that most steps go along them.

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
  int stride = 1;  ///< distance on the axis between neighbours of the piece: hops of one step

  std::string name(const Network& network) const;  ///< "Z" (whole), "Z%3" (fast), "Z/3" (slow)
  bool operator==(const Piece&) const = default;
};

/// All pieces of all axes with at least two nodes: axis by axis the whole axis, then the fast and slow piece of every
/// factor.
std::vector<Piece> pieces_of(const Network& network);

/// @param name  in the format of Piece::name
/// @throws InvalidArgument  an unknown axis, or a factor that does not divide it properly (gives the factors that do)
Piece piece_named(const Network& network, const std::string& name);

/// The nodes along which one process axis runs.
struct Ring {
  std::vector<Piece> pieces;            ///< in the order of the network's axes; empty: the axis lies inside a node
  std::vector<std::vector<int>> steps;  ///< shape (nodes of the ring, pieces): coordinates, the first all zero
};

/// The ring of `nodes` nodes that uses every one of the pieces. Of its two directions, the one that first steps to the
/// lower node. Empty if there is no such ring, or if it would leave a piece unused.
/// @throws InvalidArgument  two pieces of one axis
/// Cost: number of nodes of the ring.
std::optional<Ring> ring_through(const Network& network, std::span<const Piece> pieces, int nodes);

/// As ring_through(), for callers to whom a missing ring is an error.
/// @throws InvalidArgument  there is no ring; says which rings are possible
Ring required_ring(const Network& network, std::span<const Piece> pieces, int nodes);

/// The map of given rings: a placement from a paper or a file.
/// @param rings  shape (process axes,); each of grid / per_node nodes
/// @throws InvalidArgument  pieces that overlap; rings of another length, that visit a node twice, do not close, or
///                          contain a pair of nodes that is not a step
RankMap map_of_rings(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                     const std::vector<Ring>& rings);

}  // namespace halocline::mapping
