// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// psi <- exp(-i H dt) psi by a Taylor series in Horner's form:
///   w = psi;  for n = order ... 1:  w <- psi + (-i dt / n) H w
/// Each line is one application of the Hamiltonian with its sum built in, so the series needs no pass of its own. Where
/// space is not split, a block takes all its steps alone: it, two blocks of scratch and the potential stay in the
/// cache, and whatever is measured of it (`after`) finds it there. Where space is split, several blocks go together so
/// that the halo of one travels while another is computed.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

class Exponential {
public:
  /// Blocks of which no state holds electrons are left alone in everything: nothing measured sees them.
  /// @param state  gives the occupations
  Exponential(Model& model, const State& state);

  /// Called for consecutive blocks of a channel, shape (blocks, points, 4, 2), with their weights, shape (blocks, 4).
  using After =
      std::function<void(std::int64_t channel, double* psi, std::int64_t blocks, std::span<const double> weights)>;

  /// All occupied blocks take the step. @param order  at least 2
  /// @param after_channel  called when a channel is done
  /// Collective over decomposition().space(), as far as `after` is.
  /// Cost: `order` applications of H.
  void apply(Orbitals& psi, double dt, int order, const After& after,
             const std::function<void(std::int64_t channel)>& after_channel = {});

  /// The same walk over the same blocks in the same order, with no step taken.
  void visit(Orbitals& psi, const After& after, const std::function<void(std::int64_t channel)>& after_channel = {});

private:
  struct Run {
    std::int64_t channel, first, blocks;
  };

  void walk(Orbitals& psi, const After& step, const std::function<void(std::int64_t channel)>& after_channel);
  void step(std::int64_t channel, double* psi, std::int64_t blocks, double dt, int order);

  Model* model_;
  std::vector<std::vector<double>> weights_;  ///< of each channel here, shape (blocks, 4)
  std::vector<Run> runs_;                     ///< in the order of channels
  std::int64_t block_doubles_ = 0, points_ = 0;
  core::AlignedArray<double> scratch_;
};

}  // namespace halocline::tddft::detail
