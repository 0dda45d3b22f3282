// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conjugate gradients with one reduction in s iterations.
///
/// Communication-avoiding CG: Hoemmen, thesis, Berkeley 2010; Carson and Demmel, SIAM J. Matrix Anal. Appl.
/// 35 (2014) 22. The next s residuals and directions lie in the span of
///   Y = [T_0(A) p, ..., T_s(A) p, T_0(A) r, ..., T_{s-1}(A) r],
/// in which A is a small matrix B: A Y = Y B, for all but the highest T. One reduction makes G = Y^dagger Y. Then s
/// iterations of CG act on the coordinates p', r' and x' of a column,
///   alpha = r'^dagger G r' / p'^dagger G B p',  x' += alpha p',  r' -= alpha B p',  beta likewise,  p' = r' + beta p',
/// and at the end of the block x += Y x', r = Y r', p = Y p'. In exact arithmetic the iterates are those of CG.
///
/// T_j are the Chebyshev polynomials of the interval that contains the Ritz values of the first iterations of a cycle;
/// these are blocks of one. On the interval they stay below one, so that Y remains well conditioned where powers of A
/// would not. Methods that need no basis of p (s-step CG of Chronopoulos and Gear, in the same basis; three-term CG)
/// apply A only s times in a block. They were tried, and fail on matrices on which CG loses orthogonality.
///
/// Rounding errors of long blocks let the recursion drift from b - A x faster than CG does. `options.replacement`
/// bounds the drift at the ends of blocks, as in CG, and the true residual is verified in any case.

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/detail/small_matrix.hpp"
#include "halocline/solve/hermitian_eigen.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

struct SStepOptions {
  int s = 4;         ///< iterations for each reduction
  int warm_up = 10;  ///< CG: iterations with one reduction each at the start of a cycle, which find the spectrum's ends
};

namespace detail {

inline void check_s_step(const SStepOptions& steps) {
  if (steps.s < 1 || steps.warm_up < 1)
    throw core::InvalidArgument("s-step solver: s = " + std::to_string(steps.s) +
                                " and warm_up = " + std::to_string(steps.warm_up) + " given, both at least 1 expected");
}

/// CG of one column in the coordinates of a block. Names as at the top of s_step_cg.hpp.
class SStepColumn {
public:
  /// Forgets the interval and the coefficients that it comes from.
  void restart() { *this = SStepColumn(); }

  double centre() const noexcept { return centre_; }
  double width() const noexcept { return width_; }
  /// The eigenvalues of the tridiagonal matrix of Lanczos, which CG has made on the way, give the interval.
  void estimate_interval() {
    const std::size_t n = alpha_.size();
    if (n == 0) return;
    std::vector<Scalar> t(n * n);  // its lower triangle is read
    for (std::size_t i = 0; i < n; ++i) {
      t[i * n + i] = 1.0 / alpha_[i] + (i > 0 ? beta_[i - 1] / alpha_[i - 1] : 0.0);
      if (i + 1 < n) t[i * n + i + 1] = std::sqrt(beta_[i]) / alpha_[i];
    }
    const std::vector<double> ritz = hermitian_eigen(n, t).values;
    constexpr double margin = 1.05;  // Ritz values lie inside the spectrum
    const double low = ritz.front() / margin, high = margin * ritz.back();
    if (!(high > low)) return;
    centre_ = 0.5 * (high + low);
    width_ = 0.5 * (high - low);
  }

  /// Starts a block of k iterations.
  void begin(std::size_t k, SmallMatrix gram) {
    gram_ = std::move(gram);
    b_ = SmallMatrix(2 * k + 1, 2 * k + 1);
    recursion(0, k);
    recursion(k + 1, k - 1);
    x_.assign(2 * k + 1, 0.0);
    p_ = r_ = x_;
    p_[0] = 1.0;
    r_[k + 1] = 1.0;
    rho_ = start_ = norm2();
  }
  double norm2() const { return product(r_, r_).real(); }
  /// <p, A p>
  double curvature() {
    bp_ = times(b_, p_);
    return product(p_, bp_).real();
  }
  /// One iteration; returns |r|^2, which cannot be resolved below rounding errors of its value at the start.
  double step(double alpha) {
    for (std::size_t i = 0; i < p_.size(); ++i) {
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * bp_[i];
    }
    const double next = norm2(), beta = next / rho_;
    resolved_ = !(next <= unresolved * start_);
    if (!resolved_) return unresolved * start_;
    for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r_[i] + beta * p_[i];
    rho_ = next;
    if (p_.size() == 3) {  // a block of one
      alpha_.push_back(alpha);
      beta_.push_back(beta);
    }
    return next;
  }
  double rho() const noexcept { return rho_; }
  bool resolved() const noexcept { return resolved_; }

