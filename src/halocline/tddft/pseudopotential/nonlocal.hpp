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

#include "halocline/tddft/orbitals.hpp"

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace halocline::tddft {

class Nonlocal {
public:
  /// Collective over decomposition.space().
  Nonlocal(const System& system, const Decomposition& decomposition);
  Nonlocal(Nonlocal&&) noexcept;
  ~Nonlocal();

  /// Nothing to do: no atom has projectors.
  bool empty() const noexcept;
  /// Phases exp(i q r) for each local channel. @param q  shape (local channels,) [1/bohr]
  void set_phases(std::span<const Vec3> q);

  /// What apply() does, in two halves, so that the caller can compute between them.
  /// begin(): projections of `in` are summed here and their journey begins. At most one is under way.
  void begin(std::int64_t channel, const double* in, std::int64_t blocks);
  /// finish(): out += factor V_nl in, at the points near atoms.
  void finish(double* out, std::complex<double> factor);
  void apply(std::int64_t channel, double* out, const double* in, std::int64_t blocks,
             std::complex<double> factor = 1.0);

  /// For each orbital <psi|V_nl|psi>. @param energy  shape (blocks, 4), overwritten; the same on all ranks of space()
  void energy(std::int64_t channel, const double* in, std::int64_t blocks, std::span<double> energy);
  /// For each orbital Re <psi| i [V_nl, r_axis] |psi>, the nonlocal part of the velocity.
  /// @param velocity  shape (blocks, 4, 3), overwritten; the same on all ranks of space()
  void velocity(std::int64_t channel, const double* in, std::int64_t blocks, std::span<double> velocity);
  /// force[a] += - sum over orbitals factors[b, lane] d<psi|V_nl|psi>/dR_a. @param force  shape (atoms,); the same on
  /// all ranks of space()
  void add_forces(std::int64_t channel, const double* in, std::int64_t blocks, std::span<const double> factors,
                  std::span<Vec3> force);

private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace reference {
/// out += V_nl in on one process, one projector, image and orbital at a time. The oracle.
void apply_nonlocal(const System& system, double* out, const double* in, std::int64_t blocks, const Vec3& q);
}  // namespace reference

}  // namespace halocline::tddft
