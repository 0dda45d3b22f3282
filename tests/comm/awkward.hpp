// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Numbers for tests of the order of additions.

#include <cmath>
#include <cstddef>

namespace halocline::tests {

/// A value whose sum over ranks depends on the order of adding in its last bits.
inline double awkward(int rank, std::size_t i) {
  return std::ldexp(1.0 / (3.0 + rank + static_cast<double>(i)), (rank * 37 + static_cast<int>(i) * 11) % 60) *
         (rank % 2 == 0 ? 1.0 : -1.0);
}

}  // namespace halocline::tests
