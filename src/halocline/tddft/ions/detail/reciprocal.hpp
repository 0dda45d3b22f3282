// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local potential of ions in a cell with orthogonal axes, from its waves.
///
/// The structure factor of an atom is a product of three numbers, one of each axis, because the vectors of each axis
/// are independent. ions.hpp explains the vectors at the ends of the range. Cells with other axes: skew_reciprocal.hpp.

#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/base/system.hpp"
#include "halocline/tddft/ions/detail/wave_sums.hpp"

#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// V_local,short(G) - Z v(G) divided by the volume [hartree], for each vector. Each length of G is computed once.
/// @param squares  G^2. @param coulomb  v(G) (base/coulomb_cut.hpp)
std::vector<double> local_coefficients(const Pseudopotential& species, std::span<const double> squares,
                                       std::span<const double> coulomb, double volume);

/// For each species V_local,short(G) - Z v(G) divided by the volume, at the vectors of a cell with orthogonal axes.
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

/// The potential of the ions at the points of this process's box, by the sums above. All processes share the sums over
/// atoms and waves. @return shape (points of the box,) [hartree]. Collective over the world of the decomposition.
std::vector<double> periodic_potential(const System& system, const Decomposition& decomposition,
                                       const LocalCoefficients& local);

/// - integral V(r - R) grad n for each atom. @param gradient  shape (3, points of the box)
/// @param sum_planes  adds its argument over the processes that share the grid
/// @param part, parts this process computes every parts-th plane; the returned forces are the contribution of its
///              planes
std::vector<Vec3> periodic_local_forces(const System& system, const Box& box, const LocalCoefficients& local,
                                        std::span<const double> gradient,
                                        const std::function<void(std::span<double>)>& sum_planes, int part, int parts);

}  // namespace halocline::tddft::detail
