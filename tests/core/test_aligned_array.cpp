// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/aligned_array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace halocline::core {

TEST_CASE("aligned array: memory that another array had before is zero again, and of its own size") {
  constexpr std::int64_t size = std::int64_t{1} << 20;
  const AlignedArray<double> others(8 * size);  // freed arrays are kept only beside larger ones in use
  for (int again = 0; again < 3; ++again) {
    std::vector<AlignedArray<double>> arrays;
    for (int i = 0; i < 4; ++i) arrays.emplace_back(size + i % 2 * 1024);
    for (AlignedArray<double>& array : arrays) {
      std::int64_t not_zero = 0;
      for (const double x : array.span()) not_zero += x != 0;
      CHECK(not_zero == 0);
      for (double& x : array.span()) x = 7;
    }
    for (const AlignedArray<double>& array : arrays)
      CHECK(std::ranges::all_of(array.span(), [](double x) { return x == 7; }));
  }
}

TEST_CASE("aligned array: zero, aligned and its own copy, small or of huge pages") {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 20}) {
    AlignedArray<double> a(size);
    CHECK(a.size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % AlignedArray<double>::alignment == 0);
    std::int64_t not_zero = 0;
    for (const double x : a.span()) not_zero += x != 0;
    CHECK(not_zero == 0);
    if (size == 0) continue;
    a[size - 1] = 3;
    AlignedArray<double> b = a;
    b[size - 1] = 4;
    CHECK(a[size - 1] == 3);
    const double* memory = b.data();
    const AlignedArray<double> c = std::move(b);
    CHECK(c.data() == memory);
    CHECK(c[size - 1] == 4);
    a = c;
    CHECK(a[size - 1] == 4);
  }
}

}  // namespace halocline::core
