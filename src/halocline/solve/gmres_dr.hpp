// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Generalised minimal residuals with deflated restarts, GMRES-DR(m, k), flexible.
///
/// Morgan, SIAM J. Sci. Comput. 24 (2002) 20; with a preconditioner that may change, Giraud, Gratton, Pinel and
/// Vasseur, SIAM J. Sci. Comput. 32 (2010) 1858. A cycle has the relation A Z_m = V_{m+1} H, as FGMRES (Z = V without a
/// preconditioner). The next cycle does not start from the residual alone. It keeps the k harmonic Ritz vectors of
/// smallest eigenvalue, V_m g_i, which lie together with the residual in a Krylov space of their own:
///   P_k = orth(g_1 .. g_k),  P_{k+1} = [P_k; 0] and the unit vector that is orthogonal to the range of H,
///   V' = V_{m+1} P_{k+1},  Z' = Z_m P_k,  H' = P_{k+1}^dagger H P_k,   so that  A Z' = V' H'.
/// Arnoldi's recursion continues from there up to m vectors. So the low modes that a restart of GMRES forgets stay in
/// the space, and they converge from cycle to cycle.
///
/// Each cycle starts from the true residual, whose components c = V'^dagger r are measured. If r does not lie in the
/// span of V' (rounding errors near the end, or a cycle that ended early) the column starts from r alone.

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/detail/dense_least_squares.hpp"
#include "halocline/solve/gcr.hpp"

namespace halocline::solve {

namespace detail {

/// The small matrices of one column. The first `offset` of the vectors V and Z are zero: a column that keeps fewer than
/// k vectors has zeros in their place, so that all columns of a batch march together.
class DeflatedHessenberg {
public:
  /// Starts from a residual of the given norm in V_position, with zeros before it.
  void start(std::size_t position, double norm) {
    offset_ = position;
    columns_.assign(position, std::vector<Scalar>(position + 1));
    std::vector<Scalar> g(position + 1);
    g[position] = norm;
    solve_columns(std::move(g));
    outside2_ = 0.0;
  }

  /// P for the next cycle of at most k kept vectors: shape (rows of V, k + 1), with zeros in the first columns if fewer
  /// are kept. All zero if the cycle was too short. Also makes H'.
  SmallMatrix restart(std::size_t k) {
    const std::size_t n = columns_.size(), size = n - offset_;
    SmallMatrix p(n + 1, k + 1);
    next_.clear();
    if (size <= k) return p;
    SmallMatrix h(size + 1, size);
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < columns_[offset_ + j].size() - offset_; ++i)
        h(i, j) = columns_[offset_ + j][offset_ + i];
    if (!h.finite()) return p;
    const SmallMatrix ritz = harmonic_ritz(h, k);
    std::vector<std::vector<Scalar>> kept;
    for (std::size_t j = 0; j < k; ++j) {
      std::vector<Scalar> g(n + 1);
      for (std::size_t i = 0; i < size; ++i) g[offset_ + i] = ritz(i, j);
      if (orthonormalise(kept, g)) kept.push_back(std::move(g));
    }
    std::vector<Scalar> last = least_squares_.complement();
    if (!orthonormalise(kept, last)) return p;
    kept.push_back(std::move(last));

    const std::size_t first = k + 1 - kept.size();
    for (std::size_t j = 0; j < kept.size(); ++j)
      for (std::size_t i = 0; i <= n; ++i) p(i, first + j) = kept[j][i];
    next_.assign(k, std::vector<Scalar>(k + 1));
    for (std::size_t j = first; j < k; ++j) {
      std::vector<Scalar> image(n + 1);
      for (std::size_t l = 0; l < n; ++l)
        for (std::size_t i = 0; i < columns_[l].size(); ++i) image[i] += columns_[l][i] * p(l, j);
      for (std::size_t i = first; i <= k; ++i)
        for (std::size_t l = 0; l <= n; ++l) next_[j][i] += std::conj(p(l, i)) * image[l];
    }
    next_offset_ = first;
    return p;
  }

  /// Accepts the vectors of restart() if they contain a residual of squared norm `norm2` with the components c.
  bool accept(std::vector<Scalar> c, double norm2) {
    double inside2 = 0.0;
    for (const Scalar& z : c) inside2 += std::norm(z);
    outside2_ = std::max(norm2 - inside2, 0.0);
    if (next_.empty() || !(outside2_ <= 1e-4 * norm2)) return false;
    offset_ = next_offset_;
    columns_ = std::move(next_);
    solve_columns(std::move(c));
    return true;
  }

  /// Appends a column of H; returns |r|^2.
  double append(std::vector<Scalar> column) {
    columns_.push_back(column);
    return least_squares_.append(std::move(column)) + outside2_;
  }
  /// The coefficients of the vectors Z.
  std::vector<Scalar> solve() const { return least_squares_.solve(); }
  std::size_t size() const noexcept { return columns_.size(); }

private:
  void solve_columns(std::vector<Scalar> g) {
    least_squares_ = DenseLeastSquares(std::move(g));
    for (const auto& column : columns_) least_squares_.append(column);
  }

