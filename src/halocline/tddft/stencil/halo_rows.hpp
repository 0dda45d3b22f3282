// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where the neighbours of a box's rows lie, without ghost points.
///
/// A row is all points of the box with the same y and z: consecutive lines of 64 bytes. The row at a distance along y
/// or z is another row of the same block (around the corner in a periodic axis that is not split), a row of a message
/// that a neighbour sent, or a row of zeros beyond an isolated box. In each case it is `start + i step` for some start
/// and step, where i is the number of the row along the other axis; so a table of such pairs for every index from -4 to
/// extent + 3 is all there is, and the kernels never ask. The eight points beyond the ends of a row in x are found the
/// same way, by the number of the row.
///
/// Messages hold the four planes next to a face, in the order of the points in the block:
///   x faces [z][y][4],  y faces [z][4][x],  z faces [4][y][x],  each point a line.
/// There are two exchanges, so that the halo of the next block is under way while this one is computed.

#include "halocline/comm/halo_exchange.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <array>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Memory by a running number.
struct Line {
  const double* start = nullptr;
  std::ptrdiff_t step = 0;  ///< [doubles]
  const double* at(std::int64_t i) const noexcept { return start + i * step; }
};

/// The tables of one block.
struct Neighbourhood {
  /// Points -4 ... -1 and extent ... extent + 3 of a row; running number y + extent_y z.
  std::array<Line, 8> beyond;
  std::vector<Line> y;  ///< entry i: row i - 4, points from x = 0; running number z
  std::vector<Line> z;  ///< entry i: plane i - 4; running number y
};

class HaloRows {
public:
  /// @param transport  as for comm::HaloExchange
  /// Collective over decomposition.space().
  HaloRows(const Decomposition& decomposition, const std::string& transport);

  bool split() const noexcept { return !exchanges_.empty(); }  ///< some axis is
  const Box& box() const noexcept { return box_; }
  /// The points of the box that need no message, and the others in up to six boxes; both by local index.
  const Box& interior() const noexcept { return interior_; }
  const std::vector<Box>& faces() const noexcept { return faces_; }

  /// Starts the halo of a block. At most two are under way. Nothing to do where space is not split.
  void begin(const double* in);
  /// The halo that was begun first has come. Its messages stay until the next but one begin().
  void finish();
  /// Fills the tables for the block `in`, with the messages of the last finish(). Before it, only what the interior
  /// needs is right.
  void fill(Neighbourhood& near, const double* in) const;
  /// Halos begun and not finished.
  int under_way() const noexcept { return static_cast<int>(begun_ - finished_); }

private:
  Line line_beyond(const double* in, std::size_t axis, std::int64_t index) const;
  bool message_at(int axis, int direction) const;

  Box box_, interior_;
  std::vector<Box> faces_;
  std::array<std::ptrdiff_t, 3> stride_{};  ///< of a point along each axis [doubles]
  bool periodic_ = true;
  std::array<bool, 3> divided_{};
  core::AlignedArray<double> zeros_;  ///< a row
  std::vector<comm::HaloExchange> exchanges_;
  std::uint64_t begun_ = 0, finished_ = 0;  ///< modulo 2 the exchange
};

}  // namespace halocline::tddft
