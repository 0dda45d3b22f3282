// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The eigenvalues of smallest modulus of a hermitian operator H, of both signs, with the help of an approximate
/// inverse: block Davidson.
///
/// Davidson's method (generalised: Morgan and Scott, SIAM J. Sci. Stat. Comput. 7 (1986) 817) grows an orthonormal
/// basis V. In each step the residuals r = H u - theta u of the best approximations go through a preconditioner, and
/// the results extend V. With the preconditioner M = H^-1 the new directions are those of inverse iteration, and a
/// rough M needs only a few steps more. Frommer et al. (arXiv:2004.08146) take a multigrid cycle for the low modes of a
/// Dirac operator.
///
/// The wanted eigenvalues lie inside the spectrum, where a Rayleigh-Ritz step with H takes mixtures of large positive
/// and negative eigenvalues for small ones. So there are two steps. With W = H V, the eigenvectors of W^dagger W with
/// the smallest eigenvalues span the part of the basis in which |H x| / |x| is smallest. In this part, a Rayleigh-Ritz
/// step with H gives signed values.
///
/// All vectors are blocks of columns, so operator, preconditioner and products of basis vectors act on a whole block.
/// When the basis is full, it is replaced by its best approximations (thick restart). Converged pairs stay in it.
/// Before the search ends, H is applied to the result again, and the residuals are computed once more.
///
/// The search finds what its basis sees: an eigenvector that is orthogonal to all starting vectors to rounding would be
/// missed. solve/lanczos.hpp proves by a further sweep that nothing was.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/solve/detail/davidson_basis.hpp"
#include "halocline/solve/operators.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

struct DavidsonOptions {
  int count = 8;                   ///< number of eigenvalues, by increasing modulus
  double tolerance = 1e-10;        ///< on |H v - lambda v| / |H|
  int basis = 0;                   ///< most vectors of the basis; 0 chooses count + 4 blocks
  int max_applications = 1000000;  ///< of H, to one column
  double norm = 0.0;               ///< |H|; 0 estimates it
  /// Called after each step with the applications of H so far and the number of pairs found. Returning false ends the
  /// search with `cancelled`.
  std::function<bool(int applications, int found)> progress;
};

template <class Vector>
struct DavidsonResult {
  Reason reason = Reason::converged;  ///< breakdown: the basis cannot grow to `count` vectors
  std::vector<double> values;         ///< signed, by increasing modulus
  std::vector<double> residuals;      ///< |H v - lambda v|, recomputed
  std::vector<Vector> blocks;         ///< orthonormal: vector i is column i % columns() of block i / columns()
  double norm = 0.0;                  ///< |H|, as given or estimated
  int applications = 0;               ///< of H, to one column
  int preconditionings = 0;           ///< of one column
  Timings timings;
  bool converged() const noexcept { return reason == Reason::converged; }
};

namespace detail {

template <BlockVectorSpace Space, class H, class M>
class Davidson {
public:
  using Vector = typename Space::Vector;

  Davidson(Space& space, H& h, M& m, const DavidsonOptions& options)
      : space_(&space), h_(&h), m_(&m), options_(options), width_(static_cast<std::size_t>(space.columns())) {
    const auto refuse = [](const std::string& sentence) { throw core::InvalidArgument("davidson: " + sentence); };
    if (options.count < 1) refuse("count = " + std::to_string(options.count) + " given, at least 1 expected");
    if (!(options.tolerance > 0.0)) refuse("tolerance must be positive");
    // A few approximations beyond the wanted ones: they take the place of converged pairs in the blocks.
    kept_ = in_blocks(count() + (width_ + 1) / 2);
    size_ = options.basis > 0 ? in_blocks(static_cast<std::size_t>(options.basis)) : in_blocks(count()) + 4 * width_;
    if (size_ < kept_ + width_)
      refuse("basis = " + std::to_string(options.basis) + " given, at least " + std::to_string(kept_ + width_) +
             " expected for blocks of " + std::to_string(width_));
  }

  DavidsonResult<Vector> run(std::vector<Vector> start) {
    const auto begin = Clock::now();
    if (start.empty()) throw core::InvalidArgument("davidson: no start vectors given");
    try {
      out_.norm = options_.norm > 0.0 ? options_.norm : estimated_norm(start.front());
      DavidsonBasis<Space> basis(*space_, size_);
      for (Vector& block : start) {
        if (basis.size() + width_ > size_) basis.restart(basis.low(kept_));
        extend(basis, std::move(block));
      }
      while (step(basis)) {
      }
      finish(basis);
    } catch (const core::NotFinite&) {  // a projected matrix is not finite
      out_.reason = Reason::not_finite;
    }
    out_.timings.total = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(out_);
  }

private:
  static constexpr int most_steps_without_gain = 50;

  std::size_t count() const { return static_cast<std::size_t>(options_.count); }
  std::size_t in_blocks(std::size_t n) const { return (n + width_ - 1) / width_ * width_; }

  void apply(Vector& out, const Vector& in) {
    const Stopwatch watch(out_.timings.apply);
    h_->apply(out, in);
    out_.applications += static_cast<int>(width_);
  }

  bool extend(DavidsonBasis<Space>& basis, Vector block) {
    return basis.extend(std::move(block), [&](Vector& image, const Vector& v) { apply(image, v); });
  }

  bool end(Reason reason) {
    out_.reason = reason;
    return false;
  }

