// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Common parts of the lattice benchmarks: fields to work on, and the cost of the operators.

#include <span>

#include "bench/geometry.hpp"
#include "halocline/qcd/field/spinor_field.hpp"

namespace halocline::bench {

/// Fills with numbers between -1 and 1 that depend only on the position: no zeros, no subnormals.
template <class T>
void fill(std::span<T> numbers);

/// Operations, and reals that must be moved, each once: `spinors` for every column, and `shared` (links and clover
/// blocks) once for all columns.
struct Cost {
  double flops;
  double spinors;
  double shared;

  constexpr double reals(int columns = 1) const { return columns * spinors + shared; }
  constexpr Cost operator+(const Cost& other) const {
    return {flops + other.flops, spinors + other.spinors, shared + other.shared};
  }
  constexpr Cost operator*(double times) const { return {times * flops, times * spinors, times * shared}; }
};

inline constexpr double spinor_reals = 24, clover_reals = 72;

/// A clover block, or its inverse, times a spinor, for one site.
inline constexpr Cost clover_cost{504, 2 * spinor_reals, clover_reals};

/// The inverse of a twisted clover term, a full matrix for each chirality, times a spinor.
inline constexpr Cost full_block_cost{552, 2 * spinor_reals, 144};

/// One parity of the hopping term, for each site of the target: eight projections, SU(3) products and sums; reads eight
/// links and a spinor, writes a spinor. Computing the third row of a link from two stored ones counts no operations.
constexpr Cost hopping_cost(int link_reals = 18) { return {1320, 2 * spinor_reals, 8.0 * link_reals}; }

/// One parity of the staggered hopping term, for each site of the target: 8 or 16 products of a matrix and a vector,
/// and their sums.
constexpr Cost staggered_hopping_cost(int steps) { return {72.0 * steps - 6, 2 * 6, 18.0 * steps}; }

/// D on both parities, for each site: the hop, the sum with the diagonal (48) and the clover term. The source is read
/// twice, once as neighbour and once for the diagonal.
constexpr Cost wilson_cost(bool clover, int link_reals = 18) {
  const Cost blocks{clover ? clover_cost.flops : 0, 0, clover ? clover_reals : 0};
  return hopping_cost(link_reals) + Cost{48, spinor_reals, 0} + blocks;
}

/// The symmetric Schur complement, for each site of the parity that is solved for: two hops, each with an inverse
/// clover block, and the sum with the source.
constexpr Cost schur_cost(bool clover, int link_reals = 18) {
  const Cost blocks{clover ? clover_cost.flops : 0, 0, clover ? clover_reals : 0};
  return (hopping_cost(link_reals) + blocks) * 2 + Cost{48, spinor_reals, 0};
}

}  // namespace halocline::bench
