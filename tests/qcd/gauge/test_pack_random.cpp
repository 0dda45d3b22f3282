// SPDX-License-Identifier: Apache-2.0
//
// Random bits and elementary functions in packs, against the published generator and the C library.

#include "halocline/qcd/gauge/detail/pack_random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "halocline/core/philox.hpp"

namespace detail = halocline::qcd::gauge::detail;

namespace {

constexpr int lanes = halocline::core::native_lanes<double>;
using P = halocline::core::Pack<double, lanes>;
using Words = detail::Words<lanes>;

}  // namespace

TEST_CASE("pack random: the known answers of Philox-4x32-10, in every lane") {
  // From the known-answer file of the authors' library (Random123).
  struct Answer {
    std::uint64_t counter[4], key, bits[4];
  };
  const Answer answers[] = {
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (int lane = 0; lane < lanes; ++lane)
    for (const auto& answer : answers) {
      std::array<Words, 4> counter;
      for (int word = 0; word < 4; ++word) {
        counter[static_cast<std::size_t>(word)] = Words{} + 77;
        counter[static_cast<std::size_t>(word)][lane] = answer.counter[word];
      }
      const auto bits = detail::philox<lanes>(counter, answer.key);
      for (std::size_t word = 0; word < 4; ++word) CHECK(bits[word][lane] == answer.bits[word]);
    }
}

TEST_CASE("pack random: every lane holds the block of the scalar generator") {
  std::array<Words, 4> counter;
  for (std::size_t word = 0; word < 4; ++word)
    for (int lane = 0; lane < lanes; ++lane)
      counter[word][lane] = (0x9e3779b9ULL * (4 * static_cast<std::uint64_t>(lane) + word + 1)) & 0xffffffff;
  const std::uint64_t key = 0x0123456789abcdef;
  const auto bits = detail::philox<lanes>(counter, key);
  for (int lane = 0; lane < lanes; ++lane) {
    halocline::core::PhiloxBlock block;
    for (std::size_t word = 0; word < 4; ++word) block[word] = static_cast<std::uint32_t>(counter[word][lane]);
    block = halocline::core::philox4x32_10(block, {0x89abcdef, 0x01234567});
    for (std::size_t word = 0; word < 4; ++word) CHECK(bits[word][lane] == block[word]);
  }
}

TEST_CASE("pack random: uniform numbers lie in (0, 1] and have the moments of the uniform law") {
  constexpr int blocks = 20000;
  constexpr double count = 2.0 * blocks * lanes;
  double moment[5] = {}, correlation = 0, least = 2, most = -1;
  Words lane_index{};
  for (int lane = 0; lane < lanes; ++lane) lane_index[lane] = static_cast<std::uint64_t>(lane);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const auto pair = detail::uniforms<lanes>({Words{} + block, lane_index, Words{}, Words{}}, 5);
    for (int lane = 0; lane < lanes; ++lane) {
      for (const double u : {pair.first[lane], pair.second[lane]}) {
        for (int n = 1; n <= 4; ++n) moment[n] += std::pow(u, n) / count;
        least = std::min(least, u);
        most = std::max(most, u);
      }
      correlation += 2 * (pair.first[lane] - 0.5) * (pair.second[lane] - 0.5) / count;
    }
  }
  CHECK(least > 0);
  CHECK(most <= 1);
  for (int n = 1; n <= 4; ++n) {
    const double deviation = std::sqrt(1.0 / (2 * n + 1) - 1.0 / ((n + 1) * (n + 1)));
    CHECK(std::abs(moment[n] - 1.0 / (n + 1)) < 4.5 * deviation / std::sqrt(count));
  }
  CHECK(std::abs(correlation) < 4.5 / 12 / std::sqrt(count / 2));
}

TEST_CASE("pack random: logarithm and turn agree with the C library to a few units of the last place") {
  for (int i = 0; i <= 100000; ++i) {
    double u = (i + 1) / 100001.0;
    if (i < 52) u = std::ldexp(1.0, -i);                 // the smallest uniform numbers
    if (i >= 52 && i < 100) u = 1 - 0x1p-52 * (i - 51);  // and those beside one
    const double log = detail::logarithm(P(u))[lanes - 1];
    CHECK_MESSAGE(std::abs(log - std::log(u)) <= 4 * 2.2e-16 * std::abs(std::log(u)), "u = ", u);
    const auto turn = detail::turn(P(u));
    const double angle = 6.283185307179586 * u;  // rounded: an error of up to 2^-52 pi
    CHECK_MESSAGE(std::abs(turn.cosine[0] - std::cos(angle)) < 2e-15, "u = ", u);
    CHECK_MESSAGE(std::abs(turn.sine[0] - std::sin(angle)) < 2e-15, "u = ", u);
  }
}
