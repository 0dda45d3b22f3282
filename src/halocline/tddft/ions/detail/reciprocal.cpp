// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/reciprocal.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace halocline::tddft::detail {

namespace {

using std::numbers::pi;

/// a b, without the checks for infinities of std::complex.
Complex times(Complex a, Complex b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// row += factor other, element by element.
void add(std::span<Complex> row, Complex factor, std::span<const Complex> other) noexcept {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += times(factor, other[i]);
}

/// Row `i` of a matrix of `columns` columns.
template <class T>
std::span<T> row(std::vector<T>& matrix, std::int64_t i, std::int64_t columns) noexcept {
  return {matrix.data() + i * columns, at(columns)};
}
template <class T>
std::span<const T> row(const std::vector<T>& matrix, std::int64_t i, std::int64_t columns) noexcept {
  return {matrix.data() + i * columns, at(columns)};
}

std::array<Waves, 3> waves_of(const Grid& grid) { return {Waves(grid, 0), Waves(grid, 1), Waves(grid, 2)}; }

/// Weight of a plane k_z: 2 if it also represents the plane at -G, else 1.
double plane_weight(const Waves& z, std::int64_t kz) noexcept { return kz == 0 || z.at_end(kz) ? 1.0 : 2.0; }

/// The phases of every atom along every axis, shape (axis, atom, count).
using AtomWaves = std::array<std::vector<std::vector<Complex>>, 3>;

AtomWaves phases_of(const System& system, const std::array<Waves, 3>& waves) {
  AtomWaves result;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const Atom& atom : system.atoms) result[axis].push_back(waves[axis].phases(atom.position[axis]));
  return result;
}

}  // namespace

Waves::Waves(const Grid& grid, int axis) {
  const std::int64_t n = grid.extent[at(axis)];
  for (std::int64_t k = 0; k < n; ++k)
    g_.push_back(2 * pi * static_cast<double>(2 * k <= n ? k : k - n) / grid.length(axis));
}

std::vector<Complex> Waves::phases(double r) const {
  std::vector<Complex> result(g_.size());
  for (std::int64_t k = 0; k < count(); ++k) {
    result[at(k)] = std::polar(1.0, -g(k) * r);
    if (at_end(k)) result[at(k)] = result[at(k)].real();
  }
  return result;
}

std::vector<Complex> Waves::at_points(std::int64_t offset, std::int64_t points) const {
  // G r = 2 pi k i / N, so only k i mod N matters, and all factors are N-th roots of unity.
  const std::int64_t n = count();
  std::vector<Complex> roots(at(n)), result(at(n * points));
  for (std::int64_t i = 0; i < n; ++i)
    roots[at(i)] = std::polar(1.0, 2 * pi * static_cast<double>(i) / static_cast<double>(n));
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < points; ++i) result[at(k * points + i)] = roots[at(k * (offset + i) % n)];
  return result;
}

LocalCoefficients::LocalCoefficients(const System& system) {
  const auto waves = waves_of(system.grid);
  for (std::size_t axis = 0; axis < 3; ++axis) count_[axis] = waves[axis].count();
  std::vector<double> squares;
  for (std::int64_t kz = 0; kz <= count_[2] / 2; ++kz)
    for (std::int64_t ky = 0; ky <= count_[1] / 2; ++ky)
      for (std::int64_t kx = 0; kx <= count_[0] / 2; ++kx) {
        const double gx = waves[0].g(kx), gy = waves[1].g(ky), gz = waves[2].g(kz);
        squares.push_back(gx * gx + gy * gy + gz * gz);
      }
  // In a cube most lengths of G occur often. Sorted by length, each is computed once.
  std::vector<std::size_t> order(squares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return squares[i]; });
  const double volume = system.grid.volume();
  for (const auto& species : system.species) {
    auto& values = values_.emplace_back(squares.size());
    double last = -1, value = 0;
    for (const std::size_t i : order) {
      const double g2 = squares[i];
      if (last < 0 || g2 > last * (1 + 1e-13)) {
        const double coulomb = g2 > 0 ? 4 * pi * species->valence() / g2 : 0.0;
        value = (species->local_fourier(std::sqrt(g2)) - coulomb) / volume;
        last = g2;
      }
      values[i] = value;
    }
  }
}

