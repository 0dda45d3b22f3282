// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conjugate gradients on the normal equations D^dagger D x = D^dagger b; convergence is judged by the residual of D x
/// = b.
///
/// The least-squares form of Hestenes and Stiefel (1952), sec. 10 (CGNR in Saad, Iterative Methods for Sparse Linear
/// Systems, 2nd ed., alg. 8.4). The recursion carries r = b - D x itself, and s = D^dagger r beside it. So the residual
/// costs nothing, and the condition number does not amplify its error:
///   q = D p, alpha = |s|^2 / |q|^2, x += alpha p, r -= alpha q, s = D^dagger r, beta = |s'|^2 / |s|^2, p = s + beta p.

#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp that has apply_dagger(). After a replacement of the residual,
/// s is recomputed from it and the search direction is kept.
template <class Problem>
SolveResult cg_normal_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), s = space.create(), p = space.create(), q = space.create();
  Scalars alpha(columns), minus_alpha(columns), beta(columns);

  std::vector<double> true_norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(true_norms2)) {
    detail::enter_cycle(problem, r, std::move(true_norms2));
    problem.apply_dagger(s, r);
    std::vector<double> gamma = detail::real_parts(update_and_reduce(space, {assign(p, {}, s)}, {{&s, &s}}).wait());
    while (monitor.running()) {
      const auto curvature = detail::apply_and_reduce(problem, q, p, {{&q, &q}});
      const std::span<const Scalar> qq = curvature.wait();
      for (std::size_t c = 0; c < columns; ++c) {
        alpha[c] = monitor.quotient(c, gamma[c], qq[c].real());
        minus_alpha[c] = -alpha[c];
      }
      const auto residual = update_and_reduce(space, {add(r, minus_alpha, q)}, {{&r, &r}});
      // This operator application overlaps with the reduction of |r|^2.
      const auto gradient = detail::apply_dagger_and_reduce(problem, s, r, {{&s, &s}});
      monitor.step(residual.wait());
      std::vector<double> next = detail::real_parts(gradient.wait());
      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        update(space, {add(x, alpha, p)});
        monitor.replaced(mask, problem.replace_residual(x, r, mask));
        const auto exact = detail::apply_dagger_and_reduce(problem, s, r, {{&s, &s}});
        for (std::size_t c = 0; c < columns; ++c) {
          if (mask[c] != 0.0) next[c] = exact.wait()[c].real();
          alpha[c] = 0.0;
        }
      }
      for (std::size_t c = 0; c < columns; ++c) beta[c] = monitor.quotient(c, next[c], gamma[c]);
      gamma = next;
      update(space, {add(x, alpha, p), scale_add(p, beta, {}, s)});
    }
    true_norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves D x = b for any invertible D with an adjoint. Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// Cost: D and D^dagger once in each iteration; 5 work vectors.
template <VectorSpace Space, class D>
  requires AdjointOperatorOn<D, Space>
SolveResult cg_normal(Space& space, D& d, typename Space::Vector& x, const typename Space::Vector& b,
                      const SolveOptions& options = {}) {
  LinearProblem<Space, D> problem(space, d, b);
  return cg_normal_on(problem, x, options);
}

}  // namespace halocline::solve
