// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Stabilised bi-conjugate gradients, for any operator, without its adjoint.
///
/// van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631, algorithm Bi-CGSTAB, preconditioned from the right:
///   v = A M p, alpha = <r0, r> / <r0, v>, s = r - alpha v, t = A M s, omega = <t, s> / <t, t>,
///   x += alpha M p + omega M s, r = s - omega t, beta = (rho'/rho) (alpha/omega), p = r + beta (p - omega v).
/// The vector s is stored in r. Besides the two applications an iteration makes five passes over the vectors: two
/// reductions of the operator's results (none if the operator makes them in its own pass, operators.hpp), two updates
/// with reductions, one update.
///
/// The reductions come in four groups: <r0, v>; |s|^2; <t, s> and |t|^2; |r|^2 and <r0, r>. A norm is one real number
/// (Dot::is_norm), so these groups have 2, 1, 3 and 3 sums. The reduction of |s|^2 is read after the computation of
/// t, as in the solver for Fugaku (arXiv:2109.10687). The two overlap in a space that returns pending sums.
///
/// A breakdown is a <r0, v>, omega or rho that vanishes against the norms of its vectors. It restarts the recursion
/// with the present residual as shadow r0. An operator whose field of values is centred on zero (a real skew matrix)
/// breaks down at every restart; the solver reports this. Whether <r0, v> has vanished is decided one group later and
/// without |v|. As alpha v = r - s and |rho| = |alpha| |<r0, v>|, the cosine between r0 and v is |rho| / (|r0| |alpha
/// v|), which is at least |rho| / (|r0| (|r| + |s|)). Until then x has not changed, and s is discarded.

#include <optional>

#include "halocline/solve/detail/ahead.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

namespace detail {
/// Enqueues one iteration on a device.
template <class Recursion, class Vector>
void enqueue_bicgstab(Recursion& on, Vector& x, Vector& r, const Vector& shadow, Vector& p, Vector& v, Vector& t) {
  using enum StoredCoefficient;
  on.apply(v, p, {{&shadow, &v}}, StepKind::bicgstab_v_first);
  on.update({add_stored(r, minus_alpha, v)}, {{&r, &r}}, StepKind::bicgstab_s);
  on.apply(t, r, {{&t, &r}, {&t, &t}}, StepKind::bicgstab_t);
  on.update({add_stored(x, alpha, p, omega, r), add_stored(r, minus_omega, t)}, {{&r, &r}, {&shadow, &r}},
            StepKind::bicgstab_r_last);
  on.update({scale_add_stored(p, beta, r, minus_beta_omega, v)});
}
}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp.
template <class Problem, class M>
SolveResult bicgstab_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m) {
  constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
  using Vector = typename Problem::Vector;
  auto& space = problem.space();
  detail::Monitor monitor(options, problem.source_norms2());
  const std::size_t columns = problem.source_norms2().size();
  Vector r = space.create(), shadow = space.create(), p = space.create(), v = space.create(), t = space.create();
  std::optional<Vector> work_p, work_s;
  if constexpr (preconditioned) {
    work_p.emplace(space.create());
    work_s.emplace(space.create());
  }
  const Vector& mp = preconditioned ? *work_p : p;
  const Vector& ms = preconditioned ? *work_s : r;
  std::vector<RecursionScalars> scalars(columns);
  Scalars alpha(columns), minus_alpha(columns), omega(columns), minus_omega(columns), beta(columns),
      minus_beta_omega(columns);
  // An iteration by the host. Leaves |r|^2 and <shadow, r> in the scalars.
  const auto iterate = [&] {
    if constexpr (preconditioned) problem.precondition(m, *work_p, p);
    const auto pending_v = detail::apply_and_reduce(problem, v, mp, {{&shadow, &v}});
    const std::span<const Scalar> dv = pending_v.wait();
    for (std::size_t c = 0; c < columns; ++c) {
      scalars[c].take_v(monitor.track(c), number(dv[c]));
      alpha[c] = scalar(scalars[c].alpha);
      minus_alpha[c] = -alpha[c];
    }
    const auto pending_s = update_and_reduce(space, {add(r, minus_alpha, v)}, {{&r, &r}});  // r is now s

    if constexpr (preconditioned) problem.precondition(m, *work_s, r);
    const auto pending_t = detail::apply_and_reduce(problem, t, ms, {{&t, &r}, {&t, &t}});
    const std::span<const Scalar> ss = pending_s.wait(), dt = pending_t.wait();
    for (std::size_t c = 0; c < columns; ++c) {
      scalars[c].s2 = ss[c].real();
      scalars[c].take_t(monitor.track(c), number(dt[c]), dt[columns + c].real());
      alpha[c] = scalar(scalars[c].alpha);
      omega[c] = scalar(scalars[c].omega);
      minus_omega[c] = -omega[c];
    }
    // Without a preconditioner ms is r. Updates are carried out in order, so r still holds s when x is updated.
    const auto pending_r =
        update_and_reduce(space, {add(x, alpha, mp, omega, ms), add(r, minus_omega, t)}, {{&r, &r}, {&shadow, &r}});
    const std::span<const Scalar> dr = pending_r.wait();
    for (std::size_t c = 0; c < columns; ++c) {
      scalars[c].r2 = dr[c].real();
      scalars[c].next = number(dr[columns + c]);
    }
    monitor.step(dr.subspan(0, columns));
  };

  std::vector<double> norms2 = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(norms2)) {
    norms2 = detail::enter_cycle(problem, r, std::move(norms2));
    for (std::size_t c = 0; c < columns; ++c) scalars[c].begin(norms2[c]);
    update(space, {assign(shadow, {}, r), assign(p, {}, r)});
    detail::Ahead ahead(problem, monitor, scalars, preconditioned);
    while (monitor.running()) {
      if (!ahead)
        iterate();
      else if (!ahead.iterate({&x, &r, &shadow, &p, &v, &t},
                              [&](auto& on) { detail::enqueue_bicgstab(on, x, r, shadow, p, v, t); }))
        continue;

      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        const std::vector<double> exact = problem.replace_residual(x, r, mask);
        monitor.replaced(mask, exact);
        const auto pending_rho = reduce(space, {{&shadow, &r}});
        for (std::size_t c = 0; c < columns; ++c) {
          if (mask[c] == 0.0) continue;
          scalars[c].r2 = exact[c];
          scalars[c].next = number(pending_rho.wait()[c]);
        }
      }
      for (std::size_t c = 0; c < columns; ++c) {
        scalars[c].choose_beta(monitor.track(c));
        beta[c] = scalar(scalars[c].beta);
        minus_beta_omega[c] = scalar(scalars[c].minus_beta_omega());
      }
      update(space, {scale_add(p, beta, {}, r, minus_beta_omega, v)});
      ahead.resume();
    }
    norms2 = problem.replace_residual(x, r);
  }
  return monitor.result(problem.timings());
}

/// Solves A x = b, preconditioned from the right by M. Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @param m  approximates the inverse of A
/// Cost: two applications of A (and two of M) in each iteration, one of A to verify; 6 work vectors, 8 with M.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult bicgstab(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                     const SolveOptions& options, M& m) {
  LinearProblem<Space, A> problem(space, a, b);
  return bicgstab_on(problem, x, options, m);
}

/// As above, without a preconditioner.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult bicgstab(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                     const SolveOptions& options = {}) {
  const NoPreconditioner none;
  return bicgstab(space, a, x, b, options, none);
}

}  // namespace halocline::solve
