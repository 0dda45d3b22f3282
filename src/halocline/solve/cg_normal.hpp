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

#include "halocline/solve/detail/ahead.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

namespace detail {
/// Enqueues one iteration on a device.
template <class Recursion, class Vector>
void enqueue_cg_normal(Recursion& on, Vector& x, Vector& r, Vector& s, Vector& p, Vector& q) {
  using enum StoredCoefficient;
  on.apply(q, p, {{&q, &q}}, StepKind::cg_q_first);
  on.update({add_stored(r, minus_alpha, q)}, {{&r, &r}}, StepKind::cg_r);
  on.apply_dagger(s, r, {{&s, &s}}, StepKind::cg_s_last);
  on.update({add_stored(x, alpha, p), scale_add_stored(p, beta, s)});
}
}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp that has apply_dagger(). After a replacement of the residual,
/// s is recomputed from it and the search direction is kept.
template <class Problem>
SolveResult cg_normal_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options) {
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), s = space.create(), p = space.create(), q = space.create();
  std::vector<RecursionScalars> scalars(columns);
  Scalars alpha(columns), minus_alpha(columns), beta(columns);
  const auto take_gradient = [&](std::span<const Scalar> sums) {
    for (std::size_t c = 0; c < columns; ++c) scalars[c].next = {sums[c].real(), 0.0};
  };
  // An iteration by the host, up to the update of x. Leaves |s|^2 in the scalars.
  const auto iterate = [&] {
    const auto curvature = detail::apply_and_reduce(problem, q, p, {{&q, &q}});
    const std::span<const Scalar> qq = curvature.wait();
    for (std::size_t c = 0; c < columns; ++c) {
      scalars[c].take_q(monitor.track(c), qq[c].real());
      minus_alpha[c] = -scalar(scalars[c].alpha);
    }
    const auto residual = update_and_reduce(space, {add(r, minus_alpha, q)}, {{&r, &r}});
    // This operator application overlaps with the reduction of |r|^2.
    const auto gradient = detail::apply_dagger_and_reduce(problem, s, r, {{&s, &s}});
    monitor.step(residual.wait());
    take_gradient(gradient.wait());
  };

  std::vector<double> true_norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(true_norms2)) {
    detail::enter_cycle(problem, r, std::move(true_norms2));
    problem.apply_dagger(s, r);
    take_gradient(update_and_reduce(space, {assign(p, {}, s)}, {{&s, &s}}).wait());
    detail::Ahead ahead(problem, monitor, scalars, false);
    while (monitor.running()) {
      if (!ahead)
        iterate();
      else if (!ahead.iterate({&x, &r, &s, &p, &q}, [&](auto& on) { detail::enqueue_cg_normal(on, x, r, s, p, q); }))
        continue;

      for (std::size_t c = 0; c < columns; ++c) alpha[c] = scalar(scalars[c].alpha);
      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        update(space, {add(x, alpha, p)});
        monitor.replaced(mask, problem.replace_residual(x, r, mask));
        const auto exact = detail::apply_dagger_and_reduce(problem, s, r, {{&s, &s}});
        for (std::size_t c = 0; c < columns; ++c) {
          if (mask[c] != 0.0) scalars[c].next = {exact.wait()[c].real(), 0.0};
          alpha[c] = 0.0;
        }
      }
      for (std::size_t c = 0; c < columns; ++c) {
        scalars[c].choose_cg_beta(monitor.track(c));
        beta[c] = scalar(scalars[c].beta);
      }
      update(space, {add(x, alpha, p), scale_add(p, beta, {}, s)});
      ahead.resume();
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
