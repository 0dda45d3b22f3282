// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Kinetic energy and local potential: the 25-point stencil, with up to 49 points on axes that are not orthogonal.
///
/// Eighth order, four neighbours each way in each axis:
///   d/dx      4/5, -1/5, 4/105, -1/280             (antisymmetric)
///   d2/dx2    -205/72, 8/5, -1/5, 8/315, -1/560    (symmetric)
/// so that
///   (H_local psi)(r) = [v(r) + q^2/2 + 3 c0] psi + sum_axes sum_j [ -l_j/2 (psi+ + psi-) - i q n_j (psi+ - psi-) ]
/// with q = k + A. On axes that are not orthogonal the Laplacian has derivatives along up to three diagonals more
/// (base/directions.hpp), and gradients are Cartesian. Counted as 158 flops for each point and orbital, as in the
/// report on the optimisation of SALMON for Fugaku.

#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/stencil/local_momentum.hpp"

#include <complex>
#include <functional>
#include <memory>
#include <span>

namespace halocline::tddft {

/// out = base_factor base + factor (H - shift) in. With factor -i dt/n and base psi these are the steps of a Taylor
/// series in Horner's form; with real factors those of a Chebyshev recursion. Neither needs a pass of its own.
template <class T>
struct CombinationOf {
  std::complex<double> factor{1.0, 0.0};  ///< purely real or purely imaginary; @throws InvalidArgument otherwise
  double shift = 0;                       ///< [hartree]
  const T* base = nullptr;                ///< shape of `out`, or null
  double base_factor = 1;
};
using Combination = CombinationOf<double>;

/// Fields that add_kinetic() adds to, and fields of add_kinetic_operator().
inline constexpr std::size_t kinetic_sums = 8, kinetic_fields = 7;

/// Members with a type T take blocks in double or in float, of shape (points, lanes_of<T>, 2) each.
class Stencil {
public:
  /// @param transport  as for comm::HaloExchange; used if space is split
  /// Collective over decomposition.space().
  Stencil(const Decomposition& decomposition, const std::string& transport = "auto");
  Stencil(Stencil&&) noexcept;
  ~Stencil();

  /// Starts the halo exchange of one block early, so that the caller can work meanwhile. The next apply(),
  /// apply_with_current() or current() uses it. Until then `in` must not change. Blocks must be used in the order of
  /// begin(). Does nothing if space is not split.
  /// @throws InvalidArgument  two are in progress already
  template <class T>
  void begin(const T* in);

  /// out = base_factor base + factor (H_local - shift) in, for consecutive blocks. If space is split, the halo exchange
  /// of block b + 1 overlaps with the computation of block b, and the interior of a block precedes its faces. In float
  /// the arithmetic is, too.
  /// @param out   shape (blocks, points, lanes, 2); not `in`; may be `what.base`
  /// @param v     shape (points,) [hartree]
  /// @param q     k + A [1/bohr]; axes on which it is zero cost no gradient
  /// @throws InvalidArgument  the same on every rank: a factor neither real nor imaginary, a potential of another
  ///                          length, out equal to in, another block than begin() started
  /// Collective over decomposition.space(). Allocates nothing after the first call with this number of threads.
  template <class T>
  void apply(T* out, const T* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
             const CombinationOf<T>& what = {});

  /// As apply(). Also computes, for each orbital of `in`, sum_r Im(psi* d psi / dx), y and z, over the points of this
  /// process, not multiplied by the volume of a point. This costs little, because the neighbours are loaded anyway.
  /// @param gradient  shape (blocks, lanes, 3), overwritten; the same for any number of threads
  template <class T>
  void apply_with_current(T* out, const T* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
                          const CombinationOf<T>& what, std::span<double> gradient);

  /// The form in which apply_local() takes a momentum that depends on the place.
  /// @param q  shape (3, points) [1/bohr]
  /// @throws InvalidArgument  axes that are not orthogonal, another length
  /// Collective over decomposition.space().  Cost: one halo, and 24 sums a point.
  LocalMomentum local_momentum(std::span<const double> q);
  /// The same, in the memory of one for this box.
  void set_momentum(LocalMomentum& momentum, std::span<const double> q);

  /// As apply(), with the momentum q(r) (local_momentum.hpp): Hermitian for any q, and that of apply() for a uniform
  /// one, up to rounding.
  /// @throws InvalidArgument  as apply(). Collective over decomposition.space().
  void apply_local(double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                   const LocalMomentum& q, const Combination& what = {});

  /// Adds a block's contribution to the current density without the term of A(r): factors (Im(psi* grad psi) + k
  /// |psi|^2). With A n it is the derivative of the kinetic energy of apply_local() with respect to A(r).
  /// @param current  shape (3, points)
  /// @throws InvalidArgument  axes that are not orthogonal, another length
  /// Collective over decomposition.space().  Cost: as current().
  void add_current_density(std::span<double> current, const double* in, std::span<const double, orbital_lanes> factors,
                           const Vec3& k);

