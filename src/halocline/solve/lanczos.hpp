// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The eigenvalues of smallest modulus of a hermitian operator, of both signs, with every multiplicity.
///
/// Thick-restart Lanczos (detail/thick_restart.hpp) runs on a Chebyshev polynomial of H^2 (detail/chebyshev_filter.hpp)
/// whose interval comes from an unfiltered probe: the (count + 1)-th lowest Ritz value of H^2 bounds the eigenvalue of
/// that number from above (Cauchy interlacing), so nothing wanted lies inside the damped interval. A converged
/// vector u lies in one eigenspace of H^2; in span{u, H u} it is split into eigenvectors of H with +|lambda| and
/// -|lambda|, and each is locked when its true residual says so.
///
/// A Krylov space holds each eigenvalue once. So after a sweep another one starts from a new random vector
/// orthogonal to the locked ones, until a sweep shows that the lowest |lambda| left is not below the largest wanted.
/// A final Rayleigh-Ritz step with H over all locked vectors gives signed values and residuals.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/detail/chebyshev_filter.hpp"
#include "halocline/solve/detail/thick_restart.hpp"
#include "halocline/solve/operators.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve {

struct EigenOptions {
  int count = 8;                  ///< how many eigenvalues, by increasing modulus
  double tolerance = 1e-10;       ///< on |H v - lambda v| / |H|; an eigenvalue's own error is about its square
  int basis = 0;                  ///< Lanczos vectors; 0 chooses 2 count + 24
  int chebyshev_degree = 24;      ///< in H^2; 1 filters nothing
  int max_applications = 1000000; ///< of H
  /// Called after each Lanczos cycle with applications of H so far and vectors found; false ends with `cancelled`.
  std::function<bool(int applications, int found)> progress;
};

template <class Vector>
struct EigenResult {
  Reason reason = Reason::converged;  ///< breakdown: the space has fewer dimensions than `count`
  std::vector<double> values;         ///< signed, by increasing modulus; fewer than count only if not converged
  std::vector<double> residuals;      ///< |H v - lambda v|, recomputed
  std::vector<Vector> vectors;        ///< orthonormal
  double norm = 0.0;                  ///< estimate of |H|, from above
  int applications = 0;               ///< of H
  Timings timings;
  bool converged() const noexcept { return reason == Reason::converged; }
};

namespace detail {

template <VectorSpace Space, class H>
class LowSpectrum {
public:
  using Vector = typename Space::Vector;

  LowSpectrum(Space& space, H& h, const EigenOptions& options) : space_(&space), h_(&h), options_(options) {
    const auto refuse = [](const std::string& sentence) { throw core::InvalidArgument("lanczos: " + sentence); };
    if (space.columns() != 1) refuse(std::to_string(space.columns()) + " columns given, a space of one column expected");
    if (options.count < 1) refuse("count = " + std::to_string(options.count) + " given, at least 1 expected");
    if (!(options.tolerance > 0.0)) refuse("tolerance must be positive");
    if (options.chebyshev_degree < 1) refuse("chebyshev_degree must be at least 1");
    size_ = options.basis > 0 ? static_cast<std::size_t>(options.basis) : 2 * count() + 24;
    if (size_ < count() + 3)
      refuse("basis = " + std::to_string(size_) + " given, at least count + 3 = " + std::to_string(count() + 3) +
             " expected");
  }

  template <class Randomise>
  EigenResult<Vector> run(Randomise&& randomise) {
    const auto begin = Clock::now();
    int draw = 0;
    const auto random = [&] {
      Vector v = space_->create();
      randomise(v, draw++);
      return v;
    };
    if (probe(random())) {
      while (sweep(random())) {
      }
    }
    return finish(begin);
  }

private:
  using Filter = ChebyshevFilter<Space, H>;
  std::size_t count() const { return static_cast<std::size_t>(options_.count); }
  double dot(const Vector& a, const Vector& b) { return reduce(*space_, {{&a, &b}}).wait()[0].real(); }
  void apply(Vector& out, const Vector& in) {
    h_->apply(out, in);
    ++applications_;
  }

