// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conjugate gradients for (T + q^2/2) u = q^2/2 r. The densities of the spins are in the lanes of one block of
/// orbitals.

#include "halocline/tddft/ground_state/kerker.hpp"

#include "halocline/core/aligned_array.hpp"

#include <algorithm>
#include <array>

namespace halocline::tddft {
namespace {

using Block = core::AlignedArray<double>;
using Lanes = std::array<double, orbital_lanes>;

Lanes dots(const Model& model, const Block& a, const Block& b) {
  std::array<double, doubles_per_point> products{};
  model.inner_products(products, a.data(), b.data(), 1);
  Lanes real{};
  for (std::size_t lane = 0; lane < real.size(); ++lane) real[lane] = products[2 * lane];
  return real;
}

/// y = s y + a x
void combine(Block& y, const Lanes& s, const Lanes& a, const Block& x) {
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const auto lane = static_cast<std::size_t>(i % doubles_per_point / 2);
    y[i] = s[lane] * y[i] + a[lane] * x[i];
  }
}

}  // namespace

void damp_long_waves(Model& model, std::span<double> residual, double wave_number) {
  constexpr double tolerance = 1e-6;
  constexpr int most = 500;
  const auto points = static_cast<std::size_t>(model.decomposition().box().points());
  const auto spins = static_cast<std::size_t>(model.system().spins);
  const double half_square = 0.5 * wave_number * wave_number;
  const std::vector<double> nothing(points, 0.0);
  const auto doubles = static_cast<std::int64_t>(points) * doubles_per_point;
  Block u(doubles), r(doubles), p(doubles), ap(doubles);
  const auto place = [](std::size_t point, std::size_t spin) {
    return static_cast<std::int64_t>(point * doubles_per_point + 2 * spin);
  };
  for (std::size_t spin = 0; spin < spins; ++spin)
    for (std::size_t i = 0; i < points; ++i) r[place(i, spin)] = half_square * residual[spin * points + i];
  p = r;
  const Lanes one{1, 1, 1, 1};
  Lanes rr = dots(model, r, r);
  const Lanes start = rr;
  for (int iteration = 0; iteration < most; ++iteration) {
    bool small = true;
    for (std::size_t lane = 0; lane < rr.size(); ++lane)
      small = small && rr[lane] <= tolerance * tolerance * start[lane];
    if (small) break;
    model.hamiltonian().stencil().apply(ap.data(), p.data(), 1, nothing, {}, {.factor = 1.0, .shift = -half_square});
    const Lanes pap = dots(model, p, ap);
    Lanes alpha{}, minus{}, beta{};
    for (std::size_t lane = 0; lane < alpha.size(); ++lane) {
      alpha[lane] = pap[lane] > 0 ? rr[lane] / pap[lane] : 0.0;
      minus[lane] = -alpha[lane];
    }
    combine(u, one, alpha, p);
    combine(r, one, minus, ap);
    const Lanes next = dots(model, r, r);
    for (std::size_t lane = 0; lane < beta.size(); ++lane) beta[lane] = rr[lane] > 0 ? next[lane] / rr[lane] : 0.0;
    combine(p, beta, one, r);
    rr = next;
  }
  for (std::size_t spin = 0; spin < spins; ++spin)
    for (std::size_t i = 0; i < points; ++i) residual[spin * points + i] -= u[place(i, spin)];
}

}  // namespace halocline::tddft
