// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Propagators in and out of an order.
///
/// Where an order has all 144 elements of a site together, site after site is rearranged and rotated in the first
/// cache. Where it has twelve spinors, one after another, a column is moved as a spinor (spinor_mover.hpp). A rotation
/// of the source that adds two columns gives two others, so that two columns are in work at a time. Loads sum the spins
/// of the sink first, stores those of the source, in double, as in reference.hpp: both agree in every bit.

#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// As the functions of reference.hpp. @throws std::bad_alloc  before any number has moved
/// @{
template <class Real>
void load_rows(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order);
template <class Real>
void store_rows(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order);
/// @}

}  // namespace halocline::qcd::order::detail