  // Bounds of H^2 from a plain Lanczos run on -H^2 (degree 1 on [-1, 1] is F = -H^2).
  bool probe(Vector start) {
    Filter plain(*space_, *h_, 1, -1.0, 1.0, applications_);
    ThickRestartLanczos<Space, Filter> lanczos(*space_, plain, size_, locked_);
    const double start_norm2 = dot(start, start);
    if (!std::isfinite(start_norm2)) return end(Reason::not_finite);
    if (!lanczos.start(std::move(start))) return end(Reason::breakdown);
    try {
      lanczos.extend();
    } catch (const core::Error&) {  // the projected matrix is not finite
      return end(Reason::not_finite);
    }
    const std::size_t n = lanczos.filled();
    high_ = 1.05 * (-lanczos.value(n - 1) + lanczos.estimate(n - 1));
    low_ = n > count() ? -lanczos.value(count()) : high_;
    norm_ = std::sqrt(std::max(high_, 0.0));
    degree_ = options_.chebyshev_degree;
    if (!(low_ < 0.5 * high_)) {  // nothing to damp: stay with the monotone polynomial
      degree_ = 1;
      low_ = 0.0;
    }
    if (!(high_ > 0.0)) high_ = 1.0;  // the zero operator
    return true;
  }

  // One Lanczos run outside the locked vectors; true when another is needed.
  bool sweep(Vector start) {
    Filter filter(*space_, *h_, degree_, low_, high_, applications_);
    ThickRestartLanczos<Space, Filter> lanczos(*space_, filter, size_, locked_);
    if (!lanczos.start(std::move(start))) return locked_.size() < count() ? end(Reason::breakdown) : false;
    const bool verifying = locked_.size() >= count();
    const std::size_t want = verifying ? 1 : count() - locked_.size();
    double accuracy = 0.1 * options_.tolerance;
    while (true) {
      lanczos.extend();
      const std::size_t n = lanczos.filled();
      if (verifying && nothing_below(filter.inverse(lanczos.value(0) + lanczos.estimate(0)))) return false;
      const std::size_t target = std::min(want, n);
      std::size_t done = 0;
      while (done < target && lanczos.estimate(done) <= accuracy * std::abs(lanczos.value(done))) ++done;
      if (options_.progress && !options_.progress(applications_, static_cast<int>(locked_.size() + done)))
        return end(Reason::cancelled);
      if (done == target || lanczos.exhausted()) {
        std::vector<Vector> found;
        for (std::size_t i = 0; i < (lanczos.exhausted() ? target : done); ++i) found.push_back(lanczos.vector(i));
        const Harvest harvest = lock(found, verifying);
        if (harvest == Harvest::enough) return false;
        if (harvest == Harvest::some) return true;
        accuracy *= 0.1;
        if (accuracy < 1e-17 || lanczos.exhausted()) return end(Reason::stagnation);
      }
      if (applications_ >= options_.max_applications) return end(Reason::iteration_limit);
      const std::size_t keep = std::min(target + (n - target) / 3, n - 2);
      lanczos.restart(keep);
    }
  }

  enum class Harvest { none, some, enough };

  // Largest modulus among the `count` smallest locked ones.
  double threshold() const {
    std::vector<double> moduli = moduli_;
    std::nth_element(moduli.begin(), moduli.begin() + (options_.count - 1), moduli.end());
    return moduli[count() - 1];
  }
  bool nothing_below(double square) const { return square >= threshold() * threshold(); }

  // Splits vectors of eigenspaces of H^2 into eigenvectors of H and locks those whose residual is good.
  Harvest lock(std::vector<Vector>& found, bool verifying) {
    Harvest harvest = Harvest::none;
    for (Vector& u : found) {
      const double weight = orthonormalise(u);
      if (weight < 0.5) {  // its space was locked with an earlier one
        harvest = Harvest::some;
        continue;
      }
      Vector w = space_->create(), hw = space_->create();
      apply(w, u);
      const double uu = dot(u, w);
      const Scalars minus{-uu};
      const auto pending = update_and_reduce(*space_, {add(w, minus, u)}, {{&w, &w}});
      const double length = std::sqrt(pending.wait()[0].real());
      if (length <= options_.tolerance * norm_) {
        if (verifying && std::abs(uu) >= threshold() - 1e-10 * norm_) return Harvest::enough;
        keep(std::move(u), std::abs(uu));
        harvest = Harvest::some;
        continue;
      }
      const Scalars inverse{1.0 / length};
      update(*space_, {scale(w, inverse)});
      apply(hw, w);
      const double ww = dot(w, hw);
      const std::vector<Scalar> matrix{uu, length, length, ww};
      const HermitianEigen pair = hermitian_eigen(2, matrix);
      for (std::size_t i = 0; i < 2; ++i) {
        const Scalars a{pair.vectors[2 * i]}, b{pair.vectors[2 * i + 1]};
        Vector v = space_->create();
        update(*space_, {assign(v, a, u, b, w)});
        if (orthonormalise(v) < 0.5 || residual(v, pair.values[i]) > options_.tolerance * norm_) continue;
        if (verifying && std::abs(pair.values[i]) >= threshold() - 1e-10 * norm_) {
          if (harvest == Harvest::none) harvest = Harvest::enough;
          continue;
        }
        keep(std::move(v), std::abs(pair.values[i]));
        harvest = Harvest::some;
      }
    }
    return harvest;
  }

