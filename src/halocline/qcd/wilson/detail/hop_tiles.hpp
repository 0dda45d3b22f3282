// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hopping term on a list of tiles: the hot loop.
///
/// With several columns, the loop computes all columns of a tile before the next tile. So the links of a tile come
/// from beyond the first-level cache once. With each column, the loop prefetches a part of the next tile's links. It
/// expands links of 12 reals once into a buffer of the thread. A column has the same bits as when it is computed
/// alone.
///
/// Flops and bytes a site: hopping.hpp.

#include <cstdint>
#include <span>

#include "halocline/qcd/wilson/detail/tile_accessor.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd::wilson {

/// out = hop(in) on `tiles` of the target parity, finished by `terms`; out is [tile][column][24][lane].
/// Opens a parallel region. If one of the tiles needs a halo, the view must point to the received faces.
template <class T, int V>
void hop_tiles(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity, bool dagger,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms);

}  // namespace halocline::qcd::wilson
