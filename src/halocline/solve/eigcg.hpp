// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conjugate gradients that find low eigenvectors on the way, and use them for the next right-hand sides: EigCG.
///
/// Stathopoulos and Orginos, SIAM J. Sci. Comput. 32 (2010) 439, arXiv:0707.0131. The normalised residuals v_j of CG
/// are Lanczos vectors, with A V = V T plus one term in the next vector,
///   T_jj = 1 / alpha_j + beta_{j-1} / alpha_{j-1},   T_{j,j+1} = -sqrt(beta_j) / alpha_j.
/// A window holds at most m of them. When it is full, it is replaced by the Ritz vectors of the `vectors` lowest
/// eigenvalues of T_m and those of T_{m-1}, 2 k vectors together: as locally optimal CG does, they remember the last
/// two steps, and so the Ritz vectors converge nearly as if no window had been restarted. CG itself is not changed.
///
/// With Q an orthonormal basis of the coordinates of these Ritz vectors and Z the eigenvectors of Q^dagger T Q, the
/// window becomes V Q Z, T becomes diagonal, and the next residual v couples to it by <V Q Z, A v> = (Q Z)^dagger t,
/// where t is the column of T that belongs to v.
///
/// `IncrementalEigCg` solves for one right-hand side after the other. CG runs on the system that is deflated by the
/// vectors so far (deflation.hpp), so each solve finds the next eigenvectors, until there are enough.

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/deflation.hpp"
#include "halocline/solve/hermitian_eigen.hpp"

namespace halocline::solve {

struct EigCgOptions {
  int vectors = 8;    ///< Ritz vectors that a solve finds
  int window = 0;     ///< m, at least 2 vectors + 1; 0 chooses 3 vectors + 16
  int capacity = 64;  ///< IncrementalEigCg: number of vectors after which it stops looking for more
};

template <class Vector>
struct EigCgResult {
  SolveResult solve;
  std::vector<double> values;   ///< Ritz values, ascending: not smaller than the eigenvalues that they approximate
  std::vector<Vector> vectors;  ///< orthonormal to the accuracy with which Lanczos vectors are
};

namespace detail {

/// The Lanczos vectors of a run of CG, and their matrix T.
template <VectorSpace Space>
class LanczosWindow {
public:
  using Vector = typename Space::Vector;

  LanczosWindow(Space& space, std::size_t size, std::size_t wanted)
      : space_(&space), size_(size), wanted_(wanted), t_(size, size) {}

  /// The next Lanczos vector, r / |r|.
  void append(const Vector& r, double norm2) {
    if (filled_ == size_) restart();
    while (v_.size() < filled_ + 1) v_.push_back(space_->create());
    const Scalars inverse{1.0 / std::sqrt(norm2)};
    update(*space_, {assign(v_[filled_], inverse, r)});
    for (std::size_t i = 0; i < filled_; ++i) {
      t_(i, filled_) = coupling_[i];
      t_(filled_, i) = std::conj(coupling_[i]);
    }
    ++filled_;
  }
  /// Completes the last vector's entries by the step that CG made from it, and its coupling to the next vector.
  void step(double alpha, double beta) {
    t_(filled_ - 1, filled_ - 1) = 1.0 / alpha + (last_alpha_ > 0.0 ? last_beta_ / last_alpha_ : 0.0);
    coupling_.assign(filled_, 0.0);
    coupling_.back() = -std::sqrt(beta) / alpha;
    complete_ = filled_;
    last_alpha_ = alpha;
    last_beta_ = beta;
  }

  /// Moves the Ritz values and vectors out.
  void finish(EigCgResult<Vector>& out) {
    if (complete_ == 0) return;
    const HermitianEigen eigen = eigen_of(complete_);
    const std::size_t count = std::min(wanted_, complete_);
    SmallMatrix coordinates(complete_, count);
    for (std::size_t j = 0; j < count; ++j) {
      out.values.push_back(eigen.values[j]);
      for (std::size_t i = 0; i < complete_; ++i) coordinates(i, j) = eigen.vectors[j * complete_ + i];
    }
    out.vectors = combine(coordinates);
    v_.clear();
    filled_ = complete_ = 0;
  }

private:
  HermitianEigen eigen_of(std::size_t n) const { return hermitian_eigen(n, t_.corner(n, n).data()); }

