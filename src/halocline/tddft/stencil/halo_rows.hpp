// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Locates the neighbours of a box's rows, without ghost points.
///
/// A row is the set of all points of the box with the same y and z: consecutive lines of 64 bytes. The row at a
/// distance along y or z is another row of the same block (around the corner on a periodic axis that is not split), a
/// row of a neighbour's message, or a row of zeros beyond an isolated box. In each case its address is `start + i
/// step`, where i is the number of the row along the other axis. So a table of (start, step) pairs for every index from
/// -4 to extent + 3 suffices, and the kernels contain no tests. The eight points beyond the ends of a row in x are
/// found the same way, by the number of the row.
///
/// Messages hold the four planes next to a face, in the order of the points in the block:
///   x faces [z][y][4],  y faces [z][4][x],  z faces [4][y][x],  each point a line.
/// There are two exchanges, so that the halo of the next block can be in transit while this block is computed.

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <array>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Addresses start + i step for a running number i.
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

  bool split() const noexcept { return !exchanges_.empty(); }  ///< whether any axis is split
  const Box& box() const noexcept { return box_; }
  /// The points of the box that need no message, and the remaining points in up to six boxes; both in local indices.
  const Box& interior() const noexcept { return interior_; }
  const std::vector<Box>& faces() const noexcept { return faces_; }

  /// Starts the halo exchange of a block. At most two may be in progress. Does nothing if space is not split.
  void begin(const double* in);
  /// Waits for the oldest halo exchange in progress. Its messages stay valid until the next but one begin().
  void finish();
  /// Fills the tables for the block `in`, with the messages of the last finish(). Before that call, only the entries
  /// for the interior are valid.
  void fill(Neighbourhood& near, const double* in) const;
  /// Number of halo exchanges begun and not finished.
  int under_way() const noexcept { return static_cast<int>(begun_ - finished_); }

private:
  Line line_beyond(const double* in, std::size_t axis, std::int64_t index) const;
  bool message_at(int axis, int direction) const;

  Box box_, interior_;
  std::vector<Box> faces_;
  std::array<std::ptrdiff_t, 3> stride_{};  ///< of a point along each axis [doubles]
  bool periodic_ = true;
  std::array<bool, 3> divided_{};
  core::AlignedArray<double> zeros_;  ///< one row
  std::vector<comm::HaloExchange> exchanges_;
  std::uint64_t begun_ = 0, finished_ = 0;  ///< the number modulo 2 selects the exchange
};

}  // namespace halocline::tddft
