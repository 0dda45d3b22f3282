// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/half.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace halocline::core {
namespace {

/// What the bits mean, by the definition of binary16.
double meaning(std::uint16_t bits) {
  const int sign = (bits >> 15) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

bool same(float a, double b) { return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b); }

/// Calls check(number, its half) for all numbers, stored by packs of N lanes.
template <int N, class Check>
void for_each_pack(const std::vector<float>& numbers, Check&& check) {
  using P = Pack<float, N>;
  for (std::size_t i = 0; i + N <= numbers.size(); i += N) {
    std::array<Half, N> halves;
    Stored<Half, P>::store(halves.data(), P::load(numbers.data() + i));
    for (int lane = 0; lane < N; ++lane) check(numbers[i + static_cast<std::size_t>(lane)], halves[lane]);
  }
}

/// All halves, the ties between them, the neighbours of the ties, and what lies beyond.
std::vector<float> hard_numbers() {
  std::vector<float> numbers;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<float>(meaning(static_cast<std::uint16_t>(bits)));
    // Above the largest number lies what rounds to infinity.
    const auto high = bits + 1 < 0x7c00 ? static_cast<float>(meaning(static_cast<std::uint16_t>(bits + 1))) : 65536.0f;
    const float tie = 0.5f * (low + high);
    for (const float number : {low, tie, std::nextafter(tie, low), std::nextafter(tie, high)}) {
      numbers.push_back(number);
      numbers.push_back(-number);
    }
  }
  for (const float number : {1e-8f, 1e-30f, 1e-45f, 7e4f, 1e30f, std::numeric_limits<float>::infinity()}) {
    numbers.push_back(number);
    numbers.push_back(-number);
  }
  while (numbers.size() % 16 != 0) numbers.push_back(0.1f);
  return numbers;
}

/// The nearest half, of two equally near the one with an even last bit.
std::uint16_t nearest(float number) {
  const std::uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const double size = std::abs(static_cast<double>(number));
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(size, -unit)), unit);  // ties to even
  std::frexp(rounded, &exponent);
  if (rounded == 0) return sign;
  if (rounded < std::ldexp(1, -14)) return sign | static_cast<std::uint16_t>(std::ldexp(rounded, 24));
  return sign | static_cast<std::uint16_t>(((exponent + 14) << 10) +
                                           static_cast<int>(std::ldexp(rounded, 11 - exponent)) - 1024);
}

template <int N>
void check_loads() {
  for (std::uint32_t first = 0; first < 65536; first += N) {
    std::array<Half, N> halves;
    for (int i = 0; i < N; ++i) halves[i].bits = static_cast<std::uint16_t>(first + static_cast<std::uint32_t>(i));
    const auto pack = Stored<Half, Pack<float, N>>::load(halves.data());
    int wrong = 0;
    for (int i = 0; i < N; ++i) wrong += !same(pack[i], meaning(halves[i].bits));
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("half: every one of the 65536 is widened to what it means, alone and in packs") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    wrong += !same(widen(Half{static_cast<std::uint16_t>(bits)}), meaning(static_cast<std::uint16_t>(bits)));
  CHECK(wrong == 0);
  check_loads<2>();
  check_loads<4>();
  check_loads<8>();
  check_loads<16>();
}

TEST_CASE("half: what is widened and narrowed is itself") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(widen(half))) wrong += narrow(widen(half)).bits != half.bits;
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(widen(narrow(std::nanf("")))));
}

TEST_CASE("half: numbers are rounded to the nearest, ties to even, beyond 65520 to infinity, in packs as alone") {
  const auto numbers = hard_numbers();
  std::int64_t wrong = 0;
  for (const float number : numbers) wrong += narrow(number).bits != nearest(number);
  CHECK(wrong == 0);
  const auto check = [&](float number, Half half) { wrong += half.bits != nearest(number); };
  for_each_pack<4>(numbers, check);
  for_each_pack<8>(numbers, check);
  for_each_pack<16>(numbers, check);
  CHECK(wrong == 0);
}

}  // namespace halocline::core
