// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "halocline/core/error.hpp"
#include "halocline/qcd/order/convert.hpp"
#include "halocline/qcd/order/detail/face_links.hpp"
#include "halocline/qcd/order/detail/gauge_rows.hpp"
#include "halocline/qcd/order/reference.hpp"

namespace halocline::qcd::order {
namespace {

using lattice::Geometry4;

template <class Real>
void require(std::size_t given, const GaugeOrder& order, const Geometry4& geometry) {
  comm::on_every_rank(geometry.communicator(), [&] {
    const auto expected = static_cast<std::size_t>(gauge_reals * geometry.local_volume());
    if (given != expected)
      throw core::InvalidArgument(
          fmt::format("an array of {} numbers was given for links; the local box has {} sites of 72 numbers, {} in all",
                      given, geometry.local_volume(), expected));
    check(order, geometry, sizeof(Real));
  });
}

template <class Real>
void require(const std::array<Real*, 4>& links, const GaugeOrder& order, const Geometry4& geometry) {
  comm::on_every_rank(geometry.communicator(), [&] {
    if (std::ranges::find(links, nullptr) != links.end())
      throw core::InvalidArgument("a null pointer was given for the links of a direction; give four arrays");
    if (order.directions != Directions::outside)
      throw core::InvalidArgument(
          "four arrays of links were given in an order that keeps all directions in one array; give that array, or an "
          "order with the directions outside, such as \"quda\"");
    check(order, geometry, sizeof(Real));
  });
}

}  // namespace

template <class Real>
void load_local(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  if (detail::suits_packs(order.sites, u.geometry(), sizeof(Real)))
    detail::load_rows(u, links, order);
  else
    reference::load(u, links, order);
}

template <class Real>
void store_local(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order) {
  if (detail::suits_packs(order.sites, u.geometry(), sizeof(Real)))
    detail::store_rows(links, u, order);
  else
    reference::store(links, u, order);
}

namespace {

template <class Real>
void load_checked(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  load_local(u, links, order);
  if (order.directions == Directions::around_odd_sites) detail::return_links(u, links[0], order);
  u.exchange_ghosts();
}

}  // namespace

template <class Real>
void load(GaugeField& u, std::span<const Real> links, const GaugeOrder& order) {
  require<Real>(links.size(), order, u.geometry());
  load_checked<Real>(u, direction_origins(links.data(), order, u.geometry()), order);
}

template <class Real>
void store(std::span<Real> links, const GaugeField& u, const GaugeOrder& order) {
  require<Real>(links.size(), order, u.geometry());
  store_local<Real>(direction_origins(links.data(), order, u.geometry()), u, order);
}

template <class Real>
void load(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  require<const Real>(links, order, u.geometry());
  load_checked<Real>(u, links, order);
}

template <class Real>
void store(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order) {
  require<Real>(links, order, u.geometry());
  store_local<Real>(links, u, order);
}

template void load_local(GaugeField&, const std::array<const float*, 4>&, const GaugeOrder&);
template void load_local(GaugeField&, const std::array<const double*, 4>&, const GaugeOrder&);
template void store_local(const std::array<float*, 4>&, const GaugeField&, const GaugeOrder&);
template void store_local(const std::array<double*, 4>&, const GaugeField&, const GaugeOrder&);
template void load(GaugeField&, std::span<const float>, const GaugeOrder&);
template void load(GaugeField&, std::span<const double>, const GaugeOrder&);
template void store(std::span<float>, const GaugeField&, const GaugeOrder&);
template void store(std::span<double>, const GaugeField&, const GaugeOrder&);
template void load(GaugeField&, const std::array<const float*, 4>&, const GaugeOrder&);
template void load(GaugeField&, const std::array<const double*, 4>&, const GaugeOrder&);
template void store(const std::array<float*, 4>&, const GaugeField&, const GaugeOrder&);
template void store(const std::array<double*, 4>&, const GaugeField&, const GaugeOrder&);

}  // namespace halocline::qcd::order
