// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

namespace halocline::tddft {

double GridExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil) {
  if (!xc_.has_gradients()) return xc_.evaluate(v, n);
  const auto points = static_cast<std::int64_t>(n.size()) / spins_;
  if (block_.size() != points * doubles_per_point) {
    block_ = core::AlignedArray<double>(points * doubles_per_point);
    gradient_.resize(3 * n.size());
    flux_.resize(3 * n.size());
    divergence_.resize(n.size());
  }
  // A block has eight numbers a point, of which the stencil takes those in front: densities, or components of the flux.
  const auto fill = [&](int fields, const double* field) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < points; ++i)
      for (int k = 0; k < fields; ++k) block_[i * doubles_per_point + k] = field[k * points + i];
  };
  fill(spins_, n.data());
  stencil.gradient(gradient_, block_.data(), spins_);
  const double energy = xc_.evaluate(v, flux_, n, gradient_);
  fill(3 * spins_, flux_.data());
  stencil.divergence(divergence_, block_.data(), spins_);
  const auto values = static_cast<std::int64_t>(v.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < values; ++i) v[static_cast<std::size_t>(i)] -= divergence_[static_cast<std::size_t>(i)];
  return energy;
}

}  // namespace halocline::tddft
