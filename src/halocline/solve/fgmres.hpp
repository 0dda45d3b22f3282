// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Flexible generalised minimal residuals with restarts.
///
/// Saad, SIAM J. Sci. Comput. 14 (1993) 461, alg. 2.2: with v_0 = r / |r|, step j makes z_j = M v_j, orthogonalises
/// w = A z_j against v_0..v_j into h_ij, and sets v_{j+1} = w / h_{j+1,j}; the cycle ends with x += sum_j y_j z_j,
/// where y minimises | |r| e_1 - H y |. Without a preconditioner z_j equals v_j and is not stored. Unless A is
/// singular, a breakdown occurs only when the solution is reached. With `options.replacement`, a cycle also ends when
/// the residual of a column fell by that factor, so that the next one starts from the true residual.

#include <cmath>

#include "halocline/solve/gcr.hpp"

namespace halocline::solve {

/// Iterates on a linear system in the form of problem.hpp.
template <class Problem, class M>
SolveResult fgmres_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m) {
  constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
  using Vector = typename Problem::Vector;
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  const auto k = static_cast<std::size_t>(options.restart_length);
  Vector r = space.create();
  std::vector<Vector> v, z;
  v.reserve(k + 1);
  z.reserve(k);
  Scalars inverse(columns), norm2(columns);

  std::vector<double> norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(norms2)) {
    norms2 = detail::enter_cycle(problem, r, std::move(norms2));
    std::vector<detail::HessenbergLeastSquares> small;  // one for each column
    for (std::size_t c = 0; c < columns; ++c) {
      small.emplace_back(std::sqrt(norms2[c]));
      inverse[c] = monitor.active(c) ? 1.0 / std::sqrt(norms2[c]) : 0.0;
    }
    if (v.empty()) v.push_back(space.create());
    update(space, {assign(v[0], inverse, r)});
    std::vector<const Vector*> v_basis{&v[0]}, z_basis;
    for (std::size_t j = 0; j < k && monitor.running() && !monitor.wants_replacement(); ++j) {
      if (v.size() == j + 1) v.push_back(space.create());
      if constexpr (preconditioned) {
        if (z.size() == j) z.push_back(space.create());
        problem.precondition(m, z[j], v[j]);
      }
      const Vector& direction = preconditioned ? z[j] : v[j];
      problem.apply(v[j + 1], direction);
      const auto ortho = detail::orthogonalise(space, std::span<const Vector* const>(v_basis), {}, v[j + 1]);
      for (std::size_t c = 0; c < columns; ++c) {
        inverse[c] = norm2[c] = 0.0;
        if (!monitor.active(c)) continue;
        if (!std::isfinite(ortho.before2[c]) || !std::isfinite(ortho.norm2[c])) {
          monitor.pause(c, Reason::not_finite);
          continue;
        }
        Scalars upper;
        for (std::size_t i = 0; i <= j; ++i) upper.push_back(ortho.coefficients[i * columns + c]);
        // The remainder of a vector that lies in the span is rounding error, not a direction.
        const bool exhausted = ortho.norm2[c] <= 1e-28 * ortho.before2[c];
        const double length = exhausted ? 0.0 : std::sqrt(ortho.norm2[c]);
        norm2[c] = small[c].append(upper, length);
        if (!exhausted) inverse[c] = 1.0 / length;
      }
      z_basis.push_back(&direction);
      v_basis.push_back(&v[j + 1]);
      monitor.step(norm2);
      for (std::size_t c = 0; c < columns; ++c) {
        if (inverse[c] == 0.0) monitor.pause(c, Reason::breakdown);
      }
      if (monitor.running()) update(space, {scale(v[j + 1], inverse)});
    }
    std::vector<Scalars> y(z_basis.size(), Scalars(columns));
    for (std::size_t c = 0; c < columns; ++c) {
      const Scalars solution = small[c].solve();
      for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
    }
    detail::add_combination(space, x, y, std::span<const Vector* const>(z_basis));
    norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b by FGMRES(options.restart_length), preconditioned from the right by M. Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @param m  approximates the inverse of A; may be non-linear and may change from call to call
/// Cost: one application in each iteration, one in each cycle; restart_length + 3 work vectors, restart_length more
/// with M.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult fgmres(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                   const SolveOptions& options, M& m) {
  LinearProblem<Space, A> problem(space, a, b);
  return fgmres_on(problem, x, options, m);
}

/// As above, without a preconditioner.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult fgmres(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                   const SolveOptions& options = {}) {
  const NoPreconditioner none;
  return fgmres(space, a, x, b, options, none);
}

}  // namespace halocline::solve