  std::size_t offset_ = 0, next_offset_ = 0;
  std::vector<std::vector<Scalar>> columns_, next_;  // of H, of H'
  DenseLeastSquares least_squares_;
  double outside2_ = 0.0;  // of the residual, outside the span of V
};

/// The vectors V and Z, and all columns.
template <class Problem, class M>
class GmresDr {
public:
  static constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
  using Vector = typename Problem::Vector;

  GmresDr(Problem& problem, const SolveOptions& options, M& m, std::size_t kept)
      : problem_(&problem),
        m_(&m),
        length_(static_cast<std::size_t>(options.restart_length)),
        kept_(kept),
        monitor_(options, problem.source_norms2()),
        columns_(problem.source_norms2().size()),
        small_(columns_),
        r_(problem.space().create()) {}

  SolveResult run(Vector& x, bool use_initial_guess) {
    std::vector<double> norms2 = problem_->start(x, r_, use_initial_guess);
    std::size_t first = 0;
    while (monitor_.begin_cycle(norms2)) {
      norms2 = enter_cycle(*problem_, r_, std::move(norms2));
      if (first > 0) keep();
      start(first, norms2);
      for (std::size_t j = first; j < length_ && monitor_.running(); ++j) iterate(j);
      std::vector<Scalars> y(z_size(), Scalars(columns_));
      for (std::size_t c = 0; c < columns_; ++c) {
        if (!in_cycle_[c]) continue;
        const std::vector<Scalar> solution = small_[c].solve();
        for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
      }
      std::vector<const Vector*> z;
      for (std::size_t j = 0; j < z_size(); ++j) z.push_back(preconditioned ? &z_[j] : &v_[j]);
      add_combination(problem_->space(), x, y, std::span<const Vector* const>(z));
      norms2 = problem_->replace_residual(x, r_);
      first = kept_;
    }
    return monitor_.result(problem_->timings());
  }

private:
  std::size_t z_size() const noexcept { return preconditioned ? z_.size() : v_.empty() ? 0 : v_.size() - 1; }

