// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Generalised conjugate residuals with restarts, flexible: the preconditioner may change from call to call.
///
/// Eisenstat, Elman and Schultz, SIAM J. Numer. Anal. 20 (1983) 345; Saad, 2nd ed., sec. 6.9. Step j of a cycle:
///   z_j = M r, q_j = A z_j orthogonalised against q_0..q_{j-1} with coefficients c_ij, alpha_j = <q_j, r> / |q_j|^2,
///   r -= alpha_j q_j.
/// The directions z_j are not orthogonalised. At the end of the cycle x += sum_j y_j z_j with C y = alpha, where C is
/// the unit upper triangle of the c_ij. That saves half of the updates of the textbook form. The residual is minimal
/// over the directions of the cycle. A cycle of k steps needs 2 k vectors. If r becomes orthogonal to A z the method
/// breaks down; FGMRES does not.

#include <algorithm>

#include "halocline/solve/detail/gram_schmidt.hpp"
#include "halocline/solve/detail/least_squares.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

namespace detail {
/// x += sum_j coefficients[j][column] vectors_j, as one list of updates.
template <VectorSpace Space>
void add_combination(Space& space, typename Space::Vector& x, const std::vector<Scalars>& coefficients,
                     std::span<const typename Space::Vector* const> vectors) {
  using V = typename Space::Vector;
  std::vector<Update<V>> updates;
  for (std::size_t j = 0; j < coefficients.size(); j += 2) {
    updates.push_back(j + 1 < coefficients.size()
                          ? add(x, coefficients[j], *vectors[j], coefficients[j + 1], *vectors[j + 1])
                          : add(x, coefficients[j], *vectors[j]));
  }
  update_and_reduce(space, std::span<const Update<V>>(updates), std::span<const Dot<V>>{}).wait();
}
}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp.
template <class Problem, class M>
SolveResult gcr_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m) {
  constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
  using Vector = typename Problem::Vector;
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  const auto k = static_cast<std::size_t>(options.restart_length);
  Vector r = space.create();
  std::vector<Vector> z, q;  // allocated when needed: many solves end within the first cycle
  z.reserve(k);
  q.reserve(k);
  Scalars alpha(columns), minus_alpha(columns);

  std::vector<double> norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(norms2)) {
    norms2 = detail::enter_cycle(problem, r, std::move(norms2));
    std::vector<double> q_norms2;                         // [j][column]
    std::vector<std::vector<Scalars>> triangle(columns);  // [column][j][i]
    std::vector<Scalars> steps(columns);                  // [column][j] = alpha_j
    std::vector<const Vector*> q_basis, z_basis;
    for (std::size_t j = 0; j < k && monitor.running(); ++j) {
      if (z.size() == j) {
        z.push_back(space.create());
        q.push_back(space.create());
      }
      if constexpr (preconditioned) {
        problem.precondition(m, z[j], r);
      } else {
        space.copy(z[j], r);
      }
      problem.apply(q[j], z[j]);
      const auto ortho = detail::orthogonalise(space, std::span<const Vector* const>(q_basis), q_norms2, q[j]);
      const auto pending = reduce(space, {{&q[j], &r}});
      for (std::size_t c = 0; c < columns; ++c) {
        const bool was_active = monitor.active(c);
        const double floor = 1e-28 * ortho.before2[c];
        alpha[c] = monitor.quotient(c, pending.wait()[c], ortho.norm2[c], floor);
        minus_alpha[c] = -alpha[c];
        q_norms2.push_back(was_active && monitor.active(c) ? ortho.norm2[c] : 0.0);
        if (!monitor.active(c)) continue;
        Scalars& column = triangle[c].emplace_back();
        for (std::size_t i = 0; i < j; ++i) column.push_back(ortho.coefficients[i * columns + c]);
        steps[c].push_back(alpha[c]);
      }
      q_basis.push_back(&q[j]);
      z_basis.push_back(&z[j]);
      const auto residual = update_and_reduce(space, {add(r, minus_alpha, q[j])}, {{&r, &r}});
      monitor.step(residual.wait());
    }
    std::vector<Scalars> y(q_basis.size(), Scalars(columns));
    for (std::size_t c = 0; c < columns; ++c) {
      const Scalars solution = detail::solve_unit_triangle(triangle[c], steps[c]);
      for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
    }
    detail::add_combination(space, x, y, std::span<const Vector* const>(z_basis));
    norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b by GCR(options.restart_length), preconditioned from the right by M. Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @param m  approximates the inverse of A; may be non-linear and may change from call to call
/// Cost: one application in each iteration, one in each cycle; 2 restart_length + 2 work vectors.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult gcr(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                const SolveOptions& options, M& m) {
  LinearProblem<Space, A> problem(space, a, b);
  return gcr_on(problem, x, options, m);
}

/// As above, without a preconditioner.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult gcr(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                const SolveOptions& options = {}) {
  const NoPreconditioner none;
  return gcr(space, a, x, b, options, none);
}

}  // namespace halocline::solve
