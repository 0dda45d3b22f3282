// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links of a gauge field in and out of openQCD's order, which has the eight links of every odd site side by side: the
/// four that begin at the site and the four that end there.
///
/// So the links of an even site lie at its four odd neighbours above. Sites of the array and rows of the field are read
/// and written once. The links that another row needs wait in a cache until that row has its turn: those of a row for
/// its neighbour along y, of a line of rows for the one along z, of a time slice for the next one. To keep them few,
/// the rows come in bundles as wide as openQCD's blocks, and in a bundle slice by slice. At the edges of a bundle, and
/// where another thread goes on, one link of each site of the neighbouring row is read again. Bytes of a local site: 72
/// sizeof(Real) on one side and 576 on the other, and an eighth more of what is read at most, for blocks of four.

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// As load_rows and store_rows (gauge_rows.hpp), for Directions::around_odd_sites.
template <class Real>
void load_odd_sites(GaugeField& u, const Real* links, const GaugeOrder& order);
template <class Real>
void store_odd_sites(Real* links, const GaugeField& u, const GaugeOrder& order);

}  // namespace halocline::qcd::order::detail
