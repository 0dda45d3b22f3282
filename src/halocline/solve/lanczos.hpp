// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The eigenvalues of smallest modulus of a hermitian operator, of both signs, with every multiplicity.
///
/// Thick-restart Lanczos (detail/thick_restart.hpp) runs on a Chebyshev polynomial of H^2
/// (detail/chebyshev_filter.hpp). The polynomial's interval comes from an unfiltered probe. By Cauchy interlacing the
/// (count + 1)-th lowest Ritz value of H^2 is an upper bound of the (count + 1)-th lowest eigenvalue, so no wanted
/// eigenvalue lies inside the damped interval. A converged vector u lies in one eigenspace of H^2. A Rayleigh-Ritz step
/// over span{u, H u} of all converged vectors splits them into eigenvectors of H with +|lambda| and -|lambda|. Each is
/// locked if its true residual is small enough.
///
/// A Krylov space contains each eigenvalue once. So sweeps are repeated, each from a new random vector orthogonal to
/// the locked vectors, until a sweep shows that the lowest remaining |lambda| is not below the largest wanted one. A
/// final Rayleigh-Ritz step with H over all locked vectors gives signed values and residuals.

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
  int count = 8;                   ///< number of eigenvalues, by increasing modulus
  double tolerance = 1e-10;        ///< on |H v - lambda v| / |H|; an eigenvalue's own error is about its square
  int basis = 0;                   ///< number of Lanczos vectors; 0 chooses 2 count + 24
  int chebyshev_degree = 24;       ///< degree of the polynomial in H^2; 1 does not filter
  int max_applications = 1000000;  ///< of H
  bool verify = true;              ///< make sure that no copy of a multiple eigenvalue was missed, by another sweep
  /// Called after each Lanczos cycle with the applications of H so far and the number of vectors found. Returning false
  /// ends the search with `cancelled`.
  std::function<bool(int applications, int found)> progress;
};

template <class Vector>
struct EigenResult {
  Reason reason = Reason::converged;  ///< breakdown: the space has fewer dimensions than `count`
  std::vector<double> values;         ///< signed, by increasing modulus; fewer than count only if not converged
  std::vector<double> residuals;      ///< |H v - lambda v|, recomputed
  std::vector<Vector> vectors;        ///< orthonormal
  double norm = 0.0;                  ///< estimate of an upper bound of |H|
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
    if (space.columns() != 1)
      refuse(std::to_string(space.columns()) + " columns given, a space of one column expected");
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

  // Estimates the bounds of H^2 from a plain Lanczos run on -H^2 (degree 1 on [-1, 1] is F = -H^2).
  bool probe(Vector start) {
    Filter plain(*space_, *h_, 1, -1.0, 1.0, applications_);
    ThickRestartLanczos<Space, Filter> lanczos(*space_, plain, size_, locked_);
    const double start_norm2 = dot(start, start);
    if (!std::isfinite(start_norm2)) return end(Reason::not_finite);
    if (!lanczos.start(std::move(start))) return end(Reason::breakdown);
    try {
      lanczos.extend();
    } catch (const core::NotFinite&) {  // the projected matrix is not finite
      return end(Reason::not_finite);
    }
    const std::size_t n = lanczos.filled();
    high_ = 1.05 * (-lanczos.value(n - 1) + lanczos.estimate(n - 1));
    low_ = n > count() ? -lanczos.value(count()) : high_;
    norm_ = std::sqrt(std::max(high_, 0.0));
    degree_ = options_.chebyshev_degree;
    if (!(low_ < 0.5 * high_)) {  // nothing to damp: keep the monotone polynomial
      degree_ = 1;
      low_ = 0.0;
    }
    if (!(high_ > 0.0)) high_ = 1.0;  // the zero operator
    return true;
  }

