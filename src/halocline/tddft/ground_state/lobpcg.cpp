// SPDX-License-Identifier: Apache-2.0
/// @file
/// LOBPCG with a polynomial preconditioner.
///
/// The preconditioner is an approximate inverse of T + s, the kinetic energy plus a shift: five steps of Richardson's
/// iteration with the Chebyshev roots of the interval [s, s + T_max], each one pass of the stencil. It needs no Fourier
/// transform and no coarse grid. The polynomial is positive definite, which is all that the method requires.
///
/// Residuals are made orthogonal to x before they join the basis, so that the overlap matrix stays well conditioned
/// until the residuals are rounding errors. If it does not, the steps are dropped for one iteration (dense.hpp drops
/// the remaining dependent vectors).

#include "halocline/tddft/ground_state/lobpcg.hpp"

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/region.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace halocline::tddft {
namespace {

using Set = core::AlignedArray<double>;

/// z = approximately (T + s)^-1 r; overwrites r.
class Preconditioner {
public:
  explicit Preconditioner(const ChannelProblem& problem)
      : problem_(problem),
        nothing_(static_cast<std::size_t>(problem.model().decomposition().box().points()), 0.0),
        largest_(Stencil::largest_kinetic(problem.model().decomposition().grid(), momentum())),
        shift_(std::max(0.25, largest_ / 60)),
        spare_(problem.subspace().set_doubles()) {}

  void apply(Set& z, Set& r) {
    core::Region region("tddft/preconditioner");
    constexpr int steps = 5;
    Stencil& stencil = problem_.model().hamiltonian().stencil();
    std::memset(z.data(), 0, static_cast<std::size_t>(z.size()) * sizeof(double));
    for (int step = 0; step < steps; ++step) {
      const double angle = std::numbers::pi * (2 * step + 1) / (2 * steps);
      const double weight = 1 / (shift_ + 0.5 * largest_ * (1 + std::cos(angle)));
      for (std::int64_t i = 0; i < z.size(); ++i) z[i] += weight * r[i];
      if (step + 1 == steps) break;
      stencil.apply(spare_.data(), r.data(), problem_.subspace().blocks(), nothing_, momentum(),
                    {.factor = -weight, .shift = -shift_, .base = r.data(), .base_factor = 1});
      std::swap(spare_, r);
    }
  }

private:
  Vec3 momentum() const { return problem_.model().hamiltonian().momentum(problem_.channel()); }

  const ChannelProblem& problem_;
  std::vector<double> nothing_;
  double largest_, shift_;
  Set spare_;
};

void copy(Set& to, const double* from) {
  std::memcpy(to.data(), from, static_cast<std::size_t>(to.size()) * sizeof(double));
}

/// w -= x (x^H w), then normalises each vector of w.
void project_out(const ChannelProblem& problem, const double* x, Set& w) {
  const Subspace& subspace = problem.subspace();
  const int n = subspace.vectors();
  const std::array<const double*, 2> both{x, w.data()};
  const std::array<const double*, 1> one{w.data()};
  const std::array<double*, 1> out{w.data()};
  for (int pass = 0; pass < 2; ++pass) {  // the second pass removes the error that cancellation may leave in the first
    const Matrix products = subspace.products(both, one);
    Matrix coefficients(2 * n, n);
    for (int j = 0; j < n; ++j) {
      double square = products(n + j, j).real();
      for (int i = 0; i < n; ++i) square -= std::norm(products(i, j));
      const double norm = std::sqrt(std::max(square, 1e-30 * products(n + j, j).real()));
      const double factor = norm > 0 ? 1 / norm : 0.0;
      for (int i = 0; i < n; ++i) coefficients(i, j) = -factor * products(i, j);
      coefficients(n + j, j) = factor;
    }
    subspace.combine(out, both, coefficients);
  }
}

/// Columns [c, c with the rows of x set to zero]: new vectors and new steps.
Matrix vectors_and_steps(const Matrix& c, int n) {
  Matrix out(c.rows(), 2 * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < c.rows(); ++i) {
      out(i, j) = c(i, j);
      if (i >= n) out(i, n + j) = c(i, j);
    }
  return out;
}

}  // namespace

LobpcgResult lobpcg(const ChannelProblem& problem, double* x, int iterations, double tolerance, int wanted) {
  const Subspace& subspace = problem.subspace();
  const int n = subspace.vectors();
  const std::int64_t doubles = subspace.set_doubles();
  Set hx(doubles), w(doubles), hw(doubles), p(doubles), hp(doubles), residual(doubles);
  Preconditioner preconditioner(problem);
  LobpcgResult result;
  problem.apply(hx.data(), x);
  result.values = problem.rayleigh_ritz(x, hx.data());
  bool steps = false, orthonormal = true;
  for (int iteration = 0;; ++iteration) {
    if (result.values.empty()) return result;
    if (!orthonormal) {
      result.values = problem.rayleigh_ritz(x, hx.data());
      if (result.values.empty()) return result;
    }
    copy(residual, hx.data());
    result.residuals = problem.residuals(residual.data(), x, result.values);
    double worst = 0;
    for (std::size_t i = 0; i < result.residuals.size(); ++i)
      if (subspace.first_vector() + static_cast<int>(i) < wanted) worst = std::max(worst, result.residuals[i]);
    problem.model().decomposition().orbitals().max(std::span(&worst, 1));
    if (iteration == iterations || worst < tolerance) return result;

    preconditioner.apply(w, residual);
    project_out(problem, x, w);
    problem.apply(hw.data(), w.data());
    for (;;) {
      std::vector<const double*> basis{x, w.data()}, images{hx.data(), hw.data()};
      if (steps) {
        basis.push_back(p.data());
        images.push_back(hp.data());
      }
      std::vector<const double*> right = basis;
      right.insert(right.end(), images.begin(), images.end());
      const Matrix products = subspace.products(basis, right);
      const int m = static_cast<int>(basis.size()) * n;
      const Eigenpairs pairs =
          solve_alike(problem.model().decomposition(), products.part(0, m, m, m), products.part(0, 0, m, m), n);
      if (!pairs.found || (steps && pairs.condition > 1e10)) {
        if (!steps) {
          result.values.clear();
          return result;
        }
        steps = false;
        continue;
      }
      const Matrix coefficients = vectors_and_steps(pairs.vectors, n);
      const std::array<double*, 2> out{x, p.data()}, image_out{hx.data(), hp.data()};
      subspace.combine(out, basis, coefficients);
      subspace.combine(image_out, images, coefficients);
      result.values = pairs.values;
      steps = true;
      orthonormal = pairs.condition < 1e4;
      break;
    }
  }
}

}  // namespace halocline::tddft
