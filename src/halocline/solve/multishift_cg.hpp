// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conjugate gradients for (A + sigma_i) x_i = b: solves for all shifts with the operator applications of one.
///
/// Jegerlehner, hep-lat/9612014, sec. 3 (with the usual signs of CG). The residual of a shifted system is zeta_i r,
/// where r is that of the smallest shift; with s_i = sigma_i - sigma_min,
///   zeta' = zeta zeta_old alpha_old / [ alpha beta (zeta_old - zeta) + zeta_old alpha_old (1 + s alpha) ],
///   alpha_i = alpha zeta'/zeta,  x_i += alpha_i p_i,  beta_i = beta' (zeta'/zeta)^2,  p_i = zeta' r + beta_i p_i.
/// A shift is frozen when zeta |r| is small enough. The recursion starts from zero. At the end each system is verified
/// by its true residual. If rounding errors kept a system from its tolerance, CG continues from its solution so far.

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/cg.hpp"

namespace halocline::solve {

namespace detail {
/// The state of the shared recursion for one shift.
template <class Vector>
struct ShiftState {
  Vector p;
  Monitor monitor;
  Scalars zeta, old_zeta, alpha, beta, norm2;
};
}  // namespace detail

/// Solves (A + shifts[i]) x[i] = b for every i. Collective.
/// @param a       hermitian, positive with the smallest shift
/// @param shifts  real, in any order; not empty
/// @param x       shape (shifts,), overwritten; there is no initial guess
/// @throws InvalidArgument  on every process: lengths differ, no shift, or one not finite
/// Returns one result for each shift. Its iterations count those of the shared recursion until the shift was frozen,
/// plus its own.
/// Cost: one application in each iteration and one for each shift to verify. Two vector updates for each shift and
/// iteration. shifts + 3 work vectors, and 4 more during the verification.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
std::vector<SolveResult> multishift_cg(Space& space, A& a, std::span<const double> shifts,
                                       std::span<typename Space::Vector> x, const typename Space::Vector& b,
                                       const SolveOptions& options = {}) {
  using Vector = typename Space::Vector;
  const std::size_t n = shifts.size();
  if (n == 0 || x.size() != n || !std::all_of(shifts.begin(), shifts.end(), [](double s) { return std::isfinite(s); }))
    throw core::InvalidArgument("multishift_cg: " + std::to_string(n) + " shifts and " + std::to_string(x.size()) +
                                " solution vectors given; one vector for each of one or more finite shifts expected");
  const double base = *std::min_element(shifts.begin(), shifts.end());
  ShiftedOperator<Space, A> shifted_base(space, a, base);
  LinearProblem<Space, ShiftedOperator<Space, A>> problem(space, shifted_base, b);
  const std::size_t columns = problem.source_norms2().size();

  SolveOptions silent = options;  // the base reports progress once in each iteration
  silent.progress = nullptr;
  std::vector<detail::ShiftState<Vector>> shift;
  shift.reserve(n);
  const std::size_t leader = static_cast<std::size_t>(std::min_element(shifts.begin(), shifts.end()) - shifts.begin());
  bool cancelled = false;
  SolveOptions leading = options;
  if (options.progress) {
    leading.progress = [&](int iteration, double residual) {
      cancelled = cancelled || !options.progress(iteration, residual);
      return !cancelled;
    };
  }
  auto r = space.create(), q = space.create();
  const Scalars ones(columns, Scalar(1.0));
  for (std::size_t i = 0; i < n; ++i) {
    shift.push_back({space.create(), detail::Monitor(i == leader ? leading : silent, problem.source_norms2()), ones,
                     ones, Scalars(columns), Scalars(columns), Scalars(columns)});
    space.copy(shift[i].p, b);
    space.set_zero(x[i]);
    shift[i].monitor.begin_cycle(problem.source_norms2());
  }
  space.copy(r, b);

  std::vector<double> rho = problem.source_norms2();
  Scalars alpha(columns), minus_alpha(columns), old_alpha(columns, Scalar(1.0)), beta(columns);
  // The leader has the smallest shift, and so the largest residual. When it has finished, the recursion ends for the
  // other shifts too. The verification then finds the residuals that rounding errors have left.
  const auto stop_followers = [&] {
    for (std::size_t c = 0; c < columns; ++c) {
      if (shift[leader].monitor.active(c)) continue;
      for (auto& s : shift) s.monitor.pause(c, Reason::stagnation);
    }
  };
  while (shift[leader].monitor.running()) {
    problem.apply(q, shift[leader].p);
    const auto pending = reduce(space, {{&shift[leader].p, &q}});
    for (std::size_t c = 0; c < columns; ++c) {
      const double pq = pending.wait()[c].real();
      if (pq <= 0.0) shift[leader].monitor.pause(c, Reason::breakdown);
      alpha[c] = shift[leader].monitor.quotient(c, rho[c], pq);
      minus_alpha[c] = -alpha[c];
    }
    stop_followers();
    const auto residual = update_and_reduce(space, {add(r, minus_alpha, q)}, {{&r, &r}});
    const std::vector<double> next = detail::real_parts(residual.wait());
    Scalars next_beta(columns);
    for (std::size_t c = 0; c < columns; ++c) next_beta[c] = rho[c] > 0.0 ? next[c] / rho[c] : 0.0;

    std::vector<Update<Vector>> updates;
    for (std::size_t i = 0; i < n; ++i) {
      auto& s = shift[i];
      const double sigma = shifts[i] - base;
      for (std::size_t c = 0; c < columns; ++c) {
        s.alpha[c] = s.beta[c] = 0.0;
        if (!s.monitor.active(c)) continue;
        const Scalar zeta = s.zeta[c] * s.old_zeta[c] * old_alpha[c] /
                            (alpha[c] * beta[c] * (s.old_zeta[c] - s.zeta[c]) +
                             s.old_zeta[c] * old_alpha[c] * (1.0 + sigma * alpha[c]));
        const Scalar ratio = zeta / s.zeta[c];
        s.alpha[c] = alpha[c] * ratio;
        s.beta[c] = next_beta[c] * ratio * ratio;
        s.old_zeta[c] = s.zeta[c];
        s.zeta[c] = zeta;
        s.norm2[c] = std::norm(zeta) * next[c];
      }
      updates.push_back(add(x[i], s.alpha, s.p));
      updates.push_back(scale_add(s.p, s.beta, s.zeta, r));
    }
    update_and_reduce(space, std::span<const Update<Vector>>(updates), std::span<const Dot<Vector>>{}).wait();
    for (auto& s : shift) s.monitor.step(s.norm2);
    stop_followers();
    rho = next;
    beta = next_beta;
    old_alpha = alpha;
  }

  std::vector<SolveResult> results;
  for (std::size_t i = 0; i < n; ++i) {
    const SolveResult shared = shift[i].monitor.result(problem.timings());
    ShiftedOperator<Space, A> shifted(space, a, shifts[i]);
    LinearProblem<Space, ShiftedOperator<Space, A>> verification(space, shifted, b);
    SolveOptions polish = options;
    polish.use_initial_guess = true;
    if (cancelled) polish.max_iterations = 0;
    SolveResult result = cg_on(verification, x[i], polish, shared.column_iterations);
    for (std::size_t c = 0; c < columns; ++c) {
      if (cancelled && result.reasons[c] == Reason::iteration_limit) result.reasons[c] = Reason::cancelled;
      std::vector<double> history = shared.history[c];
      history.insert(history.end(), result.history[c].begin(), result.history[c].end());
      result.history[c] = std::move(history);
    }
    if (cancelled && result.reason == Reason::iteration_limit) result.reason = Reason::cancelled;
    result.timings.total += shared.timings.total;
    result.timings.apply += shared.timings.apply;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace halocline::solve
