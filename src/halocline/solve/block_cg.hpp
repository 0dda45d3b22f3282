// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Block conjugate gradients: all columns of a batch are solved from one Krylov space that they build together.
///
/// The method BCGrQ of Dubrulle, ETNA 12 (2001) 216, as in Clark et al., arXiv:1710.09745. O'Leary's block
/// conjugate gradients (Linear Algebra Appl. 29 (1980) 293) become unstable when the residuals approach each other.
/// Therefore the residual is kept as r = q c, with orthonormal columns q and a small matrix c:
///   alpha = (p^dagger A p)^-1,  x += p alpha c,  q' s = q - A p alpha,  c' = s c,  p' = q' + p s^dagger,
/// where q' s is a factorization into orthonormal columns (orthonormal_columns.hpp), and p = q in the beginning. The
/// norms of the residuals are those of the columns of c.
///
/// Why: k columns converge with the condition number that the operator has without its k - 1 smallest eigenvalues
/// (O'Leary's convergence theorem), so a few tiny eigenvalues cost little. The price is linear algebra that grows with
/// the square of k.
///
/// A column that has converged is no longer updated, but its directions still serve the others. The factorization drops
/// directions that are rounding error. So right-hand sides may depend on each other, be equal or zero, and the block
/// shrinks when a combination of columns converges before the others. A breakdown ends the cycle of all columns, and
/// the recursion starts again from the true residual of the columns that still need work. Unlike in other solvers, the
/// bits of a column depend on its neighbours.

#include "halocline/solve/detail/orthonormal_columns.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp, in a BlockVectorSpace. `options.replacement` is not used.
template <class Problem>
SolveResult block_cg_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto q = space.create(), p = space.create(), t = space.create();

  std::vector<double> true_norms2 = problem.start(x, q, options.use_initial_guess);
  while (monitor.begin_cycle(true_norms2)) {
    auto [c, rank] = detail::begin_block(space, monitor, q, t);
    space.copy(p, q);
    while (monitor.running()) {
      problem.apply(t, p);
      const detail::BlockMatrix curvature = detail::gram(space, p, t);
      const auto alpha = detail::inverse_of_positive(curvature, rank);
      if (!alpha) {
        detail::pause_all(monitor, columns, finite(curvature) ? Reason::breakdown : Reason::not_finite);
        break;
      }
      space.multiply_add(x, p, (*alpha * c).entries());
      space.multiply_add(q, t, (-1.0 * *alpha).entries());
      const detail::OrthonormalColumns next = detail::orthonormalise(space, q, t);
      c = next.factor * c;
      rank = next.rank;
      monitor.step(column_norms2(c));
      if (!monitor.running()) break;
      detail::keep_active(c, monitor);
      detail::multiply_and_add(space, p, adjoint(next.factor), q, t);
    }
    true_norms2 = problem.replace_residual(x, q);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b. Collective.
/// @param a  hermitian positive, the same operator in every column
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// Cost: one application in each iteration, and one to verify; 4 work vectors. For k columns, the linear algebra of an
/// iteration is five to seven products with k x k matrices, of 8 k^2 flops a row.
template <BlockVectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult block_cg(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                     const SolveOptions& options = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  return block_cg_on(problem, x, options);
}

}  // namespace halocline::solve
