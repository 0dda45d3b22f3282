// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/device/box.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {

Box Box::of(const lattice::Geometry4& geometry, unsigned emulated) {
  constexpr char axis_name[] = "xyzt";
  for (int axis = 0; axis < 4; ++axis)
    if (geometry.global()[axis] % 2 != 0)
      throw core::InvalidArgument(
          fmt::format("the lattice has {} sites along {}; even-odd ordering needs an even number on every axis",
                      geometry.global()[axis], axis_name[axis]));
  if (geometry.local()[0] % 2 != 0)
    throw core::InvalidArgument(fmt::format(
        "a process holds {} sites along x, which must be even; take a process grid that divides {} sites along x into "
        "even parts, for example 1 process along x",
        geometry.local()[0], geometry.global()[0]));
  if (geometry.local_volume() >= std::int64_t{1} << 31)
    throw core::InvalidArgument(fmt::format(
        "a process holds {} sites, and a device box at most 2^31 - 1; take more processes", geometry.local_volume()));
  if (emulated > 15)
    throw core::InvalidArgument(
        fmt::format("axes {:#x} were to be treated as split; give bits 0 to 3, for x y z t", emulated));
  Box box{};
  box.sites = static_cast<int>(geometry.local_volume() / 2);
  box.origin_parity = geometry.parity({0, 0, 0, 0});
  box.split = emulated;
  for (int axis = 0; axis < 4; ++axis) {
    box.extent[axis] = static_cast<int>(geometry.local()[axis]);
    if (geometry.is_split(axis)) box.split |= 1u << axis;
  }
  return box;
}

}  // namespace halocline::qcd::device
