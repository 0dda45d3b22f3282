// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/padded_block.hpp"

#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

#include <cstring>

namespace halocline::tddft {
namespace {

static_assert(PaddedRows::stencil_margin == stencil_reach);
constexpr std::int64_t margin = stencil_reach;

void copy_points(double* to, const double* from, std::int64_t points) {
  std::memcpy(to, from, static_cast<std::size_t>(points * doubles_per_point) * sizeof(double));
}

}  // namespace

PaddedRows::PaddedRows(const Decomposition& decomposition) : box_(decomposition.box()) {
  for (std::size_t a = 0; a < 3; ++a) {
    divided_[a] = decomposition.counts().space[a] > 1;
    slots_[a] = box_.extent[a] + 2 * this->margin(a);
  }
  // An odd number of lines, so that rows do not share the sets of a cache.
  pitch_ = ((box_.extent[0] + 2 * tddft::margin) | 1) * doubles_per_point;
  for (const std::size_t axis : {1, 2}) {
    const std::int64_t n = box_.extent[axis];
    const std::int64_t step = axis == 1 ? pitch_ : pitch_ * slots_[1];
    const std::int64_t first = axis == 1 ? tddft::margin * doubles_per_point : 0;
    for (std::int64_t i = -tddft::margin; i < n + tddft::margin; ++i)
      place_[axis - 1].push_back(first + step * (divided_[axis] ? i + tddft::margin : ((i % n) + n) % n));
  }
}

PaddedBlocks::PaddedBlocks(const Decomposition& decomposition, const std::string& transport) : rows_(decomposition) {
  const Box& box = rows_.box();
  std::vector<std::size_t> bytes(3, 0);
  const std::int64_t whole_row = box.extent[0] + 2 * margin;
  const std::array<std::int64_t, 3> points{margin * box.extent[1] * box.extent[2], margin * whole_row * box.extent[2],
                                           margin * whole_row * rows_.slots(1)};
  bool any = false;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!rows_.divided(a)) continue;
    bytes[a] = static_cast<std::size_t>(points[a] * doubles_per_point) * sizeof(double);
    any = true;
  }
  if (!any) return;
  exchange_.emplace(comm::solver_exchange(decomposition.space_grid(), bytes, transport));
}

/// The rows of the box, with their ends if x is not divided.
void PaddedBlocks::copy_rows(double* to, const double* in) const {
  const Box& box = rows_.box();
  const std::int64_t nx = box.extent[0];
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y) {
      double* row = to + rows_.row(y, z);
      copy_points(row, in + box.index(0, y, z) * doubles_per_point, nx);
      if (rows_.divided(0)) continue;
      for (std::int64_t i = 0; i < margin; ++i) {
        copy_points(row + (nx + i) * doubles_per_point, row + i % nx * doubles_per_point, 1);
        copy_points(row - (i + 1) * doubles_per_point, row + (nx - 1 - i) * doubles_per_point, 1);
      }
    }
}

/// Calls action(offset in the copy, points) for the runs of four layers across an axis, in the order of the message.
/// @param begin  the first layer: an index along the axis, from -4
template <class Action>
void PaddedBlocks::for_each_run(std::size_t axis, std::int64_t begin, Action&& action) const {
  const Box& box = rows_.box();
  if (axis == 0) {
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y) action(rows_.row(y, z) + begin * doubles_per_point, margin);
    return;
  }
  const std::int64_t ends = -margin * doubles_per_point, points = box.extent[0] + 2 * margin;
  if (axis == 1) {
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = begin; y < begin + margin; ++y) action(rows_.row(y, z) + ends, points);
    return;
  }
  const std::int64_t beside = rows_.margin(1);
  for (std::int64_t z = begin; z < begin + margin; ++z)
    for (std::int64_t y = -beside; y < box.extent[1] + beside; ++y) action(rows_.row(y, z) + ends, points);
}

void PaddedBlocks::exchange_axis(double* to, std::size_t axis) {
  const std::int64_t n = rows_.box().extent[axis];
  comm::FaceMask faces = 0;
  for (const int direction : {-1, 1}) {
    const comm::Face face{static_cast<int>(axis), direction};
    faces |= comm::mask_of(face);
    std::byte* message = exchange_->send_buffer(face).data();
    for_each_run(axis, direction < 0 ? 0 : n - margin, [&](std::int64_t offset, std::int64_t points) {
      const std::size_t bytes = static_cast<std::size_t>(points * doubles_per_point) * sizeof(double);
      std::memcpy(message, to + offset, bytes);
      message += bytes;
    });
  }
  exchange_->post(faces);
  for (const int direction : {-1, 1}) {
    const comm::Face face{static_cast<int>(axis), direction};
    exchange_->wait(face);
    const std::byte* message = exchange_->recv_buffer(face).data();
    for_each_run(axis, direction < 0 ? -margin : n, [&](std::int64_t offset, std::int64_t points) {
      const std::size_t bytes = static_cast<std::size_t>(points * doubles_per_point) * sizeof(double);
      std::memcpy(to + offset, message, bytes);
      message += bytes;
    });
  }
}

void PaddedBlocks::fill(double* to, const double* in) {
  copy_rows(to, in);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (rows_.divided(axis)) exchange_axis(to, axis);
}

}  // namespace halocline::tddft