  // An estimate of |H| by a short Lanczos run in each column.
  double estimated_norm(const Vector& start) {
    constexpr int steps = 8;
    Vector v = space_->create(), before = space_->create(), w = space_->create();
    space_->copy(v, start);
    space_->set_zero(before);
    std::vector<std::vector<double>> alpha(width_), beta(width_);
    std::vector<double> norms2 = real_parts(reduce(*space_, {{&v, &v}}).wait());
    Scalars inverse(width_), minus(width_), back(width_, Scalar(0.0));
    for (int k = 0; k < steps; ++k) {
      for (std::size_t c = 0; c < width_; ++c) inverse[c] = norms2[c] > 0.0 ? 1.0 / std::sqrt(norms2[c]) : 0.0;
      update(*space_, {scale(v, inverse)});
      apply(w, v);
      const auto along = update_and_reduce(*space_, {add(w, back, before)}, {{&v, &w}});
      for (std::size_t c = 0; c < width_; ++c) {
        alpha[c].push_back(along.wait()[c].real());
        minus[c] = -alpha[c].back();
      }
      const auto rest = update_and_reduce(*space_, {add(w, minus, v)}, {{&w, &w}});
      norms2 = real_parts(rest.wait());
      for (std::size_t c = 0; c < width_; ++c) {
        beta[c].push_back(std::sqrt(norms2[c]));
        back[c] = -beta[c].back();
      }
      std::swap(before, v);
      std::swap(v, w);
    }
    double norm = 0.0;
    for (std::size_t c = 0; c < width_; ++c) norm = std::max(norm, largest_ritz(alpha[c], beta[c]));
    return norm;
  }

  // Evaluates the basis, and extends it unless the search is over. Returns false at the end.
  bool step(DavidsonBasis<Space>& basis) {
    Ritz low = basis.low(kept_);
    residuals_ = basis.residuals(low);
    const double wanted = options_.tolerance * out_.norm;
    std::vector<std::size_t> open;
    std::size_t found = 0;
    double worst = 0.0;
    for (std::size_t i = 0; i < low.values.size(); ++i) {
      const bool good = residuals_[i] <= wanted;
      if (!good) open.push_back(i);
      if (i >= count()) continue;
      found += good ? 1 : 0;
      worst = std::max(worst, residuals_[i]);
    }
    if (!std::isfinite(worst)) return end(Reason::not_finite);
    if (options_.progress && !options_.progress(out_.applications, static_cast<int>(found)))
      return end(Reason::cancelled);
    if (found == count()) {
      if (fresh_) return end(Reason::converged);
      basis.restart(low);
      basis.renew([&](Vector& image, const Vector& v) { apply(image, v); });
      fresh_ = true;
      return true;
    }
    fresh_ = false;
    if (out_.applications >= options_.max_applications) return end(Reason::iteration_limit);
    if (found > most_found_ || worst < 0.9 * best_ || basis.active() < count()) {
      most_found_ = std::max(most_found_, found);
      best_ = std::min(best_, worst);
      idle_ = 0;
    } else if (++idle_ > most_steps_without_gain) {
      return end(Reason::stagnation);
    }
    if (basis.size() + width_ > size_) {
      basis.restart(low);
      low = basis.low(kept_);
    }
    if (open.size() > width_) open.resize(width_);
    Vector r = basis.residual(low, open), t = space_->create();
    {
      const Stopwatch watch(out_.timings.precondition);
      m_->apply(t, r);
      out_.preconditionings += static_cast<int>(width_);
    }
    if (extend(basis, std::move(t))) return true;
    return end(basis.active() < count() ? Reason::breakdown : Reason::stagnation);
  }

  void finish(DavidsonBasis<Space>& basis) {
    if (out_.reason == Reason::not_finite) return;
    const Ritz low = basis.low(kept_);
    const std::size_t n = std::min(count(), low.values.size());
    const std::vector<double> residuals = basis.residuals(low);
    out_.values.assign(low.values.begin(), low.values.begin() + static_cast<std::ptrdiff_t>(n));
    out_.residuals.assign(residuals.begin(), residuals.begin() + static_cast<std::ptrdiff_t>(n));
    out_.blocks = basis.vectors(low, n);
  }

  Space* space_;
  H* h_;
  M* m_;
  DavidsonOptions options_;
  std::size_t width_, kept_ = 0, size_ = 0;
  DavidsonResult<Vector> out_;
  std::vector<double> residuals_;
  bool fresh_ = false;  // the images of the basis were just computed from its vectors
  std::size_t most_found_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  int idle_ = 0;
};

}  // namespace detail

/// Finds the options.count eigenvalues of smallest modulus. Collective.
/// @param space  its columns are the width of a block
/// @param h      hermitian, the same in every column
/// @param m      `apply(out, in)`: approximates H^-1 in every column; it may change from call to call
/// @param start  blocks of start vectors, taken over. Columns of zeros, or that depend on others, count as absent
/// @throws InvalidArgument  impossible options, no start vectors; on every process
/// Cost: 2 basis + 4 blocks of vectors. A step applies H and M to a block; for a basis of k blocks it takes 4 k Gram
/// matrices and 6 k products of a block with a small matrix.
template <BlockVectorSpace Space, class H, class M>
  requires OperatorOn<H, Space> && OperatorOn<M, Space>
DavidsonResult<typename Space::Vector> davidson(Space& space, H& h, M& m, std::vector<typename Space::Vector> start,
                                                const DavidsonOptions& options = {}) {
  return detail::Davidson<Space, H, M>(space, h, m, options).run(std::move(start));
}

}  // namespace halocline::solve
