// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Operations of kernels on the numbers of a point of a block: pairs (re, im) in a pack.

#include "halocline/core/pack.hpp"

#include <cstddef>
#include <utility>

namespace halocline::tddft::detail {

/// (a, b, c, d, ...) -> (b, a, d, c, ...)
template <class T, int N>
__attribute__((always_inline)) inline core::Pack<T, N> swap_pairs(const core::Pack<T, N>& a) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return core::Pack<T, N>(__builtin_shufflevector(a.v, a.v, static_cast<int>(i ^ 1)...));
  }(std::make_index_sequence<static_cast<std::size_t>(N)>{});
}

/// Adds a pack to as many doubles.
template <class T, int N>
__attribute__((always_inline)) inline void add_to(double* sums, const core::Pack<T, N>& p) {
  (core::Pack<double, N>::load(sums) + core::convert<double>(p)).store(sums);
}

}  // namespace halocline::tddft::detail
