// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A copy of a block in which every row has its neighbours in x on both sides, for grids whose axes are not orthogonal.
///
/// The stencil of such a grid has neighbours along diagonals, which lie beyond two or three faces at once. So rows are
/// copied with four points more at each end, and a neighbour at (y + j, z + k) is another row of the copy, shifted in
/// x. Rows beyond the faces of an undivided axis are those of the other side, found by a table. On a divided axis the
/// copy has room for them, and they come as messages: first those along x, then along y with the ends of their rows,
/// then along z with everything beside them, so that three exchanges of faces bring edges and corners as well. These
/// exchanges are not overlapped with computation.

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Where the rows of a box lie in its copies.
class PaddedRows {
public:
  explicit PaddedRows(const Decomposition& decomposition);

  const Box& box() const noexcept { return box_; }
  bool divided(std::size_t axis) const noexcept { return divided_[axis]; }
  std::int64_t doubles() const noexcept { return pitch_ * slots_[1] * slots_[2]; }
  std::int64_t pitch() const noexcept { return pitch_; }                        ///< of a row [doubles]
  std::int64_t slots(std::size_t axis) const noexcept { return slots_[axis]; }  ///< rows along y, planes along z
  std::int64_t margin(std::size_t axis) const noexcept { return divided_[axis] ? stencil_margin : 0; }
  /// Offset of the point x = 0 of a row; y and z reach from -4 to extent + 3.
  std::int64_t row(std::int64_t y, std::int64_t z) const noexcept { return place_[0][index(y)] + place_[1][index(z)]; }

  static constexpr std::int64_t stencil_margin = 4;

private:
  static std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i + stencil_margin); }

  Box box_;
  std::array<bool, 3> divided_{};
  std::array<std::int64_t, 3> slots_{};
  std::int64_t pitch_ = 0;
  std::array<std::vector<std::int64_t>, 2> place_;  ///< offsets of each y and z, from -4 [doubles]
};

/// Fills copies of blocks.
class PaddedBlocks {
public:
  /// @param transport  as for comm::HaloExchange
  /// Collective over decomposition.space().
  PaddedBlocks(const Decomposition& decomposition, const std::string& transport);

  const PaddedRows& rows() const noexcept { return rows_; }
  bool split() const noexcept { return exchange_.has_value(); }
  /// Copies a block. @param to  shape (rows().doubles(),)
  /// Collective over decomposition.space() if space is split.
  void fill(double* to, const double* in);

private:
  void copy_rows(double* to, const double* in) const;
  void exchange_axis(double* to, std::size_t axis);
  template <class Action>
  void for_each_run(std::size_t axis, std::int64_t begin, Action&& action) const;

  PaddedRows rows_;
  std::optional<comm::HaloExchange> exchange_;
};

}  // namespace halocline::tddft
