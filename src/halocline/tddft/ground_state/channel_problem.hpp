// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The eigenvalue problem of one channel: its Hamiltonian on sets of vectors (subspace.hpp), and the projection onto
/// their span. Both eigensolvers use it.

#include "halocline/tddft/ground_state/dense_problem.hpp"
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

  /// out = H in, for whole sets. Collective over space().
  void apply(double* out, const double* in) const;

  /// Fills the zero vectors of x with normal random numbers, determined by global point, channel and vector, and so
  /// independent of the division. @return how many of the first `wanted` vectors were zero on this process. Collective
  /// over space().
  int fill_zeros(const VectorSet& x, std::uint64_t seed, int wanted) const;

  /// Rayleigh-Ritz: replaces x by orthonormal vectors of its span in which H is diagonal, and hx = H x by the same
  /// combinations.
  /// @return the Ritz values, ascending, the same on all processes of the channel; empty if the numbers are not finite
  ///         or the span of x is too small
  /// Collective over space() and orbitals(). Cost: three products of all vectors with all. Repeated if the basis was so
  /// ill-conditioned that one pass leaves the vectors not orthonormal to 1e-11.
  std::vector<double> rayleigh_ritz(double* x, double* hx) const;

  /// The same for x alone, with H x computed for a part of the blocks after the other.
  /// @param scratch  memory for Subspace::largest_part() blocks
  /// @param dense    for all vectors of a set
  /// Collective over space() and orbitals(). Cost: an application of H, and two products of all vectors with all.
  std::vector<double> rayleigh_ritz(const VectorSet& x, double* scratch, DenseProblem& dense) const;
  /// The norms of H x - values x, as residuals(). @param scratch  as above
  /// Collective over space(). Cost: an application of H.
  std::vector<double> residuals_of(const VectorSet& x, double* scratch, std::span<const double> values) const;

  /// hx -= values x. @return the norm of each vector on this process, shape (blocks, 4). Collective over space().
  std::vector<double> residuals(double* hx, const double* x, std::span<const double> values) const;

private:
  std::vector<double> residuals(double* hx, const double* x, std::int64_t blocks, std::span<const double> values) const;
  void apply_some(double* out, const VectorSet& in, std::int64_t first, std::int64_t count) const;

  Model& model_;
  const Subspace& subspace_;
  std::int64_t channel_;
};

}  // namespace halocline::tddft
