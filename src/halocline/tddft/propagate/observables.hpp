// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What is measured of electrons in time: current, dipole, number, excited electrons.
///
/// The current density of the electrons as particles (their charge, -1, is not in it), mean over the cell of volume V:
///   J = 1/V sum_{k i} w_k f_ki [ integral Im(u* grad u) + (k + A) integral |u|^2 + Re <u| i [V_nonlocal, r] |u> ]
/// The gradient is the stencil's, so that J is the derivative of the discrete energy with respect to A up to the order
/// of the stencil.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Adds up the current block by block, while a block is in the cache. Every process adds what is on its points: nothing
/// is summed over processes before all blocks of a step are done.
class CurrentSum {
public:
  explicit CurrentSum(Model& model) : model_(&model) {}

  void clear() noexcept { sum_ = {}; }
  /// The parts that see single orbitals: gradient and nonlocal velocity, with the Hamiltonian's present phases.
  /// @param blocks   how many, from `psi` on, shape (blocks, points, 4, 2)
  /// @param weights  shape (blocks, 4): occupation times weight of the k-point
  /// Collective over decomposition().space().
  void add(std::int64_t channel, const double* psi, std::int64_t blocks, std::span<const double> weights);
  /// (k + A) times the weighted electrons of a channel that are on the points of this process.
  void add_drift(std::int64_t channel, double electrons);
  /// The part of this process; the sum over the world, divided by the volume of the cell, is J [a.u.].
  const Vec3& part() const noexcept { return sum_; }

private:
  Model* model_;
  Vec3 sum_{};
  std::vector<double> scratch_;
};

/// Of a density on the box of this process; sums over decomposition.space() are those of the cell.
struct Moments {
  double electrons = 0;  ///< integral of n
  Vec3 dipole{};  ///< integral of n r [bohr], r as Grid::position; zero in a periodic cell, where it has no meaning
};

/// @param density  shape (spins, points). Collective: no.
Moments moments(const Decomposition& decomposition, std::span<const double> density);

/// Electrons that have left the ground state: sum over orbitals w_k f (1 - sum_i |<ground_i|psi>|^2), i over the states
/// of `ground` that hold any electrons. In an isolated box in the velocity gauge the ground state is taken along,
/// exp(-i A r) ground; in a periodic cell it stands still, so that the result has its meaning where A is zero (again)
/// and nowhere else: Propagator::excited() gives it there alone.
/// @param a  vector potential of `now`
/// Collective over the world.  Cost: states^2 products of orbitals a channel; one set of occupied orbitals a message.
double excited_electrons(const Model& model, const State& now, const State& ground, const Vec3& a);

/// psi -> exp(i p r) psi at every point of this process. Collective: no.
void boost(Orbitals& orbitals, const Decomposition& decomposition, const Vec3& p);

}  // namespace halocline::tddft
