// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "halocline/core/error.hpp"
#include "halocline/qcd/order/convert.hpp"
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
void load(GaugeField& u, std::span<const Real> links, const GaugeOrder& order) {
  require<Real>(links.size(), order, u.geometry());
  reference::load<Real>(u, reference::direction_origins(links.data(), order, u.geometry()), order);
  u.exchange_ghosts();
}

template <class Real>
void store(std::span<Real> links, const GaugeField& u, const GaugeOrder& order) {
  require<Real>(links.size(), order, u.geometry());
  reference::store<Real>(reference::direction_origins(links.data(), order, u.geometry()), u, order);
}

template <class Real>
void load(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  require<const Real>(links, order, u.geometry());
  reference::load<Real>(u, links, order);
  u.exchange_ghosts();
}

template <class Real>
void store(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order) {
  require<Real>(links, order, u.geometry());
  reference::store<Real>(links, u, order);
}

template void load(GaugeField&, std::span<const float>, const GaugeOrder&);
template void load(GaugeField&, std::span<const double>, const GaugeOrder&);
template void store(std::span<float>, const GaugeField&, const GaugeOrder&);
template void store(std::span<double>, const GaugeField&, const GaugeOrder&);
template void load(GaugeField&, const std::array<const float*, 4>&, const GaugeOrder&);
template void load(GaugeField&, const std::array<const double*, 4>&, const GaugeOrder&);
template void store(const std::array<float*, 4>&, const GaugeField&, const GaugeOrder&);
template void store(const std::array<double*, 4>&, const GaugeField&, const GaugeOrder&);

}  // namespace halocline::qcd::order
