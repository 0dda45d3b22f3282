// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A distributed field in the tiled layout: a fixed number of values at every site of one parity or of both.
///
/// Memory is `[parity][tile][column][component][lane]`. A component is one real of a site. A column is one of several
/// independent fields that are processed together (the twelve right-hand sides of a propagator, say; mostly there is
/// one). The meaning of the components is left to the code that uses the field. Import and export to the canonical
/// order `[t][z][y][x][component]` are explicit, and take a table if the two number the components differently.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/lattice/tile_layout.hpp"

namespace halocline::lattice {

/// The sites that a field holds.
enum class Subset { even = 0, odd = 1, full = 2 };

/// The other parity.
constexpr Subset other(Subset subset) {
  return subset == Subset::full ? subset : (subset == Subset::even ? Subset::odd : Subset::even);
}

/// Copies the numbers of tiles, rounded or widened, between two splits of one layout (TileLayout::same_order).
/// @param rows   numbers of a site;  @param count  numbers to copy, whole tiles of both
/// Opens a parallel region.
template <class To, class From>
void copy_tiles(To* out, int out_lanes, const From* in, int in_lanes, std::int64_t rows, std::int64_t count) {
  if (out_lanes == in_lanes) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(in[i]);
    return;
  }
  with_lanes(std::min(out_lanes, in_lanes), [&]<int lanes> {
    const std::int64_t narrow = lanes * rows, wide = std::max(out_lanes, in_lanes) * rows;
    const std::int64_t out_step = out_lanes > lanes ? lanes : narrow, in_step = in_lanes > lanes ? lanes : narrow;
#pragma omp parallel for schedule(static)
    for (std::int64_t tile = 0; tile < count / wide; ++tile)
      for (std::int64_t part = 0; part < wide / narrow; ++part)
        for (std::int64_t row = 0; row < rows; ++row) {
          To* to = out + tile * wide + part * out_step + row * out_lanes;
          const From* from = in + tile * wide + part * in_step + row * in_lanes;
          for (int lane = 0; lane < lanes; ++lane) to[lane] = static_cast<To>(from[lane]);
        }
  });
}

template <class T>
class Field {
public:
  using Scalar = T;

  Field() = default;
  /// @param reals_per_site  components of a column; real and imaginary parts count separately
  /// @param columns         at least 1
  /// @throws InvalidArgument  fewer columns
  /// Zero at first. Collective: no.  Cost: sites x columns x reals_per_site x sizeof(T) bytes.
  Field(std::shared_ptr<const TileLayout> layout, int reals_per_site, Subset subset, int columns = 1)
      : layout_(std::move(layout)), reals_per_site_(reals_per_site), columns_(columns), subset_(subset) {
    if (columns < 1)
      throw core::InvalidArgument("a field of " + std::to_string(columns) + " columns was asked for; give at least 1");
    data_ = core::AlignedArray<T>(tiles() * tile_stride());
  }

  const TileLayout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const TileLayout>& layout_ptr() const noexcept { return layout_; }
  Subset subset() const noexcept { return subset_; }
  int reals_per_site() const noexcept { return reals_per_site_; }
  int columns() const noexcept { return columns_; }
  std::int64_t size() const noexcept { return data_.size(); }

  /// Number of tiles, of both parities for a full field.
  std::int64_t tiles() const noexcept { return layout_->tiles() * (subset_ == Subset::full ? 2 : 1); }
  std::int64_t column_stride() const noexcept { return std::int64_t{reals_per_site_} * layout_->lanes(); }
  std::int64_t tile_stride() const noexcept { return columns_ * column_stride(); }

  T* data() noexcept { return data_.data(); }
  const T* data() const noexcept { return data_.data(); }
  /// The tiles of one parity, which the field must hold.
  T* parity(int p) noexcept { return data_.data() + parity_offset(p); }
  const T* parity(int p) const noexcept { return data_.data() + parity_offset(p); }
  std::span<T> span() noexcept { return data_.span(); }
  std::span<const T> span() const noexcept { return data_.span(); }

private:
  std::int64_t parity_offset(int p) const noexcept { return subset_ == Subset::full && p == 1 ? data_.size() / 2 : 0; }

  std::shared_ptr<const TileLayout> layout_;
  int reals_per_site_ = 0;
  int columns_ = 1;
  Subset subset_ = Subset::full;
  core::AlignedArray<T> data_;
};

}  // namespace halocline::lattice
