// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields in and out of the memory orders of other codes.
///
/// `load` fills a field from another code's array, `store` writes an array from a field. Real is float or double, the
/// precision of the array; numbers are rounded or widened on the way. An array has the numbers of this process's local
/// box and nothing else: no halos, no padding. Threads share the work, each a contiguous part of the field.
///
/// Between an array of whole sites and a field of lanes, kernels transpose blocks of eight sites by eight numbers in
/// registers, and both sides are read and written in order (detail/transpose.hpp). Canonical arrays move in rows of
/// whole sites (detail/canonical_rows.hpp, propagator_rows.hpp), links of openQCD in bundles of rows
/// (odd_site_links.hpp). offset.hpp has the formulas that both are tested against. Plain loops over
/// these formulas serve what the kernels do not: fields of fewer than 8 sites along x, tiles of fewer than 8 lanes, and
/// fields of staggered quarks.
/// docs/benchmarks/reorder.md has the speed of each case.

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order {

/// @name Links. Boundary factors, scales and phases of the order are divided out by load and multiplied by store.
/// Both are collective: load fills the ghosts, and the links of openQCD on the faces move between processes. Cost: one
/// sweep through both.
/// @throws InvalidArgument  for an array that has not 72 numbers a local site, a null pointer, or an order that the
///                          geometry cannot have (check()); thrown on every rank
/// @{
template <class Real>
void load(GaugeField& u, std::span<const Real> links, const GaugeOrder& order);
template <class Real>
void store(std::span<Real> links, const GaugeField& u, const GaugeOrder& order);

/// Four arrays, one for each direction x y z t, each of 18 numbers a local site: an order with Directions::outside.
template <class Real>
void load(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order);
template <class Real>
void store(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order);
/// @}

/// @name The sweeps behind load and store of links, for benchmarks: nothing is checked, and no ghost is filled. Links
/// of openQCD that a neighbour holds are then missing. Collective: no.
/// @param links  direction_origins() of an array, or four arrays
/// @{
/// Where the links of each direction begin in one array: at its own place for Directions::outside, else at the begin.
template <class Real>
std::array<Real*, 4> direction_origins(Real* links, const GaugeOrder& order, const lattice::Geometry4& geometry) {
  const std::int64_t stride = order.directions == Directions::outside ? link_reals * geometry.local_volume() : 0;
  return {links, links + stride, links + 2 * stride, links + 3 * stride};
}
template <class Real>
void load_local(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order);
template <class Real>
void store_local(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order);
/// @}

/// @name Spinors: one column of a field, on the sites that it holds. Other sites of the array are not read, and keep
/// their values. A field of staggered quarks has 6 numbers a site; its order has no basis.
/// @throws InvalidArgument  for an array that has not 24 (or 6) numbers a local site, a column that the field does not
///                          have, or an order that the geometry cannot have. Collective: no.  Cost: one sweep; plain
///                          loops for staggered quarks and tiles of fewer than 8 lanes.
/// @{
template <class T, class Real>
void load(SpinorField<T>& psi, int column, std::span<const Real> spinor, const SpinorOrder& order);
template <class T, class Real>
void store(std::span<Real> spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order);
/// @}

/// @name Spinors in canonical arrays [t][z][y][x][spin][colour], DeGrand-Rossi, as files, sources and propagators have
/// them. @param spins  4, or 1 of staggered quarks. Errors and cost as above. Collective: no.
/// @{
template <class Real>
void load(std::span<std::complex<double>> canonical, std::span<const Real> spinor, const SpinorOrder& order,
          const lattice::Geometry4& geometry, int spins = 4);
template <class Real>
void store(std::span<Real> spinor, std::span<const std::complex<double>> canonical, const SpinorOrder& order,
           const lattice::Geometry4& geometry, int spins = 4);
/// @}

/// @name Propagators: 288 numbers a local site. In basis B both spins are rotated, S_B = V S V^dagger; with
/// PropagatorIndices::source_outside too. Errors and cost as above. Collective: no.
/// @{
template <class Real>
void load(measure::Propagator& s, std::span<const Real> propagator, const PropagatorOrder& order);
template <class Real>
void store(std::span<Real> propagator, const measure::Propagator& s, const PropagatorOrder& order);
/// @}

}  // namespace halocline::qcd::order
