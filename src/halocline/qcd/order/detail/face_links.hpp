// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The links of openQCD that lie on the lower faces of a box: U_mu(x - mu) with an odd site x whose coordinate mu is 0.
///
/// openQCD keeps them with the odd site; a GaugeField keeps them on the process of x - mu. After the local links have
/// been read, each process sends those below its box to the neighbour that owns them.

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// @param links  the whole array, Directions::around_odd_sites
/// Collective: yes.  Cost: a message along each split axis, of half of the links mu of a face.
template <class Real>
void return_links(GaugeField& u, const Real* links, const GaugeOrder& order);

}  // namespace halocline::qcd::order::detail
