// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/half_pack.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace halocline::core {
namespace {

constexpr int full = native_lanes<Half>;

template <int N>
using Halves = std::array<Half, N>;

template <int N>
Halves<N> stored(const HalfPack<N>& p) {
  Halves<N> out;
  p.store(out.data());
  return out;
}

/// Bits that walk through all exponents and signs; infinities and NaN left out.
template <int N>
Halves<N> numbers(std::uint32_t seed) {
  Halves<N> out;
  for (int i = 0; i < N; ++i) {
    const std::uint32_t bits = (seed + static_cast<std::uint32_t>(i)) * 2654435761u >> 16;
    out[i].bits = static_cast<std::uint16_t>((bits & 0x7c00u) == 0x7c00u ? bits & 0x83ffu : bits);
  }
  return out;
}

/// Any two zeros are the same: a fused operation may give the other one.
bool same(Half a, Half b) { return a.bits == b.bits || ((a.bits | b.bits) & 0x7fffu) == 0; }

template <int N>
void check_arithmetic() {
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto a = numbers<N>(seed * 977), b = numbers<N>(seed * 3571 + 11);
    const auto x = HalfPack<N>::load(a.data()), y = HalfPack<N>::load(b.data());
    auto grown = x, shrunk = x;
    grown += y;
    shrunk -= y;
    const auto sum = stored<N>(x + y), difference = stored<N>(x - y), product = stored<N>(x * y), minus = stored<N>(-x);
    const auto sum_in_place = stored<N>(grown), difference_in_place = stored<N>(shrunk);
    for (int i = 0; i < N; ++i) {
      // Exact in float or rounded there with 13 bits to spare: one rounding to 16 bits is left.
      const float p = widen(a[i]), q = widen(b[i]);
      wrong += !same(sum[i], narrow(p + q)) || !same(sum_in_place[i], narrow(p + q));
      wrong += !same(difference[i], narrow(p - q)) || !same(difference_in_place[i], narrow(p - q));
      wrong += !same(product[i], narrow(p * q));
      wrong += minus[i].bits != (a[i].bits ^ 0x8000u);
    }
  }
  CHECK(wrong == 0);
}

template <int N>
void check_multiply_add() {
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto a = numbers<N>(seed * 977), b = numbers<N>(seed * 3571 + 11), c = numbers<N>(seed * 131 + 7);
    const auto result =
        stored<N>(HalfPack<N>::load(a.data()) * HalfPack<N>::load(b.data()) + HalfPack<N>::load(c.data()));
    for (int i = 0; i < N; ++i) {
      const double exact = double{widen(a[i])} * widen(b[i]) + widen(c[i]);
      const Half apart = narrow(widen(narrow(widen(a[i]) * widen(b[i]))) + widen(c[i]));
      const float got = widen(result[i]);
      // Fused: the nearest half, whose neighbours are 2^-10 of it away, or 2^-24. An overflow stands for itself.
      const double unit = std::ldexp(1.0, std::max(-14, std::ilogb(exact == 0 ? 1e-9 : exact)) - 10);
      const bool fused = std::abs(exact) < 65520 ? std::abs(got - exact) <= 0.5 * unit : std::isinf(got);
      wrong += !fused && !same(result[i], apart);
    }
  }
  CHECK(wrong == 0);
}

template <int N>
void check_moves() {
  using Moves = LaneMoves<HalfPack<N>>;
  const auto a = numbers<N>(5), b = numbers<N>(77);
  alignas(64) std::array<typename Moves::Index, N> places;
  std::array<bool, N> chosen;
  for (int i = 0; i < N; ++i) {
    places[i] = static_cast<typename Moves::Index>((i * 5 + 3) % N);
    chosen[i] = i % 3 != 1;
  }
  const auto x = HalfPack<N>::load(a.data()), y = HalfPack<N>::load(b.data());
  const auto table = Moves::table(places.data());
  const typename Moves::Chosen mask(chosen);
  const auto moved = stored<N>(permute(x, table)), or_zero = stored<N>(permute_or_zero(x, table, mask)),
             or_keep = stored<N>(permute_or_keep(x, y, table, mask));
  Halves<N> in_memory;
  permute_halves<N>(in_memory.data(), a.data(), places.data());
  for (int i = 0; i < N; ++i) {
    CHECK(moved[i].bits == a[places[i]].bits);
    CHECK(in_memory[i].bits == a[places[i]].bits);
    CHECK(or_zero[i].bits == (chosen[i] ? a[places[i]].bits : 0));
    CHECK(or_keep[i].bits == (chosen[i] ? a[i].bits : b[places[i]].bits));
  }
}

}  // namespace

TEST_CASE("half pack: a sum, a difference and a product are the nearest half, in every lane") {
  check_arithmetic<full>();
  check_arithmetic<full / 2>();
}

TEST_CASE("half pack: a product with a sum is rounded once or twice, never more") {
  check_multiply_add<full>();
  check_multiply_add<full / 2>();
}

TEST_CASE("half pack: a number on all lanes is rounded to the nearest") {
  for (const float number : {0.0f, 1.0f, -0.1f, 65519.0f, 1e-7f, 3.14159f})
    for (const Half half : stored<full>(HalfPack<full>(number))) CHECK(half.bits == narrow(number).bits);
}

TEST_CASE("half pack: lanes move by a table, all or a choice of them") {
  check_moves<full>();
  check_moves<full / 2>();
}

}  // namespace halocline::core
