// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Random numbers as a function: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011, section 3.3 and table 2).
///
/// A counter-based generator has no state. A block of 128 random bits is a function of (seed, stream, site, draw). A
/// field drawn by global site index is therefore the same for any process grid, any number of threads and any order of
/// visiting the sites. The user gives `seed`; `stream` separates uses (a source, a heatbath sweep); `draw` counts the
/// blocks taken at one site.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

namespace halocline::core {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// The block cipher itself: ten rounds of two 32 x 32 -> 64 bit multiplications.
/// Cost: about 20 multiplications for a block of 128 bits.
constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(even)};
    key[0] += 0x9E3779B9u;  // golden ratio - 1
    key[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

/// The sequence of random numbers of one site.
class SiteRandom {
public:
  constexpr SiteRandom(std::array<std::uint32_t, 2> key, std::uint64_t site, std::uint64_t draw) noexcept
      : key_(key), site_(site), draw_(draw) {}

  /// 64 random bits; a block gives two such numbers.
  constexpr std::uint64_t bits() noexcept {
    if (half_ == 0) block_ = next_block();
    const std::size_t at = 2 * static_cast<std::size_t>(half_);
    half_ ^= 1;
    return std::uint64_t{block_[at]} | std::uint64_t{block_[at + 1]} << 32;
  }

  /// Uniform in the open interval (0, 1): an odd multiple of 2^-53, never 0 or 1, so that log is safe.
  constexpr double uniform() noexcept { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

  /// Two independent normal numbers of mean 0 and variance 1 (Box and Muller 1958).
  /// The last bits depend on the C library's log, sin and cos.
  std::pair<double, double> gaussian_pair() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }

  /// One normal number of mean 0 and variance 1; every second call returns the other number of a pair.
  double gaussian() noexcept {
    if (have_spare_) {
      have_spare_ = false;
      return spare_;
    }
    const auto [first, second] = gaussian_pair();
    spare_ = second;
    have_spare_ = true;
    return first;
  }

  /// Index of the next unused block; pass it as `draw` to continue the sequence later.
  constexpr std::uint64_t draw() const noexcept { return draw_; }

private:
  constexpr PhiloxBlock next_block() noexcept {
    const std::uint64_t d = draw_++;
    return philox4x32_10({static_cast<std::uint32_t>(site_), static_cast<std::uint32_t>(site_ >> 32),
                          static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(d >> 32)},
                         key_);
  }

  std::array<std::uint32_t, 2> key_;
  std::uint64_t site_, draw_;
  PhiloxBlock block_{};
  int half_ = 0;
  bool have_spare_ = false;
  double spare_ = 0.0;
};

/// A family of random numbers, one sequence for each site.
class Philox {
public:
  /// @param seed    chosen by the user
  /// @param stream  identifies the use of the numbers; different streams of one seed never share a key
  constexpr explicit Philox(std::uint64_t seed, std::uint64_t stream = 0) noexcept {
    // The key has 64 bits for seed and stream together. Mixing is one-to-one in the stream and spreads neighbouring
    // seeds.
    const std::uint64_t key = mixed(mixed(seed) + stream);
    key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  }

  /// @param site  global index, so that the numbers do not depend on the process grid
  /// @param draw  first block of the sequence
  constexpr SiteRandom at(std::uint64_t site, std::uint64_t draw = 0) const noexcept { return {key_, site, draw}; }

private:
  /// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): one-to-one on 64 bits.
  static constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::array<std::uint32_t, 2> key_;
};

}  // namespace halocline::core
