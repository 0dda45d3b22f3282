// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The nonlocal part of the pseudopotentials on the grid.
///
///   V_nl psi = sum_a sum_{lm ij} |p_i exp(-i q r)> h_ij <p_j exp(-i q r)| psi>,  q = k + A,
/// where p are real radial functions times real spherical harmonics about atom a (with its periodic images), so that <p
/// exp(-i q r)|psi> = sum_r p(r) exp(i q r) psi(r) dV. Each projection is the product of a real matrix (projectors by
/// points of the sphere) with the phased orbitals at these points, a block at a time. An atom whose sphere
/// extends over several processes has a group of its own, and its sums are non-blocking and overlap with other
/// computation (as in the report on the optimisation of SALMON for Fugaku, section 4.3).

#include "halocline/tddft/base/orbitals.hpp"

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Derivatives of the nonlocal energy with respect to the phases of an atom's points: moments of first and second order
/// in the displacement, x y z and xx yy zz xy xz yz.
using PhaseMoments = std::array<double, 9>;

/// The ranks of space() must call the collective members in the same order, with the same channels and blocks. Members
/// with a type T take blocks in double or in float, of shape (points, lanes_of<T>, 2) each; sums over processes are in
/// double.
class Nonlocal {
public:
  /// @throws InvalidArgument  on every rank: projectors of l > 3, or a coupling that is not symmetric
  /// Collective over decomposition.space().  Cost: 8 bytes for each projector and point of every atom at a different
  /// position relative to the grid; 16 bytes for each point and channel for phases; half of both again once orbitals in
  /// float were given; one communicator split for each layer of disjoint sets of ranks.
  Nonlocal(const System& system, const Decomposition& decomposition);
  Nonlocal(Nonlocal&&) noexcept;
  ~Nonlocal();

  /// Computes the projectors anew, for the positions of `system`; everything else of it must be as at the construction.
  /// Phases are those of q = 0 until set_phases(). Do not call between begin() and finish().
  /// Collective over decomposition.space(). Splits communicators only for sets of ranks that did not share an atom
  /// before.
  void move(const System& system, const Decomposition& decomposition);

  /// Whether no atom of the whole system has projectors.
  bool empty() const noexcept;
  /// Sets the phases exp(i q r) for each local channel; before the first call q = 0. Channels whose q is unchanged are
  /// skipped, and q = 0 needs no phases. Do not call between begin() and finish().
  /// @param q  shape (local channels,) [1/bohr]
  /// Collective: no.  Cost: two complex products for each point near atoms and channel; a few per cent of one
  /// application.
  void set_phases(std::span<const Vec3> q);

  /// Sets the phases exp(i (k r + integral of A from the atom along a straight line)) for each local channel and atom,
  /// for a vector potential A(r) that depends on the place. Around each atom A is taken as the linear function that
  /// fits it best, with the weight (1 - r^2/R^2)^2, so that the phase is k d + A d + d (grad A) d / 2 at the
  /// displacement d. A uniform magnetic field has no part in it, and A = grad chi with a quadratic chi is exact. Until
  /// the next set_phases().
  /// @param k  shape (local channels,) [1/bohr]
  /// @param a  shape (3, points of the box) [1/bohr]
  /// Collective over space().  Cost: 16 bytes for each point near an atom and channel; two complex products for each.
  void set_local_phases(std::span<const Vec3> k, std::span<const double> a);
  /// Call after begin(), as finish_velocity(). Adds the contributions of the orbitals and of this process's points.
  /// @param weights  shape (blocks, 4): occupation times weight of the k-point
  /// @param moments  shape (atoms,)
  void add_phase_moments(std::span<const double> weights, std::span<PhaseMoments> moments);
  /// Adds the current density of the nonlocal part: its energy's derivative with respect to A(r), with the phases of
  /// set_local_phases().
  /// @param current  shape (3, points of the box) [1/bohr^2, hartree]
  /// @param moments  shape (atoms,): sums over the world
  /// Collective: no.
  void add_current_density(std::span<double> current, std::span<const PhaseMoments> moments) const;

  /// begin() and finish() are the two halves of apply(), so that the caller can compute between them. begin() computes
  /// the projections of `in` and starts their sums over processes. At most one may be in progress.
  /// @param in  shape (blocks, points, lanes, 2), not needed any more when begin() returns
  template <class T>
  void begin(std::int64_t channel, const T* in, std::int64_t blocks);
  /// out += factor V_nl in, at the points near atoms. @param out  shape of `in`; may be `in`
  template <class T>
  void finish(T* out, std::complex<double> factor);
  /// Collective over space() if processes share atoms, as begin() and finish() are.
  template <class T>
  void apply(std::int64_t channel, T* out, const T* in, std::int64_t blocks, std::complex<double> factor = 1.0);

  /// For each orbital <psi|V_nl|psi> [hartree for psi of norm 1].
  /// @param energy  shape (blocks, 4), overwritten; the same on all ranks of space()
  /// Collective over space().  Cost: half of an application.
  void energy(std::int64_t channel, const double* in, std::int64_t blocks, std::span<double> energy);
  /// Call after begin(), whose `in` must still exist. For each orbital, gives the contribution of this process to Re
  /// <psi| i [V_nl, r_axis] |psi>, the nonlocal part of the velocity, which is the derivative of <psi|V_nl|psi> with
  /// respect to q. The caller sums over space(), since it needs that sum once for many orbitals.
  /// @param velocity  shape (blocks, lanes, 3), overwritten
  /// @param turning   empty, or of the same shape, overwritten: the sum over atoms of R_a x (the part of atom a), by
  ///                  which the nonlocal part enters the magnetic moment of an isolated system (Pickard and Mauri,
  ///                  Phys. Rev. Lett. 91, 196401, 2003)
  /// Collective as finish() is.  Cost: with begin() about that of an application.
  template <class T>
  void finish_velocity(std::span<double> velocity, std::span<double> turning = {});
  /// Of each row (y, z) of the box, the range of points along x that holds all points near atoms.
  std::span<const Range> near_rows() const noexcept;
  /// force[a] += - sum over four orbitals factors[lane] d<psi|V_nl|psi>/dR_a [hartree/bohr], with the derivative taken
  /// from the orbitals.
  /// @param in       shape (points, 4, 2): a block of orbitals
  /// @param slopes   shape (3, points, 4, 2): its slopes along x, y and z (Stencil::add_density_gradient), of which
  ///                 only those in near_rows() are read
  /// @param factors  occupation times weight
  /// @param force    shape (atoms,); every process adds its contribution, and the sum over space() is the force
  /// Collective over space().  Cost: two applications, half of them without sums over processes.
  void add_forces(std::int64_t channel, const double* in, const double* slopes,
                  std::span<const double, orbital_lanes> factors, std::span<Vec3> force);

private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace reference {
/// out += V_nl in on one process, one projector, image and orbital at a time. The reference for tests of Nonlocal.
/// @param in  shape (blocks, all points of the grid, 4, 2)
void apply_nonlocal(const System& system, double* out, const double* in, std::int64_t blocks, const Vec3& q);
}  // namespace reference

}  // namespace halocline::tddft
