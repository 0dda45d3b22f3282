// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The energy that the scheme conserves.
///
///   1/2 sum over points of (epsilon E^n E^n + H^(n-1/2) H^(n+1/2)
///                           + J^(n-1/2) J^(n+1/2) / strength + resonance^2 P^n P^n / strength) times the cell.
///
/// Yee's leapfrog and the equations of polarisations keep it to rounding in a box of electric and magnetic walls or
/// periodic ends without losses. H and J of the half step to come are computed on the way.

#include "halocline/maxwell/update/state.hpp"

#include <array>

namespace halocline::maxwell {

struct Energy {
  double electric = 0, magnetic = 0, polarisation = 0;
  double total() const noexcept { return electric + magnetic + polarisation; }
};

/// The owned share. Cells of flat axes have the thickness of their step. Energies of absorbing layers are those of
/// their fields. @param state  with ghosts filled. Collective: no.
template <class T>
Energy energy_of(const State<T>& state);

/// The owned share of the dipole moment of all poles: the sum of P times the cell, of the real copy. Collective: no.
template <class T>
std::array<double, 3> dipole_of(const State<T>& state);

}  // namespace halocline::maxwell
