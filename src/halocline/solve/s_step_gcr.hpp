// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Generalised conjugate residuals with restarts and one reduction in s iterations, for any operator.
///
/// After the s-step methods of Chronopoulos (SIAM J. Numer. Anal. 28 (1991) 1776; with Swanson, Parallel Comput. 22
/// (1996) 623). A block takes S = [v_0, ..., v_{s-1}] with v_0 = r and
///   v_{j+1} = (A v_j - theta_j v_j) / sigma,   that is   A S = S' D with S' = [S, v_s],
/// orthogonalises A S against the images Q of the blocks before, and minimises |r| over the span of all:
///   X = Q^dagger A S,   (A S)^dagger A S - X^dagger X = L L^dagger,   Q_new = (A S - Q X) L^-dagger,
///   f = Q_new^dagger r,   r -= Q_new f.
/// All products follow from one reduction, of S'^dagger S' and Q^dagger S'. The norms of the iterations within the
/// block are |r|^2 - |f_0|^2 - .. - |f_j|^2. As in gcr.hpp the vectors v_j are not orthogonalised: with R made of the X
/// and L^dagger of all blocks, x += Z y with R y = f at the end of the cycle.
///
/// The first block uses powers of A (theta = 0). Its Ritz values, in the order of Leja, are the shifts theta of the
/// Newton basis of later blocks (Bai, Hu and Reichel, IMA J. Numer. Anal. 14 (1994) 563), and half of their largest
/// distance is sigma.
///
/// The difference that makes L loses digits as the condition number of [Q, A S] grows (block Gram-Schmidt with the
/// Pythagorean theorem: Carson, Lund and Rozloznik, SIAM J. Matrix Anal. Appl. 42 (2021) 1365). A pivot that has lost
/// nearly all of them ends the cycle, and the next one starts from the true residual.

#include <algorithm>
#include <cmath>

#include "halocline/solve/gcr.hpp"
#include "halocline/solve/s_step_cg.hpp"

namespace halocline::solve {

namespace detail {

/// The given numbers so that each is as far as possible from those before it, in the sense of the product of distances.
/// The first is the one of largest modulus.
inline std::vector<Scalar> leja_order(std::vector<Scalar> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto merit = [&](const Scalar& z) {
      double product = i == 0 ? std::abs(z) : 1.0;
      for (std::size_t j = 0; j < i; ++j) product *= std::abs(z - values[j]);
      return product;
    };
    const auto best = std::max_element(values.begin() + static_cast<std::ptrdiff_t>(i), values.end(),
                                       [&](const Scalar& a, const Scalar& b) { return merit(a) < merit(b); });
    std::swap(values[i], *best);
  }
  return values;
}

/// One column of s-step GCR. Names as at the top of s_step_gcr.hpp.
class SStepGcrColumn {
public:
  /// Forgets the images and the coefficients of a cycle; the basis stays.
  void restart() {
    triangle_.clear();
    f_.clear();
  }

  Scalar shift(std::size_t j) const { return shifts_.empty() ? 0.0 : shifts_[j % shifts_.size()]; }
  double scale() const noexcept { return scale_; }

  /// Takes the sums of a block of k vectors.
  /// @param w  S'^dagger S',  @param c  Q^dagger S'
  void begin(std::size_t k, const SmallMatrix& w, const SmallMatrix& c) {
    d_ = SmallMatrix(k + 1, k);
    for (std::size_t j = 0; j < k; ++j) {
      d_(j, j) = shift(j);
      d_(j + 1, j) = scale_;
    }
    const SmallMatrix wd = product(w, d_), n = adjoint_product(d_, wd);
    x_ = product(c, d_);
    cholesky_ = Cholesky(c.rows() > 0 ? sum(n, adjoint_product(x_, x_), -1.0) : n, 0.0);
    good_ = 0;
    while (good_ < cholesky_.size() && std::norm(cholesky_.factor(good_, good_)) > lost * n(good_, good_).real())
      ++good_;
    std::vector<Scalar> g(good_);
    for (std::size_t j = 0; j < good_; ++j) {
      g[j] = std::conj(wd(0, j));
      for (std::size_t i = 0; i < c.rows(); ++i) g[j] -= std::conj(x_(i, j)) * c(i, 0);
    }
    block_f_ = cholesky_.forward(std::move(g));
    start_ = norm2_ = w(0, 0).real();
    steps_ = 0;
    if (shifts_.empty()) choose_shifts(w.corner(k, k), wd.corner(k, k));
  }

  double norm2() const noexcept { return norm2_; }
  bool can_step() const noexcept { return steps_ < good_; }
  /// One iteration; returns |r|^2, which cannot be resolved below rounding errors of its value at the start.
  double step() {
    norm2_ -= std::norm(block_f_[steps_]);
    std::vector<Scalar> column;
    for (std::size_t i = 0; i < x_.rows(); ++i) column.push_back(x_(i, steps_));
    for (std::size_t i = 0; i <= steps_; ++i) column.push_back(std::conj(cholesky_.factor(steps_, i)));
    triangle_.push_back(std::move(column));
    f_.push_back(block_f_[steps_]);
    ++steps_;
    return std::max(norm2_, 1e-15 * start_);
  }

