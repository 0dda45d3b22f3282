// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the electrons fill the states.

#include "halocline/tddft/base/system.hpp"

#include <optional>
#include <span>
#include <vector>

namespace halocline::tddft {

struct Filling {
  std::vector<double> occupations;  ///< electrons in each state, shape (channels, states), without the k-point's weight
  double fermi_level = 0;  ///< [hartree]; at temperature 0 the middle of the gap; of two spins kept apart the mean
  double entropy = 0;      ///< temperature times entropy [hartree]
  /// Lowest empty minus highest occupied eigenvalue were all electrons in the lowest states [hartree]: 0 where a level
  /// is filled in part, -1 where no empty state is among those given.
  double gap = 0;
};

/// Temperature 0: the lowest states of all k-points and spins are filled. States within 1e-3 hartree of the last one
/// that gets electrons share those left for them equally, so that an open shell keeps its symmetry. Otherwise
/// occupations of Fermi and Dirac, with the Fermi level by bisection.
/// @param eigenvalues  shape (channels, states) [hartree]; finite
/// @param temperature  [hartree]
/// @param moment       electrons of spin 0 minus those of spin 1 to be kept, each spin with a Fermi level of its own;
///                     nothing: one Fermi level
/// @throws InvalidArgument  a negative temperature; a moment without spins, or for which a spin has too few states
Filling fill_states(const System& system, std::span<const double> eigenvalues, double temperature,
                    std::optional<double> moment = {});

}  // namespace halocline::tddft
