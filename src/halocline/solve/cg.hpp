// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conjugate gradients for a hermitian positive operator.
///
/// Hestenes and Stiefel, J. Res. Nat. Bur. Stand. 49 (1952) 409, eqs. (3:1a-f):
///   alpha = |r|^2 / <p, A p>,  x += alpha p,  r -= alpha A p,  beta = |r'|^2 / |r|^2,  p = r' + beta p.
/// The update of x is delayed to the update of p, because both read p. So an iteration makes three passes besides the
/// operator, and reads and writes 10 vectors. A non-positive <p, A p> is a breakdown: the operator is not positive.

#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp. `spent` counts iterations of an earlier phase against the
/// limit.
template <class Problem>
SolveResult cg_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options,
                  std::span<const int> spent = {}) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2(), spent);
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), p = space.create(), q = space.create();
  Scalars alpha(columns), minus_alpha(columns), beta(columns);

  std::vector<double> rho = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(rho)) {
    rho = detail::enter_cycle(problem, r, std::move(rho));
    space.copy(p, r);
    while (monitor.running()) {
      const auto curvature = detail::apply_and_reduce(problem, q, p, {{&p, &q}});
      const std::span<const Scalar> pq = curvature.wait();
      for (std::size_t c = 0; c < columns; ++c) {
        if (pq[c].real() <= 0.0) monitor.pause(c, Reason::breakdown);
        alpha[c] = monitor.quotient(c, rho[c], pq[c].real());
        minus_alpha[c] = -alpha[c];
      }
      const auto pending = update_and_reduce(space, {add(r, minus_alpha, q)}, {{&r, &r}});
      std::vector<double> norms2 = detail::real_parts(pending.wait());
      monitor.step(pending.wait());
      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        update(space, {add(x, alpha, p)});
        const std::vector<double> exact = problem.replace_residual(x, r, mask);
        monitor.replaced(mask, exact);
        for (std::size_t c = 0; c < columns; ++c) {
          if (mask[c] != 0.0) norms2[c] = exact[c];
          alpha[c] = 0.0;
        }
      }
      for (std::size_t c = 0; c < columns; ++c) beta[c] = monitor.active(c) ? norms2[c] / rho[c] : 0.0;
      rho = std::move(norms2);
      update(space, {add(x, alpha, p), scale_add(p, beta, {}, r)});
    }
    rho = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b. Collective.
/// @param a  hermitian positive
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// Cost: one application in each iteration, and one to verify; 4 work vectors.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult cg(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
               const SolveOptions& options = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  return cg_on(problem, x, options);
}

}  // namespace halocline::solve