  std::vector<Vector> combine(const SmallMatrix& coordinates) {
    std::vector<Vector> out;
    for (std::size_t j = 0; j < coordinates.columns(); ++j) {
      std::vector<Update<Vector>> updates;
      std::vector<Scalars> c;
      for (std::size_t i = 0; i < coordinates.rows(); ++i) c.push_back({coordinates(i, j)});
      out.push_back(space_->create());
      for (std::size_t i = 0; i < coordinates.rows(); ++i)
        updates.push_back(i == 0 ? assign(out.back(), c[i], v_[i]) : add(out.back(), c[i], v_[i]));
      update_and_reduce(*space_, std::span<const Update<Vector>>(updates), std::span<const Dot<Vector>>{}).wait();
    }
    return out;
  }

  void restart() {
    std::vector<std::vector<Scalar>> q;
    for (const std::size_t n : {size_, size_ - 1}) {
      const HermitianEigen eigen = eigen_of(n);
      for (std::size_t j = 0; j < wanted_; ++j) {
        std::vector<Scalar> y(size_);
        for (std::size_t i = 0; i < n; ++i) y[i] = eigen.vectors[j * n + i];
        if (orthonormalise(q, y)) q.push_back(std::move(y));
      }
    }
    SmallMatrix basis(size_, q.size());
    for (std::size_t j = 0; j < q.size(); ++j)
      for (std::size_t i = 0; i < size_; ++i) basis(i, j) = q[j][i];
    const SmallMatrix projected = adjoint_product(basis, product(t_, basis));
    const HermitianEigen eigen = hermitian_eigen(q.size(), projected.data());
    SmallMatrix z(q.size(), q.size());
    for (std::size_t j = 0; j < q.size(); ++j)
      for (std::size_t i = 0; i < q.size(); ++i) z(i, j) = eigen.vectors[j * q.size() + i];
    const SmallMatrix coordinates = product(basis, z);

    std::vector<Vector> kept = combine(coordinates);
    std::vector<Scalar> coupling(q.size());
    t_ = SmallMatrix(size_, size_);
    for (std::size_t j = 0; j < q.size(); ++j) {
      std::swap(v_[j], kept[j]);
      t_(j, j) = eigen.values[j];
      for (std::size_t i = 0; i < size_; ++i) coupling[j] += std::conj(coordinates(i, j)) * coupling_[i];
    }
    coupling_ = std::move(coupling);
    filled_ = complete_ = q.size();
  }

  Space* space_;
  std::size_t size_, wanted_;
  std::size_t filled_ = 0, complete_ = 0;  // vectors, and those whose diagonal entry is known
  std::vector<Vector> v_;
  SmallMatrix t_;
  std::vector<Scalar> coupling_;  // of the next vector
  double last_alpha_ = 0.0, last_beta_ = 0.0;
};

inline void check_eigcg(const EigCgOptions& eigen, int columns) {
  const auto refuse = [](const std::string& sentence) { throw core::InvalidArgument("eigcg: " + sentence); };
  if (columns != 1) refuse(std::to_string(columns) + " columns given, a space of one column expected");
  if (eigen.vectors < 1) refuse("vectors = " + std::to_string(eigen.vectors) + " given, at least 1 expected");
  if (eigen.window != 0 && eigen.window < 2 * eigen.vectors + 1)
    refuse("window = " + std::to_string(eigen.window) +
           " given, 0 or at least 2 vectors + 1 = " + std::to_string(2 * eigen.vectors + 1) + " expected");
  if (eigen.capacity < 0) refuse("capacity must not be negative");
}

}  // namespace detail

/// Iterates on a linear system of one column in the form of problem.hpp, as cg_on. Only the first cycle contributes to
/// the window; later cycles repair rounding errors.
template <class Problem>
EigCgResult<typename Problem::Vector> eigcg_on(Problem& problem, typename Problem::Vector& x,
                                               const SolveOptions& options, const EigCgOptions& eigen = {}) {
  auto& space = problem.space();
  detail::check_eigcg(eigen, space.columns());
  const int window_size = eigen.window > 0 ? eigen.window : 3 * eigen.vectors + 16;
  detail::LanczosWindow<typename Problem::Space> window(space, static_cast<std::size_t>(window_size),
                                                        static_cast<std::size_t>(eigen.vectors));
  detail::Monitor monitor(options, problem.source_norms2());
  auto r = space.create(), p = space.create(), q = space.create();
  bool collecting = true;
  Scalars beta(1);

  std::vector<double> rho = problem.start(x, r, options.use_initial_guess);
  while (monitor.begin_cycle(rho)) {
    rho = detail::enter_cycle(problem, r, std::move(rho));
    space.copy(p, r);
    while (monitor.running()) {
      const auto curvature = detail::apply_and_reduce(problem, q, p, {{&p, &q}});
      const double pq = curvature.wait()[0].real();
      if (pq <= 0.0) monitor.pause(0, Reason::breakdown);
      const Scalars alpha{monitor.quotient(0, rho[0], pq)}, minus_alpha{-alpha[0]};
      const bool stepped = monitor.active(0);
      if (collecting && stepped) window.append(r, rho[0]);
      const auto pending = update_and_reduce(space, {add(x, alpha, p), add(r, minus_alpha, q)}, {{&r, &r}});
      double norm2 = pending.wait()[0].real();
      monitor.step(pending.wait());
      if (collecting && stepped && std::isfinite(norm2)) window.step(alpha[0].real(), norm2 / rho[0]);
      if (monitor.wants_replacement()) {
        const Scalars mask = monitor.replacement_mask();
        const std::vector<double> exact = problem.replace_residual(x, r, mask);
        monitor.replaced(mask, exact);
        norm2 = exact[0];
      }
      beta[0] = monitor.active(0) ? norm2 / rho[0] : 0.0;
      rho[0] = norm2;
      update(space, {scale_add(p, beta, {}, r)});
    }
    collecting = false;
    rho = problem.replace_residual(x, r);
  }
  EigCgResult<typename Problem::Vector> out;
  out.solve = monitor.result(problem.timings());
  window.finish(out);
  return out;
}

/// Solves A x = b by conjugate gradients, and approximates the lowest eigenvectors of A. Collective.
/// @param space  of one column
/// @param a      hermitian positive
/// @param x      the solution; on entry the initial guess if options.use_initial_guess
/// @throws InvalidArgument  impossible options, or a space of several columns; on every process
/// Cost: that of cg; for every window - 2 vectors iterations 2 vectors * window vector additions; window + 2 vectors
/// vectors more.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
EigCgResult<typename Space::Vector> eigcg(Space& space, A& a, typename Space::Vector& x,
                                          const typename Space::Vector& b, const SolveOptions& options = {},
                                          const EigCgOptions& eigen = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  return eigcg_on(problem, x, options, eigen);
}

/// Solves systems with one operator and many right-hand sides, each faster than those before it. Refers to space and
/// operator, which must outlive it.
template <VectorSpace Space, OperatorOn<Space> A>
class IncrementalEigCg {
public:
  using Vector = typename Space::Vector;

