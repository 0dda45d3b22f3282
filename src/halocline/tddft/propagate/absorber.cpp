// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/absorber.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

namespace halocline::tddft {

void validate(const AbsorberOptions& options, const Grid& grid) {
  using core::InvalidArgument;
  if (options.width == 0 && options.strength == 0) return;
  if (!(options.width > 0) || !std::isfinite(options.width) || !(options.strength > 0) ||
      !std::isfinite(options.strength))
    throw InvalidArgument(fmt::format("an absorber of width {:g} bohr and strength {:g} hartree given; two positive "
                                      "numbers expected",
                                      options.width, options.strength));
  if (grid.boundary == Boundary::periodic)
    throw InvalidArgument("an absorber given in a crystal, which has no walls; it is for isolated boxes");
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (const double edge = static_cast<double>(grid.extent[axis]) * grid.spacing[axis]; 2 * options.width >= edge)
      throw InvalidArgument(
          fmt::format("an absorber of width {:g} bohr given in a box of {:g} bohr along {}, where the "
                      "layers of both walls meet; take a larger box or a thinner layer",
                      options.width, edge, "xyz"[axis]));
}

Absorber::Absorber(const AbsorberOptions& options, const Decomposition& decomposition, double time_step)
    : box_(decomposition.box()) {
  const Grid& grid = decomposition.grid();
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = size(axis);
    const double inner = 0.5 * static_cast<double>(grid.extent[a]) * grid.spacing[a] - options.width;
    for (std::int64_t i = 0; i < box_.extent[a]; ++i) {
      const double depth = std::max(0.0, std::abs(grid.position(axis, box_.offset[a] + i)) - inner) / options.width;
      const double sine = std::sin(0.5 * std::numbers::pi * std::min(depth, 1.0));
      factors_[a].push_back(std::exp(-options.strength * sine * sine * time_step));
    }
  }
}

template <class T>
void Absorber::apply(T* psi, std::int64_t blocks) const {
  const core::Region region("tddft/absorber");
  const std::int64_t rows = blocks * box_.extent[2] * box_.extent[1], length = box_.extent[0];
#pragma omp parallel for schedule(static) if (rows * length >= 4096)
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t y = row % box_.extent[1], z = row / box_.extent[1] % box_.extent[2];
    const double across = factors_[1][size(y)] * factors_[2][size(z)];
    T* point = psi + row * length * numbers_per_point<T>;
    for (std::int64_t x = 0; x < length; ++x, point += numbers_per_point<T>) {
      const double factor = across * factors_[0][size(x)];
      for (int i = 0; i < numbers_per_point<T>; ++i) point[i] = static_cast<T>(point[i] * factor);
    }
  }
}
template void Absorber::apply(double*, std::int64_t) const;
template void Absorber::apply(float*, std::int64_t) const;

}  // namespace halocline::tddft
