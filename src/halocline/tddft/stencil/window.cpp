// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/window.hpp"

#include <algorithm>

namespace halocline::tddft {
namespace {

/// Copies by registers. memcpy uses a string instruction for runs of this length, which is several times slower on some
/// processors if both ends have the same offset in their pages.
void copy_lines(double* to, const double* from, std::int64_t lines) {
  using P = detail::Register;
  for (std::int64_t i = 0; i < lines * doubles_per_point; i += P::lanes) P::load(from + i).store(to + i);
}

/// A pitch of which no small multiple is a multiple of 4 KiB; lines would otherwise share the sets of a first-level
/// cache.
std::int64_t staggered(std::int64_t doubles) noexcept {
  constexpr std::int64_t page = 512, step = 7 * doubles_per_point;
  return (doubles + page - 1) / page * page + step;
}

}  // namespace

std::int64_t Window::doubles_for(std::int64_t x, std::int64_t y) noexcept {
  return planes * staggered((y + 2 * stencil_reach) * (x + 2 * stencil_reach) * doubles_per_point);
}

std::int64_t Window::plane(std::int64_t z) const noexcept {
  return (z - tile_.offset[2] + stencil_reach) % planes * plane_pitch_;
}

void Window::copy_plane(std::int64_t z) {
  const std::int64_t x = tile_.offset[0], nx = tile_.extent[0], y = tile_.offset[1], ny = tile_.extent[1];
  const std::int64_t end = whole_.extent[0], shift = x * doubles_per_point;
  double* to = lines_.data() + plane(z) + stencil_reach * doubles_per_point;
  const bool inside = z >= tile_.offset[2] && z < tile_.offset[2] + tile_.extent[2];
  if (!inside) {  // only neighbours in z of the tile's points are needed
    const Line& rows = near_->z[static_cast<std::size_t>(z + stencil_reach)];
    for (std::int64_t i = 0; i < ny; ++i) copy_lines(to + (i + stencil_reach) * pitch_, rows.at(y + i) + shift, nx);
    return;
  }
  for (std::int64_t i = -stencil_reach; i < ny + stencil_reach; ++i) {
    double* row = to + (i + stencil_reach) * pitch_;
    const double* from = near_->y[static_cast<std::size_t>(y + i + stencil_reach)].at(z);
    if (i < 0 || i >= ny) {
      copy_lines(row, from + shift, nx);
      continue;
    }
    const std::int64_t first = std::max<std::int64_t>(x - stencil_reach, 0);
    const std::int64_t last = std::min(x + nx + stencil_reach, end), number = y + i + whole_.extent[1] * z;
    for (std::int64_t j = x - stencil_reach; j < 0; ++j)
      copy_lines(row + (j - x) * doubles_per_point,
                 near_->beyond[static_cast<std::size_t>(j + stencil_reach)].at(number), 1);
    copy_lines(row + (first - x) * doubles_per_point, from + first * doubles_per_point, last - first);
    for (std::int64_t j = end; j < x + nx + stencil_reach; ++j)
      copy_lines(row + (j - x) * doubles_per_point,
                 near_->beyond[static_cast<std::size_t>(j - end + stencil_reach)].at(number), 1);
  }
}

void Window::begin(const Neighbourhood& near, const Box& whole, const Box& tile) {
  near_ = &near;
  whole_ = whole;
  tile_ = tile;
  pitch_ = (tile.extent[0] + 2 * stencil_reach) * doubles_per_point;
  plane_pitch_ = staggered((tile.extent[1] + 2 * stencil_reach) * pitch_);
  z_ = tile.offset[2] - 1;
  for (std::int64_t z = z_ + 1 - stencil_reach; z < z_ + 1 + stencil_reach; ++z) copy_plane(z);
}

void Window::next() {
  ++z_;
  copy_plane(z_ + stencil_reach);
}

void Window::place(detail::Row& row, std::int64_t y) const noexcept {
  const std::int64_t shift = (y - tile_.offset[1] + stencil_reach) * pitch_ + stencil_reach * doubles_per_point;
  const double* lines = lines_.data() + shift;
  row.along = lines + plane(z_);
  for (std::int64_t j = 1; j <= stencil_reach; ++j) {
    const auto up = static_cast<std::size_t>(stencil_reach - 1 + j), down = static_cast<std::size_t>(stencil_reach - j);
    row.y[up] = row.along + j * pitch_;
    row.y[down] = row.along - j * pitch_;
    row.z[up] = lines + plane(z_ + j);
    row.z[down] = lines + plane(z_ - j);
  }
}

}  // namespace halocline::tddft
