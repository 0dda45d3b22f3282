// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinors of a tiled field in and out of an order, tile by tile.
///
/// A tile holds each of its 24 numbers for V far-apart sites. Where the order keeps the numbers of a site side by side,
/// blocks of eight sites by eight numbers are transposed; where it keeps eight sites side by side, blocks of eight
/// lanes by eight tiles are. In between, a tile lies in a small buffer with the order's own numbering, and the rotation
/// between the spin bases happens on whole rows of lanes. Bytes of a site: 24 sizeof(T) + 24 sizeof(Real), each once.

#include "halocline/qcd/field/spinor_field.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// Whether the field has enough lanes for packs; otherwise the reference does the work.
template <class T>
bool suits_packs(const SpinorField<T>& psi);

/// As reference::load and reference::store.
template <class T, class Real>
void load_tiles(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order);
template <class T, class Real>
void store_tiles(Real* spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order);

}  // namespace halocline::qcd::order::detail
