// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A momentum q(r) = k + A(r) that depends on the place, in the form in which the stencil takes it.
///
/// On a grid D_a is antisymmetric, and the kinetic energy
///   1/2 sum_a (-i D_a + q_a)^2 = -laplacian/2 + q^2/2 - i/2 sum_a (q_a D_a + D_a q_a)
/// is Hermitian for any q. With the weights n_j of D_a the last term is
///   -i sum_a sum_j [ s_aj(r) psi(r + j) - s_aj(r - j) psi(r - j) ],   s_aj(r) = n_j / h_a (q_a(r) + q_a(r + j)) / 2,
/// so that a link between two points has one number. A point keeps the twelve numbers of its links upwards; those of
/// its links downwards are kept by its neighbours. So a point costs four multiply-adds a pair of neighbours, as with a
/// uniform momentum, and 96 bytes of traffic more. The links along each axis are an array of their own: those of the
/// four planes before a plane, which its points need, are then 128 bytes a point in the cache, not 384.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/stencil/halo_rows.hpp"

#include <array>
#include <span>
#include <vector>

namespace halocline::tddft {

inline constexpr std::int64_t links_per_axis = 4;  ///< of a point: number distance - 1

class LocalMomentum {
public:
  LocalMomentum(const Grid& grid, const Box& box);

  /// @param block, near  numbers whose first three at each point are q along x, y and z, and their neighbours
  void set(const double* block, const Neighbourhood& near);

  /// The same with k added everywhere. Cost: 12 sums a point.
  void add(const Vec3& k);

  /// Links along x of the point x = 0 of a row, with those of the four points before it; and the distances to the links
  /// of the next row along y and z, and to those along the next axis [doubles].
  const double* links(std::int64_t y, std::int64_t z) const noexcept {
    return links_.data() + start_ + y * y_ + z * z_;
  }
  std::int64_t step_y() const noexcept { return y_; }
  std::int64_t step_z() const noexcept { return z_; }
  std::int64_t step_axis() const noexcept { return axis_; }
  /// q^2/2 at each point of the box [hartree].
  const std::vector<double>& energies() const noexcept { return energies_; }
  /// q, shape (3, points).
  const std::vector<double>& momenta() const noexcept { return momenta_; }

private:
  void fill_energies();

  Box box_;
  Vec3 spacing_{};
  std::int64_t y_ = 0, z_ = 0, axis_ = 0, start_ = 0;
  core::AlignedArray<double> links_;  ///< shape (3, z, y, x, 4), with four points before the box along each axis
  std::vector<double> energies_, momenta_;
};

}  // namespace halocline::tddft