std::size_t LocalCoefficients::index(std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept {
  const auto fold = [this](std::size_t axis, std::int64_t k) { return 2 * k <= count_[axis] ? k : count_[axis] - k; };
  return at(fold(0, kx) + (count_[0] / 2 + 1) * (fold(1, ky) + (count_[1] / 2 + 1) * fold(2, kz)));
}

std::vector<double> periodic_potential(const System& system, const Box& box, const LocalCoefficients& local) {
  const auto waves = waves_of(system.grid);
  const AtomWaves atoms = phases_of(system, waves);
  const std::int64_t nx = waves[0].count(), ny = waves[1].count(), bx = box.extent[0], by = box.extent[1];
  const auto to_x = waves[0].at_points(box.offset[0], bx), to_y = waves[1].at_points(box.offset[1], by),
             to_z = waves[2].at_points(box.offset[2], box.extent[2]);

  std::vector<double> potential(at(box.points()), 0.0);
  std::vector<Complex> structure(at(nx)), waves_x(at(nx)), half(at(ny * bx)), plane(at(by * bx));
  for (std::int64_t kz = 0; 2 * kz <= waves[2].count(); ++kz) {
    std::ranges::fill(half, Complex{});
    for (std::int64_t ky = 0; ky < ny; ++ky) {
      std::ranges::fill(waves_x, Complex{});
      for (std::size_t s = 0; s < system.species.size(); ++s) {
        std::ranges::fill(structure, Complex{});
        for (std::size_t a = 0; a < system.atoms.size(); ++a)
          if (at(system.atoms[a].species) == s)
            add(structure, times(atoms[1][a][at(ky)], atoms[2][a][at(kz)]), atoms[0][a]);
        for (std::int64_t kx = 0; kx < nx; ++kx) waves_x[at(kx)] += local(s, kx, ky, kz) * structure[at(kx)];
      }
      for (std::int64_t kx = 0; kx < nx; ++kx) add(row(half, ky, bx), waves_x[at(kx)], row(to_x, kx, bx));
    }
    std::ranges::fill(plane, Complex{});
    for (std::int64_t ky = 0; ky < ny; ++ky)
      for (std::int64_t y = 0; y < by; ++y) add(row(plane, y, bx), to_y[at(ky * by + y)], row(half, ky, bx));
    const double weight = plane_weight(waves[2], kz);
    for (std::int64_t z = 0; z < box.extent[2]; ++z) {
      const Complex phase = weight * to_z[at(kz * box.extent[2] + z)];
      for (std::int64_t i = 0; i < bx * by; ++i)
        potential[at(i + bx * by * z)] += phase.real() * plane[at(i)].real() - phase.imag() * plane[at(i)].imag();
    }
  }
  return potential;
}

std::vector<Vec3> periodic_local_forces(const System& system, const Box& box, const LocalCoefficients& local,
                                        std::span<const double> gradient,
                                        const std::function<void(std::span<double>)>& sum_planes, int part, int parts) {
  const auto waves = waves_of(system.grid);
  const AtomWaves atoms = phases_of(system, waves);
  const std::int64_t nx = waves[0].count(), ny = waves[1].count(), bx = box.extent[0], by = box.extent[1];
  const auto to_x = waves[0].at_points(box.offset[0], bx), to_y = waves[1].at_points(box.offset[1], by),
             to_z = waves[2].at_points(box.offset[2], box.extent[2]);

  std::vector<Vec3> forces(system.atoms.size());
  std::vector<Complex> plane(at(by * bx)), half(at(ny * bx)), transforms(at(3 * ny * nx));
  for (std::int64_t kz = 0; 2 * kz <= waves[2].count(); ++kz) {
    // transforms[axis] = sum over all points of dn/daxis exp(i G r)
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      std::ranges::fill(plane, Complex{});
      for (std::int64_t z = 0; z < box.extent[2]; ++z) {
        const Complex phase = to_z[at(kz * box.extent[2] + z)];
        const double* slope = gradient.data() + axis * box.points() + bx * by * z;
        for (std::int64_t i = 0; i < bx * by; ++i) plane[at(i)] += phase * slope[i];
      }
      std::ranges::fill(half, Complex{});
      for (std::int64_t ky = 0; ky < ny; ++ky)
        for (std::int64_t y = 0; y < by; ++y) add(row(half, ky, bx), to_y[at(ky * by + y)], row(plane, y, bx));
      for (std::int64_t ky = 0; ky < ny; ++ky)
        for (std::int64_t kx = 0; kx < nx; ++kx) {
          Complex sum = 0;
          for (std::int64_t x = 0; x < bx; ++x) sum += times(to_x[at(kx * bx + x)], half[at(ky * bx + x)]);
          transforms[at((axis * ny + ky) * nx + kx)] = sum;
        }
    }
    sum_planes({reinterpret_cast<double*>(transforms.data()), 2 * transforms.size()});
    if (kz % parts != part) continue;
    const double weight = plane_weight(waves[2], kz) * system.grid.point_volume();
    for (std::size_t a = 0; a < system.atoms.size(); ++a) {
      const auto s = at(system.atoms[a].species);
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        Complex sum = 0;
        for (std::int64_t ky = 0; ky < ny; ++ky) {
          Complex along_x = 0;
          for (std::int64_t kx = 0; kx < nx; ++kx)
            along_x += times(local(s, kx, ky, kz) * transforms[at((axis * ny + ky) * nx + kx)], atoms[0][a][at(kx)]);
          sum += times(along_x, atoms[1][a][at(ky)]);
        }
        forces[a][at(axis)] -= weight * times(sum, atoms[2][a][at(kz)]).real();
      }
    }
  }
  return forces;
}

}  // namespace halocline::tddft::detail
