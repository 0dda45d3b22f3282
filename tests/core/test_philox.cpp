// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/philox.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace halocline::core;

TEST_CASE("philox: the known answers of the Random123 library") {
  // From its file kat_vectors, lines "philox4x32 10".
  static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t f = 0xffffffffu;
  CHECK(philox4x32_10({f, f, f, f}, {f, f}) == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox: a sequence depends on seed, stream and site, and can be resumed at a draw") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t stream = 0; stream < 8; ++stream) {
      for (const std::uint64_t site : {0ull, 1ull, 1ull << 32, 1ull << 63}) {
        SiteRandom random = Philox(seed, stream).at(site);
        for (int k = 0; k < 6; ++k) seen.insert(random.bits());
      }
    }
  }
  CHECK(seen.size() == 8 * 8 * 4 * 6);

  SiteRandom first = Philox(3, 4).at(5);
  for (int k = 0; k < 6; ++k) first.bits();  // three blocks
  CHECK(first.draw() == 3);
  SiteRandom later = Philox(3, 4).at(5, 3);
  for (int k = 0; k < 9; ++k) CHECK(first.bits() == later.bits());
}

TEST_CASE("philox: uniforms are inside (0, 1) with the moments of the uniform distribution") {
  constexpr int n = 200000;
  double sum = 0, squares = 0, neighbours = 0, last = 0.5;
  bool inside = true;
  for (int site = 0; site < n / 10; ++site) {
    SiteRandom random = Philox(1).at(static_cast<std::uint64_t>(site));
    for (int k = 0; k < 10; ++k) {
      const double u = random.uniform();
      inside = inside && u > 0.0 && u < 1.0;
      sum += u;
      squares += u * u;
      neighbours += (u - 0.5) * (last - 0.5);
      last = u;
    }
  }
  CHECK(inside);
  // Five standard deviations: sqrt(1/12 n), sqrt(4/45 n), 1/12 sqrt(n).
  CHECK(std::abs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
  CHECK(std::abs(neighbours / n) < 5.0 / 12 / std::sqrt(n));
}

TEST_CASE("philox: gaussians have the moments of the normal distribution") {
  constexpr int n = 200000;
  double moment[5] = {};
  for (int site = 0; site < n / 10; ++site) {
    SiteRandom random = Philox(2).at(static_cast<std::uint64_t>(site));
    for (int k = 0; k < 10; ++k) {
      const double g = random.gaussian();
      double power = 1;
      for (double& m : moment) {
        m += power / n;
        power *= g;
      }
    }
  }
  // Variance of g^p: 1, 2, 15, 96.
  CHECK(std::abs(moment[1]) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(moment[2] - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(moment[3]) < 5 * std::sqrt(15.0 / n));
  CHECK(std::abs(moment[4] - 3) < 5 * std::sqrt(96.0 / n));
}
