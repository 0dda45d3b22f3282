// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Observables of a propagation: current, dipole, number of electrons, excited electrons.
///
/// The particle current density of the electrons (without their charge -1), averaged over the cell of volume V:
///   J = 1/V sum_{k i} w_k f_ki [ integral Im(u* grad u) + (k + A) integral |u|^2 + Re <u| i [V_nonlocal, r] |u> ]
/// The gradient is that of the stencil. So J is the derivative of the discrete energy with respect to A, up to the
/// order of the stencil.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Adds up the current block by block, while a block is in the cache. Every process adds the contribution of its
/// points; sums over processes wait until all blocks of a step are done.
class CurrentSum {
public:
  explicit CurrentSum(Model& model) : model_(&model) {}

  void clear() noexcept { sum_ = {}; }
  /// Adds the terms that need single orbitals: gradient and nonlocal velocity, with the Hamiltonian's present phases.
  /// @param blocks   number of blocks, starting at `psi` of shape (blocks, points, 4, 2)
  /// @param weights  shape (blocks, 4): occupation times weight of the k-point
  /// Collective over decomposition().space().
  void add(std::int64_t channel, const double* psi, std::int64_t blocks, std::span<const double> weights);
  /// Adds (k + A) times the weighted electrons of a channel on the points of this process.
  void add_drift(std::int64_t channel, double electrons);
  /// The contribution of this process. The sum over the world, divided by the volume of the cell, is J [a.u.].
  const Vec3& part() const noexcept { return sum_; }

private:
  Model* model_;
  Vec3 sum_{};
  std::vector<double> scratch_;
};

/// Moments of a density on the box of this process; sums over decomposition.space() are those of the cell.
struct Moments {
  double electrons = 0;  ///< integral of n
  Vec3 dipole{};       ///< integral of n r [bohr], r as Grid::position; zero in a periodic cell, where it is undefined
  double moment = 0;   ///< integral of m = n_up - n_down; 0 with one spin
  Vec3 spin_dipole{};  ///< integral of m r, as dipole
};

/// @param density  shape (spins, points). Collective: no.
Moments moments(const Decomposition& decomposition, std::span<const double> density);

/// Electrons excited from the ground state: sum over orbitals w_k f (1 - sum_i |<ground_i|psi>|^2), where i runs over
/// the states of `ground` that hold electrons. In an isolated box in the velocity gauge the ground state is transformed
/// with A: exp(-i A r) ground. In a periodic cell it is not transformed, so the result is meaningful only where A is
/// zero (again); Propagator::excited() returns it only there.
/// @param a  vector potential of `now`
/// Collective over the world.  Cost: states^2 products of orbitals in each channel; broadcasts the occupied orbitals of
/// `ground` block by block.
double excited_electrons(const Model& model, const State& now, const State& ground, const Vec3& a);

/// psi -> exp(i p r) psi at every point of this process. Collective: no.
void boost(Orbitals& orbitals, const Decomposition& decomposition, const Vec3& p);
/// The same with p of each channel on this process. @param p  shape (channels of this process,)
void boost(Orbitals& orbitals, const Decomposition& decomposition, std::span<const Vec3> p);

}  // namespace halocline::tddft
