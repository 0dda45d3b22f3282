// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Preconditioned conjugate gradients for a hermitian positive operator, flexible: the preconditioner may change a
/// little from call to call.
///
/// With z = M r, q = A p:
///   alpha = <z, r> / <p, q>,  x += alpha p,  r' = r - alpha q,  z' = M r',  beta = -<q, z'> / <p, q>,  p = z' + beta
///   p.
/// This beta makes the new direction conjugate to the last one, whatever M did. As q = (r - r') / alpha, it is the
/// formula of Polak and Ribiere, <z', r' - r> / <z, r>. For a constant M it equals the usual <z', r'> / <z, r>, because
/// <z', r> vanishes (Golub and Ye, SIAM J. Sci. Comput. 21 (1999) 1305; Notay, SIAM J. Sci. Comput. 22 (2000) 1444,
/// with the truncation 1). The formula with q needs no old residual in memory.
///
/// A non-positive <p, q> or <z, r> is a breakdown: the operator or the preconditioner is not positive. The reduction of
/// |r|^2 is read after the preconditioner was applied; the two overlap in a space that returns pending sums.

#include "halocline/solve/cg.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp.
template <class Problem, class M>
SolveResult preconditioned_cg_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), z = space.create(), p = space.create(), q = space.create();
  Scalars alpha(columns), minus_alpha(columns), beta(columns);

  std::vector<double> norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(norms2)) {
    detail::enter_cycle(problem, r, std::move(norms2));
    problem.precondition(m, z, r);
    std::vector<double> rho = detail::real_parts(update_and_reduce(space, {assign(p, {}, z)}, {{&z, &r}}).wait());
    while (monitor.running()) {
      const auto curvature = detail::apply_and_reduce(problem, q, p, {{&p, &q}});
      const std::vector<double> pq = detail::real_parts(curvature.wait());
      for (std::size_t c = 0; c < columns; ++c) {
        if (pq[c] <= 0.0 || rho[c] <= 0.0) monitor.pause(c, Reason::breakdown);
        alpha[c] = monitor.quotient(c, rho[c], pq[c]);
        minus_alpha[c] = -alpha[c];
      }
      const auto pending = update_and_reduce(space, {add(x, alpha, p), add(r, minus_alpha, q)}, {{&r, &r}});
      problem.precondition(m, z, r);
      monitor.step(pending.wait());
      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        monitor.replaced(mask, problem.replace_residual(x, r, mask));
        problem.precondition(m, z, r);
      }
      const auto products = reduce(space, {{&z, &r}, {&q, &z}});
      const std::span<const Scalar> sums = products.wait();
      for (std::size_t c = 0; c < columns; ++c) {
        rho[c] = sums[c].real();
        beta[c] = monitor.quotient(c, -sums[columns + c], pq[c]);
      }
      update(space, {scale_add(p, beta, {}, z)});
    }
    norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b. Collective.
/// @param a  hermitian positive
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @param m  hermitian positive in each call; approximates the inverse of A
/// Cost: one application of A and one of M in each iteration, one of A to verify; 5 work vectors.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult preconditioned_cg(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                              const SolveOptions& options, M& m) {
  LinearProblem<Space, A> problem(space, a, b);
  if constexpr (std::same_as<std::remove_const_t<M>, NoPreconditioner>) {
    return cg_on(problem, x, options);
  } else {
    return preconditioned_cg_on(problem, x, options, m);
  }
}

}  // namespace halocline::solve
