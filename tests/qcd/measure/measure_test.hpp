// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// What the measurement tests share: small lattices, random links and propagators that know nothing of Philox or the
// library's solvers, and propagators solved with the reference operator. Everything depends on global coordinates, so
// that any process grid makes the same fields.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/measure/source.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::test {

using qcd::measure::GeometryPointer;
using qcd::measure::Propagator;

inline GeometryPointer alone(const Site& extents) {
  return std::make_shared<lattice::Geometry4>(extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
}

// A random SU(3) matrix: Gram-Schmidt on a complex Gaussian matrix, third row from the first two.
inline Matrix3 random_su3(std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  Matrix3 u{};
  for (auto& row : u)
    for (auto& z : row) z = {normal(engine), normal(engine)};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Complex overlap = 0;
      for (std::size_t k = 0; k < 3; ++k) overlap += std::conj(u[j][k]) * u[i][k];
      for (std::size_t k = 0; k < 3; ++k) u[i][k] -= overlap * u[j][k];
    }
    double length = 0;
    for (const auto& z : u[i]) length += std::norm(z);
    for (auto& z : u[i]) z /= std::sqrt(length);
  }
  for (std::size_t k = 0; k < 3; ++k)
    u[2][k] = std::conj(u[0][(k + 1) % 3] * u[1][(k + 2) % 3] - u[0][(k + 2) % 3] * u[1][(k + 1) % 3]);
  return u;
}

// Matrices of a global site; index tells several at one site apart.
inline Matrix3 random_su3_at(std::uint64_t seed, std::int64_t site, int index) {
  std::seed_seq key{seed, static_cast<std::uint64_t>(site), static_cast<std::uint64_t>(index)};
  std::mt19937_64 engine(key);
  return random_su3(engine);
}

// Canonical links of the local box.
inline std::vector<Complex> random_links(const lattice::Geometry4& geometry, std::uint64_t seed) {
  std::vector<Complex> links;
  for (std::int64_t i = 0; i < geometry.local_volume(); ++i) {
    const std::int64_t site = geometry.global_index(lattice::coordinates_of<4>(i, geometry.local()));
    for (int mu = 0; mu < 4; ++mu)
      for (const auto& row : random_su3_at(seed, site, mu)) links.insert(links.end(), row.begin(), row.end());
  }
  return links;
}

inline Matrix3 link_of(std::span<const Complex> links, std::int64_t site, int mu) {
  Matrix3 u{};
  for (std::size_t k = 0; k < 9; ++k) u[k / 3][k % 3] = links[static_cast<std::size_t>(36 * site + 9 * mu) + k];
  return u;
}
inline void set_link(std::vector<Complex>& links, std::int64_t site, int mu, const Matrix3& u) {
  for (std::size_t k = 0; k < 9; ++k) links[static_cast<std::size_t>(36 * site + 9 * mu) + k] = u[k / 3][k % 3];
}

// U_mu(x) -> g(x) U_mu(x) g(x+mu)^dagger on one process; g(x) = random_su3_at(seed, x, 9).
inline std::vector<Complex> transformed_links(const Site& extents, const std::vector<Complex>& links,
                                              std::uint64_t seed) {
  std::vector<Complex> out = links;
  const std::int64_t volume = lattice::product<4>(extents);
  for (std::int64_t i = 0; i < volume; ++i)
    for (int mu = 0; mu < 4; ++mu) {
      Site next = lattice::coordinates_of<4>(i, extents);
      const auto axis = static_cast<std::size_t>(mu);
      next[axis] = (next[axis] + 1) % extents[axis];
      const std::int64_t j = lattice::linear_index<4>(next, extents);
      set_link(out, i, mu,
               times(times(random_su3_at(seed, i, 9), link_of(links, i, mu)), dagger(random_su3_at(seed, j, 9))));
    }
  return out;
}

inline void transform_spinor(std::span<Complex> psi, std::uint64_t seed) {
  for (std::size_t site = 0; site < psi.size() / 12; ++site) {
    const Matrix3 g = random_su3_at(seed, static_cast<std::int64_t>(site), 9);
    for (std::size_t s = 0; s < 4; ++s) {
      std::array<Complex, 3> v{};
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) v[a] += g[a][b] * psi[12 * site + 3 * s + b];
      for (std::size_t a = 0; a < 3; ++a) psi[12 * site + 3 * s + a] = v[a];
    }
  }
}

// Gaussian numbers of a global site.
inline void fill_random(const lattice::Geometry4& geometry, std::span<Complex> spinor, std::uint64_t seed) {
  for (std::int64_t i = 0; i < geometry.local_volume(); ++i) {
    const std::int64_t site = geometry.global_index(lattice::coordinates_of<4>(i, geometry.local()));
    std::seed_seq key{seed, static_cast<std::uint64_t>(site)};
    std::mt19937_64 engine(key);
    std::normal_distribution<double> normal;
    for (std::int64_t k = 0; k < 12; ++k)
      spinor[static_cast<std::size_t>(12 * i + k)] = {normal(engine), normal(engine)};
  }
}
inline Propagator random_propagator(const GeometryPointer& geometry, const Site& source, std::uint64_t seed) {
  Propagator s(geometry, source);
  for (int k = 0; k < 12; ++k) fill_random(*geometry, s.column(k / 3, k % 3), 100 * seed + static_cast<unsigned>(k));
  return s;
}

// Solves for the given right-hand sides (order 3 spin + colour) by the reference operator on one process.
inline Propagator solve_columns(const GeometryPointer& geometry, const ReferenceOperator& d, const Site& source,
                                const std::vector<Spinor>& sources, double tolerance = 1e-12) {
  Propagator s(geometry, source);
  for (int k = 0; k < 12; ++k) {
    const Spinor solution = solve_reference(d, sources[static_cast<std::size_t>(k)], tolerance);
    std::copy(solution.begin(), solution.end(), s.column(k / 3, k % 3).begin());
  }
  return s;
}
inline Propagator point_propagator(const GeometryPointer& geometry, const ReferenceOperator& d, const Site& source,
                                   double tolerance = 1e-12) {
  return solve_columns(geometry, d, source, qcd::measure::columns([&](int spin, int colour) {
                         return qcd::measure::point_source(*geometry, source, spin, colour);
                       }),
                       tolerance);
}

// Largest |a - b| over the largest |b|.
inline double distance(std::span<const Complex> a, std::span<const Complex> b) {
  double largest = 0, difference = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference = std::isnan(std::abs(a[i] - b[i])) ? INFINITY : std::max(difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace halocline::test
