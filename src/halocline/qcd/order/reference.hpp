// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Plain loops over the formulas of offset.hpp: every number of a field to or from its place in another code's array.
///
/// This is the reference of the kernels behind convert.hpp, and the path of fields that have too few sites for packs.
/// Arguments are those of convert.hpp, but nothing is checked and no message is sent: load fills no ghosts but those
/// that openQCD's array holds (the links below the lower faces), and store reads these from the ghosts of the field.

#include <array>
#include <complex>
#include <span>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::reference {

/// @param links  where the links of each direction begin (direction_origins())
template <class Real>
void load(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order);
template <class Real>
void store(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order);

template <class T, class Real>
void load(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order);
template <class T, class Real>
void store(Real* spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order);

template <class Real>
void load(std::complex<double>* canonical, const Real* spinor, const SpinorOrder& order,
          const lattice::Geometry4& geometry, int spins);
template <class Real>
void store(Real* spinor, const std::complex<double>* canonical, const SpinorOrder& order,
           const lattice::Geometry4& geometry, int spins);

template <class Real>
void load(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order);
template <class Real>
void store(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order);

}  // namespace halocline::qcd::order::reference
