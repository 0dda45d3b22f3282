// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"

#include "halocline/tddft/pseudopotential/detail/radial.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft::detail {

namespace {

constexpr double missed_energy = 1e-3;  // [hartree]
constexpr double trusted = 0.8;         // of pi/h
constexpr double q_step = 0.2, q_largest = 50;
constexpr double overlap2 = 0.1;  // p|psi>^2 / <p|p> of a bound orbital, which has little weight inside the core

/// h S h with the overlaps S of the projectors of an l, so that the square of the nonlocal operator is
/// sum_ij |p_i> (h S h)_ij <p_j|: for any choice of projectors of one operator.
std::vector<double> square_of_coupling(const Pseudopotential& pseudopotential, int l,
                                       const std::vector<RadialFunction>& p) {
  const std::size_t n = p.size();
  const auto h = [&](std::size_t i, std::size_t j) {
    return pseudopotential.coupling(l, static_cast<int>(i), static_cast<int>(j));
  };
  std::vector<double> square(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) square[i * n + j] += h(i, a) * p[a].overlap(p[b]) * h(b, j);
  return square;
}

}  // namespace

double coarsest_spacing(const Pseudopotential& pseudopotential) {
  constexpr double pi = std::numbers::pi;
  double density = 0;
  for (double r = 0; r < 4; r += 0.05) density = std::max(density, pseudopotential.start_density(r));

  const auto q_points = static_cast<std::size_t>(q_largest / q_step);
  std::vector<double> loss(q_points, 0.0);  // dE/dq
  for (std::size_t k = 0; k < q_points; ++k) {
    const double q = q_step * (static_cast<double>(k) + 0.5);
    const double local = pseudopotential.local_fourier(q) - 4 * pi * pseudopotential.valence() / (q * q);
    loss[k] += density / (pi * pi) * local * local;
  }
  for (int l = 0; l <= pseudopotential.largest_l(); ++l) {
    const int count = pseudopotential.projectors(l);
    std::vector<RadialFunction> p;
    for (int i = 0; i < count; ++i)
      p.emplace_back([&](double r) { return pseudopotential.projector(l, i, r); }, pseudopotential.projector_radius(l));
    const auto square = square_of_coupling(pseudopotential, l, p);
    const double electrons = std::min(pseudopotential.valence(), 2.0 * (2 * l + 1));
    std::vector<double> transform(p.size());
    for (std::size_t k = 0; k < q_points && count > 0; ++k) {
      for (std::size_t i = 0; i < p.size(); ++i)
        transform[i] = p[i].bessel_transform(l, q_step * (static_cast<double>(k) + 0.5));
      double sum = 0;
      for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t j = 0; j < p.size(); ++j) sum += transform[i] * square[i * p.size() + j] * transform[j];
      loss[k] += 2 * electrons * overlap2 * std::max(0.0, sum);
    }
  }
  double missed = 0, q = q_largest;
  for (std::size_t k = q_points; k-- > 0 && missed < missed_energy;) {
    const double more = loss[k] * q_step;
    q -= q_step * std::min(1.0, (missed_energy - missed) / more);
    missed += more;
  }
  return trusted * pi / std::max(q, q_step);
}

}  // namespace halocline::tddft::detail
