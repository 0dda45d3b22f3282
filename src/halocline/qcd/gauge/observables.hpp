// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Traces of closed paths of links, averaged over the lattice: plaquette, rectangle, Polyakov loops.
///
/// Every function is collective, reads ghosts (which must be up to date) and gives the same number on every process.
/// The number depends on the process grid only by rounding, and not on the number of threads. A NaN link gives NaN.

#include "halocline/qcd/field/gauge_field.hpp"

#include <array>
#include <complex>

namespace halocline::qcd::gauge {

/// Mean of Re tr U_munu / 3 over all sites and the six planes; 1 for unit links.
/// Cost: 6 (2 x 198 + 36) flops a site.
double plaquette(const GaugeField& gauge);

/// The same for each plane: xy, xz, xt, yz, yt, zt.
std::array<double, 6> plaquette_planes(const GaugeField& gauge);

/// Mean of Re tr U_mu(x) / 3 over all links. Not gauge invariant: file formats carry it as a check.
double link_trace(const GaugeField& gauge);

/// Mean of Re tr / 3 over all rectangles of 2 x 1 links, both orientations of all six planes; 1 for unit links.
/// Cost: 12 (4 x 198 + 36) flops a site.
double rectangle(const GaugeField& gauge);

/// Mean of tr / 3 of the straight loop that closes around each axis, over the sites transverse to it.
/// Cost: 4 x 198 flops a site; along a split axis the processes work one after another.
std::array<std::complex<double>, 4> polyakov(const GaugeField& gauge);

}  // namespace halocline::qcd::gauge
