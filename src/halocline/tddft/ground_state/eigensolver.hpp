// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The lowest states of every channel for a given potential, improved a little in each iteration of the
/// self-consistent cycle.
///
/// "chebyshev" filters all vectors of a channel and diagonalises H in their span; "lobpcg" takes a few of its
/// iterations. The more vectors there are above the occupied states, the faster both converge. So the lanes that only
/// fill up the last block of four carry guard vectors while the solver lives, and where the system has few empty states
/// another block of guards is kept here.

#include "halocline/tddft/ground_state/chebyshev.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"
#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace halocline::tddft {

struct EigensolverOptions {
  std::string method = "chebyshev";  ///< or "lobpcg"
  int degree = 0;                    ///< of the polynomial, or iterations of lobpcg; 0: chosen from the spectrum, or 3
  std::uint64_t seed = 1;            ///< of the random vectors
};

class Eigensolver {
public:
  /// @throws InvalidArgument  on every rank: an unknown method, a negative degree, more vectors than points
  /// Collective over the world.
  Eigensolver(Model& model, const EigensolverOptions& options);

  static std::vector<std::string> methods();

  /// Fills every lane that is zero, those beyond the states among them, with random numbers.
  /// @return true where states were among them. Collective over the world.
  bool start(State& state);

  /// Improves the orbitals for the Hamiltonian's present potential and writes their eigenvalues: in at most `passes`
  /// passes, of which the second and later are for vectors that are still far from eigenvectors.
  /// Occupations of the state tell which vectors matter; where all are zero the lowest that hold the electrons do.
  /// The orbitals are then orthonormal, and H is diagonal among them. @return false where numbers were not finite
  /// Collective over the world.
  bool improve(State& state, int passes);

  /// Norms |H psi - e psi| of the last pass [hartree], shape (all channels, states), the same on every rank.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

  /// Lanes beyond the states back to zero, as everybody else expects them.
  void finish(State& state) const;

private:
  struct Ritz {
    std::vector<double> values;  ///< of all vectors of a channel, from the last pass
    double worst = 1;            ///< largest residual of a vector that matters
  };

  int occupied(const State& state, std::int64_t channel) const;
  bool update_bounds();
  bool chebyshev_pass(const ChannelProblem& problem, Ritz& ritz, int occupied, std::vector<double>& norms);
  void load(const State& state, std::int64_t channel);
  void store(State& state, std::int64_t channel);

  Model& model_;
  EigensolverOptions options_;
  Subspace subspace_;
  std::vector<Ritz> ritz_;             ///< shape (local channels,)
  core::AlignedArray<double> guards_;  ///< shape (local channels, guard blocks, points, 4, 2)
  core::AlignedArray<double> x_, y_;   ///< sets of the channel at work
  std::vector<double> residuals_, potential_of_bound_;
  double lowest_ = 0, highest_ = 0;  ///< ends of the spectrum for that potential
  double highest_now_ = 0;           ///< bound for the present one
};

}  // namespace halocline::tddft
