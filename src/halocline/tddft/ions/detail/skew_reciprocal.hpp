// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local potential of ions in a cell whose axes are not orthogonal, from its waves.
///
/// The points of a grid cannot tell waves apart whose vectors differ by one of the grid's reciprocal lattice. The
/// potential has the shortest of each class: those in the Brillouin zone of the grid, which is as round as the lattice
/// allows. A vector on its border has others of equal length, and the wave is their mean, as at the ends of the range
/// on orthogonal axes. Near the border the mean changes smoothly to the shortest one, so that the energy is a smooth
/// function of the cell: of weights exp(-(G^2 - least) / (1 % of least)), normalised.

#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/base/system.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// The shortest waves of each class, for the planes k_z = 0 ... N/2.
class ShortestWaves {
public:
  struct Wave {
    std::array<int, 3> numbers{};  ///< of the reciprocal vectors
    double weight = 1;
    double square = 0;  ///< G^2 [1/bohr^2]
  };

  explicit ShortestWaves(const Grid& grid);

  std::size_t size() const noexcept { return first_.size() - 1; }  ///< number of classes
  std::span<const Wave> all() const noexcept { return waves_; }
  std::size_t index(std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept {
    return static_cast<std::size_t>(kx + extent_[0] * (ky + extent_[1] * kz));
  }
  /// The waves of a class: one, or several of about equal length, in the list of all from first(index) on.
  std::span<const Wave> of(std::size_t index) const noexcept {
    return {waves_.data() + first_[index], first_[index + 1] - first_[index]};
  }
  std::size_t first(std::size_t index) const noexcept { return first_[index]; }

private:
  std::array<std::int64_t, 3> extent_;
  std::vector<std::size_t> first_;
  std::vector<Wave> waves_;
};

/// The waves, and the coefficients of each species at them: as LocalCoefficients.
class SkewCoefficients {
public:
  explicit SkewCoefficients(const System& system);

  const ShortestWaves& waves() const noexcept { return waves_; }
  /// Of the waves of a class, times their weights.
  std::span<const double> of(std::size_t species, std::size_t index) const noexcept {
    return {values_[species].data() + waves_.first(index), waves_.of(index).size()};
  }

private:
  ShortestWaves waves_;
  std::vector<std::vector<double>> values_;
};

/// As periodic_potential() and periodic_local_forces() of reciprocal.hpp.
std::vector<double> skew_potential(const System& system, const Decomposition& decomposition,
                                   const SkewCoefficients& local);
std::vector<Vec3> skew_local_forces(const System& system, const Box& box, const SkewCoefficients& local,
                                    std::span<const double> gradient,
                                    const std::function<void(std::span<double>)>& sum_planes, int part, int parts);

}  // namespace halocline::tddft::detail
