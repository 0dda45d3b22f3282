// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The nonlocal part of the pseudopotentials on the grid.
///
///   V_nl psi = sum_a sum_{lm ij} |p_i exp(-i q r)> h_ij <p_j exp(-i q r)| psi>,  q = k + A,
/// where p are real radial functions times real spherical harmonics about atom a (with its periodic images), so that
/// <p exp(-i q r)|psi> = sum_r p(r) exp(i q r) psi(r) dV. Each projection is a product of a real matrix (projectors by
/// points of the sphere) and the phased orbitals at these points, four at a time. An atom whose sphere lies in several
/// processes has a group of its own, and its sums travel without blocking while others are computed (papers/003, 4.3).

#include "halocline/tddft/base/orbitals.hpp"

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Ranks of space() call the collective members in the same order, with the same channels and blocks.
class Nonlocal {
public:
  /// @throws InvalidArgument  on every rank: projectors of l > 3, or a coupling that is not symmetric
  /// Collective over decomposition.space().  Cost: 8 bytes a projector and point of every atom that stands differently
  /// between the grid points; 16 bytes a point and channel for phases; one split a layer of disjoint sets of ranks.
  Nonlocal(const System& system, const Decomposition& decomposition);
  Nonlocal(Nonlocal&&) noexcept;
  ~Nonlocal();

  /// Nothing to do: no atom of the whole system has projectors.
  bool empty() const noexcept;
  /// Phases exp(i q r) for each local channel; until the first call q = 0. Channels whose q stays are left alone, and
  /// q = 0 has no phases to multiply with. Not between begin() and finish().
  /// @param q  shape (local channels,) [1/bohr]
  /// Collective: no.  Cost: two complex products a point near atoms and channel; a few per cent of one application.
  void set_phases(std::span<const Vec3> q);

  /// What apply() does, in two halves, so that the caller can compute between them.
  /// begin(): projections of `in` are summed here and their journey begins. At most one is under way.
  /// @param in  shape (blocks, points, 4, 2), not needed any more when begin() returns
  void begin(std::int64_t channel, const double* in, std::int64_t blocks);
  /// finish(): out += factor V_nl in, at the points near atoms. @param out  shape of `in`; may be `in`
  void finish(double* out, std::complex<double> factor);
  /// Collective over space(), as begin() and finish() are where atoms are shared.
  void apply(std::int64_t channel, double* out, const double* in, std::int64_t blocks,
             std::complex<double> factor = 1.0);

  /// For each orbital <psi|V_nl|psi> [hartree for psi of norm 1].
  /// @param energy  shape (blocks, 4), overwritten; the same on all ranks of space()
  /// Collective over space().  Cost: half of an application.
  void energy(std::int64_t channel, const double* in, std::int64_t blocks, std::span<double> energy);
  /// After begin(), whose `in` must still be there: for each orbital the part of this process in
  /// Re <psi| i [V_nl, r_axis] |psi>, the nonlocal part of the velocity: the derivative of <psi|V_nl|psi> with respect
  /// to q. The sum over space() is the whole, and is the caller's: of many orbitals it is needed once.
  /// @param velocity  shape (blocks, 4, 3), overwritten
  /// Collective as finish() is.  Cost: with begin() about that of an application.
  void finish_velocity(std::span<double> velocity);
  /// force[a] += - sum over four orbitals factors[lane] d<psi|V_nl|psi>/dR_a [hartree/bohr], with the derivative taken
  /// from the orbitals.
  /// @param in       shape (4, points, 4, 2): a block of orbitals and its slopes along x, y and z (Stencil::slopes)
  /// @param factors  occupation times weight
  /// @param force    shape (atoms,); every process adds its part, and the sum over space() is the force
  /// Collective over space().  Cost: two applications.
  void add_forces(std::int64_t channel, const double* in, std::span<const double, orbital_lanes> factors,
                  std::span<Vec3> force);

private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace reference {
/// out += V_nl in on one process, one projector, image and orbital at a time. The oracle.
/// @param in  shape (blocks, all points of the grid, 4, 2)
void apply_nonlocal(const System& system, double* out, const double* in, std::int64_t blocks, const Vec3& q);
}  // namespace reference

}  // namespace halocline::tddft
