// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/box_rows.hpp"

#include <algorithm>
#include <array>

namespace halocline::tddft {
namespace {

std::vector<Range> x_parts(const Decomposition& decomposition) {
  std::vector<Range> parts;
  for (int i = 0; i < decomposition.counts().space[0]; ++i) {
    const Box box = decomposition.box_of(decomposition.space_grid().rank_of(std::array{i, 0, 0}));
    parts.push_back({box.offset[0], box.offset[0] + box.extent[0]});
  }
  return parts;
}

/// Size of the largest block between two processes of the x axis, which all of them compute from the same shares and
/// parts.
std::int64_t largest_block(const Pencils& pencils, const std::vector<Range>& parts) {
  if (parts.size() == 1) return 0;
  std::int64_t lines = 0, length = 0;
  for (std::size_t x = 0; x < parts.size(); ++x) {
    lines = std::max(lines, pencils.rows_of(pencils.share(), static_cast<int>(x)).lines());
    length = std::max(length, parts[x].size());
  }
  return lines * length;
}

/// Calls `visit(offset in the box, offset in the block)` for each row piece of a rectangle of a box.
template <class Visit>
void for_rows(const Box& box, const Rectangle& part, Visit&& visit) {
  std::int64_t in_block = 0;
  for (std::int64_t z = part.z.begin; z < part.z.end; ++z) {
    for (std::int64_t y = part.y.begin; y < part.y.end; ++y, in_block += box.extent[0])
      visit(box.index(0, y - box.offset[1], z - box.offset[2]), in_block);
  }
}

}  // namespace

BoxRows::BoxRows(const Decomposition& decomposition, const Pencils& pencils)
    : pencils_(pencils),
      mates_(decomposition.box_mates()),
      box_(decomposition.box()),
      x_parts_(x_parts(decomposition)),
      rows_(pencils.rows()),
      exchange_(pencils.among_x(), largest_block(pencils, x_parts_)) {}

void BoxRows::gather(std::span<const double> box) {
  if (whole()) return;
  for (int to = 0; to < exchange_.size(); ++to) {
    double* block = exchange_.near(to);
    for_rows(box_, pencils_.rows_of(pencils_.share(), to),
             [&](std::int64_t from, std::int64_t at) { std::copy_n(box.data() + from, box_.extent[0], block + at); });
  }
  exchange_.forth();
}

void BoxRows::read(double* row, std::span<const double> box, std::int64_t y, std::int64_t z) noexcept {
  if (whole()) {
    const std::int64_t at = box_.index(0, rows_.y.begin + y - box_.offset[1], rows_.z.begin + z - box_.offset[2]);
    std::copy_n(box.data() + at, box_.extent[0], row);
    return;
  }
  for (std::size_t x = 0; x < x_parts_.size(); ++x) {
    const Range& part = x_parts_[x];
    std::copy_n(exchange_.far(static_cast<int>(x)) + (z * rows_.y.size() + y) * part.size(), part.size(),
                row + part.begin);
  }
}

void BoxRows::write(std::span<double> box, const double* row, std::int64_t y, std::int64_t z) noexcept {
  if (whole()) {
    const std::int64_t at = box_.index(0, rows_.y.begin + y - box_.offset[1], rows_.z.begin + z - box_.offset[2]);
    std::copy_n(row, box_.extent[0], box.data() + at);
    return;
  }
  for (std::size_t x = 0; x < x_parts_.size(); ++x) {
    const Range& part = x_parts_[x];
    std::copy_n(row + part.begin, part.size(),
                exchange_.far(static_cast<int>(x)) + (z * rows_.y.size() + y) * part.size());
  }
}

void BoxRows::scatter(std::span<double> box) {
  if (!whole()) {
    exchange_.back();
    for (int from = 0; from < exchange_.size(); ++from) {
      const double* block = exchange_.near(from);
      for_rows(box_, pencils_.rows_of(pencils_.share(), from),
               [&](std::int64_t to, std::int64_t at) { std::copy_n(block + at, box_.extent[0], box.data() + to); });
    }
  }
  if (pencils_.shares() > 1) share_out(box);
}

void BoxRows::share_out(std::span<double> box) const {
  const core::Region region("shares to box mates");
  const std::int64_t length = box_.extent[0];
  const Rectangle own = pencils_.share_of(pencils_.share());
  std::vector<double> mine(static_cast<std::size_t>(own.lines() * length));
  for_rows(box_, own,
           [&](std::int64_t from, std::int64_t at) { std::copy_n(box.data() + from, length, mine.data() + at); });
  const std::vector<std::byte> all = mates_.allgather(std::as_bytes(std::span(mine)));
  const auto* values = reinterpret_cast<const double*>(all.data());
  for (int share = 0; share < pencils_.shares(); ++share) {
    const Rectangle part = pencils_.share_of(share);
    for_rows(box_, part, [&](std::int64_t to, std::int64_t at) { std::copy_n(values + at, length, box.data() + to); });
    values += part.lines() * length;
  }
}

}  // namespace halocline::tddft