  /// The coefficient of f_j in this block, zero if the column did not take step j.
  Scalar f(std::size_t j) const { return j < steps_ ? block_f_[j] : 0.0; }
  Scalar recursion(std::size_t l, std::size_t j) const { return d_(l, j); }
  Scalar x(std::size_t i, std::size_t j) const { return x_(i, j); }
  /// Q_new = (A S - Q X) L^-dagger by columns: q_j = (w_j - sum_i q_i conj(L_ji)) / L_jj. Zero without a pivot.
  Scalar inverse_pivot(std::size_t j) const { return j < good_ ? 1.0 / cholesky_.factor(j, j) : 0.0; }
  Scalar coefficient(std::size_t i, std::size_t j) const { return j < good_ ? std::conj(cholesky_.factor(j, i)) : 0.0; }

  /// y of R y = f.
  std::vector<Scalar> solve() const {
    std::vector<Scalar> y = f_;
    for (std::size_t j = y.size(); j-- > 0;) {
      y[j] /= triangle_[j][j];
      for (std::size_t i = 0; i < j; ++i) y[i] -= triangle_[j][i] * y[j];
    }
    return y;
  }

private:
  static constexpr double lost = 1e-12;  // of a squared norm: three digits are left

  void choose_shifts(const SmallMatrix& gram, const SmallMatrix& image) {
    shifts_ = leja_order(eigenvalues(gram, image));
    double distance = 0.0;
    for (const Scalar& z : shifts_) distance = std::max(distance, std::abs(z - shifts_[0]));
    scale_ = std::max(0.5 * distance, 1e-3 * std::abs(shifts_[0]));
    if (!(scale_ > 0.0) || !std::isfinite(scale_)) {
      scale_ = 1.0;
      shifts_ = {0.0};
    }
  }

  std::vector<Scalar> shifts_;  // empty: powers of A
  double scale_ = 1.0;
  SmallMatrix d_, x_;
  Cholesky cholesky_;
  std::size_t good_ = 0, steps_ = 0;
  double start_ = 0.0, norm2_ = 0.0;
  std::vector<Scalar> block_f_, f_;
  std::vector<std::vector<Scalar>> triangle_;  // column j of R has j + 1 entries
};

/// The vectors of the blocks, and all columns.
template <class Problem>
class SStepGcr {
public:
  using Vector = typename Problem::Vector;
  SStepGcr(Problem& problem, const SolveOptions& options, const SStepOptions& steps)
      : problem_(&problem),
        s_(static_cast<std::size_t>(steps.s)),
        length_(static_cast<std::size_t>(options.restart_length)),
        monitor_(options, problem.source_norms2()),
        columns_(problem.source_norms2().size()),
        column_(columns_),
        r_(problem.space().create()) {}

  SolveResult run(Vector& x, bool use_initial_guess) {
    std::vector<double> norms2 = problem_->start(x, r_, use_initial_guess);
    bool first = true;
    while (monitor_.begin_cycle(norms2)) {
      enter_cycle(*problem_, r_, std::move(norms2));
      for (SStepGcrColumn& column : column_) column.restart();
      for (std::size_t done = 0; done < length_ && monitor_.running();) {
        const std::size_t k = std::min({s_, length_ - done, first ? std::size_t{4} : s_});
        block(done, k);
        done += k;
        first = false;
      }
      finish_cycle(x);
      norms2 = problem_->replace_residual(x, r_);
    }
    return monitor_.result(problem_->timings());
  }

private:
  void block(std::size_t done, std::size_t k) {
    auto& space = problem_->space();
    while (z_.size() < done + k + 1) z_.push_back(space.create());
    while (q_.size() < done + k) q_.push_back(space.create());
    for (std::size_t c = 0; c < columns_; ++c) started_[c] = monitor_.active(c);
    make_basis(done, k);
    measure(done, k);
    for (std::size_t j = 0; j < k && monitor_.running(); ++j) {
      Scalars norms2(columns_);
      for (std::size_t c = 0; c < columns_; ++c) {
        if (!monitor_.active(c)) continue;
        if (column_[c].can_step()) {
          norms2[c] = column_[c].step();
        } else {
          monitor_.pause(c, Reason::breakdown);
        }
      }
      monitor_.step(norms2);
    }
    advance(done, k);
  }