  // One Lanczos run orthogonal to the locked vectors. Returns true if another run is needed.
  bool sweep(Vector start) {
    Filter filter(*space_, *h_, degree_, low_, high_, applications_);
    ThickRestartLanczos<Space, Filter> lanczos(*space_, filter, size_, locked_);
    if (!lanczos.start(std::move(start))) return locked_.size() < count() ? end(Reason::breakdown) : false;
    const bool verifying = locked_.size() >= count();
    if (verifying && !options_.verify) return false;
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
        const Harvest harvest = lock(found, verifying, filter);
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

  // The largest modulus among the `count` smallest locked ones.
  double threshold() const {
    std::vector<double> moduli = moduli_;
    std::nth_element(moduli.begin(), moduli.begin() + (options_.count - 1), moduli.end());
    return moduli[count() - 1];
  }
  bool nothing_below(double square) const { return square >= threshold() * threshold(); }

  // Rayleigh-Ritz with H over span{u, H u} of all vectors found, which lie in eigenspaces of H^2. Locks the
  // eigenvectors of H whose residual is small enough.
  Harvest lock(std::vector<Vector>& found, bool verifying, Filter& filter) {
    std::vector<Vector> span, image;
    for (Vector& u : found) {
      if (orthonormalise(u, span) > 0.0) span.push_back(std::move(u));
    }
    for (const Vector& u : span) image.push_back(applied(u));
    for (std::size_t i = 0, n = span.size(); i < n; ++i) {
      Vector w = space_->create();
      space_->copy(w, image[i]);
      const double length = orthonormalise(w, span);
      if (length <= 0.01 * options_.tolerance * norm_) continue;  // u is an eigenvector of H already
      if (length < 1e-3 * norm_) {  // a small difference of large numbers: filter out the rounding errors
        Vector clean = space_->create();
        filter.apply(clean, w);
        filter.apply(w, clean);
        if (!(orthonormalise(w, span) > 0.0)) continue;
      }
      image.push_back(applied(w));
      span.push_back(std::move(w));
    }
    const HermitianEigen eigen = hermitian_eigen(span.size(), projected(span, image));
    Harvest harvest = Harvest::none;
    const double limit = verifying ? threshold() - 1e-10 * norm_ : 0.0;
    for (std::size_t i = 0; i < span.size(); ++i) {
      const double value = eigen.values[i];
      Vector v = combination(span, eigen, i), r = combination(image, eigen, i);
      const Scalars minus{-value};
      const double residual2 = update_and_reduce(*space_, {add(r, minus, v)}, {{&r, &r}}).wait()[0].real();
      if (!(std::sqrt(residual2) <= options_.tolerance * norm_)) continue;
      if (verifying && std::abs(value) >= limit) {
        if (harvest == Harvest::none) harvest = Harvest::enough;
        continue;
      }
      locked_.push_back(std::move(v));
      moduli_.push_back(std::abs(value));
      harvest = Harvest::some;
    }
    return harvest;
  }

  // Makes u a unit vector orthogonal to the locked ones and to `others`. Returns the norm of its part outside them.
  double orthonormalise(Vector& u, const std::vector<Vector>& others) {
    std::vector<const Vector*> against;
    for (const Vector& v : locked_) against.push_back(&v);
    for (const Vector& v : others) against.push_back(&v);
    const Orthogonalised ortho = orthogonalise(*space_, std::span<const Vector* const>(against), {}, u);
    if (!(ortho.norm2[0] > 1e-28 * ortho.before2[0])) return 0.0;
    const double length = std::sqrt(ortho.norm2[0]);
    const Scalars inverse{1.0 / length};
    update(*space_, {scale(u, inverse)});
    // If u was nearly inside the span, the scaling has amplified rounding errors; remove them.
    orthogonalise(*space_, std::span<const Vector* const>(against), {}, u);
    const Scalars again{1.0 / std::sqrt(dot(u, u))};
    update(*space_, {scale(u, again)});
    return length;
  }

  Vector applied(const Vector& v) {
    Vector w = space_->create();
    apply(w, v);
    return w;
  }

  // <v_i, H v_j> at [j * n + i].
  std::vector<Scalar> projected(const std::vector<Vector>& v, const std::vector<Vector>& image) {
    std::vector<Scalar> out;
    for (const Vector& w : image) {
      std::vector<Dot<Vector>> dots;
      for (const Vector& left : v) dots.push_back({&left, &w});
      const auto pending =
          update_and_reduce(*space_, std::span<const Update<Vector>>{}, std::span<const Dot<Vector>>(dots));
      const std::span<const Scalar> sums = pending.wait();
      out.insert(out.end(), sums.begin(), sums.end());
    }
    return out;
  }

  // sum_j v_j (eigenvector i)_j
  Vector combination(const std::vector<Vector>& v, const HermitianEigen& eigen, std::size_t i) {
    Vector out = space_->create();
    space_->set_zero(out);
    for (std::size_t j = 0; j < v.size(); ++j) {
      const Scalars c{eigen.vectors[i * v.size() + j]};
      update(*space_, {add(out, c, v[j])});
    }
    return out;
  }

  double residual(const Vector& v, double value) {
    Vector w = space_->create();
    apply(w, v);
    const Scalars minus{-value};
    return std::sqrt(update_and_reduce(*space_, {add(w, minus, v)}, {{&w, &w}}).wait()[0].real());
  }

  bool end(Reason reason) {
    reason_ = reason;
    return false;
  }

  // Rayleigh-Ritz with H over all locked vectors.
  EigenResult<Vector> finish(Clock::time_point begin) {
    EigenResult<Vector> out;
    const std::size_t n = locked_.size();
    if (n > 0) {
      std::vector<Vector> image;
      for (const Vector& v : locked_) image.push_back(applied(v));
      const HermitianEigen eigen = hermitian_eigen(n, projected(locked_, image));
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(eigen.values[a]) < std::abs(eigen.values[b]);
      });
      for (std::size_t i = 0; i < std::min(n, count()); ++i) {
        out.values.push_back(eigen.values[order[i]]);
        out.vectors.push_back(combination(locked_, eigen, order[i]));
        out.residuals.push_back(residual(out.vectors.back(), out.values.back()));
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
  std::vector<Vector> locked_;  // orthonormal eigenvectors of H
  std::vector<double> moduli_;  // their |lambda|
  Reason reason_ = Reason::converged;
};

}  // namespace detail

/// Finds the options.count eigenvalues of smallest modulus; degenerate ones appear with their multiplicity. Collective.
/// @param h          hermitian
/// @param randomise  callable (vector& out, int draw): fills out with independent random numbers, different in each
///                   draw
/// @throws InvalidArgument  impossible options, or a space of several columns; on every process
/// Cost: vectors of the basis, the locked vectors, and about ten more. One sweep, one to verify, and one for each
/// further copy of a multiple eigenvalue of H^2.
template <VectorSpace Space, class H, class Randomise>
  requires OperatorOn<H, Space>
EigenResult<typename Space::Vector> lanczos(Space& space, H& h, Randomise&& randomise,
                                            const EigenOptions& options = {}) {
  return detail::LowSpectrum<Space, H>(space, h, options).run(randomise);
}

}  // namespace halocline::solve
