// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// psi <- exp(-i H dt) psi by a Taylor series in Horner's form:
///   w = psi;  for n = order ... 1:  w <- psi + (-i dt / n) H w
/// Each line is one application of the Hamiltonian that includes the sum, so the series needs no pass of its own. If
/// space is not split, each block takes all its steps alone. The block, two blocks of scratch and the potential then
/// stay in the cache, and so do the orbitals when `after` measures them. If space is split, several blocks go together,
/// so that the halo exchange of one overlaps with the computation of another.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// @tparam T  double or float: that of the orbitals
template <class T>
class Exponential {
public:
  /// All members skip blocks whose states are all empty: no measurement needs these.
  /// @param state  gives the occupations
  Exponential(Model& model, const State& state);

  /// Called for consecutive blocks of a channel.
  /// @param psi      shape (blocks, points, lanes, 2)
  /// @param weights  shape (blocks, lanes)
  /// @param last     whether no call of this process follows
  using After = std::function<void(std::int64_t channel, T* psi, std::int64_t blocks, std::span<const double> weights,
                                   bool last)>;

  /// Propagates all occupied blocks by dt. @param order  at least 2
  /// @param after_channel  called when a channel is done
  /// Collective over decomposition().space(), and over any group over which `after` is.
  /// Cost: `order` applications of H.
  void apply(Orbitals& psi, double dt, int order, const After& after,
             const std::function<void(std::int64_t channel)>& after_channel = {});

  /// Visits the same blocks in the same order without propagating them.
  void visit(Orbitals& psi, const After& after, const std::function<void(std::int64_t channel)>& after_channel = {});

private:
  struct Run {
    std::int64_t channel, first, blocks;
  };

  void walk(Orbitals& psi, const After& step, const std::function<void(std::int64_t channel)>& after_channel);
  void step(std::int64_t channel, T* psi, std::int64_t blocks, double dt, int order);

  Model* model_;
  std::vector<std::vector<double>> weights_;  ///< of each channel here, shape (blocks, lanes)
  std::vector<Run> runs_;                     ///< in the order of channels
  std::int64_t block_numbers_ = 0;
  core::AlignedArray<T> scratch_;
};

}  // namespace halocline::tddft::detail
