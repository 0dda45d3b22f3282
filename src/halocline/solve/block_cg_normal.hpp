// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Block conjugate gradients on the normal equations D^dagger D x = D^dagger b; convergence is judged by the residual
/// of D x = b.
///
/// The method of block_cg.hpp in the least-squares form of cg_normal.hpp. The gradient D^dagger (b - D x) = q c is
/// factorized. A block y carries the residuals that belong to its columns, with q = D^dagger y. So the gradient is
/// computed from a residual in every iteration, and the condition number does not amplify its error:
///   v = D p,  alpha = (v^dagger v)^-1,  x += p alpha c,  r -= v alpha c,
///   y = y - v alpha,  q' s = D^dagger y,  y' = y s^-1,  c' = s c,  p' = q' + p s^dagger.
/// The inverse of s is never formed: y takes part in every step of the factorization.

#include <cmath>

#include "halocline/solve/detail/orthonormal_columns.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp that has apply_dagger(), in a BlockVectorSpace.
/// `options.replacement` is not used.
template <class Problem>
SolveResult block_cg_normal_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), y = space.create(), q = space.create(), p = space.create(), v = space.create();

  const double lost_gradient2 = std::pow(1e-3 * space.epsilon(), 2);

  std::vector<double> true_norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(true_norms2)) {
    problem.apply_dagger(q, r);
    space.copy(y, r);
    auto [c, rank] = detail::begin_block(space, monitor, q, v, &y);
    const Scalars first_gradient2 = column_norms2(c);
    space.copy(p, q);
    while (monitor.running()) {
      problem.apply(v, p);
      const detail::BlockMatrix curvature = detail::gram(space, v, v);
      const auto alpha = detail::inverse_of_positive(curvature, rank);
      if (!alpha) {
        detail::pause_all(monitor, columns, finite(curvature) ? Reason::breakdown : Reason::not_finite);
        break;
      }
      const detail::BlockMatrix step = *alpha * c;
      space.multiply_add(x, p, step.entries());
      space.multiply_add(r, v, (-1.0 * step).entries());
      space.multiply_add(y, v, (-1.0 * *alpha).entries());
      const auto residual = reduce(space, {{&r, &r}});
      problem.apply_dagger(q, y);
      monitor.step(residual.wait());
      if (!monitor.running()) break;

      const detail::OrthonormalColumns next = detail::orthonormalise(space, q, v, &y);
      c = next.factor * c;
      rank = next.rank;
      detail::keep_active(c, monitor);
      const Scalars gradient2 = column_norms2(c);
      // If nothing is left of a gradient, its residual is one that D^dagger does not see, or the two have drifted
      // apart.
      for (std::size_t j = 0; j < columns; ++j)
        if (gradient2[j].real() <= lost_gradient2 * first_gradient2[j].real()) monitor.pause(j, Reason::stagnation);
      detail::multiply_and_add(space, p, adjoint(next.factor), q, v);
    }
    true_norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves D x = b for any invertible D with an adjoint, the same in every column. Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// Cost: D and D^dagger once in each iteration; 6 work vectors. For k columns, the linear algebra of an iteration is
/// seven to ten products with k x k matrices, of 8 k^2 flops a row.
template <BlockVectorSpace Space, class D>
  requires AdjointOperatorOn<D, Space>
SolveResult block_cg_normal(Space& space, D& d, typename Space::Vector& x, const typename Space::Vector& b,
                            const SolveOptions& options = {}) {
  LinearProblem<Space, D> problem(space, d, b);
  return block_cg_normal_on(problem, x, options);
}

}  // namespace halocline::solve
