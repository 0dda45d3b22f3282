// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "halocline/qcd/measure/detail/slices.hpp"
#include "halocline/qcd/measure/detail/spatial_sum.hpp"

namespace halocline::qcd::measure {

namespace {

using detail::local_slice;
using detail::Slice;
using detail::zero;

void check_component(int spin, int colour) {
  if (spin < 0 || spin > 3 || colour < 0 || colour > 2)
    throw core::InvalidArgument(
        fmt::format("there is no component of spin {} and colour {}; spin is 0 to 3, colour 0 to 2", spin, colour));
}

}  // namespace

Spinor point_source(const lattice::Geometry4& geometry, const Coordinates4& position, int spin, int colour) {
  check_position(geometry, position);
  check_component(spin, colour);
  Spinor source = zero(geometry);
  Coordinates4 local{};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    local[axis] = position[axis] - geometry.offset()[axis];
    if (local[axis] < 0 || local[axis] >= geometry.local()[axis]) return source;
  }
  source[static_cast<std::size_t>(12 * lattice::linear_index<4>(local, geometry.local()) + 3 * spin + colour)] = 1;
  return source;
}

Spinor wall_source(const lattice::Geometry4& geometry, std::int64_t time, int spin, int colour,
                   const Momentum& momentum) {
  check_time(geometry, time);
  check_component(spin, colour);
  Spinor source = zero(geometry);
  const detail::Phases conjugate(geometry, {0, 0, 0, 0}, momentum);
  const Slice slice = local_slice(geometry, time);
  for (std::int64_t i = 0; i < slice.count; ++i)
    source[static_cast<std::size_t>(12 * (slice.first + i) + 3 * spin + colour)] = std::conj(conjugate(i));
  return source;
}

std::vector<Spinor> sequential_source(const Propagator& propagator, std::int64_t time, const SpinMatrix& sink,
                                      const Momentum& momentum) {
  const lattice::Geometry4& geometry = propagator.geometry();
  check_time(geometry, time);
  const detail::Phases phases(geometry, propagator.source(), momentum);
  const Slice slice = local_slice(geometry, time);
  static constexpr std::array<std::complex<double>, 4> i_to{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  return columns([&](int spin, int colour) {
    Spinor source = zero(geometry);
    const auto s = propagator.column(spin, colour);
    for (std::int64_t i = 0; i < slice.count; ++i) {
      const std::complex<double> phase = phases(i);
      const auto first = static_cast<std::size_t>(12 * (slice.first + i));
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t c = 0; c < 3; ++c)
          source[first + 3 * row + c] = phase * i_to[static_cast<std::size_t>(sink.power[row])] *
                                        s[first + 3 * static_cast<std::size_t>(sink.column[row]) + c];
    }
    return source;
  });
}

Spinor restrict_to_time(const lattice::Geometry4& geometry, const Spinor& spinor, std::int64_t time) {
  check_spinor(geometry, spinor, "the spinor to restrict");
  check_time(geometry, time);
  const Slice slice = local_slice(geometry, time);
  Spinor restricted = zero(geometry);
  std::copy_n(spinor.begin() + 12 * slice.first, 12 * slice.count, restricted.begin() + 12 * slice.first);
  return restricted;
}

}  // namespace halocline::qcd::measure