  // v_0 .. v_k in z_[done ..]; the last of them makes room for the next block.
  void make_basis(std::size_t done, std::size_t k) {
    auto& space = problem_->space();
    space.copy(z_[done], r_);
    Scalars inverse(columns_), shift(columns_);
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t c = 0; c < columns_; ++c) {
        inverse[c] = started_[c] ? 1.0 / column_[c].scale() : 0.0;
        shift[c] = -inverse[c] * column_[c].shift(j);
      }
      problem_->apply(z_[done + j + 1], z_[done + j]);
      update(space, {scale_add(z_[done + j + 1], inverse, shift, z_[done + j])});
    }
  }

  // The only reduction of a block.
  void measure(std::size_t done, std::size_t k) {
    std::vector<Dot<Vector>> dots;
    for (std::size_t j = 0; j <= k; ++j) {
      for (std::size_t i = j; i <= k; ++i) dots.push_back({&z_[done + i], &z_[done + j]});
      for (std::size_t i = 0; i < done; ++i) dots.push_back({&q_[i], &z_[done + j]});
    }
    const auto pending =
        update_and_reduce(problem_->space(), std::span<const Update<Vector>>{}, std::span<const Dot<Vector>>(dots));
    const std::span<const Scalar> sums = pending.wait();
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!started_[c]) continue;
      SmallMatrix gram(k + 1, k + 1), overlap(done, k + 1);
      std::size_t next = 0;
      for (std::size_t j = 0; j <= k; ++j) {
        for (std::size_t i = j; i <= k; ++i) {
          gram(i, j) = sums[next++ * columns_ + c];
          gram(j, i) = std::conj(gram(i, j));
        }
        for (std::size_t i = 0; i < done; ++i) overlap(i, j) = sums[next++ * columns_ + c];
      }
      if (!gram.finite() || !overlap.finite()) {
        monitor_.pause(c, Reason::not_finite);
        started_[c] = false;
        continue;
      }
      column_[c].begin(k, gram, overlap);
      if (monitor_.small_enough(c, column_[c].norm2())) monitor_.pause(c, Reason::converged);
    }
  }

  // The new images, and r after the block.
  void advance(std::size_t done, std::size_t k) {
    std::vector<Scalars> coefficients;
    coefficients.reserve(k * (done + k + 5));  // the updates refer to them
    const auto each = [&](auto&& value) -> const Scalars& {
      Scalars& out = coefficients.emplace_back(columns_);
      for (std::size_t c = 0; c < columns_; ++c)
        if (started_[c]) out[c] = value(column_[c]);
      return out;
    };
    using Column = const SStepGcrColumn&;
    std::vector<Update<Vector>> updates;
    for (std::size_t j = 0; j < k; ++j) {
      Vector& q = q_[done + j];
      updates.push_back(assign(q, each([&](Column column) { return column.recursion(j, j); }), z_[done + j],
                               each([&](Column column) { return column.recursion(j + 1, j); }), z_[done + j + 1]));
      for (std::size_t i = 0; i < done; ++i)
        updates.push_back(add(q, each([&](Column column) { return -column.x(i, j); }), q_[i]));
      for (std::size_t i = 0; i < j; ++i)
        updates.push_back(add(q, each([&](Column column) { return -column.coefficient(i, j); }), q_[done + i]));
      updates.push_back(solve::scale(q, each([&](Column column) { return column.inverse_pivot(j); })));
      updates.push_back(add(r_, each([&](Column column) { return -column.f(j); }), q));
    }
    update_and_reduce(problem_->space(), std::span<const Update<Vector>>(updates), std::span<const Dot<Vector>>{})
        .wait();
  }

  void finish_cycle(Vector& x) {
    std::vector<Scalars> y(q_.size(), Scalars(columns_));
    std::vector<const Vector*> z;
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::vector<Scalar> solution = column_[c].solve();
      for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
    }
    for (std::size_t j = 0; j < q_.size(); ++j) z.push_back(&z_[j]);
    add_combination(problem_->space(), x, y, std::span<const Vector* const>(z));
  }

  Problem* problem_;
  std::size_t s_, length_;
  Monitor monitor_;
  std::size_t columns_;
  std::vector<SStepGcrColumn> column_;
  Vector r_;
  std::vector<Vector> z_, q_;
  std::vector<bool> started_ = std::vector<bool>(columns_);  // the columns that take part in the block
};

}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp. Of `steps` it uses s.
template <class Problem>
SolveResult s_step_gcr_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options,
                          const SStepOptions& steps = {}) {
  detail::check_s_step(steps);
  return detail::SStepGcr<Problem>(problem, options, steps).run(x, options.use_initial_guess);
}

/// Solves A x = b by s-step GCR(options.restart_length). Collective.
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @throws InvalidArgument  impossible options; on every process
/// Cost: one application in each iteration, one in each cycle, one reduction for each block. It has the vector
/// operations of GCR but for s more sums; 2 restart_length + 3 work vectors.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult s_step_gcr(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                       const SolveOptions& options = {}, const SStepOptions& steps = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  return s_step_gcr_on(problem, x, options, steps);
}

}  // namespace halocline::solve
