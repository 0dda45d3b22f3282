// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The ends of the Hamiltonian's spectrum, accurate enough to distinguish a stable time step from an unstable one.
///
/// Hamiltonian::spectrum_bounds() is safe but wide: the eigensolver's filter tolerates bounds that are ten per cent too
/// wide. A step limit that is ten per cent too small would refuse steps that work. So Lanczos takes more steps here,
/// and its Ritz values are widened only by the residuals of their own vectors, |beta_m y_m|, which go to zero as the
/// ends converge.

#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/propagate/field.hpp"

namespace halocline::tddft::detail {

struct SpectralEnds {
  double low = 0, high = 0;  ///< [hartree]
};

/// Over all channels, for the Hamiltonian's present potential and vector potential. The same on every rank.
/// Collective over the world.  Cost: 30 applications to one block of each channel.
SpectralEnds spectral_ends(Model& model);

/// The largest |eigenvalue| of the Hamiltonian at any time in a field [hartree], for the limit of the time step.
/// Collective over the world.  Cost: as spectral_ends().
double largest_eigenvalue(Model& model, const Field& field);

}  // namespace halocline::tddft::detail
