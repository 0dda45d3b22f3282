// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A number that tells whether links are still the ones that a set-up was made of.

#include <cstdint>

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::multigrid {

/// A sum of hashes of all numbers and their places on this process; ghosts do not count. Any two fields that differ
/// have different sums but for one chance in 2^64. Collective: no.  Cost: reads the links once.
std::uint64_t fingerprint(const GaugeField& gauge);

}  // namespace halocline::qcd::multigrid