  const std::vector<Scalar>& x() const noexcept { return x_; }
  const std::vector<Scalar>& r() const noexcept { return r_; }
  const std::vector<Scalar>& p() const noexcept { return p_; }

private:
  static constexpr double unresolved = 1e-15;

  // A T_0 = width T_1 + centre T_0,  A T_j = width/2 (T_{j+1} + T_{j-1}) + centre T_j, for j < count.
  void recursion(std::size_t first, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t i = first + j;
      b_(i, i) = centre_;
      b_(i + 1, i) = j == 0 ? width_ : 0.5 * width_;
      if (j > 0) b_(i - 1, i) = 0.5 * width_;
    }
  }
  static std::vector<Scalar> times(const SmallMatrix& m, const std::vector<Scalar>& v) {
    std::vector<Scalar> out(m.rows());
    for (std::size_t j = 0; j < m.columns(); ++j)
      for (std::size_t i = 0; i < m.rows(); ++i) out[i] += m(i, j) * v[j];
    return out;
  }
  Scalar product(const std::vector<Scalar>& left, const std::vector<Scalar>& right) const {
    const std::vector<Scalar> image = times(gram_, right);
    Scalar sum = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += std::conj(left[i]) * image[i];
    return sum;
  }

  double centre_ = 0.0, width_ = 1.0;  // T_1(A) = A until the spectrum is known
  std::vector<double> alpha_, beta_;   // of the blocks of one
  SmallMatrix gram_, b_;
  std::vector<Scalar> x_, r_, p_, bp_;
  double rho_ = 0.0, start_ = 0.0;
  bool resolved_ = true;
};

/// The vectors of the blocks, and all columns.
template <class Problem>
class SStepCg {
public:
  using Vector = typename Problem::Vector;
  SStepCg(Problem& problem, const SolveOptions& options, const SStepOptions& steps)
      : problem_(&problem),
        steps_(steps),
        monitor_(options, problem.source_norms2()),
        columns_(problem.source_norms2().size()),
        column_(columns_),
        r_(problem.space().create()),
        p_(problem.space().create()) {}

  SolveResult run(Vector& x, bool use_initial_guess) {
    std::vector<double> norms2 = problem_->start(x, r_, use_initial_guess);
    while (monitor_.begin_cycle(norms2)) {
      enter_cycle(*problem_, r_, std::move(norms2));
      problem_->space().copy(p_, r_);
      for (SStepColumn& column : column_) column.restart();
      for (int i = 0; i < steps_.warm_up && monitor_.running(); ++i) block(x, 1);
      for (std::size_t c = 0; c < columns_; ++c)
        if (monitor_.active(c)) column_[c].estimate_interval();
      while (monitor_.running()) block(x, static_cast<std::size_t>(steps_.s));
      norms2 = problem_->replace_residual(x, r_);
    }
    return monitor_.result(problem_->timings());
  }

private:
  void block(Vector& x, std::size_t k) {
    for (std::size_t c = 0; c < columns_; ++c) started_[c] = monitor_.active(c);
    make_basis(k);
    measure(k);
    for (std::size_t j = 0; j < k && monitor_.running(); ++j) iterate();
    advance(x, k);
    if (monitor_.wants_replacement()) replace(x);
  }

