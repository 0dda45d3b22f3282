// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/propagator.hpp"

#include <fmt/format.h>

#include <utility>

namespace halocline::qcd::measure {

void check_position(const lattice::Geometry4& geometry, const Coordinates4& x) {
  const auto& extents = geometry.global();
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (x[axis] < 0 || x[axis] >= extents[axis])
      throw core::InvalidArgument(
          fmt::format("the position ({}, {}, {}, {}) lies outside the lattice of {} x {} x {} x {} sites; coordinates "
                      "x y z t run from 0 to one less than the extents",
                      x[0], x[1], x[2], x[3], extents[0], extents[1], extents[2], extents[3]));
}

void check_time(const lattice::Geometry4& geometry, std::int64_t time) {
  if (time < 0 || time >= geometry.global()[3])
    throw core::InvalidArgument(
        fmt::format("there is no time slice {}; t runs from 0 to {}", time, geometry.global()[3] - 1));
}

void check_spinor(const lattice::Geometry4& geometry, std::span<const std::complex<double>> spinor, const char* what) {
  const auto expected = static_cast<std::size_t>(spinor_components * geometry.local_volume());
  if (spinor.size() != expected)
    throw core::InvalidArgument(
        fmt::format("{} has {} complex numbers, but the {} local sites need {}; give a canonical "
                    "array [t][z][y][x][spin][colour] of this process's box",
                    what, spinor.size(), geometry.local_volume(), expected));
}

Propagator::Propagator(GeometryPointer geometry, const Coordinates4& source)
    : geometry_(std::move(geometry)),
      source_(source),
      size_(static_cast<std::size_t>(spinor_components * geometry_->local_volume())) {
  check_position(*geometry_, source_);
  columns_ = core::AlignedArray<std::complex<double>>(spinor_components * static_cast<std::int64_t>(size_ + gap));
}

}  // namespace halocline::qcd::measure
