// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Observables of a propagation: current, dipole, number of electrons.
///
/// The particle current density of the electrons (without their charge -1), averaged over the cell of volume V:
///   J = 1/V sum_{k i} w_k f_ki [ integral Im(u* grad u) + (k + A) integral |u|^2 + Re <u| i [V_nonlocal, r] |u> ]
/// The gradient is that of the stencil. So J is the derivative of the discrete energy with respect to A, up to the
/// order of the stencil.
///
/// The angular momentum of the electrons of an isolated system about the middle of its box, which makes their magnetic
/// moment -L / 2c:
///   L = sum_i f_i [ integral r x Im(psi* grad psi) + sum_a R_a x Re <psi| i [V_nonlocal,a, r] |psi> ] + (integral n r)
///   x
///   A
/// Within an atom the projectors act as all electrons of the core do, so that only the place R_a of the atom counts
/// (Pickard and Mauri, Phys. Rev. Lett. 91, 196401, 2003).

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Adds up the current block by block, while a block is in the cache. Every process adds the contribution of its
/// points; sums over processes wait until all blocks of a step are done.
class CurrentSum {
public:
  /// @param turning  also sum the angular momentum; isolated boxes only
  CurrentSum(Model& model, bool turning) : model_(&model), turning_(turning) {}

  void clear() noexcept { sum_ = spin_ = turn_ = {}; }
  /// Adds the terms that need single orbitals: gradient and nonlocal velocity, with the Hamiltonian's present phases.
  /// @param blocks   number of blocks, starting at `psi` of shape (blocks, points, lanes, 2), in double or float
  /// @param weights  shape (blocks, lanes): occupation times weight of the k-point
  /// @param between  called now and then, to drive other communication
  /// Collective over decomposition().space().
  template <class T>
  void add(std::int64_t channel, const T* psi, std::int64_t blocks, std::span<const double> weights,
           const std::function<void()>& between = {});
  /// The same for a block whose gradient is known.
  /// @param psi       shape (points, 4, 2)
  /// @param gradient  shape (4, 3): the result of Stencil::current() for this block
  void add_known(std::int64_t channel, const double* psi, std::span<const double> gradient,
                 std::span<const double> weights);
  /// Adds (k + A) times the weighted electrons of a channel on the points of this process.
  void add_drift(std::int64_t channel, double electrons);
  /// The contribution of this process. The sum over the world, divided by the volume of the cell, is J [a.u.].
  const Vec3& part() const noexcept { return sum_; }
  /// The same of electrons of spin up minus those of spin down.
  const Vec3& spin_part() const noexcept { return spin_; }
  /// The contribution of this process to L without the term of A; zero unless `turning`.
  const Vec3& turning_part() const noexcept { return turn_; }

private:
  void collect(std::int64_t channel, std::span<const double> values, std::span<const double> weights, double factor);
  template <class T>
  void finish_nonlocal(std::int64_t channel, std::span<const double> weights);
  void add_turning(const double* psi, std::span<const double> weights);

  Model* model_;
  bool turning_;
  Vec3 sum_{}, spin_{}, turn_{};
  std::vector<double> of_orbitals_, turned_, slopes_;
  core::AlignedArray<double> converted_;  ///< a block in double, for those in float
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

/// psi -> exp(i p r) psi at every point of this process. Collective: no.
void boost(Orbitals& orbitals, const Decomposition& decomposition, const Vec3& p);
/// The same with p of each channel on this process. @param p  shape (channels of this process,)
void boost(Orbitals& orbitals, const Decomposition& decomposition, std::span<const Vec3> p);

}  // namespace halocline::tddft
