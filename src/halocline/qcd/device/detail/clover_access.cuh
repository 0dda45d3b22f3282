// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Included by clover_array.cuh, at its end, and by nothing else.
///
/// How a kernel reads a clover block and multiplies with it.

#include <utility>

#include "halocline/qcd/device/fixed_point.cuh"

namespace halocline::qcd::device {

namespace detail {

/// The position and sign, among the 28 reals of a chirality, of real i of its 36. A diagonal entry is this signed
/// number plus c.
struct CloverPlace {
  int number;
  bool negative;
};
constexpr CloverPlace clover_place(int i) {
  if (i < 6) return {1 + i % 3, i >= 3};
  int row = 1;
  while (clover::below_diagonal(row + 1, 0) <= i) ++row;
  const int column = (i - clover::below_diagonal(row, 0)) / 2;
  const int part = (i - clover::below_diagonal(row, 0)) % 2;
  if (row < 3) return {4 + 2 * (row * (row - 1) / 2 + column) + part, false};
  if (column < 3) return {10 + 2 * (3 * (row - 3) + column) + part, false};
  return {4 + 2 * ((row - 3) * (row - 4) / 2 + column - 3) + part, true};
}

/// Real i of the 36 of a chirality, from the n reals in memory.
template <int i, class Real, int n>
HALOCLINE_INLINE Real expanded(const Real (&real)[n]) {
  if constexpr (n == 36) {
    return real[i];
  } else {
    constexpr CloverPlace place = clover_place(i);
    const Real value = place.negative ? -real[place.number] : real[place.number];
    return i < 6 ? real[0] + value : value;
  }
}
template <class Real, int n, int... i>
HALOCLINE_INLINE void expand_chirality(Real* block, const Real (&real)[n], std::integer_sequence<int, i...>) {
  ((block[i] = expanded<i>(real)), ...);
}

/// How many reals at the head of a chirality belong to the diagonal, so that the mean is added to them after a load:
/// the six diagonal entries of 36, or c of 28.
constexpr int diagonal_reals(int n) { return n == 36 ? 6 : 1; }

}  // namespace detail

template <class S, int reals>
HALOCLINE_INLINE Spinor<RealOf<S>> CloverReader<S, reals>::multiply(int site, const Spinor<Real>& psi) const {
  constexpr int n = reals / 2;
  Real mean = 0, factor = 1;
  if constexpr (Storage<S>::scaled) {
    detail::Record<float, 2> pair;
    detail::load_piece<detail::Read::constant, 0, 2>(pair, scale + std::int64_t{2} * site);
    mean = pair.at[0];
    factor = pair.at[1] * (1.0f / Storage<S>::largest);
  }
  Real block[clover::block_reals];
  HALOCLINE_UNROLL
  for (int chirality = 0; chirality < 2; ++chirality) {
    detail::Record<typename Storage<S>::Word, n> record;
    detail::load_record<detail::Read::constant>(record, data + std::int64_t{stride} * (n * chirality), stride, site);
    Real real[n];
    HALOCLINE_UNROLL
    for (int i = 0; i < n; ++i) {
      real[i] = detail::number(record, i);
      if constexpr (Storage<S>::scaled)
        real[i] = i < detail::diagonal_reals(n) ? real[i] * factor + mean : real[i] * factor;
    }
    detail::expand_chirality(block + 36 * chirality, real, std::make_integer_sequence<int, 36>{});
  }
  return clover::multiply_block([&block](int i) { return block[i]; }, psi);
}

}  // namespace halocline::qcd::device
