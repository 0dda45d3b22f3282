// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pulay and Broyden in terms of the differences of successive densities and residuals.
///
/// With sum c_i = 1 Pulay's combination is the newest density plus multiples of the differences. The conditions are the
/// normal equations  sum_l <dF_k|dF_l> g_l = <dF_k|F>, and the next density is n + w F - sum_k g_k (dn_k + w dF_k).
/// Johnson's form is the same with w_0^2 added to the diagonal, for normalised differences.

#include "halocline/tddft/ground_state/mixing.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/dense.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halocline::tddft {
namespace {

/// In eight interleaved parts: a fixed order that SIMD units can follow.
double dot(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t parts = 8;
  std::array<double, parts> sum{};
  std::size_t i = 0;
  for (; i + parts <= a.size(); i += parts)
    for (std::size_t j = 0; j < parts; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

std::vector<std::string> Mixer::kinds() { return {"pulay", "broyden", "linear"}; }

Mixer::Mixer(const comm::Communicator& space, const std::string& kind, double weight, int history, Damping damping)
    : space_(space),
      kind_(kind),
      weight_(weight),
      history_(static_cast<std::size_t>(std::max(1, history))),
      damping_(std::move(damping)) {
  const std::vector<std::string> known = kinds();
  if (std::find(known.begin(), known.end(), kind) == known.end())
    throw core::InvalidArgument(
        fmt::format("the mixing \"{}\" is not known; there are {}", kind, fmt::join(known, ", ")));
  if (!(weight > 0 && weight <= 1))
    throw core::InvalidArgument(fmt::format("the weight of mixing is {}; it must be above 0 and at most 1", weight));
  if (history < 1)
    throw core::InvalidArgument(fmt::format("the history of mixing is {} densities; it must be at least 1", history));
}

std::vector<double> Mixer::dots(std::span<const std::vector<double>* const> left,
                                std::span<const std::vector<double>* const> right) const {
  std::vector<double> sums;
  sums.reserve(left.size() * right.size());
  for (const auto* a : left)
    for (const auto* b : right) sums.push_back(dot(*a, *b));
  space_.sum(sums);
  return sums;
}

void Mixer::add_damped(std::span<double> in, std::vector<double> step) const {
  if (damping_) damping_(step);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] += weight_ * step[i];
}

void Mixer::mix(std::span<double> in, std::span<const double> out) {
  assert(in.size() == out.size());
  std::vector<double> residual(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) residual[i] = out[i] - in[i];
  if (kind_ == "linear") return add_damped(in, std::move(residual));

  if (!last_residual_.empty()) {
    assert(last_residual_.size() == residual.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      last_density_[i] = in[i] - last_density_[i];
      last_residual_[i] = residual[i] - last_residual_[i];
    }
    density_steps_.push_back(std::move(last_density_));
    residual_steps_.push_back(std::move(last_residual_));
    if (residual_steps_.size() > history_) {
      density_steps_.pop_front();
      residual_steps_.pop_front();
    }
  }
  last_density_.assign(in.begin(), in.end());
  last_residual_ = residual;

  std::vector<const std::vector<double>*> steps;
  for (const auto& step : residual_steps_) steps.push_back(&step);
  const std::size_t n = steps.size();
  std::vector<double> gram = dots(steps, steps);
  const std::vector<const std::vector<double>*> now{&residual};
  std::vector<double> right = dots(steps, now);

  // Normalise the differences, so that the cut of small eigenvalues and Johnson's w_0 mean the same in every iteration.
  // A difference of the size of rounding is left out: what it says is noise, and normalised it would be large noise,
  // which does not even keep the number of electrons.
  const std::vector<const std::vector<double>*> density{&last_density_};
  const double rounding = n > 0 ? 1e-26 * dots(density, density)[0] : 0.0;
  std::vector<double> norm(n);
  for (std::size_t k = 0; k < n; ++k) norm[k] = gram[k * n + k] > rounding ? 1 / std::sqrt(gram[k * n + k]) : 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    right[k] *= norm[k];
    for (std::size_t l = 0; l < n; ++l) gram[k * n + l] *= norm[k] * norm[l];
    if (kind_ == "broyden") gram[k * n + k] += 1e-4;
  }
  // Where residuals are far from linear, differences that almost depend on each other give a density far from all that
  // are known. Then fewer combinations of them count.
  std::vector<double> squares;
  for (const auto& step : density_steps_) squares.push_back(dot(step, step));
  space_.sum(squares);
  const double farthest = squares.empty() ? 0.0 : *std::ranges::max_element(squares);
  std::vector<double> move, factors;
  for (const double cut : {1e-12, 1e-8, 1e-5, 1e-2}) {
    factors = least_squares(gram, right, cut);
    move.assign(in.size(), 0.0);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < in.size(); ++i) move[i] -= factors[k] * norm[k] * density_steps_[k][i];
    const std::vector<const std::vector<double>*> moved{&move};
    if (dots(moved, moved)[0] <= 4 * farthest) break;
  }
  for (std::size_t i = 0; i < in.size(); ++i) in[i] += move[i];
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < in.size(); ++i) residual[i] -= factors[k] * norm[k] * residual_steps_[k][i];
  add_damped(in, std::move(residual));
}

}  // namespace halocline::tddft
