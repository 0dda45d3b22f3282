// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A gauge field for tests that depends on nothing under test: each link is SU(3) by two orthonormal rows of numbers
/// mixed from its global place, so that any process grid gives the same field.

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::test {

inline std::shared_ptr<const lattice::Geometry4> geometry_alone(const lattice::Coordinates<4>& extents) {
  return std::make_shared<lattice::Geometry4>(extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
}

/// Uniform in (-1, 1), from the bits of two numbers (the finaliser of the splitmix64 generator).
inline double mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + (b + 1) * 0xd1342543de82ef95ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

/// @param disorder  0 for units, large for a field without correlations
inline qcd::GaugeField some_links(std::shared_ptr<const lattice::Geometry4> geometry, double disorder = 1.0,
                                  int depth = 1) {
  qcd::GaugeField gauge(std::move(geometry), depth);
  const auto& local = gauge.geometry().local();
  for (std::int64_t site = 0; site < gauge.geometry().local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, local);
    for (int mu = 0; mu < 4; ++mu) {
      const auto key = static_cast<std::uint64_t>(4 * gauge.geometry().global_index(x) + mu);
      qcd::Su3<double> u = qcd::Su3<double>::unit();
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) {
          const auto at = static_cast<std::uint64_t>(6 * i + 2 * j);
          u.e[i][j] += {disorder * mixed(key, at), disorder * mixed(key, at + 1)};
        }
      auto normalise = [&](int i) {
        const double length = std::sqrt(norm(u.e[i][0]) + norm(u.e[i][1]) + norm(u.e[i][2]));
        for (int j = 0; j < 3; ++j) u.e[i][j] = (1 / length) * u.e[i][j];
      };
      normalise(0);
      qcd::Complex<double> overlap{0, 0};
      for (int j = 0; j < 3; ++j) core::conj_multiply_add(overlap, u.e[0][j], u.e[1][j]);
      for (int j = 0; j < 3; ++j) u.e[1][j] -= overlap * u.e[0][j];
      normalise(1);
      qcd::reconstruct_third_row(u);
      gauge.set_link(x, mu, u);
    }
  }
  gauge.exchange_ghosts();
  return gauge;
}

}  // namespace halocline::test
