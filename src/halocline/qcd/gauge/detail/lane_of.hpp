// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halocline/core/pack.hpp"
#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::gauge::detail {

/// One site of a pack of matrices.
HALOCLINE_INLINE Su3<double> lane_of(const Su3<double>& a, int) { return a; }
template <int N>
HALOCLINE_INLINE Su3<double> lane_of(const Su3<core::Pack<double, N>>& a, int lane) {
  Su3<double> one;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) one.e[i][j] = {a.e[i][j].re[lane], a.e[i][j].im[lane]};
  return one;
}

}  // namespace halocline::qcd::gauge::detail
