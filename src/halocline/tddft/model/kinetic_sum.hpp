// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Kinetic energy density, gradient of the density and local velocity of the electrons, for functionals that depend on
/// them.
///
/// The gradient is that of the orbitals, 2 Re psi* grad psi. With it no kinetic energy density is below that of a
/// single orbital, |grad n|^2 / 8 n, whatever the grid, as functionals assume.
///
/// Of electrons that flow, the kinetic energy density contains that of the flow, j^2 / 2n. A functional must not see
/// it: a crystal has the same exchange energy whether it moves or rests. So
///   tau~ = 1/2 sum f |(grad + i k - i u) psi|^2 = tau - j^2 / 2n,   u = j / n,
/// takes its place (Dobson, J. Chem. Phys. 98, 8870, 1993; Bates and Furche, J. Chem. Phys. 137, 164105, 2012). It is
/// the least value over all velocities u, so that the operator of the functional has k - u for the momentum and no
/// further term. A uniform vector potential adds to j / n what it adds to k, and drops out. Sums of tau~'s operator
/// over the orbitals push no current: the mean current is that of the ordinary velocity.
///
/// Ground states are taken as currentless, with u = 0. Where k-points are reduced by symmetry, all fields are means of
/// their images.

#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/model/hamiltonian.hpp"

#include <span>
#include <vector>

namespace halocline::tddft {

struct KineticFields {
  std::vector<double> density;   ///< kinetic energy density, shape (spins, points) [hartree/bohr^3]
  std::vector<double> gradient;  ///< of the density, shape (spins, 3, points) [1/bohr^4]
  std::vector<double> velocity;  ///< of electrons that flow, shape (spins, 3, points) [a.u.]; empty in a ground state
};

class KineticSum {
public:
  KineticSum(const Decomposition& decomposition, const System& system);

  void clear();
  /// Adds consecutive blocks of a channel. @param weights  occupation times weight, shape (blocks, 4)
  /// Collective over decomposition.space().
  void add(Hamiltonian& hamiltonian, const double* psi, std::int64_t blocks, std::span<const double> weights);
  /// Ends a channel, whose orbitals have this k.
  void finish_channel(int spin, const Vec3& k);
  /// Sums over processes with the same box, and fills the fields. Without `flowing` there is no flow to subtract.
  /// Collective over decomposition.box_mates(), and with symmetries over decomposition.space().
  void finish(KineticFields& fields, bool flowing);

private:
  Decomposition decomposition_;
  std::vector<Symmetry> symmetries_;
  std::size_t points_;
  int spins_;
  std::vector<double> of_channel_;  ///< shape (8, points): see Stencil::add_kinetic()
  std::vector<double> sums_;        ///< shape (spins, 8, points): n, tau, j, grad n
};

}  // namespace halocline::tddft
