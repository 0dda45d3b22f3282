// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Meson two-point functions from two propagators.
///
///   C(p, t) = sum_x exp(-i p (x - x0)) tr[gamma5 Gsnk S_q(x, t0 + t; x0) Gsrc gamma5 S_qbar(x, t0 + t; x0)^dagger],
///
/// the trace over spin and colour. There is no sign, volume or kappa factor: with q = qbar, p = 0 and both gammas
/// gamma5, C is the sum of |S|^2. The antiquark propagator has been turned around by gamma5-hermiticity. Shifting the
/// source time to index 0 changes no sign, because quark and antiquark cross the boundary together.
///
/// A spin matrix of this basis has one entry a row, so every channel is a sum of 16 of the 256 colour-traced products
/// T[a' a b' b] = sum_colours S_q[a' b'] conj(S_qbar[a b]). Only products that some channel needs are computed (36
/// fused multiply-adds each). The products are summed over space, and the gammas are applied to the sums.

#include <span>
#include <vector>

#include "halocline/qcd/measure/channels.hpp"
#include "halocline/qcd/measure/momentum.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

/// @return  one correlator a channel and momentum, channel-major: result[channel * momenta.size() + momentum]; shape
///          (T,) each, the same on every rank
/// @throws InvalidArgument  on every rank, when the propagators differ in lattice, process grid or source, when a
///                          channel has no pairs, or when no momentum is given
/// Collective: yes.  Cost: reads both propagators once (2 x 2304 bytes a site) and makes at most 256 x 36 fused
/// multiply-adds a site, 4 x 256 more for each non-zero momentum.
std::vector<Correlator> mesons(const Propagator& quark, const Propagator& antiquark,
                               std::span<const MesonChannel> channels, std::span<const Momentum> momenta);

/// At zero momentum.
std::vector<Correlator> mesons(const Propagator& quark, const Propagator& antiquark,
                               std::span<const MesonChannel> channels);

}  // namespace halocline::qcd::measure