  // Returns the part of |u|^2 that was outside the locked vectors.
  double orthonormalise(Vector& u) {
    std::vector<const Vector*> locked;
    for (const Vector& v : locked_) locked.push_back(&v);
    const Orthogonalised ortho = orthogonalise(*space_, std::span<const Vector* const>(locked), {}, u);
    const Scalars inverse{ortho.norm2[0] > 0.0 ? 1.0 / std::sqrt(ortho.norm2[0]) : 0.0};
    update(*space_, {scale(u, inverse)});
    return ortho.before2[0] > 0.0 ? ortho.norm2[0] / ortho.before2[0] : 0.0;
  }

  double residual(const Vector& v, double value) {
    Vector w = space_->create();
    apply(w, v);
    const Scalars minus{-value};
    return std::sqrt(update_and_reduce(*space_, {add(w, minus, v)}, {{&w, &w}}).wait()[0].real());
  }

  void keep(Vector v, double modulus) {
    locked_.push_back(std::move(v));
    moduli_.push_back(modulus);
  }

  bool end(Reason reason) {
    reason_ = reason;
    return false;
  }

  // Rayleigh-Ritz with H over everything locked.
  EigenResult<Vector> finish(Clock::time_point begin) {
    EigenResult<Vector> out;
    const std::size_t n = locked_.size();
    std::vector<Scalar> projected(n * n);
    Vector w = space_->create();
    for (std::size_t j = 0; j < n; ++j) {
      apply(w, locked_[j]);
      std::vector<Dot<Vector>> dots;
      for (const Vector& v : locked_) dots.push_back({&v, &w});
      const auto pending =
          update_and_reduce(*space_, std::span<const Update<Vector>>{}, std::span<const Dot<Vector>>(dots));
      for (std::size_t i = 0; i < n; ++i) projected[j * n + i] = pending.wait()[i];
    }
    if (n > 0) {
      const HermitianEigen eigen = hermitian_eigen(n, projected);
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(eigen.values[a]) < std::abs(eigen.values[b]);
      });
      for (std::size_t i = 0; i < std::min(n, count()); ++i) {
        Vector v = space_->create();
        space_->set_zero(v);
        for (std::size_t j = 0; j < n; ++j) {
          const Scalars c{eigen.vectors[order[i] * n + j]};
          update(*space_, {add(v, c, locked_[j])});
        }
        out.values.push_back(eigen.values[order[i]]);
        out.residuals.push_back(residual(v, out.values.back()));
        out.vectors.push_back(std::move(v));
      }
    }
    out.reason = reason_;
    out.norm = norm_;
    out.applications = applications_;
    out.timings.total = std::chrono::duration<double>(Clock::now() - begin).count();
    return out;
  }

  Space* space_;
  H* h_;
  EigenOptions options_;
  std::size_t size_ = 0;
  int degree_ = 1;
  double low_ = 0.0, high_ = 1.0, norm_ = 0.0;
  int applications_ = 0;
  std::vector<Vector> locked_;   // orthonormal eigenvectors of H
  std::vector<double> moduli_;   // their |lambda|
  Reason reason_ = Reason::converged;
};

}  // namespace detail

/// Finds the options.count eigenvalues of smallest modulus, degenerate ones as often as they occur. Collective.
/// @param h          hermitian
/// @param randomise  callable (vector& out, int draw): fills out with independent random numbers, others for each draw
/// @throws InvalidArgument  impossible options, or a space of several columns; on every process
/// Cost: basis + locked + about ten vectors; one sweep, one to verify, and one for each further copy of a multiple
/// eigenvalue of H^2.
template <VectorSpace Space, class H, class Randomise>
  requires OperatorOn<H, Space>
EigenResult<typename Space::Vector> lanczos(Space& space, H& h, Randomise&& randomise,
                                            const EigenOptions& options = {}) {
  return detail::LowSpectrum<Space, H>(space, h, options).run(randomise);
}

}  // namespace halocline::solve
