// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over the reciprocal vectors of a periodic grid, plane by plane of k_z.
///
/// A wave exp(i G r) is a product over the axes. So the sum over N^3 vectors at the points of a box is three sums over
/// N, one axis after the other, and the structure factor of an atom is a product of three numbers. The coefficients of
/// a real function are conjugate at G and -G, so the planes k_z = 0 ... N/2 suffice. ions.hpp explains the vectors at
/// the ends of the range.

#include "halocline/tddft/base/grid.hpp"
#include "halocline/tddft/base/system.hpp"

#include <complex>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

using Complex = std::complex<double>;

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

/// For each species V_local,short(G) - 4 pi Z/G^2 divided by the volume, at G = 0 only the first term. Each length of G
/// is computed once.
class LocalCoefficients {
public:
  explicit LocalCoefficients(const System& system);
  /// [hartree] for species s at the vector with numbers kx, ky, kz
  double operator()(std::size_t species, std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept {
    return values_[species][index(kx, ky, kz)];
  }

private:
  std::size_t index(std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept;

  std::array<std::int64_t, 3> count_{};
  std::vector<std::vector<double>> values_;
};

/// The potential of the ions at the points of a box, by the sums above. @return shape (points of the box,) [hartree]
std::vector<double> periodic_potential(const System& system, const Box& box, const LocalCoefficients& local);

/// - integral V(r - R) grad n for each atom. @param gradient  shape (3, points of the box)
/// @param sum_planes  adds its argument over the processes that share the grid
/// @param part, parts this process computes every parts-th plane; the returned forces are the contribution of its
///              planes
std::vector<Vec3> periodic_local_forces(const System& system, const Box& box, const LocalCoefficients& local,
                                        std::span<const double> gradient,
                                        const std::function<void(std::span<double>)>& sum_planes, int part, int parts);

}  // namespace halocline::tddft::detail
