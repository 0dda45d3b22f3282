// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Defect correction: an outer iteration in one space around an inner solver in another.
///
///   r = b - A x;  solve A' e = r roughly, elsewhere;  x += e;  again.
/// The outer part knows the inner space only by two converters, so the inner one may be less precise, live on another
/// device, or be a coarser problem. The residual is handed over with unit norm in each column, which keeps a short
/// exponent range out of trouble at any depth. Each correction gains about the inner tolerance, at most the inner
/// precision (Moler, J. ACM 14 (1967) 316).

#include <cmath>

#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Solves A x = b to the outer space's precision. Collective.
/// @param inner_space  creates the inner vectors
/// @param inner        callable (inner vector& e, const inner vector& r) -> SolveResult: solves A' e = r from e = 0,
///                     to options.inner_tolerance or so; |r| is 1, or 0 in columns that are done
/// @param to_inner     callable (inner vector& out, const outer vector& in)
/// @param to_outer     callable (outer vector& out, const inner vector& in)
/// Iterations count those of the inner solver; history has one entry a correction; `timings.precondition` is its time.
/// Cost: one outer application a correction; 3 outer and 2 inner vectors.
template <VectorSpace Space, class A, class InnerSpace, class Inner, class ToInner, class ToOuter>
  requires OperatorOn<A, Space>
SolveResult defect_correction(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                              InnerSpace& inner_space, Inner&& inner, ToInner&& to_inner, ToOuter&& to_outer,
                              const SolveOptions& options = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  auto r = space.create(), e = space.create();
  auto inner_r = inner_space.create(), inner_e = inner_space.create();
  Scalars norm(columns), inverse(columns);

  std::vector<double> norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(norms2)) {
    for (std::size_t c = 0; c < columns; ++c) {
      norm[c] = monitor.active(c) ? std::sqrt(norms2[c]) : 0.0;
      inverse[c] = monitor.active(c) ? 1.0 / std::sqrt(norms2[c]) : 0.0;
    }
    update(space, {scale(r, inverse)});
    to_inner(inner_r, r);
    SolveResult correction;
    {
      const detail::Stopwatch watch(problem.timings().precondition);
      correction = inner(inner_e, inner_r);
    }
    to_outer(e, inner_e);
    update(space, {add(x, norm, e)});
    norms2 = problem.replace_residual(x, r);
    monitor.correct(correction, norms2);
  }
  return monitor.result(problem.timings());
}

}  // namespace halocline::solve
