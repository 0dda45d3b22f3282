// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The ends of the Hamiltonian's spectrum, close enough to tell a stable time step from an unstable one.
///
/// Hamiltonian::spectrum_bounds() is safe but wide: its filter does not mind a tenth too much. A step limit that is a
/// tenth too small refuses steps that work, so here Lanczos goes on for more steps and its Ritz values are widened by
/// the residuals of their own vectors alone, |beta_m y_m|, which go to zero as the ends converge.

#include "halocline/tddft/model/model.hpp"

namespace halocline::tddft::detail {

struct SpectralEnds {
  double low = 0, high = 0;  ///< [hartree]
};

/// Over all channels, for the Hamiltonian's present potential and vector potential. The same on every rank.
/// Collective over the world.  Cost: 30 applications to one block of each channel.
SpectralEnds spectral_ends(Model& model);

}  // namespace halocline::tddft::detail
