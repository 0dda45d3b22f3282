// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Collects whole rows of x from the boxes, and returns results to the boxes.
///
/// Each process reads and writes its rows one at a time. If the x axis is not divided, the rows lie in its box.
/// Otherwise gather() collects their pieces first, and scatter() returns the results. If processes that hold the same
/// box have shared the work, scatter() finally gives all of them the complete result.

#include "halocline/tddft/hartree/exchange.hpp"
#include "halocline/tddft/hartree/pencils.hpp"

#include <cstdint>
#include <span>

namespace halocline::tddft {

class BoxRows {
public:
  /// Not collective. @param pencils  must outlive this
  BoxRows(const Decomposition& decomposition, const Pencils& pencils);

  /// @param box  shape (points,) of this process's box. Collective over the processes that solve together.
  void gather(std::span<const double> box);
  /// Reads a row of this process's pencil. @param y, z  counted from the start of its ranges. @param row  shape (N_x,)
  void read(double* row, std::span<const double> box, std::int64_t y, std::int64_t z) noexcept;
  void write(std::span<double> box, const double* row, std::int64_t y, std::int64_t z) noexcept;
  /// Collective over the processes that solve together.
  void scatter(std::span<double> box);

private:
  bool whole() const noexcept { return x_parts_.size() == 1; }
  void share_out(std::span<double> box) const;

  const Pencils& pencils_;
  comm::Communicator mates_;
  Box box_;
  std::vector<Range> x_parts_;  ///< of the processes along x
  Rectangle rows_;
  Exchange exchange_;
};

}  // namespace halocline::tddft
