// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rayleigh-Ritz in the span of all orbitals of a channel.

#include "halocline/tddft/ground_state/channel_problem.hpp"

#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

namespace halocline::tddft {
void ChannelProblem::apply(double* out, const double* in) const {
  model_.hamiltonian().apply(channel_, out, in, subspace_.blocks());
}

/// out = H in for blocks [first, first + count) of a set; `out` is for these alone.
void ChannelProblem::apply_some(double* out, const VectorSet& in, std::int64_t first, std::int64_t count) const {
  const std::int64_t doubles = model_.decomposition().box().points() * doubles_per_point;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t here = in.together(first + done, count - done);
    model_.hamiltonian().apply(channel_, out + done * doubles, in.block(first + done), here);
    done += here;
  }
}

int ChannelProblem::fill_zeros(const VectorSet& x, std::uint64_t seed, int wanted) const {
  const Decomposition& decomposition = model_.decomposition();
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const core::Philox random(seed, 0x6f7262);  // a separate stream: "orb"
  const auto vectors = static_cast<std::uint64_t>(subspace_.vectors());
  const auto first_draw = static_cast<std::uint64_t>(decomposition.channels().begin + channel_) * vectors;
  std::vector<double> squares(size(subspace_.blocks()) * doubles_per_point);
  for (std::int64_t block = 0; block < subspace_.blocks();) {
    const std::int64_t here = x.together(block, subspace_.blocks() - block);
    model_.inner_products(std::span(squares).subspan(size(block * doubles_per_point), size(here * doubles_per_point)),
                          x.block(block), x.block(block), here);
    block += here;
  }

  int filled = 0;
  for (std::int64_t i = 0; i < subspace_.blocks() * orbital_lanes; ++i) {
    if (squares[2 * size(i)] != 0) continue;
    const std::int64_t vector = subspace_.first_vector() + i;
    if (vector < wanted) ++filled;
    double* lane = x.block(i / orbital_lanes) + 2 * (i % orbital_lanes);
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

std::vector<double> ChannelProblem::rayleigh_ritz(double* x, double* hx) const {
  constexpr double well_conditioned = 1e4;  // times epsilon: the tolerated deviation from orthonormality
  const int n = subspace_.vectors();
  Eigenpairs pairs;
  for (int pass = 0; pass < 3; ++pass) {
    const std::array<const double*, 1> left{x};
    const std::array<const double*, 2> right{x, hx};
    const Matrix products = subspace_.products(left, right);
    pairs = solve_alike(model_.decomposition(), products.part(0, n, n, n), products.part(0, 0, n, n), n);
    if (!pairs.found) return {};
    const std::array<double*, 1> new_x{x}, new_hx{hx};
    const std::array<const double*, 1> old_hx{hx};
    subspace_.combine(new_x, left, pairs.vectors);
    subspace_.combine(new_hx, old_hx, pairs.vectors);
    if (pairs.condition < well_conditioned) break;
  }
  return pairs.values;
}

std::vector<double> ChannelProblem::rayleigh_ritz(const VectorSet& x, double* scratch, DenseProblem& dense) const {
  constexpr double well_conditioned = 1e4;  // as above
  const int own = model_.decomposition().orbitals().rank();
  const std::int64_t doubles = model_.decomposition().box().points() * doubles_per_point;
  // H and S are Hermitian: the rows before a part are known from its columns.
  const auto set = [&](DenseProblem::Which which, int part, int parts, const VectorSet& right) {
    const Subspace::Selection of_left = subspace_.selected(part, parts, true),
                              of_right = subspace_.selected(part, parts);
    dense.set(which, subspace_.numbers(of_left), subspace_.numbers(of_right),
              subspace_.products(x, of_left, right, of_right));
  };
  // All overlaps at once read the vectors once; parts of them need less memory.
  const int parts = subspace_.parts(), parts_of_overlaps = dense.distributed() ? parts : 1;
  Eigenpairs pairs;
  for (int pass = 0; pass < 3; ++pass) {
    dense.begin();
    for (int part = 0; part < parts_of_overlaps; ++part) set(DenseProblem::Which::s, part, parts_of_overlaps, x);
    for (int part = 0; part < parts; ++part) {
      const Range mine = subspace_.selected(part, parts)[size(own)];
      apply_some(scratch, x, mine.begin, mine.size());
      set(DenseProblem::Which::h, part, parts, {scratch, doubles, mine.begin});
    }
    pairs = dense.solve();
    if (!pairs.found) return {};
    subspace_.combine(x, pairs.vectors);
    if (pairs.condition < well_conditioned) break;
  }
  return pairs.values;
}

std::vector<double> ChannelProblem::residuals_of(const VectorSet& x, double* scratch,
                                                 std::span<const double> values) const {
  std::vector<double> norms;
  const int own = model_.decomposition().orbitals().rank();
  for (int part = 0; part < subspace_.parts(); ++part) {
    const Range mine = subspace_.selected(part, subspace_.parts())[size(own)];
    apply_some(scratch, x, mine.begin, mine.size());
    for (std::int64_t done = 0; done < mine.size();) {
      const std::int64_t block = mine.begin + done, here = x.together(block, mine.size() - done);
      double* of_here = scratch + done * model_.decomposition().box().points() * doubles_per_point;
      const std::vector<double> found = residuals(
          of_here, x.block(block), here, values.subspan(size(subspace_.first_vector() + block * orbital_lanes)));
      norms.insert(norms.end(), found.begin(), found.end());
      done += here;
    }
  }
  return norms;
}

std::vector<double> ChannelProblem::residuals(double* hx, const double* x, std::span<const double> values) const {
  return residuals(hx, x, subspace_.blocks(), values.subspan(size(subspace_.first_vector())));
}

/// For some blocks. @param values  of their vectors
std::vector<double> ChannelProblem::residuals(double* hx, const double* x, std::int64_t blocks,
                                              std::span<const double> values) const {
  const std::int64_t points = model_.decomposition().box().points();
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::array<double, doubles_per_point> e{};
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = values[size(block * orbital_lanes) + i / 2];
    double* r = hx + block * points * doubles_per_point;
    const double* from = x + block * points * doubles_per_point;
    for (std::int64_t point = 0; point < points; ++point)
      for (std::size_t i = 0; i < e.size(); ++i)
        r[point * doubles_per_point + static_cast<std::int64_t>(i)] -=
            e[i] * from[point * doubles_per_point + static_cast<std::int64_t>(i)];
  }
  std::vector<double> squares(size(blocks) * doubles_per_point);
  model_.inner_products(squares, hx, hx, blocks);
  std::vector<double> norms(size(blocks) * orbital_lanes);
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = std::sqrt(squares[2 * i]);
  return norms;
}

}  // namespace halocline::tddft
