// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A 64-bit checksum of a message, seeded with its number. A fast hash; it does not protect against malice.
///
/// Four lanes take 8-byte words in turn. Each step is an xor, an odd multiplication and a rotation. All three are
/// invertible, so a change of one word always changes its lane. A finaliser then folds the lanes and the length into
/// one word; every bit of its output depends on every bit of its input. Cost: about one word a cycle.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace halocline::comm::detail {

constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) noexcept {
  return std::rotl((h ^ word) * 0x9fb21c651e98df25u, 29);
}

constexpr std::uint64_t finished(std::uint64_t h) noexcept {
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

/// @param seed  the number of the message, so that equal contents of different messages give different sums
inline std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  constexpr std::size_t lanes = 4, word = sizeof(std::uint64_t);
  std::uint64_t h[lanes] = {seed, seed + 0x9e3779b97f4a7c15u, ~seed, std::rotl(seed, 32)};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= lanes * word; at += lanes * word, left -= lanes * word) {
    std::uint64_t words[lanes];
    std::memcpy(words, at, sizeof(words));
    for (std::size_t lane = 0; lane < lanes; ++lane) h[lane] = mixed(h[lane], words[lane]);
  }
  for (std::size_t lane = 0; left > 0; ++lane) {
    const std::size_t n = left < word ? left : word;
    std::uint64_t last = 0;
    std::memcpy(&last, at, n);
    h[lane] = mixed(h[lane], last);
    at += n;
    left -= n;
  }
  std::uint64_t all = finished(seed ^ bytes.size());
  for (const std::uint64_t lane : h) all = finished(mixed(all, lane));
  return all;
}

}  // namespace halocline::comm::detail
