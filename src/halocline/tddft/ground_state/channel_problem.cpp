// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rayleigh-Ritz in the span of all orbitals of a channel.

#include "halocline/tddft/ground_state/channel_problem.hpp"

#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <array>
#include <cmath>

namespace halocline::tddft {
namespace {

void broadcast(const Decomposition& decomposition, std::span<std::byte> bytes) {
  decomposition.orbitals().broadcast(bytes, 0);
  decomposition.space().broadcast(bytes, 0);
}

}  // namespace

void ChannelProblem::apply(double* out, const double* in) const {
  model_.hamiltonian().apply(channel_, out, in, subspace_.blocks());
}

int ChannelProblem::fill_zeros(double* x, std::uint64_t seed, int wanted) const {
  const Decomposition& decomposition = model_.decomposition();
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const core::Philox random(seed, 0x6f7262);  // a separate stream: "orb"
  const auto vectors = static_cast<std::uint64_t>(subspace_.vectors());
  const auto first_draw = static_cast<std::uint64_t>(decomposition.channels().begin + channel_) * vectors;
  std::vector<double> squares(size(subspace_.blocks()) * doubles_per_point);
  model_.inner_products(squares, x, x, subspace_.blocks());

  int filled = 0;
  for (std::int64_t i = 0; i < subspace_.blocks() * orbital_lanes; ++i) {
    if (squares[2 * size(i)] != 0) continue;
    const std::int64_t vector = subspace_.first_vector() + i;
    if (vector < wanted) ++filled;
    double* lane = x + i / orbital_lanes * box.points() * doubles_per_point + 2 * (i % orbital_lanes);
    for (std::int64_t iz = 0; iz < box.extent[2]; ++iz)
      for (std::int64_t iy = 0; iy < box.extent[1]; ++iy)
        for (std::int64_t ix = 0; ix < box.extent[0]; ++ix) {
          const std::int64_t site =
              ix + box.offset[0] + grid.extent[0] * (iy + box.offset[1] + grid.extent[1] * (iz + box.offset[2]));
          // A block of Philox gives two doubles: one complex number for each draw.
          auto numbers = random.at(static_cast<std::uint64_t>(site), first_draw + static_cast<std::uint64_t>(vector));
          const auto [re, im] = numbers.gaussian_pair();
          lane[box.index(ix, iy, iz) * doubles_per_point] = re;
          lane[box.index(ix, iy, iz) * doubles_per_point + 1] = im;
        }
  }
  return filled;
}

Eigenpairs ChannelProblem::solve_alike(const Matrix& h, const Matrix& s, int wanted) const {
  core::Region region("tddft/dense eigenproblem");
  Eigenpairs pairs = generalised_eigenpairs(h, s, wanted);
  const Decomposition& decomposition = model_.decomposition();
  if (decomposition.space().size() * decomposition.orbitals().size() == 1) return pairs;
  std::array<double, 2> known{pairs.found ? 1.0 : 0.0, pairs.condition};
  broadcast(decomposition, std::as_writable_bytes(std::span(known)));
  pairs.found = known[0] == 1.0;
  pairs.condition = known[1];
  if (!pairs.found) return {};
  if (pairs.values.size() != size(wanted))
    pairs = {std::vector<double>(size(wanted)), Matrix(h.rows(), wanted), true, pairs.condition};
  broadcast(decomposition, std::as_writable_bytes(std::span(pairs.values)));
  broadcast(decomposition, std::as_writable_bytes(std::span(pairs.vectors.data(), pairs.vectors.size())));
  return pairs;
}

std::vector<double> ChannelProblem::rayleigh_ritz(double* x, double* hx) const {
  constexpr double well_conditioned = 1e4;  // times epsilon: the tolerated deviation from orthonormality
  const int n = subspace_.vectors();
  Eigenpairs pairs;
  for (int pass = 0; pass < 3; ++pass) {
    const std::array<const double*, 1> left{x};
    const std::array<const double*, 2> right{x, hx};
    const Matrix products = subspace_.products(left, right);
    pairs = solve_alike(products.part(0, n, n, n), products.part(0, 0, n, n), n);
    if (!pairs.found) return {};
    const std::array<double*, 1> new_x{x}, new_hx{hx};
    const std::array<const double*, 1> old_hx{hx};
    subspace_.combine(new_x, left, pairs.vectors);
    subspace_.combine(new_hx, old_hx, pairs.vectors);
    if (pairs.condition < well_conditioned) break;
  }
  return pairs.values;
}

std::vector<double> ChannelProblem::residuals(double* hx, const double* x, std::span<const double> values) const {
  const std::int64_t points = model_.decomposition().box().points();
  for (std::int64_t block = 0; block < subspace_.blocks(); ++block) {
    std::array<double, doubles_per_point> e{};
    for (std::size_t i = 0; i < e.size(); ++i)
      e[i] = values[size(subspace_.first_vector() + block * orbital_lanes) + i / 2];
    double* r = hx + block * points * doubles_per_point;
    const double* from = x + block * points * doubles_per_point;
    for (std::int64_t point = 0; point < points; ++point)
      for (std::size_t i = 0; i < e.size(); ++i)
        r[point * doubles_per_point + static_cast<std::int64_t>(i)] -=
            e[i] * from[point * doubles_per_point + static_cast<std::int64_t>(i)];
  }
  std::vector<double> squares(size(subspace_.blocks()) * doubles_per_point);
  model_.inner_products(squares, hx, hx, subspace_.blocks());
  std::vector<double> norms(size(subspace_.blocks()) * orbital_lanes);
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = std::sqrt(squares[2 * i]);
  return norms;
}

}  // namespace halocline::tddft