  /// Computes `gradient` as above, shape (blocks, lanes, 3), without applying H. Sums over more than a row are in
  /// double.
  /// @param between  called now and then, at least once a block, to drive communication that does not belong to this
  /// Collective over decomposition.space().
  template <class T>
  void current(const T* in, std::int64_t blocks, std::span<double> gradient, const std::function<void()>& between = {});

  /// gradient[axis][r] += sum over the four orbitals of factors[lane] 2 Re conj(psi) dpsi/daxis: the contribution of a
  /// block to the gradient of the density. The orbitals are smoother than their squares, so the stencil's error is
  /// smaller than for the density itself.
  /// @param gradient  shape (3, points)
  /// @param slopes    shape (3, points, 4, 2): those of the block along x, y and z, at the points `kept`; not `in`
  /// @param kept      of each row (y, z) of the box, the points along x whose slopes are stored, e.g. those near atoms
  /// @param current   shape (lanes, 3): the result of current() for this block, at no cost; or empty
  /// @throws InvalidArgument  as apply(), or other lengths
  /// Collective over decomposition.space().  Cost: 72 multiply-adds and sums for each point and orbital, and 16 bytes
  /// of traffic, 48 more where slopes are stored; one halo.
  void add_density_gradient(std::span<double> gradient, double* slopes, const double* in,
                            std::span<const double, orbital_lanes> factors, std::span<const Range> kept,
                            std::span<double> current = {});

  /// Adds the contribution of a block's four orbitals to eight fields: factors |psi|^2, factors |grad psi|^2, and along
  /// x, y and z factors Im(psi* grad psi) and factors 2 Re(psi* grad psi). They give the density, its gradient, and the
  /// kinetic energy density of any boost, which is at least |gradient|^2 / 8 density on any grid.
  /// @param fields  shape (8, points)
  /// @throws InvalidArgument  another length
  /// Collective over decomposition.space().  Cost: as current().
  void add_kinetic(std::span<double> fields, const double* in, std::span<const double, orbital_lanes> factors);

  /// out += factor T in, for one block, with the operator of a meta-GGA
  ///   T = sum_a [ -1/2 G_a t G_a + w_a G_a - G_a w_a ],   G_a = D_a + i p_a.
  /// @param in       not `out`
  /// @param fields   shape (7, points): t, w along x, y and z, and a velocity u; p = q - u [1/bohr]
  /// @param factor   purely real or purely imaginary
  /// @param scratch  memory for four blocks
  /// @throws InvalidArgument  as apply(). Collective over decomposition.space().
  /// Cost: two sweeps' arithmetic, in four sweeps with a halo each, and 18 times the traffic of `in`.
  void add_kinetic_operator(double* out, const double* in, std::span<const double> fields, const Vec3& q,
                            std::complex<double> factor, double* scratch);

  /// The gradients of scalar fields that stand in the place of a block's numbers.
  /// @param out     shape (fields, 3, points), overwritten
  /// @param in      shape (points, 8); field f is number f of each point, the others are not used
  /// @param fields  1 or 2 @throws InvalidArgument  another number, or `out` of another length
  /// Collective over decomposition.space().  Cost: 36 multiply-adds and sums for each point and field; one halo.
  void gradient(std::span<double> out, const double* in, int fields);

  /// The divergences of vector fields that stand in the place of a block's numbers, by the same derivative: minus the
  /// adjoint of gradient().
  /// @param out     shape (fields, points), overwritten
  /// @param in      shape (points, 8); component a of field f is number 3 f + a of each point
  /// @param fields  1 or 2 @throws InvalidArgument  another number, or `out` of another length
  /// Collective over decomposition.space().  Cost: as gradient().
  void divergence(std::span<double> out, const double* in, int fields);

  /// Largest eigenvalue of the kinetic part for this q (v = 0), from the symbol of the stencil [hartree]. On axes that
  /// are not orthogonal it is the largest of 16 angles an axis in all combinations, which may be slightly too small.
  static double largest_kinetic(const Grid& grid, const Vec3& q);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// density[r] += sum over the orbitals of factors[lane] |psi|^2, in double. @param block shape (points, lanes, 2)
/// @param factors  shape (lanes,)
template <class T>
void add_density(std::span<double> density, const T* block, std::span<const double> factors);

namespace reference {
/// The same as Stencil::apply on one process, in plain loops with indices taken modulo the extent (periodic) or tested
/// against it (isolated). The reference for tests of Stencil.
void apply(const Grid& grid, double* out, const double* in, std::int64_t blocks, std::span<const double> v,
           const Vec3& q, const Combination& what = {});
/// The same as Stencil::apply_local. @param q  shape (3, points of the grid)
void apply_local(const Grid& grid, double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                 std::span<const double> q, const Combination& what = {});
void current(const Grid& grid, const double* in, std::int64_t blocks, std::span<double> gradient);
void slopes(const Grid& grid, double* out, const double* in);
void add_kinetic_operator(const Grid& grid, double* out, const double* in, std::span<const double> fields,
                          const Vec3& q, std::complex<double> factor);
}  // namespace reference

}  // namespace halocline::tddft
