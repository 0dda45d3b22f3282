// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ground_state/predictor.hpp"

#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/dense.hpp"
#include "halocline/tddft/ground_state/start.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"
#include "halocline/tddft/ions/ions.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace halocline::tddft {
namespace {

std::vector<Vec3> positions_of(const Model& model) {
  std::vector<Vec3> positions;
  for (const Atom& atom : model.system().atoms) positions.push_back(atom.position);
  return positions;
}

/// The density of the pseudo-atoms, shared between the spins as `density` is. @return shape (spins, points)
std::vector<double> atoms_density(const Model& model, std::span<const double> density) {
  return shared_between_spins(model.decomposition(), start_density(model.system(), model.decomposition()), density);
}

/// The factors a, b of the last steps whose sum comes closest to the next one. Where several do, as on a straight path,
/// those closest to the parabola through equal steps in time: 2 and -1.
/// @param steps  latest first, one or two
std::vector<double> factors_of(const std::vector<std::vector<Vec3>>& steps, const std::vector<Vec3>& next) {
  const auto product = [](const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) sum += a[i][axis] * b[i][axis];
    return sum;
  };
  std::vector<double> factors = steps.size() == 1 ? std::vector<double>{1.0} : std::vector<double>{2.0, -1.0};
  factors.resize(steps.size());
  std::vector<double> matrix, right;
  for (const auto& one : steps) {
    right.push_back(product(one, next));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      matrix.push_back(product(one, steps[i]));
      right.back() -= matrix.back() * factors[i];
    }
  }
  if (std::ranges::all_of(matrix, [](double x) { return x == 0; })) return std::vector<double>(steps.size(), 0.0);
  const std::vector<double> change = least_squares(matrix, right, 1e-6);
  // Factors far beyond those of a smooth path would only amplify.
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = std::clamp(factors[i] + change[i], -3.0, 3.0);
  return factors;
}

std::vector<Vec3> difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  std::vector<Vec3> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) d[i][axis] = a[i][axis] - b[i][axis];
  return d;
}

/// Weights of the last geometries from the factors of the steps between them: 1 + a, b - a, c - b, ...
std::vector<double> weights_of(const std::vector<double>& factors) {
  std::vector<double> weights(factors.size() + 1, 0.0);
  weights[0] = 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    weights[i] += factors[i];
    weights[i + 1] -= factors[i];
  }
  return weights;
}

/// to = sum_i weights_i (orbitals of geometry i, rotated to those of geometry 0).
void extrapolate(const Model& model, Orbitals& to, std::span<const Orbitals* const> from,
                 std::span<const double> weights) {
  const Subspace subspace(model.decomposition(), 0);
  const int n = subspace.vectors();
  for (std::int64_t channel = 0; channel < to.channels(); ++channel) {
    const bool any = to.blocks() > 0;
    std::vector<const double*> sets;
    for (const Orbitals* one : from) sets.push_back(any ? one->block(channel, 0) : nullptr);
    Matrix coefficients(n * static_cast<int>(sets.size()), n);
    for (int i = 0; i < n; ++i) coefficients(i, i) = weights[0];
    for (std::size_t s = 1; s < sets.size(); ++s) {
      const std::array<const double*, 1> left{sets[s]}, right{sets[0]};
      const Matrix overlap = subspace.products(left, right);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) coefficients(n * static_cast<int>(s) + i, j) = weights[s] * overlap(i, j);
    }
    const std::array<double*, 1> out{any ? to.block(channel, 0) : nullptr};
    subspace.combine(out, sets, coefficients);
  }
}

}  // namespace

void Predictor::remember(Model& model, const State& state) {
  Past now{positions_of(model), state.density, {}};
  const std::vector<double> atoms = atoms_density(model, state.density);
  for (std::size_t i = 0; i < atoms.size(); ++i) now.rest[i] -= atoms[i];
  // The orbitals of the last geometry are those of last_.
  if (!past_.empty() && most_orbitals_ > 0) past_.front().orbitals = std::move(last_.orbitals);
  past_.push_front(std::move(now));
  if (past_.size() > 3) past_.pop_back();
  for (std::size_t i = 0; i < past_.size(); ++i)
    if (i > size(most_orbitals_)) past_[i].orbitals = Orbitals();
  last_ = state;
}

State Predictor::move(Model& model, std::span<const Vec3> positions) {
  core::Region region("tddft/predicted start");
  model.move_atoms(positions);
  if (past_.empty()) return model.empty_state();
  State start = last_;
  std::vector<std::vector<Vec3>> steps;
  for (std::size_t i = 1; i < past_.size(); ++i)
    steps.push_back(difference(past_[i - 1].positions, past_[i].positions));
  const std::vector<Vec3> next =
      difference(std::vector<Vec3>(positions.begin(), positions.end()), past_.front().positions);

  const std::vector<double> weights = weights_of(factors_of(steps, next));
  const std::vector<double> atoms = atoms_density(model, last_.density);
  for (std::size_t i = 0; i < start.density.size(); ++i) {
    start.density[i] = atoms[i];
    for (std::size_t p = 0; p < past_.size(); ++p) start.density[i] += weights[p] * past_[p].rest[i];
  }
  make_physical(model, start.density);

  std::vector<const Orbitals*> sets{&last_.orbitals};
  for (std::size_t i = 1; i < past_.size() && past_[i].orbitals.points() > 0; ++i) sets.push_back(&past_[i].orbitals);
  if (sets.size() > 1) {
    const std::vector<double> of_orbitals =
        sets.size() == past_.size() ? weights : weights_of(factors_of({steps.begin(), steps.begin() + 1}, next));
    extrapolate(model, start.orbitals, sets, of_orbitals);
  }
  return start;
}

}  // namespace halocline::tddft
