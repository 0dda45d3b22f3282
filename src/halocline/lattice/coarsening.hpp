// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The shapes of the levels of multigrid: extents, boxes and processes of each coarse lattice, known without a message.
///
/// Boxes of sites become the sites of the next lattice (aggregates.hpp), so a process holds fewer and fewer sites.
/// Where it would hold too few, some processes take over the sites of all (gathering.hpp). Boxes become larger by that,
/// and can be coarsened again. Every process derives the same shapes from the same numbers, also those of levels of
/// which it holds nothing.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

/// On each axis the divisor of the extent that is nearest to the wanted size; of two equally near ones the smaller. A
/// pure function.
Coordinates<4> nearest_divisors(const Coordinates<4>& extents, const Coordinates<4>& wanted);

/// Whether the sites of a lattice have two parities, and every process as many of one as of the other. A pure function.
/// @param global  extents of the lattice
/// @param local   extents of the box of a process
bool has_parities(const Coordinates<4>& global, const Coordinates<4>& local);

struct CoarseningRules {
  Coordinates<4> first{4, 4, 4, 4};  ///< fine sites of an aggregate; the nearest size that divides a box is taken
  Coordinates<4> next{2, 2, 2, 2};   ///< coarse sites of an aggregate; even extents first
  int levels = 0;                    ///< with the fine one; 0: until few enough sites are left
  /// Of a lattice that is not coarsened again. At a light mass a third level halved the time of a solve with 4^4 coarse
  /// sites, and took a quarter of it away with 3^4.
  std::int64_t few_sites = 64;
  std::int64_t gather_below = 16;  ///< sites of a process; 1: never
};

/// A coarse level.
struct LevelShape {
  Coordinates<4> aggregate;               ///< sites of the level above that become one site
  Coordinates<4> global;                  ///< extents of the lattice
  Coordinates<4> spread;                  ///< box of a process that holds the level above
  Coordinates<4> local;                   ///< box of a process that holds this level
  std::array<int, 4> processes;           ///< grid of those
  std::array<int, 4> merged{1, 1, 1, 1};  ///< processes that give their sites to one, along each axis

  bool gathers() const noexcept { return merged != std::array{1, 1, 1, 1}; }
  std::int64_t sites() const noexcept { return product<4>(global); }
};

/// The coarse levels that the rules give, at least one. Levels end early where a box cannot be made smaller.
/// @param dims   process grid of the fine lattice
/// @param local  box of a process of it
/// A pure function.
std::vector<LevelShape> level_shapes(std::span<const int> dims, const Coordinates<4>& local,
                                     const CoarseningRules& rules);

}  // namespace halocline::lattice
