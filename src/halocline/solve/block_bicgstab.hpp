// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Block stabilised bi-conjugate gradients: all columns of a batch are solved from one Krylov space, for any operator,
/// without its adjoint.
///
/// El Guennouni, Jbilou and Sadok, ETNA 16 (2003) 129, with the residual factorized into orthonormal
/// columns in each iteration (BCGStabrQ: Nakamura et al., Comput. Phys. Commun. 183 (2012) 34, arXiv:1104.0737),
/// preconditioned from the right. The residual is r = q c, and all blocks are kept in the basis in which q is
/// orthonormal:
///   v = A M u,  (shadow^dagger v) alpha = z,  s = q - v alpha,  t = A M s,  omega = <t, s> / <t, t>,
///   x += (M u alpha + omega M s) c,  q' d = s - omega t,  c' = d c,  z' = shadow^dagger q',
///   (shadow^dagger v) gamma = z' / omega,  u' = q' + (u - omega v) gamma,
/// with shadow = u = q and z = 1 in the beginning. The scalar products of omega are sums over all columns of the basis.
/// The recursion for u does not need the inverse of d: as shadow^dagger s = 0, the beta of the paper times that inverse
/// is gamma. The block s is stored in q.
///
/// The columns behave as in block_cg.hpp. The recursion starts again with the present q as shadow if the block loses
/// directions, or if z is nearly singular: then some direction of q is orthogonal to the shadow up to rounding errors,
/// and in single precision residuals grew by ten orders of magnitude. As in bicgstab.hpp, a breakdown restarts the
/// recursion from the true residual.

#include <optional>

#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/detail/orthonormal_columns.hpp"

namespace halocline::solve {

namespace detail {
/// A singular value of shadow^dagger q below this multiple of epsilon is rounding error. In trials with matrices of
/// 3072 rows and of 150 rows, 45 was too small for the latter and 1000 cost iterations in the former.
inline constexpr double vanishing_overlap = 150.0;

/// omega of an iteration, from sums over the columns of the basis.
struct Stabilisation {
  Scalar omega;           ///< zero if s vanishes
  bool lost = false;      ///< shadow^dagger v was rounding error, judged by the size of s
  bool vanishes = false;  ///< omega is rounding error
};

/// @param sums  <t, s>, |t|^2 and |s|^2, shape (3, columns)
/// @param z     shadow^dagger q
inline Stabilisation stabilisation(std::span<const Scalar> sums, const BlockMatrix& z, std::size_t rank) {
  const std::size_t columns = z.size();
  const Scalars z2 = column_norms2(z);
  Scalar ts = 0.0;
  double tt = 0.0, ss = 0.0;
  Stabilisation out;
  for (std::size_t j = 0; j < rank; ++j) {
    const double s2 = sums[2 * columns + j].real();
    ts += sums[j];
    tt += sums[columns + j].real();
    ss += s2;
    out.lost = out.lost || lost(std::sqrt(z2[j].real()), 1.0, 1.0, s2);
  }
  out.omega = tt == 0.0 ? 0.0 : ts / tt;
  out.vanishes = std::abs(ts) <= rounding_floor(ss, tt);
  return out;
}
}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp, in a BlockVectorSpace. `options.replacement` is not used.
template <class Problem, class M>
SolveResult block_bicgstab_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m) {
  constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
  using Vector = typename Problem::Vector;
  using detail::BlockMatrix;
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  Vector q = space.create(), shadow = space.create(), u = space.create(), v = space.create(), t = space.create();
  std::optional<Vector> work_u, work_s;
  if constexpr (preconditioned) {
    work_u.emplace(space.create());
    work_s.emplace(space.create());
  }
  const Vector& mu = preconditioned ? *work_u : u;
  const Vector& ms = preconditioned ? *work_s : q;
  const auto break_down = [&](bool is_finite) {
    detail::pause_all(monitor, columns, is_finite ? Reason::breakdown : Reason::not_finite);
  };

  std::vector<double> true_norms2 = problem.start(x, q, options.use_initial_guess);
  while (monitor.begin_cycle(true_norms2)) {
    auto [c, rank] = detail::begin_block(space, monitor, q, t);
    BlockMatrix z = BlockMatrix::identity(columns, rank);
    update(space, {assign(shadow, {}, q), assign(u, {}, q)});
    while (monitor.running()) {
      if constexpr (preconditioned) problem.precondition(m, *work_u, u);
      problem.apply(v, mu);
      const BlockMatrix shadow_v = detail::gram(space, shadow, v);
      const auto alpha = solve_small(shadow_v, z, rank);
      if (!alpha) {
        break_down(finite(shadow_v));
        break;
      }
      space.multiply_add(q, v, (-1.0 * *alpha).entries());  // q is now s

      if constexpr (preconditioned) problem.precondition(m, *work_s, q);
      problem.apply(t, ms);
      const auto pending = reduce(space, {{&t, &q}, {&t, &t}, {&q, &q}});
      const auto [omega, lost, vanishes] = detail::stabilisation(pending.wait(), z, rank);
      if (lost || !std::isfinite(std::abs(omega))) {
        break_down(std::isfinite(std::abs(omega)));
        break;
      }
      space.multiply_add(x, mu, (*alpha * c).entries());
      space.multiply_add(x, ms, (omega * c).entries());
      const Scalars minus_omega(columns, -omega);
      update(space, {add(q, minus_omega, t)});
      const detail::OrthonormalColumns next = detail::orthonormalise(space, q, t);
      c = next.factor * c;
      monitor.step(column_norms2(c));
      if (!monitor.running()) break;
      detail::keep_active(c, monitor);

      z = detail::gram(space, shadow, q);
      // Also if the block has lost directions: z is singular then.
      if (least_singular_value(z, rank) < detail::vanishing_overlap * space.epsilon()) {
        rank = next.rank;
        z = BlockMatrix::identity(columns, rank);
        update(space, {assign(shadow, {}, q), assign(u, {}, q)});
        continue;
      }
      const auto gamma = solve_small(shadow_v, z, rank);
      if (!gamma || vanishes) {
        break_down(finite(z));
        break;
      }
      update(space, {add(u, minus_omega, v)});
      detail::multiply_and_add(space, u, (1.0 / omega) * *gamma, q, t);
    }
    true_norms2 = problem.replace_residual(x, q);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b, preconditioned from the right by M. Collective.
/// @param a  the same operator in every column
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @param m  approximates the inverse of A; linear, and the same in every column and call
/// Cost: two applications of A (and two of M) in each iteration, one of A to verify; 6 work vectors, 8 with M. For k
/// columns, the linear algebra of an iteration is eight to ten products with k x k matrices, of 8 k^2 flops a row.
template <BlockVectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult block_bicgstab(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                           const SolveOptions& options, M& m) {
  LinearProblem<Space, A> problem(space, a, b);
  return block_bicgstab_on(problem, x, options, m);
}

/// As above, without a preconditioner.
template <BlockVectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult block_bicgstab(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                           const SolveOptions& options = {}) {
  const NoPreconditioner none;
  return block_bicgstab(space, a, x, b, options, none);
}

}  // namespace halocline::solve
