// SPDX-License-Identifier: Apache-2.0
/// @file
/// The four lanes of a block are four Lanczos sequences from different random vectors; the widest result counts.

#include "halocline/tddft/propagate/detail/spectral_ends.hpp"

#include "halocline/core/philox.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Eigenvalues>

namespace halocline::tddft::detail {
namespace {

constexpr int steps = 30;
using Lanes = std::array<double, orbital_lanes>;

/// Random numbers that depend only on the position in the whole grid.
core::AlignedArray<double> random_block(const Decomposition& decomposition) {
  const Box& box = decomposition.box();
  const Grid& grid = decomposition.grid();
  core::AlignedArray<double> block(box.points() * doubles_per_point);
  const core::Philox random(1928);
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x) {
        const std::int64_t site =
            x + box.offset[0] + grid.extent[0] * (y + box.offset[1] + grid.extent[1] * (z + box.offset[2]));
        auto numbers = random.at(static_cast<std::uint64_t>(site));
        double* out = block.data() + box.index(x, y, z) * doubles_per_point;
        for (int i = 0; i < doubles_per_point; ++i) out[i] = numbers.uniform() - 0.5;
      }
  return block;
}

Lanes real_products(const Model& model, const double* a, const double* b) {
  std::array<double, doubles_per_point> products{};
  model.inner_products(products, a, b, 1);
  return {products[0], products[2], products[4], products[6]};
}

void scale(core::AlignedArray<double>& block, const Lanes& factors) {
  for (std::int64_t i = 0; i < block.size(); ++i) block[i] *= factors[static_cast<std::size_t>(i % 8 / 2)];
}

SpectralEnds widened(const std::vector<double>& alpha, const std::vector<double>& beta) {
  // A sequence that has exhausted its space continues with zeros, which are not eigenvalues of H.
  std::size_t used = 0;
  while (used < alpha.size() && (used == 0 || beta[used - 1] > 1e-12 * std::abs(alpha[0]) + 1e-300)) ++used;
  const auto n = static_cast<Eigen::Index>(used);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(Eigen::Map<const Eigen::VectorXd>(alpha.data(), n),
                                Eigen::Map<const Eigen::VectorXd>(beta.data(), n - 1));
  const double rest = beta[used - 1];
  return {solver.eigenvalues()(0) - rest * std::abs(solver.eigenvectors()(n - 1, 0)),
          solver.eigenvalues()(n - 1) + rest * std::abs(solver.eigenvectors()(n - 1, n - 1))};
}

SpectralEnds ends_of(Model& model, std::int64_t channel) {
  core::AlignedArray<double> v = random_block(model.decomposition());
  core::AlignedArray<double> previous(v.size()), w(v.size());
  std::array<std::vector<double>, orbital_lanes> alpha, beta;
  const auto normalise = [&](core::AlignedArray<double>& block) {
    Lanes norm = real_products(model, block.data(), block.data()), inverse{};
    for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
      norm[lane] = std::sqrt(norm[lane]);
      inverse[lane] = norm[lane] > 0 ? 1 / norm[lane] : 0.0;
    }
    scale(block, inverse);
    return norm;
  };
  normalise(v);
  Lanes last{};
  for (int step = 0; step < steps; ++step) {
    model.hamiltonian().apply(channel, w.data(), v.data(), 1);
    const Lanes a = real_products(model, v.data(), w.data());
    for (std::int64_t i = 0; i < w.size(); ++i) {
      const auto lane = static_cast<std::size_t>(i % 8 / 2);
      w[i] -= a[lane] * v[i] + last[lane] * previous[i];
    }
    last = normalise(w);
    for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
      alpha[lane].push_back(a[lane]);
      beta[lane].push_back(last[lane]);
    }
    std::swap(previous, v);
    std::swap(v, w);
  }
  SpectralEnds ends{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
    const SpectralEnds one = widened(alpha[lane], beta[lane]);
    ends.low = std::min(ends.low, one.low);
    ends.high = std::max(ends.high, one.high);
  }
  return ends;
}

}  // namespace

SpectralEnds spectral_ends(Model& model) {
  SpectralEnds ends{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::int64_t channel = 0; channel < model.decomposition().channels().size(); ++channel) {
    const SpectralEnds one = ends_of(model, channel);
    ends.low = std::min(ends.low, one.low);
    ends.high = std::max(ends.high, one.high);
  }
  model.decomposition().world().min(std::span(&ends.low, 1));
  model.decomposition().world().max(std::span(&ends.high, 1));
  return ends;
}

double largest_eigenvalue(Model& model, const Field& field) {
  const SpectralEnds ends = spectral_ends(model);
  double largest = std::max(std::abs(ends.low), std::abs(ends.high));
  const Grid& grid = model.system().grid;
  // Add the largest effect of the fields: kinetic energy where A is largest, potential energy in a corner of the box.
  if (field.gauge == Gauge::length) {
    const Vec3 e = field.largest_field();
    for (int axis = 0; axis < 3; ++axis) largest += 0.5 * e[size(axis)] * grid.length(axis);
    return largest;
  }
  const Vec3 a = field.largest_potential();
  // A field that answers the current may ring; that of a film enters with up to twice the applied one.
  const bool answers = field.response.geometry != Response::Geometry::transverse || field.way.has_value();
  const double bound = answers ? 2.0 : 1.0;
  double more = 0;
  for (const Channel& channel : model.system().channels) {
    const double rest = Stencil::largest_kinetic(grid, channel.k);
    // The largest energy is a convex function of q, so it is largest in a corner; on orthogonal axes in this one.
    for (int corner = 0; corner < (grid.skew() ? 8 : 1); ++corner) {
      Vec3 q = channel.k;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double reach = bound * (a[axis] + std::abs(field.kick[axis]));
        const bool back = grid.skew() ? ((corner >> axis) & 1) != 0 : q[axis] < 0;
        q[axis] += back ? -reach : reach;
      }
      more = std::max(more, Stencil::largest_kinetic(grid, q) - rest);
    }
  }
  return largest + more;
}

}  // namespace halocline::tddft::detail
