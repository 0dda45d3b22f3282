// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/fingerprint.hpp"

#include <bit>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014): every bit of the result depends on every bit of z.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t fingerprint(const GaugeField& gauge) {
  const auto& geometry = gauge.geometry();
  const std::int64_t sites = geometry.local_volume();
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t site = 0; site < sites; ++site) {
    const auto x = lattice::coordinates_of<4>(site, geometry.local());
    auto place = static_cast<std::uint64_t>(site) * 4 * link_reals;
    for (int mu = 0; mu < 4; ++mu) {
      const Su3<double> u = gauge.link(x, mu);
      for (const auto& row : u.e)
        for (const auto& z : row)
          for (const double number : {z.re, z.im}) sum += mixed(mixed(place++) ^ std::bit_cast<std::uint64_t>(number));
    }
  }
  return sum;
}

}  // namespace halocline::qcd::multigrid
