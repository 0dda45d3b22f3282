// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: fields in and out of the memory orders of other codes. The shapes of arrays are checked in Python.
#include "bindings.hpp"
#include "halocline/qcd/order/convert.hpp"

namespace halocline::bindings {
namespace {

namespace order = qcd::order;
template <class Real>
using RealsIn = nb::ndarray<const Real, nb::c_contig, nb::device::cpu>;
template <class Real>
using RealsOut = nb::ndarray<Real, nb::c_contig, nb::device::cpu>;

template <class Array>
auto numbers(const Array& array) {
  return std::span(array.data(), array.size());
}

/// Factors of links, as tuple (scale, boundary, staggered phases).
using Factors = std::tuple<std::array<double, 4>, std::array<double, 4>, bool>;

order::GaugeOrder gauge_order(std::string_view name, int lanes, const Factors& factors) {
  auto order = order::gauge_order(name);
  if (lanes != 0) order.sites.lanes = lanes;
  std::tie(order.scale, order.boundary, order.staggered_phases) = factors;
  return order;
}

template <class Order>
Order with(Order order, std::string_view basis, int lanes) {
  if (!basis.empty()) order.basis = &order::basis(basis);
  if (lanes != 0) order.sites.lanes = lanes;
  return order;
}

template <class Real>
void bind_precision(nb::module_& m) {
  m.def(
      "load_links",
      [](qcd::GaugeField& u, const RealsIn<Real>& links, std::string_view name, int lanes, const Factors& factors) {
        const auto how = gauge_order(name, lanes, factors);
        nb::gil_scoped_release unlocked;
        order::load<Real>(u, numbers(links), how);
      },
      "u"_a, "links"_a, "order"_a, "lanes"_a, "factors"_a, "Collective.");
  m.def(
      "store_links",
      [](const RealsOut<Real>& links, const qcd::GaugeField& u, std::string_view name, int lanes,
         const Factors& factors) {
        const auto how = gauge_order(name, lanes, factors);
        nb::gil_scoped_release unlocked;
        order::store<Real>(numbers(links), u, how);
      },
      "links"_a, "u"_a, "order"_a, "lanes"_a, "factors"_a, "Collective.");
  m.def(
      "load_spinor",
      [](const nb::ndarray<complex, nb::c_contig, nb::device::cpu>& canonical, const RealsIn<Real>& spinor,
         const lattice::Geometry4& geometry, std::string_view name, std::string_view basis, int lanes, int spins) {
        const auto how = with(order::spinor_order(name), basis, lanes);
        nb::gil_scoped_release unlocked;
        order::load<Real>(numbers(canonical), numbers(spinor), how, geometry, spins);
      },
      "canonical"_a, "spinor"_a, "geometry"_a, "order"_a, "basis"_a, "lanes"_a, "spins"_a);
  m.def(
      "store_spinor",
      [](const RealsOut<Real>& spinor, const ComplexIn& canonical, const lattice::Geometry4& geometry,
         std::string_view name, std::string_view basis, int lanes, int spins) {
        const auto how = with(order::spinor_order(name), basis, lanes);
        nb::gil_scoped_release unlocked;
        order::store<Real>(numbers(spinor), numbers(canonical), how, geometry, spins);
      },
      "spinor"_a, "canonical"_a, "geometry"_a, "order"_a, "basis"_a, "lanes"_a, "spins"_a);
  m.def(
      "load_propagator",
      [](qcd::measure::Propagator& s, const RealsIn<Real>& propagator, std::string_view name, std::string_view basis,
         int lanes) {
        const auto how = with(order::propagator_order(name), basis, lanes);
        nb::gil_scoped_release unlocked;
        order::load<Real>(s, numbers(propagator), how);
      },
      "s"_a, "propagator"_a, "order"_a, "basis"_a, "lanes"_a);
  m.def(
      "store_propagator",
      [](const RealsOut<Real>& propagator, const qcd::measure::Propagator& s, std::string_view name,
         std::string_view basis, int lanes) {
        const auto how = with(order::propagator_order(name), basis, lanes);
        nb::gil_scoped_release unlocked;
        order::store<Real>(numbers(propagator), s, how);
      },
      "propagator"_a, "s"_a, "order"_a, "basis"_a, "lanes"_a);
}

/// What the shapes of arrays follow from.
nb::dict describe(std::string_view name) {
  const auto gauge = order::gauge_order(name);
  const auto spinor = order::spinor_order(name);
  constexpr std::array sites{"lexicographic", "even_odd", "halves_of_x", "cache_blocks"};
  constexpr std::array directions{"inside", "outside", "in_each_half", "around_odd_sites"};
  nb::dict d;
  d["sites"] = sites[static_cast<std::size_t>(gauge.sites.sites)];
  d["lanes"] = gauge.sites.lanes;
  d["directions"] = directions[static_cast<std::size_t>(gauge.directions)];
  d["colour_first"] = spinor.inside == order::Inside::colour_spin;
  d["basis"] = spinor.basis->name;
  return d;
}

/// "sink_source", "spins_colours" or "source_outside".
std::string_view propagator_indices(std::string_view name) {
  constexpr std::array<std::string_view, 3> indices{"sink_source", "spins_colours", "source_outside"};
  return indices[static_cast<std::size_t>(order::propagator_order(name).indices)];
}

}  // namespace

void bind_qcd_order(nb::module_& m) {
  nb::list names;
  for (const std::string_view name : order::names()) names.append(nb::str(name.data(), name.size()));
  m.attr("ORDERS") = nb::tuple(names);
  m.def("describe_order", &describe, "name"_a);
  m.def("propagator_indices", &propagator_indices, "name"_a);
  m.def("basis_name", [](std::string_view name) { return std::string(order::basis(name).name); }, "name"_a);
  m.def(
      "check_order",
      [](std::string_view name, int lanes, std::size_t number_bytes, const lattice::Geometry4& geometry) {
        order::check(gauge_order(name, lanes, {{1, 1, 1, 1}, {1, 1, 1, 1}, false}), geometry, number_bytes);
      },
      "name"_a, "lanes"_a, "number_bytes"_a, "geometry"_a);
  bind_precision<float>(m);
  bind_precision<double>(m);
}

}  // namespace halocline::bindings