  // V' and Z' of every active column; zero in the others.
  void keep() {
    std::vector<SmallMatrix> p(columns_);
    std::size_t rows = 0;
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!monitor_.active(c)) continue;
      p[c] = small_[c].restart(kept_);
      rows = std::max(rows, p[c].rows());
    }
    combine(v_, p, rows, kept_ + 1);
    if constexpr (preconditioned) combine(z_, p, std::min(rows, z_.size()), kept_);
    std::vector<const Vector*> basis;
    for (std::size_t i = 0; i < kept_; ++i) basis.push_back(&v_[i]);
    // V has lost some orthogonality; the new vectors come from its last one.
    const Orthogonalised ortho = orthogonalise(problem_->space(), std::span<const Vector* const>(basis), {}, v_[kept_]);
    Scalars inverse(columns_);
    for (std::size_t c = 0; c < columns_; ++c)
      inverse[c] = ortho.norm2[c] > 0.25 ? 1.0 / std::sqrt(ortho.norm2[c]) : 0.0;
    update(problem_->space(), {solve::scale(v_[kept_], inverse)});
  }

  // vectors_i = sum_j p_ji vectors_j for i < count
  void combine(std::vector<Vector>& vectors, const std::vector<SmallMatrix>& p, std::size_t rows, std::size_t count) {
    auto& space = problem_->space();
    std::vector<Vector> out;
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(space.create());
      space.set_zero(out.back());
      std::vector<Scalars> coefficients(rows, Scalars(columns_));
      std::vector<const Vector*> old;
      for (std::size_t j = 0; j < rows; ++j) {
        old.push_back(&vectors[j]);
        for (std::size_t c = 0; c < columns_; ++c)
          if (j < p[c].rows()) coefficients[j][c] = p[c](j, i);
      }
      add_combination(space, out.back(), coefficients, std::span<const Vector* const>(old));
    }
    for (std::size_t i = 0; i < count; ++i) std::swap(vectors[i], out[i]);
  }

  // Decides for each column whether it starts from the kept vectors or from r alone, in V_first.
  void start(std::size_t first, std::span<const double> norms2) {
    auto& space = problem_->space();
    while (v_.size() < first + 1) v_.push_back(space.create());
    Scalars components;
    if (first > 0) {
      std::vector<Dot<Vector>> dots;
      for (std::size_t i = 0; i <= first; ++i) dots.push_back({&v_[i], &r_});
      const auto pending =
          update_and_reduce(space, std::span<const Update<Vector>>{}, std::span<const Dot<Vector>>(dots));
      const std::span<const Scalar> sums = pending.wait();
      components.assign(sums.begin(), sums.end());
    }
    Scalars stay(columns_), inverse(columns_);
    for (std::size_t c = 0; c < columns_; ++c) {
      in_cycle_[c] = monitor_.active(c);
      if (!in_cycle_[c]) continue;
      std::vector<Scalar> own;
      for (std::size_t i = 0; first > 0 && i <= first; ++i) own.push_back(components[i * columns_ + c]);
      if (first > 0 && small_[c].accept(std::move(own), norms2[c])) {
        stay[c] = 1.0;
        continue;
      }
      small_[c].start(first, std::sqrt(norms2[c]));
      inverse[c] = monitor_.quotient(c, 1.0, std::sqrt(norms2[c]));
    }
    if (first == 0) {
      update(space, {assign(v_[0], inverse, r_)});
      return;
    }
    for (std::size_t i = 0; i < first; ++i) update(space, {solve::scale(v_[i], stay)});
    update(space, {scale_add(v_[first], stay, inverse, r_)});
    if constexpr (preconditioned)
      for (std::size_t i = 0; i < first; ++i) update(space, {solve::scale(z_[i], stay)});
  }

  // Step j of Arnoldi's recursion.
  void iterate(std::size_t j) {
    auto& space = problem_->space();
    while (v_.size() < j + 2) v_.push_back(space.create());
    if constexpr (preconditioned) {
      while (z_.size() < j + 1) z_.push_back(space.create());
      problem_->precondition(*m_, z_[j], v_[j]);
      problem_->apply(v_[j + 1], z_[j]);
    } else {
      problem_->apply(v_[j + 1], v_[j]);
    }
    std::vector<const Vector*> basis;
    for (std::size_t i = 0; i <= j; ++i) basis.push_back(&v_[i]);
    const Orthogonalised ortho = orthogonalise(space, std::span<const Vector* const>(basis), {}, v_[j + 1]);
    Scalars inverse(columns_), norm2(columns_);
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!monitor_.active(c)) continue;
      if (!std::isfinite(ortho.before2[c]) || !std::isfinite(ortho.norm2[c])) {
        monitor_.pause(c, Reason::not_finite);
        continue;
      }
      std::vector<Scalar> column;
      for (std::size_t i = 0; i <= j; ++i) column.push_back(ortho.coefficients[i * columns_ + c]);
      // The remainder of a vector that lies in the span is rounding error, not a direction.
      const bool exhausted = ortho.norm2[c] <= 1e-28 * ortho.before2[c];
      column.push_back(exhausted ? 0.0 : std::sqrt(ortho.norm2[c]));
      norm2[c] = small_[c].append(std::move(column));
      if (!exhausted) inverse[c] = 1.0 / std::sqrt(ortho.norm2[c]);
    }
    monitor_.step(norm2);
    for (std::size_t c = 0; c < columns_; ++c)
      if (inverse[c] == 0.0) monitor_.pause(c, Reason::breakdown);
    update(space, {solve::scale(v_[j + 1], inverse)});
  }

  Problem* problem_;
  M* m_;
  std::size_t length_, kept_;
  Monitor monitor_;
  std::size_t columns_;
  std::vector<DeflatedHessenberg> small_;
  Vector r_;
  std::vector<Vector> v_, z_;
  std::vector<bool> in_cycle_ = std::vector<bool>(columns_);  // the columns that were active at its start
};

}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp. `kept` as in gmres_dr().
template <class Problem, class M>
SolveResult gmres_dr_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options, M& m,
                        int kept = -1) {
  if (kept < -1 || (kept >= options.restart_length && kept > 0))
    throw core::InvalidArgument("gmres_dr: kept = " + std::to_string(kept) +
                                " given, -1 (a third of restart_length) or " +
                                "fewer than restart_length = " + std::to_string(options.restart_length) + " expected");
  const int k = kept == -1 ? options.restart_length / 3 : kept;
  return detail::GmresDr<Problem, M>(problem, options, m, static_cast<std::size_t>(k))
      .run(x, options.use_initial_guess);
}

/// Solves A x = b by GMRES-DR(options.restart_length, kept), preconditioned from the right by M. Collective.
/// @param x     the solution; on entry the initial guess if options.use_initial_guess
/// @param m     approximates the inverse of A; may be non-linear and may change from call to call
/// @param kept  number of harmonic Ritz vectors; -1 takes a third of restart_length, 0 is FGMRES
/// @throws InvalidArgument  kept is not below restart_length; on every process
/// Cost: one application in each iteration, one in each cycle; a restart costs restart_length * kept vector additions
/// (twice with M); restart_length + kept + 3 work vectors, restart_length more with M.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult gmres_dr(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                     const SolveOptions& options, M& m, int kept = -1) {
  LinearProblem<Space, A> problem(space, a, b);
  return gmres_dr_on(problem, x, options, m, kept);
}

/// As above, without a preconditioner.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult gmres_dr(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                     const SolveOptions& options = {}, int kept = -1) {
  const NoPreconditioner none;
  return gmres_dr(space, a, x, b, options, none, kept);
}

}  // namespace halocline::solve
