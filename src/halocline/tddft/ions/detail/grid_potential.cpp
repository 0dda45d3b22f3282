// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/grid_potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace halocline::tddft::detail {
namespace {

using std::numbers::pi;

/// Of the window, in units of pi/h. A smaller centre makes energies depend less on the place between grid points, and
/// shifts them more (docs/tddft-accuracy.md).
constexpr double centre = 1.0, width = 0.12;
constexpr double steps_per_wave = 24;  ///< of the table, of the shortest wave

}  // namespace

GridPotential::GridPotential(const Pseudopotential& species, double spacing)
    : species_(&species), charge_(species.valence()), radius_(species.local_radius()) {
  if (spacing == 0 || !std::isfinite(radius_)) return;
  const double shortest = pi / spacing;  // [1/bohr]
  const double last = shortest * (centre + 3.5 * width);
  const double smooth = 8.5 / (shortest * (centre - 3 * width));  // s: exp(-q^2 s^2 / 2) = 2e-16 there
  // Beyond, neither the first term, nor the window, nor the potential itself differ from -Z/r.
  radius_ = std::max({6.2 * std::numbers::sqrt2 * smooth, 11 / (width * shortest), species.local_radius()});

  // Simpson's rule in q, fine enough for the waves of the largest r.
  const int half = static_cast<int>(std::ceil(0.5 * last * radius_ / 0.4));
  const double dq = 0.5 * last / half;
  std::vector<double> q, weighted;
  for (int i = 1; i <= 2 * half; ++i) {
    const double at = i * dq, g2 = at * at;
    const double window = 0.5 * std::erfc((at / shortest - centre) / width);
    const double value = species.local_fourier(at) + 4 * pi * charge_ * std::expm1(-0.5 * g2 * smooth * smooth) / g2;
    const double simpson = i == 2 * half ? 1 : i % 2 == 1 ? 4 : 2;
    q.push_back(at);
    weighted.push_back(simpson * dq / 3 * window * value * at / (2 * pi * pi));
  }
  const auto steps = static_cast<std::size_t>(std::ceil(radius_ * last * steps_per_wave / (2 * pi)));
  const double step = radius_ / static_cast<double>(steps);
  per_step_ = 1 / step;
  std::vector<double> value(steps + 1), slope(steps + 1);
  for (std::size_t n = 0; n <= steps; ++n) {
    const double r = step * static_cast<double>(n);
    if (r > 0) {
      const double error = std::erf(r / (std::numbers::sqrt2 * smooth));
      const double gauss = std::sqrt(2 / pi) / smooth * std::exp(-0.5 * r * r / (smooth * smooth));
      value[n] = -charge_ * error / r;
      slope[n] = charge_ * (error / r - gauss) / r;
    } else {
      value[n] = -charge_ * std::sqrt(2 / pi) / smooth;
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double x = q[i] * r;
      if (x < 1e-3) {
        value[n] += weighted[i] * q[i] * (1 - x * x / 6);
        slope[n] -= weighted[i] * q[i] * q[i] * x / 3;
      } else {
        const double sine = std::sin(x), cosine = std::cos(x);
        value[n] += weighted[i] * sine / r;
        slope[n] += weighted[i] * (x * cosine - sine) / (r * r);
      }
    }
  }
  for (std::size_t n = 0; n < steps; ++n) {
    const double rise = value[n + 1] - value[n], first = step * slope[n], second = step * slope[n + 1];
    table_.insert(table_.end(), {value[n], first, 3 * rise - 2 * first - second, first + second - 2 * rise});
  }
}

void GridPotential::fill(double* out, const double* squares, double beside, std::int64_t n) const {
  if (table_.empty()) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = species_->local(std::sqrt(squares[i] + beside));
    return;
  }
  // The places in a loop of their own, so that their square roots are computed in vectors.
  constexpr std::int64_t most = 64;
  std::array<std::int32_t, most> steps;
  std::array<double, most> rests;
  const double per_step = per_step_;
  for (std::int64_t first = 0; first < n; first += most) {
    const auto count = static_cast<std::size_t>(std::min(most, n - first));
    const double* from = squares + first;
    double* to = out + first;
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
      const double x = std::sqrt(from[i] + beside) * per_step;
      steps[i] = static_cast<std::int32_t>(x);
      rests[i] = x - static_cast<double>(steps[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double* c = table_.data() + std::ptrdiff_t{4} * steps[i];
      const double t = rests[i];
      to[i] = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    }
  }
}

}  // namespace halocline::tddft::detail
