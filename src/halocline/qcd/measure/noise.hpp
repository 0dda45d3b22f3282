// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Stochastic sources and their dilution.
///
/// Noise of modulus one is drawn from Philox with the global site as counter, so it depends neither on the process grid
/// nor on the number of threads. The average of S xi xi^dagger over samples tends to S; dilution in spin, colour and
/// time removes the largest part of its noise.

#include <cstdint>
#include <optional>
#include <vector>

#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

/// Numbers of modulus one whose mean is zero.
enum class Noise {
  z2,  ///< +1, -1
  z4,  ///< 1, i, -1, -i
};

/// How a noise vector is split into columns that sum to it.
enum class Dilution {
  none,         ///< 1 column: independent numbers for each spin and colour
  spin,         ///< 4 columns: independent numbers for each colour, the same for each spin (the one-end trick)
  spin_colour,  ///< 12 columns: one number a site, as of a propagator from a random wall
};

struct NoiseOptions {
  Noise noise = Noise::z2;
  Dilution dilution = Dilution::none;
  std::optional<std::int64_t> time{};  ///< global time slice; absent: the whole lattice
  std::uint64_t seed = 1;
  std::uint64_t sample = 0;  ///< each value gives an independent noise vector
};

/// A stochastic source. The numbers at a site depend on seed, sample and the site, not on `time`: the slices of all
/// times add up to the undiluted vector. The mean of xi(x) xi(y)^* over samples is delta_xy.
/// @return  1, 4 or 12 columns
/// @throws InvalidArgument  for a time outside the lattice. Collective: no.
std::vector<Spinor> noise_source(const lattice::Geometry4& geometry, const NoiseOptions& options);

}  // namespace halocline::qcd::measure
