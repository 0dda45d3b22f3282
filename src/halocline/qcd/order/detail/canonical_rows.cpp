// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/canonical_rows.hpp"

#include "halocline/qcd/order/detail/spinor_mover.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Geometry4;

template <int spins, class Real>
void load_spinors(double* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, true);
  const SpinorMover<spins, Real> mover(sums, order.inside, true);
  Units<Real> units(order.sites, geometry, numbers, 1);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    mover.load(scratch.ours.data(), spinor, units, unit, scratch);
    units.write_ours(canonical, unit, scratch.ours.data(), numbers);
  });
}

template <int spins, class Real>
void store_spinors(Real* spinor, const double* canonical, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, false);
  const SpinorMover<spins, Real> mover(sums, order.inside, false);
  Units<Real> units(order.sites, geometry, numbers, 1);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    const auto from = [&](std::int64_t u) {
      if (units.blocks()) ask_for(canonical + (unit.next + units.distance(u)) * numbers, numbers);
      return canonical + (unit.site + units.distance(u)) * numbers;
    };
    mover.store(spinor, from, units, unit, scratch);
  });
}

}  // namespace

template <class Real>
void load_rows(std::complex<double>* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry,
               int spins) {
  auto* numbers = reinterpret_cast<double*>(canonical);
  if (spins == 1)
    load_spinors<1>(numbers, spinor, order, geometry);
  else
    load_spinors<4>(numbers, spinor, order, geometry);
}

template <class Real>
void store_rows(Real* spinor, const std::complex<double>* canonical, const SpinorOrder& order,
                const Geometry4& geometry, int spins) {
  const auto* numbers = reinterpret_cast<const double*>(canonical);
  if (spins == 1)
    store_spinors<1>(spinor, numbers, order, geometry);
  else
    store_spinors<4>(spinor, numbers, order, geometry);
}

template void load_rows(std::complex<double>*, const float*, const SpinorOrder&, const Geometry4&, int);
template void load_rows(std::complex<double>*, const double*, const SpinorOrder&, const Geometry4&, int);
template void store_rows(float*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);
template void store_rows(double*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);

}  // namespace halocline::qcd::order::detail
