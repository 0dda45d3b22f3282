// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// States in a given density: the bands of a crystal at k-points of which the density knows nothing.

#include "halocline/tddft/ground_state/ground_state.hpp"

#include <functional>
#include <span>

namespace halocline::tddft {

struct BandsFound {
  bool converged = false;
  double residual = 0;  ///< largest |H psi - e psi| of the bands asked for [hartree]
  int passes = 0;
};

/// Solves for the lowest `bands` states of every channel in the potential of a density, which stays as it is.
/// @param state     on entry the start: orbitals of similar k-points with their eigenvalues, or zero for random ones.
/// On
///                  return eigenstates, sorted in each channel; occupations are those asked for, not a filling
/// @param fields    density, and what else the functional depends on, shapes as those of the state
/// @param bands     at least 1, at most the states of the system; a few states more speed up the highest
/// @param options   eigen_tolerance, eigensolver, filter_degree, seed, and max_iterations as the number of passes
/// @param progress  called on every rank after each pass with the residual; returning false stops
/// @param a         vector potential: eigenstates at k + A, as electrons in a field would have at rest
/// @throws InvalidArgument  on every rank: bands outside their range, a density of another size
/// Collective over the world.
BandsFound solve_bands(Model& model, State& state, const ElectronFields& fields, int bands, const ScfOptions& options,
                       const std::function<bool(double)>& progress = {}, const Vec3& a = {});

}  // namespace halocline::tddft
