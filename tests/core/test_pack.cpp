// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/pack.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace halocline::core {
namespace {

template <class T, int lanes>
void check_lanes() {
  CAPTURE(lanes);
  using P = Pack<T, lanes>;
  alignas(64) std::array<T, lanes> a, b, out;
  for (int i = 0; i < lanes; ++i) {
    a[i] = T(i + 1);
    b[i] = T(2 * lanes - i);
  }
  const P pa = P::load(a.data()), pb = P::load(b.data());
  // Small whole numbers: every operation is exact in either precision.
  const auto check_each = [&](const P& result, auto expected) {
    result.store(out.data());
    for (int i = 0; i < lanes; ++i) CHECK(out[i] == expected(i));
  };
  check_each(pa + pb, [&](int i) { return a[i] + b[i]; });
  check_each(pa - pb, [&](int i) { return a[i] - b[i]; });
  check_each(pa * pb, [&](int i) { return a[i] * b[i]; });
  check_each(-pa, [&](int i) { return -a[i]; });
  check_each(fma(pa, pb, P(T(3))), [&](int i) { return a[i] * b[i] + T(3); });
  check_each(select(pa < pb, pa, pb), [&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
  check_each(select(pa > pb, pa, pb), [&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
  check_each(lane_shift<1>(pa, pb), [&](int i) { return i + 1 < lanes ? a[i + 1] : b[0]; });
  check_each(lane_shift<lanes>(pa, pb), [&](int i) { return b[i]; });
  typename P::Mask reversed, from_both;
  for (int i = 0; i < lanes; ++i) {
    reversed[i] = lanes - 1 - i;
    from_both[i] = i % 2 == 0 ? i : lanes + i;
  }
  check_each(permute(pa, reversed), [&](int i) { return a[lanes - 1 - i]; });
  check_each(permute(pa, pb, from_both), [&](int i) { return i % 2 == 0 ? a[i] : b[i]; });
  std::array<bool, lanes> third{};
  for (int i = 0; i < lanes; i += 3) third[i] = true;
  const LaneMask<T, lanes> mask(third);
  check_each(permute_or_zero(pa, reversed, mask), [&](int i) { return third[i] ? a[lanes - 1 - i] : T(0); });
  check_each(permute_or_keep(pa, pb, reversed, mask), [&](int i) { return third[i] ? a[i] : b[lanes - 1 - i]; });
  CHECK(horizontal_sum(pa) == T(lanes * (lanes + 1) / 2));
  std::array<P, lanes> packs;
  for (int i = 0; i < lanes; ++i) packs[i] = P(T(i + 1)) * pa + pb;
  check_each(horizontal_sums(packs), [&](int i) { return horizontal_sum(packs[i]); });
  stream(out.data(), pb);
  fence_streams();
  for (int i = 0; i < lanes; ++i) CHECK(out[i] == b[i]);
  const auto other = convert<std::conditional_t<sizeof(T) == 8, float, double>>(pa);
  for (int i = 0; i < lanes; ++i) CHECK(other[i] == a[i]);
}

}  // namespace

TEST_CASE_TEMPLATE("pack: every lane is what a plain number would be, for any number of lanes", T, float, double) {
  check_lanes<T, 2>();
  check_lanes<T, 4>();
  check_lanes<T, 8>();
  check_lanes<T, 16>();
}

}  // namespace halocline::core
