// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Canonical spinors in and out of an order, row by row of x, or block by block of openQCD.
///
/// The sites of a row are one or two runs in the array, and so are those of a time slice of openQCD's blocks. Only the
/// place of a run is computed. The numbers of a site are moved and rotated in an inner loop, in a buffer that stays in
/// the cache (spinor_mover.hpp), and finished runs go to memory in whole lines. Arithmetic is in double.

#include <complex>

#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// As the functions of reference.hpp. @throws std::bad_alloc  before any number has moved
/// @{
template <class Real>
void load_rows(std::complex<double>* canonical, const Real* spinor, const SpinorOrder& order,
               const lattice::Geometry4& geometry, int spins);
template <class Real>
void store_rows(Real* spinor, const std::complex<double>* canonical, const SpinorOrder& order,
                const lattice::Geometry4& geometry, int spins);
/// @}

}  // namespace halocline::qcd::order::detail
