// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>

namespace halocline::tddft {

/// Puts scalar fields where a block has its numbers. A block has eight numbers a point, of which the stencil takes
/// those in front: densities, or components of vectors.
void GridExchangeCorrelation::fill(int fields, const double* field, std::int64_t points) {
  if (block_.size() != points * doubles_per_point) block_ = core::AlignedArray<double>(points * doubles_per_point);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i)
    for (int k = 0; k < fields; ++k) block_[i * doubles_per_point + k] = field[k * points + i];
}

double GridExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil) {
  return evaluate({}, v, n, stencil);
}

/// @param f  the energy at each point, shape (points,), or empty
double GridExchangeCorrelation::evaluate(std::span<double> f, std::span<double> v, std::span<const double> n,
                                         Stencil& stencil) {
  if (!xc_.has_gradients()) return xc_.evaluate(f, v, {}, n, {});
  const auto points = static_cast<std::int64_t>(n.size()) / spins_;
  gradient_.resize(3 * n.size());
  flux_.resize(3 * n.size());
  divergence_.resize(n.size());
  fill(spins_, n.data(), points);
  stencil.gradient(gradient_, block_.data(), spins_);
  const double energy = xc_.evaluate(f, v, flux_, n, gradient_);
  fill(3 * spins_, flux_.data(), points);
  stencil.divergence(divergence_, block_.data(), spins_);
  const auto values = static_cast<std::int64_t>(v.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < values; ++i) v[static_cast<std::size_t>(i)] -= divergence_[static_cast<std::size_t>(i)];
  return energy;
}

void GridExchangeCorrelation::add_defect(std::span<double> field, std::span<const double> n,
                                         std::span<const double> slopes, bool second, Stencil& stencil) {
  const std::size_t points = n.size() / size(spins_);
  std::vector<double> f(points), v(n.size()), part(3 * points);
  evaluate(f, v, n, stencil);
  for (std::size_t s = 0; s < size(spins_); ++s)
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t i = 0; i < points; ++i)
        field[axis * points + i] += v[s * points + i] * slopes[(3 * s + axis) * points + i];

  // The processes with parts of the slopes have the same box: each takes part in the sweeps, one of them counts.
  const double counts = second ? 1.0 : 0.0;
  fill(1, f.data(), static_cast<std::int64_t>(points));
  stencil.gradient(part, block_.data(), 1);
  for (std::size_t i = 0; i < part.size(); ++i) field[i] -= counts * part[i];
  if (!xc_.has_gradients()) return;
  std::vector<double> product(3 * points), divergence(points);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::ranges::fill(product, 0.0);
    for (std::size_t s = 0; s < size(spins_); ++s)
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t i = 0; i < points; ++i)
          product[b * points + i] += flux_[(3 * s + b) * points + i] * gradient_[(3 * s + axis) * points + i];
    fill(3, product.data(), static_cast<std::int64_t>(points));
    stencil.divergence(divergence, block_.data(), 1);
    for (std::size_t i = 0; i < points; ++i) field[axis * points + i] += counts * divergence[i];
  }
}

}  // namespace halocline::tddft
