// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

namespace halocline::tddft {

double GridExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil) {
  if (!xc_.has_gradients()) return xc_.evaluate(v, n);
  const auto points = static_cast<std::int64_t>(n.size()) / spins_;
  if (block_.size() != points * doubles_per_point) {
    block_ = core::AlignedArray<double>(points * doubles_per_point);
    slopes_ = core::AlignedArray<double>(3 * block_.size());
    gradient_.resize(3 * n.size());
    flux_.resize(3 * n.size());
  }
  // A block has eight numbers a point, of which the stencil takes each for itself: two densities, or six components.
  const auto slopes_of = [&](int fields, const double* field) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < points; ++i)
      for (int k = 0; k < doubles_per_point; ++k)
        block_[i * doubles_per_point + k] = k < fields ? field[k * points + i] : 0.0;
    stencil.slopes(slopes_.data(), block_.data());
  };
  const auto slope = [&](int axis, std::int64_t i, int field) {
    return slopes_[(axis * points + i) * doubles_per_point + field];
  };

  slopes_of(spins_, n.data());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i)
    for (int s = 0; s < spins_; ++s)
      for (int axis = 0; axis < 3; ++axis)
        gradient_[static_cast<std::size_t>((3 * s + axis) * points + i)] = slope(axis, i, s);
  const double energy = xc_.evaluate(v, flux_, n, gradient_);
  slopes_of(3 * spins_, flux_.data());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i)
    for (int s = 0; s < spins_; ++s)
      v[static_cast<std::size_t>(s * points + i)] -=
          slope(0, i, 3 * s) + slope(1, i, 3 * s + 1) + slope(2, i, 3 * s + 2);
  return energy;
}

}  // namespace halocline::tddft
