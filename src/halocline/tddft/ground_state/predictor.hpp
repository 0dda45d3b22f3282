// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Starts for the ground states of atoms on their way, extrapolated from the last ones.

#include "halocline/tddft/ground_state/ground_state.hpp"

#include <deque>
#include <span>
#include <vector>

namespace halocline::tddft {

/// The last ground states of one model.
///
/// The density is split into that of the pseudo-atoms, which moves with them, and the rest, which is extrapolated as
/// the positions are (Arias, Payne and Joannopoulos, Phys. Rev. B 45, 1538, 1992): with three earlier geometries
///   rest(t + 1) = rest(t) + a (rest(t) - rest(t - 1)) + b (rest(t - 1) - rest(t - 2)),
/// where a and b make the same combination of positions closest to the new ones. Orbitals follow in the same way; those
/// of earlier geometries are first rotated to those of the last, by their overlaps.
class Predictor {
public:
  /// @param orbitals  how many earlier sets of orbitals to keep, 0 to 2: with fewer, memory is saved
  explicit Predictor(int orbitals = 2) : most_orbitals_(orbitals) {}

  /// Remembers a ground state of the model's present positions. Collective over the world.
  void remember(Model& model, const State& state);
  /// Moves the atoms of the model, and returns a start for their ground state there. Without remember() before, the
  /// state is empty.
  /// @throws InvalidArgument  as Model::move_atoms(); everything is then as before
  /// Collective over the world.  Cost: one or two products of orbitals for each earlier set.
  State move(Model& model, std::span<const Vec3> positions);

private:
  struct Past {
    std::vector<Vec3> positions;
    std::vector<double> rest;  ///< shape (spins, points): the density without that of the pseudo-atoms
    Orbitals orbitals;         ///< of the last ones only
  };

  int most_orbitals_;
  State last_;
  std::deque<Past> past_;  ///< latest first
};

}  // namespace halocline::tddft
