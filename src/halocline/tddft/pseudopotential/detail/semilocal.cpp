// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/semilocal.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/cubic_spline.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace halocline::tddft::detail {

namespace {

constexpr double end_of_projector = 1e-6;  // fraction of its maximum
constexpr double no_projector = 1e-8;      // limit of h times the projector's norm [hartree] below which there is none

/// Integral of the cubic spline through f.
double integral(const std::vector<double>& r, const std::vector<double>& f) {
  const CubicSpline spline(r, f);
  double sum = 0;
  for (std::size_t i = 1; i < r.size(); ++i) {
    const double h = r[i] - r[i - 1];
    sum += h / 6 * (f[i - 1] + 4 * spline.value(r[i - 1] + 0.5 * h) + f[i]);
  }
  return sum;
}

void add_projector(Tabulated& table, const Semilocal& semilocal, int l, std::vector<double>& strength) {
  const auto& r = semilocal.r;
  const auto &v = semilocal.channels[at(l)].potential, &u = semilocal.channels[at(l)].u;
  if (u.empty()) return;
  std::vector<double> values(r.size()), product(r.size()), square(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) {
    values[i] = (v[i] - table.local[i]) * u[i];
    product[i] = values[i] * u[i];
    square[i] = values[i] * values[i];
  }
  // The strength norm/energy does not depend on how u is normalised: unbound states fill their box.
  const double energy = integral(r, product), norm = integral(r, square);
  if (!(norm > no_projector * std::abs(energy)) || energy == 0 || !trim_projector(values, end_of_projector)) return;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = r[i] > 0 ? values[i] / r[i] : 0.0;
  table.projectors.push_back({l, std::move(values)});
  strength.push_back(1 / energy);
}

void make_start_density(Tabulated& table, const Semilocal& semilocal) {
  const auto& r = semilocal.r;
  const auto electrons = filling(table.valence);
  std::vector<double> n(r.size(), 0.0), charge(r.size(), 0.0);
  for (std::size_t i = 0; i < r.size(); ++i)
    for (std::size_t l = 0; l < semilocal.channels.size(); ++l)
      if (const auto& u = semilocal.channels[l].u; !u.empty()) {
        charge[i] += electrons[l] * u[i] * u[i];
        if (r[i] > 0) n[i] += electrons[l] * u[i] * u[i] / (4 * std::numbers::pi * r[i] * r[i]);
      }
  const double total = integral(r, charge);
  if (!(total > 0)) return;
  for (double& value : n) value *= table.valence / total;
  table.density = std::move(n);
}

}  // namespace

std::array<double, 4> filling(double valence) {
  std::array<double, 4> electrons{};
  for (int l = 0; l < 4; ++l) {
    electrons[at(l)] = std::min(valence, 2.0 * (2 * l + 1));
    valence -= electrons[at(l)];
  }
  return electrons;
}

void fill_separable(Tabulated& table, Semilocal semilocal) {
  table.local = semilocal.channels[at(semilocal.local_l)].potential;
  std::vector<double> strength;
  for (int l = 0; l < static_cast<int>(semilocal.channels.size()); ++l)
    if (l != semilocal.local_l) add_projector(table, semilocal, l, strength);
  const std::size_t count = strength.size();
  table.coupling.assign(count * count, 0.0);
  for (std::size_t i = 0; i < count; ++i) table.coupling[i * count + i] = strength[i];
  make_start_density(table, semilocal);
  table.r = std::move(semilocal.r);
}

}  // namespace halocline::tddft::detail
