// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The lowest states of every channel for a given potential. Each iteration of the self-consistent cycle improves them
/// by a few passes.
///
/// "chebyshev" filters all vectors of a channel and diagonalises H in their span; "lobpcg" does a few iterations of
/// LOBPCG. The more vectors there are above the occupied states, the faster both converge. So the lanes that only fill
/// the last block of four hold guard vectors during the lifetime of the solver. If the system has few empty states, the
/// solver keeps more blocks of guard vectors.

#include "halocline/tddft/ground_state/chebyshev.hpp"
#include "halocline/tddft/ground_state/dense_problem.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"
#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace halocline::tddft {

struct EigensolverOptions {
  std::string method = "chebyshev";  ///< or "lobpcg"
  int degree = 0;                    ///< of the polynomial; or lobpcg iterations; 0: chosen from the spectrum, or 3
  std::uint64_t seed = 1;            ///< of the random vectors
  std::string dense = "auto";        ///< chebyshev: who solves the dense eigenproblem, see DenseProblem
};

class Eigensolver {
public:
  /// @throws InvalidArgument  on every rank: an unknown method, a negative degree, more vectors than points, ScaLAPACK
  ///                          asked for and not found
  /// Collective over the world.
  Eigensolver(Model& model, const EigensolverOptions& options);

  static std::vector<std::string> methods();

  /// Fills every zero lane, including those beyond the states, with random numbers. For a channel whose states all have
  /// orbitals, the state's eigenvalues, unless all are zero, tell the first pass what to keep.
  /// @return true if a state was among them. Collective over the world.
  bool start(State& state);

  /// Improves the orbitals for the Hamiltonian's present potential and writes their eigenvalues. Makes at most `passes`
  /// passes; the second and later ones only for channels whose vectors are still far from eigenvectors. The occupations
  /// of the state determine the vectors that matter; if all are zero, these are the lowest ones that hold the
  /// electrons. Afterwards the orbitals are orthonormal, and H is diagonal among them. @return false if numbers were
  /// not finite or the vectors not independent
  /// Collective over the world.
  bool improve(State& state, int passes);

  /// Norms |H psi - e psi| of the last pass [hartree], shape (all channels, states), the same on every rank.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

  /// Sets the lanes beyond the states back to zero, as all other code expects.
  void finish(State& state) const;

private:
  struct Ritz {
    std::vector<double> values;  ///< of all vectors of a channel, from the last pass
    double worst = 1;            ///< largest residual of the vectors that matter
  };

  int occupied(const State& state, std::int64_t channel) const;
  bool update_bounds();
  bool chebyshev_pass(const ChannelProblem& problem, const VectorSet& x, Ritz& ritz, int occupied,
                      std::vector<double>& norms);
  VectorSet set_of(State& state, std::int64_t channel);
  void load(const VectorSet& x);
  void store(const VectorSet& x);

  Model& model_;
  EigensolverOptions options_;
  Subspace subspace_;
  DenseProblem dense_;
  std::vector<Ritz> ritz_;              ///< shape (local channels,)
  core::AlignedArray<double> guards_;   ///< shape (local channels, guard blocks, points, 4, 2)
  core::AlignedArray<double> x_;        ///< lobpcg: the set of the channel in work
  core::AlignedArray<double> scratch_;  ///< chebyshev: Subspace::largest_part() blocks
  std::vector<double> residuals_, potential_of_bound_;
  double lowest_ = 0, highest_ = 0;  ///< ends of the spectrum for potential_of_bound_
  double highest_now_ = 0;           ///< upper bound for the present potential
};

}  // namespace halocline::tddft
