// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge fields to start from: units, random links, links near the unit.
///
/// Random numbers are keyed by (seed, global link), so a field is the same on any process grid and with any number of
/// threads. These fields are not thermalised: a Markov chain that starts from one must be.

#include "halocline/qcd/field/gauge_field.hpp"

#include <cstdint>
#include <memory>

namespace halocline::qcd::gauge {

/// All links 1: the free field, a cold start.
/// @param depth  ghost sites, as in GaugeField; here and below. Collective: no.
GaugeField unit_links(std::shared_ptr<const lattice::Geometry4> geometry, int depth = 1);

/// Independent links, each uniform over SU(3) (Haar measure): infinite temperature, a hot start.
/// Collective: yes (ghosts are filled).  Cost: about 1500 flops a link.
GaugeField random_links(std::shared_ptr<const lattice::Geometry4> geometry, std::uint64_t seed, int depth = 1);

/// Independent links exp(i epsilon sum_a h_a lambda_a / 2) with normal h_a of deviation 1: for small epsilon the mean
/// plaquette is 1 - 8 epsilon^2 / 3.
/// @throws InvalidArgument  on every rank, for an epsilon that is not finite
/// Collective: yes (ghosts are filled).  Cost: about 2000 flops a link.
GaugeField weak_links(std::shared_ptr<const lattice::Geometry4> geometry, double epsilon, std::uint64_t seed,
                      int depth = 1);

}  // namespace halocline::qcd::gauge
