// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the lattice benchmarks share: process grids, fields to work on, and the counts of the operators.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/spinor_field.hpp"

namespace halocline::bench {

using Extents = lattice::Coordinates<4>;

/// Prime factors of the number of processes dealt to t, z, y, x, t, ... : the largest first.
std::vector<int> spread_processes(int processes);

/// A lattice of which each process holds `local` sites.
/// @throws InvalidArgument  for extents that are not positive, and as Geometry does
std::shared_ptr<const lattice::Geometry4> geometry_of(const comm::Communicator& group, const Extents& local);

std::vector<std::int64_t> to_vector(const Extents& extents);

/// Numbers between -1 and 1 that depend on the place and on nothing else: no zeros, no subnormals.
template <class T>
void fill(std::span<T> numbers);

/// Operations and reals that must move, for one site of the target.
struct Cost {
  double flops, reals;
};

inline constexpr double clover_flops = 504, clover_reals = 72, spinor_reals = 24, link_reals = 8 * 18;

/// One parity of the hopping term: eight projections, SU(3) products and sums; eight links, a spinor in, one out.
constexpr Cost hopping_cost() { return {1320, link_reals + 2 * spinor_reals}; }

/// D on both parities: the hop, the sum with the diagonal (48) and the clover term. The source is read twice, once as
/// neighbour and once on the diagonal.
constexpr Cost wilson_cost(bool clover) {
  return {hopping_cost().flops + 48 + (clover ? clover_flops : 0),
          hopping_cost().reals + spinor_reals + (clover ? clover_reals : 0)};
}

/// The symmetric Schur complement, a site of the parity that is solved for: two hops, each with an inverse clover
/// block, and the sum with the source.
constexpr Cost schur_cost(bool clover) {
  return {2 * hopping_cost().flops + 48 + (clover ? 2 * clover_flops : 0),
          2 * hopping_cost().reals + spinor_reals + (clover ? 2 * clover_reals : 0)};
}

}  // namespace halocline::bench
