// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hopping term on a list of tiles: the hot loop.
///
/// One column: tile after tile. Several: all columns of a tile before the next one, so that its links come from beyond
/// the first-level cache once; they are prefetched a few lines a column, and links of 12 reals are completed once into
/// a buffer of the thread. A column has the bits that it has alone (with 12 reals in a layout of one lane, which is
/// plain numbers, it has them to rounding).
///
/// Flops and bytes a site: hopping.hpp.

#include <cstdint>
#include <span>

#include "halocline/qcd/wilson/detail/tile_accessor.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd::wilson {

/// out = hop(in) on `tiles` of the target parity, finished by `terms`; out is [tile][column][24][lane].
/// Opens a parallel region. The view has what arrived from other processes where one of the tiles needs it.
template <class T, int V>
void hop_tiles(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity, bool dagger,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms);

}  // namespace halocline::qcd::wilson
