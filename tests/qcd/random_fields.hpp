// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Rough fields on a whole lattice, the same on every rank, and the part of them that a rank holds.

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "sampled.hpp"

namespace halocline::test {

inline std::vector<std::complex<double>> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> numbers(static_cast<std::size_t>(count));
  for (auto& z : numbers) z = {normal(engine), normal(engine)};
  return numbers;
}

/// SU(3) links [t][z][y][x][mu][3][3] by Gram-Schmidt of Gaussian rows: as rough as a field can be.
inline std::vector<std::complex<double>> random_links(std::int64_t volume, unsigned seed) {
  auto links = random_numbers(volume * 36, seed);
  for (std::size_t begin = 0; begin < links.size(); begin += 9) {
    auto* u = &links[begin];
    const auto dot = [](const std::complex<double>* a, const std::complex<double>* b) {
      return std::conj(a[0]) * b[0] + std::conj(a[1]) * b[1] + std::conj(a[2]) * b[2];
    };
    const auto normalise = [&](std::complex<double>* a) {
      const double length = std::sqrt(dot(a, a).real());
      for (int i = 0; i < 3; ++i) a[i] /= length;
    };
    normalise(u);
    const auto along = dot(u, u + 3);
    for (int i = 0; i < 3; ++i) u[3 + i] -= along * u[i];
    normalise(u + 3);
    for (int i = 0; i < 3; ++i)
      u[6 + i] = std::conj(u[(i + 1) % 3] * u[3 + (i + 2) % 3] - u[(i + 2) % 3] * u[3 + (i + 1) % 3]);
  }
  return links;
}

/// The local box of a canonical array of the whole lattice with `count` numbers a site.
inline std::vector<std::complex<double>> local_part(const lattice::Geometry4& geometry,
                                                    std::span<const std::complex<double>> global, int count) {
  std::vector<std::complex<double>> local;
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto from = geometry.global_index(lattice::coordinates_of<4>(site, geometry.local())) * count;
    local.insert(local.end(), global.begin() + from, global.begin() + from + count);
  }
  return local;
}

inline std::shared_ptr<const lattice::Geometry4> one_process(const lattice::Coordinates<4>& extents) {
  return std::make_shared<const lattice::Geometry4>(extents,
                                                    comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
}

/// |a - b| / |b|
inline double relative_distance(std::span<const std::complex<double>> a, std::span<const std::complex<double>> b) {
  double distance = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    distance += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(distance / size);
}

}  // namespace halocline::test
