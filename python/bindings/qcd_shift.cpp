// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: shifts and covariant derivatives of arrays.
#include "bindings.hpp"
#include "halocline/qcd/field/shift.hpp"

namespace halocline::bindings {
namespace {

using ComplexOut = nb::ndarray<complex, nb::c_contig, nb::device::cpu>;
using BytesIn = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::c_contig, nb::device::cpu>;

template <class Array>
auto values_of(const Array& array) {
  return std::span(array.data(), array.size());
}

}  // namespace

void bind_qcd_shift(nb::module_& m) {
  m.def(
      "shift_bytes",
      [](const BytesOut& out, const BytesIn& in, const lattice::Geometry4& geometry, std::int64_t site_bytes, int axis,
         std::int64_t steps) {
        nb::gil_scoped_release unlocked;
        qcd::shift(std::as_writable_bytes(values_of(out)), std::as_bytes(values_of(in)), geometry, site_bytes, axis,
                   steps);
      },
      "out"_a, "field"_a, "geometry"_a, "site_bytes"_a, "axis"_a, "steps"_a, "Collective.");
  m.def(
      "shift",
      [](const ComplexOut& out, const ComplexIn& in, const lattice::Geometry4& geometry, int axis, std::int64_t steps,
         complex phase) {
        nb::gil_scoped_release unlocked;
        qcd::shift(values_of(out), values_of(in), geometry, axis, steps, phase);
      },
      "out"_a, "field"_a, "geometry"_a, "axis"_a, "steps"_a, "phase"_a, "Collective.");
  m.def(
      "covariant_derivative",
      [](const ComplexOut& out, const ComplexIn& in, const qcd::GaugeField& u, int axis,
         const std::tuple<int, int, bool>& colour, complex phase, int difference) {
        nb::gil_scoped_release unlocked;
        const auto [outer, inner, adjoint] = colour;
        qcd::covariant_derivative(values_of(out), values_of(in), u, axis, {outer, inner, adjoint}, phase,
                                  static_cast<qcd::Difference>(difference));
      },
      "out"_a, "field"_a, "u"_a, "axis"_a, "colour"_a, "phase"_a, "difference"_a,
      "colour: outer, inner, adjoint. difference: 0 symmetric, 1 forward, 2 backward. Collective.");
}

}  // namespace halocline::bindings