  // T_1(A) v .. T_count(A) v of the vector v = chain[0].
  void make_chain(std::vector<Vector*> chain) {
    auto& space = problem_->space();
    Scalars slope(columns_), shift(columns_), twice_slope(columns_), twice_shift(columns_), minus(columns_);
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!started_[c]) continue;
      slope[c] = 1.0 / column_[c].width();
      shift[c] = -column_[c].centre() / column_[c].width();
      twice_slope[c] = 2.0 * slope[c];
      twice_shift[c] = 2.0 * shift[c];
      minus[c] = -1.0;
    }
    for (std::size_t j = 0; j + 1 < chain.size(); ++j) {
      problem_->apply(*chain[j + 1], *chain[j]);
      update(space, {j == 0 ? scale_add(*chain[1], slope, shift, *chain[0])
                            : scale_add(*chain[j + 1], twice_slope, twice_shift, *chain[j], minus, *chain[j - 1])});
    }
  }

  void make_basis(std::size_t k) {
    while (work_.size() < 2 * k - 1) work_.push_back(problem_->space().create());
    std::vector<Vector*> of_p{&p_}, of_r{&r_};
    for (std::size_t i = 0; i < k; ++i) of_p.push_back(&work_[i]);
    for (std::size_t i = k; i < 2 * k - 1; ++i) of_r.push_back(&work_[i]);
    make_chain(of_p);
    make_chain(of_r);
    basis_.assign(of_p.begin(), of_p.end());
    basis_.insert(basis_.end(), of_r.begin(), of_r.end());
  }

  // The only reduction of a block.
  void measure(std::size_t k) {
    std::vector<Dot<Vector>> dots;
    for (std::size_t j = 0; j < basis_.size(); ++j)
      for (std::size_t i = j; i < basis_.size(); ++i) dots.push_back({basis_[i], basis_[j]});
    const auto pending =
        update_and_reduce(problem_->space(), std::span<const Update<Vector>>{}, std::span<const Dot<Vector>>(dots));
    const std::span<const Scalar> sums = pending.wait();
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!started_[c]) continue;
      SmallMatrix gram(basis_.size(), basis_.size());
      std::size_t next = 0;
      for (std::size_t j = 0; j < basis_.size(); ++j)
        for (std::size_t i = j; i < basis_.size(); ++i) {
          gram(i, j) = sums[next++ * columns_ + c];
          gram(j, i) = std::conj(gram(i, j));
        }
      if (!gram.finite()) {
        monitor_.pause(c, Reason::not_finite);
        started_[c] = false;
        continue;
      }
      column_[c].begin(k, std::move(gram));
      if (monitor_.small_enough(c, column_[c].rho())) monitor_.pause(c, Reason::converged);
    }
  }

  void iterate() {
    Scalars norms2(columns_);
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!monitor_.active(c)) continue;
      const double curvature = column_[c].curvature();
      if (curvature <= 0.0) monitor_.pause(c, Reason::breakdown);
      const double alpha = monitor_.quotient(c, column_[c].rho(), curvature).real();
      if (monitor_.active(c)) norms2[c] = column_[c].step(alpha);
    }
    monitor_.step(norms2);
    for (std::size_t c = 0; c < columns_; ++c)
      if (started_[c] && !column_[c].resolved()) monitor_.pause(c, Reason::breakdown);
  }

  // x += Y x', r = Y r', p = Y p'.
  void advance(Vector& x, std::size_t k) {
    auto& space = problem_->space();
    const std::size_t size = 2 * k + 1;
    std::vector<Scalars> to_x(size, Scalars(columns_)), to_r = to_x, to_p = to_x;
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!started_[c]) continue;
      for (std::size_t i = 0; i < size; ++i) {
        to_x[i][c] = column_[c].x()[i];
        to_r[i][c] = column_[c].r()[i];
        to_p[i][c] = column_[c].p()[i];
      }
    }
    while (next_.size() < 2) next_.push_back(space.create());
    std::vector<Update<Vector>> updates;
    for (std::size_t i = 0; i < size; ++i) {
      updates.push_back(add(x, to_x[i], *basis_[i]));
      updates.push_back(i == 0 ? assign(next_[0], to_r[i], *basis_[i]) : add(next_[0], to_r[i], *basis_[i]));
      updates.push_back(i == 0 ? assign(next_[1], to_p[i], *basis_[i]) : add(next_[1], to_p[i], *basis_[i]));
    }
    update_and_reduce(space, std::span<const Update<Vector>>(updates), std::span<const Dot<Vector>>{}).wait();
    std::swap(r_, next_[0]);
    std::swap(p_, next_[1]);
  }

  // p - r is beta times the last direction; it stays.
  void replace(Vector& x) {
    auto& space = problem_->space();
    const Scalars mask = monitor_.replacement_mask();
    Scalars minus;
    for (const Scalar& m : mask) minus.push_back(-m);
    update(space, {add(p_, minus, r_)});
    monitor_.replaced(mask, problem_->replace_residual(x, r_, mask));
    update(space, {add(p_, mask, r_)});
  }

  Problem* problem_;
  SStepOptions steps_;
  Monitor monitor_;
  std::size_t columns_;
  std::vector<SStepColumn> column_;
  Vector r_, p_;
  std::vector<Vector> work_, next_;
  std::vector<const Vector*> basis_;                         // Y
  std::vector<bool> started_ = std::vector<bool>(columns_);  // the columns that take part in the block
};

}  // namespace detail

/// Iterates on a linear system in the form of problem.hpp.
template <class Problem>
SolveResult s_step_cg_on(Problem& problem, typename Problem::Vector& x, const SolveOptions& options,
                         const SStepOptions& steps = {}) {
  detail::check_s_step(steps);
  return detail::SStepCg<Problem>(problem, options, steps).run(x, options.use_initial_guess);
}

/// Solves A x = b. Collective.
/// @param a  hermitian positive
/// @param x  the solution; on entry the initial guess if options.use_initial_guess
/// @throws InvalidArgument  impossible options; on every process
/// Cost: for every s iterations one reduction of 2 s^2 + 3 s + 1 products, 2 s - 1 applications and 6 s + 3 vector
/// additions; 2 s + 4 work vectors. CG has 2 s reductions and s applications. So it pays where the latency of the sums
/// is longer than an application.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult s_step_cg(Space& space, A& a, typename Space::Vector& x, const typename Space::Vector& b,
                      const SolveOptions& options = {}, const SStepOptions& steps = {}) {
  LinearProblem<Space, A> problem(space, a, b);
  return s_step_cg_on(problem, x, options, steps);
}

}  // namespace halocline::solve
