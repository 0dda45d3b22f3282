// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Distributes the electrons over the states.

#include "halocline/tddft/base/system.hpp"

#include <optional>
#include <span>
#include <vector>

namespace halocline::tddft {

struct Filling {
  std::vector<double> occupations;  ///< electrons in each state, shape (channels, states), without the k-point's weight
  double fermi_level = 0;  ///< [hartree]; at temperature 0 the middle of the gap; for a fixed moment the spins' mean
  double entropy = 0;      ///< temperature times entropy [hartree]
  /// Lowest empty minus highest occupied eigenvalue, as if all electrons were in the lowest states [hartree]. 0 if a
  /// level is partially filled, -1 if none of the given states is empty.
  double gap = 0;
};

/// At temperature 0, fills the lowest states of all k-points and spins. States within 1e-3 hartree of the last state
/// that gets electrons share the remaining electrons equally, so that an open shell keeps its symmetry. Otherwise uses
/// Fermi-Dirac occupations, with the Fermi level found by bisection.
/// @param eigenvalues  shape (channels, states) [hartree]; finite
/// @param temperature  [hartree]
/// @param moment       electrons of spin 0 minus electrons of spin 1, to be kept by separate Fermi levels of the spins;
///                     empty: one Fermi level
/// @throws InvalidArgument  a negative temperature; a moment without spins, or for which a spin has too few states
Filling fill_states(const System& system, std::span<const double> eigenvalues, double temperature,
                    std::optional<double> moment = {});

}  // namespace halocline::tddft
