// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Meson channels: which gamma matrices stand at source and sink, and the named averages.
///
/// The sixteen products Gamma_n = gamma_x^n0 gamma_y^n1 gamma_z^n2 gamma_t^n3, n = n0 + 2 n1 + 4 n2 + 8 n3, span all
/// spin matrices; Gamma_15 = gamma5. A channel is a mean over pairs (sink, source). The named ones are those of the
/// reference data: the source carries the hermitian conjugate of the sink, so that a correlator of an operator with
/// itself is positive up to the sign that is listed with it in docs/conventions.md.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/qcd/field/gamma.hpp"

namespace halocline::qcd::measure {

/// gamma_x^n0 gamma_y^n1 gamma_z^n2 gamma_t^n3 for the bits n0..n3 of n in 0..15.
constexpr SpinMatrix gamma_product(int n) {
  SpinMatrix product = spin_unit;
  for (int axis = 0; axis < 4; ++axis)
    if ((n >> axis) & 1) product = product * gamma[static_cast<std::size_t>(axis)];
  return product;
}
static_assert(gamma_product(15) == gamma5);

/// One pair of spin matrices: tr[gamma5 sink S source gamma5 S^dagger].
struct GammaPair {
  SpinMatrix sink, source;
};

/// A mean over pairs, under one name.
struct MesonChannel {
  std::string name;
  std::vector<GammaPair> pairs;
};

/// pion, rho, rho_tensor, a0, a1, b1, pionA4_sinkA4_srcP, in this order and as the reference data define them:
/// pion (gamma5, gamma5); rho mean of (gamma_i, gamma_i); rho_tensor mean of (gamma_i gamma_t, its dagger);
/// a0 (1, 1); a1 mean of (gamma_i gamma5, its dagger); b1 mean over xy, yz, xz of (gamma_i gamma_j, its dagger);
/// pionA4_sinkA4_srcP (gamma_t gamma5 at the sink, gamma5 at the source).
std::vector<MesonChannel> named_channels();

/// All sixteen (Gamma_n, Gamma_n^dagger), named by their factors: "1", "gx", "gy", "gxgy", ..., "gxgygzgt".
std::vector<MesonChannel> sixteen_channels();

/// The channel of a name of either list; "pionA4" is short for "pionA4_sinkA4_srcP".
/// @throws InvalidArgument  for an unknown name; lists the known ones
MesonChannel meson_channel(std::string_view name);

}  // namespace halocline::qcd::measure
