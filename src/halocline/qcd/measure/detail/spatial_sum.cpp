// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/detail/spatial_sum.hpp"

#include <fmt/format.h>

namespace halocline::qcd::measure::detail {

void check_same_source(std::span<const Propagator* const> propagators) {
  const Propagator& first = *propagators.front();
  for (const Propagator* other : propagators) {
    if (other->geometry().global() != first.geometry().global() ||
        other->geometry().local() != first.geometry().local())
      throw core::InvalidArgument(
          "the propagators of a contraction live on different lattices or process grids; solve them on one geometry");
    const auto &a = first.source(), &b = other->source();
    if (a != b)
      throw core::InvalidArgument(fmt::format(
          "the propagators of a contraction start at different sources, ({}, {}, {}, {}) and ({}, {}, {}, {}); solve "
          "both from one source",
          a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]));
  }
}

}  // namespace halocline::qcd::measure::detail
