// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links of a gauge field in and out of an order, row by row of x.
///
/// A row of the field holds each of its 72 numbers for all x side by side. Where the order keeps the numbers of a link
/// side by side, blocks of eight sites are transposed (transpose.hpp); where it keeps sites side by side, pieces of the
/// row are copied, and the two parities zipped. A row is stored through a buffer that stays in the cache, so that
/// memory sees whole lines. openQCD's order has kernels of its own (odd_site_links.hpp). Bytes of a local site: 72
/// sizeof(Real) on one side and 576 on the other, each once.

#include <array>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// Whether the rows of this geometry are long enough for packs; otherwise the reference does the work.
bool suits_packs(const SiteOrder& order, const lattice::Geometry4& geometry, std::size_t number_bytes);

/// As reference::load and reference::store, but without the links below the box (Directions::around_odd_sites).
template <class Real>
void load_rows(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order);
template <class Real>
void store_rows(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order);

}  // namespace halocline::qcd::order::detail
