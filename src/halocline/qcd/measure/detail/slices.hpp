// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local sites of a global time slice.

#include <cstdint>

#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure::detail {

inline Spinor zero(const lattice::Geometry4& geometry) {
  return Spinor(static_cast<std::size_t>(spinor_components * geometry.local_volume()));
}

/// First local site and number of local sites of a global time slice; none where another process holds it.
struct Slice {
  std::int64_t first = 0, count = 0;
};
inline Slice local_slice(const lattice::Geometry4& geometry, std::int64_t time) {
  const std::int64_t t = time - geometry.offset()[3];
  if (t < 0 || t >= geometry.local()[3]) return {};
  const std::int64_t count = geometry.local_volume() / geometry.local()[3];
  return {t * count, count};
}

}  // namespace halocline::qcd::measure::detail
