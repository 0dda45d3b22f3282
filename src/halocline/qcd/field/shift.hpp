// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Shifts of a field along an axis, and covariant derivatives, on canonical local arrays `[t][z][y][x]...`.
///
/// A shift moves whole layers of the local box. Layers that stay in the box are copied. Layers that leave it travel to
/// the neighbour; a shift longer than the local extent takes one message for every local extent of steps. The shift
/// only moves bytes, so it serves links, spinors and propagators of any precision. Values arrive bit-identical.
///
/// The boundary condition is psi(x + L_mu) = phase psi(x). A quark field that is read across the upper end of an axis
/// is multiplied by the phase, and across the lower end by its conjugate, once for every time around the lattice.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {

/// out(x) = in(x + steps mu), periodic.
/// @param out, in     site_bytes bytes for each local site, canonical order; must not overlap
/// @param axis        0 to 3 for x y z t
/// @param steps       any number of sites, negative ones too
/// @throws InvalidArgument  on every rank, for a wrong length or axis, or arguments that differ between ranks
/// Collective: yes.  Cost: for every local extent of steps, a copy of the field and a message of the layers that leave.
void shift(std::span<std::byte> out, std::span<const std::byte> in, const lattice::Geometry4& geometry,
           std::int64_t site_bytes, int axis, std::int64_t steps);

/// The same for complex numbers, with a boundary phase.
/// @param phase  of modulus one; 1 leaves every bit as it is
void shift(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
           const lattice::Geometry4& geometry, std::int64_t axis, std::int64_t steps, std::complex<double> phase);

/// How links act on the numbers of a site. Fundamental: `outer` blocks of [colour][inner], which the link multiplies
/// from the left. Adjoint: `outer` matrices [3][3], X -> U X U^dagger.
struct ColourIndex {
  int outer = 4;
  int inner = 1;
  bool adjoint = false;

  std::int64_t numbers() const noexcept { return std::int64_t{outer} * 3 * (adjoint ? 3 : inner); }
};

enum class Difference { symmetric, forward, backward };

/// The covariant derivative along an axis, in lattice units:
///   forward    U_mu(x) psi(x+mu) - psi(x)
///   backward   psi(x) - U_mu(x-mu)^dagger psi(x-mu)
///   symmetric  the mean of both
/// @param out, in  colour.numbers() for each local site, canonical order; must not overlap
/// @param phase    boundary phase of the quark field across the upper end of the axis; 1 for an adjoint field
/// @throws InvalidArgument  on every rank, as shift does. Collective: yes.
void covariant_derivative(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                          const GaugeField& u, int axis, const ColourIndex& colour, std::complex<double> phase,
                          Difference difference);

}  // namespace halocline::qcd
