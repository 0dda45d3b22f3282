// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Vectors on a coarse lattice, and their vector space.
///
/// A coarse site has 2 N complex numbers, its rows: row n < N belongs to test vector n and chirality +, row N + n to
/// the same vector and chirality -. N is a multiple of 8. So Gamma5 is +1 on the first N rows and -1 on the others.
///
/// A field is `[site][column][row / 8][re, im][row mod 8]` in float; sites in canonical order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/tiled_space.hpp"

namespace halocline::qcd::multigrid {

/// Rows of a group, which lie side by side in memory.
inline constexpr int row_group = 8;

class CoarseField {
public:
  CoarseField() = default;
  /// Zero at first. @param rows  2 N, a multiple of 16. Collective: no.
  CoarseField(std::int64_t sites, int rows, int columns)
      : sites_(sites), rows_(rows), columns_(columns), data_(sites * columns * 2 * rows) {}

  std::int64_t sites() const noexcept { return sites_; }
  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  std::int64_t size() const noexcept { return data_.size(); }
  float* data() noexcept { return data_.data(); }
  const float* data() const noexcept { return data_.data(); }
  std::span<float> span() noexcept { return data_.span(); }
  std::span<const float> span() const noexcept { return data_.span(); }

  /// First number of a site and column.
  float* at(std::int64_t site, int column) noexcept { return data_.data() + (site * columns_ + column) * 2 * rows_; }
  const float* at(std::int64_t site, int column) const noexcept {
    return data_.data() + (site * columns_ + column) * 2 * rows_;
  }
  /// Place of the real part of a row behind at(); the imaginary part follows `row_group` numbers later.
  static constexpr int place(int row) { return row / row_group * 2 * row_group + row % row_group; }

private:
  std::int64_t sites_ = 0;
  int rows_ = 0, columns_ = 1;
  core::AlignedArray<float> data_;
};

/// Of a field.
inline std::size_t bytes_a_site(const CoarseField& field) noexcept {
  return static_cast<std::size_t>(field.columns()) * 2 * static_cast<std::size_t>(field.rows()) * sizeof(float);
}

class CoarseSpace : public detail::TiledSpace<float, CoarseField> {
public:
  /// Copies share one reduction over processes, so only one of them may be in use at a time.
  /// @throws InvalidArgument  for rows that are not a positive multiple of 16, or less than one column. Collective:
  /// yes.
  CoarseSpace(std::shared_ptr<const lattice::Geometry4> geometry, int rows, int columns);
  /// Fields on `sites` of the sites of this process, such as those of one parity. Collective: yes.
  CoarseSpace(std::shared_ptr<const lattice::Geometry4> geometry, int rows, int columns, std::int64_t sites);

  /// All zero.
  CoarseField create() const { return {sites_, rows_, columns()}; }
  int rows() const noexcept { return rows_; }
  const lattice::Geometry4& geometry() const noexcept { return *geometry_; }

private:
  std::shared_ptr<const lattice::Geometry4> geometry_;
  int rows_;
  std::int64_t sites_;
};

}  // namespace halocline::qcd::multigrid
