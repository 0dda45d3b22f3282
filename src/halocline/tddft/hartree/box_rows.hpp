// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Whole rows of x out of the boxes, and results back into them.
///
/// Each process reads and writes its rows one at a time. They stand in its box where the x axis is not divided;
/// otherwise gather() brings their pieces together before and scatter() takes them back after. Where processes that
/// hold the same box have shared the work, scatter() in the end gives everyone the shares of the others.

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
  /// Row of this process's pencil. @param y, z  from the beginning of its ranges. @param row  shape (N_x,)
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
