// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A field in a domain layout, with one or several columns: `[domain][tile][column][component][lane]`.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/lattice/domain_layout.hpp"

namespace halocline::lattice {

template <class T>
class DomainField {
public:
  DomainField() = default;

  /// Zero at first.
  /// @param components  numbers for each site and column
  /// @throws InvalidArgument  fewer than 1 component or column. Collective: no.
  DomainField(std::shared_ptr<const DomainLayout> layout, int components, int columns = 1)
      : layout_(std::move(layout)), components_(components), columns_(columns) {
    if (components < 1 || columns < 1)
      throw core::InvalidArgument("a field of " + std::to_string(components) + " components and " +
                                  std::to_string(columns) + " columns was asked for; give at least 1 of each");
    data_ = core::AlignedArray<T>(layout_->domains() * domain_stride());
  }

  const DomainLayout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const DomainLayout>& layout_ptr() const noexcept { return layout_; }
  int components() const noexcept { return components_; }
  int columns() const noexcept { return columns_; }
  std::int64_t size() const noexcept { return data_.size(); }

  std::int64_t column_stride() const noexcept { return std::int64_t{components_} * layout_->lanes(); }
  std::int64_t tile_stride() const noexcept { return columns_ * column_stride(); }
  std::int64_t domain_stride() const noexcept { return layout_->tiles() * tile_stride(); }

  T* data() noexcept { return data_.data(); }
  const T* data() const noexcept { return data_.data(); }
  T* domain(std::int32_t d) noexcept { return data_.data() + d * domain_stride(); }
  const T* domain(std::int32_t d) const noexcept { return data_.data() + d * domain_stride(); }
  std::span<T> span() noexcept { return data_.span(); }
  std::span<const T> span() const noexcept { return data_.span(); }

private:
  std::shared_ptr<const DomainLayout> layout_;
  int components_ = 0;
  int columns_ = 1;
  core::AlignedArray<T> data_;
};

}  // namespace halocline::lattice
