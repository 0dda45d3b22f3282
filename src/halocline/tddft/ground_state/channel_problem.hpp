// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The eigenvalue problem of one channel: its Hamiltonian on sets of vectors (subspace.hpp) and the projection onto
/// what they span. Both eigensolvers are written in terms of it.

#include "halocline/tddft/ground_state/dense.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"
#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft {

class ChannelProblem {
public:
  /// @param channel  local number. Keeps references to all three.
  ChannelProblem(Model& model, const Subspace& subspace, std::int64_t channel)
      : model_(model), subspace_(subspace), channel_(channel) {}

  Model& model() const noexcept { return model_; }
  const Subspace& subspace() const noexcept { return subspace_; }
  std::int64_t channel() const noexcept { return channel_; }

  /// out = H in, whole sets. Collective over space().
  void apply(double* out, const double* in) const;

  /// Fills the vectors of x that are zero with normal random numbers, by global point, channel and vector: the same
  /// whatever the division. @return how many of the first `wanted` vectors here were zero. Collective over space().
  int fill_zeros(double* x, std::uint64_t seed, int wanted) const;

  /// Makes of x the orthonormal vectors within its span that H does not mix, and of hx = H x the same combinations.
  /// @return the Ritz values, ascending, the same on all processes of the channel; empty where the numbers are not
  ///         finite or x spans too little
  /// Collective over space() and orbitals(). Cost: three products of all vectors with all; repeated where the basis was
  /// so ill-conditioned that one pass leaves the vectors not orthonormal to 1e-11.
  std::vector<double> rayleigh_ritz(double* x, double* hx) const;

  /// hx -= values x. @return the norm of each vector here, shape (blocks, 4). Collective over space().
  std::vector<double> residuals(double* hx, const double* x, std::span<const double> values) const;

  /// Solves as generalised_eigenpairs does, and gives all processes of the channel the bits of the first.
  Eigenpairs solve_alike(const Matrix& h, const Matrix& s, int wanted) const;

private:
  Model& model_;
  const Subspace& subspace_;
  std::int64_t channel_;
};

}  // namespace halocline::tddft
