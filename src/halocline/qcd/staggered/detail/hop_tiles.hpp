// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The staggered hopping term on a list of tiles: the hot loop.
///
/// A step multiplies a colour vector by a 3x3 matrix: 36 multiply-adds for 18 loaded reals of the link and 6 of the
/// vector. For one column, loads of links limit the loop: from memory in a large box, else from the caches. With
/// several columns the links are loaded once for `group` columns. A group's sums and one colour of its vectors stay in
/// registers. A column has the same bits alone and in a group.

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "halocline/core/hold.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/staggered/hopping.hpp"

namespace halocline::qcd::staggered {

/// The arguments of one hop that all its tiles share.
template <class T, int V>
struct HopView {
  static constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  const T* in;     ///< tiles of the source parity, [tile][column][6][lane]
  const T* links;  ///< of the target parity, [tile][step][column][row][re, im][lane]
  int columns;
  alignas(64) Index rotation[8][V];                   ///< see lattice::Neighbours::rotation
  std::array<const T*, 8> received;                   ///< slots, [slot][column][6][lanes of a slot]
  std::array<const std::int32_t*, 8> received_lanes;  ///< the lanes of a tile that a slot fills
  std::array<int, 8> received_count;                  ///< lanes of a slot: V / T_mu
};

/// out = hop(in) on `tiles` of the target parity, finished by `terms`; out is [tile][column][6][lane].
/// Opens a parallel region. If one of the tiles needs a halo, the view must point to the received faces.
template <class T, int V>
void hop_tiles(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms);

}  // namespace halocline::qcd::staggered