  /// @param space  of one column
  /// @param a      hermitian positive
  /// @throws InvalidArgument  impossible options, or a space of several columns; on every process
  IncrementalEigCg(Space& space, A& a, const EigCgOptions& eigen = {}) : space_(&space), a_(&a), eigen_(eigen) {
    detail::check_eigcg(eigen, space.columns());
  }

  /// The vectors so far. They also deflate batches of any width: deflated_cg(batch, a, deflation(), ...).
  const Deflation<Space>& deflation() const noexcept { return deflation_; }
  std::size_t size() const noexcept { return deflation_.size(); }
  /// Whether further solves look for more vectors.
  bool collecting() const noexcept { return size() < static_cast<std::size_t>(eigen_.capacity) && !exhausted_; }

  /// Solves A x = b, deflated by the vectors so far, and adds those that it finds. Collective.
  /// Cost: that of deflated_cg; while collecting also that of eigcg, and an application for each new vector.
  SolveResult solve(Vector& x, const Vector& b, const SolveOptions& options = {}) {
    if (!collecting()) return deflated_cg(*space_, *a_, deflation_, x, b, options);
    EigCgResult<Vector> found;
    const SolveResult result =
        detail::deflated(*space_, *a_, deflation_, b, options, [&](auto& problem, const SolveOptions& own) {
          found = eigcg_on(problem, x, own, eigen_);
          return found.solve;
        });
    // A solve of few iterations has found no eigenvectors, only a small space with the right-hand side in it.
    if (result.converged() && result.iterations > 2 * eigen_.vectors) add(std::move(found.vectors));
    return result;
  }

private:
  void add(std::vector<Vector> vectors) {
    const std::size_t before = size(), room = static_cast<std::size_t>(eigen_.capacity) - before;
    if (vectors.size() > room) vectors.erase(vectors.begin() + static_cast<std::ptrdiff_t>(room), vectors.end());
    deflation_.extend(*space_, *a_, std::move(vectors));
    exhausted_ = size() == before;
  }

  Space* space_;
  A* a_;
  EigCgOptions eigen_;
  Deflation<Space> deflation_;
  bool exhausted_ = false;  // the last solve added nothing new
};

}  // namespace halocline::solve
