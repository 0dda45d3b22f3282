// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Defect correction: an outer iteration in one space around an inner solver in another.
///
///   r = b - A x;  solve A' e = r approximately in the inner space;  x += e;  repeat.
/// The outer iteration uses only two converters to reach the inner space. The inner space may therefore be less
/// precise, be on another device, or describe a coarser problem. The residual is passed on with unit norm in each
/// column, so that a short exponent range suffices however small the residual is. Each correction reduces the residual
/// by about the inner tolerance, at best by the inner precision (Moler, J. ACM 14 (1967) 316).

#include <cmath>

#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// Solves A x = b to the outer space's precision. Collective.
/// @param inner_space  creates the inner vectors
/// @param inner        callable (inner vector& e, const inner vector& r) -> SolveResult: solves A' e = r from e = 0, to
///                     about options.inner_tolerance; |r| is 1, or 0 in finished columns
/// @param to_inner     callable (inner vector& out, const outer vector& in)
/// @param to_outer     callable (outer vector& out, const inner vector& in)
/// Iterations count those of the inner solver. The history has one entry for each correction. `timings.precondition` is
/// the time of the inner solver.
/// Cost: one outer application for each correction; 3 outer and 2 inner vectors.
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
