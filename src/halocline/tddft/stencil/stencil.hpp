// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Kinetic energy and local potential: the 25-point stencil.
///
/// Eighth order, four neighbours each way in each axis:
///   d/dx      4/5, -1/5, 4/105, -1/280             (antisymmetric)
///   d2/dx2    -205/72, 8/5, -1/5, 8/315, -1/560    (symmetric)
/// so that  (H_local psi)(r) = [v(r) + q^2/2 + 3 c0] psi + sum_axes sum_j [ -l_j/2 (psi+ + psi-) - i q n_j (psi+ -
/// psi-) ] with q = k + A. Counted as 158 flops a point and orbital (papers/003).

#include "halocline/tddft/orbitals.hpp"

#include <complex>
#include <memory>
#include <span>

namespace halocline::tddft {

/// out = base_factor base + factor (H - shift) in. With factor -i dt/n and base psi these are the steps of a Taylor
/// series in Horner's form, with real factors those of a Chebyshev recursion: neither needs a pass of its own.
struct Combination {
  std::complex<double> factor{1.0, 0.0};  ///< purely real or purely imaginary; @throws InvalidArgument otherwise
  double shift = 0;                       ///< [hartree]
  const double* base = nullptr;           ///< shape of `out`, or null
  double base_factor = 1;
};

class Stencil {
public:
  /// @param transport  as for comm::HaloExchange; used where space is split
  /// Collective over decomposition.space().
  Stencil(const Decomposition& decomposition, const std::string& transport = "auto");
  Stencil(Stencil&&) noexcept;
  ~Stencil();

  /// out = base_factor base + factor (H_local - shift) in for consecutive blocks. Where space is split, the halo of
  /// block b + 1 travels while block b is computed, and the interior of a block before its faces.
  /// @param out   shape (blocks, points, 4, 2); not `in`; may be `what.base`
  /// @param v     shape (points,) [hartree]
  /// @param q     k + A [1/bohr]
  /// Collective over decomposition.space().
  void apply(double* out, const double* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
             const Combination& what = {});

  /// The same, and of `in` what its neighbours, which pass by anyway, tell for little: for each orbital
  /// sum_r Im(psi* d psi / d axis) over the points of this process, not multiplied by the volume of a point.
  /// @param gradient  shape (blocks, 4, 3), overwritten
  void apply_with_current(double* out, const double* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
                          const Combination& what, std::span<double> gradient);

  /// gradient[..] as above without applying anything. Collective over decomposition.space().
  void current(const double* in, std::int64_t blocks, std::span<double> gradient);

  /// Largest eigenvalue of the kinetic part for this q (v = 0), from the symbol of the stencil [hartree].
  static double largest_kinetic(const Grid& grid, const Vec3& q);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// density[r] += sum over the four orbitals of factors[lane] |psi|^2. @param block shape (points, 4, 2)
void add_density(std::span<double> density, const double* block, std::span<const double, orbital_lanes> factors);

namespace reference {
/// The same as Stencil::apply on one process, in plain loops with indices taken modulo the extent (periodic) or tested
/// against it (isolated). The oracle of the fast one.
void apply(const Grid& grid, double* out, const double* in, std::int64_t blocks, std::span<const double> v,
           const Vec3& q, const Combination& what = {});
void current(const Grid& grid, const double* in, std::int64_t blocks, std::span<double> gradient);
}  // namespace reference

}  // namespace halocline::tddft
