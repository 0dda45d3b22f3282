// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over the waves exp(i G r) of a periodic grid at the points of a box, and over points for each wave, plane by
/// plane of k_z.
///
/// At the points a wave is a product over the axes, orthogonal or not. So the sum over N^3 waves at the points of a box
/// is three sums over N, one axis after the other. The coefficients of a real function are conjugate at G and -G, so
/// the planes k_z = 0 ... N/2 suffice.

#include "halocline/core/pack.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/base/grid.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/lines.hpp"

#include <algorithm>
#include <complex>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

using Complex = std::complex<double>;

/// a b, without the checks for infinities of std::complex.
inline Complex times(Complex a, Complex b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// row += factor other, element by element.
inline void add(std::span<Complex> row, Complex factor, std::span<const Complex> other) noexcept {
  using Numbers = core::Pack<double, core::native_lanes<double>>;
  constexpr std::size_t together = Numbers::lanes / 2;
  const Numbers re(factor.real());
  Numbers im(factor.imag());
  for (int lane = 0; lane < Numbers::lanes; lane += 2) im.set(lane, -factor.imag());
  double* out = reinterpret_cast<double*>(row.data());
  const double* in = reinterpret_cast<const double*>(other.data());
  std::size_t i = 0;
  for (; i + together <= row.size(); i += together) {
    const Numbers x = Numbers::load(in + 2 * i);
    (Numbers::load(out + 2 * i) + re * x + im * swap_pairs(x)).store(out + 2 * i);
  }
  for (; i < row.size(); ++i) row[i] += times(factor, other[i]);
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

/// The reciprocal vectors of one axis. Number k = 0 ... N - 1 represents n = k or, from N/2 + 1 on, n = k - N.
class Waves {
public:
  Waves(const Grid& grid, int axis);

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(g_.size()); }
  double g(std::int64_t k) const noexcept { return g_[static_cast<std::size_t>(k)]; }  ///< [1/bohr]; N/2: positive
  bool at_end(std::int64_t k) const noexcept { return 2 * k == count(); }              ///< k = N/2 of an even N
  /// exp(-i G r); for at_end() vectors its real part. @return shape (count,)
  std::vector<Complex> phases(double r) const;
  /// exp(i G r_i) for a range of grid points. @return shape (count, points)
  std::vector<Complex> at_points(std::int64_t offset, std::int64_t points) const;

private:
  std::vector<double> g_;
};

/// The waves of a grid, and their values at the points of a box.
class WaveSums {
public:
  WaveSums(const Grid& grid, const Box& box);

  const Waves& along(std::size_t axis) const noexcept { return waves_[axis]; }
  std::int64_t count(std::size_t axis) const noexcept { return waves_[axis].count(); }
  std::int64_t planes() const noexcept { return count(2) / 2 + 1; }
  /// Weight of a plane k_z: 2 if it also represents the plane at -G, else 1.
  double weight(std::int64_t kz) const noexcept { return kz == 0 || waves_[2].at_end(kz) ? 1.0 : 2.0; }

  /// A real function at the points. Processes of the same box share the planes k_z, those of a space group the rows of
  /// coefficients of each plane.
  /// @param fill  fill(coefficients, ky, kz) stores those of a row of k_x; several threads call it
  /// @return shape (points of the box,)
  /// Collective over the world of the decomposition.
  std::vector<double> at_points(const Decomposition& decomposition,
                                const std::function<void(std::span<Complex>, std::int64_t, std::int64_t)>& fill) const;

  /// The sums over all points of a vector field times exp(i G r), plane by plane.
  /// @param field   shape (3, points of the box)
  /// @param sum_planes  adds its argument over the processes that share the grid
  /// @param action  action(kz, sums of shape (3, k_y, k_x))
  void of_field(std::span<const double> field, const std::function<void(std::span<double>)>& sum_planes,
                const std::function<void(std::int64_t, std::span<const Complex>)>& action) const;

private:
  Box box_;
  std::array<Waves, 3> waves_;
  std::array<std::vector<Complex>, 3> to_;  ///< exp(i G r) along each axis, shape (count, points)
};

}  // namespace halocline::tddft::detail
