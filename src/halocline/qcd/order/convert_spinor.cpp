// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/order/convert.hpp"
#include "halocline/qcd/order/detail/canonical_rows.hpp"
#include "halocline/qcd/order/detail/propagator_rows.hpp"
#include "halocline/qcd/order/detail/spinor_tiles.hpp"
#include "halocline/qcd/order/reference.hpp"

namespace halocline::qcd::order {
namespace {

using lattice::Geometry4;

void require(std::size_t given, std::int64_t site_numbers, const char* what, const SiteOrder& order,
             const Geometry4& geometry, std::size_t number_bytes) {
  const auto expected = static_cast<std::size_t>(site_numbers * geometry.local_volume());
  if (given != expected)
    throw core::InvalidArgument(
        fmt::format("an array of {} numbers was given for {}; the local box has {} sites of {} numbers, {} in all",
                    given, what, geometry.local_volume(), site_numbers, expected));
  check(order, geometry, number_bytes);
}

template <class T>
void require_column(const SpinorField<T>& psi, int column) {
  if (column < 0 || column >= psi.columns())
    throw core::InvalidArgument(
        fmt::format("column {} of a spinor field of {} was asked for; count from 0", column, psi.columns()));
}

}  // namespace

template <class T, class Real>
void load(SpinorField<T>& psi, int column, std::span<const Real> spinor, const SpinorOrder& order) {
  require_column(psi, column);
  require(spinor.size(), psi.reals_per_site(), "a spinor", order.sites, psi.layout().geometry(), sizeof(Real));
  if (detail::suits_packs(psi))
    detail::load_tiles(psi, column, spinor.data(), order);
  else
    reference::load(psi, column, spinor.data(), order);
}

template <class T, class Real>
void store(std::span<Real> spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order) {
  require_column(psi, column);
  require(spinor.size(), psi.reals_per_site(), "a spinor", order.sites, psi.layout().geometry(), sizeof(Real));
  if (detail::suits_packs(psi))
    detail::store_tiles(spinor.data(), psi, column, order);
  else
    reference::store(spinor.data(), psi, column, order);
}

template <class Real>
void load(std::span<std::complex<double>> canonical, std::span<const Real> spinor, const SpinorOrder& order,
          const Geometry4& geometry, int spins) {
  require(2 * canonical.size(), 6 * spins, "a canonical spinor", SiteOrder{}, geometry, sizeof(double));
  require(spinor.size(), 6 * spins, "a spinor", order.sites, geometry, sizeof(Real));
  detail::load_rows(canonical.data(), spinor.data(), order, geometry, spins);
}

template <class Real>
void store(std::span<Real> spinor, std::span<const std::complex<double>> canonical, const SpinorOrder& order,
           const Geometry4& geometry, int spins) {
  require(2 * canonical.size(), 6 * spins, "a canonical spinor", SiteOrder{}, geometry, sizeof(double));
  require(spinor.size(), 6 * spins, "a spinor", order.sites, geometry, sizeof(Real));
  detail::store_rows(spinor.data(), canonical.data(), order, geometry, spins);
}

template <class Real>
void load(measure::Propagator& s, std::span<const Real> propagator, const PropagatorOrder& order) {
  require(propagator.size(), propagator_reals, "a propagator", order.sites, s.geometry(), sizeof(Real));
  detail::load_rows(s, propagator.data(), order);
}

template <class Real>
void store(std::span<Real> propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  require(propagator.size(), propagator_reals, "a propagator", order.sites, s.geometry(), sizeof(Real));
  detail::store_rows(propagator.data(), s, order);
}

template void load(SpinorField<float>&, int, std::span<const float>, const SpinorOrder&);
template void load(SpinorField<float>&, int, std::span<const double>, const SpinorOrder&);
template void load(SpinorField<double>&, int, std::span<const float>, const SpinorOrder&);
template void load(SpinorField<double>&, int, std::span<const double>, const SpinorOrder&);
template void store(std::span<float>, const SpinorField<float>&, int, const SpinorOrder&);
template void store(std::span<double>, const SpinorField<float>&, int, const SpinorOrder&);
template void store(std::span<float>, const SpinorField<double>&, int, const SpinorOrder&);
template void store(std::span<double>, const SpinorField<double>&, int, const SpinorOrder&);
template void load(std::span<std::complex<double>>, std::span<const float>, const SpinorOrder&, const Geometry4&, int);
template void load(std::span<std::complex<double>>, std::span<const double>, const SpinorOrder&, const Geometry4&, int);
template void store(std::span<float>, std::span<const std::complex<double>>, const SpinorOrder&, const Geometry4&, int);
template void store(std::span<double>, std::span<const std::complex<double>>, const SpinorOrder&, const Geometry4&,
                    int);
template void load(measure::Propagator&, std::span<const float>, const PropagatorOrder&);
template void load(measure::Propagator&, std::span<const double>, const PropagatorOrder&);
template void store(std::span<float>, const measure::Propagator&, const PropagatorOrder&);
template void store(std::span<double>, const measure::Propagator&, const PropagatorOrder&);

}  // namespace halocline::qcd::order
