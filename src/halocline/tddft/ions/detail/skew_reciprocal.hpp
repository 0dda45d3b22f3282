// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local potential of ions in a cell whose axes are not orthogonal, from its waves.
///
/// The points of a grid cannot tell waves apart whose vectors differ by one of the grid's reciprocal lattice. The
/// potential has the shortest of each class: those in the Brillouin zone of the grid, which is as round as the lattice
/// allows. A vector on its border has others of equal length, and the wave is their mean, as at the ends of the range
/// on orthogonal axes.

#include "halocline/tddft/base/system.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// The shortest waves of each class, for the planes k_z = 0 ... N/2.
class ShortestWaves {
public:
  using Numbers = std::array<int, 3>;

  explicit ShortestWaves(const Grid& grid);

  std::size_t size() const noexcept { return squares_.size(); }
  std::size_t index(std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept {
    return static_cast<std::size_t>(kx + extent_[0] * (ky + extent_[1] * kz));
  }
  /// Numbers of the reciprocal vectors: one, or several of equal length.
  std::span<const Numbers> of(std::size_t index) const noexcept {
    return {waves_.data() + first_[index], first_[index + 1] - first_[index]};
  }
  double square(std::size_t index) const noexcept { return squares_[index]; }  ///< G^2 [1/bohr^2]

private:
  std::array<std::int64_t, 3> extent_;
  std::vector<std::size_t> first_;
  std::vector<Numbers> waves_;
  std::vector<double> squares_;
};

/// The waves, and the coefficients of each species at them: as LocalCoefficients.
class SkewCoefficients {
public:
  explicit SkewCoefficients(const System& system);

  const ShortestWaves& waves() const noexcept { return waves_; }
  double operator()(std::size_t species, std::size_t index) const noexcept { return values_[species][index]; }

private:
  ShortestWaves waves_;
  std::vector<std::vector<double>> values_;
};

/// As periodic_potential() and periodic_local_forces() of reciprocal.hpp.
std::vector<double> skew_potential(const System& system, const Box& box, const SkewCoefficients& local);
std::vector<Vec3> skew_local_forces(const System& system, const Box& box, const SkewCoefficients& local,
                                    std::span<const double> gradient,
                                    const std::function<void(std::span<double>)>& sum_planes, int part, int parts);

}  // namespace halocline::tddft::detail
